"""Draw docs/pictures/at-work.svg from a real session: python docs/pictures/draw.py

Three clients and the command line share a store in a temporary folder. The clients are the Python client under the
names of programs that users have. Ids and times are shortened and long lines wrapped; nothing else is changed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

from polymnia.client import MCPMemoryClient

__all__ = ["main"]

PICTURE = Path(__file__).parent / "at-work.svg"
COLUMNS = 92
LINE, LEFT, TOP, WIDE = 21, 24, 56, 8.43  # pixels: a line, the margins, a character
COLOURS = {"prompt": "#7ee787", "call": "#79c0ff", "answer": "#c9d1d9", "note": "#8b949e"}

Line = tuple[str, str]


def _short(text: str) -> str:
    text = re.sub(r"\b([0-9a-f]{8})-[0-9a-f-]{27}\b", r"\1", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ](\d\d:\d\d)(:[\d.]+Z| UTC)", r"\1", text)


def _call(lines: list[Line], name: str, tool: str, text: str) -> None:
    """A call of one client, and what it is answered."""
    key = "query" if tool == "memory_search" else "content"
    with MCPMemoryClient("stdio", command=[sys.executable, "-m", "polymnia", "stdio"], client_name=name) as client:
        answer = client.call_tool(tool, {key: text}).value
    lines.append(("call", f"{name} ▸ {tool}: {text}"))
    if tool == "memory_search":
        found = [f"{one['similarity_score']:.2f}  {one['content']}" for one in answer["memories"]]
    else:
        found = [f"stored as {answer['memory_id']}"]
    lines.extend(("answer", f"  {one}") for one in found)
    lines.append(("answer", ""))


def _command(lines: list[Line], *arguments: str) -> None:
    """A command, and what it prints."""
    done = subprocess.run([sys.executable, "-m", "polymnia", *arguments], capture_output=True, text=True, check=True)
    lines.append(("prompt", f"$ polymnia {' '.join(arguments)}"))
    for line in done.stdout.splitlines():
        hang = " " * (len(line) - len(line.lstrip()) + 2)
        lines.extend(("answer", one) for one in textwrap.wrap(_short(line), COLUMNS, subsequent_indent=hang))
    lines.append(("answer", ""))


def session() -> list[Line]:
    """The session, line by line."""
    lines: list[Line] = []
    _call(lines, "claude-desktop", "memory_store", "Grandma is allergic to hazelnuts.")
    _call(lines, "cursor", "memory_store", "Grandma can eat hazelnuts without any trouble.")
    _call(lines, "vscode", "memory_search", "what is bad for grandma?")
    _command(lines, "analyze", "conflicts")
    _command(lines, "changes")
    _command(lines, "undo")
    return [(kind, _short(text)) for kind, text in lines[:-1]]


def drawn(lines: list[Line]) -> str:
    """The lines as a picture of a terminal."""
    width, height = int(COLUMNS * WIDE) + 2 * LEFT, TOP + LINE * len(lines) + 14
    dots = "".join(
        f'<circle cx="{24 + 20 * n}" cy="22" r="6" fill="{colour}"/>'
        for n, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
    )
    texts = "\n".join(
        f'<text x="{LEFT}" y="{TOP + LINE * n + 8}" fill="{COLOURS[kind]}" xml:space="preserve">{escape(text)}</text>'
        for n, (kind, text) in enumerate(lines)
        if text
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" aria-label="Two clients store, a third finds, a conflict is named, a change is undone">\n'
        f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>\n{dots}\n'
        "<g font-family=\"ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n"
        f"{texts}\n</g>\n</svg>\n"
    )


def main() -> None:
    """Run the session and draw it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder, "COLUMNS": str(COLUMNS)}
        PICTURE.write_text(drawn(session()), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Every command, link and snippet on the documentation pages works."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import forked
from stdio_client import DEADLINE, Place

from .tree import ROOT, files

_PAGES = [page for page in files(".md") if page.is_relative_to(ROOT / "docs") or page.parent == ROOT]
_FENCE = re.compile(r"^(?P<tick>`{3,})(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=tick)\s*$", re.M | re.S)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_SHELLS = {"", "sh", "bash", "shell", "console", "text"}


def _typed(page: Path) -> list[str]:
    """Everything on a page that a reader may type: lines of shell blocks, and inline code."""
    text = page.read_text(encoding="utf-8")
    lines = [
        line.strip().removeprefix("$ ")
        for fence in _FENCE.finditer(text)
        if fence["language"] in _SHELLS
        for line in fence["body"].replace("\\\n", " ").splitlines()
    ]
    return lines + _SPAN.findall(_FENCE.sub("", text))


@cache
def _help(*command: str) -> str:
    pipe = subprocess.PIPE
    with forked.start(
        [sys.executable, "-m", "polymnia", *command, "--help"],
        stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, encoding="utf-8", env=os.environ,
    ) as running:  # fmt: skip
        output, errors = running.communicate(timeout=DEADLINE)
    assert running.returncode == 0, f"polymnia {' '.join(command)} --help: {errors}"
    return str(output)


def _commands() -> set[str]:
    """The commands that ``polymnia --help`` lists."""
    return set(re.findall(r"^ {2,}([a-z][a-z-]+) {2,}\S", _help(), re.M))


def _error(words: list[str]) -> str | None:
    """The error in the words after ``polymnia``, if any."""
    words = [word for word in words if word]
    command = words[0] if words and re.fullmatch(r"[a-z][a-z-]*", words[0]) else None
    if command and command not in _commands():
        return f"there is no command {command!r}"
    output = _help(command) if command else _help()
    for word in words:
        option = word.partition("=")[0].strip("[]")
        if option.startswith("--") and option not in {"--help", "--version"} and option not in output:
            return f"{command or 'polymnia'} has no option {option}"
    return None


def _polymnia_words(typed: str) -> list[list[str]]:
    """The words after each ``polymnia`` that starts a command in the text."""
    found = []
    for part in re.split(r"\s(?:\|\||&&|[|<>])\s|;\s", typed):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            continue
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if words and Path(words[0]).name == "uvx":
            words = words[1:]
        if words and Path(words[0]).name == "polymnia":
            found.append([word for word in words[1:] if word not in {"…", "..."}])
    return found


def test_every_make_target_on_a_page_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    missing = [
        (str(page), found)
        for page in _PAGES
        for typed in _typed(page)
        for found in re.findall(r"^make ([a-z][a-z-]*)", typed)
        if found not in targets
    ]
    assert not missing


def test_every_polymnia_command_on_a_page_exists() -> None:
    wrong = [
        f"{page}: {typed}: {error}"
        for page in _PAGES
        for typed in _typed(page)
        for words in _polymnia_words(typed)
        if (error := _error(words))
    ]
    assert not wrong


def test_every_json_snippet_on_a_page_parses_and_starts_a_server_that_exists() -> None:
    fences = [(page, fence) for page in _PAGES for fence in _FENCE.finditer(page.read_text(encoding="utf-8"))]
    assert fences
    for page, fence in fences:
        if fence["language"] == "jsonl":
            for line in fence["body"].splitlines():
                json.loads(line)
        if fence["language"] != "json":
            continue
        for server in _servers(json.loads(fence["body"])):
            words = [Path(server["command"]).name, *server.get("args", [])]
            if "polymnia" not in words:
                continue
            error = _error(words[words.index("polymnia") + 1 :])
            assert error is None, f"{page}: {server}: {error}"


def _servers(snippet: Any) -> list[dict[str, Any]]:
    if not isinstance(snippet, dict):
        return []
    if isinstance(snippet.get("command"), str):
        return [snippet]
    return [server for value in snippet.values() for server in _servers(value)]


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+\s+(.*?)\s*#*$", text, re.M)
    plain = (re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads)
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


def test_every_relative_link_on_a_page_leads_somewhere() -> None:
    broken = [f"{page}: {link}" for page in _PAGES for link in _links(page) if not _leads_somewhere(page, link)]
    assert not broken


def _links(page: Path) -> list[str]:
    """The relative links of a page."""
    text = _SPAN.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in _LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def _leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and not (anchor and target.suffix == ".md" and anchor not in _anchors(target))


def test_the_readme_shows_the_two_commands_that_do_everything_first() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40])
    assert "make run" in first_screen
    assert "make test" in first_screen


def _blocks(*languages: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [fence["body"] for fence in _FENCE.finditer(text) if fence["language"] in languages]


def test_the_commands_and_the_example_of_the_readme_work_as_often_as_they_are_run(place: Place) -> None:
    lines = [line for block in _blocks("") for line in block.splitlines() if line.startswith("polymnia ")]
    assert len(lines) > 5
    [example] = _blocks("python")
    for _ in range(2):
        for line in lines:
            done = place.run(*shlex.split(line, comments=True)[1:])
            assert done.returncode == 0, f"{line}: {done.stderr}"
        with forked.start(
            [sys.executable, "-c", example],
            cwd=place.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8", env=os.environ,
        ) as running:  # fmt: skip
            output, _ = running.communicate(timeout=DEADLINE)
        assert running.returncode == 0
        assert "Ann likes green tea" in output

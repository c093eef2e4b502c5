"""Compares what the clients were answered: byte by byte, but for what no two runs have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clients.conformance.canonical import canonical

__all__ = ["TABLE", "compared", "problems"]

TABLE = Path(__file__).parent / "calls.json"

_ID = re.compile(
    r"content_[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|relation_[0-9a-f]+|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?")
_DURATION = re.compile(r'"duration":"[0-9.]+(?:µs|ms|s)"')
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def problems(name: str, lines: list[str], table: Mapping[str, Any]) -> list[str]:
    """What is wrong with the answers of one client by themselves."""
    found = []
    wanted = [*table["calls"], *table["faults"]]
    if len(lines) != len(wanted):
        found.append(f"{name}: {len(lines)} lines instead of {len(wanted)}")
    for line, one in zip(lines, wanted, strict=False):
        told = json.loads(line)
        if line != canonical(told):
            found.append(f"{name}: the line of {one['id']} is not canonical JSON")
        if told.get("id") != one["id"]:
            found.append(f"{name}: a line of {told.get('id')} where {one['id']} is due")
        expected, kind = one.get("error"), (told.get("error") or {}).get("type")
        if kind != expected:
            found.append(f"{name}: {one['id']} ({one['call']}) came to {kind or 'an answer'}, not {expected or 'one'}")
    return found


def compared(answers: Mapping[str, list[str]], table: Mapping[str, Any]) -> list[str]:
    """What is wrong with the answers of each client, and where they differ from those of the first."""
    found = [problem for name, lines in answers.items() for problem in problems(name, lines, table)]
    (first, ours), *others = ((name, _alike(lines, table)) for name, lines in answers.items())
    for name, theirs in others:
        for one, mine, yours in zip([*table["calls"], *table["faults"]], ours, theirs, strict=False):
            if mine != yours:
                at = next((i for i, (a, b) in enumerate(zip(mine, yours, strict=False)) if a != b), 0)
                cut = slice(max(0, at - 60), at + 60)
                found.append(f"{one['id']} ({one['call']}): {first} has …{mine[cut]}…, {name} has …{yours[cut]}…")
    return found


def _alike(lines: list[str], table: Mapping[str, Any]) -> list[str]:
    """The lines without what differs from run to run: ids and times are numbered, durations left out."""
    numbers: dict[str, str] = {}
    varying = {one["id"] for one in table["calls"] if one.get("numbers_vary")}

    def numbered(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"<{len(numbers) + 1}>")

    alike = []
    for line in lines:
        text = _TIME.sub("<time>", _DURATION.sub('"duration":"<duration>"', line))
        text = _ID.sub(numbered, text)
        alike.append(_NUMBER.sub("0", text) if json.loads(line).get("id") in varying else text)
    return alike

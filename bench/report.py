"""Results as people read them: tables on the terminal, JSON for machines, one README for the folder."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from bench.result import Result

__all__ = ["MARKS", "ORDER", "load", "markdown", "save", "show", "write_page", "write_readme"]

ORDER = ("cold", "calls", "growth", "large", "concurrency", "crash")
MARKS = {True: "met", False: "**not met**", None: "not judged"}


def save(result: Result, folder: str, form: str, took: float, command: str, facts: dict[str, str]) -> dict[str, Any]:
    """Keep a result as JSON; answers what was kept."""
    kept = {"form": form, "took_seconds": round(took, 1), "command": command, "machine": facts} | asdict(result)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{result.name}.json"), "w", encoding="utf-8") as file:
        json.dump(_rounded(kept), file, ensure_ascii=False, indent=1)
        file.write("\n")
    return kept


def load(folder: str, order: Iterable[str] = ORDER) -> list[dict[str, Any]]:
    """Every result the folder keeps, in reading order."""
    found = []
    for name in order:
        path = os.path.join(folder, f"{name}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found.append(json.load(file))
    return found


def show(kept: dict[str, Any]) -> str:
    """A result for the terminal."""
    lines = ["", kept["title"], "=" * _width(kept["title"]), kept["summary"]]
    for table in kept["tables"]:
        lines += ["", table["title"], *_columns([table["columns"], *table["rows"]])]
        if table["note"]:
            lines.append(table["note"])
    lines.append("")
    for verdict in kept["verdicts"]:
        mark = {True: "met    ", False: "NOT MET", None: "–      "}[verdict["met"]]
        lines.append(f"  {mark}  {verdict['target']}: {verdict['measured']}")
    lines.append(f"  took {kept['took_seconds']} s; again with: {kept['command']}")
    return "\n".join(lines)


def write_readme(folder: str) -> None:
    """Write the README of the results folder from what the folder keeps."""
    intro = (
        "Polymnia side by side with the reference server: both columns of a table come from the same run on the "
        "same machine, in turn. This page is written by `python -m bench`; how each figure is taken stands in "
        "[the benchmark's README](../README.md)."
    )
    write_page(folder, load(folder), "Measured results", intro)


def write_page(folder: str, results: list[dict[str, Any]], title: str, intro: str, *, plot: bool = True) -> None:
    """Write results as a page: targets, machine, and each with its tables."""
    lines = [
        f"# {title}",
        "",
        intro,
        *(["", "![The figures as a plot](plot.png)"] if plot else []),
        "",
        "## Targets",
        "",
        *markdown(
            ["target", "measured", ""],
            [[v["target"], v["measured"], MARKS[v["met"]]] for kept in results for v in kept["verdicts"]],
        ),
        "",
        "## Machine",
        "",
        *markdown(["", ""], [[name, value] for name, value in results[-1]["machine"].items()]),
    ]
    for kept in results:
        lines += ["", f"## {kept['title']}", "", kept["summary"]]
        for table in kept["tables"]:
            lines += ["", f"**{table['title']}**", "", *markdown(table["columns"], table["rows"])]
            if table["note"]:
                lines += ["", table["note"]]
        lines += ["", f"Again with `{kept['command']}` ({kept['form']} form, {kept['took_seconds']:.0f} s)."]
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _rounded(value: Any) -> Any:
    """Seven significant digits: more would only be noise in a diff."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def markdown(columns: list[str], rows: Iterable[list[str]]) -> list[str]:
    """A table as lines of Markdown."""

    def row(cells: list[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    numeric = [index > 0 for index in range(len(columns))]
    rule = "|" + "|".join("---:" if n and len(columns) > 3 else "---" for n in numeric) + "|"
    return [row(columns), rule, *(row(cells) for cells in rows)]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(_width(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        lines.append("  " + "   ".join(cells).rstrip())
    lines.insert(1, "  " + "   ".join("-" * width for width in widths))
    return lines


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)

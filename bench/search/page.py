"""The README of the results folder, written from what the folder keeps."""

from __future__ import annotations

import json
import os
from typing import Any

from bench.report import MARKS, markdown

__all__ = ["ORDER", "load", "write"]

ORDER = ("lanes", "beside", "speed")


def load(folder: str) -> list[dict[str, Any]]:
    """Every result the folder keeps, in reading order."""
    found = []
    for name in ORDER:
        path = os.path.join(folder, f"{name}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found.append(json.load(file))
    return found


def write(folder: str) -> None:
    """Write the page."""
    results = load(folder)
    lines = [
        "# Search, measured",
        "",
        "Written by `python -m bench.search`; how each figure is taken stands in "
        "[the benchmark's README](../../README.md).",
        "",
        "![The figures as a plot](plot.png)",
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

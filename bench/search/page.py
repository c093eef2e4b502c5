"""The README of the results folder, written from what the folder keeps."""

from __future__ import annotations

import json
import os
from typing import Any

from bench.report import write_page

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
    intro = (
        "Written by `python -m bench.search`; how each figure is taken stands in "
        "[the benchmark's README](../../README.md)."
    )
    write_page(folder, load(folder), "Search, measured", intro)

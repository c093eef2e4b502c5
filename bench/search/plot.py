"""One picture of the results: what is found, beside whom, and how the cost grows."""

from __future__ import annotations

import os
from typing import Any

from bench.search import page

__all__ = ["draw"]

COLOURS = ("#1b5e8c", "#5fa8d3", "#bcd9ea", "#0f7b6c", "#7fc8a9", "#cde8dc", "#c8553d", "#e8a598", "#8d6a9f", "#999999")


def draw(folder: str) -> None:
    """Write plot.png beside the results it shows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kept = {one["name"]: one for one in page.load(folder)}
    parts = [name for name in page.ORDER if name in kept]
    figure, frames = pyplot.subplots(len(parts), 1, figsize=(10, 4.2 * len(parts)), squeeze=False)
    for frame, name in zip(frames[:, 0], parts, strict=True):
        if name == "speed":
            _growth(frame, kept[name]["numbers"])
        else:
            _bars(frame, kept[name]["title"], kept[name]["numbers"]["sets"])
        frame.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "plot.png"), dpi=110)
    pyplot.close(figure)


def _bars(frame: Any, title: str, sets: dict[str, Any]) -> None:
    sides = list(dict.fromkeys(side for one in sets.values() for side in one["rows"]))
    width = 0.85 / len(sides)
    for place, side in enumerate(sides):
        at = [index for index, one in enumerate(sets.values()) if side in one["rows"]]
        heights = [one["rows"][side]["ndcg@10"] for one in sets.values() if side in one["rows"]]
        left = [index + (place - (len(sides) - 1) / 2) * width for index in at]
        frame.bar(left, heights, width, label=side, color=COLOURS[place % len(COLOURS)])
    frame.set_xticks(range(len(sets)), list(sets))
    frame.set_ylim(0, 1.3)  # room for the legend
    frame.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    frame.set_ylabel("nDCG@10")
    frame.set_title(title)
    frame.legend(fontsize=7, ncols=3, loc="upper left")


def _growth(frame: Any, sizes: dict[str, Any]) -> None:
    for place, lane in enumerate(("all", "words", "meaning")):
        found = [(int(size), one[lane]) for size, one in sizes.items() if lane in one]
        if found:
            at = [size for size, _ in found]
            frame.plot(at, [one["p50_ms"] for _, one in found], "o-", color=COLOURS[3 * place], label=f"{lane}, p50")
            frame.plot(at, [one["p95_ms"] for _, one in found], "o:", color=COLOURS[3 * place], label=f"{lane}, p95")
    frame.plot([10_000, 100_000, 1_000_000], [5, 20, 120], "x--", color="#999999", label="target (p50)")
    frame.set_xscale("log")
    frame.set_yscale("log")
    frame.set_xlabel("memories")
    frame.set_ylabel("ms a search")
    frame.set_title("How long a search takes")
    frame.legend(fontsize=7)

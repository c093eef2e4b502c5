"""The figures as one picture: ratios against their targets, and cost against size."""

from __future__ import annotations

import os
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, NullFormatter

from bench.report import load
from bench.result import ratio
from bench.sides import OURS, THEIRS

__all__ = ["draw"]

INK = "#22303c"
TEAL = "#0f7b8a"
CLAY = "#c46a3f"
PALE = "#d9dee3"
TARGET = "#7a1f3d"


def draw(folder: str) -> None:
    """Draw plot.png from the results the folder keeps; a panel without its result stays empty."""
    kept = {result["name"]: result["numbers"] for result in load(folder)}
    pyplot.rcParams.update(
        {
            "font.size": 11,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 12.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titlepad": 16,
        }
    )
    figure, panels = pyplot.subplots(2, 2, figsize=(13, 9.6), layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15))
    _shares(panels[0][0], kept)
    _speedups(panels[0][1], kept)
    _growth(panels[1][0], kept)
    _search(panels[1][1], kept)
    figure.savefig(os.path.join(folder, "plot.png"), dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def _shares(axes: Axes, kept: dict[str, Any]) -> None:
    axes.set_title(f"Cost, as a share of the {THEIRS}'s")
    rows: list[tuple[str, float]] = []
    if "cold" in kept:
        rows += [("cold start", kept["cold"]["wait_ratio"]), ("resident memory", kept["cold"]["rss_ratio"])]
    if "calls" in kept:
        rows += [(f"CPU, {tool}", share) for tool, share in kept["calls"]["cpu_ratio"].items()]
    if not rows:
        _empty(axes)
        return
    rows.reverse()
    colours = [TEAL if share <= 0.5 else CLAY for _, share in rows]
    bars = axes.barh([label for label, _ in rows], [share for _, share in rows], color=colours, height=0.6)
    axes.axvline(0.5, color=TARGET, linestyle="--", linewidth=1.4)
    axes.text(0.5, len(rows) - 0.45, "target 0.5", color=TARGET, ha="center", va="bottom", fontsize=10)
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.set_xlim(0, max(1.08, 1.15 * max(share for _, share in rows)))
    _label(axes, bars, [f"{share:.2f}" for _, share in rows], [share > 0.15 for _, share in rows])
    axes.set_xlabel("less is better; CPU of one call at 10 entities; orange: missed")


def _speedups(axes: Axes, kept: dict[str, Any]) -> None:
    axes.set_title("Times faster at 10,000 entities")
    if "growth" not in kept:
        _empty(axes)
        return
    numbers = kept["growth"]
    tools = list(reversed(numbers["faster"]))
    values = [numbers["faster"][tool] for tool in tools]
    bounds = [numbers["bounds"][tool] for tool in tools]
    colours = [TEAL if value >= bound else CLAY for value, bound in zip(values, bounds, strict=True)]
    bars = axes.barh(tools, values, color=colours, height=0.6)
    for at, bound in enumerate(bounds):
        axes.plot([bound, bound], [at - 0.4, at + 0.4], color=TARGET, linestyle="--", linewidth=1.6)
        axes.text(bound, at + 0.42, f"target {bound}", color=TARGET, ha="center", va="bottom", fontsize=9.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_xlim(1, 2.5 * max(*values, *bounds))
    axes.set_ylim(-0.6, len(tools) - 0.25)
    _label(axes, bars, [ratio(value) for value in values], [value > 3 for value in values])
    axes.set_xlabel("more is better; wall-clock p50, log scale; orange: missed")


def _growth(axes: Axes, kept: dict[str, Any]) -> None:
    axes.set_title("A write against the size of the graph")
    if "growth" not in kept:
        _empty(axes)
        return
    numbers = kept["growth"]
    for side, colour in ((OURS, TEAL), (THEIRS, CLAY)):
        for tool, marker, style in (("create_entities", "o", "-"), ("add_observations", "s", "--")):
            costs = [seconds * 1e3 for seconds in numbers["p50"][f"{tool}/{side}"]]
            axes.plot(numbers["sizes"], costs, style, color=colour, marker=marker, label=f"{side}, {tool}")
            if tool == "create_entities":
                axes.annotate(
                    f"{costs[-1]:,.1f} ms",
                    (numbers["sizes"][-1], costs[-1]),
                    xytext=(0, 9),
                    textcoords="offset points",
                    ha="center",
                    color=colour,
                )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("entities in the graph")
    axes.set_ylabel(f"p50, ms ({OURS}: with fsync)")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.grid(True, color=PALE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=10, loc="upper left")
    axes.margins(x=0.12, y=0.12)


def _search(axes: Axes, kept: dict[str, Any]) -> None:
    if "large" not in kept:
        axes.set_title("Search in the large graph")
        _empty(axes)
        return
    numbers = kept["large"]
    axes.set_title(f"Search at {numbers['size']:,} entities")
    names = [name for name in numbers["labels"] if f"{name}/simple/all" in numbers["p50"]]
    colours = {"simple": TEAL, "strict": "#6a8f3c", "official": "#5a5f9e"}
    for shift, (dialect, colour) in enumerate(colours.items()):
        heights = [numbers["p50"][f"{name}/{dialect}/all"] * 1e3 for name in names]
        places = [len(names) - at - (shift - 1) * 0.26 for at in range(len(names))]
        axes.barh(places, heights, height=0.25, color=colour, label=dialect)
    axes.axvline(20, color=TARGET, linestyle="--", linewidth=1.4)
    axes.text(20, len(names) + 0.55, "target 20 ms ", color=TARGET, ha="right", va="bottom", fontsize=10)
    axes.set_yticks(range(len(names), 0, -1), [numbers["labels"][name] for name in names])
    axes.set_ylim(0.4, len(names) + 1.1)
    axes.set_xscale("log")
    axes.set_xlabel("p50, ms, every hit in the answer, log scale")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(left=0.1)
    axes.legend(frameon=False, fontsize=10, loc="lower right")


def _label(axes: Axes, bars: BarContainer, texts: list[str], roomy: list[bool]) -> None:
    """The value at the foot of its bar, where no target line passes; beside a bar too short for it."""
    for bar, text, inside in zip(bars, texts, roomy, strict=True):
        axes.annotate(
            text,
            (axes.get_xlim()[0] if inside else bar.get_width(), bar.get_y() + bar.get_height() / 2),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color="white" if inside else INK,
            fontweight="bold",
        )


def _empty(axes: Axes) -> None:
    axes.text(0.5, 0.5, "not measured yet", ha="center", va="center", transform=axes.transAxes)
    axes.set_axis_off()

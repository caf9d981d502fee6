"""The figure of the documentation: seconds of work by contender, one panel per workload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sections import Section

PANELS = {
    "w1": "40 files, 2,000,000 lines",
    "w2": "One file, 6,980,000 lines",
    "dl21": "In memory, 63 runs under 24 assessors",
}
GREY = "#808080"  # readable on white and on black
COLOURS = {"venire": "#D55E00", "venire, numpy scan": "#E69F00"}  # Okabe and Ito; the peers share a blue
PEERS = "#0072B2"
SETTINGS = {"svg.hashsalt": "venire", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}


def draw(sections: Mapping[str, Section], path: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        heights = [len(sections[name].costs) for name in PANELS]
        figure = Figure(figsize=(7.2, 0.3 * sum(heights) + 1.8), layout="constrained")
        axes = figure.subplots(len(PANELS), 1, sharex=True, height_ratios=heights)
        for ax, (name, title) in zip(axes, PANELS.items(), strict=True):
            panel(ax, sections[name], title)
        axes[-1].set_xlabel("seconds of work, logarithmic", color=GREY)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def panel(ax: object, section: Section, title: str) -> None:
    """Points on a logarithmic axis, as bars there have no foot; each is named and labelled."""
    ours = section.best("venire")
    for row, name in enumerate(section.costs):
        work, colour = section.best(name), COLOURS.get(name, PEERS)
        ax.plot([ours, work], [row, row], color=colour, linewidth=2, alpha=0.5)
        ax.plot(work, row, "o", color=colour, markersize=8)
        times = "" if name == "venire" else f"   {work / ours:.3g} times"
        ax.annotate(f"{work:.2g} s{times}", (work, row), (8, 0), textcoords="offset points", va="center", color=GREY)
    ax.set_title(title, loc="left", color=GREY, fontsize=10, fontweight="bold")
    ax.set_xscale("log")
    ax.set_xlim(0.01, 400)
    ax.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    ax.set_yticks(range(len(section.costs)), list(section.costs))
    ax.set_ylim(len(section.costs) - 0.4, -0.6)
    ax.tick_params(colors=GREY, which="both", length=0)
    ax.grid(axis="x", color=GREY, alpha=0.25)
    ax.spines[:].set_visible(False)

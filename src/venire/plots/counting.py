"""Plots of counts: how many relevant results each system returns, for a random user and by the labels alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.disagreement.counting import KINDS, Counts
from venire.errors import SettingError
from venire.plots.style import colour, marker, new_figure, short_name, styled
from venire.types import Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = {"prm": "for a random user (prm)", "binary": "by the labels alone (binary)"}
MOST_PANELS, MOST_ACROSS = 12, 4


def plot_counts(counts: Counts) -> Figure:
    """Counts with their standard errors, a line per system, most relevant results first; hollow for the oracle.

    One panel per notion of relevance and, where counts are per assessor, per assessor; systems stand in the same order
    in all of them, that of the first panel.
    """
    panels = [
        (row, who, _title(counts, row, who))
        for row in range(len(counts.relevant))
        for who in range(max(len(counts.assessors), 1))
    ]
    if len(panels) > MOST_PANELS:
        raise SettingError(
            f"{len(panels)} panels are too many for one plot, expected at most {MOST_PANELS}",
            hint="choose one label (--relevant) or one assessor (--assessor)",
        )
    order = counts.order()[::-1]
    down = -(-len(panels) // MOST_ACROSS)
    across = -(-len(panels) // down)
    with styled():
        figure = new_figure(max(5.5, 1.5 + 3.2 * across), down * (1.3 + 0.19 * len(order)) + 0.4)
        grid = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
        for axes, (row, who, title) in zip(grid, panels, strict=False):
            _panel(axes, counts, order, (row, who))
            axes.set_title(title)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        figure.supxlabel(f"relevant among {counts.among}\nmean over topics ± standard error", fontsize=10)
    return figure


def _panel(axes: Axes, counts: Counts, order: Ints, panel: tuple[int, int]) -> None:
    """Draw one dot with its error bar per system and kind of count, the two kinds a little apart."""
    row, who = panel
    place = np.arange(len(order))
    size = 5 if len(order) <= 30 else 3.5
    for number, (kind, words) in enumerate(SHOWN.items()):
        mean, se = (each[KINDS.index(kind), row][order] for each in (counts.mean, counts.se))
        if counts.assessors:
            mean, se = mean[:, who], se[:, who]
        height = place + 0.16 - 0.32 * number
        ink = colour(number)
        bars = np.nan_to_num(se)
        axes.hlines(height, mean - bars, mean + bars, color=ink, linewidth=1.5, alpha=0.6)
        axes.plot(mean, height, marker(number), color=ink, markersize=size, label=words)
        if counts.oracle:
            axes.plot(mean[-1:], height[-1:], marker(number), color=ink, markerfacecolor="white", markersize=size)
    axes.set_yticks(place, [short_name(counts.systems[n]) for n in order], fontsize=9 if len(order) <= 30 else 7)
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.set_xlim(left=0)


def _title(counts: Counts, row: int, who: int) -> str:
    name, scale = counts.relevant[row], counts.fit.scale
    higher = scale.ordered and name in scale.labels[:-1]
    whose = f", {short_name(counts.assessors[who])}" if counts.assessors else ""
    return f"relevant: {name}{' or higher' if higher else ''}{whose}"

"""Plots of robustness: correlations of rankings, or scores of judgment sets, as dots with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from venire.comparison.rank_agreement import RankCorrelation, Robustness
from venire.plots.style import BLUE, GREY, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAID = {
    "assessors": "{} between rankings by two assessors",
    "gains": "{} between rankings by two gains",
    "sets": "score of one assessor's labels, judged by another",
}


def plot_robustness(found: Robustness) -> Figure:
    """Values with intervals by gains, one panel per measure; grey marks are the single pairs of assessors."""
    measures = list(dict.fromkeys(row.measure for row in found.rows))
    shown = {measure: _whats(found, measure) for measure in measures}
    with styled():
        figure = new_figure(7.0, 0.9 + sum(0.45 + 0.32 * len(each) for each in shown.values()))
        grid = {"height_ratios": [len(each) + 0.6 for each in shown.values()]}
        panels = figure.subplots(len(measures), 1, sharex=True, squeeze=False, gridspec_kw=grid)[:, 0]
        for axes, measure in zip(panels, measures, strict=True):
            _panel(axes, [row for row in found.rows if row.measure == measure], shown[measure])
            axes.set_title(measure)
        row = found.rows[0]
        panels[-1].set_xlabel(SAID[row.between].format(row.correlation))
    return figure


def _whats(found: Robustness, measure: str) -> list[str]:
    """What is compared by a measure, in the order of the rows."""
    return list(dict.fromkeys(row.what() for row in found.rows if row.measure == measure))


def _panel(axes: Axes, rows: Sequence[RankCorrelation], whats: Sequence[str]) -> None:
    place = {what: number for number, what in enumerate(whats)}
    known = [row for row in rows if not isnan(row.value)]
    alone = len(rows) == len(whats)
    single = [row for row in known if not (alone or _is_mean(row))]
    heights = [place[row.what()] + 0.24 for row in single]
    axes.plot([row.value for row in single], heights, "|", color=GREY, markersize=5, alpha=0.6)
    for row in known if alone else filter(_is_mean, known):
        height = place[row.what()]
        axes.hlines(height, row.low, row.high, color=BLUE, linewidth=2, alpha=0.6)
        axes.plot(row.value, height, "o", color=BLUE, markersize=7)
        where = (row.value, height)
        axes.annotate(f"{row.value:.2f}", where, (0, 6), textcoords="offset points", fontsize=8, ha="center")
    axes.set_yticks(range(len(whats)), whats)
    axes.set_ylim(len(whats) - 0.4, -0.7)
    axes.grid(axis="y", visible=False)


def _is_mean(row: RankCorrelation) -> bool:
    return row.a is None and row.b is None

"""Plots of discriminative power: p-values of all pairs of systems in ascending order, a line per label set or measure.

Where a line crosses the level alpha, there stands its marker: the share of pairs that are told apart is read off below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.plots.style import COLOURS, GREY, colour, marker, new_figure, short_name, styled, unit_axis
from venire.quality.power import DiscriminativePower, Power

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 2 * len(COLOURS)
MOST_ACROSS = 2
LONGEST_NAME = 30
TESTS = {"bootstrap": "paired bootstrap", "tukey": "Tukey HSD"}

Lines = list[tuple[str, Power]]


def plot_power(found: DiscriminativePower) -> Figure:
    """Curves of p-values: a panel per test and measure with a line per label set; where labels are one, per measure.

    Names have the same look in all panels.  Of more than fourteen lines those that tell most apart in the first panel,
    and those that tell least, are named; the others are grey.
    """
    panels = _panels([row for row in found.rows if row.pairs])
    down = max(1, -(-len(panels) // MOST_ACROSS))
    across = max(1, -(-len(panels) // down))
    looks = _looks(panels)
    names = max((len(short_name(name, LONGEST_NAME)) for name in looks), default=0)
    with styled():
        high = max(3.3, 1.0 + 0.2 * min(len(looks), MOST_LINES + 1))
        figure = new_figure(0.6 + (4.6 + 0.075 * names) * across, 0.4 + down * high)
        grid = figure.subplots(down, across, sharex=True, squeeze=False).ravel()
        for axes, (title, lines) in zip(grid, panels.items(), strict=False):
            _panel(axes, lines, looks)
            axes.set_title(title)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for axes in grid[max(len(panels) - across, 0) : len(panels)]:
            axes.tick_params(axis="x", labelbottom=True)  # also where the panel below is empty
        figure.supxlabel("share of pairs of systems, smallest p-value first", fontsize=10)
        figure.supylabel("p-value (achieved significance level)", fontsize=10)
    return figure


def _panels(rows: Sequence[Power]) -> dict[str, Lines]:
    """Lines with their names, by the title of the panel; those that tell most apart first."""
    one = len({row.labels for row in rows}) == 1
    panels: dict[str, Lines] = {}
    for row in rows:
        test = TESTS.get(row.test, row.test)
        name = short_name(row.labels if one else row.measure, LONGEST_NAME)
        title = f"labels {name}, {test}" if one else f"{name}, {test}"
        panels.setdefault(title, []).append((row.measure if one else row.labels, row))
    return {title: sorted(lines, key=lambda each: -(each[1].share or 0.0)) for title, lines in panels.items()}


def _looks(panels: Mapping[str, Lines]) -> dict[str, dict[str, Any]]:
    """How the lines of each name look, in all panels."""
    names = list(dict.fromkeys(name for lines in panels.values() for name, _ in lines))
    half = MOST_LINES // 2
    told = names if len(names) <= MOST_LINES else names[:half] + names[-half:]
    looks: dict[str, dict[str, Any]] = {name: {"color": GREY, "linewidth": 0.6, "zorder": 1.5} for name in names}
    for number, name in enumerate(told):
        again = number // len(COLOURS)
        look = {"color": colour(number), "marker": marker(number + again), "linestyle": "-" if not again else "--"}
        looks[name] = look
    return looks


def _panel(axes: Axes, lines: Lines, looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw the lines of one panel, and the level."""
    alpha = lines[0][1].alpha
    for name, row in lines:
        share, p = row.curve()
        x, y = np.concatenate([[0.0], share]), np.concatenate([p[:1], p])
        plain = {what: value for what, value in looks[name].items() if what != "marker"}
        axes.step(x, y, where="pre", alpha=0.9, **plain)
        if "marker" in looks[name]:
            words = f"{short_name(name, LONGEST_NAME)}  {row.share:.0%}"
            axes.plot(row.share or 0.0, alpha, markersize=6, label=words, clip_on=False, **looks[name])
    unnamed = sum("marker" not in looks[name] for name, _ in lines)
    if unnamed:
        axes.plot([], [], color=GREY, linewidth=0.6, label=f"{unnamed} more")
    axes.axhline(alpha, color=GREY, linewidth=1.0, linestyle=":")
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
    axes.legend(fontsize=8.5, title=f"told apart at {alpha:g}", title_fontsize=9, alignment="left", **where)
    axes.set_ylim(0, min(1.0, 4 * alpha))
    axes.set_yticks(np.linspace(0, min(1.0, 4 * alpha), 5))
    axes.yaxis.set_major_formatter("{x:g}")
    unit_axis(axes, which="x")

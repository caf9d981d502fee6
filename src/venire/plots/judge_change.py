"""Plots of a change of judge: would the winner stay ahead, and how far do judges agree?

Turpin and Scholer (2009): Figures 1 and 2 from the formulas, with the exact probability beside the normal one; Figures
3 to 7 from any judgments with several assessors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from venire.agreement.directed import KINDS, AgreementDifferences, DirectedAgreement
from venire.comparison.judge_change import LEVEL, RankCounts, contour, limits, min_agreement_to_stay_ahead
from venire.plots.style import COLOURS, GREY, INK, colour, marker, new_figure, styled, unit_axis
from venire.results import counted
from venire.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9, LEVEL)
STEPS = 41
MANY = 5000
"""With more points than this a scatter shows their density."""


def plot_contour(counts: RankCounts | None = None, *, steps: int = STEPS) -> Figure:
    """Pr[Delta' >= 0] over both agreement rates (Figure 1), by the normal approximation and exactly; P@1 by default."""
    counts = counts or RankCounts(c10=1)
    with styled():
        figure = new_figure(7.6, 4.0)
        for axes, exact in zip(figure.subplots(1, 2, sharey=True), (False, True), strict=True):
            grid, chance = contour(counts, steps=steps, exact=exact)
            if not exact:  # where nothing varies the normal has no width
                chance[[0, -1], [-1, 0]] = np.nan
            _contour(axes, grid, chance)
            axes.set_title("exact" if exact else "normal approximation")
        figure.supxlabel("a0, agreement on irrelevant documents", fontsize=10)
        figure.supylabel("a1, agreement on relevant documents", fontsize=10)
        figure.suptitle(
            f"P(A is not behind under the new judge), P@{counts.n}, difference {counts.delta:+.2g}", fontsize=10
        )
    return figure


def _contour(axes: Axes, grid: Floats, chance: Floats) -> None:
    """Draw lines of equal probability, that of 95 % thick; chance (a0, a1)."""
    low, high = float(np.nanmin(chance)), float(np.nanmax(chance))
    levels = [level for level in LEVELS if low < level < high]
    widths = [2.2 if level == LEVEL else 1.0 for level in levels]
    axes.contourf(grid, grid, chance.T, levels=np.linspace(0, 1, 11), cmap="cividis", alpha=0.55)
    lines = axes.contour(grid, grid, chance.T, levels=levels, colors=INK, linewidths=widths)
    axes.clabel(lines, fmt=lambda level: f"{level:.0%}", fontsize=8)
    axes.set_aspect("equal")
    axes.grid(visible=False)


def plot_limits(ns: Sequence[int] = (1, 5, 10)) -> Figure:
    """Expected Delta'(n) and its 95 % limits by agreement (Figure 2); a mark where the lower one meets zero."""
    with styled():
        figure = new_figure(6.6, 4.2)
        axes = figure.subplots()
        for number, n in enumerate(ns):
            grid, mean, low, high = limits(n, steps=201)
            needed = min_agreement_to_stay_ahead(n)
            axes.fill_between(grid, low, high, color=colour(number), alpha=0.14 + 0.08 * number, linewidth=0)
            axes.plot(grid, low, color=colour(number), linewidth=1, label=f"n = {n}: from {needed:.1%} on")
            axes.plot(grid, high, color=colour(number), linewidth=1)
            axes.plot([needed], [0], marker(number), color=colour(number), zorder=4)
            if n == ns[-1]:
                axes.plot(grid, mean, color=INK, linewidth=2, label="expected difference")
        axes.axhline(0, color=GREY, linewidth=1)
        axes.set_xlabel("agreement, a0 = a1")
        axes.set_ylabel("difference of P@n under the new judge")
        axes.set_xlim(0, 1)
        axes.legend(loc="upper left", fontsize=8, title="A stays ahead", title_fontsize=8)
    return figure


def plot_agreement(found: DirectedAgreement, *, bins: int = 20) -> Figure:
    """Histograms of a0 and a1 over directed pairs (Figures 3 and 5), with their medians."""
    edges, counts = found.histogram(bins=bins)
    middle = [_median(rate) for rate in found.rates.both]
    with styled():
        figure = new_figure(7.2, 3.6)
        for axes in _two_histograms(figure, edges, counts):
            _mark(axes, middle.pop(0), "median {:.2f}")
        by = f", by {' and '.join(found.by)}" if found.by else ""
        figure.supxlabel("agreement of the second judge with the first", fontsize=10)
        figure.supylabel(f"directed pairs{by}", fontsize=10)
    return figure


def plot_differences(found: AgreementDifferences, *, bins: int = 41) -> Figure:
    """Histograms of the differences of a0 and a1 between topics or tasks (Figures 4 and 6).

    Between two places the median is marked, among more the size that half of the differences exceed.
    """
    edges, counts = found.histogram(bins=bins)
    two = len(found.places) == 2
    middle = [_median(each if two else np.abs(each)) for each in found.values]
    with styled():
        figure = new_figure(7.2, 3.6)
        for axes in _two_histograms(figure, edges, counts):
            _mark(axes, middle.pop(0), "median {:+.2f}" if two else "half exceed ±{:.2f}", both_sides=not two)
        words = _plain(" less ".join(found.places[::-1])) if two else f"between two {found.across}s"
        figure.supxlabel(f"difference of agreement, {words}", fontsize=10)
        figure.supylabel("directed pairs" if two else f"pairs and twos of {found.across}s", fontsize=10)
    return figure


def _two_histograms(figure: Figure, edges: Floats, counts: Ints) -> list[Axes]:
    """Draw the histograms of a0 and a1 side by side; counts (2, bin)."""
    panels = list(figure.subplots(1, 2, sharey=True))
    for number, axes in enumerate(panels):
        axes.stairs(counts[number], edges, fill=True, color=COLOURS[number], alpha=0.75)
        axes.set_title(f"a{number}: {KINDS[number]} documents")
        axes.set_xlim(edges[0] - 0.02, edges[-1] + 0.02)
        axes.set_ylim(0, 1.05 * max(int(counts.max()), 1))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.grid(axis="x", visible=False)
    return panels


def _mark(axes: Axes, place: float, words: str, *, both_sides: bool = False) -> None:
    """Mark a place, and its mirror image if asked, with a dashed line; nothing where it is not known."""
    if np.isnan(place):
        return
    axes.axvline(place, color=INK, linewidth=1.2, linestyle="--", label=words.format(place))
    if both_sides:
        axes.axvline(-place, color=INK, linewidth=1.2, linestyle="--")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize=8)


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def plot_scatter(found: AgreementDifferences) -> Figure:
    """Agreement in one place against that in the other (Figure 7), a point per pair; the density of very many."""
    with styled():
        figure = new_figure(7.6, 4.1)
        for number, axes in enumerate(figure.subplots(1, 2, sharey=True)):
            axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
            _points(axes, found.rates.both[number], found.other_rates.both[number], number)
            axes.set_title(f"a{number}: {KINDS[number]} documents")
            axes.set_aspect("equal")
            unit_axis(axes, which="x")
            unit_axis(axes)
        one, other = found.places if len(found.places) == 2 else (f"one {found.across}", f"another {found.across}")
        more = "; darker: more" if len(found) > MANY else ""
        figure.supxlabel(f"agreement, {_plain(one)} ({counted(found.n_pairs, 'directed pair')}{more})", fontsize=10)
        figure.supylabel(f"agreement, {_plain(other)}", fontsize=10)
    return figure


def _points(axes: Axes, here: Floats, there: Floats, number: int) -> None:
    known = ~(np.isnan(here) | np.isnan(there))
    here, there = here[known], there[known]
    if len(here) <= MANY:
        axes.plot(here, there, marker(number), color=COLOURS[number], alpha=0.5, markersize=4, markeredgewidth=0)
        return
    hues = ("Blues", "Oranges")[number]
    axes.hexbin(here, there, gridsize=32, extent=(0, 1, 0, 1), bins="log", cmap=hues, mincnt=1, linewidths=0.1)


def _plain(name: str) -> str:
    """Return a name whose dollars are no mathematics."""
    return name.replace("$", r"\$")

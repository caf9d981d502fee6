"""Plots of comparisons: orders of systems, their stability under another judge, and a change of judge.

The map of stability has a row and a column per system, best first; a cell is the probability that the row is ahead of
the column under another judge.  Certain orders are blue above the diagonal and orange below, uncertain ones are pale.
Dots mark pairs that are significant and yet fragile.

A change of judge: Turpin and Scholer (2009), Figures 1 and 2, with the exact probability beside the normal one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.comparison.agreement_needed import Contour
from venire.comparison.forecast import Forecast
from venire.comparison.judge_change import (
    CONFIDENCE as STAYS_AHEAD,
    RankCounts,
    contour,
    limits,
    min_agreement_to_stay_ahead,
)
from venire.comparison.rank_agreement import RankCorrelation, Robustness
from venire.comparison.stability import CONFIDENCE, Stability, stability
from venire.errors import SettingError
from venire.plots import style
from venire.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMES = 130
"""Most names along an axis; of more systems only every n-th is named."""
CORRELATIONS = {
    "assessors": "{} between rankings by two assessors",
    "gains": "{} between rankings by two gains",
    "sets": "score of one assessor's labels, judged by another",
}
MOST_COLOURED = 7
"""Number of systems drawn in colour: those that move most."""
MOST_ENDS, LONGEST_END = 40, 34
"""Most systems whose names are all written at the ends of their lines, and the longest such name."""
CONTOURS = (0.1, 0.25, 0.5, 0.75, 0.9, STAYS_AHEAD)


@style.styled()
def plot_stability(result: Stability | Forecast) -> Figure:
    """Plot the probability that each system is ahead of each other one under another judge, best first."""
    found = _as_stability(result)
    order = found.by_score()
    n = len(order)
    tied = np.maximum(1.0 - found.above - found.above.T, 0.0)
    ahead = (found.above + tied / 2)[np.ix_(order, order)]
    np.fill_diagonal(ahead, np.nan)
    side = min(16.0, 1.6 + max(0.145 * n, 2.6))
    figure, axes = style.one_panel(side + 1.3, side + 0.9)
    image = axes.imshow(ahead, cmap=style.diverging(), vmin=0, vmax=1, interpolation="nearest")
    fragile = np.flatnonzero(found.significant & found.fragile)
    if len(fragile):
        place = np.argsort(order)
        a, b = (place[each[fragile]] for each in found.pairs)
        look: dict[str, Any] = {"color": "black", "markersize": 2.5 if n > 40 else 5.0, "linestyle": "none"}
        axes.plot(np.append(a, b), np.append(b, a), "o", label="significant, yet fragile", **look)
    _name_systems(axes, found, order, "y")
    _name_systems(axes, found, order, "x")
    style.hide_axes(axes)
    bar = figure.colorbar(image, ax=axes, shrink=0.5 if n > 20 else 0.9, aspect=25, pad=0.02)
    bar.set_label("P(row is ahead of column)")
    bar.outline.set_visible(False)
    figure.suptitle(f"{found.forecast.measure} under another judge", fontweight="bold")
    if axes.lines:
        figure.legend(loc="outside lower center", fontsize=9, handletextpad=0.1)
    return figure


@style.styled()
def plot_ranks(result: Stability | Forecast) -> Figure:
    """Plot the ranks of each system under another judge, 95% of the draws, with a dot for its current rank."""
    found = _as_stability(result)
    order = found.by_score()
    n, place = len(order), np.arange(len(order))
    figure, axes = style.one_panel(7.0, 1.2 + 0.155 * max(n, 6))
    low, high = found.rank_low[order] - 0.3, found.rank_high[order] + 0.3
    axes.hlines(place, low, high, color=style.BLUE, linewidth=3, alpha=0.45)
    axes.plot(found.rank[order], place, "o", color=style.INK, markersize=3.5)
    _name_systems(axes, found, order, "y")
    axes.set(ylim=(n - 0.4, -0.6), xlim=(0.3, n + 0.7))
    step = next(each for each in (1, 5, 10, 20, 50, 10**9) if n <= 12 * each)
    axes.set_xticks(sorted({1, *range(step, n + 1, step)}))
    axes.set_xlabel(
        f"rank by {found.forecast.measure}: current (dot), and under another judge ({CONFIDENCE:.0%} of draws)"
    )
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    return figure


@style.styled()
def plot_tau(result: Stability | Forecast) -> Figure:
    """Plot Kendall's tau between the current order of systems and that under another judge, over draws."""
    found = _as_stability(result)
    tau, known = found.correlation(), found.tau[~np.isnan(found.tau)]
    figure, axes = style.one_panel(6.0, 3.4)
    axes.hist(known, bins=min(40, max(8, len(np.unique(known)))), color=style.BLUE, alpha=0.55)
    axes.axvspan(tau.low, tau.high, color=style.GREY, alpha=0.15, linewidth=0)
    axes.axvline(tau.value, color=style.INK, linewidth=1.5)
    text = f"mean {tau.value:.2f}\n{tau.confidence:.0%} in [{tau.low:.2f}, {tau.high:.2f}]"
    axes.annotate(text, (0.02, 0.97), xycoords="axes fraction", va="top", fontsize=9)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.3)
    orders = f"between the orders by {found.forecast.measure}, current and under another judge"
    axes.set_xlabel(f"Kendall's tau\n{orders}")
    axes.set_ylabel("draws")
    return figure


def _as_stability(result: Stability | Forecast) -> Stability:
    return result if isinstance(result, Stability) else stability(result)


def _name_systems(axes: Axes, found: Stability, order: Ints, which: str) -> None:
    """Name systems along an axis, every n-th of many."""
    places = np.arange(0, len(order), -(-len(order) // MOST_NAMES))
    names = style.short_names([found.forecast.systems[order[n]] for n in places.tolist()], 24)
    size = 9 if len(order) <= 12 else 7 if len(order) <= 40 else 6
    if which == "x":
        axes.set_xticks(places, names, rotation=90, fontsize=size)
    else:
        axes.set_yticks(places, names, fontsize=size)


@style.styled()
def plot_robustness(found: Robustness) -> Figure:
    """Plot values with intervals by gains, one panel per measure; grey marks are single pairs of assessors."""
    measures = dict.fromkeys(row.measure for row in found.rows)
    panels = {measure: [row for row in found.rows if row.measure == measure] for measure in measures}
    names = {measure: list(dict.fromkeys(row.what() for row in rows)) for measure, rows in panels.items()}
    figure = style.new_figure(7.0, 0.9 + sum(0.45 + 0.32 * len(each) for each in names.values()))
    ratios = {"height_ratios": [len(each) + 0.6 for each in names.values()]}
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    for axes, (measure, rows) in zip(grid, panels.items(), strict=True):
        _draw_correlations(axes, rows, names[measure])
        axes.set_title(measure)
    row = found.rows[0]
    grid[-1].set_xlabel(CORRELATIONS[row.between].format(row.correlation))
    return figure


def _draw_correlations(axes: Axes, rows: Sequence[RankCorrelation], names: Sequence[str]) -> None:
    place = {name: number for number, name in enumerate(names)}
    known = [row for row in rows if not isnan(row.value)]
    means = [row for row in known if len(rows) == len(names) or (row.a is None and row.b is None)]
    single = [row for row in known if row not in means]
    heights = [place[row.what()] + 0.24 for row in single]
    axes.plot([row.value for row in single], heights, "|", color=style.GREY, markersize=5, alpha=0.6)
    for row in means:
        height = place[row.what()]
        style.draw_intervals(axes, height, row.value, row.low, row.high, markersize=7)
        where = (row.value, height)
        axes.annotate(f"{row.value:.2f}", where, (0, 6), textcoords="offset points", fontsize=8, ha="center")
    style.name_rows(axes, names, longest=60)


@style.styled()
def plot_slope(means: Mapping[str, Floats], systems: tuple[str, ...], *, below: str | None = None) -> Figure:
    """Plot the ranks of systems by several readings of the labels, a line per system; those that move most in colour.

    means : by reading, (system,); equal ones keep the order of the previous reading, so that their lines do not cross.
    below : label of the axis of readings
    """
    if not means or not systems:
        raise SettingError("there is no order of systems to plot")
    rank = ranks_by(means) + 1
    moved = rank.max(axis=0) - rank.min(axis=0)
    bold = [n for n in np.argsort(-moved, kind="stable")[:MOST_COLOURED].tolist() if moved[n] > 0]
    height = min(max(2.0 + 0.19 * len(systems), 3.0), 11.0)
    figure, axes = style.one_panel(max(7.2, 1.2 + 2.0 * len(means)), height)
    place = np.arange(len(means))
    for number in set(range(len(systems))) - set(bold):
        axes.plot(place, rank[:, number], color=style.GREY, alpha=0.45 if bold else 1.0, linewidth=1)
    for order, number in enumerate(bold):
        axes.plot(place, rank[:, number], **style.look(order), linewidth=1.8)
    _name_ends(axes, rank, systems, bold)
    axes.set_xticks(place, list(means))
    axes.set(xlim=(-0.05, len(means) - 0.95), ylim=(len(systems) + 0.6, 0.4), ylabel="rank", xlabel=below or "")
    step = 1 if len(systems) <= 12 else 5 if len(systems) <= 40 else 10
    axes.set_yticks([1, *range(max(step, 2), len(systems) + 1, step)])
    axes.grid(axis="y", visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    return figure


def ranks_by(means: Mapping[str, Floats]) -> Ints:
    """Return ranks by each reading, from 0 -> (reading, system)."""
    order, ranks = np.arange(len(next(iter(means.values())))), []
    for values in means.values():
        order = order[np.argsort(-values[order].round(12), kind="stable")]
        ranks.append(np.argsort(order))
    return np.array(ranks)


def _name_ends(axes: Axes, rank: Ints, systems: tuple[str, ...], bold: list[int]) -> None:
    """Write names at both ends of the lines: of all systems where they fit, otherwise of those that move most."""
    shown = range(len(systems)) if len(systems) <= MOST_ENDS else bold
    names = {n: style.short_name(systems[n], LONGEST_END) for n in shown}
    for number, name in names.items():
        look: dict[str, Any] = {"color": style.colour(bold.index(number)) if number in bold else None, "size": 8}
        for end, offset, side in ((0, -6, "right"), (len(rank) - 1, 6, "left")):
            look |= {"textcoords": "offset points", "ha": side, "va": "center"}
            axes.annotate(name, (end, rank[end, number]), (offset, 0), **look)
    axes.tick_params(axis="y", length=0, pad=8 + 4.6 * max(map(len, names.values()), default=0))


@style.styled()
def plot_contour(counts: RankCounts | None = None, *, steps: int = 41) -> Figure:
    """Plot Pr[Delta' >= 0] over both agreement rates (Figure 1), normal approximation and exact; P@1 by default."""
    counts = counts or RankCounts(c10=1)
    figure = style.new_figure(7.6, 4.0)
    for axes, exact in zip(figure.subplots(1, 2, sharey=True), (False, True), strict=True):
        grid, chance = contour(counts, steps=steps, exact=exact)
        if not exact:  # without variance the normal approximation is undefined
            chance[[0, -1], [-1, 0]] = np.nan
        _draw_contour(axes, grid, chance)
        axes.set_title("exact" if exact else "normal approximation")
    figure.supxlabel("a0, agreement on irrelevant documents")
    figure.supylabel("a1, agreement on relevant documents")
    title = f"P(A is not behind under the new judge), P@{counts.n}, difference {counts.delta:+.2g}"
    figure.suptitle(title)
    return figure


def _draw_contour(axes: Axes, grid: Floats, chance: Floats) -> None:
    """Draw lines of equal probability, that of 95% thick; chance (a0, a1)."""
    low, high = float(np.nanmin(chance)), float(np.nanmax(chance))
    levels = [level for level in CONTOURS if low < level < high]
    widths = [2.2 if level == STAYS_AHEAD else 1.0 for level in levels]
    axes.contourf(grid, grid, chance.T, levels=np.linspace(0, 1, 11), cmap="cividis", alpha=0.55)
    lines = axes.contour(grid, grid, chance.T, levels=levels, colors=style.INK, linewidths=widths)
    axes.clabel(lines, fmt=lambda level: f"{level:.0%}", fontsize=8)
    axes.set_aspect("equal")
    axes.grid(visible=False)


@style.styled()
def plot_agreement_needed(
    found: Contour, *, needed: float | None = None, judges: Sequence[tuple[str, float, float]] = ()
) -> Figure:
    """Plot the probability that a system stays ahead over both agreement rates, and judges with known rates.

    needed: the agreement a0 = a1 that is enough, drawn on the diagonal.  judges: names with their rates a0 and a1.
    """
    figure, axes = style.one_panel(5.6, 5.4)
    _draw_contour(axes, found.rates, found.chance)
    axes.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.8)
    if needed is not None and not isnan(needed):
        axes.plot([needed], [needed], "D", color=style.INK, zorder=4, label=f"needed, a0 = a1: {needed:.0%}")
    for number, (name, a0, a1) in enumerate(judges[:MOST_COLOURED]):
        look: dict[str, Any] = {
            "color": style.colour(number),
            "markeredgecolor": "white",
            "zorder": 5,
            "clip_on": False,
        }
        label = f"{style.short_name(name, LONGEST_END)} ({a0:.0%}, {a1:.0%})"
        axes.plot([a0], [a1], style.marker(number), markersize=8, label=label, **look)
    axes.set(xlabel="a0, agreement on irrelevant documents", ylabel="a1, agreement on relevant documents")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    names = [style.plain(style.short_name(name, 24)) for name in (found.a, found.b)]
    axes.set_title(f"P({names[0]} stays ahead of {names[1]}), {style.plain(found.measure)}")
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside lower center", fontsize=8, ncols=2)
    return figure


@style.styled()
def plot_limits(ns: Sequence[int] = (1, 5, 10)) -> Figure:
    """Plot expected Delta'(n) and its 95% limits by agreement (Figure 2), with a mark where the lower limit is zero."""
    figure, axes = style.one_panel(6.6, 4.2)
    for number, n in enumerate(ns):
        grid, mean, low, high = limits(n, steps=201)
        needed = min_agreement_to_stay_ahead(n)
        axes.fill_between(grid, low, high, color=style.colour(number), alpha=0.14 + 0.08 * number, linewidth=0)
        axes.plot(grid, low, color=style.colour(number), linewidth=1, label=f"n = {n}: at {needed:.1%} or more")
        axes.plot(grid, high, color=style.colour(number), linewidth=1)
        axes.plot([needed], [0], style.marker(number), color=style.colour(number), zorder=4)
        if n == ns[-1]:
            axes.plot(grid, mean, color=style.INK, linewidth=2, label="expected difference")
    axes.axhline(0, color=style.GREY, linewidth=1)
    axes.set(xlabel="agreement, a0 = a1", ylabel="difference of P@n under the new judge", xlim=(0, 1))
    axes.legend(loc="upper left", fontsize=8, title="A stays ahead", title_fontsize=8)
    return figure

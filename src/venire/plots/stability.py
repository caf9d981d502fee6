"""Plots of stability: which orders survive another judge, the places systems may take, and how alike the orders are.

The map has a row and a column per system, best first; a cell is the probability that the row is ahead of the column
under another judge.  A collection that settles everything is blue above the diagonal and orange below; what is pale is
open.  Dots mark pairs that are significant and yet fragile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.comparison.forecast import Forecast
from venire.comparison.stability import LEVEL, Stability, stability
from venire.plots.style import BLUE, GREY, INK, ORANGE, new_figure, short_name, styled
from venire.types import Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 24
MOST_NAMES = 130
"""So many names can be read along an axis; of more systems only every n-th is named."""


def plot_stability(result: Stability | Forecast) -> Figure:
    """The map: how likely each system is ahead of each other one under another judge, best first."""
    found = _settled(result)
    order = found.by_score()
    n = len(order)
    level = np.maximum(1.0 - found.above - found.above.T, 0.0)
    ahead = (found.above + level / 2)[np.ix_(order, order)]
    np.fill_diagonal(ahead, np.nan)
    with styled():
        side = min(16.0, 1.6 + max(0.145 * n, 2.6))
        figure = new_figure(side + 1.3, side + 0.9)
        axes = figure.subplots()
        image = axes.imshow(ahead, cmap=_colours(), vmin=0, vmax=1, interpolation="nearest")
        _mark(axes, found, order)
        _name_systems(axes, found, order, "y")
        _name_systems(axes, found, order, "x")
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        bar = figure.colorbar(image, ax=axes, shrink=0.5 if n > 20 else 0.9, aspect=25, pad=0.02)
        bar.set_label("P(row is ahead of column)")
        bar.outline.set_visible(False)
        figure.suptitle(f"{found.forecast.measure} under another judge", fontsize=10, fontweight="bold")
        if axes.lines:
            figure.legend(loc="outside lower center", fontsize=9, handletextpad=0.1)
    return figure


def plot_ranks(result: Stability | Forecast) -> Figure:
    """The places that each system may take under another judge, 95 % of the draws; a dot for its place now."""
    found = _settled(result)
    order = found.by_score()
    place = np.arange(len(order))
    with styled():
        figure = new_figure(7.0, 1.2 + 0.155 * max(len(order), 6))
        axes = figure.subplots()
        low, high = found.rank_low[order] - 0.3, found.rank_high[order] + 0.3
        axes.hlines(place, low, high, color=BLUE, linewidth=3, alpha=0.45)
        axes.plot(found.rank[order], place, "o", color=INK, markersize=3.5)
        _name_systems(axes, found, order, "y")
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlim(0.3, len(order) + 0.7)
        axes.set_xticks(_some_places(len(order)))
        axes.set_xlabel(f"place by {found.forecast.measure}: now (dot), and under another judge ({LEVEL:.0%} of draws)")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    return figure


def plot_tau(result: Stability | Forecast) -> Figure:
    """How alike the order of systems is under another judge: tau in each draw, its mean, and where 95 % are."""
    found = _settled(result)
    tau, known = found.correlation(), found.tau[~np.isnan(found.tau)]
    with styled():
        figure = new_figure(6.0, 3.4)
        axes = figure.subplots()
        axes.hist(known, bins=min(40, max(8, len(np.unique(known)))), color=BLUE, alpha=0.55)
        axes.axvspan(tau.low, tau.high, color=GREY, alpha=0.15, linewidth=0)
        axes.axvline(tau.value, color=INK, linewidth=1.5)
        text = f"mean {tau.value:.2f}\n{tau.confidence:.0%} in [{tau.low:.2f}, {tau.high:.2f}]"
        axes.annotate(text, (0.02, 0.97), xycoords="axes fraction", va="top", fontsize=9)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.3)
        axes.set_xlabel(f"Kendall's tau of the order by {found.forecast.measure}, now and under another judge")
        axes.set_ylabel("draws")
    return figure


def _settled(result: Stability | Forecast) -> Stability:
    return result if isinstance(result, Stability) else stability(result)


def _colours() -> Any:
    """Blue for 1, orange for 0, pale between; told apart by people who see no red or no green."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("stability", [ORANGE, "#FBEFD5", "#F7F7F7", "#D6E8F4", BLUE])
    return colours.with_extremes(bad="#DDDDDD")


def _mark(axes: Axes, found: Stability, order: Ints) -> None:
    """Set a dot on pairs that are significant and yet fragile, on both sides of the diagonal."""
    chosen = np.flatnonzero(found.significant & found.fragile)
    if not len(chosen):
        return
    a, b = found.pairs
    place = np.argsort(order)
    x, y = np.append(place[a[chosen]], place[b[chosen]]), np.append(place[b[chosen]], place[a[chosen]])
    size = 2.5 if len(order) > 40 else 5.0
    axes.plot(x, y, "o", color="black", markersize=size, linestyle="none", label="significant, yet fragile")


def _name_systems(axes: Axes, found: Stability, order: Ints, which: str) -> None:
    """Name the systems along an axis, as they are written."""
    every = -(-len(order) // MOST_NAMES)
    places = np.arange(0, len(order), every)
    names = [short_name(found.forecast.systems[order[n]], LONGEST_NAME) for n in places.tolist()]
    size = 9 if len(order) <= 12 else 7 if len(order) <= 40 else 6
    if which == "x":
        axes.set_xticks(places, names, rotation=90, fontsize=size)
    else:
        axes.set_yticks(places, names, fontsize=size)


def _some_places(n: int) -> list[int]:
    """The first place, and every fifth, tenth, ... after it, some ten in all."""
    every = next(each for each in (1, 5, 10, 20, 50, 10**9) if n <= 12 * each)
    return sorted({1, *range(every, n + 1, every)})

"""Plot of rankings by several aspects: a line per system, from its rank by one aspect to its ranks by several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venire.analysis.aspect_rankings import AspectRankings
from venire.plots.style import BLUE, GREY, RED, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST = 30
FAR = 3
"""Systems that move by so many places are coloured."""


def plot_rankings(rankings: AspectRankings, measure: str | None = None) -> Figure:
    """Ranks of systems by one aspect alone and by several: a line per system, thick where it moves by three or more."""
    measure = measure or rankings.places[0].measure
    some = [each for each in rankings.places if each.measure == measure]
    columns = list(dict.fromkeys(each.gains for each in some))
    systems = [each.system for each in some if each.gains == columns[0]]
    rank = {(each.gains, each.system): each.rank for each in some}
    place = {name: _placed([(rank[name, system], n) for n, system in enumerate(systems)]) for name in columns}
    n = len(systems)
    with styled():
        figure = new_figure(3.6 + 2.3 * len(columns), 1.3 + 0.17 * max(n, 8))
        axes = figure.subplots()
        for number, system in enumerate(systems):
            y = [place[name][number] for name in columns]
            moved = max(abs(rank[name, system] - rank[columns[0], system]) for name in columns)
            _slope(axes, y, moved=moved >= FAR, rises=y[-1] < y[0])
        size = 8 if n <= 25 else 6.5
        axes.set_yticks([place[columns[0]][k] for k in range(n)], [_short(name) for name in systems], fontsize=size)
        right = axes.secondary_yaxis("right")
        right.set_yticks([place[columns[-1]][k] for k in range(n)], [_short(name) for name in systems], fontsize=size)
        for each in (axes, right):
            each.tick_params(axis="y", length=0)
        right.spines[:].set_visible(False)
        axes.set_xticks(range(len(columns)), [_titled(rankings, measure, name) for name in columns], fontsize=9)
        axes.xaxis.tick_top()
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.06, len(columns) - 0.94)
        axes.set_ylim(n + 0.6, 0.4)
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        axes.set_xlabel(f"rank by {measure}; coloured: three or more places from {columns[0]} alone", fontsize=9)
    return figure


def _placed(ranks: list[tuple[int, int]]) -> list[int]:
    """Give tied systems places one below the other, in their order."""
    order = sorted(range(len(ranks)), key=lambda n: ranks[n])
    place = [0] * len(ranks)
    for position, n in enumerate(order):
        place[n] = position + 1
    return place


def _slope(axes: Axes, y: list[int], *, moved: bool, rises: bool) -> None:
    shade = (BLUE if rises else RED) if moved else GREY
    axes.plot(range(len(y)), y, "-o", color=shade, linewidth=1.8 if moved else 0.8, markersize=3, zorder=2 + moved)


def _titled(rankings: AspectRankings, measure: str, name: str) -> str:
    tau = [each.tau for each in rankings.alike if each.measure == measure and each.gains == name]
    text = name.replace(" + ", "\n+ ").replace(" of ", " of\n").replace(", ", ",\n")
    return text + (f"\ntau {tau[0]:.2f}" if tau and tau[0] is not None else "")


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"

"""A slope chart: the order of systems under one reading of the labels after another, a line per system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from venire.errors import SettingError
from venire.plots.style import GREY, colour, marker, new_figure, short_name, styled
from venire.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOVED = 7
"""How many systems are drawn in colour: those that move most."""
MOST_NAMES, LONGEST = 40, 34


def plot_slope(means: Mapping[str, Floats], systems: tuple[str, ...], *, below: str | None = None) -> Figure:
    """Draw ranks by each reading, best on top; systems that move most stand out.

    means : by reading, (system,); equal ones stand as in the reading before, so that no lines cross between them.
    below : what is written under the readings
    """
    if not means or not systems:
        raise SettingError("there is no order of systems to plot")
    rank = _ranks(means) + 1
    moved = rank.max(axis=0) - rank.min(axis=0)
    bold = [number for number in np.argsort(-moved, kind="stable")[:MOVED].tolist() if moved[number] > 0]
    with styled():
        figure = new_figure(max(7.2, 1.2 + 2.0 * len(means)), float(np.clip(2.0 + 0.19 * len(systems), 3.0, 11.0)))
        axes = figure.subplots()
        place = np.arange(len(means))
        for number in range(len(systems)):
            if number not in bold:
                axes.plot(place, rank[:, number], color=GREY, alpha=0.45, linewidth=1)
        for order, number in enumerate(bold):
            axes.plot(place, rank[:, number], color=colour(order), marker=marker(order), linewidth=1.8)
        _names(axes, rank, systems, bold)
        axes.set_xticks(place, list(means))
        axes.set_xlim(-0.05, len(means) - 0.95)
        axes.set_ylim(len(systems) + 0.6, 0.4)
        axes.set_ylabel("rank")
        axes.set_xlabel(below or "")
        axes.set_yticks(_ticks(len(systems)))
        axes.grid(axis="y", visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
    return figure


def _ranks(means: Mapping[str, Floats]) -> Ints:
    """Places by each reading, from 0 -> (reading, system)."""
    order, ranks = np.arange(len(next(iter(means.values())))), []
    for values in means.values():
        order = order[np.argsort(-values[order].round(12), kind="stable")]
        ranks.append(np.argsort(order))
    return np.array(ranks)


def _ticks(n_systems: int) -> list[int]:
    """Ranks that are written: all of a few, every fifth or tenth of many."""
    step = 1 if n_systems <= 12 else 5 if n_systems <= 40 else 10
    return [1, *range(max(step, 2), n_systems + 1, step)]


def _names(axes: object, rank: Ints, systems: tuple[str, ...], bold: list[int]) -> None:
    """Write names at both ends: of all systems where they fit, else of those that move most."""
    shown = range(len(systems)) if len(systems) <= MOST_NAMES else bold
    for number in shown:
        tint = colour(bold.index(number)) if number in bold else None
        for end, offset, side in ((0, -6, "right"), (len(rank) - 1, 6, "left")):
            axes.annotate(  # type: ignore[attr-defined]
                short_name(systems[number], LONGEST),
                (end, rank[end, number]),
                (offset, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                size=8,
                color=tint,
            )
    longest = max((len(short_name(systems[number], LONGEST)) for number in shown), default=0)
    axes.tick_params(axis="y", length=0, pad=8 + 4.6 * longest)  # type: ignore[attr-defined]
    axes.tick_params(axis="x", length=0)  # type: ignore[attr-defined]

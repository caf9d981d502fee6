"""Plot of rankings by several aspects: a line per system, from its rank by one aspect to its ranks by several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.aspects.rankings import AspectRankings
from venire.plots.slope import plot_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_rankings(rankings: AspectRankings, measure: str | None = None) -> Figure:
    """Ranks of systems by one aspect alone and by several; those that move most stand out."""
    measure = measure or rankings.places[0].measure
    places = [each for each in rankings.places if each.measure == measure]
    score = {(each.gains, each.system): each.score for each in places}
    systems = tuple(each.system for each in places if each.gains == rankings.base)
    means = {
        _titled(rankings, measure, name): np.array([score[name, system] for system in systems])
        for name in dict.fromkeys(each.gains for each in places)
    }
    return plot_slope(means, systems, below=f"rank by {measure}; tau: with the order by {rankings.base}")


def _titled(rankings: AspectRankings, measure: str, name: str) -> str:
    tau = [each.tau for each in rankings.alike if each.measure == measure and each.gains == name]
    text = name.replace(" + ", "\n+ ").replace(" of ", " of\n").replace(", ", ",\n").replace(" (", "\n(")
    return text + (f"\ntau {tau[0]:.2f}" if tau and tau[0] is not None else "")

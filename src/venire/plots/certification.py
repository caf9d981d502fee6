"""Plot of a certificate: the scores by a judge beside those that the reference would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.comparison.corrected_scores import CorrectedScores
from venire.errors import UnknownName
from venire.plots import style
from venire.results import listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SYSTEMS = 80
"""Of more systems only the best are drawn."""


@style.styled()
def plot_corrected(found: CorrectedScores, measure: str | None = None) -> Figure:
    """Plot corrected scores with their intervals, best first, and the scores by the judge."""
    if measure is not None and measure not in found.measures:
        raise UnknownName("measure", measure, found.measures)
    column = 0 if measure is None else found.measures.index(measure)
    order = np.argsort(-found.value[:, column], kind="stable")[:MOST_SYSTEMS]
    place = np.arange(len(order))
    figure, axes = style.one_panel(7.0, 1.4 + 0.155 * max(len(order), 6))
    value, low, high, raw = (each[order, column] for each in (found.value, found.low, found.high, found.raw))
    axes.hlines(place, low, high, color=style.BLUE, linewidth=4, alpha=0.45, label="95% interval")
    axes.plot(value, place, "o", color=style.BLUE, markersize=4, label=f"by {listed(found.reference)}, corrected")
    axes.plot(raw, place, "D", color=style.RED, markersize=3, label=f"by {listed(found.judge)}")
    style.name_rows(axes, [found.systems[n] for n in order], size=8)
    axes.set_xlabel(found.measures[column] + style.shown_of(len(order), len(found.systems), "systems"))
    figure.legend(loc="outside upper left", ncols=3, fontsize=8)
    return figure

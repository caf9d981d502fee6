"""Plots of disagreement: what labels promise, and what they are worth to M of N users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.disagreement.user_disagreement import udm_weights
from venire.kernels.shares import FEW_PAIRS
from venire.plots.style import BLUE, GREY, colour, marker, new_figure, styled, unit_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_LABELS = 12
FEW = 7


def _spread(n: int) -> list[int]:
    """Places of all labels, or of many a few that are evenly spread, the lowest and the highest among them."""
    return list(range(n)) if n <= MOST_LABELS else np.linspace(0, n - 1, FEW).round().astype(int).tolist()


def plot_parameters(fit: PredictedRelevanceFit) -> Figure:
    """p(R|label) with its interval, one panel per notion of relevance; hollow where it rests on few pairs."""
    n = len(fit.relevant.names)
    with styled():
        figure = new_figure(max(3.6, 2.9 * n), 3.6)
        for row, axes in enumerate(figure.subplots(1, n, sharey=True, squeeze=False)[0]):
            _panel(axes, fit, row)
        figure.supylabel("P(a random user finds it relevant)", fontsize=10)
        figure.supxlabel("label of one assessor", fontsize=10)
    return figure


def _panel(axes: Axes, fit: PredictedRelevanceFit, row: int) -> None:
    place = np.arange(len(fit.scale))
    p, low, high = fit.p[row], fit.spread.low[row], fit.spread.high[row]
    known, few = ~np.isnan(p), fit.pairs[row] < FEW_PAIRS
    axes.vlines(place[known], low[known], high[known], color=BLUE, linewidth=2, alpha=0.6)
    for chosen, face in ((known & ~few, BLUE), (known & few, "white")):
        axes.plot(place[chosen], p[chosen], "o", color=BLUE, markerfacecolor=face, markersize=7)
    for level in place[known] if len(place) <= MOST_LABELS else ():
        axes.annotate(f"{p[level]:.2f}", (level, p[level]), (7, 3), textcoords="offset points", fontsize=8)
    name = fit.relevant.names[row]
    higher = fit.scale.ordered and name in fit.scale.labels[:-1]
    axes.set_title(f"relevant: {name}{' or higher' if higher else ''}")
    some = _spread(len(place))
    axes.set_xticks(place[some], [fit.scale.labels[level] for level in some])
    axes.set_xlim(-0.5, len(place) - 0.3)
    axes.grid(axis="x", visible=False)
    unit_axis(axes)


def plot_weights(fit: PredictedRelevanceFit, *, most: int = 6, row: int = 0) -> Figure:
    """UDM weights P(1/N) by N, one line per label (Demeester et al. 2014, Figure 5); the lowest as estimated.

    Of many labels a few from the lowest to the highest are drawn.
    """
    with styled():
        figure = new_figure(6.0, 3.8)
        axes = figure.subplots()
        n = np.arange(1, most + 1)
        weights = np.array([udm_weights(1, int(each), fit.p[row], fit.relevant.labels[row]) for each in n])
        for level in reversed(_spread(len(fit.scale))):
            name = fit.scale.labels[level]
            axes.plot(n, weights[:, level], label=name, color=colour(level), marker=marker(level))
        axes.set_xlabel("N users, the assessor among them")
        axes.set_ylabel("P(at least one finds it relevant)")
        axes.set_xticks(n)
        axes.axhline(1, color=GREY, linewidth=0.8)
        unit_axis(axes)
        axes.legend(title="label", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure

"""Plots of items with many labels: counted against predicted weights, and p by the number of other labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.disagreement.many_labels import ManyLabels, Sampled
from venire.errors import SettingError
from venire.plots.style import GREY, colour, marker, new_figure, styled, unit_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APART = 0.07
"""How far the error bars of neighbouring labels stand apart."""


def plot_many_labels(seen: ManyLabels) -> Figure:
    """P(1/N) by N: counted (points, one sd over items), predicted (lines), with correlated users (dashes).

    Demeester et al. (2014), Figure 5.  Labels that are relevant themselves always have 1, and are left out.
    """
    rows = sorted((n, row) for row, (m, n) in enumerate(seen.shares) if m == 1)
    if not rows:
        raise SettingError("there is no share 1/N to draw", hint="count some, as in [(1, 2), (1, 3), (1, 4)]")
    number, order = np.array([n for n, _ in rows]), [row for _, row in rows]
    with styled():
        figure = new_figure(6.4, 3.8)
        axes = figure.subplots()
        for level, label in enumerate(seen.labels):
            if label in seen.relevant:
                continue
            look: dict[str, Any] = {"color": colour(level)}
            axes.plot(number, seen.predicted[order, level], **look)
            axes.plot(number, seen.correlated[order, level], "--", **look)
            points = seen.observed[order, level], seen.sd[order, level]
            axes.errorbar(number, *points, fmt=marker(level), capsize=2, label=label, **look)
        axes.plot([], [], "--", color=GREY, label="correlated users")
        axes.plot([], [], color=GREY, label="predicted")
        axes.set_xlabel("N users, the assessor among them")
        axes.set_ylabel(f"P(at least one finds it {'|'.join(seen.relevant)})")
        axes.set_xticks(number)
        unit_axis(axes)
        axes.legend(title="label", loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
    return figure


def plot_sampled(drawn: Sampled) -> Figure:
    """The share p by the number n of other labels, mean and one sd over repeats (Demeester et al. 2014, Figure 1)."""
    number = np.array(drawn.n, dtype=np.float64)
    with styled():
        figure = new_figure(6.0, 3.8)
        axes = figure.subplots()
        for level, label in reversed(list(enumerate(drawn.labels))):
            place = number + APART * (level - (len(drawn.labels) - 1) / 2)
            look: dict[str, Any] = {"color": colour(level), "fmt": marker(level), "linestyle": "-", "capsize": 2}
            axes.errorbar(place, drawn.mean[:, level], drawn.sd[:, level], label=label, **look)
        axes.set_xlabel("n other labels drawn per item")
        axes.set_ylabel(f"P(another user says {'|'.join(drawn.relevant)})")
        axes.set_xticks(drawn.n)
        axes.set_ylim(bottom=0)
        axes.legend(title="label", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure

"""Plots of simulated users: what each system scores for a random user, how sure that is, and how users differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.errors import UnknownName
from venire.measures.random_users import HIGH, LOW, UserScores
from venire.plots.style import BLUE, INK, new_figure, short_name, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 70
"""How many systems are drawn, best first."""


def plot_user_scores(found: UserScores, measure: str | None = None) -> Figure:
    """Mean over users as a dot, best first; a thick line: 95 % over topics; a thin one: where nine users in ten are."""
    names = found.users.names
    if measure is not None and measure not in names["measure"]:
        raise UnknownName("measure", measure, names["measure"])
    column = 0 if measure is None else names["measure"].index(measure)
    mean = found.mean.values[:, column]
    order = np.argsort(-mean, kind="stable")[:MOST]
    place = np.arange(len(order))
    with styled():
        figure = new_figure(7.0, 1.4 + 0.155 * max(len(order), 6))
        axes = figure.subplots()
        if found.n_users > 1:
            low, high = (found.quantile(q)[order, column] for q in (LOW, HIGH))
            axes.hlines(place, low, high, color=INK, linewidth=1, label="nine users in ten")
        if len(found.topics.names["topic"]) > 1:
            low, high = (each[order, column] for each in found.over_topics())
            axes.hlines(place, low, high, color=BLUE, linewidth=4, alpha=0.45, label="95% interval over topics")
        axes.plot(mean[order], place, "o", color=INK, markersize=4, label="mean over users")
        axes.set_yticks(place, [short_name(names["system"][n]) for n in order], fontsize=8)
        axes.set_ylim(len(order) - 0.4, -0.6)
        few = f"; the first {MOST} of {len(mean)} systems" if len(mean) > MOST else ""
        axes.set_xlabel(f"{names['measure'][column]} for a random user{few}")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper left", ncols=3, fontsize=8)
    return figure

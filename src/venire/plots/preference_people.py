"""Plots of preferences by themselves and against labels: what each assessor chose, and which labels are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.plots.style import BLUE, GREY, INK, ORANGE, colour, new_figure, styled
from venire.users.by_label import PreferencesByLabels
from venire.users.verdicts import PreferenceSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SHOWN = 40


def plot_people(found: PreferenceSummary) -> Figure:
    """What each assessor chose: shares of left, ties and right; assessors by number of choices."""
    rows = sorted(found.position.by_assessor, key=lambda each: -(each["left"] + each["ties"] + each["right"]))
    rows = rows[:MOST_SHOWN]
    counts = np.array([[each["left"], each["ties"], each["right"]] for each in rows], dtype=np.float64)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    place = np.arange(len(rows))
    with styled():
        figure = new_figure(7.0, 1.4 + 0.2 * max(len(rows), 4))
        axes = figure.subplots()
        start = np.zeros(len(rows))
        for column, (name, shade) in enumerate((("left better", BLUE), ("tie", "#CCCCCC"), ("right better", ORANGE))):
            axes.barh(place, share[:, column], left=start, color=shade, height=0.75, label=name)
            start += share[:, column]
        names = [f"{each['assessor']} ({int(n):,})" for each, n in zip(rows, counts.sum(axis=1), strict=True)]
        axes.set_yticks(place, names, fontsize=8, parse_math=False)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of choices")
        axes.set_ylabel("assessor (choices)")
        axes.grid(visible=False)
        figure.legend(loc="outside upper center", ncols=3, fontsize=9)
    return figure


def plot_told_apart(found: PreferencesByLabels) -> Figure:
    """How often the higher of two labels is preferred, with its interval; one half: users do not tell them apart."""
    rows = [each for each in found.records() if each["p"] is not None][:MOST_SHOWN]
    place = np.arange(len(rows))
    with styled():
        figure = new_figure(6.4, 1.3 + 0.3 * max(len(rows), 3))
        axes = figure.subplots()
        axes.axvline(0.5, color=GREY, linewidth=1)
        for row, each in enumerate(rows):
            shade = colour(0) if each["told_apart"] else INK
            axes.hlines(row, each["low"], each["high"], color=shade, linewidth=3, alpha=0.4)
            axes.plot(each["p"], row, "o" if each["told_apart"] else "s", color=shade, markersize=5)
            n = each["higher_preferred"] + each["ties"] + each["lower_preferred"]
            axes.annotate(f"{n:,}", (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=8)
        axes.set_yticks(place, [f"{each['higher']} over {each['lower']}" for each in rows], parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("share in which the higher label is preferred (right: choices; squares: not told apart)")
        axes.grid(axis="y", visible=False)
    return figure

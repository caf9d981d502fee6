"""Plots of measures against users' preference: by measure, by alpha, and by share of ties.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Figures 6 to 10, with intervals that the paper does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.context.sweep import ContextSweep
from venire.kernels.directions import jaccard_of
from venire.plots.style import GREY, INK, colour, marker, new_figure, styled
from venire.types import Floats
from venire.users.agreement import CONDITIONS, VIEWS, MeasureChoice
from venire.users.verdicts import STRENGTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SHOWN = 30
"""Of more measures, the best by weak preference are drawn."""
NAMES = {"kappa": "Cohen's kappa", "jaccard": "Jaccard coefficient"}


def plot_choice(found: MeasureChoice) -> Figure:
    """Kappa of every measure and gains with its interval, best above; a panel per condition."""
    kappa = found.agreement.seen.kappa
    order = np.argsort(-np.nan_to_num(kappa[*VIEWS[0], :, 0], nan=-2.0), kind="stable")[:MOST_SHOWN]
    with styled():
        figure = new_figure(10.5, 1.5 + 0.28 * max(len(order), 3))
        panels = np.ravel(figure.subplots(1, len(VIEWS), sharex=True, sharey=True))
        for axes, view in zip(panels, VIEWS, strict=True):
            limits = np.array([found.agreement.limits("kappa", (*view, n)) for n in order], dtype=np.float64)
            _bars(axes, kappa[*view, order, 0], limits, best=kappa[*view, :, 0].max())
            axes.set_title(_title(view))
        panels[0].set_yticks(np.arange(len(order)), [_named(found, n) for n in order.tolist()], parse_math=False)
        panels[0].set_ylim(len(order) - 0.5, -0.5)
        figure.supxlabel("Cohen's kappa with users; large: the best under this condition", fontsize=10, color=INK)
    return figure


def plot_alphas(found: ContextSweep) -> Figure:
    """Agreement by alpha (Figures 7 to 9): kappa above, Jaccard below, a column per condition; dashed: alpha 0."""
    with styled():
        figure = new_figure(11.0, 5.6)
        panels = np.asarray(figure.subplots(2, len(VIEWS), sharex=True, sharey="row"))
        for row, name in enumerate(NAMES):
            for axes, view in zip(panels[row], VIEWS, strict=True):
                _alpha_panel(axes, found, name, view)
            panels[row, 0].set_ylabel(NAMES[name])
        for axes, view in zip(panels[0], VIEWS, strict=True):
            axes.set_title(_title(view))
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
        figure.supxlabel("alpha, the weight of labels in condition; dashed: alpha 0", fontsize=10, color=INK)
        _legend(figure, panels[0, 0])
    return figure


def plot_ties(found: ContextSweep) -> Figure:
    """Agreement by share of ties (Figure 6): kappa left, Jaccard right, weak above, strong below.

    Dashed: with the smallest threshold; dotted: always saying "tie".
    """
    with styled():
        figure = new_figure(8.4, 6.0)
        panels = np.asarray(figure.subplots(len(STRENGTHS), 2, sharex=True, sharey="col"))
        for strength in range(len(STRENGTHS)):
            ties = float(found.cases.verdicts.ties[strength])
            for axes, name in zip(panels[strength], NAMES, strict=True):
                _tie_panel(axes, found, getattr(found.ties, name)[:, strength])
                axes.axhline(0.0 if name == "kappa" else float(jaccard_of(np.float64(ties))), color=INK, linestyle=":")  # type: ignore[arg-type]
                axes.axvline(ties, color=GREY, linewidth=1)
                axes.set_title(f"{NAMES[name]}, {STRENGTHS[strength]}")
        figure.supxlabel(
            f"share of ties by the measure (alpha {found.middle:g}); grey: that of users; dashed: smallest threshold; "
            "dotted: always a tie",
            fontsize=9,
            color=INK,
        )
        _legend(figure, panels[0, 0])
    return figure


def _title(view: tuple[int, int]) -> str:
    condition, strength = CONDITIONS[view[0]], STRENGTHS[view[1]]
    return condition if condition == strength else f"{condition}, {strength}"


def _named(found: MeasureChoice, number: int) -> str:
    measure, gains = found.cases.names[number]
    one = len({each for _, each in found.cases.names}) == 1
    return measure if one else f"{measure}, {gains}"


def _bars(axes: Axes, value: Floats, limits: Floats, *, best: float) -> None:
    place = np.arange(len(value))
    axes.axvline(0, color=GREY, linewidth=1)
    axes.hlines(place, limits[:, 0], limits[:, 1], color=colour(0), linewidth=3, alpha=0.4)
    axes.plot(value, place, "o", color=colour(0), markersize=4.5)
    axes.plot(value[value == best], place[value == best], "o", color=colour(1), markersize=6.5)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _alpha_panel(axes: Axes, found: ContextSweep, name: str, view: tuple[int, int]) -> None:
    for number, measure in enumerate(found.measures):
        value, low, high = found.curve(name, number, view)
        shade = colour(number)
        axes.plot(found.alphas, value, color=shade, marker=marker(number), markersize=3.5, linewidth=1.3, label=measure)
        axes.axhline(value[0], color=shade, linestyle="--", linewidth=0.9)
        if len(found.measures) <= 3:
            axes.fill_between(found.alphas, low, high, color=shade, alpha=0.13, linewidth=0)


def _tie_panel(axes: Axes, found: ContextSweep, curves: Floats) -> None:
    """Draw curves (value or low or high, measure, share)."""
    for number, measure in enumerate(found.measures):
        value, low, high = curves[:, number]
        shade = colour(number)
        axes.plot(found.ties.shares, value, color=shade, linewidth=1.4, label=measure)
        axes.axhline(value[0], color=shade, linestyle="--", linewidth=0.9)
        if len(found.measures) <= 3:
            axes.fill_between(found.ties.shares, low, high, color=shade, alpha=0.13, linewidth=0)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 6), fontsize=9)

"""Plots of conditional labels: validation of a model, the effect of context, and agreement with users by alpha.

Agreement with users: Golbus et al. (2014), doi:10.1145/2566486.2568015, Figures 6 to 9, with intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.context.model import ConditionalLabels
from venire.context.sweep import ContextSweep
from venire.context.validation import ConditionalValidation
from venire.kernels.directions import jaccard_of
from venire.plots import style
from venire.plots.users import view_title
from venire.types import Floats
from venire.users.agreement import VIEWS
from venire.users.verdicts import STRENGTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CELLS = 12
"""With more labels than this, cells have no numbers."""
COEFFICIENTS = {"kappa": "Cohen's kappa", "jaccard": "Jaccard coefficient"}


@style.styled()
def plot_validation(found: ConditionalValidation) -> Figure:
    """Plot accuracy by confidence, and given against predicted labels, on held-out topics."""
    figure = style.new_figure(8.4, 4.1)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.05))
    _draw_reliability(left, found)
    _draw_confusion(right, found)
    return figure


def _draw_reliability(axes: Axes, found: ConditionalValidation) -> None:
    bins, own = found.reliability, found.scores[0]
    known = bins.n_cases > 0
    x, share, n = bins.confidence[known], bins.share[known], bins.n_cases[known]
    axes.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.8)
    axes.vlines(x, bins.share_low[known], bins.share_high[known], color=style.BLUE, linewidth=2, alpha=0.6)
    axes.scatter(x, share, s=15 + 120 * n / n.max(), color=style.BLUE, zorder=3, clip_on=False)
    axes.set_title("Calibration")
    error = f"calibration error {own.calibration_error:.3f}; {own.calibrated:.3f} if calibrated"
    axes.set(xlabel=f"confidence (size of a point: pairs)\n{error}", ylabel="share of correct predictions")
    style.unit_axis(axes, which="x")
    style.unit_axis(axes)


def _draw_confusion(axes: Axes, found: ConditionalValidation) -> None:
    counts = found.confusion.astype(np.float64)
    total = counts.sum(axis=1)
    _heat_map(axes, counts / np.maximum(total, 1)[:, None], found.scale.labels, "Blues", (0.0, 1.0), "{:.0%}")
    names = [f"{style.plain(label)} ({n:,.0f})" for label, n in zip(found.scale.labels, total, strict=True)]
    axes.set_yticks(range(len(names)), names)
    accuracy = {score.method: score.accuracy.value for score in found.scores}
    axes.set_title(f"{found.scores[0].accuracy.value:.0%} correct; {accuracy['same']:.0%} as in isolation")
    axes.set(xlabel="predicted label", ylabel="conditional label (pairs)")


@style.styled()
def plot_context_effect(model: ConditionalLabels) -> Figure:
    """Plot the expected change of a label, by the labels in isolation of the document and of the previous one.

    With features, for a pair with mean features.
    """
    n = len(model.scale)
    change = model.at_mean() @ np.arange(n) - np.arange(n)[:, None]
    most = 1.8 * max(float(np.abs(change).max()), 0.01)  # light colours, so that numbers are readable
    figure, axes = style.one_panel(5.4, 4.2)
    _heat_map(axes, change, model.scale.labels, "PuOr", (-most, most), "{:+.2f}")
    axes.set_yticks(range(n), [style.plain(label) for label in model.scale.labels])
    axes.set(title="Expected change of the label, in levels", xlabel="label of the previous document")
    axes.set_ylabel("label of the document")
    return figure


def _heat_map(
    axes: Axes, values: Floats, labels: tuple[str, ...], colours: str, limits: tuple[float, float], form: str
) -> None:
    """Draw a heat map with numbers; values (row, column), the first row at the bottom."""
    axes.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], origin="lower", aspect="auto")
    axes.grid(visible=False)
    style.name_columns(axes, labels)
    if len(labels) <= MOST_CELLS:
        texts = [[form.format(value) for value in row] for row in values]
        style.write_cells(axes, texts, np.abs(values) > 0.6 * limits[1])


@style.styled()
def plot_alphas(found: ContextSweep) -> Figure:
    """Plot agreement by alpha (Figures 7 to 9): kappa above, Jaccard below, a column per condition; dashed: alpha 0."""
    figure = style.new_figure(11.0, 5.6)
    panels = np.asarray(figure.subplots(2, len(VIEWS), sharex=True, sharey="row"))
    for row, name in enumerate(COEFFICIENTS):
        for axes, view in zip(panels[row], VIEWS, strict=True):
            curves = np.stack([found.curve(name, number, view) for number in range(len(found.measures))], axis=1)
            _draw_curves(axes, found, found.alphas, curves, markers=True)
        panels[row, 0].set_ylabel(COEFFICIENTS[name])
    for axes, view in zip(panels[0], VIEWS, strict=True):
        axes.set_title(view_title(view))
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    figure.supxlabel("alpha, the weight of conditional labels; dashed: alpha 0", color=style.INK)
    style.shared_legend(figure, panels[0, 0], fontsize=9)
    return figure


@style.styled()
def plot_ties(found: ContextSweep) -> Figure:
    """Plot agreement by share of ties (Figure 6): kappa left, Jaccard right, weak above, strong below.

    Dashed: with the smallest threshold; dotted: always a tie.
    """
    figure = style.new_figure(8.4, 6.0)
    panels = np.asarray(figure.subplots(len(STRENGTHS), 2, sharex=True, sharey="col"))
    for strength, title in enumerate(STRENGTHS):
        ties = float(found.cases.verdicts.ties[strength])
        always = {"kappa": 0.0, "jaccard": float(jaccard_of(np.array([ties]))[0])}
        for axes, (name, coefficient) in zip(panels[strength], COEFFICIENTS.items(), strict=True):
            _draw_curves(axes, found, found.ties.shares, getattr(found.ties, name)[:, strength])
            axes.axhline(always[name], color=style.INK, linestyle=":")
            axes.axvline(ties, color=style.GREY, linewidth=1)
            axes.set_title(f"{coefficient}, {title}")
    text = f"share of ties by the measure (alpha {found.middle:g}); grey: by users; dashed: smallest threshold; "
    figure.supxlabel(f"{text}dotted: always a tie", fontsize=9, color=style.INK)
    style.shared_legend(figure, panels[0, 0], fontsize=9)
    return figure


def _draw_curves(axes: Axes, found: ContextSweep, x: Any, curves: Floats, *, markers: bool = False) -> None:
    """Draw a line per measure, dashed at its first value, with intervals of up to three; curves (3, measure, x)."""
    for number, measure in enumerate(found.measures):
        value, low, high = curves[:, number]
        shade, shape = style.colour(number), style.marker(number) if markers else ""
        axes.plot(x, value, color=shade, marker=shape, markersize=3.5, linewidth=1.4, label=style.plain(measure))
        axes.axhline(value[0], color=shade, linestyle="--", linewidth=0.9)
        if len(found.measures) <= 3:
            axes.fill_between(x, low, high, color=shade, alpha=0.13, linewidth=0)

"""Plots of predicted labels in condition: whether the predictor's confidence is right, and what it confuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.context.model import ConditionalLabels
from venire.context.validation import ConditionalValidation
from venire.plots.style import BLUE, GREY, INK, new_figure, styled, unit_axis
from venire.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NUMBERS = 12
"""A table of more labels than this has no numbers in its cells."""
LONG = 24
"""Labels of more letters than this, together, stand aslant."""


def plot_validation(found: ConditionalValidation) -> Figure:
    """Confidence against the share that is right, and labels given against labels predicted, on topics left out."""
    with styled():
        figure = new_figure(8.4, 4.1)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.05))
        _reliability(left, found)
        _confusion(right, found)
    return figure


def _reliability(axes: Axes, found: ConditionalValidation) -> None:
    bins, own = found.reliability, found.scores[0]
    there = bins.n_cases > 0
    at, share, n = bins.confidence[there], bins.share[there], bins.n_cases[there]
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    axes.vlines(at, bins.share_low[there], bins.share_high[there], color=BLUE, linewidth=2, alpha=0.6)
    axes.scatter(at, share, s=15 + 120 * n / n.max(), color=BLUE, zorder=3, clip_on=False)
    axes.set_title("Is its confidence right?")
    error = f"calibration error {own.calibration_error:.3f}; {own.calibrated:.3f} if it were right"
    axes.set_xlabel(f"confidence (size of a point: pairs)\n{error}")
    axes.set_ylabel("share predicted right")
    unit_axis(axes, which="x")
    unit_axis(axes)


def _confusion(axes: Axes, found: ConditionalValidation) -> None:
    counts = found.confusion.astype(np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    _heat(axes, shares, found.scale.labels, "Blues", (0.0, 1.0), "{:.0%}")
    rows = zip(found.scale.labels, found.confusion.sum(axis=1).tolist(), strict=True)
    axes.set_yticks(range(len(shares)), [f"{_plain(label)} ({n:,})" for label, n in rows])
    accuracy, same = own_and_same(found)
    axes.set_title(f"{accuracy:.0%} right; {same:.0%} as in isolation")
    axes.set_xlabel("label predicted")
    axes.set_ylabel("label in condition (pairs)")


def own_and_same(found: ConditionalValidation) -> tuple[float, float]:
    """Accuracy of the predictor, and that of the label in isolation."""
    accuracy = {score.method: score.accuracy.value for score in found.scores}
    return found.scores[0].accuracy.value, accuracy["same"]


def plot_context_effect(model: ConditionalLabels) -> Figure:
    """How many levels a label is expected to move, by the labels in isolation of the document and of the one before.

    With features, for a pair whose features are the mean.
    """
    n = len(model.scale)
    move = model.at_mean() @ np.arange(n) - np.arange(n)[:, None]
    most = 1.8 * max(float(np.abs(move).max()), 0.01)  # the colours stay light enough for numbers on them
    with styled():
        figure = new_figure(5.4, 4.2)
        axes = figure.subplots()
        _heat(axes, move, model.scale.labels, "PuOr", (-most, most), "{:+.2f}")
        axes.set_yticks(range(n), [_plain(label) for label in model.scale.labels])
        axes.set_title("Levels a label moves in condition")
        axes.set_xlabel("label of the document read before")
        axes.set_ylabel("label of the document")
    return figure


def _heat(
    axes: Axes, values: Floats, labels: tuple[str, ...], colours: str, limits: tuple[float, float], form: str
) -> None:
    """Draw a table as colours with numbers on them; values (row, column), the first row at the bottom."""
    axes.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], origin="lower", aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(labels)), [_plain(label) for label in labels])
    if sum(map(len, labels)) > LONG:
        axes.tick_params(axis="x", labelrotation=30)
    if len(labels) > MOST_NUMBERS:
        return
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        ink = "white" if abs(value) > 0.6 * limits[1] else INK
        axes.text(column, row, form.format(value), ha="center", va="center", fontsize=8, color=ink)


def _plain(name: str) -> str:
    """Return a name whose dollars are no mathematics."""
    return name.replace("$", r"\$")

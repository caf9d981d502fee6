"""Plots of pairwise discriminative power: preferences between labels, and the PDP of every topic.

Chu et al. (2021, doi:10.1145/3459637.3482428), Eqs. (10), (11) and (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from venire.plots.style import GREY, colour, marker, new_figure, short_name, styled
from venire.quality.label_preferences import LabelPreferencesFit
from venire.quality.pdp import PDP
from venire.results import counted
from venire.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NUMBERS = 12
"""With more labels than this, cells have no numbers."""
MANY = 400
"""With more topics than this they are drawn as one line of quantiles alone."""
LONGEST, LEVEL = 20, 6
"""Letters of a label that are shown, and of labels that stand level below each other."""
DARK, LIGHT = "#222222", "white"


def plot_pdp(found: Sequence[PDP]) -> Figure:
    """Preferences between labels, a panel per mode, and below them the PDP of every topic."""
    letters = max(len(short_name(label, LONGEST)) for each in found for label in each.labels.scale.labels)
    room = 0.08 * letters if letters > LEVEL else 0.0
    high = 3.5 + 0.75 * room
    with styled():
        figure = new_figure(max((3.5 + room) * len(found) + 0.4, 6.4), high + 2.8)
        above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(high, 2.8)))
        for axes, each in zip(np.ravel(above.subplots(1, len(found), squeeze=False)), found, strict=True):
            _matrix(axes, each.labels)
        _topics(below.subplots(), found)
    return figure


def plot_label_preferences(fit: LabelPreferencesFit) -> Figure:
    """Heat map of p(a > b): how often a document with label a is preferred to one with label b."""
    letters = max(len(short_name(label, LONGEST)) for label in fit.scale.labels)
    room = 0.08 * letters if letters > LEVEL else 0.0
    with styled():
        figure = new_figure(4.6 + room, 4.2 + 0.75 * room)
        _matrix(figure.subplots(), fit)
    return figure


def plot_topic_pdp(found: Sequence[PDP]) -> Figure:
    """PDP of every topic, lowest first, a line per mode; its mean, and the most it can be."""
    with styled():
        figure = new_figure(6.4, 3.2)
        _topics(figure.subplots(), found)
    return figure


def _matrix(axes: Axes, fit: LabelPreferencesFit) -> None:
    labels = [short_name(label, LONGEST) for label in fit.scale.labels]
    slanted = max(map(len, labels)) > LEVEL
    places = np.arange(len(labels))
    axes.imshow(fit.p, cmap="PuOr", vmin=0, vmax=1, origin="lower")
    step = max(1, len(labels) // MOST_NUMBERS)
    axes.set_xticks(places[::step], labels[::step], rotation=45 if slanted else 0, ha="right" if slanted else "center")
    for tick in axes.get_xticklabels():
        tick.set_rotation_mode("anchor" if slanted else "default")
    axes.set_yticks(places[::step], labels[::step])
    if len(labels) <= MOST_NUMBERS:
        _numbers(axes, fit)
    axes.set_xlabel("than a document labelled b")
    axes.set_ylabel("a document labelled a is better")
    axes.set_title(f"p(a > b), {fit.setting.mode}")
    axes.grid(visible=False)
    axes.tick_params(length=0)


def _numbers(axes: Axes, fit: LabelPreferencesFit) -> None:
    """Write every probability; grey where two labels never met."""
    unknown = (fit.n_pairs == 0) & (not fit.given) & (fit.form == "table")
    size = 9 if len(fit.p) <= 7 else 6.5
    for a, b in np.ndindex(fit.p.shape):
        p = float(fit.p[a, b])
        text = "?" if unknown[a, b] and a != b else f"{p:.2f}".replace("0.", ".", 1)
        shade = LIGHT if p > 0.75 or p < 0.15 else DARK
        axes.text(b, a, text, ha="center", va="center", color=shade, fontsize=size)


def _topics(axes: Axes, found: Sequence[PDP]) -> None:
    known = [each for each in found if each.value is not None]
    for number, each in enumerate(known):
        ordered = np.sort(each.values)
        share = (np.arange(len(ordered)) + 0.5) / len(ordered)
        dots = marker(number) if len(ordered) <= MANY else ""
        label = f"{each.mode}: mean {each.value:.2f}" + _limits(each)
        axes.plot(ordered, share, marker=dots, markersize=3.5, color=colour(number), linewidth=1.2, label=label)
        axes.axvline(float(ordered.mean()), color=colour(number), linestyle="--", linewidth=1)
    if known:
        most = max(each.most for each in known)
        axes.axvline(most, color=GREY, linewidth=1.5, label=f"nothing known: log {known[0].k}! = {most:.2f}")
        axes.set_title(f"PDP@{known[0].k} of {counted(max(len(each.topics) for each in known), 'topic')}")
        _widen(axes, [each.values for each in known], most)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    else:
        axes.text(0.5, 0.5, "no value:\n" + "\n".join(each.reason or "" for each in found), ha="center", va="center")
    axes.set_ylim(0, 1)
    axes.set_xlabel("PDP in nats; lower: the labels tell more of the order")
    axes.set_ylabel("share of topics")


def _limits(each: PDP) -> str:
    return "" if each.low is None or each.high is None else f" [{each.low:.2f}, {each.high:.2f}]"


def _widen(axes: Axes, values: Sequence[Floats], most: float) -> None:
    low = min(float(each.min()) for each in values)
    room = 0.06 * max(most - low, 0.05 * most)
    axes.set_xlim(max(low - room, 0.0), most + room)

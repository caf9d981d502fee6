"""Plots of sensitivity: p(R|i) by result quality, by topics, by the number of double judgments.

As Figures 1, 2 and 3 of Demeester et al. (2015).  A panel per notion of relevance, a colour and marker per label;
double judgments run on a logarithmic axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.relevance import RelevantSets
from venire.data.scale import Scale
from venire.disagreement.by_result_quality import QualitySensitivity
from venire.disagreement.by_topic import TopicInfluence
from venire.disagreement.double_judgments import AnnotationRounds
from venire.disagreement.sensitivity import Sensitivity
from venire.errors import SettingError
from venire.kernels.shares import FEW_PAIRS
from venire.plots.style import INK, colour, marker, new_figure, styled, unit_axis
from venire.results import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

WIDTH, HEIGHT = 3.0, 3.3


def plot_quality(result: QualitySensitivity) -> Figure:
    """p(R|i) from the first lists of every topic, more and more of them; dotted where it rests on few pairs.

    Dashed: read one-sided from those whose labels order the lists, which leaves only the change of the documents.
    """
    with styled():
        figure = _figure(result.relevant, 1)
        _draw_quality(figure, result)
    return figure


def plot_topics(result: TopicInfluence) -> Figure:
    """p(R|i) over drawn topics: box from 25 % to 75 %, whiskers from 5 % to 95 %, a dot for all topics as they are."""
    with styled():
        figure = _figure(result.relevant, 1)
        _draw_topics(figure, result)
    return figure


def plot_rounds(result: AnnotationRounds) -> Figure:
    """p(R|i) by the number of double judgments, mean and one standard deviation either side."""
    with styled():
        figure = _figure(result.relevant, 1)
        _draw_rounds(figure, result)
    return figure


def plot_sensitivity(result: Sensitivity) -> Figure:
    """Draw all that was asked for, one below the other."""
    drawn: list[tuple[Any, Any]] = [
        (_draw_quality, result.quality),
        (_draw_topics, result.topics),
        (_draw_rounds, result.judgments),
    ]
    drawn = [(draw, found) for draw, found in drawn if found is not None]
    if not drawn:
        raise SettingError("there is nothing to draw", hint="ask for quality, topics or judgments")
    with styled():
        figure = _figure(result.fit.relevant, len(drawn))
        parts = figure.subfigures(len(drawn), 1, squeeze=False)[:, 0]
        for part, (draw, found) in zip(parts, drawn, strict=True):
            draw(part, found)
    return figure


def _figure(relevant: RelevantSets, n_rows: int) -> Figure:
    return new_figure(max(5.2, WIDTH * len(relevant.names) + 1.2), HEIGHT * n_rows)


def _panels(figure: FigureBase, scale: Scale, relevant: RelevantSets) -> list[Axes]:
    """Make a panel per notion of relevance, over one axis of probabilities."""
    panels: list[Axes] = list(figure.subplots(1, len(relevant.names), sharey=True, squeeze=False)[0])
    for axes, name in zip(panels, relevant.names, strict=True):
        higher = scale.ordered and name in scale.labels[:-1]
        axes.set_title(f"relevant: {name}{' or higher' if higher else ''}")
        unit_axis(axes)
    figure.supylabel("p(R|label)", fontsize=10)
    return panels


def _legend(figure: FigureBase, panels: list[Axes]) -> None:
    """Name the labels once, right of the last panel."""
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, title="label", loc="outside right center")


def _draw_quality(figure: FigureBase, result: QualitySensitivity) -> None:
    from matplotlib.ticker import MaxNLocator

    panels = _panels(figure, result.scale, result.relevant)
    lists = np.arange(1, len(result.p) + 1)
    for row, axes in enumerate(panels):
        for level in reversed(range(len(result.scale))):
            p, few = result.p[:, row, level], result.pairs[:, row, level] < FEW_PAIRS
            axes.plot(lists, p, ":", linewidth=1.2, color=colour(level))
            (line,) = axes.plot(lists, np.where(few, np.nan, p), label=result.scale.labels[level], color=colour(level))
            if result.one_sided is not None:
                axes.plot(lists, result.one_sided[:, row, level], "--", linewidth=1, color=colour(level), alpha=0.7)
            line.set(marker=marker(level), markevery=_every(len(lists)))
        axes.set_xlim(0.5, max(len(lists) + 0.5, 2))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    dashed = "" if result.one_sided is None else " (dashed: one-sided)"
    figure.supxlabel(f"lists of each topic, best first{dashed}", fontsize=10)
    _legend(figure, panels)


def _every(n: int) -> int:
    """Set about ten markers on a line."""
    return max(1, n // 10)


def _draw_topics(figure: FigureBase, result: TopicInfluence) -> None:
    panels = _panels(figure, result.scale, result.relevant)
    for row, axes in enumerate(panels):
        known = np.flatnonzero(~np.isnan(result.p[row]))
        keys = ("whislo", "q1", "med", "q3", "whishi")
        boxes = [dict(zip(keys, result.quantiles[:, row, level].tolist(), strict=True)) for level in known]
        drawn = axes.bxp(
            boxes,
            positions=known.tolist(),
            widths=0.5,
            showfliers=False,
            patch_artist=True,
            medianprops={"color": INK, "linewidth": 1.6},
            whiskerprops={"color": INK},
            capprops={"color": INK},
        )
        for box, level in zip(drawn["boxes"], known, strict=True):
            box.set(facecolor=colour(int(level)), edgecolor=INK, alpha=0.6)
        axes.plot(known, result.p[row, known], "o", color=INK, markersize=3)
        axes.set_xticks(np.arange(len(result.scale)), result.scale.labels)
        axes.set_xlim(-0.6, len(result.scale) - 0.4)
        axes.grid(axis="x", visible=False)
    figure.supxlabel(f"label of one assessor, {counted(len(result.topics), 'topic')} drawn anew", fontsize=10)


def _draw_rounds(figure: FigureBase, result: AnnotationRounds) -> None:
    panels = _panels(figure, result.scale, result.relevant)
    for row, axes in enumerate(panels):
        for level in reversed(range(len(result.scale))):
            mean, sd = result.mean[:, row, level], result.sd[:, row, level]
            name = result.scale.labels[level]
            axes.plot(result.sizes, mean, label=name, color=colour(level), marker=marker(level), markersize=4)
            low, high = np.clip(mean - sd, 0, 1), np.clip(mean + sd, 0, 1)
            axes.fill_between(result.sizes, low, high, color=colour(level), alpha=0.2, linewidth=0)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.grid(axis="x", which="minor", visible=False)
    figure.supxlabel(f"double judgments (mean and one sd of {result.n_rounds} rounds)", fontsize=10)
    _legend(figure, panels)

"""Plots of disagreement: probabilities and weights of labels, many labels per item, sensitivity, and counts.

Sensitivity: p(R|i) by result quality, by topics and by the number of double judgments, as Figures 1, 2 and 3 of
Demeester et al. (2015).  A panel per notion of relevance, a colour and marker per label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.scale import RelevantSets, Scale, or_higher
from venire.disagreement.by_result_quality import QualitySensitivity
from venire.disagreement.by_topic import TopicInfluence
from venire.disagreement.counting import KINDS, Counts
from venire.disagreement.double_judgments import AnnotationRounds
from venire.disagreement.many_labels import ManyLabels, Sampled
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.disagreement.sensitivity import Sensitivity
from venire.disagreement.user_disagreement import udm_weights
from venire.errors import SettingError
from venire.kernels.shares import FEW_PAIRS
from venire.plots import style
from venire.results import counted
from venire.types import Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

MOST_LABELS, FEW_LABELS = 12, 7
"""Of more labels than the first number, as many as the second are named."""
APART = 0.07
"""Distance between the error bars of neighbouring labels."""
WIDTH, HEIGHT = 3.0, 3.3
COUNTS = {"prm": "for a random user (prm)", "binary": "by the labels (binary)"}
MOST_PANELS, MOST_ACROSS = 12, 4
BESIDE: dict[str, Any] = {"title": "label", "loc": "center left", "bbox_to_anchor": (1, 0.5)}


def some_labels(n: int) -> list[int]:
    """Return the numbers of all labels or, of many, of evenly spaced ones including the lowest and the highest."""
    return list(range(n)) if n <= MOST_LABELS else np.linspace(0, n - 1, FEW_LABELS).round().astype(int).tolist()


@style.styled()
def plot_parameters(fit: PredictedRelevanceFit) -> Figure:
    """Plot p(R|label) with its interval, one panel per notion of relevance; hollow where it rests on few pairs."""
    figure = style.new_figure(max(3.6, 2.9 * len(fit.relevant.names)), 3.6)
    place, some = np.arange(len(fit.scale)), some_labels(len(fit.scale))
    panels = _relevance_panels(figure, fit.scale, fit.relevant, "P(a random user finds it relevant)")
    for row, axes in enumerate(panels):
        p, low, high = fit.p[row], fit.spread.low[row], fit.spread.high[row]
        known, few = ~np.isnan(p), fit.pairs[row] < FEW_PAIRS
        axes.vlines(place[known], low[known], high[known], color=style.BLUE, linewidth=2, alpha=0.6)
        for chosen, face in ((known & ~few, style.BLUE), (known & few, "white")):
            axes.plot(place[chosen], p[chosen], "o", color=style.BLUE, markerfacecolor=face, markersize=7)
        for level in place[known] if len(place) <= MOST_LABELS else ():
            axes.annotate(f"{p[level]:.2f}", (level, p[level]), (7, 3), textcoords="offset points", fontsize=8)
        axes.set_xticks(place[some], [fit.scale.labels[level] for level in some])
        axes.set_xlim(-0.5, len(place) - 0.3)
        axes.grid(axis="x", visible=False)
    figure.supxlabel("label of one assessor")
    return figure


@style.styled()
def plot_weights(fit: PredictedRelevanceFit, *, most: int = 6, row: int = 0) -> Figure:
    """Plot UDM weights P(1/N) by N, one line per label (Demeester et al. 2014, Figure 5); the lowest as estimated.

    Of many labels, a few from the lowest to the highest are drawn.
    """
    figure, axes = style.one_panel(6.0, 3.8)
    n = np.arange(1, most + 1)
    weights = np.array([udm_weights(1, int(each), fit.p[row], fit.relevant.labels[row]) for each in n])
    for level in reversed(some_labels(len(fit.scale))):
        label = fit.scale.labels[level]
        axes.plot(n, weights[:, level], label=style.plain(label), **style.look(level))
    axes.set(xlabel="N users, including the assessor", ylabel="P(at least one finds it relevant)")
    axes.set_xticks(n)
    axes.axhline(1, color=style.GREY, linewidth=0.8)
    style.unit_axis(axes)
    axes.legend(**BESIDE)
    return figure


@style.styled()
def plot_many_labels(seen: ManyLabels) -> Figure:
    """Plot P(1/N) by N: counted (points, one sd over items), predicted (lines), with correlated users (dashed).

    Demeester et al. (2014), Figure 5.  Labels that are relevant always have 1, and are omitted.
    """
    rows = sorted((n, row) for row, (m, n) in enumerate(seen.shares) if m == 1)
    if not rows:
        raise SettingError("there is no share 1/N to draw", hint="count some, as in [(1, 2), (1, 3), (1, 4)]")
    number, order = np.array([n for n, _ in rows]), [row for _, row in rows]
    figure, axes = style.one_panel(6.4, 3.8)
    for level, label in enumerate(seen.labels):
        if label in seen.relevant:
            continue
        axes.plot(number, seen.predicted[order, level], color=style.colour(level))
        axes.plot(number, seen.correlated[order, level], "--", color=style.colour(level))
        observed, sd = seen.observed[order, level], seen.sd[order, level]
        axes.errorbar(
            number,
            observed,
            sd,
            fmt=style.marker(level),
            capsize=2,
            label=style.plain(label),
            color=style.colour(level),
        )
    axes.plot([], [], "--", color=style.GREY, label="correlated users")
    axes.plot([], [], color=style.GREY, label="predicted")
    axes.set(xlabel="N users, including the assessor", ylabel=f"P(at least one finds it {'|'.join(seen.relevant)})")
    axes.set_xticks(number)
    style.unit_axis(axes)
    axes.legend(**BESIDE, reverse=True)
    return figure


@style.styled()
def plot_sampled(drawn: Sampled) -> Figure:
    """Plot p by the number n of other labels, mean and one sd over repeats (Demeester et al. 2014, Figure 1)."""
    number = np.array(drawn.n, dtype=np.float64)
    figure, axes = style.one_panel(6.0, 3.8)
    for level, label in reversed(list(enumerate(drawn.labels))):
        place = number + APART * (level - (len(drawn.labels) - 1) / 2)
        look = style.look(level, capsize=2, label=style.plain(label))
        axes.errorbar(place, drawn.mean[:, level], drawn.sd[:, level], **look)
    axes.set(xlabel="n other labels drawn per item", ylabel=f"P(another user says {'|'.join(drawn.relevant)})")
    axes.set_xticks(drawn.n)
    axes.set_ylim(bottom=0)
    axes.legend(**BESIDE)
    return figure


@style.styled()
def plot_sensitivity(result: Sensitivity | QualitySensitivity | TopicInfluence | AnnotationRounds) -> Figure:
    """Plot a sensitivity analysis or one of its parts, one below the other.

    By quality: p(R|i) by the number of lists of every topic, best first; dotted where pairs are few; dashed: one-sided,
    from the assessors whose labels order the lists, which shows the change of the documents alone.  By topics: over
    resampled topics, with boxes from 25% to 75%, whiskers from 5% to 95%, and a dot for all topics.  By the number of
    double judgments: mean and one standard deviation over rounds, on a logarithmic axis.
    """
    parts = [result.quality, result.topics, result.judgments] if isinstance(result, Sensitivity) else [result]
    parts = [part for part in parts if part is not None]
    if not parts:
        raise SettingError("there is nothing to draw", hint="request quality, topics or judgments")
    relevant = result.fit.relevant if isinstance(result, Sensitivity) else result.relevant
    figure = style.new_figure(max(5.2, WIDTH * len(relevant.names) + 1.2), HEIGHT * len(parts))
    for place, part in zip(figure.subfigures(len(parts), 1, squeeze=False)[:, 0], parts, strict=True):
        if isinstance(part, QualitySensitivity):
            _draw_quality(place, part)
        elif isinstance(part, TopicInfluence):
            _draw_topics(place, part)
        else:
            _draw_rounds(place, part)
    return figure


def _relevance_panels(figure: FigureBase, scale: Scale, relevant: RelevantSets, ylabel: str) -> list[Axes]:
    """Return a panel per notion of relevance, with a shared axis of probabilities."""
    panels: list[Axes] = list(figure.subplots(1, len(relevant.names), sharey=True, squeeze=False)[0])
    for axes, name in zip(panels, relevant.names, strict=True):
        axes.set_title(f"relevant: {or_higher(scale, name)}")
        style.unit_axis(axes)
    figure.supylabel(ylabel)
    return panels


def _draw_quality(figure: FigureBase, result: QualitySensitivity) -> None:
    panels = _relevance_panels(figure, result.scale, result.relevant, "p(R|label)")
    lists = np.arange(1, len(result.p) + 1)
    for row, axes in enumerate(panels):
        for level in reversed(range(len(result.scale))):
            p, few = result.p[:, row, level], result.pairs[:, row, level] < FEW_PAIRS
            axes.plot(lists, p, ":", linewidth=1.2, color=style.colour(level))
            look = style.look(level, markevery=max(1, len(lists) // 10), label=style.plain(result.scale.labels[level]))
            axes.plot(lists, np.where(few, np.nan, p), **look)
            if result.one_sided is not None:
                one_sided = result.one_sided[:, row, level]
                axes.plot(lists, one_sided, "--", linewidth=1, color=style.colour(level), alpha=0.7)
        axes.set_xlim(0.5, max(len(lists) + 0.5, 2))
        style.whole_ticks(axes.xaxis)
    dashed = "" if result.one_sided is None else " (dashed: one-sided)"
    figure.supxlabel(f"lists of each topic, best first{dashed}")
    style.shared_legend(figure, panels[0], title="label", loc="outside right center", ncols=1)


def _draw_topics(figure: FigureBase, result: TopicInfluence) -> None:
    for row, axes in enumerate(_relevance_panels(figure, result.scale, result.relevant, "p(R|label)")):
        known = np.flatnonzero(~np.isnan(result.p[row]))
        keys = ("whislo", "q1", "med", "q3", "whishi")
        boxes = [dict(zip(keys, result.quantiles[:, row, level].tolist(), strict=True)) for level in known]
        look: dict[str, Any] = {"widths": 0.5, "showfliers": False, "patch_artist": True}
        look |= {"medianprops": {"color": style.INK, "linewidth": 1.6}, "whiskerprops": {"color": style.INK}}
        drawn = axes.bxp(boxes, positions=known.tolist(), capprops={"color": style.INK}, **look)
        for box, level in zip(drawn["boxes"], known, strict=True):
            box.set(facecolor=style.colour(int(level)), edgecolor=style.INK, alpha=0.6)
        axes.plot(known, result.p[row, known], "o", color=style.INK, markersize=3)
        axes.set_xticks(np.arange(len(result.scale)), result.scale.labels)
        axes.set_xlim(-0.6, len(result.scale) - 0.4)
        axes.grid(axis="x", visible=False)
    figure.supxlabel(f"label of one assessor, {counted(len(result.topics), 'topic')} resampled")


def _draw_rounds(figure: FigureBase, result: AnnotationRounds) -> None:
    panels = _relevance_panels(figure, result.scale, result.relevant, "p(R|label)")
    for row, axes in enumerate(panels):
        for level in reversed(range(len(result.scale))):
            mean, sd = result.mean[:, row, level], result.sd[:, row, level]
            look: dict[str, Any] = style.look(level, markersize=4)
            axes.plot(result.sizes, mean, label=style.plain(result.scale.labels[level]), **look)
            low, high = np.clip(mean - sd, 0, 1), np.clip(mean + sd, 0, 1)
            axes.fill_between(result.sizes, low, high, color=style.colour(level), alpha=0.2, linewidth=0)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.grid(axis="x", which="minor", visible=False)
    figure.supxlabel(f"double judgments (mean and one sd of {result.n_rounds} rounds)")
    style.shared_legend(figure, panels[0], title="label", loc="outside right center", ncols=1)


@style.styled()
def plot_counts(counts: Counts) -> Figure:
    """Plot counts with their standard errors, a row per system, most relevant results first; the oracle is hollow.

    One panel per notion of relevance and, where counts are per assessor, per assessor; all panels have the systems in
    the order of the first.
    """
    assessors = [f", {style.short_name(name)}" for name in counts.assessors] or [""]
    panels = [(row, who) for row in range(len(counts.relevant)) for who in range(len(assessors))]
    if len(panels) > MOST_PANELS:
        message = f"{len(panels)} panels are too many for one plot, expected at most {MOST_PANELS}"
        raise SettingError(message, hint="choose one relevant label or one assessor")
    order = counts.order()[::-1]
    down, across = style.grid_shape(len(panels), MOST_ACROSS)
    figure = style.new_figure(max(5.5, 1.5 + 3.2 * across), down * (1.3 + 0.19 * len(order)) + 0.4)
    grid = style.panel_grid(figure, len(panels), (down, across), sharey=True)
    for axes, (row, who) in zip(grid, panels, strict=True):
        _draw_counts(axes, counts, order, (row, who))
        axes.set_title(f"relevant: {or_higher(counts.fit.scale, counts.relevant[row])}{assessors[who]}")
    style.shared_legend(figure, grid[0], loc="outside upper left")
    figure.supxlabel(f"relevant among {counts.among}\nmean over topics ± standard error")
    return figure


def _draw_counts(axes: Axes, counts: Counts, order: Ints, panel: tuple[int, int]) -> None:
    """Draw a dot with its error bar per system and kind of count."""
    row, who = panel
    place = np.arange(len(order))
    small = len(order) > 30
    for number, (kind, name) in enumerate(COUNTS.items()):
        mean, se = (each[KINDS.index(kind), row][order] for each in (counts.mean, counts.se))
        if counts.assessors:
            mean, se = mean[:, who], se[:, who]
        height = place + 0.16 - 0.32 * number
        look = style.look(number, markersize=3.5 if small else 5)
        style.draw_intervals(axes, height, mean, mean - se, mean + se, label=name, **look)
        if counts.oracle:
            axes.plot(mean[-1:], height[-1:], markerfacecolor="white", **look)
    axes.set_yticks(place, style.short_names([counts.systems[n] for n in order]), fontsize=7 if small else 9)
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.set_xlim(left=0)

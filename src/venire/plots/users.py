"""Plots of users: choices of assessors, preferences and labels, measures and preferences, clicks, and random users.

Measures and clicks: after Figures 4, 5 and 10 of Golbus et al. (2014, doi:10.1145/2566486.2568015), with intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.errors import UnknownName
from venire.measures.random_users import HIGH, LOW, UserScores
from venire.plots import style
from venire.results import counted
from venire.users.agreement import CONDITIONS, VIEWS, MeasureChoice
from venire.users.clicks import ClickSummary
from venire.users.online_correlations import OnlineCorrelation, OnlineCorrelations
from venire.users.preferences import PreferencesByLabels
from venire.users.verdicts import STRENGTHS, PreferenceSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SHOWN, MOST_MEASURES, MOST_SYSTEMS, MOST_RANKS = 40, 30, 70, 20
"""Largest number of assessors or pairs of labels, of measures, of systems, and of ranks."""
CORRELATIONS = {"kendall": "Kendall's tau", "spearman": "Spearman's rho"}
CHOICES = {"left": ("left better", style.BLUE), "ties": ("tie", "#CCCCCC"), "right": ("right better", style.ORANGE)}


@style.styled()
def plot_people(found: PreferenceSummary) -> Figure:
    """Plot the shares of left, ties and right among the choices of each assessor, most choices first."""
    every = found.position.by_assessor
    rows = sorted(every, key=lambda each: -sum(each[key] for key in CHOICES))[:MOST_SHOWN]
    counts = np.array([[each[key] for key in CHOICES] for each in rows], dtype=np.float64)
    total = counts.sum(axis=1)
    figure, axes = style.one_panel(7.0, 1.4 + 0.2 * max(len(rows), 4))
    left = np.zeros(len(rows))
    for count, (name, shade) in zip(counts.T, CHOICES.values(), strict=True):
        share = count / np.maximum(total, 1)
        axes.barh(np.arange(len(rows)), share, left=left, color=shade, height=0.75, label=name)
        left += share
    style.name_rows(axes, [f"{each['assessor']} ({n:,.0f})" for each, n in zip(rows, total, strict=True)], size=8)
    axes.set(xlim=(0, 1), xlabel=f"share of choices{style.shown_of(len(rows), len(every), 'assessors')}")
    axes.set_ylabel("assessor (choices)")
    axes.grid(visible=False)
    figure.legend(loc="outside upper center", ncols=3, fontsize=9)
    return figure


@style.styled()
def plot_preferences_by_labels(found: PreferencesByLabels) -> Figure:
    """Plot how often the higher of two labels is preferred, with its interval; 0.5: not distinguished."""
    rows = [each for each in found.records() if each["p"] is not None][:MOST_SHOWN]
    figure, axes = style.one_panel(6.4, 1.3 + 0.3 * max(len(rows), 3))
    axes.axvline(0.5, color=style.GREY, linewidth=1)
    for row, each in enumerate(rows):
        look: dict[str, Any] = {} if each["told_apart"] else {"color": style.INK, "marker": "s"}
        style.draw_intervals(axes, row, each["p"], each["low"], each["high"], **look)
        n = each["higher_preferred"] + each["ties"] + each["lower_preferred"]
        axes.annotate(f"{n:,}", (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    style.name_rows(axes, [f"{each['higher']} over {each['lower']}" for each in rows], longest=60)
    axes.set_xlabel("share in which the higher label is preferred\n(right: choices; squares: not significant)")
    return figure


@style.styled()
def plot_choice(found: MeasureChoice) -> Figure:
    """Plot kappa of every combination of measure and gains with its interval, best first, a panel per condition."""
    kappa = found.agreement.seen.kappa
    order = np.argsort(-np.nan_to_num(kappa[*VIEWS[0], :, 0], nan=-2.0), kind="stable")[:MOST_MEASURES]
    place = np.arange(len(order))
    figure = style.new_figure(10.5, 1.5 + 0.28 * max(len(order), 3))
    panels = np.ravel(figure.subplots(1, len(VIEWS), sharex=True, sharey=True))
    one = len({gains for _, gains in found.cases.names}) == 1
    names = [measure if one else f"{measure}, {gains}" for measure, gains in found.cases.names]
    for axes, view in zip(panels, VIEWS, strict=True):
        value = kappa[*view, order, 0]
        low, high = np.array([found.agreement.limits("kappa", (*view, n)) for n in order], dtype=np.float64).T
        axes.axvline(0, color=style.GREY, linewidth=1)
        style.draw_intervals(axes, place, value, low, high, markersize=4.5)
        best = value == kappa[*view, :, 0].max()
        axes.plot(value[best], place[best], "o", color=style.colour(1), markersize=6.5)
        axes.set_title(view_title(view))
        style.name_rows(axes, [names[n] for n in order.tolist()], longest=200)
    caption = style.shown_of(len(order), len(names), "measures")
    figure.supxlabel(f"Cohen's kappa with users; large: the best of its condition{caption}", color=style.INK)
    return figure


def view_title(view: tuple[int, int]) -> str:
    """Return the condition and the strength of preferences of a panel."""
    return ", ".join(dict.fromkeys((CONDITIONS[view[0]], STRENGTHS[view[1]])))


@style.styled()
def plot_click_summary(summary: ClickSummary) -> Figure:
    """Plot click rates by rank, and the distribution of the mean click-through rate over topics."""
    figure = style.new_figure(8.4, 3.4)
    left, right = figure.subplots(1, 2)
    ranks = summary.records()[:MOST_RANKS]
    place = [each["rank"] for each in ranks]
    for number, (key, label) in enumerate((("click_rate", "clicked"), ("satisfied_rate", "satisfied"))):
        left.plot(place, [each[key] for each in ranks], **style.look(number), label=label)
    left.set_xticks(place[:: max(1, len(place) // 10)])
    left.set_ylim(bottom=0)
    left.set(xlabel="rank", ylabel="share of impressions", title="Clicks by rank")
    left.legend()
    rates, ctr = np.sort(summary.rates), summary.mean_ctr
    right.step([0.0, *rates], np.linspace(0.0, 1.0, len(rates) + 1), where="post", color=style.BLUE)
    mean = "mean not known" if np.isnan(ctr.value) else f"mean {ctr.value:.3f}"
    right.axvline(ctr.value, color=style.RED, linewidth=1.5, label=mean)
    if not np.isnan(ctr.low):
        right.axvspan(
            ctr.low, ctr.high, color=style.RED, alpha=0.2, linewidth=0, label=f"{ctr.confidence:.0%} interval"
        )
    right.set_ylim(0, 1.02)
    right.set_xlim(left=0)
    right.set_xlabel("mean click-through rate (satisfied clicks)")
    right.set(ylabel="cumulative share of topics", title=counted(len(rates), "topic"))
    right.legend(loc="lower right")
    return figure


@style.styled()
def plot_online_correlations(found: OnlineCorrelations) -> Figure:
    """Plot correlations over topics, a panel per online measure and coefficient: over alpha, or by measure."""
    rows = found.headline()
    online = list(dict.fromkeys(row.online for row in rows))
    over_alpha = len({row.alpha for row in rows} - {None}) > 1
    height = 2.5 if over_alpha else 1.3 + 0.3 * len({(row.measure, row.alpha) for row in rows})
    figure = style.new_figure(8.4, 0.5 + height * len(online))
    panels = figure.subplots(len(online), 2, squeeze=False, sharex=True, sharey=not over_alpha)
    for (line, name), (column, kind) in ((i, j) for i in enumerate(online) for j in enumerate(CORRELATIONS)):
        chosen = [row for row in rows if row.online == name and row.correlation == kind]
        (_draw_over_alpha if over_alpha else _draw_by_measure)(panels[line, column], chosen)
        panels[line, column].set_title(f"{name}: {CORRELATIONS[kind]}")
    lists = {"all": "mean over systems", "shown": "the lists usually shown"}.get(rows[0].system, rows[0].system)
    title = f"{counted(rows[0].topics, 'topic')}, {lists}"
    for axes in panels[-1]:
        axes.set_xlabel("alpha: weight of conditional labels" if over_alpha else "correlation over topics")
    if over_alpha:
        for axes in panels[:, 0]:
            axes.set_ylabel("correlation")
        style.shared_legend(figure, panels[0, 0], title=title)
    else:
        figure.suptitle(title)
    return figure


def _draw_over_alpha(axes: Axes, rows: Sequence[OnlineCorrelation]) -> None:
    for number, name in enumerate(dict.fromkeys(row.measure for row in rows)):
        own = sorted((row for row in rows if row.measure == name), key=lambda row: row.alpha or 0.0)
        value, low, high = np.array([(row.value, row.low, row.high) for row in own]).T
        look: dict[str, Any] = {"color": style.colour(number), "label": style.plain(name)}
        if own[0].alpha is None:
            axes.axhline(value[0], linestyle="--", linewidth=1.2, **look)
            continue
        alpha = [row.alpha or 0.0 for row in own]
        axes.plot(alpha, value, marker=style.marker(number), **look)
        axes.fill_between(alpha, low, high, color=style.colour(number), alpha=0.12, linewidth=0)


def _draw_by_measure(axes: Axes, rows: Sequence[OnlineCorrelation]) -> None:
    value, low, high = np.array([(row.value, row.low, row.high) for row in rows]).T
    axes.axvline(0, color=style.GREY, linewidth=1)
    style.draw_intervals(axes, range(len(rows)), value, low, high)
    names = [row.measure if row.alpha is None else f"{row.measure}, alpha {row.alpha:g}" for row in rows]
    style.name_rows(axes, names, longest=200)


@style.styled()
def plot_user_scores(found: UserScores, measure: str | None = None) -> Figure:
    """Plot the mean score over random users, best first, with the 95% interval over topics and 90% of the users."""
    names = found.users.names
    if measure is not None and measure not in names["measure"]:
        raise UnknownName("measure", measure, names["measure"])
    column = 0 if measure is None else names["measure"].index(measure)
    mean = found.mean.values[:, column]
    order = np.argsort(-mean, kind="stable")[:MOST_SYSTEMS]
    place = np.arange(len(order))
    figure, axes = style.one_panel(7.0, 1.4 + 0.155 * max(len(order), 6))
    if found.n_users > 1:
        low, high = (found.quantile(q)[order, column] for q in (LOW, HIGH))
        axes.hlines(place, low, high, color=style.INK, linewidth=1, label="90% of users")
    if len(found.topics.names["topic"]) > 1:
        low, high = (each[order, column] for each in found.over_topics())
        axes.hlines(place, low, high, color=style.BLUE, linewidth=4, alpha=0.45, label="95% interval over topics")
    axes.plot(mean[order], place, "o", color=style.INK, markersize=4, label="mean over users")
    style.name_rows(axes, [names["system"][n] for n in order], size=8)
    caption = style.shown_of(len(order), len(mean), "systems")
    axes.set_xlabel(f"{names['measure'][column]} for a random user{caption}")
    figure.legend(loc="outside upper left", ncols=3, fontsize=8)
    return figure

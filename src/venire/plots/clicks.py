"""Plots of clicks: rates by rank and by topic, and how offline measures go together with them.

After Figures 4 and 5 of Golbus et al. (2014, doi:10.1145/2566486.2568015), with intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from venire.plots.style import BLUE, GREY, RED, colour, marker, new_figure, styled
from venire.results import counted
from venire.users.clicks import ClickSummary
from venire.users.online_correlations import OnlineCorrelation, OnlineCorrelations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_RANKS = 20
"""With more ranks than this, the first ones are drawn."""
NAMES = {"kendall": "Kendall's tau", "spearman": "Spearman's rho"}


def plot_click_summary(summary: ClickSummary) -> Figure:
    """Click rates by rank, and the mean click-through rate of every topic, lowest first."""
    with styled():
        figure = new_figure(8.4, 3.4)
        left, right = figure.subplots(1, 2)
        _by_rank(left, summary)
        _by_topic(right, summary)
    return figure


def plot_online_correlations(found: OnlineCorrelations) -> Figure:
    """Correlations over topics, a panel for each online measure and coefficient: over alpha, or measure by measure."""
    rows = found.headline()
    online = list(dict.fromkeys(row.online for row in rows))
    over_alpha = len({row.alpha for row in rows} - {None}) > 1
    n_measures = len({(row.measure, row.alpha) for row in rows})
    height = 2.5 if over_alpha else 1.3 + 0.3 * n_measures
    with styled():
        figure = new_figure(8.4, 0.5 + height * len(online))
        panels = figure.subplots(len(online), 2, squeeze=False, sharex=True, sharey=not over_alpha)
        for (line, name), (column, kind) in ((i, j) for i in enumerate(online) for j in enumerate(NAMES)):
            chosen = [row for row in rows if row.online == name and row.correlation == kind]
            (_over_alpha if over_alpha else _by_measure)(panels[line, column], chosen)
            panels[line, column].set_title(f"{name}: {NAMES[kind]}")
        _label(figure, panels, rows, over_alpha=over_alpha)
    return figure


def _by_rank(axes: Axes, summary: ClickSummary) -> None:
    ranks = summary.ranks()[:MOST_RANKS]
    place = [each["rank"] for each in ranks]
    for number, (key, label) in enumerate((("click_rate", "clicked"), ("satisfied_rate", "satisfied"))):
        values = [each[key] for each in ranks]
        axes.plot(place, values, color=colour(number), marker=marker(number), label=label)
    axes.set_xticks(place[:: max(1, len(place) // 10)])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rank")
    axes.set_ylabel("share of impressions")
    axes.set_title("Clicks by rank")
    axes.legend()


def _by_topic(axes: Axes, summary: ClickSummary) -> None:
    rates, ctr = np.sort(summary.rates), summary.mean_ctr
    share = (np.arange(len(rates)) + 1) / len(rates)
    axes.step([0.0, *rates], [0.0, *share], where="post", color=BLUE)
    mean = "mean not known" if np.isnan(ctr.value) else f"mean {ctr.value:.3f}"
    axes.axvline(ctr.value, color=RED, linewidth=1.5, label=mean)
    if not np.isnan(ctr.low):
        axes.axvspan(ctr.low, ctr.high, color=RED, alpha=0.2, linewidth=0, label=f"{ctr.confidence:.0%} interval")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)
    axes.set_xlabel("mean click-through rate (satisfied clicks)")
    axes.set_ylabel("share of topics up to there")
    axes.set_title(counted(len(rates), "topic"))
    axes.legend(loc="lower right")


def _over_alpha(axes: Axes, rows: Sequence[OnlineCorrelation]) -> None:
    for number, name in enumerate(dict.fromkeys(row.measure for row in rows)):
        own = sorted((row for row in rows if row.measure == name), key=lambda row: row.alpha or 0.0)
        values = np.array([(row.value, row.low, row.high) for row in own])
        if own[0].alpha is None:
            axes.axhline(values[0, 0], color=colour(number), linestyle="--", linewidth=1.2, label=name)
            continue
        alpha = [row.alpha or 0.0 for row in own]
        axes.plot(alpha, values[:, 0], color=colour(number), marker=marker(number), label=name)
        axes.fill_between(alpha, values[:, 1], values[:, 2], color=colour(number), alpha=0.12, linewidth=0)


def _by_measure(axes: Axes, rows: Sequence[OnlineCorrelation]) -> None:
    place = np.arange(len(rows))[::-1]
    values = np.array([(row.value, row.low, row.high) for row in rows])
    axes.axvline(0, color=GREY, linewidth=1)
    axes.hlines(place, values[:, 1], values[:, 2], color=BLUE, linewidth=1.5)
    axes.plot(values[:, 0], place, linestyle="", color=BLUE, marker="o")
    axes.set_yticks(place, [_shown(row) for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)


def _shown(row: OnlineCorrelation) -> str:
    name = row.measure.replace("$", r"\$")
    return name if row.alpha is None else f"{name}, alpha {row.alpha:g}"


def _label(figure: Figure, panels: np.ndarray, rows: Sequence[OnlineCorrelation], *, over_alpha: bool) -> None:
    """Name the axes; over alpha, also the lines, in one legend above all panels."""
    who = {"all": "mean over systems", "shown": "the lists usually shown"}.get(rows[0].system, rows[0].system)
    topics = counted(rows[0].topics, "topic")
    for axes in panels[-1]:
        axes.set_xlabel("alpha: weight of conditional labels" if over_alpha else "correlation over topics")
    if over_alpha:
        for axes in panels[:, 0]:
            axes.set_ylabel("correlation")
        lines, names = panels[0, 0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside upper center", ncols=min(len(names), 5), title=f"{topics}, {who}")
    else:
        figure.suptitle(f"{topics}, {who}", fontsize=10)

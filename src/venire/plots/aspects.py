"""Plots of aspects: coverage, labels, changes, correlations with a tree of clusters, prediction, and rankings.

The number at a merge of the tree is the share of resampled topics in which the same aspects are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.aspects.cases import CHANGE, CONDITION, ISOLATION
from venire.aspects.correlations import AspectClusters
from venire.aspects.rankings import AspectRankings
from venire.aspects.study import ALL, COMPLETE, AspectStudy
from venire.data.scale import NOT_APPLICABLE
from venire.errors import SettingError
from venire.plots import style
from venire.plots.comparison import plot_slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST = 26
MOST_SETS = 32
TITLES = {ISOLATION: "in isolation", CONDITION: "conditional", CHANGE: "changes"}


@style.styled()
def plot_coverage(study: AspectStudy) -> Figure:
    """Plot the share of documents with a grade on each aspect and on all, in isolation and conditional (Table 1)."""
    rows = study.coverage.records()
    names = list(dict.fromkeys(row["aspect"] for row in rows))
    figure, axes = style.one_panel(6.8, 1.4 + 0.45 * len(names))
    for number, context in enumerate((ISOLATION, CONDITION)):
        some = [row for row in rows if row["context"] == context and row["share"] is not None]
        place = np.array([names.index(row["aspect"]) for row in some]) + (number - 0.5) * 0.3
        values = ([row[key] for row in some] for key in ("share", "low", "high"))
        if some:
            style.draw_intervals(axes, place, *values, number=number, label=TITLES[context])
    style.name_rows(axes, ["all of them" if name is None else name for name in names], longest=LONGEST)
    style.unit_axis(axes, which="x")
    axes.set_xlabel(f"share of documents with a grade, not {NOT_APPLICABLE}; bars are 95% intervals")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


@style.styled()
def plot_distributions(study: AspectStudy) -> Figure:
    """Plot the labels of each aspect on complete documents (above) and on all (below), by context (Figure 2)."""
    from matplotlib.patches import Patch

    rows, names = study.distributions.records(), study.cases.names
    contexts = [each for each in (ISOLATION, CONDITION) if study.cases.nothing(each) is None]
    if not contexts:
        raise SettingError("no document has labels, so there is nothing to plot")
    figure = style.new_figure(2.2 + 3.4 * len(contexts), 1.6 + 0.62 * len(names))
    grid = figure.subplots(2, len(contexts), sharex=True, sharey=True, squeeze=False)
    for line, documents in enumerate((COMPLETE, ALL)):
        for column, context in enumerate(contexts):
            axes = grid[line, column]
            some = [row for row in rows if (row["context"], row["documents"]) == (context, documents)]
            _stacked(axes, some, names)
            what = "every aspect graded" if documents == COMPLETE else "all documents"
            axes.set_title(f"{TITLES[context]}: {what}")
    for axes in grid[-1]:
        axes.set_xlabel("share of labels")
    low, high = style.shades(2)
    patches = [Patch(facecolor=low, label="lowest label"), Patch(facecolor=high, label="highest label")]
    patches.append(Patch(facecolor="#EEEEEE", hatch="///", edgecolor=style.GREY, linewidth=0, label=NOT_APPLICABLE))
    figure.legend(handles=patches, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _stacked(axes: Axes, rows: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    """Stack the labels of each aspect, from light for the lowest to dark for the highest; N/A last, in grey."""
    for place, name in enumerate(names):
        some = [row for row in rows if row["aspect"] == name and row["share"] is not None]
        graded = [row for row in some if row["label"] != NOT_APPLICABLE]
        left = 0.0
        for level, (row, shade) in enumerate(zip(graded, style.shades(len(graded)), strict=True)):
            axes.barh(place, row["share"], left=left, color=shade, edgecolor="white", linewidth=0.5, height=0.75)
            if row["share"] >= 0.07 and len(row["label"]) <= 3:
                ink = "white" if level > 0.55 * (len(graded) - 1) else style.INK
                axes.text(left + row["share"] / 2, place, row["label"], ha="center", va="center", fontsize=7, color=ink)
            left += row["share"]
        if some and left < 1 - 1e-9:
            bar = axes.barh(place, 1 - left, left=left, color="#EEEEEE", height=0.75)
            bar[0].set(hatch="///", edgecolor=style.GREY, linewidth=0)
    style.name_rows(axes, names, longest=LONGEST)
    axes.set_xlim(0, 1)
    axes.grid(visible=False)


@style.styled()
def plot_changes(study: AspectStudy) -> Figure:
    """Plot the share of grades that change by each amount from isolation to conditional labels (Figure 3)."""
    found = study.changes
    if found.reason is not None:
        raise SettingError(f"changes cannot be plotted: {found.reason}")
    names = list(dict.fromkeys(row["aspect"] for row in found.rows))
    sizes = range(max(row["size"] for row in found.rows) + 1)
    figure, axes = style.one_panel(6.4, 3.6)
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        some = [row for row in found.rows if row["aspect"] == name]
        place = np.array([row["size"] for row in some]) + (number - (len(names) - 1) / 2) * width
        axes.bar(
            place, [row["share"] for row in some], width * 0.9, color=style.colour(number), label=style.plain(name)
        )
        known = [(x, row["low"], row["high"]) for x, row in zip(place, some, strict=True) if row["low"] is not None]
        axes.vlines(*np.array(known).reshape(-1, 3).T, color=style.INK, linewidth=1)
    axes.set_xticks(list(sizes), [str(size) if size == 0 else f"±{size}" for size in sizes])
    axes.set(xlabel="change of grade from isolation to conditional", ylabel="share of documents")
    axes.grid(axis="x", visible=False)
    axes.legend(fontsize=8)
    return figure


@style.styled()
def plot_correlations(study: AspectStudy) -> Figure:
    """Plot the rank correlations of all pairs of aspects as heat maps, each below the tree of its clusters."""
    known = [each for each in study.clusters if len(each.names) > 1]
    if not known:
        raise SettingError(f"correlations cannot be plotted: {study.clusters[0].reason}")
    n = max(len(each.names) for each in known)
    side = 1.7 + 0.55 * n
    figure = style.new_figure((side + 0.4) * len(known) + 0.8, side + 1.5)
    grid = figure.subplots(2, len(known), squeeze=False, height_ratios=[1, 2.6])
    for column, each in enumerate(known):
        _tree(grid[0, column], each, first=column == 0)
    images = [_heat(axes, each) for axes, each in zip(grid[1], known, strict=True)]
    bar = figure.colorbar(images[-1], ax=grid[1, :].tolist(), shrink=0.9, pad=0.02)
    bar.set_label("Spearman's rho")
    bar.outline.set_visible(False)
    return figure


def _tree(axes: Axes, found: AspectClusters, *, first: bool) -> None:
    """Draw the tree of merges over the columns of the heat map below it."""
    from scipy.cluster.hierarchy import dendrogram

    drawn = dendrogram(found.linkage, no_plot=True)
    for x, y in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        axes.plot((np.array(x) - 5) / 10, y, color=style.INK, linewidth=1.3)
    links = sorted(zip(drawn["icoord"], drawn["dcoord"], strict=True), key=lambda link: link[1][1])
    background = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    for each, (x, y) in zip(sorted(found.merges, key=lambda merge: merge.distance), links, strict=True):
        if each.support is not None:
            where = ((x[1] + x[2]) / 2 - 5) / 10, y[1]
            axes.text(*where, f"{each.support:.0%}", ha="center", va="center", fontsize=7, bbox=background, zorder=3)
    axes.set(xlim=(-0.5, len(found.names) - 0.5), ylim=(0, max(found.linkage[:, 2].max() * 1.2, 1e-6)))
    axes.set_xticks([])
    axes.set_title(TITLES[found.context])
    axes.spines[["bottom"]].set_visible(False)
    axes.grid(visible=False)
    if first:
        axes.set_ylabel("distance 1 - rho")


def _heat(axes: Axes, found: AspectClusters) -> Any:
    order = [found.names.index(name) for name in found.order]
    rho = found.rho[np.ix_(order, order)].copy()
    image = axes.imshow(rho, cmap=style.diverging(), vmin=-1, vmax=1, aspect="auto")
    texts = [["" if i == j else f"{value:.2f}" for j, value in enumerate(row)] for i, row in enumerate(rho)]
    style.write_cells(axes, texts, np.zeros(rho.shape, dtype=bool))
    names = [style.short_name(name, LONGEST) for name in found.order]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    style.hide_axes(axes)
    return image


@style.styled()
def plot_prediction(study: AspectStudy) -> Figure:
    """Plot the accuracy of predicting overall from aspects, on held-out topics and on a random tenth (cross)."""
    found = study.prediction
    known = [each for each in found.powers if each.held_out_topics.value is not None]
    if not known:
        raise SettingError(f"predictive power cannot be plotted: {found.sentence()}")
    sets = list(dict.fromkeys(each.aspects for each in known))
    sets.sort(key=lambda some: -max(each.held_out_topics.value or 0.0 for each in known if each.aspects == some))
    if len(sets) > MOST_SETS:
        sets = [*[some for some in sets if some][: MOST_SETS - 1], ()]
    figure, axes = style.one_panel(8.0, 1.6 + 0.26 * len(sets))
    for number, context in enumerate((ISOLATION, CONDITION)):
        some = [each for each in known if each.context == context and each.aspects in sets]
        place = np.array([sets.index(each.aspects) for each in some]) + (number - 0.5) * 0.25
        if some:
            values = ([getattr(each.held_out_topics, name) for each in some] for name in ("value", "low", "high"))
            style.draw_intervals(axes, place, *values, number=number, label=f"{TITLES[context]}, topics held out")
            tenth = [np.nan if each.accuracy is None else each.accuracy for each in some]
            axes.plot(tenth, place, "x", color=style.colour(number), label=f"{TITLES[context]}, random tenth held out")
    style.name_rows(axes, [" + ".join(some) or "(the most frequent label)" for some in sets], longest=64, size=8)
    axes.set(xlim=(0, 1.02), xlabel=f"accuracy of predicted labels for {found.overall}")
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    return figure


@style.styled()
def plot_rankings(rankings: AspectRankings, measure: str | None = None) -> Figure:
    """Plot the ranks of systems by one aspect and by several, a line per system; those that move most in colour."""
    measure = measure or rankings.places[0].measure
    places = [each for each in rankings.places if each.measure == measure]
    score = {(each.gains, each.system): each.score for each in places}
    systems = tuple(each.system for each in places if each.gains == rankings.base)
    means = {
        _reading(rankings, measure, name): np.array([score[name, system] for system in systems])
        for name in dict.fromkeys(each.gains for each in places)
    }
    return plot_slope(means, systems, below=f"rank by {measure}; tau: with the order by {rankings.base}")


def _reading(rankings: AspectRankings, measure: str, name: str) -> str:
    """Return the name of a reading in short lines, with its tau."""
    tau = [each.tau for each in rankings.alike if each.measure == measure and each.gains == name]
    text = name.replace(" + ", "\n+ ").replace(" of ", " of\n").replace(", ", ",\n").replace(" (", "\n(")
    return text + (f"\ntau {tau[0]:.2f}" if tau and tau[0] is not None else "")


PLOTS = {
    "coverage": plot_coverage,
    "distributions": plot_distributions,
    "changes": plot_changes,
    "correlations": plot_correlations,
    "clusters": plot_correlations,
    "prediction": plot_prediction,
}
"""Plot functions by part of a study."""

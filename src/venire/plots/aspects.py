"""Plots of aspects: coverage, labels, changes, correlations with a tree of clusters, and predictive power.

Beside a merge in the tree stands the share of resampled topics in which the same aspects are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from venire.aspects.cases import CHANGE, CONDITION, ISOLATION
from venire.aspects.correlations import AspectClusters
from venire.aspects.study import ALL, COMPLETE, AspectStudy
from venire.data.scale import NOT_APPLICABLE
from venire.errors import SettingError
from venire.plots.style import BLUE, GREY, INK, ORANGE, colour, marker, new_figure, short_name, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST = 26
MOST_SETS = 32
TITLES = {ISOLATION: "in isolation", CONDITION: "in condition", CHANGE: "changes"}


def plot_coverage(study: AspectStudy) -> Figure:
    """Share of documents with a grade on each aspect, and on all, in isolation and in condition (Table 1)."""
    rows = study.coverage.records()
    names = list(dict.fromkeys(row["aspect"] for row in rows))
    with styled():
        figure = new_figure(6.8, 1.4 + 0.45 * len(names))
        axes = figure.subplots()
        for number, context in enumerate((ISOLATION, CONDITION)):
            some = [row for row in rows if row["context"] == context and row["share"] is not None]
            place = np.array([names.index(row["aspect"]) for row in some]) + (number - 0.5) * 0.3
            _dots(axes, place, [(row["share"], row["low"], row["high"]) for row in some], number, TITLES[context])
        _names(axes, ["all of them" if name is None else name for name in names])
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel(f"share of documents with a grade, not {NOT_APPLICABLE}; bars are 95% intervals")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


def plot_distributions(study: AspectStudy) -> Figure:
    """Labels of each aspect on complete documents (above) and on all (below), in isolation and condition (Figure 2)."""
    rows, names = study.distributions.records(), study.cases.names
    contexts = [each for each in (ISOLATION, CONDITION) if study.cases.nothing(each) is None]
    if not contexts:
        raise SettingError("no document counts, so there is nothing to plot")
    with styled():
        figure = new_figure(2.2 + 3.4 * len(contexts), 1.6 + 0.62 * len(names))
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
        _shade_legend(figure)
    return figure


def _stacked(axes: Axes, rows: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    """Stack the labels of each aspect, pale for the lowest to dark for the highest; N/A last, in grey."""
    for place, name in enumerate(names):
        some = [row for row in rows if row["aspect"] == name and row["share"] is not None]
        graded = [row for row in some if row["label"] != NOT_APPLICABLE]
        left = 0.0
        for level, (row, shade) in enumerate(zip(graded, _shades(len(graded)), strict=True)):
            axes.barh(place, row["share"], left=left, color=shade, edgecolor="white", linewidth=0.5, height=0.75)
            if row["share"] >= 0.07 and len(row["label"]) <= 3:
                ink = "white" if level > 0.55 * (len(graded) - 1) else INK
                axes.text(left + row["share"] / 2, place, row["label"], ha="center", va="center", fontsize=7, color=ink)
            left += row["share"]
        if some and left < 1 - 1e-9:
            bar = axes.barh(place, 1 - left, left=left, color="#EEEEEE", height=0.75)
            bar[0].set(hatch="///", edgecolor=GREY, linewidth=0)
    _names(axes, names)
    axes.set_xlim(0, 1)
    axes.grid(visible=False)


def _shades(n: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["Blues"](0.15 + 0.75 * level / max(n - 1, 1)) for level in range(n)]


def _shade_legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    low, high = _shades(2)
    patches = [
        Patch(facecolor=low, label="lowest label"),
        Patch(facecolor=high, label="highest label"),
        Patch(facecolor="#EEEEEE", hatch="///", edgecolor=GREY, linewidth=0, label=NOT_APPLICABLE),
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=3, fontsize=8)


def plot_changes(study: AspectStudy) -> Figure:
    """Share of grades that change by each size between isolation and condition (Figure 3)."""
    found = study.changes
    if found.reason is not None:
        raise SettingError(f"changes cannot be plotted: {found.reason}")
    names = list(dict.fromkeys(row["aspect"] for row in found.rows))
    sizes = range(max(row["size"] for row in found.rows) + 1)
    with styled():
        figure = new_figure(6.4, 3.6)
        axes = figure.subplots()
        width = 0.8 / len(names)
        for number, name in enumerate(names):
            some = [row for row in found.rows if row["aspect"] == name]
            place = np.array([row["size"] for row in some]) + (number - (len(names) - 1) / 2) * width
            axes.bar(place, [row["share"] for row in some], width * 0.9, color=colour(number), label=name)
            known = [(x, row) for x, row in zip(place.tolist(), some, strict=True) if row["low"] is not None]
            axes.vlines([x for x, _ in known], *_ends([row for _, row in known]), color=INK, linewidth=1)
        axes.set_xticks(list(sizes), [str(size) if size == 0 else f"±{size}" for size in sizes])
        axes.set_xlabel("change of grade from isolation to condition")
        axes.set_ylabel("share of documents")
        axes.grid(axis="x", visible=False)
        axes.legend(fontsize=8)
    return figure


def _ends(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    return [row["low"] for row in rows], [row["high"] for row in rows]


def plot_correlations(study: AspectStudy) -> Figure:
    """Rank correlations of every two aspects as heat maps, each under the tree of its clusters."""
    known = [each for each in study.clusters if len(each.names) > 1]
    if not known:
        raise SettingError(f"correlations cannot be plotted: {study.clusters[0].reason}")
    n = max(len(each.names) for each in known)
    side = 1.7 + 0.55 * n
    with styled():
        figure = new_figure((side + 0.4) * len(known) + 0.8, side + 1.5)
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
        axes.plot((np.array(x) - 5) / 10, y, color=INK, linewidth=1.3)
    tops = sorted(_tops(drawn), key=lambda top: top[1])
    for each, top in zip(sorted(found.merges, key=lambda merge: merge.distance), tops, strict=True):
        if each.support is not None:
            _beside(axes, f"{each.support:.0%}", top)
    axes.set_xlim(-0.5, len(found.names) - 0.5)
    axes.set_ylim(0, max(found.linkage[:, 2].max() * 1.2, 1e-6))
    axes.set_xticks([])
    axes.set_title(TITLES[found.context])
    axes.spines[["bottom"]].set_visible(False)
    axes.grid(visible=False)
    if first:
        axes.set_ylabel("distance 1 - rho")


def _beside(axes: Axes, text: str, place: tuple[float, float]) -> None:
    """Write on a line of the tree, and clear of it."""
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(*place, text, ha="center", va="center", fontsize=7, bbox=paper, zorder=3)


def _tops(drawn: dict[str, Any]) -> list[tuple[float, float]]:
    return [
        (float((x[1] + x[2]) / 2 - 5) / 10, float(y[1])) for x, y in zip(drawn["icoord"], drawn["dcoord"], strict=True)
    ]


def _heat(axes: Axes, found: AspectClusters) -> Any:
    order = [found.names.index(name) for name in found.order]
    rho = found.rho[np.ix_(order, order)].copy()
    image = axes.imshow(rho, cmap=_colours(), vmin=-1, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(rho):
        if i != j:
            axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8, color="black")
    names = [short_name(name, LONGEST) for name in found.order]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return image


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("rho", [ORANGE, "#FBEFD5", "#F7F7F7", "#D6E8F4", BLUE])


def plot_prediction(study: AspectStudy) -> Figure:
    """Accuracy of predicting overall from sets of aspects: on held-out topics, and on a random tenth (cross)."""
    found = study.prediction
    known = [each for each in found.powers if each.held_out_topics.value is not None]
    if not known:
        raise SettingError(f"predictive power cannot be plotted: {found.sentence()}")
    sets = list(dict.fromkeys(each.aspects for each in known))
    sets.sort(key=lambda some: -max(_power(each) for each in known if each.aspects == some))
    if len(sets) > MOST_SETS:
        sets = [*[some for some in sets if some][: MOST_SETS - 1], ()]
    with styled():
        figure = new_figure(8.0, 1.6 + 0.26 * len(sets))
        axes = figure.subplots()
        for number, context in enumerate((ISOLATION, CONDITION)):
            some = [each for each in known if each.context == context and each.aspects in sets]
            place = np.array([sets.index(each.aspects) for each in some]) + (number - 0.5) * 0.25
            values = [(_power(each), each.held_out_topics.low, each.held_out_topics.high) for each in some]
            _dots(axes, place, values, number, f"{TITLES[context]}, topics held out")
            if some:
                tenth = [np.nan if each.accuracy is None else each.accuracy for each in some]
                axes.plot(tenth, place, "x", color=colour(number), label=f"{TITLES[context]}, random tenth held out")
        _names(axes, [" + ".join(some) or "(the commonest label)" for some in sets], longest=64)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_xlim(0, 1.02)
        axes.set_xlabel(f"share of right labels for {found.overall}")
        figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    return figure


def _power(power: Any) -> float:
    return float(power.held_out_topics.value)


def _dots(axes: Axes, place: Any, values: list[tuple[Any, Any, Any]], number: int, label: str) -> None:
    """Draw values with their intervals, one below the other."""
    if not values:
        return
    axes.plot([value for value, _, _ in values], place, marker(number), color=colour(number), label=label)
    bars = [(y, low, high) for y, (_, low, high) in zip(place, values, strict=True) if low is not None]
    if bars:
        y, low, high = zip(*bars, strict=True)
        axes.hlines(y, low, high, color=colour(number), linewidth=2, alpha=0.5)


def _names(axes: Axes, names: Any, *, longest: int = LONGEST) -> None:
    axes.set_yticks(range(len(names)), [short_name(name, longest) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


PLOTS = {
    "coverage": plot_coverage,
    "distributions": plot_distributions,
    "changes": plot_changes,
    "correlations": plot_correlations,
    "clusters": plot_correlations,
    "prediction": plot_prediction,
}
"""By part of a study: what draws it."""

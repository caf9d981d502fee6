"""Plots of agreement: statistics with their intervals, what each assessor's labels are, and two assessors' labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.agreement.confusion import Confusions
from venire.agreement.habits import habits
from venire.agreement.profiles import Profiles
from venire.errors import SettingError
from venire.plots.style import BLUE, GREY, INK, new_figure, short_name, styled
from venire.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 40
"""How many rows a plot shows."""
ROOM = 0.28
MOST_NAMED = 8
"""With more labels than this, bars are shaded without edges, and only the lowest and the highest label are named."""
WIDTH_OF_LEGEND = 84
"""Characters that fit beside each other above the bars; a name takes six more than it has."""
DARK, LIGHT = "#222222", "white"


def plot_statistics(statistics: Sequence[Mapping[str, Any]]) -> Figure:
    """Records of statistics with their intervals, one below the other; those that are not known are left out.

    Where there are too many, those of single pairs of assessors are left out first.
    """
    known = [each for each in statistics if each["value"] is not None]
    if not known:
        raise SettingError("no statistic has a value, so there is nothing to plot", hint="look at the reasons")
    together = [each for each in known if "," not in each["raters"]] if len(known) > MOST else known
    shown = (together or known)[:MOST]
    with styled():
        figure = new_figure(6.8, 1.2 + ROOM * len(shown))
        axes = figure.subplots()
        for place, each in enumerate(shown):
            if each["low"] is not None:
                axes.hlines(place, each["low"], each["high"], color=BLUE, linewidth=2.5, alpha=0.5)
            axes.plot([each["value"]], [place], "o", color=BLUE)
        _rows(axes, [_named(each) for each in shown])
        lowest = min(each["value"] if each["low"] is None else each["low"] for each in shown)
        axes.set_xlim(min(-0.03, lowest - 0.05), 1.03)
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_xlabel(
            "agreement: 1 is full; bars are 95% intervals" + _left_out(len(known), "statistics", len(shown))
        )
    return figure


def plot_labels(profiles: Profiles) -> Figure:
    """Shares of labels of each assessor, as one bar; beside it, in what they differ from the others."""
    n = min(len(profiles.assessors), MOST)
    shares = profiles.labels[:n] / np.maximum(profiles.n_labels[:n], 1)[:, None]
    found = habits(profiles)
    named, names = _named_labels(profiles.scale.labels)
    with styled():
        figure = new_figure(7.4, 1.6 + ROOM * n)
        axes = figure.subplots()
        left = np.zeros(n)
        edge = {"edgecolor": "white"} if len(profiles.scale) <= MOST_NAMED else {"linewidth": 0.0}
        for level, colour in enumerate(_shades(len(profiles.scale))):
            bars = axes.barh(np.arange(n), shares[:, level], left=left, color=colour, height=0.8, **edge)
            bars.set_label(names[level] if level in named else "_")
            left += shares[:, level]
        _rows(axes, [short_name(name) for name in profiles.assessors[:n]])
        for row in (row for row in found if row < n):
            words = ", ".join(habit.flag for habit in found[row])
            axes.annotate(words, (1.0, row), (5, 0), textcoords="offset points", va="center", fontsize=8, color=INK)
        axes.set_xlim(0, 1)
        axes.grid(visible=False)
        axes.set_xlabel("share of the assessor's labels" + _left_out(len(profiles.assessors), "assessors"))
        widest = max(len(names[level]) for level in named) + 6
        across = max(1, min(len(named), WIDTH_OF_LEGEND // widest))
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=across, fontsize=8, handlelength=1.2)
    return figure


def _named_labels(labels: Sequence[str]) -> tuple[list[int], list[str]]:
    """Which labels the legend names, and how: all of a few, else the lowest and the highest."""
    named = list(range(len(labels))) if len(labels) <= MOST_NAMED else [0, len(labels) - 1]
    return named, [short_name(label) for label in labels]


def plot_confusion(confusions: Confusions, a: str, b: str) -> Figure:
    """Labels of two assessors on the same items: how often each met each; darker is more."""
    counts = confusions.matrix(a, b)
    if not counts.any():
        raise SettingError(f"{a!r} and {b!r} judged no item in common", hint="choose two who met: Confusions.pairs()")
    labels, size = [short_name(label) for label in confusions.scale.labels], len(counts)
    with styled():
        figure = new_figure(3.2 + 0.4 * min(size, 12), 2.6 + 0.36 * min(size, 12))
        axes = figure.subplots()
        axes.imshow(np.sqrt(counts), cmap="Blues", origin="lower", vmin=0)
        if size <= 12:
            _numbers(axes, counts)
            slanted = max(map(len, labels)) > 6
            axes.set_xticks(range(size), labels, rotation=45 if slanted else 0, ha="right" if slanted else "center")
            for tick in axes.get_xticklabels():
                tick.set_rotation_mode("anchor" if slanted else "default")
            axes.set_yticks(range(size), labels)
        axes.set_xlabel(f"label by {short_name(b)}")
        axes.set_ylabel(f"label by {short_name(a)}")
        axes.set_title(f"the same in {np.trace(counts) / counts.sum():.0%} of {counts.sum():,.0f} items")
        axes.grid(visible=False)
    return figure


def _numbers(axes: Axes, counts: Floats) -> None:
    """Write counts into their cells, white on dark ones."""
    for (row, column), n in np.ndenumerate(counts):
        ink = LIGHT if np.sqrt(n) > 0.6 * np.sqrt(counts.max()) else DARK
        if n:
            text = f"{n:,.0f}" if abs(n - round(n)) < 1e-9 else f"{n:.1f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)


def _rows(axes: Axes, names: list[str]) -> None:
    """Name rows from the top downwards."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)


def _named(statistic: Mapping[str, Any]) -> str:
    """Name a statistic: of which group, which, on which level, of which assessors."""
    parts = [str(statistic[key]) for key in ("group",) if key in statistic]
    parts += [str(statistic["name"]).replace("_", " "), str(statistic["level"])]
    parts += [] if statistic["raters"] == "all" else [str(statistic["raters"])]
    return short_name(", ".join(parts), longest=44)


def _shades(n: int) -> list[tuple[float, float, float, float]]:
    """Colours from light to dark, for labels from the lowest to the highest."""
    import matplotlib as mpl

    return [mpl.colormaps["Blues"](share) for share in np.linspace(0.12, 0.95, max(n, 1))]


def _left_out(n: int, noun: str, shown: int = MOST) -> str:
    return "" if n <= shown else f"\n({shown} of {n:,} {noun})"

"""Plots of consistency: single judgments drawn again and again, self against cross, and by label.

Demeester et al. (2014), Figures 2 and 3.  Where it makes no difference which judgments are drawn, as where nobody
judged a page twice, p(R|i) is shown with its interval over topics instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.agreement.consistency import Consistency
from venire.errors import SettingError
from venire.plots.style import colour, marker, new_figure, styled
from venire.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NARROWEST = 0.004
SAME = 1e-9
"""Draws that differ by less are all the same."""
WORDS = {"self": "the same assessor", "cross": "another assessor"}
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "ooo")


def plot_consistency(found: Consistency, *, row: int = 0) -> Figure:
    """Histograms over draws: p(R|R) self against cross, and p(R|i) of the labels that are not relevant, cross."""
    if not _varies(found, row):
        return _intervals(found, row)
    by_label = _by_label(found, row)
    panels = [(_self_and_cross(found, row), "relevant once, relevant again"), (by_label[1], by_label[0])]
    panels = [panel for panel in panels if panel[0]]
    if not panels:
        raise SettingError(
            "no single judgments were drawn, so there is nothing to plot", hint="draw some: --bootstrap 1000"
        )
    with styled():
        figure = new_figure(6.6, 0.7 + 2.4 * len(panels))
        for axes, (series, title) in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True):
            _panel(axes, series, title)
        figure.supylabel("share of draws", fontsize=10)
        figure.supxlabel(f"P(relevant: {_name(found, row)}), single judgments drawn", fontsize=10)
    return figure


def _varies(found: Consistency, row: int) -> bool:
    """Whether it makes a difference which single judgments are drawn; if none were asked for, it might."""
    drawn = [each.drawn[:, row] for each in found.sides().values() if each.n_pages]
    return all(len(p) == 0 or np.nanmax(np.ptp(p, axis=0), initial=0.0) > SAME for p in drawn)


def _intervals(found: Consistency, row: int) -> Figure:
    """p(R|i) of either sort of pairs with its interval, label by label."""
    sides = [(WORDS[who], each.spread) for who, each in found.sides().items() if each.n_pages]
    known = np.flatnonzero(~np.isnan([spread.p[row] for _, spread in sides]).all(axis=0))
    with styled():
        figure = new_figure(6.6, 1.5 + 0.45 * len(known) * len(sides))
        axes = figure.subplots()
        for number, (name, spread) in enumerate(sides):
            place = known + 0.3 * (number - (len(sides) - 1) / 2)
            p, low, high = (each[row, known] for each in (spread.p, spread.low, spread.high))
            axes.hlines(place, low, high, color=colour(number), alpha=0.6, linewidth=2.5)
            axes.plot(p, place, marker(number), color=colour(number), label=name)
            for x, y in zip(p[~np.isnan(p)].tolist(), place[~np.isnan(p)].tolist(), strict=True):
                axes.annotate(f"{x:.2f}", (x, y), (0, 5), textcoords="offset points", ha="center", size=8)
        axes.set_yticks(known, [found.scale.labels[level] for level in known.tolist()])
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(known[0] - 0.5, known[-1] + 0.6)
        axes.grid(axis="y", visible=False)
        whom = " or ".join(name for name, _ in sides)
        axes.set_xlabel(f"P(relevant to {whom}: {_name(found, row)}), 95 % interval over topics")
        axes.set_ylabel("label")
        if len(sides) > 1:
            axes.legend(loc="lower right", fontsize=8)
    return figure


def _self_and_cross(found: Consistency, row: int) -> list[tuple[str, Floats]]:
    """What each sort of pair gives for p(R|R) in every draw (Figure 2)."""
    drawn = {who: each.within(found.relevant.labels)[1][:, row] for who, each in found.sides().items()}
    return [(WORDS[who], p) for who, p in drawn.items() if not np.isnan(p).all()]


def _by_label(found: Consistency, row: int) -> tuple[str, list[tuple[str, Floats]]]:
    """p(R|i) in every draw for labels outside R (Figure 3): between assessors, or of one where there is no other."""
    who, side = ("another", found.cross) if found.cross.n_pages else ("the same", found.own)
    outside = np.flatnonzero(~found.relevant.labels[row])[::-1].tolist()
    series = [(found.scale.labels[level], side.drawn[:, row, level]) for level in outside]
    return f"not relevant once, relevant to {who} assessor", [each for each in series if not np.isnan(each[1]).all()]


def _panel(axes: Axes, series: list[tuple[str, Floats]], title: str) -> None:
    """Draw histograms with as many bins as fit their own spread; each says its mean and standard deviation."""
    for number, (name, drawn) in enumerate(series):
        p = drawn[~np.isnan(drawn)]
        mean, sd = p.mean(), p.std(ddof=1) if len(p) > 1 else 0.0
        width = max(NARROWEST, 4 * sd / 10)
        low = np.floor(p.min() / width) * width
        edges = low + width * np.arange(int(np.ceil((p.max() - low) / width)) + 2)
        share = np.histogram(p, edges)[0] / len(p)
        axes.stairs(
            share,
            edges,
            fill=True,
            facecolor=colour(number),
            edgecolor="white",
            linewidth=0,
            alpha=0.75,
            hatch=HATCHES[number % len(HATCHES)],
            label=f"{name}: mean {mean:.3f}, sd {sd:.3f}",
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize=8)


def _name(found: Consistency, row: int) -> str:
    name = found.relevant.names[row]
    return f"{name} or higher" if found.scale.ordered and name in found.scale.labels[:-1] else name

"""Plots of agreement: statistics, labels of each assessor, pairs of assessors, consistency, and directed agreement.

Consistency: Demeester et al. (2014), Figures 2 and 3, by drawing single judgments repeatedly.  Where all draws are the
same, as where nobody judged a page twice, p(R|i) is shown with its interval over topics instead.

Directed agreement: Turpin and Scholer (2009), Figures 3 to 7, from any judgments with several assessors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.agreement.confusion import Confusions
from venire.agreement.consistency import Consistency
from venire.agreement.directed import KINDS, AgreementDifferences, DirectedAgreement
from venire.agreement.flags import habits
from venire.agreement.profiles import Profiles
from venire.data.scale import or_higher
from venire.errors import SettingError
from venire.plots import style
from venire.results import counted
from venire.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 40
"""Largest number of rows."""
ROW_HEIGHT = 0.28
MOST_NAMED = 8
"""With more labels than this, bars have no edges, and only the lowest and the highest label are named."""
LEGEND_WIDTH = 84
"""Characters of a legend line above the bars; a name takes six more than its length."""
MOST_CELLS = 12
"""With more labels than this, cells have no numbers."""
NARROWEST_BIN = 0.004
SAME = 1e-9
"""Draws that differ by less are equal."""
WHO = {"self": "the same assessor", "cross": "another assessor"}
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "ooo")
MANY = 5000
"""With more points than this a scatter plot shows their density."""


@style.styled()
def plot_statistics(statistics: Sequence[Mapping[str, Any]]) -> Figure:
    """Plot statistics with their intervals, one per row, without those that are not known.

    Where there are too many, statistics of single pairs of assessors are omitted first.
    """
    known = [each for each in statistics if each["value"] is not None]
    if not known:
        raise SettingError("no statistic has a value, so there is nothing to plot", hint="see the reasons")
    together = [each for each in known if "," not in each["raters"]] if len(known) > MOST else known
    rows = (together or known)[:MOST]
    value, low, high = (np.array([each[key] for each in rows], dtype=float) for key in ("value", "low", "high"))
    figure, axes = style.one_panel(6.8, 1.2 + ROW_HEIGHT * len(rows))
    style.draw_intervals(axes, range(len(rows)), value, low, high)
    style.name_rows(axes, [statistic_name(each) for each in rows], longest=44)
    axes.set_xlim(min(-0.03, float(np.fmin(value, low).min()) - 0.05), 1.03)
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    caption = style.shown_of(len(rows), len(known), "statistics")
    axes.set_xlabel(f"agreement, at most 1; bars are 95% intervals{caption}")
    return figure


def statistic_name(statistic: Mapping[str, Any]) -> str:
    """Return group, name, level of measurement and assessors."""
    parts = [str(statistic[key]) for key in ("group",) if key in statistic]
    parts += [str(statistic["name"]).replace("_", " "), str(statistic["level"])]
    return ", ".join(parts + ([] if statistic["raters"] == "all" else [str(statistic["raters"])]))


@style.styled()
def plot_labels(profiles: Profiles) -> Figure:
    """Plot the shares of labels of each assessor as a bar, with what distinguishes the assessor from the others."""
    n = min(len(profiles.assessors), MOST)
    share = profiles.labels[:n] / np.maximum(profiles.n_labels[:n], 1)[:, None]
    names = [style.short_name(label) for label in profiles.scale.labels]
    few = len(names) <= MOST_NAMED
    named = list(range(len(names))) if few else [0, len(names) - 1]
    figure, axes = style.one_panel(7.4, 1.6 + ROW_HEIGHT * n)
    left = np.zeros(n)
    edge = {"edgecolor": "white"} if few else {"linewidth": 0.0}
    for level, shade in enumerate(style.shades(len(names))):
        bars = axes.barh(np.arange(n), share[:, level], left=left, color=shade, height=0.8, **edge)
        bars.set_label(names[level] if level in named else "_")
        left += share[:, level]
    style.name_rows(axes, profiles.assessors[:n])
    for row, found in habits(profiles).items():
        if row < n:
            text = ", ".join(habit.flag for habit in found)
            axes.annotate(text, (1.0, row), (5, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlim(0, 1)
    axes.grid(visible=False)
    axes.set_xlabel(f"share of the assessor's labels{style.shown_of(n, len(profiles.assessors), 'assessors')}")
    across = max(1, min(len(named), LEGEND_WIDTH // (max(len(names[level]) for level in named) + 6)))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=across, fontsize=8, handlelength=1.2)
    return figure


@style.styled()
def plot_workers(profiles: Profiles, *, least: int = 20) -> Figure:
    """Plot a histogram of kappa with the others, of assessors with ``least`` shared labels; those with flags apart."""
    kappa = np.where(profiles.n_shared >= least, profiles.kappa.value, np.nan)
    flagged = np.isin(np.arange(len(kappa)), list(habits(profiles)))
    if np.isnan(kappa).all():
        raise SettingError(f"no assessor shares {least} labels with others", hint="lower the least number")
    figure, axes = style.one_panel(6.8, 2.8)
    groups = [kappa[~flagged & ~np.isnan(kappa)], kappa[flagged & ~np.isnan(kappa)]]
    colours, names = [style.look(n)["color"] for n in (0, 1)], ["no notable difference", "differ notably"]
    axes.hist(groups, bins=np.linspace(-1, 1, 41).tolist(), stacked=True, color=colours, label=names)
    spread = np.concatenate(groups)
    axes.set_xlim(np.floor(10 * spread.min()) / 10 - 0.05, np.ceil(10 * spread.max()) / 10 + 0.05)
    axes.set(xlabel="kappa with the others", ylabel="assessors")
    axes.legend(fontsize=8)
    return figure


@style.styled()
def plot_nearness(profiles: Profiles) -> Figure:
    """Plot the kappa of each assessor with the reference, or with the others, and its interval, the highest first."""
    kappa = profiles.kappa
    order = np.argsort(-kappa.value, kind="stable")[: int((~np.isnan(kappa.value)).sum())]
    if not len(order):
        raise SettingError("no assessor shares labels with others, so there is nothing to plot", hint="see the labels")
    shown = order[:MOST]
    figure, axes = style.one_panel(6.8, 1.2 + 0.75 * ROW_HEIGHT * len(shown))
    place = np.arange(len(shown))
    style.draw_intervals(axes, place, kappa.value[shown], kappa.low[shown], kappa.high[shown])
    style.name_rows(axes, [profiles.assessors[n] for n in shown.tolist()])
    whom = "the reference" if profiles.reference else "the others"
    axes.set_xlabel(f"kappa with {whom}{style.shown_of(len(shown), len(order), 'assessors')}")
    return figure


@style.styled()
def plot_confusion(confusions: Confusions, a: str | None = None, b: str | None = None) -> Figure:
    """Plot how often each combination of labels of two assessors occurs on the same items; darker is more.

    Without names, the two are those who share most items.
    """
    if a is None or b is None:
        shared = confusions.n_shared()
        if not shared:
            raise SettingError("no two assessors judged an item in common")
        a, b = max(shared, key=shared.__getitem__)
    counts = confusions.matrix(a, b)
    if not counts.any():
        raise SettingError(f"{a!r} and {b!r} judged no item in common", hint="choose two of Confusions.pairs()")
    labels, size = confusions.scale.labels, len(counts)
    figure, axes = style.one_panel(3.2 + 0.4 * min(size, MOST_CELLS), 2.6 + 0.36 * min(size, MOST_CELLS))
    axes.imshow(np.sqrt(counts), cmap="Blues", origin="lower", vmin=0)
    if size <= MOST_CELLS:
        form = "{:,.0f}" if np.allclose(counts, counts.round(), rtol=0, atol=1e-9) else "{:,.1f}"
        texts = [[form.format(n) if n else "" for n in row] for row in counts.tolist()]
        style.write_cells(axes, texts, np.sqrt(counts) > 0.6 * np.sqrt(counts.max()))
        style.name_columns(axes, labels)
        axes.set_yticks(range(size), [style.short_name(label) for label in labels])
    axes.set(xlabel=f"label by {style.short_name(b)}", ylabel=f"label by {style.short_name(a)}")
    axes.set_title(f"equal in {np.trace(counts) / counts.sum():.0%} of {counts.sum():,.0f} items")
    axes.grid(visible=False)
    return figure


@style.styled()
def plot_consistency(found: Consistency, *, row: int = 0) -> Figure:
    """Plot histograms over draws: p(R|R) self and cross, and p(R|i) of the labels that are not relevant, cross."""
    draws = [each.drawn[:, row] for each in found.sides().values() if each.n_pages]
    if not all(len(p) == 0 or np.nanmax(np.ptp(p, axis=0), initial=0.0) > SAME for p in draws):
        return _consistency_intervals(found, row)
    drawn = {who: each.within(found.relevant.labels)[1][:, row] for who, each in found.sides().items()}
    both = [(WHO[who], p) for who, p in drawn.items() if not np.isnan(p).all()]
    panels = [("relevant, then relevant again", both), _not_relevant(found, row)]
    panels = [panel for panel in panels if panel[1]]
    if not panels:
        raise SettingError("no single judgments were drawn, so there is nothing to plot", hint="draw some")
    figure = style.new_figure(6.6, 0.7 + 2.4 * len(panels))
    for axes, (title, series) in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True):
        _histograms(axes, series)
        axes.set_title(title)
    figure.supylabel("share of draws")
    relevant = or_higher(found.scale, found.relevant.names[row])
    figure.supxlabel(f"P(relevant: {relevant}), single judgments drawn")
    return figure


def _consistency_intervals(found: Consistency, row: int) -> Figure:
    """Plot p(R|i) with its interval by label, self and cross."""
    sides = [(WHO[who], each.spread) for who, each in found.sides().items() if each.n_pages]
    known = np.flatnonzero(~np.isnan([spread.p[row] for _, spread in sides]).all(axis=0))
    figure, axes = style.one_panel(6.6, 1.5 + 0.45 * len(known) * len(sides))
    for number, (name, spread) in enumerate(sides):
        place = known + 0.3 * (number - (len(sides) - 1) / 2)
        p, low, high = (each[row, known] for each in (spread.p, spread.low, spread.high))
        style.draw_intervals(axes, place, p, low, high, number=number, label=style.plain(name))
        for x, y in zip(p[~np.isnan(p)].tolist(), place[~np.isnan(p)].tolist(), strict=True):
            axes.annotate(f"{x:.2f}", (x, y), (0, 5), textcoords="offset points", ha="center", size=8)
    axes.set_yticks(known, [found.scale.labels[level] for level in known.tolist()])
    style.unit_axis(axes, which="x")
    axes.set_ylim(known[0] - 0.5, known[-1] + 0.6)
    axes.grid(axis="y", visible=False)
    who, relevant = " or ".join(name for name, _ in sides), or_higher(found.scale, found.relevant.names[row])
    axes.set(xlabel=f"P(relevant to {who}: {relevant}), 95% interval over topics", ylabel="label")
    if len(sides) > 1:
        axes.legend(loc="lower right", fontsize=8)
    return figure


def _not_relevant(found: Consistency, row: int) -> tuple[str, list[tuple[str, Floats]]]:
    """Return p(R|i) of every draw for labels outside R (Figure 3): cross, or self where there is no other assessor."""
    who, side = ("another", found.cross) if found.cross.n_pages else ("the same", found.own)
    outside = np.flatnonzero(~found.relevant.labels[row])[::-1].tolist()
    series = [(found.scale.labels[level], side.drawn[:, row, level]) for level in outside]
    return f"not relevant, then relevant to {who} assessor", [each for each in series if not np.isnan(each[1]).all()]


def _histograms(axes: Axes, series: list[tuple[str, Floats]]) -> None:
    """Draw histograms whose bins follow their standard deviations, which the legend lists with the means."""
    for number, (name, drawn) in enumerate(series):
        p = drawn[~np.isnan(drawn)]
        mean, sd = p.mean(), p.std(ddof=1) if len(p) > 1 else 0.0
        width = max(NARROWEST_BIN, 4 * sd / 10)
        low = np.floor(p.min() / width) * width
        edges = low + width * np.arange(int(np.ceil((p.max() - low) / width)) + 2)
        look: dict[str, Any] = {"facecolor": style.colour(number), "edgecolor": "white", "linewidth": 0, "alpha": 0.75}
        look |= {"hatch": HATCHES[number % len(HATCHES)], "label": f"{name}: mean {mean:.3f}, sd {sd:.3f}"}
        axes.stairs(np.histogram(p, edges)[0] / len(p), edges, fill=True, **look)
    style.unit_axis(axes, which="x")
    axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize=8)


@style.styled()
def plot_agreement(found: DirectedAgreement, *, bins: int = 20) -> Figure:
    """Plot histograms of a0 and a1 over directed pairs (Turpin and Scholer 2009, Figures 3 and 5), with medians."""
    edges, counts = found.histogram(bins=bins)
    figure = style.new_figure(7.2, 3.6)
    for axes, rate in zip(_two_histograms(figure, edges, counts), found.rates.both, strict=True):
        _mark_median(axes, rate, "median {:.2f}")
    by = f", by {' and '.join(found.by)}" if found.by else ""
    figure.supxlabel("agreement of the second assessor with the first")
    figure.supylabel(f"directed pairs{by}")
    return figure


@style.styled()
def plot_differences(found: AgreementDifferences, *, bins: int = 41) -> Figure:
    """Plot histograms of the differences of a0 and a1 between topics or tasks (Figures 4 and 6).

    Between two topics or tasks the median is marked, between more the median of the absolute differences.
    """
    edges, counts = found.histogram(bins=bins)
    two = len(found.places) == 2
    figure = style.new_figure(7.2, 3.6)
    for axes, values in zip(_two_histograms(figure, edges, counts), found.values, strict=True):
        if two:
            _mark_median(axes, values, "median {:+.2f}")
        else:
            _mark_median(axes, np.abs(values), "half exceed ±{:.2f}", both_sides=True)
    which = style.plain(" minus ".join(found.places[::-1])) if two else f"between two {found.across}s"
    figure.supxlabel(f"difference of agreement, {which}")
    figure.supylabel("directed pairs" if two else f"directed pairs and pairs of {found.across}s")
    return figure


def _two_histograms(figure: Figure, edges: Floats, counts: Ints) -> list[Axes]:
    """Draw the histograms of a0 and a1 side by side; counts (2, bin)."""
    panels = list(figure.subplots(1, 2, sharey=True))
    for number, axes in enumerate(panels):
        axes.stairs(counts[number], edges, fill=True, color=style.colour(number), alpha=0.75)
        axes.set(title=f"a{number}: {KINDS[number]} documents", xlim=(edges[0] - 0.02, edges[-1] + 0.02))
        axes.set_ylim(0, 1.05 * max(int(counts.max()), 1))
        style.whole_ticks(axes.yaxis)
        axes.grid(axis="x", visible=False)
    return panels


def _mark_median(axes: Axes, values: Floats, text: str, *, both_sides: bool = False) -> None:
    """Mark the median with a dashed line, and its negative if asked; nothing where no value is known."""
    known = values[~np.isnan(values)]
    if not len(known):
        return
    median = float(np.median(known))
    axes.axvline(median, color=style.INK, linewidth=1.2, linestyle="--", label=text.format(median))
    if both_sides:
        axes.axvline(-median, color=style.INK, linewidth=1.2, linestyle="--")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize=8)


@style.styled()
def plot_scatter(found: AgreementDifferences) -> Figure:
    """Plot agreement on one topic or task against the other (Figure 7), a point per pair, or the density of many."""
    figure = style.new_figure(7.6, 4.1)
    for number, axes in enumerate(figure.subplots(1, 2, sharey=True)):
        axes.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.8)
        x, y = found.rates.both[number], found.other_rates.both[number]
        known = ~(np.isnan(x) | np.isnan(y))
        if known.sum() <= MANY:
            look: dict[str, Any] = {"color": style.colour(number), "alpha": 0.5, "markersize": 4, "markeredgewidth": 0}
            axes.plot(x[known], y[known], style.marker(number), **look)
        else:
            look = {"bins": "log", "cmap": ("Blues", "Oranges")[number], "mincnt": 1, "linewidths": 0.1}
            axes.hexbin(x[known], y[known], gridsize=32, extent=(0, 1, 0, 1), **look)
        axes.set_title(f"a{number}: {KINDS[number]} documents")
        axes.set_aspect("equal")
        style.unit_axis(axes, which="x")
        style.unit_axis(axes)
    one, other = found.places if len(found.places) == 2 else (f"one {found.across}", f"another {found.across}")
    density = "; darker: more" if len(found) > MANY else ""
    figure.supxlabel(f"agreement, {style.plain(one)} ({counted(found.n_pairs, 'directed pair')}{density})")
    figure.supylabel(f"agreement, {style.plain(other)}")
    return figure

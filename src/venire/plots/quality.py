"""Plots of the quality of judgments: discriminative power, pairwise discriminative power (PDP), and label scales.

Curves of discriminative power have the p-values of all pairs of systems in ascending order.  The marker, where a curve
crosses the significance level, is the share of significant pairs.

PDP: Chu et al. (2021, doi:10.1145/3459637.3482428), Eqs. (10), (11) and (3).  Scales: as their Table 2, with intervals;
dotted lines are the original judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.plots import style
from venire.quality.label_preferences import LabelPreferencesFit
from venire.quality.pdp import PDP
from venire.quality.power import DiscriminativePower, Power
from venire.quality.scales import ScaleComparison, ScaleValue
from venire.results import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 2 * len(style.COLOURS)
LONGEST_NAME, LONGEST_LABEL = 30, 20
TESTS = {"bootstrap": "paired bootstrap", "tukey": "Tukey HSD"}
MOST_CELLS = 12
"""With more labels than this, cells have no numbers."""
MANY = 400
"""With more topics than this, a line has no markers."""
PANELS = {
    "agreement\n(not across scales)": {"krippendorff_alpha": "alpha", "phi": "Phi"},
    "discriminative power\n(share of significant pairs)": {"discriminative_power": ""},
    "PDP in nats\n(lower is better)": {"pdp_individual": "individual", "pdp_aggregate": "aggregate"},
}
"""Titles of the panels of a comparison of scales, with the statistics of each and their names."""
APART, WIDEST = 0.17, 0.72
"""Distance between the statistics of one setting, each and in total, as shares of a row."""
LEGEND_OFFSET = -0.36
"""Distance of a legend from its axis, in inches."""


@style.styled()
def plot_power(found: DiscriminativePower) -> Figure:
    """Plot curves of p-values: a panel per test and measure, a line per label set; with one label set, per measure.

    Names have the same style in all panels.  Of more than fourteen lines, only those with the most and the fewest
    significant pairs in the first panel are named.
    """
    panels = _power_panels([row for row in found.rows if row.pairs])
    shape = style.grid_shape(len(panels), 2)
    looks = _looks(list(dict.fromkeys(name for lines in panels.values() for name, _ in lines)))
    width = max((len(style.short_name(name, LONGEST_NAME)) for name in looks), default=0)
    height = max(3.3, 1.0 + 0.2 * min(len(looks), MOST_LINES + 1))
    figure = style.new_figure(0.6 + (4.6 + 0.075 * width) * shape[1], 0.4 + shape[0] * height)
    grid = style.panel_grid(figure, len(panels), shape, sharex=True)
    for axes, (title, lines) in zip(grid, panels.items(), strict=True):
        _draw_power(axes, lines, looks)
        axes.set_title(title)
    for axes in grid[-shape[1] :]:
        axes.tick_params(axis="x", labelbottom=True)  # also where the panel below is empty
    figure.supxlabel("share of pairs of systems, smallest p-value first")
    figure.supylabel("p-value (achieved significance level)")
    return figure


def _power_panels(rows: Sequence[Power]) -> dict[str, list[tuple[str, Power]]]:
    """Return lines and their names by the title of the panel, those with the most significant pairs first."""
    one = len({row.labels for row in rows}) == 1
    panels: dict[str, list[tuple[str, Power]]] = {}
    for row in rows:
        name = style.short_name(row.labels if one else row.measure, LONGEST_NAME)
        title = f"{'labels ' if one else ''}{name}, {TESTS.get(row.test, row.test)}"
        panels.setdefault(title, []).append((row.measure if one else row.labels, row))
    return {title: sorted(lines, key=lambda each: -(each[1].share or 0.0)) for title, lines in panels.items()}


def _looks(names: list[str]) -> dict[str, dict[str, Any]]:
    """Return the style of the lines of each name."""
    half = MOST_LINES // 2
    named = names if len(names) <= MOST_LINES else names[:half] + names[-half:]
    looks: dict[str, dict[str, Any]] = {name: {"color": style.GREY, "linewidth": 0.6, "zorder": 1.5} for name in names}
    for number, name in enumerate(named):
        again = number // len(style.COLOURS)
        looks[name] = style.look(number, marker=style.marker(number + again), linestyle="--" if again else "-")
    return looks


def _draw_power(axes: Axes, lines: list[tuple[str, Power]], looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw the lines of one panel and the significance level."""
    alpha = lines[0][1].alpha
    for name, row in lines:
        share, p = row.curve()
        look = {key: value for key, value in looks[name].items() if key != "marker"}
        axes.step([0.0, *share], [*p[:1], *p], where="pre", alpha=0.9, **look)
        if "marker" in looks[name]:
            label = f"{style.short_name(name, LONGEST_NAME)}  {row.share:.0%}"
            axes.plot(row.share or 0.0, alpha, markersize=6, label=label, clip_on=False, **looks[name])
    unnamed = sum("marker" not in looks[name] for name, _ in lines)
    if unnamed:
        axes.plot([], [], color=style.GREY, linewidth=0.6, label=f"{unnamed} more")
    axes.axhline(alpha, color=style.GREY, linewidth=1.0, linestyle=":")
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
    axes.legend(fontsize=8.5, title=f"significant at {alpha:g}", title_fontsize=9, alignment="left", **where)
    axes.set_ylim(0, min(1.0, 4 * alpha))
    axes.set_yticks(np.linspace(0, min(1.0, 4 * alpha), 5))
    axes.yaxis.set_major_formatter("{x:g}")
    style.unit_axis(axes, which="x")


@style.styled()
def plot_pdp(found: Sequence[PDP]) -> Figure:
    """Plot preferences between labels, a panel per mode, and below them the PDP of every topic."""
    room = max(_label_room(each.labels) for each in found)
    height = 3.5 + 0.75 * room
    figure = style.new_figure(max((3.5 + room) * len(found) + 0.4, 6.4), height + 2.8)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(height, 2.8)))
    for axes, each in zip(np.ravel(above.subplots(1, len(found), squeeze=False)), found, strict=True):
        _draw_preferences(axes, each.labels)
    _draw_topics(below.subplots(), found)
    return figure


@style.styled()
def plot_label_preferences(fit: LabelPreferencesFit) -> Figure:
    """Plot p(a > b), the share of documents with label a that are preferred to one with label b, as a heat map."""
    room = _label_room(fit)
    figure, axes = style.one_panel(4.6 + room, 4.2 + 0.75 * room)
    _draw_preferences(axes, fit)
    return figure


@style.styled()
def plot_topic_pdp(found: Sequence[PDP]) -> Figure:
    """Plot the PDP of every topic, lowest first, a line per mode, with its mean and its maximum."""
    figure = style.new_figure(6.4, 3.2)
    _draw_topics(figure.subplots(), found)
    return figure


def _label_room(fit: LabelPreferencesFit) -> float:
    """Return the additional inches for slanted labels."""
    longest = max(len(style.short_name(label, LONGEST_LABEL)) for label in fit.scale.labels)
    return 0.08 * longest if longest > 6 else 0.0


def _draw_preferences(axes: Axes, fit: LabelPreferencesFit) -> None:
    labels = fit.scale.labels
    step = max(1, len(labels) // MOST_CELLS)
    axes.imshow(fit.p, cmap="PuOr", vmin=0, vmax=1, origin="lower")
    style.name_columns(axes, labels, longest=LONGEST_LABEL, step=step)
    names = [style.short_name(label, LONGEST_LABEL) for label in labels]
    axes.set_yticks(range(0, len(labels), step), names[::step])
    if len(labels) <= MOST_CELLS:
        unknown = (fit.n_pairs == 0) & (not fit.given) & (fit.form == "table") & ~np.eye(len(labels), dtype=bool)
        texts = [[f"{p:.2f}".replace("0.", ".", 1) for p in row] for row in fit.p.tolist()]
        texts = [["?" if unknown[a, b] else text for b, text in enumerate(row)] for a, row in enumerate(texts)]
        style.write_cells(axes, texts, (fit.p > 0.75) | (fit.p < 0.15), size=9 if len(labels) <= 7 else 6.5)
    axes.set(xlabel="than a document labelled b", ylabel="a document labelled a is better")
    axes.set_title(f"p(a > b), {fit.setting.mode}")
    axes.grid(visible=False)
    axes.tick_params(length=0)


def _draw_topics(axes: Axes, found: Sequence[PDP]) -> None:
    known = [each for each in found if each.value is not None]
    for number, each in enumerate(known):
        ordered = np.sort(each.values)
        share = (np.arange(len(ordered)) + 0.5) / len(ordered)
        interval = "" if each.low is None or each.high is None else f" [{each.low:.2f}, {each.high:.2f}]"
        look = style.look(number, markersize=3.5, linewidth=1.2, label=f"{each.mode}: mean {each.value:.2f}{interval}")
        axes.plot(ordered, share, **look | ({} if len(ordered) <= MANY else {"marker": ""}))
        axes.axvline(float(ordered.mean()), color=style.colour(number), linestyle="--", linewidth=1)
    if known:
        most, low = max(each.most for each in known), min(float(each.values.min()) for each in known)
        axes.axvline(most, color=style.GREY, linewidth=1.5, label=f"no information: log {known[0].k}! = {most:.2f}")
        axes.set_title(f"PDP@{known[0].k} of {counted(max(len(each.topics) for each in known), 'topic')}")
        room = 0.06 * max(most - low, 0.05 * most)
        axes.set_xlim(max(low - room, 0.0), most + room)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    else:
        axes.text(0.5, 0.5, "no value:\n" + "\n".join(each.reason or "" for each in found), ha="center", va="center")
    axes.set(ylim=(0, 1), xlabel="PDP in nats; lower: the labels say more about the order", ylabel="share of topics")


@style.styled()
def plot_scales(found: ScaleComparison) -> Figure:
    """Plot values with intervals, a row per setting, in a panel each for agreement, power and PDP where available."""
    settings = found.settings
    panels = {title: lines for title, names in PANELS.items() if (lines := scale_lines(found, names))}
    series = max(len(lines) for lines in panels.values())
    width = 0.9 + 0.075 * max(map(len, settings)) + 2.6 * len(panels)
    figure = style.new_figure(width, 1.5 + 0.17 * series + len(settings) * max(0.3, 0.13 * series))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, lines) in zip(grid, panels.items(), strict=True):
        style.name_rows(axes, settings, longest=200)
        _draw_scales(axes, lines, settings)
        axes.set_title(title)
    return figure


def scale_lines(found: ScaleComparison, names: dict[str, str]) -> dict[str, list[ScaleValue]]:
    """Return values by the name of their statistic, or of the measure where there are several."""
    lines: dict[str, list[ScaleValue]] = {}
    for statistic, name in names.items():
        for each in found.values:
            if each.statistic == statistic:
                lines.setdefault(name or each.measure or "", []).append(each)
    return lines


def _draw_scales(axes: Axes, lines: dict[str, list[ScaleValue]], settings: Sequence[str]) -> None:
    from matplotlib.transforms import ScaledTranslation

    for number, (name, values) in enumerate(lines.items()):
        shift = min(APART * len(lines), WIDEST) * (number / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0
        for each in values:
            height = settings.index(each.setting) + shift
            if each.value is None:
                where = axes.get_yaxis_transform()
                axes.text(0.02, height, "–", color=style.GREY, va="center", fontsize=8, transform=where)
            else:
                style.draw_intervals(axes, height, each.value, each.low, each.high, number=number)
                if each.setting == settings[0]:
                    axes.axvline(each.value, color=style.colour(number), linewidth=1, linestyle=":", zorder=0)
        axes.plot([], [], style.marker(number), color=style.colour(number), label=style.plain(name))
    every = [each for values in lines.values() for each in values]
    if any(each.value is not None for each in every):
        axes.margins(x=0.08)
        below = axes.transAxes + ScaledTranslation(0, LEGEND_OFFSET, axes.figure.dpi_scale_trans)
        look: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below}
        axes.legend(fontsize=8, ncols=2, columnspacing=1.0, handletextpad=0.3, borderaxespad=0.0, **look)
    else:
        axes.set_xticks([])
        reason = fill(f"no value: {next((each.reason for each in every if each.reason), '')}", 28)
        axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes, fontsize=8)

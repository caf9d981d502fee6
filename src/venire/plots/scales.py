"""Plots of scale comparisons: all settings of one set of judgments side by side, by agreement, power and PDP.

As Table 2 of Chu et al. (2021, doi:10.1145/3459637.3482428), with intervals.  Dotted lines are the judgments as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from venire.plots.style import GREY, colour, marker, new_figure, styled
from venire.quality.scales import ScaleComparison, ScaleValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {
    "agreement\n(not across scales)": {"krippendorff_alpha": "alpha", "phi": "Phi"},
    "discriminative power\n(share told apart)": {"discriminative_power": ""},
    "PDP in nats\n(lower: more is known)": {"pdp_individual": "individual", "pdp_aggregate": "aggregate"},
}
"""Titles of the panels, and in each the statistics with their names."""
APART, WIDEST = 0.17, 0.72
"""How far the statistics of one setting lie apart, each and all of them, as shares of a row."""
BELOW = -0.36
"""How far below its axis a legend stands, in inches."""

Lines = dict[str, list[ScaleValue]]


def plot_scales(found: ScaleComparison) -> Figure:
    """Values with intervals: a row per setting; a panel for agreement, one for power, one for PDP, as far as there."""
    settings = found.settings
    panels = {title: lines for title, names in PANELS.items() if (lines := _lines(found, names))}
    series = max(len(lines) for lines in panels.values())
    with styled():
        width = 0.9 + 0.075 * max(map(len, settings)) + 2.6 * len(panels)
        figure = new_figure(width, 1.5 + 0.17 * series + len(settings) * max(0.3, 0.13 * series))
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, lines) in zip(grid, panels.items(), strict=True):
            _panel(axes, lines, settings)
            axes.set_title(title)
        grid[0].set_yticks(range(len(settings)), settings)
        grid[0].set_ylim(len(settings) - 0.4, -0.6)
    return figure


def _lines(found: ScaleComparison, names: dict[str, str]) -> Lines:
    """Values by the name of their statistic, or of the measure where that differs."""
    lines: Lines = {}
    for statistic, name in names.items():
        for each in found.values:
            if each.statistic == statistic:
                lines.setdefault(name or each.measure or "", []).append(each)
    return lines


def _panel(axes: Axes, lines: Lines, settings: Sequence[str]) -> None:
    known = False
    for number, (name, values) in enumerate(lines.items()):
        shift = min(APART * len(lines), WIDEST) * (number / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0
        for each in values:
            known |= each.value is not None
            _dot(axes, each, settings.index(each.setting) + shift, number)
        own = next((each.value for each in values if each.setting == settings[0]), None)
        if own is not None:
            axes.axvline(own, color=colour(number), linewidth=1, linestyle=":", zorder=0)
        axes.plot([], [], marker(number), color=colour(number), label=name.replace("$", r"\$"))
    axes.grid(axis="y", visible=False)
    if known:
        axes.margins(x=0.08)
        _legend(axes)
    else:
        _reason(axes, [each for values in lines.values() for each in values])


def _legend(axes: Axes) -> None:
    """Name the markers below the numbers of the axis."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, BELOW, axes.figure.dpi_scale_trans)
    axes.legend(
        **{"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below},
        **{"fontsize": 8, "ncols": 2, "columnspacing": 1.0, "handletextpad": 0.3, "borderaxespad": 0.0},
    )


def _dot(axes: Axes, each: ScaleValue, height: float, number: int) -> None:
    """Draw a value with its interval; a grey dash at the edge where there is none."""
    if each.value is None:
        axes.text(0.02, height, "–", color=GREY, va="center", fontsize=8, transform=axes.get_yaxis_transform())
        return
    if each.low is not None and each.high is not None:
        axes.hlines(height, each.low, each.high, color=colour(number), linewidth=2, alpha=0.5)
    axes.plot(each.value, height, marker(number), color=colour(number))


def _reason(axes: Axes, values: Sequence[ScaleValue]) -> None:
    """Say why a panel is empty."""
    axes.set_xticks([])
    reason = next((each.reason for each in values if each.reason), "")
    axes.text(0.5, 0.5, fill(f"no value: {reason}", 28), ha="center", va="center", transform=axes.transAxes, fontsize=8)

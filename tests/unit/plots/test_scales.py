"""Plots of scale comparisons."""

from __future__ import annotations

import pytest

from venire.quality.scales import ScaleComparison, ScaleValue

pytest.importorskip("matplotlib")

from venire.plots.quality import plot_scales
from venire.plots.style import write_figure


def value(setting, statistic, number, *, measure=None, low=None, high=None, reason=None):
    return ScaleValue(setting, int(setting[0]), statistic, measure, number, low, high, reason)


FOUND = ScaleComparison(
    (
        value("3", "krippendorff_alpha", 0.4, low=0.3, high=0.5),
        value("3", "phi", 0.6),
        value("3", "discriminative_power", 0.25, measure="nDCG@5"),
        value("3", "discriminative_power", 0.5, measure="AP"),
        value("3to2(>=1)", "krippendorff_alpha", None, reason="no item has labels by two assessors"),
        value("3to2(>=1)", "phi", 0.2, low=0.1, high=0.4),
        value("3to2(>=1)", "discriminative_power", 0.75, measure="nDCG@5"),
        value("3to2(>=1)", "discriminative_power", 0.0, measure="AP"),
    )
)


def test_a_panel_for_what_is_there_and_a_row_for_every_setting():
    agreement, power = plot_scales(FOUND).axes
    assert agreement.get_title(loc="left").startswith("agreement")
    assert power.get_title(loc="left").startswith("discriminative power")
    assert [each.get_text() for each in agreement.get_yticklabels()] == ["3", "3to2(>=1)"]
    assert [each.get_text() for each in agreement.get_legend().get_texts()] == ["alpha", "Phi"]
    assert [each.get_text() for each in power.get_legend().get_texts()] == ["nDCG@5", "AP"]


def test_dots_stand_at_the_values_and_bars_at_the_intervals():
    agreement, power = plot_scales(FOUND).axes
    dots = [float(line.get_xdata()[0]) for line in power.lines if len(line.get_xdata()) == 1]
    assert sorted(dots) == [0.0, 0.25, 0.5, 0.75]
    bars = [tuple(bar.get_segments()[0][:, 0].tolist()) for bar in agreement.collections]
    assert sorted(bars) == [(0.1, 0.4), (0.3, 0.5)]
    assert [each.get_text() for each in agreement.texts] == ["–"]


def test_the_judgments_as_they_are_are_a_line_through_all_settings():
    agreement, _ = plot_scales(FOUND).axes
    lines = [float(line.get_xdata()[0]) for line in agreement.lines if line.get_linestyle() == ":"]
    assert lines == [0.4, 0.6]


def test_a_panel_without_values_says_why():
    none = ScaleComparison((value("2", "pdp_individual", None, reason="no test is on two labels"),))
    (axes,) = plot_scales(none).axes
    assert axes.get_legend() is None
    assert "no test is on two labels" in axes.texts[-1].get_text().replace("\n", " ")


def test_the_same_result_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_figure(plot_scales(FOUND), tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()

from __future__ import annotations

import numpy as np
import pytest

from venire import Scores
from venire.comparison.tests import PairedBootstrap, TukeyHSD
from venire.io import read_grid
from venire.quality.power import power_of
from venire.quality.scales import ScaleComparison, ScaleValue

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes

from venire.plots.quality import MOST_LINES, plot_label_preferences, plot_pdp, plot_power, plot_scales, plot_topic_pdp
from venire.plots.style import styled, write_figure
from venire.quality.label_preferences import LabelPreferences
from venire.quality.pdp import pdp


def scores(*measures: str, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.15, (5, 1, len(measures))) + rng.random((5, 20, len(measures)))
    names = {"system": tuple("abcde"), "topic": tuple(map(str, range(20))), "measure": measures}
    return Scores(values, ("system", "topic", "measure"), names)


def test_markers_stand_where_curves_cross_the_level():
    found = power_of({"x": scores("AP"), "y": scores("AP", seed=1)}, test=PairedBootstrap(n=99))
    (axes,) = plot_power(found).axes
    shown = {line.get_label(): line for line in axes.lines if line.get_marker() != "None"}
    for row in found.rows:
        line = shown[f"{row.labels}  {row.share:.0%}"]
        assert (float(line.get_xdata()[0]), float(line.get_ydata()[0])) == (row.share, 0.05)
    curves = [line for line in axes.lines if len(line.get_xdata()) == 1 + 10]
    assert sorted(tuple(line.get_ydata()[1:]) for line in curves) == sorted(tuple(row.curve()[1]) for row in found.rows)


def test_panels_per_measure_and_test_or_lines_per_measure():
    tests = [PairedBootstrap(n=99), TukeyHSD(n=99)]
    both = power_of({"x": scores("AP", "RR"), "y": scores("AP", "RR", seed=1)}, test=tests)
    titles = [axes.get_title(loc="left") for axes in plot_power(both).axes]
    assert titles == ["AP, paired bootstrap", "AP, Tukey HSD", "RR, paired bootstrap", "RR, Tukey HSD"]
    one = plot_power(power_of({"x": scores("AP", "RR")}, test=tests[0]))
    assert [axes.get_title(loc="left") for axes in one.axes] == ["labels x, paired bootstrap"]
    assert len(one.axes[0].get_legend().get_texts()) == 2


def test_a_name_looks_the_same_in_all_panels_and_the_many_are_grey():
    sets = {f"${n}": scores("AP", "RR", seed=n) for n in range(MOST_LINES + 3)}
    figure = plot_power(power_of(sets, test=PairedBootstrap(n=39)))
    looks = [
        {
            line.get_label().split()[0]: (line.get_color(), line.get_marker(), line.get_linestyle())
            for line in axes.lines
        }
        for axes in figure.axes
    ]
    named = [{name: look for name, look in each.items() if name.startswith("$")} for each in looks]
    assert named[0] == named[1]
    assert len(named[0]) == len(set(named[0].values())) == MOST_LINES
    assert figure.axes[0].get_legend().get_texts()[-1].get_text() == "3 more"


P = np.array([[0.5, 0.2, 0.0], [0.8, 0.5, 0.3], [1.0, 0.7, 0.5]])
SHORT, LONG = ("0", "1", "2"), ("Not_relevant_at_all", "Somewhat_relevant", "Perfectly_relevant")


def measured(labels=SHORT):
    lines = [" ".join(labels[int(n)] for n in line) for line in ("0121", "0221", "1120")]
    judgments = read_grid("\n".join(lines), scale="<".join(labels))
    return [pdp(judgments, P, labels=LabelPreferences(mode=mode)) for mode in ("individual", "aggregate")]


def words_of(axes) -> list:
    legend, (low, high) = axes.get_legend(), axes.get_xlim()
    below = [text for text in axes.get_xticklabels() if low <= text.get_position()[0] <= high]
    named = [*below, *axes.get_yticklabels(), axes.xaxis.label, axes.yaxis.label]
    return [text for text in [*named, *(legend.get_texts() if legend else [])] if text.get_text()]


def outside(figure) -> list[str]:
    """Words that do not lie within the figure."""
    with styled():
        figure.draw_without_rendering()
    words = [text for axes in figure.findobj(Axes) for text in words_of(axes)]
    places = [text.get_window_extent() for text in words]
    inside = [figure.bbox.x0 <= each.x0 and each.x1 <= figure.bbox.x1 and each.y0 >= figure.bbox.y0 for each in places]
    assert len(words) > 10
    return [text.get_text() for text, there in zip(words, inside, strict=True) if not there]


@pytest.mark.parametrize("labels", [SHORT, LONG])
@pytest.mark.parametrize("n_modes", [1, 2])
def test_no_word_is_cut_off(labels, n_modes):
    assert outside(plot_pdp(measured(labels)[:n_modes])) == []


def test_long_labels_are_slanted_and_short_ones_are_not():
    for labels, degrees in ((SHORT, 0), (LONG, 45)):
        axes = plot_label_preferences(measured(labels)[0].labels).axes[0]
        assert {text.get_rotation() for text in axes.get_xticklabels()} == {degrees}
        assert [text.get_text() for text in axes.get_xticklabels()] == list(labels)


def test_cells_show_probabilities_readably():
    axes = plot_label_preferences(measured()[0].labels).axes[0]
    shown = {tuple(map(int, text.get_position())): (text.get_text(), text.get_color()) for text in axes.texts}
    assert shown[0, 2] == ("1.00", "white")
    assert shown[2, 0] == (".00", "white")
    assert shown[1, 2] == (".70", "#222222")
    assert shown[1, 0][0] == ".20"


def test_topics_stand_at_their_values():
    found = measured()
    axes = plot_topic_pdp(found).axes[0]
    assert [line.get_xdata().tolist() for line in axes.lines[::2][:2]] == [each.values.tolist() for each in found]
    assert "log 4!" in axes.get_legend().get_texts()[-1].get_text()


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

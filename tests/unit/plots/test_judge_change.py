from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import Judgments, read_grid, read_judgments
from venire.agreement.directed import directed_agreement
from venire.agreement.directed_differences import between, differences
from venire.comparison.judge_change import RankCounts, min_agreement_to_stay_ahead

pytest.importorskip("matplotlib")

from venire.plots import agreement
from venire.plots.agreement import plot_agreement, plot_differences, plot_scatter
from venire.plots.comparison import plot_contour, plot_limits
from venire.plots.style import write_figure


def three_topics() -> Judgments:
    rng = np.random.default_rng(3)
    rows = [(t, f"d{d}", who, int(rng.random() < 0.6)) for t in "123" for d in range(12) for who in "ABC"]
    return read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))


def tasks(names=("judging", "search")):
    one = directed_agreement(read_grid("1 1 0 0\n1 0 0 1\n0 1 0 1"))
    return between(one, directed_agreement(read_grid("0 1 1 0\n0 0 1 1\n1 0 1 1")), names=names)


def heights(figure) -> list[list[float]]:
    return [axes.patches[0].get_data().values.tolist() for axes in figure.axes]


def marks(figure) -> list[list[str]]:
    return [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes]


def test_the_contour_of_95_percent_is_where_the_formula_has_it():
    figure = plot_contour(steps=41)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["normal approximation", "exact"]
    for axes, chance in zip(
        figure.axes,
        (RankCounts(c10=1).normal, lambda a0, a1: sum(RankCounts(c10=1).chances(a0, a1)[:2])),
        strict=True,
    ):
        lines = next(each for each in axes.collections if 0.95 in getattr(each, "levels", []) and not each.filled)
        points = lines.get_paths()[list(lines.levels).index(0.95)].vertices
        assert [chance(*point) for point in points.tolist()] == pytest.approx([0.95] * len(points), abs=5e-3)


def test_a0_lies_across_and_a1_upwards():
    counts = RankCounts(c10=1, c11=3)
    figure = plot_contour(counts, steps=31)
    lines = next(each for each in figure.axes[1].collections if 0.9 in getattr(each, "levels", []) and not each.filled)
    points = lines.get_paths()[list(lines.levels).index(0.9)].vertices
    chance, swapped = (
        np.array([sum(counts.chances(*pair)[:2]) for pair in each.tolist()]) for each in (points, points[:, ::-1])
    )
    assert abs(chance - 0.9).max() < 0.02 < abs(swapped - 0.9).max()


def test_limits_are_marked_where_the_winner_is_safe():
    (axes,) = plot_limits((1, 5)).axes
    marked = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert marked == [min_agreement_to_stay_ahead(1), min_agreement_to_stay_ahead(5)]
    assert "n = 5: at 76.3% or more" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_histograms_show_the_counts_and_the_median():
    found = directed_agreement(three_topics(), by="topic")
    figure = plot_agreement(found, bins=5)
    assert heights(figure) == found.histogram(bins=5)[1].tolist()
    assert marks(figure) == [[f"median {np.median(rate):.2f}"] for rate in found.rates.both]
    assert figure.get_supylabel() == "directed pairs, by topic"


def test_differences_show_the_size_that_half_of_them_exceed():
    found = differences(directed_agreement(three_topics(), by="topic"))
    figure = plot_differences(found, bins=9)
    assert heights(figure) == found.histogram(bins=9)[1].tolist()
    assert marks(figure) == [[f"half exceed ±{np.median(np.abs(each)):.2f}"] for each in found.values]
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]


def test_between_two_tasks_the_difference_has_a_direction():
    found = tasks()
    figure = plot_differences(found)
    assert figure.get_supxlabel() == "difference of agreement, search minus judging"
    assert marks(figure) == [[f"median {np.median(each):+.2f}"] for each in found.values]


def test_scatter_puts_one_task_against_the_other(monkeypatch):
    found = tasks()
    for number, axes in enumerate(plot_scatter(found).axes):
        points = axes.lines[-1]
        assert points.get_xdata().tolist() == found.rates.both[number].tolist()
        assert points.get_ydata().tolist() == found.other_rates.both[number].tolist()
    monkeypatch.setattr(agreement, "MANY", 2)
    dense = plot_scatter(found)
    assert [int(axes.collections[0].get_array().sum()) for axes in dense.axes] == [6, 6]
    assert "darker: more" in dense.get_supxlabel()


def test_rates_that_are_not_known_are_left_out():
    one = directed_agreement(read_grid("1 1\n1 0"), at_least=0)
    found = between(one, one, names=("a", "b"))
    assert [len(axes.lines[-1].get_xdata()) for axes in plot_scatter(found).axes] == [1, 2]
    assert heights(plot_agreement(directed_agreement(read_grid("1 1\n1 1"), at_least=0), bins=2)) == [[0, 0], [0, 2]]


def test_names_are_no_mathematics(tmp_path):
    found = tasks(("$a", "b$"))
    for number, plot in enumerate((plot_differences, plot_scatter)):
        write_figure(plot(found), tmp_path / f"{number}.svg")
        text = (tmp_path / f"{number}.svg").read_text(encoding="utf-8")
        assert "$a" in text
        assert "b$" in text

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from venire import Judgments, read_judgments
from venire.agreement.directed import between, differences, directed_agreement
from venire.comparison.forecast import Forecast
from venire.comparison.judge_change import RankCounts, min_agreement_to_stay_ahead
from venire.comparison.stability import stability
from venire.data.scale import Scale
from venire.disagreement.transitions import stated_transitions
from venire.io import read_grid

pytest.importorskip("matplotlib")

from venire.plots import agreement
from venire.plots.agreement import plot_agreement, plot_differences, plot_scatter
from venire.plots.comparison import MOST_NAMES, plot_contour, plot_limits, plot_ranks, plot_stability, plot_tau
from venire.plots.style import short_name, write_figure


def of(n, n_draws=50, seed=0):
    rng = np.random.default_rng(seed)
    now = rng.random((n, 4))
    draws = now.mean(axis=1) + rng.normal(0, 0.1, size=(n_draws, n))
    known = stated_transitions(Scale.parse("0<1"), np.eye(2))
    topics = tuple("abcd")
    return Forecast(tuple(f"${number}$" for number in range(n)), topics, "nDCG@10", now, draws, known, "fixed")


def names(labels):
    return [label.get_text() for label in labels]


def test_the_map_has_the_best_system_first_and_shows_who_is_ahead():
    found = stability(of(6))
    axes = plot_stability(found).axes[0]
    order = np.argsort(-found.forecast.mean)
    shown = [short_name(found.forecast.systems[n]) for n in order]
    assert names(axes.get_yticklabels()) == names(axes.get_xticklabels()) == shown
    image = np.asarray(axes.images[0].get_array().filled(np.nan))
    assert np.isnan(np.diag(image)).all()
    first, last = order[0], order[-1]
    level = 1 - found.above[first, last] - found.above[last, first]
    assert image[0, -1] == pytest.approx(found.above[first, last] + level / 2)
    assert image[0, -1] + image[-1, 0] == pytest.approx(1)


def test_dots_are_on_pairs_that_are_significant_and_yet_fragile():
    forecast = of(6)
    found = stability(forecast, p_adjusted=np.where(np.arange(15) % 2, 0.01, 0.5))
    figure = plot_stability(found)
    place = np.argsort(found.by_score())
    a, b = found.pairs
    chosen = np.flatnonzero(found.significant & found.fragile)
    assert len(chosen)
    wanted = {(place[a[n]], place[b[n]]) for n in chosen} | {(place[b[n]], place[a[n]]) for n in chosen}
    (line,) = figure.axes[0].lines
    assert set(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True)) == wanted
    assert names(figure.legends[0].get_texts()) == ["significant, yet fragile"]
    assert not plot_stability(forecast).axes[0].lines


def test_intervals_of_places_and_the_place_now():
    found = stability(of(8))
    axes = plot_ranks(found).axes[0]
    order = found.by_score()
    bars = axes.collections[0].get_segments()
    shown = [(bar[0][0] + 0.3, bar[1][0] - 0.3) for bar in bars]
    np.testing.assert_allclose(shown, np.stack([found.rank_low[order], found.rank_high[order]], axis=1))
    assert axes.lines[0].get_xdata().tolist() == found.rank[order].tolist()
    assert names(axes.get_xticklabels()) == [str(n) for n in range(1, 9)]


def test_tau_of_all_draws_is_shown():
    found = stability(of(8))
    axes = plot_tau(found).axes[0]
    assert sum(patch.get_height() for patch in axes.patches[:-1]) == 50
    assert axes.lines[0].get_xdata()[0] == found.correlation().value


def test_of_very_many_systems_some_are_named():
    axes = plot_stability(of(MOST_NAMES + 30, n_draws=3)).axes[0]
    assert len(axes.get_xticklabels()) <= MOST_NAMES


def test_names_are_no_mathematics(tmp_path):
    for number, figure in enumerate((plot_stability(of(3)), plot_ranks(of(3)))):
        write_figure(figure, tmp_path / f"{number}.svg")
        assert "$1$" in (tmp_path / f"{number}.svg").read_text(encoding="utf-8")


def test_long_names_that_differ_at_their_ends_stay_apart():
    found = of(3)
    long = replace(found, systems=tuple(f"a-retriever-with-a-very-long-name-{n}" for n in range(3)))
    assert len(set(names(plot_stability(long).axes[0].get_yticklabels()))) == 3


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


def test_names_of_tasks_are_no_mathematics(tmp_path):
    found = tasks(("$a", "b$"))
    for number, plot in enumerate((plot_differences, plot_scatter)):
        write_figure(plot(found), tmp_path / f"{number}.svg")
        text = (tmp_path / f"{number}.svg").read_text(encoding="utf-8")
        assert "$a" in text
        assert "b$" in text

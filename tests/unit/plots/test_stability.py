from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from venire.comparison.forecast import Forecast
from venire.comparison.stability import stability
from venire.data.scale import Scale
from venire.disagreement.transitions import stated_transitions

pytest.importorskip("matplotlib")

from venire.plots.comparison import MOST_NAMES, plot_ranks, plot_stability, plot_tau
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

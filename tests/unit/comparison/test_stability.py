"""The stability of orders, against counting draw by draw."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import kendalltau

from venire.comparison.forecast import Forecast, JudgeSwap, forecast
from venire.comparison.stability import stability
from venire.comparison.uncertainty import compare_judge_models
from venire.data.scale import Scale
from venire.disagreement.transitions import fit_transitions, stated_transitions
from venire.errors import SettingError
from venire.simulation import Synthetic, generate

SURE = stated_transitions(Scale.parse("0<1"), np.eye(2))


def of(now, draws, names="ABCDEFG"):
    now, draws = np.array(now, dtype=float), np.array(draws, dtype=float)
    topics = tuple(f"t{n}" for n in range(now.shape[1]))
    return Forecast(tuple(names[: len(now)]), topics, "nDCG@10", now, draws, SURE, "fixed")


@st.composite
def forecasts(draw):
    n, n_draws = draw(st.integers(2, 5)), draw(st.integers(2, 12))
    scores = st.sampled_from([0.1, 0.2, 0.3, 0.1 + 0.2, 0.5])  # 0.1 + 0.2 is 0.3 but for rounding
    table = draw(st.lists(st.lists(scores, min_size=n, max_size=n), min_size=n_draws + 1, max_size=n_draws + 1))
    return of(np.array(table[0])[:, None], table[1:])


@settings(max_examples=80)
@given(forecasts())
def test_equals_counting_draw_by_draw(found):
    result = stability(found)
    n = len(found.systems)
    low, high = np.full(n, n), np.ones(n)
    places = []
    for draw in found.draws:
        best = [1 + sum(other - score > 1e-9 for other in draw) for score in draw]
        worst = [n - sum(score - other > 1e-9 for other in draw) for score in draw]
        places.append((best, worst))
    low, high = np.array([best for best, _ in places]), np.array([worst for _, worst in places])
    np.testing.assert_array_equal(result.rank_low, [sorted(each)[max(0, -(-len(each) // 40) - 1)] for each in low.T])
    np.testing.assert_array_equal(
        result.rank_high, [sorted(each)[max(0, -(-len(each) * 39 // 40) - 1)] for each in high.T]
    )
    changes = found.changes(*result.pairs)
    np.testing.assert_allclose(result.stays, changes.stays)
    np.testing.assert_allclose(result.flips, changes.flips)
    np.testing.assert_allclose(result.tie, changes.tie, atol=1e-12)
    for draw, tau in zip(found.draws, result.tau, strict=True):
        expected = kendalltau(np.round(draw, 9), np.round(found.mean, 9)).statistic
        assert (np.isnan(tau) and np.isnan(expected)) or tau == pytest.approx(expected)


def test_significant_yet_fragile_pairs_come_first():
    now = [[0.9], [0.8], [0.7]]
    draws = [[0.9, 0.8, 0.7]] * 6 + [[0.8, 0.9, 0.7]] * 3 + [[0.9, 0.6, 0.7]]
    result = stability(of(now, draws), p_adjusted=np.array([0.9, 0.01, 0.02]))
    assert [(each["a"], each["b"]) for each in result.records()] == [("A", "B"), ("B", "C"), ("A", "C")]
    result = stability(of(now, draws), p_adjusted=np.array([0.04, 0.01, 0.02]))
    first = result.records()[0]
    assert first == {
        **{"a": "A", "b": "B", "measure": "nDCG@10", "delta": pytest.approx(0.1), "p_stays_ahead": 0.7, "p_tie": 0.0},
        **{"p_flips": 0.3, "p_adjusted": 0.04, "significant": True, "fragile": True},
    }
    draws = [[0.9, 0.8, 0.7]] * 6 + [[0.8, 0.9, 0.95]] * 4
    more = stability(of(now, draws), p_adjusted=np.array([0.9, 0.01, 0.02]))
    assert [(each["a"], each["b"]) for each in more.records()[:2]] == [("A", "C"), ("B", "C")]


def test_systems_that_are_level_neither_stay_nor_flip_and_share_their_places():
    result = stability(of([[0.5], [0.5], [0.1]], [[0.4, 0.4, 0.1], [0.4, 0.4, 0.1]]))
    assert (result.stays[0], result.tie[0], result.flips[0]) == (0, 1, 0)
    assert result.rank.tolist() == [1, 1, 3]
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 1, 3], [2, 2, 3])
    keys = ("system", "mean", "low", "high", "rank", "rank_low", "rank_high")
    assert result.system_records()[2] == dict(zip(keys, ("C", 0.1, 0.1, 0.1, 3, 3, 3), strict=True))
    assert "0 of 3 pairs are fragile" in result.sentence()


def test_where_all_draws_are_level_tau_is_not_known():
    result = stability(of([[0.5], [0.4]], [[0.3, 0.3]]))
    assert np.isnan(result.correlation().value)
    assert result.correlation().method == "all systems are tied in every draw"


def test_blocks_of_draws_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    found = of(rng.random((5, 3)), rng.random((37, 5)))
    whole = stability(found)
    monkeypatch.setattr(import_module("venire.comparison.stability"), "BLOCK_CELLS", 100)
    parts = stability(found)
    np.testing.assert_array_equal(whole.above, parts.above)
    np.testing.assert_array_equal(whole.rank_high, parts.rank_high)


def test_what_cannot_be_is_refused():
    with pytest.raises(SettingError, match="there is one system"):
        stability(of([[0.5]], [[0.5]]))
    with pytest.raises(SettingError, match="2 p-values for the 1 pair of 2 systems"):
        stability(of([[0.5], [0.4]], [[0.5, 0.4]]), p_adjusted=np.ones(2))


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=10, docs_per_topic=40, n_unjudged=0), rng=5)


def test_forms_of_judge_side_by_side(collection):
    labels, runs = collection.judgments, collection.runs
    found = compare_judge_models(JudgeSwap.of(labels, runs, "P@5", assessor="careful1"), n_draws=200)
    assert tuple(found.found) == ("fixed", "assessors", "hierarchical")
    for row, form in enumerate(found.found):
        alone = stability(forecast(labels, runs, "P@5", assessor="careful1", judge_model=form, n_draws=200))
        np.testing.assert_array_equal(found.stays[row], alone.stays)
        record = found.records()[row]
        assert (record["judge_model"], record["fragile"]) == (form, int(alone.fragile.sum()))
        assert record["mean_change"] == pytest.approx(np.abs(alone.stays - found.stays[0]).mean())
    most = found.pair_records()[0]
    values = [most[f"p_stays_ahead_{form}"] for form in found.found]
    assert max(values) - min(values) == pytest.approx(np.ptp(found.stays, axis=0).max())


def test_forms_agree_where_nothing_varies(collection):
    known = fit_transitions(collection.judgments, "careful1", "lenient1").matrix
    stated = stated_transitions(collection.judgments.scale, known)
    swap = JudgeSwap.of(collection.judgments, collection.runs, "P@5", assessor="careful1", transitions=stated)
    found = compare_judge_models(swap, n_draws=50)
    assert np.ptp(found.stays, axis=0).max() < 0.35  # 50 draws each: only chance is left
    with pytest.raises(SettingError, match="no judge model"):
        compare_judge_models(swap, judge_models=())


def test_a_forecast_can_be_cut_to_some_systems():
    found = of([[0.9], [0.8], [0.7]], [[0.9, 0.8, 0.7]])
    cut = replace(found, systems=found.systems[:2], now=found.now[:2], draws=found.draws[:, :2])
    assert stability(cut).stays.tolist() == [1.0]

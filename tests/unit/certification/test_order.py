"""Orders of systems by a judge and by the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_rel

from venire.certification.order import Interval, first_systems, order_agreement, significant_pairs, significant_signs
from venire.comparison.tests import holm

SYSTEMS = tuple("abcdefghijklmn")


def test_without_missing_labels_the_interval_has_no_width():
    rng = np.random.default_rng(1)
    raw, value = rng.random(14), rng.random(14)
    found = order_agreement(raw, value, np.tile(value, (5, 1)), systems=SYSTEMS, judge="llm", measure="AP")
    assert found.tau == pytest.approx((kendalltau(raw, value).statistic,) * 3)
    assert [found.record()[name] for name in ("kept", "kept_low", "false_high")] == [None] * 3
    assert set(found.record()) >= {"tau", "tau_ap", "kept", "lost", "reversed", "false", "tau_low", "rbo_high", "top"}


def test_the_interval_reaches_as_far_up_as_down():
    found = Interval.about(0.8, np.linspace(0.6, 0.76, 101), 0.9)
    assert found.value == 0.8
    assert found.low == pytest.approx(0.608)
    assert found.high == pytest.approx(0.8 + (0.8 - 0.608))
    assert Interval.about(0.95, np.linspace(0.6, 0.8, 101), 0.9).high == 1.0
    assert np.isnan(Interval.about(np.nan, np.ones(3), 0.9).low)


def test_a_system_that_only_the_judge_ranks_first_is_in_the_top():
    raw = np.arange(14.0)
    value = raw.copy()
    value[13] = -1.0
    found = order_agreement(raw, value, value[None], systems=SYSTEMS, judge="llm", measure="AP", n_top=3)
    assert found.top == ("k", "l", "m", "n")
    assert found.tau_ap_top.value < 0.5 < found.tau.value


def test_tied_systems_are_first_together():
    assert first_systems(np.array([1.0, 3.0, 2.0, 2.0, 0.0]), 2).tolist() == [False, True, True, True, False]
    assert first_systems(np.array([1.0, 2.0]), 10).all()


def test_significance_is_that_of_paired_tests():
    rng = np.random.default_rng(3)
    scores = rng.random((1, 5, 20)) + np.arange(5)[:, None] * 0.15
    a, b = np.triu_indices(5, 1)
    tested = ttest_rel(scores[0, a], scores[0, b], axis=1)
    expected = np.where(holm(tested.pvalue) <= 0.05, np.sign(tested.statistic), 0)
    assert 0 < np.count_nonzero(expected) < 10
    assert significant_signs(scores)[0].tolist() == expected.tolist()


def test_pairs_are_kept_lost_reversed_or_false():
    rng = np.random.default_rng(5)
    noise = 0.01 * rng.standard_normal((4, 12))
    reference = noise + np.array([0.1, 0.1, 0.5, 0.9])[:, None]
    judge = noise[::-1] + np.array([0.1, 0.5, 0.5, 0.4])[:, None]
    found = significant_pairs(judge, reference[None])
    # ab: false; ac, ad: kept; bc: lost; bd, cd: reversed
    assert {name: each.value for name, each in found.items()} == {"kept": 2, "lost": 1, "reversed": 2, "false": 1}


def test_topics_without_a_score_and_single_topics():
    scores = np.full((3, 2), 0.5)
    scores[0, 1] = np.nan
    assert significant_pairs(scores, scores[None]) == {}
    same = np.tile(np.array([[0.5], [0.5], [0.1]]), (1, 8))
    found = significant_pairs(same, same[None])
    assert (found["kept"].value, found["false"].value) == (2, 0)


def test_a_judge_who_does_not_order():
    found = order_agreement(
        np.zeros(3), np.arange(3.0), np.arange(3.0)[None], systems=("a", "b", "c"), judge="llm", measure="AP"
    )
    assert np.isnan(found.tau.value)
    assert "does not order" in found.sentence()


def test_one_pair_differs_and_two_differ():
    counts = {name: Interval(n, n, n) for name, n in {"kept": 1, "lost": 0, "reversed": 0, "false": 1}.items()}
    found = order_agreement(
        np.arange(3.0), np.arange(3.0), np.arange(3.0)[None], systems=("a", "b", "c"), judge="llm", measure="AP"
    )
    one, two = (replace(found, pairs=counts | {"false": Interval(n, n, n)}).sentence() for n in (1, 2))
    assert "of 1 pair that differs significantly by the reference" in one
    assert "1 differs significantly by its labels alone" in one
    assert "2 differ significantly by its labels alone" in two

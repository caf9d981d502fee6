"""Two settings compared by what they leave open."""

from __future__ import annotations

import numpy as np
import pytest

from preference_examples import collection
from venire import SettingError
from venire.data.preferences import Preferences
from venire.quality.lists import top_of_pool
from venire.quality.pdp import compare_pdp, pdp


def test_two_settings_are_compared_on_the_same_topics():
    good, tests = collection(40, sigma=0.05, n_tests=800)
    poor, _ = collection(40, sigma=0.3, perceive=2)
    lists = top_of_pool(good, 5)
    a, b = (pdp(labels, tests, lists=lists) for labels in (good, poor))
    found = compare_pdp(a, b, names=("good", "poor"))
    assert found.difference == pytest.approx(a.value - b.value)
    assert found.low < found.difference < found.high < 0
    assert found.p_value < 1e-6
    assert found.significant
    assert "nats on 40 topics, significant (95% confidence interval -" in found.sentence()
    same = compare_pdp(a, a)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert not same.significant


@pytest.mark.parametrize("n_comparisons", [1, 6])
def test_interval_p_value_and_words_agree(n_comparisons):
    for perceive in range(2, 14):
        one, tests = collection(15, sigma=0.1, n_tests=100)
        other, _ = collection(15, sigma=0.2, perceive=perceive)
        lists = top_of_pool(one, 5)
        a, b = (pdp(labels, tests, lists=lists) for labels in (one, other))
        found = compare_pdp(a, b, n_comparisons=n_comparisons)
        assert found.significant == (found.p_value < 0.05) == (not found.low <= 0 <= found.high)
        assert (", not significant (" in found.sentence()) == (not found.significant)
        alone = compare_pdp(a, b)
        assert found.p_value == pytest.approx(min(1, n_comparisons * alone.p_value))
        assert found.low <= alone.low < alone.high <= found.high


def test_the_jackknife_of_a_difference_knows_topics_that_one_setting_has_no_labels_of():
    judgments, tests = collection(20)
    fewer = judgments.where(topic=judgments.topics[:15])
    lists = top_of_pool(judgments, 5).labelled_in(fewer)
    a, b = (pdp(labels, tests, lists=lists) for labels in (judgments, fewer))
    assert (a.topics, len(a.jackknife.group), len(b.jackknife.group)) == (b.topics, 20, 15)
    found = a.jackknife.minus(b.jackknife)
    assert len(found.group) == 20
    np.testing.assert_allclose(found.without[15:], a.jackknife.without[15:] - b.value)
    with pytest.raises(SettingError, match="of different lists"):
        compare_pdp(pdp(judgments, tests, k=5, n_draws=0), b)


def test_what_cannot_be_compared_says_so():
    judgments, tests = collection(12)
    one = pdp(judgments, tests, k=3, n_draws=0)
    with pytest.raises(SettingError, match="PDP@3 and PDP@4 differ in K"):
        compare_pdp(one, pdp(judgments, tests, k=4, n_draws=0))
    nothing = compare_pdp(one, pdp(judgments, Preferences.of([]), k=3))
    assert (nothing.difference, nothing.reason) == (None, "there are no preference tests")
    assert "is not known: there are no preference tests" in nothing.sentence()
    plain = compare_pdp(one, one)
    assert (plain.difference, plain.low, plain.p_value) == (0.0, None, None)
    assert "without an interval" in plain.sentence()

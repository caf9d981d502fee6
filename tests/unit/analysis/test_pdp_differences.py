"""Two settings compared by what they leave open."""

from __future__ import annotations

import pytest

from preference_examples import collection
from venire import SettingError
from venire.analysis.pair_tests import SignFlip
from venire.analysis.pdp import pdp
from venire.analysis.pdp_differences import compare_pdp
from venire.analysis.top_lists import top_of_pool
from venire.data.preferences import Preferences


def test_two_settings_are_compared_on_the_same_topics():
    good, tests = collection(40, sigma=0.05, n_tests=800)
    poor, _ = collection(40, sigma=0.3, perceive=2)
    lists = top_of_pool(good, 5)
    a, b = (pdp(labels, tests, lists=lists, n_draws=40) for labels in (good, poor))
    found = compare_pdp(a, b, names=("good", "poor"))
    assert found.difference == pytest.approx(a.value - b.value)
    assert found.low < found.difference < found.high < 0
    assert found.p_value < 1e-6
    assert found.sentence().startswith("In individual mode good leaves")
    assert compare_pdp(a, b, test=SignFlip(999)).p_value == pytest.approx(0.001)
    same = compare_pdp(a, a)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_what_cannot_be_compared_says_so():
    judgments, tests = collection(12)
    one = pdp(judgments, tests, k=3, n_draws=0)
    with pytest.raises(SettingError, match="PDP@3 and PDP@4 differ in K"):
        compare_pdp(one, pdp(judgments, tests, k=4, n_draws=0))
    nothing = compare_pdp(one, pdp(judgments, Preferences.of([]), k=3))
    assert (nothing.difference, nothing.reason) == (None, "there are no preference tests")
    assert "cannot be compared" in nothing.sentence()

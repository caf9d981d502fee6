"""Claims: criteria, verdicts, and labels that would decide them."""

from __future__ import annotations

import numpy as np
import pytest

from venire import VenireError
from venire.certification.claims import (
    FAIL,
    NOT_ENOUGH,
    PASS,
    Criteria,
    Limits,
    Sample,
    Ties,
    claims_of,
    correlation_claim,
    levels_claim,
    pairs_claim,
)
from venire.certification.order import Interval, order_agreement

SAMPLE = Sample(200, 1000)
NO_TIES = Ties(judge=False, reference=np.array([False]))


def levels(value, half, **more):
    value = np.array(value)
    bias = Limits(value, value - half, value + half)
    return levels_claim(bias, systems=("a", "b"), measure="AP", criteria=Criteria(**more), sample=SAMPLE)


def test_levels_pass_if_all_intervals_are_within():
    assert levels([0.01, -0.01], 0.009).verdict == PASS
    assert levels([0.01, -0.01], 0.011).verdict == NOT_ENOUGH
    assert levels([0.01, 0.05], 0.02).verdict == FAIL
    assert levels([0.01, 0.05], 0.04).verdict == NOT_ENOUGH
    assert levels([0.01, 0.05], 0.04, levels=0.1).verdict == PASS
    assert levels([0.02, 0.0], 0.0).verdict == PASS


def test_levels_name_the_system_that_decides():
    failed = levels([0.01, 0.05], 0.02)
    assert (failed.detail, failed.found.value, failed.needed) == ("b", 0.05, None)
    assert "b differs by +0.050 (+0.030 to +0.070)" in failed.sentence()
    bias = Limits(np.array([0.06, 0.05]), np.array([-0.05, 0.03]), np.array([0.17, 0.07]))
    one = levels_claim(bias, systems=("a", "b"), measure="AP", criteria=Criteria(), sample=SAMPLE)
    assert (one.verdict, one.detail) == (FAIL, "b")


def test_labels_needed_are_those_of_a_finite_population():
    assert Sample(100, 10**9).needed(0.5) == 400
    assert Sample(100, 400).needed(0.5) == 229  # 1 / (1/400 + (1/100 - 1/400) / 4)
    assert Sample(400, 400).needed(0.5) == 400
    assert Sample(100, 400).needed(0.0) == 400
    # system b must shrink from .04 to .03, the distance to the limit
    assert levels([0.01, 0.05], 0.04).needed == pytest.approx(SAMPLE.needed(0.75), abs=1)
    # both must be within: .015 has to shrink to .01
    assert levels([0.01, 0.0], 0.015).needed == pytest.approx(SAMPLE.needed(2 / 3), abs=1)


@pytest.mark.parametrize(
    ("limits", "verdict"), [((0.95, 0.91, 0.99), PASS), ((0.7, 0.6, 0.89), FAIL), ((0.92, 0.85, 0.97), NOT_ENOUGH)]
)
def test_correlations(limits, verdict):
    found = correlation_claim("order", Interval(*limits), NO_TIES, measure="AP", criterion=0.9, sample=SAMPLE)
    assert found.verdict == verdict
    assert (found.needed is None) == (verdict != NOT_ENOUGH)


def test_labels_for_a_correlation():
    above = correlation_claim("order", Interval(0.92, 0.84, 1.0), NO_TIES, measure="AP", criterion=0.9, sample=SAMPLE)
    assert above.needed == SAMPLE.needed(0.25)
    below = correlation_claim("top", Interval(0.8, 0.6, 1.0), NO_TIES, measure="AP", criterion=0.9, sample=SAMPLE)
    assert below.needed == SAMPLE.needed(0.5)


@pytest.mark.parametrize(
    ("raw", "value", "draws", "verdict", "detail"),
    [
        ([0.5] * 3, [0.2] * 3, [[0.2] * 3], PASS, "all tied"),
        ([0.5] * 3, [0.1, 0.2, 0.3], [[0.1, 0.2, 0.3]], FAIL, "all tied by the judge"),
        ([0.5] * 3, [0.1, 0.2, 0.3], [[0.1, 0.2, 0.3], [0.2] * 3], NOT_ENOUGH, "all tied by the judge"),
        ([0.1, 0.2, 0.3], [0.2] * 3, [[0.2] * 3], NOT_ENOUGH, "all tied by the reference"),
    ],
)
def test_orders_that_are_not_defined(raw, value, draws, verdict, detail):
    raw, value, draws = (np.array(each) for each in (raw, value, draws))
    order = order_agreement(raw, value, draws, systems=("a", "b", "c"), judge="llm", measure="AP")
    how = {"systems": ("a", "b", "c"), "measure": "AP", "criteria": Criteria(), "sample": SAMPLE}
    _, whole, top, pairs = claims_of(raw, Limits(value, value, value), draws, order, **how)
    assert (whole.verdict, whole.detail, whole.record()["value"]) == (verdict, detail, None)
    assert (top.verdict, top.detail) == (verdict, detail)
    assert f"tau is not defined ({detail})" in whole.sentence()
    assert "nan" not in "".join(each.sentence() for each in (whole, top, pairs)) + pairs.safe()
    if "reference" not in detail:
        assert (pairs.verdict, pairs.detail) == (verdict, detail)


def pairs(raw, value, draws=None, **more):
    value = np.array(value, dtype=float)
    drawn = value[None] if draws is None else np.array(draws, dtype=float)
    how = {"measure": "AP", "criteria": Criteria(**more), "sample": SAMPLE}
    return pairs_claim(np.array(raw, dtype=float), value, drawn, **how)


def test_pairs_find_the_smallest_safe_difference():
    # by the judge a > b > c > d; the reference swaps b and c, which differ by .1
    found = pairs([0.9, 0.5, 0.4, 0.1], [0.9, 0.4, 0.5, 0.1])
    assert (found.verdict, found.found.value) == (PASS, pytest.approx(0.1))
    assert (found.share, found.detail) == (pytest.approx(5 / 6), "5 of 6 pairs")
    assert pairs([0.9, 0.5, 0.4, 0.1], [0.9, 0.4, 0.5, 0.1], pairs=0.2).found.value == 0.0


def test_pairs_fail_if_nothing_is_safe():
    assert pairs([0.3, 0.2, 0.1], [0.1, 0.2, 0.3]).verdict == FAIL
    assert pairs([0.2, 0.2], [0.1, 0.2]).verdict == FAIL
    unsure = pairs([0.3, 0.2], [0.3, 0.2], [[0.3, 0.2], [0.2, 0.3]] * 10)
    assert unsure.verdict == NOT_ENOUGH
    assert unsure.needed > SAMPLE.labelled


def test_pairs_in_words():
    none = pairs([0.3, 0.2, 0.1], [0.3, 0.2, 0.1])
    assert none.safe() == "pairs of systems, whatever their difference by AP"
    assert none.sentence().endswith("by AP are in the order of the reference (3 of 3 pairs; none of them is reversed).")
    one = pairs([0.9, 0.5, 0.4, 0.1], [0.9, 0.4, 0.5, 0.1], pairs=0.2)
    assert one.reversed == 1
    assert one.safe() == "pairs of systems, whatever their difference by AP (of which at most 1 is reversed)"
    assert "6 of 6 pairs; at most 1 of them is reversed" in one.sentence()
    tiny = pairs([0.9, 0.5003, 0.5, 0.1], [0.9, 0.4, 0.5, 0.1])
    assert tiny.safe() == "pairs that differ by more than 0.0003 by AP"


def test_one_system_has_levels_only():
    one = Limits(*np.array([[0.5], [0.4], [0.6]]))
    found = claims_of(
        np.array([0.5]), one, np.array([[0.5]]), None, systems=("a",), measure="AP", criteria=Criteria(), sample=SAMPLE
    )
    assert [each.claim for each in found] == ["levels"]


@pytest.mark.parametrize("wrong", [{"order": 1.5}, {"levels": -1}, {"pairs": 2}, {"n_top": 1}, {"confidence": 1}])
def test_criteria_are_checked(wrong):
    with pytest.raises(VenireError, match="expected"):
        Criteria(**wrong)


@pytest.mark.parametrize(("labelled", "verdict"), [(20, NOT_ENOUGH), (100, PASS), (1000, PASS)])
def test_no_claim_passes_with_few_labels_unless_they_are_all(labelled, verdict):
    """20 of 1,000 labels cannot show that the judge favours a system, however narrow the intervals are."""
    raw, sample = np.array([0.5]), Sample(labelled, 1000)
    how = {"systems": ("a",), "measure": "AP", "criteria": Criteria()}
    (claim,) = claims_of(raw, Limits(raw, raw, raw), raw[None], None, **how, sample=sample)
    assert claim.verdict == verdict
    assert claim.needed == (100 if verdict == NOT_ENOUGH else None)
    (claim,) = claims_of(raw, Limits(raw, raw, raw), raw[None], None, **how, sample=Sample(20, 20))
    assert claim.verdict == PASS

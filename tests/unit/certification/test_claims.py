"""Claims: criteria, verdicts, and labels that would decide them."""

from __future__ import annotations

import numpy as np
import pytest

from venire import VenireError
from venire.certification.claims import (
    FAIL,
    NOT_ENOUGH,
    PASS,
    UNKNOWN,
    Criteria,
    Evidence,
    Limits,
    Sample,
    claims_of,
    levels_claim,
    order_claim,
    pairs_claim,
)
from venire.certification.order import Interval, OrderAgreement, order_agreement

SAMPLE = Sample(200, 1000)


def evidence(raw, corrected, draws=None, *, order=None, sample=SAMPLE):
    """Return the evidence on systems a, b, ...; corrected: scores, or scores with limits."""
    raw, corrected = np.array(raw, dtype=float), np.array(corrected, dtype=float)
    limits = Limits(*(corrected if corrected.ndim == 2 else [corrected] * 3))
    drawn = limits.value[None] if draws is None else np.array(draws, dtype=float)
    return Evidence("AP", tuple("abcdef"[: len(raw)]), raw, limits, drawn, order, sample)


def biased(value, low, high, **more):
    """Levels where the judge's score less that of the reference has these values and limits."""
    reference = [np.zeros(len(value)), np.subtract(value, high), np.subtract(value, low)]
    return levels_claim(evidence(value, reference), Criteria(**more))


def levels(value, half, **more):
    return biased(value, np.array(value) - half, np.array(value) + half, **more)


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
    one = biased([0.06, 0.05], [-0.05, 0.03], [0.17, 0.07])
    assert (one.verdict, one.detail) == (FAIL, "b")


def test_labels_needed_are_those_of_a_finite_population():
    assert Sample(100, 10**9).needed(0.5) == 400
    assert Sample(100, 400).needed(0.5) == 229  # 1 / (1/400 + (1/100 - 1/400) / 4)
    assert Sample(400, 400).needed(0.5) is None
    assert Sample(100, 400).needed(0.0) == 400
    # system b must shrink from .04 to .03, the distance to the limit
    assert levels([0.01, 0.05], 0.04).needed == pytest.approx(SAMPLE.needed(0.75), abs=1)
    # both must be within: .015 has to shrink to .01
    assert levels([0.01, 0.0], 0.015).needed == pytest.approx(SAMPLE.needed(2 / 3), abs=1)


@pytest.mark.parametrize("factor", [0.0, 0.1, 0.999, 1.0, 4.75, np.inf])
@pytest.mark.parametrize("sample", [Sample(0, 10), Sample(9, 10), Sample(200, 1000), Sample(999, 10**6)])
def test_more_labels_are_needed_than_are_given(sample, factor):
    assert sample.labelled < sample.needed(factor) <= sample.results


def test_the_far_end_of_a_skewed_interval_decides_how_many_labels_levels_need():
    """The lower end, .051 below the value, must shrink to .021; the upper one is within the limit already."""
    found = biased([0.001, 0.0], [-0.05, 0.0], [0.005, 0.0])
    assert found.verdict == NOT_ENOUGH
    assert found.needed == pytest.approx(SAMPLE.needed(0.021 / 0.051), abs=1)


def test_labels_that_are_needed_in_words():
    some = levels([0.01, 0.05], 0.04).sentence()
    assert some.endswith("About 308 labels of the reference on results that count, instead of 200, would decide it.")
    every = levels([0.02, 0.0], 0.01).sentence()
    assert every.endswith("All 1,000 results that count, not 200, must be labelled to decide it.")


def correlation(name, *limits):
    """Decide on an order with this correlation, all of it and at the top."""
    found = Interval(*limits)
    order = OrderAgreement("llm", "AP", found, UNKNOWN, found, UNKNOWN, ("a", "b"), {})
    return order_claim(name, order, evidence([0.1, 0.2], [0.1, 0.2]), Criteria())


@pytest.mark.parametrize(
    ("limits", "verdict"), [((0.95, 0.91, 0.99), PASS), ((0.7, 0.6, 0.89), FAIL), ((0.92, 0.85, 0.97), NOT_ENOUGH)]
)
def test_correlations(limits, verdict):
    found = correlation("order", *limits)
    assert found.verdict == verdict
    assert (found.needed is None) == (verdict != NOT_ENOUGH)


def test_labels_for_a_correlation():
    assert correlation("order", 0.92, 0.84, 1.0).needed == SAMPLE.needed(0.25)
    assert correlation("top", 0.8, 0.6, 1.0).needed == SAMPLE.needed(0.5)


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
    _, whole, top, pairs = claims_of(evidence(raw, value, draws, order=order), Criteria())
    assert (whole.verdict, whole.detail, whole.record()["value"]) == (verdict, detail, None)
    assert (top.verdict, top.detail) == (verdict, detail)
    assert f"tau is not defined ({detail})" in whole.sentence()
    assert "nan" not in "".join(each.sentence() for each in (whole, top, pairs)) + pairs.safe()
    if "reference" not in detail:
        assert (pairs.verdict, pairs.detail) == (verdict, detail)


def pairs(raw, value, draws=None, **more):
    return pairs_claim(evidence(raw, value, draws), Criteria(**more))


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
    found = claims_of(evidence([0.5], [[0.5], [0.4], [0.6]]), Criteria())
    assert [each.claim for each in found] == ["levels"]


@pytest.mark.parametrize("wrong", [{"order": 1.5}, {"levels": -1}, {"pairs": 2}, {"n_top": 1}, {"confidence": 1}])
def test_criteria_are_checked(wrong):
    with pytest.raises(VenireError, match="expected"):
        Criteria(**wrong)


@pytest.mark.parametrize(("labelled", "verdict"), [(20, NOT_ENOUGH), (100, PASS), (1000, PASS)])
def test_no_claim_passes_with_few_labels_unless_they_are_all(labelled, verdict):
    """20 of 1,000 labels cannot show that the judge favours a system, however narrow the intervals are."""
    (claim,) = claims_of(evidence([0.5], [0.5], sample=Sample(labelled, 1000)), Criteria())
    assert claim.verdict == verdict
    assert claim.needed == (100 if verdict == NOT_ENOUGH else None)
    (claim,) = claims_of(evidence([0.5], [0.5], sample=Sample(20, 20)), Criteria())
    assert claim.verdict == PASS


def test_a_claim_that_is_open_needs_at_least_the_labels_without_which_none_passes():
    """Intervals would need 21 labels, and with fewer than 100 no claim passes."""
    (claim,) = claims_of(evidence([0.5], [[0.5], [0.479], [0.52]], sample=Sample(20, 1000)), Criteria())
    assert (claim.verdict, claim.needed) == (NOT_ENOUGH, 100)

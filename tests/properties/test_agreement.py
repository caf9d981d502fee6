"""Statistics of agreement: equal to other tools and slow loops on any data, and what must not change them."""

from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from labelled_items import labelled
from venire import Judgments
from venire.agreement.alpha import alpha
from venire.agreement.cohen import cohen_kappa
from venire.agreement.distance import DISTANCES, WEIGHTS
from venire.agreement.kappa import conger_kappa, fleiss_kappa, gwet_ac, raw_agreement

SCALE = "0<1<2<3"
LABELS = st.lists(st.lists(st.integers(-1, 3), min_size=4, max_size=4), min_size=2, max_size=12)
OF_MANY = (fleiss_kappa, conger_kappa, gwet_ac, raw_agreement)


def judged(labels: list[list[int]]) -> Judgments:
    assume(any(label >= 0 for row in labels for label in row))
    return labelled(labels, scale=SCALE)


@given(labels=LABELS, level=st.sampled_from(list(DISTANCES)))
def test_alpha_is_that_of_krippendorff(labels: list[list[int]], level: str) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    found = alpha(judged(labels), level, n_draws=0)
    counts = np.array([[row.count(label) for label in range(4)] for row in labels])
    paired = counts[counts.sum(axis=1) > 1]
    if (paired.sum(axis=0) > 0).sum() < 2:
        assert found.value is None
        assert found.reason
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = krippendorff.alpha(value_counts=counts, level_of_measurement=level)
    assert found.value == pytest.approx(theirs, abs=1e-9)
    assert found.n_items == len(paired)


def slow_kappa(labels: list[list[int]], weights: str, name: str) -> float | None:
    """Observed over expected distance, by loops over pairs of labels and of assessors."""
    apart = WEIGHTS[weights](np.arange(4.0), np.ones(4))
    rows = [[label for label in row if label >= 0] for row in labels]
    observed = [np.mean([apart[a, b] for a, b in permutations(row, 2)]) for row in rows if len(row) > 1]
    if not observed:
        return None
    if name == "fleiss":
        shares = np.mean([np.bincount(row, minlength=4) / len(row) for row in rows if row], axis=0)
        expected = shares @ apart @ shares
    else:
        gave = [[row[who] for row in labels if row[who] >= 0] for who in range(4)]
        own = [np.bincount(each, minlength=4) / len(each) for each in gave if each]
        expected = np.mean([one @ apart @ other for one, other in permutations(own, 2)])
    return float(1 - np.mean(observed) / expected) if expected > 1e-12 else None


@given(labels=LABELS, weights=st.sampled_from(list(WEIGHTS)))
def test_fleiss_and_conger_are_those_of_a_slow_loop(labels: list[list[int]], weights: str) -> None:
    judgments = judged(labels)
    for statistic, name in ((fleiss_kappa, "fleiss"), (conger_kappa, "conger")):
        assert statistic(judgments, weights, n_draws=0).value == pytest.approx(slow_kappa(labels, weights, name))


@given(labels=LABELS, weights=st.sampled_from(list(WEIGHTS)))
def test_cohen_is_that_of_a_slow_loop(labels: list[list[int]], weights: str) -> None:
    apart = WEIGHTS[weights](np.arange(4.0), np.ones(4))
    found = cohen_kappa(judged(labels), weights, n_draws=0)
    for pair in found.pairs():
        a, b = (int(name) - 1 for name in pair.raters.split(","))
        both = [(row[a], row[b]) for row in labels if row[a] >= 0 and row[b] >= 0]
        one, other = (np.bincount([each[side] for each in both], minlength=4) / len(both) for side in (0, 1))
        expected = one @ apart @ other
        slow = 1 - np.mean([apart[pair] for pair in both]) / expected if expected > 0 else None
        assert pair.value == pytest.approx(slow)
        assert pair.n_items == len(both)
    known = [pair.value for pair in found.pairs() if pair.value is not None]
    assert found.mean.value == pytest.approx(np.mean(known) if known else None)


@given(labels=LABELS, data=st.data())
def test_order_of_items_and_assessors_does_not_matter(labels: list[list[int]], data: st.DataObject) -> None:
    judgments = judged(labels)
    shuffled = np.array(labels)[data.draw(st.permutations(range(len(labels))))]
    again = judged(shuffled[:, data.draw(st.permutations(range(4)))].tolist())
    for statistic in (alpha, *OF_MANY):
        assert statistic(judgments, n_draws=0).value == pytest.approx(statistic(again, n_draws=0).value, abs=1e-10)
    assert cohen_kappa(judgments, "quadratic", n_draws=0).mean.value == pytest.approx(
        cohen_kappa(again, "quadratic", n_draws=0).mean.value, abs=1e-10
    )


@given(labels=LABELS)
def test_a_shift_or_stretch_of_the_scale_changes_no_interval_level_statistic(labels: list[list[int]]) -> None:
    wide = labelled(labels, scale="10<30<50<70") if judged(labels) else None
    for statistic, level in ((alpha, "interval"), (fleiss_kappa, "linear"), (gwet_ac, "quadratic")):
        one, other = statistic(judged(labels), level, n_draws=0), statistic(wide, level, n_draws=0)
        assert one.value == pytest.approx(other.value, abs=1e-10)


@settings(max_examples=40)
@given(labels=LABELS)
def test_intervals_hold_the_values_that_resamples_can_have(labels: list[list[int]]) -> None:
    for statistic in (alpha, *OF_MANY):
        found = statistic(judged(labels), n_draws=30)
        assert found.value is None or found.value <= 1 + 1e-12
        if found.low is not None:
            assert found.low <= found.high <= 1 + 1e-12
        assert found.value is not None or found.reason

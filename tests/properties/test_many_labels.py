from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
from hypothesis import given, strategies as st

from labelled_items import correlations, labelled
from venire import PredictedRelevance
from venire.disagreement.many_labels import hypergeometric_tail, observed_weights, sampled

ITEMS = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=6), min_size=1, max_size=6)


def by_first_label(items: Sequence[Sequence[int]], n: int, worth: object) -> dict[int, float]:
    """Mean worth of all ordered choices of n labels of an item, every item alike, by the first label chosen."""
    total: dict[int, Fraction] = defaultdict(Fraction)
    weight: dict[int, Fraction] = defaultdict(Fraction)
    for labels in (labels for labels in items if len(labels) >= n):
        choices = list(permutations(labels, n))
        for chosen in choices:
            total[chosen[0]] += Fraction(int(worth(chosen)), len(choices))  # type: ignore[operator]
            weight[chosen[0]] += Fraction(1, len(choices))
    return {label: float(total[label] / weight[label]) for label in weight}


@given(ITEMS, st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)]), st.sampled_from(["1", "2"]))
def test_counting_equals_all_ordered_choices(items: list[list[int]], share: tuple[int, int], relevant: str) -> None:
    m, n = share
    seen = observed_weights(labelled(items), [share], relevant=relevant)
    expected = by_first_label(items, n, lambda chosen: sum(label >= int(relevant) for label in chosen) >= m)
    for label in range(3):
        value = seen.observed[0, label]
        assert np.isnan(value) if label not in expected else abs(value - expected[label]) < 1e-12


@given(ITEMS)
def test_correlation_equals_all_ordered_choices_and_gives_three_users_exactly(items: list[list[int]]) -> None:
    judgments = labelled(items)
    found = correlations(judgments)
    p = by_first_label(items, 3, lambda chosen: chosen[1] == 2)
    both = by_first_label(items, 3, lambda chosen: chosen[1] == chosen[2] == 2)
    seen = observed_weights(judgments, [(1, 3), (2, 3)])
    for label in p:
        assert abs(found.p[label] - p[label]) < 1e-12
        assert abs(found.both[label] - both[label]) < 1e-12
        assert 0 <= found.rho[label] < 1
        if 0 <= found.plain[label] < 1:
            assert np.allclose(seen.correlated[:, label], seen.observed[:, label], atol=1e-9)
        else:
            assert label in [int(note.fields["label"]) for note in found.notes]


@given(ITEMS)
def test_p_equals_pairs_that_weigh_every_item_once(items: list[list[int]]) -> None:
    judgments = labelled(items)
    fit = PredictedRelevance(estimator="labels", weight="item", n_draws=0).fit(judgments)
    assert np.allclose(observed_weights(judgments, [(1, 2)]).p[0], fit.p[0], equal_nan=True)


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 99))
def test_a_sample_is_one_of_the_choices(items: list[list[int]], seed: int) -> None:
    drawn = sampled(labelled(items), at_least=3, n=[1, 2], repeats=1, rng=seed)
    for label in np.flatnonzero(~np.isnan(drawn.mean[0])):
        having = [labels for labels in items if label in labels]
        counts = [labels.count(2) - (label == 2) for labels in having]
        assert min(counts) / 2 - 1e-12 <= drawn.mean[1, label] <= max(counts) / 2 + 1e-12


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 6), st.integers(-1, 7))
def test_hypergeometric_tail(good: int, bad: int, n: int, m: int) -> None:
    found = hypergeometric_tail(np.array(float(m)), n, np.array(float(good)), np.array(float(good + bad)))
    ways = sum(comb(good, x) * comb(bad, n - x) for x in range(max(m, 0), n + 1))
    expected = ways / comb(good + bad, n) if n <= good + bad else 0.0
    assert abs(float(found) - expected) < 1e-12

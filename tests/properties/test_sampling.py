"""Samples with unequal probabilities against bisection, a walk along the line, and counted frequencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy.stats import binomtest, chi2

from venire.kernels.sampling import inclusion_probabilities, systematic

SIZES = st.lists(st.sampled_from((0.0, 1e-6, 0.1, 1.0, 3.0, 50.0, 1e9)) | st.floats(1e-9, 1e9), min_size=1, max_size=25)


def by_bisection(size, n, least):
    """The factor c of min(1, max(least, c size)) by bisection on its logarithm."""
    known = size[size > 0]
    floor = min(least, n / len(known))
    low, high = np.log(floor / known.max()) - 1, np.log(1 / known.min()) + 1
    for _ in range(200):
        middle = (low + high) / 2
        enough = np.clip(np.exp(middle) * known, floor, 1).sum() >= n
        low, high = (low, middle) if enough else (middle, high)
    found = np.zeros(len(size))
    found[size > 0] = np.clip(np.exp(high) * known, floor, 1)
    return found


@given(size=SIZES, share=st.floats(0.01, 0.99), least=st.sampled_from((1e-3, 0.05, 0.3, 0.9)))
@example(size=[1e9, 1e-9, 1.0], share=0.5, least=1e-3)
def test_probabilities_are_those_of_bisection(size, share, least):
    size = np.array(size)
    n_sized = int((size > 0).sum())
    n = share * n_sized
    found = inclusion_probabilities(size, n, least=least)
    assert ((found > 0) == (size > 0)).all()
    assert found.sum() == pytest.approx(n, rel=1e-9)
    assert found.max() <= 1
    if n_sized:
        np.testing.assert_allclose(found, by_bisection(size, n, least), rtol=1e-6)
        assert found[size > 0].min() >= min(least, n / n_sized) * (1 - 1e-9)


@given(size=SIZES, more=st.integers(0, 3))
def test_all_are_certain_where_no_more_can_be_drawn(size, more):
    size = np.array(size)
    np.testing.assert_array_equal(inclusion_probabilities(size, (size > 0).sum() + more, least=0.1), size > 0)


def walked(probability, order, start):
    """Units below the points start, start + 1, ... of a line on which they lie in this order."""
    drawn, end, point = np.zeros(len(probability), dtype=bool), 0.0, start
    for unit in order:
        end += probability[unit]
        if point < end:
            drawn[unit] = True
            point += 1
    return drawn


class Fixed:
    """A generator with given numbers: those of the units, then the start."""

    def __init__(self, within, start):
        self.within, self.start = within, start

    def random(self, size=None):
        return self.start if size is None else self.within[:size]


@given(
    units=st.lists(st.tuples(st.floats(0.01, 0.95), st.integers(0, 4)), min_size=1, max_size=30),
    start=st.floats(0.001, 0.999),
    seed=st.integers(0, 99),
)
def test_a_systematic_sample_is_a_walk_along_the_line(units, start, seed):
    probability, key = (np.array(each) for each in zip(*units, strict=True))
    within = np.random.default_rng(seed).random(len(key))
    drawn = systematic(probability, key, Fixed(within, start))
    order = sorted(range(len(key)), key=lambda unit: (key[unit], within[unit]))
    np.testing.assert_array_equal(drawn, walked(probability, order, start))


@given(size=SIZES, n=st.integers(1, 25), seed=st.integers(0, 99), keys=st.integers(1, 5))
def test_samples_have_the_size_asked_for_and_every_key_its_share(size, n, seed, keys):
    size = np.array(size)
    probability = inclusion_probabilities(size, n, least=0.02)
    rng = np.random.default_rng(seed)
    key = rng.integers(0, keys, len(size))
    drawn = systematic(probability, key, rng)
    assert drawn.sum() == min(n, (size > 0).sum())
    assert drawn[probability >= 1].all()
    assert not drawn[probability == 0].any()
    by_key, expected = (np.bincount(key, weights=each) for each in (drawn, probability))
    assert (np.abs(by_key - expected) < 1 + 1e-6).all()


def test_units_are_drawn_as_often_as_their_probability_says():
    """Each frequency by a binomial test; all together by the sum of squared standardised differences."""
    rng = np.random.default_rng(5)
    probability = inclusion_probabilities(rng.lognormal(0, 1.5, 40), 12, least=0.03)
    key, n_draws = np.repeat(np.arange(8), 5), 4000
    hits = np.sum([systematic(probability, key, rng) for _ in range(n_draws)], axis=0)
    free = probability < 1
    assert (hits[~free] == n_draws).all()
    p_values = [binomtest(int(h), n_draws, p).pvalue for h, p in zip(hits[free], probability[free], strict=True)]
    assert min(p_values) > 1e-3 / free.sum()
    z2 = (hits - n_draws * probability)[free] ** 2 / (n_draws * probability * (1 - probability))[free]
    assert chi2(free.sum()).sf(z2.sum()) > 1e-3


def test_no_unit_gives_no_sample():
    assert systematic(np.zeros(3), np.arange(3), np.random.default_rng(0)).sum() == 0
    assert len(systematic(np.zeros(0), np.zeros(0, dtype=int), np.random.default_rng(0))) == 0
    assert len(inclusion_probabilities(np.zeros(0), 2, least=0.1)) == 0

"""Many sums at once, against one sum at a time and against going through all outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venire.kernels.class_sums import lattice_unit, sum_chances, sum_moments
from venire.kernels.convolution import sum_distribution

LOG = [1 / np.log2(rank + 1) for rank in range(1, 11)]


def one_by_one(counts, values, chances):
    """Each sum by itself, contribution by contribution."""
    found = []
    for row in counts:
        each = np.repeat(np.arange(len(row)), row)
        mass = sum_distribution(values[each], chances[each])
        found.append((*mass.chances(), *mass.moments(), mass.step))
    return np.array(found).T


@st.composite
def sums(draw, *, lattice, most):
    n_classes, outcomes = draw(st.integers(1, 4)), draw(st.integers(2, 3))
    weight = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0] if lattice else [0.0, 1.0, -0.63093, 0.43068, -0.07])
    weights = np.array(draw(st.lists(weight, min_size=n_classes, max_size=n_classes)))
    counts = draw(
        st.lists(st.lists(st.integers(0, most), min_size=n_classes, max_size=n_classes), min_size=1, max_size=4)
    )
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    chances = rng.dirichlet(np.ones(outcomes), size=n_classes)
    chances = np.where(rng.random(chances.shape) < 0.1, 0.0, chances) + np.eye(outcomes)[0] * 1e-3
    return np.array(counts), weights[:, None] * np.arange(outcomes), chances / chances.sum(axis=1, keepdims=True)


@settings(max_examples=60)
@given(sums(lattice=True, most=30) | sums(lattice=False, most=3))
def test_equals_one_sum_at_a_time(case):
    counts, values, chances = case
    above, level, below, mean, sd, _ = one_by_one(counts, values, chances)
    found = sum_chances(counts, values, chances)
    np.testing.assert_allclose(np.stack(found[:3]), np.stack([above, level, below]), atol=1e-10)
    moments = sum_moments(counts, values, chances)
    np.testing.assert_allclose(moments[0], mean, atol=1e-9)
    np.testing.assert_allclose(np.sqrt(moments[1]), sd, atol=1e-6)


def test_a_long_lattice_is_a_difference_of_binomials():
    from scipy.stats import binom

    counts = np.array([[300, 250], [900, 1000], [0, 0], [1, 0]])
    found = sum_chances(counts, np.array([[0.0, 0.1], [0.0, -0.1]]), np.array([[0.3, 0.7], [0.4, 0.6]]))
    for row, (n, m) in enumerate(counts):
        mass = np.convolve(binom.pmf(np.arange(n + 1), n, 0.7), binom.pmf(np.arange(m + 1), m, 0.6)[::-1])
        expected = mass[m + 1 :].sum(), mass[m], mass[:m].sum()
        assert (found.above[row], found.level[row], found.below[row]) == pytest.approx(expected, abs=1e-12)
    assert (found.step == 0).all()


@pytest.fixture(scope="module")
def discounted():
    """Sums of some 150 graded gains with logarithmic discounts: off a lattice, and of very many values."""
    rng = np.random.default_rng(2)
    weights = np.array([*LOG, *(-each for each in LOG)])
    values = np.repeat(weights, 3)[:, None] * np.arange(4)
    chances = rng.dirichlet(np.ones(4), size=60)
    return rng.integers(0, 6, size=(5, 60)), values, chances


def test_off_a_lattice_the_answer_is_near_that_of_a_fine_grid(discounted):
    found = sum_chances(*discounted)
    above, _, below, _, sd, step = one_by_one(*discounted)
    assert (found.step > 0).all()
    assert (found.step < sd / 100).all()
    np.testing.assert_allclose(found.above, above, atol=3e-4 + step.max() / sd.min())
    np.testing.assert_allclose(found.below, below, atol=3e-4 + step.max() / sd.min())
    assert (found.level < 1e-3).all()


def test_off_a_lattice_the_answer_is_near_that_of_draws(discounted):
    counts, values, chances = discounted
    rng, n = np.random.default_rng(3), 50_000
    found = sum_chances(*discounted)
    for row in range(3):
        total = np.zeros(n)
        for number, count in enumerate(counts[row]):
            drawn = rng.multinomial(count, chances[number], size=n)
            total += drawn @ values[number]
        se = np.sqrt(0.25 / n)
        assert found.above[row] == pytest.approx((total > 1e-9).mean(), abs=4 * se)


def test_a_tie_off_a_lattice_stands_out():
    """Forty documents that are hardly ever found relevant: all of them 0 is a tie, and likely."""
    values = np.array([*LOG, *(-each for each in LOG)])[:, None] * np.arange(2)
    chances = np.tile([0.98, 0.02], (20, 1))
    found = sum_chances(np.full((1, 20), 3), values, chances)
    assert found.step[0] > 0
    rng, n = np.random.default_rng(4), 400_000
    drawn = rng.binomial(3, 0.02, size=(n, 20)) @ values[:, 1]
    tie = (np.abs(drawn) < 1e-9).mean()
    assert tie > 0.3
    assert found.level[0] == pytest.approx(tie, abs=4e-3)
    assert found.above[0] == pytest.approx((drawn > 1e-9).mean(), abs=4e-3)


def test_a_lead_that_nothing_can_undo():
    counts = np.array([[4000, 1000]])
    values, chances = np.array([[0.0, 1.0], [0.0, -np.sqrt(2) / 2]]), np.array([[0.1, 0.9], [0.5, 0.5]])
    found = sum_chances(counts, values, chances)
    assert [float(each[0]) for each in found] == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "unit"),
    [([0.1, -0.2, 0.3], 0.1), ([1 / 2, 1 / 3, 1 / 4], 1 / 12), ([1.0, 2**0.5], 0.0), ([0.0], 1.0), ([1e-9, 1.0], 0.0)],
)
def test_the_unit_of_a_lattice(values, unit):
    assert lattice_unit(np.array(values)) == pytest.approx(unit)

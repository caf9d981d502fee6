"""Sums of independent contributions, against going through all outcomes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.kernels.convolution import sum_distribution


def by_hand(values, chances):
    found = {}
    for outcome in product(range(values.shape[1]), repeat=len(values)):
        total = round(sum(values[k, o] for k, o in enumerate(outcome)), 9)
        found[total] = found.get(total, 0.0) + np.prod([chances[k, o] for k, o in enumerate(outcome)])
    return found


@st.composite
def contributions(draw):
    n, outcomes = draw(st.integers(1, 5)), draw(st.integers(2, 3))
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, 0.63093, -0.43068]), min_size=n, max_size=n))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    chances = rng.dirichlet(np.ones(outcomes), size=n)
    return np.array(weights)[:, None] * np.arange(outcomes), chances


@given(contributions())
def test_equals_going_through_all_outcomes(case):
    values, chances = case
    mass = sum_distribution(values, chances)
    slow = by_hand(values, chances)
    for value, chance in zip(mass.value, mass.chance, strict=True):
        near = [total for total in slow if abs(total - value) < 1e-6]
        assert chance == pytest.approx(sum(slow[total] for total in near), abs=1e-9)
    above = sum(chance for total, chance in slow.items() if total > 1e-7)
    level = sum(chance for total, chance in slow.items() if abs(total) <= 1e-7)
    assert mass.chances() == pytest.approx((above, level, 1 - above - level), abs=1e-9)


def test_a_lattice_stays_small_and_exact():
    values, chances = np.tile([0.0, 1.0], (200, 1)), np.tile([0.3, 0.7], (200, 1))
    from scipy.stats import binom

    mass = sum_distribution(values, chances)
    np.testing.assert_allclose(mass.chance, binom.pmf(np.arange(201), 200, 0.7), atol=1e-12)
    assert mass.step == 0


def test_a_grid_keeps_the_mean_and_nearly_the_spread():
    rng = np.random.default_rng(3)
    weights = 1 / np.log2(np.arange(2, 62)) * np.where(rng.random(60) < 0.5, 1, -1)
    values, chances = weights[:, None] * np.arange(4), rng.dirichlet(np.ones(4), size=60)
    mass = sum_distribution(values, chances, limit=1 << 12)
    mean = (values * chances).sum(axis=1)
    variance = (values**2 * chances).sum(axis=1) - mean**2
    found, sd = mass.moments()
    assert mass.step > 0
    assert found == pytest.approx(mean.sum(), abs=1e-9)
    assert variance.sum() <= sd**2 <= variance.sum() + len(values) * mass.step**2 / 4
    draws = np.stack([rng.choice(4, size=100_000, p=p) for p in chances], axis=1)
    drawn = (np.take_along_axis(values[None], draws[..., None], axis=2)[..., 0].sum(axis=1) > 0).mean()
    assert mass.chances()[0] == pytest.approx(drawn, abs=4 * np.sqrt(0.25 / 100_000))

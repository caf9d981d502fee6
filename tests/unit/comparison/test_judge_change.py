"""A new judge, by formula: Turpin and Scholer (2009), with what the paper prints wrong."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire.comparison.judge_change import (
    RankCounts,
    bounds,
    consistent_counts,
    contour,
    limits,
    min_agreement_to_stay_ahead,
)
from venire.errors import SettingError

rates = st.floats(0, 1)
counts = st.tuples(*[st.integers(0, 2)] * 5)


def every_rejudging(c: RankCounts, a0: float, a1: float) -> dict[int, float]:
    """Distribution of n Delta' by going through all new labels of all documents."""
    ranks = [(0, 0)] * c.c00 + [(0, 1)] * c.c01 + [(1, 0)] * c.c10 + [(1, 1)] * c.c11
    old = [label for rank in ranks for label in rank] + [1] * c.shared
    sign = [1, -1] * len(ranks) + [0] * c.shared
    found: dict[int, float] = {}
    for new in product((0, 1), repeat=len(old)):
        chance = 1.0
        for before, after in zip(old, new, strict=True):
            agrees = a1 if before else a0
            chance *= agrees if before == after else 1 - agrees
        total = sum(s * label for s, label in zip(sign, new, strict=True))
        found[total] = found.get(total, 0.0) + chance
    return found


@given(counts.filter(lambda c: 0 < sum(c) <= 5), rates, rates)
def test_the_exact_distribution_is_that_of_all_rejudgings(c, a0, a1):
    ranks = RankCounts(*c)
    slow = every_rejudging(ranks, a0, a1)
    mass = ranks.exact(a0, a1)
    expected = [slow.get(total, 0.0) for total in range(-ranks.n, ranks.n + 1)]
    np.testing.assert_allclose(mass, expected, atol=1e-12)
    values = np.arange(-ranks.n, ranks.n + 1) / ranks.n
    mean = float(mass @ values)
    assert mean == pytest.approx(ranks.expected(a0, a1), abs=1e-12)
    assert float(mass @ (values - mean) ** 2) == pytest.approx(ranks.variance(a0, a1), abs=1e-12)


def test_the_printed_variance_is_refuted_by_simulation():
    ranks, rng = RankCounts(c00=3, c01=2, c10=4, c11=1), np.random.default_rng(5)
    relevant_a, relevant_b = np.array([0] * 5 + [1] * 5), np.array([0] * 3 + [1] * 2 + [0] * 4 + [1])
    agreement = np.array([0.85, 0.70])
    draws = 200_000

    def rejudged(old):
        agrees = rng.random((draws, 10)) < agreement[old]
        return np.where(agrees, old, 1 - old).mean(axis=1)

    found = (rejudged(relevant_a) - rejudged(relevant_b)).var()
    spread = found * np.sqrt(2 / draws)
    right, printed = ranks.variance(0.85, 0.70), ranks.variance(0.85, 0.70, printed=True)
    assert right == pytest.approx(0.0321, abs=5e-5)
    assert printed == pytest.approx(0.0382, abs=1e-4)
    assert abs(found - right) < 4 * spread
    assert abs(found - printed) > 20 * spread


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("two-sided", (0.9055, 0.763, 0.701)),
        ("one-sided", (0.879, 0.731, 0.673)),
        ("exact", (0.776, 0.697, 0.653)),
        ("exact, strictly", (0.975, 0.778, 0.698)),
    ],
)
def test_the_agreement_that_keeps_the_winner(rule, values):
    for n, value in zip((1, 5, 10), values, strict=True):
        assert min_agreement_to_stay_ahead(n, rule) == pytest.approx(value, abs=6e-4)


def test_the_normal_is_poor_for_one_document():
    one = RankCounts(c10=1)
    assert one.normal(0.8, 0.8) == pytest.approx(0.856, abs=5e-4)
    ahead, level, behind = one.chances(0.8, 0.8)
    assert (ahead, ahead + level) == (pytest.approx(0.640), pytest.approx(0.960))
    assert ahead + level + behind == pytest.approx(1)


def test_bounds_go_over_all_counts_with_the_difference():
    found = consistent_counts(4, 0.25)
    assert {(c.c00, c.c01, c.c10, c.c11) for c in found} == {
        (c00, c01, c10, c11)
        for c00, c01, c10, c11 in product(range(5), repeat=4)
        if c00 + c01 + c10 + c11 == 4 and c10 - c01 == 1
    }
    least, most = bounds(4, 0.25, a0=0.9, a1=0.6)
    chances = [sum(c.chances(0.9, 0.6)[:2]) for c in found]
    assert (least, most) == (pytest.approx(min(chances)), pytest.approx(max(chances)))
    assert least < most


def test_contour_and_limits_follow_the_formulas():
    grid, values = contour(RankCounts(c10=1), steps=11)
    assert values[8, 8] == pytest.approx(RankCounts(c10=1).normal(float(grid[8]), float(grid[8])))
    agreement, mean, low, high = limits(5, steps=11)
    assert mean[-1] == 1
    assert low[-1] == high[-1] == 1
    assert (low <= mean).all()
    assert agreement[0] == 0


@pytest.mark.parametrize(
    "call", [lambda: RankCounts(), lambda: consistent_counts(4, 0.3), lambda: min_agreement_to_stay_ahead(1, "?")]
)
def test_what_cannot_be_is_refused(call):
    with pytest.raises(SettingError):
        call()


@pytest.mark.parametrize(("a0", "a1"), [(1.2, 0.9), (0.9, 1.0001), (-0.1, 0.5), (0.5, float("nan"))])
def test_rates_that_are_no_probabilities_are_refused(a0, a1):
    ranks = RankCounts(c10=3, c01=1)
    for asked in (ranks.expected, ranks.variance, ranks.normal, ranks.exact, ranks.chances):
        with pytest.raises(SettingError, match="from 0 to 1"):
            asked(a0, a1)
    with pytest.raises(SettingError, match="from 0 to 1"):
        bounds(3, 1 / 3, a0=a0, a1=a1)

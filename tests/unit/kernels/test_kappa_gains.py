"""Gains in kappa: the sum over cases, and the test by swapping, against all swaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from user_directions import slow_kappa
from venire.kernels.directions import flip_test, kappa_gains


def test_what_cases_add_comes_to_the_difference() -> None:
    rng = np.random.default_rng(5)
    users, second = rng.integers(-1, 2, 200), rng.integers(-1, 2, (3, 200))
    first = np.where(rng.random((3, 200)) < 0.15, users, second)
    counted = rng.random((3, 200)) < 0.8
    found = kappa_gains(first, second, users, counted)
    for order in range(3):
        rows = counted[order]
        a, b = (slow_kappa(each[order, rows].tolist(), users[rows].tolist()) for each in (first, second))
        assert (found.first[order], found.second[order]) == pytest.approx((a, b))
        assert found.by_case[order].sum() == pytest.approx(a - b, rel=0.02)
        assert (found.by_case[order, ~rows] == 0).all()


def test_no_meaning_adds_nothing() -> None:
    ties = np.zeros((1, 4), dtype=np.int64)
    found = kappa_gains(ties, ties, ties[0], np.ones((1, 4), dtype=np.bool_))
    assert np.isnan(found.first).all()
    assert found.by_case.tolist() == [[0.0] * 4]


def test_p_is_the_share_of_swaps() -> None:
    value = np.array([[3.0, 1.0, 0.0, -1.0, 2.0, 2.0], [0.0] * 6])
    sums = [sum(s * v for s, v in zip(signs, value[0], strict=True)) for signs in product((1, -1), repeat=6)]
    exact = (sum(each > 7 for each in sums) + sum(each == 7 for each in sums) / 2) / len(sums)
    p = flip_test(value, 20_000, np.random.default_rng(0))
    assert p[0] == pytest.approx(exact, abs=0.01)
    assert p[1] == 0.5

"""Distinct numbers, by marking or by sorting, are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from venire.kernels.distinct import NARROW, distinct, numbered


@pytest.mark.parametrize("numbers", [[], [5], [7, 7, 2], [-3, 4, -3], [0, 10**12, 10**12, 5]])
def test_a_few_numbers(numbers):
    given = np.array(numbers, dtype=np.int64)
    expected, place = np.unique(given, return_inverse=True)
    assert distinct(given).tolist() == expected.tolist()
    assert [each.tolist() for each in numbered(given)] == [expected.tolist(), place.tolist()]


@pytest.mark.parametrize("width", [1, NARROW - 1, NARROW + 1, 1000])
def test_narrow_and_wide_ranges(width):
    given = np.random.default_rng(width).integers(50, 50 + 300 * width, 300)
    found, place = numbered(given)
    np.testing.assert_array_equal(found, np.unique(given))
    np.testing.assert_array_equal(found[place], given)

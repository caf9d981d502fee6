"""Distinct numbers, by marking them where their range is small, or else by sorting.

Sorting takes a tenth of the time of a hash table where there are many numbers, and marking a tenth of that of sorting.
"""

from __future__ import annotations

import numpy as np

from venire.types import Codes, Ints

NARROW = 8
"""Numbers are marked if their range is no larger than this many times their number."""


def distinct(numbers: Ints) -> Ints:
    """Return the different numbers in ascending order.  O(n log n), and O(n) if they ascend.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3, 2, 1])).tolist()
    [1, 2, 3]
    """
    ordered = numbers if bool((numbers[1:] >= numbers[:-1]).all()) else np.sort(numbers)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def numbered(numbers: Ints | Codes) -> tuple[Ints, Ints]:
    """Return the different numbers in ascending order, and the place of each number among them.  O(n) if narrow.

    Examples
    --------
    >>> found, place = numbered(np.array([30, 10, 30, 20, 10]))
    >>> found.tolist(), place.tolist()
    ([10, 20, 30], [2, 0, 2, 1, 0])
    """
    lowest = int(numbers.min(initial=0))
    size = int(numbers.max(initial=0)) - lowest + 1
    if size > NARROW * len(numbers):
        return np.unique(numbers, return_inverse=True)
    marked = np.zeros(size, dtype=np.bool_)
    marked[numbers - lowest] = True
    return np.flatnonzero(marked) + lowest, (np.cumsum(marked) - 1)[numbers - lowest]

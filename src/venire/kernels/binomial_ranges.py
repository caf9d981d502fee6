"""Ranges of shares: what a share may be, and the largest variance p(1 - p) that it may then have.

A sample size that takes an estimated share as known asks for least where least is known: 0 of 2 have no variance.  So
it is planned with the largest variance within the interval of the share.
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats, Ints

Z = 1.959963984540054


def wilson(p: Floats, n: Ints | Floats) -> tuple[Floats, Floats]:
    """Limits of the 95 % interval of a share of n cases (Wilson 1927, doi:10.1080/01621459.1927.10502953).

    Examples
    --------
    >>> low, high = wilson(np.array([0.0]), np.array([2]))
    >>> (low.round(3).tolist(), high.round(3).tolist())
    ([0.0], [0.658])
    """
    centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * np.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def largest_variance(low: Floats, high: Floats) -> Floats:
    """The largest p(1 - p) for p from low to high."""
    p = np.clip(0.5, low, high)
    return p * (1 - p)

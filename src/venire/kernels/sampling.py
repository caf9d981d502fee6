r"""Samples of a fixed size with unequal probabilities.

``inclusion_probabilities`` gives :math:`\pi_i = \min(1, \max(l, c s_i))` for units of size :math:`s_i > 0`, with c such
that they sum to n.  What exceeds a bound is set to it and the rest shared again, on that side first where more exceeds
(Bitran and Hax 1981, doi:10.1287/mnsc.27.4.431): no unit is set free again, so there are at most as many turns as units
and in practice a few, each O(units).

``systematic`` draws a sample with exactly these probabilities (Hartley and Rao 1962, doi:10.1214/aoms/1177704564): the
units lie on a line, each as long as its probability, and those below the points u, u + 1, u + 2, ... are drawn, with u
uniform on (0, 1).  Units lie in the order of a key and at random within it, so that every part of the line has its
share of the sample to within one unit.  Cost: O(units log units).

Variances by probabilities of pairs are not offered: two units whose keys lie far apart may never be drawn together.
"""

from __future__ import annotations

import numpy as np

from venire.types import Bools, Codes, Floats, Ints

ROUNDING = 1e-9


def inclusion_probabilities(size: Floats, n: float, *, least: float) -> Floats:
    """Probabilities in proportion to size, at least ``least`` and at most 1, that sum to n -> (unit,).

    Units of size 0 have probability 0.  Where fewer than n have a size above 0 all of these have 1; where ``least`` is
    more than n / units all have n / units.

    Examples
    --------
    >>> inclusion_probabilities(np.array([8.0, 3.0, 1.0, 0.0]), 2, least=0.3).tolist()
    [1.0, 0.7, 0.3, 0.0]
    """
    found = np.zeros(len(size))
    sized = np.flatnonzero(size > 0)
    n_sized = len(sized)
    if n >= n_sized:
        found[sized] = 1.0
        return found
    floor, left = min(least, n / max(n_sized, 1)), float(n)
    while len(sized):
        share = size[sized] * (left / size[sized].sum())
        above, below = np.maximum(share - 1, 0), np.maximum(floor - share, 0)
        high = above.sum() >= below.sum()
        out = (above if high else below) > 0
        if not out.any():
            found[sized] = share
            break
        found[sized[out]] = 1.0 if high else floor
        left -= (1.0 if high else floor) * out.sum()
        sized = sized[~out]
    return found


def systematic(probability: Floats, order_key: Ints | Codes, rng: np.random.Generator) -> Bools:
    """Draw units with these probabilities, spread over the key -> (unit,).

    The sample has as many units as the probabilities sum to; where that is no whole number, one of the two next to it.

    Examples
    --------
    >>> topic = np.array([0, 0, 1, 1, 2, 2])
    >>> drawn = systematic(np.full(6, 0.5), topic, np.random.default_rng(0))
    >>> np.bincount(topic, weights=drawn).tolist()
    [1.0, 1.0, 1.0]
    """
    certain: Bools = probability >= 1 - ROUNDING
    open_ = np.flatnonzero((probability > 0) & ~certain)
    order = open_[np.lexsort((rng.random(len(open_)), order_key[open_]))]
    ends = np.cumsum(probability[order])
    if len(ends) and abs(ends[-1] - np.rint(ends[-1])) < ROUNDING * len(ends):
        ends[-1] = np.rint(ends[-1])
    points = np.arange(len(order)) + rng.random()
    passed = np.searchsorted(points, ends)
    certain[order[np.diff(passed, prepend=0) > 0]] = True
    return certain

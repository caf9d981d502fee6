r"""Signed ranks: Wilcoxon's statistic (1945, doi:10.2307/3001968) and its tails, for many pairs of systems at once.

Differences of 0 are dropped, the others ranked by size, ties getting their mean rank; :math:`R_+` is the sum of the
ranks of positive differences.  Were the two systems the same, every sign would be as likely as the other:

    exact     the distribution of :math:`R_+` over all signs, given the ranks, by convolution
    normal    mean :math:`n(n+1)/4` and variance :math:`n(n+1)(2n+1)/24 - \sum (t^3 - t)/48`, t the sizes of ties

Both tails are doubled, the smaller of them.  No correction for continuity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.differences import Differences
from venire.types import Bools, Floats, Ints

BLOCK_CELLS = 1 << 20
"""How many chances are held at a time."""


class SignedRanks(NamedTuple):
    """doubled (topic, pair): twice the ranks, ascending, 0 for dropped topics; plus, n, ties, tied (pair,).

    plus is twice R+, n the number of differences that are not 0, ties the sum of t^3 - t over ties; tied says whether
    there are any, or differences of 0.
    """

    doubled: Ints
    plus: Ints
    n: Ints
    ties: Ints
    tied: Bools


def signed_ranks(differences: Differences) -> SignedRanks:
    """Rank differences by size: O(topics log topics) a pair."""
    n_topics, n_pairs = differences.value.shape
    size = np.where(differences.value != 0, np.abs(differences.value), np.inf)
    order = np.argsort(size, axis=0, kind="stable")
    size = np.take_along_axis(size, order, axis=0)
    place = np.arange(n_topics)[:, None]
    edge = np.concatenate([np.ones((1, n_pairs), dtype=np.bool_), size[1:] != size[:-1]])[:n_topics]
    first = np.maximum.accumulate(np.where(edge, place, 0), axis=0)
    ends = np.concatenate([edge[1:], np.ones((1, n_pairs), dtype=np.bool_)])[:n_topics]
    last = np.minimum.accumulate(np.where(ends, place, n_topics)[::-1], axis=0)[::-1]
    kept = np.isfinite(size)
    doubled = np.where(kept, first + last + 2, 0)
    positive = np.take_along_axis(differences.value, order, axis=0) > 0
    ties = np.where(kept, (last - first + 1) ** 2 - 1, 0).sum(axis=0)
    n = kept.sum(axis=0)
    return SignedRanks(doubled, np.where(positive, doubled, 0).sum(axis=0), n, ties, (ties > 0) | (n < differences.n))


def normal_tails(ranks: SignedRanks) -> Floats:
    """Twice the smaller tail by the normal distribution; 1 where no difference is left -> (pair,)."""
    from scipy.special import ndtr

    n = ranks.n.astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.ties / 48
    z = np.abs(ranks.plus / 2 - n * (n + 1) / 4) / np.sqrt(np.where(variance > 0, variance, 1.0))
    return np.where(variance > 0, 2 * ndtr(-z), 1.0)


def exact_tails(doubled: Ints, plus: Ints) -> Floats:
    """Twice the smaller tail over all signs; 1 where no difference is left: (topic, pair), (pair,) -> (pair,).

    Cost: O(topics^3) for every different set of ranks; without ties these differ by their number alone.
    """
    sets, which = np.unique(doubled, axis=1, return_inverse=True)
    which = which.ravel()
    found = np.ones(len(plus))
    step = max(1, BLOCK_CELLS // (int(sets.sum(axis=0).max(initial=0)) + 1))
    for first in range(0, sets.shape[1], step):
        inside = np.flatnonzero((which >= first) & (which < first + step))
        chance = _distribution(sets[:, first : first + step])
        row, seen = which[inside] - first, plus[inside]
        up_to = np.cumsum(chance, axis=1)[row, seen]
        from_there = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1][row, seen]
        found[inside] = np.minimum(2 * np.minimum(up_to, from_there), 1.0)
    return found


def _distribution(doubled: Ints) -> Floats:
    """Chance of each sum of ranks when each counts or not, both as likely: (topic, set) -> (set, sum)."""
    place = np.arange(int(doubled.sum(axis=0).max(initial=0)) + 1)
    chance = np.zeros((doubled.shape[1], len(place)))
    chance[:, 0] = 1.0
    for rank in doubled[doubled.any(axis=1)]:
        before = place - rank[:, None]
        moved = np.take_along_axis(chance, np.maximum(before, 0), axis=1)
        chance = (chance + np.where(before >= 0, moved, 0.0)) / 2
    return chance

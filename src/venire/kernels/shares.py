r"""Shares of relevant second labels, from counts of pairs (first, second) alone; and how they vary with their number.

A *double judgment* is two labels of one item.  Let q be the share of double judgments that are (a, b), h and n what one
of them adds to hits and pairs of label i, and r whether i itself is relevant.  The ratio of sums over m of them varies,
to first order, as :math:`E(h - pn)^2 / (m (E n)^2)`; one-sided (Demeester et al. 2015, Eq. 4) and mirrored (Eq. 5,
where both labels come first once) that is

.. math:: \frac{1}{m} \frac{p(1-p)}{q_i}, \qquad
          \frac{1}{m} \left[ \frac{p(1-p)}{2 q_i} + \frac{q_{ii} (r - p)^2}{2 q_i^2} \right]

with :math:`q_i = \sum_b q_{ib}`.  The last term is there because two labels i on one item are two pairs, not
independent ones.
"""

from __future__ import annotations

import numpy as np

from venire.types import Bools, Floats, Ints


def shares(counts: Floats, relevant: Bools) -> tuple[Floats, Floats]:
    """Shares of relevant second labels, and numbers of pairs; NaN where there is no pair.

    counts (..., first, second), relevant (relevant, label) -> both (..., relevant, label)
    """
    hits = np.einsum("...ij,rj->...ri", counts, relevant.astype(np.float64))
    pairs = np.broadcast_to(counts.sum(axis=-1)[..., None, :], hits.shape)
    there = pairs > 0
    return np.where(there, hits / np.where(there, pairs, 1.0), np.nan), pairs


def annotation_rounds(
    counts: Floats, sizes: Ints, n_rounds: int, *, mirrored: bool, rng: np.random.Generator
) -> Floats:
    """Draw double judgments with replacement, a growing number of them in every round, and count their pairs.

    counts (first, second); sizes (step,), ascending -> counts (round, step, first, second).  mirrored: both labels of a
    double judgment come first once.  Cost: O(rounds x steps x labels^2), however many there are to draw from.
    """
    share = counts.ravel() / counts.sum()
    steps = np.diff(sizes, prepend=0)
    drawn = np.stack([rng.multinomial(size, share, size=n_rounds) for size in steps.tolist()], axis=1)
    grown = drawn.cumsum(axis=1).reshape(n_rounds, len(sizes), *counts.shape).astype(np.float64)
    return grown + grown.swapaxes(-1, -2) if mirrored else grown


def variance_per_judgment(counts: Floats, p: Floats, relevant: Bools, *, mirrored: bool) -> Floats:
    """Variance of a share that rests on one double judgment: divide by their number to have that of many.

    counts (first, second); p, relevant (relevant, label) -> (relevant, label); NaN where a label has no pairs.
    """
    q = counts / counts.sum()
    of_label = q.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if not mirrored:
            return p * (1 - p) / of_label
        return p * (1 - p) / (2 * of_label) + np.diag(q) * (relevant - p) ** 2 / (2 * of_label**2)

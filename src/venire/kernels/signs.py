"""Signs: how large a sum of differences can be, if every difference may as well have had the other sign.

Fisher's randomisation (1935): were two systems the same, each topic would as likely have favoured the other.  One set
of signs serves all pairs of systems, so sums over topics are one matrix product (pair, topic) @ (topic, draw).
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats, Ints

BLOCK_CELLS = 1 << 20
"""How many sums are held at a time."""

TIE = 1e-11
"""Sums closer to each other than this part of what they could be are the same sum."""


def random_signs(n_topics: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw signs, each as likely as the other -> (draw, topic)."""
    return 1.0 - 2.0 * rng.integers(0, 2, size=(n_draws, n_topics), dtype=np.int8).astype(np.float64)


def all_signs(n_topics: int) -> Floats:
    """Every choice of signs once -> (2^topics, topic)."""
    bits = (np.arange(1 << n_topics)[:, None] >> np.arange(n_topics)) & 1
    return 1.0 - 2.0 * bits.astype(np.float64)


def count_as_large(value: Floats, signs: Floats) -> Ints:
    """Count draws whose sum lies as far from 0 as the one seen: value (topic, pair), signs (draw, topic) -> (pair,).

    Cost: O(draws x topics x pairs), as matrix products; memory bounded.
    """
    seen = np.abs(value.sum(axis=0)) - TIE * np.abs(value).sum(axis=0)
    counts = np.empty(value.shape[1], dtype=np.int64)
    step = max(1, BLOCK_CELLS // max(1, len(signs)))
    for first in range(0, value.shape[1], step):
        block = slice(first, first + step)
        sums = value[:, block].T @ signs.T
        np.abs(sums, out=sums)
        counts[block] = (sums >= seen[block, None]).sum(axis=1)
    return counts

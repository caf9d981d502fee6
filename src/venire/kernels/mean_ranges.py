"""Ranges of means: how far apart the best and the worst of several like systems come to lie by chance.

Were all systems the same, each topic's scores might as well have been dealt out to them in any order.  So scores are
permuted over systems within every topic, and the largest mean less the smallest is kept.
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats, Ints

BLOCK_CELLS = 1 << 18
"""How many permuted scores are held at a time."""

TIE = 1e-11
"""Ranges closer than this part of the largest are the same."""


def permuted_ranges(values: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Range of means under random permutations within topics: values (system, topic) -> (draw,).

    Cost: O(draws x topics x systems log systems); memory bounded, whatever the number of draws.
    """
    by_topic = np.ascontiguousarray(values.T)
    ranges = np.empty(n_draws)
    step = max(1, BLOCK_CELLS // max(1, values.size))
    for first in range(0, n_draws, step):
        n = min(step, n_draws - first)
        ranges[first : first + n] = ranges_of(by_topic, np.argsort(rng.random((n, *by_topic.shape)), axis=2))
    return ranges


def ranges_of(by_topic: Floats, order: Ints) -> Floats:
    """Range of means when scores are dealt out in a given order: (topic, system), (draw, topic, system) -> (draw,)."""
    n_topics, n_systems = by_topic.shape
    dealt = by_topic.ravel().take(order + n_systems * np.arange(n_topics)[:, None])
    means = dealt.sum(axis=1) / n_topics
    return means.max(axis=1) - means.min(axis=1)


def count_as_wide(ranges: Floats, delta: Floats) -> Ints:
    """Count draws whose range is at least as wide as a difference lies from 0: (draw,), (pair,) -> (pair,)."""
    ordered = np.sort(ranges)
    return len(ordered) - np.searchsorted(ordered, np.abs(delta) - TIE * ordered[-1], side="left")


def critical_range(ranges: Floats, most: int) -> float:
    """The least difference that at most so many draws are as wide as; 0 if all may be."""
    ordered = np.sort(ranges)
    return float(ordered[-1 - most] + 2 * TIE * ordered[-1]) if most < len(ordered) else 0.0

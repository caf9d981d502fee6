r"""Paired tests: differences between the scores of two systems, topic by topic, for many pairs of systems at once.

Differences.  A pair is compared on the topics for which both systems have a score.  Differences are rounded to twelve
digits of the largest score: 0.3 - 0.2 and 0.7 - 0.6 are the same difference, and systems that differ by less are tied.

Sign flips.  Fisher's randomisation (1935): under the null hypothesis every difference is as likely to have the opposite
sign.  One set of signs serves all pairs of systems, so sums over topics are one matrix product.

Studentised bootstrap.  Sakai (2006, doi:10.1145/1148170.1148261), after Efron and Tibshirani (1993): with differences z
of n topics, t = t(z), and w = z less its mean, topics are resampled with replacement, and

.. math:: t^* = \frac{\bar w^*}{s(w^*) / \sqrt{n}}

is compared with t.  One set of resamples serves all pairs of systems.  A resample enters by how often each topic is
drawn, so that :math:`S_1 = \sum w^*` and :math:`S_2 = \sum w^{*2}` are matrix products, and

.. math:: t^{*2} = \frac{(n-1) S_1^2}{n S_2 - S_1^2}, \qquad
          t^{*2} \ge t^2 \iff S_1^2 (n - 1 + t^2) \ge t^2 n S_2 .

A resample without spread has an infinite t*; if it is all zero, t* = 0.  Where a pair lacks topics, n is in each
resample the number of its topics that were drawn; a resample with fewer than two counts as infinite.

Ranges of means.  If all systems are the same, the scores of a topic may be permuted over systems; the largest mean less
the smallest, under random permutations within topics, is the null distribution of the randomised Tukey test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from venire.types import Bools, Floats, Ints

BLOCK_CELLS = 1 << 18
"""Number of statistics (pair x draw) held at a time."""
RANGE_CELLS = 1 << 18
"""Number of permuted scores held at a time."""
DIGITS = 12
SAME_SUM = 1e-11
"""Sums, and ranges, closer than this part of what they could be are equal."""
SAME_T = 1e-9
"""Squares of t closer than this, relative to their size, are equal."""
ZERO = 1e-11
"""A shifted difference below this part of the largest is zero."""
_FLOOR = 1e-30


class Differences(NamedTuple):
    """value (topic, pair), 0 where missing; present (topic, pair); n, mean, sd (pair,).

    mean is NaN where a pair has no topic in common, sd (n - 1) where it has fewer than two; sd is exactly 0 where all
    differences are equal.
    """

    value: Floats
    present: Bools
    n: Ints
    mean: Floats
    sd: Floats

    @property
    def complete(self) -> bool:
        """Whether every pair has every topic."""
        return bool(self.present.all())

    @property
    def without_spread(self) -> Bools:
        """Pairs whose differences have no spread: all equal, or fewer than two -> (pair,)."""
        return ~(self.sd > 0)

    @property
    def t(self) -> Floats:
        """Student's t of the mean; NaN where differences have no spread -> (pair,)."""
        return np.divide(
            self.mean * np.sqrt(self.n), self.sd, out=np.full(len(self.n), np.nan), where=~self.without_spread
        )

    def take(self, pairs: slice | Ints) -> Differences:
        """Some of the pairs."""
        return Differences(
            self.value[:, pairs], self.present[:, pairs], self.n[pairs], self.mean[pairs], self.sd[pairs]
        )


def differences_of(values: Floats, a: Ints, b: Ints) -> Differences:
    """Scores of systems a less those of systems b: values (system, topic), NaN where missing; a, b (pair,).

    Cost: O(topics x pairs), in time and memory.
    """
    return summarised(np.round(values.T[:, a] - values.T[:, b], decimals_of(values)))


def summarised(value: Floats) -> Differences:
    """Count and summarise differences (topic, pair), NaN where missing."""
    present = ~np.isnan(value)
    value = (value if present.all() else np.where(present, value, 0.0)) + 0.0
    n = present.sum(axis=0)
    mean = np.divide(value.sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    return Differences(value, present, n, mean, _deviation(value, present, n))


def all_pairs(n_systems: int) -> tuple[Ints, Ints]:
    """Every two of the systems, the first by number in front -> a, b, both (pair,)."""
    a, b = np.triu_indices(n_systems, k=1)
    return a.astype(np.int64), b.astype(np.int64)


def decimals_of(values: Floats) -> int:
    """Decimals to keep: twelve digits of the largest score."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    return DIGITS - int(np.ceil(np.log10(largest))) if largest > 0 else DIGITS


def _deviation(value: Floats, present: Bools, n: Ints) -> Floats:
    """Standard deviation over topics, exactly 0 where all values are the same."""
    mean = value.sum(axis=0) / np.maximum(n, 1)
    squares = np.where(present, value - mean, 0.0)
    sd = np.sqrt((squares * squares).sum(axis=0) / np.maximum(n - 1, 1))
    lowest = value.min(axis=0, initial=np.inf, where=present)
    highest = value.max(axis=0, initial=-np.inf, where=present)
    return np.where(n < 2, np.nan, np.where(lowest == highest, 0.0, sd))


def _pair_blocks(pairs: Ints, n_draws: int) -> Iterator[Ints]:
    """Split pairs into blocks so that memory is bounded, whatever the number of draws."""
    step = max(1, BLOCK_CELLS // max(1, n_draws))
    return (pairs[first : first + step] for first in range(0, len(pairs), step))


def random_signs(n_topics: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw signs, both equally likely -> (draw, topic)."""
    return 1.0 - 2.0 * rng.integers(0, 2, size=(n_draws, n_topics), dtype=np.int8).astype(np.float64)


def all_signs(n_topics: int) -> Floats:
    """Every choice of signs once -> (2^topics, topic)."""
    bits = (np.arange(1 << n_topics)[:, None] >> np.arange(n_topics)) & 1
    return 1.0 - 2.0 * bits.astype(np.float64)


def count_sums_as_large(value: Floats, signs: Floats) -> Ints:
    """Count draws whose sum is at least as far from 0 as observed: value (topic, pair), signs (draw, topic) -> (pair,).

    Cost: O(draws x topics x pairs), as matrix products; memory bounded.
    """
    observed = np.abs(value.sum(axis=0)) - SAME_SUM * np.abs(value).sum(axis=0)
    counts = np.empty(value.shape[1], dtype=np.int64)
    for block in _pair_blocks(np.arange(value.shape[1]), len(signs)):
        sums = value[:, block].T @ signs.T
        np.abs(sums, out=sums)
        counts[block] = (sums >= observed[block, None]).sum(axis=1)
    return counts


def count_t_as_large(differences: Differences, weights: Floats) -> Ints:
    """Count resamples with |t*| >= |t|: weights (draw, topic) -> (pair,); 0 for pairs without spread.

    Cost: O(draws x topics x pairs), as two matrix products (three where topics are missing); memory bounded.
    """
    counts = np.zeros(len(differences.n), dtype=np.int64)
    for block in _pair_blocks(np.flatnonzero(~differences.without_spread), len(weights)):
        counts[block] = _as_large(differences.take(block), weights)
    return counts


def extreme_t(differences: Differences, weights: Floats, *, tail: float) -> tuple[Floats, Floats]:
    """Order statistics of t* that cut off a tail at each end: weights (draw, topic) -> low, high, both (pair,).

    Infinite where that many resamples have no spread; NaN for pairs without spread.  Cost: as ``count_t_as_large``.
    """
    low, high = np.full((2, len(differences.n)), np.nan)
    n_draws = len(weights)
    lower = max(int(np.floor(tail * (n_draws + 1))) - 1, 0)
    for block in _pair_blocks(np.flatnonzero(~differences.without_spread), n_draws):
        t = np.partition(_t(differences.take(block), weights), [lower, n_draws - 1 - lower], axis=1)
        low[block], high[block] = t[:, lower], t[:, n_draws - 1 - lower]
    return low, high


def _shifted(differences: Differences) -> Floats:
    """Differences less their mean, 0 where missing -> (topic, pair)."""
    w = np.where(differences.present, differences.value - differences.mean, 0.0)
    w[np.abs(w) < ZERO * np.abs(differences.value).max(axis=0, initial=0.0)] = 0.0
    return w


def _as_large(differences: Differences, weights: Floats) -> Ints:
    """Compare squares by the inequality above, so that nothing is divided -> (pair,)."""
    w, t2 = _shifted(differences), differences.t**2
    # The floor is negligible beside any other square, but keeps a resample that is all zero from counting as large.
    squares = np.where(differences.present, np.maximum(w * w, _FLOOR * (w * w).max(axis=0)), 0.0) * (1 - SAME_T)
    if differences.complete:
        n = differences.n
        sums = w.T @ weights.T
        least = (squares * (t2 * n / (n - 1 + t2))).T @ weights.T
    else:
        drawn = differences.present.T.astype(np.float64) @ weights.T
        sums = (w.T @ weights.T) * np.sqrt(np.maximum(drawn - 1, 0) + t2[:, None])
        least = ((squares * t2).T @ weights.T) * drawn
        least[drawn < 2] = 0.0
    np.multiply(sums, sums, out=sums)
    return (sums >= least).sum(axis=1)


def _t(differences: Differences, weights: Floats) -> Floats:
    """t* of every resample -> (pair, draw)."""
    w = _shifted(differences)
    n = differences.n[:, None] if differences.complete else differences.present.T.astype(np.float64) @ weights.T
    mean, squares = w.T @ weights.T, n * ((w * w).T @ weights.T)
    spread = squares - mean * mean
    spread[spread <= SAME_T * squares] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean * np.sqrt(np.maximum(n - 1, 0)) / np.sqrt(spread)
    t[mean == 0] = 0.0
    return t if differences.complete else np.where(n < 2, np.inf, t)


def permuted_ranges(values: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Range of means under random permutations within topics: values (system, topic) -> (draw,).

    Cost: O(draws x topics x systems log systems); memory bounded, whatever the number of draws.
    """
    by_topic = np.ascontiguousarray(values.T)
    ranges = np.empty(n_draws)
    step = max(1, RANGE_CELLS // max(1, values.size))
    for first in range(0, n_draws, step):
        n = min(step, n_draws - first)
        ranges[first : first + n] = ranges_of(by_topic, np.argsort(rng.random((n, *by_topic.shape)), axis=2))
    return ranges


def ranges_of(by_topic: Floats, order: Ints) -> Floats:
    """Range of means under given permutations: (topic, system), (draw, topic, system) -> (draw,)."""
    n_topics, n_systems = by_topic.shape
    permuted = by_topic.ravel().take(order + n_systems * np.arange(n_topics)[:, None])
    means = permuted.sum(axis=1) / n_topics
    return means.max(axis=1) - means.min(axis=1)


def count_as_wide(ranges: Floats, delta: Floats) -> Ints:
    """Count draws whose range is at least the absolute difference: (draw,), (pair,) -> (pair,)."""
    ordered = np.sort(ranges)
    return len(ordered) - np.searchsorted(ordered, np.abs(delta) - SAME_SUM * ordered[-1], side="left")


def critical_range(ranges: Floats, most: int) -> float:
    """The smallest difference that at most ``most`` draws reach; 0 if all may."""
    ordered = np.sort(ranges)
    return float(ordered[-1 - most] + 2 * SAME_SUM * ordered[-1]) if most < len(ordered) else 0.0

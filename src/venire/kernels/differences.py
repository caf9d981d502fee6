"""Differences: the scores of two systems, topic by topic, for many pairs of systems at once.

A pair is compared on the topics for which both systems have a score.  Differences are rounded to twelve digits of the
largest score: 0.3 - 0.2 and 0.7 - 0.6 are the same difference, and systems that differ by less are tied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.types import Bools, Floats, Ints

DIGITS = 12


class Differences(NamedTuple):
    """value (topic, pair), 0 where there is none; there (topic, pair); n, mean, sd (pair,).

    mean is NaN where a pair has no topic in common, sd (n - 1) where it has fewer than two; sd is exactly 0 where all
    differences are alike.
    """

    value: Floats
    there: Bools
    n: Ints
    mean: Floats
    sd: Floats

    @property
    def complete(self) -> bool:
        """Whether every pair has every topic."""
        return bool(self.there.all())

    @property
    def alike(self) -> Bools:
        """Pairs whose differences have no spread: all the same, or too few to tell -> (pair,)."""
        return ~(self.sd > 0)

    @property
    def t(self) -> Floats:
        """Student's t of the mean; NaN where differences are alike -> (pair,)."""
        return np.divide(self.mean * np.sqrt(self.n), self.sd, out=np.full(len(self.n), np.nan), where=~self.alike)

    def take(self, pairs: slice | Ints) -> Differences:
        """Some of the pairs."""
        return Differences(self.value[:, pairs], self.there[:, pairs], self.n[pairs], self.mean[pairs], self.sd[pairs])


def differences_of(values: Floats, a: Ints, b: Ints) -> Differences:
    """Scores of systems a less those of systems b: values (system, topic), NaN where missing; a, b (pair,).

    Cost: O(topics x pairs), in time and memory.
    """
    value = values.T[:, a] - values.T[:, b]
    there = ~np.isnan(value)
    value = np.where(there, np.round(value, _decimals(values)), 0.0) + 0.0
    n = there.sum(axis=0)
    mean = np.divide(value.sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    return Differences(value, there, n, mean, _deviation(value, there, n))


def all_pairs(n_systems: int) -> tuple[Ints, Ints]:
    """Every two of the systems, the first by number in front -> a, b, both (pair,)."""
    a, b = np.triu_indices(n_systems, k=1)
    return a.astype(np.int64), b.astype(np.int64)


def _decimals(values: Floats) -> int:
    """Decimals to keep: twelve digits of the largest score."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    return DIGITS - int(np.ceil(np.log10(largest))) if largest > 0 else DIGITS


def _deviation(value: Floats, there: Bools, n: Ints) -> Floats:
    """Standard deviation over topics, exactly 0 where all values are the same."""
    mean = value.sum(axis=0) / np.maximum(n, 1)
    squares = np.where(there, value - mean, 0.0)
    sd = np.sqrt((squares * squares).sum(axis=0) / np.maximum(n - 1, 1))
    lowest = np.where(there, value, np.inf).min(axis=0, initial=np.inf)
    highest = np.where(there, value, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(n < 2, np.nan, np.where(lowest == highest, 0.0, sd))

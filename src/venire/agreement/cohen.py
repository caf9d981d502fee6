r"""Cohen's kappa of every two assessors, and their mean.

Cohen (1960, doi:10.1177/001316446002000104), weighted Cohen (1968, doi:10.1037/h0026256).  Over the n items that both
judged, o the sum of distances of their labels, r and c how often each gave each label on these items,

.. math:: \kappa = 1 - \frac{n \, o}{r^\top \delta c}

with :math:`\delta` 1 where labels differ (nominal), their difference (linear) or its square (quadratic).  The mean over
every two assessors who share items is Light's (1971, doi:10.1037/h0031643), without pairs where it is undefined (both
gave the same label throughout).  nltk's weighted kappa with ``max_distance`` is another: it divides the
expected distance by it and not the observed one.

Pairs are found by sparse products of (unit, assessor, label) and items; there is never a matrix of assessors and items.
Where two assessors share a handful of items, kappas of resamples are biased, so the draws of the mean are shifted such
that their median is the value.  Where every two share two items or so, as in a large crowd, use alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from venire.agreement.distance import WEIGHTS, named_distance
from venire.agreement.intervals import (
    OVER,
    Coefficient,
    Found,
    Options,
    Resampling,
    Source,
    coefficient,
    dense,
    jackknife,
    middle,
    percentiles,
    topic_mean,
)
from venire.agreement.kappa import units_of
from venire.agreement.patterns import NO_PAIRS, ONE_LABEL, LabelPatterns, label_patterns
from venire.data.judgments import Judgments
from venire.errors import UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.distinct import distinct, numbered
from venire.randomness import FEW_TOPICS
from venire.results import Records, Tabular, counted
from venire.types import Codes, Floats, Ints

NAME = "cohen_kappa"
MEANING = (
    "{who} disagree {rest} as much as if each drew from their own labels at random{mean}: 1 is perfect agreement, "
    "0 is chance."
)
BLOCK_CELLS = 1 << 22
SPARSE = 20
"""A table in which fewer than one of this many cells are not zero is kept sparse."""
MOST_CELLS = 1 << 30
"""Limit on draws x pairs x labels; beyond, fewer draws are made, but at least ``LEAST_DRAWS``."""
LEAST_DRAWS = 100


class LabelPairs(NamedTuple):
    """Pairs of labels on the same item by unit and two assessors, first < second: how often each occurs (entry,)."""

    unit: Ints
    first: Ints
    second: Ints
    one: Ints
    other: Ints
    times: Floats


class PairCounts(NamedTuple):
    """Labels of two assessors on the same item, counted by unit: unit, pair, one, other, times (entry,).

    Entries are in order of pairs; one, other: the labels; firsts, seconds, n_items, n_units (pair,): the assessors, how
    many items both judged, in how many units.
    """

    unit: Ints
    pair: Ints
    one: Ints
    other: Ints
    times: Floats
    firsts: Ints
    seconds: Ints
    n_items: Ints
    n_units: Ints
    source: Source

    @classmethod
    def of(cls, pairs: LabelPairs, n_assessors: int, source: Source) -> PairCounts:
        """Number the pairs of assessors, and order entries by them."""
        unit, first, second, one, other, times = pairs
        key, pair = numbered(first * n_assessors + second)
        order = np.argsort(pair, kind="stable")
        n_items = np.rint(np.bincount(pair, times, minlength=len(key))).astype(np.int64)
        n = len(source.whole)
        n_units = np.minimum(np.bincount(distinct(pair * (n + 1) + unit) // (n + 1), minlength=len(key)), n_items)
        entries = (unit[order], pair[order], one[order], other[order], times[order])
        return cls(*entries, key // n_assessors, key % n_assessors, n_items, n_units, source)


@dataclass(frozen=True, eq=False)
class CohenKappa(Tabular):
    """Cohen's kappa of every two assessors: value, low, high, n_items (pair,), NaN where undefined; and their mean."""

    level: str
    assessors: tuple[str, ...]
    counts: PairCounts
    value: Floats
    low: Floats
    high: Floats
    mean: Coefficient
    n_draws: int

    def sentence(self) -> str:
        """Say what the mean over every two assessors means."""
        return self.mean.sentence()

    def records(self) -> Records:
        """Return the mean, then one row for every two assessors."""
        return [row for each in (self.mean, *self.pairs()) for row in each.records()]

    def pairs(self) -> list[Coefficient]:
        """One coefficient for every two assessors who judged the same items."""
        return [self._pair(number) for number in range(len(self.value))]

    def _pair(self, number: int) -> Coefficient:
        a, b = (self.assessors[who[number]] for who in (self.counts.firsts, self.counts.seconds))
        value, low, high = (float(each[number]) for each in (self.value, self.low, self.high))
        found = Found(value, low, high, self.mean.method, self.n_draws)
        about = {"level": self.level, "raters": f"{a},{b}", "n_items": int(self.counts.n_items[number]), "n_raters": 2}
        words = {"who": f"{a} and {b}", "mean": ""}
        return coefficient(found, name=NAME, meaning=MEANING, words=words, reason=ONE_LABEL, **about)


def cohen_kappa(
    judgments: JudgmentsLike,
    weights: str = "nominal",
    *,
    patterns: LabelPatterns | None = None,
    counts: PairCounts | None = None,
    **how: Unpack[Options],
) -> CohenKappa:
    '''Compute Cohen's kappa of every two assessors and their mean; weights: nominal, linear or quadratic.

    how: as for Fleiss; items are drawn in at most 512 groups.  patterns, counts: those of the judgments, if known.
    Cost: O(pairs of labels on the same item), and draws x pairs of assessors x labels.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = cohen_kappa(read_grid("""
    ...     1 0 1 1 0 0
    ...     1 0 0 1 0 1
    ...     1 0 1 1 . ."""))
    >>> [(pair.raters, round(pair.value, 3), pair.n_items) for pair in found.pairs()], round(found.mean.value, 3)
    ([('U1,U2', 0.333, 6), ('U1,U3', 1.0, 4), ('U2,U3', 0.5, 4)], 0.611)
    '''
    judgments = as_judgments(judgments)
    asked = Resampling(**how)
    if asked.over not in OVER:
        raise UnknownName("what the statistic is over", asked.over, OVER)
    table = patterns or label_patterns(judgments)
    distances = table.distances(named_distance(weights, WEIGHTS, table.scale))
    counts = counts or pair_counts(judgments, table, asked)
    n_draws = fewer_draws(asked.n_draws, len(counts.firsts), len(table.scale))
    compute = _over_topics if asked.over == "topics" else _over_items
    value, low, high, found = compute(counts, distances, n_draws, np.random.default_rng(asked.rng))
    n_pairs = counted(int((~np.isnan(value)).sum()), "pair")
    words = {"who": "Two assessors", "mean": f", on the mean over {n_pairs}"}
    about = {"level": weights, "raters": "mean", "n_items": table.n_items, "n_raters": table.n_raters}
    reason = ONE_LABEL if len(value) else NO_PAIRS
    mean = coefficient(found, name=NAME, meaning=MEANING, words=words, reason=reason, **about)
    return CohenKappa(weights, judgments.assessors, counts, value, low, high, mean, n_draws)


def fewer_draws(n_draws: int, n_pairs: int, n_labels: int) -> int:
    """How many draws are made where there are very many pairs of assessors."""
    return min(n_draws, max(LEAST_DRAWS, MOST_CELLS // max(n_pairs * (2 * n_labels + 1), 1)))


def pair_counts(judgments: Judgments, table: LabelPatterns, asked: Resampling) -> PairCounts:
    """Count the labels of every two assessors on the same item, by unit of resampling."""
    units, n_assessors = units_of(table, asked), len(judgments.assessor.names)
    pairs = label_pairs(table, units.of_item, judgments.assessor.codes, judgments.label, n_assessors)
    return PairCounts.of(pairs, n_assessors, units.source)


def label_pairs(
    table: LabelPatterns, unit: Codes, assessor: Codes | Ints, label: Codes, n_assessors: int
) -> LabelPairs:
    """Pair the labels of every item by a sparse product; unit (item,), -1 left out; assessor, label (row,)."""
    from scipy.sparse import coo_array, triu

    n_labels = len(table.scale)
    who = unit[table.item].astype(np.int64) * n_assessors + assessor
    rows = np.flatnonzero((unit[table.item] >= 0) & (np.bincount(table.item)[table.item] > 1))
    name, place = numbered(who[rows] * n_labels + label[rows])
    gave = coo_array((np.ones(len(rows)), (place, table.item[rows])), shape=(len(name), len(table.topic))).tocsr()
    met = triu(gave @ gave.T, k=1, format="coo")
    one, other = name[met.row], name[met.col]
    first, second = one // n_labels, other // n_labels
    who_met = (first // n_assessors, first % n_assessors, second % n_assessors)
    return LabelPairs(*who_met, one % n_labels, other % n_labels, met.data)


def _over_items(
    counts: PairCounts, distances: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Found]:
    """Kappas of all pairs with intervals (pair,), and their mean."""
    source = counts.source
    whole = source.whole[None]
    few = source.few and n_draws > 1
    if few:
        drawn, method = source.without(), f"jackknife over {source.n_units} topics"
    else:
        drawn = source.draw(n_draws, rng) if source.n_units > 1 else np.zeros((0, len(source.whole)))
        method = f"bootstrap over {source.name}, n={n_draws}"
    value, low, high = np.full((3, len(counts.firsts)), np.nan)
    total, known = np.zeros((2, len(drawn)))
    for block, entries in _blocks(counts, distances, max(n_draws, len(source.whole))):
        value[block] = _kappas(entries, whole, distances)[0]
        kappas = _kappas(entries, drawn, distances)
        total += np.nansum(kappas, axis=1)
        known += (~np.isnan(kappas)).sum(axis=1)
        n_units = counts.n_units[block]
        low[block], high[block] = jackknife(value[block], kappas, n_units) if few else percentiles(kappas, n_units)
    low, high = (np.where(np.isnan(value), np.nan, end) for end in (low, high))
    defined = value[~np.isnan(value)]
    mean = defined.mean() if len(defined) else np.nan
    means = np.where(known > 0, total / np.maximum(known, 1.0), np.nan)
    n_known = source.n_units if len(defined) else 0
    if few:
        lowest, highest = jackknife(np.asarray(mean), means, n_known)
    else:
        lowest, highest = percentiles(np.minimum(means + mean - middle(means), 1.0), n_known)
    return value, low, high, Found(float(mean), float(lowest), float(highest), method, n_draws)


def _over_topics(
    counts: PairCounts, distances: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Found]:
    """Kappas of all pairs as means over topics, with intervals (pair,), and the mean over topics of their means."""
    source = counts.source
    drawn = source.draw(n_draws, rng)
    value, low, high = np.full((3, len(counts.firsts)), np.nan)
    total, known = np.zeros((2, len(source.whole)))
    for block, entries in _blocks(counts, distances, max(n_draws, len(source.whole))):
        kappas = _kappas(entries, source.by_topic, distances)
        present = (~np.isnan(kappas)).astype(np.float64)
        sums, times = np.nan_to_num(kappas), present.sum(axis=0)
        value[block] = np.where(times > 0, sums.sum(axis=0) / np.maximum(times, 1.0), np.nan)
        n = drawn @ present
        means = np.where(n > 0, drawn @ sums / np.maximum(n, 1.0), np.nan)
        without = value[block] + np.nan_to_num(value[block] - kappas) / np.maximum(times - 1, 1)
        few_topics = jackknife(value[block], without, times.astype(np.int64) * (n_draws > 1))
        ends = zip(percentiles(means, times.astype(np.int64)), few_topics, strict=True)
        low[block], high[block] = (np.where(times < FEW_TOPICS, few, many) for many, few in ends)
        total += sums.sum(axis=1)
        known += present.sum(axis=1)
    by_topic = np.where(known > 0, total / np.maximum(known, 1.0), np.nan)
    return value, low, high, topic_mean(by_topic, n_draws, rng)


class Sums(NamedTuple):
    """Sums by unit for a block of pairs, as matrices: distance (pair, unit), one, other (pair x label, unit)."""

    distance: Any
    one: Any
    other: Any


def _blocks(counts: PairCounts, distances: Floats, n_rows: int) -> Iterator[tuple[slice, Sums]]:
    """Sum by unit, a block of pairs at a time."""
    n_labels = len(distances)
    step = max(1, BLOCK_CELLS // max(n_rows * (2 * n_labels + 1), 1))
    for begin in range(0, len(counts.firsts), step):
        block = slice(begin, min(begin + step, len(counts.firsts)))
        chosen = slice(*np.searchsorted(counts.pair, [block.start, block.stop]))
        one, other, times = counts.one[chosen], counts.other[chosen], counts.times[chosen]
        pair, unit = counts.pair[chosen] - block.start, counts.unit[chosen]
        shape = (block.stop - block.start, len(counts.source.whole))
        distance = unit_sums(pair, unit, times * distances[one, other], shape)
        wide = (shape[0] * n_labels, shape[1])
        yield block, Sums(distance, *(unit_sums(pair * n_labels + label, unit, times, wide) for label in (one, other)))


def unit_sums(row: Ints, unit: Ints, values: Floats, shape: tuple[int, int]) -> Any:
    """Sum by row and unit -> (row, unit); sparse where assessors share few items."""
    if len(row) * SPARSE < shape[0] * shape[1]:
        from scipy.sparse import csr_array

        return csr_array((values, (row, unit)), shape=shape)
    return np.bincount(row * shape[1] + unit, values, minlength=shape[0] * shape[1]).reshape(shape)


def _kappas(sums: Sums, weights: Any, distances: Floats) -> Floats:
    """Kappas of a block of pairs: weights (draw, unit), dense or sparse -> (draw, pair), NaN where undefined."""
    n_pairs, n_draws = sums.distance.shape[0], weights.shape[0]
    observed, *labels = (dense(each @ weights.T) for each in sums)
    one, other = (each.reshape(n_pairs, len(distances), n_draws) for each in labels)
    chance = (np.einsum("plx,lk->pkx", one, distances, optimize=True) * other).sum(axis=1)
    defined = chance > 0
    kappas = 1 - one.sum(axis=1) * observed / np.where(defined, chance, 1.0)
    return np.where(defined, kappas, np.nan).T

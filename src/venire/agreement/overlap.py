r"""Overlap: Jaccard coefficient, precision and recall between two assessors' sets of relevant results.

Over the pages that both judged, with A and B their relevant sets,

.. math:: J = |A \cap B| / |A \cup B|, \qquad P = |A \cap B| / |A|, \qquad R = |A \cap B| / |B|

J is the overlap (Jaccard) of Voorhees (2000, doi:10.1016/S0306-4573(00)00010-8).  P and R are precision and recall of A
against B: a system that returned exactly what one person finds relevant could not do better for the other, so they are
the practical upper limit of both (Demeester et al. 2014, Section 3.3.1).  Against A, B has precision R and recall P.

``overlap`` computes each per topic, averages it over the topics where it is defined (a set is not empty), and pools all
topics.  An assessor who judged a page several times finds it relevant to the share of these labels that are relevant;
the sizes of sets are then expectations.  ``jaccard`` is the mean over every two assessors of the pooled J, with an
interval; pairs to neither of whom anything is relevant are left out.  On an ordered scale a label stands for itself and
all above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from venire.agreement.cohen import PairCounts, fewer_draws, pair_counts, unit_sums
from venire.agreement.consistency import pages_of
from venire.agreement.intervals import (
    Coefficient,
    Options,
    Resampling,
    Values,
    coefficient,
    dense,
    estimated,
    in_blocks,
)
from venire.agreement.patterns import NO_PAIRS, LabelPatterns, label_patterns
from venire.agreement.with_others import ratio
from venire.data.scale import Relevant, RelevantSets, Scale, or_higher, relevant_sets
from venire.errors import PairsError
from venire.io.duplicates import Duplicates
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.distinct import numbered
from venire.results import Tabular, counted, known
from venire.types import Bools, Codes, Floats, Ints

KINDS = ("jaccard", "precision", "recall")


class Sets(NamedTuple):
    """Sizes of sets per topic and two assessors, first < second in order: topic, first, second, items (row,).

    both, one, other (relevant, row): relevant to both, to the first, to the second, over pages that both judged.
    """

    topic: Ints
    first: Ints
    second: Ints
    items: Ints
    both: Floats
    one: Floats
    other: Floats


@dataclass(frozen=True, eq=False)
class Overlap(Tabular):
    """Overlap of every two assessors who judged the same pages.

    pair (row,) numbers the two assessors of a row of ``sets``; firsts, seconds (pair,) are who they are.
    """

    scale: Scale
    relevant: RelevantSets
    assessors: tuple[str, ...]
    sets: Sets
    pair: Ints
    firsts: Ints
    seconds: Ints

    def by_topic(self) -> dict[str, Floats]:
        """Jaccard, precision and recall per topic and two assessors -> (relevant, row) each; NaN where undefined."""
        return _shares(self.sets.both, self.sets.one, self.sets.other)

    def mean(self) -> dict[str, Floats]:
        """Mean over topics, of two assessors each -> (relevant, pair); NaN where defined for no topic."""
        return {name: _means(values, self.pair, len(self.firsts)) for name, values in self.by_topic().items()}

    def pooled(self) -> dict[str, Floats]:
        """All topics as one -> (relevant, pair)."""
        sizes = (self.sets.both, self.sets.one, self.sets.other)
        return _shares(*(_sums(each, self.pair, len(self.firsts)) for each in sizes))

    def overall(self) -> dict[str, Floats]:
        """Mean over all topics and twos of assessors, either of them first -> (relevant,); NaN where undefined."""
        found = self.by_topic()
        both_ways = np.concatenate([found["precision"], found["recall"]], axis=1)
        all_of_them = {"jaccard": found["jaccard"], "precision": both_ways, "recall": both_ways}
        together = {name: np.zeros(values.shape[1], dtype=np.int64) for name, values in all_of_them.items()}
        return {name: _means(values, together[name], 1)[:, 0] for name, values in all_of_them.items()}

    def records(self) -> list[dict[str, Any]]:
        """One record per notion of relevance and two assessors: precision and recall of a's set against b's.

        With b's set against a's, precision and recall change places.  None where a set is empty in every topic.
        """
        mean, pooled = self.mean(), self.pooled()
        items = _sums(self.sets.items[None].astype(np.float64), self.pair, len(self.firsts))[0]
        return [
            {
                "relevant": name,
                "a": self.assessors[self.firsts[n]],
                "b": self.assessors[self.seconds[n]],
                **{kind: known(mean[kind][row, n]) for kind in KINDS},
                **{f"{kind}_pooled": known(pooled[kind][row, n]) for kind in KINDS},
                "items": int(items[n]),
            }
            for row, name in enumerate(self.relevant.names)
            for n in range(len(self.firsts))
        ]

    def sentence(self, row: int = 0) -> str:
        """Say how far the sets of two assessors overlap."""
        jaccard, limit = (self.overall()[kind][row] for kind in ("jaccard", "precision"))
        name = or_higher(self.scale, self.relevant.names[row])
        if np.isnan(jaccard):
            return f"No two assessors share a page that is {name} for either."
        return (
            f"The Jaccard overlap of two assessors' sets of {name} is {jaccard:.2f}; a perfect list for one of them "
            f"has on average precision and recall {limit:.2f} for the other."
        )


def overlap(judgments: JudgmentsLike, duplicates: Duplicates | None = None, *, relevant: Relevant = "all") -> Overlap:
    '''Compare the relevant sets of every two assessors over the pages both judged.

    duplicates: groups of documents that are one page.  Cost: O(rows log rows + pairs of assessors on the same page) per
    notion of relevance, by sparse products; memory: topics times the pairs of assessors who share pages there.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = overlap(read_grid("""
    ...     2 2 1 0 .
    ...     2 0 2 0 1"""), relevant="2")
    >>> [found.records()[0][key] for key in ("a", "b", "jaccard", "precision", "recall", "items")]
    ['U1', 'U2', 0.3333333333333333, 0.5, 0.5, 4]
    '''
    judgments = as_judgments(judgments)
    sets = relevant_sets(judgments.scale, relevant)
    pages = pages_of(judgments, duplicates)
    topic = pages.topic[pages.page].astype(np.int64)
    sizes = set_sizes(topic, pages.assessor, pages.page, pages.label, sets.labels)
    if not len(sizes.topic):
        raise PairsError(
            "no page was judged by two assessors, so sets of relevant results cannot be compared",
            hint="have some pages judged a second time, or name the documents that are copies",
        )
    n_assessors = len(judgments.assessor.names)
    key, pair = numbered(sizes.first * n_assessors + sizes.second)
    firsts, seconds = key // n_assessors, key % n_assessors
    return Overlap(judgments.scale, sets, judgments.assessors, sizes, pair, firsts, seconds)


def set_sizes(group: Ints, who: Codes, item: Ints | Codes, label: Codes, relevant: Bools) -> Sets:
    """Sizes of sets for every two assessors in a group (a topic), by products of sparse tables.

    group, who, item, label (row,); relevant (relevant, label).  Several labels of a cell (item, assessor) share it.
    """
    from scipy.sparse import coo_array, csr_array, triu

    n_assessors = int(who.max(initial=0)) + 1
    name, row = numbered(group * n_assessors + who)
    what, column = numbered(group * (int(item.max(initial=0)) + 1) + item)
    cell, inverse, count = np.unique(row * len(what) + column, return_inverse=True, return_counts=True)

    def table(values: Floats) -> csr_array[np.float64]:
        return coo_array((values, (cell // len(what), cell % len(what))), shape=(len(name), len(what))).tocsr()

    def product(one: csr_array[np.float64], other: csr_array[np.float64]) -> tuple[Ints, Floats]:
        found = triu(one @ other.T, k=1, format="coo")
        return found.row.astype(np.int64) * len(name) + found.col, found.data

    judged = table(np.ones(len(cell)))
    met, items = product(judged, judged)
    order = np.argsort(met)
    met, items = met[order], items[order]

    def sizes(one: csr_array[np.float64], other: csr_array[np.float64]) -> Floats:
        key, values = product(one, other)
        size = np.zeros(len(met))
        size[np.searchsorted(met, key)] = values
        return size

    shares = [table(np.bincount(inverse, marked[label].astype(np.float64)) / count) for marked in relevant]
    both = np.array([sizes(share, share) for share in shares])
    one = np.array([sizes(share, judged) for share in shares])
    other = np.array([sizes(judged, share) for share in shares])
    first, second = name[met // len(name)], name[met % len(name)]
    n_items = np.rint(items).astype(np.int64)
    return Sets(first // n_assessors, first % n_assessors, second % n_assessors, n_items, both, one, other)


def _shares(both: Floats, one: Floats, other: Floats) -> dict[str, Floats]:
    return {kind: ratio(both, size) for kind, size in zip(KINDS, (one + other - both, one, other), strict=True)}


def _sums(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Sum over rows: values (relevant, row), group (row,) -> (relevant, group)."""
    return np.array([np.bincount(group, row, minlength=n_groups) for row in values])


def _means(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Mean over the rows of a group that are not NaN -> (relevant, group)."""
    known = ~np.isnan(values)
    n = _sums(known.astype(np.float64), group, n_groups)
    return ratio(_sums(np.where(known, values, 0.0), group, n_groups), n)


MEANING = (
    "The Jaccard overlap of two assessors' sets of {name} is {value}, the mean over {pairs}: 1 is the same set, 0 is "
    "nothing in common; not corrected for chance."
)
BLOCK_CELLS = 1 << 22


def jaccard(
    judgments: JudgmentsLike,
    relevant: Relevant = "all",
    *,
    patterns: LabelPatterns | None = None,
    counts: PairCounts | None = None,
    **how: Unpack[Options],
) -> list[Coefficient]:
    '''Compute the mean Jaccard overlap of two assessors' relevant sets: one coefficient per notion of relevance.

    patterns, counts, how, cost: as for Cohen's kappa.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> [(each.level, round(each.value, 3)) for each in jaccard(read_grid("""
    ...     2 2 1 0 .
    ...     2 0 2 0 1"""))]
    [('2', 0.333), ('1', 0.667)]
    '''
    judgments = as_judgments(judgments)
    asked, table = Resampling(**how), patterns or label_patterns(judgments)
    counts = counts or pair_counts(judgments, table, asked)
    asked = asked._replace(n_draws=fewer_draws(asked.n_draws, len(counts.firsts), 1))
    sets, about = relevant_sets(table.scale, relevant), dict[str, Any](n_items=table.n_items, n_raters=table.n_raters)
    found = []
    for name, marked in zip(sets.names, sets.labels, strict=True):
        both, either = _set_sizes(counts, marked)
        estimate = estimated(_mean_overlaps(both, either), counts.source, asked, within=(0.0, 1.0))
        n_pairs = int((np.asarray(either.sum(axis=1)) > 0).sum())
        words = {"name": or_higher(table.scale, name), "pairs": counted(n_pairs, "pair")}
        reason = f"no shared item is {words['name']} for either assessor" if len(counts.firsts) else NO_PAIRS
        about |= {"level": name, "raters": "mean"}
        found.append(coefficient(estimate, name="jaccard", meaning=MEANING, words=words, reason=reason, **about))
    return found


def _set_sizes(counts: PairCounts, marked: Bools) -> tuple[Any, Any]:
    """Items relevant to both, and to either, by pair and unit -> (pair, unit) each; may be sparse."""
    shape = (len(counts.firsts), len(counts.source.whole))
    one, other = marked[counts.one], marked[counts.other]
    sums = [unit_sums(counts.pair, counts.unit, counts.times * each, shape) for each in (one & other, one | other)]
    return sums[0], sums[1]


def _mean_overlaps(both: Any, either: Any) -> Values:
    """Return the mean overlap of pairs as a function of weights (draw, unit) -> (draw,), NaN where undefined."""

    def block(weights: Floats) -> Floats:
        shared, whole = dense(both @ weights.T), dense(either @ weights.T)
        known = (whole > 0).sum(axis=0)
        return ratio((shared / np.where(whole > 0, whole, 1.0)).sum(axis=0), known)

    return in_blocks(block, max(1, BLOCK_CELLS // max(both.shape[0], 1)))

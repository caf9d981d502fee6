r"""Transitivity of preferences: if d is preferred to e and e to f, then d should be preferred to f.

A *triple* is three documents of a topic that were compared all three times.  With P (document, document) 1 where the
first is preferred, T where the two are tied, J where they were compared at all, over all triples of a topic

.. math:: \mathrm{triples} = \tfrac16 \mathrm{tr} J^3, \quad \mathrm{cycles} = \tfrac13 \mathrm{tr} P^3, \quad
          \mathrm{broken\ ties} = \sum T \circ P^2 + \sum P \circ T^2

A cycle is d > e > f > d (Kendall and Babington Smith 1940, doi:10.1093/biomet/31.3-4.324).  A broken tie is d = e with
d > f > e, or d = e = f with d > f: no ranking, even one with ties, has it.  *Intransitive* is either.  Random choices
give 1 cycle in 4 triples.

The matrices of all topics and assessors are blocks of one sparse matrix, so that few products are needed.
Cost: the sum of squares of how often each document was compared; no topic x document x document array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.preferences import Preferences
from venire.results import Estimate, Records, Tabular, counted
from venire.types import Codes, Ints
from venire.users.preferences import consensus, per_assessor, share_estimate

CYCLES_BY_CHANCE = 0.25


@dataclass(frozen=True)
class Triples:
    """Triples of one assessor or of several: number, those without ties, cycles, broken ties, share of either."""

    who: str
    n_triples: int
    n_strict: int
    n_cycles: int
    n_broken_ties: int
    share: Estimate | None
    reason: str | None = None

    @classmethod
    def of(cls, who: str, by_topic: Ints) -> Triples:
        """Sum counts over topics: by_topic (topic, 4), see ``count_triples``."""
        n, cycles, broken, strict = by_topic.sum(axis=0).tolist()
        if n == 0:
            return cls(who, 0, 0, 0, 0, None, "no three documents were compared all three times")
        hits = (by_topic[:, 1] + by_topic[:, 2]).astype(np.float64)
        return cls(who, n, strict, cycles, broken, share_estimate(hits, by_topic[:, 0].astype(np.float64)))

    def record(self) -> dict[str, Any]:
        """Return a row; None where there is no triple, with a reason."""
        share = (None, None, None) if self.share is None else (self.share.value, self.share.low, self.share.high)
        return {
            "who": self.who,
            "triples": self.n_triples,
            "without_ties": self.n_strict,
            "cycles": self.n_cycles,
            "broken_ties": self.n_broken_ties,
            **dict(zip(("intransitive", "low", "high"), share, strict=True)),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Transitivity(Tabular):
    """Triples of each assessor, of all of them counted together (``within``), and of the consensus."""

    by_assessor: tuple[Triples, ...]
    within: Triples
    consensus: Triples

    def records(self) -> Records:
        """Return one row each for the consensus, within assessors, and every assessor."""
        return [each.record() for each in (self.consensus, self.within, *self.by_assessor)]

    def sentence(self) -> str:
        """Return the share of intransitive triples in the consensus."""
        found = self.consensus
        if found.share is None:
            return f"Transitivity is not known: {found.reason}."
        return (
            f"{found.share.value:.1%} [{found.share.low:.1%}, {found.share.high:.1%}] of "
            f"{counted(found.n_triples, 'triple')} are intransitive; of {found.n_strict:,} without a tie "
            f"{found.n_cycles:,} are cycles (random choices give {CYCLES_BY_CHANCE:.0%})."
        )


def transitivity(preferences: Preferences, how: str = "median") -> Transitivity:
    """Count intransitive triples, per assessor and in the consensus by median or majority."""
    once, one = per_assessor(preferences), consensus(preferences, how).table
    n_topics = len(preferences.topics)
    apart = count_triples(once, once.assessor.codes.astype(np.int64) * n_topics + once.topic)
    by_cell = _filled(apart, len(once.assessors) * n_topics).reshape(len(once.assessors), n_topics, 4)
    whole = _filled(count_triples(one, one.topic.astype(np.int64)), n_topics)
    return Transitivity(
        by_assessor=tuple(Triples.of(name, by_cell[n]) for n, name in enumerate(once.assessors)),
        within=Triples.of("within assessors", by_cell.sum(axis=0)),
        consensus=Triples.of(how, whole),
    )


def count_triples(table: Preferences, group: Ints) -> Ints:
    """Count triples, cycles, broken ties and triples without a tie -> (group, 4).

    group (row,) is numbered from 0, and each pair occurs once in it; the result reaches to the last group that occurs.
    """
    from scipy.sparse import coo_array

    n_docs = max(len(table.docs), 1)
    ends = np.concatenate([group * n_docs + table.left, group * n_docs + table.right])
    nodes, node = np.unique(ends, return_inverse=True)
    left, right = np.split(node, 2)
    outcome: Codes = table.outcome
    better, worse = np.where(outcome < 0, right, left), np.where(outcome < 0, left, right)

    def matrix(a: Ints, b: Ints) -> Any:
        return coo_array((np.ones(len(a), dtype=np.int64), (a, b)), shape=(len(nodes), len(nodes))).tocsr()

    tied = outcome == 0
    p, t = matrix(better[~tied], worse[~tied]), matrix(better[tied], worse[tied])
    t, j = t + t.T, matrix(left, right)
    j = j + j.T
    s, two = p + p.T, p @ p
    rows = (j @ j * j, two * p.T, two * t, t @ t * p, s @ s * s)
    triples, cycles, half, flat, strict = (_by_group(each, nodes // n_docs) for each in rows)
    return np.stack([triples // 6, cycles // 3, half + flat, strict // 6], axis=1)


def _by_group(matrix: Any, group: Ints) -> Ints:
    """Sum a matrix (node, node) by the group of its rows -> (group,)."""
    return np.rint(np.bincount(group, weights=np.asarray(matrix.sum(axis=1)).ravel())).astype(np.int64)


def _filled(counts: Ints, n_groups: int) -> Ints:
    """Add the groups that do not occur: (group, 4) -> (n_groups, 4)."""
    return np.concatenate([counts, np.zeros((n_groups - len(counts), 4), dtype=np.int64)])

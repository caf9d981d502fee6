r"""Cycles: do preferences fit into an order?  If d is preferred to e and e to f, then d should be to f.

A *triple* is three documents of a topic that were compared all three times.  With P (document, document) 1 where the
first is preferred, T where the two are tied, J where they were compared at all, over all triples of a topic

.. math:: \mathrm{triples} = \tfrac16 \mathrm{tr} J^3, \quad \mathrm{cycles} = \tfrac13 \mathrm{tr} P^3, \quad
          \mathrm{broken\ ties} = \sum T \circ P^2 + \sum P \circ T^2

A cycle is d > e > f > d (Kendall and Babington Smith 1940, doi:10.1093/biomet/31.3-4.324).  A broken tie is d = e with
d > f > e, or d = e = f with d > f: no ranking, even one with ties, has it.  *Intransitive* is either.  Choices made by
tossing a coin give 1 cycle in 4 triples; so the share says how far people had an order in mind.

The matrices of all topics and assessors are blocks of one sparse matrix, so that a few products do for all.
Cost: the sum of squares of how often each document was compared; no topic x document x document array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.preferences import Preferences
from venire.results import Estimate, Tabular, counted
from venire.types import Codes, Ints
from venire.users.preferences import per_assessor, settled, share_estimate

BY_COIN = 0.25


@dataclass(frozen=True)
class Triples:
    """What one voice says on triples: how many, those without ties, cycles, broken ties, and the share of either."""

    who: str
    n_triples: int
    n_strict: int
    n_cycles: int
    n_broken_ties: int
    share: Estimate | None
    reason: str | None = None

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object; None where there is no triple, with a reason."""
        share = self.share
        return {
            "who": self.who,
            "triples": self.n_triples,
            "without_ties": self.n_strict,
            "cycles": self.n_cycles,
            "broken_ties": self.n_broken_ties,
            "intransitive": None if share is None else share.value,
            "low": None if share is None else share.low,
            "high": None if share is None else share.high,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Transitivity(Tabular):
    """Triples of each assessor, of all of them counted together (``within``), and of the settled answers."""

    by_assessor: tuple[Triples, ...]
    within: Triples
    settled: Triples

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per voice: settled, within, then assessors."""
        return [each.record() for each in (self.settled, self.within, *self.by_assessor)]

    def sentence(self) -> str:
        """Say how many triples fit into no order."""
        found = self.settled
        if found.share is None:
            return f"Nothing can be said on transitivity: {found.reason}."
        strict = (
            f"; of {found.n_strict:,} without a tie {found.n_cycles / found.n_strict:.1%}" if found.n_strict else ""
        )
        coin = f", where tossing a coin would give {BY_COIN:.0%}" if found.n_strict else ""
        return (
            f"{found.share.value:.1%} of {counted(found.n_triples, 'triple')} fit into no order "
            f"({found.share.low:.1%} to {found.share.high:.1%}){strict}{coin}."
        )


def transitivity(preferences: Preferences, how: str = "median") -> Transitivity:
    """Count triples that fit into no order, per assessor and in the answers settled by median or majority."""
    once, one = per_assessor(preferences), settled(preferences, how).table
    n_topics = len(preferences.topics)
    apart = count_triples(once, once.assessor.codes.astype(np.int64) * n_topics + once.topic)
    by_cell = _filled(apart, len(once.assessors) * n_topics).reshape(len(once.assessors), n_topics, 4)
    whole = _filled(count_triples(one, one.topic.astype(np.int64)), n_topics)
    return Transitivity(
        by_assessor=tuple(_triples(name, by_cell[n]) for n, name in enumerate(once.assessors)),
        within=_triples("within assessors", by_cell.sum(axis=0)),
        settled=_triples(how, whole),
    )


def count_triples(table: Preferences, group: Ints) -> Ints:
    """Count triples, cycles, broken ties and triples without a tie -> (group, 4).

    group (row,) is numbered from 0, and each pair stands in it once; the answer reaches to the last that occurs.
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


def _triples(who: str, by_topic: Ints) -> Triples:
    """Word the counts of one voice: by_topic (topic, 4)."""
    n, cycles, broken, strict = by_topic.sum(axis=0).tolist()
    if n == 0:
        return Triples(who, 0, 0, 0, 0, None, "no three documents were compared all three times")
    hits = (by_topic[:, 1] + by_topic[:, 2]).astype(np.float64)
    return Triples(who, n, strict, cycles, broken, share_estimate(hits, by_topic[:, 0].astype(np.float64)))

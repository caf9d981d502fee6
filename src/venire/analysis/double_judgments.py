"""Double judgments: what two assessors said of the same documents, topic by topic, as tables of their labels.

A *set* is one assessor's labels for a topic seen from another's: the reference says what documents are worth, the
ranker in which order they come.  Every two assessors make two sets of each topic that they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import convene
from venire.errors import PairsError
from venire.types import Codes, Ints
from venire.words import counted


@dataclass(frozen=True, eq=False)
class DoubleJudgments:
    """Sets: reference, ranker, topic (set,); counts (set, label of the ranker, label of the reference)."""

    assessors: tuple[str, ...]
    reference: Ints
    ranker: Ints
    topic: Ints
    counts: Ints
    notes: tuple[str, ...] = ()

    @property
    def pair(self) -> Ints:
        """Number of the directed pair of assessors -> (set,)."""
        return self.reference * len(self.assessors) + self.ranker


def double_judgments(judgments: Judgments, *, n_items: int = 2) -> DoubleJudgments:
    """Gather what every two assessors said of the documents that both judged, for topics with n_items such or more.

    Of several labels by one assessor for a document, the first counts.  Cost: O(assessors x labels); memory: a table
    of labels for each pair of assessors and topic that they share.
    """
    panel = convene(judgments, per="assessor")
    first = np.ones(len(panel.judge), dtype=np.bool_)
    first[1:] = (panel.judge[1:] != panel.judge[:-1]) | (panel.item[1:] != panel.item[:-1])
    found = list(_tables(judgments, panel.judge[first], panel.item[first], panel.label[first]))
    enough = [part[3].sum(axis=(1, 2)) >= n_items for part in found]
    if not any(kept.any() for kept in enough):
        raise PairsError(
            f"no topic has {counted(n_items, 'document')} judged by the same two assessors",
            hint="have a topic judged by two assessors, or ask for fewer documents in common",
        )
    kept = [[each[rows] for each in part] for part, rows in zip(found, enough, strict=True)]
    a, b, topic, table = (np.concatenate(column) for column in zip(*kept, strict=True))
    few = sum(int((~rows).sum()) for rows in enough)
    repeated = len(first) - int(first.sum())
    notes = [f"{counted(repeated, 'further label')} by one assessor for a document left out"] if repeated else []
    if few:
        notes.append(f"{counted(few, 'time')} two assessors share fewer than {n_items} documents of a topic: left out")
    return DoubleJudgments(
        judgments.assessors,
        np.concatenate([a, b]),
        np.concatenate([b, a]),
        np.concatenate([topic, topic]),
        np.concatenate([table.swapaxes(1, 2), table]),
        tuple(notes),
    )


def _tables(judgments: Judgments, judge: Codes, item: Codes, label: Codes) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Compare each assessor with those behind it: a, b, topic (table,), and counts (table, label of a, label of b)."""
    n_topics, n_labels = len(judgments.items.topics), len(judgments.scale)
    starts = np.searchsorted(judge, np.arange(len(judgments.assessors) + 1))
    for number, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        own = np.full(len(judgments.items), -1)
        own[item[begin:end]] = label[begin:end]
        shared = end + np.flatnonzero(own[item[end:]] >= 0)
        if len(shared) == 0:
            continue
        place = judge[shared].astype(np.int64) * n_topics + judgments.items.topic[item[shared]]
        places, table = np.unique(place, return_inverse=True)
        cell = (table * n_labels + own[item[shared]]) * n_labels + label[shared]
        counts = np.bincount(cell, minlength=len(places) * n_labels**2).reshape(-1, n_labels, n_labels)
        yield np.full(len(places), number), places // n_topics, places % n_topics, counts

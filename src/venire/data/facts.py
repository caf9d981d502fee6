"""Facts: what one scan of the runs leaves, whatever the labels are.

A *list* is one system's ranking for one topic; a *hit* is a judged item in a list.  Facts know where the hits stand
and how deep the lists are; labels and gains come later, so one scan serves every assessor, every gain and every
simulated judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from venire.data.judgments import Items
from venire.errors import TopicsError
from venire.kernels.ragged import offsets
from venire.types import Codes, Ints


@dataclass(frozen=True, eq=False)
class Facts:
    """Lists: system, topic, depth (list,).  Hits: offset (list + 1,) into rank (from 1) and item (hit,), by rank."""

    items: Items
    systems: tuple[str, ...]
    system: Codes
    topic: Codes
    depth: Ints
    offset: Ints
    rank: Codes
    item: Codes
    unjudged_topics: tuple[str, ...] = ()

    @property
    def n_hits(self) -> Ints:
        """Hits per list -> (list,)."""
        return np.diff(self.offset)


def no_common_topic(of_runs: Iterable[str], judged: Iterable[str]) -> TopicsError:
    """Say that runs and judgments are on different topics, with some of both."""
    run, other = (", ".join(map(repr, islice(names, 3))) for names in (of_runs, judged))
    return TopicsError(
        f"the runs and the judgments have no topic in common: the runs have {run}, the judgments {other}",
        hint="topic ids must be the same, letter by letter; look at the files with: venire inspect FILES",
    )


def gather_facts(
    items: Items,
    lists: Sequence[tuple[str, int, int]],
    hits: Sequence[tuple[Ints, Codes, Codes]],
    systems: tuple[str, ...],
    unjudged_topics: Sequence[str] = (),
) -> Facts:
    """Join what the batches of a scan gave: lists (system, topic, depth), and hits (list, rank, item)."""
    number = {system: n for n, system in enumerate(systems)}
    nothing = np.zeros(0, dtype=np.int64)
    owner = np.concatenate([nothing, *(part[0] for part in hits)])
    rank = np.concatenate([nothing, *(part[1] for part in hits)]).astype(np.int32)
    item = np.concatenate([nothing, *(part[2] for part in hits)]).astype(np.int32)
    return Facts(
        items,
        systems,
        np.array([number[system] for system, _, _ in lists], dtype=np.int32),
        np.array([topic for _, topic, _ in lists], dtype=np.int32),
        np.array([depth for _, _, depth in lists], dtype=np.int64),
        offsets(np.bincount(owner, minlength=len(lists))),
        rank,
        item,
        tuple(unjudged_topics),
    )

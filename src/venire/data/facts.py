"""Facts: the result of one scan of the runs, independent of the labels.

A *list* is one system's ranking for one topic; a *hit* is a judged item in a list.  Facts hold the ranks of the hits
and the depths of the lists; labels and gains come later, so one scan serves every assessor, gain and simulated judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from venire.data.judgments import Items
from venire.errors import TopicsError
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
    """Return the error for runs and judgments on different topics, with some of both."""
    run, other = (", ".join(map(repr, islice(names, 3))) for names in (of_runs, judged))
    message = f"the runs and the judgments have no topic in common: the runs have {run}, the judgments {other}"
    return TopicsError(message, hint="topic ids must be identical; venire inspect shows those of each file")

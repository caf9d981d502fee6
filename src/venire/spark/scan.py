"""scan on Spark: where judged items are in runs, for functions that need more than scores: compare, certify.

What comes back grows with the judged documents in the lists, not with the rows of the runs.  The result is the Scan
that ``io.runs.scan`` returns, and can be given wherever runs are expected, together with the same judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from venire.data.judgments import Items
from venire.data.runs import Facts, RunRules, Scan, no_common_topic
from venire.engine.seam import added_notes, places, united
from venire.errors import AmbiguousLabels
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.ragged import offsets
from venire.results import Note
from venire.spark.engine import Spark
from venire.spark.evaluate import bad_lists, divided, shared_with
from venire.spark.parts import LIST, Rows, find_hits, items_of_topics, lists_alone, topics_among
from venire.types import Codes, Ints

if TYPE_CHECKING:
    from pyspark.broadcast import Broadcast
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class HitFacts:
    """Lists and hits as in ``data.runs.Facts``, with the number of hits of each list; items are those of all parts."""

    systems: tuple[str, ...]
    unjudged_topics: tuple[str, ...]
    system: Codes
    topic: Codes
    depth: Ints
    n_hits: Ints
    rank: Codes
    item: Codes
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False)
class FindHits:
    """The job of ``scan``: find items, which every executor has, in the lists of a part."""

    items: Broadcast[Items]
    together: ClassVar[Mapping[str, tuple[str, ...]]] = {"runs": ("topic", "system")}

    def facts(self, part: Rows) -> HitFacts:
        """Find the items in the lists of a part."""
        topics = topics_among(part.lists, self.items.value.topics)
        which, items = items_of_topics(self.items.value, topics)
        found, notes = find_hits(part.lists, items)
        topic, item = topics[found.topic].astype(np.int32), which[found.item].astype(np.int32)
        numbers = (found.system, topic, found.depth, found.n_hits, found.rank, item)
        return HitFacts(
            found.systems, found.unjudged_topics, *numbers, tuple(n for n in notes if n.kind != "tied-lists")
        )

    def merged(self, facts: Sequence[HitFacts]) -> HitFacts:
        """Join the lists of all parts, with all systems in the order of their names."""
        systems = united(each.systems for each in facts)
        columns = ("topic", "depth", "n_hits", "rank", "item")
        joined = {name: np.concatenate([getattr(each, name) for each in facts]) for name in columns}
        system = np.concatenate([places(each.systems, systems)[each.system] for each in facts])
        unjudged, notes = united(each.unjudged_topics for each in facts), added_notes(n for f in facts for n in f.notes)
        return HitFacts(systems, unjudged, system, **joined, notes=notes)


def scan(
    judgments: JudgmentsLike,
    runs: DataFrame,
    *,
    order: str | None = None,
    strict: bool = False,
    partitions: int | None = None,
) -> Scan:
    """Find the judged documents in runs that are a data frame of Spark, for ``compare``, ``certify`` and others.

    Parameters
    ----------
    judgments : as ``read_judgments`` takes them; give the same Judgments to the function that the result is for
    runs, order, strict, partitions : as in ``venire.spark.evaluate``

    Notes
    -----
    ``compare(judgments, scan(judgments, runs_df))`` computes what it does with runs on this machine.  Cost: a shuffle
    and sort of the rows of the runs; the driver holds the judgments, and the rank of each judged document in each list.
    """
    items = as_judgments(judgments).items
    if items.intents is not None:
        raise AmbiguousLabels("labels for intents are not scanned on Spark", hint="use the local engine for them")
    bad = bad_lists(runs, order, strict=strict)
    with shared_with(bad.frame, items) as shared:
        job = FindHits(shared)
        answer = Spark(lists_alone).run(job, divided(bad.frame, partitions, LIST), HitFacts)
    found, n_bad = answer
    bad.notes(n_bad)
    if found is None or not len(found.topic):
        raise no_common_topic(found.unjudged_topics if found else (), items.topics)
    start = offsets(found.n_hits)
    names = (found.systems, found.system, found.topic, found.depth, start, found.rank, found.item)
    facts = Facts(items, *names, found.unjudged_topics).by_name()
    return Scan((), RunRules(order=order or "score"), facts=facts)

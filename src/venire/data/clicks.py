r"""Clicks: the counts of a click log: how often each document was shown, clicked, and clicked with satisfaction.

A *session* is what one user did with one result page: the rows of a log with the same session and topic.  A click is
satisfied if the user stayed on the document for 30 seconds (Golbus et al. 2014, doi:10.1145/2566486.2568015, Section
5.2.1, footnote 3); where a log has no dwell times, the last click of a session replaces it.

The mean click-through rate of a topic is, with :math:`s_d` satisfied clicks in :math:`n_d` impressions of document d,

.. math:: CTR = \frac{1}{|D|} \sum_{d \in D} \frac{s_d}{n_d}

The paper's text states the inverse ratio ("between the number of times documents were presented and the number of
satisfactory clicks"), which would grow with what nobody clicks, and be undefined for most documents.

Click labels are 2 for a document that had a satisfied click, at any rank, 1 for one that was clicked at all, else 0.

When not to use this: rates depend on the ranks of the documents.  A document low on every page is seen by few users
and clicked by fewer, however relevant it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Items, Judgments
from venire.data.runs import Runs, RunTable
from venire.data.scale import Scale
from venire.results import Note, Records, Tabular, counted
from venire.types import Codes, Floats, Ints

SCALE = Scale(("0", "1", "2"))
"""Click labels: never clicked, clicked, satisfied."""


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Counts at each rank that occurs, all (rank,)."""

    rank: Ints
    impressions: Ints
    clicks: Ints
    satisfied: Ints


@dataclass(frozen=True, eq=False)
class ShownLists:
    """The lists that were shown: topic, n_shown (list,); offset (list + 1,) into item (place,), first rank first.

    They are ordered by topic, the most frequent first; of those shown as often, the one seen first.
    """

    topic: Codes
    n_shown: Ints
    offset: Ints
    item: Codes

    def __len__(self) -> int:
        return len(self.topic)


@dataclass(frozen=True, eq=False, repr=False)
class Clicks(Tabular):
    """A click log, counted: impressions, clicks and satisfied clicks of each item, all (item,).

    rule: the definition of a satisfied click, in words; sessions: how many there are.
    """

    items: Items
    impressions: Ints
    clicks: Ints
    satisfied: Ints
    ranks: RankCounts
    lists: ShownLists
    sessions: int
    rule: str
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics."""
        return tuple(self.items.topics)

    @property
    def all_clicked(self) -> bool:
        """Whether every result was clicked, as in a log of clicks only, from which no rates can be estimated."""
        return bool((self.clicks == self.impressions).all())

    def rates(self) -> Floats:
        """Return satisfied clicks over impressions -> (item,)."""
        return self.satisfied / self.impressions

    def topic_rates(self) -> Floats:
        """Return the mean click-through rate over the documents of each topic -> (topic,)."""
        n_topics, topic = len(self.items.topics), self.items.topic
        return np.bincount(topic, self.rates(), minlength=n_topics) / np.bincount(topic, minlength=n_topics)

    def labels(self) -> Judgments:
        """Return click labels as judgments on the scale 0<1<2, by an assessor called ``clicks``."""
        label = (self.clicks > 0).astype(np.int32) + (self.satisfied > 0)
        item = np.arange(len(self), dtype=np.int32)
        return Judgments(SCALE, self.items, item, Category.constant("clicks", len(self)), label.astype(np.int32))

    def usual_lists(self, system: str = "shown") -> Runs:
        """Return the list that was shown most often for each topic, as the runs of one system."""
        lists = self.lists
        first = np.flatnonzero(np.diff(lists.topic, prepend=-1))
        length = np.diff(lists.offset)[first]
        place = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        item = lists.item[np.repeat(lists.offset[first], length) + place]
        topic = Category(self.items.topic[item], self.items.topics)
        docs = Category.of_slices(self.items.doc.slices.take(item))
        score = -place.astype(np.float64)
        return Runs((RunTable(system, Category.constant(system, len(item)), topic, docs, score),))

    def sentence(self) -> str:
        """Return a summary in one line."""
        shown, clicks, satisfied = (int(each.sum()) for each in (self.impressions, self.clicks, self.satisfied))
        return (
            f"{counted(self.sessions, 'session')}: {counted(shown, 'impression')} of {counted(len(self), 'document')} "
            f"for {counted(len(self.items.topics), 'topic')}, {counted(clicks, 'click')}, {satisfied:,} satisfied "
            f"({self.rule})"
        )

    def records(self) -> Records:
        """Return one row per document of a topic that was shown."""
        return self._first(len(self))[0]

    def _first(self, most: int) -> tuple[Records, int]:
        items = np.arange(min(most, len(self)))
        names = (self.items.topics.take(self.items.topic[items]), self.items.doc.take(items))
        counts = (each[items].tolist() for each in (self.impressions, self.clicks, self.satisfied))
        keys = ("topic", "doc", "impressions", "clicks", "satisfied")
        return [dict(zip(keys, row, strict=True)) for row in zip(*names, *counts, strict=True)], len(self)

    def __repr__(self) -> str:
        return f"<Clicks: {self.sentence()}>"

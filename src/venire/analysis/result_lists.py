"""Result lists: which documents a system, or a resource, returned for a topic; from runs, or from the resources.

In federated search a document belongs to the resource (the search engine) that returned it.  Which one is told as in
``resources``: by the document's name, a column, or a mapping; the name may tell the rank too, by ``{rank}`` in a
pattern or a group of that name in a regular expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from venire.analysis.resources import ResourceLike, resource_pattern, with_resources
from venire.data.facts import Facts
from venire.data.ids import natural_order
from venire.data.judgments import Items, Judgments
from venire.errors import SettingError
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class ResultLists:
    """Lists: topic, name (list,), the latter into ``names``.  Their judged documents: owner, item, rank (entry,).

    rank counts from 1; None where nothing tells it.
    """

    names: tuple[str, ...]
    topic: Codes
    name: Codes
    owner: Ints
    item: Codes
    rank: Codes | None

    def upto(self, k: int) -> ResultLists:
        """Forget what stands below rank k, if ranks are known; lists keep their numbers."""
        if self.rank is None:
            return self
        kept = self.rank <= k
        return replace(self, owner=self.owner[kept], item=self.item[kept], rank=self.rank[kept])

    @property
    def n_most(self) -> int:
        """Lists of the topic that has most."""
        return int(np.bincount(self.topic).max(initial=0))

    def sums(self, values: Floats | Bools) -> Floats:
        """Sum a value of the items up over the entries of each list: values (item,) -> (list,)."""
        return np.bincount(self.owner, values[self.item], minlength=len(self.topic)).astype(np.float64)

    def places(self, score: Floats) -> Ints:
        """Place of each list within its topic, from 0, best score first, ties by name: score (list,) -> (list,)."""
        order = np.lexsort((self.name, -score, self.topic))
        ordered = self.topic[order]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        return place


def lists_of_runs(facts: Facts) -> ResultLists:
    """Take each system's ranking of each topic as a list."""
    by_name = sorted(range(len(facts.systems)), key=facts.systems.__getitem__)
    place = np.argsort(by_name).astype(np.int32)
    names = tuple(facts.systems[n] for n in by_name)
    owner = np.repeat(np.arange(len(facts.depth)), facts.n_hits)
    return ResultLists(names, facts.topic, place[facts.system], owner, facts.item, facts.rank)


def lists_of_resources(judgments: Judgments, resource: ResourceLike) -> tuple[Judgments, ResultLists]:
    """Take the judged documents of each resource, for each topic, as a list; documents without one are in no list.

    resource : a pattern of document names, the name of a column, or a mapping from documents to resources; a column
    that told is no facet of the judgments any more
    """
    judgments, of_item = with_resources(judgments, resource)
    ranks = _ranks(judgments.items, resource) if isinstance(resource, str) else None
    item = np.flatnonzero(np.array([bool(name) for name in of_item.names])[of_item.codes]).astype(np.int32)
    found = of_item.take(item.astype(np.int64))
    order = natural_order(found.names)
    key = judgments.items.topic[item].astype(np.int64) * len(order) + np.argsort(order)[found.codes]
    lists, owner = np.unique(key, return_inverse=True)
    return judgments, ResultLists(
        tuple(found.names.take(order)),
        (lists // len(order)).astype(np.int32),
        (lists % len(order)).astype(np.int32),
        owner.astype(np.int64),
        item,
        None if ranks is None else ranks[item],
    )


def _ranks(items: Items, pattern: str) -> Codes | None:
    """Read the rank of every document from its name -> (item,), 0 where it does not fit; None without a rank."""
    read = _rank_pattern(pattern)
    if read is None:
        return None
    texts = [match["rank"] if (match := read.fullmatch(doc)) else "0" for doc in items.doc]
    wrong = next((text for text in texts if not (text or "").isdecimal()), None)
    if wrong is not None:
        raise SettingError(f"{pattern!r} reads the rank {wrong!r}, expected a number", hint="look at the pattern")
    return np.array(texts, dtype=np.int32)


def _rank_pattern(text: str) -> re.Pattern[str] | None:
    """A pattern of names with a group ``rank``: where a template has {rank}, or as it is."""
    if "{rank}" in text:
        swapped = text.replace("{resource}", "{other}").replace("{rank}", "{resource}")
        return re.compile(resource_pattern(swapped).pattern.replace("(?P<resource>", "(?P<rank>"))
    return re.compile(text) if "(?P<rank>" in text else None

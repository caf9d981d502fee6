"""Many judges with few labels each, as one judge: scoring costs as much as the labels that there are.

Every pair of judge and topic becomes a topic, every item that a judge labelled becomes an item, and every pair of
judge and list a list, whose hits are those on items that the judge labelled.  To a judge, items that others labelled
are unjudged documents, as they are in the array of all judges and items.  Cost: O(labels + labels of hits + judges x
lists), instead of O(judges x items).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from venire.data.ids import Ids
from venire.data.judgments import Items
from venire.data.panel import Panel
from venire.data.runs import Facts
from venire.kernels.ragged import copied, offsets
from venire.types import Floats, Ints


class OneJudge(NamedTuple):
    """Facts and labels of several judges as those of one; group (item,): the first of the copies of an item."""

    facts: Facts
    panel: Panel
    group: Ints | None
    n_judges: int

    def apart(self, scores: Floats) -> Floats:
        """Give each judge its scores again: (1, measure, judge x list) -> (judge, measure, list)."""
        return scores.reshape(scores.shape[1], self.n_judges, -1).transpose(1, 0, 2)


def as_one_judge(facts: Facts, panel: Panel, first: int, last: int, group: Ints | None) -> OneJudge:
    """Take judges first..last-1 of a panel as one."""
    rows = slice(*np.searchsorted(panel.judge, [first, last]))
    n_items, n_topics, n_lists, n_judges = panel.n_items, len(facts.items.topics), len(facts.depth), last - first
    key, place = np.unique(
        (panel.judge[rows].astype(np.int64) - first) * n_items + panel.item[rows], return_inverse=True
    )
    judge, item = np.divmod(key, max(n_items, 1))
    hits, cell = _hits_on_cells(facts, item)
    of_list = judge[cell] * n_lists + np.repeat(np.arange(n_lists), facts.n_hits)[hits]
    order = np.argsort(of_list, kind="stable")
    topic = np.tile(np.arange(n_topics), n_judges)
    items = Items(
        Ids(facts.items.topics.slices.take(topic)),
        (judge * n_topics + facts.items.topic[item]).astype(np.int32),
        Ids(facts.items.doc.slices.take(item)),
    )
    lists = replace(
        facts,
        items=items,
        system=np.tile(facts.system, n_judges),
        topic=(np.repeat(np.arange(n_judges) * n_topics, n_lists) + np.tile(facts.topic, n_judges)).astype(np.int32),
        depth=np.tile(facts.depth, n_judges),
        offset=offsets(np.bincount(of_list, minlength=n_judges * n_lists)),
        rank=facts.rank[hits[order]],
        item=cell[order].astype(np.int32),
    )
    labels = Panel(
        panel.judges[:1],
        np.zeros(len(place), dtype=np.int32),
        place.astype(np.int32),
        panel.label[rows],
        panel.weight[rows],
        len(key),
        probability=None if panel.probability is None else panel.probability[rows],
    )
    if group is not None:
        _, of_group, copy = np.unique(judge * n_items + group[item], return_index=True, return_inverse=True)
        group = of_group[copy]
    return OneJudge(lists, labels, group, n_judges)


def _hits_on_cells(facts: Facts, item: Ints) -> tuple[Ints, Ints]:
    """Pair each hit with the labels of its item, numbered as in item (label,): hit and label, both (pair,)."""
    by_item = np.argsort(item, kind="stable")
    n_labels = np.bincount(item, minlength=len(facts.items))
    hits, place = copied(n_labels[facts.item])
    return hits, by_item[offsets(n_labels)[facts.item[hits]] + place]

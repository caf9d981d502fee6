"""How p(R|i) depends on the quality of the results that it is estimated from.

Demeester et al. (2015), Section 6.1 and Figure 1: the lists of every topic are ranked, best first, by how many results
an assessor labelled L or higher, ties by name; p(R|i) is estimated from the documents of the first list of every topic,
of the first two, and so on up to all.  Every document belongs to the first list that holds it, so pairs are counted
once, by the place of that list, and accumulated.

Caution.  Where the labels of an assessor rank the lists and are second labels too, p(R|i) is too high for the first
lists: they come first because this assessor's labels there are high.  The one-sided estimate, from this assessor's
labels to those of others, does not have that bias; where possible it is computed too (``one_sided``).

Demeester et al. (2014), Section 6.2 and Table 3 (``list_subsets``): a list is of high quality if an assessor gave at
least one of its results a label in R.  p(R|i) is estimated from the documents of such lists, of the others, and of all;
each from the upper half of the ranks and from all of them.  A document in lists of both kinds counts in both.

Lists are those of runs, or of resources (search engines in federated search, see ``counting_resources``): the name of a
document may also have its rank, by ``{rank}`` in a pattern or a group of that name in a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.data.ids import natural_order
from venire.data.judgments import Items, Judgments
from venire.data.label_pairs import Pairs, distinct_items, named_assessors, two_sides
from venire.data.runs import Facts
from venire.data.scale import RelevantSets, Scale, relevant_sets
from venire.disagreement.counting_resources import ResourceLike, resource_pattern, with_resources
from venire.disagreement.predicted_relevance import PredictedRelevance, label_rows
from venire.disagreement.selection import safe_pairs
from venire.errors import PairsError, SettingError
from venire.kernels.label_pairs import pair_blocks
from venire.kernels.shares import FEW_PAIRS, shares, shares_and_pairs
from venire.results import Note, Records, Tabular
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class ResultLists:
    """Lists: topic, name (list,), the latter into ``names``.  Their judged documents: owner, item, rank (entry,).

    rank counts from 1; None where it is unknown.
    """

    names: tuple[str, ...]
    topic: Codes
    name: Codes
    owner: Ints
    item: Codes
    rank: Codes | None

    def upto(self, k: int) -> ResultLists:
        """Keep the first k ranks, if ranks are known; lists keep their numbers."""
        if self.rank is None:
            return self
        kept = self.rank <= k
        return replace(self, owner=self.owner[kept], item=self.item[kept], rank=self.rank[kept])

    @property
    def n_most(self) -> int:
        """Largest number of lists of a topic."""
        return int(np.bincount(self.topic).max(initial=0))

    def sums(self, values: Floats | Bools) -> Floats:
        """Sum a value of items over the entries of each list: values (item,) -> (list,)."""
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
    """Take the judged documents of each resource, for each topic, as a list; resource as in ``with_resources``."""
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
        raise SettingError(f"{pattern!r} reads the rank {wrong!r}, expected a number", hint="check the pattern")
    return np.array(texts, dtype=np.int32)


def _rank_pattern(text: str) -> re.Pattern[str] | None:
    """A pattern of names with a group ``rank``: where a template has {rank}, or as it is."""
    if "{rank}" in text:
        swapped = text.replace("{resource}", "{other}").replace("{rank}", "{resource}")
        return re.compile(resource_pattern(swapped).pattern.replace("(?P<resource>", "(?P<rank>"))
    return re.compile(text) if "(?P<rank>" in text else None


@dataclass(frozen=True, eq=False)
class ItemPairs:
    """Labels that are paired, and the judged document (item,) of each item: one has several where it has intents."""

    pairs: Pairs
    document: Codes

    def by_cell(self, cell: Ints, n_cells: int) -> Floats:
        """Count pairs by a number that every document has: cell (document,) -> (cell, first, second).

        Cost: O(items x labels^2); memory: a block of items, and the counts.
        """
        n_labels, own = len(self.pairs.scale), cell[self.document]
        counts = np.zeros((n_cells, n_labels, n_labels))
        for block, pairs in pair_blocks(self.pairs.sides, by_item=self.pairs.weight == "item"):
            for first, second in np.ndindex(n_labels, n_labels):
                counts[:, first, second] += np.bincount(own[block], pairs[:, first, second], minlength=n_cells)
        return counts


def item_pairs(judgments: Judgments, setting: PredictedRelevance) -> ItemPairs:
    """Pair labels as a fit does.  O(rows log rows)."""
    names = ("estimator", "observed", "reference", "weight")
    pairs = safe_pairs(judgments, **{name: getattr(setting, name) for name in names})
    item, _ = distinct_items(judgments)
    document = np.arange(len(pairs.topic), dtype=np.int32)
    document[item] = judgments.item
    return ItemPairs(pairs, document)


def labelled_share(judgments: Judgments, by: Sequence[str], marked: Bools) -> Floats:
    """Share of a document's labels by these assessors that are marked -> (document,); NaN where they gave none."""
    codes = [judgments.assessor.code_of(name, "assessor") for name in by]
    rows = np.isin(judgments.assessor.codes, codes)
    item, n_items = judgments.item[rows], len(judgments.items)
    n = np.bincount(item, minlength=n_items)
    hits = np.bincount(item, marked[judgments.label[rows]], minlength=n_items)
    return np.where(n > 0, hits / np.maximum(n, 1), np.nan)


KINDS = ("all", "high-quality", "low-quality")


@dataclass(frozen=True, eq=False)
class ListSubset:
    """p(R|i) and pairs (relevant, label) from lists of one kind, down to rank ``top`` (None: all that was judged)."""

    lists: str
    top: int | None
    p: Floats
    pairs: Floats


def list_subsets(
    judgments: Judgments,
    lists: ResultLists,
    paired: ItemPairs,
    *,
    by: tuple[str, ...],
    relevant: RelevantSets,
    top: int,
) -> tuple[ListSubset, ...]:
    """p(R|i) from all lists, those of high quality and the others, down to half the depth and the whole."""
    depths = sorted({max(top // 2, 1), top}) if lists.rank is not None else [None]
    keys = [(kind, depth) for depth in depths for kind in KINDS]
    found = [_members(judgments, lists, by, marked, depths) for marked in relevant.labels]
    p, n = np.full((2, len(keys), len(relevant.names), len(judgments.scale)), np.nan)
    for row, members in enumerate(found):
        bits = (members << np.arange(len(keys))[:, None]).sum(axis=0)
        used, cell = np.unique(bits, return_inverse=True)
        counts = paired.by_cell(cell, len(used))
        inside = (used >> np.arange(len(keys))[:, None] & 1).astype(np.float64)
        sums = np.tensordot(inside, counts, axes=1)
        p[:, row], n[:, row] = (each[:, 0] for each in shares_and_pairs(sums, relevant.labels[[row]]))
    return tuple(ListSubset(kind, depth, p[k], n[k]) for k, (kind, depth) in enumerate(keys))


def _members(
    judgments: Judgments, lists: ResultLists, by: tuple[str, ...], marked: Bools, depths: Sequence[int | None]
) -> Ints:
    """Whether an item is in a list of each kind and depth -> (depth x kind, item), 0 or 1."""
    hit = np.nan_to_num(labelled_share(judgments, by, marked)) > 0
    high = lists.sums(hit) > 0
    rows = []
    for depth in depths:
        kept = lists if depth is None else lists.upto(depth)
        for chosen in (np.ones_like(high), high, ~high):
            inside = np.zeros(len(judgments.items), dtype=np.int64)
            inside[kept.item[chosen[kept.owner]]] = 1
            rows.append(inside)
    return np.array(rows)


TOP = 10


@dataclass(frozen=True, eq=False)
class QualitySensitivity(Tabular):
    """p(R|i) and pairs (list, relevant, label) from the first 1, 2, ... lists of every topic.

    by: whose labels ranked the lists, ``level`` or higher being good; one_sided: p from the labels of these alone, None
    where that is the same or impossible; outside: share of the pairs that are in no list; judged: share of the items in
    lists that have such labels; selected: whether such labels come second, too.
    """

    scale: Scale
    relevant: RelevantSets
    by: tuple[str, ...]
    level: str
    p: Floats
    pairs: Floats
    one_sided: Floats | None
    subsets: tuple[ListSubset, ...]
    outside: float
    judged: float
    selected: bool

    def sentence(self, row: int = 0) -> str:
        """Say p(R|i) in the best lists and in all, for the label with the largest difference."""
        change = np.abs(self.p[0, row] - self.p[-1, row])
        if np.isnan(change).all():
            return "The best lists have no items judged twice."
        enough = self.pairs[0, row] >= FEW_PAIRS
        level = int(np.nanargmax(np.where(enough, change, np.nan) if enough.any() else change))
        p, unbiased = self.p[:, row, level], ""
        if self.one_sided is not None:
            first, last = self.one_sided[[0, -1], row, level]
            unbiased = f"; one-sided from {', '.join(self.by[:3])}, who rank the lists, {first:.2f} and {last:.2f}"
        return (
            f"p({self.relevant.names[row]}|{self.scale.labels[level]}) is {p[0]:.2f} in the best list of each topic, "
            f"{p[-1]:.2f} in all {len(p)} lists{unbiased}."
        )

    def records(self) -> Records:
        """Return one row per number of lists, notion of relevance and label: p(R|i), and the pairs behind it."""
        one_sided = np.full_like(self.p, np.nan) if self.one_sided is None else self.one_sided
        return [
            {"lists": number, **row}
            for number, (p, pairs, one) in enumerate(zip(self.p, self.pairs, one_sided, strict=True), 1)
            for row in label_rows(self.relevant, self.scale, {"p": p, "pairs": pairs, "one_sided": one})
        ]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to be careful about."""
        found, by = [], self.by[:3]
        if self.outside > 0:
            text = "{share:.0%} of the pairs of labels are on items in no list, and left out"
            found.append(Note("pairs-outside-lists", text, share=self.outside))
        if self.judged < 0.5:
            text = "the labels that rank the lists, by {by:list}, are on {share:.0%} of the items in lists only"
            found.append(Note("few-ranking-labels", text, by=by, share=self.judged))
        if self.selected and self.one_sided is None:
            text = (
                "labels by {by:list} rank the lists and are second labels too, so p(R|i) is too high for the first "
                "lists; rank them by the labels of the observed assessors"
            )
            found.append(Note("ranking-labels-second", text, by=by))
        return tuple(found)


def against_quality(
    judgments: Judgments,
    lists: ResultLists,
    setting: PredictedRelevance,
    *,
    by: Sequence[str] = (),
    level: str | None = None,
    top: int = TOP,
) -> QualitySensitivity:
    """Estimate p(R|i) from an increasing number of lists, best first.

    Parameters
    ----------
    lists : made by ``lists_of_runs`` or ``lists_of_resources`` from the items of the judgments
    setting : how labels are paired; its prior is not used
    by : assessors whose labels rank the lists; by default those observed, else the reference, else who gave most
    level : a result with this label or higher is good; by default the middle of the scale, upper half
    top : how many results of each list count, where ranks are known

    Cost: O(rows log rows + items x labels^2) for each notion of relevance, and the entries of the lists.
    """
    if top < 1:
        raise SettingError(f"the first {top} results of each list: expected 1 or more")
    relevant = relevant_sets(judgments.scale, setting.relevant)
    lists, by = lists.upto(top), tuple(named_assessors(by)) or _usual_order(judgments, setting)
    middle = judgments.scale.labels[len(judgments.scale) // 2]
    level = level or (middle if judgments.scale.ordered else relevant.names[0])
    good = labelled_share(judgments, by, relevant_sets(judgments.scale, level).labels[0])
    place = lists.places(lists.sums(np.nan_to_num(good)))
    n_lists = lists.n_most
    step = np.full(len(judgments.items), n_lists, dtype=np.int64)
    np.minimum.at(step, lists.item, place[lists.owner])
    paired, observed = item_pairs(judgments, setting), _read_from(judgments, setting, by)
    counts = paired.by_cell(step, n_lists + 1)
    inside = counts[:-1].cumsum(axis=0)
    one_sided = None if observed is None else item_pairs(judgments, observed).by_cell(step, n_lists + 1)[:-1]
    if n_lists == 0 or not inside[-1].sum() > 0:
        raise PairsError("no item in a list was judged by two assessors", hint="judge results of the lists twice")
    return QualitySensitivity(
        judgments.scale,
        relevant,
        by,
        level,
        *shares_and_pairs(inside, relevant.labels),
        None if one_sided is None else shares(one_sided.cumsum(axis=0), relevant.labels),
        list_subsets(judgments, lists, paired, by=by, relevant=relevant, top=top),
        float(counts[-1].sum() / counts.sum()),
        float((~np.isnan(good[step < n_lists])).mean()),
        bool(_second(judgments, setting) & set(by)),
    )


def _usual_order(judgments: Judgments, setting: PredictedRelevance) -> tuple[str, ...]:
    """Whose labels rank the lists by default."""
    named = tuple(named_assessors(setting.observed)) or tuple(named_assessors(setting.reference))
    if named:
        return named
    n_labels = np.bincount(judgments.assessor.codes, minlength=len(judgments.assessor.names))
    return (judgments.assessors[int(np.argmax(n_labels))],)


def _second(judgments: Judgments, setting: PredictedRelevance) -> set[str]:
    """Name the assessors whose labels may come second."""
    first, second = two_sides(judgments, setting.observed, setting.reference)
    chosen = first | second if setting.estimator == "paired" else second
    return {judgments.assessors[n] for n in np.flatnonzero(chosen)}


def _read_from(judgments: Judgments, setting: PredictedRelevance, by: tuple[str, ...]) -> PredictedRelevance | None:
    """Observe the labels that rank the lists, those of others second; None where that is another question."""
    named = bool(setting.observed or setting.reference)
    others = _second(judgments, setting) - set(by)
    if not others or (named and setting.estimator != "paired"):
        return None
    return replace(setting, estimator="one-sided", observed=by, reference=sorted(others))

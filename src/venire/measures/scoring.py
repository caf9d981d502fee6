"""Scoring: how runs are scored, and the arithmetic from facts and labels to scores, for a block of judges at a time.

Measures that give every label the same value share the arrays of gains.  What a measure needs from the best ranking is
computed once per topic; the measure itself runs over blocks of lists.

Gains have one row per judge, so that every array a measure reads is (judge, list, slot), in blocks of lists
(``blocks``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from venire.data.gains import Gains, GainsLike, gains_for
from venire.data.judgments import Items
from venire.data.panel import Panel, Pool
from venire.data.runs import Facts
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, MeasureError, UnknownName, Way
from venire.io.duplicates import Duplicates
from venire.io.limits import refuse_crowd
from venire.kernels.ragged import offsets
from venire.measures.blocks import list_blocks, topic_blocks
from venire.measures.by_intent import ByNeed
from venire.measures.few_labels import as_one_judge
from venire.measures.measure import (
    NOWHERE,
    Measure,
    Ranked,
    Strata,
    Worth,
    alpha_of,
    measure as custom_measure,
    share,
)
from venire.measures.names import parse_measure, spelled
from venire.measures.strata import strata_of
from venire.results import read_number
from venire.types import Bools, Floats, Ints

JUDGE_CELLS = 1 << 24
"""How many gains (judges x items) are held at a time."""
MANY = 16
"""From so many judges on, sums of gains are computed as a product of matrices."""
FEW_VALUES = 16
"""With more distinct gains, the best ranking is found by sorting."""
SPARSE = 8
"""Where items have on average fewer labels than one in so many judges gives, only labels that exist are scored."""
MISSING = ("zero", "skip")

MeasureLike = Measure | str | Callable[[Floats], Any]


@dataclass(frozen=True, eq=False)
class Scoring:
    """How runs are scored: whose labels count, what they are worth, which topics, and rules for what is missing.

    The fields are the keyword arguments of ``evaluate``, where they are described.
    """

    assessor: str | None = None
    per: str | None = None
    pool: str | Pool | None = None
    gains: GainsLike = "linear"
    unjudged: float | str = 0.0
    missing: str = "zero"
    topics: Iterable[str] | None = None
    duplicates: Duplicates | None = None

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise UnknownName("rule for missing topics", self.missing, MISSING)
        object.__setattr__(self, "topics", None if self.topics is None else tuple(self.topics))

    def plan(self, measures: Sequence[MeasureLike], scale: Scale, *, in_context: bool = False) -> Plan:
        """Resolve measures and gains for labels on a scale."""
        return Plan.of(measures, gains_for(self.gains, scale), self.unjudged, in_context=in_context)


@dataclass(frozen=True, eq=False)
class Plan:
    """What to compute: measures by name, the value of each label for each, and the rule for unjudged documents."""

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    worths: tuple[Worth, ...]
    condensed: bool

    @classmethod
    def of(
        cls, measures: Sequence[MeasureLike], gains: Gains, unjudged: float | str, *, in_context: bool = False
    ) -> Plan:
        """Resolve measures and gains; reject what is not defined, and alpha except ``in_context``."""
        if not measures:
            raise MeasureError("no measure was given", hint='for example "nDCG@10"')
        known = tuple(map(as_measure, measures))
        for each in known if not in_context else ():
            if alpha_of(each) > 0:
                message = f"{each} needs conditional labels, and only labels in isolation are used here"
                raise MeasureError(message, hint="evaluate (venire evaluate) uses conditional labels; set alpha=0 here")
        condensed = unjudged == "condensed"
        gain = 0.0 if condensed else _unjudged_gain(unjudged)
        for each in known if condensed or gain > 0 else ():
            if each.by_intent or each.of_sample:
                message = f"{each} is defined for lists in which unjudged documents stay, without gain"
                raise MeasureError(message, hint="leave the rule for unjudged documents out")
        for each in known if gain > 0 else ():
            message = f"{each} is not defined when unjudged documents have a gain"
            if each.normalised and alpha_of(each) > 0:
                hint = "leave unjudged documents without gain, or use a measure that is not normalised, such as CCG"
                raise MeasureError(f"{message}: their conditional labels are unknown", hint=hint)
            if each.counts_relevant or (each.k is None and each.normalised):
                hint = "use a measure that needs no count of relevant documents, such as nDCG@10 or P@10"
                raise MeasureError(f"{message}: it would depend on how many there are", hint=hint)
        names = tuple(
            spelled(name) if isinstance(name, str) else str(own) for name, own in zip(measures, known, strict=True)
        )
        return cls(names, known, tuple(each.worth(gains, gain) for each in known), condensed)

    @property
    def contextual(self) -> list[int]:
        """Numbers of the measures that use conditional labels."""
        return [number for number, each in enumerate(self.measures) if alpha_of(each) > 0]

    def only(self, numbers: Sequence[int]) -> Plan:
        """Keep some of the measures."""
        fields = ("names", "measures", "worths")
        chosen: dict[str, Any] = {name: tuple(getattr(self, name)[n] for n in numbers) for name in fields}
        return replace(self, **chosen)

    def resolved(self, facts: Facts) -> Plan:
        """Let measures that use all ranks know how deep the deepest list is."""
        deepest = int(facts.depth.max(initial=1))
        return replace(self, measures=tuple(each.resolved(deepest) for each in self.measures))

    def require_fit(self, items: Items) -> None:
        """Raise where labels are for intents and a measure is not, or the other way round."""
        for name, each in zip(self.names, self.measures, strict=True):
            if each.by_intent and items.intents is None:
                raise MeasureError(
                    f"{name} scores labels for several intents of a topic, and these judgments have none",
                    hint="name the column of intents intent or subtopic, or read the second column of qrels as intents",
                )
            if not each.by_intent and items.intents is not None:
                raise AmbiguousLabels(
                    f"the labels are for several intents of a topic, and {name} scores documents for one",
                    hint=[Way("choose one", where="intent=NAME"), "use measures by intent, such as alpha_nDCG@10"],
                )

    @property
    def unjudged_known(self) -> bool:
        """Whether a rule for unjudged documents was stated."""
        return self.condensed or any(worth.unjudged > 0 for worth in self.worths)

    @property
    def depth(self) -> int | None:
        """The deepest rank that any measure uses; None for the whole list."""
        cuts = [each.k for each in self.measures]
        return None if self.condensed or None in cuts else max(k for k in cuts if k is not None)

    def by_worth(self) -> Iterator[tuple[Worth, list[int]]]:
        """Group the measures that give every label the same value, in isolation and in context."""
        groups: dict[bytes, list[int]] = {}
        for number, (each, worth) in enumerate(zip(self.measures, self.worths, strict=True)):
            alpha = alpha_of(each)
            powers = (worth.powers or 0.0) if alpha > 0 else 0.0
            rest = np.array([worth.unjudged, alpha, powers, worth.sampled, worth.stratified])
            groups.setdefault(worth.values.tobytes() + rest.tobytes(), []).append(number)
        for numbers in groups.values():
            yield self.worths[numbers[0]], numbers


def as_measure(measure: MeasureLike) -> Measure:
    """Convert a name, or a function of gains by rank, to a measure."""
    if isinstance(measure, str):
        return parse_measure(measure)
    if not callable(measure):
        raise MeasureError(f"found {measure!r}, expected a measure", hint='for example "nDCG@10"')
    return measure if isinstance(measure, Measure) else custom_measure(measure)


def _unjudged_gain(unjudged: float | str) -> float:
    try:
        gain = read_number(unjudged) if isinstance(unjudged, str) else float(unjudged)
    except ValueError:
        raise UnknownName("rule for unjudged documents", str(unjudged), ["condensed", "0", "0.1"]) from None
    if not 0 <= gain < np.inf:
        message = f"the gain of unjudged documents is {gain:g}, expected a number from 0 on"
        raise MeasureError(message, hint="0 is the default")
    return gain


class Judges(Protocol):
    """Whose labels count: a panel of assessors, or simulated judges or users."""

    @property
    def judges(self) -> Sequence[str | None]:
        """Their names."""

    @property
    def n_items(self) -> int:
        """How many items there are."""

    @property
    def unmixed(self) -> bool:
        """Whether every gain is the value of one label."""

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, for judges first..last-1; both (judge, item)."""


def score_facts(facts: Facts, panel: Judges, plan: Plan, *, group: Ints | None = None) -> Floats:
    """Score every list for every judge -> (judge, measure, list).

    group (item,): items with the same number are copies of one document.
    Cost: O(judges x hits) per measure, or O(labels of hits + judges x lists) where judges labelled few of the items;
    memory: blocks of bounded size, and the answer.
    """
    plan = plan.resolved(facts)
    n_judges = len(panel.judges)
    refuse_crowd(n_judges)
    plan.require_fit(facts.items)
    intents = facts.items.intents
    by_need = None if intents is None else ByNeed.of(facts, intents, depth=plan.depth)
    scores = np.zeros((n_judges, len(plan.measures), len(facts.depth)))
    sparse = isinstance(panel, Panel) and by_need is None and n_judges * panel.n_items > SPARSE * len(panel.item)
    sparse = sparse and not any(each.of_pool for each in plan.measures)
    step = max(1, JUDGE_CELLS // max(len(facts.depth) + len(facts.items.topics) if sparse else panel.n_items, 1))
    for first in range(0, n_judges, step):
        last = min(first + step, n_judges)
        one = as_one_judge(facts, panel, first, last, group) if sparse and isinstance(panel, Panel) else None
        for worth, numbers in plan.by_worth():
            chosen = (panel, first, last) if one is None else (one.panel, 0, 1)
            strata = _strata(panel, facts.items, first, last) if worth.stratified else None
            mixed = worth.sampled or strata is not None or not panel.unmixed
            labels = Labels.of(*_gains(*chosen, worth), worth.unjudged, None if mixed else np.unique(worth.values))
            labels = labels if strata is None else labels.weighted(strata)
            some = plan.only(numbers)
            if by_need is not None:
                scores[first:last, numbers] = by_need.score(labels.gains, labels.judged, some.measures)
            elif one is not None:
                scores[first:last, numbers] = one.apart(_score_judges(one.facts, labels, some, one.group))
            else:
                scores[first:last, numbers] = _score_judges(facts, labels, some, group)
    return scores


def _gains(panel: Judges, first: int, last: int, worth: Worth) -> tuple[Floats, Bools]:
    """Gain of every item by a measure's values, and whether it was judged, for some judges; both (judge, item)."""
    return sampled_gains(panel, worth, first, last) if worth.sampled else panel.gains(worth.values, first, last)


def sampled_gains(panel: Judges, worth: Worth, first: int, last: int) -> tuple[Floats, Bools]:
    """Gains divided by the probability with which each item was chosen for its label; as ``Panel.gains``."""
    if not isinstance(panel, Panel) or panel.probability is None:
        raise _no_probability("statAP", panel)
    return panel.gains(worth.values, first, last, sampled=True)


def _strata(panel: Judges, items: Items, first: int, last: int) -> Strata | None:
    """Strata of the pools of judges first..last-1; None if each pool is one stratum, as it is without probabilities."""
    if isinstance(panel, Panel) and panel.probability is not None:
        return strata_of(panel, items, first, last)
    if items.undrawn is not None and items.undrawn.strata:
        raise _no_probability("infAP", panel)
    return None


def _no_probability(measure: str, panel: Judges) -> MeasureError:
    """Error of a measure that needs probabilities of labels that have none."""
    what, way = "these labels", "read judgments with a column probability"
    if not isinstance(panel, Panel):
        what = "labels that are drawn by a model"
        way = Way("to compare systems, leave out all assessors but one", where="assessor=NAME")
    elif panel.judges == (None,):
        what, way = "pooled labels", "choose one assessor or score for each"
    message = f"{measure} needs the probability with which each label was sampled, and {what} have none"
    return MeasureError(message, hint=[way, "use AP"])


class Labels(NamedTuple):
    """Gains and whether judged, (judge, item + 2): the items, then an unjudged document, and an empty slot.

    values: the gains that judged items may have, ascending; None where they are mixtures of those of labels.  strata:
    by whose weights the gains are multiplied; None if they are not.
    """

    gains: Floats
    judged: Bools
    unjudged: float
    values: Floats | None = None
    strata: Strata | None = None

    @classmethod
    def of(cls, gains: Floats, judged: Bools, unjudged: float, values: Floats | None = None) -> Labels:
        """Append the two items that no topic has; an item that the judge did not label is an unjudged document."""
        n_judges, n_items = gains.shape
        full, seen = np.empty((n_judges, n_items + 2)), np.zeros((n_judges, n_items + 2), dtype=np.bool_)
        full[:, :-2], seen[:, :-2] = gains, judged
        np.copyto(full[:, :-2], unjudged, where=~judged)
        full[:, -2:] = unjudged, 0.0
        return cls(full, seen, unjudged, values)

    def weighted(self, strata: Strata) -> Labels:
        """Multiply gains by the weights of strata."""
        return self._replace(gains=self.gains * strata.weight[strata.number], strata=strata)


def _score_judges(facts: Facts, labels: Labels, plan: Plan, group: Ints | None) -> Floats:
    """Score every list for a few judges by measures that share gains -> (judge, measure, list)."""
    n_judges, n_items = labels.gains.shape[0], labels.gains.shape[1] - 2
    ideals = ideals_of(facts, labels, plan, group)
    scores = np.empty((n_judges, len(plan.measures), len(facts.depth)))
    every_rank = labels.unjudged > 0
    summed = n_judges >= MANY and not (every_rank or plan.condensed) and group is None
    added = [n for n, each in enumerate(plan.measures) if summed and each.adds and not alpha_of(each)]
    for number in added:
        scores[:, number] = _sums(facts, labels, plan.measures[number], ideals[number])
    if len(added) == len(plan.measures):
        return scores
    for block in list_blocks(facts, n_items, depth=plan.depth, every_rank=every_rank, n_judges=n_judges):
        gains, judged = labels.gains[:, block.item], labels.judged[:, block.item]
        if group is not None:
            gains = np.where(copies(judged, np.append(group, [n_items, n_items + 1])[block.item]), 0.0, gains)
        rank = block.rank
        if plan.condensed:
            rank = np.where(judged, judged.cumsum(axis=-1), NOWHERE)
        depth = judged.sum(axis=-1) if plan.condensed else block.depth
        strata = labels.strata and labels.strata._replace(number=labels.strata.number[:, block.item])
        ranked = Ranked(gains, rank, judged, depth, strata=strata)
        for number, (each, ideal) in enumerate(zip(plan.measures, ideals, strict=True)):
            if number not in added:
                best = None if ideal is None else ideal[:, facts.topic[block.lists]]
                scores[:, number, block.lists] = each(replace(ranked, ideal=best))
    return scores


def _sums(facts: Facts, labels: Labels, measure: Measure, ideal: Floats | None) -> Floats:
    """Score every list by a measure that adds up gains: sparse weights of ranks times gains -> (judge, list)."""
    from scipy.sparse import csr_array

    seen = facts.rank <= (measure.k or NOWHERE)
    item, start = facts.item[seen], offsets(seen.astype(np.int64))[facts.offset]
    used = np.bincount(item, minlength=labels.gains.shape[1]) > 0
    column = (np.cumsum(used) - 1)[item]
    weights = csr_array(
        (measure.weights(facts.rank[seen].astype(np.int64)), column, start), (len(facts.depth), int(used.sum()))
    )
    total = (weights @ np.ascontiguousarray(labels.gains[:, used].T)).T
    return total if ideal is None else share(total, ideal[:, facts.topic])


def ideals_of(facts: Facts, labels: Labels, plan: Plan, group: Ints | None) -> list[Floats | None]:
    """Compute what each measure needs from the best ranking of every topic -> (judge, topic, ...) or None."""
    asking = [number for number, each in enumerate(plan.measures) if each.normalised]
    found: list[Floats | None] = [None] * len(plan.measures)
    if not asking:
        return found
    depth = max((plan.measures[number].k or 0 for number in asking), default=0)
    looked_at = [plan.measures[number].best_depth for number in asking]
    enough = None if None in looked_at else depth
    n_items_of = np.bincount(facts.items.topic, minlength=len(facts.items.topics))
    few = group is None and labels.values is not None and len(labels.values) <= FEW_VALUES
    counting = _counted(labels, n_items_of, enough) if few and enough else None
    for topics, first in counting or _sorted(labels, n_items_of, enough, group):
        best = _best_ranking(first, labels.unjudged, depth)
        for number in asking:
            part = plan.measures[number].ideal_of(best)
            if part is not None:
                found[number] = _inserted(found[number], part, topics, len(n_items_of))
    return found


def _sorted(labels: Labels, n_items_of: Ints, depth: int | None, group: Ints | None) -> Iterator[tuple[Ints, Floats]]:
    """Yield topics and their gains (judge, topic, slot), highest first and -1 for what is not judged, in blocks."""
    gains = np.where(labels.judged, labels.gains, -1.0)
    if group is not None:
        gains = one_of_each(gains, group)
    for topics, item in topic_blocks(n_items_of, gains.shape[1] - 1, n_judges=len(gains)):
        yield topics, _best_first(gains[:, item], depth)


def _counted(labels: Labels, n_items_of: Ints, depth: int) -> Iterator[tuple[Ints, Floats]]:
    """Yield the ``depth`` highest gains as ``_sorted`` does, but at once: by counting the items of each value."""
    gains, judged = labels.gains[:, :-2], labels.judged[:, :-2]
    topics = np.flatnonzero(n_items_of)
    start = offsets(n_items_of)[topics]
    place = np.arange(min(depth, int(n_items_of.max(initial=0))))
    first = np.full((len(gains), len(topics), len(place)), -1.0)
    for value in () if labels.values is None or not len(topics) else labels.values.tolist():
        reached = gains >= value
        if value <= labels.unjudged:
            reached &= judged
        count = np.add.reduceat(reached.view(np.int8), start, axis=1, dtype=np.int32)
        np.copyto(first, value, where=place < count[:, :, None])
    yield topics, first


def _best_first(gains: Floats, depth: int | None) -> Floats:
    """Sort gains (judge, topic, slot) in place, highest first, or no more than the first ``depth`` of them."""
    if depth is not None and 0 < depth < gains.shape[-1]:
        gains.partition(gains.shape[-1] - depth, axis=-1)
        gains = gains[..., -depth:]
    gains.sort(axis=-1)
    return gains[..., ::-1]


def _best_ranking(gains: Floats, unjudged: float, depth: int) -> Ranked:
    """Rank gains in order, -1 = not judged; unjudged documents with a gain replace lesser ones."""
    if unjudged > 0:
        pad = max(0, depth - gains.shape[-1])
        gains = np.pad(gains, [(0, 0), (0, 0), (0, pad)], constant_values=-1.0)
        gains = np.maximum(gains, unjudged)
    rank = np.broadcast_to(np.arange(1, gains.shape[-1] + 1), gains.shape[1:])
    depths = np.full(gains.shape[1], gains.shape[-1])
    return Ranked(np.maximum(gains, 0.0), rank, gains >= 0, depths)


def _inserted(whole: Floats | None, part: Floats, topics: Ints, n_topics: int) -> Floats:
    """Insert a block (judge, topic, ...) into the whole; a shorter last axis is padded with its last value.

    Blocks come longest first, so the first one determines the length.
    """
    if whole is None:
        whole = np.zeros((len(part), n_topics, *part.shape[2:]))
    if part.ndim == 3 and 0 < part.shape[2] < whole.shape[2]:
        part = np.pad(part, [(0, 0), (0, 0), (0, whole.shape[2] - part.shape[2])], mode="edge")
    whole[:, topics] = part
    return whole


def one_of_each(gains: Floats, group: Ints) -> Floats:
    """Keep the best gain of every group of copies, -1 for the others; gains (judge, item + 2), group (item,)."""
    best = np.full_like(gains.T, -1.0)
    np.maximum.at(best, group, gains.T[: len(group)])
    best[len(group) :] = gains.T[len(group) :]
    return best.T


def copies(judged: Bools, group: Ints) -> Bools:
    """Mark judged documents that are copies of a judged document higher up in the same list.

    judged (judge, list, slot), group (list, slot) -> (judge, list, slot)
    """
    order = np.argsort(group, axis=-1, kind="stable")
    ordered = np.take_along_axis(group, order, axis=-1)
    slot = np.arange(group.shape[-1])
    starts = np.append(np.ones((len(group), 1), dtype=np.bool_), ordered[:, 1:] != ordered[:, :-1], axis=1)
    first = np.maximum.accumulate(np.where(starts[:, : len(slot)], slot, 0), axis=-1)
    ordered_judged = np.take_along_axis(judged, order[None], axis=-1)
    above = ordered_judged.cumsum(axis=-1) - ordered_judged
    again = ordered_judged & (above > np.take_along_axis(above, first[None], axis=-1))
    return np.take_along_axis(again, np.argsort(order, axis=-1)[None], axis=-1)

"""Pairs of labels on the same item by different assessors.

Three estimators use different ordered pairs of a first label (observed) and a second one (that of another person):

    paired       Demeester et al. (2015), Eq. (5): both labels of a double judgment come first once
    one-sided    Eq. (4): the first label is by an observed assessor, the second by a reference assessor
    labels       every ordered pair of labels by distinct assessors; equals ``paired`` where items have two labels

A document judged for several intents, or after several other documents, is a separate item each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import PairsError, UnknownName, reasons
from venire.kernels.distinct import distinct
from venire.kernels.label_pairs import PairSums, Sides, histogram, pair_sums, repeated_cells
from venire.randomness import FEW_TOPICS
from venire.results import Note, counted, first_few
from venire.types import Bools, Codes, Ints

ESTIMATORS = ("paired", "one-sided", "labels")
WEIGHTS = ("pair", "item")
APART = ("aspect", "unit", "task")
"""Facets whose values are never mixed, since such labels answer different questions."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Paired labels: counts of both sides by item, and the topic (item,) of each item."""

    scale: Scale
    topics: tuple[str, ...]
    topic: Codes
    sides: Sides
    estimator: str
    weight: str = "pair"

    def sums(self, relevant: Bools) -> PairSums:
        """Sum the pairs up by topic; relevant (relevant, label)."""
        return pair_sums(self.sides, self.topic, len(self.topics), relevant, by_item=self.weight == "item")


def pair_up(
    judgments: Judgments,
    *,
    estimator: str | None = None,
    observed: Sequence[str] = (),
    reference: Sequence[str] = (),
    weight: str = "pair",
    sides: tuple[Bools, Bools] | None = None,
) -> Pairs:
    """Pair labels; the default estimator is ``paired`` or, where items have more than two labels, ``labels``.

    observed, reference: assessors whose label comes first, or second; if only one is given, the other is everybody
    else.  weight: every ordered pair counts once ("pair"), or every item ("item").  sides: in place of names, the
    labels that come first, and second, (row,) each; pairs are then one-sided.
    """
    _check(estimator, weight)
    refuse_mixed(judgments)
    observed, reference = named_assessors(observed), named_assessors(reference)
    if len(judgments) == 0:
        raise PairsError("there is no label to pair", hint=reasons(judgments.notes))
    named = bool(observed or reference)
    item, topic = distinct_items(judgments)
    if sides is not None:
        return Pairs(
            judgments.scale, judgments.topics, topic, _sides(judgments, item, len(topic), *sides), "one-sided", weight
        )
    most = 2 if named or estimator in ("one-sided", "labels") else most_assessors(judgments, item)
    if estimator is None:
        estimator = "one-sided" if named else "paired" if most <= 2 else "labels"
    if estimator == "one-sided" and not named:
        message = "one-sided pairs need to know whose label is observed, and whose is the reference"
        raise PairsError(message, hint=f"name observed assessors, reference assessors, or both: {_some(judgments)}")
    if estimator == "labels" and named:
        message = "all labels are paired with each other, so none is observed or a reference"
        raise PairsError(message, hint="use the one-sided or the paired estimator with named assessors")
    if estimator == "paired" and most > 2:
        message = f"an item was judged by {most} assessors, and paired counts double judgments"
        raise PairsError(message, hint="use the estimator labels, or name the observed and the reference assessors")
    first, second = two_sides(judgments, observed, reference)
    who = judgments.assessor.codes
    paired = _sides(judgments, item, len(topic), first[who], second[who])
    mirrored = estimator == "paired" and named
    return Pairs(judgments.scale, judgments.topics, topic, paired._replace(mirrored=mirrored), estimator, weight)


def refuse_mixed(judgments: Judgments) -> None:
    """Raise where labels are for several aspects, units or tasks."""
    judgments.require_one(*APART, reason="those are never paired")


def most_assessors(judgments: Judgments, item: Codes) -> int:
    """Return the largest number of assessors who judged one item.  O(rows log rows) at most."""
    who, n_assessors = judgments.assessor.codes, len(judgments.assessor.names)
    if n_assessors <= 2 or np.bincount(item).max(initial=0) <= 2:
        return 1 + int(judged_by_two(item, who).any())
    cell = distinct(item.astype(np.int64) * n_assessors + who)
    return int(np.bincount(cell // n_assessors).max(initial=0))


def judged_by_two(item: Codes, who: Codes | Bools) -> Bools:
    """Whether two assessors or more judged the item of each label -> (row,).  O(rows)."""
    n_items = int(item.max(initial=-1)) + 1
    someone = np.zeros(n_items, dtype=who.dtype)
    someone[item] = who
    by_two: Bools = np.bincount(item[someone[item] != who], minlength=n_items)[item] > 0
    return by_two


def _check(estimator: str | None, weight: str) -> None:
    if estimator not in (None, *ESTIMATORS):
        raise UnknownName("estimator", str(estimator), ESTIMATORS)
    if weight not in WEIGHTS:
        raise UnknownName("weight", weight, WEIGHTS)


def distinct_items(judgments: Judgments) -> tuple[Codes, Codes]:
    """Number the items: item (row,), topic (item,); another intent, or document read before, is another item."""
    facets = [judgments.facets[name] for name in ("intent", "given") if name in judgments.facets]
    facets = [facet for facet in facets if len(facet.names) > 1]
    if not facets:
        return judgments.item, judgments.items.topic
    key = judgments.item.astype(np.int64)
    for facet in facets:
        key = key * len(facet.names) + facet.codes
    _, first, item = np.unique(key, return_index=True, return_inverse=True)
    return item.astype(np.int32), judgments.items.topic[judgments.item[first]]


def named_assessors(names: Sequence[str]) -> Sequence[str]:
    """Return a single name as a list of one."""
    return (names,) if isinstance(names, str) else names


def two_sides(judgments: Judgments, observed: Sequence[str], reference: Sequence[str]) -> tuple[Bools, Bools]:
    """Mark the assessors of the first side, and of the second -> (assessor,) each."""
    who = judgments.assessor
    everyone = np.arange(len(who.names))
    named = [
        np.isin(everyone, [who.code_of(name, "assessor") for name in named_assessors(names)])
        for names in (observed, reference)
    ]
    if not named[0].any() and not named[1].any():
        return everyone >= 0, everyone >= 0
    first = named[0] if named[0].any() else ~named[1]
    second = named[1] if named[1].any() else ~named[0]
    if not (first.any() and second.any()):
        raise PairsError("all assessors are on one side, and none on the other", hint=_some(judgments))
    if (first | second).sum() == 1:
        raise PairsError(
            f"{who.names[int(np.argmax(first))]!r} is both observed and the reference, and nobody is paired with "
            "themselves",
            hint=f"name another assessor on one side; {_some(judgments)}",
        )
    return first, second


def _sides(judgments: Judgments, item: Codes, n_items: int, on_first: Bools, on_second: Bools) -> Sides:
    """Count the labels of both sides by item; on_first, on_second (row,)."""
    who, label, n_labels = judgments.assessor.codes, judgments.label, len(judgments.scale)

    def counts(rows: Bools) -> Ints:
        whole = bool(rows.all())
        return histogram(item if whole else item[rows], label if whole else label[rows], (n_items, n_labels))

    both = on_first & on_second
    if both.all():
        every = counts(both)
        return Sides(every, every, every, *repeated_cells(item, who, label, n_labels))
    cells = repeated_cells(item[both], who[both], label[both], n_labels)
    return Sides(counts(on_first), counts(on_second), counts(both), *cells)


def _some(judgments: Judgments) -> str:
    names = judgments.assessors
    return f"there {'is' if len(names) == 1 else 'are'} {counted(len(names), 'assessor')}: {first_few(names, 8)}"


def few_topics(n_topics: int, pairs: str = "pairs of labels") -> list[Note]:
    """Return a note where intervals rest on few topics, or one topic allows none."""
    if n_topics == 1:
        text = "all {pairs} are of one topic: there are no intervals, since other topics may differ"
        return [Note("one-topic", text, pairs=pairs)]
    if 1 < n_topics < FEW_TOPICS:
        text = "only {n} topics have {pairs}: intervals are wide, and {enough} topics are better"
        return [Note("few-topics", text, n=n_topics, pairs=pairs, enough=FEW_TOPICS)]
    return []

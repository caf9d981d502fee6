"""Pairs: two labels on the same item by different assessors, and which of them are counted.

Three ways of pairing, all of them ordered pairs of a first label (what is observed) and a second one (what another
person thinks):

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
from venire.errors import AmbiguousLabels, PairsError, UnknownName
from venire.kernels.label_pairs import PairSums, Sides, histogram, pair_sums, repeated_cells
from venire.kernels.resampling import FEW_TOPICS
from venire.results import counted
from venire.types import Bools, Codes, Ints

ESTIMATORS = ("paired", "one-sided", "labels")
WEIGHTS = ("pair", "item")
APART = ("aspect", "unit", "task")
"""Facets that are never mixed: labels under two of their values answer different questions."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The labels that are paired: counts of both sides by item, and the topic (item,) of each item."""

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
    """Settle which labels are paired; without a word on it, ``paired`` or, where items have more labels, ``labels``.

    observed, reference: names of assessors whose label comes first, or second; one of them may be left open, and
    means all others.  weight: every ordered pair counts once ("pair"), or every item ("item").  sides: instead, which
    labels come first, and which second, (row,) each; then pairs are one-sided.
    """
    _check(estimator, weight)
    refuse_mixed(judgments)
    observed, reference = named_assessors(observed), named_assessors(reference)
    if len(judgments) == 0:
        raise PairsError("there is no label to pair", hint="; ".join(map(str, judgments.notes)) or None)
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
        raise PairsError(
            "one-sided pairs need to know whose label is observed, and whose is the reference",
            hint=f"name one of them or both: {_some(judgments)} (--observed NAME, --reference NAME)",
        )
    if estimator == "labels" and named:
        raise PairsError(
            "all labels are paired with each other, so none is observed or a reference",
            hint="use the one-sided or the paired estimator with named assessors",
        )
    if estimator == "paired" and most > 2:
        raise PairsError(
            f"an item was judged by {most} assessors, and paired counts double judgments",
            hint="use the estimator labels, or name two assessors or groups (--observed, --reference)",
        )
    first, second = two_sides(judgments, observed, reference)
    who = judgments.assessor.codes
    paired = _sides(judgments, item, len(topic), first[who], second[who])
    mirrored = estimator == "paired" and named
    return Pairs(judgments.scale, judgments.topics, topic, paired._replace(mirrored=mirrored), estimator, weight)


def refuse_mixed(judgments: Judgments) -> None:
    """Refuse labels that answer different questions."""
    for name in APART:
        values = list(judgments.facets[name].names) if name in judgments.facets else []
        if len(values) > 1:
            shown = ", ".join(repr(value) for value in values[:5])
            raise AmbiguousLabels(
                f"the labels are for {len(values)} different values of {name} ({shown}), and those are never paired",
                hint=f"choose with where({name}={values[-1]!r}), on the command line --where {name}={values[-1]}",
            )


def most_assessors(judgments: Judgments, item: Codes) -> int:
    """The largest number of assessors who judged one item.  O(rows), or O(rows log rows) if items have many labels."""
    who, n_assessors = judgments.assessor.codes, len(judgments.assessor.names)
    if n_assessors <= 2 or np.bincount(item).max(initial=0) <= 2:
        return 1 + int(judged_by_two(item, who).any())
    cell = np.unique(item.astype(np.int64) * n_assessors + who)
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
    """Number what is judged: item (row,), topic (item,); an intent, or a document read before, makes another item."""
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
    """Take one name for a list of one."""
    return (names,) if isinstance(names, str) else names


def two_sides(judgments: Judgments, observed: Sequence[str], reference: Sequence[str]) -> tuple[Bools, Bools]:
    """Which assessors stand on the first side, and which on the second -> (assessor,) each."""
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
        raise PairsError("every assessor stands on one side, and nobody on the other", hint=_some(judgments))
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
    return (
        f"there {'is' if len(names) == 1 else 'are'} {counted(len(names), 'assessor')}: "
        + ", ".join(names[:8])
        + (", ..." if len(names) > 8 else "")
    )


def few_topics(n_topics: int, pairs: str = "pairs of labels") -> list[str]:
    """Say that intervals rest on few topics, or that there is none because of one."""
    if n_topics == 1:
        return [f"all {pairs} are of one topic: there are no intervals, since other topics may differ"]
    if 1 < n_topics < FEW_TOPICS:
        return [f"only {n_topics} topics have {pairs}: intervals are wide, and {FEW_TOPICS} topics are better"]
    return []

"""Panel: whose labels score the runs, as weights of labels per judge and item.

A *judge* is an assessor, or what several of them come to when their labels are pooled.  Each judge has, for every item
it judged, a distribution over labels: all weight on one label for an assessor who gave one, shared where labels were
pooled or repeated.  The gain of an item is the mean gain over that distribution.  One assessor, several, or a pool thus
have the same form.

Of a crowd, no single worker is a judge: ``pooled_judge`` puts one judge in the place of all of them, beside assessors
who are kept apart, such as an expert.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import FACETS, Judgments, is_conditional
from venire.errors import AmbiguousLabels, ScaleError, UnknownName, Way, reasons
from venire.results import Note, counted, first_few
from venire.types import Bools, Codes, Floats, Ints

Pool = Callable[[Ints], Floats]


@dataclass(frozen=True, eq=False)
class Panel:
    """Labels by judges: judge, item, label, weight (row,); weights of one judge and item sum to 1.

    probability (row,): with which the item was chosen for this label, 1 where that is not known; None if it never is,
    and for pooled labels.
    """

    judges: tuple[str | None, ...]
    judge: Codes
    item: Codes
    label: Codes
    weight: Floats
    n_items: int
    notes: tuple[Note, ...] = ()
    probability: Floats | None = None

    @property
    def unmixed(self) -> bool:
        """Whether no item has several labels of one judge, so that every gain is the value of a label."""
        return bool((self.weight == 1.0).all())

    def gains(self, values: Floats, first: int, last: int, *, sampled: bool = False) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, for judges first..last-1; both (judge, item).

        values (label,).  sampled: gains are divided by the probability.  O(rows + judges x items), judges block by
        block.
        """
        rows = slice(*np.searchsorted(self.judge, [first, last]))
        cell = (self.judge[rows].astype(np.int64) - first) * self.n_items + self.item[rows]
        shape = (last - first, self.n_items)
        size = shape[0] * shape[1]
        weight = self.weight[rows]
        if sampled and self.probability is not None:
            weight = weight / self.probability[rows]
        gain = np.bincount(cell, weights=weight * values[self.label[rows]], minlength=size)
        judged = np.zeros(size, dtype=np.bool_)
        judged[cell] = True
        return gain.reshape(shape).astype(np.float64, copy=False), judged.reshape(shape)

    def replaced(self, judge: int, one: Panel) -> Panel:
        """Replace the labels of one judge by those of a panel of one."""
        others = self.judge != judge
        judges = np.append(self.judge[others], np.full(len(one.judge), judge, dtype=self.judge.dtype))
        order = np.argsort(judges, kind="stable")
        known = self.probability is not None and one.probability is not None
        columns = ("item", "label", "weight", *["probability"] * known)
        joined: dict[str, Any] = {"probability": None} | {
            name: np.append(getattr(self, name)[others], getattr(one, name))[order] for name in columns
        }
        return replace(self, judge=judges[order], **joined)

    def labels(self, first: int, last: int) -> Codes:
        """Label of every item with the most weight, the lowest of several; -1 where there is none -> (judge, item)."""
        rows = slice(*np.searchsorted(self.judge, [first, last]))
        n_labels = int(self.label.max(initial=0)) + 1
        cell = (self.judge[rows].astype(np.int64) - first) * self.n_items + self.item[rows]
        held, inverse = np.unique(cell * n_labels + self.label[rows], return_inverse=True)
        lightest_first = np.lexsort((-held, np.bincount(inverse, weights=self.weight[rows])))
        cell, label = np.divmod(held[lightest_first], n_labels)
        found: Codes = np.full((last - first) * self.n_items, -1, dtype=np.int32)
        found[cell] = label
        return found.reshape(last - first, self.n_items)


def build_panel(
    judgments: Judgments, *, assessor: str | None = None, per: str | None = None, pool: str | Pool | None = None
) -> Panel:
    """Choose the judges: one ``assessor``, each of them (``per="assessor"``), or a ``pool`` of their labels."""
    labels, notes = chosen_labels(judgments, assessor=assessor, per=per, pool=pool)
    return panel_of(labels, pool, notes)


def panel_of(labels: Judgments, pool: str | Pool | None, notes: Sequence[Note] = ()) -> Panel:
    """Make a panel of labels that were chosen (``chosen_labels``): each assessor is a judge, or their pool is one."""
    return _each(labels, notes) if pool is None else _pooled(labels, named_pool(pool), notes)


def named_pool(pool: str | Pool) -> Pool:
    """Return a way to pool labels by its name."""
    if not isinstance(pool, str):
        return pool
    if pool not in POOLS:
        raise UnknownName("way to pool", pool, POOLS)
    return POOLS[pool]


def chosen_labels(
    judgments: Judgments, *, assessor: str | None = None, per: str | None = None, pool: str | Pool | None = None
) -> tuple[Judgments, list[Note]]:
    """Choose the labels in isolation that count; raise where nothing says whose do."""
    if sum(choice is not None for choice in (assessor, per, pool)) > 1:
        raise AmbiguousLabels("assessor, per and pool exclude each other", hint="give one of them")
    judgments, notes = in_isolation(judgments)
    if assessor is not None:
        judgments = judgments.where(assessor=assessor)
    if len(judgments) == 0:
        hint = reasons([*judgments.notes, *notes])
        raise AmbiguousLabels("there is no label to score with", hint=hint)
    if per not in (None, "assessor"):
        raise UnknownName("axis", str(per), ["assessor"])
    if pool is not None:
        named_pool(pool)
    elif per is None and len(judgments.assessor.names) > 1:
        names = first_few(judgments.assessors, 4)
        raise AmbiguousLabels(
            f"{len(judgments.assessors)} assessors judged ({names}), and nothing says whose labels count",
            hint=[
                Way("choose one", assessor="NAME"),
                Way("score for each", per="assessor"),
                Way("pool their labels", pool="|".join(POOLS)),
            ],
        )
    return judgments, notes


def current_assessor(judgments: Judgments, assessor: str | None, *, new_judge: str | None = None) -> str:
    """Return the assessor whose labels score the runs now: as named, or the only one who can be meant.

    Where a reference is declared, that is the one machine, or the only one besides the reference; never the new judge.
    """
    if assessor is not None:
        if assessor not in judgments.assessors:
            raise UnknownName("assessor", assessor, judgments.assessors)
        return assessor
    names, among = tuple(name for name in judgments.assessors if name != new_judge), "assessors judged"
    if judgments.reference and (others := [name for name in judges_besides(judgments) if name != new_judge]):
        names, among = tuple(others), "judges besides the reference"
    if len(names) != 1:
        names = names or judgments.assessors
        raise AmbiguousLabels(
            f"{len(names)} {among} ({first_few(names, 8)}), and nothing says whose labels score the runs now",
            hint=[Way("name the current assessor; the others are possible new judges", assessor="NAME")],
        )
    return names[0]


def current_note(judgments: Judgments, judge: str) -> Note:
    """Say whose labels score the runs, where nobody was named."""
    text = "the runs are scored by the labels of {judge}, the only {one}"
    return Note("current-judge", text, judge=judge, one="machine" if judge in judgments.machines else "other assessor")


def judges_besides(judgments: Judgments, reference: Collection[str] | None = None) -> tuple[str, ...]:
    """Return who is judged by the reference: the declared machines, or else everybody else.

    reference: the names of the reference; None: those that are declared.
    """
    people = judgments.reference if reference is None else reference
    machines = tuple(name for name in judgments.machines if name not in people)
    return machines or tuple(name for name in judgments.assessors if name not in people)


def one_label_each(panel: Panel) -> Codes:
    """Label of every item by a panel of one judge, -1 where it has none -> (item,).

    Of a pool it is the label with the most weight, the lowest of several.
    """
    if panel.judges[0] is None:
        return panel.labels(0, 1)[0]
    repeated = len(panel.item) - len(np.unique(panel.item))
    if repeated:
        raise AmbiguousLabels(
            f"{counted(repeated, 'label')} by {panel.judges[0]!r} repeat an item, and a new judge needs one label each",
            hint="keep the first or the last of repeated labels when reading",
        )
    label: Codes = np.full(panel.n_items, -1, dtype=np.int32)
    label[panel.item] = panel.label
    return label


class PooledJudge(NamedTuple):
    """Several assessors as one judge: judgments in which they are one assessor, and the panel that scores with it.

    In the judgments an item has the label with the most weight; the panel has all weights, so that scores are those of
    the pool.
    """

    name: str
    judgments: Judgments
    panel: Panel


def pooled_judge(judgments: Judgments, pool: str | Pool, *, apart: Collection[str] = (), name: str) -> PooledJudge:
    r"""Make one judge of all assessors except those who are ``apart``, and keep the labels of these.

    Conditional labels are left out.  Cost: O(rows + items x labels).

    Examples
    --------
    >>> from venire.io import read_grid
    >>> labels = read_grid("1 0\n1 0\n0 0\n0 1", assessors=["u1", "u2", "u3", "expert"])
    >>> found = pooled_judge(labels, "majority", apart=["expert"], name="crowd").judgments
    >>> found.assessors, found.where(assessor="crowd").column("label").texts()
    (('crowd', 'expert'), ['1', '0'])
    """
    own = np.isin(judgments.assessors, list(apart))[judgments.assessor.codes]
    crowd, others = judgments.take(~own), in_isolation(judgments.take(own))[0] if own.any() else None
    panel = build_panel(crowd, pool=pool)
    label = panel.labels(0, 1)[0]
    item = np.flatnonzero(label >= 0).astype(np.int32)
    machines = (name,) if crowd.assessors and set(crowd.assessors) <= set(judgments.machines) else ()
    who = Category.constant(name, len(item))
    held = replace(crowd, item=item, assessor=who, label=label[item], facets={}, time=None, probability=None)
    held = replace(held, reference=(), machines=machines, prompts={})
    return PooledJudge(name, held if others is None else _with_others(held, others), panel)


def _with_others(judge: Judgments, others: Judgments) -> Judgments:
    """Add the labels of other assessors to those of one, whose name comes first; both on the same items."""
    names = Ids.of([*judge.assessors, *others.assessors])
    codes = np.concatenate([judge.assessor.codes, others.assessor.codes + np.int32(len(judge.assessors))])
    known = others.probability
    chance = None if known is None else np.concatenate([np.full(len(judge), np.nan), known])
    return replace(
        judge,
        item=np.concatenate([judge.item, others.item]),
        assessor=Category(codes, names),
        label=np.concatenate([judge.label, others.label]),
        probability=chance,
        reference=others.reference,
        machines=(*judge.machines, *others.machines),
        prompts=others.prompts,
    )


def in_isolation(judgments: Judgments) -> tuple[Judgments, list[Note]]:
    """Leave out conditional labels, with a note; raise where labels mix values of another facet."""
    notes: list[Note] = []
    after = is_conditional(judgments)
    if after.any():
        text = "{n:label} given after another document left out here"
        notes.append(Note("conditional-labels-left-out", text, n=int(after.sum())))
        judgments = judgments.take(~after)
    apart = ("given",) if judgments.items.intents is None else ("given", "intent")
    judgments.require_one(*(name for name in FACETS if name not in apart))
    return judgments, notes


def _each(judgments: Judgments, notes: Sequence[Note]) -> Panel:
    """Make every assessor a judge; repeated labels for an item share its weight."""
    cell = judgments.assessor.codes.astype(np.int64) * len(judgments.items) + judgments.item
    _, inverse, count = np.unique(cell, return_inverse=True, return_counts=True)
    repeated = int((count > 1).sum())
    if repeated:
        text = "{n:item} with several labels by one assessor counted with the mean of their gains"
        notes = [*notes, Note("several-labels-by-one-assessor", text, n=repeated)]
    order = np.argsort(cell, kind="stable")
    judge, item, label = (each[order] for each in (judgments.assessor.codes, judgments.item, judgments.label))
    weight = (1.0 / count[inverse])[order]
    known = judgments.probability
    chance = None if known is None else np.where(np.isnan(known), 1.0, known)[order]
    return Panel(judgments.assessors, judge, item, label, weight, len(judgments.items), tuple(notes), chance)


def _pooled(judgments: Judgments, pool: Pool, notes: Sequence[Note]) -> Panel:
    if not judgments.scale.ordered and pool in (median, highest, lowest):
        raise ScaleError(f"the labels {judgments.scale} have no order to pool by", hint="pool by majority or mean")
    counts = judgments.label_counts()
    judged = np.flatnonzero(counts.sum(axis=1))
    weights = pool(counts[judged])
    row, label = (each.astype(np.int32) for each in np.nonzero(weights))
    item, n_items = judged[row].astype(np.int32), len(judgments.items)
    return Panel((None,), np.zeros_like(row), item, label, weights[row, label], n_items, tuple(notes))


def mean(counts: Ints) -> Floats:
    """Every label counts alike: the gain of an item is the mean gain of its labels.  counts (item, label)."""
    return counts / counts.sum(axis=1, keepdims=True)


def majority(counts: Ints) -> Floats:
    """The label given most often; labels given equally often share the weight."""
    most = counts == counts.max(axis=1, keepdims=True)
    return most / most.sum(axis=1, keepdims=True)


def median(counts: Ints) -> Floats:
    """The middle label; of an even number, the two in the middle share the weight."""
    total = counts.sum(axis=1, keepdims=True)
    upto = counts.cumsum(axis=1)
    lower = (upto >= (total + 1) // 2).argmax(axis=1)
    upper = (upto >= total // 2 + 1).argmax(axis=1)
    one = np.eye(counts.shape[1])
    return (one[lower] + one[upper]) / 2


def highest(counts: Ints) -> Floats:
    """The highest label given."""
    return np.eye(counts.shape[1])[counts.shape[1] - 1 - (counts[:, ::-1] > 0).argmax(axis=1)]


def lowest(counts: Ints) -> Floats:
    """The lowest label given."""
    return np.eye(counts.shape[1])[(counts > 0).argmax(axis=1)]


POOLS: dict[str, Pool] = {"median": median, "majority": majority, "max": highest, "min": lowest, "mean": mean}

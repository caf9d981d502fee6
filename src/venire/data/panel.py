"""Panel: whose labels score the runs, as weights of labels per judge and item.

A *judge* is an assessor, or what several of them come to when their labels are pooled.  Each judge has, for every item
it judged, a distribution over labels: all weight on one label for an assessor who gave one, shared where labels were
pooled or repeated.  A gain of the item is then the mean gain of that distribution, for any gains.  One assessor, many,
or a pool are thus the same thing to whatever comes after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from venire.data.conditional import is_conditional
from venire.data.judgments import FACETS, Judgments
from venire.errors import AmbiguousLabels, ScaleError, UnknownName
from venire.results import counted
from venire.types import Bools, Codes, Floats, Ints

Pool = Callable[[Ints], Floats]


@dataclass(frozen=True, eq=False)
class Panel:
    """Labels by judges: judge, item, label, weight (row,); weights of one judge and item sum to 1."""

    judges: tuple[str | None, ...]
    judge: Codes
    item: Codes
    label: Codes
    weight: Floats
    n_items: int
    notes: tuple[str, ...] = ()

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, for judges first..last-1; both (judge, item).

        values (label,).  O(rows + judges x items), judges block by block.
        """
        rows = slice(*np.searchsorted(self.judge, [first, last]))
        cell = (self.judge[rows].astype(np.int64) - first) * self.n_items + self.item[rows]
        shape = (last - first, self.n_items)
        size = shape[0] * shape[1]
        gain = np.bincount(cell, weights=self.weight[rows] * values[self.label[rows]], minlength=size)
        judged = np.zeros(size, dtype=np.bool_)
        judged[cell] = True
        return gain.reshape(shape).astype(np.float64, copy=False), judged.reshape(shape)

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
    judgments: Judgments,
    *,
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
) -> Panel:
    """Settle who judges: one ``assessor``, each of them (``per="assessor"``), or a ``pool`` of their labels."""
    if sum(choice is not None for choice in (assessor, per, pool)) > 1:
        raise AmbiguousLabels("assessor, per and pool exclude each other", hint="give one of them")
    judgments, notes = in_isolation(judgments)
    if assessor is not None:
        judgments = judgments.where(assessor=assessor)
    if len(judgments) == 0:
        raise AmbiguousLabels(
            "there is no label to score with", hint="; ".join(map(str, [*judgments.notes, *notes])) or None
        )
    if per not in (None, "assessor"):
        raise UnknownName("axis", str(per), ["assessor"])
    if pool is not None:
        return _pooled(judgments, POOLS[_known_pool(pool)] if isinstance(pool, str) else pool, notes)
    if per is None and len(judgments.assessor.names) > 1:
        names = ", ".join(judgments.assessors[:4]) + (", ..." if len(judgments.assessor.names) > 4 else "")
        raise AmbiguousLabels(
            f"{len(judgments.assessor.names)} assessors judged ({names}), and nothing says whose labels count",
            hint=[
                'choose one (assessor="NAME", --assessor NAME)',
                'score for each (per="assessor", --per assessor)',
                f"pool their labels (pool=, --pool {'|'.join(POOLS)})",
            ],
        )
    return _each(judgments, notes)


def current_assessor(judgments: Judgments, assessor: str | None) -> str:
    """Settle whose labels score the runs now, before another judge comes."""
    if assessor is not None:
        if assessor not in judgments.assessors:
            raise UnknownName("assessor", assessor, judgments.assessors)
        return assessor
    if len(judgments.assessors) > 1:
        shown = ", ".join(judgments.assessors[:4]) + (", ..." if len(judgments.assessors) > 4 else "")
        raise AmbiguousLabels(
            f"{len(judgments.assessors)} assessors judged ({shown}), and nothing says whose labels score the runs now",
            hint="name the judge at hand (--assessor NAME); the others are those who may come after",
        )
    return judgments.assessors[0]


def one_label_each(panel: Panel, *, without: int = -1) -> Codes:
    """Label of every item by a panel of one judge, and what stands for none -> (item,)."""
    repeated = len(panel.item) - len(np.unique(panel.item))
    if repeated:
        raise AmbiguousLabels(
            f"{counted(repeated, 'label')} by {panel.judges[0]!r} for items they had labelled before, and a new judge "
            "starts from one label",
            hint='keep one of them when reading: repeats="first" or "last", on the command line --repeats first',
        )
    label: Codes = np.full(panel.n_items, without, dtype=np.int32)
    label[panel.item] = panel.label
    return label


def in_isolation(judgments: Judgments) -> tuple[Judgments, list[str]]:
    """Leave labels given in the context of another document aside; refuse a mix of other facets."""
    notes = []
    after = is_conditional(judgments)
    if after.any():
        notes.append(f"{counted(int(after.sum()), 'label')} given after another document left out here")
        judgments = judgments.take(~after)
    for name in (name for name in FACETS if name != "given" and name in judgments.facets):
        values = list(judgments.facets[name].names)
        if len(values) > 1:
            shown = ", ".join(repr(value) for value in values[:5])
            raise AmbiguousLabels(
                f"the labels are for {len(values)} different values of {name} ({shown}), and nothing says which counts",
                hint=f"choose with where({name}={values[-1]!r}), on the command line --where {name}={values[-1]}",
            )
    return judgments, notes


def _each(judgments: Judgments, notes: list[str]) -> Panel:
    """Every assessor is a judge; labels that one repeats for an item share its weight."""
    cell = judgments.assessor.codes.astype(np.int64) * len(judgments.items) + judgments.item
    _, inverse, count = np.unique(cell, return_inverse=True, return_counts=True)
    repeated = int((count > 1).sum())
    if repeated:
        notes = [
            *notes,
            f"{counted(repeated, 'item')} with several labels by one assessor counted with the mean of their gains",
        ]
    order = np.argsort(cell, kind="stable")
    return Panel(
        judgments.assessors,
        judgments.assessor.codes[order],
        judgments.item[order],
        judgments.label[order],
        (1.0 / count[inverse])[order],
        len(judgments.items),
        tuple(notes),
    )


def _pooled(judgments: Judgments, pool: Pool, notes: list[str]) -> Panel:
    if not judgments.scale.ordered and pool in (median, highest, lowest):
        raise ScaleError(f"the labels {judgments.scale} have no order to pool by", hint="use --pool majority or mean")
    counts = judgments.label_counts()
    judged = np.flatnonzero(counts.sum(axis=1))
    weights = pool(counts[judged])
    row, label = np.nonzero(weights)
    return Panel(
        (None,),
        np.zeros(len(row), dtype=np.int32),
        judged[row].astype(np.int32),
        label.astype(np.int32),
        weights[row, label],
        len(judgments.items),
        tuple(notes),
    )


def _known_pool(name: str) -> str:
    if name not in POOLS:
        raise UnknownName("way to pool", name, POOLS)
    return name


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

"""A crowd as one judge: the pooled labels of many workers, and who else may judge.

Of a crowd, no single worker is a judge, so that a comparison under another judge needs to know who that is:

- an assessor who is named, or who is declared as the reference: their labels are kept apart and not pooled;
- or else another crowd of the same kind.  The labels of each item are divided at random into two halves, of different
  workers, and each half is pooled; transitions are counted from one half to the other.  A half has half as many labels
  as the crowd, so two crowds agree at least as often as estimated here: the forecast is cautious.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.panel import Panel, Pool, in_isolation, pooled_judge, with_others
from venire.disagreement.dawid_skene import pool_for
from venire.disagreement.transitions import ANY, Transitions, fit_transitions
from venire.errors import AmbiguousLabels, PairsError, UnknownName
from venire.results import Note, counted
from venire.types import Bools, RNGLike

ANOTHER = "another crowd"
"""The other judge where nobody is named."""


class Crowd(NamedTuple):
    """A crowd that scores the runs: its name as one assessor of the judgments, and the panel that scores with it.

    transitions: to another crowd, where nobody else is the other judge; else None.
    """

    name: str
    judgments: Judgments
    panel: Panel
    transitions: Transitions | None = None
    notes: tuple[Note, ...] = ()


def crowd_judge(
    judgments: Judgments,
    pool: str | Pool,
    *,
    new_judge: str | Sequence[str] = ANY,
    another: bool = True,
    rng: RNGLike = 0,
) -> Crowd:
    """Pool the labels of a crowd, and find the other judge.

    Parameters
    ----------
    pool : "median", "majority", "max", "min", "mean", "dawid-skene" (the posterior of the model), or a function
    new_judge : assessors who are kept apart; "any": the declared reference, and if there is none, another crowd
    another : estimate how another crowd labels where nobody is kept apart
    rng : divides the crowd

    Notes
    -----
    Cost: that of pooling, twice more for another crowd.
    """
    labels = in_isolation(judgments)[0]
    apart = labels.reference if new_judge == ANY else (new_judge,) if isinstance(new_judge, str) else tuple(new_judge)
    for name in apart:
        if name not in labels.assessors:
            raise UnknownName("assessor", name, labels.assessors)
    workers = [name for name in labels.assessors if name not in apart]
    if not workers:
        raise AmbiguousLabels("nobody is left to pool", hint="keep fewer assessors apart as the reference")
    crowd = labels.where(assessor=workers)
    rule = pool_for(crowd, pool)
    title = f"{pool if isinstance(pool, str) else 'pool'} of {counted(len(workers), 'assessor')}"
    found = pooled_judge(labels, rule or "", apart=apart, name=title)
    if apart or not another:
        return Crowd(*found)
    text = "the other judge is another crowd: labels of an item are divided at random, and each half is pooled"
    return Crowd(*found, _to_another(crowd, pool, rng), (Note("another-crowd", text),))


def _to_another(crowd: Judgments, pool: str | Pool, rng: RNGLike) -> Transitions:
    """Count transitions from the pooled labels of one half of a crowd to those of the other."""
    second = halves(crowd, rng=rng)
    sides = [crowd.take(~second), crowd.take(second)]
    if not len(np.intersect1d(sides[0].item, sides[1].item)):
        raise PairsError(
            "no item has labels by two assessors, so that the labels of another crowd cannot be predicted",
            hint="name another judge, or state the agreement rates of another judge",
        )
    names = (f"half of {counted(len(crowd.assessors), 'assessor')}", ANOTHER)
    pooled = (
        pooled_judge(side, pool_for(side, pool) or "", name=name).judgments
        for side, name in zip(sides, names, strict=True)
    )
    return fit_transitions(with_others(*pooled), *names)


def halves(crowd: Judgments, *, rng: RNGLike = 0) -> Bools:
    """Divide the labels of each item at random into two halves, of different assessors -> (row,), the second half."""
    generator = np.random.default_rng(rng)
    cell = crowd.item.astype(np.int64) * len(crowd.assessors) + crowd.assessor.codes
    cells, row = np.unique(cell, return_inverse=True)
    item = cells // len(crowd.assessors)
    order = np.lexsort((generator.random(len(cells)), item))
    place = np.empty(len(cells), dtype=np.int64)
    place[order] = np.arange(len(cells)) - np.searchsorted(item, item)
    odd = generator.random(len(crowd.items)) < 0.5
    half: Bools = (place + odd[item]) % 2 == 1
    return half[row]

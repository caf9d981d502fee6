"""Selection: were items judged a second time because of their first label?

Eq. (5) of Demeester et al. (2015) counts both labels of a double judgment, so both assessors must have judged the same
pool.  Where second judgments were asked for mostly above the lowest label (Section 5.2.1), or on lists that one
assessor's labels had selected (Section 6.1), the labels of the second assessor are not those of the pool, and p(R|i)
comes out too high.  Two traces give it away: being judged twice goes with the label, within topic and assessor (an odds
ratio by Mantel and Haenszel 1959, doi:10.1093/jnci/22.4.719); or, where only double judgments were kept, an assessor
who never gives the lowest label while the others often do.
"""

from __future__ import annotations

import numpy as np

from venire.data.judgments import Judgments, counted
from venire.errors import PairsError
from venire.types import Bools, Floats

ODDS, SIGNIFICANT, ENOUGH = 3.0, 1e-3, 30
"""Refuse from this odds ratio on, if it is this unlikely by chance; an assessor counts with this many labels."""


def refuse_selected(judgments: Judgments) -> None:
    """Refuse to pair where second judgments were selected by the first label.  O(rows)."""
    if not judgments.scale.ordered:
        return
    above = judgments.label > 0
    double = _judged_twice(judgments)
    odds, chance = _odds(judgments, above, double)
    if odds >= ODDS and chance < SIGNIFICANT:
        twice = [100 * double[rows].mean() for rows in (above, ~above)]
        raise PairsError(
            f"items were judged twice in {twice[0]:.0f}% of the labels above {judgments.scale.labels[0]!r} but in "
            f"{twice[1]:.0f}% of those at it, so the two assessors did not judge the same pool, and paired would give "
            "too much",
            hint="use one-sided and name who judged first (--estimator one-sided --observed NAME); if the labels did "
            "not decide what was judged twice, use --estimator labels",
        )
    _refuse_one_without_lowest(judgments, above, double)


def _refuse_one_without_lowest(judgments: Judgments, above: Bools, double: Bools) -> None:
    """Refuse double judgments in which one assessor never gives the lowest label, and the others do."""
    n = np.bincount(judgments.assessor.codes[double], minlength=len(judgments.assessor.names))
    low = np.bincount(judgments.assessor.codes[double & ~above], minlength=len(n))
    others = (low.sum() - low) / np.maximum(n.sum() - n, 1)
    expected = others * n
    never = np.flatnonzero((low == 0) & (n >= ENOUGH) & (expected >= ENOUGH / 3))
    if len(never) and len(never) < (n > 0).sum():
        name = judgments.assessors[int(never[0])]
        raise PairsError(
            f"{name!r} gave {judgments.scale.labels[0]!r} to none of {counted(int(n[never[0]]), 'item')} judged twice, "
            f"the others to {100 * others[never[0]]:.0f}% of theirs: {name!r}'s labels seem to have chosen the items",
            hint=f"use one-sided (--estimator one-sided --observed {name}); if the labels did not decide what was "
            "judged twice, use --estimator labels",
        )


def _judged_twice(judgments: Judgments) -> Bools:
    """Whether the item of each label was judged by two assessors or more -> (row,)."""
    n_assessors = len(judgments.assessor.names)
    cell = np.unique(judgments.item.astype(np.int64) * n_assessors + judgments.assessor.codes)
    twice: Bools = np.bincount(cell // n_assessors, minlength=len(judgments.items))[judgments.item] > 1
    return twice


def _odds(judgments: Judgments, above: Bools, double: Bools) -> tuple[float, float]:
    """Odds ratio of being judged twice, above the lowest label to at it, within topic and assessor; its p-value."""
    n_topics = len(judgments.items.topics)
    stratum = judgments.assessor.codes.astype(np.int64) * n_topics + judgments.items.topic[judgments.item]
    _, stratum = np.unique(stratum, return_inverse=True)
    size = int(stratum.max(initial=-1)) + 1

    def count(rows: Bools) -> Floats:
        return np.bincount(stratum[rows], minlength=size).astype(np.float64)

    a, b, c, d = (count(rows) for rows in (above & double, above & ~double, ~above & double, ~above & ~double))
    return mantel_haenszel(a, b, c, d)


def mantel_haenszel(a: Floats, b: Floats, c: Floats, d: Floats) -> tuple[float, float]:
    """Common odds ratio of tables [[a, b], [c, d]] (stratum,), and its one-sided p-value; 1, 1 if there is none."""
    from scipy.special import ndtr

    n = np.maximum(a + b + c + d, 1.0)
    for_it, against = float((a * d / n).sum()), float((b * c / n).sum())
    expected = (a + b) * (a + c) / n
    variance = float(((a + b) * (c + d) * (a + c) * (b + d) / (n * n * np.maximum(n - 1, 1))).sum())
    if variance == 0 or for_it + against == 0:
        return 1.0, 1.0
    z = (float((a - expected).sum()) - 0.5) / variance**0.5
    return (for_it / against if against else np.inf), float(ndtr(-z))

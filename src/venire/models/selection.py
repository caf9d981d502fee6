"""Selection: were items judged a second time because of their first label?

Eq. (5) of Demeester et al. (2015) counts both labels of a double judgment, so both assessors must have judged the same
pool.  Where second judgments were asked for mostly above the lowest label (Section 5.2.1), or on lists that one
assessor's labels had selected (Section 6.1), the labels of the second assessor are not those of the pool, and p(R|i)
comes out too high.  Three traces give it away:

- Labels at hand for items judged once: being judged twice goes with the label being above the lowest one, or being the
  top one, within topic and assessor (an odds ratio by Mantel and Haenszel 1959, doi:10.1093/jnci/22.4.719).
- Only double judgments were kept, and one assessor came first: this assessor never gives the lowest label to items to
  which the partners often do.
- Only double judgments were kept, and the assessors took turns: hardly any item has the lowest label twice.

How lenient an assessor is leaves none of these traces.  Where only the lists that one assessor's top labels had
selected were kept, and these in full, there is no trace: the assessor may as well be a lenient one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.data.judgments import Judgments
from venire.errors import PairsError
from venire.models.pairs import distinct_items, judged_by_two, two_sides
from venire.types import Bools, Codes, Floats
from venire.words import counted

ODDS, SIGNIFICANT, ENOUGH = 3.0, 1e-3, 30
"""Refuse from this odds ratio on, if it is this unlikely by chance; an assessor counts with this many labels."""
OVERRIDE = "if the labels did not decide what was judged twice, use --estimator labels"


def refuse_selected(judgments: Judgments, *, observed: Sequence[str] = (), reference: Sequence[str] = ()) -> None:
    """Refuse to pair where second judgments were selected by the first label.  O(rows), nearly always.

    observed, reference: names of assessors, as for ``pair_up``; labels by others are not looked at.
    """
    if not judgments.scale.ordered or len(judgments) == 0:
        return
    first, second = two_sides(judgments, observed, reference)
    who = judgments.assessor.codes
    rows = (first | second)[who]
    item = distinct_items(judgments)[0][rows]
    double = judged_by_two(item, (who if (first & second).any() else second[who])[rows])
    judgments = judgments if rows.all() else judgments.take(rows)
    _refuse_by_label(judgments, double)
    if double.any():
        _refuse_one_without_lowest(judgments, item, double)
        _refuse_lowest_never_twice(judgments, item, double)


def _refuse_by_label(judgments: Judgments, double: Bools) -> None:
    """Refuse labels that tell which items were judged twice."""
    labels, top = judgments.scale.labels, int(judgments.label.max(initial=0))
    for marked, there, elsewhere in (
        (judgments.label > 0, f"above {labels[0]!r}", "at it"),
        (judgments.label == top, f"that are {labels[top]!r}", "below it"),
    ):
        odds, chance = _odds(judgments, marked, double)
        if odds >= ODDS and chance < SIGNIFICANT:
            twice = [100 * double[rows].mean() for rows in (marked, ~marked)]
            raise PairsError(
                f"items were judged twice in {twice[0]:.0f}% of the labels {there} but in {twice[1]:.0f}% of those "
                f"{elsewhere}, so the two assessors did not judge the same pool, and paired would give too much",
                hint=["use one-sided and name who judged first (--estimator one-sided --observed NAME)", OVERRIDE],
            )


def _refuse_one_without_lowest(judgments: Judgments, item: Codes, double: Bools) -> None:
    """Refuse double judgments in which one assessor never gives the lowest label, and those of the same items do."""
    who, lowest = judgments.assessor.codes[double], judgments.label[double] == 0
    at = item[double]
    n_lowest, n_labels = np.bincount(at, lowest), np.bincount(at)
    by_partners = np.bincount(who, (n_lowest[at] - lowest) / (n_labels[at] - 1))
    n, own = np.bincount(who), np.bincount(who, lowest)
    never = np.flatnonzero((own == 0) & (n >= ENOUGH) & (by_partners >= ENOUGH / 3))
    if len(never):
        name, labels = judgments.assessors[int(never[0])], int(n[never[0]])
        raise PairsError(
            f"{name!r} gave {judgments.scale.labels[0]!r} to none of {counted(labels, 'item')} judged twice, "
            f"the others to {100 * by_partners[never[0]] / labels:.0f}% of them: {name!r}'s labels seem to have chosen "
            "the items, and paired would give too much",
            hint=[f"use one-sided (--estimator one-sided --observed {name})", OVERRIDE],
        )


def _refuse_lowest_never_twice(judgments: Judgments, item: Codes, double: Bools) -> None:
    """Refuse double judgments of which hardly any has the lowest label twice: one above it was asked for first."""
    who, lowest = judgments.assessor.codes[double], judgments.label[double] == 0
    at = item[double]
    share = (np.bincount(who, lowest) / np.maximum(np.bincount(who), 1))[who]
    labels, low = np.bincount(at), np.bincount(at, lowest)
    pairs, n_items = np.maximum(labels * (labels - 1), 1), int((labels > 0).sum())
    found = float((low * (low - 1) / pairs).sum())
    blindly = float(((np.bincount(at, share) ** 2 - np.bincount(at, share**2)) / pairs).sum())
    if blindly >= ENOUGH / 3 and found < blindly / ODDS:
        raise PairsError(
            f"of {counted(n_items, 'item')} judged twice {100 * found / n_items:.0f}% have the label "
            f"{judgments.scale.labels[0]!r} by both assessors, fewer than if these labelled blindly "
            f"({100 * blindly / n_items:.0f}%): the items seem to be chosen by their first label, and paired would "
            "give too much",
            hint=["use one-sided and name who judged first (--estimator one-sided --observed NAME)", OVERRIDE],
        )


def _odds(judgments: Judgments, marked: Bools, double: Bools) -> tuple[float, float]:
    """Odds ratio of being judged twice, marked labels to others, within topic and assessor; its p-value."""
    if double.all():
        return 1.0, 1.0
    n_topics = len(judgments.items.topics)
    stratum = judgments.assessor.codes.astype(np.int64) * n_topics + judgments.items.topic[judgments.item]
    if len(judgments.assessor.names) * n_topics > len(stratum):
        _, stratum = np.unique(stratum, return_inverse=True)
    cell = 4 * stratum + 2 * ~marked + ~double
    counts = np.bincount(cell, minlength=4 * (int(stratum.max(initial=-1)) + 1)).reshape(-1, 4).astype(np.float64)
    a, b, c, d = counts.T
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

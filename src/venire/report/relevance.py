r"""From which label on a result is relevant to a user, if nobody says so.

It is the label from which on people agree best.  Every label divides the scale in two; the division with the highest
Krippendorff's alpha (nominal) is taken.  With two values, :math:`r_u` of :math:`m_u \ge 2` labels of item u relevant,
:math:`n = \sum_u m_u` and :math:`R = \sum_u r_u` (``agreement.alpha`` has the general form),

.. math:: \alpha = 1 - (n - 1) \frac{\sum_u r_u (m_u - r_u) / (m_u - 1)}{R (n - R)}

A division counts if at least ``RARE`` of the first results are relevant by the labels that score the runs, and as many
are not: if one result in a hundred is, the scores for a random user rest on few documents.  People are those that are
declared, or else all assessors.  Without such a division it is the second lowest label, as in trec_eval.
"""

from __future__ import annotations

import numpy as np

from venire.data.judgments import Judgments, is_conditional
from venire.data.runs import Facts
from venire.types import Codes

RARE = 0.05
"""The share of the first results below which relevant results are rare."""
MOST_LABELS = 40
"""On longer scales, so many labels are tried, evenly spaced among those that occur."""
TOP = 10


def lowest_relevant(judgments: Judgments, own: Judgments, facts: Facts) -> str:
    """Return the label from which on people agree best; own: the labels that score the runs."""
    seen = labels_of_results(own, facts)
    given = np.unique(seen[seen > 0])
    tried = given[np.unique(np.linspace(0, len(given) - 1, MOST_LABELS).astype(np.int64))] if len(given) else given
    common = [level for level in tried.tolist() if RARE <= (seen >= level).mean() <= 1 - RARE]
    people = judgments.take(~is_conditional(judgments))
    people = people.where(assessor=judgments.people) if len(judgments.people) > 1 else people
    alpha = np.array([_alpha(people, level) for level in common])
    if np.isnan(alpha).all():
        return own.scale.labels[1]
    return own.scale.labels[common[int(np.nanargmax(np.round(alpha, 9)))]]


def labels_of_results(own: Judgments, facts: Facts) -> Codes:
    """Return the labels of the first results of some system, or of all items if none of these has a label."""
    first = np.zeros(len(own.items), dtype=np.bool_)
    first[facts.item[facts.rank <= TOP]] = True
    plain = ~is_conditional(own)
    chosen = plain & first[own.item]
    return own.label[chosen if chosen.any() else plain]


def _alpha(judgments: Judgments, level: int) -> float:
    """Return the agreement on whether a label is at least that of a level; NaN if it is undefined."""
    count, item = np.bincount(judgments.item), judgments.item[judgments.label >= level]
    found = np.bincount(item, minlength=len(count))
    size, relevant = count[count > 1], found[count > 1]
    n, total = float(size.sum()), float(relevant.sum())
    if not 0 < total < n:
        return float("nan")
    return 1 - (n - 1) * float((relevant * (size - relevant) / (size - 1)).sum()) / (total * (n - total))


def relevance_note(own: Judgments, facts: Facts, *, relevant: str, judge: str) -> str:
    """Say which labels are relevant to a user, how many results have one, and if that is rare.

    own: the labels that score the runs, those of the judge
    """
    scale, seen = own.scale, labels_of_results(own, facts)
    share = float((seen >= scale.level_of(relevant)).mean()) if len(seen) else 0.0
    higher = "" if relevant == scale.labels[-1] else " or higher"
    text = f"relevant is label {relevant}{higher}: {share:.0%} of the first {TOP} results that {judge} labelled"
    lower = "" if relevant == scale.labels[1] else ", so name a lower label as relevant"
    rare = "" if share >= RARE else f"; that is rare{lower}"
    return f"{text[:1].upper()}{text[1:]}{rare}"

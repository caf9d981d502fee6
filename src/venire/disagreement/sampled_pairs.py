r"""Double judgments of items that were chosen by their first label, with known probabilities.

Eq. (5) of Demeester et al. (2015, doi:10.1007/s10791-015-9275-x) lets either label of a double judgment come first, and
is biased where the choice of items depends on the first label (``selection``).  Where it is known which labels were
asked for later, since they have a probability, pairs can be weighted instead.  Let :math:`q_{ab} = q_{ba}` be the share
of double judgments (a, b) in all items.  Of the :math:`N_a` items whose first label is a, a share :math:`q_a` of all,
:math:`m_a` were judged again, and :math:`m_0` items have two labels neither of which was asked for by the first.  The
expected number of pairs (a, b), both labels coming first once, is

.. math:: q_{ab} e_{ab}, \qquad e_{ab} = \frac{m_a}{q_a} + \frac{m_b}{q_b} + 2 m_0

so a pair has the weight :math:`1 / e_{ab}`; with :math:`m_a \propto q_a` all weights are equal, and this is Eq. (5).
A label of which no item was judged again has no pairs.  p(R|i) is a ratio within the pairs that begin with i.  Their
weights are scaled to add up to the effective number of pairs, :math:`(\sum w)^2 / \sum w^2` (Kish 1965).

As Eq. (5) does, this takes the first and the second assessor as exchangeable.  It is not used where machines gave
labels, nor where observed or reference assessors are named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import Pairs, distinct_items
from venire.types import Bools, Codes, Floats, Ints

ROUNDING = 1e-9
MANY = 10
"""A label was left out where so many of its items would have been drawn, and none was."""


def weighted_by_sampling(judgments: Judgments, pairs: Pairs) -> Pairs | None:
    """Weight pairs of labels where items were chosen by their first label; None where that is not so.  O(rows)."""
    later = asked_later(judgments)
    if later is None:
        return None
    first = first_labels(judgments, later)
    exposure = exposures_of(first.again, first.items / first.items.sum(), first.unplanned)
    weight = 1 / np.where(exposure > 0, exposure, np.inf)
    weight = np.where(exposure.diagonal()[:, None] > 0, weight, 0.0)
    counts = pairs.sums(np.ones((1, len(judgments.scale)), dtype=np.bool_)).by_topic.sum(axis=0)
    total, squares = ((weight**power * counts).sum(axis=1, keepdims=True) for power in (1, 2))
    scaled = weight * np.divide(total, squares, out=np.zeros_like(total), where=squares > 0)
    return replace(pairs, sides=pairs.sides._replace(weight=scaled))


def asked_later(judgments: Judgments) -> Bools | None:
    """Mark labels that were asked for by the label that their item had -> (row,); None where there are none.

    That is where items with different labels have different probabilities, or equal ones except for a label that was
    left out.  In several rounds that drew from all labels alike, each probability is that of items with many labels.
    """
    chance = judgments.probability
    if chance is None or np.isin(judgments.assessor.codes, _codes(judgments, judgments.machines)).any():
        return None
    known: Bools = ~np.isnan(chance)
    item = distinct_items(judgments)[0]
    later: Bools = known & (np.bincount(item, ~known)[item] == 1)
    if not later.any():
        return None
    first = first_labels(judgments, later)
    omitted = (first.again == 0) & (first.items * chance[later].max() > MANY)
    return later if _differ_by_label(judgments, item, later) or omitted.any() else None


def _differ_by_label(judgments: Judgments, item: Ints | Codes, later: Bools) -> bool:
    """Whether most of the later labels have a probability that items with at least one first label never have."""
    chance = judgments.probability
    if chance is None or np.ptp(chance[later]) <= ROUNDING:
        return False
    label = np.zeros(int(item.max()) + 1, dtype=np.int64)
    label[item[~later]] = judgments.label[~later]
    _, first = np.unique(label[item[later]], return_inverse=True)
    _, group = np.unique(np.round(chance[later] / ROUNDING), return_inverse=True)
    occurs = np.zeros((group.max() + 1, first.max() + 1), dtype=np.bool_)
    occurs[group, first] = True
    shared: Bools = np.all(occurs, axis=1)
    return bool(np.mean(~shared[group]) > 0.5)


class FirstLabels(NamedTuple):
    """First labels: items, and those judged again, both (label,); unplanned: twice the other double judgments."""

    items: Ints
    again: Ints
    unplanned: float


def first_labels(judgments: Judgments, later: Bools) -> FirstLabels:
    """Count items by their first label, those with one label except for the later ones (row,)."""
    item, n_labels = distinct_items(judgments)[0], len(judgments.scale)
    n_first, n_later = np.bincount(item, ~later), np.bincount(item, later)
    single = ~later & (n_first[item] == 1)
    rows = single, single & (n_later[item] > 0)
    items, again = (np.bincount(judgments.label[each], minlength=n_labels) for each in rows)
    return FirstLabels(items, again, float((n_first * (n_first - 1)).sum()))


def exposures_of(again: Ints | Floats, share: Floats, unplanned: float) -> Floats:
    """Expected pairs over their share: again (..., label) items judged again, share (label,) of first labels.

    unplanned: twice the number of double judgments that were not chosen by their first label.
    """
    rate = np.divide(again, share, out=np.zeros(np.shape(again)), where=share > 0)
    found: Floats = rate[..., :, None] + rate[..., None, :] + unplanned
    return found


def _codes(judgments: Judgments, names: tuple[str, ...]) -> list[int]:
    return [judgments.assessor.code_of(name, "assessor") for name in names]

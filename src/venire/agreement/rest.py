r"""Each label against the labels that the other assessors gave the same item, or those of them who are the reference.

For a label l by assessor a on an item that others judged too, let q(m) be the share of label m among the labels that
the others gave it (an assessor with k labels for the item gives each of them the weight 1/k).  With p_a(m) the share of
m among the assessor's own labels and v the value of a label on the scale,

    equal       q(l)                      how often a random other assessor says the same
    chance      sum_m p_a(m) q(m)         the same, had the assessor dealt out these labels at random
    gap         sum_m q(m) (v_l - v_m)    higher or lower than the others
    distance    sum_m q(m) |v_l - v_m|

The mean of ``equal`` over an assessor's labels, less that of ``chance``, over one less that of ``chance`` is a kappa
of the assessor with the rest, by the assessor's own marginals on these items.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.models.pairs import distinct_items
from venire.types import Bools, Codes, Floats, Ints

BLOCK = 1 << 21
ROUNDING = 1e-12
"""What is this small beside the numbers that it was made of is 0, but for rounding."""


def summed(place: Ints | Codes, weights: Floats, n: int = 0) -> Floats:
    """Sum weights by place, n places at least -> (place,)."""
    sums: Floats = np.bincount(place, weights, minlength=n).astype(np.float64, copy=False)
    return sums


def cleared(values: Floats, size: Floats | float) -> Floats:
    """Set to 0 what rounding left of 0: values that are negligible beside size, of the same shape."""
    return np.where(np.abs(values) <= ROUNDING * size, 0.0, values)


def balance(place: Ints | Codes, terms: Floats, n: int) -> Floats:
    """Sum terms of either sign by place, exactly 0 where they cancel -> (place,)."""
    return cleared(summed(place, terms, n), summed(place, np.abs(terms), n))


class Own(NamedTuple):
    """Labels of items that others judged: row into the judgments, item, who, label, weight, others (shared,)."""

    row: Ints
    item: Ints
    who: Codes
    label: Codes
    weight: Floats
    others: Floats


class Given(NamedTuple):
    """Labels that others are compared with: cell (item, assessor), item, label, weight (given,)."""

    cell: Ints
    item: Ints
    label: Codes
    weight: Floats


class Rest(NamedTuple):
    """What ``own`` labels are against the rest, all (shared,); over (assessor x label x label) what others gave.

    met_who, met_own, met_other, met: an assessor's label, a label of others on the same items, and how often (cell,).
    """

    own: Own
    equal: Floats
    chance: Floats
    gap: Floats
    distance: Floats
    met_who: Ints
    met_own: Ints
    met_other: Ints
    met: Floats


def rest_of(judgments: Judgments, values: Floats | None, reference: Bools | None = None) -> Rest:
    """Compare every label with those of the others; values (label,), None if labels have no order.

    reference (assessor,): the others are these alone, without oneself; None: all.
    Cost: O(rows log rows + labels x distinct labels of their item), a block of ``BLOCK`` at a time.
    """
    own, cell, given = _shared(judgments, reference)
    n_labels, n = len(judgments.scale), len(own.item)
    values = np.zeros(n_labels) if values is None else values
    marginal = _marginals(own, len(judgments.assessor.names), n_labels)
    key, mass = _masses(given.item * n_labels + given.label, given.weight)
    mine, own_mass = _masses(given.cell * n_labels + given.label, given.weight)
    first = np.searchsorted(key, own.item * n_labels)
    size = np.searchsorted(key, (own.item + 1) * n_labels) - first
    found = np.zeros((4, n))
    keys, sums = [], []
    for block in _blocks(size):
        at = np.repeat(np.arange(block.start, block.stop), size[block])
        place = np.arange(len(at)) - np.repeat(np.cumsum(size[block]) - size[block], size[block]) + first[at]
        other = key[place] % n_labels
        share = mass[place] - _looked_up(mine, own_mass, cell[at] * n_labels + other)
        share = np.maximum(share, 0.0) / own.others[at]
        apart = values[own.label[at]] - values[other]
        parts = (own.label[at] == other, marginal[own.who[at], other], apart, np.abs(apart))
        found[:, block] = [summed(at - block.start, share * part, size[block].size) for part in parts]
        triple = (own.who[at].astype(np.int64) * n_labels + own.label[at]) * n_labels + other
        distinct, number = np.unique(triple, return_inverse=True)
        keys.append(distinct)
        sums.append(summed(number, share * own.weight[at]))
    equal, chance, gap, distance = found
    return Rest(own, equal, chance, gap, distance, *_gathered(keys, sums, n_labels))


def _shared(judgments: Judgments, reference: Bools | None) -> tuple[Own, Ints, Given]:
    """Choose the labels of items that others judged, number their cells (item, assessor), and what others gave."""
    item, topic = distinct_items(judgments)
    who, n_assessors = judgments.assessor.codes, max(len(judgments.assessor.names), 1)
    cells, cell = np.unique(item.astype(np.int64) * n_assessors + who, return_inverse=True)
    gives = np.ones(n_assessors, dtype=np.bool_) if reference is None else reference
    raters = np.bincount((cells // n_assessors)[gives[cells % n_assessors]], minlength=len(topic))
    others = (raters[item] - gives[who]).astype(np.float64)
    weight = (1.0 / np.bincount(cell, minlength=1))[cell]
    rows, said = np.flatnonzero(others > 0), np.flatnonzero(gives[who])
    own = Own(rows, item[rows].astype(np.int64), who[rows], judgments.label[rows], weight[rows], others[rows])
    given = Given(cell[said], item[said].astype(np.int64), judgments.label[said], weight[said])
    return own, cell[rows], given


def _marginals(own: Own, n_assessors: int, n_labels: int) -> Floats:
    """Share of each label among an assessor's own, where others judged too -> (assessor, label)."""
    key = own.who.astype(np.int64) * n_labels + own.label
    counts = summed(key, own.weight, n_assessors * n_labels).reshape(n_assessors, n_labels)
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _masses(places: Ints, weight: Floats) -> tuple[Ints, Floats]:
    """Sum weights by place: distinct places, ascending, and their sums."""
    key, number = np.unique(places, return_inverse=True)
    return key, summed(number, weight, len(key))


def _looked_up(keys: Ints, values: Floats, wanted: Ints) -> Floats:
    """Return values by key, 0 where there is none."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: Floats = np.where(keys[place] == wanted, values[place], 0.0)
    return found


def _blocks(size: Ints) -> list[slice]:
    """Cut rows so that the sizes of a block sum to about ``BLOCK``."""
    if len(size) == 0:
        return []
    cut = np.flatnonzero(np.diff(np.cumsum(size) // BLOCK)) + 1
    edges = [0, *cut.tolist(), len(size)]
    return [slice(*pair) for pair in pairwise(edges)]


def _gathered(keys: list[Ints], sums: list[Floats], n_labels: int) -> tuple[Ints, Ints, Ints, Floats]:
    """Add up what blocks found: assessor, own label, others' label, how often (cell,)."""
    if not keys:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none, np.zeros(0)
    key, number = np.unique(np.concatenate(keys), return_inverse=True)
    total = summed(number, np.concatenate(sums))
    return key // n_labels**2, key // n_labels % n_labels, key % n_labels, total

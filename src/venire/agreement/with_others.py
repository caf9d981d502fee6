r"""Each label against the labels that the other assessors gave the same item, or those of them who are the reference.

For a label l by assessor a on an item that others judged too, let q(m) be the share of label m among the labels that
the others gave it (an assessor with k labels for the item gives each of them the weight 1/k).  With p_a(m) the share of
m among the assessor's own labels and v the value of a label on the scale,

    equal       q(l)                      how often a random other assessor says the same
    chance      sum_m p_a(m) q(m)         the same, if the assessor gave these labels at random
    gap         sum_m q(m) (v_l - v_m)    higher or lower than the others
    distance    sum_m q(m) |v_l - v_m|

The mean of ``equal`` over an assessor's labels, less that of ``chance``, over one less that of ``chance`` is a kappa
of the assessor with the rest, by the assessor's own marginals on these items.

Shifts: how much higher each assessor labels than the typical one, whoever judged the same items.

The model is label = item + shift + error.  With k_i assessors of item i, the gap of a label to the mean of the
others on its item is k_i / (k_i - 1) times what it is above the mean of all.  Summed over an assessor's items, gaps g
are L s for the shifts s: weighted least squares on a graph, whose nodes are assessors and whose edges weigh
1 / (k_i - 1) for each item that two of them share.  L is the Laplacian of that graph and

.. math:: s = L^+ g

Errors of one variance :math:`\sigma^2` give the gaps of an item the covariance :math:`\sigma^2 L_i k_i / (k_i - 1)`,
L_i being the item's part of L.  With L_2 the sum of these parts, each times k_i / (k_i - 1),

.. math:: \mathrm{cov}(s) = \sigma^2 L^+ L_2 L^+, \qquad
          \sigma^2 = \sum w r^2 \frac{k - 1}{k} / (\mathrm{labels} - \mathrm{assessors})

over labels of weight w, r being the gap less the difference of the own shift and the mean shift of the others.  The
standard error of a shift is that of its difference from the mean over the middle third of assessors, which stands for
their median.  Where groups of assessors are linked by few items, it is far larger than that of the mean gap, which
depends on an assessor's own items only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import distinct_items
from venire.kernels.distinct import numbered
from venire.types import Bools, Codes, Floats, Ints

BLOCK = 1 << 21
ROUNDING = 1e-12
"""A result below this share of its terms is rounding error."""


def summed(place: Ints | Codes, weights: Floats, n: int = 0) -> Floats:
    """Sum weights by place, n places at least -> (place,)."""
    sums: Floats = np.bincount(place, weights, minlength=n).astype(np.float64, copy=False)
    return sums


def ratio(part: Floats, whole: Floats) -> Floats:
    """Divide, NaN where the whole is 0."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


def cleared(values: Floats, size: Floats | float) -> Floats:
    """Set rounding errors to 0: values negligible against size, of the same shape."""
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
        wanted = cell[at] * n_labels + other
        own_place = np.minimum(np.searchsorted(mine, wanted), len(mine) - 1)
        share = mass[place] - np.where(mine[own_place] == wanted, own_mass[own_place], 0.0)
        share = np.maximum(share, 0.0) / own.others[at]
        apart = values[own.label[at]] - values[other]
        parts = (own.label[at] == other, marginal[own.who[at], other], apart, np.abs(apart))
        found[:, block] = [summed(at - block.start, share * part, size[block].size) for part in parts]
        triple = (own.who[at].astype(np.int64) * n_labels + own.label[at]) * n_labels + other
        distinct, number = numbered(triple)
        keys.append(distinct)
        sums.append(summed(number, share * own.weight[at]))
    equal, chance, gap, distance = found
    return Rest(own, equal, chance, gap, distance, *_gathered(keys, sums, n_labels))


def _shared(judgments: Judgments, reference: Bools | None) -> tuple[Own, Ints, Given]:
    """Choose the labels of items that others judged, number their cells (item, assessor), and what others gave."""
    item, topic = distinct_items(judgments)
    who, n_assessors = judgments.assessor.codes, max(len(judgments.assessor.names), 1)
    cells, cell = numbered(item.astype(np.int64) * n_assessors + who)
    gives = np.ones(n_assessors, dtype=np.bool_) if reference is None else reference
    raters = np.bincount((cells // n_assessors)[gives[cells % n_assessors]], minlength=len(topic))
    others = (raters[item] - gives[who]).astype(np.float64)
    weight = (1.0 / np.bincount(cell, minlength=1))[cell]
    rows, given_rows = np.flatnonzero(others > 0), np.flatnonzero(gives[who])
    own = Own(rows, item[rows].astype(np.int64), who[rows], judgments.label[rows], weight[rows], others[rows])
    at = item[given_rows].astype(np.int64)
    given = Given(cell[given_rows], at, judgments.label[given_rows], weight[given_rows])
    return own, cell[rows], given


def _marginals(own: Own, n_assessors: int, n_labels: int) -> Floats:
    """Share of each label among an assessor's own, where others judged too -> (assessor, label)."""
    key = own.who.astype(np.int64) * n_labels + own.label
    counts = summed(key, own.weight, n_assessors * n_labels).reshape(n_assessors, n_labels)
    shares: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _masses(places: Ints, weight: Floats) -> tuple[Ints, Floats]:
    """Sum weights by place: distinct places, ascending, and their sums."""
    key, number = numbered(places)
    return key, summed(number, weight, len(key))


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
    key, number = numbered(np.concatenate(keys))
    total = summed(number, np.concatenate(sums))
    return key // n_labels**2, key // n_labels % n_labels, key % n_labels, total


MOST = 2_000
"""Up to this many assessors the Laplacian is inverted; beyond, there are no standard errors."""
STEPS, CLOSE = 20_000, 1e-9


class Shifts(NamedTuple):
    """Shifts, the median assessor at 0, and their standard errors, both (assessor,); NaN where not known."""

    value: Floats
    se: Floats


class Meetings(NamedTuple):
    """Who judged which item: a sparse table (item, assessor) of 0 and 1, item (shared,), and others (item,)."""

    table: Any
    item: Ints
    others: Floats


def shifts(rest: Rest, n_assessors: int) -> Shifts:
    """Solve label = item + shift; NaN: no items with others.  Errors are NaN beyond 2,000 assessors.

    Cost: up to 2,000 assessors, rows x assessors of an item and assessors cubed, memory quadratic in assessors; beyond,
    some hundred passes over the rows, more where assessors form long chains, and memory linear in rows.
    """
    unknown = np.full(n_assessors, np.nan)
    if len(rest.own.who) == 0:
        return Shifts(unknown, unknown)
    own, meetings = rest.own, _meetings(rest, n_assessors)
    gap = balance(own.who, own.weight * rest.gap, n_assessors)
    known = summed(own.who, own.weight, n_assessors) > 0
    if n_assessors > MOST:
        return Shifts(_from_median(_approached(rest, meetings, gap), known), unknown)
    inverse = _pseudo_inverse(_laplacian(meetings.table, 1 / meetings.others))
    shift = _from_median(inverse @ gap, known)
    return Shifts(shift, _errors(rest, meetings, shift, inverse))


def _from_median(shift: Floats, known: Bools) -> Floats:
    shift = np.where(known, shift - np.median(shift[known]), np.nan)
    return cleared(shift, np.abs(shift).max(where=known, initial=0.0))


def _meetings(rest: Rest, n_assessors: int) -> Meetings:
    from scipy.sparse import coo_array

    own = rest.own
    items, item = numbered(own.item)
    table = coo_array((own.weight, (item, own.who)), shape=(len(items), n_assessors)).tocsr()
    others = np.zeros(len(items))
    others[item] = own.others
    return Meetings(table, item, others)


def _approached(rest: Rest, meetings: Meetings, gap: Floats) -> Floats:
    """Solve by conjugate gradients, with products of sparse tables in place of the Laplacian -> (assessor,).

    A residual no larger than rounding counts as 0; its direction is arbitrary, and steps along it could divide by 0.
    NaN where the steps do not converge.
    """
    from scipy.sparse.linalg import LinearOperator, cg

    own, table, n = rest.own, meetings.table, len(gap)
    total = summed(own.who, own.weight, n)
    diagonal = np.where(total > 0, total, 1.0) + summed(own.who, own.weight / own.others, n)

    def product(shift: Floats) -> Floats:
        return np.asarray(diagonal * shift - table.T @ (table @ shift / meetings.others))

    scaled = LinearOperator((n, n), matvec=lambda each: each / diagonal, dtype=np.float64)
    laplacian = LinearOperator((n, n), matvec=product, dtype=np.float64)
    size = np.linalg.norm(summed(own.who, own.weight * np.abs(rest.gap), n))
    shift, failed = cg(laplacian, gap, rtol=CLOSE, atol=ROUNDING * float(size), maxiter=STEPS, M=scaled)
    return np.full(n, np.nan) if failed else np.asarray(shift)


def _errors(rest: Rest, meetings: Meetings, shift: Floats, inverse: Floats) -> Floats:
    """Standard errors of shifts against the middle third of assessors; inverse: of the Laplacian -> (assessor,)."""
    known = ~np.isnan(shift)
    wider = _laplacian(meetings.table, (meetings.others + 1) / meetings.others**2)
    variance = _noise(rest, meetings, np.where(known, shift, 0.0), int(known.sum()))
    against = inverse - _middle(shift) @ inverse
    spread = np.maximum(np.einsum("ab,ab->a", against @ wider, against), 0.0)
    return np.where(known, np.sqrt(variance * spread), np.nan)


def _middle(shift: Floats) -> Floats:
    """Weights of assessors in the mean of the middle third, by shift -> (assessor,)."""
    n = int((~np.isnan(shift)).sum())
    cut = n // 3
    weights = np.zeros(len(shift))
    weights[np.argsort(shift)[cut : n - cut]] = 1.0 / (n - 2 * cut)
    return weights


def _laplacian(table: Any, weight: Floats) -> Floats:
    """Laplacian of who met whom, items weighing weight (item,) -> (assessor, assessor)."""
    met: Floats = (table.T @ table.multiply(weight[:, None]).tocsr()).toarray()
    np.fill_diagonal(met, 0.0)
    return np.asarray(np.diag(met.sum(axis=1)) - met)


def _pseudo_inverse(laplacian: Floats) -> Floats:
    """Invert a Laplacian where it can be: 1 / n between the n members of each connected part make it invertible."""
    part = _parts(laplacian != 0)
    flat = (part[:, None] == part) / np.bincount(part)[part]
    return np.asarray(np.linalg.inv(laplacian + flat) - flat)


def _parts(linked: Bools) -> Ints:
    """Number the connected parts of a graph (node, node) by their first nodes -> (node,).

    Paths of up to 1, 2, 4, ... links, as products of matrices: the import of scipy.sparse.csgraph would take longer.
    """
    reached, n = linked | np.eye(len(linked), dtype=np.bool_), -1
    while n != (n := int(reached.sum())):
        paths = reached.astype(np.float32)
        reached = paths @ paths > 0
    return reached.argmax(axis=1)


def _noise(rest: Rest, meetings: Meetings, shift: Floats, n_known: int) -> float:
    """Variance of a label around item + shift; NaN if there are no more labels than assessors."""
    own = rest.own
    mean = ((meetings.table @ shift)[meetings.item] - shift[own.who]) / own.others
    left = rest.gap - (shift[own.who] - mean)
    squares = float((own.weight * left**2 * own.others / (own.others + 1)).sum())
    free = float(own.weight.sum()) - n_known
    return squares / free if free > 0 else np.nan

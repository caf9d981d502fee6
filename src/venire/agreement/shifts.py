r"""Shifts: how much higher each assessor labels than the typical one, whoever the others of an item are.

Labels are taken for label = item + shift + error.  With k_i assessors of item i, the gap of a label to the mean of the
others on its item is k_i / (k_i - 1) times what it is above the mean of all.  Summed over an assessor's items, gaps g
are L s for the shifts s: weighted least squares on a graph, whose nodes are assessors and whose edges weigh
1 / (k_i - 1) for each item that two of them share.  L is the Laplacian of that graph and

.. math:: s = L^+ g

Errors of one variance :math:`\sigma^2` give the gaps of an item the covariance :math:`\sigma^2 L_i k_i / (k_i - 1)`,
L_i being the item's part of L.  With L_2 the sum of these parts, each times k_i / (k_i - 1),

.. math:: \mathrm{cov}(s) = \sigma^2 L^+ L_2 L^+, \qquad
          \sigma^2 = \sum w r^2 \frac{k - 1}{k} / (\mathrm{labels} - \mathrm{assessors})

over labels of weight w, r being the gap less what the shifts make of it: the own one less the mean of the others.
The error of a shift is that of its difference from the mean over the middle third of assessors, which stands for their
median: of two teams, the smaller is as far from the median as from the other team, and not half as far.
Where teams are linked by few items, this error is far larger than that of the mean gap, which knows an assessor's own
items only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from venire.agreement.rest import Rest, summed
from venire.types import Floats, Ints

STEPS, CLOSE = 500, 1e-6
MOST = 2_000
"""Assessors up to whom errors are found: they take a matrix of all by all."""


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

    Cost: some hundred passes over the rows; for the errors rows x assessors of an item, and assessors cubed.  Memory
    is linear in rows; for the errors, and up to 2,000 assessors only, quadratic in assessors.
    """
    unknown = np.full(n_assessors, np.nan)
    if len(rest.own.who) == 0:
        return Shifts(unknown, unknown)
    meetings = _meetings(rest, n_assessors)
    shift = _solved(rest, meetings, n_assessors)
    return Shifts(shift, _errors(rest, meetings, shift) if n_assessors <= MOST else unknown)


def _meetings(rest: Rest, n_assessors: int) -> Meetings:
    from scipy.sparse import coo_array

    own = rest.own
    items, item = np.unique(own.item, return_inverse=True)
    table = coo_array((own.weight, (item, own.who)), shape=(len(items), n_assessors)).tocsr()
    others = np.zeros(len(items))
    others[item] = own.others
    return Meetings(table, item, others)


def _solved(rest: Rest, meetings: Meetings, n_assessors: int) -> Floats:
    """Solve by conjugate gradients, with products of sparse tables in place of the Laplacian -> (assessor,)."""
    from scipy.sparse.linalg import LinearOperator, cg

    own, table = rest.own, meetings.table
    total = summed(own.who, own.weight, n_assessors)
    known = total > 0
    diagonal = np.where(known, total, 1.0) + summed(own.who, own.weight / own.others, n_assessors)

    def product(shift: Floats) -> Floats:
        return np.asarray(diagonal * shift - table.T @ (table @ shift / meetings.others))

    gap = summed(own.who, own.weight * rest.gap, n_assessors)
    square = (n_assessors, n_assessors)
    scaled = LinearOperator(square, matvec=lambda each: each / diagonal, dtype=np.float64)
    laplacian = LinearOperator(square, matvec=product, dtype=np.float64)
    shift, _ = cg(laplacian, gap, rtol=CLOSE, maxiter=STEPS, M=scaled)
    return np.where(known, shift - np.median(shift[known]), np.nan)


def _errors(rest: Rest, meetings: Meetings, shift: Floats) -> Floats:
    """Standard errors of shifts against the middle third of assessors -> (assessor,)."""
    known = ~np.isnan(shift)
    k = meetings.others + 1
    laplacian = _laplacian(meetings.table, 1 / meetings.others)
    wider = _laplacian(meetings.table, k / meetings.others**2)
    inverse = _pseudo_inverse(laplacian)
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
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(csr_array(laplacian), directed=False)
    flat = (part[:, None] == part) / np.bincount(part)[part]
    return np.asarray(np.linalg.inv(laplacian + flat) - flat)


def _noise(rest: Rest, meetings: Meetings, shift: Floats, n_known: int) -> float:
    """Variance of a label around item + shift; NaN if there are no more labels than assessors."""
    own = rest.own
    mean = ((meetings.table @ shift)[meetings.item] - shift[own.who]) / own.others
    left = rest.gap - (shift[own.who] - mean)
    squares = float((own.weight * left**2 * own.others / (own.others + 1)).sum())
    free = float(own.weight.sum()) - n_known
    return squares / free if free > 0 else np.nan

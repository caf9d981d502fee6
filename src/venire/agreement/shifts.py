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

from venire.agreement.rest import ROUNDING, Rest, balance, cleared, summed
from venire.types import Bools, Floats, Ints

MOST = 2_000
"""Assessors up to whom the Laplacian is inverted, which takes a matrix of all by all; beyond, there are no errors."""
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
    items, item = np.unique(own.item, return_inverse=True)
    table = coo_array((own.weight, (item, own.who)), shape=(len(items), n_assessors)).tocsr()
    others = np.zeros(len(items))
    others[item] = own.others
    return Meetings(table, item, others)


def _approached(rest: Rest, meetings: Meetings, gap: Floats) -> Floats:
    """Solve by conjugate gradients, with products of sparse tables in place of the Laplacian -> (assessor,).

    What is left to solve is 0 once it is no more than rounding: its direction is then arbitrary, and the Laplacian may
    take it to 0, by which a step would be divided.  NaN where the steps do not get close.
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

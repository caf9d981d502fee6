r"""Conditional association: a test of whether a number depends on scores, given groups of rows.

With z and the scores x centred within all groups (residuals of a regression on them, by subtracting the means of each
grouping in turn), :math:`u = \sum x z` is near 0 if z depends on the groups only.  Its variance is a sum over clusters
of rows (topics), within which rows need not be independent:
:math:`S = \sum_c u_c u_c^T`.  With C clusters and d scores

.. math:: q = u^T S^- u, \qquad  \frac{C - d}{d} \frac{q}{C - q} \sim F_{d, C - d}

as in Hotelling's (1931) test of a mean.  With fewer than eight clusters more than scores, every row is a cluster; with
fewer than thirty rows whose z is not determined by the groups, p is 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from venire.kernels.distinct import numbered
from venire.types import Codes, Floats, Ints

ENOUGH, ROWS = 8, 30
ROUNDS, TOLERANCE = 200, 1e-7


def association(x: Floats, z: Floats, groups: Sequence[Ints], cluster: Ints | Codes) -> float:
    """P-value of association given groups: x (row, score), z and each of groups (row,), cluster (row,).

    Cost: O(rows x scores x groupings) per round, of which one is enough for one grouping.
    """
    from scipy.special import fdtrc

    centred = _centred(np.column_stack([z, x]).astype(np.float64), groups)
    parts = centred[:, 1:] * centred[:, :1]
    varies = np.abs(centred[:, 0]) > 1e-6
    if varies.sum() < ROWS:
        return 1.0
    _, number = numbered(cluster[varies])
    if number.max(initial=-1) + 1 >= ENOUGH + parts.shape[1]:
        parts = np.stack([np.bincount(number, column[varies]) for column in parts.T], axis=1)
    else:
        parts = parts[varies]
    u, (inverse, freedom) = parts.sum(axis=0), _inverse(parts.T @ parts)
    left = len(parts) - freedom
    if freedom == 0 or left < 1:
        return 1.0
    q = min(float(u @ inverse @ u), len(parts) * (1 - 1e-12))
    return float(fdtrc(freedom, left, left / freedom * q / (len(parts) - q)))


def _centred(values: Floats, groups: Sequence[Ints]) -> Floats:
    """Subtract the means of every grouping: values (row, column) -> (row, column)."""
    codes = [numbered(each)[1] for each in groups]
    sizes = [np.bincount(each) for each in codes]
    columns = np.array(values.T, order="C")  # each in one piece, which halves the time
    for _ in range(ROUNDS if len(codes) > 1 else 1):
        moved = 0.0
        for code, size in zip(codes, sizes, strict=True):
            for column in columns:
                means = np.bincount(code, column) / size
                column -= means[code]
                moved = max(moved, float(np.abs(means).max(initial=0.0)))
        if moved < TOLERANCE:
            break
    return columns.T


def _inverse(matrix: Floats) -> tuple[Floats, int]:
    """Generalised inverse of a symmetric matrix, and its rank."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-9)
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, int(kept.sum())

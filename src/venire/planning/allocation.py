"""How many cases to add to each stratum, so that the sum of the variances of their estimates is least."""

from __future__ import annotations

import numpy as np

from venire.types import Floats

SMALL = 1e-9


def neyman(deviation: Floats, have: Floats, most: Floats, n: float) -> Floats:
    """Allocate n cases to strata so that the sum of deviation^2 / (have + cases) is least -> (stratum,).

    have, most (stratum,): cases that there are, and at most how many may be added; all of these where n is more.  Then
    have + cases is in proportion to the deviation, where the limits allow it (Neyman 1934, doi:10.2307/2342192).  The
    factor is found by the points at which a stratum begins and ends to get cases.  Cost: O(strata log strata).

    Examples
    --------
    >>> neyman(np.array([0.5, 0.5, 0.25]), np.array([0.0, 20.0, 0.0]), np.array([90.0, 90.0, 90.0]), 80).tolist()
    [40.0, 20.0, 20.0]
    """
    slope = np.maximum(deviation, SMALL)
    points = np.concatenate([have / slope, (have + most) / slope])
    order = np.argsort(points, kind="stable")
    points, steps = points[order], np.concatenate([slope, -slope])[order]
    total = np.append(0.0, np.cumsum(np.cumsum(steps)[:-1] * np.diff(points)))
    factor = np.interp(n, total, points) if len(points) else 0.0
    return np.clip(factor * slope - have, 0.0, most)

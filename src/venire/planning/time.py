"""Time of assessors: how long a label takes, from the times of earlier ones.

The time between two successive labels of an assessor is that of the second one; longer ones are breaks.
"""

from __future__ import annotations

import numpy as np

from venire.data.judgments import Judgments
from venire.io.judgments import JudgmentsLike, as_judgments

BREAK = 600.0
"""Seconds without a label that are taken as a break."""


def minutes_per_label(judgments: JudgmentsLike) -> float | None:
    """Return the median time between two successive labels of an assessor, in minutes; None where it is not known.

    Times are seconds.  Gaps of more than ten minutes are breaks and are left out, and so are those of 0 seconds, which
    are labels saved together.  Cost: O(rows log rows).

    Examples
    --------
    >>> from dataclasses import replace
    >>> from venire.io import read_grid
    >>> labels = read_grid("1 0 1 1")
    >>> minutes_per_label(replace(labels, time=np.array([0.0, 30.0, 3600.0, 3690.0])))
    1.0
    """
    judgments = as_judgments(judgments)
    if judgments.time is None:
        return None
    rows = np.flatnonzero(np.isfinite(judgments.time))
    order = rows[np.lexsort((judgments.time[rows], judgments.assessor.codes[rows]))]
    gap, who = np.diff(judgments.time[order]), judgments.assessor.codes[order]
    gap = gap[(who[1:] == who[:-1]) & (gap > 0) & (gap <= BREAK)]
    return float(np.median(gap)) / 60 if len(gap) else None


def expected_minutes(judgments: Judgments, number: int) -> float | None:
    """Return how long this many labels take; None where no times are known."""
    each = minutes_per_label(judgments)
    return None if each is None else each * number

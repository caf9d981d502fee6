r"""Gwet's AC1 and AC2: agreement beyond chance that stays high where nearly all labels are the same.

Gwet (2008, doi:10.1348/000711006X126600); Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.  With weights
:math:`w_{ck} = 1 - \delta_{ck} / \max \delta` over the q labels that occur (AC1: nominal; AC2: linear, quadratic),
:math:`p_a` the mean weight of two labels of an item and :math:`\pi_c` the mean share of label c over items,

.. math:: p_e = \frac{\sum_{ck} w_{ck}}{q (q - 1)} \sum_c \pi_c (1 - \pi_c), \qquad AC = \frac{p_a - p_e}{1 - p_e}

The value depends on q.  Labels of the scale that nobody gave do not count, as in irrCAC; ``whole_scale=True`` counts
them.
"""

from __future__ import annotations

import numpy as np

from venire.agreement.coefficient import Coefficient, coefficient
from venire.agreement.distance import WEIGHTS, Distance, named_distance
from venire.agreement.kappa import label_shares, observed_values
from venire.agreement.label_patterns import LabelPatterns, label_patterns
from venire.agreement.resampling import Resampling, Values, estimated
from venire.data.judgments import Judgments
from venire.types import Bools, Floats, RNGLike

NAME = "gwet_ac"
MEANING = (
    "Assessors agree {value} of the way from chance, taken as guessing on hard items only, to perfect agreement: "
    "1 is perfect agreement, 0 is chance."
)


def gwet_ac(
    judgments: Judgments | LabelPatterns,
    weights: str | Distance = "nominal",
    *,
    whole_scale: bool = False,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> Coefficient:
    '''Compute Gwet's AC1 (weights nominal) or AC2 (linear, quadratic), with an interval.

    whole_scale: labels that nobody gave count too.  over, resample, cost: as for Krippendorff's alpha.

    Examples
    --------
    >>> from venire import read_grid
    >>> round(gwet_ac(read_grid("""
    ...     1 2 3 3 2 1 4 1 2 . . .
    ...     1 2 3 3 2 2 4 1 2 5 . 3
    ...     . 3 3 3 2 3 4 2 2 5 1 .
    ...     1 2 3 3 2 4 4 1 2 5 1 .""")).value, 5)
    0.77544
    '''
    table = label_patterns(judgments)
    level, distance = named_distance(weights, WEIGHTS, table.scale)
    counted = np.ones(len(table.scale), dtype=np.bool_) if whole_scale else table.occurring
    values = gwet_values(table, table.distances(distance), counted)
    found = estimated(values, table.source(resample), Resampling(over, resample, n_draws, rng))
    about = {"name": NAME, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    return coefficient(found, meaning=MEANING, reason=table.why_undefined(), **about)


def gwet_values(table: LabelPatterns, distances: Floats, counted: Bools) -> Values:
    """Return AC1 or AC2 as a function of weights (draw, pattern) -> (draw,); counted (label,) makes up q."""
    observed, q = observed_values(table, distances), int(counted.sum())
    largest = float(distances[np.ix_(counted, counted)].max(initial=0.0))
    if q < 2 or largest == 0:
        return lambda weights: np.full(len(weights), np.nan)
    by_chance = (1 - distances[np.ix_(counted, counted)] / largest).sum() / (q * (q - 1))

    def values(weights: Floats) -> Floats:
        shares = label_shares(table, weights)
        chance = by_chance * (shares * (1 - shares)).sum(axis=1)
        defined = chance < 1
        agreed = 1 - observed(weights) / largest
        return np.where(defined, (agreed - chance) / np.where(defined, 1 - chance, 1.0), np.nan)

    return values

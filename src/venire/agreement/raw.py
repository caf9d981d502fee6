r"""Raw agreement: how often two assessors give an item the same label; chance is not taken into account.

The mean over items with two labels or more of the share of its pairs of labels that agree (Fleiss 1971,
doi:10.1037/h0031619).  With linear or quadratic weights a pair counts :math:`1 - \delta_{ck} / \max \delta`, over the
labels that occur.
"""

from __future__ import annotations

import numpy as np

from venire.agreement.coefficient import Coefficient, coefficient
from venire.agreement.distance import WEIGHTS, Distance, named_distance
from venire.agreement.kappa import observed_values
from venire.agreement.label_patterns import NO_PAIRS, LabelPatterns, label_patterns
from venire.agreement.resampling import Resampling, estimated
from venire.data.judgments import Judgments
from venire.types import Floats, RNGLike

NAME = "raw_agreement"
MEANING = "Two labels of an item agree with a share of {value}, by chance or not: 1 is perfect agreement."


def raw_agreement(
    judgments: Judgments | LabelPatterns,
    weights: str | Distance = "nominal",
    *,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> Coefficient:
    '''Compute the share of pairs of labels that agree; with weights, near labels agree in part.

    over, resample, cost: as for Krippendorff's alpha.

    Examples
    --------
    >>> from venire import read_grid
    >>> raw_agreement(read_grid("""
    ...     1 0 1 1
    ...     1 0 0 1""")).value
    0.75
    '''
    table = label_patterns(judgments)
    level, distance = named_distance(weights, WEIGHTS, table.scale)
    distances = table.distances(distance)
    largest = float(distances[np.ix_(table.occurring, table.occurring)].max(initial=0.0)) or 1.0
    observed = observed_values(table, distances)

    def values(weights: Floats) -> Floats:
        return 1 - observed(weights) / largest

    found = estimated(values, table.source(resample), Resampling(over, resample, n_draws, rng))
    about = {"name": NAME, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    return coefficient(found, meaning=MEANING, reason=NO_PAIRS, **about)

r"""Krippendorff's alpha: agreement beyond chance, for any assessors, missing labels, any level of measurement.

Krippendorff (2011), Computing Krippendorff's alpha-reliability.  Of an item with :math:`m_u \ge 2` labels,
:math:`n_{uc}` of them c, and with :math:`n_c = \sum_u n_{uc}`, :math:`n = \sum_c n_c` over such items,

.. math:: \alpha = 1 - (n - 1) \frac{\sum_u \frac{1}{m_u - 1} \sum_{ck} n_{uc} n_{uk} \delta_{ck}}
                                    {\sum_{ck} n_c n_k \delta_{ck}}

Items enter by pattern, as matrix products of (pattern, label); there is no cube (item, label, label).  Ordinal
distances are squared differences of mid-ranks r, which differ between resamples, and
:math:`\sum_{ck} n_{uc} n_{uk} \delta_{ck} = 2 (m_u \sum_c n_{uc} r_c^2 - (\sum_c n_{uc} r_c)^2)`.

When not to use this: alpha cannot be compared across scales; more grades lower it although they carry more information
("reliable but useless", Chu et al. 2021).  Where nearly all labels are the same it is low however rare disagreement is.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from venire.agreement.distance import DISTANCES, Distance, midranks, named_distance, ordinal
from venire.agreement.intervals import Coefficient, Options, Values
from venire.agreement.patterns import LabelPatterns, label_patterns
from venire.io.judgments import JudgmentsLike
from venire.types import Floats

NAME = "krippendorff_alpha"
MEANING = (
    "Two labels of an item disagree {rest} as much as two labels drawn at random from all labels: "
    "1 is perfect agreement, 0 is chance."
)
ROUNDING = 1e-12
"""Observed disagreement below this share of the expected one counts as none."""


def alpha(judgments: JudgmentsLike | LabelPatterns, distance: str | None = None, **how: Unpack[Options]) -> Coefficient:
    '''Compute Krippendorff's alpha with an interval.

    distance: a level of measurement; None: that of the scale.  how: over, resample, n_draws, rng (``Options``).
    Cost: O(rows log rows) to collapse items, and a matrix product of (draw, pattern) and (pattern, label).

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = alpha(read_grid("""
    ...     1 2 3 3 2 1 4 1 2 . . .
    ...     1 2 3 3 2 2 4 1 2 5 . 3
    ...     . 3 3 3 2 3 4 2 2 5 1 .
    ...     1 2 3 3 2 4 4 1 2 5 1 ."""), "ordinal")
    >>> round(found.value, 3), found.n_items, found.n_raters
    (0.815, 11, 4)
    '''
    table = label_patterns(judgments)
    level = distance or table.scale.measurement
    values = alpha_values(table, named_distance(level, DISTANCES, table.scale))
    return table.coefficient(NAME, level, values, how, meaning=MEANING)


def alpha_values(table: LabelPatterns, distance: Distance) -> Values:
    """Return alpha as a function of weights (draw, pattern) -> (draw,), NaN where it is undefined."""
    share = np.where(table.paired, 1.0 / np.maximum(table.size - 1.0, 1.0), 0.0)
    distances = table.distances(distance)
    per_item = share * table.pair_means(distances) * table.size * (table.size - 1)

    def values(weights: Floats) -> Floats:
        marginals = table.marginals(weights)
        if distance is ordinal:
            observed, expected = _of_ranks(table, share, weights, marginals)
        else:
            observed = weights @ per_item
            expected = np.einsum("dc,ck,dk->d", marginals, distances, marginals, optimize=True)
        defined = ((marginals > 0).sum(axis=1) > 1) & (expected > 0)
        chance = expected / np.maximum(marginals.sum(axis=1) - 1, 1.0)
        return np.where(defined, 1 - observed / np.where(defined, chance, 1.0), np.nan)

    return values


def _of_ranks(table: LabelPatterns, share: Floats, weights: Floats, marginals: Floats) -> tuple[Floats, Floats]:
    """Sums of ordinal distances, observed and expected (draw,), with the mid-ranks of every draw, centred at 0."""
    n = np.maximum(marginals.sum(axis=1, keepdims=True), 1.0)
    ranks = midranks(marginals) / n - 0.5
    squares = np.asarray((weights * (share * table.size)) @ table.table) * np.square(ranks)
    sums = np.square(table.table @ ranks.T)
    observed = 2 * (squares.sum(axis=1) - np.einsum("dp,pd->d", weights * share, sums))
    expected = 2 * n[:, 0] * (marginals * np.square(ranks)).sum(axis=1)
    return np.where(observed > ROUNDING * expected, observed, 0.0), expected

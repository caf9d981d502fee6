r"""Krippendorff's alpha: agreement beyond chance, for any assessors, missing labels, any level of measurement.

Krippendorff (2011), Computing Krippendorff's alpha-reliability.  Of an item with :math:`m_u \ge 2` labels,
:math:`n_{uc}` of them c, and with :math:`n_c = \sum_u n_{uc}`, :math:`n = \sum_c n_c` over such items,

.. math:: \alpha = 1 - (n - 1) \frac{\sum_u \frac{1}{m_u - 1} \sum_{ck} n_{uc} n_{uk} \delta_{ck}}
                                    {\sum_{ck} n_c n_k \delta_{ck}}

Items enter by pattern, as matrix products of (pattern, label); there is no cube (item, label, label).  Where
distances are squared differences of scores r, as ordinal ones are of mid-ranks that every resample has anew,
:math:`\sum_{ck} n_{uc} n_{uk} \delta_{ck} = 2 (m_u \sum_c n_{uc} r_c^2 - (\sum_c n_{uc} r_c)^2)`.

When not to use this: alpha does not compare across scales; more grades lower it while telling more ("reliable but
useless", Chu et al. 2021).  Where nearly all labels are the same it is low however rarely people disagree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from venire.agreement.coefficient import Coefficient, coefficient
from venire.agreement.distance import DISTANCES, Distance, interval, midranks, named_distance, nominal, ordinal, ratio
from venire.agreement.resampling import LabelPatterns, Resampling, Values, estimated, label_patterns
from venire.data.judgments import Judgments
from venire.errors import SettingError
from venire.types import Floats, RNGLike

NAME = "krippendorff_alpha"
MEANING = (
    "Two labels of an item disagree {rest} as much as two labels dealt out at random would: "
    "1 is perfect agreement, 0 is chance."
)
ROUNDING = 1e-12
"""Less than this share of what chance gives is taken for none."""
FIXED = (nominal, interval, ratio)
"""Distances that do not depend on how often labels are given."""


def alpha(
    judgments: Judgments | LabelPatterns,
    distance: str | Distance | None = None,
    *,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> Coefficient:
    '''Compute Krippendorff's alpha with an interval.

    distance: a level of measurement, or a function of values and marginals (label,) that returns (label, label); the
    scale's level if None.  over: pooled "items", or the mean over "topics".  resample: draw "items" or "topics" anew;
    None: topics where two or more have pairs of labels, else items.
    Cost: O(rows log rows) to collapse items, and a matrix product of (draw, pattern) and (pattern, label).

    Examples
    --------
    >>> from venire import read_grid
    >>> found = alpha(read_grid("""
    ...     1 2 3 3 2 1 4 1 2 . . .
    ...     1 2 3 3 2 2 4 1 2 5 . 3
    ...     . 3 3 3 2 3 4 2 2 5 1 .
    ...     1 2 3 3 2 4 4 1 2 5 1 ."""), "ordinal")
    >>> round(found.value, 3), found.n_items, found.n_raters
    (0.815, 11, 4)
    '''
    table = label_patterns(judgments)
    level, chosen = named_distance(distance or table.scale.measurement, DISTANCES, table.scale)
    values = alpha_values(table, chosen)
    found = estimated(values, table.source(resample), Resampling(over, resample, n_draws, rng))
    about = {"name": NAME, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    return coefficient(found, meaning=MEANING, reason=table.why_undefined(), **about)


def alpha_values(table: LabelPatterns, distance: Distance) -> Values:
    """Return alpha as a function of weights (draw, pattern) -> (draw,), NaN where it is undefined."""
    share = np.where(table.paired, 1.0 / np.maximum(table.size - 1.0, 1.0), 0.0)
    disagreement = _disagreement(table, distance, share)

    def values(weights: Floats) -> Floats:
        marginals = table.marginals(weights)
        observed, expected = disagreement(weights, marginals)
        defined = ((marginals > 0).sum(axis=1) > 1) & (expected > 0)
        chance = expected / np.maximum(marginals.sum(axis=1) - 1, 1.0)
        return np.where(defined, 1 - observed / np.where(defined, chance, 1.0), np.nan)

    return values


Sums = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Weights (draw, pattern) and marginals (draw, label) -> sums of distances, observed and by chance, both (draw,)."""


def _disagreement(table: LabelPatterns, distance: Distance, share: Floats) -> Sums:
    if distance is ordinal:
        return lambda weights, marginals: _of_ranks(table, share, weights, marginals)
    if distance not in FIXED:
        return lambda weights, marginals: _of_any(table, distance, share, weights, marginals)
    distances = table.distances(distance)
    per_item = share * table.pair_means(distances) * table.size * (table.size - 1)

    def fixed(weights: Floats, marginals: Floats) -> tuple[Floats, Floats]:
        return weights @ per_item, np.einsum("dc,ck,dk->d", marginals, distances, marginals, optimize=True)

    return fixed


def _of_ranks(table: LabelPatterns, share: Floats, weights: Floats, marginals: Floats) -> tuple[Floats, Floats]:
    """Sums of ordinal distances, with the mid-ranks of every draw, as shares of all labels around their mean, 1/2."""
    n = np.maximum(marginals.sum(axis=1, keepdims=True), 1.0)
    ranks = midranks(marginals) / n - 0.5
    squares = np.asarray((weights * (share * table.size)) @ table.table) * np.square(ranks)
    sums = np.square(table.table @ ranks.T)
    observed = 2 * (squares.sum(axis=1) - np.einsum("dp,pd->d", weights * share, sums))
    expected = 2 * n[:, 0] * (marginals * np.square(ranks)).sum(axis=1)
    return np.where(observed > ROUNDING * expected, observed, 0.0), expected


def _of_any(
    table: LabelPatterns, distance: Distance, share: Floats, weights: Floats, marginals: Floats
) -> tuple[Floats, Floats]:
    """Sums of distances of one's own, which may depend on the marginals: coincidences anew for every draw."""
    counts, values = table.table, table.values
    observed, expected = np.zeros((2, len(weights)))
    for draw, (weight, margin) in enumerate(zip(weights, marginals, strict=True)):
        distances = _checked(distance(values, margin), len(values))
        coincidences = (counts.T * (weight * share)) @ counts
        dense = coincidences if isinstance(coincidences, np.ndarray) else coincidences.toarray()
        observed[draw] = (dense * distances).sum()
        expected[draw] = margin @ distances @ margin
    return observed, expected


def _checked(distances: Floats, n_labels: int) -> Floats:
    distances = np.asarray(distances, dtype=np.float64)
    if distances.shape != (n_labels, n_labels) or np.diagonal(distances).any() or not (distances >= 0).all():
        raise SettingError(
            f"the distance returned an array {distances.shape}, expected ({n_labels}, {n_labels}) without negative "
            "numbers, and zeros on the diagonal",
            hint="a distance takes values and marginals, both (label,), and returns (label, label)",
        )
    return distances

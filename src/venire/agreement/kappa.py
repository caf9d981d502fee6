r"""Kappas of many assessors: Fleiss' and Conger's, weighted, with missing labels.

Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., Section 2.4, as irrCAC computes them.  With
:math:`\delta` the distance of labels, :math:`n_{ic}` of the :math:`r_i` labels of item i being c, and the mean observed
distance over items with two labels or more,

.. math:: D_o = \operatorname{mean}_i \frac{\sum_{ck} n_{ic} n_{ik} \delta_{ck}}{r_i (r_i - 1)}, \qquad
          \kappa = 1 - D_o / D_e

what differs is the distance expected by chance:

    Fleiss (1971, doi:10.1037/h0031619)   :math:`D_e = \pi^\top \delta \pi`, with :math:`\pi_c` the mean over all
                                          items of :math:`n_{ic} / r_i`
    Conger (1980, doi:10.1037/0033-2909.88.2.322)
                                          the mean of :math:`p_g^\top \delta p_h` over every two assessors, with
                                          :math:`p_g` the shares of the labels that assessor g gave

Weights nominal, linear and quadratic are distances 1, :math:`|v_c - v_k|` and its square.  Conger's kappa of two
assessors who judged the same items is Cohen's.  Unlike alpha, Fleiss' kappa gives every item the same weight, and has
no correction for few labels.

When not to use these: where nearly all labels are the same, a kappa is low however rarely people disagree.

Gwet's AC1 and AC2: agreement beyond chance that stays high where nearly all labels are the same.

Gwet (2008, doi:10.1348/000711006X126600); Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.  With weights
:math:`w_{ck} = 1 - \delta_{ck} / \max \delta` over the q labels that occur (AC1: nominal; AC2: linear, quadratic),
:math:`p_a` the mean weight of two labels of an item and :math:`\pi_c` the mean share of label c over items,

.. math:: p_e = \frac{\sum_{ck} w_{ck}}{q (q - 1)} \sum_c \pi_c (1 - \pi_c), \qquad AC = \frac{p_a - p_e}{1 - p_e}

The value depends on q.  Labels of the scale that nobody gave do not count, as in irrCAC; ``whole_scale=True`` counts
them.

Raw agreement: how often two assessors give an item the same label; chance is not taken into account.

The mean over items with two labels or more of the share of its pairs of labels that agree (Fleiss 1971,
doi:10.1037/h0031619).  With linear or quadratic weights a pair counts :math:`1 - \delta_{ck} / \max \delta`, over the
labels that occur.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from venire.agreement.coefficient import Coefficient, coefficient
from venire.agreement.distance import WEIGHTS, Distance, named_distance
from venire.agreement.patterns import group_table
from venire.agreement.resampling import (
    NO_PAIRS,
    LabelPatterns,
    Resampling,
    Source,
    Values,
    chosen_units,
    dealt,
    estimated,
    group_source,
    label_patterns,
)
from venire.data.judgments import Judgments
from venire.types import Bools, Codes, Floats, Ints, RNGLike

FLEISS = "fleiss_kappa"
CONGER = "conger_kappa"
MEANING = {
    FLEISS: "Two labels of an item disagree {rest} as much as labels dealt out at random, each as often as it was "
    "given, would: 1 is perfect agreement, 0 is chance.",
    CONGER: "Two labels of an item disagree {rest} as much as if every assessor dealt out their own labels at random: "
    "1 is perfect agreement, 0 is chance.",
}
BLOCK_CELLS = 1 << 21


def fleiss_kappa(
    judgments: Judgments | LabelPatterns,
    weights: str | Distance = "nominal",
    *,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> Coefficient:
    '''Compute Fleiss' kappa, items may have unequal numbers of labels; weights: nominal, linear or quadratic.

    over: pooled "items", or the mean over "topics".  resample: draw "items" or "topics" anew; None: topics where two
    or more have pairs of labels, else items.  Cost: as that of alpha.

    Examples
    --------
    >>> from venire import read_grid
    >>> round(fleiss_kappa(read_grid("""
    ...     1 2 3 3 2 1 4 1 2 . . .
    ...     1 2 3 3 2 2 4 1 2 5 . 3
    ...     . 3 3 3 2 3 4 2 2 5 1 .
    ...     1 2 3 3 2 4 4 1 2 5 1 .""")).value, 5)
    0.76117
    '''
    table = label_patterns(judgments)
    level, distance = named_distance(weights, WEIGHTS, table.scale)
    values = fleiss_values(table, table.distances(distance))
    found = estimated(values, table.source(resample), Resampling(over, resample, n_draws, rng))
    about = {"name": FLEISS, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    return coefficient(found, meaning=MEANING[FLEISS], reason=table.why_undefined(), **about)


def observed_values(table: LabelPatterns, distances: Floats) -> Values:
    """Return the mean distance of two labels of an item, as a function of weights (draw, pattern) -> (draw,)."""
    per_item, paired = table.pair_means(distances), table.paired.astype(np.float64)

    def values(weights: Floats) -> Floats:
        n_items = weights @ paired
        return np.where(n_items > 0, (weights @ per_item) / np.where(n_items > 0, n_items, 1.0), np.nan)

    return values


def label_shares(table: LabelPatterns, weights: Floats) -> Floats:
    """Mean share of each label over items; weights (draw, pattern) -> (draw, label)."""
    return np.asarray((weights / table.size) @ table.table) / weights.sum(axis=1, keepdims=True)


def fleiss_values(table: LabelPatterns, distances: Floats) -> Values:
    """Return Fleiss' kappa as a function of weights (draw, pattern) -> (draw,), NaN where it is undefined."""
    observed = observed_values(table, distances)

    def values(weights: Floats) -> Floats:
        shares = label_shares(table, weights)
        return beyond_chance(observed(weights), np.einsum("dc,ck,dk->d", shares, distances, shares, optimize=True))

    return values


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """Return 1 less observed over expected, NaN where nothing is expected."""
    defined = expected > 0
    return np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)


class AssessorSums(NamedTuple):
    """Sums over units: labels by assessor (unit, assessor x label), items by pattern (unit, pattern)."""

    labels: Any
    patterns: Any
    shape: tuple[int, int]


def conger_kappa(
    judgments: Judgments,
    weights: str | Distance = "nominal",
    *,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
    patterns: LabelPatterns | None = None,
) -> Coefficient:
    """Compute Conger's kappa: chance is what each assessor's own use of labels makes it; weights as for Fleiss.

    over, resample: as for Fleiss; items are drawn in at most 512 groups.  patterns: of these judgments, if at hand.
    Cost: O(rows log rows), and draws x assessors x labels.
    """
    table = patterns or label_patterns(judgments)
    level, distance = named_distance(weights, WEIGHTS, table.scale)
    unit, source = units_of(table, Resampling(over, resample, n_draws, rng))
    values = conger_values(table, assessor_sums(judgments, table, unit, source), table.distances(distance))
    found = estimated(values, source, Resampling(over, resample, n_draws, rng))
    about = {"name": CONGER, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    reason = table.why_undefined() if table.n_raters > 1 else "there is one assessor"
    return coefficient(found, meaning=MEANING[CONGER], reason=reason, **about)


def units_of(table: LabelPatterns, asked: Resampling) -> tuple[Codes, Source]:
    """Number the units that are drawn, topics or groups -> unit (item,), -1 where no unit has the item.

    Where topics are drawn, those without pairs make up one unit more, which every draw has; a mean over topics has no
    use for them.
    """
    rng = np.random.default_rng(asked.rng)
    labelled = table.pattern >= 0
    paired = labelled & table.paired[table.pattern]
    has_pairs = np.bincount(table.topic[paired], minlength=table.n_topics) > 0
    n = int(has_pairs.sum())
    if chosen_units("topics" if asked.over == "topics" else asked.units, n) == "items":
        unit = np.full(len(table.topic), -1, dtype=np.int32)
        unit[labelled] = dealt(int(labelled.sum()), rng)
        return unit, group_source(int(unit.max(initial=-1)) + 1, "items", n_units=int(paired.sum()))
    number = np.full(table.n_topics, -1, dtype=np.int32)
    number[has_pairs] = np.arange(n) if asked.over == "topics" else dealt(n, rng)
    n_groups, rest = int(number.max(initial=-1)) + 1, asked.over != "topics" and not has_pairs.all()
    if rest:
        number[~has_pairs] = n_groups
    return number[table.topic], group_source(n_groups, "topics", n_units=n, rest=rest)


def assessor_sums(judgments: Judgments, table: LabelPatterns, unit: Codes, source: Source) -> AssessorSums:
    """Sum labels by unit and assessor."""
    shape = (len(judgments.assessor.names), len(table.scale))
    cell = judgments.assessor.codes.astype(np.int64) * shape[1] + judgments.label
    row_unit = unit[table.item]
    cell = np.where(row_unit >= 0, cell, -1)
    n_units = len(source.whole)
    labels = group_table(np.maximum(row_unit, 0), cell, (n_units, shape[0] * shape[1]))
    pattern: Ints = np.where(unit >= 0, table.pattern, -1)
    return AssessorSums(labels, group_table(np.maximum(unit, 0), pattern, (n_units, len(table.size))), shape)


def conger_values(table: LabelPatterns, sums: AssessorSums, distances: Floats) -> Values:
    """Return Conger's kappa as a function of weights (draw, unit) -> (draw,), NaN where it is undefined."""
    per_item = np.asarray(sums.patterns @ table.pair_means(distances))
    paired = np.asarray(sums.patterns @ table.paired.astype(np.float64))

    def block(weights: Floats) -> Floats:
        counts = np.asarray(weights @ sums.labels).reshape(-1, *sums.shape)
        n_items = weights @ paired
        observed = np.where(n_items > 0, (weights @ per_item) / np.where(n_items > 0, n_items, 1.0), np.nan)
        return beyond_chance(observed, _between_assessors(counts, distances))

    def values(weights: Floats) -> Floats:
        step = max(1, BLOCK_CELLS // (sums.shape[0] * sums.shape[1]))
        return np.concatenate([block(weights[begin : begin + step]) for begin in range(0, len(weights), step)])

    return values


def _between_assessors(counts: Floats, distances: Floats) -> Floats:
    """Mean distance of two assessors' labels, each dealt out at random; counts (draw, assessor, label) -> (draw,)."""
    n = counts.sum(axis=2, keepdims=True)
    shares = counts / np.maximum(n, 1.0)
    n_raters = (n[:, :, 0] > 0).sum(axis=1)
    whole = shares.sum(axis=1)
    everyone = np.einsum("dc,ck,dk->d", whole, distances, whole, optimize=True)
    oneself = (shares @ distances * shares).sum(axis=(1, 2))
    return np.where(n_raters > 1, (everyone - oneself) / np.maximum(n_raters * (n_raters - 1.0), 1.0), 0.0)


AC = "gwet_ac"
AC_MEANING = (
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
    about = {"name": AC, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    return coefficient(found, meaning=AC_MEANING, reason=table.why_undefined(), **about)


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


RAW = "raw_agreement"
RAW_MEANING = "Two labels of an item agree with a share of {value}, by chance or not: 1 is perfect agreement."


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
    about = {"name": RAW, "level": level, "raters": "all", "n_items": table.n_items, "n_raters": table.n_raters}
    return coefficient(found, meaning=RAW_MEANING, reason=NO_PAIRS, **about)

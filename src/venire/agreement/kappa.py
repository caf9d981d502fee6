r"""Coefficients of many assessors: Fleiss' and Conger's kappa, Gwet's AC1 and AC2, and raw agreement.

Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., Section 2.4, as irrCAC computes them, with missing labels.
With :math:`\delta` the distance of labels, :math:`n_{ic}` of the :math:`r_i` labels of item i being c, and the mean
observed distance over items with two labels or more,

.. math:: D_o = \operatorname{mean}_i \frac{\sum_{ck} n_{ic} n_{ik} \delta_{ck}}{r_i (r_i - 1)}, \qquad
          \kappa = 1 - D_o / D_e

the kappas differ in the distance expected by chance:

    Fleiss (1971, doi:10.1037/h0031619)   :math:`D_e = \pi^\top \delta \pi`, with :math:`\pi_c` the mean over all
                                          items of :math:`n_{ic} / r_i`
    Conger (1980, doi:10.1037/0033-2909.88.2.322)
                                          the mean of :math:`p_g^\top \delta p_h` over every two assessors, with
                                          :math:`p_g` the shares of the labels that assessor g gave

Weights nominal, linear and quadratic are distances 1, :math:`|v_c - v_k|` and its square.  Conger's kappa of two
assessors who judged the same items is Cohen's.  Unlike alpha, Fleiss' kappa gives every item the same weight, and has
no correction for few labels.  Where nearly all labels are the same, a kappa is low however rare disagreement is.

Gwet's AC (2008, doi:10.1348/000711006X126600) stays high there.  With weights :math:`w_{ck} = 1 - \delta_{ck} / \max
\delta` over the q labels that occur (AC1: nominal; AC2: linear, quadratic), as in irrCAC, and :math:`p_a` the mean
weight of two labels of an item,

.. math:: p_e = \frac{\sum_{ck} w_{ck}}{q (q - 1)} \sum_c \pi_c (1 - \pi_c), \qquad AC = \frac{p_a - p_e}{1 - p_e}

Raw agreement is :math:`p_a` itself (Fleiss 1971): how often two assessors give an item the same label, not corrected
for chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np

from venire.agreement.distance import WEIGHTS, named_distance
from venire.agreement.intervals import (
    Coefficient,
    Options,
    Resampling,
    Source,
    Values,
    chosen_units,
    group_source,
    in_blocks,
    random_groups,
)
from venire.agreement.patterns import NO_PAIRS, LabelPatterns, group_table, label_patterns
from venire.agreement.with_others import ratio
from venire.data.judgments import Judgments
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.types import Codes, Floats, Ints

BLOCK_CELLS = 1 << 21
FLEISS = (
    "Two labels of an item disagree {rest} as much as labels drawn at random with their overall frequencies: "
    "1 is perfect agreement, 0 is chance."
)
CONGER = (
    "Two labels of an item disagree {rest} as much as if every assessor drew from their own labels at random: "
    "1 is perfect agreement, 0 is chance."
)
GWET = "Agreement beyond Gwet's chance agreement is {value}: 1 is perfect agreement, 0 is chance."
RAW = "Two labels of an item agree with a proportion of {value}, chance agreement included: 1 is perfect agreement."


def _weighted(judgments: JudgmentsLike | LabelPatterns, weights: str) -> tuple[LabelPatterns, Floats]:
    """Return label patterns, and the distances of labels by the name of weights (label, label)."""
    table = label_patterns(judgments)
    return table, table.distances(named_distance(weights, WEIGHTS, table.scale))


def fleiss_kappa(
    judgments: JudgmentsLike | LabelPatterns, weights: str = "nominal", **how: Unpack[Options]
) -> Coefficient:
    '''Compute Fleiss' kappa; items may have unequal numbers of labels.

    weights: nominal, linear or quadratic.  how: over, resample, n_draws, rng (``Options``).  Cost: as that of alpha.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> round(fleiss_kappa(read_grid("""
    ...     1 2 3 3 2 1 4 1 2 . . .
    ...     1 2 3 3 2 2 4 1 2 5 . 3
    ...     . 3 3 3 2 3 4 2 2 5 1 .
    ...     1 2 3 3 2 4 4 1 2 5 1 .""")).value, 5)
    0.76117
    '''
    table, distances = _weighted(judgments, weights)
    observed = observed_values(table, distances)

    def values(draws: Floats) -> Floats:
        shares = label_shares(table, draws)
        return beyond_chance(observed(draws), np.einsum("dc,ck,dk->d", shares, distances, shares, optimize=True))

    return table.coefficient("fleiss_kappa", weights, values, how, meaning=FLEISS)


def observed_values(table: LabelPatterns, distances: Floats) -> Values:
    """Return the mean distance of two labels of an item, as a function of weights (draw, pattern) -> (draw,)."""
    per_item, paired = table.pair_means(distances), table.paired.astype(np.float64)
    return lambda weights: ratio(weights @ per_item, weights @ paired)


def label_shares(table: LabelPatterns, weights: Floats) -> Floats:
    """Mean share of each label over items; weights (draw, pattern) -> (draw, label)."""
    return np.asarray((weights / table.size) @ table.table) / weights.sum(axis=1, keepdims=True)


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """Return 1 - observed / expected, NaN where nothing is expected."""
    return 1 - ratio(observed, expected)


class Units(NamedTuple):
    """What is drawn: the unit of each item (item,) and of each topic (topic,), -1 for none; and how units are drawn."""

    of_item: Codes
    of_topic: Codes
    source: Source


class AssessorSums(NamedTuple):
    """Sums over units: labels by assessor (unit, assessor x label), items by pattern (unit, pattern)."""

    labels: Any
    patterns: Any
    shape: tuple[int, int]
    source: Source

    @classmethod
    def of(cls, labels: Any, table: LabelPatterns, units: Units, shape: tuple[int, int]) -> AssessorSums:
        """Sum items by unit and pattern, beside the sums of labels."""
        pattern: Ints = np.where(units.of_item >= 0, table.pattern, -1)
        size = (len(units.source.whole), len(table.size))
        return cls(labels, group_table(np.maximum(units.of_item, 0), pattern, size, table.times), shape, units.source)


def conger_kappa(
    judgments: JudgmentsLike,
    weights: str = "nominal",
    *,
    patterns: LabelPatterns | None = None,
    sums: AssessorSums | None = None,
    **how: Unpack[Options],
) -> Coefficient:
    """Compute Conger's kappa: the agreement expected by chance follows from each assessor's own labels.

    weights, how: as for Fleiss; items are drawn in at most 512 groups.  patterns, sums: those of the judgments, if
    known.  Cost: O(rows log rows), and draws x assessors x labels.
    """
    judgments = as_judgments(judgments)
    table, distances = _weighted(patterns or judgments, weights)
    sums = sums or assessor_sums(judgments, table, Resampling(**how))
    values = conger_values(table, sums, distances)
    reason = None if table.n_raters > 1 else "there is one assessor"
    return table.coefficient("conger_kappa", weights, values, how, meaning=CONGER, source=sums.source, reason=reason)


def units_of(table: LabelPatterns, asked: Resampling) -> Units:
    """Number the units that are drawn: topics, or groups of items or topics.

    Where topics are drawn, those without pairs are one more unit, which is in every draw; a mean over topics leaves
    them out.  Where items are drawn that are counted only, all of them are one unit: there is no interval.
    """
    rng = np.random.default_rng(asked.rng)
    labelled = table.pattern >= 0
    paired = labelled & table.paired[table.pattern]
    has_pairs = np.bincount(table.topic[paired], minlength=table.n_topics) > 0
    n = int(has_pairs.sum())
    nowhere = np.full(table.n_topics, -1, dtype=np.int32)
    if chosen_units("topics" if asked.over == "topics" else asked.resample, n) == "items":
        if table.times is not None:
            return Units(0 * table.topic, 0 * nowhere, group_source(1, "items", n_units=1))
        unit = np.full(len(table.topic), -1, dtype=np.int32)
        unit[labelled] = random_groups(int(labelled.sum()), rng)
        return Units(unit, nowhere, group_source(int(unit.max(initial=-1)) + 1, "items", n_units=int(paired.sum())))
    number = nowhere
    number[has_pairs] = np.arange(n) if asked.over == "topics" else random_groups(n, rng)
    n_groups, rest = int(number.max(initial=-1)) + 1, asked.over != "topics" and not has_pairs.all()
    if rest:
        number[~has_pairs] = n_groups
    return Units(number[table.topic], number, group_source(n_groups, "topics", n_units=n, rest=rest))


def assessor_sums(judgments: Judgments, table: LabelPatterns, asked: Resampling) -> AssessorSums:
    """Sum labels by unit and assessor."""
    units = units_of(table, asked)
    shape = (len(judgments.assessor.names), len(table.scale))
    cell = judgments.assessor.codes.astype(np.int64) * shape[1] + judgments.label
    unit = units.of_item[table.item]
    cell = np.where(unit >= 0, cell, -1)
    labels = group_table(np.maximum(unit, 0), cell, (len(units.source.whole), shape[0] * shape[1]))
    return AssessorSums.of(labels, table, units, shape)


def conger_values(table: LabelPatterns, sums: AssessorSums, distances: Floats) -> Values:
    """Return Conger's kappa as a function of weights (draw, unit) -> (draw,), NaN where it is undefined."""
    per_item = np.asarray(sums.patterns @ table.pair_means(distances))
    paired = np.asarray(sums.patterns @ table.paired.astype(np.float64))
    step = max(1, BLOCK_CELLS // (sums.shape[0] * sums.shape[1]))

    def block(weights: Floats) -> Floats:
        counts = np.asarray(weights @ sums.labels).reshape(-1, *sums.shape)
        return beyond_chance(ratio(weights @ per_item, weights @ paired), _between_assessors(counts, distances))

    return in_blocks(block, step)


def _between_assessors(counts: Floats, distances: Floats) -> Floats:
    """Mean distance of labels drawn from those of two assessors; counts (draw, assessor, label) -> (draw,)."""
    n = counts.sum(axis=2, keepdims=True)
    shares = counts / np.maximum(n, 1.0)
    n_raters = (n[:, :, 0] > 0).sum(axis=1)
    whole = shares.sum(axis=1)
    everyone = np.einsum("dc,ck,dk->d", whole, distances, whole, optimize=True)
    oneself = (shares @ distances * shares).sum(axis=(1, 2))
    return np.where(n_raters > 1, (everyone - oneself) / np.maximum(n_raters * (n_raters - 1.0), 1.0), 0.0)


def gwet_ac(judgments: JudgmentsLike | LabelPatterns, weights: str = "nominal", **how: Unpack[Options]) -> Coefficient:
    '''Compute Gwet's AC1 (weights nominal) or AC2 (linear, quadratic), with an interval.

    how, cost: as for Krippendorff's alpha.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> round(gwet_ac(read_grid("""
    ...     1 2 3 3 2 1 4 1 2 . . .
    ...     1 2 3 3 2 2 4 1 2 5 . 3
    ...     . 3 3 3 2 3 4 2 2 5 1 .
    ...     1 2 3 3 2 4 4 1 2 5 1 .""")).value, 5)
    0.77544
    '''
    table, distances = _weighted(judgments, weights)
    return table.coefficient("gwet_ac", weights, gwet_values(table, distances), how, meaning=GWET)


def gwet_values(table: LabelPatterns, distances: Floats) -> Values:
    """Return AC1 or AC2 as a function of weights (draw, pattern) -> (draw,), NaN where it is undefined."""
    observed, q = observed_values(table, distances), int(table.occurring.sum())
    within = distances[np.ix_(table.occurring, table.occurring)]
    largest = float(within.max(initial=0.0))
    if q < 2 or largest == 0:
        return lambda weights: np.full(len(weights), np.nan)
    by_chance = (1 - within / largest).sum() / (q * (q - 1))

    def values(weights: Floats) -> Floats:
        shares = label_shares(table, weights)
        chance = by_chance * (shares * (1 - shares)).sum(axis=1)
        return ratio(1 - observed(weights) / largest - chance, 1 - chance)

    return values


def raw_agreement(
    judgments: JudgmentsLike | LabelPatterns, weights: str = "nominal", **how: Unpack[Options]
) -> Coefficient:
    '''Compute the share of pairs of labels that agree; with weights, near labels agree in part.

    how, cost: as for Krippendorff's alpha.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> raw_agreement(read_grid("""
    ...     1 0 1 1
    ...     1 0 0 1""")).value
    0.75
    '''
    table, distances = _weighted(judgments, weights)
    largest = float(distances[np.ix_(table.occurring, table.occurring)].max(initial=0.0)) or 1.0
    observed = observed_values(table, distances)

    def values(draws: Floats) -> Floats:
        return 1 - observed(draws) / largest

    return table.coefficient("raw_agreement", weights, values, how, meaning=RAW, reason=NO_PAIRS)

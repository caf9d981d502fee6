r"""Tilting: what the systems that return a document say about the label of another judge.

A transition matrix predicts the label of another judge from one label alone.  A document that many systems return, or
good ones, has on average a higher label by another judge than that; and a judge may favour what some systems return.
The rows of the matrix are therefore tilted: item i gets label j in proportion to

.. math:: T_{ij} \exp(u_i l_j), \qquad u = F \beta + Z v,

with levels :math:`l_j` in standard deviations of the current labels.  F has the logarithm of the weight of the document
in all lists, and the mean score now of the systems that return it, both standardised; a row of Z is the weight of the
document in the list of each system (:math:`0.9^{\mathrm{rank}}`), centred, of length 1.  The coefficients have priors
:math:`\beta \sim N(0.15, 0.1^2)` and :math:`v \sim N(0, 0.1^2)`.  Labels of the other judge update them: with
:math:`m_i` and :math:`V_i` the mean and the variance of the level by the matrix, :math:`(l - m_i) / V_i` is normal
around :math:`u_i` with the variance :math:`1 / V_i` (one step of Newton's method for the generalised linear model:
McCullagh and Nelder 1989, Section 2.5).  A judge without labels has the mean of the coefficients of the others, and
the variances of the priors.

The priors are those of 23 language models and NIST on TREC Deep Learning 2021, where both elements of :math:`\beta` lie
between 0.05 and 0.29 for every model.  They hardly matter with a thousand labels.
"""

from __future__ import annotations

import numpy as np

from venire.data.facts import Facts
from venire.data.rejudging import Given, Tilt
from venire.disagreement.transitions import MOST_LABELS, Transitions
from venire.types import Codes, Floats

PERSISTENCE = 0.9
SLOPE, SLOPE_SD, SYSTEM_SD = 0.15, 0.1, 0.1
"""The prior of the coefficients of F, and the standard deviation of those of systems."""
LEAST_WEIGHT = 0.1
"""Added to the weight of a document before the logarithm is taken."""
MOST_DIRECTIONS = 100
"""With more systems, Z is reduced to so many principal components."""


def fit_tilt(facts: Facts, old: Codes, given: Given, *, transitions: Transitions, mean: Floats) -> Tilt | None:
    """Fit the tilt of every other judge, and of a further one without labels; None where labels have no order.

    old (item,): labels now, -1 = none.  mean (system,): scores now.  Cost: O((items + labels) x systems^2).
    """
    spread = float(old[old >= 0].std()) if (old >= 0).any() else 0.0
    n_labels = len(transitions.scale)
    if not transitions.scale.ordered or n_labels > MOST_LABELS or spread == 0 or len(mean) < 2:
        return None
    design = np.concatenate([_features(facts, mean), _directions(facts)], axis=1)
    centre, variance = np.zeros(design.shape[1]), np.full(design.shape[1], SYSTEM_SD**2)
    centre[:2], variance[:2] = SLOPE, SLOPE_SD**2
    levels = np.arange(n_labels) / spread
    fits = []
    for judge, row in enumerate(given.labels(len(old))):
        both = (row >= 0) & (old >= 0)
        expected, noise = moments(transitions.by_assessor[judge], levels)
        residual = levels[row[both]] - expected[old[both]]
        fits.append(_posterior(design[both], residual, noise[old[both]], prior=(centre, variance)))
    means, factors = [each[0] for each in fits], [each[1] for each in fits]
    further = np.mean(means, axis=0), np.diag(np.sqrt(variance))
    return Tilt(design, np.stack([*means, further[0]]), np.stack([*factors, further[1]]), 1 / spread)


def moments(matrix: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the variance of the level of the new label, by old label -> (old,) each."""
    mean = matrix @ levels
    return mean, np.maximum(matrix @ levels**2 - mean**2, 1e-6)


def _posterior(
    design: Floats, residual: Floats, noise: Floats, *, prior: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return mean (column,) and a factor of the covariance (column, column) of the coefficients."""
    centre, variance = prior
    precision = np.diag(1 / variance) + (design.T * noise) @ design
    mean = centre + np.linalg.solve(precision, design.T @ (residual - noise * (design @ centre)))
    return mean, np.linalg.inv(np.linalg.cholesky(precision)).T


def _weights(facts: Facts) -> Floats:
    """Weight of every item in the list of each system -> (item, system)."""
    found = np.zeros((len(facts.items), len(facts.systems)))
    found[facts.item, np.repeat(facts.system, facts.n_hits)] = PERSISTENCE ** facts.rank.astype(np.float64)
    return found


def _features(facts: Facts, mean: Floats) -> Floats:
    """Weight in all lists, and mean score of the systems that return a document, standardised -> (item, 2)."""
    weight = _weights(facts)
    total = weight.sum(axis=1)
    quality = np.where(total > 0, weight @ _standardised(mean) / np.maximum(total, 1e-300), 0.0)
    return np.stack([_standardised(np.log(total + LEAST_WEIGHT)), quality], axis=1)


def _directions(facts: Facts) -> Floats:
    """Centred rows of weights, of length 1, or their first principal components -> (item, system or component)."""
    weight = _weights(facts)
    rows = weight - weight.mean(axis=1, keepdims=True)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    if rows.shape[1] <= MOST_DIRECTIONS:
        return rows
    _, vectors = np.linalg.eigh(rows.T @ rows)
    return rows @ vectors[:, -MOST_DIRECTIONS:]


def _standardised(values: Floats) -> Floats:
    """Subtract the mean and divide by the standard deviation; 0 where all are equal."""
    sd = values.std()
    return (values - values.mean()) / sd if sd > 0 else np.zeros_like(values)

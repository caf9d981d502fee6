r"""Tilting: what the systems that return a document say about the label of another judge.

A transition matrix predicts the label of another judge from one label alone.  A document that many systems return, or
good ones, has on average a higher label by another judge than that; and a judge may favour what some systems return.
The rows of the matrix are therefore tilted: item i gets label j in proportion to

.. math:: T_{ij} \exp(u_i l_j), \qquad u = F \beta + Z v,

with levels :math:`l_j` in standard deviations of the current labels.  F has the logarithm of the weight of the document
in all lists, and the mean score now of the systems that return it, both standardised; a row of Z is the weight of the
document in the list of each system (:math:`0.9^{\mathrm{rank}}`), centred, of length 1.  The coefficients have the
priors :math:`\beta_1 \sim N(0.1, 0.1^2)`, :math:`\beta_2 \sim N(0.2, 0.1^2)` and

.. math:: v_s \sim (1 - \pi)\, N(0, 0.1^2) + \pi\, N(0, 1), \qquad \pi = \min(0.1, 0.2 / n)

for n systems: most are hardly favoured, and few are much (a spike and a slab: Mitchell and Beauchamp 1988,
doi:10.1080/01621459.1988.10478694).  Labels of the other judge update them: with :math:`m_i` and :math:`V_i` the mean
and the variance of the level by the matrix, :math:`(l - m_i) / V_i` is normal around :math:`u_i` with the variance
:math:`1 / V_i` (one step of Newton's method for the generalised linear model: McCullagh and Nelder 1989, Section 2.5).

Given the set of systems that are favoured much, the posterior is normal, and the probability of the set follows from
the marginal likelihood.  The sets are searched from the empty one: the system is added or removed that raises the
probability most, until none does (``MOST_FAVOURED`` times at most).  These sets, and those that differ from them by one
system, are the components of a mixture.  A judge without labels has the mean of the coefficients of the others, and the
variances of the priors, with no system favoured much.

The priors of :math:`\beta` were chosen on TREC Deep Learning 2021, with NIST and 23 language models, for each of which
both elements lie between 0.05 and 0.29.  They matter little with a thousand labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.data.rejudging import Given, Normals, Tilt
from venire.data.runs import Facts
from venire.disagreement.transitions import MOST_LABELS, Transitions
from venire.types import Codes, Floats

PERSISTENCE = 0.9
SLOPES, SLOPE_SD = (0.1, 0.2), 0.1
"""The prior means of the coefficients of F, and their standard deviation."""
SYSTEM_SD, FAVOURED_SD = 0.1, 1.0
"""The prior standard deviations of the coefficients of systems, and of those that are favoured much."""
FAVOURED, MOST_PROBABLE, MOST_FAVOURED = 0.2, 0.1, 6
"""How many systems are favoured much: expected, with at most this probability each; and how often sets are changed."""
NEGLIGIBLE = 0.02
"""Sets of favoured systems are left out if they are less probable than this, relative to the most probable one."""
LEAST_WEIGHT = 0.1
"""Added to the weight of a document before the logarithm is taken."""
MOST_DIRECTIONS = 100
"""With more systems, Z is reduced to so many principal components, and no system is favoured much."""


def fit_tilt(facts: Facts, old: Codes, given: Given, *, transitions: Transitions, mean: Floats) -> Tilt | None:
    """Fit the tilt of every other judge, and of a further one without labels; None where labels have no order.

    old (item,): labels now, -1 = none.  mean (system,): scores now.  Cost: O((items + labels) x systems^2).
    """
    spread = float(old[old >= 0].std()) if (old >= 0).any() else 0.0
    n_labels = len(transitions.scale)
    if not transitions.scale.ordered or n_labels > MOST_LABELS or spread == 0 or len(mean) < 2:
        return None
    design = _design(facts, mean)
    centre, variance = np.zeros(design.shape[1]), np.full(design.shape[1], SYSTEM_SD**2)
    centre[: len(SLOPES)], variance[: len(SLOPES)] = SLOPES, SLOPE_SD**2
    probability = min(MOST_PROBABLE, FAVOURED / len(mean)) if len(mean) <= MOST_DIRECTIONS else 0.0
    levels = np.arange(n_labels) / spread
    products = np.stack([rows.T @ rows for rows in (design[old == label] for label in range(n_labels))])
    fits = []
    for judge, row in enumerate(given.labels(len(old))):
        expected, noise = moments(transitions.by_assessor[judge], levels)
        both, missing = (np.flatnonzero((old >= 0) & each) for each in (row >= 0, row < 0))
        rows, residual = design[both], levels[row[both]] - expected[old[both]]
        if len(missing) < len(both):  # the products of all documents, less those of a few
            precision = np.tensordot(noise, products, 1) - _precision(design[missing], noise[old[missing]])
        else:
            precision = _precision(rows, noise[old[both]])
        labels = _Evidence(precision, rows.T @ (residual - noise[old[both]] * (rows @ centre)))
        fits.append(_posterior(labels, probability, centre=centre, variance=variance))
    further = np.mean([each.weight @ each.mean for each in fits], axis=0), np.diag(np.sqrt(variance))
    return Tilt(design, (*fits, Normals.one(*further)), 1 / spread)


def _precision(rows: Floats, noise: Floats) -> Floats:
    """Sum the products of the columns of rows, weighted by noise (row,) -> (column, column)."""
    return np.asarray((rows.T * noise) @ rows)


def moments(matrix: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the variance of the level of the new label, by old label -> (old,) each."""
    mean = matrix @ levels
    return mean, np.maximum(matrix @ levels**2 - mean**2, 1e-6)


class _Evidence(NamedTuple):
    """What labels say of the coefficients: precision (column, column), and gradient (column,) at the centre."""

    precision: Floats
    gradient: Floats

    def covariance(self, variance: Floats) -> Floats:
        """Return the covariance of the coefficients with these prior variances."""
        return np.asarray(np.linalg.inv(self.precision + np.diag(1 / variance)), dtype=np.float64)

    def log_probability(self, variance: Floats) -> float:
        """Return the logarithm of the marginal likelihood, up to a constant."""
        covariance = self.covariance(variance)
        size = np.linalg.slogdet(covariance)[1] - np.log(variance).sum()
        return float(self.gradient @ covariance @ self.gradient + size) / 2


def _posterior(labels: _Evidence, probability: float, *, centre: Floats, variance: Floats) -> Normals:
    """Return the posterior of the coefficients, a component for every likely set of favoured systems.

    probability: that a system is favoured much, before the labels.
    """
    found = _favoured_sets(labels, variance, probability)
    chance = np.exp(np.array(list(found.values())) - max(found.values()))
    sets = [each for each, likely in zip(found, chance >= NEGLIGIBLE, strict=True) if likely]
    covariances = [labels.covariance(_widened(variance, each)) for each in sets]
    means = np.stack([centre + each @ labels.gradient for each in covariances])
    weight = chance[chance >= NEGLIGIBLE]
    return Normals(weight / weight.sum(), means, np.linalg.cholesky(np.stack(covariances)))


def _favoured_sets(labels: _Evidence, variance: Floats, probability: float) -> dict[frozenset[int], float]:
    """Search sets of columns that are favoured much -> the logarithms of their probabilities, up to a constant."""
    chosen: frozenset[int] = frozenset()
    found = {chosen: labels.log_probability(variance)}
    if not probability:
        return found
    prior = np.log(probability / (1 - probability))
    for _ in range(MOST_FAVOURED):
        now = _widened(variance, chosen)
        other = np.where(now == variance, FAVOURED_SD**2, variance)
        covariance = labels.covariance(now)
        own = np.maximum(1 / np.diag(covariance) - 1 / now, 1e-9)  # the precision of a coefficient by the labels alone
        estimate = covariance @ labels.gradient / np.diag(covariance) / own
        before, after = 1 / own + now, 1 / own + other
        gain = (np.log(before / after) + estimate**2 * (1 / before - 1 / after)) / 2
        gain += np.where(now == variance, prior, -prior)
        base = found[chosen]
        for column in range(len(SLOPES), len(variance)):
            found.setdefault(chosen ^ {column}, base + float(gain[column]))
        best = len(SLOPES) + int(np.argmax(gain[len(SLOPES) :]))
        if gain[best] <= 0:
            break
        chosen = chosen ^ {best}
    return found


def _widened(variance: Floats, favoured: frozenset[int]) -> Floats:
    """Return the prior variances if these columns are favoured much."""
    found = variance.copy()
    found[list(favoured)] = FAVOURED_SD**2
    return found


def _design(facts: Facts, mean: Floats) -> Floats:
    """Features of every document, and its row of weights by system, or of components -> (item, column)."""
    weight = _weights(facts)
    total = weight.sum(axis=1)
    quality = np.where(total > 0, weight @ _standardised(mean) / np.maximum(total, 1e-300), 0.0)
    rows = weight - weight.mean(axis=1, keepdims=True)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    if rows.shape[1] > MOST_DIRECTIONS:
        _, vectors = np.linalg.eigh(rows.T @ rows)
        rows = rows @ vectors[:, -MOST_DIRECTIONS:]
    features = np.stack([_standardised(np.log(total + LEAST_WEIGHT)), quality], axis=1)
    return np.concatenate([features, rows], axis=1)


def _weights(facts: Facts) -> Floats:
    """Weight of every item in the list of each system -> (item, system)."""
    found = np.zeros((len(facts.items), len(facts.systems)))
    found[facts.item, np.repeat(facts.system, facts.n_hits)] = PERSISTENCE ** facts.rank.astype(np.float64)
    return found


def _standardised(values: Floats) -> Floats:
    """Subtract the mean and divide by the standard deviation; 0 where all are equal."""
    sd = values.std()
    return (values - values.mean()) / sd if sd > 0 else np.zeros_like(values)

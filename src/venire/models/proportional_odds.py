r"""Proportional odds: a transition matrix of few parameters, for pairs of labels that are few.

McCullagh (1980, doi:10.1111/j.2517-6161.1980.tb01109.x): where the old judge gave level x, the new one gives at most
level j with the odds

.. math:: \mathrm{logit}\, P(\text{new} \le j \mid x) = \theta_j - \beta x, \qquad \beta > 0

so a matrix of L rows has L parameters in place of L (L - 1).  The slope is positive, as judges who turn the order of
labels round are not expected; its logarithm has the prior N(-1/2, 1), and bounds are held together by a weak one.
"""

from __future__ import annotations

import numpy as np

from venire.types import Floats

SLOPE, WEAK = -0.5, 0.02


def proportional_odds(counts: Floats) -> Floats:
    """Fit counts of pairs (old, new) -> matrix (old, new), rows sum to 1.  A few dozen evaluations of a small sum."""
    from scipy.optimize import minimize

    n_labels = counts.shape[-1]
    start = np.concatenate([[-1.0], np.zeros(n_labels - 2), [SLOPE]])
    found = minimize(_cost, start, args=(counts,), method="BFGS")
    return _matrix(found.x)


def _cost(parameters: Floats, counts: Floats) -> float:
    """Minus the logarithm of likelihood and prior."""
    *bounds, slope = parameters.tolist()
    prior = WEAK * sum(bound**2 for bound in bounds) + (slope - SLOPE) ** 2 / 2
    return float(prior - (counts * np.log(_matrix(parameters))).sum())


def _matrix(parameters: Floats) -> Floats:
    """Probabilities of new labels given old ones; parameters: first bound, logarithms of steps, of the slope."""
    n_labels = len(parameters)
    bounds = np.cumsum(np.append(parameters[:1], np.exp(np.clip(parameters[1:-1], -20, 20))))
    level = np.exp(np.clip(parameters[-1], -20, 20)) * (np.arange(n_labels) - (n_labels - 1) / 2)
    upto = 1 / (1 + np.exp(-np.clip(bounds - level[:, None], -500, 500)))
    edges = np.pad(upto, [(0, 0), (1, 0)])
    chances = np.diff(edges, axis=1, append=1.0)
    chances = np.maximum(chances, 1e-9)
    return chances / chances.sum(axis=1, keepdims=True)

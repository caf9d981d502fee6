r"""What the scores of systems by a judge say beyond the labels of their results.

The label of one result says little where the judge errs often, and a prediction of each gain from it makes all systems
alike.  The mean of many labels says more.  On TREC Deep Learning 2021 (P@10, 63 systems, all labels) the log-odds of
scores by NIST are close to a line on those by each of 36 language models: its slope is .75 to 1.3 for 31 of them (.3
to .7 for the five others), and the residuals have a deviation of .10 to .17 for 30; on the log-odds of the predicted
scores the slope is 1.4 to 19.  So people are expected to score systems like the judge, with another level for all:

.. math:: \mathrm{logit}\, \bar y_s = c + \beta\, \mathrm{logit}\, \bar g_s, \qquad \beta \sim N(1, 0.3^2)

with :math:`\bar g_s` the mean gain by the judge of the results of system s that it labelled, weighted as in the score
and divided by the range of gains, and :math:`\bar y_s` that of people.  Let :math:`m_i` be the predicted gain of item i
and :math:`s_i` its change by log-odds, :math:`z_i` what it has of the effects of systems, and R the change of the
log-odds of scores by these effects, centred over systems

.. math:: R_{sr} = \frac{\sum_i w_{si} s_i z_{ir}}{\sum_i w_{si}\, \bar m_s (1 - \bar m_s)}

The effects that change all scores as they should, and no more than they have to, are those of ridge regression,

.. math:: d_i = z_i^\top R^\top (R R^\top + \lambda I)^{-1} (\beta o - o')

with o and o' the log-odds of the scores by the judge and of the predicted ones, less their means.  The ridge
:math:`\lambda` is the variance of what the judge gets wrong of a system, as a share of that of an effect.

For 4 to 16 of the 63 systems, 36 judges, and 100 labels for the goal ``best`` of a plan (``bench/plan.py``,
leads), the difference of two corrected scores is .127 on average where the true one is .129, and that of the first
two .044 where it is .046.  The mean error of differences is .041, and was .047 with a mean effect of .5 per standard
deviation of the scores themselves in place of this one.  For measures with several grades the slope is higher for weak
judges: 1.2 in the median and up to 2.2 for DCG@10.
"""

from __future__ import annotations

import numpy as np

from venire.types import Bools, Floats

RIDGE = 0.05
LEAST = 0.02
"""Predicted scores are at least so far from 0 and 1, relative to the range of gains, where their log-odds are taken."""


def score_effects(
    mean: Floats, slope: Floats, weights: Floats, *, labelled: Bools, score_odds: Floats
) -> tuple[Floats, Floats]:
    """Return the effects of items that give scores the log-odds o, and o'; both (item,), 0 where no score is known.

    mean, slope (item,): predicted gain from 0 to 1, and its change by log-odds; weights (system, item); labelled
    (item,): by the judge; score_odds (system,): o.  Cost: O(items x systems^2).
    """
    known, total = ~np.isnan(score_odds), weights.sum(axis=1)
    if not known.any():
        return np.zeros_like(mean), np.zeros_like(mean)
    total = np.where(total > 0, total, 1.0)
    predicted = np.clip(weights @ mean / total, LEAST, 1 - LEAST)
    rows = system_rows(weights)
    change = (weights * slope) @ rows / (total * predicted * (1 - predicted))[:, None]
    change -= change.mean(axis=0)
    odds = np.column_stack([score_odds, log_odds_of_scores(weights, mean, labelled)])
    odds = np.where(known[:, None], odds - odds[known].mean(axis=0), 0.0)
    of_systems = change.T @ np.linalg.solve(change @ change.T + RIDGE * np.eye(len(change)), odds)
    by_judge, by_prediction = (rows @ of_systems).T
    return by_judge, by_prediction


def log_odds_of_scores(weights: Floats, gain: Floats, labelled: Bools) -> Floats:
    """Return the log-odds of the weighted mean gain of each system, NaN for those without a label -> (system,).

    weights (system, item), gain (item,), from 0 to 1, used where labelled (item,).  With n the effective number of
    labelled results (Kish 1965), the mean is that of one result more, with a gain of 1/2, so that it is not 0 or 1.

    Examples
    --------
    >>> weights, gain = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]), np.array([1.0, 1.0, 0.0])
    >>> log_odds_of_scores(weights, gain, np.array([True, True, True])).round(2).tolist()
    [1.61, 0.0]
    """
    counted = weights * labelled
    total = counted.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = total**2 / (counted**2).sum(axis=1)
        mean = (n * (counted @ gain) / total + 0.5) / (n + 1)
    return np.asarray(np.log(mean / (1 - mean)))


def system_rows(weights: Floats) -> Floats:
    """Return z: weights (system, item) centred over the items of the lists, of unit length -> (item, system)."""
    inside = weights.sum(axis=0) > 0
    own = weights.T / (weights.max() or 1.0)
    own = np.where(inside[:, None], own - own[inside].mean(axis=0) if inside.any() else own, 0.0)
    length = np.linalg.norm(own, axis=1, keepdims=True)
    return np.asarray(own / np.where(length > 0, length, 1.0))

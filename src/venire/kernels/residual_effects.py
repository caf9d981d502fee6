r"""A linear mixed model of residuals: effects that items share, effects within their topic, and noise.

The residual of item i in topic t is, with all effects standard normal (their prior deviations are in the columns),

.. math:: r_i = x_i^\top \theta + q_i^\top \eta_t + e_i, \qquad \theta, \eta_t \sim N(0, I), \quad e_i \sim N(0, d_i)

Some residuals are known.  With L the known items of a topic, :math:`D = \mathrm{diag}(d_L)` and

.. math:: M_t = (I + Q_L^\top D^{-1} Q_L)^{-1}, \qquad
          \Lambda = I + \sum_t \left[ X_L^\top D^{-1} X_L - X_L^\top D^{-1} Q_L M_t Q_L^\top D^{-1} X_L \right]

the posterior is :math:`\theta \sim N(\hat\theta, \Lambda^{-1})` and
:math:`\eta_t \mid \theta \sim N(M_t Q_L^\top D^{-1} (r_L - X_L \theta), M_t)` (Lindley and Smith 1972,
doi:10.1111/j.2517-6161.1972.tb00885.x; Rasmussen and Williams 2006, Section 2.1).  This is the conditional distribution
given the known residuals under the covariance :math:`X X^\top + Q Q^\top + D`, at a cost that is linear in the items.

The prior deviation of some shared effects may be known up to a factor k only, which is one of several with the prior
probabilities :math:`P_k`.  With :math:`W_k` the diagonal matrix of :math:`1/k^2` for these effects and 1 for others in
place of I in :math:`\Lambda`, and :math:`\hat\theta_k = \Lambda_k^{-1} g`,

.. math:: \log p(r \mid k) = \tfrac12 \left( g^\top \hat\theta_k + \log |W_k| - \log |\Lambda_k| \right) + c

and :math:`\theta` has the mean and covariance of the mixture over k (Hoeting et al. 1999, doi:10.1214/ss/1009212519).

With one effect a topic, q is a column, and with :math:`a_t = 1 + q_L^\top D^{-1} q_L` and
:math:`b_t = q_L^\top D^{-1} r_L`

.. math:: c = -\tfrac12 \sum_t \left[ r_L^\top D^{-1} r_L - b_t^2 / a_t + \log |2\pi D| + \log a_t \right]

so that deviations between topics can be compared by their likelihood (``log_likelihood``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from venire.types import Bools, Floats, Ints

Factors = Mapping[float, float]
"""Factors of prior deviations, with their prior probabilities."""
AS_THEY_ARE: Factors = {1.0: 1.0}


@dataclass(frozen=True, eq=False)
class Design:
    """Items in order of their topic: shared (item, effect), local (item, effect), noise (item,) and known (item,).

    start (topic + 1,): the items of topic t are start[t] to start[t + 1].
    """

    shared: Floats
    local: Floats
    noise: Floats
    known: Bools
    start: Ints

    def topics(self) -> Iterator[tuple[int, slice, Bools]]:
        """Return the number of each topic, its items, and which of them are known."""
        for topic, (first, last) in enumerate(zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)):
            items = slice(first, last)
            yield topic, items, self.known[items]


@dataclass(frozen=True, eq=False)
class Effects:
    """The posterior of the effects: mean (shared,), covariance (shared, shared), and per topic what depends on them.

    within (topic, local, local) is M_t, pull (topic, local, shared) is Q'X/D, and push (topic, local) is Q'r/D;
    factors: how probable each one is now.
    """

    design: Design
    mean: Floats
    covariance: Floats
    within: Floats
    pull: Floats
    push: Floats
    factors: Factors

    def expected(self) -> Floats:
        """Return the posterior mean of the effects of every item -> (item,)."""
        local = np.einsum("tij,tj->ti", self.within, self.push - self.pull @ self.mean)
        topic = np.repeat(np.arange(len(local)), np.diff(self.design.start))
        return np.asarray(self.design.shared @ self.mean + (self.design.local * local[topic]).sum(axis=1))

    def variance(self) -> Floats:
        """Return the posterior variance of the effects of every item, without its noise -> (item,)."""
        found = np.empty(len(self.design.noise))
        for topic, items, _ in self.design.topics():
            local = self.design.local[items]
            carried = local @ self.within[topic]
            slope = self.design.shared[items] - carried @ self.pull[topic]
            found[items] = (slope @ self.covariance * slope).sum(axis=1) + (carried * local).sum(axis=1)
        return found

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return mean and covariance of weighted sums of the unknown residuals; weights (sum, item)."""
        design, n_sums = self.design, len(weights)
        slope, mean, covariance = np.zeros((n_sums, len(self.mean))), np.zeros(n_sums), np.zeros((n_sums, n_sums))
        for topic, items, known in design.topics():
            weight = np.where(known, 0.0, weights[:, items])
            local = weight @ design.local[items]
            carried = local @ self.within[topic]
            slope += weight @ design.shared[items] - carried @ self.pull[topic]
            mean += carried @ self.push[topic]
            covariance += carried @ local.T + (weight * design.noise[items]) @ weight.T
        return mean + slope @ self.mean, covariance + slope @ self.covariance @ slope.T

    def draw(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draw the effects of every item, without its noise -> (draw, item).  O(draws x items x effects)."""
        design = self.design
        shared = self.mean + rng.standard_normal((n_draws, len(self.mean))) @ root(self.covariance).T
        found = shared @ design.shared.T
        for topic, items, _ in design.topics():
            centre = (self.push[topic] - shared @ self.pull[topic].T) @ self.within[topic]
            local = centre + rng.standard_normal(centre.shape) @ root(self.within[topic]).T
            found[:, items] += local @ design.local[items].T
        return np.asarray(found)


def fit_effects(
    design: Design, residual: Floats | None, *, n_scaled: int = 0, factors: Factors = AS_THEY_ARE
) -> Effects:
    """Condition the effects on the known residuals (item,).  O(items x effects^2 + topics x effects^3).

    residual: None for those that will be known, but are not yet: covariances do not depend on them, means are 0, and
    factors are expected to be as probable as they are now
    n_scaled: how many of the shared effects, the last ones, have prior deviations that are known up to a factor
    """
    residuals = np.zeros_like(design.noise) if residual is None else residual
    n_shared, n_local, n_topics = design.shared.shape[1], design.local.shape[1], len(design.start) - 1
    information, score = np.zeros((n_shared, n_shared)), np.zeros(n_shared)
    within = np.tile(np.eye(n_local), (n_topics, 1, 1))
    pull, push = np.zeros((n_topics, n_local, n_shared)), np.zeros((n_topics, n_local))
    for topic, items, known in design.topics():
        if not known.any():
            continue
        x, q, r = design.shared[items][known], design.local[items][known], residuals[items][known]
        weight = 1.0 / design.noise[items][known][:, None]
        within[topic] = np.linalg.inv(np.eye(n_local) + q.T @ (weight * q))
        pull[topic], push[topic] = q.T @ (weight * x), q.T @ (weight[:, 0] * r)
        information += x.T @ (weight * x) - pull[topic].T @ within[topic] @ pull[topic]
        score += x.T @ (weight[:, 0] * r) - pull[topic].T @ within[topic] @ push[topic]
    scaled = np.arange(n_shared) >= n_shared - n_scaled
    parts = [_given(information, score, np.where(scaled, factor**-2.0, 1.0)) for factor in factors]
    evidence, means, covariances = (np.array(each) for each in zip(*parts, strict=True))
    share = np.array(list(factors.values()))
    if residual is not None:
        share *= np.exp(evidence - evidence.max())
        share /= share.sum()
    mean, covariance = mixture(share, means, covariances)
    return Effects(design, mean, covariance, within, pull, push, dict(zip(factors, share.tolist(), strict=True)))


def mixture(share: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of a mixture; share (part,), means (part, effect), covariances (part, effect, effect).

    Examples
    --------
    >>> mixture(np.array([0.5, 0.5]), np.array([[1.0], [3.0]]), np.array([[[2.0]], [[4.0]]]))
    (array([2.]), array([[4.]]))
    """
    mean = share @ means
    between = (share[:, None] * (means - mean)).T @ (means - mean)
    return mean, between + np.tensordot(share, covariances, axes=1)


def _given(information: Floats, score: Floats, prior: Floats) -> tuple[float, Floats, Floats]:
    """Return log likelihood, mean and covariance of the shared effects, given the precisions of their priors."""
    precision = information + np.diag(prior)
    covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
    mean = covariance @ score
    return float(score @ mean + np.log(prior).sum() - np.linalg.slogdet(precision)[1]) / 2, mean, covariance


def log_likelihood(shared: Floats, local: Floats, noise: Floats, residual: Floats, topic: Ints) -> float:
    """Return that of residuals in order of their topic, with one effect a topic; shared (item, effect), others (item,).

    O(items x effects^2)
    """
    first = np.flatnonzero(np.append(True, topic[1:] != topic[:-1]))
    scaled, weight = local / noise, 1.0 / noise
    spread = 1.0 + np.add.reduceat(scaled * local, first)
    push = np.add.reduceat(scaled * residual, first)
    pull = np.add.reduceat(scaled[:, None] * shared, first, axis=0)
    information = shared.T @ (weight[:, None] * shared) - pull.T @ (pull / spread[:, None])
    score = shared.T @ (weight * residual) - pull.T @ (push / spread)
    constant = weight @ residual**2 - push @ (push / spread) + np.log(2 * np.pi * noise).sum() + np.log(spread).sum()
    return _given(information, score, np.ones(len(score)))[0] - float(constant) / 2


def root(covariance: Floats) -> Floats:
    """Return a square root R of a covariance, R R' = covariance, also where it is singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

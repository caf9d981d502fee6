r"""Half-widths of shares that further cases are expected to give.

A share p has :math:`h_t` hits in :math:`n_t` cases of topic t: p(R|i) of a label, p(a > b) of two labels.  Topics
differ: theirs are :math:`p_t \sim \mathrm{Beta}(p (1/\rho - 1), (1 - p)(1/\rho - 1))`, with :math:`\rho` the
intra-class correlation, so that m cases on T topics give the standard deviation of ``disagreement.double_judgments``,

.. math:: sd^2(m, T) = \frac{A}{T} + \frac{v}{m}, \qquad A = \rho p (1 - p), \quad v = (1 - \rho) p (1 - p)

p and :math:`\rho` have the posterior given the present cases, on a grid.  Where nothing else is known, the prior of p
is Beta(3/2, 3/2), and that of :math:`\rho` is exponential with mean .1, cut at .8.  A forecast draws p, :math:`\rho`,
:math:`p_t` given the present cases, and further hits, and computes the interval of all cases as the estimate will have
it (the predictive distribution; Gelman et al. 2013, Bayesian Data Analysis, Section 5.3).  Cost: O(draws x topics x
shares) per budget.

Cases may be fractions, where some tell as much as fewer independent ones.  A topic with one case says nothing of
:math:`\rho`, but :math:`E\, p_t^{1/2} < p^{1/2}` would seem to say that it is small.  So fractions are rounded up or
down, with probabilities that keep their mean, and the logarithm of the likelihood is averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from venire.kernels.shares import clustered_shares
from venire.planning.result import Expected
from venire.types import Floats, Ints

N_DRAWS, FEWEST_DRAWS, MOST_CELLS = 400, 50, 2_000_000
"""Draws of a forecast, fewer where draws x topics x shares would be more cells than that."""
P_GRID = np.sin(np.pi * (np.arange(60) + 0.5) / 120) ** 2
"""Equally likely by Beta(1/2, 1/2), and so by Beta(a, b) in proportion to p^(a - 1/2) (1 - p)^(b - 1/2)."""
CORRELATION = np.array([0.002, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.55, 0.8])
MEAN_CORRELATION = 0.1
UNKNOWN = 0.5
"""Half-width of the interval of a share of which nothing is known, as with cases of one topic only."""
ROUNDINGS = (np.arange(4) + 0.5) / 4
"""A number and each of these, rounded down: a quarter of them are larger for every quarter of a fraction."""
CLOSE, WHOLE = 0.25, 20.0
"""Budgets of a forecast are apart by more than that in their logarithms, and whole numbers from so many on."""
Limits = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From hits and cases (topic, draw, share) to the ends of the intervals of the shares, both (draw, share)."""


class TopicShares(NamedTuple):
    """Hits and cases, both (topic, share)."""

    hits: Floats
    cases: Floats


class Prior(NamedTuple):
    """What is known of a share before its cases: logarithms of weights on ``P_GRID`` and ``CORRELATION``.

    correlation: for every p alike (correlation,), or by p (p, correlation).
    """

    p: Floats
    correlation: Floats

    @classmethod
    def vague(cls) -> Prior:
        """Beta(3/2, 3/2), and an exponential distribution with mean .1."""
        return cls.around(0.5, 3.0, np.log(_widths()) - CORRELATION / MEAN_CORRELATION)

    @classmethod
    def around(cls, mean: float, weight: float, correlation: Floats) -> Prior:
        """Beta distribution with this mean and weight, in cases, and logarithms of weights on ``CORRELATION``."""
        a, b = weight * mean, weight * (1 - mean)
        return cls((a - 0.5) * np.log(P_GRID) + (b - 0.5) * np.log(1 - P_GRID), correlation)


def correlations_like(other: Floats, times: Floats, spread: float) -> Floats:
    """Logarithms of weights on ``CORRELATION``, given those of another share of the same topics -> (p, correlation).

    other: probabilities of its correlations (correlation,).  The logarithm of the one is normal around that of the
    other, ``times`` as large (p,), with standard deviation ``spread``.
    """
    away = np.log(CORRELATION / (times[:, None, None] * CORRELATION[:, None])) / spread
    given = _widths() / CORRELATION * np.exp(-(away**2) / 2)
    found: Floats = np.log(np.einsum("k,pkl->pl", other, given / given.sum(axis=2, keepdims=True)))
    return found


def _widths() -> Floats:
    """Width of the interval that each of ``CORRELATION`` stands for."""
    step = np.diff(CORRELATION, prepend=0, append=1)
    return np.asarray(step[1:] + step[:-1])


def half_widths(
    present: TopicShares,
    more: Floats,
    rng: np.random.Generator,
    priors: Sequence[Prior] | None = None,
    limits: Sequence[Limits] | None = None,
) -> Floats:
    """Draw the half-widths that further cases give: more (budget, topic, share), expected -> (budget, draw, share).

    Cases are whole numbers, drawn systematically along the topics.  priors: of each share; None: vague ones.  limits:
    by budget, the intervals that all cases will give; None: those of ``clustered_shares``.
    """
    n_draws = int(np.clip(MOST_CELLS // max(present.hits.size, 1), FEWEST_DRAWS, N_DRAWS))
    priors = priors or [Prior.vague()] * present.hits.shape[1]
    p, correlation = drawn_shares(present, priors, n_draws, rng)
    spread = 1 / correlation - 1
    a, b = (np.maximum(each * spread, 1e-6) for each in (p, 1 - p))
    hits, cases = (each[:, None] for each in present)
    of_topic = rng.beta(a + hits, b + np.maximum(cases - hits, 0.0))
    start = rng.random(p.shape)
    found = [
        _half_widths(of_budget, *_all_cases(present, expected, of_topic, start, rng))
        for expected, of_budget in zip(more, limits or [_clustered] * len(more), strict=True)
    ]
    return np.stack(found)


def _clustered(hits: Floats, cases: Floats) -> tuple[Floats, Floats]:
    _, low, high = clustered_shares(hits, cases)
    return low, high


def _all_cases(
    present: TopicShares, expected: Floats, of_topic: Floats, start: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw cases and hits of one budget: expected (topic, share), of_topic (topic, draw, share) -> both like these."""
    ends = np.floor(np.cumsum(expected, axis=0)[:, None] + start)
    new = np.diff(ends, axis=0, prepend=0).astype(np.int64)
    hits = np.repeat(present.hits[:, None], len(start), axis=1)
    some = new > 0
    hits[some] += rng.binomial(new[some], of_topic[some])
    return hits, present.cases[:, None] + new


def _half_widths(limits: Limits, hits: Floats, cases: Floats) -> Floats:
    """Half-widths of the intervals of hits and cases (topic, draw, share) -> (draw, share)."""
    low, high = limits(hits, cases)
    return np.where(np.isnan(low) | ((cases > 0).sum(axis=0) < 2), UNKNOWN, (high - low) / 2)


def drawn_shares(
    present: TopicShares, priors: Sequence[Prior], n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw p and the intra-class correlation from their posterior -> both (draw, share)."""
    shape = (len(P_GRID), len(CORRELATION))
    found = np.empty((2, n_draws, present.hits.shape[1]))
    for share, each in enumerate(zip(present.hits.T, present.cases.T, priors, strict=True)):
        chosen = rng.choice(P_GRID.size * CORRELATION.size, size=n_draws, p=posterior(*each).ravel())
        place, level = np.unravel_index(chosen, shape)
        found[:, :, share] = P_GRID[place], CORRELATION[level]
    return found[0], found[1]


def posterior(hits: Floats, cases: Floats, prior: Prior) -> Floats:
    """Posterior of p and the intra-class correlation given cases by topic (topic,) -> (p, correlation), sum 1."""
    from scipy.special import betaln

    spread = 1 / CORRELATION - 1
    a, b = P_GRID[:, None] * spread, (1 - P_GRID[:, None]) * spread
    rounded, times = _rounded(hits[cases > 0], np.maximum(cases - hits, 0.0)[cases > 0])
    h, m = rounded[:, :, None, None]
    log = prior.p[:, None] + prior.correlation
    log = log + (times[:, None, None] * (betaln(a + h, b + m) - betaln(a, b))).sum(axis=0)
    weight: Floats = np.exp(log - log.max())
    return weight / weight.sum()


def _rounded(hits: Floats, misses: Floats) -> tuple[Floats, Floats]:
    """Distinct hits and misses in whole numbers -> (2, kind), and how often each is expected -> (kind,)."""
    distinct, n_topics = np.unique(np.stack([hits, misses]), axis=1, return_counts=True)
    h, m = np.floor(distinct[:, :, None] + ROUNDINGS + 1e-9)
    every = np.stack(np.broadcast_arrays(h[:, :, None], m[:, None, :])).reshape(2, -1)
    found, kind = np.unique(every, axis=1, return_inverse=True)
    return found, np.bincount(kind, np.repeat(n_topics, len(ROUNDINGS) ** 2)) / len(ROUNDINGS) ** 2


def budgets(budget: float, most: float) -> list[float]:
    """Budgets of a forecast: half, once and twice, and others from a quarter of it up to all that can be asked.

    Examples
    --------
    >>> budgets(100, 1000)
    [25.0, 50.0, 72.0, 100.0, 200.0, 349.0, 590.0, 1000.0]
    """
    named = [budget / 2, float(budget), 2.0 * budget, *([float(most)] if most > 2 * budget else [])]
    grid = np.geomspace(budget / 4, named[-1], 8)
    apart = (np.abs(np.log(grid[:, None] / named)) > CLOSE).all(axis=1)
    return sorted({*(float(round(each)) if each >= WHOLE else each for each in grid[apart].tolist()), *named})


def expectations(sizes: Sequence[float], widths: Floats, within: float) -> tuple[Expected, ...]:
    """Summarise half-widths (budget, draw): the probability that they are within the one asked for, and the median."""
    decided, middle = (widths <= within).mean(axis=1), np.median(widths, axis=1)
    return tuple(Expected(*map(float, each)) for each in zip(sizes, decided, middle, strict=True))


def spread_over_topics(number: Floats, population: Ints | Floats) -> Floats:
    """Spread numbers of cases over topics: number (..., share), population (topic, share) -> (..., topic, share)."""
    total = population.sum(axis=0)
    part = np.divide(population, total, out=np.zeros(population.shape), where=total > 0)
    return np.asarray(number)[..., None, :] * part

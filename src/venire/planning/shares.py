r"""Half-widths of shares that further cases are expected to give.

A share p has :math:`h_t` hits in :math:`n_t` cases of topic t: p(R|i) of a label, p(a > b) of two labels.  Topics
differ: theirs are :math:`p_t \sim \mathrm{Beta}(p (1/\rho - 1), (1 - p)(1/\rho - 1))`, with :math:`\rho` the
intra-class correlation, so that m cases on T topics give the standard deviation of ``disagreement.double_judgments``,

.. math:: sd^2(m, T) = \frac{A}{T} + \frac{v}{m}, \qquad A = \rho p (1 - p), \quad v = (1 - \rho) p (1 - p)

p and :math:`\rho` have the posterior given the present cases, on a grid.  The prior of p is Beta(3/2, 3/2); that of
:math:`\rho` is exponential with mean .1, cut at .8.  (Of p(R|i), :math:`\rho` is .02 to .1 in the crowd labels of TREC
2010 Relevance Feedback, and about .3 by the standard deviations of Demeester et al. 2015, Section 6.2.)  A forecast
draws p, :math:`\rho`, :math:`p_t` given the present cases, and further hits, and computes the interval of all cases as
``clustered_shares`` does (the predictive distribution; Gelman et al. 2013, Bayesian Data Analysis, Section 5.3).  Cost:
O(draws x topics x shares) per budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from venire.kernels.shares import clustered_shares
from venire.planning.result import Expected
from venire.types import Floats, Ints

N_DRAWS, FEWEST_DRAWS, MOST_CELLS = 400, 50, 2_000_000
"""Draws of a forecast, fewer where draws x topics x shares would be more cells than that."""
P_GRID = np.sin(np.pi * (np.arange(60) + 0.5) / 120) ** 2
"""Equally likely by Beta(1/2, 1/2), and so by Beta(3/2, 3/2) in proportion to p(1 - p)."""
CORRELATION = np.array([0.002, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.55, 0.8])
MEAN_CORRELATION = 0.1
UNKNOWN = 0.5
"""Half-width of the interval of a share of which nothing is known."""


class TopicShares(NamedTuple):
    """Hits and cases, both (topic, share)."""

    hits: Floats
    cases: Floats


def half_widths(present: TopicShares, more: Floats, rng: np.random.Generator) -> Floats:
    """Draw the half-widths that further cases give: more (budget, topic, share), expected -> (budget, draw, share).

    Cases are whole numbers, drawn systematically along the topics.
    """
    n_draws = int(np.clip(MOST_CELLS // max(present.hits.size, 1), FEWEST_DRAWS, N_DRAWS))
    p, correlation = drawn_shares(present, n_draws, rng)
    spread = 1 / correlation - 1
    a, b = (np.maximum(each * spread, 1e-6) for each in (p, 1 - p))
    hits, cases = (each[:, None] for each in present)
    of_topic = rng.beta(a + hits, b + np.maximum(cases - hits, 0.0))
    start = rng.random(p.shape)
    found = [_half_widths(present, expected, of_topic, start, rng) for expected in more]
    return np.stack(found)


def _half_widths(
    present: TopicShares, expected: Floats, of_topic: Floats, start: Floats, rng: np.random.Generator
) -> Floats:
    """Draw cases and hits of one budget: expected (topic, share), of_topic (topic, draw, share) -> (draw, share)."""
    ends = np.floor(np.cumsum(expected, axis=0)[:, None] + start)
    new = np.diff(ends, axis=0, prepend=0).astype(np.int64)
    hits = np.repeat(present.hits[:, None], len(start), axis=1)
    some = new > 0
    hits[some] += rng.binomial(new[some], of_topic[some])
    _, low, high = clustered_shares(hits, present.cases[:, None] + new)
    return np.where(np.isnan(low), UNKNOWN, (high - low) / 2)


def drawn_shares(present: TopicShares, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw p and the intra-class correlation from their posterior -> both (draw, share)."""
    shape = (len(P_GRID), len(CORRELATION))
    found = np.empty((2, n_draws, present.hits.shape[1]))
    for share, (hits, cases) in enumerate(zip(present.hits.T, present.cases.T, strict=True)):
        chosen = rng.choice(P_GRID.size * CORRELATION.size, size=n_draws, p=posterior(hits, cases).ravel())
        place, level = np.unravel_index(chosen, shape)
        found[:, :, share] = P_GRID[place], CORRELATION[level]
    return found[0], found[1]


def posterior(hits: Floats, cases: Floats) -> Floats:
    """Posterior of p and the intra-class correlation given cases by topic (topic,) -> (p, correlation), sum 1."""
    from scipy.special import betaln

    same, times = np.unique(np.stack([hits, cases])[:, cases > 0], axis=1, return_counts=True)
    spread = 1 / CORRELATION - 1
    a, b = P_GRID[:, None] * spread, (1 - P_GRID[:, None]) * spread
    h, n = same[:, :, None, None]
    width = np.diff(CORRELATION, prepend=0, append=1)
    log = np.log(width[1:] + width[:-1]) - CORRELATION / MEAN_CORRELATION
    log = log + np.log(P_GRID * (1 - P_GRID))[:, None]
    log = log + (times[:, None, None] * (betaln(a + h, b + n - h) - betaln(a, b))).sum(axis=0)
    weight: Floats = np.exp(log - log.max())
    return weight / weight.sum()


def budgets(budget: float, most: float) -> list[float]:
    """Budgets of a forecast: half, once and twice, and others from a quarter of it up to all that can be asked.

    Examples
    --------
    >>> [round(each) for each in budgets(100, 1000)]
    [25, 42, 50, 72, 100, 121, 200, 206, 349, 590, 1000]
    """
    grid = np.geomspace(budget / 4, max(most, 2 * budget), 8)
    return sorted({budget / 2, budget, 2 * budget, *np.round(grid, 6).tolist()})


def expectations(sizes: Sequence[float], widths: Floats, within: float) -> tuple[Expected, ...]:
    """Summarise half-widths (budget, draw): the probability that they are within the one asked for, and the median."""
    decided, middle = (widths <= within).mean(axis=1), np.median(widths, axis=1)
    return tuple(Expected(*map(float, each)) for each in zip(sizes, decided, middle, strict=True))


def spread_over_topics(number: Floats, population: Ints | Floats) -> Floats:
    """Spread numbers of cases over topics: number (..., share), population (topic, share) -> (..., topic, share)."""
    total = population.sum(axis=0)
    part = np.divide(population, total, out=np.zeros(population.shape), where=total > 0)
    return np.asarray(number)[..., None, :] * part

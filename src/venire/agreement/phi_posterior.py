r"""The posterior of the precision rho behind Phi (``agreement.phi``), summed on a grid of log rho."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from venire.kernels.beta_precision import Likelihood, likelihood
from venire.kernels.resample import topic_weights
from venire.types import Codes, Floats, Ints

COVER = 0.95
LOWEST, HIGHEST = -15.0, 16.0
GRID, FINE, EVERYWHERE = 201, 8001, 3101
DEEP = 40.0
"""How far below its top, in natural logarithms, the posterior is followed."""
WIDE = 12.0
ALIKE = 1e-9
DRAW_CELLS = 1 << 22


class Ratings(NamedTuple):
    """Places on the scale, 0 to 1, sorted within items (rating,); where each item starts, how many, topic (item,)."""

    place: Floats
    start: Ints
    n: Ints
    topic: Codes
    n_raters: int


class Sets(NamedTuple):
    """Distinct sets of ratings: n, ones (sum of log y), zeros (sum of log 1 - y), apart (set,); number (item,).

    apart: 1 where the ratings are not all the same.
    """

    n: Ints
    ones: Floats
    zeros: Floats
    apart: Floats
    number: Ints

    @property
    def n_items(self) -> Floats:
        """How many items there are of each -> (set,)."""
        return np.bincount(self.number, minlength=len(self.n)).astype(np.float64)

    def likelihood(self, log_rho: Floats) -> Likelihood:
        """Log likelihood on a grid."""
        return likelihood(self.n, self.ones, self.zeros, np.exp(log_rho))


class Posterior(NamedTuple):
    """Density of log rho on an even grid, as its logarithm with the top at 0; both (grid,)."""

    log_rho: Floats
    log: Floats

    @property
    def mean(self) -> float:
        """Mean of rho."""
        return float(means(self.log[None], self.log_rho)[0])

    def densest(self) -> Floats:
        """Ends of the region of highest density of rho, not of log rho -> (2,)."""
        from scipy.interpolate import CubicSpline

        fine = np.linspace(self.log_rho[0], self.log_rho[-1], FINE)
        log = CubicSpline(self.log_rho, self.log)(fine)
        order = np.argsort(fine - log, kind="stable")
        mass = np.exp(log[order]).cumsum()
        held = fine[order[: int(np.searchsorted(mass, COVER * mass[-1])) + 1]]
        return np.exp(np.array([held.min(), held.max()]))


def distinct_sets(ratings: Ratings, most: int) -> Sets:
    """Number the distinct sets of ratings, drawn in from the ends by the largest number of labels that an item has."""
    y = (ratings.place * (most - 1) + 0.5) / most
    ones, zeros = (np.add.reduceat(each, ratings.start) for each in (np.log(y), np.log1p(-y)))
    apart = ratings.place[ratings.start + ratings.n - 1] - ratings.place[ratings.start] > ALIKE
    table = np.round(np.column_stack([ratings.n, ones, zeros, apart]), 12)
    order = np.lexsort(table.T)
    first = np.append(True, (np.diff(table[order], axis=0) != 0).any(axis=1))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(first) - 1
    n, s1, s0, differ = table[order[first]].T
    return Sets(n.astype(np.int64), s1, s0, differ, number)


def posterior_of(sets: Sets) -> Posterior:
    """Find where the posterior lies, and follow it there."""
    log_rho = np.linspace(LOWEST, HIGHEST, GRID)
    while True:
        log = sets.likelihood(log_rho).summed(sets.n_items[None])[0] + log_rho
        held = np.flatnonzero(log > log.max() - DEEP)
        first, last = max(int(held[0]) - 1, 0), min(int(held[-1]) + 1, GRID - 1)
        if last - first > GRID // 2:
            return Posterior(log_rho, log - log.max())
        log_rho = np.linspace(log_rho[first], log_rho[last], GRID)


def means(log_posterior: Floats, log_rho: Floats) -> Floats:
    """Posterior means of rho, the density being over log rho on an even grid; (draw, grid) -> (draw,)."""
    weight = np.exp(log_posterior - log_posterior.max(axis=-1, keepdims=True))
    found: Floats = weight @ np.exp(log_rho) / weight.sum(axis=-1)
    return found


def phi_of(rho: Floats) -> Floats:
    """Phi by the posterior mean of rho."""
    found: Floats = 1.0 - 2.0 ** (1.0 - rho / 2.0)
    return found


def resampled(
    sets: Sets, posterior: Posterior, topic: Codes, *, units: str, n_draws: int, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Percentiles of Phi over drawings of items or topics; None where there is one of them, or no drawing."""
    table = _by_topic(sets, topic) if units == "topics" else None
    n_units = len(sets.number) if table is None else table.shape[0]
    if n_units < 2 or n_draws < 2:
        return None, None
    grid = _wider(sets, posterior, sets.number if table is None else topic)
    curves = sets.likelihood(grid)
    drawn = []
    for begin in range(0, n_draws, step := max(1, DRAW_CELLS // max(n_units, len(sets.n)))):
        n = min(step, n_draws - begin)
        weights = _drawn_items(sets, n, rng) if table is None else np.asarray(topic_weights(n_units, n, rng) @ table)
        drawn.append(_phis(sets, curves, weights, grid))
    low, high = np.quantile(np.concatenate(drawn), [(1 - COVER) / 2, (1 + COVER) / 2])
    return float(low), float(high)


def phi_by_topic(sets: Sets, topic: Codes) -> Floats:
    """Phi of every topic that has items with several labels -> (topic,)."""
    table = _by_topic(sets, topic)
    grid = np.linspace(LOWEST, HIGHEST, EVERYWHERE)
    curves = sets.likelihood(grid)
    step = max(1, DRAW_CELLS // max(len(sets.n), EVERYWHERE))
    blocks = [table[begin : begin + step].toarray() for begin in range(0, table.shape[0], step)]
    return np.concatenate([_phis(sets, curves, block, grid) for block in blocks])


def _phis(sets: Sets, curves: Likelihood, weights: Floats, grid: Floats) -> Floats:
    """Phi for weights of sets (draw, set) -> (draw,); 1 where no two ratings of an item differ."""
    found = phi_of(means(curves.summed(weights) + grid, grid))
    return np.where(weights @ sets.apart > 0, found, 1.0)


def _drawn_items(sets: Sets, n: int, rng: np.random.Generator) -> Floats:
    """How often each set of ratings is there when items are drawn anew -> (draw, set)."""
    return rng.multinomial(len(sets.number), sets.n_items / len(sets.number), size=n).astype(np.float64)


def _by_topic(sets: Sets, topic: Codes) -> Any:
    """How many items of each topic have each set of ratings -> sparse (topic, set)."""
    from scipy.sparse import coo_array

    topics, number = np.unique(topic, return_inverse=True)
    shape = (len(topics), len(sets.n))
    return coo_array((np.ones(len(number)), (number, sets.number)), shape=shape).tocsr()


def _wider(sets: Sets, posterior: Posterior, units: Ints | Codes) -> Floats:
    """Widen the grid to what drawings of units may need: some standard deviations, by their slopes at the top."""
    log_rho = posterior.log_rho
    top, step = log_rho[posterior.log.argmax()], log_rho[1] - log_rho[0]
    weight = np.exp(posterior.log)
    sd = np.sqrt((weight * (log_rho - top) ** 2).sum() / weight.sum())
    below, above = sets.likelihood(np.array([top - step, top + step])).each().T
    slope = ((above - below) / (2 * step))[sets.number]
    spread = slope if units is sets.number else np.bincount(units, slope)
    reach = WIDE * max(sd, sd * sd * float(np.sqrt((spread * spread).sum())))
    return np.linspace(max(top - reach, LOWEST), min(top + reach, HIGHEST), 2 * GRID)

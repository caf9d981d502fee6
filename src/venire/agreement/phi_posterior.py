r"""The posterior of the precision rho behind Phi (``agreement.phi``), summed on a grid of log rho.

The log likelihood is a smooth function of log rho: all its singularities are off the real axis.  So it is integrated at
Chebyshev points of pieces of the grid, ``REGULAR`` log rho to a piece, and interpolated between them; the error of the
interpolation falls geometrically with their number, and at ``POINTS`` to a piece is that of rounding.

An item's ratings :math:`x_1 ... x_n` are drawn from :math:`Beta(\mu\rho, (1 - \mu)\rho)`; its centre :math:`\mu` is
uniform on (0, 1) and integrated out.  With :math:`S_1 = \sum \log x_j`, :math:`S_0 = \sum \log(1 - x_j)` and
:math:`D = S_1 - S_0`,

.. math::
    \log L(\rho) &= (\rho - 1) S_0 - S_1 + \log G_n(D, \rho) \\
    G_n(D, \rho) &= \int_0^1 \Bigl[\frac{\Gamma(\rho)}{\Gamma(\mu\rho)\,\Gamma((1-\mu)\rho)}\Bigr]^n
        e^{\mu\rho D}\, d\mu

so that the integral depends on n and one number of the item.  Its logarithm is concave in :math:`\mu` under the
integral sign; the integral is taken over :math:`u = \log(\mu / (1 - \mu))` by the trapezoidal rule, at
:math:`u^* + s \sinh v` with u* the mode and s the curvature there, which converges geometrically.  As a function of D,
:math:`\log G` is smooth; where an n has more distinct D than ``NODES``, it is interpolated between that many Chebyshev
points.  The posterior is located on coarser points, ``SCOUTS``; where what is found then does not fall to nothing at
both ends of its grid, it is located again on all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from venire.agreement.intervals import percentiles, student
from venire.randomness import FEW_TOPICS, topic_weights
from venire.types import Codes, Floats, Ints

NODES, SCOUTS = 64, 12
REACH, GRID_POINTS, SCOUT_POINTS = 3.6, 49, 17
WIDEST, HALVINGS, SECANTS = 60.0, 8, 4
BLOCK = 1 << 20


class Nodes(NamedTuple):
    """Items with as many labels: their rows (item,), columns of the integrals, and D at their ends if interpolated."""

    rows: Ints
    columns: slice
    ends: tuple[float, float] | None


class Likelihood(NamedTuple):
    """Log likelihood of sets of ratings on a grid of rho: d (D), zeros (S_0) (set,), integrals (node, rho)."""

    d: Floats
    zeros: Floats
    rho: Floats
    parts: list[Nodes]
    integrals: Floats

    def summed(self, weights: Floats) -> Floats:
        """Sum over sets, up to a constant of each; weights (draw, set) -> (draw, rho)."""
        total: Floats = (weights @ self.zeros)[:, None] * self.rho
        for rows, columns, ends in self.parts:
            if ends is None:
                total += weights[:, rows] @ self.integrals[columns]
                continue
            n_nodes = columns.stop - columns.start
            at_node = np.zeros((len(weights), n_nodes))
            for begin in range(0, len(rows), BLOCK // n_nodes):
                some = rows[begin : begin + BLOCK // n_nodes]
                at_node += weights[:, some] @ _interpolation(self.d[some], ends, n_nodes)
            total += at_node @ self.integrals[columns]
        return total

    def each(self) -> Floats:
        """Log likelihood of every set alone, up to a constant -> (set, rho)."""
        found: Floats = self.zeros[:, None] * self.rho
        for rows, columns, ends in self.parts:
            basis = None if ends is None else _interpolation(self.d[rows], ends, columns.stop - columns.start)
            found[rows] += self.integrals[columns] if basis is None else basis @ self.integrals[columns]
        return found


def likelihood(n: Ints, ones: Floats, zeros: Floats, rho: Floats, n_nodes: int = NODES) -> Likelihood:
    """Prepare the log likelihood of the precision; n, ones (S_1), zeros (S_0) (set,), rho (rho,).

    Cost: for each distinct n up to ``n_nodes`` x rho integrals, however many sets there are.
    """
    d, n_points = ones - zeros, GRID_POINTS if n_nodes == NODES else SCOUT_POINTS
    parts, node_n, node_d = [], [], []
    at = 0
    for size in np.unique(n):
        rows = np.flatnonzero(n == size)
        ends = (float(d[rows].min()), float(d[rows].max())) if len(rows) > n_nodes else None
        nodes = d[rows] if ends is None else _chebyshev_points(ends, n_nodes)
        parts.append(Nodes(rows, slice(at, at + len(nodes)), ends))
        node_n.append(np.full(len(nodes), float(size)))
        node_d.append(nodes)
        at += len(nodes)
    return Likelihood(
        d, zeros, rho, parts, log_integrals(np.concatenate(node_n), np.concatenate(node_d), rho, n_points)
    )


def log_integrals(n: Floats, d: Floats, rho: Floats, n_points: int = GRID_POINTS) -> Floats:
    """Log G_n(D, rho); n, d (node,), rho (rho,) -> (node, rho).  Memory: a block of ``BLOCK`` points at a time."""
    found = np.empty((len(n), len(rho)))
    step = max(1, BLOCK // (len(rho) * n_points))
    for begin in range(0, len(n), step):
        block = slice(begin, begin + step)
        found[block] = _integrated(n[block, None], d[block, None], rho, n_points)
    return found


def _integrated(n: Floats, d: Floats, rho: Floats, n_points: int) -> Floats:
    """Integrate over the centre; n, d (node, 1), rho (rho,) -> (node, rho)."""
    from scipy.special import expit, gammaln, logsumexp, polygamma

    mode = _mode(n, d, rho)
    mu, beside = expit(mode), expit(-mode)
    bend = n * rho**2 * (polygamma(1, mu * rho) + polygamma(1, beside * rho)) + mu**-2.0 + beside**-2.0
    scale = 1.0 / (np.sqrt(bend) * mu * beside)
    v, step = np.linspace(-REACH, REACH, n_points, retstep=True)
    u = np.clip(mode[..., None] + scale[..., None] * np.sinh(v), -WIDEST, WIDEST)
    mu, beside = expit(u), expit(-u)
    rho = rho[:, None]
    log = n[..., None] * (gammaln(rho) - gammaln(mu * rho) - gammaln(beside * rho)) + mu * rho * d[..., None]
    log += np.log(mu) + np.log(beside) + np.log(np.cosh(v))
    found: Floats = logsumexp(log, axis=-1) + np.log(scale * step)
    return found


def _mode(n: Floats, d: Floats, rho: Floats) -> Floats:
    """Where the integrand over u is largest: its slope in mu falls throughout -> (node, rho).

    By halving and then by secants.  An error moves the points of the integral, and hardly its value.
    """
    from scipy.special import expit, psi

    def slope(u: Floats) -> Floats:
        mu, beside = expit(u), expit(-u)
        return np.asarray(rho * (n * (psi(beside * rho) - psi(mu * rho)) + d) + 1 / mu - 1 / beside)

    low = np.full(np.broadcast_shapes(n.shape, rho.shape), -WIDEST / 2)
    high = -low
    for _ in range(HALVINGS):
        u = (low + high) / 2
        rising = slope(u) > 0
        low, high = np.where(rising, u, low), np.where(rising, high, u)
    before, found = low, high
    rise, fall = slope(low), slope(high)
    for _ in range(SECANTS):
        step = np.divide(fall * (found - before), fall - rise, out=np.zeros_like(fall), where=fall != rise)
        before, found, rise = found, np.clip(found - step, low, high), fall
        fall = slope(found)
    return found


def _chebyshev_points(ends: tuple[float, float], n: int) -> Floats:
    from numpy.polynomial.chebyshev import chebpts1

    centre, half = _middle(ends)
    points: Floats = centre + half * chebpts1(n)
    return points


def _interpolation(at: Floats, ends: tuple[float, float], n: int) -> Floats:
    """Weights with which values at n Chebyshev points give those at other points -> (at, node)."""
    from numpy.polynomial.chebyshev import chebpts1, chebvander

    centre, half = _middle(ends)
    norm = np.where(np.arange(n) == 0, 1.0, 2.0) / n
    weights: Floats = chebvander((at - centre) / half, n - 1) @ (chebvander(chebpts1(n), n - 1) * norm).T
    return weights


def _middle(ends: tuple[float, float]) -> tuple[float, float]:
    """Centre of a range, and half its length."""
    return (ends[0] + ends[1]) / 2, max((ends[1] - ends[0]) / 2, 1e-9)


COVER = 0.95
LOWEST, HIGHEST = -15.0, 16.0
COARSE, ENOUGH = 25, 6
"""Points of the grid that locates the posterior, and how many of them must lie in it."""
GRID, FINE, EVERYWHERE = 201, 8001, 3101
REGULAR, POINTS = 2.0, 20
DEEP = 40.0
"""How far below its maximum, in natural logarithms, the posterior is computed."""
WIDE = 12.0
ALIKE = 1e-9
DRAW_CELLS = 1 << 22


class Ratings(NamedTuple):
    """Places on the scale, 0 to 1, sorted within items (rating,); where each item starts, how many, topic (item,).

    times: how many items each stands for (item,).
    """

    place: Floats
    start: Ints
    n: Ints
    topic: Codes
    n_raters: int
    times: Floats

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self.times.sum())


class Sets(NamedTuple):
    """Distinct sets of ratings: n, ones (sum of log y), zeros (sum of log 1 - y), apart (set,); number, times (item,).

    apart: 1 where the ratings are not all the same.
    """

    n: Ints
    ones: Floats
    zeros: Floats
    apart: Floats
    number: Ints
    times: Floats

    @property
    def n_items(self) -> Floats:
        """How many items there are of each -> (set,)."""
        return np.bincount(self.number, self.times, minlength=len(self.n)).astype(np.float64, copy=False)

    def likelihood(self, log_rho: Floats, n_nodes: int = NODES) -> Likelihood:
        """Log likelihood on a grid, interpolated where that takes fewer integrals."""
        points, pieces = _pieces(log_rho)
        at = log_rho if len(points) >= len(log_rho) else points
        found = likelihood(self.n, self.ones, self.zeros, np.exp(at), n_nodes)
        if at is log_rho:
            return found
        integrals = np.hstack([found.integrals[:, columns] @ basis for columns, basis in pieces])
        return found._replace(rho=np.exp(log_rho), integrals=integrals)


class Posterior(NamedTuple):
    """Density of log rho on an even grid, as its logarithm with the top at 0; both (grid,)."""

    log_rho: Floats
    log: Floats

    @property
    def mean(self) -> float:
        """Mean of rho."""
        return float(means(self.log[None], self.log_rho)[0])

    @property
    def whole(self) -> bool:
        """Whether it falls to nothing at both ends of the grid, or the grid reaches as far as any."""
        inside = (self.log_rho[0] > LOWEST, self.log_rho[-1] < HIGHEST)
        return not any(within and end > -DEEP for within, end in zip(inside, self.log[[0, -1]], strict=True))

    def densest(self) -> Floats:
        """Ends of the region of highest density of rho, not of log rho -> (2,)."""
        from scipy.interpolate import CubicSpline

        fine = np.linspace(self.log_rho[0], self.log_rho[-1], FINE)
        log = CubicSpline(self.log_rho, self.log)(fine)
        density = log - fine
        order = np.argsort(-density, kind="stable")
        share = np.exp(log[order])
        least = np.interp(COVER * share.sum(), share.cumsum() - share / 2, density[order])
        held = np.flatnonzero(density >= least)
        ends = [_crossing(density, fine, least, int(inside), step) for inside, step in ((held[0], -1), (held[-1], 1))]
        return np.exp(np.array(ends))


def _crossing(density: Floats, log_rho: Floats, least: float, inside: int, step: int) -> float:
    """Where the density falls to ``least``, between a point where it is above and the next one."""
    outside = min(max(inside + step, 0), len(density) - 1)
    fall = density[inside] - density[outside]
    share = (density[inside] - least) / fall if fall > 0 else 0.0
    return float(log_rho[inside] + min(share, 1.0) * (log_rho[outside] - log_rho[inside]))


def distinct_sets(ratings: Ratings, most: int) -> Sets:
    """Number the distinct sets of ratings, moved from the ends by the largest number of labels that an item has."""
    y = (ratings.place * (most - 1) + 0.5) / most
    ones, zeros = (np.add.reduceat(each, ratings.start) for each in (np.log(y), np.log1p(-y)))
    apart = ratings.place[ratings.start + ratings.n - 1] - ratings.place[ratings.start] > ALIKE
    table = np.round(np.column_stack([ratings.n, ones, zeros, apart]), 12)
    order = np.lexsort(table.T)
    first = np.append(True, (np.diff(table[order], axis=0) != 0).any(axis=1))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(first) - 1
    n, s1, s0, differ = table[order[first]].T
    return Sets(n.astype(np.int64), s1, s0, differ, number, ratings.times)


def posterior_of(sets: Sets) -> Posterior:
    """Locate the posterior, and compute it there."""
    found = _posterior(sets, *_located(sets, SCOUTS))
    return found if found.whole else _posterior(sets, *_located(sets, NODES))


def _located(sets: Sets, n_nodes: int) -> tuple[float, float]:
    """Return the ends of a grid of log rho outside of which the posterior is negligible."""
    log_rho, n_held = np.linspace(LOWEST, HIGHEST, COARSE), 0
    while n_held < ENOUGH:
        log = _log_posterior(sets, log_rho, n_nodes)
        held = np.flatnonzero(log > log.max() - DEEP)
        first, last, n_held = max(int(held[0]) - 1, 0), min(int(held[-1]) + 1, COARSE - 1), len(held)
        log_rho = np.linspace(log_rho[first], log_rho[last], COARSE)
    return float(log_rho[0]), float(log_rho[-1])


def _posterior(sets: Sets, low: float, high: float) -> Posterior:
    log_rho = np.linspace(low, high, GRID)
    log = _log_posterior(sets, log_rho)
    return Posterior(log_rho, log - log.max())


def _log_posterior(sets: Sets, log_rho: Floats, n_nodes: int = NODES) -> Floats:
    """Logarithm of the density of log rho, up to a constant -> (grid,)."""
    return sets.likelihood(log_rho, n_nodes).summed(sets.n_items[None])[0] + log_rho


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
    """Interval of Phi by resampling items or topics; None with one of them, or without draws."""
    table = _by_topic(sets, topic) if units == "topics" else None
    n_units = int(sets.times.sum()) if table is None else table.shape[0]
    if n_units < 2 or n_draws < 2:
        return None, None
    grid = _wider(sets, posterior, None if table is None else topic)
    curves = sets.likelihood(grid)
    if table is not None and n_units < FEW_TOPICS:
        without = np.log(means(curves.summed(sets.n_items - table.toarray()) + grid, grid))
        low, high = student(np.log(posterior.mean), without, n_units)
        return float(phi_of(np.exp(low))), float(phi_of(np.exp(high)))
    drawn = []
    for begin in range(0, n_draws, step := max(1, DRAW_CELLS // max(n_units, len(sets.n)))):
        n = min(step, n_draws - begin)
        if table is None:
            weights = rng.multinomial(n_units, sets.n_items / n_units, size=n).astype(np.float64)
        else:
            weights = np.asarray(topic_weights(n_units, n, rng) @ table)
        drawn.append(_phis(sets, curves, weights, grid))
    low, high = percentiles(np.concatenate(drawn), n_units)
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


def _by_topic(sets: Sets, topic: Codes) -> Any:
    """How many items of each topic have each set of ratings -> sparse (topic, set)."""
    from scipy.sparse import coo_array

    topics, number = np.unique(topic, return_inverse=True)
    shape = (len(topics), len(sets.n))
    return coo_array((sets.times, (number, sets.number)), shape=shape).tocsr()


def _wider(sets: Sets, posterior: Posterior, topic: Codes | None) -> Floats:
    """Widen the grid to what resamples of topics, or of items, may need: some standard deviations, by their slopes."""
    log_rho = posterior.log_rho
    top, step = log_rho[posterior.log.argmax()], log_rho[1] - log_rho[0]
    weight = np.exp(posterior.log)
    sd = np.sqrt((weight * (log_rho - top) ** 2).sum() / weight.sum())
    below, above = sets.likelihood(np.array([top - step, top + step])).each().T
    slope = ((above - below) / (2 * step))[sets.number]
    square = sets.times * slope**2 if topic is None else np.bincount(topic, sets.times * slope) ** 2
    reach = WIDE * max(sd, sd * sd * float(np.sqrt(square.sum())))
    return np.linspace(max(top - reach, LOWEST), min(top + reach, HIGHEST), 2 * GRID)


def _pieces(log_rho: Floats) -> tuple[Floats, list[tuple[slice, Floats]]]:
    """Divide a grid into pieces -> Chebyshev points of all, and for each its points and the interpolation.

    The interpolation of a piece is (point, grid): values at points times it are values on this piece of the grid.
    """
    n_pieces = max(1, int(np.ceil((log_rho[-1] - log_rho[0]) / REGULAR)))
    points, pieces = [], []
    for number, piece in enumerate(np.array_split(log_rho, n_pieces)):
        ends = (float(piece[0]), float(piece[-1]))
        points.append(_chebyshev_points(ends, POINTS))
        columns = slice(number * POINTS, (number + 1) * POINTS)
        pieces.append((columns, _interpolation(piece, ends, POINTS).T))
    return np.concatenate(points), pieces

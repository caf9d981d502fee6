r"""How precise ratings in (0, 1) are around a centre that each item has for itself: a likelihood by quadrature.

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
points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.types import Floats, Ints

NODES = 64
REACH, POINTS = 3.6, 49
WIDEST, HALVINGS = 60.0, 24
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
            at_node = np.zeros((len(weights), NODES))
            for begin in range(0, len(rows), BLOCK // NODES):
                some = rows[begin : begin + BLOCK // NODES]
                at_node += weights[:, some] @ _interpolation(self.d[some], ends)
            total += at_node @ self.integrals[columns]
        return total

    def each(self) -> Floats:
        """Log likelihood of every set alone, up to a constant -> (set, rho)."""
        found: Floats = self.zeros[:, None] * self.rho
        for rows, columns, ends in self.parts:
            basis = None if ends is None else _interpolation(self.d[rows], ends)
            found[rows] += self.integrals[columns] if basis is None else basis @ self.integrals[columns]
        return found


def likelihood(n: Ints, ones: Floats, zeros: Floats, rho: Floats) -> Likelihood:
    """Prepare the log likelihood of the precision; n, ones (S_1), zeros (S_0) (set,), rho (rho,).

    Cost: for each distinct n up to ``NODES`` x rho integrals, however many sets there are.
    """
    d = ones - zeros
    parts, node_n, node_d = [], [], []
    at = 0
    for size in np.unique(n):
        rows = np.flatnonzero(n == size)
        ends = (float(d[rows].min()), float(d[rows].max())) if len(rows) > NODES else None
        nodes = d[rows] if ends is None else _chebyshev_points(ends)
        parts.append(Nodes(rows, slice(at, at + len(nodes)), ends))
        node_n.append(np.full(len(nodes), float(size)))
        node_d.append(nodes)
        at += len(nodes)
    return Likelihood(d, zeros, rho, parts, log_integrals(np.concatenate(node_n), np.concatenate(node_d), rho))


def log_integrals(n: Floats, d: Floats, rho: Floats) -> Floats:
    """Log G_n(D, rho); n, d (node,), rho (rho,) -> (node, rho).  Memory: a block of ``BLOCK`` points at a time."""
    found = np.empty((len(n), len(rho)))
    step = max(1, BLOCK // (len(rho) * POINTS))
    for begin in range(0, len(n), step):
        block = slice(begin, begin + step)
        found[block] = _integrated(n[block, None], d[block, None], rho)
    return found


def _integrated(n: Floats, d: Floats, rho: Floats) -> Floats:
    """Integrate over the centre; n, d (node, 1), rho (rho,) -> (node, rho)."""
    from scipy.special import expit, gammaln, logsumexp, polygamma

    mode = _mode(n, d, rho)
    mu, beside = expit(mode), expit(-mode)
    bend = n * rho**2 * (polygamma(1, mu * rho) + polygamma(1, beside * rho)) + mu**-2.0 + beside**-2.0
    scale = 1.0 / (np.sqrt(bend) * mu * beside)
    v, step = np.linspace(-REACH, REACH, POINTS, retstep=True)
    u = np.clip(mode[..., None] + scale[..., None] * np.sinh(v), -WIDEST, WIDEST)
    mu, beside = expit(u), expit(-u)
    rho = rho[:, None]
    log = n[..., None] * (gammaln(rho) - gammaln(mu * rho) - gammaln(beside * rho)) + mu * rho * d[..., None]
    log += np.log(mu) + np.log(beside) + np.log(np.cosh(v))
    found: Floats = logsumexp(log, axis=-1) + np.log(scale * step)
    return found


def _mode(n: Floats, d: Floats, rho: Floats) -> Floats:
    """Where the integrand over u is largest, by halving: its slope in mu falls throughout -> (node, rho)."""
    from scipy.special import expit, psi

    low = np.full(np.broadcast_shapes(n.shape, rho.shape), -WIDEST / 2)
    high = -low
    for _ in range(HALVINGS):
        u = (low + high) / 2
        mu, beside = expit(u), expit(-u)
        rising = rho * (n * (psi(beside * rho) - psi(mu * rho)) + d) + 1 / mu - 1 / beside > 0
        low, high = np.where(rising, u, low), np.where(rising, high, u)
    found: Floats = (low + high) / 2
    return found


def _chebyshev_points(ends: tuple[float, float]) -> Floats:
    from numpy.polynomial.chebyshev import chebpts1

    centre, half = _middle(ends)
    points: Floats = centre + half * chebpts1(NODES)
    return points


def _interpolation(d: Floats, ends: tuple[float, float]) -> Floats:
    """Weights with which values at the Chebyshev points make those at d -> (set, node)."""
    from numpy.polynomial.chebyshev import chebpts1, chebvander

    centre, half = _middle(ends)
    norm = np.where(np.arange(NODES) == 0, 1.0, 2.0) / NODES
    at_points = (chebvander(chebpts1(NODES), NODES - 1) * norm).T
    weights: Floats = chebvander((d - centre) / half, NODES - 1) @ at_points
    return weights


def _middle(ends: tuple[float, float]) -> tuple[float, float]:
    """Centre of a range, and half its length."""
    return (ends[0] + ends[1]) / 2, max((ends[1] - ends[0]) / 2, 1e-9)

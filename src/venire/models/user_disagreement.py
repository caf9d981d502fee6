r"""User disagreement: would at least M of N users, the assessor among them, find a result relevant?

Demeester et al. (2014), WSDM, doi:10.1145/2556195.2556268.  With p = p(T|i) and the assessor's label i observed, the
other N - 1 users are independent given i:

.. math::
    P^{(M/N)}_{T|T} = \sum_{m=M-1}^{N-1} \binom{N-1}{m} p^m (1-p)^{N-1-m} \quad (4), \qquad
    P^{(M/N)}_{T|i} = \sum_{m=M}^{N-1} \binom{N-1}{m} p^m (1-p)^{N-1-m} \quad (5)

M = 1 gives Eqs. (1)-(3): 1 for the top label and 1 - (1 - p)^(N-1) below it.  Items with one label are not all alike,
and then independence overstates P(1/N); the beta-binomial form lets p vary from item to item with the correlation
``rho`` between two users' opinions.
"""

from __future__ import annotations

import numpy as np

from venire.errors import SettingError
from venire.types import Bools, Floats


def udm_weights(m: int, n: int, p: Floats, relevant: Bools, *, rho: Floats | float = 0.0) -> Floats:
    """P(at least m of n users find it relevant | the label of one of them) -> (label,).  Eqs. (4), (5).

    p, relevant (label,); rho: correlation between users given the label, 0 as in the paper.

    Examples
    --------
    >>> udm_weights(1, 3, np.array([0.0, 0.15, 0.23, 0.53]), np.array([False, False, False, True])).round(2).tolist()
    [0.0, 0.28, 0.41, 1.0]
    """
    _check(m, n)
    return np.where(relevant, tail(m - 1, n - 1, p, rho), tail(m, n - 1, p, rho))


def at_least(m: int, n: int, p: Floats, *, rho: Floats | float = 0.0) -> Floats:
    """P(at least m of n random users find it relevant) -> (label,); the assessor is not among them.

    Demeester et al. (2015), Section 3.1.7.
    """
    _check(m, n)
    return tail(m, n, p, rho)


def tail(m: int, n: int, p: Floats, rho: Floats | float = 0.0) -> Floats:
    """P(X >= m) for X binomial (n, p), or beta-binomial with mean n p and intra-class correlation rho.

    Products of rising factorials, exact for every p in [0, 1]: a = p (1 - rho) / rho, times rho to stay finite.
    """
    p, rho = np.asarray(p, dtype=np.float64), np.asarray(rho, dtype=np.float64)
    chances = np.stack([_chance(k, n, p, rho) for k in range(n + 1)])
    return np.clip(chances[max(m, 0) :].sum(axis=0) if m <= n - m else 1 - chances[:m].sum(axis=0), 0.0, 1.0)


def _chance(k: int, n: int, p: Floats, rho: Floats) -> Floats:
    """P(X = k): binom(n, k) times rising factorials of a and b over that of a + b, all scaled by rho."""
    from math import comb

    value = np.full(np.broadcast_shapes(p.shape, rho.shape), float(comb(n, k)))
    for step in range(n):
        own, of = (step, p) if step < k else (step - k, 1 - p)
        value = value * (of * (1 - rho) + own * rho) / ((1 - rho) + step * rho)
    return value


def _check(m: int, n: int) -> None:
    if not 1 <= m <= n:
        raise SettingError(f"{m}/{n}: expected at least M of N users with 1 <= M <= N", hint="for example 1/3")

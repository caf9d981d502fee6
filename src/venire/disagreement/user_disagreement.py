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

    Exact at p = 0 and 1 and at rho = 0 (independent users) and 1 (all alike); NaN where p is.  Cost: O(n) per label.
    """
    p, rho = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(rho, dtype=np.float64))
    if ((p < 0) | (p > 1) | (rho < 0) | (rho > 1)).any():
        raise SettingError("shares and correlations between users are expected from 0 to 1")
    if m <= 0 or m > n:
        return np.full(p.shape, 1.0 if m <= 0 else 0.0)
    if n == 1:
        return p.copy()
    above, below = _log_chances(n, p, rho), _log_chances(n, 1 - p, rho)
    upper, lower = np.exp(above[m:]).sum(axis=0), np.exp(below[n - m + 1 :]).sum(axis=0)
    return np.where(upper <= 0.5, upper, 1 - np.minimum(lower, 1.0))


def _log_chances(n: int, p: Floats, rho: Floats) -> Floats:
    r"""Logarithms of P(X = k) -> (k from 0 to n, label); X = n - k has the share 1 - p.

    With :math:`a = p (1-\rho)` and :math:`b = (1-p)(1-\rho)` they are
    :math:`\binom{n}{k} \prod_{j<k} (a + j\rho) \prod_{j<n-k} (b + j\rho) / \prod_{j<n} (1 - \rho + j\rho)`.
    The factors j = 0 share :math:`1-\rho`, which is taken out of them: it stays once where 0 < k < n.
    """
    from scipy.special import gammaln

    step = np.arange(1, n).reshape(-1, *(1,) * p.ndim)
    k = np.arange(n + 1).reshape(-1, *(1,) * p.ndim)
    with np.errstate(divide="ignore"):
        hits, misses = (_rising(np.log(q), np.log(q * (1 - rho) + step * rho)) for q in (p, 1 - p))
        users = _rising(np.zeros_like(p), np.log(1 - rho + step * rho))[-1]
        mixed = np.where((k > 0) & (k < n), np.log1p(-rho), 0.0)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + hits + misses[::-1] + mixed - users


def _rising(first: Floats, others: Floats) -> Floats:
    """Sum up logarithms of factors -> (number of factors from 0, ...)."""
    sums: Floats = np.cumsum(np.concatenate([np.zeros((1, *first.shape)), first[None], others]), axis=0)
    return sums


def _check(m: int, n: int) -> None:
    if not 1 <= m <= n:
        raise SettingError(f"{m}/{n}: expected at least M of N users with 1 <= M <= N", hint="for example 1/3")

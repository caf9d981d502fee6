r"""Rank correlations of every two of many vectors of scores at once, as products of matrices.

The variants b of ``correlation`` (and tau-a) count what two rankings share, and what they share is a sum of products:
over pairs of systems for Kendall's tau, over systems above one for tau-AP, over systems among the first d for
rank-biased overlap.  So a whole matrix of correlations is a product of matrices, ten times faster than pair by pair.

x (..., vector, system) -> (..., vector, vector), symmetric.  NaN where a correlation is not defined, as there.
Cost: O(vector^2 system^2) in products of single precision (the counts are exact up to 2^24 pairs of systems); memory:
blocks over the leading axes, each at least (vector, system, system).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from venire.types import Floats

BLOCK_CELLS = 1 << 23
"""How many cells (vector x system x system) are held at a time."""


def kendall_tau_matrix(x: Floats, *, variant: Literal["b", "a"] = "b") -> Floats:
    """Kendall's tau of every two vectors."""
    return _in_blocks(partial(_tau, variant=variant), x)


def tau_ap_matrix(x: Floats) -> Floats:
    """Tau-AP, variant b, of every two vectors."""
    return _in_blocks(_tau_ap, x)


def rbo_matrix(x: Floats, *, p: float = 0.9) -> Floats:
    """Rank-biased overlap, variant b, of every two vectors."""
    return _in_blocks(partial(_rbo, p=p), x)


def _in_blocks(kernel: Callable[[Floats], Floats], x: Floats) -> Floats:
    """Apply a kernel of (draw, vector, system) to leading axes of any shape, a block of draws at a time."""
    n_vectors, n = x.shape[-2:]
    flat = x.reshape(prod(x.shape[:-2]), n_vectors, n)
    answer = np.full((len(flat), n_vectors, n_vectors), np.nan)
    step = max(1, BLOCK_CELLS // max(n_vectors * n * n, 1))
    for begin in range(0, len(flat) if n > 1 else 0, step):
        part = flat[begin : begin + step]
        known = np.logical_not(np.isnan(part).any(axis=-1))
        both = known[:, :, None] & known[:, None, :]
        answer[begin : begin + step] = np.where(both, kernel(part), np.nan)
    return answer.reshape(*x.shape[:-1], n_vectors)


def _signs(x: Floats) -> NDArray[np.float32]:
    """Which of two systems is better, +1 or -1, or 0 for a tie -> (draw, vector, pair of systems)."""
    n = x.shape[-1]
    signs = np.empty((*x.shape[:-1], n * (n - 1) // 2), dtype=np.float32)
    end = 0
    for system in range(n - 1):
        begin, end = end, end + n - 1 - system
        own, others = x[..., system, None], x[..., system + 1 :]
        signs[..., begin:end] = others > own
        signs[..., begin:end] -= others < own
    return signs


def _tau(x: Floats, *, variant: str) -> Floats:
    signs = _signs(x)
    balance = (signs @ signs.swapaxes(-1, -2)).astype(np.float64)
    if variant == "a":
        return balance / signs.shape[-1]
    untied = np.diagonal(balance, axis1=-2, axis2=-1)
    whole = np.sqrt(untied[:, :, None] * untied[:, None, :])
    return np.divide(balance, whole, out=np.full(balance.shape, np.nan), where=whole > 0)


def _tau_ap(x: Floats) -> Floats:
    above = (x[..., None, :] > x[..., :, None]).astype(np.float32)
    n_above = above.sum(axis=-1).astype(np.float64)
    by_system = above.swapaxes(-3, -2)
    right = (by_system @ by_system.swapaxes(-1, -2)).astype(np.float64)
    share = np.divide(1.0, n_above, out=np.zeros(n_above.shape), where=n_above > 0)
    n_walked = np.count_nonzero(n_above, axis=-1)[:, None, :]
    walked = np.einsum("disr,dri->dsr", right, share)
    walked = 2 * np.divide(walked, n_walked, out=np.full(walked.shape, np.nan), where=n_walked > 0) - 1
    return (walked + walked.swapaxes(-1, -2)) / 2


def _rbo(x: Floats, *, p: float) -> Floats:
    n = x.shape[-1]
    above = x[..., None, :] > x[..., :, None]
    top = np.count_nonzero(above, axis=-1)[..., None]
    tied = n - top - np.count_nonzero(above, axis=-2)[..., None]
    among = np.clip((np.arange(1, n + 1) - top) / tied, 0.0, 1.0).swapaxes(-2, -1)
    among /= np.sqrt((among * among).sum(axis=-1, keepdims=True))
    weight = (1 - p) * p ** np.arange(n)
    weight[-1] += p**n
    by_depth = (among * np.sqrt(weight)[:, None]).reshape(*x.shape[:-1], n * n)
    return by_depth @ by_depth.swapaxes(-1, -2)

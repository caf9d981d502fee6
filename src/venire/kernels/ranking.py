"""Sums over ranked gains from which rank measures are computed.

Everywhere: gains (..., slot), fractions between 0 and 1 where a probability is meant; rank broadcasts against gains
and ascends along the slots; the answer is (...).  A slot without gain adds nothing, so only judged documents need
slots.  Cost: a few passes over the slots.
"""

from __future__ import annotations

import numpy as np

from venire.types import Bools, Floats, Ints


def share(part: Floats, whole: Floats) -> Floats:
    """Divide; 0 where there is nothing to divide by, as in trec_eval for topics without relevant documents."""
    return np.divide(part, whole, out=np.zeros(np.broadcast_shapes(part.shape, whole.shape)), where=whole > 0)


def before(values: Floats) -> Floats:
    """Sum of the values at better ranks -> same shape."""
    return values.cumsum(axis=-1) - values


def none_before(gains: Floats) -> Floats:
    """Probability that nothing at better ranks is relevant -> same shape."""
    unseen = np.ones_like(gains)
    np.cumprod(1 - gains[..., :-1], axis=-1, out=unseen[..., 1:])
    return unseen


def precisions(gains: Floats, rank: Ints) -> Floats:
    """Sum over relevant documents of the precision at their rank: sum_r g_r (1 + sum_{j<r} g_j) / r.

    For independent relevances with probabilities g this is the expectation of that sum.
    """
    return (gains * (1 + before(gains)) / rank).sum(axis=-1)


def stopping(gains: Floats, rank: Ints) -> Floats:
    """Expected 1/rank at which a user stops who is satisfied by each document with probability g."""
    return (none_before(gains) * gains / rank).sum(axis=-1)


def any_relevant(gains: Floats) -> Floats:
    """Probability that at least one document is relevant."""
    return 1 - (1 - gains).prod(axis=-1)


def discounted(gains: Floats, discount: Floats) -> Floats:
    """Sum of gains by discount (slot weights that broadcast against gains)."""
    return (gains * discount).sum(axis=-1)


def preferred(gains: Floats, judged: Bools, relevant: Floats, other: Floats) -> Floats:
    """Sum over relevant documents of 1 - min(judged irrelevant above, R) / min(R, N); relevant R, other N (...)."""
    above = before(np.where(judged, 1 - gains, 0.0))
    bound = np.minimum(relevant, other)[..., None]
    return (gains * (1 - share(np.minimum(above, relevant[..., None]), bound))).sum(axis=-1)


def graded_precisions(gains: Floats, rank: Ints) -> Floats:
    """Sum over ranks k of (1/k) sum_{l<=k} min(g_l, g_k), by thresholds: one pass per distinct gain."""
    total = np.zeros(gains.shape[:-1])
    lower = 0.0
    for threshold in np.unique(gains[gains > 0]).tolist():
        total += (threshold - lower) * precisions((gains >= threshold).astype(np.float64), rank)
        lower = threshold
    return total


def blended_ratios(gains: Floats, rank: Ints, ideal: Floats, beta: float) -> Floats:
    """Sum over documents with gain of (count + beta cg) / (rank + beta ideal cg at that rank); ideal (..., rank)."""
    relevant = (gains > 0).astype(np.float64)
    reached = np.minimum(np.broadcast_to(rank, gains.shape), ideal.shape[-1]) - 1
    best = np.take_along_axis(np.broadcast_to(ideal, (*gains.shape[:-1], ideal.shape[-1])), reached, axis=-1)
    ratio = (relevant.cumsum(axis=-1) + beta * gains.cumsum(axis=-1)) / (rank + beta * best)
    return (relevant * ratio).sum(axis=-1)

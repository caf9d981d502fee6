r"""Spread: how sure a share of pairs is.

With h of n pairs a hit in an item (or a topic), the share is p = sum h / sum n, and three things make it uncertain:

    sd          :math:`\sqrt{p(1-p)/N}`, as Demeester et al. (2015), Section 5.2.2, print it: N independent pairs
    sd_items    :math:`\sqrt{\sum (h - pn)^2} / N` over items: under Eq. (5) an item enters twice
    sd_topics   the spread over resampled topics: what people disagree on depends on the topic

The interval is Wilson's (1927, doi:10.1080/01621459.1927.10502953) on the effective number of pairs
:math:`n_e = p(1-p)/sd^2`, with Student's t in place of the normal and as many degrees of freedom as there are
effective clusters, less one; the sd is that of topics where there are ten or more, else that of items.  With a prior,
the effective counts are those of a Beta posterior (a Dirichlet over labels, the same weight for each) and the interval
is its.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.counts import PairSums
from venire.kernels.resample import resampled_sums, topic_weights
from venire.types import Bools, Floats, Ints

LEVEL = 0.95
FEW_TOPICS = 10
FEW_PAIRS = 50
"""Below this many pairs a number is bracketed, as in Demeester et al. (2014), Section 7."""


class Spread(NamedTuple):
    """Shares and how sure they are, all (relevant, label); NaN where a label has no pairs."""

    p: Floats
    hits: Floats
    pairs: Floats
    sd: Floats
    sd_items: Floats
    sd_topics: Floats
    low: Floats
    high: Floats


def spread_of(sums: PairSums, relevant: Bools, *, prior: float, n_draws: int, rng: np.random.Generator) -> Spread:
    """Estimate shares of relevant second labels, and their spread, from sums of pairs; relevant (relevant, label).

    Cost: one product of (draw, topic) and (topic, label x label).
    """
    n, h = _counts(sums.by_topic.sum(axis=0), relevant)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = h / n
        sd = np.sqrt(p * (1 - p) / n)
        items = np.sqrt(np.maximum(sums.hits - 2 * p * sums.cross + p * p * sums.square, 0)) / n
        items = items * np.sqrt(sums.n_items / (sums.n_items - 1))
        topics = _over_topics(sums.by_topic, relevant, n_draws, rng)
        n_topics = n_topics_of(sums)
        by_topics = n_topics >= FEW_TOPICS
        clusters = n * n / (_squares_by_topic(sums.by_topic) if by_topics else sums.square)
        widest = topics * np.sqrt(n_topics / (n_topics - 1)) if by_topics else items
        low, high, centre = _interval(p, n, widest, clusters, relevant, prior)
    return Spread(centre, h, n, sd, items, topics, low, high)


def _counts(pairs: Floats, relevant: Bools) -> tuple[Floats, Floats]:
    """Pairs and hits from counts (..., first, second) -> both (..., relevant, label)."""
    hits = np.einsum("...ij,rj->...ri", pairs, relevant.astype(np.float64))
    return np.broadcast_to(pairs.sum(axis=-1)[..., None, :], hits.shape), hits


def n_topics_of(sums: PairSums) -> int:
    """How many topics have pairs."""
    return int((sums.by_topic.sum(axis=(1, 2)) > 0).sum())


def _squares_by_topic(by_topic: Floats) -> Floats:
    return (by_topic.sum(axis=2) ** 2).sum(axis=0)


def _over_topics(by_topic: Floats, relevant: Bools, n_draws: int, rng: np.random.Generator) -> Floats:
    """Standard deviation of the share over resampled topics; topics without pairs are never drawn."""
    there = by_topic[by_topic.sum(axis=(1, 2)) > 0]
    if len(there) < 2 or n_draws < 2:
        return np.full((len(relevant), by_topic.shape[1]), np.nan)
    n, h = _counts(resampled_sums(there, topic_weights(len(there), n_draws, rng)), relevant)
    p = np.where(n > 0, h / np.where(n > 0, n, 1), np.nan)
    some = (~np.isnan(p)).sum(axis=0)
    mean = np.nansum(p, axis=0) / some
    return np.sqrt(np.nansum((p - mean) ** 2, axis=0) / (some - 1))


def _interval(
    p: Floats, n: Floats, sd: Floats, clusters: Floats | Ints, relevant: Bools, prior: float
) -> tuple[Floats, Floats, Floats]:
    """Interval and centre: Wilson's on effective counts, or that of the Beta posterior where there is a prior."""
    from scipy.special import betaincinv, stdtrit

    clusters = np.broadcast_to(np.maximum(clusters, 1), p.shape)
    effective = np.where((sd > 0) & (p > 0) & (p < 1), p * (1 - p) / (sd * sd), clusters)
    effective = np.minimum(effective, n)
    tail = (1 - LEVEL) / 2
    if prior > 0:
        n_relevant = relevant.sum(axis=1, keepdims=True)
        effective, share = np.where(n > 0, effective, 0.0), np.where(n > 0, p, 0.0)
        a = share * effective + prior * n_relevant
        b = (1 - share) * effective + prior * (relevant.shape[1] - n_relevant)
        return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail), a / (a + b)
    t2 = stdtrit(np.maximum(clusters - 1, 1), 1 - tail) ** 2
    centre = (p + t2 / (2 * effective)) / (1 + t2 / effective)
    half = np.sqrt(t2 * (p * (1 - p) / effective + t2 / (4 * effective**2))) / (1 + t2 / effective)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0), p

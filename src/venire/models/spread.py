r"""Spread: how sure a share of pairs is.

With h of n pairs a hit in an item (or a topic), the share is p = sum h / sum n, and three things make it uncertain:

    sd          :math:`\sqrt{p(1-p)/N}`, as Demeester et al. (2015), Section 5.2.2, print it: N independent pairs
    sd_items    :math:`\sqrt{\sum (h - pn)^2} / N` over items: under Eq. (5) an item enters twice
    sd_topics   the spread over resampled topics: what people disagree on depends on the topic

The interval is Wilson's (1927, doi:10.1080/01621459.1927.10502953) on the effective number of pairs
:math:`n_e = p(1-p)/sd^2`, never more than there are, with Student's t in place of the normal.  Where there are ten
topics or more, the sd is that of topics: the bootstrap's, or the jackknife's (leaving out each topic in turn) if that
is larger, as it is where a few topics have most of the pairs; with fewer topics it is that of items.  Degrees of
freedom are the effective number of topics (or items) less one, :math:`(\sum n)^2 / \sum n^2 - 1`.  At p = 0 or 1, where
no spread is seen, the pairs of a topic (or item) are taken to be as much alike as those of the other labels are: with
the largest of their intra-class correlations :math:`\rho` and m pairs in a topic, :math:`n_e = N / (1 + (m - 1)\rho)`
(Kish 1965).  Where no other label tells, :math:`\rho = 1`.

On simulated collections the interval covers 94 to 96 times in 100 where a share rests on 20 topics or more of like
size, however much they differ.  It covers less, down to 88 in 100, where a share is below .03 and its hits come from a
handful of topics.  With fewer than ten topics it does not know that topics differ.

With a prior, the effective counts are those of a Beta posterior (a Dirichlet over labels, the same weight for each) and
the interval is its; that one does not know how few the topics are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.counts import PairSums
from venire.kernels.resample import FEW_TOPICS, resampled_sums, topic_weights
from venire.types import Bools, Floats

LEVEL = 0.95
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
    there = sums.by_topic[sums.by_topic.sum(axis=(1, 2)) > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = h / n
        sd = np.sqrt(p * (1 - p) / n)
        items = _over_items(sums, p, n)
        topics = _over_topics(there, relevant, n_draws, rng)
        if len(there) >= FEW_TOPICS:
            widest = np.fmax(topics * np.sqrt(len(there) / (len(there) - 1)), _jackknife(there, relevant))
            clusters = n * n / (there.sum(axis=2) ** 2).sum(axis=0)
        else:
            widest, clusters = items, n * n / sums.square
        low, high, centre = _interval(p, n, widest, clusters, relevant, prior)
    return Spread(centre, h, n, sd, items, topics, low, high)


def _counts(pairs: Floats, relevant: Bools) -> tuple[Floats, Floats]:
    """Pairs and hits from counts (..., first, second) -> both (..., relevant, label)."""
    hits = np.einsum("...ij,rj->...ri", pairs, relevant.astype(np.float64))
    return np.broadcast_to(pairs.sum(axis=-1)[..., None, :], hits.shape), hits


def n_topics_of(sums: PairSums) -> int:
    """How many topics have pairs."""
    return int((sums.by_topic.sum(axis=(1, 2)) > 0).sum())


def _over_items(sums: PairSums, p: Floats, n: Floats) -> Floats:
    """Standard deviation of the share if items are drawn anew; NaN where one item has all the pairs."""
    squares = np.maximum(sums.hits - 2 * p * sums.cross + p * p * sums.square, 0)
    sd = np.sqrt(squares * sums.n_items / np.maximum(sums.n_items - 1, 1)) / n
    return np.where(sums.n_items > 1, sd, np.nan)


def _over_topics(by_topic: Floats, relevant: Bools, n_draws: int, rng: np.random.Generator) -> Floats:
    """Standard deviation of the share over resampled topics, all of which have pairs; NaN where one topic has all."""
    if len(by_topic) < 2 or n_draws < 2:
        return np.full((len(relevant), by_topic.shape[1]), np.nan)
    sd = sd_of_draws(shares(resampled_sums(by_topic, topic_weights(len(by_topic), n_draws, rng)), relevant))
    return np.where((by_topic.sum(axis=2) > 0).sum(axis=0) > 1, sd, np.nan)


def shares(pairs: Floats, relevant: Bools) -> Floats:
    """Share of pairs that end in a relevant label, from counts (..., first, second) -> (..., relevant, label)."""
    n, h = _counts(pairs, relevant)
    return np.where(n > 0, h / np.where(n > 0, n, 1), np.nan)


def sd_of_draws(drawn: Floats) -> Floats:
    """Standard deviation over draws (draw, ...), those left out that are NaN; NaN where fewer than two are left."""
    n = (~np.isnan(drawn)).sum(axis=0)
    mean = np.nansum(drawn, axis=0) / np.maximum(n, 1)
    variance = np.nansum((drawn - mean) ** 2, axis=0) / np.maximum(n - 1, 1)
    return np.where(n > 1, np.sqrt(variance), np.nan)


def _jackknife(by_topic: Floats, relevant: Bools) -> Floats:
    """Standard deviation of the share by leaving out each topic in turn; NaN where one topic has all pairs."""
    n, h = _counts(by_topic, relevant)
    without = (h.sum(axis=0) - h) / (n.sum(axis=0) - n)
    away = without - h.sum(axis=0) / n.sum(axis=0)
    sd: Floats = np.sqrt((len(by_topic) - 1) / len(by_topic) * (away * away).sum(axis=0))
    return sd


def _interval(
    p: Floats, n: Floats, sd: Floats, clusters: Floats, relevant: Bools, prior: float
) -> tuple[Floats, Floats, Floats]:
    """Interval and centre: Wilson's on effective counts, or that of the Beta posterior where there is a prior."""
    from scipy.special import betaincinv, stdtrit

    clusters = np.broadcast_to(np.maximum(clusters, 1), p.shape)
    effective = np.minimum(_effective(p, n, sd, clusters), n)
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


def _effective(p: Floats, n: Floats, sd: Floats, clusters: Floats) -> Floats:
    """Effective number of pairs -> (relevant, label); where no spread is seen, with the correlation of other labels."""
    seen = (sd > 0) & (p > 0) & (p < 1)
    size = n / clusters
    correlation = (sd * sd * n / (p * (1 - p)) - 1) / (size - 1)
    known = seen & (n >= FEW_PAIRS) & (size > 1)
    largest = np.where(known, np.clip(correlation, 0, 1), -1).max(axis=1, keepdims=True)
    correlation = np.where(largest < 0, 1.0, largest)
    return np.where(seen, p * (1 - p) / (sd * sd), n / (1 + (size - 1) * correlation))

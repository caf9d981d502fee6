r"""Spread: how sure a share of pairs is.

With h of n pairs a hit in an item (or a topic), the share is p = sum h / sum n, and three things make it uncertain:

    sd          :math:`\sqrt{p(1-p)/N}`, as Demeester et al. (2015), Section 5.2.2, print it: N independent pairs
    sd_items    :math:`\sqrt{\sum (h - pn)^2} / N` over items: under Eq. (5) an item enters twice
    sd_topics   the spread over resampled topics: what people disagree on depends on the topic

The interval is Wilson's (1927, doi:10.1080/01621459.1927.10502953) on the effective number of pairs
:math:`n_e = p(1-p)/s^2`, never more than there are, with Student's t in place of the normal.  s is the standard error
of the jackknife, which leaves out each topic in turn, or that of the bootstrap over topics if it is larger.  Below ten
topics the bootstrap is too narrow, and s is that of the jackknife, or of items if it is larger.  Degrees of freedom are
the effective number of topics less one, :math:`(\sum n)^2 / \sum n^2 - 1`, but at least 1: with few topics t is large,
and the interval wide.  A label whose pairs are all of one topic has no interval, since nothing is known of others.

At p = 0 or 1, where no spread is seen, the pairs of a topic are taken to be as much alike as those of the other labels
are: with the largest of their intra-class correlations :math:`\rho` and m pairs in a topic,
:math:`n_e = N / (1 + (m - 1)\rho)` (Kish 1965).  Where no other label tells, and below ten topics, :math:`\rho = 1`:
every topic counts as one pair.  Below ten topics t is then that of the normal, as no spread was estimated.

On simulated collections whose topics differ in what is relevant and in how far people agree, the interval covers 95 to
100 times in 100 at 3 and 5 topics, and 93 to 99 times from 9 topics on (``tests/simulation/test_few_topics.py``).  It
covers less, down to 88 in 100, where a share is below .03 and its hits come from a handful of many topics.

With a prior, p is the mean of a Beta posterior (a Dirichlet over labels, the same weight for each) given all pairs, and
the interval is that of a Beta distribution with this mean and :math:`n_e (z/t)^2` pairs besides the prior's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.clustered_shares import KNOWN
from venire.kernels.label_pairs import PairSums
from venire.kernels.resampling import FEW_TOPICS, resampled_sums, topic_weights
from venire.types import Bools, Floats

LEVEL = 0.95
ROUNDING = 1e-9
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
    few = len(there) < FEW_TOPICS
    with np.errstate(divide="ignore", invalid="ignore"):
        p = h / n
        sd = np.sqrt(p * (1 - p) / n)
        items = _over_items(sums, p, n)
        topics = _over_topics(there, relevant, n_draws, rng)
        other = items if few else topics * np.sqrt(len(there) / (len(there) - 1))
        clusters = n * n / (there.sum(axis=2) ** 2).sum(axis=0)
        effective = _effective(p, n, np.fmax(_jackknife(there, relevant), other), clusters, few=few)
        freedom = np.where(few & ((p <= 0) | (p >= 1)), KNOWN, np.fmax(clusters - 1, 1))
        low, high, centre = _interval(Weighed(p, n, effective, freedom), relevant, prior)
        if prior == 0:
            low, high = (np.where(clusters > 1 + ROUNDING, end, np.nan) for end in (low, high))
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
    sd = sd_of_draws(pair_shares(resampled_sums(by_topic, topic_weights(len(by_topic), n_draws, rng)), relevant))
    return np.where((by_topic.sum(axis=2) > 0).sum(axis=0) > 1, sd, np.nan)


def pair_shares(pairs: Floats, relevant: Bools) -> Floats:
    """Share of pairs that end in a relevant label, from counts (..., first, second) -> (..., relevant, label)."""
    n, h = _counts(pairs, relevant)
    return np.where(n > 0, h / np.where(n > 0, n, 1), np.nan)


def sd_of_draws(drawn: Floats) -> Floats:
    """Standard deviation over draws (draw, ...), those left out that are NaN; NaN where fewer than two are left."""
    n = (~np.isnan(drawn)).sum(axis=0)
    mean = np.nansum(drawn, axis=0) / np.maximum(n, 1)
    variance = np.nansum((drawn - mean) ** 2, axis=0) / np.maximum(n - 1, 1)
    return np.where(n > 1, np.sqrt(variance), np.nan)


def left_out(by_topic: Floats, relevant: Bools) -> Floats:
    """Shares without each topic in turn -> (topic, relevant, label); NaN where one topic has all pairs."""
    return pair_shares(by_topic.sum(axis=0) - by_topic, relevant)


def _jackknife(by_topic: Floats, relevant: Bools) -> Floats:
    """Standard error of the share by leaving out each topic in turn; NaN where one topic has all pairs."""
    away = left_out(by_topic, relevant) - pair_shares(by_topic.sum(axis=0), relevant)
    sd: Floats = np.sqrt((1 - 1 / max(len(by_topic), 1)) * (away * away).sum(axis=0))
    return sd


class Weighed(NamedTuple):
    """Shares p of n pairs, as many independent pairs as they are worth, degrees of freedom; all (relevant, label)."""

    p: Floats
    n: Floats
    effective: Floats
    freedom: Floats


def _interval(found: Weighed, relevant: Bools, prior: float) -> tuple[Floats, Floats, Floats]:
    """Interval and centre: Wilson's on effective counts, or that of the Beta posterior where there is a prior."""
    from scipy.special import betaincinv, ndtri, stdtrit

    p, n, effective, freedom = found
    tail = (1 - LEVEL) / 2
    t2 = stdtrit(freedom, tail) ** 2
    if prior > 0:
        n_relevant = relevant.sum(axis=1, keepdims=True)
        centre = (np.where(n > 0, p * n, 0.0) + prior * n_relevant) / (n + prior * relevant.shape[1])
        counts = np.where(n > 0, effective * ndtri(tail) ** 2 / t2, 0.0) + prior * relevant.shape[1]
        a, b = centre * counts, (1 - centre) * counts
        return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail), centre
    centre = (p + t2 / (2 * effective)) / (1 + t2 / effective)
    half = np.sqrt(t2 * (p * (1 - p) / effective + t2 / (4 * effective**2))) / (1 + t2 / effective)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0), p


def _effective(p: Floats, n: Floats, sd: Floats, clusters: Floats, *, few: bool) -> Floats:
    """Effective number of pairs -> (relevant, label); where no spread is seen, with the correlation of other labels."""
    seen = (sd >= 0) & (p > 0) & (p < 1)
    size = n / clusters
    correlation = (sd * sd * n / (p * (1 - p)) - 1) / (size - 1)
    known = seen & (n >= FEW_PAIRS) & (size > 1) & (not few)
    largest = np.where(known, np.clip(correlation, 0, 1), -1).max(axis=1, keepdims=True)
    correlation = np.where(largest < 0, 1.0, largest)
    return np.minimum(np.where(seen, p * (1 - p) / (sd * sd), n / (1 + (size - 1) * correlation)), n)

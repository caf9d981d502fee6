r"""Shares of pairs of labels that end in a relevant label, and their confidence intervals.

With h of n pairs a hit in an item (or a topic), the share is p = sum h / sum n, and three standard errors differ in
what varies:

    sd          :math:`\sqrt{p(1-p)/N}`, as Demeester et al. (2015), Section 5.2.2, print it: N independent pairs
    sd_items    :math:`\sqrt{\sum (h - pn)^2} / N` over items: under Eq. (5) an item enters twice
    sd_topics   the standard deviation over resampled topics, since disagreement depends on the topic

The interval is Wilson's (1927, doi:10.1080/01621459.1927.10502953) on the effective number of pairs
:math:`n_e = p(1-p)/s^2`, at most the number of pairs, with Student's t in place of the normal quantile.  s is the
standard error of the jackknife over topics, or that of the bootstrap over topics if it is larger.  Below ten topics the
bootstrap is too narrow, and s is that of the jackknife, or of items if it is larger.  Degrees of freedom are the
effective number of topics less one, :math:`(\sum n)^2 / \sum n^2 - 1`, but at least 1.  A label whose pairs are all of
one topic has no interval, since nothing is known of other topics.

At p = 0 or 1, where no spread is observed, the pairs of a topic are taken to be as correlated as those of the other
labels: with the largest of their intra-class correlations :math:`\rho` and m pairs in a topic,
:math:`n_e = N / (1 + (m - 1)\rho)` (Kish 1965).  Without such a label, and below ten topics, :math:`\rho = 1`: every
topic counts as one pair.  Below ten topics t is then that of the normal, as no spread was estimated.

On simulated collections whose topics differ in what is relevant and in how far people agree, the interval covers 95 to
100 times in 100 at 3 and 5 topics, and 93 to 99 times from 9 topics on (``tests/simulation/test_few_topics.py``).  It
covers less, down to 88 in 100, where a share is below .03 and its hits come from a handful of many topics.

With a prior, p is the mean of a Beta posterior (a Dirichlet over labels, the same weight for each) given all pairs, and
the interval is that of a Beta distribution with this mean and :math:`n_e (z/t)^2` pairs besides the prior's.

Clustered shares have any kind of cases (preferences, predictions) with topics as clusters.  To first order the variance
is :math:`s^2 = \frac{T}{T-1} \sum_t (h_t - p n_t)^2 / N^2`; the interval is as above.  Where no spread over topics is
observed (p is 0 or 1, or one topic has all), every topic counts as one case, with the normal quantile.

A *double judgment* is two labels of one item.  Let q be the share of double judgments that are (a, b), and r whether
label i is relevant.  Over m of them the share varies, to first order, as :math:`E(h - pn)^2 / (m (E n)^2)`; one-sided
(Demeester et al. 2015, Eq. 4) and mirrored (Eq. 5, where both labels come first once) that is

.. math:: \frac{1}{m} \frac{p(1-p)}{q_i}, \qquad
          \frac{1}{m} \left[ \frac{p(1-p)}{2 q_i} + \frac{q_{ii} (r - p)^2}{2 q_i^2} \right]

with :math:`q_i = \sum_b q_{ib}`.  The last term arises because two labels i on one item are two dependent pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.label_pairs import PairSums
from venire.randomness import FEW_TOPICS, resampled_sums, topic_weights
from venire.types import Bools, Floats, Ints

CONFIDENCE = 0.95
Z95 = 1.959963984540054
"""Quantile of the normal distribution for two-sided 95 % limits."""
FEW_PAIRS = 50
"""Below this many pairs a number is bracketed, as in Demeester et al. (2014), Section 7."""
ROUNDING = 1e-9
NORMAL = 1e9
"""Degrees of freedom at which Student's t is the normal distribution."""


def shares_and_pairs(counts: Floats, relevant: Bools) -> tuple[Floats, Floats]:
    """Shares of relevant second labels, and numbers of pairs; NaN where there is no pair.

    counts (..., first, second), relevant (relevant, label) -> both (..., relevant, label)
    """
    n, hits = _pairs_and_hits(counts, relevant)
    return np.where(n > 0, hits / np.where(n > 0, n, 1.0), np.nan), n


def shares(counts: Floats, relevant: Bools) -> Floats:
    """Shares of relevant second labels; counts (..., first, second), relevant (relevant, label) -> (..., ., label)."""
    return shares_and_pairs(counts, relevant)[0]


def _pairs_and_hits(counts: Floats, relevant: Bools) -> tuple[Floats, Floats]:
    """Numbers of pairs and hits from counts (..., first, second) -> both (..., relevant, label)."""
    hits = np.einsum("...ij,rj->...ri", counts, relevant.astype(np.float64))
    return np.broadcast_to(counts.sum(axis=-1)[..., None, :], hits.shape), hits


def wilson(p: Floats, n: Ints | Floats, z2: Floats | float = Z95 * Z95) -> tuple[Floats, Floats]:
    """Wilson's limits of a share p of n cases, by default at 95 %; z2: the square of the quantile.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0]), np.array([2]))
    >>> (low.round(3).tolist(), high.round(3).tolist())
    ([0.0], [0.658])
    """
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def largest_variance(low: Floats, high: Floats) -> Floats:
    """The largest p(1 - p) for p from low to high.

    For sample sizes: an estimate of 0 of 2 has no variance, and would ask for the fewest cases where least is known.
    """
    p = np.clip(0.5, low, high)
    return p * (1 - p)


def clustered_shares(hits: Floats, cases: Floats, *, confidence: float = CONFIDENCE) -> tuple[Floats, Floats, Floats]:
    """Shares and their intervals; NaN where there is no case: hits, cases (topic, ...) -> p, low, high (...)."""
    from scipy.special import stdtrit

    n, n_topics = cases.sum(axis=0), (cases > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = hits.sum(axis=0) / n
        variance = ((hits - p * cases) ** 2).sum(axis=0) / (n * n) * n_topics / (n_topics - 1)
        clusters = n * n / (cases * cases).sum(axis=0)
        varies = (p > 0) & (p < 1) & (n_topics > 1)
        effective = np.where(varies, np.minimum(p * (1 - p) / variance, n), clusters)
        freedom = np.where(varies, np.maximum(clusters - 1, 1), NORMAL)
        t2 = stdtrit(np.where(np.isnan(freedom), 1.0, freedom), (1 + confidence) / 2) ** 2
        return p, *wilson(p, effective, t2)


class Spread(NamedTuple):
    """Shares and their uncertainty, all (relevant, label); NaN where a label has no pairs."""

    p: Floats
    hits: Floats
    pairs: Floats
    sd: Floats
    sd_items: Floats
    sd_topics: Floats
    low: Floats
    high: Floats


def spread_of(sums: PairSums, relevant: Bools, *, prior: float, n_draws: int, rng: np.random.Generator) -> Spread:
    """Estimate shares of relevant second labels and their uncertainty from sums of pairs; relevant (relevant, label).

    Cost: one product of (draw, topic) and (topic, relevant x label).
    """
    by_topic = sums.by_topic[sums.by_topic.sum(axis=(1, 2)) > 0]
    cases, hits = _pairs_and_hits(by_topic, relevant)
    n, h = cases.sum(axis=0), hits.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sd, items = np.sqrt(h / n * (1 - h / n) / n), _over_items(sums, h / n, n)
        found = _evidence(hits, cases, items, n_draws, rng)
        low, high, centre = _interval(found, relevant, prior)
    return Spread(centre, h, n, sd, items, found.sd_topics, low, high)


def limits_over_topics(
    hits: Floats, cases: Floats, items: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Ends of intervals as those of ``spread_of``: hits, cases (topic, ..., label) -> low, high (..., label).

    items: the standard error over items (..., label).  Cost: one product of (draw, topic) and (topic, ... x label).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _evidence(hits, cases, items, n_draws, rng)
        low, high, _ = _interval(found, np.zeros((1, cases.shape[-1]), dtype=np.bool_), prior=0.0)
    return low, high


class _Evidence(NamedTuple):
    """What an interval takes, all (..., label); clusters: the effective number of topics."""

    p: Floats
    n: Floats
    sd_topics: Floats
    effective: Floats
    freedom: Floats
    clusters: Floats


def _evidence(hits: Floats, cases: Floats, items: Floats, n_draws: int, rng: np.random.Generator) -> _Evidence:
    """Find the effective number of pairs of each label: hits, cases (topic, ..., label), items (..., label)."""
    n = cases.sum(axis=0)
    p = hits.sum(axis=0) / n
    n_topics = (cases.sum(axis=-1) > 0).sum(axis=0)[..., None]
    few = n_topics < FEW_TOPICS
    topics = _over_topics(hits, cases, n_draws, rng)
    other = np.where(few, items, topics * np.sqrt(n_topics / (n_topics - 1)))
    clusters = n * n / (cases * cases).sum(axis=0)
    effective = _effective(p, n, np.fmax(_jackknife(hits, cases, n_topics), other), clusters, few)
    freedom = np.where(few & ((p <= 0) | (p >= 1)), NORMAL, np.fmax(clusters - 1, 1))
    return _Evidence(p, n, topics, effective, freedom, clusters)


def n_topics_of(sums: PairSums) -> int:
    """Number of topics that have pairs."""
    return int((sums.by_topic.sum(axis=(1, 2)) > 0).sum())


def _over_items(sums: PairSums, p: Floats, n: Floats) -> Floats:
    """Standard error of the share over items; NaN where one item has all the pairs."""
    squares = np.maximum(sums.hits - 2 * p * sums.cross + p * p * sums.square, 0)
    sd = np.sqrt(squares * sums.n_items / np.maximum(sums.n_items - 1, 1)) / n
    return np.where(sums.n_items > 1, sd, np.nan)


def _over_topics(hits: Floats, cases: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Standard deviation of the share over resampled topics; NaN where one topic has all pairs."""
    if len(cases) < 2 or n_draws < 2:
        return np.full(cases.shape[1:], np.nan)
    weights = topic_weights(len(cases), n_draws, rng)
    n = resampled_sums(cases, weights)
    sd = sd_of_draws(np.where(n > 0, resampled_sums(hits, weights) / np.where(n > 0, n, 1.0), np.nan))
    return np.where((cases > 0).sum(axis=0) > 1, sd, np.nan)


def sd_of_draws(drawn: Floats) -> Floats:
    """Standard deviation over draws (draw, ...), ignoring NaN; NaN where fewer than two remain."""
    n = (~np.isnan(drawn)).sum(axis=0)
    mean = np.nansum(drawn, axis=0) / np.maximum(n, 1)
    variance = np.nansum((drawn - mean) ** 2, axis=0) / np.maximum(n - 1, 1)
    return np.where(n > 1, np.sqrt(variance), np.nan)


def leave_one_topic_out(by_topic: Floats, relevant: Bools) -> Floats:
    """Shares without each topic in turn -> (topic, relevant, label); NaN where one topic has all pairs."""
    return shares(by_topic.sum(axis=0) - by_topic, relevant)


def _jackknife(hits: Floats, cases: Floats, n_topics: Ints) -> Floats:
    """Standard error of the share by the jackknife over topics; NaN where one topic has all pairs."""
    h, n = hits.sum(axis=0), cases.sum(axis=0)
    away = (h - hits) / (n - cases) - h / n
    sd: Floats = np.sqrt((1 - 1 / np.maximum(n_topics, 1)) * (away * away).sum(axis=0))
    return sd


def _interval(found: _Evidence, relevant: Bools, prior: float) -> tuple[Floats, Floats, Floats]:
    """Interval and centre: Wilson's on effective counts, or that of the Beta posterior where there is a prior."""
    from scipy.special import betaincinv, ndtri, stdtrit

    p, n, _, effective, freedom, clusters = found
    tail = (1 - CONFIDENCE) / 2
    t2 = stdtrit(freedom, tail) ** 2
    if prior == 0:
        low, high = (np.where(clusters > 1 + ROUNDING, end, np.nan) for end in wilson(p, effective, t2))
        return low, high, p
    weight = prior * relevant.shape[1]
    centre = (np.where(n > 0, p * n, 0.0) + prior * relevant.sum(axis=1, keepdims=True)) / (n + weight)
    counts = np.where(n > 0, effective * ndtri(tail) ** 2 / t2, 0.0) + weight
    a, b = centre * counts, (1 - centre) * counts
    return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail), centre


def _effective(p: Floats, n: Floats, sd: Floats, clusters: Floats, few: Bools) -> Floats:
    """Effective number of pairs -> (..., label); without observed spread, from the correlation of other labels."""
    seen = (sd >= 0) & (p > 0) & (p < 1)
    size = n / clusters
    correlation = (sd * sd * n / (p * (1 - p)) - 1) / (size - 1)
    known = seen & (n >= FEW_PAIRS) & (size > 1) & ~few
    largest = np.where(known, np.clip(correlation, 0, 1), -1).max(axis=-1, keepdims=True)
    correlation = np.where(largest < 0, 1.0, largest)
    return np.minimum(np.where(seen, p * (1 - p) / (sd * sd), n / (1 + (size - 1) * correlation)), n)


def annotation_rounds(
    counts: Floats, sizes: Ints, n_rounds: int, *, mirrored: bool, rng: np.random.Generator
) -> Floats:
    """Draw a growing number of double judgments with replacement, round by round, and count their pairs.

    counts (first, second); sizes (step,), ascending -> counts (round, step, first, second).  mirrored: both labels of a
    double judgment come first once.  Cost: O(rounds x steps x labels^2), whatever their number.
    """
    share = counts.ravel() / counts.sum()
    steps = np.diff(sizes, prepend=0)
    drawn = np.stack([rng.multinomial(size, share, size=n_rounds) for size in steps.tolist()], axis=1)
    grown = drawn.cumsum(axis=1).reshape(n_rounds, len(sizes), *counts.shape).astype(np.float64)
    return grown + grown.swapaxes(-1, -2) if mirrored else grown


def variance_per_judgment(counts: Floats, p: Floats, relevant: Bools, *, mirrored: bool) -> Floats:
    """Variance of a share estimated from one double judgment; that of m of them is 1/m of it.

    counts (first, second); p, relevant (relevant, label) -> (relevant, label); NaN where a label has no pairs.
    """
    q = counts / counts.sum()
    of_label = q.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if not mirrored:
            return p * (1 - p) / of_label
        return p * (1 - p) / (2 * of_label) + np.diag(q) * (relevant - p) ** 2 / (2 * of_label**2)

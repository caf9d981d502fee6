r"""Effects: how large the difference between two systems is, with intervals, for many pairs at once.

Over n topics with differences of mean m and standard deviation s (n - 1):

    difference       m; Student's interval :math:`m \pm t_{n-1} s / \sqrt n`, and that of the studentised bootstrap
                     (Efron and Tibshirani 1993, Chapter 12), from :math:`m - t^*_{high} s / \sqrt n` to
                     :math:`m - t^*_{low} s / \sqrt n`
    standardised     :math:`g = J m / s`, Cohen's d of paired data with Hedges' (1981, doi:10.3102/10769986006002107)
                     correction :math:`J = \Gamma(\nu/2) / (\sqrt{\nu/2}\, \Gamma((\nu-1)/2))`, :math:`\nu = n - 1`.
                     The interval is for the population's mean over its standard deviation, by the noncentral t
    superiority      share of topics on which a is better, ties half: the probability that a beats b on a new topic.
                     Wilson's interval (1927, doi:10.1080/01621459.1927.10502953), if anything too wide with ties

A standardised difference says how clear a difference is, not how much a user gains; sd is that of these topics.  It is
NaN where all differences are the same, and for two topics, where J is 0, g is 0.  A bootstrap interval is NaN where so
many resamples have no spread that it would be infinite: with four topics or fewer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.kernels.paired_tests import Differences, extreme_t
from venire.kernels.resampling import topic_weights
from venire.types import Floats, Ints

N_RESAMPLES = 2_000


@dataclass(frozen=True, eq=False)
class Effects:
    """Sizes of the difference and their intervals, all (pair,); NaN where not known."""

    delta: Floats
    low: Floats
    high: Floats
    boot_low: Floats
    boot_high: Floats
    effect: Floats
    effect_low: Floats
    effect_high: Floats
    superiority: Floats
    superiority_low: Floats
    superiority_high: Floats
    wins: Ints
    ties: Ints
    losses: Ints


def effects_of(
    differences: Differences, *, level: float = 0.95, n_resamples: int = N_RESAMPLES, rng: np.random.Generator
) -> Effects:
    """Measure how large differences are.  Cost: O(resamples x topics x pairs), as matrix products."""
    wins = (differences.value > 0).sum(axis=0)
    losses = (differences.value < 0).sum(axis=0)
    ties = differences.n - wins - losses
    weights = topic_weights(len(differences.value), n_resamples, rng)
    return Effects(
        differences.mean,
        *student_interval(differences, level=level),
        *bootstrap_interval(differences, weights, level=level),
        *standardised(differences, level=level),
        *superiority(wins + ties / 2, differences.n, level=level),
        wins,
        ties,
        losses,
    )


def student_interval(differences: Differences, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Student's interval of the mean difference; NaN with fewer than two topics -> low, high, both (pair,)."""
    from scipy.special import stdtrit

    half = stdtrit(np.maximum(differences.n - 1.0, 1), (1 + level) / 2) * differences.sd / _root(differences)
    return differences.mean - half, differences.mean + half


def bootstrap_interval(differences: Differences, weights: Floats, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Interval of the mean difference from resampled topics: weights (draw, topic) -> low, high, both (pair,).

    Each end is missing (NaN) where it would be infinite.
    """
    low, high = extreme_t(differences, weights, tail=(1 - level) / 2)
    ends = np.stack([differences.mean - high * _se(differences), differences.mean - low * _se(differences)])
    ends[:, ~np.isfinite(ends).all(axis=0)] = np.nan
    return ends[0], ends[1]


def standardised(differences: Differences, *, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Standardised difference, corrected for few topics, and its interval -> three of (pair,)."""
    from scipy.special import nctdtrinc

    root, spread = _root(differences), np.flatnonzero(~differences.without_spread)
    t, df, tail = differences.t[spread], (differences.n[spread] - 1).astype(np.float64), (1 - level) / 2
    found = np.full((3, len(root)), np.nan)
    found[:, spread] = correction(df) * t, nctdtrinc(df, 1 - tail, t), nctdtrinc(df, tail, t)
    effect, low, high = found / root
    return effect, low, high


def correction(df: Floats) -> Floats:
    """Hedges' factor J, by which a standardised difference of few topics is too large; df (...) -> (...).

    Examples
    --------
    >>> correction(np.array([1.0, 9.0, 52.0])).round(4).tolist()
    [0.0, 0.9139, 0.9855]
    """
    from scipy.special import gammaln

    half = np.maximum(df, 2) / 2
    return np.where(df < 2, 0.0, np.exp(gammaln(half) - gammaln(half - 0.5) - np.log(half) / 2))


def superiority(won: Floats, n: Ints, *, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Share of topics won, and Wilson's interval; NaN without topics: won, n (pair,) -> three of (pair,)."""
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    topics = np.where(n > 0, n, np.nan)
    share = won / topics
    centre = (share + z2 / (2 * topics)) / (1 + z2 / topics)
    half = np.sqrt(z2 * (share * (1 - share) / topics + z2 / (4 * topics**2))) / (1 + z2 / topics)
    return share, np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def _root(differences: Differences) -> Floats:
    return np.sqrt(np.maximum(differences.n, 1))


def _se(differences: Differences) -> Floats:
    """Standard error of the mean difference; NaN where differences are alike -> (pair,)."""
    return np.where(differences.without_spread, np.nan, differences.sd) / _root(differences)

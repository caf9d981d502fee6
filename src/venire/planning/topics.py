r"""Topic set size: the difference between two systems that a collection can detect, and the topics a difference needs.

Sakai's topic set size design (2016, doi:10.1007/s10791-015-9273-z) for the paired t-test.  With differences of mean
:math:`\delta` and standard deviation s over n topics, t follows the noncentral distribution with n - 1 degrees of
freedom and :math:`\lambda = \delta \sqrt n / s`, so that at level :math:`\alpha` the power is

.. math:: P(|T_{n-1, \lambda}| \ge t_{n-1, 1-\alpha/2})

    detectable_difference   the :math:`\delta` at which power reaches what is asked, for these n topics
    topics_needed           the least n with that power for a given :math:`\delta`

Both are computed from the noncentral t itself, not from an approximation to it.  s is estimated from the scores of this
collection and is uncertain itself: with 10 topics, its 95 % interval is .7 to 1.8 times as much.  So ``needed_high``
takes s at the upper end of its 95 % interval, :math:`s \sqrt{(n-1) / \chi^2_{n-1,.025}}`.  Where k pairs are tested and
the family-wise error rate is controlled, ``comparisons=k`` divides the level as Bonferroni does, which is the level of
the first step of Holm's adjustment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.comparison.tests import Pairs, paired_scores
from venire.errors import SettingError
from venire.measures.scores import Scores
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats, Ints

ALPHA = 0.05
POWER = 0.8
MANY = 10**6
"""From this many topics on, t is approximated by the normal distribution."""


@dataclass(frozen=True, eq=False)
class TopicPlan(Tabular):
    """Power of a topic set: a, b (pair,) number ``systems``; n_topics, delta, sd, detectable, needed (pair,).

    detectable: the smallest difference found with this power; needed: topics for ``difference``, or where that is None
    for the observed difference of the pair; needed_high: with s at the upper end of its 95 % interval.  NaN or infinite
    where there is no answer.
    """

    systems: tuple[str, ...]
    measure: str
    a: Ints
    b: Ints
    n_topics: Ints
    delta: Floats
    sd: Floats
    detectable: Floats
    needed: Floats
    difference: float | None
    alpha: float
    power: float
    needed_high: Floats
    comparisons: int = 1

    @property
    def median_detectable(self) -> float:
        """The smallest difference found for the median pair; NaN without pairs."""
        return _median(self.detectable)

    @property
    def median_needed(self) -> float:
        """Topics that the median pair needs; infinite where it would never be found."""
        return _median(self.needed)

    def records(self) -> Records:
        """Return one row per pair; None where there is no answer."""
        names = ("a", "b", "topics", "delta", "sd", "detectable", "topics_needed", "topics_needed_high")
        pairs = ([self.systems[number] for number in side] for side in (self.a, self.b))
        numbers = (self.delta, self.sd, self.detectable, self.needed, self.needed_high)
        columns = ([value if np.isfinite(value) else None for value in each.tolist()] for each in numbers)
        rows = zip(*pairs, self.n_topics.tolist(), *columns, strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def sentence(self) -> str:
        """Return the detectable difference and the number of topics that are needed, for the median pair."""
        if np.isnan(self.median_detectable):
            return "No two systems have two topics or more in common, so nothing can be planned from their scores."
        sought = "the observed difference" if self.difference is None else f"a difference of {self.difference:g}"
        needed, most = (
            f"{int(np.ceil(each)):,}" if np.isfinite(each) else "infinitely many"
            for each in (self.median_needed, _median(self.needed_high))
        )
        return (
            f"With {counted(int(np.median(self.n_topics)), 'topic')} a paired t-test at level "
            f"{self.alpha / self.comparisons:.3g} detects a difference of {self.median_detectable:.4f} in "
            f"{self.measure} with power {self.power:g}, and {sought} needs {needed} topics (up to {most} within the "
            f"95% interval of the standard deviation), for the median of {counted(len(self.a), 'pair')}."
        )


def plan_topics(
    scores: Scores,
    measure: str | None = None,
    *,
    difference: float | None = None,
    pairs: Pairs = None,
    alpha: float = ALPHA,
    power: float = POWER,
    comparisons: int = 1,
) -> TopicPlan:
    """Plan the number of topics by the spread of scores over topics, for each pair of systems.

    difference: how large a difference must be found; None: the observed one of each pair.  pairs: as in
    compare_systems.
    """
    from scipy.special import chdtri

    paired = paired_scores(scores, measure, pairs=pairs)
    seen = paired.differences
    sought = np.abs(seen.mean) if difference is None else np.full(len(seen.n), float(difference))
    setting: dict[str, Any] = {"alpha": alpha, "power": power, "comparisons": comparisons}
    freedom = np.maximum(seen.n - 1, 1)
    largest_sd = np.where(seen.n > 1, seen.sd * np.sqrt(freedom / chdtri(freedom, 0.975)), np.inf)
    needed, needed_high = (topics_needed(sought, sd, **setting) for sd in (seen.sd, largest_sd))
    detectable = detectable_difference(seen.sd, seen.n, **setting)
    numbers = paired.a, paired.b, seen.n, seen.mean, seen.sd, detectable, needed
    return TopicPlan(paired.systems, paired.measure, *numbers, difference, alpha, power, needed_high, comparisons)


def power_of(difference: Floats, sd: Floats, n_topics: Ints, *, alpha: float = ALPHA, comparisons: int = 1) -> Floats:
    """Return the power of the two-sided paired t-test; arguments broadcast.

    Examples
    --------
    >>> round(float(power_of(0.5, 1.0, 34)), 4)
    0.8078
    """
    n = np.asarray(n_topics, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        noncentral = np.abs(difference) / np.asarray(sd, dtype=np.float64) * np.sqrt(n)
    return _power(noncentral, n, _level(alpha, comparisons))


def detectable_difference(
    sd: Floats, n_topics: Ints, *, alpha: float = ALPHA, power: float = POWER, comparisons: int = 1
) -> Floats:
    """Return the smallest difference found with this power; NaN with fewer than two topics.  Arguments broadcast."""
    level = _level(alpha, comparisons, power)
    n = np.asarray(n_topics, dtype=np.float64)
    different, which = np.unique(np.maximum(n, 2.0), return_inverse=True)
    noncentral = _noncentral(different, level, power)[which].reshape(n.shape)
    return np.where(n < 2, np.nan, noncentral * np.asarray(sd) / np.sqrt(np.maximum(n, 1)))


def topics_needed(
    difference: Floats, sd: Floats, *, alpha: float = ALPHA, power: float = POWER, comparisons: int = 1
) -> Floats:
    """Return the least number of topics with this power, at least two; infinite for a difference of 0.  Broadcasts.

    Examples
    --------
    >>> float(topics_needed(0.5, 1.0))
    34.0
    """
    from scipy.special import ndtri

    level = _level(alpha, comparisons, power)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(difference) / np.asarray(sd, dtype=np.float64)
        z = ndtri(1 - level / 2)
        normal = np.ceil(((z + ndtri(power)) / size) ** 2 + z * z / 2)
    found = np.where(np.isnan(size), np.nan, normal)
    search = normal < MANY
    found[search] = _least(size[search], normal[search], level, power)
    return found


def _least(size: Floats, near: Floats, level: float, power: float) -> Floats:
    """Find the least number of topics, step by step from numbers near it, for all sizes at once."""

    def enough(which: Ints, n: Floats) -> Bools:
        return _power(size[which] * np.sqrt(n), n, level) >= power

    found, active = np.maximum(near, 2.0), np.arange(len(size))
    step = np.where(enough(active, found), -1.0, 1.0)
    active = active[(step > 0) | (found > 2)]
    while len(active):
        down, then = step[active] < 0, found[active] + step[active]
        reached = enough(active, then)
        found[active] = np.where(down & ~reached, found[active], then)
        active = active[np.where(down, reached & (then > 2), ~reached)]
    return found


def _noncentral(n: Floats, level: float, power: float) -> Floats:
    """Find the noncentrality at which the power is reached, by bisection: n (...) -> (...)."""
    low, high = np.zeros(n.shape), np.ones(n.shape)
    while (short := _power(high, n, level) < power).any():
        high = np.where(short, 2 * high, high)
    for _ in range(60):
        middle = (low + high) / 2
        enough = _power(middle, n, level) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _power(noncentral: Floats, n: Floats, level: float) -> Floats:
    """Return the probability that |t| reaches its critical value; NaN with fewer than two topics."""
    from scipy.special import nctdtr, stdtrit

    df = np.maximum(n - 1, 1)
    critical = stdtrit(df, 1 - level / 2)
    certain = np.isinf(noncentral)
    shift = np.where(certain, 0.0, noncentral)
    # scipy gives NaN for some probabilities that are practically 0: t far below its noncentrality.
    below, far_below = (np.nan_to_num(nctdtr(df, shift, each)) for each in (critical, -critical))
    return np.where(n < 2, np.nan, np.where(certain, 1.0, 1 - below + far_below))


def _level(alpha: float, comparisons: int, power: float = POWER) -> float:
    """Return the level of each test; refuse settings out of range."""
    if not 0 < alpha < 1 or comparisons < 1 or not alpha < power < 1:
        message = f"level {alpha:g} for {comparisons} tests with power {power:g}"
        raise SettingError(message, hint="expected 0 < level < power < 1, and one test or more; 0.05 and 0.8 are usual")
    return alpha / comparisons


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")

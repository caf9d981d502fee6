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

``plan_more_topics`` forecasts what m topics besides the n at hand will show, the topics at hand being part of the test.
That is the predictive power (Spiegelhalter et al. 1986, Controlled Clinical Trials 7): the true difference is not
the one observed, d, but :math:`d + s\, t_{n-1} / \sqrt n`, so that t of all n + m topics is about

.. math:: \sqrt{n + m}\, d / s + \sqrt{m / n}\; T_{n-1}

Sakai's design takes d as the true difference and n + m new topics.  It needs fewer topics where d is large by chance.

Without runs it forecasts the half-width of the mean difference of two systems (``planning.new_systems``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.comparison.tests import PairedScores, Pairs, paired_scores
from venire.errors import SettingError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import RunsLike
from venire.kernels.paired_tests import Differences
from venire.measures.evaluate import evaluate
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike
from venire.planning.new_systems import NewSystems
from venire.planning.result import DECIDED, DECIDED_WITH, JUDGE, UNDECIDABLE, Expected, Plan, check_within, enough
from venire.planning.shares import budgets
from venire.results import Note, Records, Tabular, counted, first_few
from venire.types import Bools, Floats, Ints, RNGLike

ALPHA = 0.05
POWER = 0.8
WITHIN = 0.05
"""Half-width that decides the goal where there are no runs."""
TOPICS_MOST = 64
"""A forecast goes up to so many times the budget of topics."""
SIGNIFICANT = "differences that are significant"
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


def plan_more_topics(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    *,
    budget: float,
    measure: MeasureLike = "nDCG@10",
    pair: tuple[str, str] | None = None,
    alpha: float = ALPHA,
    comparisons: int = 1,
    within: float | None = None,
    rng: RNGLike = 0,
    **scoring: Any,
) -> Plan:
    """Forecast what more topics will show: whether two systems differ significantly, by the paired t-test.

    Parameters
    ----------
    judgments, runs, measure, scoring : as ``evaluate`` takes them
    runs : None: there are none yet.  The forecast is then how far the mean difference of any two systems will be known
    budget : how many topics may be added
    pair : names of two systems; None: every two, and the goal is decided where 80 % of these pairs are significant
    alpha, comparisons : level of the tests, divided by the number of comparisons
    within : without runs, the goal is decided where the interval of the mean difference of two systems has at most this
        half-width; None: 0.05

    Returns
    -------
    Plan : without judgments to ask, as the topics are yet to be made.  p_decided is the probability that the pair is
        significant, of several the expected share of them; half_width that of the mean difference, the median pair's.
        Without runs p_decided is the probability that the half-width of a pair of systems is at most ``within``

    Notes
    -----
    When not to use this: where the labels are in doubt.  More topics with the same assessors tell what these assessors
    would say of other topics, not what other people say.

    Examples
    --------
    >>> labels = {f"q{t}": {f"d{n}": (n * t) % 7 // 3 for n in range(30)} for t in range(20)}
    >>> plan = plan_more_topics(labels, budget=50)
    >>> [note.kind for note in plan.notes], {round(each.budget) for each in plan.forecast} >= {25, 50, 100}
    (['topics-at-hand', 'no-runs'], True)
    """
    if not 1 <= budget < np.inf or budget != round(budget):
        raise SettingError(f"a budget of {budget:g} topics", hint="expected a whole number, one or more")
    level = _level(alpha, comparisons)
    if runs is None:
        if pair is not None:
            raise SettingError(f"systems {first_few(pair, 2)} without runs", hint="name the runs, or no systems")
        half_width = WITHIN if within is None else within
        return _without_runs(judgments, measure, budget, half_width, rng=rng, **scoring)
    if within is not None:
        message = "with runs, topics are enough where differences are significant, whatever their half-width"
        raise SettingError(message, hint="leave out the half-width, or the runs")
    return _of_runs(evaluate(judgments, runs, measure, **scoring), budget, pair, level)


def _of_runs(scores: Scores, budget: float, pair: tuple[str, str] | None, level: float) -> Plan:
    """Forecast which differences between systems will be significant."""
    paired = paired_scores(scores, pairs=None if pair is None else [pair])
    seen, what = paired.differences, f"the mean difference in {paired.measure}"
    goal = "topics" if pair is None else f"topics:{','.join(pair)}"
    if not (seen.n > 1).any():
        hint = "score two systems on the same topics, two or more"
        raise SettingError("no two systems have two topics or more in common, so nothing can be forecast", hint=hint)
    different = (seen.n > 1) & ~same_scores(seen)
    if not different.any():
        outcome = "The systems have the same score on every topic."
        return Plan(goal, budget, (), (), what, state=UNDECIDABLE, outcome=outcome)
    several, n_same = len(different) > 1, int(same_scores(seen).sum())
    forecast = tuple(_expected(seen, each, level) for each in _numbers(budget))
    now = _expected(seen, 0.0, level)
    decided, n = now.p_decided >= DECIDED_WITH, int(different.sum())
    notes = [_at_hand(len(paired.topics)), *([_of_pairs(n, now)] if several else []), *_left_out(n_same)]
    return Plan(
        goal,
        budget,
        (),
        forecast,
        what,
        enough(forecast),
        DECIDED if decided else JUDGE,
        notes=tuple(notes),
        outcome=("" if several else _ahead(paired, now.half_width)) if decided else "",
        share=SIGNIFICANT if several else "",
    )


def _without_runs(
    judgments: JudgmentsLike,
    measure: MeasureLike,
    budget: float,
    within: float,
    *,
    rng: RNGLike,
    **scoring: Any,
) -> Plan:
    """Forecast the half-width of the mean difference of two systems that did not run yet."""
    check_within(within, below=np.inf)
    new = NewSystems.of(as_judgments(judgments), measure, rng=np.random.default_rng(rng), **scoring)
    forecast = tuple(new.expected(each, within) for each in _numbers(budget))
    now = new.expected(0.0, within)
    decided = now.p_decided >= DECIDED_WITH
    outcome = f"With the {counted(new.n_topics, 'topic')} at hand a half-width of {within:g} is expected with "
    outcome += f"probability {now.p_decided:.2f}."
    what = f"the mean difference of two systems in {new.measure}"
    return Plan(
        "topics",
        budget,
        (),
        forecast,
        what,
        enough(forecast),
        DECIDED if decided else JUDGE,
        notes=(_at_hand(new.n_topics), _no_runs(new)),
        outcome=outcome if decided else "",
    )


def _numbers(budget: float) -> list[float]:
    """Numbers of topics of a forecast."""
    return sorted({float(max(round(each), 1)) for each in budgets(budget, TOPICS_MOST * budget)})


def _at_hand(n: int) -> Note:
    return Note("topics-at-hand", "budgets are numbers of topics besides the {n:topic} at hand", n=n)


def _no_runs(new: NewSystems) -> Note:
    template = (
        "there are no runs, so the forecast rests on what is usual for such labels: per topic, the difference of two "
        "systems has a standard deviation of about {sd:.3f}, for half of all pairs between {low:.3f} and {high:.3f}"
    )
    low, high = new.between()
    return Note("no-runs", template, sd=new.sd, low=low, high=high)


def _left_out(n: int) -> list[Note]:
    text = "left out, since the two systems have the same score on every topic: {n:pair}"
    return [Note("same-scores", text, n=n)] if n else []


def _ahead(paired: PairedScores, half_width: float) -> str:
    """Say which of two systems is ahead, with the interval of the difference."""
    mean = float(paired.differences.mean[0])
    first, second = paired.names(0) if mean > 0 else paired.names(0)[::-1]
    low, high = abs(mean) - half_width, abs(mean) + half_width
    return f"{first} is ahead of {second} by {abs(mean):.4f} (95% interval {low:.4f} to {high:.4f})."


def _of_pairs(n: int, now: Expected) -> Note:
    template = "probabilities are the expected share of significant differences of {n:pair}; now it is {share:.2f}"
    return Note("share-of-pairs", template, n=n, share=now.p_decided)


def _expected(seen: Differences, more: float, level: float) -> Expected:
    """Forecast the share of pairs that are significant at a level, and the median half-width of 95 % intervals."""
    from scipy.special import stdtrit

    total = seen.n + more
    critical = stdtrit(np.maximum(total - 1, 1), 1 - ALPHA / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.where(seen.n > 1, critical * seen.sd / np.sqrt(total), np.nan)
    p = predictive_power(seen.mean, seen.sd, seen.n, more, alpha=level)
    p, half = (np.where(same_scores(seen), np.nan, each) for each in (p, half))
    return Expected(float(more), float(np.nanmean(p)), _median(half))


def same_scores(seen: Differences) -> Bools:
    """Whether two systems have the same score on every topic -> (pair,)."""
    return (seen.sd == 0) & (seen.mean == 0)


def predictive_power(
    difference: Floats, sd: Floats, n_topics: Ints, more: Floats | float, *, alpha: float = ALPHA, comparisons: int = 1
) -> Floats:
    """Return the probability that the paired t-test is significant with more topics besides those at hand.

    Arguments broadcast; NaN with fewer than two topics, and 0 where all differences are 0.

    Examples
    --------
    >>> predictive_power(0.05, 0.2, 50, np.array([0, 50, 500])).round(2).tolist()
    [0.0, 0.7, 0.9]
    """
    from scipy.special import stdtr, stdtrit

    n, total = np.asarray(n_topics, dtype=np.float64), np.asarray(n_topics, dtype=np.float64) + more
    critical = stdtrit(np.maximum(total - 1, 1), 1 - _level(alpha, comparisons) / 2)
    df = np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(np.asarray(difference) == 0, 0.0, np.abs(difference) / np.asarray(sd) * np.sqrt(total))
        spread = np.sqrt(more / n)
        far, wrong = ((side * critical - shift) / spread for side in (1, -1))
        later = 1 - stdtr(df, far) + stdtr(df, wrong)
    found = np.where(np.isinf(shift), 1.0, np.where(spread > 0, later, shift >= critical))
    return np.where(n < 2, np.nan, np.where((np.asarray(difference) == 0) & (np.asarray(sd) == 0), 0.0, found))


def power_of(difference: Floats, sd: Floats, n_topics: Ints, *, alpha: float = ALPHA, comparisons: int = 1) -> Floats:
    """Return the power of the two-sided paired t-test, 0 where all differences are 0; arguments broadcast.

    Examples
    --------
    >>> round(float(power_of(0.5, 1.0, 34)), 4)
    0.8078
    """
    n = np.asarray(n_topics, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        noncentral = np.abs(difference) / np.asarray(sd, dtype=np.float64) * np.sqrt(n)
    found = _power(noncentral, n, _level(alpha, comparisons))
    return np.where((np.asarray(difference) == 0) & (np.asarray(sd) == 0) & (n >= 2), 0.0, found)


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

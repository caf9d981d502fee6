r"""Agreement: which items to judge a second time, so that Krippendorff's alpha is known to within a half-width.

Items are drawn with equal probabilities, since alpha compares the labels of an item with all labels.  With m items of T
topics, :math:`\sigma^2` the variance of one item's contribution and :math:`\rho` the correlation of those of a topic,
the standard deviation of alpha is

.. math:: sd^2(m, T) = \frac{A}{T} + \frac{v}{m}, \qquad A = \rho \sigma^2, \quad v = (1 - \rho) \sigma^2

as that of p(R|i) is (``disagreement.double_judgments``).  :math:`\sigma^2 / m` is the variance over resampled items at
present, and that over resampled topics is larger by the factor :math:`1 + (k - 1) \rho`, with k items in a topic (Kish
1965).  From few items per topic :math:`\rho` is hardly known, so its estimate and a prior of mean and standard
deviation .06 are weighted by their variances.  The variance of the estimate is
:math:`2 (1 - \rho)^2 (1 + (k - 1) \rho)^2 / (k (k - 1) (T - 1))` (Donner 1986, International Statistical Review 54).

The half-width is :math:`t_{T-1}\, sd`, at most 1, since intervals end at -1 and 1.  It will be an estimate from T
topics, and :math:`\sigma` is one from the :math:`T_0` at present, so its logarithm is taken as normal with the variance
:math:`\frac{1}{2(T - 1)} + \frac{1}{2(T_0 - 1)}` of the logarithm of two standard deviations.

Without double judgments a second assessor is assumed who gives the same label with some probability and else one at
random.  If the distance of two random labels has the mean D and the mean square Q, and x is the probability of a random
label, alpha is 1 - x and, to first order, :math:`\sigma^2 = xQ/D^2 - x^2`.  x is .4, :math:`\rho` the mean of its
prior, and the logarithm of the half-width has the standard deviation .25 in place of that by :math:`T_0`.

For pairs of judges of TREC Deep Learning 2021, :math:`\rho` has the mean .08 and the standard deviation .04, for parts
of the crowd labels of TREC 2010 Relevance Feedback .04 and .03.  With the prior between them, with x and the spread
above, forecasts come true as ``bench/plan_agreement.py`` shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from venire.agreement.alpha import alpha
from venire.agreement.distance import DISTANCES, label_values
from venire.agreement.intervals import Coefficient
from venire.data.asked import SECOND
from venire.data.assessors import last_labels
from venire.data.label_pairs import judged_by_two
from venire.disagreement.sampled_pairs import asked_later
from venire.io.judgments import JudgmentsLike
from venire.io.runs import RunsLike
from venire.kernels.shares import Z95
from venire.planning.earlier import n_drawn, own_draws
from venire.planning.result import DECIDED, JUDGE, UNDECIDABLE, Expected, Plan, check_within, costs, enough
from venire.planning.second_judgments import Candidates, affordable, asked, candidates, sampled
from venire.planning.shares import budgets
from venire.planning.time import expected_minutes
from venire.results import Note
from venire.types import RNGLike

GOAL, WHAT = "agreement", "Krippendorff's alpha"
CORRELATION = 0.06
"""Prior mean, and standard deviation, of the correlation within topics."""
USUAL, LOG_SPREAD = 0.6, 0.25
"""Alpha where it has no interval yet, and the standard deviation of the logarithm of the half-width that it leaves."""


def plan_agreement(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    *,
    budget: float,
    batch: float | None = None,
    within: float = 0.05,
    judges: str | Sequence[str] | None = None,
    cost: Mapping[str, float] | None = None,
    rng: RNGLike = 0,
) -> Plan:
    """Choose items to be judged by a second person, so that Krippendorff's alpha is known to within a half-width.

    Parameters
    ----------
    judgments, runs, budget, batch, judges, cost : as in ``plan_labels``
    within : the goal is decided where the 95 % interval of alpha has at most this half-width

    Notes
    -----
    When not to use this: to score systems with double judgments; ``plan_labels`` needs fewer of them for that.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [(f"t{n % 20}", f"d{n}", "ann" if n % 2 else "bob", n % 7 // 3) for n in range(1000)]
    >>> labels = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    >>> plan = plan_agreement(labels, budget=100)
    >>> len(plan), {each.probability for each in plan.asked}, [note.kind for note in plan.notes]
    (100, {0.1}, ['no-interval-yet'])
    """
    check_within(within)
    found = candidates(judgments, runs, judges)
    generator = own_draws(rng, n_drawn(found.labels))
    notes = list(found.notes)
    price = costs(cost)[SECOND]
    n = affordable(price, len(found), notes, budget=budget, batch=batch)
    present = _known(found) or _assumed(found)
    state = DECIDED if present.half_width <= within else UNDECIDABLE if n == 0 else JUDGE
    if present.alpha is None and state == JUDGE:
        notes.append(
            Note(
                "no-interval-yet",
                "alpha has no interval yet, so the forecast assumes that it is about {alpha:g}",
                alpha=USUAL,
            )
        )
    if asked_later(found.labels) is not None:
        template = "second labels were asked for by the first ones, and alpha of such items is not that of all items"
        notes.append(Note("chosen-by-label", template))
    sizes = budgets(budget, len(found) * price)
    forecast = tuple(present.expected(size, min(size / price, len(found)), within) for size in sizes)
    rows = asked(found, *sampled(found, np.ones(len(found)), n, generator)) if state == JUDGE else ()
    needed, minutes = enough(forecast, len(found) * price), expected_minutes(found.labels, len(rows))
    return Plan(GOAL, budget, rows, forecast, WHAT, needed, state, minutes, tuple(notes), present.outcome())


class Present(NamedTuple):
    """Variance of the contribution of an item to alpha, and its correlation within topics; items, topics with pairs.

    by_topic: items to ask in each topic that has any.  alpha, half_width: at present; None and infinite where there is
    no interval.
    """

    variance: float
    correlation: float
    n_items: int
    n_topics: int
    by_topic: tuple[int, ...]
    alpha: float | None = None
    half_width: float = np.inf

    def outcome(self) -> str:
        """Say what alpha is at present."""
        if self.alpha is None:
            return "Alpha has no interval: it takes items of two topics or more with two labels."
        return f"Alpha is {self.alpha:.3f}, and its 95% interval has a half-width of {self.half_width:.3f}."

    def expected(self, budget: float, more: float, within: float) -> Expected:
        """Forecast the half-width with more second judgments."""
        from scipy.special import ndtr, stdtrit

        topics = max(self._topics(more), 2.0)
        n_items = max(self.n_items + more, topics)
        alike = self.correlation / topics + (1 - self.correlation) / n_items
        half_width = float(stdtrit(topics - 1, 0.975) * np.sqrt(self.variance * alike))
        known = 1 / (2 * (self.n_topics - 1)) if self.n_topics > 1 else LOG_SPREAD**2
        away = np.log(within / max(half_width, 1e-12)) / np.sqrt(1 / (2 * (topics - 1)) + known)
        return Expected(float(budget), float(ndtr(away)), min(half_width, 1.0))

    def _topics(self, more: float) -> float:
        """Expected number of topics with pairs: those at present, and others in the sample."""
        counts = np.array(self.by_topic, dtype=np.float64)
        total = counts.sum()
        drawn = np.minimum(more * counts / total, 1.0).sum() if total else 0.0
        return float(min(max(self.n_topics, drawn), max(len(counts), self.n_topics)))


def _known(found: Candidates) -> Present | None:
    """Estimate the variance from the present double judgments; None where there is no interval."""
    from scipy.special import stdtrit

    labels = last_labels(found.labels)
    twice = np.unique(labels.item[judged_by_two(labels.item, labels.assessor.codes)])
    in_topic = np.bincount(labels.items.topic[twice])
    n_items, n_topics = len(twice), int((in_topic > 0).sum())
    if n_topics < 2:
        return None
    by_topics, by_items = (alpha(labels, resample=units) for units in ("topics", "items"))
    half, of_items = _half_width(by_topics), (_half_width(by_items) / Z95) ** 2
    if by_topics.value is None or not np.isfinite(half + of_items):
        return None
    inflation = (half / float(stdtrit(n_topics - 1, 0.975))) ** 2 / of_items
    correlation = _correlation(inflation, float((in_topic**2).sum()) / n_items, n_topics)
    return Present(of_items * n_items, correlation, n_items, n_topics, _by_topic(found), by_topics.value, half)


def _correlation(inflation: float, size: float, n_topics: int) -> float:
    """Combine the estimate of the correlation within topics, from the inflation of the variance, with its prior."""
    prior = CORRELATION
    if size <= 1:
        return prior
    variance = 2 * ((1 - prior) * (1 + (size - 1) * prior)) ** 2 / (size * (size - 1) * (n_topics - 1))
    estimate, weight = (inflation - 1) / (size - 1), prior**2 / (prior**2 + variance)
    return float(np.clip(weight * estimate + (1 - weight) * prior, 0.0, 1.0))


def _half_width(found: Coefficient) -> float:
    """Return the half-width of an interval; infinite where there is none, or it has no width."""
    low, high = found.low, found.high
    return np.inf if low is None or high is None or high <= low else (high - low) / 2


def _assumed(found: Candidates) -> Present:
    """Take the variance with a usual alpha, where no item was judged twice."""
    labels = found.labels
    counts = np.bincount(labels.label, minlength=len(labels.scale)).astype(np.float64)
    distance = DISTANCES[labels.scale.measurement](label_values(labels.scale), counts)
    share = counts / max(counts.sum(), 1.0)
    mean, square = (float(share @ distance**power @ share) for power in (1, 2))
    ratio = square / mean**2 if mean > 0 else 1.0
    variance = (1 - USUAL) * (ratio - (1 - USUAL))
    return Present(variance, CORRELATION, 0, 0, _by_topic(found))


def _by_topic(found: Candidates) -> tuple[int, ...]:
    """Count the items to ask in each topic that has any."""
    counts = np.bincount(found.topic) if len(found) else np.zeros(0, dtype=np.int64)
    return tuple(counts[counts > 0].tolist())

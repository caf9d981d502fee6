r"""What a label is worth: which items to judge a second time, so that p(R|i) is known to within a half-width.

Demeester et al. (2015, doi:10.1007/s10791-015-9275-x) estimate p(R|i) from double judgments.  Labels differ in how many
they need, so items are drawn by their first label, all items of a label alike.  If :math:`m_i` items of label i are
judged again, the variances of p(R|i) have the least sum where :math:`m_i \propto \sqrt{p(1-p)}` (Neyman 1934), less the
pairs of labels that there are; p is the value of the largest p(1 - p) within its 95 % interval.  The lowest label is
left out once p(R|lowest) is negligible (Section 5.2.1).

How many pairs that makes, either label coming first (``disagreement.sampled_pairs``): with :math:`e_{ab}` the exposure
of two labels, :math:`q_i` the share of label i and r whether a label is relevant, the variance of p(R|i) is

.. math:: \frac{1}{q_i} \sum_b p(b|i) \frac{(r_b - p)^2}{e'_{ib}}, \qquad
          e'_{ii} = e_{ii} / 2, \quad e'_{ib} = e_{ib}

since two labels i on one item are two pairs that are the same; the effective number of pairs is p(1 - p) over that.
p(b|i) is that of the present pairs and of 6.4 more, of a second assessor who gives the same label with probability .08,
with .46 one at random among this label and its neighbours, and else any at random.  ``planning.shares`` draws what so
many pairs say.

A few pairs hardly tell how far topics differ in p(R|i), but the labels themselves do.  With :math:`\rho` the
intra-class correlation of whether a label is relevant, a share :math:`q_R` of labels, that of p(R|i) is log-normal
around

.. math:: \rho \, q_i^{-.18} \left( \frac{p(1-p)}{q_R (1-q_R)} \right)^{.46}

with a standard deviation of .46: larger for rare labels, and for shares far from 0 and 1.

The constants, and those of the prior of p(b|i), are the ones of highest marginal likelihood for pairs of NIST and 23
language models in TREC Deep Learning 2021 (``bench/label_spread.py``).  By half of the judges, the probabilities are
.09 and .04, and .45 and .48, the weight 7.1 and 5.7 pairs, the exponents -.14 and -.24, and .52 and .45, and the
standard deviation .42 and .52.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from venire.data.asked import SECOND
from venire.data.judgments import Judgments
from venire.data.label_pairs import judged_by_two
from venire.data.scale import Relevant, RelevantSets, relevant_sets
from venire.disagreement.double_judgments import lowest_labels
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.sampled_pairs import asked_later, exposures_of, first_labels
from venire.errors import PairsError
from venire.io.judgments import JudgmentsLike
from venire.io.runs import RunsLike
from venire.kernels.shares import largest_variance, limits_over_topics
from venire.planning.allocation import neyman
from venire.planning.earlier import n_drawn, own_draws
from venire.planning.result import DECIDED, JUDGE, UNDECIDABLE, Expected, Plan, check_within, costs, enough
from venire.planning.second_judgments import Candidates, affordable, asked, candidates, sampled
from venire.planning.shares import (
    P_GRID,
    Prior,
    TopicShares,
    budgets,
    correlations_like,
    expectations,
    half_widths,
    posterior,
    spread_over_topics,
)
from venire.planning.time import expected_minutes
from venire.results import Note
from venire.types import Bools, Codes, Floats, Ints, RNGLike

GOAL = "labels"
PRIOR, SAME, NEAR = 6.4, 0.08, 0.46
"""Weight of the prior of p(b|i), in pairs, and in it the probabilities that a second label is the same, or near."""
RARE, MIDDLE, LOG_SPREAD = 0.18, 0.46, 0.46
"""Exponents of the share of a label and of p(1 - p) in the correlation of p(R|i), and the spread of its logarithm."""
LEAST = 0.005
"""Least share of a label or of relevant labels that counts there."""
N_RESAMPLES = 200
"""Resamples of topics for each interval that is forecast."""


def plan_labels(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    *,
    budget: float,
    batch: float | None = None,
    within: float = 0.05,
    relevant: Relevant = None,
    judges: str | Sequence[str] | None = None,
    cost: Mapping[str, float] | None = None,
    rng: RNGLike = 0,
    again: bool = False,
) -> Plan:
    """Choose items to be judged by a second person, so that p(R|i) is known to within a half-width for every label.

    Parameters
    ----------
    judgments : labels; items with a label by one person are chosen from
    runs : choose from what they return among the first 10 results; None: from all items that are labelled
    budget : what may be spent, in the unit of ``cost``
    batch : how much of it to spend now; None: all
    within : the goal is decided where the 95 % interval of p(R|i) has at most this half-width for every label
    relevant : labels with which a user is satisfied, as in ``PredictedRelevance``; None: the top label
    judges : people who may be asked; None: those known.  An item is never given to one who labelled it
    cost : of a judgment by kind (``planning.costs``)
    again : choose from all items that are labelled, also those with two labels or more

    Notes
    -----
    When not to use this: to compare systems.  p(R|i) may be known well, and the systems still differ too little.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [(f"t{n % 20}", f"d{n}", "ann" if n % 2 else "bob", n % 7 // 3) for n in range(1000)]
    >>> labels = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    >>> plan = plan_labels(labels, budget=90)
    >>> len(plan), plan.what, sorted({each.judge for each in plan.asked})
    (90, 'p(2|i)', ['ann', 'bob'])
    """
    check_within(within)
    found = candidates(judgments, runs, judges, again=again)
    generator = own_draws(rng, n_drawn(found.labels))
    case = LabelPairs.of(found, relevant)
    notes = [*found.notes, *case.notes]
    price, n_most = costs(cost)[SECOND], int(case.available().sum())
    n = affordable(price, n_most, notes, budget=budget, batch=batch)
    sizes = budgets(budget, n_most * price)
    widths = case.half_widths([min(size / price, n_most) for size in sizes], generator)
    forecast = expectations(sizes, widths, within)
    widest = case.half_width()
    state = DECIDED if widest <= within else UNDECIDABLE if n == 0 else JUDGE
    rows = asked(found, *sampled(found, case.item_sizes(n), n, generator)) if state == JUDGE else ()
    needed = enough(forecast, n_most * price)
    if state == JUDGE and needed is None:
        notes.append(_not_enough(n_most, forecast[-1], within))
    names = case.relevant.names
    what = f"p({names[0]}|i)" if len(names) == 1 and "|" not in names[0] else "p(R|i)"
    if state == UNDECIDABLE and not again and not len(found):
        notes.append(Note("all-twice", "every item that counts has two labels or more; it can be asked again"))
    minutes = expected_minutes(found.labels, len(rows))
    outcome = f"The widest 95% interval of {what} has a half-width of {widest:.3f}."
    if not np.isfinite(widest):
        outcome = f"At least one label has no interval of {what}: it takes double judgments of two topics."
    return Plan(GOAL, budget, rows, forecast, what, needed, state, minutes, tuple(dict.fromkeys(notes)), outcome)


def _not_enough(available: int, last: Expected, within: float) -> Note:
    template = (
        "all {n:,} items that can be asked would decide it with probability {p:.2f} (half-width {half_width:.3f}, "
        "asked for: {within:g}): judge more topics, or accept a larger half-width"
    )
    return Note("not-enough-items", template, n=available, p=last.p_decided, half_width=last.half_width, within=within)


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Present pairs of labels and items to ask, for p(R|i): arrays (relevant, label), counts (topic, label).

    population: items to ask; by_topic: all labels; again, share (label,): items of a first label that were judged
    again, and its share of items, or of all labels where a label has no item to itself; unplanned: twice the double
    judgments that were not chosen by their label; counted (label,): labels whose p(R|i) is to be known; label
    (candidate,): that of each item to ask; ordered: whether labels have neighbours.
    """

    relevant: RelevantSets
    population: Ints
    by_topic: Ints
    fit: PredictedRelevanceFit | None
    again: Floats
    share: Floats
    unplanned: float
    counted: Bools
    label: Codes
    ordered: bool
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, found: Candidates, relevant: Relevant) -> LabelPairs:
        """Fit the present pairs, and count the items to ask."""
        labels, population = found.labels, found.by_topic()
        sets = relevant_sets(labels.scale, relevant)
        fit, notes = _fitted(labels, relevant)
        later = asked_later(labels)
        first = first_labels(labels, np.zeros(len(labels), dtype=np.bool_) if later is None else later)
        occurs = population.sum(axis=0) > 0
        if fit is not None:
            occurs |= fit.by_topic.sum(axis=(0, 2)) > 0
        low = _negligible(fit)
        occurs[0] &= not low
        by_topic = _labels_by_topic(labels)
        given = by_topic.sum(axis=0)
        of = given if ((first.items == 0) & (given > 0)).any() else first.items
        counts = first.again.astype(np.float64), of / max(of.sum(), 1), first.unplanned
        notes = [*notes, *low]
        return cls(sets, population, by_topic, fit, *counts, occurs, found.label, labels.scale.ordered, tuple(notes))

    def available(self) -> Ints:
        """Items to ask by label -> (label,)."""
        return np.where(self.counted, self.population.sum(axis=0), 0)

    def half_width(self) -> float:
        """Half-width of the widest interval at present; infinite where a label has none."""
        if self.fit is None:
            return np.inf
        half = (self.fit.spread.high - self.fit.spread.low)[:, self.counted] / 2
        return float(np.nan_to_num(half, nan=np.inf).max(initial=0.0))

    def allocation(self, n: float) -> Floats:
        """Numbers of items of each label that the least sum of variances takes -> (label,)."""
        have = self.effective(self.again).min(axis=0)
        return neyman(self._deviation(), have, self.available().astype(np.float64), n)

    def item_sizes(self, n: int) -> Floats:
        """Size of each candidate, by which it is drawn -> (candidate,)."""
        available = np.maximum(self.available(), 1)
        each = np.where(self.counted, np.maximum(self.allocation(n) / available, 1e-9), 0.0)
        return each[self.label]

    def half_widths(self, numbers: Sequence[float], rng: np.random.Generator) -> Floats:
        """Draw the half-width of the widest interval by number of second judgments -> (number, draw)."""
        again = [self.again + self.allocation(n) for n in numbers]
        total = np.stack([self.effective(each) for each in again])
        more = np.maximum(total - self.effective(self.again), 0.0).reshape(len(numbers), -1)
        expected = spread_over_topics(more, np.tile(self.population, (1, len(self.relevant.labels))))
        seed = int(rng.integers(1 << 62))  # the same topics are resampled for every budget
        limits = [partial(self._limits, times, seed) for times in map(self._pairs_per_effective_one, again)]
        drawn = half_widths(self._present(), expected, rng, self._priors(), limits)
        return drawn[:, :, np.tile(self.counted, len(self.relevant.labels))].max(axis=2, initial=0.0)

    def _limits(self, times: Floats, seed: int, hits: Floats, cases: Floats) -> tuple[Floats, Floats]:
        """Intervals as those of the fit: times (relevant, label), hits and cases (topic, draw, relevant x label)."""
        n = cases.sum(axis=0)
        p = np.divide(hits.sum(axis=0), n, out=np.zeros_like(n), where=n > 0)
        items = np.sqrt(np.divide(p * (1 - p), n, out=np.zeros_like(n), where=n > 0))
        by_label = (*n.shape[:1], *times.shape)
        low, high = limits_over_topics(
            times * hits.reshape(-1, *by_label),
            times * cases.reshape(-1, *by_label),
            items.reshape(by_label),
            N_RESAMPLES,
            np.random.default_rng(seed),
        )
        return low.reshape(n.shape), high.reshape(n.shape)

    def _pairs_per_effective_one(self, again: Floats) -> Floats:
        """Weighted number of pairs (``sampled_pairs``) over the effective one -> (relevant, label)."""
        exposure = exposures_of(again, self.share, self.unplanned)
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted = self.share / (self._rows() / exposure).sum(axis=1)
            return np.nan_to_num(weighted / self.effective(again), nan=1.0, posinf=1.0)

    def effective(self, again: Floats) -> Floats:
        """Effective number of pairs of each label, if so many items (label,) were judged again -> (relevant, label)."""
        rows = self._rows()
        r = self.relevant.labels.astype(np.float64)
        p = r @ rows.T
        exposure = exposures_of(again, self.share, self.unplanned) * (1 - np.eye(len(rows)) / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = (r[:, None, :] - p[:, :, None]) ** 2
            variance = np.where(rows > 0, rows * away / exposure, 0.0).sum(axis=2) / self.share
            return np.nan_to_num(p * (1 - p) / variance, nan=0.0, posinf=0.0)

    def _rows(self) -> Floats:
        """p(b|i) of the present pairs and a prior -> (label, label)."""
        counts = PRIOR * self._prior_rows()
        if self.fit is not None:
            counts = counts + self.fit.by_topic.sum(axis=0)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _prior_rows(self) -> Floats:
        """p(b|i) before there are pairs -> (label, label)."""
        place, share = np.arange(len(self.share)), np.maximum(self.share, LEAST)
        near = share * ((np.abs(place[:, None] - place) <= 1) | (not self.ordered))
        near, other = near / near.sum(axis=1, keepdims=True), share / share.sum()
        return np.asarray(SAME * np.eye(len(place)) + NEAR * near + (1 - SAME - NEAR) * other)

    def _priors(self) -> list[Prior]:
        """Prior of each share: topics differ in p(R|i) as they differ in the labels -> (relevant x label,)."""
        relevant, cases = self.relevant.labels.astype(np.float64), self.by_topic.sum(axis=1)
        found = []
        for each, means in zip(relevant, relevant @ self._prior_rows().T, strict=True):
            of_label = posterior(self.by_topic @ each, cases, Prior.vague()).sum(axis=0)
            among = np.clip(each @ self.share, LEAST, 1 - LEAST)
            middle = (P_GRID * (1 - P_GRID) / (among * (1 - among))) ** MIDDLE
            for mean, share in zip(means.tolist(), np.maximum(self.share, LEAST).tolist(), strict=True):
                correlation = correlations_like(of_label, share**-RARE * middle, LOG_SPREAD)
                found.append(Prior.around(mean, PRIOR, correlation))
        return found

    def _present(self) -> TopicShares:
        """Present hits and cases by topic, scaled to the effective number of pairs -> (topic, relevant x label)."""
        shape = len(self.population), self.relevant.labels.size
        if self.fit is None:
            return TopicShares(np.zeros(shape), np.zeros(shape))
        hits = np.einsum("tij,rj->tri", self.fit.by_topic, self.relevant.labels.astype(np.float64))
        cases = np.broadcast_to(self.fit.by_topic.sum(axis=2)[:, None], hits.shape)
        total = cases.sum(axis=0)
        factor = np.divide(self.effective(self.again), total, out=np.zeros_like(total), where=total > 0)
        return TopicShares((hits * factor).reshape(shape), (cases * factor).reshape(shape))

    def _deviation(self) -> Floats:
        """Largest standard deviation of one second label, p(R|i) within its interval -> (label,)."""
        if self.fit is None:
            return np.full(len(self.share), 0.5)
        low, high = np.nan_to_num(self.fit.spread.low, nan=0.0), np.nan_to_num(self.fit.spread.high, nan=1.0)
        found: Floats = np.sqrt(largest_variance(low, high)).max(axis=0)
        return found


def _labels_by_topic(labels: Judgments) -> Ints:
    """Count labels -> (topic, label)."""
    shape = len(labels.items.topics), len(labels.scale)
    cell = labels.items.topic[labels.item].astype(np.int64) * shape[1] + labels.label
    return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)


def _fitted(labels: Judgments, relevant: Relevant) -> tuple[PredictedRelevanceFit | None, list[Note]]:
    """Fit p(R|i) on the present pairs; None, with a note, where there are none or where they are not valid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return PredictedRelevance(relevant=relevant).fit(labels), []
        except PairsError as error:
            if not judged_by_two(labels.item, labels.assessor.codes).any():
                return None, [Note("no-pairs-yet", "no item was judged twice yet, so the forecast rests on a prior")]
            return None, [Note("pairs-not-used", "the forecast uses no present pairs: {why}", why=error.message)]


def _negligible(fit: PredictedRelevanceFit | None) -> list[Note]:
    """Say that the lowest label is left out, where it is negligible for every notion of relevance."""
    found = [] if fit is None else lowest_labels(fit)
    if fit is None or len(found) < len(fit.relevant.names) or not all(each.negligible for each in found):
        return []
    high = max(each.high for each in found)
    template = "items with the lowest label, {label}, are not asked: p(R|{label}) is below {high:.3f}"
    return [Note("lowest-label-negligible", template, label=found[0].label, high=high)]

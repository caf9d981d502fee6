r"""Corrected scores: what a reference (people) would give to each system, from the labels of a judge on everything.

The labels that the reference gave are kept.  The gain y of an item that it did not label is predicted in two steps:
first by a distribution over labels given those of the judge (``disagreement.reference_labels``); then the residuals of
the labelled items correct this level by topic and system.  Gains are divided by their range here, and are a sum of
steps of height h; the prediction has the probability p of each step, so that their mean is m.  An effect d adds to the
log-odds of all steps, as in proportional odds; to first order

.. math:: y_i = m_i + s_i d_i + e_i, \qquad s_i = \sum_c h_c\, p_{ic} (1 - p_{ic}), \qquad
          d_i = f_i^\top\beta + \tau_t + z_i^\top v + z_i^\top u_t

so that labels without uncertainty stay as they are.  The effects are

    f    intercept, group (the label of the judge), whether no list has the item, and the mean score by the judge of the
         systems that return it, in standard deviations; for measures that count all relevant items, such as AP, also
         the logarithm of the weight of the item in all lists (for others it makes the order of systems worse)
    tau  the topic
    v    the systems: z has the weights of the item in the lists of each system, centred over items, of unit length
    u    systems within the topic

with normal priors of mean 0 (``kernels.residual_effects``).  Their deviations, below, are weakly informative and not
estimated: the variance of v by maximum likelihood on few labels is often too small, and intervals of systems are then
too short.  They were chosen on two judges of TREC Deep Learning 2021, and hold for others (``bench/corrected.py``).
The noise e has the variance of the gain that the effects leave.  The expansion is repeated around the effects that all
topics share (as in penalised quasi-likelihood; Breslow and Clayton 1993, doi:10.1080/01621459.1993.10594284).

A measure that is linear in the gains (P, CG, DCG, RBP) is a weighted sum over items, so that its mean and covariance
between systems follow in closed form.  For any other measure effects are drawn from their posterior, with further
effects k of topic and step, since people differ in how often they give the highest label; labels are drawn, and all
systems are scored on each draw.

Topics and lists are fixed: all scores are means over the topics that the judge labelled.  The uncertainty is about
labels that the reference did not give, and vanishes where all are given.  Members of a reference who labelled the same
item count with the mean of their gains (as ``pool="mean"``).  Intervals have Student's t, with as many degrees of
freedom as topics with labels of the reference, less one, but at least ``LEAST_DEGREES``: how far its labels deviate is
known from these topics.

When not to use it: the labels of the reference must be a sample of what the systems return, not those of its choice,
unless their inclusion probabilities are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.data.assessors import last_labels
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import Panel, build_panel, in_isolation
from venire.data.runs import Facts
from venire.disagreement.reference_labels import ReferenceLabels, predict_labels, reference_names
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.kernels.residual_effects import Design, Effects, fit_effects, root
from venire.kernels.shares import CONFIDENCE
from venire.measures.cascade import ERR, RBP, RR, RBPResidual
from venire.measures.dcg import CCG, CG, DCG
from venire.measures.evaluate import Case, Layout, as_list
from venire.measures.measure import ContextMeasure, CountsRelevant, Measure, Normalised, Ranked
from venire.measures.precision import P, Q, Success, bpref
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.randomness import seed_of
from venire.results import Estimate, Note, Records, Tabular, counted, known as known_number, listed
from venire.types import Bools, Floats, Ints, RNGLike

INTERCEPT_SD, OUTSIDE_SD, GROUP_SD, SCORE_SD, WEIGHT_SD = 1.2, 1.2, 0.4, 0.8, 0.6
"""Prior deviations in log-odds: of all items, of those in no list, of a group, per standard deviation of the scores of
systems, and per unit of log weight."""
TOPIC_SD, SYSTEM_SD, TOPIC_SYSTEM_SD, THRESHOLD_SD = 0.9, 0.35, 0.55, 2.0
"""Prior deviations in log-odds: between topics, systems, systems within a topic, and thresholds within a topic."""
LEAST_SHARE = 0.02
"""Least probability of a step for the variance of an item: no label of a judge is taken as certain."""
BLOCK_CELLS = 1 << 21
"""How many cells (draws x items) are held at a time."""
RAREST = 0.002
"""No label is predicted with a lower probability."""
LEAST_DEGREES = 4
N_EXPANSIONS = 2
"""How often gains are expanded: around the prediction, then around what the shared effects make of it."""
ATTENUATION, LEAST_LEFT = 0.346, 0.3
"""What a variance of log-odds takes from their effect on a mean (``label_draws``), and the least that is left."""
LINEAR, NOT_LINEAR = (P, CG, DCG, CCG, RBP), (Normalised, RBPResidual)
UP_TO_1 = (Normalised, CountsRelevant, Q, bpref, RR, ERR, Success)
"""Measures that are from 0 to 1 and not linear in the gains: their intervals end there."""
TIE, SMALLEST = 1e-12, 1e-9


@dataclass(frozen=True, eq=False)
class CorrectedScores(Tabular):
    """Scores that the reference would give: raw (by the judge), value, low and high, (system, measure).

    draws (draw, system, measure) are from their joint distribution, Student's t, whose scale is covariance (measure,
    system, system): the covariance of normal errors.
    n_labels: items that the reference labelled; model: which prediction was used; degrees: of freedom of Student's t.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    raw: Floats
    value: Floats
    low: Floats
    high: Floats
    covariance: Floats
    draws: Floats
    judge: tuple[str, ...]
    reference: tuple[str, ...]
    n_labels: int
    model: str
    degrees: int
    notes: tuple[Any, ...] = ()

    @property
    def method(self) -> str:
        """How the intervals were computed."""
        return f"mixed model of residuals, {counted(self.n_labels, 'label')} of {listed(self.reference)}"

    def estimate(self, system: str, measure: str | None = None) -> Estimate:
        """Return one system's score with its interval."""
        at = _place(self.systems, system, "system"), _place(self.measures, measure, "measure")
        return Estimate(float(self.value[at]), float(self.low[at]), float(self.high[at]), CONFIDENCE, self.method)

    def pairs(self, measure: str | None = None) -> CorrectedPairs:
        """Return the differences of all pairs of systems by one measure, the first if none is named."""
        m = _place(self.measures, measure, "measure")
        a, b = (each.astype(np.int64) for each in np.triu_indices(len(self.systems), 1))
        covariance = self.covariance[m]
        variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        sd = np.sqrt(np.maximum(variance, 0.0))
        value = self.value[a, m] - self.value[b, m]
        raw = self.raw[a, m] - self.raw[b, m]
        first, second = (tuple(self.systems[n] for n in each) for each in (a, b))
        low, high = _interval(value, sd, self.degrees)
        return CorrectedPairs(first, second, self.measures[m], raw, value, low, high, _ahead(value, sd, self.degrees))

    def sentence(self) -> str:
        """Return the highest corrected score by the first measure, with its interval."""
        best = int(np.nanargmax(self.value[:, 0]))
        found, judge = self.estimate(self.systems[best]), listed(self.judge)
        among = f", the highest of {len(self.systems)} systems" if len(self.systems) > 1 else ""
        return (
            f"By the labels of {listed(self.reference)}, the mean {self.measures[0]} of {self.systems[best]} is "
            f"{found.value:.4f} ({CONFIDENCE:.0%} interval {found.low:.4f} to {found.high:.4f}; by {judge} alone "
            f"{self.raw[best, 0]:.4f}){among}."
        )

    def records(self) -> Records:
        """Return one row per system and measure: the score by the judge, the corrected one, and its interval."""
        numbers = {"raw": self.raw, "corrected": self.value, "low": self.low, "high": self.high}
        return [
            {"system": system, "measure": measure, **{name: known_number(each[n, m]) for name, each in numbers.items()}}
            for n, system in enumerate(self.systems)
            for m, measure in enumerate(self.measures)
        ]


@dataclass(frozen=True, eq=False)
class CorrectedPairs(Tabular):
    """Differences a - b by one measure, all (pair,): raw (by the judge), value, low, high, and P(a is ahead)."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    measure: str
    raw: Floats
    value: Floats
    low: Floats
    high: Floats
    p_a_ahead: Floats

    def sentence(self) -> str:
        """Say how many differences the intervals separate from 0."""
        apart = int(((self.low > 0) | (self.high < 0)).sum())
        return (
            f"By corrected {self.measure}, the {CONFIDENCE:.0%} interval of the difference excludes 0 for "
            f"{apart:,} of {counted(len(self.a), 'pair')} of systems."
        )

    def records(self) -> Records:
        """Return one row per pair."""
        columns = (self.raw, self.value, self.low, self.high, self.p_a_ahead)
        rows = zip(self.a, self.b, *(each.tolist() for each in columns), strict=True)
        names = ("raw", "corrected", "low", "high", "p_a_ahead")
        return [
            {"a": a, "b": b, "measure": self.measure, **dict(zip(names, map(known_number, numbers), strict=True))}
            for a, b, *numbers in rows
        ]


def corrected_scores(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("P@10",),
    *,
    judge: str | Sequence[str],
    reference: str | Sequence[str] | None = None,
    gains: GainsLike = "linear",
    n_draws: int = 1000,
    rng: RNGLike = 0,
    topics: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> CorrectedScores:
    """Estimate the scores that a reference would give, from labels of a judge on everything and some of its own.

    Parameters
    ----------
    judgments, runs, measures, gains, topics : as in ``evaluate``
    judge : whose labels are on (nearly) everything; several are used together
    reference : the people whose labels count; None: those that the judgments declare
    n_draws : draws of the scores; measures that are not linear in the gains are estimated from a quarter as many draws
        of the missing labels

    Notes
    -----
    Measures that are given together share one prediction of labels, on what their lists hold.
    Cost: one scan; per measure O(items x systems^2), and for measures that are not linear in the gains draws x
    (items x systems + hits).

    Examples
    --------
    >>> from venire.simulation import Synthetic, generate
    >>> made = generate(Synthetic(n_topics=30), rng=7)
    >>> some = made.judgments.assessor.among("lenient1", "assessor") | (made.judgments.item % 10 == 0)
    >>> labels = made.judgments.take(some)
    >>> found = corrected_scores(labels, made.runs, "P(rel=2)@10", judge="lenient1", reference="careful1")
    >>> print(found.estimate("s01"))
    0.447 [0.374, 0.521] (95%, mixed model of residuals, 600 labels of careful1)
    """
    labels = last_labels(as_judgments(judgments))
    scoring = Scoring(gains=gains, topics=topics, per="assessor")
    plan = scoring.plan(as_list(measures), labels.scale)
    facts = scan(runs, labels.items, progress=progress).facts
    case = Case(labels, build_panel(labels, per="assessor"), facts, scoring)
    return corrected_on(case, plan, judge=judge, reference=reference, n_draws=n_draws, rng=rng)


def corrected_on(
    case: Case,
    plan: Plan,
    *,
    judge: str | Sequence[str],
    reference: str | Sequence[str] | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
) -> CorrectedScores:
    """Estimate corrected scores where the runs are scanned; the assessor of the case does not matter.

    Options as in ``corrected_scores``.
    """
    if n_draws < 2:
        raise SettingError(
            f"{counted(n_draws, 'draw')}: expected 2 or more", hint="1000 give an interval to two digits"
        )
    if plan.unjudged_known or case.group is not None:
        raise SettingError(
            "corrected scores are defined where unjudged documents have no gain and copies count",
            hint="leave out the rules for unjudged documents and for duplicates",
        )
    scene = Scene.of(case, plan, judge=judge, reference=reference)
    seed = seed_of(rng)
    parts = [scene.corrected(n, n_draws=n_draws, rng=np.random.default_rng(seed)) for n in range(len(plan.names))]
    value, low, high = (np.stack([getattr(each, name) for each in parts], axis=1) for name in ("value", "low", "high"))
    covariance, draws = np.stack([each.covariance for each in parts]), np.stack([e.draws for e in parts], axis=-1)
    numbers, systems = (scene.raw, value, low, high, covariance, draws), case.facts.systems
    about = scene.judges, scene.reference, scene.labels.n_labels, scene.labels.model
    return CorrectedScores(systems, plan.names, *numbers, *about, degrees=scene.degrees, notes=scene.notes)


@dataclass(frozen=True, eq=False)
class Part:
    """Corrected scores by one measure: value, low, high (system,), covariance (system, system), draws."""

    value: Floats
    low: Floats
    high: Floats
    covariance: Floats
    draws: Floats


@dataclass(frozen=True, eq=False)
class Scene:
    """What is corrected: lists, measures, labels of the reference, and scores by the judge, raw (system, measure).

    scored (item,): somebody labelled the item, and its topic is scored; share (system,): what a topic counts for.
    """

    case: Case
    plan: Plan
    layout: Layout
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    labels: ReferenceLabels
    raw: Floats
    scored: Bools
    share: Floats
    notes: tuple[Any, ...]

    @classmethod
    def of(cls, case: Case, plan: Plan, *, judge: str | Sequence[str], reference: str | Sequence[str] | None) -> Scene:
        """Choose topics, score the labels of the judge, and predict those of the reference."""
        judges = (judge,) if isinstance(judge, str) else tuple(judge)
        people = reference_names(case.judgments, reference)
        if set(judges) & set(people):
            raise SettingError(f"{listed(judges)} cannot be corrected by itself", hint="name another reference")
        labels, _ = in_isolation(case.judgments)
        for name in judges:
            if name not in labels.assessors:
                raise UnknownName("assessor", name, labels.assessors)
        layout = _layout(case, plan, labels, Labelled.of(labels, judges, people, asked=case.scoring.topics))
        own = _panel_of(labels, judges)
        raw = np.nanmean(layout.place(score_facts(case.facts, own, plan))[..., 0], axis=1)
        scored = np.isin(labels.items.topic, layout.chosen)
        scored &= np.bincount(labels.item, minlength=len(scored)) > 0
        share = _topic_shares(layout, case.scoring.missing)
        weights = [list_weights(layout, each, share) for each in plan.measures]
        weights = [each / (each.max() or 1.0) for each in weights]
        importance = np.sum(weights, axis=(0, 1))
        support = np.mean([mean_scores(each, raw[:, n]) for n, each in enumerate(weights)], axis=0)
        predicted = predict_labels(labels, judges, people, importance=importance, support=support)
        notes = (*layout.notes, predicted.note, *predicted.notes)
        return cls(case, plan, layout, judges, people, predicted, raw, scored, share, notes)

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the intervals."""
        topics = np.unique(self.case.facts.items.topic[self.labels.known & self.scored])
        return max(len(topics) - 1, LEAST_DEGREES)

    def corrected(self, number: int, *, n_draws: int, rng: np.random.Generator) -> Part:
        """Correct the scores of one measure."""
        model = self.model(number)
        if is_linear(self.plan.measures[number]):
            return model.linear(self.degrees, n_draws, rng)
        return model.drawn(self, self.plan.only([number]), n_draws, rng)

    def weights(self, number: int) -> Floats:
        """Return what the gain of each item adds to the mean score of each system, by one measure -> (system, item)."""
        return list_weights(self.layout, self.plan.measures[number], self.share)

    def model(self, number: int) -> ResidualModel:
        """Fit the model of residuals for one measure."""
        measure, weights = self.plan.measures[number], self.weights(number)
        features = item_features(weights, self.labels.group, self.raw[:, number])
        if measure.normalised and measure.best_depth is None:
            features = np.column_stack([features, WEIGHT_SD * log_weights(weights)])
        return ResidualModel.of(self, weights, self.plan.worths[number].values, features)

    def by_topic(self, number: int, *, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Score topics by the judge, and by draws of the labels that the reference did not give, for one measure.

        Returns (system, topic), (draw, system, topic); one draw if the reference labelled everything.
        """
        model, plan = self.model(number), self.plan.only([number])
        gain = np.zeros((1 if model.known.all() else n_draws, len(self.scored)))
        gain[:, model.item] = model.label_draws()(len(gain), rng)
        own = _panel_of(in_isolation(self.case.judgments)[0], self.judges)
        by_judge, by_reference = (
            self.layout.place(score_facts(self.case.facts, panel, plan))[:, :, 0]
            for panel in (own, DrawnGains(gain, self.scored))
        )
        return by_judge[..., 0], np.moveaxis(by_reference, -1, 0)


def _panel_of(labels: Judgments, judges: Sequence[str]) -> Panel:
    """Build the panel of the judge that is corrected; several count with the mean of their gains."""
    return build_panel(labels.where(assessor=judges), pool="mean" if len(judges) > 1 else None)


@dataclass(frozen=True, eq=False)
class Labelled:
    """The topics that were asked for and that the judge labelled, and how many others the reference labelled.

    unknown: topics that were asked for and that no labels are about
    """

    judges: tuple[str, ...]
    topics: tuple[str, ...]
    unknown: tuple[str, ...]
    left_out: int

    @classmethod
    def of(
        cls, labels: Judgments, judges: tuple[str, ...], people: tuple[str, ...], *, asked: Iterable[str] | None
    ) -> Labelled:
        """Choose topics; raise if the judge labelled none of those that were asked for."""
        wanted = labels.topics if asked is None else tuple(dict.fromkeys(asked))
        own, other = (_topics_of(labels, names) for names in (judges, people))
        topics = tuple(name for name in wanted if name in own)
        about = set(labels.topics)
        if not topics and any(name in about for name in wanted):
            raise PairsError(
                f"{listed(judges)} labelled none of the topics to score",
                hint="choose topics that the judge labelled, or another judge",
            )
        unknown = tuple(name for name in wanted if name not in about)
        return cls(judges, topics, unknown, sum(name in other and name not in own for name in wanted))

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note where topics are left out."""
        text = "{n:topic} left out, which the reference labelled and {judge:list} did not"
        found = Note("topics-without-judge", text, n=self.left_out, judge=self.judges)
        return (found,) if self.left_out else ()


def _topics_of(labels: Judgments, names: Sequence[str]) -> set[str]:
    """Return the topics with labels of these assessors."""
    seen = np.unique(labels.items.topic[labels.item[labels.assessor.among(names, "assessor")]])
    return {labels.topics[number] for number in seen}


def _layout(case: Case, plan: Plan, labels: Judgments, labelled: Labelled) -> Layout:
    """Lay out the topics that the judge labelled; an item that anybody labelled is not unjudged."""
    scoring = replace(case.scoring, per=None, assessor=None, topics=[*labelled.topics, *labelled.unknown])
    layout = Layout.of(replace(case, panel=build_panel(labels, pool="mean"), scoring=scoring), plan)
    return replace(layout, notes=(*layout.notes, *labelled.notes))


def _topic_shares(layout: Layout, missing: str) -> Floats:
    """Return what each topic counts for in the mean of each system -> (system,)."""
    facts = layout.facts
    if missing == "zero":
        return np.full(len(facts.systems), 1.0 / len(layout.chosen))
    n_lists = np.bincount(facts.system[np.isin(facts.topic, layout.chosen)], minlength=len(facts.systems))
    return np.asarray(1.0 / np.maximum(n_lists, 1))


def is_linear(measure: Measure) -> bool:
    """Whether the measure is a sum of gains, each with a weight that depends on its rank alone."""
    return isinstance(measure, LINEAR) and not isinstance(measure, NOT_LINEAR)


def rank_weights(measure: Measure, depth: int) -> Floats:
    """Return what a gain of 1 at ranks 1 to depth adds to the score -> (depth,).

    Exactly for linear measures; for others their discount, or 1 / rank.
    """
    rank = np.arange(1, depth + 1)
    if is_linear(measure):
        one = np.ones((1, depth, 1))
        return np.asarray(measure(Ranked(one, rank[:, None], one > 0, np.full(depth, depth)))[0])
    weight = measure.weights(rank) if isinstance(measure, ContextMeasure) else 1.0 / rank
    return np.where(rank <= (measure.k or depth), weight, 0.0)


def list_weights(layout: Layout, measure: Measure, share: Floats) -> Floats:
    """Return what the gain of each item adds to the mean score of each system -> (system, item)."""
    facts: Facts = layout.facts
    weight = np.append(rank_weights(measure, int(facts.depth.max(initial=1))), 0.0)
    system = np.repeat(facts.system, facts.n_hits).astype(np.int64)
    counted_lists = np.repeat(np.isin(facts.topic, layout.chosen), facts.n_hits)
    value = weight[np.minimum(facts.rank, len(weight)) - 1] * share[system] * counted_lists
    n_items = len(facts.items)
    cell = system * n_items + facts.item
    found = np.bincount(cell, weights=value, minlength=len(facts.systems) * n_items)
    return found.astype(np.float64, copy=False).reshape(-1, n_items)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Gains as sums of steps: an item has the steps up to its gain; gains are divided by their range.

    predicted, known (item, step): probability of each step, and the share of the reference that gave it
    steps (step,): their heights, which sum to 1; base and range: of the gains as they are
    """

    predicted: Floats
    known: Floats
    steps: Floats
    base: float
    range: float

    @classmethod
    def of(cls, rows: Floats, shares: Floats, values: Floats) -> Thresholds:
        """Sum distributions over labels from the top; rows and shares (item, label), values (label,)."""
        levels = np.unique(values)
        range_of = float(levels[-1] - levels[0]) or 1.0
        above = (values[:, None] >= levels[1:]).astype(np.float64)
        return cls(rows @ above, shares @ above, np.diff(levels) / range_of, float(levels[0]), range_of)

    @property
    def levels(self) -> Floats:
        """The gains as they are, by number of steps -> (step + 1,)."""
        return np.asarray(self.base + self.range * np.append(0.0, self.steps.cumsum()))

    @property
    def odds(self) -> Floats:
        """Log-odds of each step -> (item, step)."""
        p = np.clip(self.predicted, RAREST, 1 - RAREST)
        return np.asarray(np.log(p / (1 - p)))

    def offset_to(self, mean: Floats, start: Floats) -> Floats:
        """Return what to add to the log-odds of all steps so that gains have this mean; all (item,)."""
        for _ in range(5):
            there = self.shifted(start)
            slope = np.maximum(there.slope, SMALLEST)
            start = start + np.clip((mean - there.predicted @ self.steps) / slope, -2.0, 2.0)
        return start

    def shifted(self, offset: Floats) -> Thresholds:
        """Add to the log-odds of all steps of an item; offset (item,)."""
        return replace(self, predicted=1 / (1 + np.exp(-(self.odds + offset[:, None]))))

    @property
    def slope(self) -> Floats:
        """Change of the mean per unit of log-odds of all steps -> (item,)."""
        p = np.clip(self.predicted, LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray((p * (1 - p)) @ self.steps)

    @property
    def variance(self) -> Floats:
        """Variance of the gain -> (item,)."""
        p = np.clip(self.predicted, LEAST_SHARE, 1 - LEAST_SHARE)
        covariance = np.minimum(p[:, :, None], p[:, None, :]) - p[:, :, None] * p[:, None, :]
        return np.asarray(np.einsum("icd,c,d->i", covariance, self.steps, self.steps))


@dataclass(frozen=True, eq=False)
class Linearised:
    """Gains around log-odds that are shifted by an offset: mean (item,) at no effects, slope per log-odds, noise."""

    mean: Floats
    slope: Floats
    noise: Floats

    @classmethod
    def at(cls, thresholds: Thresholds, offset: Floats) -> Linearised:
        """Expand to first order."""
        there = thresholds.shifted(offset)
        slope, variance = np.maximum(there.slope, SMALLEST), np.maximum(there.variance, SMALLEST)
        explained = slope**2 * (TOPIC_SD**2 + SYSTEM_SD**2 + TOPIC_SYSTEM_SD**2)
        mean = there.predicted @ there.steps - slope * offset
        return cls(mean, slope, np.maximum(variance - explained, variance / 4))


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """The mixed model for one measure, on the items that are scored, with their numbers, item (item,).

    weights (system, item): what the gains add to the score; around: where gains are linear in the effects
    """

    effects: Effects
    thresholds: Thresholds
    around: Linearised
    weights: Floats
    item: Ints

    @classmethod
    def of(cls, scene: Scene, weights: Floats, values: Floats, features: Floats) -> ResidualModel:
        """Build the design, and condition on the labels of the reference; values (label,), features (item, feature)."""
        item, labels = np.flatnonzero(scene.scored), scene.labels
        thresholds = Thresholds.of(labels.rows[item], labels.shares[item], values)
        weights, gain = weights[:, item], thresholds.known @ thresholds.steps
        known, weight = labels.known[item], np.where(labels.known[item], labels.weight[item], 1.0)
        start = np.searchsorted(scene.case.facts.items.topic[item], np.append(scene.layout.chosen, 1 << 30))
        systems = system_rows(weights)
        shared = np.concatenate([features[item], SYSTEM_SD * systems], axis=1)
        local = np.concatenate([np.full((len(item), 1), TOPIC_SD), TOPIC_SYSTEM_SD * systems], axis=1)
        offset = np.zeros(len(item))
        for _ in range(N_EXPANSIONS):
            around = Linearised.at(thresholds, offset)
            slope = around.slope[:, None]
            design = Design(slope * shared, slope * local, around.noise / weight, known, start)
            effects = fit_effects(design, gain - around.mean)
            offset = shared @ effects.mean
        return cls(effects, thresholds, around, weights, item)

    @property
    def known(self) -> Bools:
        """Whether the reference labelled the item -> (item,)."""
        return self.effects.design.known

    def linear(self, degrees: int, n_draws: int, rng: np.random.Generator) -> Part:
        """Return scores of a linear measure in closed form, and draws from Student's t."""
        shift, covariance = self.effects.weighted(self.weights)
        base, width = self.thresholds.base, self.thresholds.range
        gain = self.thresholds.known @ self.thresholds.steps
        level, *bounds = (
            base * self.weights.sum(axis=1) + width * (self.weights @ np.where(self.known, gain, other))
            for other in (self.around.mean, 0.0, 1.0)
        )
        value = np.clip(level + width * shift, *bounds)
        covariance = width**2 * covariance
        low, high = _interval(value, np.sqrt(np.maximum(np.diag(covariance), 0.0)), degrees)
        draws = value + student_draws(covariance, degrees, n_draws, rng=rng)
        return Part(value, np.maximum(low, bounds[0]), np.minimum(high, bounds[1]), covariance, draws)

    def drawn(self, scene: Scene, plan: Plan, n_draws: int, rng: np.random.Generator) -> Part:
        """Return scores of any measure from draws of the missing labels, and draws from Student's t."""
        n_labellings = max(2, n_draws // 4) if not self.known.all() else 2
        step = max(1, BLOCK_CELLS // max(len(self.item), len(scene.case.facts.depth), 1))
        draw, blocks = self.label_draws(), []
        for first in range(0, n_labellings, step):
            gain = np.zeros((min(step, n_labellings - first), len(scene.scored)))
            gain[:, self.item] = draw(len(gain), rng)
            scores = scene.layout.place(score_facts(scene.case.facts, DrawnGains(gain, scene.scored), plan))
            blocks.append(np.nanmean(scores[:, :, 0], axis=1).T)
        found = np.concatenate(blocks)
        value, covariance = found.mean(axis=0), np.atleast_2d(np.cov(found, rowvar=False))
        low, high = _interval(value, np.sqrt(np.diag(covariance)), scene.degrees)
        if isinstance(plan.measures[0], UP_TO_1):
            low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
        draws = value + student_draws(covariance, scene.degrees, n_draws, rng=rng)
        return Part(value, low, high, covariance, draws)

    def label_draws(self) -> Callable[[int, np.random.Generator], Floats]:
        """Return the function that draws labels which the reference did not give -> gains of all items (draw, item).

        Effects d and thresholds k change the log-odds of a step to a (o + d) + k, enlarged by a so that the mean over
        draws stays the predicted probability: the mean of a logistic function of a normal variable with variance v is
        nearly that of its mean divided by sqrt(1 + .346 v) (Zeger, Liang and Albert 1988, doi:10.2307/2531734).
        Drawn thresholds can put a higher step before a lower one; if the sum of the steps is then the gain of no label,
        it is rounded to the next lower or higher one at random, so that its mean stays the same.
        """
        unknown, parts = np.flatnonzero(~self.known), self.thresholds
        slope = self.around.slope[unknown]
        within, spread = self.topic_thresholds()
        topic = np.repeat(np.arange(len(within)), np.diff(self.effects.design.start))[unknown]
        left = 1 - ATTENUATION * self.effects.variance()[unknown] / slope**2
        enlarged = np.sqrt((1 + ATTENUATION * spread**2)[topic] / np.maximum(left, LEAST_LEFT)[:, None])
        odds = enlarged * (parts.odds + self.draw_offset()[:, None])[unknown] + within[topic]
        fixed = parts.base + parts.range * (parts.known @ parts.steps)

        def draw(n_draws: int, rng: np.random.Generator) -> Floats:
            shift = self.effects.draw(n_draws, rng)[:, unknown] / slope
            noise = rng.logistic(size=shift.shape)
            found, gain = np.tile(fixed, (n_draws, 1)), np.full(shift.shape, parts.base)
            for step, height in enumerate((parts.range * parts.steps).tolist()):
                drawn = spread[:, step] * rng.standard_normal((n_draws, len(spread)))
                gain += height * (enlarged[:, step] * shift + drawn[:, topic] + odds[:, step] > noise)
            found[:, unknown] = rounded_to(parts.levels, gain, rng)
            return found

        return draw

    def draw_offset(self) -> Floats:
        """Return what centres drawn log-odds of items on their mean by the linear model, less the mean effects."""
        effect = self.effects.expected()
        centre = effect / self.around.slope
        mean = np.clip(self.around.mean + effect, RAREST, 1 - RAREST)
        return self.thresholds.offset_to(mean, centre) - centre

    def topic_thresholds(self) -> tuple[Floats, Floats]:
        """Return mean and deviation of the log-odds of each step within a topic, besides the effects; (topic, step).

        Three Newton steps to the mode of a logistic model, with the curvature there (Laplace's approximation).
        """
        design, parts = self.effects.design, self.thresholds
        n_topics, n_steps = len(design.start) - 1, len(parts.steps)
        mode, precision = np.zeros((n_topics, n_steps)), np.full((n_topics, n_steps), THRESHOLD_SD**-2)
        if n_steps < 2:
            return mode, np.zeros_like(mode)
        known = np.flatnonzero(design.known)
        topic = np.repeat(np.arange(n_topics), np.diff(design.start))[known]
        centre = self.draw_offset() + self.effects.expected() / self.around.slope
        odds = parts.odds[known] + centre[known, None]
        odds *= np.sqrt(1 + ATTENUATION * THRESHOLD_SD**2)
        for _ in range(3):
            p = 1 / (1 + np.exp(-(odds + mode[topic])))
            gradient, precision = -mode * THRESHOLD_SD**-2, np.full_like(mode, THRESHOLD_SD**-2)
            np.add.at(gradient, topic, parts.known[known] - p)
            np.add.at(precision, topic, p * (1 - p))
            mode = mode + gradient / precision
        return mode, 1 / np.sqrt(precision)


@dataclass(frozen=True, eq=False)
class DrawnGains:
    """Judges that score runs: draws of the gains of all items, by known and drawn labels; gain (draw, item)."""

    gain: Floats
    judged: Bools

    @property
    def judges(self) -> tuple[str, ...]:
        """Numbers of the draws."""
        return tuple(map(str, range(len(self.gain))))

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.judged)

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:  # noqa: ARG002 - gains are drawn
        """Gain of every item, and whether it was judged, in draws first..last-1; both (draw, item)."""
        gain = self.gain[first:last]
        return gain, np.broadcast_to(self.judged, gain.shape)


def rounded_to(levels: Floats, gain: Floats, rng: np.random.Generator) -> Floats:
    """Round gains that are not among the levels (ascending) up or down at random, so that their mean stays the same.

    Examples
    --------
    >>> found = rounded_to(np.array([0.0, 1.0, 3.0, 7.0]), np.repeat([3.0, 4.0], 8000), np.random.default_rng(1))
    >>> [np.unique(each).tolist() for each in (found[:8000], found[8000:])], round(float(found[8000:].mean()), 1)
    ([[3.0], [3.0, 7.0]], 4.0)
    """
    small = SMALLEST * (levels[-1] - levels[0])
    below = np.clip(np.searchsorted(levels, gain + small, side="right") - 1, 0, None)
    found = levels[below]
    between = gain - found > 2 * small
    low, high = found[between], levels[below[between] + 1]
    found[between] = np.where(rng.random(len(low)) * (high - low) < gain[between] - low, high, low)
    return np.asarray(found)


def item_features(weights: Floats, group: Ints, raw: Floats) -> Floats:
    """Return the features f of the items, times the prior deviations of their effects -> (item, feature).

    weights (system, item), group (item,), raw (system,): scores by the judge
    """
    groups = np.eye(int(group.max(initial=0)) + 1)[group]
    columns = [
        np.full((len(group), 1), INTERCEPT_SD),
        OUTSIDE_SD * ~(weights.sum(axis=0) > 0)[:, None],
        GROUP_SD * groups,
        SCORE_SD * mean_scores(weights, raw)[:, None],
    ]
    return np.concatenate(columns, axis=1)


def log_weights(weights: Floats) -> Floats:
    """Return the logarithm of the weight of items in all lists, less its mean, 0 for items in no list -> (item,)."""
    total = weights.sum(axis=0)
    found = np.log(np.where(total > 0, total, 1.0))
    return np.where(total > 0, found - np.average(found, weights=total + 1e-300), 0.0)


def mean_scores(weights: Floats, raw: Floats) -> Floats:
    """Return the mean score of the systems that return each item, standardised, 0 for items in no list -> (item,).

    weights (system, item), raw (system,); in standard deviations of the scores, from the mean over items
    """
    total = weights.sum(axis=0)
    inside, spread = total > 0, float(np.nanstd(raw)) or 1.0
    score = weights.T @ np.nan_to_num(raw) / np.where(inside, total, 1.0)
    return np.where(inside, (score - np.average(score, weights=total + 1e-300)) / spread, 0.0)


def system_rows(weights: Floats) -> Floats:
    """Return z: weights (system, item) centred over the items of the lists, of unit length -> (item, system)."""
    inside = weights.sum(axis=0) > 0
    own = weights.T / (weights.max() or 1.0)
    own = np.where(inside[:, None], own - own[inside].mean(axis=0) if inside.any() else own, 0.0)
    length = np.linalg.norm(own, axis=1, keepdims=True)
    return np.asarray(own / np.where(length > 0, length, 1.0))


def _interval(value: Floats, sd: Floats, degrees: int) -> tuple[Floats, Floats]:
    from scipy.special import stdtrit

    reach = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * sd
    return value - reach, value + reach


def _ahead(value: Floats, sd: Floats, degrees: int) -> Floats:
    """Probability that a variable with Student's t is above 0; 1/2 where it is 0 for certain."""
    from scipy.special import stdtr

    sure = np.where(np.abs(value) > TIE, np.sign(value), 0.0) / 2 + 0.5
    return np.where(sd > TIE, stdtr(degrees, value / np.where(sd > TIE, sd, 1.0)), sure)


def student_draws(covariance: Floats, degrees: int, n_draws: int, *, rng: np.random.Generator) -> Floats:
    """Draw from the multivariate Student's t with mean 0 and this scale -> (draw, variable).

    Normal variables, divided by the root of one chi-square variable per draw over its degrees of freedom (Kotz and
    Nadarajah 2004, doi:10.1017/CBO9780511550683, Section 1.1).
    """
    normal = rng.standard_normal((n_draws, len(covariance))) @ root(covariance).T
    return np.asarray(normal * np.sqrt(degrees / rng.chisquare(degrees, (n_draws, 1))))


def _place(names: tuple[str, ...], name: str | None, kind: str) -> int:
    if name is not None and name not in names:
        raise UnknownName(kind, name, names)
    return 0 if name is None else names.index(name)

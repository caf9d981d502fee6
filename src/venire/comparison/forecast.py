r"""Forecasts: how systems would score under another judge, from the labels of one.

A label that the other judge gave is kept in every draw.  Where the other judge gave none, a label is drawn given that
of the current judge, from transition matrices (``disagreement.transitions``), in the hierarchical model tilted by what
the systems that return the document say of it (``comparison.tilting``).  All systems are scored on each draw, and
probabilities are shares of draws: in which share does A stay ahead of B?  With N draws, a share p has the standard
error :math:`\sqrt{p(1-p)/N}`.  If transitions are stated, the new judge gave no labels, and all labels are drawn.

The other judge may be any of n others.  They take turns in the draws, so that each who labelled everything is an
outcome with an equal share of the probability.  With n > 1, three further judges without labels take turns too
(``disagreement.transitions.FURTHER``): with complete labels of n judges of whom m keep the order, the probability is
(m + 3 p) / (n + 3), where p is that of a further judge by the model.

A copy is no outcome of its own (``data.assessors``): of judges whose labels are copies, the one with most labels takes
turns, and copies of the current judge do only if there is nobody else.

The topics are fixed.  Two more sources of draws answer other questions: means over another sample of as many topics
(``other_topics``), and both at once (``comparison.uncertainty``).

The judge model ``pooled`` is a linear pool of the hierarchical model with a bootstrap over topics under the current
judge.  The bootstrap has the weight

.. math:: q = \max(0, r) / 2 \cdot (1 - \text{share of the lists that the other judge labelled}),

with r the correlation of the labels of both judges on the items that both labelled; of several other judges, the mean
over them.  The less is known of the other judge, the more it counts by how much the current judge is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np

from venire.checks import need_at_least
from venire.comparison.observed import TIE as TIE, Observed
from venire.comparison.tilting import fit_tilt
from venire.data.assessors import Copy, by_content, copies, without_copies
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import current_assessor, one_label_each
from venire.data.rejudging import Given, Rejudging, Tilt
from venire.disagreement.transitions import ANY, Transitions, fit_transitions
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.measures.evaluate import Case, Layout, as_list, labels_for
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.randomness import between_samples, seed_of, topic_weights
from venire.results import Note, Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

BLOCK_CELLS = 1 << 21
"""How many cells (draws x items, draws x lists) are held at a time."""
POOLED, DEFAULT_MODEL = "pooled", "hierarchical"
ONE_JUDGE = "one judge"
"""In place of a judge model, where there is no other judge."""
FRAGILE = 0.2
"""A pair is fragile if another judge reverses or ties it with more than this probability."""


@dataclass(frozen=True, eq=False)
class Forecast(Tabular):
    """Scores now, (system, topic), and means over topics under other judges, draws (draw, system).

    others: draws (draw, system) of other sources, "topics" (another sample of as many topics) and "both"; none with one
    topic.  No draws, and transitions None: nothing is known of another judge (``one_judge``).
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    now: Floats
    draws: Floats
    transitions: Transitions | None
    judge_model: str
    notes: tuple[Any, ...] = ()
    others: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def mean(self) -> Floats:
        """Mean score now -> (system,)."""
        return np.nanmean(self.now, axis=1)

    def pairs(self, baseline: str | None = None) -> tuple[Ints, Ints]:
        """Return all pairs of systems, or those with a baseline -> numbers of a and of b."""
        if baseline is None:
            first, second = np.triu_indices(len(self.systems), 1)
            return first.astype(np.int64), second.astype(np.int64)
        one = self.systems.index(baseline)
        others = np.array([n for n in range(len(self.systems)) if n != one], dtype=np.int64)
        return others, np.full(len(others), one)

    def changes(self, a: Ints, b: Ints) -> Changes:
        """Return the differences of pairs of systems under another judge; a, b (pair,)."""
        delta = self.mean[a] - self.mean[b]
        if not len(self.draws):
            return Changes(delta, *np.full((6, len(a)), np.nan))
        new = self.draws[:, a] - self.draws[:, b]
        sign = np.where(np.abs(delta) > TIE, np.sign(delta), 0.0)
        moved = np.where(np.abs(new) > TIE, np.sign(new), 0.0)
        stays = ((moved == sign) & (sign != 0)).mean(axis=0)
        flips = ((moved == -sign) & (sign != 0)).mean(axis=0)
        tie = (moved == 0).mean(axis=0)
        se = np.sqrt(stays * (1 - stays) / len(self.draws))
        return Changes(delta, new.mean(axis=0), new.std(axis=0, ddof=1), stays, tie, flips, se)

    def stays(self, source: str, a: Ints, b: Ints) -> Floats:
        """Return the probability that pairs keep their order, by another source of draws -> (pair,); NaN without it."""
        if source not in self.others:
            return np.full(len(a), np.nan)
        delta, draws = self.mean[a] - self.mean[b], self.others[source]
        sign = np.where(np.abs(delta) > TIE, np.sign(delta), 0.0)
        step = max(1, BLOCK_CELLS // max(len(a), 1))
        blocks = (draws[first : first + step] for first in range(0, len(draws), step))
        kept = sum(((block[:, a] - block[:, b]) * sign > TIE).sum(axis=0) for block in blocks)
        return np.asarray(kept / len(draws))

    def limits(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the central interval of each system's mean score over the draws -> (system,) each."""
        tail = (1 - confidence) / 2
        low, high = np.quantile(self.draws, [tail, 1 - tail], axis=0)
        return low, high

    def sentence(self) -> str:
        """Return the highest mean now, and its interval under other judges."""
        best = int(np.argmax(self.mean))
        low, high = (each[best] for each in self.limits())
        return (
            f"By {self.measure}, {self.systems[best]} has the highest mean of {counted(len(self.systems), 'system')}, "
            f"{self.mean[best]:.4f}; under other judges it lies between {low:.4f} and {high:.4f} in 95% of "
            f"{counted(len(self.draws), 'draw')}."
        )

    def records(self) -> Records:
        """Return one row per system: its mean now, and mean and 95 % interval under other judges."""
        columns = (self.mean, self.draws.mean(axis=0), *self.limits())
        rows = zip(self.systems, *(each.tolist() for each in columns), strict=True)
        return [dict(zip(("system", "mean", "expected", "low", "high"), row, strict=True)) for row in rows]


@dataclass(frozen=True, eq=False)
class Changes:
    """Pairs under another judge, all (pair,): stays, tie and flips are probabilities, se the error of stays."""

    delta: Floats
    expected: Floats
    sd: Floats
    stays: Floats
    tie: Floats
    flips: Floats
    se: Floats

    @property
    def fragile(self) -> Bools:
        """Pairs that another judge reverses or ties with a probability over ``FRAGILE``.

        A pair that is tied now has no order that could change.
        """
        return (np.abs(self.delta) > TIE) & (self.changed > FRAGILE)

    @property
    def changed(self) -> Floats:
        """Probability that another judge reverses or ties the pair."""
        return self.flips + self.tie


class SwapOptions(TypedDict, total=False):
    """The keyword arguments of ``JudgeSwap.of``."""

    assessor: str | None
    new_judge: str
    transitions: Transitions | None
    gains: GainsLike
    topics: Iterable[str] | None
    progress: Progress | None


def forecast(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measure: MeasureLike = "nDCG@10",
    *,
    judge_model: str = DEFAULT_MODEL,
    n_draws: int = 2000,
    rng: RNGLike = 0,
    **options: Unpack[SwapOptions],
) -> Forecast:
    """Forecast scores under another judge; options (assessor, new_judge, ...) as in ``JudgeSwap.of``.

    judge_model : how labels that the new judge did not give are drawn (``disagreement.transitions``), or "pooled",
        which mixes the hierarchical model with a bootstrap over topics
    Cost: draws x (items + hits); memory: a block of draws, and draws x systems.
    """
    swap = JudgeSwap.of(judgments, runs, measure, **options)
    return swap.forecasts(judge_model=judge_model, n_draws=n_draws, rng=rng)[0]


@dataclass(frozen=True, eq=False)
class JudgeSwap:
    """Another judge in place of the current one: what is scored, scores now, and how labels change.

    given: labels of the other judges, which are kept; None: they are not used.  copies: among the current judge and the
    others; notes: on the copies that are left out.  Every question about other judges draws from this object.
    """

    case: Case
    plan: Plan
    layout: Layout
    transitions: Transitions
    scores: Scores
    given: Given | None = None
    copies: tuple[Copy, ...] = ()
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls,
        judgments: JudgmentsLike,
        runs: RunsLike,
        measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
        *,
        assessor: str | None = None,
        new_judge: str = ANY,
        transitions: Transitions | None = None,
        gains: GainsLike = "linear",
        topics: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> JudgeSwap:
        """Read the judgments, and scan and score the runs once.

        assessor : whose labels score the runs now; needed where several judged
        new_judge : the judge to forecast, by name, or "any": a random other assessor
        transitions : stated ones, in place of those estimated from the labels; labels of others are then not used
        """
        labels = labels_for(judgments, measures)
        scoring = Scoring(assessor=current_assessor(labels, assessor), gains=gains, topics=topics)
        plan = scoring.plan(as_list(measures), labels.scale)
        case = Case.of(labels, runs, scoring, progress=progress)
        return cls.on(case, plan, new_judge=new_judge, transitions=transitions)

    @classmethod
    def on(cls, case: Case, plan: Plan, *, new_judge: str = ANY, transitions: Transitions | None = None) -> JudgeSwap:
        """Replace the one assessor of a case."""
        layout = Layout.of(case, plan)
        scores = layout.scores(score_facts(case.facts, case.panel, plan), case.scoring, plan)
        if transitions is not None:
            return cls(case, plan, layout, transitions, scores)
        old = str(case.scoring.assessor)
        repeated = copies(case.judgments, None if new_judge == ANY else {old, new_judge})
        judgments, notes = independent_judges(case.judgments, old, repeated if new_judge == ANY else ())
        found = fit_transitions(judgments, old, new_judge)
        return cls(case, plan, layout, found, scores, Given.of(judgments, found.new), repeated, notes)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.case.facts.systems

    @cached_property
    def observed(self) -> Observed | None:
        """What the other judges' own labels give; None if their labels are not used."""
        return None if self.given is None else Observed.of(self.case, self.plan, self.layout, self.given)

    @cached_property
    def tilt(self) -> Tilt | None:
        """How the systems that return a document change its label under other judges."""
        if self.given is None:
            return None
        old, mean = one_label_each(self.case.panel), self.scores.values[:, :, 0].mean(axis=1)
        return fit_tilt(self.case.facts, old, self.given, transitions=self.transitions, mean=np.nan_to_num(mean))

    def only(self, number: int) -> JudgeSwap:
        """Keep one measure."""
        name, layout = self.plan.names[number], replace(self.layout, nothing=self.layout.nothing[[number]])
        scores = replace(
            self.scores, values=self.scores.values[:, :, [number]], names={**self.scores.names, "measure": (name,)}
        )
        return replace(self, plan=self.plan.only([number]), layout=layout, scores=scores)

    def forecast(
        self, draws: Floats, judge_model: str, number: int = 0, *, others: Mapping[str, Floats] | None = None
    ) -> Forecast:
        """Return mean scores under other judges as a forecast; draws (draw, system), others as in ``Forecast``."""
        now = self.scores.values[:, :, number]
        about = self.transitions, judge_model, (*self.layout.notes, *self.notes)
        return Forecast(self.systems, self.layout.topics, self.plan.names[number], now, draws, *about, others or {})

    def forecasts(
        self, *, judge_model: str = DEFAULT_MODEL, n_draws: int = 2000, rng: RNGLike = 0
    ) -> tuple[Forecast, ...]:
        """Forecast the scores of every measure, from the same draws."""
        need_at_least(1, "n_draws", n_draws)
        for_judges, for_topics = seed_of(rng).spawn(2)
        pooled = judge_model == POOLED
        drawn = self.means(DEFAULT_MODEL if pooled else judge_model, n_draws, seed=for_judges)
        weights = topic_weights(len(self.layout.topics), n_draws, np.random.default_rng(for_topics))
        found = []
        for number in range(len(self.plan.names)):
            now, judges = self.scores.values[:, :, number], drawn.judges[:, :, number]
            others = sources(now, judges, drawn.expected[:, :, number], weights=weights)
            n_topics = round(self.weight_of_topics(number) * n_draws) if pooled else 0
            if n_topics:
                judges = np.concatenate([judges[n_topics:], weights[:n_topics] @ np.nan_to_num(now).T / now.shape[1]])
            found.append(self.forecast(judges, judge_model, number, others=others))
        return tuple(found)

    def weight_of_topics(self, number: int = 0) -> float:
        """Return the weight q of the bootstrap over topics in the judge model "pooled"; 0 with one topic."""
        if self.observed is None or len(self.layout.topics) < 2:
            return 0.0
        share = self.observed.share()[:, number]
        return float((np.maximum(self.transitions.correlations(), 0.0) / 2 * (1 - share)).mean())

    def means(self, judge_model: str, n_draws: int, *, seed: np.random.SeedSequence) -> Means:
        """Draw other judges, and take means over topics, and over draws."""
        judges, expected = [], np.zeros(self.scores.values.shape)
        for block in self.draws(judge_model, n_draws, seed=seed):
            judges.append(np.nanmean(block, axis=1))
            expected += block.sum(axis=3)
        return Means(np.concatenate(judges, axis=-1).transpose(2, 0, 1), expected / n_draws)

    def judges(self, judge_model: str, n_draws: int, *, seed: np.random.SeedSequence) -> Rejudging:
        """Return other judges, each a draw of labels."""
        label, topic = one_label_each(self.case.panel), self.case.judgments.items.topic
        with_labels = self.given is not None
        matrices = self.transitions.matrices(judge_model, with_labels=with_labels)
        leaning = self.transitions.leaning_of(self.case.judgments.items, judge_model)
        n_judges = self.transitions.n_judges(judge_model) if with_labels else 1
        tilt = self.tilt if judge_model == DEFAULT_MODEL else None
        return Rejudging(label, topic, matrices, range(n_draws), seed, leaning, self.given, n_judges, tilt)

    def draws(self, judge_model: str, n_draws: int, *, seed: np.random.SeedSequence) -> Iterator[Floats]:
        """Score the labels of other judges, a block of draws at a time -> (system, topic, measure, draw)."""
        judges = self.judges(judge_model, n_draws, seed=seed)
        if judges.n_judges == 1 and not judges.drawn.any():  # every draw has the same labels
            (same,) = (self.layout.place(score_facts(self.case.facts, judges.part(0, 1), self.plan)),)
            yield np.broadcast_to(same, (*same.shape[:3], n_draws))
            return
        step = max(1, BLOCK_CELLS // max(judges.n_items, len(self.case.facts.depth) * len(self.plan.names), 1))
        for first in range(0, n_draws, step):
            part = judges.part(first, min(first + step, n_draws))
            yield self.layout.place(score_facts(self.case.facts, part, self.plan))


def one_judge(layout: Layout, scores: Scores, *, n_draws: int, rng: RNGLike = 0) -> tuple[Forecast, ...]:
    """Return, for every measure, what the labels of one judge tell: scores on other topics, nothing of other judges."""
    need_at_least(1, "n_draws", n_draws)
    systems, measures = scores.names["system"], scores.names["measure"]
    nothing = np.zeros((0, len(systems)))
    found = []
    for number, measure in enumerate(measures):
        now = scores.values[:, :, number]
        others = {"topics": other_topics(now, n_draws, rng=rng)} if now.shape[1] > 1 else {}
        found.append(Forecast(systems, layout.topics, measure, now, nothing, None, ONE_JUDGE, layout.notes, others))
    return tuple(found)


def independent_judges(judgments: Judgments, old: str, found: Sequence[Copy]) -> tuple[Judgments, tuple[Note, ...]]:
    """Leave out the copies among the judges besides ``old``, and say who counts."""
    if not found:
        return judgments, ()
    others = [name for name in judgments.assessors if name != old]
    kept = without_copies(judgments, old, found, order=by_content(judgments, others))
    left = {name for each in found for name in each[:2]} - {old, *kept}
    of_old = {name for each in found if old in each[:2] for name in each[:2]}
    if kept and kept[0] in of_old:
        text = "every other judge is a copy of {old}: the order of systems by an independent judge is not known"
        return judgments.where(assessor=[old, *kept]), (Note("only-copies", text, old=old),)
    if not left:
        return judgments, ()
    text = "{n_left:,} of {n_others:,} other judges repeat the labels of another judge, and do not count again"
    note = Note("copies-left-out", text, n_left=len(left), n_others=len(others))
    return judgments.where(assessor=[old, *kept]), (note,)


@dataclass(frozen=True, eq=False)
class Means:
    """Means over topics in draws of judges, judges (draw, system, measure), and over draws, expected (system, topic,
    measure).
    """

    judges: Floats
    expected: Floats


def sources(now: Floats, judges: Floats, expected: Floats, *, weights: Floats) -> dict[str, Floats]:
    """Return mean scores on another sample of as many topics, and with another judge on these, each (draw, system).

    now and expected (system, topic): scores now, and their means over judges; judges (draw, system): means over topics;
    weights (draw, topic): how often each topic is drawn.  Deviations are widened by ``between_samples``.  One topic
    does not show how topics vary: then there are none.
    """
    n_topics = now.shape[1]
    if n_topics < 2:
        return {}
    deviation = between_samples(n_topics) * (weights - 1) / n_topics
    here = np.nan_to_num(now)
    return {"topics": here.mean(axis=1) + deviation @ here.T, "both": judges + deviation @ np.nan_to_num(expected).T}


def other_topics(now: Floats, n_draws: int, *, rng: RNGLike = 0) -> Floats:
    """Return mean scores over another sample of as many topics: now (system, topic) -> (draw, system).

    The deviations of a bootstrap, widened by ``kernels.resampling.between_samples``.  For the interval of a mean over
    topics see ``resampled``.
    """
    here = np.nan_to_num(now)
    drawn = resampled(now, n_draws, rng=rng)
    centre = here.mean(axis=1)
    return centre + between_samples(now.shape[1]) * (drawn - centre)


def resampled(now: Floats, n_draws: int, *, rng: RNGLike = 0) -> Floats:
    """Return mean scores over resampled topics: now (system, topic) -> (draw, system).

    They vary as means over topics do, for intervals of a mean.  For means over other topics see ``other_topics``.
    """
    weights = topic_weights(now.shape[1], n_draws, np.random.default_rng(rng))
    return weights @ np.nan_to_num(now).T / now.shape[1]

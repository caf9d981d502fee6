r"""Forecasts: how systems would score under another judge, from the labels of one.

A label that the other judge gave stands in every draw.  Where the other judge gave none, the label of the old judge is
drawn anew from transition matrices (``disagreement.transitions``).  All systems are scored on each draw, and what is
asked of the draws is counted: in which share of them does A stay ahead of B?  With N draws, a share p has the standard
error :math:`\sqrt{p(1-p)/N}`.  Of n other judges, each has every n-th draw (``data.rejudging``).  Transitions that are
stated are of a judge nobody has seen, so that everything is drawn.  Topics are those at hand: what another set of
topics would do is another question (``resampled``), and doing both at once is a third.

The form ``pooled`` is a linear pool of two forecasts: half of the draws are of another judge (hierarchical), half of
other topics under the same judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from venire.data.gains import GainsLike, gains_for
from venire.data.panel import current_assessor, one_label_each
from venire.data.rejudging import Given, Rejudging
from venire.disagreement.transitions import ANY, Transitions, fit_transitions
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike
from venire.kernels.resampling import topic_weights
from venire.measures.layout import Case, Layout
from venire.measures.scoring import MeasureLike, Plan, score_facts
from venire.randomness import seed_of
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

BLOCK_CELLS = 1 << 21
"""How many cells (draws x items, draws x lists) are held at a time."""
POOLED, DEFAULT_FORM = "pooled", "hierarchical"
FRAGILE = 0.2
"""A pair is fragile where another judge turns it round with more than this probability."""


@dataclass(frozen=True, eq=False)
class Forecast(Tabular):
    """Scores now, (system, topic), and means over topics under other judges, draws (draw, system)."""

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    now: Floats
    draws: Floats
    transitions: Transitions
    form: str
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> Floats:
        """Mean score now -> (system,)."""
        return np.nanmean(self.now, axis=1)

    def pairs(self, baseline: str | None = None) -> tuple[Ints, Ints]:
        """All pairs of systems, or those with a baseline -> numbers of a and of b."""
        if baseline is None:
            first, second = np.triu_indices(len(self.systems), 1)
            return first.astype(np.int64), second.astype(np.int64)
        one = self.systems.index(baseline)
        others = np.array([n for n in range(len(self.systems)) if n != one], dtype=np.int64)
        return others, np.full(len(others), one)

    def changes(self, a: Ints, b: Ints) -> Changes:
        """What another judge does to pairs of systems; a, b (pair,)."""
        delta = self.mean[a] - self.mean[b]
        new = self.draws[:, a] - self.draws[:, b]
        sign = np.where(np.abs(delta) > TIE, np.sign(delta), 0.0)
        moved = np.where(np.abs(new) > TIE, np.sign(new), 0.0)
        stays = ((moved == sign) & (sign != 0)).mean(axis=0)
        flips = ((moved == -sign) & (sign != 0)).mean(axis=0)
        tie = (moved == 0).mean(axis=0)
        se = np.sqrt(stays * (1 - stays) / len(self.draws))
        return Changes(delta, new.mean(axis=0), new.std(axis=0, ddof=1), stays, tie, flips, se)

    def limits(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Interval of each system's mean score over the draws -> (system,) each."""
        tail = (1 - level) / 2
        low, high = np.quantile(self.draws, [tail, 1 - tail], axis=0)
        return low, high

    def sentence(self) -> str:
        """Say how far the best score may move."""
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


TIE = 1e-12
"""Means closer than this are equal: what differs by rounding alone is a tie."""


@dataclass(frozen=True, eq=False)
class Changes:
    """What another judge does to pairs, all (pair,): stays, tie and flips are probabilities, se the error of stays."""

    delta: Floats
    expected: Floats
    sd: Floats
    stays: Floats
    tie: Floats
    flips: Floats
    se: Floats

    @property
    def fragile(self) -> Bools:
        """Pairs that another judge may well turn round."""
        return self.flips > FRAGILE


def forecast(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measure: MeasureLike = "nDCG@10",
    *,
    assessor: str | None = None,
    new_judge: str = ANY,
    transitions: Transitions | None = None,
    form: str = DEFAULT_FORM,
    gains: GainsLike = "linear",
    n_draws: int = 2000,
    topics: Iterable[str] | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Forecast:
    """Forecast scores under another judge: ``new_judge`` by name, or any other assessor at random.

    assessor: whose labels score the runs now.  transitions: stated ones, in place of those read from the labels; then
    the labels of others do not stand.
    Cost: draws x (items + hits); memory: a block of draws, and draws x systems.
    """
    scene = JudgeSwap.of(
        judgments,
        runs,
        measure,
        assessor=assessor,
        new_judge=new_judge,
        transitions=transitions,
        gains=gains,
        topics=topics,
        progress=progress,
    )
    return forecast_of(scene, form=form, n_draws=n_draws, rng=rng)


def forecast_of(scene: JudgeSwap, *, form: str = DEFAULT_FORM, n_draws: int = 2000, rng: RNGLike = 0) -> Forecast:
    """Forecast from a scene at hand."""
    seed, for_topics = seed_of(rng).spawn(2)
    n_judges = -(-n_draws // 2) if form == POOLED else n_draws
    blocks = scene.draws("hierarchical" if form == POOLED else form, n_judges, seed=seed)
    draws = np.concatenate([np.nanmean(block, axis=1) for block in blocks], axis=1).T
    if form == POOLED:
        draws = np.concatenate([draws, resampled(scene.now, n_draws - n_judges, rng=for_topics)])
    return scene.forecast(draws, form)


@dataclass(frozen=True, eq=False)
class JudgeSwap:
    """Where a judge is replaced by another: what is scored and how, how labels change, and scores now (system, topic).

    given: labels of the other judges, which stand.  Everything that is asked of other judges is drawn from here.
    """

    case: Case
    plan: Plan
    layout: Layout
    transitions: Transitions
    now: Floats
    given: Given | None = None

    @classmethod
    def of(
        cls,
        judgments: JudgmentsLike,
        runs: RunsLike,
        measure: MeasureLike,
        *,
        assessor: str | None = None,
        new_judge: str = ANY,
        transitions: Transitions | None = None,
        gains: GainsLike = "linear",
        topics: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> JudgeSwap:
        """Settle who judges and how labels change, scan the runs once, and score them with the labels at hand."""
        labels = as_judgments(judgments)
        old = current_assessor(labels, assessor)
        found = transitions or fit_transitions(labels, old, new_judge)
        given = Given.of(labels, found.new) if transitions is None else None
        case = Case.of(labels, runs, assessor=old, progress=progress)
        plan = Plan.of([measure], gains_for(gains, labels.scale), 0.0)
        layout = Layout.of(case, plan, topics=topics)
        now = layout.place(score_facts(case.facts, case.panel, plan))[:, :, 0, 0]
        return cls(case, plan, layout, found, now, given)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.case.facts.systems

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.plan.names[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say about the scores."""
        return self.layout.notes

    def forecast(self, draws: Floats, form: str) -> Forecast:
        """Make a forecast of mean scores at hand; draws (draw, system)."""
        topics = self.layout.topics
        return Forecast(self.systems, topics, self.measure, self.now, draws, self.transitions, form, self.notes)

    def judges(self, form: str, n_draws: int, *, seed: np.random.SeedSequence) -> Rejudging:
        """Return other judges, each a draw of labels."""
        label, topic = one_label_each(self.case.panel), self.case.judgments.items.topic
        matrices = self.transitions.matrices(form, at_hand=self.given is not None)
        leaning = self.transitions.leaning_of(self.case.judgments.items, form)
        return Rejudging(label, topic, matrices, range(n_draws), seed, leaning, self.given)

    def draws(self, form: str, n_draws: int, *, seed: np.random.SeedSequence) -> Iterator[Floats]:
        """Score the labels of other judges, a block of draws at a time -> (system, topic, draw)."""
        judges = self.judges(form, n_draws, seed=seed)
        step = max(1, BLOCK_CELLS // max(judges.n_items, len(self.case.facts.depth), 1))
        for first in range(0, n_draws, step):
            part = judges.part(first, min(first + step, n_draws))
            yield self.layout.place(score_facts(self.case.facts, part, self.plan))[:, :, 0]


def resampled(now: Floats, n_draws: int, *, rng: RNGLike = 0) -> Floats:
    """Mean scores over resampled topics: now (system, topic) -> (draw, system)."""
    weights = topic_weights(now.shape[1], n_draws, np.random.default_rng(rng))
    return weights @ np.nan_to_num(now).T / now.shape[1]

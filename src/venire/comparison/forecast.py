r"""Forecasts: how systems would score under another judge, from the labels of one.

A label that the other judge gave is kept in every draw.  Where the other judge gave none, a label is drawn given that
of the current judge, from transition matrices (``disagreement.transitions``).  All systems are scored on each draw, and
probabilities are shares of draws: in which share does A stay ahead of B?  With N draws, a share p has the standard
error :math:`\sqrt{p(1-p)/N}`.  Of n other judges, each has every n-th draw (``data.rejudging``).  If transitions are
stated, the new judge gave no labels, and all labels are drawn.  The topics are fixed: for other topics see
``resampled``, for both at once ``comparison.uncertainty``.

The judge model ``pooled`` is a linear pool of two forecasts: half of the draws are of another judge (hierarchical),
half of other topics under the same judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from venire.data.gains import GainsLike
from venire.data.panel import current_assessor, one_label_each
from venire.data.rejudging import Given, Rejudging
from venire.disagreement.transitions import ANY, Transitions, fit_transitions
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike
from venire.measures.evaluate import Case, Layout, as_list
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, score_facts
from venire.randomness import seed_of, topic_weights
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats, Ints, RNGLike

BLOCK_CELLS = 1 << 21
"""How many cells (draws x items, draws x lists) are held at a time."""
POOLED, DEFAULT_MODEL = "pooled", "hierarchical"
FRAGILE = 0.2
"""A pair is fragile if another judge reverses it with more than this probability."""
TIE = 1e-12
"""Means closer than this are equal: smaller differences are rounding errors."""


@dataclass(frozen=True, eq=False)
class Forecast(Tabular):
    """Scores now, (system, topic), and means over topics under other judges, draws (draw, system)."""

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    now: Floats
    draws: Floats
    transitions: Transitions
    judge_model: str
    notes: tuple[Any, ...] = ()

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
        new = self.draws[:, a] - self.draws[:, b]
        sign = np.where(np.abs(delta) > TIE, np.sign(delta), 0.0)
        moved = np.where(np.abs(new) > TIE, np.sign(new), 0.0)
        stays = ((moved == sign) & (sign != 0)).mean(axis=0)
        flips = ((moved == -sign) & (sign != 0)).mean(axis=0)
        tie = (moved == 0).mean(axis=0)
        se = np.sqrt(stays * (1 - stays) / len(self.draws))
        return Changes(delta, new.mean(axis=0), new.std(axis=0, ddof=1), stays, tie, flips, se)

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
        """Pairs that another judge reverses with a probability over ``FRAGILE``."""
        return self.flips > FRAGILE


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

    judge_model : how labels that the new judge did not give are drawn (``disagreement.transitions``), or "pooled"
    Cost: draws x (items + hits); memory: a block of draws, and draws x systems.
    """
    swap = JudgeSwap.of(judgments, runs, measure, **options)
    return swap.forecasts(judge_model=judge_model, n_draws=n_draws, rng=rng)[0]


@dataclass(frozen=True, eq=False)
class JudgeSwap:
    """Another judge in place of the current one: what is scored, scores now, and how labels change.

    given: labels of the other judges, which are kept.  Every question about other judges draws from this object.
    """

    case: Case
    plan: Plan
    layout: Layout
    transitions: Transitions
    scores: Scores
    given: Given | None = None

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
        labels = as_judgments(judgments)
        scoring = Scoring(assessor=current_assessor(labels, assessor), gains=gains, topics=topics)
        plan = scoring.plan(as_list(measures), labels.scale)
        case = Case.of(labels, runs, scoring, progress=progress)
        return cls.on(case, plan, new_judge=new_judge, transitions=transitions)

    @classmethod
    def on(cls, case: Case, plan: Plan, *, new_judge: str = ANY, transitions: Transitions | None = None) -> JudgeSwap:
        """Replace the one assessor of a case."""
        found = transitions or fit_transitions(case.judgments, str(case.scoring.assessor), new_judge)
        given = Given.of(case.judgments, found.new) if transitions is None else None
        layout = Layout.of(case, plan)
        scores = layout.scores(score_facts(case.facts, case.panel, plan), case, plan)
        return cls(case, plan, layout, found, scores, given)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.case.facts.systems

    def only(self, number: int) -> JudgeSwap:
        """Keep one measure."""
        name, layout = self.plan.names[number], replace(self.layout, nothing=self.layout.nothing[[number]])
        scores = replace(
            self.scores, values=self.scores.values[:, :, [number]], names={**self.scores.names, "measure": (name,)}
        )
        return replace(self, plan=self.plan.only([number]), layout=layout, scores=scores)

    def forecast(self, draws: Floats, judge_model: str, number: int = 0) -> Forecast:
        """Return mean scores under other judges as a forecast; draws (draw, system)."""
        now = self.scores.values[:, :, number]
        about = self.transitions, judge_model, self.layout.notes
        return Forecast(self.systems, self.layout.topics, self.plan.names[number], now, draws, *about)

    def forecasts(
        self, *, judge_model: str = DEFAULT_MODEL, n_draws: int = 2000, rng: RNGLike = 0
    ) -> tuple[Forecast, ...]:
        """Forecast the scores of every measure, from the same draws."""
        seed, for_topics = seed_of(rng).spawn(2)
        pooled = judge_model == POOLED
        n_judges = -(-n_draws // 2) if pooled else n_draws
        blocks = self.draws(DEFAULT_MODEL if pooled else judge_model, n_judges, seed=seed)
        means = np.concatenate([np.nanmean(block, axis=1) for block in blocks], axis=-1)
        found = []
        for number in range(len(self.plan.names)):
            draws = means[:, number].T
            if pooled:
                now = self.scores.values[:, :, number]
                draws = np.concatenate([draws, resampled(now, n_draws - n_judges, rng=for_topics)])
            found.append(self.forecast(draws, judge_model, number))
        return tuple(found)

    def judges(self, judge_model: str, n_draws: int, *, seed: np.random.SeedSequence) -> Rejudging:
        """Return other judges, each a draw of labels."""
        label, topic = one_label_each(self.case.panel), self.case.judgments.items.topic
        matrices = self.transitions.matrices(judge_model, with_labels=self.given is not None)
        leaning = self.transitions.leaning_of(self.case.judgments.items, judge_model)
        return Rejudging(label, topic, matrices, range(n_draws), seed, leaning, self.given)

    def draws(self, judge_model: str, n_draws: int, *, seed: np.random.SeedSequence) -> Iterator[Floats]:
        """Score the labels of other judges, a block of draws at a time -> (system, topic, measure, draw)."""
        judges = self.judges(judge_model, n_draws, seed=seed)
        step = max(1, BLOCK_CELLS // max(judges.n_items, len(self.case.facts.depth) * len(self.plan.names), 1))
        for first in range(0, n_draws, step):
            part = judges.part(first, min(first + step, n_draws))
            yield self.layout.place(score_facts(self.case.facts, part, self.plan))


def resampled(now: Floats, n_draws: int, *, rng: RNGLike = 0) -> Floats:
    """Return mean scores over resampled topics: now (system, topic) -> (draw, system)."""
    weights = topic_weights(now.shape[1], n_draws, np.random.default_rng(rng))
    return weights @ np.nan_to_num(now).T / now.shape[1]

r"""Which results to label so that a question about systems is decided: a pair, the best, the first K, all levels.

Corrected scores (``comparison.corrected_scores``) predict the gain of every result that the reference did not label,
with its standard deviation :math:`\sigma_i`, and systems s have scores :math:`\sum_i w_{si} g_i`, exactly for linear
measures; for others w is the discount, scaled in each topic so that the sums over systems are those of the measure.

**Design.**  The goal is a set of differences of two systems a and b, each with the probability :math:`q_{ab}` that
their order is not as it looks now.  Results are drawn with probabilities in proportion to

.. math:: \sqrt{\sum_{ab} q_{ab} (w_{ai} - w_{bi})^2}\; \sigma_i / \sqrt{c_i}

with :math:`c_i` the cost of a judgment: Neyman's allocation (1934, doi:10.2307/2342192), one result a stratum.  For
levels the root is replaced by :math:`\sum_s w_{si}`, since the errors of the scores have much in common; with
:math:`\sqrt{\sum_s w_{si}^2}` their mean error was .031 in place of .023 (``bench/plan.py``).  Every result that counts
has at least ``FLOOR`` times the mean probability, so that no prediction is trusted blindly, and samples are spread over
topics (``kernels.sampling``).

**Forecast.**  Before a label is bought, a set of n results is drawn by this design.  With V the covariance of the
scores now, and :math:`V_n` that with these labels, the estimate will be normal around the present one with covariance
:math:`V - V_n` (preposterior analysis; Raiffa and Schlaifer 1961).  The goal is decided where 95 % intervals exclude 0
for all differences that it is about: that the first system is ahead of each of the others, for the claim that it is the
best (an intersection-union test, which needs no adjustment: Berger 1982, doi:10.1080/00401706.1982.10487790).  Levels
are decided by half-widths, which will be estimates: the logarithm of the widest one is taken as normal, with the
variance :math:`1 / 2d` of that of a standard deviation with d degrees of freedom, and :math:`s^2` for what is not known
of the judge: s is .30 before the first label, when half-widths are those of an average judge times .88, and .11 with
labels, when they are those of the forecast times .96 (36 language models, ``bench/plan.py``).  Half-widths of
differences are those of an average judge times 1.05 before the first label.

Cost: one prediction of labels, and for each budget of the forecast one fit of O(items x systems^2), for at most
``MOST_SYSTEMS`` systems, fewer where there are many topics; the design of levels is of all systems.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle

import numpy as np

from venire.comparison.correction import Scene, is_linear
from venire.comparison.residual_model import Part, ResidualModel
from venire.data.asked import FIRST, REFERENCE, Asked
from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.data.runs import Facts
from venire.errors import SettingError, UnjudgedWarning
from venire.kernels.residual_effects import root
from venire.measures.evaluate import Case, Layout
from venire.measures.scoring import Plan as Measured, Scoring, score_facts
from venire.planning.candidates import Candidates, group_spread, reasons_of, summed_weights
from venire.planning.goals import PAIR, Goal
from venire.planning.question import WITHIN, Question, deviations, reach_of, same_rows
from venire.planning.result import Expected
from venire.results import listed
from venire.types import Floats, Ints

MOST_SYSTEMS, MOST_CELLS = 64, 10**7
"""The forecast is computed for at most so many systems, and for so many cells of systems x systems x results."""
N_DRAWS = 2000
NEW_JUDGE, KNOWN_JUDGE = (0.84, 0.3), (0.96, 0.11)
"""Half-width of levels as a multiple of the forecast, and the standard deviation of its logarithm that is due to the
judge: before the first label, and with labels."""
NEW_DIFFERENCE = 1.05
"""Half-width of differences before the first label, likewise."""
BUDGETS, MANY_TOPICS = ((0.25, 0.5, 1.0, 2.0, 4.0), (0.5, 1.0, 2.0)), 1000
"""Budgets of the forecast, as shares of the one that was given; fewer with many topics."""


@dataclass(frozen=True, eq=False)
class SystemsPlan:
    """All that a plan for a question about systems is made of; the scene is of the systems in ``chosen``.

    same: groups of those that the question is about, whose results count alike in every topic
    """

    facts: Facts
    chosen: Ints
    scene: Scene
    question: Question
    costs: Mapping[str, float]
    seed: int
    linear: bool
    same: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(
        cls,
        labels: Judgments,
        facts: Facts,
        measured: Measured,
        scoring: Scoring,
        *,
        goal: Goal,
        judges: Sequence[str],
        people: Sequence[str],
        costs: Mapping[str, float],
        within: float = WITHIN,
        seed: int = 0,
    ) -> SystemsPlan:
        """Choose the systems of the forecast, and predict labels; labels have all results among their items."""
        question = Question.of(goal, facts.systems, within=within)
        case = Case(labels, build_panel(labels, per="assessor"), facts, scoring)
        most = most_systems(int(np.count_nonzero(np.bincount(facts.topic))), measured.depth or 10)
        chosen = chosen_systems(case, measured, question, judges or people, most=most)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnjudgedWarning)  # what is not judged is what is planned
            part = replace(case, facts=facts.of_systems(chosen))
            question = replace(question, members=np.searchsorted(chosen, np.intersect1d(question.members, chosen)))
            pair = tuple(question.members.tolist()) if goal.kind == PAIR else None
            scene = Scene.of(part, measured, judge=tuple(judges), reference=tuple(people), planned=True, pair=pair)
        groups = same_rows(scene.models[0].weights[question.members])
        same = tuple(tuple(question.members[each].tolist()) for each in groups)
        linear = is_linear(measured.measures[0])
        return cls(facts, chosen, scene, question.of_groups(same), costs, seed, linear, same)

    @cached_property
    def now(self) -> Part:
        """The scores by the labels so far."""
        return self.scene.corrected(0, n_draws=400, rng=np.random.default_rng(self.seed))

    @cached_property
    def weights(self) -> Floats:
        """What the gain of each item of the model adds to the scores, scaled by topic -> (system, item)."""
        model = self.scene.models[0]
        if self.linear:
            return model.weights
        return model.weights * topic_scales(self.scene)[self.facts.items.topic[model.item]]

    def decided(self, level: float) -> bool:
        """Whether the labels so far decide the question, by intervals of this level."""
        reach = reach_of(self.scene.degrees, level)
        return bool(self.question.decided(self.now.value[None], self.now.covariance, reach)[0])

    def outcome(self, level: float) -> str:
        """Say what the labels so far tell, with an interval of this level; nothing where that is 0."""
        if not level > 0:
            return ""
        value, names, reach = self.now.value, self.scene.case.facts.systems, reach_of(self.scene.degrees, level)
        if self.question.within is not None:
            widest = self.question.half_width(value, self.now.covariance, reach)
            return f"The widest interval has a half-width of {widest:.3f}."
        if len(self.same) == 1:
            return f"{listed([names[n] for n in self.same[0]])} have the same score."
        order = self.question.order(value)[: self.question.first + 1].tolist()
        if len(order) > 2:
            words = f"The order is {', '.join(names[n] for n in order[:-1])}, then {names[order[-1]]}"
            unsure = "" if self.decided(level) else ", of which not all differences are decided"
            return f"{words}{unsure}."
        first, second = order
        ahead = float(value[first] - value[second])
        half = reach * float(deviations(self.now.covariance)[first, second])
        if max(ahead, half) <= 1e-12:
            return f"{names[first]} and {names[second]} have the same score."
        interval = f" (interval for this look {ahead - half:.4f} to {ahead + half:.4f})" if half > 0 else ""
        return f"{names[first]} is ahead of {names[second]} by {ahead:.4f}{interval}."

    def budgets(self, left: float) -> list[float]:
        """Budgets of the forecast: what is left, shares and multiples of it, and the cost of everything.

        Shares are whole numbers of the cheapest judgment.  If everything costs much more, one budget is between.
        """
        few = len(self.scene.layout.chosen) > MANY_TOPICS
        cost = self.candidates.cost
        all_of_it, least = float(cost.sum()), float(cost.min())
        left = min(left, all_of_it)
        found = {left * share if share >= 1 else least * max(round(left * share / least), 1) for share in BUDGETS[few]}
        most = max(found)
        between = {float(round(np.sqrt(most * all_of_it)))} if all_of_it > 4 * most and not few else set()
        return sorted({min(each, all_of_it) for each in found | between} | {all_of_it})

    @cached_property
    def candidates(self) -> Candidates:
        """Results that count and that the reference did not label."""
        model, labels = self.scene.models[0], self.scene.labels
        inside = np.zeros(len(self.facts.items))
        own = model.deviation()
        deviation = group_spread(own, labels.group[model.item], int(labels.group.max(initial=0)) + 1)[labels.group]
        deviation[model.item] = own
        inside[model.item] = self.importance()
        if self.question.within is not None and len(self.chosen) < len(self.facts.systems):
            inside = summed_weights(self.facts, self.scene.plan, float(self.scene.share[0])) ** 2
        topic = np.asarray(self.facts.items.topic, dtype=np.int64)
        item = np.flatnonzero((inside > 0) & (deviation > 0) & ~labels.known & np.isin(topic, self.scene.layout.chosen))
        unseen = labels.group[item] == labels.rows.shape[1]
        cost = np.where(unseen, self.costs[FIRST], self.costs[REFERENCE])
        return Candidates(item, (np.sqrt(inside) * deviation)[item], cost, topic[item])

    def importance(self) -> Floats:
        """Squared weight of each item of the model on the differences that are in doubt -> (item,)."""
        weights = self.weights
        if self.question.within is not None:
            return np.asarray(weights.sum(axis=0) ** 2)
        found = np.zeros(weights.shape[1])
        for ahead, doubt in self.question.doubts(self.now.value, self.now.covariance):
            mine = weights[ahead]
            found += doubt.sum() * mine**2 - 2 * mine * (doubt @ weights) + doubt @ weights**2
        return np.maximum(found, 0.0) * (found > 1e-12 * found.max(initial=0.0))

    def expected(self, budget: float, level: float) -> Expected:
        """Forecast what a budget gives; other budgets share the random numbers, so that they can be compared."""
        probability = self.candidates.probabilities(budget)
        drawn = self.candidates.item[self.candidates.draw(probability, np.random.default_rng([self.seed, 1]))]
        model, now = self.scene.models[0], self.now
        more = np.isin(model.item, drawn)
        new = np.zeros_like(now.covariance)
        if len(drawn) < len(self.candidates.item):
            scaled = replace(model, weights=self.weights)
            new = scaled.expected_covariance(more)
            new = new * self._unit(scaled)
        labelled = self.scene.labels.known & self.scene.scored
        labelled[drawn] = True
        degrees = max(len(np.unique(self.facts.items.topic[labelled])) - 1, 4)
        reach = reach_of(degrees, level) * (1.0 if self.scene.labels.known.any() else NEW_DIFFERENCE)
        half_width = self.question.half_width(now.value, new, reach)
        if self.question.within is not None:
            wider, spread = self.of_judge(degrees)
            p = chance_of_within(self.question.within, wider * half_width, spread)
            return Expected(budget, p, wider * half_width)
        normal = np.random.default_rng([self.seed, 2]).standard_normal((N_DRAWS, len(now.value)))
        values = now.value + normal @ root(now.covariance - new).T
        return Expected(budget, float(self.question.decided(values, new, reach).mean()), half_width)

    def of_judge(self, degrees: int) -> tuple[float, float]:
        """Return what half-widths of levels are multiplied by, and the standard deviation of their logarithm."""
        wider, spread = KNOWN_JUDGE if self.scene.labels.known.any() else NEW_JUDGE
        return wider, float(np.hypot(spread, 1 / np.sqrt(2 * degrees)))

    def _unit(self, model: ResidualModel) -> Floats:
        """Scale a covariance of the linear approximation to the measure itself -> (system, system)."""
        if self.linear:
            return np.ones_like(self.now.covariance)
        base = model.effects.weighted(model.weights)[1] * model.thresholds.range**2
        ratio = np.sqrt(np.diagonal(self.now.covariance) / np.maximum(np.diagonal(base), 1e-300))
        return np.outer(ratio, ratio)


def chance_of_within(within: float, half_width: float, spread: float) -> float:
    """Return the probability that a half-width will be at most this one, where so much is expected.

    spread: standard deviation of its logarithm

    Examples
    --------
    >>> chance_of_within(0.03, 0.03, 0.2), round(chance_of_within(0.03, 0.033, 0.2), 2)
    (0.5, 0.32)
    """
    from scipy.special import ndtr

    return float(ndtr(np.log(within / max(half_width, 1e-12)) / spread))


def most_systems(n_topics: int, depth: int) -> int:
    """For how many systems the forecast is computed.

    Examples
    --------
    >>> most_systems(53, 10), most_systems(10_000, 10)
    (64, 10)
    """
    return int(np.clip(np.sqrt(MOST_CELLS / max(n_topics * depth, 1)), 2, MOST_SYSTEMS))


def chosen_systems(case: Case, measured: Measured, question: Question, judges: Sequence[str], *, most: int) -> Ints:
    """Choose systems for the forecast: those of a pair, the first ones, or some of all; in order of their numbers."""
    n_systems = len(case.facts.systems)
    if n_systems <= most:
        return np.arange(n_systems)
    if question.within is not None:
        return np.unique(np.linspace(0, n_systems - 1, most).astype(np.int64))
    if len(question.members) < n_systems:
        return np.sort(question.members)
    if most <= question.first:
        raise SettingError(f"the order of {question.first} systems cannot be planned", hint=f"at most {most - 1}")
    labels = case.judgments.where(assessor=list(judges))
    own = replace(case, judgments=labels, panel=build_panel(labels, pool="mean" if len(judges) > 1 else None))
    blocks = np.array_split(np.arange(n_systems), -(-n_systems // MOST_SYSTEMS))
    raw = np.concatenate([raw_scores(replace(own, facts=own.facts.of_systems(each)), measured) for each in blocks])
    return np.sort(np.argsort(-raw, kind="stable")[:most])


def raw_scores(case: Case, measured: Measured) -> Floats:
    """Mean scores by the labels of a panel of one -> (system,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjudgedWarning)
        layout = Layout.of(case, measured)
    return np.asarray(np.nanmean(layout.place(score_facts(case.facts, case.panel, measured))[:, :, 0, 0], axis=1))


def topic_scales(scene: Scene) -> Floats:
    """By what the linear approximation of each topic is to be multiplied, so that sums over systems agree -> (topic,).

    By the labels of the judge; 1 where these give no result a gain.
    """
    panel = build_panel(scene.case.judgments.where(assessor=list(scene.judges or scene.reference)), pool="mean")
    score = np.nansum(scene.layout.place(score_facts(scene.case.facts, panel, scene.plan))[:, :, 0, 0], axis=0)
    gain = panel.gains(scene.plan.worths[0].values, 0, 1)[0][0]
    linear = (scene.weights(0) / scene.share[:, None]).sum(axis=0) * gain
    topic = scene.case.facts.items.topic
    total = np.bincount(topic, weights=linear, minlength=len(scene.case.facts.items.topics))
    some = total[scene.layout.chosen] > 0
    there = scene.layout.chosen[some]
    found = np.full(len(total), score.sum() / total[there].sum() if some.any() else 1.0)
    found[there] = score[some] / total[there]
    return found


def asked_rows(plan: SystemsPlan, drawn: Ints, probability: Floats, judges: Sequence[str]) -> tuple[Asked, ...]:
    """Name the candidates that were drawn (position,), in blocks by topic; each has one assessor in all rounds."""
    candidates, labels = plan.candidates, plan.scene.labels
    items, facts, item = plan.facts.items, plan.facts, candidates.item[drawn]
    topics, docs = list(items.topics), items.doc.take(item)
    turn = dict(zip(plan.scene.layout.chosen.tolist(), cycle(judges), strict=False))
    reasons = reasons_of(facts, item)
    return tuple(
        Asked(
            topics[topic],
            doc,
            turn[topic],
            FIRST if labels.group[number] == labels.rows.shape[1] else REFERENCE,
            float(probability[position]),
            reason,
        )
        for topic, doc, number, position, reason in zip(
            items.topic[item].tolist(), docs, item.tolist(), drawn.tolist(), reasons, strict=True
        )
    )

"""What is corrected: topics and lists, the weight of each item in them, and the labels of judge and reference.

A measure that is linear in the gains (P, CG, DCG, RBP) is a weighted sum over items, so that its mean and covariance
between systems follow in closed form from those of the gains (``comparison.residual_model``).  For any other measure
labels that the reference did not give are drawn, and all systems are scored on each draw.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from venire.comparison.favour_statistics import FEWEST_PAIRS, pairs_in_order
from venire.comparison.judge_residuals import rank_weights as alone_at_ranks
from venire.comparison.residual_model import (
    RANKER_SD,
    WEIGHT_SD,
    Part,
    ResidualModel,
    item_features,
    judge_rankers,
    log_weights,
)
from venire.comparison.score_effects import log_odds_of_scores
from venire.data.judgments import Judgments
from venire.data.panel import Panel, build_panel, in_isolation
from venire.data.runs import Facts
from venire.disagreement.reference_labels import ReferenceLabels, predict_labels, reference_names
from venire.errors import PairsError, SettingError, UnknownName, VenireWarning
from venire.measures.cascade import ERR, RBP, RR, RBPResidual
from venire.measures.dcg import CCG, CG, DCG
from venire.measures.evaluate import Case, Layout
from venire.measures.intents import GreedyShare, IntentMeasure, item_shares
from venire.measures.list_facts import systems_with_results
from venire.measures.measure import ContextMeasure, CountsRelevant, Measure, Normalised, Ranked
from venire.measures.precision import P, Q, Success, bpref
from venire.measures.scoring import Plan, score_facts
from venire.results import Note, listed
from venire.types import Bools, Floats, Ints

BLOCK_CELLS = 1 << 21
"""How many cells (draws x items) are held at a time."""
LEAST_DEGREES = 4
NEARLY_ALL, MOST_BELOW = 0.95, 0.2
"""Nearly all labels of the reference are up to a rank; a note says so if more of the gain than this is below it."""
LINEAR, NOT_LINEAR = (P, CG, DCG, CCG, RBP), (Normalised, RBPResidual)
UP_TO_1 = (Normalised, CountsRelevant, Q, bpref, RR, ERR, Success, IntentMeasure)
"""Measures that are from 0 to 1 and not linear in the gains: their intervals end there."""


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
    def of(
        cls,
        case: Case,
        plan: Plan,
        *,
        judge: str | Sequence[str],
        reference: str | Sequence[str] | None,
        planned: bool = False,
        pair: tuple[int, int] | None = None,
    ) -> Scene:
        """Choose topics, score the labels of the judge, and predict those of the reference.

        planned: more labels are to come, so that the reference may have given none, there may be no judge, whose place
        the labels of the reference then take, and items that nobody labelled are predicted too.
        pair: two systems whose difference alone is asked for, so that items count by their weight in it.
        """
        if plan.unjudged_known or case.group is not None:
            raise SettingError(
                "corrected scores are defined where unjudged documents have no gain and copies count",
                hint="leave out the rules for unjudged documents and for duplicates",
            )
        judges = (judge,) if isinstance(judge, str) else tuple(judge)
        people = tuple(reference or ()) if planned else reference_names(case.judgments, reference)
        if set(judges) & set(people):
            raise SettingError(f"{listed(judges)} cannot be corrected by itself", hint="name another reference")
        labels, _ = in_isolation(case.judgments)
        for name in judges:
            if name not in labels.assessors:
                raise UnknownName("assessor", name, labels.assessors)
        own_labels = judges or people
        labelled = Labelled.of(labels, own_labels, people, asked=case.scoring.topics)
        layout = _layout(case, plan, labels, labelled)
        if layout.silent and not planned:  # by topics that this judge did not label
            kept = systems_with_results(case.facts, layout.chosen)
            case = replace(
                case, facts=replace(case.facts.of_systems(kept), silent=(*case.facts.silent, *layout.silent))
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", VenireWarning)  # the first layout gave them
                layout = _layout(case, plan, labels, labelled)
        own = _panel_of(labels, own_labels)
        raw = np.nanmean(layout.place(score_facts(case.facts, own, plan))[..., 0], axis=1)
        scored = np.isin(labels.items.topic, layout.chosen)
        if not planned:
            scored &= np.bincount(labels.item, minlength=len(scored)) > 0
        share = _topic_shares(layout, case.scoring.missing)
        weights = [list_weights(case.facts, layout.chosen, each, share) for each in plan.measures]
        weights = [each / (each.max() or 1.0) for each in weights]
        counted = weights if pair is None else [np.abs(np.diff(each[list(pair)], axis=0)) for each in weights]
        importance = np.sum(counted, axis=(0, 1))
        predicted = predict_labels(labels, judges, people, importance=importance)
        if not planned and not (predicted.known & (predicted.group < predicted.rows.shape[1])).any():
            raise PairsError(
                f"no item was labelled by {listed(judges)} and by the reference ({listed(people)})",
                hint="have the reference label some of the results that the systems return",
            )
        notes = (*layout.notes, predicted.note, *predicted.notes)
        found = cls(case, plan, layout, judges, people, predicted, raw, scored, share, notes)
        return replace(found, notes=(*notes, *found.below_labels()))

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the intervals."""
        topics = np.unique(self.case.facts.items.topic[self.labels.known & self.scored])
        return max(len(topics) - 1, LEAST_DEGREES)

    def corrected(self, number: int, *, n_draws: int, rng: np.random.Generator) -> Part:
        """Correct the scores of one measure; those of a measure that is not linear in the gains by draws of labels."""
        if self.whole:
            value = np.nanmean(self.by_reference(number, self.known_gains(number)[None])[0], axis=1)
            return Part(value, np.zeros((len(value), len(value))), value, value)
        model = self.models[number]
        if is_linear(self.plan.measures[number]):
            return model.weighted_sums()
        return self.drawn(model, number, n_draws=n_draws, rng=rng)

    def drawn(self, model: ResidualModel, number: int, *, n_draws: int, rng: np.random.Generator) -> Part:
        """Correct the scores of any measure, by a quarter as many draws of the missing labels."""
        draw, blocks, n_labellings = model.label_draws(), [], max(2, n_draws // 4)
        step = max(1, BLOCK_CELLS // max(len(model.item), len(self.case.facts.depth), 1))
        for first in range(0, n_labellings, step):
            gain = np.zeros((min(step, n_labellings - first), len(self.scored)))
            gain[:, model.item] = draw(len(gain), rng)
            blocks.append(np.nanmean(self.by_reference(number, gain), axis=2))
        found = np.concatenate(blocks)
        value, covariance = found.mean(axis=0), np.atleast_2d(np.cov(found, rowvar=False))
        measure = self.plan.measures[number]
        bounds = (0.0, 1.0) if isinstance(measure, UP_TO_1) else (-np.inf, np.inf)
        if isinstance(measure, GreedyShare):  # the greedy ideal may not be the best
            bounds = (0.0, np.inf)
        return Part(value, covariance, *(np.full(len(value), each) for each in bounds))

    def weights(self, number: int) -> Floats:
        """Return what the gain of each item adds to the mean score of each system, by one measure -> (system, item)."""
        return list_weights(self.case.facts, self.layout.chosen, self.plan.measures[number], self.share)

    @property
    def whole(self) -> bool:
        """Whether the reference labelled every item that is scored."""
        return bool(self.labels.known[self.scored].all())

    def known_gains(self, number: int) -> Floats:
        """Return the gains by the labels of the reference, 0 where it gave none -> (item,)."""
        return np.where(self.scored, self.labels.shares @ self.plan.worths[number].values, 0.0)

    def by_reference(self, number: int, gain: Floats) -> Floats:
        """Score draws of the gains of all items, (draw, item), by one measure -> (draw, system, topic)."""
        scores = score_facts(self.case.facts, DrawnGains(gain, self.scored), self.plan.only([number]))
        return np.moveaxis(self.layout.place(scores)[:, :, 0], -1, 0)

    @cached_property
    def own(self) -> Panel:
        """The labels of the judge that is corrected."""
        return _panel_of(in_isolation(self.case.judgments)[0], self.judges)

    @cached_property
    def models(self) -> tuple[ResidualModel, ...]:
        """The models of residuals, one for each measure."""
        return tuple(map(self.model, range(len(self.plan.names))))

    def model(self, number: int) -> ResidualModel:
        """Fit the model of residuals for one measure."""
        measure, weights = self.plan.measures[number], self.weights(number)
        features = item_features(weights, self.labels.group)
        if counts_all_relevant(measure):
            features = np.column_stack([features, WEIGHT_SD * log_weights(weights)])
        features = np.concatenate([features, RANKER_SD * judge_rankers(weights, self.in_order)], axis=1)
        item = np.flatnonzero(self.scored)
        start = np.searchsorted(self.case.facts.items.topic[item], np.append(self.layout.chosen, 1 << 30))
        values = self.plan.worths[number].values
        given = {"weights": weights, "features": features, "score_odds": self.score_odds(weights, values)}
        return ResidualModel.of(self.labels, values, item=item, start=start, **given)

    def score_odds(self, weights: Floats, values: Floats) -> Floats:
        """Return the log-odds of the scores by the judge, NaN without one -> (system,); weights (system, item)."""
        if not self.judges:
            return np.full(len(weights), np.nan)
        gain, labelled = (each[0] for each in self.own.gains(values, 0, 1))
        base, top = values.min(), values.max()
        return log_odds_of_scores(weights, (gain - base) / ((top - base) or 1.0), labelled & self.scored)

    def below_labels(self) -> Iterator[Note]:
        """Yield a note for each measure that counts all relevant items, if many are below what the reference labelled.

        Below: at a higher rank in every list than nearly all of the items that the reference labelled.
        """
        rank = np.full(len(self.scored), np.inf)
        np.minimum.at(rank, self.case.facts.item, self.case.facts.rank)
        labelled = rank[self.labels.known & self.scored & np.isfinite(rank)]
        depth = float(np.quantile(labelled, NEARLY_ALL)) if len(labelled) else np.inf
        below = self.scored & ~self.labels.known & (rank > depth)
        for measure, name, worth in zip(self.plan.measures, self.plan.names, self.plan.worths, strict=True):
            gain = np.where(self.scored, self.labels.rows @ np.maximum(worth.values, 0.0), 0.0)
            share = float(gain[below].sum() / (gain.sum() or 1.0))
            if counts_all_relevant(measure) and share > MOST_BELOW:
                text = (
                    "{measure} counts relevant results at every rank, and {share:.0%} of them are predicted below rank "
                    "{depth:.0f}, where the reference labelled nearly none: its intervals may be too short"
                )
                yield Note("below-labels", text, measure=name, share=share, depth=depth)

    @cached_property
    def in_order(self) -> Floats:
        """In which share of pairs of results with different labels by the judge the higher is first -> (system,).

        0 where pairs are too few to tell.
        """
        group, n_labels = self.labels.group, self.labels.rows.shape[1]
        label = np.where(group < n_labels, group, -1)
        right, n_pairs = pairs_in_order(self.case.facts, label, self.layout.chosen)
        return np.where(n_pairs >= FEWEST_PAIRS, right / np.maximum(n_pairs, 1.0), 0.0)

    def by_topic(self, number: int, *, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Score topics by the judge, and by draws of the labels that the reference did not give, for one measure.

        Returns (system, topic), (draw, system, topic); one draw if the reference labelled everything.
        """
        gain = self.known_gains(number)[None]
        if not self.whole:
            gain = np.zeros((n_draws, len(self.scored)))
            gain[:, self.models[number].item] = self.models[number].label_draws()(n_draws, rng)
        by_judge = self.layout.place(score_facts(self.case.facts, self.own, self.plan.only([number])))
        return by_judge[:, :, 0, 0], self.by_reference(number, gain)


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
    own = np.isin(labels.assessors, list(names))[labels.assessor.codes]
    seen = np.unique(labels.items.topic[labels.item[own]])
    return set(labels.items.topics.take(seen))


def _layout(case: Case, plan: Plan, labels: Judgments, labelled: Labelled) -> Layout:
    """Lay out the topics that the judge labelled; an item that anybody labelled is not unjudged."""
    scoring = replace(case.scoring, per=None, assessor=None, topics=[*labelled.topics, *labelled.unknown])
    layout = Layout.of(replace(case, panel=build_panel(labels, pool="mean"), scoring=scoring), plan)
    return replace(layout, notes=(*layout.notes, *labelled.notes))


def _topic_shares(layout: Layout, missing: str) -> Floats:
    """Return what each topic counts for in the mean of each system -> (system,)."""
    facts = layout.lists
    if missing == "zero":
        return np.full(len(facts.systems), 1.0 / len(layout.chosen))
    n_lists = np.bincount(facts.system[np.isin(facts.topic, layout.chosen)], minlength=len(facts.systems))
    return np.asarray(1.0 / np.maximum(n_lists, 1))


def is_linear(measure: Measure) -> bool:
    """Whether the measure is a sum of gains, each with a weight that depends on its rank alone."""
    return isinstance(measure, LINEAR) and not isinstance(measure, NOT_LINEAR)


def counts_all_relevant(measure: Measure) -> bool:
    """Whether relevant items count at every rank, also those that no list has, as in AP."""
    return measure.normalised and measure.best_depth is None


def rank_weights(measure: Measure, depth: int) -> Floats:
    """Return what a gain of 1 at ranks 1 to depth adds to the score -> (depth,).

    Exactly for linear measures; for others their discount, or 1 / rank; for measures by intent the score of a list with
    a single relevant document at that rank.
    """
    rank = np.arange(1, depth + 1)
    if measure.by_intent:
        alone, _ = alone_at_ranks(measure, depth)
        return np.pad(alone, (0, depth - len(alone)))
    if is_linear(measure):
        one = np.ones((1, depth, 1))
        return np.asarray(measure(Ranked(one, rank[:, None], one > 0, np.full(depth, depth)))[0])
    weight = measure.weights(rank) if isinstance(measure, ContextMeasure) else 1.0 / rank
    return np.where(rank <= (measure.k or depth), weight, 0.0)


def list_weights(facts: Facts, chosen: Ints, measure: Measure, share: Floats) -> Floats:
    """Return what the gain of each item adds to the mean score of each system -> (system, item); chosen: the topics."""
    weight = np.append(rank_weights(measure, int(facts.depth.max(initial=1))), 0.0)
    system = np.repeat(facts.system, facts.n_hits).astype(np.int64)
    counted_lists = np.repeat(np.isin(facts.topic, chosen), facts.n_hits)
    value = weight[np.minimum(facts.rank, len(weight)) - 1] * share[system] * counted_lists
    value *= item_shares(facts.items, measure)[facts.item]
    n_items = len(facts.items)
    cell = system * n_items + facts.item
    found = np.bincount(cell, weights=value, minlength=len(facts.systems) * n_items)
    return found.astype(np.float64, copy=False).reshape(-1, n_items)


@dataclass(frozen=True, eq=False)
class DrawnGains:
    """Judges that score runs: draws of the gains of all items, by known and drawn labels; gain (draw, item)."""

    gain: Floats
    judged: Bools

    unmixed = False

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

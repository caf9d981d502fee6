"""Evidence: what is computed for a report, each result once, when a chapter first needs it.

What cannot be computed is ``Missing`` with its reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from venire.agreement.confusion import Confusions, confusions
from venire.agreement.table import table
from venire.comparison.by_judge import ScoresByJudge, scores_by_judge
from venire.comparison.compare import MeasureComparison
from venire.comparison.contradictions import Contradictions
from venire.comparison.favoured import FavouredSystems, favoured_on
from venire.comparison.forecast import JudgeSwap, other_topics
from venire.comparison.significance import SystemComparison, compare_systems
from venire.comparison.uncertainty import UncertaintySources, uncertainty_sources
from venire.comparison.verdict import Verdict, verdict
from venire.data.assessors import PRIMARY, Copy, by_content, copies, coverage
from venire.data.gains import Gains, gains_for
from venire.data.judgments import Judgments
from venire.data.panel import judges_besides
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.disagreement.selection import Selection, find_selection
from venire.disagreement.top_results import rank_groups
from venire.errors import EqualLabelsWarning, VenireWarning
from venire.measures.evaluate import Case, equal_labels, evaluate
from venire.measures.intents import AllScore
from venire.measures.names import parse_measure
from venire.measures.random_users import UserScores, evaluate_users
from venire.measures.scores import Scores
from venire.measures.scoring import Scoring
from venire.planning.topics import TopicPlan, plan_topics
from venire.quality.power import DiscriminativePower, discriminative_power
from venire.quality.scales import ScaleComparison, compare_scales
from venire.report.question import Missing, or_missing
from venire.report.relevance import lowest_relevant
from venire.report.scoring_judge import DIGITS, NEARLY_ALL, Unjudged, share_of_results, unjudged_results
from venire.report.user_model import (
    SECOND,
    UserModel,
    crowd_model,
    modelled_gains,
    user_model,
)
from venire.report.whose_labels import WhoseLabels
from venire.types import Floats

TOP = 10
"""How many results at the top of a list are counted."""
MOST_TESTED = 5
"""How many judges are tested for favour: every test takes its time, and has its chance of a false finding."""
STATISTICS = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "gwet_ac", "raw_agreement", "phi", "jaccard")
"""The statistics of agreement that are shown."""
MEASURES = ("nDCG@10", "P@10", "AP", "RBP(p=0.8)", "ERR@10")
BY_INTENT = ("alpha_nDCG@10", "ERR_IA@10", "Dsharp_nDCG@10", "StRecall@10")
OF_NUGGETS = ("VitalScore", "AllScore", "WeightedScore")
"""The measures by which discriminative power is shown: of documents, of intents, of nuggets of answers."""
N_MERGED = 100
"""Resamples for each interval of merged labels."""


@dataclass(frozen=True, eq=False)
class Evidence(WhoseLabels):
    """Results for a question; each is computed once, and only if a chapter needs it."""

    @cached_property
    def compares_systems(self) -> bool:
        """Whether preferences are between result lists of the systems, not between documents."""
        preferences = self.question.preferences
        return preferences is not None and not set(preferences.docs).isdisjoint(self.facts.systems)

    @cached_property
    def relevant(self) -> str:
        """The lowest relevant label: as named, or that from which on people agree best (``report.relevance``)."""
        return self.question.relevant or lowest_relevant(self.judgments, self.own, self.facts)

    @cached_property
    def agreement(self) -> list[dict[str, Any]] | Missing:
        """All statistics of agreement, as records."""
        return or_missing(lambda: table(self.question.judgments, names=STATISTICS, rng=self.question.rng).records())

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """Assessors who repeat the labels of another."""
        return copies(self.question.judgments)

    @cached_property
    def confusions(self) -> Confusions | Missing:
        """Counts of pairs of labels that two assessors gave the same item."""
        return or_missing(lambda: confusions(self.question.judgments))

    @cached_property
    def user_model(self) -> UserModel:
        """The labels from which p(R|i) is learnt: of first results, if enough were judged twice."""
        users = self.people or ()
        if self.crowd is not None and not users:
            return crowd_model(self.workers, self.runs, self.judge, top=TOP, rng=self.question.rng)
        return user_model(self.everyone, self.runs, self.judge, reference=users, top=TOP, rng=self.question.rng)

    @cached_property
    def people(self) -> tuple[str, ...] | None:
        """Assessors who represent users: the reference or, without one, people; none of them scores the runs.

        () if nothing is declared, and all others represent users; None if nobody else is known to be a person.
        """
        labels = self.everyone
        if not (self.judgments.reference or self.judgments.machines):
            return ()
        for group in (self.judgments.reference, self.judgments.people):
            others = tuple(name for name in group if name != self.judge and name in labels.assessors)
            if others:
                return others
        return None

    @cached_property
    def nobody(self) -> Missing | None:
        """The reason why nothing is known of users, if so."""
        if self.alone is not None or self.people is not None:
            return self.alone
        return Missing(f"nobody besides {self.judge} is declared as a person", SECOND)

    @cached_property
    def fit(self) -> PredictedRelevanceFit | Missing:
        """p(R|i) for every threshold."""
        return self.nobody or self.user_model.fit("all")

    @cached_property
    def user_fit(self) -> PredictedRelevanceFit | Missing:
        """p(R|i) for the relevant labels."""
        return self.nobody or self.user_model.fit(self.relevant)

    @cached_property
    def gains(self) -> Mapping[str, Gains]:
        """Gains by name, with those of user models if these could be fitted."""
        plain = ["linear", "exponential", f"binary:{self.relevant}"]
        found = {name: gains_for(name, self.own.scale) for name in plain}
        return found if isinstance(self.modelled, Missing) else {**found, **self.modelled}

    @cached_property
    def modelled(self) -> Mapping[str, Gains] | Missing:
        """Gains of user models by name; that of a label that nobody gave is interpolated."""
        fit = self.user_fit
        if isinstance(fit, Missing):
            return fit
        return modelled_gains(fit, np.bincount(self.question.judgments.label, minlength=len(fit.scale)) > 0)

    @cached_property
    def scores(self) -> Mapping[str, Scores]:
        """Scores by the judge's labels, under all gains."""
        measure, found = self.question.measure, {}
        for name, gains in self.gains.items():
            with warnings.catch_warnings():
                if name != "linear":  # gains by a model may all be 0
                    warnings.simplefilter("ignore", EqualLabelsWarning)
                found[name] = evaluate(self.labels, self.runs, measure, assessor=self.judge, gains=gains)
        return found

    @cached_property
    def unjudged(self) -> Unjudged:
        """How many of the first results of each system were not judged."""
        found, systems = unjudged_results(self.facts, self.own, TOP), self.scores["linear"].names["system"]
        order = [self.facts.systems.index(name) for name in systems]
        return Unjudged(found.number[order], found.share[order])

    @cached_property
    def equal_labels(self) -> list[str]:
        """Why scores do not depend on the labels: all that occur count as relevant, or none does; mostly nothing."""
        scoring = Scoring(assessor=self.judge)
        case = Case.of(self.labels, self.runs, scoring)
        plan, every_topic = scoring.plan([self.question.measure], self.labels.scale), np.arange(len(self.labels.topics))
        return equal_labels(case.lists(plan), plan, self.labels.scale, every_topic)

    @property
    def nothing_judged(self) -> bool:
        """Whether none of the first results of any system was judged."""
        return bool((self.unjudged.share >= 1).all())

    @cached_property
    def by_judge(self) -> ScoresByJudge:
        """Scores by the labels of every assessor, and of the judge if that is none of them; the judge comes first.

        Declared references and people come before.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VenireWarning)
            labels = self.answered if self.crowd is None else self.labels
            found = scores_by_judge(labels, self.runs, self.question.measure).ordered(self.nearest)
            if self.judge != PRIMARY:
                return found.with_first(self.judge)
            own = scores_by_judge(self.own, self.runs, self.question.measure)
        return found.joined(own)

    @cached_property
    def contradictions(self) -> Contradictions:
        """Pairs of systems on which judges contradict each other."""
        return self.by_judge.contradictions()

    @property
    def judged(self) -> Judgments:
        """The labels of each judge: of all assessors, or pooled."""
        return self.answered if self.crowd is None else self.labels

    @cached_property
    def nearest(self) -> tuple[str, ...]:
        """Assessors by kappa with the reference, or with the others, highest first; those who judged a part come last.

        Of equal ones, the order is by their labels, not by their names.
        """
        names = by_content(self.answered)
        if isinstance(self.profiles, Missing):
            return tuple(names)
        kappa = np.nan_to_num(np.round(self.profiles.kappa.value, DIGITS), nan=-1.0)
        share = coverage(self.answered)
        by_name = dict(zip(self.profiles.assessors, kappa.tolist(), strict=True))
        part = {name: n < NEARLY_ALL for name, n in zip(self.answered.assessors, share.tolist(), strict=True)}
        return tuple(sorted(names, key=lambda name: (part[name], -by_name[name])))

    @cached_property
    def judges_to_test(self) -> tuple[str, ...]:
        """Judges who may favour systems: who scores the runs or, if that is the reference, machines, or else others.

        Of those who labelled nearly all results, the few who are nearest to it; nobody without a reference.
        """
        labels, k = self.judged, parse_measure(self.question.measure).k
        if not labels.reference or len(self.facts.systems) < 2:
            return ()
        alone = self.judge not in (*labels.reference, PRIMARY)
        others = judges_besides(labels)
        names = [self.judge] if alone else [name for name in self.nearest if name in others]
        whole = (name for name in names if share_of_results(labels, self.facts, [name], k) >= NEARLY_ALL)
        return tuple(islice(whole, MOST_TESTED))

    @cached_property
    def favoured(self) -> Mapping[str, FavouredSystems | Missing]:
        """Which systems judges favour, compared with the reference, by judge; p adjusted for systems and judges."""
        labels, question, scoring = self.judged, self.question, Scoring(per="assessor")
        judges = self.judges_to_test

        def test(judge: str) -> FavouredSystems:
            case = Case.of(labels.where(assessor=[judge, *labels.reference]), self.runs, scoring)
            plan = scoring.plan([question.measure], labels.scale)
            how: dict[str, Any] = {"judge": judge, "reference": labels.reference, "families": question.families}
            return favoured_on(case, plan, **how, rng=question.rng).of_judges(len(judges))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VenireWarning)
            return {judge: or_missing(partial(test, judge)) for judge in judges}

    @cached_property
    def tested(self) -> SystemComparison | Missing:
        """All pairs of systems, tested over topics."""
        return or_missing(lambda: compare_systems(self.scores["linear"], rng=self.question.rng))

    @cached_property
    def scene(self) -> JudgeSwap | Missing:
        """The comparison in which another judge replaces this one, if there is another."""
        if self.alone is not None:
            return self.alone
        how: dict[str, Any] = {"assessor": self.judge, "transitions": self.crowd and self.crowd.transitions}
        return or_missing(lambda: JudgeSwap.of(self.labels, self.runs, self.question.measure, **how))

    @cached_property
    def sources(self) -> UncertaintySources | Missing:
        """Scores under draws of other topics, other judges, and both."""
        scene, question = self.scene, self.question
        if isinstance(scene, Missing):
            return scene
        return or_missing(lambda: uncertainty_sources(scene, n_draws=question.n_draws, rng=question.rng))

    @cached_property
    def comparison(self) -> MeasureComparison | Missing:
        """All pairs of systems: tests over topics, and changes under the draws of another judge."""
        scene, sources, tested = self.scene, self.sources, self.tested
        if isinstance(scene, Missing) or isinstance(sources, Missing) or isinstance(tested, Missing):
            return next(each for each in (scene, sources, tested) if isinstance(each, Missing))
        forecast = scene.forecast(sources.draws["judges"], sources.judge_model, others=sources.draws)
        return MeasureComparison.of(tested, forecast, scene.observed)

    @cached_property
    def users(self) -> UserScores | Missing:
        """Scores for users: relevance is that of the labels that people gave, else it is drawn from p(R|i).

        The second measure is the number of relevant results among the first, unless labels are for intents.
        """
        if isinstance(self.modelled, Missing):
            return self.modelled
        question, gains = self.question, self.gains.get(f"prm:{self.relevant}", self.gains["linear"])
        others = [name for name in by_content(self.labels) if name != self.judge]  # names decide nothing
        people = tuple(name for name in others if not self.people or name in self.people)
        how: dict[str, Any] = {"users": question.n_draws, "assessor": self.judge, "rng": question.rng}
        how |= {"gains": gains, "people": people, "relevant": self.relevant}
        measures = [question.measure, *([] if question.by_intent else [f"CG@{TOP}"])]
        return or_missing(lambda: evaluate_users(self.labels, self.runs, measures, **how))

    @cached_property
    def draws(self) -> Mapping[str, Floats]:
        """Mean scores of the systems under draws, by what is drawn -> (draw, system)."""
        if isinstance(self.sources, Missing):
            by_topic = self.scores["linear"].values[:, :, 0]
            draws = {"topics": other_topics(by_topic, self.question.n_draws, rng=self.question.rng)}
        else:
            draws = dict(self.sources.draws)
        if len(self.scores["linear"].names["topic"]) < 2:  # a bootstrap of one topic has no variance
            draws = {source: each for source, each in draws.items() if source == "judges"}
        if not isinstance(self.users, Missing):
            draws["users"] = self.users.users.values[:, 0].T
        return draws

    @cached_property
    def verdict(self) -> Verdict:
        """The best system, its rivals, and how often it comes first in draws."""
        scores, draws = self.scores["linear"], self.draws
        found = verdict(scores, draws=draws, judge=self.judge, by_judge=self.by_judge)
        if self.only_label is None:
            return found
        order = np.argsort(-found.mean, kind="stable").tolist()  # scores differ only by how much was judged
        return replace(found, rivals=tuple(found.systems[n] for n in order if found.systems[n] != found.best))

    @cached_property
    def selection(self) -> Selection | Missing | None:
        """A sign that items were selected for further labels because of their first one; None without it."""
        return or_missing(lambda: find_selection(self.question.judgments, rank=rank_groups(self.facts)))

    @cached_property
    def power(self) -> DiscriminativePower | Missing:
        """Share of pairs of systems that differ significantly, by some measures."""
        measures = list(dict.fromkeys([self.question.measure, *measures_beside(self.question.measure)]))
        how: dict[str, Any] = {"assessor": self.judge, "rng": self.question.rng}
        return or_missing(lambda: discriminative_power(self.labels, self.runs, measures, **how))

    @cached_property
    def scales(self) -> ScaleComparison | Missing:
        """The labels as they are compared with merged labels: by agreement and by the systems."""
        how: dict[str, Any] = {"n_draws": N_MERGED, "rng": self.question.rng}
        return or_missing(lambda: compare_scales(self.answered, self.runs, [self.question.measure], **how))

    @cached_property
    def plan(self) -> TopicPlan | Missing:
        """Which differences these topics can detect, and how many topics the observed ones need."""
        return or_missing(lambda: plan_topics(self.scores["linear"]))


def measures_beside(measure: str) -> tuple[str, ...]:
    """Return the measures that are shown beside one: those that score the same labels."""
    own = parse_measure(measure)
    return OF_NUGGETS if isinstance(own, AllScore) else BY_INTENT if own.by_intent else MEASURES

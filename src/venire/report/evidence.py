"""Evidence: what is computed for a report, each result once, when a chapter first needs it.

What cannot be computed is ``Missing`` with its reason.

The model of users is p(R|i), the probability that another person finds a result with label i relevant.  It is one-sided
(Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Eq. 4): the first label is that of the judge who scores the runs,
the second that of any other assessor, or of a reference assessor.  So it does not matter whether results were selected
for a second judgment because of their first label.  It is learnt on first results of some system.  Results with the
same label are better there than deep in the pool, and users see these (Section 6.1 of the paper): on a whole pool,
p(R|i) is too low.  If too few first results were judged twice, the whole pool is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from venire.agreement.confusion import Confusions, confusions
from venire.agreement.profiles import Profiles, profiles
from venire.agreement.table import table
from venire.comparison.by_judge import ScoresByJudge, scores_by_judge
from venire.comparison.compare import MeasureComparison
from venire.comparison.contradictions import Contradictions
from venire.comparison.crowd import Crowd, crowd_judge
from venire.comparison.favoured import FavouredSystems, checked_families, favoured_on
from venire.comparison.forecast import JudgeSwap, other_topics
from venire.comparison.significance import SystemComparison, compare_systems
from venire.comparison.uncertainty import UncertaintySources, uncertainty_sources
from venire.comparison.verdict import Verdict, verdict
from venire.data.assessors import PRIMARY, Copy, by_content, copies, coverage, with_primary
from venire.data.gains import Gains, gains_for
from venire.data.judgments import Judgments
from venire.data.label_pairs import most_assessors
from venire.data.panel import in_isolation, judges_besides
from venire.data.runs import Facts, Runs, Scan
from venire.disagreement.pooled_pairs import pooled_pairs
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.disagreement.selection import Selection, find_selection
from venire.disagreement.top_results import labels_to_fit, rank_groups
from venire.errors import EqualLabelsWarning, FewPairsWarning, PoolFitWarning, SettingError, UnknownName, VenireWarning
from venire.io.limits import refuse_crowd
from venire.io.runs import scan
from venire.measures.evaluate import Case, equal_labels, evaluate
from venire.measures.names import parse_measure
from venire.measures.random_users import UserScores, evaluate_users
from venire.measures.scores import Scores
from venire.measures.scoring import Scoring
from venire.planning.topics import TopicPlan, plan_topics
from venire.quality.power import DiscriminativePower, discriminative_power
from venire.quality.scales import ScaleComparison, compare_scales
from venire.report.question import Missing, Question, or_missing
from venire.report.relevance import lowest_relevant
from venire.report.scoring_judge import (
    DIGITS,
    NEARLY_ALL,
    Ranking,
    Unjudged,
    coverage_but,
    is_crowd,
    level_topics,
    share_of_results,
    unanswered,
    unjudged_results,
    useless_assessors,
    without,
)
from venire.types import Bools, Floats

TOP = 10
"""How many results at the top of a list are counted."""
MOST_TESTED = 5
"""How many judges are tested for favour: every test takes its time, and has its chance of a false finding."""
SECOND = "have some of the results judged by a second assessor"
MAJORITY = "majority"
STATISTICS = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "gwet_ac", "raw_agreement", "phi", "jaccard")
"""The statistics of agreement that are shown."""
MEASURES = ("nDCG@10", "P@10", "AP", "RBP(p=0.8)", "ERR@10")
"""The measures by which discriminative power is shown."""
N_MERGED = 100
"""Resamples for each interval of merged labels."""
_ANOTHER = "name another assessor, or another reference"


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results for a question; each is computed once, and only if a chapter needs it."""

    question: Question

    @cached_property
    def runs(self) -> Scan:
        """The runs, scanned for the judged items; systems by name, so that the order of files does not matter."""
        scanned = scan(self.question.runs, self.question.judgments.items)
        return replace(scanned, facts=scanned.facts.by_name())

    @property
    def facts(self) -> Facts:
        """The lists of the systems, and the ranks of judged documents in them."""
        return self.runs.facts

    @cached_property
    def judgments(self) -> Judgments:
        """All labels, with the reference that the question names."""
        judgments = self.question.judgments
        reference = [name for name in self.question.reference if name in judgments.assessors]
        return judgments.declare(reference=reference) if reference else judgments

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Judged topics without a list by any system, which are omitted; none, if that holds for all."""
        return unanswered(self.judgments, self.facts)

    @cached_property
    def answered(self) -> Judgments:
        """The labels of topics for which some system has a list; on the others all systems score 0."""
        return without(self.judgments, self.left_out)

    @cached_property
    def possible_judges(self) -> tuple[str, ...]:
        """Assessors of whom one scores the runs if none is named: the reference, people or machines, or all.

        The first of these groups that labelled nearly all results; without declarations, everybody.
        """
        labels = self.answered
        measure = parse_measure(self.question.measure)
        groups = [group for group in (labels.reference, labels.people, labels.machines) if group]
        whole = (group for group in groups if share_of_results(labels, self.facts, group, measure.k) >= NEARLY_ALL)
        others = tuple(name for name in labels.assessors if name not in labels.reference)
        return next(whole, others or labels.assessors)

    @cached_property
    def excluded(self) -> tuple[str, ...]:
        """Assessors whose labels do not score the runs unless one is named."""
        return tuple(name for name in self.judgments.assessors if name not in self.possible_judges)

    @cached_property
    def pool(self) -> str | None:
        """The rule that pools labels: as asked for, or majority where a crowd judged; None: they are not pooled."""
        if self.question.pool is not None or self.question.assessor is not None:
            return self.question.pool
        by_reference = set(self.possible_judges) <= set(self.judgments.reference)
        return MAJORITY if not by_reference and is_crowd(self.answered) else None

    @cached_property
    def crowd(self) -> Crowd | None:
        """The pooled labels as those of one judge, and the labels of the reference; None if nothing is pooled."""
        if self.pool is None:
            return None
        labels = in_isolation(self.answered)[0]
        several = most_assessors(labels, labels.item) > 1
        return crowd_judge(labels, self.pool, another=several, rng=self.question.rng)

    @cached_property
    def workers(self) -> Judgments:
        """The labels that are pooled, or all of them."""
        apart = () if self.crowd is None else self.crowd.judgments.assessors
        return self.answered.where(assessor=[name for name in self.answered.assessors if name not in apart])

    @cached_property
    def everyone(self) -> Judgments:
        """The labels of all topics, also of those without a list, with those of the judge under one name."""
        judgments = self.judgments
        if self.crowd is not None:
            return self.crowd.judgments
        if self.judge != PRIMARY:
            return judgments
        return with_primary(judgments, without=self.excluded, order=self._ranked(judgments).names)

    @cached_property
    def labels(self) -> Judgments:
        """The labels of topics with lists, with those that score the runs under one name.

        The judge is one assessor, or on each topic the one who judged most of it.
        """
        judgments = self.answered
        if self.crowd is not None:
            return self.crowd.judgments
        if self.question.assessor is not None or self._one_judge:
            return judgments
        return with_primary(judgments, without=self.excluded, order=self.ranking.names)

    @property
    def _one_judge(self) -> bool:
        """Whether one of the possible judges labelled nearly all items, or nearly all results if declared."""
        judgments = self.answered
        if coverage_but(judgments, self.excluded).max(initial=0) >= NEARLY_ALL:
            return True
        if not (judgments.reference or judgments.machines):
            return False
        k = parse_measure(self.question.measure).k
        return any(share_of_results(judgments, self.facts, [name], k) >= NEARLY_ALL for name in self.possible_judges)

    def _ranked(self, judgments: Judgments) -> Ranking:
        known = None if isinstance(self.profiles, Missing) else self.profiles
        return Ranking.of(judgments, self.excluded, known)

    @cached_property
    def ranking(self) -> Ranking:
        """Assessors in the order in which they are chosen to score the runs, if none is named."""
        return self._ranked(self.answered)

    @cached_property
    def level_with(self) -> tuple[str, ...]:
        """Other assessors who rank as high as the judge who was chosen; none if one was named."""
        if self.question.assessor is not None or self.crowd is not None or self.judge == PRIMARY:
            return ()
        return self.ranking.equals(self.judge, self.useless)

    @cached_property
    def level_topics(self) -> int:
        """Number of topics on which two assessors rank equally high, if each judged a part."""
        return level_topics(self.answered, self.ranking) if self.judge == PRIMARY else 0

    @cached_property
    def judge(self) -> str:
        """Whose labels score the runs."""
        wanted, names = self.question.assessor, self.labels.assessors
        if self.crowd is not None:
            return self.crowd.name
        if wanted is None:
            return PRIMARY if PRIMARY in names else self.ranking.choose(self.useless)
        if wanted not in self.question.judgments.assessors:
            raise UnknownName("assessor", wanted, names)
        if wanted not in names:
            raise SettingError(f"{wanted!r} judged no topic for which a system has a list", hint=_ANOTHER)
        return wanted

    def validate(self) -> None:
        """Raise an error for settings with which no report can be made."""
        self.question.validate()
        refuse_crowd(len(self.judgments.assessors))
        if self.question.families:
            checked_families(self.question.families, self.facts.systems)
        if self.judge not in self.labels.assessors:  # the judge is found here, or an error says why not
            raise UnknownName("assessor", self.judge, self.labels.assessors)

    @cached_property
    def compares_systems(self) -> bool:
        """Whether preferences are between result lists of the systems, not between documents."""
        preferences = self.question.preferences
        return preferences is not None and not set(preferences.docs).isdisjoint(self.facts.systems)

    @cached_property
    def own(self) -> Judgments:
        """The labels that score the runs."""
        return self.labels.where(assessor=self.judge)

    @cached_property
    def only_label(self) -> str | None:
        """The only label among those that score the runs; None if they differ."""
        given = np.unique(self.own.label)
        return self.own.scale.labels[int(given[0])] if len(given) == 1 else None

    @cached_property
    def several(self) -> bool:
        """Whether there is another judge."""
        return self.another_crowd or len(self.labels.assessors) > 1

    @property
    def another_crowd(self) -> bool:
        """Whether another judge is another crowd."""
        return self.crowd is not None and self.crowd.transitions is not None

    @cached_property
    def alone(self) -> Missing | None:
        """The reason why nothing is known of other judges, if there is none."""
        if self.several:
            return None
        one = len(self.question.judgments.assessors) == 1
        return Missing("there is one assessor only" if one else "no item has labels by two assessors", SECOND)

    @cached_property
    def relevant(self) -> str:
        """The lowest relevant label: as named, or that from which on people agree best (``report.relevance``)."""
        return self.question.relevant or lowest_relevant(self.judgments, self.own, self.facts)

    @cached_property
    def agreement(self) -> list[dict[str, Any]] | Missing:
        """All statistics of agreement, as records."""
        return or_missing(lambda: table(self.question.judgments, names=STATISTICS, rng=self.question.rng).records())

    @cached_property
    def profiles(self) -> Profiles | Missing:
        """How each assessor labels, compared with the reference assessors if any were named, else with all others."""
        return or_missing(lambda: profiles(self.judgments, reference=self.judgments.reference))

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """Assessors who repeat the labels of another."""
        return copies(self.question.judgments)

    @cached_property
    def useless(self) -> frozenset[str]:
        """Assessors who give one label only."""
        return frozenset() if isinstance(self.profiles, Missing) else useless_assessors(self.profiles)

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

        The second measure is the number of relevant results among the first.
        """
        if isinstance(self.modelled, Missing):
            return self.modelled
        question, gains = self.question, self.gains.get(f"prm:{self.relevant}", self.gains["linear"])
        others = [name for name in by_content(self.labels) if name != self.judge]  # names decide nothing
        people = tuple(name for name in others if not self.people or name in self.people)
        how: dict[str, Any] = {"users": question.n_draws, "assessor": self.judge, "rng": question.rng}
        how |= {"gains": gains, "people": people, "relevant": self.relevant}
        measures = [question.measure, f"CG@{TOP}"]
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
        measures = list(dict.fromkeys([self.question.measure, *MEASURES]))
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


@dataclass(frozen=True, eq=False)
class UserModel:
    """Labels to learn from, and whose are first and second; ``top``: of so many first results (None: of the pool)."""

    judgments: Judgments
    observed: str
    reference: tuple[str, ...]
    top: int | None
    rng: int

    def fit(self, relevant: str) -> PredictedRelevanceFit | Missing:
        """Estimate p(R|i); relevant: the lowest relevant label, or "all" thresholds."""
        model = PredictedRelevance(
            relevant=relevant, estimator="one-sided", observed=[self.observed], reference=self.reference
        )
        found = or_missing(lambda: model.fit(self.judgments, rng=self.rng))
        return Missing(found.reason, SECOND) if isinstance(found, Missing) else found


def user_model(
    judgments: Judgments, runs: Runs, judge: str, *, reference: tuple[str, ...], top: int, rng: int
) -> UserModel:
    """Choose the labels to learn from: first results, if enough of them were judged twice, or the whole pool."""
    model = PredictedRelevance(estimator="one-sided", observed=[judge], reference=reference)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolFitWarning)
        chosen = or_missing(lambda: labels_to_fit(judgments, runs, top=top, model=model))
    if isinstance(chosen, Missing):
        return UserModel(judgments, judge, reference, None, rng)
    return UserModel(chosen.judgments, judge, reference, chosen.top, rng)


def crowd_model(workers: Judgments, runs: Runs, judge: str, *, top: int, rng: int) -> UserModel:
    """Pair the label of each worker with that of the others: on first results, if enough were judged twice, or all."""
    any_two = PredictedRelevance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolFitWarning)
        chosen = or_missing(lambda: labels_to_fit(workers, runs, top=top, model=any_two))
    labels, depth = (workers, None) if isinstance(chosen, Missing) else (chosen.judgments, chosen.top)
    return UserModel(pooled_pairs(labels, judge), judge, (), depth, rng)


@contextmanager
def without_few_pairs_warning() -> Iterator[None]:
    """Suppress warnings of labels with few pairs, which the report has as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewPairsWarning)
        yield


def modelled_gains(fit: PredictedRelevanceFit, given: Bools) -> dict[str, Gains] | Missing:
    """Return the gains of both models by name, interpolated for labels that nobody gave; given (label,)."""
    whole = filled(fit, given)
    with without_few_pairs_warning():
        found = or_missing(lambda: {f"prm:{fit.relevant.names[0]}": whole.gains(), "udm:1/2": whole.udm_gains((1, 2))})
    return Missing(found.reason, SECOND) if isinstance(found, Missing) else found


def filled(fit: PredictedRelevanceFit, given: Bools) -> PredictedRelevanceFit:
    """Fill in p(R|i) of labels that nobody gave: 0 for the lowest, else interpolated; given (label,)."""
    p = fit.spread.p.copy()
    for row in p:
        empty = np.isnan(row) & ~given
        if empty[0]:
            row[0] = 0.0
        known = np.flatnonzero(~np.isnan(row))
        row[empty] = np.interp(np.flatnonzero(empty), known, row[known])
    return replace(fit, spread=fit.spread._replace(p=p))

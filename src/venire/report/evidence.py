"""Evidence: what is computed for a report, each thing once, when a chapter first asks for it.

A question says what was given; evidence answers piece by piece.  What cannot be computed is ``Missing`` with its
reason, and the report says plainly what cannot be concluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from venire.agreement.confusion import Confusions, confusions
from venire.agreement.profiles import Profiles, profiles
from venire.agreement.table import table
from venire.comparison.compare import MeasureComparison
from venire.comparison.forecast import JudgeSwap, resampled
from venire.comparison.robustness import named_gains
from venire.comparison.significance import SystemComparison, compare_systems
from venire.comparison.uncertainty import UncertaintySources, uncertainty_sources
from venire.comparison.verdict import Verdict, verdict
from venire.data.assessors import PRIMARY, Copy, copies, with_primary
from venire.data.conditional import is_conditional
from venire.data.facts import Facts
from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.runs import Scan
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.errors import SettingError, UnknownName
from venire.io.runs import scan
from venire.measures.evaluate import evaluate
from venire.measures.random_users import UserScores, evaluate_users
from venire.measures.scores import Scores
from venire.planning.topics import TopicPlan, plan_topics
from venire.report.judge import (
    NEARLY_ALL,
    Ranking,
    Unjudged,
    coverage_but,
    level_topics,
    unanswered,
    unjudged_results,
    useless_assessors,
    without,
)
from venire.report.question import Missing, Question, or_missing
from venire.report.user_model import SECOND, UserModel, modelled_gains, user_model

TOP = 10
"""How many results of a list are looked at where they are counted."""
_ANOTHER = "name another with --assessor, or another --reference"


@dataclass(frozen=True, eq=False)
class Evidence:
    """Answers to a question; everything is computed once, and only if a chapter asks for it."""

    question: Question

    @cached_property
    def runs(self) -> Scan:
        """The runs, scanned for the judged items."""
        return scan(self.question.runs, self.question.judgments.items)

    @property
    def facts(self) -> Facts:
        """The lists of the systems, and the ranks of judged documents in them."""
        return self.runs.facts

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Judged topics that no system has a list for; none are left out where that is so of all."""
        return unanswered(self.question.judgments, self.facts)

    @cached_property
    def answered(self) -> Judgments:
        """The labels of topics that some system has a list for: on others all score 0, which says nothing of them."""
        return without(self.question.judgments, self.left_out)

    @cached_property
    def everyone(self) -> Judgments:
        """The labels of all topics, also of those that no system has a list for; the judge's by name."""
        judgments, users = self.question.judgments, self.question.reference
        if self.judge != PRIMARY:
            return judgments
        return with_primary(judgments, without=users, order=self._ranked(judgments).names)

    @cached_property
    def labels(self) -> Judgments:
        """The labels, those that score the runs being of one judge: an assessor, or whoever judged most of a topic.

        Topics that no system has a list for are left out.
        """
        judgments, users = self.answered, self.question.reference
        if self.question.assessor is not None or coverage_but(judgments, users).max(initial=0) >= NEARLY_ALL:
            return judgments
        return with_primary(judgments, without=users, order=self.ranking.names)

    def _ranked(self, judgments: Judgments) -> Ranking:
        known = None if isinstance(self.profiles, Missing) else self.profiles
        return Ranking.of(judgments, self.question.reference, known)

    @cached_property
    def ranking(self) -> Ranking:
        """Whose labels score the runs, where nobody said: assessors in the order in which they are chosen."""
        return self._ranked(self.answered)

    @cached_property
    def level_with(self) -> tuple[str, ...]:
        """Others who might score the runs as well as the judge who was chosen; none where one was named."""
        if self.question.assessor is not None or self.judge == PRIMARY:
            return ()
        return self.ranking.equals(self.judge, self.useless)

    @cached_property
    def level_topics(self) -> int:
        """On how many topics two assessors might score the runs equally well, where everybody judged a part."""
        return level_topics(self.answered, self.ranking) if self.judge == PRIMARY else 0

    @cached_property
    def judge(self) -> str:
        """Whose labels score the runs."""
        wanted, names = self.question.assessor, self.labels.assessors
        if wanted is None:
            if PRIMARY in names:
                return PRIMARY
            return self.ranking.choose(self.useless)
        if wanted not in self.question.judgments.assessors:
            raise UnknownName("assessor", wanted, names)
        if wanted not in names:
            raise SettingError(f"{wanted!r} judged no topic that a system has a list for", hint=_ANOTHER)
        return wanted

    def validate(self) -> None:
        """Refuse a question that no report can answer: settings that make no sense, nobody left to score the runs."""
        question = self.question
        question.validate()
        if set(question.judgments.assessors) <= set(question.reference):
            raise SettingError("all assessors stand for users, and none is left to score the runs", hint=_ANOTHER)
        if self.judge in question.reference:
            message = f"{self.judge!r} scores the runs, and cannot stand for users as well"
            raise SettingError(message, hint=_ANOTHER)

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
        """The label that all have which score the runs; None if they differ."""
        given = np.unique(self.own.label)
        return self.own.scale.labels[int(given[0])] if len(given) == 1 else None

    @cached_property
    def several(self) -> bool:
        """Whether there is another judge at all."""
        return len(self.labels.assessors) > 1

    @cached_property
    def alone(self) -> Missing | None:
        """Why nothing can be said of other people, where there is no other judge."""
        if self.several:
            return None
        one = len(self.question.judgments.assessors) == 1
        return Missing("there is one assessor only" if one else "no item has labels by two assessors", SECOND)

    @cached_property
    def relevant(self) -> str:
        """The label from which on a user is satisfied: the top one of those that score the runs, if none was named."""
        own = self.own.take(~is_conditional(self.own))
        top = int(own.label.max(initial=0)) or len(own.scale) - 1  # all lowest: the top, which nobody gave
        return self.question.relevant or own.scale.labels[top]

    @cached_property
    def agreement(self) -> list[dict[str, Any]] | Missing:
        """All statistics of agreement, as records."""
        return or_missing(lambda: table(self.question.judgments, rng=self.question.rng).records())

    @cached_property
    def profiles(self) -> Profiles | Missing:
        """How each assessor labels, against those who stand for users if any were named, else against all others."""
        return or_missing(lambda: profiles(self.question.judgments, reference=self.question.reference))

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """Assessors who repeat the labels of another."""
        return copies(self.question.judgments)

    @cached_property
    def useless(self) -> Mapping[str, str]:
        """Assessors whose labels tell nothing, as there is one label only, with the word for it."""
        return {} if isinstance(self.profiles, Missing) else useless_assessors(self.profiles)

    @cached_property
    def confusions(self) -> Confusions | Missing:
        """Labels that two assessors gave one item."""
        return or_missing(lambda: confusions(self.question.judgments))

    @cached_property
    def user_model(self) -> UserModel:
        """What users make of the judge's labels, learnt on first results where enough were judged twice."""
        question = self.question
        return user_model(self.everyone, self.runs, self.judge, reference=question.reference, top=TOP, rng=question.rng)

    @cached_property
    def fit(self) -> PredictedRelevanceFit | Missing:
        """p(R|i) for every threshold."""
        return self.alone or self.user_model.fit("all")

    @cached_property
    def user_fit(self) -> PredictedRelevanceFit | Missing:
        """p(R|i) for the label from which on a user is satisfied."""
        return self.alone or self.user_model.fit(self.relevant)

    @cached_property
    def gains(self) -> Mapping[str, Gains]:
        """What labels may be worth, by name; by a model of users too where one could be fitted."""
        plain = ["linear", "exponential", f"binary:{self.relevant}"]
        found, _ = named_gains(self.own, plain)
        return found if isinstance(self.modelled, Missing) else {**found, **self.modelled}

    @cached_property
    def modelled(self) -> Mapping[str, Gains] | Missing:
        """What labels are worth to users, by name; a label nobody gave lies between its neighbours."""
        fit = self.user_fit
        if isinstance(fit, Missing):
            return fit
        return modelled_gains(fit, np.bincount(self.question.judgments.label, minlength=len(fit.scale)) > 0)

    @cached_property
    def user_gains(self) -> str:
        """Name of the gains that stand for a random user: by the model where there is one, else linear."""
        name = f"prm:{self.relevant}"
        return name if name in self.gains else "linear"

    @cached_property
    def scores(self) -> Mapping[str, Scores]:
        """Scores by the judge's labels, under all gains."""
        question = self.question
        return {
            name: evaluate(self.labels, self.runs, question.measure, assessor=self.judge, gains=gains)
            for name, gains in self.gains.items()
        }

    @cached_property
    def unjudged(self) -> Unjudged:
        """How much of each system's first results was not judged."""
        found, systems = unjudged_results(self.facts, self.own, TOP), self.scores["linear"].names["system"]
        order = [self.facts.systems.index(name) for name in systems]
        return Unjudged(found.number[order], found.share[order])

    @property
    def nothing_judged(self) -> bool:
        """Whether none of the first results of any system was judged."""
        return bool((self.unjudged.share >= 1).all())

    @cached_property
    def tested(self) -> SystemComparison | Missing:
        """All pairs of systems, tested over topics."""
        return or_missing(lambda: compare_systems(self.scores["linear"], rng=self.question.rng))

    @cached_property
    def scene(self) -> JudgeSwap | Missing:
        """Where the judge is replaced by another, if there is one."""
        if self.alone is not None:
            return self.alone
        question = self.question
        return or_missing(lambda: JudgeSwap.of(self.labels, self.runs, question.measure, assessor=self.judge))

    @cached_property
    def sources(self) -> UncertaintySources | Missing:
        """What other topics, other judges, and both do to the order of systems."""
        scene, question = self.scene, self.question
        if isinstance(scene, Missing):
            return scene
        return or_missing(lambda: uncertainty_sources(scene, n_draws=question.n_draws, rng=question.rng))

    @cached_property
    def comparison(self) -> MeasureComparison | Missing:
        """All pairs of systems: the test of the verdict, and what its draws of another judge do to them."""
        scene, sources, tested = self.scene, self.sources, self.tested
        if isinstance(scene, Missing) or isinstance(sources, Missing) or isinstance(tested, Missing):
            return next(each for each in (scene, sources, tested) if isinstance(each, Missing))
        forecast = scene.forecast(sources.draws["judges"], sources.judge_model)
        return MeasureComparison.of(tested, forecast)

    @cached_property
    def users(self) -> UserScores | Missing:
        """Scores for simulated users, whose relevance is drawn with p(R|i)."""
        if isinstance(self.modelled, Missing):
            return self.modelled
        question = self.question
        return or_missing(
            lambda: evaluate_users(
                self.labels,
                self.runs,
                question.measure,
                gains=self.gains[self.user_gains],
                users=question.n_draws,
                assessor=self.judge,
                rng=question.rng,
            )
        )

    @cached_property
    def verdict(self) -> Verdict:
        """Who is best, for whom, and how sure that is."""
        scores = self.scores["linear"]
        if isinstance(self.sources, Missing):
            by_topic = scores.values[:, :, 0]
            draws = {"topics": resampled(by_topic, self.question.n_draws, rng=self.question.rng)}
        else:
            draws = dict(self.sources.draws)
        if len(scores.names["topic"]) < 2:  # one topic drawn again is the same topic
            draws = {source: each for source, each in draws.items() if source == "judges"}
        if not isinstance(self.users, Missing):
            draws["users"] = self.users.users.values[:, 0].T
        found = verdict(scores, draws=draws)
        if self.only_label is None:
            return found
        order = np.argsort(-found.mean, kind="stable").tolist()  # nobody wins by how much of theirs was judged
        return replace(found, rivals=tuple(found.systems[n] for n in order if found.systems[n] != found.best))

    @cached_property
    def plan(self) -> TopicPlan | Missing:
        """Which differences these topics can tell, and how many topics others would take."""
        return or_missing(lambda: plan_topics(self.scores["linear"]))

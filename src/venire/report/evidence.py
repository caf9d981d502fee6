"""Evidence: what is computed for a report, each thing once, when a chapter first asks for it.

A question says what was given; evidence answers piece by piece.  What cannot be computed is not an error here but a
``Missing`` with its reason, and the report says plainly what cannot be concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from venire.agreement.pair_confusions import Confusions, confusions
from venire.agreement.profiles import Profiles, profiles
from venire.agreement.statistics import statistics
from venire.analysis.compare import Comparison, compare
from venire.analysis.forecasts import resampled
from venire.analysis.random_users import UserScores, evaluate_users
from venire.analysis.robustness import named_gains
from venire.analysis.significance import SystemComparison, compare_systems
from venire.analysis.uncertainty_sources import UncertaintySources, uncertainty_sources
from venire.analysis.verdicts import Verdict, verdict
from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.data.facts import Facts
from venire.data.gains import Gains
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.primary import PRIMARY, with_primary
from venire.data.runs import Runs
from venire.errors import SettingError, UnknownName, VenireError
from venire.io.scanning import scan
from venire.measures.evaluate import evaluate
from venire.measures.names import parse_measure
from venire.measures.scores import Scores
from venire.models.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.models.spread import Spread
from venire.planning.topics import TopicPlan, plan_topics
from venire.report.judge import NEARLY_ALL, choose_judge, coverage_but, unanswered, useless_assessors, without
from venire.types import Bools, Floats

Found = TypeVar("Found")
N_USERS = 300
TOP = 10
"""How many results of a list are looked at where they are counted."""


_SECOND = "have some of the results judged by a second assessor"
_ANOTHER = "name another with --assessor, or another --reference"


@dataclass(frozen=True)
class Missing:
    """Something that cannot be known from what was given, and why."""

    reason: str
    hint: str | None = None

    def sentence(self, what: str) -> str:
        """Say what cannot be concluded, and why."""
        way_out = f" ({self.hint})" if self.hint else ""
        return f"{what} cannot be told: {self.reason}{way_out}."


def known(compute: Callable[[], Found]) -> Found | Missing:
    """Compute, or say why it cannot be."""
    try:
        return compute()
    except VenireError as error:
        return Missing(error.message.rstrip("."), error.hint)


@dataclass(frozen=True, eq=False)
class Question:
    """What a report is about.

    assessor    whose labels score the runs (None: who judged nearly all, or else most of each topic; the report says)
    relevant    the label from which on a user is satisfied (None: the top label that somebody gave)
    reference   assessors who stand for users (none: all do)
    aspects     grades by aspect, where the judgments were of several; ``judgments`` are then of one
    before      earlier judgments, to show what new ones changed
    command     how to make the report again
    """

    judgments: Judgments
    runs: Runs
    measure: str = "nDCG@10"
    assessor: str | None = None
    relevant: str | None = None
    reference: tuple[str, ...] = ()
    preferences: Preferences | None = None
    clicks: Clicks | None = None
    aspects: Aspects | None = None
    before: Judgments | None = None
    n_draws: int = 1000
    rng: int = 0
    command: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Answers to a question; everything is computed once, and only if a chapter asks for it."""

    question: Question

    @cached_property
    def facts(self) -> Facts:
        """Which lists the systems have, and where judged documents stand in them."""
        return scan(self.question.runs, self.question.judgments.items)

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
        return with_primary(judgments, but=users) if self.judge == PRIMARY else judgments

    @cached_property
    def labels(self) -> Judgments:
        """The labels, those that score the runs being of one judge: an assessor, or whoever judged most of a topic.

        Topics that no system has a list for are left out.
        """
        judgments, users = self.answered, self.question.reference
        if self.question.assessor is not None or coverage_but(judgments, users).max(initial=0) >= NEARLY_ALL:
            return judgments
        return with_primary(judgments, but=users)

    @cached_property
    def judge(self) -> str:
        """Whose labels score the runs."""
        wanted, names = self.question.assessor, self.labels.assessors
        if wanted is None:
            if PRIMARY in names:
                return PRIMARY
            return choose_judge(self.labels, self.question.reference, self.useless)
        if wanted not in self.question.judgments.assessors:
            raise UnknownName("assessor", wanted, names)
        if wanted not in names:
            raise SettingError(f"{wanted!r} judged no topic that a system has a list for", hint=_ANOTHER)
        return wanted

    def refuse_nonsense(self) -> None:
        """Refuse settings that no report can be made of, rather than say chapter by chapter what they spoil."""
        question, scale = self.question, self.question.judgments.scale
        parse_measure(question.measure)
        if not scale.ordered:
            ordered = "<".join(scale.labels)
            hint = f'declare their order, lowest first: --scale "{ordered}"'
            raise SettingError(f"the labels {scale} have no order, so they cannot score systems", hint=hint)
        if len(scale) == 1:
            message = f"the scale has one label, {scale}, so no result can be better than another"
            raise SettingError(message, hint=f'declare all labels, lowest first, as in --scale "no<{scale}"')
        for name in question.reference:
            if name not in question.judgments.assessors:
                raise UnknownName("assessor", name, question.judgments.assessors)
        if question.reference and not self._observed:
            raise SettingError("all assessors stand for users, and none is left to score the runs", hint=_ANOTHER)
        if self.judge in question.reference:
            message = f"{self.judge!r} scores the runs, and cannot stand for users as well"
            raise SettingError(message, hint=_ANOTHER)
        if self.relevant not in scale.labels:
            raise UnknownName("label", self.relevant, scale.labels)
        if self.relevant == scale.labels[0]:
            message = f"with --relevant {self.relevant} every label of {scale} satisfies a user"
            raise SettingError(message, hint=f"choose one above the lowest, as in --relevant {scale.labels[-1]}")

    @property
    def _observed(self) -> list[str]:
        """Whose labels are held against those of users: the judge's, or of all who share the work."""
        names = [name for name in self.question.judgments.assessors if name not in self.question.reference]
        return [self.judge] if self.judge in names else names

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
    def relevant(self) -> str:
        """The label from which on a user is satisfied."""
        judgments = self.question.judgments
        top = int(judgments.label.max(initial=0)) or len(judgments.scale) - 1  # all lowest: the top, which nobody gave
        return self.question.relevant or judgments.scale.labels[top]

    @cached_property
    def agreement(self) -> list[dict[str, Any]] | Missing:
        """All statistics of agreement, as records."""
        return known(lambda: statistics(self.question.judgments, rng=self.question.rng))

    @cached_property
    def profiles(self) -> Profiles | Missing:
        """How each assessor labels."""
        return known(lambda: profiles(self.question.judgments))

    @cached_property
    def useless(self) -> Mapping[str, str]:
        """Assessors whose labels tell nothing, one label or at random, with the word for it."""
        return {} if isinstance(self.profiles, Missing) else useless_assessors(self.profiles)

    @cached_property
    def confusions(self) -> Confusions | Missing:
        """Labels that two assessors gave one item."""
        return known(lambda: confusions(self.question.judgments))

    @cached_property
    def fit(self) -> PredictedRelevanceFit | Missing:
        """p(R|i) for every threshold."""
        return self._fit("all")

    @cached_property
    def user_fit(self) -> PredictedRelevanceFit | Missing:
        """p(R|i) for the label from which on a user is satisfied."""
        return self._fit(self.relevant)

    def _fit(self, relevant: str) -> PredictedRelevanceFit | Missing:
        found = known(lambda: self._model(relevant).fit(self.question.judgments, rng=self.question.rng))
        return Missing(found.reason, _SECOND) if isinstance(found, Missing) else found

    def _model(self, relevant: str) -> PredictedRelevance:
        if not self.question.reference:
            return PredictedRelevance(relevant=relevant)
        return PredictedRelevance(
            relevant=relevant, estimator="one-sided", observed=self._observed, reference=self.question.reference
        )

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
        given = np.bincount(self.question.judgments.label, minlength=len(fit.scale)) > 0
        fit = replace(fit, spread=_between(fit.spread, given))
        found = known(lambda: {f"prm:{self.relevant}": fit.gains(), "udm:1/2": fit.udm_gains((1, 2))})
        return Missing(found.reason, _SECOND) if isinstance(found, Missing) else found

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
            name: evaluate(self.labels, question.runs, question.measure, assessor=self.judge, gains=gains)
            for name, gains in self.gains.items()
        }

    @cached_property
    def judged(self) -> Floats:
        """Share of each system's first results that were judged -> (system,)."""
        scores = evaluate(self.labels, self.question.runs, f"Judged@{TOP}", assessor=self.judge)
        return scores.mean("topic").values[:, 0]

    @cached_property
    def tested(self) -> SystemComparison | Missing:
        """All pairs of systems, tested over topics."""
        return known(lambda: compare_systems(self.scores["linear"], rng=self.question.rng))

    def _judged_again(self, ask: Callable[..., Found]) -> Found | Missing:
        """Ask what other judges would do, if there are any."""
        if not self.several:
            alone = len(self.question.judgments.assessors) == 1
            return Missing("there is one assessor only" if alone else "no item has labels by two assessors", _SECOND)
        question = self.question
        how = {"assessor": self.judge, "n_draws": question.n_draws, "rng": question.rng}
        return known(lambda: ask(self.labels, question.runs, question.measure, **how))

    @cached_property
    def comparison(self) -> Comparison | Missing:
        """All pairs of systems, tested over topics and forecast under another judge."""
        found = self._judged_again(compare)
        if isinstance(found, Missing) or isinstance(self.tested, Missing):
            return found
        one = replace(found.by_measure[0], tested=self.tested)  # the test of the verdict, lest two chapters disagree
        notes = tuple(note for note in found.notes if "smallest p-value" not in note)
        return replace(found, by_measure=(one, *found.by_measure[1:]), notes=notes)

    @cached_property
    def sources(self) -> UncertaintySources | Missing:
        """What other topics, other judges, and both do to the order of systems."""
        return self._judged_again(uncertainty_sources)

    @cached_property
    def users(self) -> UserScores | Missing:
        """Scores for simulated users, whose relevance is drawn with p(R|i)."""
        if isinstance(self.modelled, Missing):
            return self.modelled
        question = self.question
        return known(
            lambda: evaluate_users(
                self.labels,
                question.runs,
                question.measure,
                gains=self.gains[self.user_gains],
                users=N_USERS,
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
        return known(lambda: plan_topics(self.scores["linear"]))


def _between(spread: Spread, given: Bools) -> Spread:
    """Fill what is unknown of labels nobody gave: 0 for the lowest, else from the labels around; given (label,)."""
    filled = spread.p.copy()
    for row in filled:
        empty = np.isnan(row) & ~given
        if empty[0]:
            row[0] = 0.0
        there = np.flatnonzero(~np.isnan(row))
        row[empty] = np.interp(np.flatnonzero(empty), there, row[there])
    return spread._replace(p=filled)

"""Whose labels a report uses: which topics and assessors count, how a crowd is pooled, and who scores the runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from venire.agreement.profiles import Profiles, profiles
from venire.comparison.crowd import Crowd, crowd_judge
from venire.comparison.favoured import checked_families
from venire.data.assessors import PRIMARY, with_primary
from venire.data.judgments import Judgments
from venire.data.label_pairs import most_assessors
from venire.data.panel import in_isolation
from venire.data.runs import Facts, Scan
from venire.errors import SettingError, UnknownName
from venire.io.limits import refuse_crowd
from venire.io.runs import scan
from venire.measures.list_facts import with_results
from venire.measures.names import parse_measure
from venire.report.question import Missing, Question, or_missing
from venire.report.scoring_judge import (
    NEARLY_ALL,
    Ranking,
    coverage_but,
    is_crowd,
    judged_topics,
    level_topics,
    share_of_results,
    unanswered,
    useless_assessors,
    without,
)
from venire.report.user_model import SECOND

MAJORITY = "majority"
_ANOTHER = "name another assessor, or another reference"


@dataclass(frozen=True, eq=False)
class WhoseLabels:
    """The labels that a report uses, and whose score the runs; each is found once, when it is first needed."""

    question: Question

    @cached_property
    def every_run(self) -> Scan:
        """The runs, scanned for the judged items; systems by name, so that the order of files does not matter."""
        scanned = scan(self.question.runs, self.question.judgments.items)
        return replace(scanned, facts=scanned.facts.by_name())

    @property
    def every_list(self) -> Facts:
        """The lists of all systems."""
        return self.every_run.facts

    @cached_property
    def judgments(self) -> Judgments:
        """All labels, with the reference that the question names."""
        judgments = self.question.judgments
        reference = [name for name in self.question.reference if name in judgments.assessors]
        return judgments.declare(reference=reference) if reference else judgments

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Judged topics without a list by any system, which are omitted; none, if that holds for all."""
        return unanswered(self.judgments, self.every_list)

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
        whole = (group for group in groups if share_of_results(labels, self.every_list, group, measure.k) >= NEARLY_ALL)
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
        return any(
            share_of_results(judgments, self.every_list, [name], k) >= NEARLY_ALL for name in self.possible_judges
        )

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
            checked_families(self.question.families, self.every_list.systems)
        if self.judge not in self.labels.assessors:  # the judge is found here, or an error says why not
            raise UnknownName("assessor", self.judge, self.labels.assessors)

    @cached_property
    def own(self) -> Judgments:
        """The labels that score the runs."""
        return self.labels.where(assessor=self.judge)

    @cached_property
    def runs(self) -> Scan:
        """The runs without systems that returned nothing for the topics that are scored."""
        judged = np.flatnonzero(judged_topics(self.own))
        return replace(self.every_run, facts=with_results(self.every_list, judged))

    @property
    def facts(self) -> Facts:
        """The lists of the systems, and the ranks of judged documents in them."""
        return self.runs.facts

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
    def profiles(self) -> Profiles | Missing:
        """How each assessor labels, compared with the reference assessors if any were named, else with all others."""
        return or_missing(lambda: profiles(self.judgments, reference=self.judgments.reference))

    @cached_property
    def useless(self) -> frozenset[str]:
        """Assessors who give one label only."""
        return frozenset() if isinstance(self.profiles, Missing) else useless_assessors(self.profiles)

"""Sensitivity: what p(R|i) depends on besides the labels, and how much judging it takes to know it well enough.

Demeester et al. (2015), Sections 6.1 to 6.3, ask it three ways: of the quality of the results (``result_quality``,
Figure 1), of the topics (``topic_influence``, Figure 2), and of the number of double judgments (``annotation_rounds``,
Figure 3); ``judging_effort`` turns the last two into numbers of double judgments and of topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.disagreement.by_result_quality import (
    TOP,
    QualitySensitivity,
    against_quality,
    lists_of_resources,
    lists_of_runs,
)
from venire.disagreement.by_topic import TopicInfluence, topic_influence
from venire.disagreement.counting_resources import ResourceLike
from venire.disagreement.double_judgments import (
    DEVIATION,
    AnnotationRounds,
    JudgingEffort,
    LowestLabel,
    double_judgments_needed,
    lowest_labels,
    simulate_rounds,
)
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit, warnings_of
from venire.errors import SettingError, UnknownName
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.randomness import seed_of
from venire.results import Records, Tabular, counted
from venire.types import RNGLike

AGAINST = ("quality", "topics", "judgments")


@dataclass(frozen=True, kw_only=True)
class ListOrder:
    """Which lists there are, and how good they are.

    Parameters
    ----------
    resource : lists are those of resources: a pattern of document names, a column, or a mapping; None: those of runs
    by : assessors whose labels order the lists; by default those observed, else the reference, else who gave most
    level : a result with this label or higher is good; by default the upper half of the scale
    top : how many results of each list count
    """

    resource: ResourceLike | None = None
    by: Sequence[str] = ()
    level: str | None = None
    top: int = TOP


@dataclass(frozen=True, eq=False)
class Sensitivity(Tabular):
    """What was asked for, None where it was not or could not be had; ``warnings`` say why."""

    fit: PredictedRelevanceFit
    quality: QualitySensitivity | None
    topics: TopicInfluence | None
    judgments: AnnotationRounds | None
    needed: JudgingEffort
    lowest: tuple[LowestLabel, ...]
    warnings: tuple[str, ...] = ()

    def answers(self) -> list[str]:
        """Say what was found, in a sentence or two for each question and notion of relevance."""
        words: list[str] = []
        for row in range(len(self.fit.relevant.names)):
            found = (self.quality, self.topics, self.judgments)
            words += [each.sentence(row) for each in found if each is not None]
            words += self.needed.sentences(row) if self.judgments is not None else []
        return words + [each.sentence() for each in self.lowest if self.judgments is not None]

    def sentence(self) -> str:
        """Say what is needed, or what was found first."""
        return (self.needed.sentences() or self.answers() or ["Nothing was asked."])[0]

    def records(self) -> Records:
        """Return one row per notion of relevance and label: what it takes to know p(R|i) well enough."""
        return self.needed.records()


def sensitivity(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    setting: PredictedRelevance | None = None,
    *,
    against: Sequence[str] = (),
    lists: ListOrder | None = None,
    deviation: float = DEVIATION,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Sensitivity:
    """Ask what p(R|i) depends on.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them; runs are needed only for lists that no resource tells
    setting : which labels are relevant, and how they are paired; the plain ratio is looked at, whatever the prior
    against : "quality", "topics", "judgments"; by default all that can be done
    lists : which lists there are, and how good they are
    deviation : the standard deviation to plan double judgments for

    Notes
    -----
    Cost: a few passes over the labels, one over the runs; nothing is fitted twice.
    """
    labels, lists, setting = read_judgments(judgments), lists or ListOrder(), setting or PredictedRelevance()
    asked = _asked(against, runs=runs is not None, resources=lists.resource is not None)
    for_topics, for_rounds = (np.random.default_rng(each) for each in seed_of(rng).spawn(3)[1:])
    quality = None
    if "quality" in asked:
        labels, quality = _quality(labels, runs, setting, lists=lists, progress=progress)
    fit = setting.fit(labels, rng=rng)
    words = [*warnings_of(fit), *(quality.warnings() if quality else ())]
    if setting.prior > 0:
        words.append("the prior is left out here: sensitivity is that of the plain ratio")
    topics = None
    if "topics" in asked and fit.n_topics > 1 and setting.n_draws > 1:
        topics = topic_influence(fit, labels.topics, n_draws=setting.n_draws, rng=for_topics)
    elif "topics" in asked:
        words.append(
            f"nothing is said of topics: {fit.n_topics} with double judgments, drawn {counted(setting.n_draws, 'time')}"
        )
    return Sensitivity(
        fit,
        quality,
        topics,
        simulate_rounds(fit, rng=for_rounds) if "judgments" in asked else None,
        double_judgments_needed(fit, deviation),
        tuple(lowest_labels(fit)),
        tuple(words),
    )


def _asked(against: Sequence[str], *, runs: bool, resources: bool) -> set[str]:
    """Settle what is asked: what was named, or all that can be done."""
    for name in against:
        if name not in AGAINST:
            raise UnknownName("sensitivity", name, AGAINST)
    if runs and resources:
        raise SettingError("lists come from runs or from resources, not from both", hint="leave one of them out")
    if "quality" in against and not (runs or resources):
        raise SettingError(
            "there are no lists to order by their quality",
            hint="give runs, or say which resource a document belongs to (--resource PATTERN)",
        )
    return set(against) or ({*AGAINST} if runs or resources else {*AGAINST} - {"quality"})


def _quality(
    judgments: Judgments,
    runs: RunsLike | None,
    setting: PredictedRelevance,
    *,
    lists: ListOrder,
    progress: Progress | None,
) -> tuple[Judgments, QualitySensitivity]:
    """Order the lists of resources or of runs, and estimate from more and more of them."""
    if lists.resource is not None:
        judgments, found = lists_of_resources(judgments, lists.resource)
    else:
        found = lists_of_runs(scan(runs or [], judgments.items, progress=progress).facts)
    return judgments, against_quality(judgments, found, setting, by=lists.by, level=lists.level, top=lists.top)

"""Sensitivity of p(R|i) to the quality of the results, the topics, and the number of double judgments.

Demeester et al. (2015), Sections 6.1 to 6.3, Figures 1 to 3: ``by_result_quality``, ``by_topic`` and
``double_judgments``, which also computes the numbers of double judgments and of topics needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import SettingError, UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike, scan
from venire.randomness import seed_of
from venire.results import Note, Records, Tabular
from venire.types import RNGLike

AGAINST = ("quality", "topics", "judgments")


@dataclass(frozen=True, kw_only=True)
class ListOrder:
    """Which lists there are, and how good they are.

    Parameters
    ----------
    resource : lists are those of resources: a pattern of document names, a column, or a mapping; None: those of runs
    by : assessors whose labels rank the lists; by default those observed, else the reference, else who gave most
    level : a result with this label or higher is good; by default the upper half of the scale
    top : how many results of each list count
    """

    resource: ResourceLike | None = None
    by: Sequence[str] = ()
    level: str | None = None
    top: int = TOP


@dataclass(frozen=True, eq=False)
class Sensitivity(Tabular):
    """What was requested, None where it was not or is impossible, see ``notes``."""

    fit: PredictedRelevanceFit
    quality: QualitySensitivity | None
    topics: TopicInfluence | None
    judgments: AnnotationRounds | None
    needed: JudgingEffort
    lowest: tuple[LowestLabel, ...]
    notes: tuple[Note | str, ...] = ()

    def answers(self) -> list[str]:
        """Say what was found, in a sentence or two for each question and notion of relevance."""
        words: list[str] = []
        for row in range(len(self.fit.relevant.names)):
            found = (self.quality, self.topics, self.judgments)
            words += [each.sentence(row) for each in found if each is not None]
            words += self.needed.sentences(row) if self.judgments is not None else []
        return words + [each.sentence() for each in self.lowest if self.judgments is not None]

    def sentence(self) -> str:
        """Say how many double judgments are needed."""
        return self.needed.sentence()

    def records(self) -> Records:
        """Return one row per notion of relevance and label: the double judgments and topics needed."""
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
    """Analyse what p(R|i) depends on.

    Parameters
    ----------
    judgments, runs : as ``evaluate`` takes them; runs are needed only for lists that are not those of resources
    setting : which labels are relevant, and how they are paired; its prior is not used
    against : "quality", "topics", "judgments"; by default all that are possible
    lists : which lists there are, and how good they are
    deviation : the standard deviation to plan double judgments for

    Notes
    -----
    Cost: a few passes over the labels, one over the runs; nothing is fitted twice.
    """
    labels, lists, setting = as_judgments(judgments), lists or ListOrder(), setting or PredictedRelevance()
    asked = _asked(against, runs=runs is not None, resources=lists.resource is not None)
    for_topics, for_rounds = (np.random.default_rng(each) for each in seed_of(rng).spawn(3)[1:])
    quality = None
    if "quality" in asked:
        if lists.resource is not None:
            labels, ranked = lists_of_resources(labels, lists.resource)
        else:
            ranked = lists_of_runs(scan([] if runs is None else runs, labels.items, progress=progress).facts)
        quality = against_quality(labels, ranked, setting, by=lists.by, level=lists.level, top=lists.top)
    fit = setting.fit(labels, rng=rng)
    notes = [*fit.notes, *(quality.notes if quality else ())]
    if setting.prior > 0:
        notes.append(Note("no-prior", "the prior is not used: sensitivity is that of the plain ratio"))
    topics = None
    if "topics" in asked and fit.n_topics > 1 and setting.n_draws > 1:
        topics = topic_influence(fit, labels.topics, n_draws=setting.n_draws, rng=for_topics)
    elif "topics" in asked:
        text = "sensitivity to topics needs two topics with double judgments and two draws: there are {n} and {draws}"
        notes.append(Note("no-topics", text, n=fit.n_topics, draws=setting.n_draws))
    return Sensitivity(
        fit,
        quality,
        topics,
        simulate_rounds(fit, rng=for_rounds) if "judgments" in asked else None,
        double_judgments_needed(fit, deviation),
        tuple(lowest_labels(fit)),
        tuple(notes),
    )


def _asked(against: Sequence[str], *, runs: bool, resources: bool) -> set[str]:
    """Return what was requested, or all that is possible."""
    for name in against:
        if name not in AGAINST:
            raise UnknownName("sensitivity", name, AGAINST)
    if runs and resources:
        raise SettingError("lists come from runs or from resources, not from both", hint="leave one of them out")
    if "quality" in against and not (runs or resources):
        raise SettingError(
            "there are no lists to order by their quality", hint="give runs, or the resource of each document"
        )
    return set(against) or ({*AGAINST} if runs or resources else {*AGAINST} - {"quality"})

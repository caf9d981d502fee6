"""Numbers of a study in progress: how far it is, how far assessors agree, and what is still needed.

Agreement, p(R|i) and the profiles of assessors are computed from the judgments of an export, by the functions and with
the settings that ``venire agreement`` and ``venire disagreement`` have by default, so that these say the same of the
exported file.  Labels of pages and of snippets are never paired, nor those of two aspects: each has numbers of its own.

Everything is computed from one reading of the answers, apart from the transactions that write them;
:class:`LiveProgress` does so again only when something was written, and spends little of its time on it.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from threading import Lock
from typing import TypeVar

from venire.agreement.flags import FlaggedProfiles
from venire.agreement.profiles import profiles
from venire.agreement.table import AgreementTable, table
from venire.data.judgments import Judgments
from venire.disagreement.double_judgments import (
    JudgingEffort,
    LowestLabel,
    double_judgments_needed,
    lowest_labels,
)
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.errors import VenireError
from venire.judging.answers import COUNTED, Stored
from venire.judging.exports import CONTENTS, LABELS, Export, export
from venire.judging.store import Store
from venire.judging.study import ASPECTS, PERSON, Study
from venire.judging.study_gold import hits
from venire.judging.tasks import Task

T = TypeVar("T")
STATISTICS = ("krippendorff_alpha", "cohen_kappa", "raw_agreement")
N_DRAWS = 1000
"""Bootstrap samples of ``venire agreement``."""
PAUSE, LONGEST_PAUSE = 10, 30.0
"""Numbers are computed again after so many times as long as it took, and after so many seconds at most."""


@dataclass(frozen=True, kw_only=True)
class TopicProgress:
    """Answers by people that a topic needs, and those that it has."""

    topic: str
    needed: int
    done: int


@dataclass(frozen=True, kw_only=True)
class AssessorProgress:
    """What an assessor has done.

    cannot: among the answers that count, those that say it cannot be judged
    seconds: median time on the screen; last: when the last answer came, seconds since 1970
    repeated, same: tasks that came again, and those that got the same answer; gold, right: labels that
    hidden gold states, each aspect and preference among them, and those that were given
    """

    assessor: str
    kind: str
    reference: bool
    done: int
    surplus: int
    cannot: int
    seconds: float | None
    last: float | None
    repeated: int
    same: int
    gold: int
    right: int


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What the labels of one view say about disagreement; None where ``reasons`` has why not.

    aspect: the one that the labels are on, "" for labels of the document as a whole
    effort: double judgments that p(R|i) needs in all; lowest: whether the lowest label has to be judged again
    """

    view: str
    aspect: str
    agreement: AgreementTable | None
    fit: PredictedRelevanceFit | None
    assessors: FlaggedProfiles | None
    effort: JudgingEffort | None
    lowest: tuple[LowestLabel, ...]
    reasons: tuple[str, ...] = ()

    @property
    def still_needed(self) -> dict[tuple[str, str], int | None]:
        """Double judgments that are still missing, by notion of relevance and label; None where it is unknown."""
        if self.effort is None:
            return {}
        there = self.effort.n_judgments
        return {
            (str(row["relevant"]), str(row["label"])): _missing(row["judgments"], there)
            for row in self.effort.records()
        }


def _missing(needed: object, there: int) -> int | None:
    return max(0, int(needed) - there) if isinstance(needed, int | float) else None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The numbers of a study as of a revision of its database."""

    revision: int
    needed: int
    done: int
    topics: tuple[TopicProgress, ...]
    assessors: tuple[AssessorProgress, ...]
    quality: tuple[Quality, ...]


def progress(store: Store) -> Progress:
    """Compute the numbers of a study."""
    revision, stored = store.revision(), store.stored(surplus=True)
    counted = [each for each in stored if each.status == COUNTED]
    topics = _topics(store.tasks.values(), counted)
    return Progress(
        revision=revision,
        needed=sum(each.needed for each in topics),
        done=sum(each.done for each in topics),
        topics=topics,
        assessors=_assessors(store.study, stored),
        quality=tuple(quality(store.study, counted)),
    )


def _topics(tasks: Iterable[Task], counted: Iterable[Stored]) -> tuple[TopicProgress, ...]:
    taken = Counter(each.task.key for each in counted if each.kind == PERSON and not each.repeat)
    needed: Counter[str] = Counter()
    done: Counter[str] = Counter()
    for task in tasks:
        needed[task.topic] += task.needed
        done[task.topic] += min(taken[task.key], task.needed)
    return tuple(TopicProgress(topic=topic, needed=n, done=done[topic]) for topic, n in needed.items())


def _assessors(study: Study, stored: Iterable[Stored]) -> tuple[AssessorProgress, ...]:
    """Count what each assessor did: those of the study in its order, then those that were erased."""
    given: dict[str, list[Stored]] = {each.name: [] for each in study.assessors}
    for each in stored:
        given.setdefault(each.assessor, []).append(each)
    kinds = {each.name: each.kind for each in study.assessors}
    reference = {each.name for each in study.assessors if each.reference}
    return tuple(
        _assessor(name, kinds.get(name) or own[0].kind, own, reference=name in reference) for name, own in given.items()
    )


def _assessor(name: str, kind: str, own: Sequence[Stored], *, reference: bool) -> AssessorProgress:
    counted = [each for each in own if each.status == COUNTED]
    first = [each for each in counted if not each.repeat]
    seconds = [each.seconds for each in counted if each.seconds is not None]
    gold, right = hits((each.task, each.value) for each in first)
    repeated, same = _repeats(counted)
    return AssessorProgress(
        assessor=name,
        kind=kind,
        reference=reference,
        done=len(first),
        surplus=len(own) - len(counted),
        cannot=sum("cannot" in each.value for each in first),
        seconds=median(seconds) if seconds else None,
        last=max((each.received for each in own), default=None),
        repeated=repeated,
        same=same,
        gold=gold,
        right=right,
    )


def _repeats(counted: Iterable[Stored]) -> tuple[int, int]:
    """Count the tasks that were answered again, and those of them that got the same answer."""
    values = defaultdict(list)
    for each in sorted(counted, key=lambda each: each.repeat):
        values[each.task.key].append(dict(each.value))
    pairs = [(first, again) for first, *others in values.values() for again in others]
    return len(pairs), sum(first == again for first, again in pairs)


def quality(study: Study, counted: Sequence[Stored]) -> Iterable[Quality]:
    """Compute agreement and p(R|i) of the labels, for each view that has some; likewise for each aspect."""
    for content in (LABELS, ASPECTS):
        labels = [each for each in counted if each.task.kind in CONTENTS[content]]
        for view in dict.fromkeys(each.task.view for each in labels):
            reasons: list[str] = []
            of_view = [each for each in labels if each.task.view == view]
            found = _tried(partial(export, study, of_view, content), reasons)
            for aspect, judgments in _by_aspect(study, found):
                yield _quality(view, aspect, judgments, study.deviation, [*reasons])


def _by_aspect(study: Study, found: Export | None) -> list[tuple[str, Judgments]]:
    """Return the judgments of an export by aspect, "" where they are on none."""
    if found is None or found.judgments is None:
        return []
    judgments, aspect = found.judgments, found.judgments.facets.get("aspect")
    if aspect is None:
        return [("", judgments)]
    names = [each.name for each in study.aspects if each.name in list(aspect.names)]
    return [(name, judgments.where(aspect=name)) for name in names]


def _quality(view: str, aspect: str, judgments: Judgments, deviation: float, reasons: list[str]) -> Quality:
    fit = _tried(lambda: PredictedRelevance().fit(judgments, rng=0), reasons)
    return Quality(
        view=view,
        aspect=aspect,
        agreement=_tried(lambda: table(judgments, names=STATISTICS, over="items", n_draws=N_DRAWS, rng=0), reasons),
        fit=fit,
        assessors=_tried(lambda: FlaggedProfiles(profiles(judgments, reference=judgments.reference)), reasons),
        effort=None if fit is None else _tried(lambda: double_judgments_needed(fit, deviation), reasons),
        lowest=() if fit is None else tuple(lowest_labels(fit)),
        reasons=tuple(dict.fromkeys(reasons)),
    )


def _tried(compute: Callable[[], T], reasons: list[str]) -> T | None:
    """Compute something, or note in a sentence why that is not possible yet."""
    try:
        return compute()
    except VenireError as error:
        reasons.append(f"{error.message[:1].upper()}{error.message[1:]}.")
        return None


class LiveProgress:
    """The numbers of a study that goes on, for use by several threads.

    They are computed again when something was written, but not before ``PAUSE`` times as long has passed as it takes,
    or ``LONGEST_PAUSE``; until then, and while another thread computes them, those of before are returned.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._computing = Lock()
        self._found: Progress | None = None
        self._not_before = 0.0

    def __call__(self) -> Progress:
        """Return the numbers."""
        found = self._found
        if found is None:
            with self._computing:
                return self._found or self._compute()
        if self._clock() < self._not_before or self._store.revision() == found.revision:
            return found
        if not self._computing.acquire(blocking=False):
            return found
        try:
            return self._compute()
        finally:
            self._computing.release()

    def _compute(self) -> Progress:
        start = self._clock()
        self._found = progress(self._store)
        end = self._clock()
        self._not_before = end + min(PAUSE * (end - start), LONGEST_PAUSE)
        return self._found

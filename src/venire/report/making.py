"""Making a report: from judgments and runs to chapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.errors import SettingError
from venire.io.clicks import ClicksLike, read_clicks
from venire.io.judgments import JudgmentsLike, as_judgments, read_also
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs
from venire.measures.scoring import MeasureLike
from venire.report import headline, labels, method, quality, systems, users
from venire.report.document import Chapter, Report
from venire.report.evidence import Evidence
from venire.report.question import Question
from venire.results import counted

CHAPTERS: Mapping[str, Callable[[Evidence], Chapter | None]] = {
    "judgments": labels.judgments_chapter,
    "label worth": labels.label_worth_chapter,
    "systems": systems.systems_chapter,
    "another judge": systems.another_judge_chapter,
    "quality": quality.chapter,
    "users": users.chapter,
    "changes": headline.changes_chapter,
    "verdict": headline.verdict_chapter,
}
"""Chapters in the order in which they are written; in the report the verdict is first, the method last."""
STAGES = len(CHAPTERS) + 1

Stage = Callable[[str], None]


def report_on(
    judgments: JudgmentsLike,
    runs: RunsLike,
    *,
    measure: MeasureLike = "nDCG@10",
    assessor: str | None = None,
    relevant: object = None,
    reference: Sequence[str] | str = (),
    preferences: PreferencesLike | None = None,
    clicks: ClicksLike | None = None,
    aspects: Aspects | None = None,
    before: JudgmentsLike | None = None,
    n_draws: int = 1000,
    rng: int = 0,
    stage: Stage | None = None,
) -> Report:
    """Write a report on judgments and runs.

    Parameters
    ----------
    judgments, runs : as ``read_judgments`` and ``read_runs`` take them
    measure : what systems are scored by
    assessor : whose labels score the runs; None: of the reference, or else of the people, if declared and they labelled
        nearly all results, the one who judged nearly all items, or else most of each topic
    relevant : the lowest label that is relevant to a user; None: the highest label of those that score the runs
    reference : assessors whose labels count; none: those that the judgments declare.  They score the runs if they
        labelled nearly all results, and stand for users
    preferences, clicks : as ``read_preferences`` and ``read_clicks`` take them
    aspects : grades by aspect, if several were judged; ``judgments`` are then of one
    before : earlier judgments, to show what new ones changed
    n_draws : how often topics, judges and users are drawn
    rng : a seed
    stage : called with the name of each chapter before it is written

    Examples
    --------
    >>> made = report_on({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 2.0, "d2": 1.0}})
    >>> made.chapters[0].finding
    'There is one system only, run; its nDCG@10 is 1.000.'
    """
    if isinstance(rng, bool) or not isinstance(rng, int):
        raise SettingError(f"rng is {rng!r}, expected a whole number", hint="the report states it, to be reproducible")
    judged, earlier = as_judgments(judgments), None
    if before is not None:
        judged, earlier = read_also(judged, before)
    question = Question(
        judged,
        as_runs(runs),
        measure=str(measure),
        assessor=assessor,
        relevant=None if relevant is None else str(relevant),
        reference=(reference,) if isinstance(reference, str) else tuple(reference),
        preferences=None if preferences is None else read_preferences(preferences),
        clicks=clicks if clicks is None or isinstance(clicks, Clicks) else read_clicks(clicks),
        aspects=aspects,
        before=earlier,
        n_draws=n_draws,
        rng=rng,
    )
    return make_report(question, stage=stage)


def make_report(question: Question, *, stage: Stage | None = None) -> Report:
    """Write all chapters of a report.

    stage: called with the name of each chapter before it is written, for a progress bar.  A chapter that does not
    apply (no preferences, no aspects) is omitted.
    """
    evidence = Evidence(question)
    evidence.validate()
    chapters: list[Chapter] = []
    for name, write in CHAPTERS.items():
        if stage is not None:
            stage(name)
        written = write(evidence)
        chapters += [] if written is None else [written]
    if stage is not None:
        stage("method")
    *body, first = chapters
    n = len(question.judgments.assessors)
    people = "one assessor" if n == 1 else f"{n} assessors"
    title = f"{counted(len(evidence.facts.systems), 'system')}, judged by {people}"
    return Report(title, (first, *body, method.chapter(question, chapters)), question.made_with())

"""Making a report: from judgments and runs to chapters, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.errors import SettingError
from venire.io.click_logs import ClicksLike, read_clicks
from venire.io.judgment_sources import JudgmentsLike, read_also, read_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs
from venire.measures.scoring import MeasureLike
from venire.report import method
from venire.report.document import Chapter, Report
from venire.report.evidence import Evidence
from venire.report.question import Question
from venire.results import counted

CHAPTERS = ("judging", "label_worth", "standing", "another_judge", "quality", "users", "changes", "verdict")
"""Modules of the chapters, in the order in which they are written; the verdict stands first, the method last."""
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
    assessor : whose labels score the runs; None: who judged nearly all, or else most of each topic; the report says
    relevant : the label from which on a user is satisfied; None: the top label of those that score the runs
    reference : assessors who stand for users; none: all do
    preferences, clicks : what users said or did, as ``read_preferences`` and ``read_clicks`` take them
    aspects : grades by aspect, where judgments were of several; ``judgments`` are then of one
    before : earlier judgments, to show what new ones changed
    n_draws : how often topics, judges and users are drawn
    rng : a seed
    stage : told the name of each chapter before it is written

    Examples
    --------
    >>> made = report_on({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 2.0, "d2": 1.0}})
    >>> made.chapters[0].finding
    'There is one system only, run; its nDCG@10 is 1.000.'
    """
    if isinstance(rng, bool) or not isinstance(rng, int):
        raise SettingError(f"rng is {rng!r}, expected a whole number", hint="the report says it, to be made again")
    labels, earlier = read_judgments(judgments), None
    if before is not None:
        labels, earlier = read_also(labels, before)
    question = Question(
        labels,
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

    stage: told the name of each chapter before it is written, for a bar of progress.  A chapter that does not apply
    (no preferences, no aspects) is left out.
    """
    evidence = Evidence(question)
    evidence.validate()
    chapters: list[Chapter] = []
    for name in CHAPTERS:
        if stage is not None:
            stage(name.replace("_", " "))
        written: Chapter | None = import_module(f"venire.report.{name}").chapter(evidence)
        chapters += [] if written is None else [written]
    if stage is not None:
        stage("method")
    *body, verdict = chapters
    title = f"{counted(len(evidence.facts.systems), 'system')}, judged by {_people(question)}"
    return Report(title, (verdict, *body, method.chapter(question, chapters)), question.made_with())


def _people(question: Question) -> str:
    n = len(question.judgments.assessors)
    return "one assessor" if n == 1 else f"{n} assessors"

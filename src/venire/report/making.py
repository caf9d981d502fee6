"""Making a report: from judgments and runs to chapters, stage by stage."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import TypedDict, Unpack

from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.io.run_sources import RunsLike, read_runs
from venire.report.document import Chapter, Report
from venire.report.evidence import Evidence, Question
from venire.words import counted

CHAPTERS = ("judging", "label_worth", "standing", "another_judge", "quality", "users", "changes", "method")
"""Modules of the chapters, in the order in which they are written; the verdict comes last and stands first."""

Stage = Callable[[str], None]


class Settings(TypedDict, total=False):
    """What a report may be told beside judgments and runs; see ``Question``."""

    measure: str
    assessor: str | None
    relevant: str | None
    reference: tuple[str, ...]
    preferences: Preferences | None
    clicks: Clicks | None
    aspects: Aspects | None
    before: Judgments | None
    n_draws: int
    rng: int
    command: str


def report_on(
    judgments: JudgmentsLike, runs: RunsLike, *, stage: Stage | None = None, **settings: Unpack[Settings]
) -> Report:
    """Write a report on judgments and runs.

    Parameters
    ----------
    judgments, runs
        As ``read_judgments`` and ``read_runs`` take them.
    stage : told the name of each chapter before it is written
    settings
        measure, assessor, relevant, reference, preferences, clicks, aspects, before, n_draws, rng and command: see
        ``venire.report.evidence.Question``.

    Examples
    --------
    >>> made = report_on({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 2.0, "d2": 1.0}})
    >>> made.chapters[0].finding
    'There is one system only, run, with a nDCG@10 of 1.000.'
    """
    return make_report(Question(read_judgments(judgments), read_runs(runs), **settings), stage=stage)


def make_report(question: Question, *, stage: Stage | None = None) -> Report:
    """Write all chapters of a report.

    stage: told the name of each chapter before it is written, for a bar of progress.  A chapter that does not apply
    (no preferences, no aspects) is left out.
    """
    evidence = Evidence(question)
    evidence.refuse_nonsense()
    chapters = []
    for name in (*CHAPTERS, "verdict"):
        if stage is not None:
            stage(name.replace("_", " "))
        chapter: Chapter | None = import_module(f"venire.report.{name}").chapter(evidence)
        if chapter is not None:
            chapters.append(chapter)
    systems = evidence.scores["linear"].names["system"]
    title = f"{counted(len(systems), 'system')}, judged by {_people(question)}"
    return Report(title, (chapters[-1], *chapters[:-1]), made_with(question))


def made_with(question: Question) -> dict[str, object]:
    """Versions, seed and command: what it takes to make the report again."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "polars", "matplotlib")}
    return {
        "version": version("venire"),
        "python": platform.python_version(),
        **libraries,
        "rng": question.rng,
        "draws": question.n_draws,
        "command": question.command,
    }


def _people(question: Question) -> str:
    n = len(question.judgments.assessors)
    return "one assessor" if n == 1 else f"{n} assessors"

"""Making a report: from judgments and runs to chapters.

The last chapter is the method: how every number was computed, with references, and how to reproduce it.  A formula of
``assets/formulas.toml`` is listed if a table or picture shows its number, or the report uses its measure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from venire.data.intents import Probabilities
from venire.data.judgments import is_conditional
from venire.errors import SettingError
from venire.io.aspects import AspectsLike, read_aspects
from venire.io.clicks import ClicksLike, read_clicks
from venire.io.judgments import JudgmentsLike, as_judgments, read_also
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs
from venire.io.texts import Texts
from venire.measures.evaluate import labels_for
from venire.measures.scoring import MeasureLike
from venire.report import changes, headline, judgments_alone, labels, quality, systems
from venire.report.aside import Aside, second_process
from venire.report.document import Chapter, Grid, Picture, Report, Words
from venire.report.drill import drill
from venire.report.evidence import Evidence
from venire.report.front import front
from venire.report.next_judgments import next_judgments, plan_chapter
from venire.report.question import Question
from venire.results import counted


def users_chapter(evidence: Evidence) -> Chapter | None:
    """Write the chapter on users; its analyses are imported only where there is something for them."""
    question = evidence.question
    given = (question.preferences, question.clicks, question.aspects)
    if all(each is None for each in given) and not is_conditional(question.judgments).any():
        return None
    from venire.report import users

    return users.chapter(evidence)


CHAPTERS: Mapping[str, Callable[[Evidence], Chapter | None]] = {
    "judgments": labels.judgments_chapter,
    "label worth": labels.label_worth_chapter,
    "systems": systems.systems_chapter,
    "another judge": systems.another_judge_chapter,
    "quality": quality.chapter,
    "users": users_chapter,
    "changes": changes.changes_chapter,
    "verdict": headline.verdict_chapter,
}
"""Chapters in the order in which they are written; in the report the verdict is first, the method last."""
WITHOUT_RUNS: Mapping[str, Callable[[Evidence], Chapter | None]] = {
    "judgments": labels.judgments_chapter,
    "label worth": labels.label_worth_chapter,
    "summary": judgments_alone.summary_chapter,
}
"""Chapters of a report on judgments alone; the summary is first, the method last."""
WITH_ANSWER = ("judgments", "quality")
"""Chapters that need what a second process computes, if there is one; the others are written meanwhile."""
STAGES = len(CHAPTERS) + 2

Stage = Callable[[str], None]


def report_on(
    judgments: JudgmentsLike,
    runs: RunsLike = (),
    *,
    measure: MeasureLike = "nDCG@10",
    assessor: str | None = None,
    pool: str | None = None,
    relevant: object = None,
    reference: Sequence[str] | str = (),
    families: Mapping[str, Sequence[str]] | None = None,
    preferences: PreferencesLike | None = None,
    clicks: ClicksLike | None = None,
    aspects: AspectsLike | None = None,
    before: JudgmentsLike | None = None,
    texts: Texts | None = None,
    intents: Probabilities | None = None,
    n_draws: int = 1000,
    rng: int = 0,
    stage: Stage | None = None,
) -> Report:
    """Write a report on judgments and runs.

    Parameters
    ----------
    judgments, runs : as ``read_judgments`` and ``read_runs`` take them; without runs, the report is on the judgments
    measure : what systems are scored by
    assessor : whose labels score the runs; None: of the reference, or else of the people, if declared and they labelled
        nearly all results, the one who judged nearly all items, or else most of each topic
    pool : pool the labels of all people who are not the reference: "majority", "median" or "dawid-skene"; None: by
        majority where a crowd judged (twenty people or more, each less than half of the items), else not at all
    relevant : the lowest label that is relevant to a user; None: that from which on people agree best
    reference : assessors whose labels count; none: those that the judgments declare.  They score the runs if they
        labelled nearly all results, and stand for users; judges are tested for systems that they favour compared with
        them
    families : name -> systems that are tested together for favour, such as those built on the same language model
    preferences, clicks : as ``read_preferences`` and ``read_clicks`` take them
    aspects : grades by aspect, as ``read_aspects`` takes them, if several were judged; ``judgments`` are then of one
    before : earlier judgments, to show what new ones changed
    texts : of topics and documents, to be shown beside their ids (``venire.io.read_texts``)
    intents : the probability of each intent, for measures by intent, as in ``evaluate``
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
    judged, earlier, systems = as_judgments(judgments), None, as_runs(runs)
    if before is not None:
        judged, earlier = read_also(judged, before)
    if systems.sources:  # without runs nothing is scored
        judged = labels_for(judged, measure, intents)
        earlier = None if earlier is None else labels_for(earlier, measure, intents)
    question = Question(
        judged,
        systems,
        measure=str(measure),
        assessor=assessor,
        pool=pool,
        relevant=None if relevant is None else str(relevant),
        reference=(reference,) if isinstance(reference, str) else tuple(reference),
        families=families or {},
        preferences=None if preferences is None else read_preferences(preferences),
        clicks=None if clicks is None else read_clicks(clicks),
        aspects=None if aspects is None else read_aspects(aspects),
        before=earlier,
        texts=texts,
        n_draws=n_draws,
        rng=rng,
    )
    with second_process(question) as aside:
        return make_report(question, stage=stage, aside=aside)


def make_report(question: Question, *, stage: Stage | None = None, aside: Aside | None = None) -> Report:
    """Write all chapters of a report.

    stage: called with the name of each chapter before it is written, for a progress bar.  aside: a second process that
    computes a part of the evidence.  A chapter that does not apply (no preferences, no aspects) is omitted.
    """
    evidence, tell = Evidence(question), stage or (lambda _: None)
    if aside is not None:
        evidence.answered  # noqa: B018  # both processes need it
        aside.ask(evidence)
    evidence.validate()
    writers = CHAPTERS if evidence.facts.systems else WITHOUT_RUNS
    later = () if aside is None else WITH_ANSWER
    if aside is not None:
        aside.tell(evidence)
    written = {name: _told(tell, name, writers[name], evidence) for name in writers if name not in later}
    held = drill(evidence) if evidence.facts.systems else None
    if aside is not None:
        aside.take_over(evidence)
    written |= {name: _told(tell, name, writers[name], evidence) for name in writers if name in later}
    chapters = [each for name in writers if (each := written[name]) is not None]
    tell("plan")
    plan = next_judgments(evidence)
    tell("method")
    *body, first = chapters
    body.append(plan_chapter(evidence, plan))
    n = len(question.judgments.assessors)
    people = "one assessor" if n == 1 else f"{n} assessors"
    what = counted(len(evidence.facts.systems), "system") if evidence.facts.systems else "Judgments"
    title = f"{what}, judged by {people}" if evidence.facts.systems else f"{what} by {people}"
    seen = front(evidence, plan, held) if evidence.facts.systems else None
    method = method_chapter(question, [*body, first], also=seen.shows() if seen else ())
    return Report(title, (first, *body, method), question.made_with(), seen)


def _told(tell: Stage, name: str, write: Callable[[Evidence], Chapter | None], evidence: Evidence) -> Chapter | None:
    """Write a chapter, and say so before."""
    tell(name)
    return write(evidence)


def method_chapter(question: Question, others: Sequence[Chapter], also: Sequence[str] = ()) -> Chapter:
    """Write the chapter on the method, for what the other chapters show, and the first screen (also)."""
    made = question.made_with()
    shown = [name for each in others for part in each.parts if not isinstance(part, Words) for name in _shown(part)]
    parts: tuple[Words | Grid, ...] = (
        Words(str(made["command"]) or "made in Python by venire.report_on", "command"),
        Grid(
            "formulas",
            "How each number is computed.",
            ["number", "formula", "reference"],
            formulas_of([*shown, *also], _measures(question, others)),
            shown=50,
        ),
        Grid(
            "versions",
            "Versions and settings.",
            ["what", "value"],
            [[name, str(value)] for name, value in made.items() if name not in ("command", "inputs")],
        ),
        *_inputs(question),
    )
    source, again = ("the arguments of venire.report_on", "call")
    if question.command:
        source, again = "the files in the command below", "command"
    same = f"the same {again} with the same versions reproduces the report"
    finding = f"Every number is computed from {source} with seed {made['rng']}: {same}."
    return Chapter("method", "Method", finding, parts)


def _inputs(question: Question) -> list[Grid]:
    """List the files that were read, if any were."""
    rows = [[each.name, each.size, each.sha256] for each in question.inputs]
    caption = "Files that were read, with their sizes in bytes and SHA-256 hashes."
    return [Grid("inputs", caption, ["file", "size", "sha256"], rows, shown=20)] if rows else []


def _shown(part: Grid | Picture) -> list[str]:
    """Name what a table or picture shows: itself, and of a table its columns and the words in its cells."""
    if isinstance(part, Picture):
        return [part.name]
    cells = {cell for row in part.rows for cell in row if isinstance(cell, str)}
    return [part.name, *(f"{part.name}.{name}" for name in part.columns), *(f"{part.name}={cell}" for cell in cells)]


def _measures(question: Question, others: Sequence[Chapter]) -> list[str]:
    """Name the measures that the report shows: its own, and those in tables by measure."""
    tables = [part for each in others for part in each.parts if isinstance(part, Grid) and "measure" in part.columns]
    places = [(part, list(part.columns).index("measure")) for part in tables]
    own = [question.measure] if any(each.name == "systems" for each in others) else []
    return list(dict.fromkeys([*own, *(str(row[n]) for part, n in places for row in part.rows)]))


@cache
def all_formulas() -> dict[str, Any]:
    """Return the formulas: a list of those of numbers, with what shows them, and those of measures by name."""
    return tomllib.loads(files("venire.report").joinpath("assets", "formulas.toml").read_text(encoding="utf-8"))


def formulas_of(shown: Collection[str], measures: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return name, formula and reference of the numbers in tables and pictures, and of the measures that are used.

    Examples
    --------
    >>> formulas_of(["entropy"], ["CG@5"])
    [('CG', 'Σ g over the first k results', 'Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418')]
    """
    known, names = all_formulas(), dict.fromkeys(name.partition("@")[0].partition("(")[0] for name in measures)
    used = [(name, known["measure"][name]) for name in names if name in known["measure"]]
    used += [(each["number"], each) for each in known["formula"] if set(each["shown"]) & set(shown)]
    return [(name, each["text"], each["reference"]) for name, each in used]

"""Labels that were given elsewhere, as answers of a study: judgments that Venire reads, and exports of other tools.

How files of other tools are read: ``venire.io.sources``.

Topics are known by their id or, as Quepid has it, by the text of the query.  A label is stored under the task of the
study that asks for it, if the assessor may answer that; otherwise under a task of its own, so that it is exported all
the same.  What is there already is not stored again.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from venire.data.scale import Scale, is_integer, whole
from venire.errors import BadRowsWarning, FormatError, SettingError, UnknownName, Way, known_names
from venire.io.files import opened
from venire.io.judgments import read_judgments
from venire.io.sources.known import BY_NAME, OF_LABELS
from venire.io.sources.labels import Imported, left_out_notes
from venire.io.tables.columns import BINARY, HEAD, ROLES, find_roles
from venire.judging.answers import SURPLUS, Answer, Stored
from venire.judging.store import Store
from venire.judging.study import CONDITIONAL, LABEL, PAGE, PERSON, SNIPPET, Study
from venire.judging.tasks import Task
from venire.results import Note, first_few

QRELS = "qrels"
SOURCES = (QRELS, *OF_LABELS)
VIEWS = (PAGE, SNIPPET)
IMPORTED = "imported"
"""Reason of a task that the study does not ask for."""
Question = tuple[str, str, str, str, str]
"""Kind, topic, document, given document, view."""


@dataclass(frozen=True)
class Outcome:
    """What became of the labels of one assessor: added, there before, and stored beside those that count."""

    assessor: str
    added: int
    known: int
    surplus: int


def read_labels(path: Path, source: str, *, scale: Scale | None = None, control: str = "") -> list[Imported]:
    """Read the labels of a file.

    scale: that of the study, for judgments; control: which of several questions has the labels
    """
    if control and (source not in OF_LABELS or "label" not in BY_NAME[source].stated):
        raise FormatError(path, None, f"{source} has no control {control[:60]!r}", hint="import it without a control")
    if source == QRELS:
        found = list(_judgments(path, scale))
    elif source in OF_LABELS:
        columns = {"label": control} if control else {}
        read = BY_NAME[source].labels(path, columns)
        for note in left_out_notes(read):
            warnings.warn(f"{path}: {note}", BadRowsWarning, stacklevel=2)
        found = [each for each in read if not each.left_out]
        _refuse_several(found, path)
    else:
        raise UnknownName("source", source, SOURCES)
    if not found:
        raise FormatError(path, None, "holds no labels")
    return found


def _refuse_several(labels: Sequence[Imported], path: Path) -> None:
    """Raise where labels answer several questions, of which one has to be chosen."""
    controls = list(dict.fromkeys(each.aspect for each in labels))
    if len(controls) > 1:
        hint = [Way(f"say which one has the labels: {first_few(controls, 6)}", control="NAME")]
        raise FormatError(path, None, f"has answers to {len(controls)} controls", hint=hint)


@dataclass(frozen=True)
class Plan:
    """What to store: the task and the label of each answer by assessor; known: how many are there already."""

    answers: Mapping[str, Sequence[tuple[Task, Imported]]]
    known: Mapping[str, int]
    notes: tuple[Note, ...] = ()


def import_labels(
    study: Study,
    tasks: Sequence[Task],
    labels: Sequence[Imported],
    *,
    names: Mapping[str, str],
    view: str = PAGE,
    database: str | None = None,
) -> tuple[list[Outcome], tuple[Note, ...]]:
    """Store labels as answers, and return what became of them.

    names: name in the file -> assessor of the study; "" stands for a file that names nobody, and for any other name
    view: what was judged, where the file does not tell
    """
    with Store.open(study, tasks, database) as store:
        plan = planned(store, labels, names=names, view=view)
    own = [task for pairs in plan.answers.values() for task, _ in pairs if task.reason == IMPORTED]
    with Store.open(study, [*tasks, *own], database) as store:
        return [_add(store, name, plan) for name in plan.answers], plan.notes


def planned(store: Store, labels: Sequence[Imported], *, names: Mapping[str, str], view: str) -> Plan:
    """Find the task of each label; raise where an assessor has another label already."""
    study, topics = store.study, _topics(store.study)
    kept = [_on_scale(study, replace(each, topic=topics[each.topic])) for each in labels if each.topic in topics]
    text = "{n:label} left out: of topics that the study does not have"
    notes = [Note("other-topics", text, n=len(labels) - len(kept))] if len(kept) < len(labels) else []
    if not kept:
        known = first_few([each.query for each in study.topics.values()], 5)
        raise SettingError("no label is of a topic of the study", hint=f"topics are known by id or query: {known}")
    _refuse_merging(kept, names)
    by_assessor: dict[str, list[Imported]] = {}
    for each in kept:
        by_assessor.setdefault(_assessor(study, each.assessor, names), []).append(each)
    stored, taken = store.stored(surplus=True), Counter[str]()
    taken.update(each.task.key for each in stored if each.kind == PERSON and not each.repeat)
    new = {name: _new(stored, name, some, view) for name, some in by_assessor.items()}
    answers = {name: _placed(store, name, some, taken) for name, some in new.items()}
    return Plan(answers, {name: len(by_assessor[name]) - len(new[name]) for name in new}, tuple(notes))


def _topics(study: Study) -> dict[str, str]:
    """Return ids of topics by id, and by query where no other topic has it."""
    queries = Counter(each.query.strip() for each in study.topics.values())
    by_query = {each.query.strip(): name for name, each in study.topics.items() if queries[each.query.strip()] == 1}
    return {**by_query, **{name: name for name in study.topics}}


def _on_scale(study: Study, label: Imported) -> Imported:
    """Return a label as the scale has it: 2.0 is 2."""
    known = [each.name for each in study.scale]
    text = label.label if label.label in known else whole(label.label)
    text = str(int(text)) if text not in known and is_integer(text) else text
    if text not in known:
        message = f"label {label.label!r} of {label.doc!r} for topic {label.topic!r} is not on the scale"
        raise SettingError(message, hint=known_names(label.label, known))
    return replace(label, label=text)


def _refuse_merging(labels: Sequence[Imported], names: Mapping[str, str]) -> None:
    """Raise where one name would stand for several assessors of the file."""
    others = [name for name in dict.fromkeys(each.assessor for each in labels) if name not in names]
    if "" in names and len(others) > 1:
        way = Way("say which one each of them is", assessor=f"{others[0]}=NAME")
        raise SettingError(f"the file has labels by {first_few(others, 4)}, not by one assessor", hint=[way])


def _assessor(study: Study, name: str, names: Mapping[str, str]) -> str:
    """Return the assessor of the study for a name in the file."""
    found = names.get(name, names.get("", name))
    known = [each.name for each in study.assessors]
    if not found:
        raise SettingError("the file does not say who judged", hint=[Way("name the assessor", assessor="NAME")])
    if found not in known:
        way = Way("say who it is", assessor=f"{name or found}=NAME")
        hint = f"{known_names(found, known)}; add [[assessors]] to the study, or {way.text}"
        raise SettingError(f"there is no assessor {found!r} in the study", hint=[hint, way])
    return found


def _question(label: Imported, view: str) -> Question:
    return CONDITIONAL if label.given else LABEL, label.topic, label.doc, label.given, label.view or view


def _asks(task: Task) -> Question:
    return task.kind, task.topic, task.doc, task.given, task.view


def _own_task(question: Question, assessor: str) -> Task:
    kind, topic, doc, given, view = question
    return Task(kind=kind, topic=topic, doc=doc, given=given, view=view, judge=assessor, reason=IMPORTED)


def _new(stored: Sequence[Stored], assessor: str, labels: Sequence[Imported], view: str) -> dict[Question, Imported]:
    """Return the labels that an assessor has not given yet."""
    before = {_asks(each.task): each for each in stored if each.assessor == assessor and not each.repeat}
    new: dict[Question, Imported] = {}
    for label in labels:
        question = _question(label, view)
        other = before[question].value.get("label") if question in before else new.get(question, label).label
        if other != label.label:
            about = f"{label.doc!r} of topic {label.topic!r}"
            message = f"{assessor} has another label for {about}: {other!r}, not {label.label!r}"
            raise SettingError(message, hint="leave it out of the file: answers are never overwritten")
        if question not in before:
            new[question] = label
    return new


def _placed(
    store: Store, assessor: str, labels: Mapping[Question, Imported], taken: Counter[str]
) -> list[tuple[Task, Imported]]:
    """Return the task under which each label is stored: one that the assessor may answer, or one of its own."""
    machine = assessor in store.study.machines
    places: dict[Question, Task] = {}
    for task in store.tasks.values():
        free = machine or (not task.judge and taken[task.key] < task.needed)
        if _asks(task) in labels and (task.judge == assessor or (free and _asks(task) not in places)):
            places[_asks(task)] = task
    if not machine:
        taken.update(task.key for task in places.values())
    return [(places.get(key) or _own_task(key, assessor), label) for key, label in labels.items()]


def _add(store: Store, assessor: str, plan: Plan) -> Outcome:
    """Store the labels of one assessor."""
    answers = [_answer(store, assessor, task, label) for task, label in plan.answers[assessor]]
    receipts = store.answers(assessor, answers) if answers else []
    surplus = sum(each.status == SURPLUS for each in receipts)
    return Outcome(assessor, len(receipts), plan.known[assessor], surplus)


def _answer(store: Store, assessor: str, task: Task, label: Imported) -> Answer:
    parts = ("import", assessor, *_asks(task), label.label)
    return Answer(
        key=f"import-{sha256(chr(0).join(parts).encode('utf-8', 'surrogateescape')).hexdigest()[:40]}",
        task=task.key,
        value={"label": label.label},
        shown="",
        at=store.clock() if label.at is None else label.at,
        seconds=label.seconds,
        comment=label.comment,
    )


def _judgments(path: Path, scale: Scale | None) -> Iterator[Imported]:
    """Read what Venire reads as judgments: qrels, by one assessor, and tables."""
    judgments = read_judgments(path, scale=scale, duplicate_labels="last")
    judgments.require_one("aspect", "intent", "task")
    named = "assessor" in _header(path)
    columns = {name: judgments.column(name).texts() for name in ("topic", "doc", "assessor", "label")}
    columns |= {name: judgments.column(name).texts() for name in ("given", "unit") if name in judgments.facets}
    if wrong := set(columns.get("unit", ())) - set(VIEWS):
        message = f"the unit is {min(wrong)!r}, expected page or snippet"
        raise FormatError(path, None, message, hint="rename the column if it says something else")
    times = [None] * len(judgments) if judgments.time is None else judgments.time.tolist()
    for row, at in zip(zip(*columns.values(), strict=True), times, strict=True):
        cells = dict(zip(columns, row, strict=True))
        cells["view"] = cells.pop("unit", "")
        if not named:
            cells["assessor"] = ""
        yield Imported(**cells, at=None if at is None or np.isnan(at) else at)


def _header(path: Path) -> set[str]:
    """Return the roles of the columns of a table; none for qrels."""
    from venire.io.tables.columns import header_names, looks_like_table

    with opened(path) as file:
        head = file.read(HEAD)
    if head.startswith(BINARY) or head.lstrip().startswith((b"{", b"[")):
        return {"assessor"}
    if not looks_like_table(head, path.name):
        return set()
    return set(find_roles(header_names(head, path.name), ROLES, where=path))

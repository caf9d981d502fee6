"""Labels that were given elsewhere, as answers of a study: judgments that Venire reads, Label Studio, Quepid.

Label Studio exports JSON: a list of tasks, each with ``data`` and a list of ``annotations``.  These have
``completed_by`` (a number, or an object with an e-mail address), ``was_cancelled``, ``lead_time`` in seconds, and in
``result`` the values of controls, of type ``choices`` or ``rating``.  JSON-MIN is a flat list with ``annotator``, the
names of controls as keys, and the data.  Quepid exports a book as CSV (query, docid, a column per judge) or JSON
(``query_doc_pairs`` with ``judgements``), and a case as CSV (query, docid, rating) or JSON (``queries`` with
``ratings``).

Topics are known by their id or, as Quepid has it, by the text of the query.  A label is stored under the task of the
study that asks for it, if the assessor may answer that; otherwise under a task of its own, so that it is exported all
the same.  What is there already is not stored again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.scale import Scale, is_integer, whole
from venire.errors import FormatError, SettingError, UnknownName, Way, known_names
from venire.io.documents import read_json
from venire.io.files import opened
from venire.io.judgments import read_judgments
from venire.io.tables.blocks import read_frame
from venire.io.tables.columns import HEAD, ROLES, all_names, find_roles, plain
from venire.judging.answers import SURPLUS, Answer, Stored
from venire.judging.store import Store
from venire.judging.study import CONDITIONAL, LABEL, PAGE, PERSON, SNIPPET, Study
from venire.judging.tasks import Task
from venire.results import Note, first_few

QRELS, LABEL_STUDIO, QUEPID = "qrels", "label-studio", "quepid"
SOURCES = (QRELS, LABEL_STUDIO, QUEPID)
VIEWS = (PAGE, SNIPPET)
IMPORTED = "imported"
"""Reason of a task that the study does not ask for."""
Question = tuple[str, str, str, str, str]
"""Kind, topic, document, given document, view."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """One label of a file; assessor: as the file names them, "" if it does not; at: seconds since 1970, if known."""

    topic: str
    doc: str
    label: str
    assessor: str = ""
    given: str = ""
    view: str = ""
    at: float | None = None
    seconds: float | None = None
    comment: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of the labels of one assessor: added, there before, and stored beside those that count."""

    assessor: str
    added: int
    known: int
    surplus: int


def read_labels(path: Path, source: str, *, scale: Scale | None = None, control: str = "") -> list[Imported]:
    """Read the labels of a file.

    scale: that of the study, for judgments; control: which of several controls of Label Studio has the labels
    """
    readers = {
        QRELS: lambda: _judgments(path, scale),
        LABEL_STUDIO: lambda: _label_studio(path, control),
        QUEPID: lambda: _quepid(path),
    }
    if source not in readers:
        raise UnknownName("source", source, SOURCES)
    found = list(readers[source]())
    if not found:
        raise FormatError(path, None, "holds no labels")
    return found


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
    if not looks_like_table(head, path.name):
        return set()
    if head.startswith(b"PAR1") or head.lstrip().startswith(b"{"):
        return {"assessor"}
    return set(find_roles(header_names(head, path.name), ROLES, where=path))


def _label_studio(path: Path, control: str) -> Iterator[Imported]:
    """Read an export of Label Studio: JSON, or JSON-MIN."""
    hint = "export the project as JSON or JSON-MIN"
    tasks = read_json(path, hint=hint)
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise FormatError(path, None, "is no list of tasks, as Label Studio exports", hint=hint)
    for number, task in enumerate(tasks, start=1):
        whole_task = isinstance(task.get("annotations"), list)
        data = task.get("data") if whole_task else task
        if not isinstance(data, dict):
            raise FormatError(path, None, f"task {number} has no data", hint=hint)
        topic, doc = (_named(data, role, path, number) for role in ("topic", "doc"))
        for annotation in task["annotations"] if whole_task else [task]:
            label = _chosen(annotation, control, path, number) if whole_task else _flat(task, control, path, number)
            if label is not None:
                yield Imported(topic=topic, doc=doc, label=label, **_about(annotation))


def _named(data: Mapping[str, Any], role: str, path: Path, number: int) -> str:
    """Return the topic or the document of a task, by the usual names of their columns."""
    names = [name for group in ROLES[role] for name in data if plain(str(name)) in group]
    value = next((data[name] for name in names if isinstance(data[name], str | int)), None)
    if value is None:
        found = first_few([str(name) for name in data], 8) or "nothing"
        expected = f"expected one of {first_few(all_names(ROLES[role]), 6)}"
        raise FormatError(path, None, f"task {number} does not name its {role}: its data has {found}", hint=expected)
    return str(value)


def _chosen(annotation: Any, control: str, path: Path, number: int) -> str | None:
    """Return the label of an annotation; None if it was cancelled, or is empty."""
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        raise FormatError(path, None, f"task {number} has an annotation without a result")
    if annotation.get("was_cancelled"):
        return None
    values: dict[str, str] = {}
    for each in annotation["result"]:
        if isinstance(each, dict) and each.get("type") in ("choices", "rating") and isinstance(each.get("value"), dict):
            values[str(each.get("from_name"))] = _value(each["value"].get(each["type"]), path, number)
    return _one(values, control, path, number)


def _value(value: Any, path: Path, number: int) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        message = f"task {number} has {str(value)[:60]!r} where one choice was expected"
        raise FormatError(path, None, message, hint="a document has one label by each assessor")
    return str(value)


def _one(values: Mapping[str, str], control: str, path: Path, number: int) -> str | None:
    """Return the value of the control that has the labels."""
    if control or len(values) <= 1:
        return values.get(control) if control else next(iter(values.values()), None)
    hint = [Way(f"say which one has the labels: {first_few(list(values), 6)}", control="NAME")]
    raise FormatError(path, None, f"task {number} has answers to {len(values)} controls", hint=hint)


OF_THE_EXPORT = frozenset({"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"})
"""Keys of JSON-MIN that are neither data nor controls."""


def _flat(task: Mapping[str, Any], control: str, path: Path, number: int) -> str | None:
    """Return the label in JSON-MIN, where controls and data are keys of one object."""
    known = {name for role in ("topic", "doc") for name in all_names(ROLES[role])}
    if not control:
        others = [key for key in task if key not in OF_THE_EXPORT and plain(str(key)) not in known]
        labels = [key for key in others if plain(str(key)) in all_names(ROLES["label"])]
        if len(labels) != 1:
            hint = [Way(f"say which key has the labels: {first_few(others, 6)}", control="NAME")]
            raise FormatError(path, None, f"task {number} does not tell which key has the label", hint=hint)
        control = labels[0]
    return None if task.get(control) in (None, "") else _value(task[control], path, number)


def _about(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return who made an annotation, when, and in how many seconds."""
    who = annotation.get("completed_by", annotation.get("annotator"))
    if isinstance(who, dict):
        who = who.get("email") or who.get("username") or who.get("id")
    lead = annotation.get("lead_time")
    seconds = float(lead) if isinstance(lead, int | float) and 0 <= lead < 1e9 else None
    at = annotation.get("updated_at") or annotation.get("created_at")
    return {"assessor": "" if who is None else str(who), "at": _time(at), "seconds": seconds}


def _time(text: Any) -> float | None:
    """Return a time as seconds since 1970; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _quepid(path: Path) -> Iterator[Imported]:
    """Read a book or a case of Quepid, CSV or JSON."""
    with opened(path) as file:
        head = file.read(HEAD)
    return _quepid_json(path) if head.lstrip().startswith((b"{", b"[")) else _quepid_table(path)


def _quepid_table(path: Path) -> Iterator[Imported]:
    """Read columns query, docid, and rating or one for each judge; cells that begin with a sign have a space before."""
    rows = read_frame(path)
    names = rows.frame.columns
    if len(names) < 3 or [plain(name) for name in names[:2]] != ["query", "docid"]:
        hint = "export a book, or the ratings of a case, as CSV"
        raise FormatError(
            path, 1, f"found the columns {first_few(names, 8)}, expected query, docid and ratings", hint=hint
        )
    one = [plain(name) for name in names[2:]] == ["rating"]
    columns = [rows.texts(name).fill_null("").to_list() for name in names] if rows.frame.height else []
    for query, doc, *ratings in zip(*columns, strict=True):
        for judge, rating in zip(names[2:], ratings, strict=True):
            if doc and rating.strip():
                who = "" if one else judge.strip()
                yield Imported(topic=query.strip(), doc=doc.strip(), label=rating.strip(), assessor=who)


def _quepid_json(path: Path) -> Iterator[Imported]:
    """Read pairs with judgements (a book), or queries with ratings (a case)."""
    held = read_json(path)
    pairs = held.get("query_doc_pairs") if isinstance(held, dict) else None
    queries = held.get("queries") if isinstance(held, dict) else None
    if not isinstance(pairs, list) and not isinstance(queries, list):
        hint = "export a book or a case as JSON"
        raise FormatError(path, None, "has neither query_doc_pairs nor queries, as Quepid exports", hint=hint)
    for pair in pairs if isinstance(pairs, list) else ():
        yield from _rated(pair, pair, _listed(pair, "judgements"), path)
    for query in queries if isinstance(queries, list) else ():
        ratings = query.get("ratings") if isinstance(query, dict) else None
        if isinstance(ratings, dict):
            ratings = [{"doc_id": doc, "rating": rating} for doc, rating in ratings.items()]
        for rating in ratings if isinstance(ratings, list) else ():
            yield from _rated(query, rating, [rating], path)


def _listed(pair: Any, key: str) -> list[Any]:
    found = pair.get(key) if isinstance(pair, dict) else None
    return found if isinstance(found, list) else []


def _rated(query: Any, doc: Any, ratings: Iterable[Any], path: Path) -> Iterator[Imported]:
    """Yield the ratings of one document; those that are empty, or say that it cannot be rated, are left out."""
    for rating in ratings:
        if not isinstance(rating, dict) or rating.get("rating") is None or rating.get("unrateable"):
            continue
        names = query.get("query_text"), doc.get("doc_id") if isinstance(doc, dict) else None
        if not all(isinstance(name, str | int) for name in names):
            raise FormatError(path, None, "has a rating without query_text and doc_id")
        who, why = rating.get("user_email"), rating.get("explanation")
        yield Imported(
            topic=str(names[0]).strip(),
            doc=str(names[1]),
            label=_value(rating["rating"], path, 1),
            assessor="" if who is None else str(who),
            comment=why if isinstance(why, str) else "",
        )

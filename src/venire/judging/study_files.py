"""Study files: one TOML file that names all that a study consists of, read into a Study and its tasks.

``study_keys`` has the keys.  Paths are relative to the study file.  Documents stay in its folder; only those that tasks
show are kept, and their pages are read when they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from venire.data.scale import NOT_APPLICABLE
from venire.io.documents import read_text
from venire.io.plans import read_plan
from venire.io.runs import read_runs
from venire.io.toml_lines import Place, nearest_line
from venire.judging import designs
from venire.judging.designs import Item, Lists
from venire.judging.study import (
    ASPECTS,
    CONDITIONAL,
    LABEL,
    LISTS,
    PAGE,
    PREFERENCE,
    Aspect,
    Assessor,
    Defined,
    Document,
    Order,
    Study,
    Topic,
)
from venire.judging.study_gold import about, read_gold
from venire.judging.study_keys import FIXED, GOLBUS, SOURCES, StudyFile
from venire.judging.study_tables import add_topic, folder_inside, read_documents, read_items, read_topics
from venire.judging.tasks import Task, documents_of
from venire.results import counted, first_few

FITTING = {
    LABEL: ("plan", "pool", "runs"),
    CONDITIONAL: ("pairs", "runs"),
    ASPECTS: ("plan", "pool", "runs", "pairs"),
    PREFERENCE: ("plan", "pairs"),
    LISTS: ("runs",),
}
"""Where tasks of each kind may come from."""
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
NO_NAME = re.compile(r"[\x00-\x1f\x7f/\\,]")


def read_study(path: str | Path) -> tuple[Study, tuple[Task, ...]]:
    """Read a study file, with the topics, documents, plans, pools and runs that it names.

    Cost: O(bytes) of the files; pages of documents in files of their own are not read.
    """
    file = StudyFile(Path(path))
    content = file.checked("", (), file.content)
    settings = file.checked("study", ("study",), content["study"])
    scale = _labels(file, content["scale"], ("scale",))
    study = Study(
        path=file.path,
        name=_name(file, settings["name"]),
        title=settings["title"] or settings["name"],
        scale=scale,
        topics=_topics(file, content["topics"]),
        documents={},
        assessors=_assessors(file, content["assessors"]),
        guidelines=_guidelines(file, settings),
        aspects=_aspects(file, content["aspects"], scale),
        ties=settings["ties"],
        order=Order(**file.checked("order", ("order",), content["order"])),
        lease_minutes=float(settings["lease_minutes"]),
        rest_after=settings["rest_after"],
        deviation=float(settings["deviation"]),
        database=_database(file, settings["database"]),
    )
    return _with_tasks(file, study, content)


def _name(file: StudyFile, name: str) -> str:
    if not NAME.fullmatch(name):
        message = f"name is {name!r}, expected at most 64 letters, digits, - and _"
        file.refuse(("study", "name"), message, hint="what assessors see is the title")
    return name


def _guidelines(file: StudyFile, settings: Mapping[str, Any]) -> str:
    if settings["guidelines"] and settings["guidelines_text"]:
        file.refuse(("study", "guidelines_text"), "guidelines and guidelines_text are both there", hint="keep one")
    if not settings["guidelines"]:
        return str(settings["guidelines_text"])
    place = ("study", "guidelines")
    return str(file.reading(place, read_text, file.beside(place, settings["guidelines"])))


def _database(file: StudyFile, name: str) -> str:
    """Return the database: an address as it is, or a file beside the study file."""
    if "://" in name:
        return name
    return str(file.path.parent / (name or file.path.with_suffix(".db").name))


def _labels(file: StudyFile, values: Sequence[Any], place: Place) -> tuple[Defined, ...]:
    """Return the labels of the scale or of an aspect."""
    labels: list[Defined] = []
    for at, each in file.tables("scale", values, place):
        name = each["name"]
        if not name.strip() or name != name.strip() or NO_NAME.search(name.replace("/", "")) or name == NOT_APPLICABLE:
            hint = f"a label is a text without commas and control characters, and not {NOT_APPLICABLE!r}"
            file.refuse((*at, "name"), f"the label is {name!r}", hint=hint)
        _refuse_again(file, at, "label", name, [label.name for label in labels])
        labels.append(Defined(**each))
    if len(labels) < 2:
        file.refuse(place, f"found {counted(len(labels), 'label')}, expected two or more", hint="add labels")
    return tuple(labels)


def _refuse_again(file: StudyFile, place: Place, kind: str, name: str, names: Iterable[str]) -> None:
    if name in names:
        file.refuse((*place, "name"), f"{kind} {name!r} comes twice", hint=f"name each {kind} once")


def _aspects(file: StudyFile, values: Sequence[Any], scale: tuple[Defined, ...]) -> tuple[Aspect, ...]:
    aspects: list[Aspect] = []
    for place, each in file.tables("aspects", values, ("aspects",)):
        if not each["name"].strip() or NO_NAME.search(each["name"]):
            file.refuse((*place, "name"), f"the name is {each['name']!r}", hint="expected text without / and commas")
        _refuse_again(file, place, "aspect", each["name"], [aspect.name for aspect in aspects])
        own = _labels(file, each["labels"], (*place, "labels")) if each["labels"] else scale
        aspects.append(Aspect(each["name"], each["definition"], own))
    return tuple(aspects)


def _assessors(file: StudyFile, values: Sequence[Any]) -> tuple[Assessor, ...]:
    found: list[Assessor] = []
    for place, each in file.tables("assessors", values, ("assessors",)):
        name = each["name"]
        if not name.strip() or name != name.strip() or NO_NAME.search(name) or name.startswith(".") or len(name) > 100:
            hint = "expected at most 100 characters, without commas, / and a . at the beginning"
            file.refuse((*place, "name"), f"the name of the assessor is {name!r}", hint=hint)
        _refuse_again(file, place, "assessor", name, [assessor.name for assessor in found])
        found.append(Assessor(**each))
    if not found:
        file.refuse(("assessors",), "there are no assessors", hint="name those who judge, in [[assessors]]")
    return tuple(found)


def _topics(file: StudyFile, values: Mapping[str, Any]) -> dict[str, Topic]:
    """Return the topics of a table, and those that are listed."""
    held = file.checked("topics", ("topics",), values)
    place: Place = ("topics", "file")
    topics: dict[str, Topic] = {}
    if held["file"]:
        topics |= file.reading(place, read_topics, file.beside(place, held["file"], dataset=True))
    for at, each in file.tables("topics.list", held["list"], ("topics", "list")):
        add_topic(topics, Topic(**each), file.path, nearest_line(file.lines, at))
    if not topics:
        file.refuse(("topics",), "there are no topics", hint="name a file, or list them in [[topics.list]]")
    return topics


def _with_tasks(file: StudyFile, study: Study, content: Mapping[str, Any]) -> tuple[Study, tuple[Task, ...]]:
    """Add tasks, result lists, and the documents that they show."""
    asked: dict[str, tuple[Task, _Block]] = {}
    for place, values in file.tables("tasks", content["tasks"], ("tasks",)):
        block = _Block(file, study, place, values)
        found, lists = block.tasks()
        study = replace(study, lists=_joined(file, place, study.lists, lists))
        for task in found:
            if task.key in asked:
                message = f"{_about(task)} is asked for twice"
                file.refuse(place, message, hint="ask for it in one of the [[tasks]] only")
            asked[task.key] = task, block
    if not asked:
        file.refuse(("tasks",), "there are no tasks", hint="add [[tasks]]")
    shown = {doc for task, _ in asked.values() for doc in documents_of(task, study.lists)}
    documents = _documents(file, content["documents"], shown)
    study = replace(study, documents=documents, files=tuple(dict.fromkeys(file.files)))
    for task, block in asked.values():
        _refuse_missing(file, study, task, block.place)
    tasks = _assigned(list(asked.values()), study.order.seed)
    return study, tuple(replace(task, position=n) for n, task in enumerate(tasks))


def _assigned(asked: Sequence[tuple[Task, _Block]], seed: int) -> list[Task]:
    """Fix who answers where that is asked for: one document goes to the same people, in whichever of the [[tasks]]."""
    found: list[Task] = []
    for people in dict.fromkeys(block.fixed_for() for _, block in asked):
        some = [task for task, block in asked if block.fixed_for() == people]
        found += designs.fixed(some, people, seed=seed)
    return found


def _documents(file: StudyFile, values: Mapping[str, Any], shown: Collection[str]) -> dict[str, Document]:
    held = file.checked("documents", ("documents",), values)
    at: Place = ("documents",)
    listed = file.beside((*at, "file"), held["file"], dataset=True) if held["file"] else None
    folder = folder_inside(file.path.parent, held["folder"]) if held["folder"] else None
    if held["folder"] and folder is None:
        message = f"there is no folder {held['folder']!r} in the folder of the study"
        file.refuse((*at, "folder"), message, hint="documents are in the folder of the study file, or below it")
    found: dict[str, Document] = file.reading(
        (*at, "file" if listed else "folder"), read_documents, shown, file=listed, folder=folder, root=file.path.parent
    )
    return found


def _refuse_missing(file: StudyFile, study: Study, task: Task, place: Place) -> None:
    """Raise where a task shows a document that is not there, or lacks the page or the snippet."""
    for doc in documents_of(task, study.lists):
        document = study.documents.get(doc)
        if document is None:
            way = "[documents] names a file or a folder that has it"
            file.unknown(place, "document", doc, study.documents, way=f"topic {task.topic!r} needs it; {way}")
        page = document.content is not None or document.file is not None
        if task.view == PAGE and task.kind != LISTS and not page:
            message = f"document {doc!r} has no page, which {_about(task)} shows"
            file.refuse(place, message, hint='give it text, html or a file; or judge the snippet: view = "snippet"')
        if not (task.view == PAGE and task.kind != LISTS) and not (document.snippet or document.title):
            message = f"document {doc!r} has neither snippet nor title, which {_about(task)} shows"
            file.refuse(place, message, hint="add them to the file of documents")


def _about(task: Task) -> str:
    """Return a phrase that names a task."""
    whose = f" by {task.judge}" if task.judge else ""
    docs = " and ".join(repr(doc) for doc in (task.doc, task.other) if doc)
    given = f" given {task.given!r}" if task.given else ""
    return f"the {task.kind} task on {docs}{given} of topic {task.topic!r}{whose}"


def _joined(file: StudyFile, place: Place, lists: Lists, more: Lists) -> Lists:
    """Add result lists; a system has one list for a topic, whichever tasks show it."""
    for system in more:
        if system in lists and lists[system] != more[system]:
            message = f"system {system!r} has other lists in an earlier one of the [[tasks]]"
            file.refuse((*place, "runs"), message, hint="compare a system under one name, at one depth")
    return {**lists, **more}


class _Block:
    """One of the [[tasks]], being read."""

    def __init__(self, file: StudyFile, study: Study, place: Place, values: Mapping[str, Any]) -> None:
        self.file, self.study, self.place, self.values = file, study, place, values

    def tasks(self) -> tuple[list[Task], Lists]:
        """Return the tasks, and the lists that they compare."""
        source = self._source()
        if self.values["preset"] == GOLBUS:
            lists = self._lists()
            settings = {"view": self.values["view"], "n_people": len(self.study.people)}
            found = designs.golbus(lists, seed=self.seed, aspects=bool(self.study.aspects), **settings)
            compared = {task.doc for task in found if task.kind == LISTS} | {t.other for t in found if t.kind == LISTS}
            return self._by_topic(found), {name: lists[name] for name in lists if name in compared}
        if source == "plan":
            return self._planned(), {}
        lists = self._lists() if source == "runs" else {}
        items = list(self._items(source, lists))
        self._refuse_unknown(items, source)
        found = designs.tasks_of(items, self.kind, view=self.values["view"], needed=self._needed())
        if not found:
            self.refuse(source, "has nothing to judge for the topics of the study", hint="check topics and files")
        return self._with_gold(self._with_second(found)), lists if self.kind == LISTS else {}

    @property
    def kind(self) -> str:
        """The kind of the tasks."""
        return str(self.values["kind"])

    @property
    def seed(self) -> int:
        """The seed of the study."""
        return self.study.order.seed

    def refuse(self, key: str, message: str, *, hint: str) -> None:
        """Raise what is wrong with a key."""
        self.file.refuse((*self.place, key), f"{key}: {message}", hint=hint)

    def _source(self) -> str:
        """Return the key that says where the tasks come from; it fits the kind."""
        named = [key for key in SOURCES if self.values[key]]
        if len(named) != 1:
            found = " and ".join(named) or "nothing"
            message = f"found {found}, expected one of {', '.join(SOURCES)}, which say where tasks come from"
            self.file.refuse(self.place, message, hint="[[tasks]] may come several times")
        preset, kind = self.values["preset"], self.kind
        if preset and (named != ["runs"] or kind):
            key = "kind" if kind else named[0]
            self.refuse(key, f"the preset {preset} has kinds of its own, and runs", hint="give preset and runs alone")
        if not kind and not preset and named != ["plan"]:
            self.file.refuse(self.place, "kind is missing", hint=f"expected one of {', '.join(FITTING)}")
        if kind and named[0] not in FITTING[kind]:
            hint = f"they come from {' or '.join(FITTING[kind])}"
            self.refuse(named[0], f"is no source of {kind} tasks", hint=hint)
        for key in ("second", "gold", "assessors") if self._names_judges() else ():
            if self.values[key]:
                self.refuse(key, "does not go with a plan or a preset, which say who judges what", hint="leave it out")
        if kind == ASPECTS and not self.study.aspects:
            self.refuse("kind", "there are no aspects", hint="define them in [[aspects]]")
        if self.values["assessors"] and self.values["assign"] != FIXED:
            self.refuse("assessors", "are named, but everybody may come", hint='write assign = "fixed"')
        return named[0]

    def _needed(self) -> int:
        """Return how many people answer, of whom there must be so many, unless all assessors are machines."""
        n, people = int(self.values["judgments"]), len(self._people())
        if not self.study.people:
            return n
        asked = n + bool(self.values["second"])
        if asked > people:
            more = " and a second one" if asked > n else ""
            message = (
                f"{counted(n, 'judgment')}{more} of each, by {'one person' if people == 1 else f'{people} people'}"
            )
            self.refuse("judgments", message, hint="name more people in [[assessors]], or ask for fewer")
        return n

    def _people(self) -> tuple[str, ...]:
        """Return the people who may answer."""
        named, people = self.values["assessors"], self.study.people
        for n, name in enumerate(named):
            if name not in people:
                way = "machines answer all tasks" if name in self.study.machines else ""
                self.file.unknown((*self.place, "assessors", n), "person", name, people, way=way)
        return tuple(dict.fromkeys(named)) or people

    def _lists(self) -> Lists:
        """Return the first results of the runs."""
        place = (*self.place, "runs")
        paths = [self.file.beside((*place, n), name, dataset=True) for n, name in enumerate(self.values["runs"])]
        lists: Lists = self.file.reading(
            place, lambda: designs.first_ranks(read_runs(paths), self.study.topics, self.values["depth"])
        )
        if not lists:
            self.refuse("runs", "have no result for a topic of the study", hint=self._some_topics())
        return lists

    def _some_topics(self) -> str:
        return f"the topics are {first_few(list(self.study.topics), 8)}"

    def _items(self, source: str, lists: Lists) -> Iterable[Item]:
        """Return what is judged."""
        if source == "runs":
            made = {CONDITIONAL: designs.given_previous, LISTS: designs.list_pairs}.get(self.kind, designs.pooled)
            return made(lists)
        other = {"pairs": "other" if self.kind == PREFERENCE else "given"}.get(source)
        needed = ("doc", other) if other else ("doc",)
        others = {name: "" for name in ("given", "other") if name not in needed}
        return [item._replace(**others) for item in self._read(source, lambda path: read_items(path, needed=needed))]

    def _read(self, key: str, read: Any) -> Any:
        place = (*self.place, key)
        return self.file.reading(place, read, self.file.beside(place, self.values[key], dataset=key == "pool"))

    def _refuse_unknown(self, items: Iterable[Item], source: str) -> None:
        """Raise at the first item of an unknown topic, without a document, or of one that is compared with itself."""
        for item in items:
            where = "" if item.line is None else f"line {item.line} of {self.values[source]}: "
            if item.topic not in self.study.topics:
                self.refuse(source, f"{where}there is no topic {item.topic!r}", hint=self._some_topics())
            missing = not item.doc or (source == "pairs" and not (item.given or item.other))
            if missing or item.doc in (item.given, item.other):
                found = "an empty cell in place of a document" if missing else f"document {item.doc!r} with itself"
                self.refuse(source, f"{where}found {found}", hint="a row names a topic and its documents")

    def _planned(self) -> list[Task]:
        """Return the tasks of a plan."""
        asked = self._read("plan", read_plan)
        names = [each.name for each in self.study.assessors]
        for each in asked:
            if each.judge and each.judge not in names:
                way = "add [[assessors]] for the judges of the plan"
                self.file.unknown((*self.place, "plan"), "assessor", each.judge, names, way=way)
        self._refuse_unknown((Item(each.topic, each.doc, other=each.other) for each in asked), "plan")
        found = designs.tasks_of_plan(asked, view=self.values["view"])
        found = [replace(task, needed=self._needed()) if not task.judge else task for task in found]
        if self.kind == ASPECTS:
            found = [replace(task, kind=ASPECTS) if task.kind == LABEL else task for task in found]
        return found

    def _with_second(self, tasks: list[Task]) -> list[Task]:
        """Let a sample be answered by one more person."""
        if not self.values["second"]:
            return tasks
        if self.kind in (PREFERENCE, LISTS):
            self.refuse("second", f"does not go with {self.kind} tasks", hint="ask for more judgments of each")
        place = (*self.place, "second")
        held = self.file.checked("tasks.second", place, self.values["second"])
        among: Iterator[tuple[str, str]] | None = None
        if held["runs"]:
            block = _Block(self.file, self.study, place, held)
            among = ((item.topic, item.doc) for item in designs.pooled(block._lists()))
        settings = {"share": held["share"], "per_topic": held["per_topic"] or None}
        return designs.with_second(tasks, seed=self.seed, among=among, **settings)

    def _with_gold(self, tasks: list[Task]) -> list[Task]:
        """Mark tasks whose right answer is known."""
        if not self.values["gold"]:
            return tasks
        gold = self._read("gold", lambda path: read_gold(path, self.study, self.kind))
        marked = [replace(task, gold=gold.get(about(task), "")) for task in tasks]
        if not any(task.gold for task in marked):
            self.refuse("gold", "has no answer to what is asked here", hint="check topics and documents")
        return marked

    def fixed_for(self) -> tuple[str, ...]:
        """Return the people to whom tasks are assigned; none where whoever comes answers, or a design says who does."""
        return self._people() if self.values["assign"] == FIXED and not self._names_judges() else ()

    def _names_judges(self) -> bool:
        return bool(self.values["plan"] or self.values["preset"])

    def _by_topic(self, tasks: list[Task]) -> list[Task]:
        """Let one assessor, or as many as are wanted, judge all documents of a topic (Golbus et al., Section 4.1).

        Lists are for whoever comes.
        """
        needed = self._needed()
        labels = [replace(task, needed=needed) for task in tasks if task.kind != LISTS]
        labels.sort(key=lambda task: task.topic)
        spread = designs.fixed(labels, self._people(), seed=self.seed, together=designs.by_topic)
        return spread + [task for task in tasks if task.kind == LISTS]

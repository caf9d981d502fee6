"""A study in memory, for tests: topics, documents, aspects, lists, people and a machine; parts can be replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from venire.judging.study import (
    ASPECTS,
    CONDITIONAL,
    KINDS,
    LABEL,
    LISTS,
    MACHINE,
    PREFERENCE,
    SNIPPET,
    Aspect,
    Assessor,
    Defined,
    Document,
    Study,
    Topic,
)
from venire.judging.tasks import Task

SCALE = (Defined("0", "Not relevant"), Defined("1", "Related"), Defined("2", "Answers the query"))
TOPICS = {
    "t1": Topic("t1", "green tea", "Where does green tea grow?"),
    "t2": Topic("t2", "chain oil", "How often does a chain need oil?", "Pages on bicycles alone are relevant."),
}


TEXTS = {
    "d0": "Tea pots on sale.",
    "d1": "Green tea grows on hills.",
    "d2": "Football results of last week.",
    "d3": "How green is the grass, and how much tea is drunk?",
}


def study_of(
    folder: Path = Path(),
    *,
    people: Sequence[str] = ("ann", "bob", "cy"),
    n_docs: int = 4,
    texts: Mapping[str, str] = {},
    **changes: Any,
) -> Study:
    """Return a study in a folder; texts: those of some documents, in place of TEXTS, which come again and again."""
    docs = {f"d{n}": TEXTS[f"d{n % len(TEXTS)}"] for n in range(n_docs)} | texts
    names = [*docs]
    made: dict[str, Any] = {
        "path": folder / "study.toml",
        "name": "small",
        "title": "Which pages answer the question?",
        "scale": SCALE,
        "topics": TOPICS,
        "documents": {
            doc: Document(doc, f"Title of {doc}", f"Snippet of {doc}", content=text) for doc, text in docs.items()
        },
        "assessors": (*map(Assessor, people), Assessor("gpt", MACHINE)),
        "guidelines": "Judge what the *page* says.",
        "aspects": (Aspect("trust", "Can it be trusted?", SCALE[:2]), Aspect("clarity", "Is it clear?", SCALE)),
        "lists": {"s1": {"t1": tuple(names[1:3])}, "s2": {"t1": tuple(names[2:4])}},
    }
    return Study(**(made | changes))


def task_of(kind: str, doc: str = "d1", **changes: Any) -> Task:
    """Return a task of a kind about documents of ``study_of``."""
    more = {CONDITIONAL: {"given": "d2"}, PREFERENCE: {"other": "d2"}, LISTS: {"other": "s2"}}.get(kind, {})
    doc = "s1" if kind == LISTS else doc
    return Task(**({"kind": kind, "topic": "t1", "doc": doc} | more | changes))


def every_kind() -> list[Task]:
    """Return a task of each kind, one on aspects given another document, and one on a snippet."""
    return [*map(task_of, KINDS), task_of(ASPECTS, given="d2"), task_of(LABEL, view=SNIPPET)]


def labels(n: int, **changes: Any) -> list[Task]:
    """Return so many tasks on labels, of one document each."""
    return [task_of(LABEL, f"d{i}", **changes) for i in range(n)]


def label_tasks(study: Study, **changes: Any) -> list[Task]:
    """Return a task on a label for each document of a study."""
    return [task_of(LABEL, doc, **changes) for doc in study.documents]

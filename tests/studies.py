"""Small studies for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from venire.judging.study import (
    ASPECTS,
    CONDITIONAL,
    LABEL,
    LISTS,
    MACHINE,
    PREFERENCE,
    Aspect,
    Assessor,
    Defined,
    Document,
    Study,
    Topic,
)
from venire.judging.tasks import Task

SCALE = (Defined("0", "Not relevant"), Defined("1", "Related"), Defined("2", "Answers the query"))
TEXTS = {
    "d1": "Green tea grows on hills.",
    "d2": "Football results of last week.",
    "d3": "How green is the grass, and how much tea is drunk?",
}


def study_of(texts: dict[str, str] = TEXTS, **settings: Any) -> Study:
    """Return a study with one topic, aspects, two lists, two people and a machine."""
    documents = {
        doc: Document(doc, f"Title of {doc}", f"Snippet of {doc}", content=text) for doc, text in texts.items()
    }
    first = [*texts]
    made: dict[str, Any] = {
        "path": Path("study.toml"),
        "name": "tea",
        "title": "Which results answer the query?",
        "scale": SCALE,
        "topics": {"t1": Topic("t1", "green tea", "Where does green tea grow?")},
        "documents": documents,
        "assessors": (Assessor("ann", reference=True), Assessor("bob"), Assessor("gpt", MACHINE)),
        "guidelines": "Judge what the *page* says.",
        "aspects": (Aspect("trust", "Can it be trusted?", SCALE[:2]), Aspect("clarity", "Is it clear?", SCALE)),
        "lists": {"s1": {"t1": tuple(first[:2])}, "s2": {"t1": tuple(first[-2:])}},
    }
    return Study(**(made | settings))


def task_of(kind: str, doc: str = "d1", **settings: Any) -> Task:
    """Return a task of a kind about documents of ``study_of``."""
    more = {CONDITIONAL: {"given": "d2"}, PREFERENCE: {"other": "d2"}, LISTS: {"other": "s2"}}.get(kind, {})
    doc = "s1" if kind == LISTS else doc
    return Task(**({"kind": kind, "topic": "t1", "doc": doc} | more | settings))


EVERY_KIND = (LABEL, CONDITIONAL, ASPECTS, PREFERENCE, LISTS)

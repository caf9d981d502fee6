"""A small study of every kind of task, its store, and its application, for tests of judging."""

from __future__ import annotations

from pathlib import Path

from venire.judging.store import Store
from venire.judging.study import (
    ASPECTS,
    CONDITIONAL,
    HTML,
    LABEL,
    LISTS,
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

SCALE = (
    Defined("0", "Not relevant: says nothing about the question"),
    Defined("1", "Related: on the subject, without an answer"),
    Defined("2", "Relevant: answers the question in part"),
    Defined("3", "Highly relevant: answers the question fully"),
)
ASPECT_NAMES = {"reliability": "Can it be trusted?", "clarity": "Is it easy to read?", "freshness": "Is it up to date?"}
GUIDELINES = """# How to judge

Imagine that **you** asked the question. Judge what is *there*, not what you know.

| case | label |
| --- | --- |
| broken page | cannot judge |

<script>alert(1)</script>
"""
TEXT = "Frogs breathe through their skin as well as their lungs.\n\n"
TEXT += "A paragraph of a longer page follows here. " * 12
TOPIC = Topic(
    "t1",
    "how do frogs breathe",
    "Find out by which organs adult frogs breathe, and when.",
    "Relevant pages name lungs, skin or mouth. Pages on tadpoles alone are not relevant.",
)


def documents(n: int = 12) -> dict[str, Document]:
    """Return documents with a title, a snippet and a page."""
    page = "<h1>Frogs and water</h1>" + f"<p>{TEXT}</p>" * 12
    return {
        f"d{i}": Document(f"d{i}", f"How do frogs breathe? Part {i}", f"{TEXT[:120]} ({i})", HTML, page)
        for i in range(n)
    }


def study_of(folder: Path, **settings: object) -> Study:
    """Return a study with two people and a machine."""
    described = {
        "path": folder / "demo.toml",
        "name": "demo",
        "title": "Which pages answer the question?",
        "scale": SCALE,
        "topics": {
            "t1": TOPIC,
            "t2": Topic("t2", "why do leaves turn red"),
        },
        "documents": documents(),
        "assessors": (Assessor("ann", reference=True), Assessor("bob"), Assessor("gpt", "machine")),
        "guidelines": GUIDELINES,
        "aspects": tuple(Aspect(name, words, SCALE) for name, words in ASPECT_NAMES.items()),
        "lists": {"s1": {"t1": ("d0", "d1", "d2", "d3")}, "s2": {"t1": ("d3", "d4", "d5", "d6")}},
    }
    return Study(**(described | settings))


def every_kind() -> list[Task]:
    """Return one task of each kind, and one on a snippet."""
    return [
        Task(kind=LABEL, topic="t1", doc="d0"),
        Task(kind=LABEL, topic="t1", doc="d0", view=SNIPPET),
        Task(kind=CONDITIONAL, topic="t1", doc="d1", given="d2"),
        Task(kind=ASPECTS, topic="t1", doc="d3"),
        Task(kind=PREFERENCE, topic="t1", doc="d4", other="d5"),
        Task(kind=LISTS, topic="t1", doc="s1", other="s2"),
    ]


def labels(n: int, **settings: object) -> list[Task]:
    """Return tasks of one kind, as many as are wanted."""
    return [Task(kind=LABEL, topic="t1", doc=f"d{i}", **settings) for i in range(n)]


def opened(folder: Path, tasks: list[Task] | None = None, **settings: object) -> Store:
    """Open the store of a study in a folder."""
    return Store.open(study_of(folder, **settings), every_kind() if tasks is None else tasks)

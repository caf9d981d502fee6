"""A study: what is judged, on which scale, by whom, and how judgments are assigned.

A study is one TOML file, which ``judging.study_files`` reads.  It is fixed while people judge: answers carry the hash
of the scale, the guidelines and the document that were shown, and a study whose scale or guidelines changed is a new
version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from venire.data.scale import Scale
from venire.disagreement.double_judgments import DEVIATION

PERSON, MACHINE = "person", "machine"
LABEL, CONDITIONAL, ASPECTS, PREFERENCE, LISTS = "label", "conditional", "aspects", "preference", "lists"
KINDS = (LABEL, CONDITIONAL, ASPECTS, PREFERENCE, LISTS)
"""A label in isolation; given another document just read; by aspect; which of two documents; which of two lists."""
PAGE, SNIPPET = "page", "snippet"
HTML, TEXT, IMAGE = "html", "text", "image"
STRENGTHS = (2, 1, 0, -1, -2)
"""Answers to a preference, positive: the left one is better (``data.preferences``); 0 only if ties are allowed."""


@dataclass(frozen=True)
class Defined:
    """A name that assessors see, and what it means: a label of the scale."""

    name: str
    definition: str = ""


@dataclass(frozen=True)
class Aspect:
    """A side of relevance that is judged apart, on labels of its own from lowest to highest."""

    name: str
    definition: str
    labels: tuple[Defined, ...]


@dataclass(frozen=True)
class Topic:
    """What was searched for."""

    topic: str
    query: str
    description: str = ""
    narrative: str = ""


@dataclass(frozen=True)
class Document:
    """What is judged: its snippet, and its page as HTML, text or image.

    The page is ``content`` if that is given, else the content of ``file``; ``kind`` says what it is.
    """

    doc: str
    title: str = ""
    snippet: str = ""
    kind: str = TEXT
    content: str | None = None
    file: Path | None = None

    def data(self) -> bytes:
        """Return the page as bytes, as it was given: hostile until it is sanitised."""
        if self.content is not None:
            return self.content.encode("utf-8", "replace")
        return b"" if self.file is None else self.file.read_bytes()


@dataclass(frozen=True)
class Assessor:
    """Who judges; the labels of a reference are the truth that others are compared with."""

    name: str
    kind: str = PERSON
    reference: bool = False


@dataclass(frozen=True, kw_only=True)
class Order:
    """In which order an assessor gets tasks: in blocks by topic, at random by the seed and the name.

    repeats: share of an assessor's tasks that come again, at least ``apart`` tasks later
    apart: how many tasks lie at least between judgments of one document in isolation and given another one
    """

    seed: int = 1
    repeats: float = 0.0
    apart: int = 20


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study as it is read from its file.

    documents: those that tasks show; lists: system -> topic -> its documents, best first, for tasks on result lists
    deviation: largest standard deviation of p(R|label) that double judgments are wanted for
    database: the SQLite file, or an address such as postgresql://...
    files: those that were read, except pages of documents
    """

    path: Path
    name: str
    title: str
    scale: tuple[Defined, ...]
    topics: Mapping[str, Topic]
    documents: Mapping[str, Document]
    assessors: tuple[Assessor, ...]
    guidelines: str = ""
    aspects: tuple[Aspect, ...] = ()
    ties: bool = True
    order: Order = field(default_factory=Order)
    lease_minutes: float = 30.0
    rest_after: int = 50
    deviation: float = DEVIATION
    lists: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    database: str = ""
    files: tuple[Path, ...] = ()

    @property
    def labels(self) -> Scale:
        """The scale of labels in isolation and given another document."""
        return Scale(tuple(each.name for each in self.scale))

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people among the assessors."""
        return tuple(each.name for each in self.assessors if each.kind == PERSON)

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of the machines among the assessors."""
        return tuple(each.name for each in self.assessors if each.kind == MACHINE)

    @property
    def fingerprint(self) -> str:
        """Hash of what every assessor is shown: scale, aspects, guidelines, and whether ties are allowed."""
        shown = (self.scale, self.aspects, self.guidelines, self.ties)
        return sha256(repr(shown).encode("utf-8", "surrogateescape")).hexdigest()

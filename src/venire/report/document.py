"""Document: the content of a report, which is written as HTML and as JSON.

A report is a sequence of chapters.  A chapter has a *finding*, one sentence with its numbers, and parts: paragraphs,
tables, pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from venire.results import Note, Records, Tabular, finite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from venire.report.charts import Chart

Cell = str | int | float | bool | None
Rows = Sequence[Sequence[Any]]
"""Rows of cells: texts, numbers, or nothing."""


@dataclass(frozen=True)
class Words:
    """A paragraph; ``kind`` is text, warning, todo (what to do next) or command; ``about`` names its subject."""

    text: str
    kind: str = "text"
    about: str = ""

    def content(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"kind": self.kind, "text": self.text}


def warning(note: Note | str, about: str = "") -> Words:
    """Make a warning of a note, whose text has no full stop; its subject is the kind of the note."""
    return Words(f"{note}.", "warning", about or getattr(note, "kind", ""))


@dataclass(frozen=True)
class Grid:
    """A table: columns, rows of cells, and a caption; ``name`` is that of its file.  ``shown``: rows seen at first.

    names: whether columns are headed by names, such as those of judges, which are shown as they are.  unseen: columns
    without information, which the page leaves out.
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Rows
    shown: int = 25
    names: bool = False
    unseen: Sequence[str] = ()

    @classmethod
    def of(cls, name: str, caption: str, records: Sequence[Mapping[str, Any]], **how: Any) -> Grid:
        """Make a table of records that have the same keys."""
        columns = list(records[0]) if records else []
        return cls(name, caption, columns, [[record[key] for key in columns] for record in records], **how)

    def seen(self) -> Grid:
        """Return what the page shows of it."""
        places = [n for n, name in enumerate(self.columns) if name not in self.unseen]
        rows = [[row[n] for n in places] for row in self.rows]
        return replace(self, columns=[self.columns[n] for n in places], rows=rows, unseen=())

    def content(self) -> dict[str, Any]:
        """Return it as plain data."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"kind": "table", "name": self.name, "caption": self.caption, "rows": rows}


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, with a description of what it shows as alternative text; small ones are side by side."""

    name: str
    caption: str
    figure: Figure | Chart
    words: str
    small: bool = False

    def content(self) -> dict[str, Any]:
        """Return it as plain data: what it shows, not how it looks."""
        return {"kind": "picture", "name": self.name, "caption": self.caption, "words": self.words}


Part = Words | Grid | Picture


@dataclass(frozen=True, eq=False)
class Chapter:
    """A part of the report: its finding in one sentence, the parts that support it, and numbers for JSON.

    settings: options with which a command of its own computes the numbers, besides those that they have.
    """

    name: str
    title: str
    finding: str
    parts: tuple[Part, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return it as plain data."""
        parts = [part.content() for part in self.parts]
        content: dict[str, Any] = {"title": self.title, "finding": self.finding, **self.numbers, "parts": parts}
        return {name: finite(value) for name, value in content.items()}


class FirstScreen(Protocol):
    """What a report shows first, if it has a first screen (``report.front``)."""

    def content(self) -> dict[str, Any]:
        """Return it as plain data."""


@dataclass(frozen=True, eq=False)
class Report(Tabular):
    """Chapters in their order, what it takes to reproduce them, and what is shown first, above all chapters."""

    title: str
    chapters: tuple[Chapter, ...]
    made_with: Mapping[str, Any]
    front: FirstScreen | None = None

    def content(self) -> dict[str, Any]:
        """Return it as plain data, chapters by name."""
        return {
            "title": self.title,
            **({} if self.front is None else {"front": finite(self.front.content())}),
            **{chapter.name: chapter.content() for chapter in self.chapters},
            "made_with": dict(self.made_with),
        }

    def sentence(self) -> str:
        """Return the first finding, which is the verdict."""
        return self.chapters[0].finding if self.chapters else self.title

    def records(self) -> Records:
        """Return one row per chapter: its title and its finding."""
        return [{"chapter": each.title, "finding": each.finding} for each in self.chapters]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole content as plain data, for JSON."""
        return self.content()

    def sentences(self) -> list[str]:
        """Return the findings, chapter by chapter."""
        return [chapter.finding for chapter in self.chapters]

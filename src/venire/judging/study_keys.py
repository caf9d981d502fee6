"""Keys of a study file: every table and key with its type, default and meaning, and the checks that follow from them.

What a table says is checked by ``StudyFile.checked``; an error names the line of the key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from venire.disagreement.double_judgments import DEVIATION
from venire.errors import FormatError, VenireError, known_names
from venire.io.documents import parsed_toml, read_text
from venire.io.files import DATASET
from venire.io.toml_lines import Place, key_lines, nearest_line
from venire.judging.study import KINDS, MACHINE, PAGE, PERSON, SNIPPET

TEXT, FLAG, WHOLE, NUMBER = "text", "true or false", "a whole number", "a number"
TEXTS, TABLE, TABLES = "a list of texts", "a table", "a list of tables"
FIRST_COME, FIXED = "first come", "fixed"
GOLBUS = "golbus"
REQUIRED = object()
"""In place of a default: the key must be there."""
HINT = "venire judge init writes a study file with comments"
SOURCES = ("plan", "pool", "runs", "pairs")
"""Keys of [[tasks]] that say where the tasks come from."""


class Key(NamedTuple):
    """A key: its type, its default, what it means; values from ``least`` to ``most``, or one of ``choices``."""

    type: str
    default: Any
    meaning: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


KEYS: Mapping[str, Mapping[str, Key]] = {
    "": {
        "study": Key(TABLE, REQUIRED, "name, guidelines and settings"),
        "scale": Key(TABLES, REQUIRED, "labels, from the lowest to the highest"),
        "aspects": Key(TABLES, [], "aspects of relevance that are judged apart"),
        "topics": Key(TABLE, REQUIRED, "what was searched for"),
        "documents": Key(TABLE, {}, "what is judged"),
        "assessors": Key(TABLES, REQUIRED, "who judges: people and machines"),
        "order": Key(TABLE, {}, "in which order an assessor gets tasks"),
        "tasks": Key(TABLES, REQUIRED, "what is asked"),
    },
    "study": {
        "name": Key(TEXT, REQUIRED, "short name: letters, digits, - and _"),
        "title": Key(TEXT, "", "what assessors see above their tasks; the name if it is empty"),
        "guidelines": Key(TEXT, "", "file with the guidelines, in Markdown"),
        "guidelines_text": Key(TEXT, "", "the guidelines themselves, in place of a file"),
        "ties": Key(FLAG, True, "whether two documents, or two lists, may be called equally good"),
        "lease_minutes": Key(NUMBER, 30.0, "how long a task is kept for an assessor who opened it", 0.1, 10_080),
        "rest_after": Key(WHOLE, 50, "after how many tasks a rest is suggested; 0: never", 0, 1_000_000),
        "deviation": Key(
            NUMBER, DEVIATION, "standard deviation of p(relevant given a label) that is wanted at most", 0.001, 0.5
        ),
        "database": Key(TEXT, "", "SQLite file, or postgresql://...; by default named as the study file, with .db"),
    },
    "scale": {
        "name": Key(TEXT, REQUIRED, "the label"),
        "definition": Key(TEXT, "", "what it means, as assessors see it"),
    },
    "aspects": {
        "name": Key(TEXT, REQUIRED, "the aspect"),
        "definition": Key(TEXT, "", "what it means, as assessors see it"),
        "labels": Key(TABLES, [], "its own labels, each with name and definition; by default those of the scale"),
    },
    "topics": {
        "file": Key(
            TEXT,
            "",
            "table (TSV, CSV, JSONL, Parquet) with the columns topic, query, description, narrative; or irds:ID",
        ),
        "list": Key(TABLES, [], "topics in this file, in place of a table"),
    },
    "topics.list": {
        "topic": Key(TEXT, REQUIRED, "id"),
        "query": Key(TEXT, REQUIRED, "the query, as it was typed"),
        "description": Key(TEXT, "", "what the searcher wanted to know"),
        "narrative": Key(TEXT, "", "what is relevant and what is not"),
    },
    "documents": {
        "file": Key(TEXT, "", "JSON lines with doc, title, snippet, and text, html or file; or irds:ID"),
        "folder": Key(TEXT, "", "folder of pages: DOC.html, DOC.txt, DOC.md, DOC.png, DOC.jpg, DOC.gif or DOC.webp"),
    },
    "assessors": {
        "name": Key(TEXT, REQUIRED, "who it is, as exports name them"),
        "kind": Key(TEXT, PERSON, "person or machine", choices=(PERSON, MACHINE)),
        "reference": Key(FLAG, False, "whether others are compared with this assessor"),
    },
    "order": {
        "seed": Key(WHOLE, 1, "what the random order, samples and assignment depend on", 0, 2**63 - 1),
        "repeats": Key(NUMBER, 0.0, "share of an assessor's tasks that come again, for self-consistency", 0, 0.5),
        "apart": Key(
            WHOLE,
            20,
            "tasks between two judgments of one document by the same assessor, in isolation and given another",
            0,
            1_000_000,
        ),
    },
    "tasks": {
        "kind": Key(TEXT, "", f"{', '.join(KINDS[:-1])} or {KINDS[-1]}; none with a preset", choices=("", *KINDS)),
        "view": Key(TEXT, PAGE, "page or snippet", choices=(PAGE, SNIPPET)),
        "judgments": Key(WHOLE, 1, "how many people answer each task", 1, 1_000),
        "assign": Key(TEXT, FIRST_COME, "first come, or fixed in advance", choices=(FIRST_COME, FIXED)),
        "assessors": Key(TEXTS, [], "who answers, where it is fixed; by default all"),
        "plan": Key(TEXT, "", "file of venire plan, with its judges and probabilities"),
        "pool": Key(TEXT, "", "table with the columns topic, doc and perhaps probability; or qrels, or irds:ID"),
        "runs": Key(TEXTS, [], "files of runs; their first results are judged, or their lists compared"),
        "depth": Key(WHOLE, 10, "how many results of each list", 1, 10_000),
        "pairs": Key(TEXT, "", "table with the columns topic, left and right, or topic, doc and given"),
        "preset": Key(TEXT, "", "a design: golbus", choices=("", GOLBUS)),
        "second": Key(TABLE, {}, "a sample that one more person answers"),
        "gold": Key(
            TEXT, "", "answers that are known to be right: qrels, or a table of labels, of aspects or of preferences"
        ),
    },
    "tasks.second": {
        "share": Key(NUMBER, REQUIRED, "share of the tasks", 0, 1),
        "per_topic": Key(WHOLE, 0, "at most so many of a topic; 0: no limit", 0, 1_000_000),
        "runs": Key(TEXTS, [], "only results that these runs have among their first"),
        "depth": Key(WHOLE, 10, "how many results of each list", 1, 10_000),
    },
}
"""Table -> key -> what it is; "" are the tables of the file."""


class StudyFile:
    """The text of a study file, parsed, and the lines of its keys.

    files: those that were asked for so far, itself among them
    """

    def __init__(self, path: Path) -> None:
        self.path, self.files = path, [path]
        self.text = read_text(path, "toml_size")
        try:
            self.content = parsed_toml(self.text, path, hint=HINT)
        except FormatError as error:
            line = re.search(r"\bline (\d+)", error.what)
            raise FormatError(path, int(line[1]) if line else None, error.what, hint=error.ways or error.hint) from None

    @cached_property
    def lines(self) -> dict[Place, int]:
        """Line of each key."""
        return key_lines(self.text)

    def refuse(self, place: Place, message: str, *, hint: str | Sequence[str] | None = None) -> NoReturn:
        """Raise what is wrong at a place."""
        raise FormatError(self.path, nearest_line(self.lines, place), message, hint=hint)

    def unknown(self, place: Place, kind: str, name: str, known: Iterable[str], *, way: str = "") -> NoReturn:
        """Raise that there is no such name."""
        hint = known_names(name, known) + (f"; {way}" if way else "")
        self.refuse(place, f"there is no {kind} {name!r}", hint=hint)

    def checked(self, title: str, place: Place, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a table with defaults; a key that is not among KEYS[title], or a wrong value, raises."""
        keys = KEYS[title]
        for name in values:
            if name not in keys:
                self.unknown((*place, name), f"key of {shown(title)}" if title else "table", name, keys)
        for name, key in keys.items():
            if key.default is REQUIRED and name not in values:
                self.refuse(place, f"{shown(title)} needs {name}: {key.meaning}", hint=HINT)
        return {
            name: self._value(key, (*place, name), values[name]) if name in values else key.default
            for name, key in keys.items()
        }

    def _value(self, key: Key, place: Place, value: Any) -> Any:
        """Return a value of the type, in the range and among the choices of its key."""
        if not _FITS[key.type](value):
            self.refuse(place, f"{place[-1]} is {brief(value)}, expected {key.type}", hint=key.meaning)
        if key.least is not None and key.most is not None and not key.least <= value <= key.most:
            limits = f"expected {key.type} from {key.least:,} to {key.most:,}"
            self.refuse(place, f"{place[-1]} is {value}, {limits}", hint=key.meaning)
        if key.choices and value not in key.choices:
            self.unknown(place, str(place[-1]), value, [each for each in key.choices if each])
        return value

    def tables(self, title: str, values: Any, place: Place) -> list[tuple[Place, dict[str, Any]]]:
        """Return the checked tables of a list with their places."""
        return [((*place, n), self.checked(title, (*place, n), each)) for n, each in enumerate(values)]

    def beside(self, place: Place, name: str, *, dataset: bool = False) -> Path:
        """Return the path of a file that the study file names; it is there.  dataset: one of ir_datasets will do."""
        if dataset and name.startswith(DATASET):
            return Path(name)
        path = self.path.parent / name
        if not os.path.exists(path) or os.path.isdir(path):  # noqa: PTH110, PTH112 - which do not raise
            self.refuse(place, f"there is no file {name!r}", hint=f"paths are relative to {self.path.name}")
        self.files.append(path)
        return path

    def reading(self, place: Place, read: Callable[..., Any], *args: Any, **settings: Any) -> Any:
        """Read what a key names; what is wrong in it is an error at the key."""
        try:
            return read(*args, **settings)
        except VenireError as error:
            self.refuse(place, f"{place[-1]}: {error.message}", hint=error.ways or error.hint)


def shown(title: str) -> str:
    """Return a table as it is written: [study], or [[tasks]] where it comes several times."""
    if not title:
        return "the study file"
    parent, _, name = title.rpartition(".")
    return f"[[{title}]]" if KEYS[parent][name].type == TABLES else f"[{title}]"


def brief(value: Any) -> str:
    """Return a value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_FITS: Mapping[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    FLAG: lambda value: isinstance(value, bool),
    WHOLE: lambda value: isinstance(value, int) and not isinstance(value, bool),
    NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    TEXTS: lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    TABLE: lambda value: isinstance(value, dict),
    TABLES: lambda value: isinstance(value, list) and all(isinstance(each, dict) for each in value),
}

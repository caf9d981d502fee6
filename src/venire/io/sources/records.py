"""Records that other tools write: lines of JSON objects, or one JSON list of them.

Lines are read one by one; a list is read whole, up to a limit on its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from venire.errors import FormatError, known_names
from venire.io.documents import parsed_json, read_json
from venire.io.files import opened
from venire.io.lines import BOM
from venire.io.tables.columns import HEAD, ROLES, all_names, plain
from venire.io.texts import numbered_lines
from venire.results import first_few

LIMIT = "document_size"
"""Limit on a JSON value that is read whole."""
NO_LABEL = "no label was chosen"
NAMES = "names are text or whole numbers"
Columns = Mapping[str, str]
"""Keys that were stated, by role: ``{"doc": "url"}``."""


class Record(NamedTuple):
    """One object: what it holds, its number from 1, and its line if the file has one for each."""

    path: Path
    held: Mapping[str, Any]
    number: int
    line: int | None = None

    @property
    def place(self) -> int:
        """The line, or in a JSON value the number."""
        return self.number if self.line is None else self.line

    def fault(self, message: str, *, hint: str | None = None) -> FormatError:
        """Return an error about this record."""
        text = message if self.line is not None else f"record {self.number} {message}"
        return FormatError(self.path, self.line, text, hint=hint)

    def name(self, role: str, columns: Columns, *places: Any) -> str:
        """Return the topic or the document, from the first of these objects that has it; by default the record."""
        found = self.find(role, columns, *places)
        if found is None:
            keys = [str(key) for place in places or [self.held] if isinstance(place, Mapping) for key in place]
            expected = repr(columns[role]) if role in columns else f"one of {first_few(all_names(ROLES[role]), 6)}"
            message = f"does not name its {role}: found {first_few(keys, 8) or 'nothing'}"
            for key, value in self._values(role, columns, *places):
                raise self.fault(f"does not name its {role}: {key!r} is {value!r:.60}", hint=NAMES)
            raise self.fault(message, hint=f"expected {expected}; or state which key is the {role}")
        return found

    def find(self, role: str, columns: Columns, *places: Any) -> str | None:
        """Return the value of a role, by the stated key or the usual names of its column; None if there is none."""
        found = (value for _, value in self._values(role, columns, *places) if is_name(value) and value != "")
        return next(map(str, found), None)

    def _values(self, role: str, columns: Columns, *places: Any) -> Iterator[tuple[str, Any]]:
        """Yield the keys that may have a role, and their values."""
        for place in places or (self.held,):
            yield from ((key, place[key]) for key in _keys(role, columns, place))

    def choice(self, value: Any, question: str) -> tuple[str, str]:
        """Return the label that answers a question, or why there is none: no value, or several."""
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        if one in (None, "", [], {}):
            return "", NO_LABEL
        if isinstance(one, list | dict):
            return "", f"answers to {question[:60]!r} have several values"
        return self.value(one), ""

    def value(self, value: Any) -> str:
        """Return a label as text."""
        if value == "" or (not is_name(value) and not isinstance(value, float)):
            message = f"has {str(value)[:60]!r} where one choice was expected"
            raise self.fault(message, hint="a document has one label by each assessor")
        return str(value)

    def ratings(self, doc: str, *, hint: str) -> Iterator[Mapping[str, Any]]:
        """Yield the objects in a list of ratings, each of which names a document under this key."""
        found = self.held.get("ratings")
        if not isinstance(found, list):
            raise self.fault("has no list of ratings", hint=hint)
        for each in found:
            if not isinstance(each, dict) or not is_name(each.get(doc)):
                raise self.fault(f"has a rating without {doc}", hint=hint)
            yield each


def refuse_unknown_question(path: Path, columns: Columns, known: Iterable[str]) -> None:
    """Raise where the question that was chosen is not among those that a file answers."""
    listed = list(dict.fromkeys(known))
    if (chosen := columns.get("label")) is not None and listed and chosen not in listed:
        raise FormatError(path, None, f"has no labels called {chosen[:60]!r}", hint=known_names(chosen, listed))


def is_name(value: Any) -> bool:
    """Return whether a value is a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _keys(role: str, columns: Columns, place: Any) -> list[str]:
    """Return the keys of an object that may have a role."""
    if not isinstance(place, Mapping):
        return []
    if role in columns:
        return [columns[role]] if columns[role] in place else []
    return [key for group in ROLES[role] for key in place if plain(str(key)) in group]


def records(path: Path, *, hint: str) -> Iterator[Record]:
    """Read the objects of a file; hint: what was expected."""
    with opened(path) as file:
        is_list = file.read(HEAD).removeprefix(BOM).lstrip().startswith(b"[")
    if is_list:
        found = enumerate(read_json(path, hint=hint, limit=LIMIT), start=1)
        read = (Record(path, held, number) for number, held in found)
    else:
        lines = enumerate(numbered_lines(path), start=1)
        read = (Record(path, parsed_json(text, path, line, hint=hint), n, line) for n, (line, text) in lines)
    for record in read:
        if not isinstance(record.held, dict):
            raise record.fault("is no object", hint=hint)
        yield record


def seconds(text: Any) -> float | None:
    """Return a time as seconds since 1970, None if it is none; without a zone it is UTC."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text) if abs(text) < 1e15 else None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None

"""Labels that people or programs gave in other tools, and their way into Rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from venire.data.ids import Category
from venire.data.scale import whole
from venire.errors import FormatError
from venire.io.declarations import Role, declared_roles, scale_beside
from venire.io.files import stem
from venire.io.foreign import as_id
from venire.io.rows import Rows
from venire.io.tables.cells import refuse_long_names
from venire.results import Note
from venire.types import Ints


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """One label of a file; assessor: as the file names them, "" if it does not; at: seconds since 1970, if known.

    machine: the assessor is a program.  aspect: which of several questions was answered.  left_out: why there is no
    label; doubt: why it may be none; line: where it was found, or in a JSON value the number of the record.
    """

    topic: str
    doc: str
    label: str
    assessor: str = ""
    given: str = ""
    view: str = ""
    at: float | None = None
    seconds: float | None = None
    comment: str = ""
    machine: bool = False
    aspect: str = ""
    intent: str = ""
    left_out: str = ""
    doubt: str = ""
    line: int | None = None


def rows_of_labels(found: Iterable[Imported], path: Path, *, stated: Iterable[str] = ()) -> Rows:
    """Make Rows of labels; one that names no assessor is by the one that the file is named after.

    Several questions become aspects.  A label that was left out is counted in a note; there may be no others.  stated:
    keys that were stated.
    """
    read = list(found)
    labels = [each for each in read if not each.left_out]
    if not read:
        raise FormatError(path, None, "holds no labels")
    numbers = [number if each.line is None else each.line for number, each in enumerate(labels, start=1)]
    line = np.array(numbers, dtype=np.int64)
    own = stem(path)
    columns = {
        "topic": [each.topic for each in labels],
        "doc": [each.doc for each in labels],
        "assessor": [each.assessor or own for each in labels],
        "label": [whole(each.label.strip()) for each in labels],
        "aspect": [each.aspect for each in labels],
        "intent": [each.intent for each in labels],
    }
    named = {name: _encoded(name, values, path, line) for name, values in columns.items()}
    times = [each.at for each in labels]
    machines = dict.fromkeys(each.assessor or own for each in labels if each.machine)
    roles = declared_roles(b"", path) or tuple(Role("machines", name, path) for name in machines)
    return Rows(
        source=str(path),
        topic=named["topic"],
        doc=named["doc"],
        assessor=named["assessor"],
        label=named["label"],
        line=line,
        facets={name: named[name] for name in ("intent", "aspect") if _tells(named[name], several=name == "aspect")},
        time=np.array([np.nan if at is None else at for at in times]) if any(at is not None for at in times) else None,
        scale=scale_beside(path),
        roles=roles,
        duplicate_labels="last",
        notes=left_out_notes(read),
        columns=("topic", "doc", "assessor", "label", *stated),
        named_after_file=not any(each.assessor for each in labels),
    )


def _tells(column: Category, *, several: bool) -> bool:
    """Return whether a column is more than empty; several: more than one name."""
    return len(column.names) > 1 or (not several and any(column.names))


def _encoded(name: str, values: list[str], path: Path, line: Ints) -> Category:
    optional = name in ("aspect", "intent")
    for text, number in zip(values, line.tolist(), strict=True):
        if text or not optional:
            try:
                as_id(text, name)
            except FormatError as error:
                raise FormatError(path, number, f"{name}: {error.what}") from None
    column = Category.of(values)
    refuse_long_names(column, path, line, name)
    return column


def left_out_notes(read: Sequence[Imported]) -> tuple[Note, ...]:
    """Return notes on what is no label, or may be none."""
    reasons = Counter(each.left_out for each in read if each.left_out)
    doubts = Counter(each.doubt for each in read if each.doubt)
    return (
        *(Note("left-out", "{n:label} left out: {why}", n=n, why=why) for why, n in reasons.items()),
        *(Note("doubtful-labels", "{n:label} read, {why}", n=n, why=why) for why, n in doubts.items()),
    )

"""read_preferences: tables, frames and plain lines into Preferences.

Tables are CSV, TSV, JSONL, Parquet and data frames; their columns are recognised by name.  A text whose first line
names no columns has four columns, separated by white space: topic, first document, second document, and the one
preferred.  Text may be gz or zst.

The choice is a number or a document.  The column of a number names its sign: ``strength`` and ``left_better`` are
positive where the left one is better, ``strength_right`` and ``right_better`` where the right one is.  A preferred
document is its id; ``=``, ``tie`` or nothing is a tie, ``?`` means not judged; also ``!`` or ``left`` for the first and
``right`` for the second, where no document has this id.

A plan of preference tests (``io.plans``) with one more column, the choice, is such a table: its documents are ``doc``
and ``other``, and its assessor is ``judge`` where it names any.  There, an empty choice is no tie, but an error.

Cost: O(bytes), and a sort of the distinct names; memory: a few times that of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from venire.data.ids import Category, joined
from venire.data.preferences import Origin, Preferences, from_columns, joined_preferences
from venire.errors import FormatError
from venire.io.files import opened, stem
from venire.io.lines import BOM, read_bytes, split_columns
from venire.io.paths import expanded
from venire.io.plans import OTHER
from venire.io.tables.blocks import TableRows, format_of, frame_of, read_frame
from venire.io.tables.columns import (
    CHOICES,
    HEAD,
    PLANNED,
    ROLES,
    Groups,
    all_names,
    ending_of,
    find_roles,
    header_names,
    header_start,
    plain,
    refuse_other_kind,
)
from venire.results import Note
from venire.scan.numbers import decimals
from venire.types import Floats

PreferencesLike = Preferences | str | Path | Mapping[str, Any] | Iterable[Any]

NAMES: Mapping[str, Groups] = {
    "topic": ROLES["topic"],
    "left": (("left", "leftdoc", "docleft", "leftid"), ("a", "doca"), ("doc1", "docid1", "d1", "first")),
    "right": (("right", "rightdoc", "docright", "rightid"), ("b", "docb"), ("doc2", "docid2", "d2", "second")),
    "assessor": ROLES["assessor"],
    **CHOICES,
}
"""Names of the columns of each role."""
NAMES_OF_PLAN: Mapping[str, Groups] = {**NAMES, "left": (("doc",),), "right": ((OTHER,),)}
"""The same in a plan of preference tests."""

OUTCOMES = tuple(CHOICES)
PLAIN = ("topic", "left", "right", "preferred")
MARKS = {"!": 1.0, "left": 1.0, "right": -1.0, "=": 0.0, "tie": 0.0, "": 0.0, "?": np.nan}
"""Choices that are not a document's id; NaN: not judged."""

CHOICE_HINT = "write the preferred document's id; = or tie for a tie; ? where nobody judged"
HINT = "columns are topic, left, right, perhaps assessor, and strength (positive: left is better) or preferred"


def read_preferences(source: PreferencesLike, *, sides: tuple[str, str] = ("left", "right")) -> Preferences:
    """Read preferences, of one source or of several together.

    Parameters
    ----------
    source : path, folder, pattern, frame, {column: values}, or several of these in a list
        Columns topic, left, right, perhaps assessor, and the choice: ``strength`` or ``left_better`` (positive: left is
        better), ``strength_right`` or ``right_better`` (the opposite), or ``preferred`` (a document's id; ``=``,
        ``tie`` or nothing: a tie; ``?``: not judged, left out).  Or lines of topic, document, document, preferred.
        Where no column names the assessor it is the file's name.
    sides : names of two result lists that were compared, in a table that names no documents

    Examples
    --------
    >>> read_preferences({"topic": ["q1", "q1"], "a": ["d1", "d1"], "b": ["d2", "d3"], "preferred": ["d2", "tie"]})
    <Preferences: 2 choices (1 tie) on 2 pairs of 1 topic by 1 assessor>
    """
    if isinstance(source, Preferences):
        return source
    parts = [each if isinstance(each, Preferences) else _preferences(each, sides) for each in _tables(source)]
    if not parts:
        raise FormatError("preferences", None, "nothing was named", hint="name a file or a frame")
    return parts[0] if len(parts) == 1 else joined_preferences(parts)


class Table(NamedTuple):
    """The columns of each role as read, and their rows, for errors; the assessor by default.

    roles: the name of the column of each role.
    """

    columns: Mapping[str, Category]
    rows: TableRows
    default: str
    roles: Mapping[str, str]


def _tables(source: Any) -> Iterator[Table | Preferences]:
    if isinstance(source, Preferences):
        yield source
    elif isinstance(source, (str, Path)):
        yield from map(_from_file, expanded(source))
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        yield _from_rows(frame_of(source, "frame"), "assessor")
    else:
        for each in source:
            yield from _tables(each)


def _from_file(path: Path) -> Table:
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    if format_of(path, head) == "delimited":
        names = header_names(head, path.name)
        if ending_of(path.name) != ".csv" and not (len(names) > 1 and _name_a_choice(names)):
            refuse_other_kind(names, "preferences", path)
            return _from_lines(read_bytes(path), path)

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        of_plan = [name for name in names if _is_plan(names) and plain(name) in PLANNED]
        return dict.fromkeys([*find_choice(names, path, line).values(), *of_plan], "String"), None

    return _from_rows(read_frame(path, choose), stem(path))


def _from_rows(rows: TableRows, default: str) -> Table:
    """Encode the column of each role; an empty cell is an empty text."""
    if rows.frame.height == 0:
        raise _nothing(rows.where)
    roles = find_choice(rows.frame.columns, rows.where, None)
    columns = {role: rows.texts(name).fill_null("").alias(role) for role, name in roles.items()}
    if _is_plan(rows.frame.columns) and (columns["assessor"] == "").all():
        del columns["assessor"], roles["assessor"]
    columns |= {role: columns[role].str.strip_chars() for role in roles if role not in PLAIN[:3]}
    return Table({role: rows.encoded(each) for role, each in columns.items()}, rows, default, roles)


def _from_lines(data: bytes, path: Path) -> Table:
    """Read columns that white space separates, under the names in the first line, if it has any."""
    import polars as pl

    names: Sequence[str] = data[header_start(data) :].partition(b"\n")[0].decode("utf-8", "replace").split()
    named = _name_a_choice(names)
    line = data.count(b"\n", 0, header_start(data)) + 1
    roles = find_choice(names, path, line) if named else dict(zip(PLAIN, PLAIN, strict=True))
    order = list(names) if named else list(PLAIN)
    fields = split_columns(data, order, path)
    fields = fields.take(np.arange(int(named), len(fields.line)))
    if len(fields.line) == 0:
        raise _nothing(path)
    columns = {role: Category.of_slices(fields.column(order.index(name))) for role, name in roles.items()}
    return Table(columns, TableRows(pl.DataFrame(), fields.line + 1, path), stem(path), roles)


def find_choice(names: Sequence[str], where: object, line: int | None) -> dict[str, str]:
    """Find the column of each role -> {role: name}, or raise what is missing."""
    planned = _is_plan(names)
    roles = find_roles(names, NAMES_OF_PLAN if planned else NAMES, where=where, line=line)
    outcomes = [role for role in OUTCOMES if role in roles]
    if planned or not ("left" in roles and "right" in roles):
        refuse_other_kind(names, "preferences", where, line)
    if "topic" not in roles or not outcomes or ("left" in roles) != ("right" in roles):
        wanted = "topic" if "topic" not in roles else "choice" if not outcomes else "other document"
        message = f"no column for the {wanted}: found {', '.join(names) or 'nothing'}"
        raise FormatError(where, line, message, hint=HINT)
    if len(outcomes) > 1:
        message = f"columns {roles[outcomes[0]]!r} and {roles[outcomes[1]]!r} both contain the choice"
        raise FormatError(where, line, message, hint="keep one of them")
    if "left" not in roles and outcomes == ["preferred"]:
        raise FormatError(where, line, "there are no columns for the two documents", hint=HINT)
    return roles


def _name_a_choice(names: Sequence[str]) -> bool:
    """Whether these could be the names of columns: a topic and a choice are among them."""
    present = {plain(name) for name in names}
    topic, *outcomes = (not present.isdisjoint(all_names(NAMES[role])) for role in ("topic", *OUTCOMES))
    return topic and any(outcomes)


def _preferences(table: Table, sides: tuple[str, str]) -> Preferences:
    """Convert columns to Preferences; where there are no documents, whole lists were compared, and sides names them."""
    n_rows, columns, notes = len(table.rows.line), dict(table.columns), list[Note]()
    if "left" not in columns:
        columns |= {role: Category.constant(name, n_rows) for role, name in zip(PLAIN[1:3], sides, strict=True)}
        text = "{where}: no documents are named: two lists were compared, called {left!r} and {right!r}"
        notes.append(Note("lists-compared", text, where=str(table.rows.where), left=sides[0], right=sides[1]))
    _refuse_empty(columns, table)
    docs = joined([columns["left"], columns["right"]])
    left, right = np.split(docs.codes, 2)
    table.rows.refuse(left == right, lambda row: f"{docs.names[int(left[row])]!r} is compared with itself", hint=HINT)
    strength = _strength(columns, table)
    notes += _notes(table, strength)
    judged = ~np.isnan(strength)
    assessor = columns.get("assessor") or Category.constant(table.default, n_rows)
    names = (columns["topic"], Category(left, docs.names), Category(right, docs.names))
    origin = Origin(Category.constant(str(table.rows.where), n_rows), np.asarray(table.rows.line, dtype=np.int64))
    if not judged.all():
        topic, left_doc, right_doc = (column.take(judged) for column in names)
        names, strength, assessor = (topic, left_doc, right_doc), strength[judged], assessor.take(judged)
        origin = origin.take(judged)
    return from_columns(names, strength, assessor, notes=tuple(notes), origin=origin)


def _refuse_empty(columns: Mapping[str, Category], table: Table) -> None:
    """Raise at the first row that lacks a topic, a document, an assessor or a strength."""
    for role, column in columns.items():
        if role != "preferred" or plain(table.roles.get("right", "")) == OTHER:
            length = column.names.slices.end - column.names.slices.start
            hint = f"every row needs its {role}"
            if role in OUTCOMES:
                hint = CHOICE_HINT if role == "preferred" else "leave out what was not judged"
            what = "choice" if role == "preferred" else role
            table.rows.refuse((length == 0)[column.codes], f"the {what} is empty", hint=hint)


def _is_plan(names: Sequence[str]) -> bool:
    """Whether these are the columns of a plan of preference tests."""
    return {OTHER, *PLANNED}.issubset(map(plain, names))


def _strength(columns: Mapping[str, Category], table: Table) -> Floats:
    """Return the left-positive strength (row,); NaN where nobody judged."""
    if "preferred" in columns:
        return _chosen(columns["preferred"], columns, table)
    role = "strength" if "strength" in columns else "strength_right"
    column = columns[role]
    value, odd = decimals(column.names.slices)
    hint = "positive: left is better; 0: a tie; negative: right is better"
    table.rows.refuse(odd[column.codes], lambda row: f"{_text(column, row)!r} is not a number", hint=hint)
    return (value if role == "strength" else 0.0 - value)[column.codes]


def _chosen(preferred: Category, columns: Mapping[str, Category], table: Table) -> Floats:
    """Return 1, 0 or -1 by the document preferred; marks count only where it is neither of the two."""
    left, right, chosen = np.split(joined([columns["left"], columns["right"], preferred]).codes, 3)
    strength = (chosen == left).astype(np.float64) - (chosen == right)
    other = (chosen != left) & (chosen != right)
    used, which = np.unique(preferred.codes[other], return_inverse=True)
    marks = [MARKS.get(text.strip().casefold(), np.inf) for text in preferred.names.take(used)]
    strength[other] = np.array(marks, dtype=np.float64)[which]

    def message(row: int) -> str:
        pair = f"{_text(columns['left'], row)!r} and {_text(columns['right'], row)!r}"
        return f"{_text(preferred, row)!r} is preferred, which is neither of {pair}"

    table.rows.refuse(np.isinf(strength), message, hint=CHOICE_HINT)
    return strength


def _notes(table: Table, strength: Floats) -> Iterator[Note]:
    """Note what was left out or might be read otherwise."""
    where, missing = str(table.rows.where), int(np.isnan(strength).sum())
    if missing:
        yield Note("not-judged", "{where}: {n:row} marked '?' (not judged) left out", where=where, n=missing)
    if "preferred" in table.roles:
        return
    column = table.roles["strength" if "strength" in table.roles else "strength_right"]
    if plain(column) in NAMES["strength"][1]:
        text = "{where}: column {column!r} is read as positive where left is better; else call it strength_right"
        yield Note("sign-assumed", text, where=where, column=column)
    if (strength == 0).any() and not ((strength > 0).any() and (strength < 0).any()):
        text = "{where}: column {column!r} has one sign only: 0 is read as a tie, not as the other one being better"
        yield Note("one-sign", text, where=where, column=column)


def _text(column: Category, row: int) -> str:
    return column.names[int(column.codes[row])]


def _nothing(where: object) -> FormatError:
    return FormatError(where, None, "holds no preferences", hint=HINT)

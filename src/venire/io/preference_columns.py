"""Columns of a table of preferences: which is what, which way the sign goes, and what is wrong with a row.

A choice is told in one of two ways.  As a number, whose column names the sign: ``strength`` and ``left_better`` are
positive where the left one is better, ``strength_right`` and ``right_better`` where the right one is.  Or as the
document preferred: its id, ``=``, ``tie`` or nothing for a tie, ``?`` for not judged; also ``!`` or ``left`` for the
first and ``right`` for the second, where no document is called so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from venire.data.ids import Category, joined
from venire.data.preferences import Origin, Preferences, from_columns
from venire.errors import FormatError
from venire.io.tables.columns import ROLES, Groups, column_among, plain, refuse_other_kind
from venire.results import counted
from venire.scan.numbers import decimals
from venire.types import Bools, Floats, Ints

NAMES: Mapping[str, Groups] = {
    "topic": ROLES["topic"],
    "left": (("left", "leftdoc", "docleft", "leftid"), ("a", "doca"), ("doc1", "docid1", "d1", "first")),
    "right": (("right", "rightdoc", "docright", "rightid"), ("b", "docb"), ("doc2", "docid2", "d2", "second")),
    "assessor": ROLES["assessor"],
    "strength": (("strength", "strengthleft", "leftbetter"), ("score", "rating")),
    "strength_right": (("strengthright", "rightbetter"),),
    "preferred": (("preferred", "preferreddoc", "winner"), ("preference", "choice")),
}
"""Names of each role."""

SIDES = ("left", "right")
OUTCOMES = ("strength", "strength_right", "preferred")
MARKS = {"!": 1.0, "left": 1.0, "right": -1.0, "=": 0.0, "tie": 0.0, "": 0.0, "?": np.nan}
"""What stands for a choice where it is no document's id; NaN: not judged."""

HINT = "columns are topic, left, right, perhaps assessor, and strength (positive: left is better) or preferred"


class Table(NamedTuple):
    """Columns as read: each role's, the line of each row (row,), the table's name, and whom to take for its assessor.

    given: the name of the column of each role.
    """

    columns: Mapping[str, Category]
    line: Ints
    where: object
    default: str
    given: Mapping[str, str]


def find_roles(names: Sequence[str], where: object, line: int | None) -> dict[str, str]:
    """Find each role's column -> {role: name}, the one that tells the choice among them, or say what is missing."""
    found = {role: column_among(names, NAMES[role], f"the {role}", where=where, line=line) for role in NAMES}
    roles = {role: name for role, name in found.items() if name is not None}
    told = [role for role in OUTCOMES if role in roles]
    if not ("left" in roles and "right" in roles):
        refuse_other_kind(names, "preferences", where, line)
    if "topic" not in roles or not told or ("left" in roles) != ("right" in roles):
        wanted = "topic" if "topic" not in roles else "choice" if not told else "other document"
        message = f"no column for the {wanted}: found {', '.join(names) or 'nothing'}"
        raise FormatError(where, line, message, hint=HINT)
    if len(told) > 1:
        message = f"columns {roles[told[0]]!r} and {roles[told[1]]!r} both tell the choice"
        raise FormatError(where, line, message, hint="keep one of them")
    if "left" not in roles and told == ["preferred"]:
        raise FormatError(where, line, "there are no columns for the two documents", hint=HINT)
    return roles


def names_a_choice(names: Sequence[str]) -> bool:
    """Whether these could be the names of columns: a topic and a choice are among them."""
    there = {plain(name) for name in names}
    return bool(there & _known("topic")) and any(there & _known(role) for role in OUTCOMES)


def preferences_of(table: Table, sides: tuple[str, str]) -> Preferences:
    """Make Preferences of columns; where there are no documents, whole lists were compared, and sides names them."""
    n_rows, columns, notes = len(table.line), table.columns, []
    if "left" not in columns:
        columns = {
            **columns,
            **{role: Category.constant(name, n_rows) for role, name in zip(SIDES, sides, strict=True)},
        }
        notes.append(f"no documents are named: two lists were compared, called {sides[0]!r} and {sides[1]!r}")
    _refuse_empty(columns, table)
    docs = joined([columns["left"], columns["right"]])
    left, right = np.split(docs.codes, 2)
    _refuse(left == right, table, lambda row: f"{docs.names[int(left[row])]!r} is compared with itself")
    strength = _strength(columns, table)
    notes += _remarks(columns, strength, table)
    assessor = columns.get("assessor") or Category.constant(table.default, n_rows)
    judged = ~np.isnan(strength)
    names = (columns["topic"], Category(left, docs.names), Category(right, docs.names))
    noted = tuple(f"{table.where}: {note}" for note in notes)
    origin = Origin(Category.constant(str(table.where), n_rows), np.asarray(table.line, dtype=np.int64))
    if judged.all():
        return from_columns(names, strength, assessor, notes=noted, origin=origin)
    topic, a, b = (column.take(judged) for column in names)
    return from_columns((topic, a, b), strength[judged], assessor.take(judged), notes=noted, origin=origin.take(judged))


def _known(role: str) -> set[str]:
    return {name for group in NAMES[role] for name in group}


def _refuse_empty(columns: Mapping[str, Category], table: Table) -> None:
    """Raise at the first row that lacks a topic, a document, an assessor or a strength."""
    for role, column in columns.items():
        if role != "preferred":
            length = column.names.slices.end - column.names.slices.start
            hint = "leave out what was not judged" if role.startswith("strength") else f"every row needs its {role}"
            _refuse((length == 0)[column.codes], table, _said(f"the {role} is empty"), hint=hint)


def _refuse(wrong: Bools, table: Table, message: Callable[[int], str], *, hint: str | None = None) -> None:
    """Raise at the first wrong row, on its line."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise FormatError(table.where, int(table.line[row]), message(row), hint=hint or HINT)


def _strength(columns: Mapping[str, Category], table: Table) -> Floats:
    """Left-positive strength (row,); NaN where nobody judged."""
    if "preferred" in columns:
        return _chosen(columns["preferred"], columns, table)
    role = "strength" if "strength" in columns else "strength_right"
    column = columns[role]
    value, odd = decimals(column.names.slices)
    hint = "positive: left is better; 0: a tie; negative: right is better"
    _refuse(odd[column.codes], table, lambda row: f"{_text(column, row)!r} is not a number", hint=hint)
    return (value if role == "strength" else 0.0 - value)[column.codes]


def _chosen(preferred: Category, columns: Mapping[str, Category], table: Table) -> Floats:
    """Strength 1, 0 or -1 by the document preferred; marks are looked at only where it is neither of the two."""
    left, right, chosen = np.split(joined([columns["left"], columns["right"], preferred]).codes, 3)
    strength = (chosen == left).astype(np.float64) - (chosen == right)
    other = (chosen != left) & (chosen != right)
    used, which = np.unique(preferred.codes[other], return_inverse=True)
    texts = list(preferred.names.take(used))
    mark = np.array([MARKS.get(text.strip().casefold(), np.inf) for text in texts], dtype=np.float64)
    strength[other] = mark[which]

    def message(row: int) -> str:
        pair = f"{_text(columns['left'], row)!r} and {_text(columns['right'], row)!r}"
        return f"{_text(preferred, row)!r} is preferred, which is neither of {pair}"

    hint = "write the preferred document's id; = or tie for a tie; ? where nobody judged"
    _refuse(np.isinf(strength), table, message, hint=hint)
    return strength


def _remarks(columns: Mapping[str, Category], strength: Floats, table: Table) -> list[str]:
    """Say what was left out or might be read otherwise."""
    notes = []
    missing = int(np.isnan(strength).sum())
    if missing:
        notes.append(f"{counted(missing, 'row')} marked '?' (not judged) left out")
    if "preferred" in columns:
        return notes
    name = table.given["strength" if "strength" in columns else "strength_right"]
    if plain(name) in NAMES["strength"][1]:
        notes.append(f"column {name!r} is read as positive where left is better; else call it strength_right")
    if (strength == 0).any() and not ((strength > 0).any() and (strength < 0).any()):
        notes.append(f"column {name!r} has one sign only: 0 is read as a tie, not as the other one being better")
    return notes


def _said(message: str) -> Callable[[int], str]:
    return lambda _: message


def _text(column: Category, row: int) -> str:
    return column.names[int(column.codes[row])]

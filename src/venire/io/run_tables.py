"""Runs in tables: CSV and TSV with a header, Parquet, data frames; columns are recognised by their names.

A table has a row for each document of a list: topic, document, score or rank or both, and perhaps the system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from venire.data.ids import Category
from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.files import stem
from venire.io.tables.blocks import TableRows, frame_of, read_frame
from venire.io.tables.columns import RUN_ROLES, find_roles, missing_role


def read_run_table(path: Path) -> RunTable:
    """Read one file."""

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        return dict.fromkeys(_columns(names, path, line).values(), "String"), None

    rows = read_frame(path, choose)
    if rows.frame.height == 0:
        raise FormatError(path, None, "holds no run lines", hint="expected rows under the header")
    return _table(rows, str(path))


def run_of_frame(frame: Any, name: str = "frame") -> RunTable:
    """Read a frame of polars or pandas; lines count its rows from 1, and errors name it so."""
    return _table(frame_of(frame, name), name)


def _columns(names: Sequence[str], where: object, line: int | None) -> dict[str, str]:
    """Find the column of each role."""
    roles = find_roles(names, RUN_ROLES, where=where, line=line)
    for role in ("topic", "doc", *["score"] * ("rank" not in roles)):
        if role not in roles:
            hint = f"name the columns in a header, one of them {role!r}"
            raise missing_role(role, RUN_ROLES, names, where=where, line=line, hint=hint)
    return roles


def _table(rows: TableRows, name: str) -> RunTable:
    """Encode the columns; without a score, documents are ordered by rank; without a system, the file names it."""
    columns = _columns(rows.frame.columns, name, None)
    named = {role: _names(rows, columns[role], role) for role in ("topic", "doc", "system") if role in columns}
    hint = "leave out documents that have no score"
    number = {role: rows.finite_numbers(columns[role], hint=hint) for role in ("rank", "score") if role in columns}
    system = named.get("system") or Category.constant(stem(Path(name)), len(rows.line))
    rank = number.get("rank")
    score = -rank if rank is not None and "score" not in number else number["score"]
    return RunTable(name, system, named["topic"], named["doc"], score, rank, rows.line)


def _names(rows: TableRows, name: str, role: str) -> Category:
    text = rows.texts(name)
    rows.refuse(text.is_null(), f"the {role} is empty")
    return rows.encoded(text.alias(role))

r"""read_preferences: tables, frames and plain lines into Preferences.

Tables are CSV, TSV, JSONL, Parquet and data frames; their columns are known by name (``preference_columns``).  A text
whose first line names no columns holds four fields a line, separated by white space: topic, first document, second
document, and the one preferred (or a mark: ``!`` the first, ``=`` a tie, ``?`` not judged).  Text may be gz or zst.

Cost: O(bytes), and a sort of the distinct names; memory: a few times that of the file.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.ids import Category
from venire.data.preferences import Preferences, joined_preferences
from venire.errors import FormatError
from venire.io.cells import texts
from venire.io.column_names import Form
from venire.io.delimited import checked_rows, find_layout, refuse_bytes
from venire.io.file_kinds import refuse_other_kind
from venire.io.frames import encoded
from venire.io.json_lines import filled_lines, parsed_lines
from venire.io.lines import read_bytes
from venire.io.naming import stem
from venire.io.preference_columns import HINT, Table, find_roles, names_a_choice, preferences_of
from venire.io.sources import expanded, split_columns
from venire.io.table_formats import JSON_LINES, PARQUET, SEPARATOR, ending_of, header_separator, header_start
from venire.types import Ints

if TYPE_CHECKING:
    import polars as pl

PreferencesLike = Preferences | str | Path | Mapping[str, Any] | Iterable[Any]
PLAIN = ("topic", "left", "right", "preferred")


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
    parts = [each if isinstance(each, Preferences) else preferences_of(each, sides) for each in _tables(source)]
    if not parts:
        raise FormatError("preferences", None, "nothing was named", hint="name a file or a frame")
    return parts[0] if len(parts) == 1 else joined_preferences(parts)


def _tables(source: Any) -> Iterable[Table | Preferences]:
    if isinstance(source, Preferences):
        yield source
    elif isinstance(source, Mapping):
        import polars as pl

        yield _from_frame(pl.DataFrame(source))
    elif isinstance(source, (str, Path)):
        yield from map(_from_file, expanded(source))
    elif hasattr(source, "columns"):
        yield _from_frame(source)
    else:
        for each in source:
            yield from _tables(each)


def _from_file(path: Path) -> Table:
    """Read one file by its first bytes and its name."""
    data, ending = read_bytes(path), ending_of(path.name)
    if data.startswith(PARQUET):
        return _from_parquet(data, path)
    if ending in JSON_LINES or (ending not in SEPARATOR and data[:4096].lstrip()[:1] == b"{"):
        return _from_json_lines(data, path)
    data = data if data.endswith(b"\n") else data + b"\n"
    start = header_start(data)
    header = data[start : data.find(b"\n", start)]
    preferred = SEPARATOR.get(ending, "")
    names = header.decode("utf-8", "replace").split(header_separator(header, preferred))
    if ending == ".csv" or (len(names) > 1 and names_a_choice([name.strip('"') for name in names])):
        return _from_delimited(data, path, preferred)
    refuse_other_kind([name.strip('"') for name in names], "preferences", path)
    return _from_lines(data, path, header)


def _from_delimited(data: bytes, path: Path, preferred: str) -> Table:
    import polars as pl

    layout = find_layout(data, path, preferred=preferred)
    roles = find_roles(layout.names, path, layout.line)
    if not data[layout.start :].strip():
        raise _nothing(path)
    rows, line = checked_rows(data[layout.start :], data.count(b"\n", 0, layout.start), layout)
    quote, schema = '"' if layout.quoted else None, dict.fromkeys(layout.names, pl.String)
    frame = pl.read_csv(rows, has_header=False, separator=layout.separator, quote_char=quote, schema=schema)
    return _encoded(frame, roles, line, Form(path), default=stem(path))


def _from_json_lines(data: bytes, path: Path) -> Table:
    data = data if data.endswith(b"\n") else data + b"\n"
    refuse_bytes(data, 0, path)
    lines, number = filled_lines(data)
    if not lines:
        raise _nothing(path)
    frame = parsed_lines(lines, number + 1, Form(path))
    return _encoded(frame, find_roles(frame.columns, path, None), number + 1, Form(path), default=stem(path))


def _from_parquet(data: bytes, path: Path) -> Table:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as error:
        raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None
    return _from_frame(frame, path, default=stem(path))


def _from_frame(frame: Any, where: object = "frame", *, default: str = "assessor") -> Table:
    """Read a frame of polars or pandas; lines count its rows from 1."""
    from venire.io.tables import as_polars

    table = as_polars(frame, Form(where))
    if table.height == 0:
        raise _nothing(where)
    roles = find_roles(table.columns, where, None)
    return _encoded(table, roles, np.arange(1, table.height + 1), Form(where), default=default)


def _encoded(frame: pl.DataFrame, roles: Mapping[str, str], line: Ints, form: Form, *, default: str) -> Table:
    """Encode the column of each role; an empty cell is an empty text."""
    columns = {role: texts(frame[name], form.where, line).fill_null("") for role, name in roles.items()}
    columns |= {role: columns[role].str.strip_chars() for role in roles if role not in PLAIN[:3]}
    return Table(
        {role: encoded(each.alias(role), form, line) for role, each in columns.items()},
        line,
        form.where,
        default,
        roles,
    )


def _from_lines(data: bytes, path: Path, header: bytes) -> Table:
    """Read fields that white space separates, under the names in the first line, if it has any."""
    names: Sequence[str] = header.decode("utf-8", "replace").split()
    named = names_a_choice(names)
    roles = (
        find_roles(names, path, data.count(b"\n", 0, header_start(data)) + 1)
        if named
        else dict(zip(PLAIN, PLAIN, strict=True))
    )
    order = list(names) if named else list(PLAIN)
    fields = split_columns(data, order, path)
    fields = fields.take(np.arange(int(named), len(fields.line)))
    if len(fields.line) == 0:
        raise _nothing(path)
    columns = {role: Category.of_slices(fields.column(order.index(name))) for role, name in roles.items()}
    return Table(columns, fields.line + 1, path, stem(path), roles)


def _nothing(where: object) -> FormatError:
    return FormatError(where, None, "holds no preferences", hint=HINT)

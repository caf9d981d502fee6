"""read_clicks: click logs of any size into counts; CSV, TSV, JSONL, Parquet and frames, text also gz or zst.

In the *long* form a row is one result that was shown: session, topic, doc, clicked, perhaps rank and dwell.  In the
*wide* form a row is a session: topic, its documents and as many click flags (perhaps as many dwell times, ``-`` where
there is none), separated by white space in a cell, or as lists in JSONL and Parquet; best rank first.

A log is read in blocks, and a block is reduced to counts before the next one is read.  Lines of text that are written
in the usual way are counted by the compiled scan as they are; any others, and other formats, are read as columns, which
are counted in the same way.  Memory: a block, 8 bytes for each session (24 if it has a click and the log no dwell
times), the names and counts of each document, and each distinct list.  Cost: O(bytes).

The rows of a session should be adjacent.  If they are not, counts and last clicks are still right; the list that such a
session saw is known in pieces only, and a note says so.  Errors name the line (the row of Parquet and of a frame).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from venire.data.clicks import Clicks
from venire.errors import SettingError
from venire.io.click_tally import Tally
from venire.io.paths import expanded
from venire.io.tables.blocks import TableRows, Text, frame_blocks, frame_of, table_blocks
from venire.io.tables.cells import texts
from venire.io.tables.columns import ROLES, Groups, all_names, find_roles, missing_role, plain
from venire.results import Note, counted
from venire.scan.codes import COMPILED
from venire.scan.pages import Fields

if TYPE_CHECKING:
    import polars as pl

ClicksLike = Clicks | str | Path | Mapping[str, Any] | Iterable[Any]

_SESSION = (("session", "sessionid", "sid", "visit", "visitid"), ("impressionid", "searchid", "serpid", "pageid"))
_DWELL = (
    ("dwell", "dwelltime", "dwellseconds", "dwelltimeseconds", "dwelltimes", "dwells"),
    ("dwellms", "dwelltimems"),
)
_LONG_DOC = (*ROLES["doc"], ("url", "urlid", "uri", "result", "resultid", "item", "itemid"))
_LONG_CLICKED = (("clicked", "click", "isclick", "isclicked", "wasclicked"), ("clicks",))
_WIDE_DOC = ("docs", "docids", "documents", "urls", "urlids", "results", "resultids", "items")
_WIDE_CLICKED = ("clicks", "clickflags", "clickeds", "flags")
LONG: Mapping[str, Groups] = {
    "session": _SESSION,
    "topic": ROLES["topic"],
    "rank": (("rank", "position", "pos"),),
    "doc": _LONG_DOC,
    "clicked": _LONG_CLICKED,
    "dwell": _DWELL,
}
WIDE = {**LONG, "doc": (_WIDE_DOC, *_LONG_DOC), "clicked": (_WIDE_CLICKED, *_LONG_CLICKED)}
del WIDE["rank"]
"""Names of the columns of each role."""

HINT = "columns are session, topic, doc, clicked (0 or 1), perhaps rank and dwell in seconds"
WIDE_HINT = "a row of the wide form has topic, docs and clicks: as many flags as documents, separated by spaces"


def read_clicks(source: ClicksLike, *, dwell: float = 30.0, wide: bool | None = None) -> Clicks:
    """Read a click log, of one source or of several together, and count it.

    Parameters
    ----------
    source : path, folder, pattern, "-", frame, {column: values}, or several of these in a list
        A row per result that was shown: session, topic, doc, clicked (0 or 1), perhaps rank and dwell (seconds), under
        these or other usual names; the rows of a session are adjacent.  Or, wide, a row per session: topic, docs
        and clicks, as many flags as documents in a cell, separated by spaces.
    dwell : a click with at least this many seconds is satisfied; without dwell times, the last click of a session is
    wide : True: a row per session; False: a row per result; None: by the names of the columns

    Examples
    --------
    >>> read_clicks({"session": [1, 1, 2], "topic": ["q"] * 3, "doc": ["a", "b", "a"], "clicked": [1, 0, 1]})
    <Clicks: 2 sessions: 3 impressions of 2 documents for 1 topic, 2 clicks, 2 satisfied (the last click of a session)>
    """
    if isinstance(source, Clicks):
        return source
    if not dwell >= 0:
        raise SettingError(f"a dwell time of {dwell} s is not possible", hint="30 is usual")
    return counted_logs(source, dwell, wide)


def counted_logs(source: Any, dwell: float, wide: bool | None, *, compiled: bool = COMPILED) -> Clicks:
    """Read logs and count them together."""
    names: list[object] = ["clicks"]
    tally, notes = Tally(dwell, compiled=compiled), dict[Note, None]()

    def scan(path: Path, block: bytes, text: Text, columns: LogColumns) -> bool:
        fields = Fields(text.names, columns.roles, text.separator, text.quoted, columns.unit)
        taken = not columns.wide and tally.scan(block, fields)
        if taken:
            _note_columns(notes, path, columns)
        return taken

    for name, blocks in _logs(source, wide, scan):
        names.append(name)
        for rows in _typed(blocks, notes):
            tally.add(rows)
        tally.end()
    return tally.clicks(names[-1], notes)


class LogColumns(NamedTuple):
    """The column of each role, whether a row is a whole session, and the seconds in a unit of dwell time."""

    roles: Mapping[str, str]
    wide: bool
    unit: float = 1.0


Blocks = Iterator[tuple[TableRows, LogColumns]]
Scan = Callable[[Path, bytes, Text, LogColumns], bool]


def find_log_columns(names: Sequence[str], where: object, line: int | None, wide: bool | None) -> LogColumns:
    """Find the column of each role; wide None: by the names."""
    if wide is None:
        present = {plain(name) for name in names}
        wide = bool(present & set(_WIDE_DOC)) and present.isdisjoint(all_names(_LONG_DOC))
    known = WIDE if wide else LONG
    roles = find_roles(names, known, where=where, line=line)
    for role in ("topic", "doc", "clicked") if wide else ("session", "topic", "doc", "clicked"):
        if role not in roles:
            raise missing_role(role, known, names, where=where, line=line, hint=WIDE_HINT if wide else HINT)
    return LogColumns(roles, wide, 1e-3 if plain(roles.get("dwell", "")) in _DWELL[1] else 1.0)


def _logs(source: Any, wide: bool | None, scan: Scan) -> Iterator[tuple[object, Blocks]]:
    """Yield the name of each log, and its blocks, but for those of text that are scanned."""
    if isinstance(source, (str, Path)):
        for path in expanded(source):
            yield path, _from_file(path, wide, scan)
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        frame, _, where = frame_of(source, "clicks")
        columns = find_log_columns(frame.columns, where, None, wide)
        yield where, ((rows, columns) for rows in frame_blocks(frame, where))
    else:
        for each in source:
            yield from _logs(each, wide, scan)


def _from_file(path: Path, wide: bool | None, scan: Scan) -> Blocks:
    numbers = {"rank": "Int32", "clicked": "Int8", "dwell": "Float64"}

    def choose(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], LogColumns]:
        columns = find_log_columns(names, path, line, wide)
        known: Mapping[str, str] = {} if columns.wide else numbers
        return {name: known.get(role, "String") for role, name in columns.roles.items()}, columns

    return table_blocks(path, choose, scan=partial(scan, path))


def _typed(blocks: Blocks, notes: dict[Note, None]) -> Iterator[TableRows]:
    """Yield a row per result with checked cells; notes: which columns were used, where their names are not the roles'.

    Columns: session, topic, doc, clicked, and rank and dwell (seconds) where the log has them.
    """
    for rows, columns in blocks:
        _note_columns(notes, rows.where, columns)
        roles, wide, unit = columns
        if wide:
            rows = _spread(rows, roles)
            roles = {role: role for role in rows.frame.columns}
        yield rows._replace(frame=_results(rows, roles, unit))


def _note_columns(notes: dict[Note, None], where: object, columns: LogColumns) -> None:
    """Note which columns were used, where their names are not those of the roles."""
    if columns.wide or any(role != name for role, name in columns.roles.items()):
        form = "a row per session" if columns.wide else "a row per result"
        used = ", ".join(f"{role} = {name}" for role, name in columns.roles.items())
        notes[Note("columns-used", "{where}: {form}; {columns}", where=str(where), form=form, columns=used)] = None


def _results(rows: TableRows, roles: Mapping[str, str], unit: float) -> pl.DataFrame:
    """Read the cells of every role's column."""
    import polars as pl

    read = {"clicked": _flags, "rank": _ranks, "dwell": _seconds}
    found = [read.get(role, _name)(rows.frame[name].alias(role), rows).alias(role) for role, name in roles.items()]
    frame = pl.DataFrame(found)
    return frame.with_columns(pl.col("dwell") * unit) if unit != 1 else frame


def _spread(rows: TableRows, roles: Mapping[str, str]) -> TableRows:
    """Give every result of a session a row of its own, ranks from 1."""
    import polars as pl

    line = pl.Series("line", rows.line)
    session = rows.frame[roles["session"]] if "session" in roles else f"{rows.where}:" + line.cast(pl.String)
    lists = {role: _parts(rows, roles[role]) for role in ("doc", "clicked", "dwell") if role in roles}
    length = lists["doc"].list.len()
    rows.refuse(length == 0, "there are no documents", hint=WIDE_HINT)
    for role, noun in (("clicked", "click flag"), ("dwell", "dwell time")):
        if role in lists and (uneven := lists[role].list.len() != length).any():
            found, docs = (int(each.filter(uneven)[0]) for each in (lists[role].list.len(), length))
            rows.refuse(uneven, f"found {counted(found, noun)} for {counted(docs, 'document')}", hint=WIDE_HINT)
    frame = pl.DataFrame({"session": session, "topic": rows.frame[roles["topic"]], "line": line, **lists})
    frame = frame.with_columns(rank=pl.int_ranges(1, pl.col("doc").list.len() + 1)).explode("rank", *lists)
    return TableRows(frame, frame.drop_in_place("line").to_numpy(), rows.where)


def _parts(rows: TableRows, name: str) -> pl.Series:
    """Return the lists in a column: as they are, or text split at white space; an empty cell is an empty list."""
    import polars as pl

    column = rows.frame[name]
    if isinstance(column.dtype, pl.List | pl.Array):
        return column.cast(pl.List(column.dtype.inner)).fill_null([])
    return rows.texts(name).fill_null("").str.extract_all(r"\S+")


def _name(column: pl.Series, rows: TableRows) -> pl.Series:
    text, role = texts(column, rows.where, rows.line), column.name
    rows.refuse(text.is_null(), f"the {role} is empty", hint=f"every row needs its {role}")
    return text


def _flags(column: pl.Series, rows: TableRows) -> pl.Series:
    if column.dtype.is_numeric() and ((column == 0) | (column == 1)).fill_null(False).all():
        return column == 1
    text = texts(column, rows.where, rows.line).fill_null("").str.strip_chars()
    flag, none = (text.str.to_lowercase().is_in(words) for words in (["1", "true", "yes"], ["0", "false", "no"]))
    hint = "write 1 for a click and 0 for none"
    rows.refuse(~(flag | none), lambda row: f"{text[row]!r} is not a click flag", hint=hint)
    return flag


def _ranks(column: pl.Series, rows: TableRows) -> pl.Series:
    import polars as pl

    text = column if column.dtype.is_integer() else texts(column, rows.where, rows.line).str.strip_chars()
    rank = text.cast(pl.Int32, strict=False)
    wrong = (rank.is_null() | (rank < 1)).fill_null(True)
    hint = "the first result has rank 1; without a column for it, the order of rows is the rank"
    rows.refuse(wrong, lambda row: f"rank {_shown_cell(text[row])!r} is not a whole number from 1 on", hint=hint)
    return rank


def _seconds(column: pl.Series, rows: TableRows) -> pl.Series:
    """Read dwell times; an empty cell, ``-`` and NaN (as in pandas) are null."""
    import polars as pl

    if column.dtype.is_float():
        column = column.fill_nan(None)
    else:
        column = texts(column, rows.where, rows.line).str.strip_chars()
        column = column.set(column.is_in(["", "-"]), None)
    value = column.cast(pl.Float64, strict=False)
    wrong, hint = ~(value.is_finite() & (value >= 0)).fill_null(False), "leave it empty where it is not known"
    message = "dwell {!r} is not a number of seconds from 0 on"
    rows.refuse(column.is_not_null() & wrong, lambda row: message.format(_shown_cell(column[row])), hint=hint)
    return value


def _shown_cell(cell: object) -> str:
    return f"{cell:g}" if isinstance(cell, float) else "" if cell is None else str(cell)

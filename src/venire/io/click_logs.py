"""read_clicks: click logs of any size into counts; CSV, TSV, JSONL, Parquet and frames, text also gz or zst.

A log is read in blocks, and each is counted before the next is read (``click_tally``): memory is that of a block and
of what is distinct in the log.  Cost: O(bytes).  Errors name the line (the row of Parquet and of a frame).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from venire.data.clicks import Clicks
from venire.errors import FormatError, SettingError
from venire.io.click_columns import Cells, LogColumns, find_log_columns, log_rows
from venire.io.click_tally import Tally, session_starts
from venire.io.column_names import Form
from venire.io.delimited import Layout, checked_rows, find_layout, refuse_bytes
from venire.io.json_lines import filled_lines, parsed_lines
from venire.io.lines import BOM, STDIN, opened
from venire.io.row_blocks import BLOCK, has_quotes, row_blocks
from venire.io.sources import expanded
from venire.io.table_formats import JSON_LINES, PARQUET, SEPARATOR, ending_of

if TYPE_CHECKING:
    import polars as pl

ClicksLike = Clicks | str | Path | Mapping[str, Any] | Iterable[Any]
ROWS = 1 << 19
"""Rows of a frame or of Parquet that are counted at once."""
MOST_ROWS = 1 << 21
"""Rows of one session with one topic, beyond which the column is taken for something else."""
DWELL = 30.0


def read_clicks(source: ClicksLike, *, dwell: float = DWELL, wide: bool | None = None) -> Clicks:
    """Read a click log, of one source or of several together, and count it.

    Parameters
    ----------
    source : path, folder, pattern, "-", frame, {column: values}, or several of these in a list
        A row per result that was shown: session, topic, doc, clicked (0 or 1), perhaps rank and dwell (seconds), under
        these or other usual names.  The rows of a session stand together.  Or, wide, a row per session: topic, docs
        and clicks, as many flags as documents in a cell, separated by spaces.
    dwell : the seconds from which on a click is satisfied; without dwell times the last click of a session is
    wide : True: a row per session; False: a row per result; None: as the names of the columns have it

    Examples
    --------
    >>> read_clicks({"session": [1, 1, 2], "topic": ["q"] * 3, "doc": ["a", "b", "a"], "clicked": [1, 0, 1]})
    <Clicks: 2 sessions: 3 impressions of 2 documents for 1 topic, 2 clicks, 2 satisfied (the last click of a session)>
    """
    if isinstance(source, Clicks):
        return source
    if not dwell >= 0:
        raise SettingError(f"a dwell time of {dwell} s is none", hint="30 is usual")
    where: object = "clicks"
    tally, told = Tally(dwell), dict[str, None]()
    for where, batches in _logs(source, wide):
        for rows in _whole_sessions(_typed(batches, told), where):
            tally.add(rows)
    return tally.clicks(where, tuple(told))


Read = Iterator[tuple[Cells, LogColumns]]
"""Rows of a log as they were read, batch by batch."""


def _logs(source: Any, wide: bool | None) -> Iterator[tuple[object, Read]]:
    """Name each log, and begin to read it."""
    if isinstance(source, (str, Path)):
        for path in expanded(source):
            yield path, _from_file(path, wide)
    elif isinstance(source, Mapping):
        import polars as pl

        yield "clicks", _from_frame(pl.DataFrame(source), "clicks", wide)
    elif hasattr(source, "columns"):
        from venire.io.tables import as_polars

        yield "clicks", _from_frame(as_polars(source, Form("clicks")), "clicks", wide)
    else:
        for each in source:
            yield from _logs(each, wide)


def _typed(batches: Read, told: dict[str, None]) -> Iterator[pl.DataFrame]:
    """Rows per result, cells checked; told: which column was taken for what, where that is not plain."""
    for cells, columns in batches:
        if columns.wide or any(role != name for role, name in columns.roles.items()):
            told[f"{cells.where}: {columns.described()}"] = None
        yield log_rows(cells, columns)


def _whole_sessions(batches: Iterable[pl.DataFrame], where: object) -> Iterator[pl.DataFrame]:
    """Hold the last session of a batch back, since the next may go on with it."""
    import polars as pl

    held: pl.DataFrame | None = None
    for batch in batches:
        rows = batch if held is None else pl.concat([held, batch], how="diagonal_relaxed")
        last = int(np.flatnonzero(session_starts(rows))[-1]) if rows.height else 0
        if rows.height - last > MOST_ROWS:
            message = f"session {rows['session'][last]!r} shows over {MOST_ROWS:,} results for one topic"
            raise FormatError(where, None, message, hint="is this column the session? rename it if it is not")
        if last:
            yield rows.head(last)
        held = rows.slice(last)
    if held is not None and held.height:
        yield held


def _from_file(path: Path, wide: bool | None) -> Read:
    """Read one file by its first bytes and its name."""
    with opened(path) as file:
        head, ending = file.read(BLOCK).removeprefix(BOM), ending_of(path.name)
        if head.startswith(PARQUET):
            yield from _from_parquet(path, head, file, wide)
        elif ending in JSON_LINES or (ending not in SEPARATOR and head[:4096].lstrip()[:1] == b"{"):
            yield from _from_json_lines(path, row_blocks(file, head, separator=None), wide)
        else:
            yield from _from_delimited(path, head, file, wide)


def _from_delimited(path: Path, head: bytes, file: BinaryIO, wide: bool | None) -> Read:
    layout = find_layout(head + b"\n", path, preferred=SEPARATOR.get(ending_of(path.name), ""))
    columns = find_log_columns(layout.names, path, layout.line, wide=wide)
    parser, line = _Parser.of(layout, columns), head.count(b"\n", 0, layout.start)
    for block in row_blocks(file, head[layout.start :], separator=layout.separator):
        quoted = has_quotes(block, layout.separator)
        text, number = checked_rows(block, line, layout._replace(quoted=quoted))
        line += block.count(b"\n")
        if text:
            frame = parser.read(text, quoted=quoted)
            if frame.height != len(number):
                message = f"the rows from here on were read as {frame.height}, expected {len(number)}"
                raise FormatError(path, int(number[0]), message)
            yield Cells(frame, number, path), columns


def _from_json_lines(path: Path, blocks: Iterable[bytes], wide: bool | None) -> Read:
    line = 0
    for block in blocks:
        refuse_bytes(block, line, path)
        lines, number = filled_lines(block)
        number = number + line + 1
        line += block.count(b"\n")
        if lines:
            frame = parsed_lines(lines, number, Form(path))
            yield Cells(frame, number, path), find_log_columns(frame.columns, path, int(number[0]), wide=wide)


def _from_parquet(path: Path, head: bytes, file: BinaryIO, wide: bool | None) -> Read:
    """Read Parquet row group by row group; from standard input, or within gz or zst, at once."""
    import polars as pl

    try:
        frame = pl.scan_parquet(path if _is_plain(path) else io.BytesIO(head + file.read()))
        columns = find_log_columns(frame.collect_schema().names(), path, None, wide=wide)
        start = 0
        while True:
            part = frame.select([pl.col(name) for name in columns.roles.values()]).slice(start, ROWS).collect()
            if part.height == 0:
                return
            yield Cells(part, np.arange(start + 1, start + part.height + 1), path), columns
            start += part.height
    except pl.exceptions.PolarsError as error:
        raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None


def _is_plain(path: Path) -> bool:
    """Whether a file is Parquet as it lies, neither compressed nor standard input."""
    if path == STDIN:
        return False
    with path.open("rb") as raw:
        return raw.read(len(PARQUET)) == PARQUET


def _from_frame(frame: pl.DataFrame, where: object, wide: bool | None) -> Read:
    columns = find_log_columns(frame.columns, where, None, wide=wide)
    for start in range(0, frame.height, ROWS):
        part = frame.slice(start, ROWS)
        yield Cells(part, np.arange(start + 1, start + part.height + 1), where), columns


@dataclass
class _Parser:
    """Reads checked rows: columns of numbers as numbers, as long as they are; then all as text, with which words go."""

    layout: Layout
    columns: LogColumns
    numbers: bool

    @classmethod
    def of(cls, layout: Layout, columns: LogColumns) -> _Parser:
        return cls(layout, columns, numbers=not columns.wide)

    def read(self, rows: bytes, *, quoted: bool) -> pl.DataFrame:
        import polars as pl

        while True:
            try:
                return pl.read_csv(
                    rows,
                    has_header=False,
                    separator=self.layout.separator,
                    quote_char='"' if quoted else None,
                    schema=self._schema(),
                    columns=sorted(self.layout.names.index(name) for name in self.columns.roles.values()),
                )
            except pl.exceptions.ComputeError:
                if not self.numbers:
                    raise
                self.numbers = False

    def _schema(self) -> dict[str, Any]:
        """Types of all columns."""
        import polars as pl

        types = {"rank": pl.Int32, "clicked": pl.Int8, "dwell": pl.Float64} if self.numbers else {}
        role_of = {name: role for role, name in self.columns.roles.items()}
        return {name: types.get(role_of.get(name, ""), pl.String) for name in self.layout.names}

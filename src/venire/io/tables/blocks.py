"""Tables as data frames, in blocks of whole rows: CSV, TSV, JSONL and Parquet files, and frames in memory.

Every row has its line, and its number from 1 in Parquet and in frames.  Cost: a few passes over the bytes; memory: that
of a block, besides what is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar, cast

import numpy as np

from venire.data.ids import Category
from venire.errors import FormatError
from venire.io.files import opened
from venire.io.limits import current, over
from venire.io.lines import BOM, line_at, refuse_long_part
from venire.io.tables import parquet
from venire.io.tables.cells import encoded, texts
from venire.io.tables.columns import BINARY, BINARY_ENDINGS, JSON_LINES, SEPARATOR, ending_of
from venire.io.tables.delimited import LF, checked_rows, find_layout, has_quotes, last_row, refuse_bytes
from venire.io.tables.json_lines import first_keys, parsed
from venire.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

BLOCK = 1 << 21
"""Bytes of text that are parsed at once."""
ROWS, CELLS = 1 << 19, 1 << 22
"""Rows of Parquet that are read at once, and cells of Parquet and of frames that make a block."""
LINES_OF_A_ROW = 16
"""A row whose fields have line ends in quotes may be as long as so many lines."""
T = TypeVar("T")
Choose = Callable[[Sequence[str], int | None], tuple[Mapping[str, Any], T]]
"""From the names of the columns and the line of the header (None: Parquet) to the columns that are read, with their
polars types in a text, by name, and what the caller wants to know about them; raises where columns are missing."""


class Text(NamedTuple):
    """How lines are read: the names of their columns, the separator ("" for JSON), whether fields are quoted."""

    names: Sequence[str]
    separator: str = ""
    quoted: bool = False


Scan = Callable[[bytes, Text, T], bool]
"""Takes whole lines of text, UTF-8 without zero bytes, in place of those who read the blocks; or refuses them."""


class TableRows(NamedTuple):
    """Rows of a table: their frame, the line of each (row,), and the name of the table in errors."""

    frame: pl.DataFrame
    line: Ints
    where: object

    def texts(self, name: str) -> pl.Series:
        """Return the cells of a column as text, null where they are empty."""
        return texts(self.frame[name], self.where, self.line)

    def encoded(self, column: pl.Series) -> Category:
        """Encode a column of text without nulls, whose name is its role."""
        return encoded(column, self.where, self.line)

    def refuse(self, wrong: pl.Series | Bools, message: str | Callable[[int], str], *, hint: str | None = None) -> None:
        """Raise at the first wrong row, with its line; a message may depend on the row."""
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            text = message if isinstance(message, str) else message(row)
            raise FormatError(self.where, int(self.line[row]), text, hint=hint)

    def finite_numbers(self, name: str, *, hint: str) -> Floats:
        """Return a column as numbers, NaN where it is empty; other text and infinities are an error."""
        import polars as pl

        column = self.frame[name]
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            column = self.texts(name).str.strip_chars()
        numbers = column.cast(pl.Float64, strict=False)
        wrong = (numbers.is_null() & column.is_not_null()) | numbers.is_infinite().fill_null(False)
        self.refuse(wrong, lambda row: f"{column[row]!r} in column {name!r} is not a finite number", hint=hint)
        return numbers.fill_null(np.nan).to_numpy()


def format_of(path: Path, head: bytes) -> str:
    """Return the format of a table by its first bytes and its name: "parquet" (or Arrow), "json" or "delimited"."""
    ending = ending_of(path.name)
    if head.startswith(BINARY) or ending in BINARY_ENDINGS:
        return "parquet"
    is_json = ending in JSON_LINES or (ending not in SEPARATOR and head[:4096].lstrip()[:1] == b"{")
    return "json" if is_json else "delimited"


def table_blocks(
    path: Path, choose: Choose[T], *, whole: bool = False, scan: Scan[T] | None = None
) -> Iterator[tuple[TableRows, T]]:
    """Read a file by its first bytes and its name.

    whole: a text is one block.  scan: blocks of text that it takes are left out.
    """
    with opened(path) as file:
        head = file.read(-1 if whole else BLOCK).removeprefix(BOM)
        if (form := format_of(path, head)) == "parquet":
            yield from _parquet_blocks(path, head, choose)
        elif form == "json":
            yield from _json_blocks(path, row_blocks(file, head, path, separator=None), choose, scan)
        else:
            yield from _delimited_blocks(path, head, file, choose, scan)


def read_frame(path: Path, choose: Choose[Any] | None = None) -> TableRows:
    """Read a whole table; cells of a text stay text."""
    import polars as pl

    columns: dict[str, str] = {}

    def chosen(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        columns.update(choose(names, line)[0] if choose else dict.fromkeys(names, "String"))
        return columns, None

    parts = [rows for rows, _ in table_blocks(path, chosen, whole=True)]
    if not parts:
        return numbered(pl.DataFrame(schema=_schema(columns)), path)
    return TableRows(pl.concat([each.frame for each in parts]), np.concatenate([each.line for each in parts]), path)


def frame_of(source: Any, name: str) -> TableRows:
    """Take a frame of polars or pandas, or columns by name; lines count its rows from 1."""
    import polars as pl

    if not isinstance(source, Mapping):
        return numbered(as_polars(source, name), name)
    try:
        return numbered(pl.DataFrame({str(key): pl.Series(list(column)) for key, column in source.items()}), name)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        hint = "give columns of one length, each of one type"
        raise FormatError(name, None, f"the columns cannot be read ({error})", hint=hint) from None


def as_polars(frame: object, where: object) -> pl.DataFrame:
    """Return a data frame of polars or pandas, or a table of Arrow, as one of polars."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.partition(".")[0] == "pyarrow":
        _refuse_same_names(getattr(getattr(frame, "schema", None), "names", []), where)
        try:
            return pl.DataFrame(cast("Any", frame))
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise FormatError(where, None, f"the Arrow table cannot be read ({error})") from None
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        message = f"found {type(frame).__module__}.{type(frame).__qualname__}, expected a data frame"
        raise FormatError(
            where, None, message, hint="frames of polars and pandas and tables of Arrow are read; collect a LazyFrame"
        )
    table = cast("pd.DataFrame", frame)
    _refuse_same_names(table.columns, where)
    table = table.reset_index() if any(table.index.names) else table
    try:
        return pl.from_pandas(table)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        column = next((name for name in table.columns if not _is_readable(table[[name]])), "")
        message = f"column {str(column)[:60]!r} of the pandas frame cannot be read ({error})"
        raise FormatError(where, None, message, hint="turn it into text, or into numbers") from None


def _is_readable(table: pd.DataFrame) -> bool:
    """Return whether a frame of one column has a type that polars has."""
    import polars as pl

    try:
        pl.from_pandas(table)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return False
    return True


def _refuse_same_names(names: Iterable[object], where: object) -> None:
    """Raise where two columns have the same name."""
    for name, times in Counter(map(str, names)).items():
        if times > 1:
            hint = "rename or remove all but one of them"
            raise FormatError(where, None, f"{times} columns are called {name[:60]!r}", hint=hint)


def numbered(frame: pl.DataFrame, where: object, first: int = 1) -> TableRows:
    """Number the rows of a frame."""
    return TableRows(frame, np.arange(first, first + frame.height), where)


def frame_blocks(frame: pl.DataFrame, where: object, first: int = 1) -> Iterator[TableRows]:
    """Cut a frame into blocks of so many cells."""
    n_rows = max(CELLS // max(frame.width, 1), 1)
    for start in range(0, frame.height, n_rows):
        yield numbered(frame.slice(start, n_rows), where, first + start)


def _parquet_blocks(path: Path, head: bytes, choose: Choose[T]) -> Iterator[tuple[TableRows, T]]:
    """Read Parquet in slices."""
    if not head.startswith(BINARY):
        raise FormatError(path, None, f"is neither Parquet nor Arrow: it begins with {head[:4]!r}")
    found: list[T] = []

    def chosen(names: Sequence[str]) -> list[str]:
        types, about = choose(names, None)
        found.append(about)
        return list(types)

    start = 0
    with opened(path) as file:
        for part in parquet.blocks(path, file, chosen, n_rows=ROWS):
            yield from ((rows, found[0]) for rows in frame_blocks(part, path, start + 1))
            start += part.height


def _delimited_blocks(
    path: Path, head: bytes, file: BinaryIO, choose: Choose[T], scan: Scan[T] | None
) -> Iterator[tuple[TableRows, T]]:
    refuse_long_part(head, 0, path)
    layout = find_layout(head + b"\n", path, preferred=SEPARATOR.get(ending_of(path.name), ""))
    chosen, found = choose(layout.names, layout.line)
    types = {name: chosen.get(name, "String") for name in layout.names}
    form: dict[str, Any] = {"has_header": False, "separator": layout.separator}
    if len(chosen) < len(types):
        form["columns"] = sorted(layout.names.index(name) for name in chosen)
    line = head.count(b"\n", 0, layout.start)
    for block in row_blocks(file, head[layout.start :], path, separator=layout.separator, before=layout.start):
        quoted = has_quotes(block, layout.separator)
        refuse_bytes(block, line, path)
        before, line = line, line + _n_lines(block)
        if scan is not None and scan(block, Text(layout.names, layout.separator, quoted), found):
            continue
        text, number = checked_rows(block, before, layout._replace(quoted=quoted))
        if text:
            form["quote_char"] = '"' if quoted else None
            frame, types = _parsed(text, types, form)
            if frame.height != len(number):
                message = f"the rows from here on were read as {frame.height}, expected {len(number)}"
                raise FormatError(path, int(number[0]), message)
            yield TableRows(frame, number, path), found


def _parsed(text: bytes, types: dict[str, str], form: Mapping[str, Any]) -> tuple[pl.DataFrame, dict[str, str]]:
    """Parse rows; where cells are words, or wrong numbers, all cells are text from here on."""
    import polars as pl

    try:
        return pl.read_csv(text, schema=_schema(types), **form), types
    except pl.exceptions.ComputeError:
        types = dict.fromkeys(types, "String")
        return pl.read_csv(text, schema=_schema(types), **form), types


def _schema(types: Mapping[str, str]) -> dict[str, Any]:
    import polars as pl

    return {name: getattr(pl, kind) for name, kind in types.items()}


def _json_blocks(
    path: Path, blocks: Iterable[bytes], choose: Choose[T], scan: Scan[T] | None
) -> Iterator[tuple[TableRows, T]]:
    line = 0
    for block in blocks:
        refuse_bytes(block, line, path)
        before, line = line, line + _n_lines(block)
        if scan is not None and _json_scanned(block, choose, scan):
            continue
        import polars as pl

        frame, number = parsed(block, before, path)
        if frame.height:
            chosen, found = choose(frame.columns, int(number[0]))
            yield TableRows(pl.DataFrame([frame[name] for name in chosen]), number, path), found


def _json_scanned(block: bytes, choose: Choose[T], scan: Scan[T]) -> bool:
    """Let objects be scanned by the keys of the first ones; whether they were."""
    names = first_keys(block)
    try:
        return bool(names) and scan(block, Text(names), choose(names, None)[1])
    except FormatError:  # perhaps other objects have the key
        return False


def _n_lines(block: bytes) -> int:
    """Count line ends, several times as fast as ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == LF))


def row_blocks(
    file: BinaryIO, begun: bytes, path: object = "", *, separator: str | None, before: int = 0
) -> Iterator[bytes]:
    """Read an open file in blocks of whole rows, so that a table of any size needs the memory of one block.

    begun: what was read before, after so many bytes.  separator None: lines without quotes.
    Cost: one pass over the bytes.
    """
    rest = begun
    refuse_long_part(rest, 0, path, before=before)
    while more := file.read(max(BLOCK, len(rest))):
        data = rest + more
        refuse_long_part(data, rest.rfind(b"\n") + 1, path, before=before)
        end = last_row(data, quoted=separator is not None and has_quotes(data, separator))
        if end:
            yield data[:end]
        elif len(data) > LINES_OF_A_ROW * current().line_length:
            hint = "is there a quote that begins a field and none that ends it?"
            line = line_at(path, before) if isinstance(path, Path) else None
            raise over("line_length", path, line, f"a row of more than {len(data):,} bytes", hint=hint)
        rest, before = data[end:], before + end
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"

"""Tables as data frames, in blocks of whole rows: CSV, TSV, JSONL and Parquet files, and frames in memory.

**CSV and TSV.**  A field may be quoted as in RFC 4180; in a block where no field begins with a quote, quotes are plain
characters.  The structure is checked before anything is parsed, since the parser would fill up short rows: every row
has as many fields as the header, quotes enclose whole fields, the text is UTF-8.  Empty lines are left out.

**JSONL.**  One JSON object per line; objects may lack keys, and numbers become text as written.

Every row has its line, and its number from 1 in Parquet and in frames.  Cost: a few passes over the bytes; memory: that
of a block, besides what is kept.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar, cast

import numpy as np

from venire.data.ids import Category, Ids
from venire.errors import FormatError
from venire.io.limits import current, over
from venire.io.lines import BOM, line_at, opened, refuse_long_part
from venire.io.tables import parquet
from venire.io.tables.columns import JSON_LINES, PARQUET, SEPARATOR, ending_of, header_separator, header_start
from venire.results import counted
from venire.scan.slices import Slices, padded
from venire.types import Bools, Codes, Floats, Ints, Octets

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from _typeshed import WriteableBuffer

BLOCK = 1 << 24
"""Bytes of text that are parsed at once."""
ROWS, CELLS = 1 << 19, 1 << 22
"""Rows of Parquet that are read at once, and cells of Parquet and of frames that make a block."""
LF, CR, SPACE, QUOTE, BACKSLASH = 10, 13, 32, 34, 92
BRACKET = np.zeros(256, dtype=np.int8)
BRACKET[[ord("{"), ord("[")]], BRACKET[[ord("}"), ord("]")]] = 1, -1
KEY = re.compile(rb'"(?:[^"\\\n]|\\.)*+"(?=\s*+:)')
"""A key of a JSON object, or a text that looks like one."""
LINES_OF_A_ROW = 16
"""A row whose fields have line ends in quotes may be as long as so many lines."""
EXACT = 1 << 53
"""From here on not every integer is a float."""
NAMES_AT_ONCE = 1 << 20

T = TypeVar("T")
Choose = Callable[[Sequence[str], int | None], tuple[Mapping[str, Any], T]]
"""From the names of the columns and the line of the header (None: Parquet) to the columns that are read, with their
types in a text, and what the caller wants to know about them; raises where columns are missing."""


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
    """Return the format of a table by its first bytes and its name: "parquet", "json" or "delimited"."""
    ending = ending_of(path.name)
    if head.startswith(PARQUET) or ending == ".parquet":
        return "parquet"
    is_json = ending in JSON_LINES or (ending not in SEPARATOR and head[:4096].lstrip()[:1] == b"{")
    return "json" if is_json else "delimited"


def table_blocks(path: Path, choose: Choose[T], *, whole: bool = False) -> Iterator[tuple[TableRows, T]]:
    """Read a file by its first bytes and its name; whole: a text is one block."""
    with opened(path) as file:
        head = file.read(-1 if whole else BLOCK).removeprefix(BOM)
        if (form := format_of(path, head)) == "parquet":
            yield from _parquet_blocks(path, head, file, choose)
        elif form == "json":
            yield from _json_blocks(path, row_blocks(file, head, path, separator=None), choose)
        else:
            yield from _delimited_blocks(path, head, file, choose)


def read_frame(path: Path, choose: Choose[Any] | None = None) -> TableRows:
    """Read a whole table; cells of a text stay text."""
    import polars as pl

    columns: dict[str, Any] = {}

    def chosen(names: Sequence[str], line: int | None) -> tuple[Mapping[str, Any], None]:
        columns.update(choose(names, line)[0] if choose else dict.fromkeys(names, pl.String()))
        return columns, None

    parts = [rows for rows, _ in table_blocks(path, chosen, whole=True)]
    if not parts:
        return numbered(pl.DataFrame(schema=columns), path)
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
    """Return a data frame of polars or pandas as one of polars."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        message = f"found {type(frame).__module__}.{type(frame).__qualname__}, expected a data frame"
        raise FormatError(where, None, message, hint="polars and pandas DataFrames are read; collect a LazyFrame")
    table = cast("pd.DataFrame", frame)
    try:
        return pl.from_pandas(table.reset_index() if any(table.index.names) else table)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        message = f"the pandas frame cannot be read ({error})"
        raise FormatError(where, None, message, hint="turn columns of mixed types into text first") from None


def numbered(frame: pl.DataFrame, where: object, first: int = 1) -> TableRows:
    """Number the rows of a frame."""
    return TableRows(frame, np.arange(first, first + frame.height), where)


def frame_blocks(frame: pl.DataFrame, where: object, first: int = 1) -> Iterator[TableRows]:
    """Cut a frame into blocks of so many cells."""
    n_rows = max(CELLS // max(frame.width, 1), 1)
    for start in range(0, frame.height, n_rows):
        yield numbered(frame.slice(start, n_rows), where, first + start)


def _parquet_blocks(path: Path, head: bytes, file: BinaryIO, choose: Choose[T]) -> Iterator[tuple[TableRows, T]]:
    """Read Parquet in slices."""
    if not head.startswith(PARQUET):
        raise FormatError(path, None, f"is not Parquet: it begins with {head[:4]!r}, expected {PARQUET!r}")
    found: list[T] = []

    def chosen(names: Sequence[str]) -> list[str]:
        types, about = choose(names, None)
        found.append(about)
        return list(types)

    start, file = 0, at_start(file, head)
    for part in parquet.blocks(path, file, chosen, n_rows=ROWS):
        yield from ((rows, found[0]) for rows in frame_blocks(part, path, start + 1))
        start += part.height


def at_start(file: BinaryIO, head: bytes) -> BinaryIO:
    """Return an open file from its beginning; head: what was read of it, without byte order mark."""
    if file.seekable():
        file.seek(0)
        return file
    return cast("BinaryIO", io.BufferedReader(_Joined(head, file)))


class _Joined(io.RawIOBase):
    """Bytes, and then the rest of a file."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = memoryview(head), file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer).cast("B")
        data = self._head[: len(target)] or self._file.read(len(target))
        self._head = self._head[len(target) :]
        target[: len(data)] = data
        return len(data)


def _delimited_blocks(path: Path, head: bytes, file: BinaryIO, choose: Choose[T]) -> Iterator[tuple[TableRows, T]]:
    import polars as pl

    refuse_long_part(head, 0, path)
    layout = find_layout(head + b"\n", path, preferred=SEPARATOR.get(ending_of(path.name), ""))
    chosen, found = choose(layout.names, layout.line)
    types = {name: chosen.get(name, pl.String()) for name in layout.names}
    form: dict[str, Any] = {"has_header": False, "separator": layout.separator}
    if len(chosen) < len(types):
        form["columns"] = sorted(layout.names.index(name) for name in chosen)
    line = head.count(b"\n", 0, layout.start)
    for block in row_blocks(file, head[layout.start :], path, separator=layout.separator, before=layout.start):
        quoted = has_quotes(block, layout.separator)
        text, number = checked_rows(block, line, layout._replace(quoted=quoted))
        line += block.count(b"\n")
        if text:
            form["quote_char"] = '"' if quoted else None
            try:
                frame = pl.read_csv(text, schema=types, **form)
            except pl.exceptions.ComputeError:  # words, or wrong numbers: from here on all cells are text
                types = dict.fromkeys(types, pl.String())
                frame = pl.read_csv(text, schema=types, **form)
            if frame.height != len(number):
                message = f"the rows from here on were read as {frame.height}, expected {len(number)}"
                raise FormatError(path, int(number[0]), message)
            yield TableRows(frame, number, path), found


def _json_blocks(path: Path, blocks: Iterable[bytes], choose: Choose[T]) -> Iterator[tuple[TableRows, T]]:
    import polars as pl

    line = 0
    for block in blocks:
        refuse_bytes(block, line, path)
        lines, number = filled_lines(block)
        number += line + 1
        line += block.count(b"\n")
        if lines:
            lines, nested = without_nested(lines, number, path)
            frame = parsed_lines(lines, number, path)
            nothing = pl.Series([None], dtype=pl.Struct({"nested": pl.Null})).new_from_index(0, frame.height)
            frame = frame.with_columns(nothing.alias(name) for name in nested if name in frame.columns)
            chosen, found = choose(frame.columns, int(number[0]))
            yield TableRows(pl.DataFrame([frame[name] for name in chosen]), number, path), found


class Layout(NamedTuple):
    """The header of a text: its separator, names and line, whether fields are quoted, where the first row begins."""

    where: object
    separator: str
    quoted: bool
    names: list[str]
    line: int
    start: int


def find_layout(data: bytes, where: object, *, preferred: str = "") -> Layout:
    """Find the header after comments and empty lines, and the separator: the preferred one if the header has it."""
    start = header_start(data)
    end, line = data.find(b"\n", start), data.count(b"\n", 0, start) + 1
    separator = header_separator(data[start:end], preferred)
    quoted = has_quotes(data, separator, start)
    n_quotes = data.count(b'"', start, end) if quoted else 0
    while n_quotes % 2 and end >= 0:
        begin, end = end, data.find(b"\n", end + 1)
        n_quotes += data.count(b'"', begin, end)
    if end < 0:
        raise FormatError(where, line, "found no header line", hint="name the columns: topic,doc,assessor,label")
    return Layout(where, separator, quoted, _names(data[start:end], line, where, separator), line, end + 1)


def has_quotes(data: bytes, separator: str, start: int = 0) -> bool:
    """Return whether any field begins with a quote."""
    marks = (b'\n"', separator.encode() + b'"')
    return b'"' in data and (data.startswith(b'"', start) or any(data.find(mark, start) >= 0 for mark in marks))


def _names(header: bytes, line: int, where: object, separator: str) -> list[str]:
    """Split a header into the names of the columns, all of which differ."""
    refuse_bytes(header, line - 1, where)
    text = io.StringIO(header.decode("utf-8").removesuffix("\r"), newline="")
    try:
        names, *more = csv.reader(text, delimiter=separator)
    except csv.Error as error:
        raise FormatError(where, line, f"the header cannot be read ({error})") from None
    if len(names) > current().columns:
        raise over("columns", where, line, f"a header of {len(names):,} columns")
    if more:
        raise FormatError(where, line, "found lines that end in CR alone", hint="save the table with LF or CRLF")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        message = f"the header names column {name!r} {times} times"
        raise FormatError(where, line, message, hint="rename or remove all but one of them")
    return names


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
        end = _last_row(data, quoted=separator is not None and has_quotes(data, separator))
        if end:
            yield data[:end]
        elif len(data) > LINES_OF_A_ROW * current().line_length:
            hint = "is there a quote that begins a field and none that ends it?"
            line = line_at(path, before) if isinstance(path, Path) else None
            raise over("line_length", path, line, f"a row of more than {len(data):,} bytes", hint=hint)
        rest, before = data[end:], before + end
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _last_row(data: bytes, *, quoted: bool) -> int:
    """Return where the last whole row ends, at a line end outside quotes; 0 if there is none."""
    if not quoted:
        return data.rfind(b"\n") + 1
    text = np.frombuffer(data, dtype=np.uint8)
    newline = np.flatnonzero(text == LF)
    return int(newline[_outside(newline, np.flatnonzero(text == QUOTE))].max(initial=-1)) + 1


def _outside(place: Ints, quote: Ints) -> Bools:
    """Return whether each place has an even number of quotes before it."""
    return np.searchsorted(quote, place) % 2 == 0


def checked_rows(chunk: bytes, before: int, layout: Layout) -> tuple[bytes, Ints]:
    """Return the rows without empty lines, and each row's line; raise where the structure is not that of a table."""
    refuse_bytes(chunk, before, layout.where)
    text = np.frombuffer(chunk, dtype=np.uint8)
    newline = np.flatnonzero(text == LF)
    mark = np.flatnonzero((text == LF) | (text == ord(layout.separator)))
    if layout.quoted:
        quote = np.flatnonzero(text == QUOTE)
        _refuse_quotes(text, quote, newline, before, layout)
        mark = mark[_outside(mark, quote)]
    last = np.flatnonzero(text[mark] == LF)
    n_fields = np.diff(last, prepend=-1)
    end = mark[last]
    start = np.append(0, end[:-1] + 1)
    number = before + 1 + (np.searchsorted(newline, start) if layout.quoted else np.arange(len(end)))
    empty = (end == start) | ((end == start + 1) & (text[start] == CR))
    _refuse_ragged(n_fields, empty, number, layout)
    if empty.any():
        chunk = text[np.repeat(~empty, end + 1 - start)].tobytes()
    return chunk, number[~empty]


def refuse_bytes(chunk: bytes, before: int, where: object) -> None:
    """Raise at the first byte that is not UTF-8 text."""
    place, found = chunk.find(b"\0"), "a zero byte"
    try:
        if not chunk.isascii():
            chunk.decode("utf-8")
    except UnicodeDecodeError as error:
        place, found = error.start, f"the byte 0x{chunk[error.start]:02x}, which is not UTF-8"
    if place >= 0:
        line = before + chunk.count(b"\n", 0, place) + 1
        raise FormatError(where, line, f"found {found}", hint="save the table as UTF-8 text")


def _refuse_quotes(text: Octets, quote: Ints, newline: Ints, before: int, layout: Layout) -> None:
    """Raise at the first quote that neither begins nor ends a field nor is doubled in a quoted one."""
    ahead = np.where(quote > 0, text[quote - 1], LF)
    behind = text[np.minimum(quote + 1, len(text) - 1)]
    ends_line = (behind == CR) & (text[np.minimum(quote + 2, len(text) - 1)] == LF)
    allowed = np.array([ord(layout.separator), LF, QUOTE], dtype=np.uint8)
    opening = np.arange(len(quote)) % 2 == 0
    right = np.where(opening, np.isin(ahead, allowed), np.isin(behind, allowed) | ends_line)
    wrong = np.flatnonzero(~right)
    if len(quote) % 2:
        wrong = np.append(wrong, len(quote) - 1)
    if len(wrong):
        message = "found a quote that does not enclose a whole field"
        hint = 'write a field with quotes as "say ""hello"" twice"'
        raise FormatError(layout.where, before + 1 + int(np.searchsorted(newline, quote[wrong[0]])), message, hint=hint)


def _refuse_ragged(n_fields: Ints, empty: Bools, number: Ints, layout: Layout) -> None:
    """Raise at the first row that has more or fewer fields than the header."""
    wrong = np.flatnonzero((n_fields != len(layout.names)) & ~empty)
    if len(wrong):
        raise FormatError(
            layout.where,
            int(number[wrong[0]]),
            f"found {n_fields[wrong[0]]} fields, expected {len(layout.names)} as in the header "
            f"(line {layout.line}): {', '.join(layout.names[:12])}",
            hint="quote fields that contain the separator; empty fields need their separators too",
        )


def filled_lines(chunk: bytes) -> tuple[bytes, Ints]:
    """Return the lines that are not empty, without carriage returns, and their numbers from 0."""
    text = np.frombuffer(chunk.replace(b"\r\n", b"\n"), dtype=np.uint8)
    length = np.diff(np.flatnonzero(text == ord("\n")), prepend=-1)
    filled = length > 1
    return text[np.repeat(filled, length)].tobytes(), np.flatnonzero(filled)


def without_nested(lines: bytes, number: Ints, where: object) -> tuple[bytes, set[str]]:
    """Replace objects and lists of lists within objects by an empty text -> the lines, and the keys of those.

    The parser would infer a type for all that is nested in them, at a cost that grows fast with their depth.  Lists of
    texts or numbers stay.  Cost: one pass over the bytes, and where there are brackets besides those of each line's
    object a few more.
    """
    if lines.count(b"{") <= len(number) and b"[" not in lines:
        return lines, set()
    text = np.frombuffer(lines, dtype=np.uint8)
    quote = _real_quotes(text, lines)
    place = np.flatnonzero(BRACKET[text])
    ends = np.flatnonzero(text == LF)
    line = np.searchsorted(ends, place)
    before = np.searchsorted(quote, place)
    begun = np.append(0, np.searchsorted(quote, ends))  # quotes ahead of each line
    real = (before - begun[line]) % 2 == 0
    place, line = place[real], line[real]
    step = BRACKET[text[place]].astype(np.int64)
    depth = np.append(0, np.cumsum(step))
    depth = depth[1:] - depth[np.searchsorted(line, np.arange(len(number)))][line]
    most = current().json_depth
    if len(deep := np.flatnonzero(depth > most)):
        found = f"JSON nested more than {most} levels deep"
        raise over("json_depth", where, int(number[line[deep[0]]]), found, hint="write one flat object per line")
    opening = np.flatnonzero((step > 0) & (depth == 2))
    flat = (text[place[opening]] == ord("[")) & (np.append(depth, 0)[opening + 1] == 1)
    opening = opening[~flat]
    if len(opening) == 0:
        return lines, set()
    shallow = np.append(np.flatnonzero((depth <= 1) & (step < 0)), len(place))
    closing = shallow[np.searchsorted(shallow, opening)]
    whole = np.append(line, -1)[closing] == line[opening]
    start, end = place[opening[whole]], place[closing[whole]]
    return _blanked(text, start, end), set(_keys(lines, quote, start))


def _real_quotes(text: Octets, lines: bytes) -> Ints:
    """Return the places of quotes that begin or end a text: those after an even number of backslashes."""
    quote = np.flatnonzero(text == QUOTE)
    if b"\\" not in lines:
        return quote
    slash = np.flatnonzero(text == BACKSLASH)
    begins = np.append(True, np.diff(slash) > 1)
    run = np.cumsum(begins) - 1
    length = np.bincount(run)
    ends = slash[np.append(np.flatnonzero(begins)[1:] - 1, len(slash) - 1)]
    odd = ends[length % 2 == 1] + 1
    return quote[~np.isin(quote, odd, assume_unique=True)]


def _keys(lines: bytes, quote: Ints, value: Ints) -> list[str]:
    """Return the different keys of values that begin at these places: the text that ended last."""
    last = np.searchsorted(quote, value)
    last = last[last >= 2]
    raw = {
        lines[begin : end + 1] for begin, end in zip(quote[last - 2].tolist(), quote[last - 1].tolist(), strict=True)
    }
    found = []
    for key in raw:
        with suppress(ValueError):
            found.append(str(json.loads(key)))
    return found


def _blanked(text: Octets, start: Ints, end: Ints) -> bytes:
    """Write an empty text over each range of bytes, both ends included."""
    edge = np.zeros(len(text) + 1, dtype=np.int8)
    edge[start] += 1
    edge[end + 1] -= 1
    found = np.where(np.cumsum(edge[:-1], dtype=np.int8) > 0, np.uint8(SPACE), text)
    found[start], found[start + 1] = QUOTE, QUOTE
    return found.tobytes()


def parsed_lines(lines: bytes, number: Ints, where: object) -> pl.DataFrame:
    """Parse lines, none of them empty; number: that of each line, for errors."""
    import polars as pl

    counts = _key_counts(lines, number, where)
    try:
        frame = pl.read_ndjson(lines, infer_schema_length=None)
    except (pl.exceptions.PolarsError, RuntimeError) as error:
        raise _fault(lines, number, where, str(error)) from None
    if frame.height != len(number):
        raise _fault(lines, number, where, f"{counted(frame.height, 'object')} on {counted(len(number), 'line')}")
    _refuse_twice(lines, number, frame, where, counts)
    return frame


def _key_counts(lines: bytes, number: Ints, where: object) -> dict[bytes, int]:
    """Count how often the keys of the first object occur; raise where all keys are more than a table has columns.

    Each would be a whole column.  Where objects have no other keys than the first, counting them shows it.
    """
    most = current().columns
    names = set(islice(KEY.findall(lines[: lines.find(b"\n")]), most))
    counts = {name: lines.count(name) for name in names}
    if lines.count(b'":') <= sum(counts.values()):
        return counts
    seen: dict[bytes, None] = {}
    for found in KEY.finditer(lines):
        seen[found[0]] = None
        if len(seen) > most:
            line = int(number[min(lines.count(b"\n", 0, found.start()), len(number) - 1)])
            hint = "write topics, documents and labels as values, under a few keys"
            raise over("columns", where, line, f"more than {most:,} different keys", hint=hint)
    return counts


def _refuse_twice(lines: bytes, number: Ints, frame: pl.DataFrame, where: object, counts: Mapping[bytes, int]) -> None:
    """Raise at the first object that has a key twice; counts: how often some keys occur.

    Lines are parsed one by one only where there are more keys than values: not in a file without nulls.
    """
    names = {json.dumps(name, ensure_ascii=ascii).encode() for name in frame.columns for ascii in (True, False)}
    n_values = frame.height * frame.width - sum(frame.null_count().row(0))
    if sum(counts[name] if name in counts else lines.count(name) for name in names) <= n_values:
        return
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        if (fault := _twice(text, line, where)) is not None:
            raise fault


def _twice(text: bytes, line: int, where: object) -> FormatError | None:
    """Return the error for an object that has a key twice, if it does."""
    keys = [key for key, _ in json.loads(text, object_pairs_hook=list, parse_int=str)]
    twice = [key for key, times in Counter(keys).items() if times > 1]
    hint = "each object has one value for a key"
    return FormatError(where, line, f"the object has the key {twice[0]!r} twice", hint=hint) if twice else None


def _fault(lines: bytes, number: Ints, where: object, message: str) -> FormatError:
    """Return the error for the first line that is not a JSON object."""
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        shown = repr(text[:60].decode("utf-8", "replace"))
        try:
            found = json.loads(text, parse_int=str)
        except (ValueError, RecursionError) as error:
            return FormatError(where, line, f"{shown} is not JSON ({error})")
        if not isinstance(found, dict):
            return FormatError(where, line, f'found {shown}, expected an object like {{"topic": "51", ...}}')
        if (fault := _twice(text, line, where)) is not None:
            return fault
    return FormatError(where, int(number[0]), f"the lines from here on cannot be read ({message})")


def texts(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return the text of each cell, null where it is empty; line (row,) is for errors."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Object:
        message = f"column {column.name!r} holds {column.dtype}, expected text or numbers"
        raise FormatError(where, None, message, hint="rename the column if it is not to be read, or unnest it")
    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    if column.dtype.is_float():
        column = _digits(column, where, line)
    try:
        text = column.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise FormatError(where, None, f"column {column.name!r} is not text ({error})") from None
    return text.set(text == "", None)


def _digits(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return floats as text, whole ones without a fraction."""
    import polars as pl

    column = column.fill_nan(None)
    whole = (column == column.floor()).fill_null(False)
    wrong = (whole & (column.abs() >= EXACT)).arg_true()
    if len(wrong):
        message = f"{column[wrong[0]]} in column {column.name!r} may have lost its last digits"
        raise FormatError(where, int(line[wrong[0]]), message, hint="store such numbers as text or as integers")
    return column.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole, column.cast(pl.String))


def encoded(column: pl.Series, where: object, line: Ints) -> Category:
    """Encode a column of text without nulls; names come out in bytewise order.  O(n), and a sort of the names."""
    import polars as pl

    rows = column.alias("name").to_frame().with_row_index("row")
    first = rows.select(pl.col("row").min().over("name")).to_series().to_numpy()
    leading = np.flatnonzero(first == np.arange(len(first), dtype=first.dtype))
    names = column.gather(leading)
    order = names.arg_sort().to_numpy()
    code: Codes = np.empty(len(first), dtype=np.int32)
    code[leading[order]] = np.arange(len(order), dtype=np.int32)
    category = Category(code[first], packed(names.gather(order)))
    buffer, _, end = category.names.slices
    zero = np.flatnonzero(buffer[: end[-1]] == 0)
    if len(zero):
        wrong = int(np.searchsorted(end, zero[0], side="right"))
        row = int(np.argmax(category.codes == wrong))
        raise FormatError(where, int(line[row]), f"{column.name} {category.names[wrong]!r} has a zero byte")
    refuse_long_names(category, where, line, str(column.name))
    return category


def refuse_long_names(column: Category, where: object, line: Ints, what: str) -> None:
    """Raise at the first row whose name is longer than a field may be."""
    length = column.names.slices.end - column.names.slices.start
    if len(wrong := np.flatnonzero(length > current().field_length)):
        row = int(np.argmax(column.codes == wrong[0]))
        found = f"a field of {length[wrong[0]]:,} bytes ({what})"
        raise over("field_length", where, int(line[row]), found, hint="ids and labels are short")


def packed(names: pl.Series) -> Ids:
    """Pack a column of text into Ids."""
    parts = [names.slice(start, NAMES_AT_ONCE) for start in range(0, len(names), NAMES_AT_ONCE)]
    end = np.cumsum(names.str.len_bytes().to_numpy(), dtype=np.int64)
    start = np.append(0, end[:-1]) if len(end) else end
    return Ids(Slices(padded(b"".join(part.str.join("").item().encode() for part in parts)), start, end))

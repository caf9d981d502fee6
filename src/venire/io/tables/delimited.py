"""CSV and TSV: bytes into batches of text columns, each row with its line.

A field may be quoted as in RFC 4180; in a text where no field begins with a quote, quotes are plain characters.
The structure is checked before anything is parsed, since the parser would fill up short rows: every row has as many
fields as the header, quotes enclose whole fields, the text is UTF-8.  Empty lines are left out.
Cost: a few passes over the bytes; memory: that of a batch, besides the text and what is kept.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from venire.errors import FormatError
from venire.io.tables.cells import Batch, batch_of
from venire.io.tables.columns import Form, find_columns, header_separator, header_start
from venire.types import Bools, Ints, Octets

BATCH, WIDE_BATCH, BLOCK = 1 << 25, 1 << 23, 1 << 24
"""Bytes that are parsed at once, less of a wide table, where each byte may be an empty cell; and bytes of a block."""

LF, CR, QUOTE = 10, 13, 34


class Layout(NamedTuple):
    """The header of a text: its separator, names and line, whether fields are quoted, where the first row begins."""

    where: object
    separator: str
    quoted: bool
    names: list[str]
    line: int
    start: int


def read_delimited(data: bytes, form: Form, *, preferred: str = "") -> Iterator[Batch]:
    """Read a text with a header line, in batches of whole rows."""
    import polars as pl

    data = data if data.endswith(b"\n") else data + b"\n"
    layout = find_layout(data, form.where, preferred=preferred)
    columns = find_columns(layout.names, form, line=layout.line)
    schema = dict.fromkeys(layout.names, pl.String)
    quote, size = '"' if layout.quoted else None, WIDE_BATCH if columns.spread else BATCH
    start, line = layout.start, data.count(b"\n", 0, layout.start)
    while start < len(data):
        chunk = data[start : _batch_end(data, start, size, layout)]
        rows, number = checked_rows(chunk, line, layout)
        if rows:
            frame = pl.read_csv(rows, has_header=False, separator=layout.separator, quote_char=quote, schema=schema)
            if frame.height != len(number):
                message = f"the rows from here on were read as {frame.height}, expected {len(number)}"
                raise FormatError(form.where, int(number[0]), message)
            yield batch_of(frame, columns, number)
        start, line = start + len(chunk), line + chunk.count(b"\n")


def find_layout(data: bytes, where: object, *, preferred: str = "") -> Layout:
    """Find the header after comments and empty lines, and the separator: the preferred one if the header has it."""
    start = header_start(data)
    end, line = data.find(b"\n", start), data.count(b"\n", 0, start) + 1
    separator = header_separator(data[start:end], preferred)
    quoted = has_quotes(data, separator, start)
    while quoted and end >= 0 and data.count(b'"', start, end) % 2:
        end = data.find(b"\n", end + 1)
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
    if more:
        raise FormatError(where, line, "found lines that end in CR alone", hint="save the table with LF or CRLF")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        message = f"the header names column {name!r} {times} times"
        raise FormatError(where, line, message, hint="rename or remove all but one of them")
    return names


def row_blocks(file: BinaryIO, begun: bytes, *, separator: str | None) -> Iterator[bytes]:
    """Read an open file in blocks of whole rows, so that a table of any size needs the memory of one block.

    begun: what was read before.  separator None: lines without quotes.  Cost: one pass over the bytes.
    """
    rest = begun
    while more := file.read(max(BLOCK, len(rest))):
        data = rest + more
        end = _last_row(data, quoted=separator is not None and has_quotes(data, separator))
        if end:
            yield data[:end]
        rest = data[end:]
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _batch_end(data: bytes, start: int, size: int, layout: Layout) -> int:
    """Return where a batch ends that starts here: after the last row that fits, or after the first if none does."""
    while start + size < len(data):
        end = _last_row(data[start : start + size], quoted=layout.quoted)
        if end:
            return start + end
        size *= 2
    return len(data)


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
        raise FormatError(
            layout.where,
            before + 1 + int(np.searchsorted(newline, quote[wrong[0]])),
            "found a quote that does not enclose a whole field",
            hint='write a field with quotes as "say ""hello"" twice"',
        )


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

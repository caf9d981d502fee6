"""CSV and TSV: the header, whole rows, and a structure that is checked before anything is parsed.

A field may be quoted as in RFC 4180; in a block where no field begins with a quote, quotes are plain characters.  The
structure is checked first, since the parser would fill up short rows: every row has as many fields as the header,
quotes enclose whole fields, the text is UTF-8.  Empty lines are left out.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import NamedTuple

import numpy as np

from venire.errors import FormatError
from venire.io.limits import current, over
from venire.io.tables.columns import header_separator, header_start
from venire.types import Bools, Ints, Octets

LF, CR, QUOTE = b'\n\r"'


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


def last_row(data: bytes, *, quoted: bool) -> int:
    """Return where the last whole row ends, at a line end outside quotes; 0 if there is none."""
    end = data.rfind(b"\n") + 1
    if not quoted or data.count(b'"', 0, end) % 2 == 0:
        return end
    text = np.frombuffer(data, dtype=np.uint8)
    newline = np.flatnonzero(text == LF)
    return int(newline[_outside(newline, np.flatnonzero(text == QUOTE))].max(initial=-1)) + 1


def _outside(place: Ints, quote: Ints) -> Bools:
    """Return whether each place has an even number of quotes before it."""
    return np.searchsorted(quote, place) % 2 == 0


def checked_rows(chunk: bytes, before: int, layout: Layout) -> tuple[bytes, Ints]:
    """Return the rows without empty lines, and each row's line; raise where the structure is not that of a table.

    chunk: UTF-8 without zero bytes.
    """
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

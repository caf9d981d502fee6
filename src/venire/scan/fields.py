"""Bytes of white-space separated lines into columns: where each field starts and ends.

Separators are space and tab, in any number; a line ends in LF or CRLF; empty lines, and lines whose first byte
is ``#``, hold no fields.  The usual file has single separators throughout and is split by reshaping the
positions of its white space; any other is split token by token, which is slower and gives the same answer.
Cost: a few passes over the bytes; memory: 16 bytes per field.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.scan.slices import PADDING, Slices
from venire.types import Bools, Ints, Octets

TAB, LF, VT, FF, CR, SPACE, HASH = 9, 10, 11, 12, 13, 32, 35

LONGEST_LINE = 1 << 30
"""Number of bytes of the longest line that can be split, its end not counted; readers have lower limits."""


class Fault(NamedTuple):
    """The first thing that is wrong: ``kind`` on the line with this number (from 0), and a figure.

    kind: "control" (the byte), "long" (the length of the line), "columns" (their number), "many" (more lines than can
    be counted), "rank" and "score" (not a finite number), "twice" (a document).  The first of these counts on a line.
    """

    line: int
    kind: str
    detail: int = 0


class Fields(NamedTuple):
    """A table of slices: before and end (row, column), line (row,), the number of lines, and the first fault.

    ``before`` is the place before a field's first byte, ``end`` the place after its last.
    """

    buffer: Octets
    before: Ints
    end: Ints
    line: Ints
    n_lines: int
    fault: Fault | None = None

    def column(self, number: int) -> Slices:
        """Return one column as slices."""
        return Slices(self.buffer, self.before[:, number] + 1, np.ascontiguousarray(self.end[:, number]))

    def take(self, rows: Ints | Bools) -> Fields:
        """Choose some of the rows, in the order given."""
        return self._replace(before=self.before[rows], end=self.end[rows], line=self.line[rows])


def split(buffer: Octets, n_columns: int, *, longest_line: int = LONGEST_LINE) -> Fields:
    """Split lines into fields.

    buffer (byte,) holds whole lines, the last one ended too, and PADDING zeros -> Fields (row, n_columns).
    At the first line with another number of fields, with a byte that no text holds, or longer than longest_line,
    splitting stops: that line is the fault, the rows are those before it.
    """
    fields = _split_regular(buffer, n_columns)
    if fields is None or (fields.end[:, -1] - fields.before[:, 0] - 1 > longest_line).any():
        return _split_tokens(buffer, n_columns, longest_line)
    return fields


def _split_regular(buffer: Octets, n_columns: int) -> Fields | None:
    """Split where every line is n_columns fields with one separator after each; None where that is not so."""
    text = buffer[: len(buffer) - PADDING]
    blank = text <= SPACE
    place = np.flatnonzero(blank)
    n_rows, rest = divmod(len(place), n_columns)
    if rest or n_rows == 0 or blank[0] or (blank[1:] & blank[:-1]).any():
        return None
    edge = np.empty(len(place) + 1, dtype=np.int64)
    edge[0] = -1
    edge[1:] = place
    before, end = edge[:-1].reshape(n_rows, n_columns), edge[1:].reshape(n_rows, n_columns)
    n_control = np.count_nonzero(text < SPACE)
    if n_control != n_rows:
        n_control -= np.count_nonzero(text == TAB)
    if n_control != n_rows or (text[end[:, -1]] != LF).any() or (text[before[:, 0] + 1] == HASH).any():
        return None
    return Fields(buffer, before, end, np.arange(n_rows), n_rows)


def _split_tokens(buffer: Octets, n_columns: int, longest_line: int) -> Fields:
    """Split any text, token by token."""
    text = buffer[: len(buffer) - PADDING]
    newline = np.flatnonzero(text == LF)
    control = (text < SPACE) & ~np.isin(text, np.array([TAB, LF, VT, FF, CR], dtype=np.uint8))
    inside = (text > SPACE) | control
    edge = np.diff(inside.view(np.int8), prepend=np.int8(0), append=np.int8(0))
    start, end = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1)
    line = np.searchsorted(newline, start)
    count = np.bincount(line, minlength=len(newline))
    line_start = np.concatenate([np.zeros(1, dtype=np.int64), newline[:-1] + 1])[: len(newline)]
    comment = text[line_start] == HASH if len(newline) else np.zeros(0, dtype=np.bool_)
    faults = [
        Fault(int(np.searchsorted(newline, place)), "control", int(text[place]))
        for place in np.flatnonzero(control)[:1]
    ]
    length = newline - line_start
    faults += [Fault(int(number), "long", int(length[number])) for number in np.flatnonzero(length > longest_line)[:1]]
    wrong = np.flatnonzero((count != n_columns) & (count > 0) & ~comment)
    faults += [Fault(int(number), "columns", int(count[number])) for number in wrong[:1]]
    fault = min(faults, key=lambda each: each.line, default=None)
    used = ~comment[line] & (line < (fault.line if fault else len(newline)))
    shape = (-1, n_columns)
    start, end, line = start[used].reshape(shape), end[used].reshape(shape), line[used].reshape(shape)
    return Fields(buffer, start - 1, end, line[:, 0], len(newline), fault)

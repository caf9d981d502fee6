"""Bytes of white-space separated lines into columns: where each field starts and ends.

Separators are space and tab, in any number; a line ends in LF or CRLF; empty lines, and lines whose first byte
is ``#``, hold no fields.  The usual file has single separators throughout and is split by reshaping the
positions of its white space; any other is split token by token, which is slower and gives the same answer.
Cost: a few passes over the bytes; memory: 16 bytes per field.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.kernels.slices import PADDING, Slices
from venire.types import Bools, Ints, Octets

TAB, LF, VT, FF, CR, SPACE, HASH = 9, 10, 11, 12, 13, 32, 35


class Fault(NamedTuple):
    """The first thing that is wrong: ``kind`` on the line with this number (from 0), and a figure or place."""

    line: int
    kind: str
    detail: int = 0


class Fields(NamedTuple):
    """A table of slices: start and end (row, column), the line each row stood on (row,), and the first fault."""

    buffer: Octets
    start: Ints
    end: Ints
    line: Ints
    fault: Fault | None = None

    def column(self, number: int) -> Slices:
        """Return one column as slices."""
        return Slices(
            self.buffer,
            np.ascontiguousarray(self.start[:, number]),
            np.ascontiguousarray(self.end[:, number]),
        )

    def take(self, rows: Ints | Bools) -> Fields:
        """Choose some of the rows, in the order given."""
        return Fields(self.buffer, self.start[rows], self.end[rows], self.line[rows], self.fault)


def split(buffer: Octets, n_columns: int) -> Fields:
    """Split lines into fields.

    buffer (byte,) holds whole lines, the last one ended too, and PADDING zeros -> Fields (row, n_columns).
    At the first line with another number of fields, or with a byte that no text holds, splitting stops: that
    line is the fault, the rows are those before it.
    """
    text = buffer[: len(buffer) - PADDING]
    blank = np.flatnonzero(text <= SPACE)
    return _split_regular(buffer, text, blank, n_columns) or _split_tokens(buffer, text, n_columns)


def _split_regular(buffer: Octets, text: Octets, blank: Ints, n_columns: int) -> Fields | None:
    """Split where every line is n_columns fields with one separator after each; None where that is not so."""
    if len(blank) == 0 or len(blank) % n_columns:
        return None
    after = np.empty(len(blank), dtype=np.int64)
    after[0] = 0
    np.add(blank[:-1], 1, out=after[1:])
    if (after == blank).any():
        return None
    start, end = after.reshape(-1, n_columns), blank.reshape(-1, n_columns)
    separator = text[end]
    inner = separator[:, :-1]
    regular = (separator[:, -1] == LF).all() and ((inner == SPACE) | (inner == TAB)).all()
    if not regular or (text[start[:, 0]] == HASH).any():
        return None
    return Fields(buffer, start, end, np.arange(len(end)))


def _split_tokens(buffer: Octets, text: Octets, n_columns: int) -> Fields:
    """Split any text, token by token."""
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
    wrong = np.flatnonzero((count != n_columns) & (count > 0) & ~comment)
    faults += [Fault(int(number), "columns", int(count[number])) for number in wrong[:1]]
    fault = min(faults, default=None)
    used = ~comment[line] & (line < (fault.line if fault else len(newline)))
    shape = (-1, n_columns)
    start, end, line = start[used].reshape(shape), end[used].reshape(shape), line[used].reshape(shape)
    return Fields(buffer, start, end, line[:, 0], fault)

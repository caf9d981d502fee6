"""Columns of text as codes, and rows in the order of codes: compiled where there is a compiler, else with numpy.

A column comes in blocks, as Arrow arrays of any library (``__arrow_c_stream__``), which are read where they are; only
names that are new are copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from venire.scan import slices
from venire.scan.codes import COMPILED, in_threads, n_threads, shares
from venire.scan.slices import PADDING, Slices, behind_each_other, bytewise_order, compact, from_bytes
from venire.types import Codes, Ints

if COMPILED:
    from venire.scan import _scan

Found = TypeVar("Found")


class Column(Protocol):
    """A column of text that Arrow can hand over."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the column as a stream of arrays."""

    def to_list(self) -> list[str | None]:
        """Return the cells, None where they are empty."""


class Names:
    """Distinct names of a column, numbered as they come."""

    def __init__(self, *, compiled: bool = COMPILED) -> None:
        self._twin = _scan.Names(slices.SEED) if compiled else None
        self._known: dict[bytes, int] = {}

    def add(self, column: Column) -> Codes:
        """Number the cells of a block -> (row,), -1 where they are null."""
        if self._twin is not None:
            return np.frombuffer(self._twin.add(column.__arrow_c_stream__()), dtype=np.int32)
        known = self._known
        cells = (None if cell is None else cell.encode() for cell in column.to_list())
        return np.array([-1 if cell is None else known.setdefault(cell, len(known)) for cell in cells], dtype=np.int32)

    def table(self) -> _scan.Names:
        """Return the compiled table, which other compiled functions add names to."""
        if self._twin is None:
            raise RuntimeError("there is no compiled table")
        return self._twin

    def all(self) -> Slices:
        """Return the names in the order of their numbers."""
        if self._twin is None:
            return from_bytes(self._known)
        data, ends = self._twin.all()
        return behind_each_other(np.frombuffer(data, dtype=np.uint8), np.frombuffer(ends, dtype=np.int64))


def in_byte_order(names: Slices) -> tuple[Codes, Slices]:
    """Sort distinct names bytewise: the place of each (name,), and the sorted names."""
    order = bytewise_order(names)
    return _places(order), compact(names, order)


def _places(order: Ints) -> Codes:
    """Return the place of each in an order."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place


def names_in_groups(group: Codes, n_groups: int, names: Slices, *, compiled: bool = COMPILED) -> tuple[Codes, Slices]:
    """Sort names by their group (name,), and bytewise within it: the place of each (name,), and the sorted names."""
    if not compiled:
        place, by_bytes = in_byte_order(names)
        order = np.lexsort((place, group))
        return _places(order), compact(by_bytes, place[order])
    start, last = np.ascontiguousarray(names.start), np.ascontiguousarray(names.end)
    codes, size = np.ascontiguousarray(group, dtype=np.int32), int((names.end - names.start).sum())
    place, end = np.empty(len(group), dtype=np.int32), np.empty(len(group), dtype=np.int64)
    buffer = np.empty(size + PADDING, dtype=np.uint8)
    buffer[size:] = 0
    _by_range(
        lambda cut: _scan.ordered_names(codes, *cut, names.buffer, start, last, place, buffer, end),
        n_groups,
        len(group),
    )
    return place, behind_each_other(buffer, end)


def ordered_rows(major: Codes, minor: Codes, n_groups: int, *, compiled: bool = COMPILED) -> Codes | Ints:
    """Order rows by major, below n_groups, and then by minor; those that agree in both stay in their order -> (row,).

    Cost: O(rows + groups) where groups are small.
    """
    if not compiled:
        return np.lexsort((minor, major))
    first, second = np.ascontiguousarray(major, dtype=np.int32), _as_codes(minor)
    rows = np.empty(len(first), dtype=np.int32)
    _by_range(
        lambda cut: _scan.ordered_rows(first, second, None, n_groups, *cut, None, None, rows), n_groups, len(first)
    )
    return rows


def sorted_rows(
    major: Codes, minor: Codes, carried: Codes, n_groups: int, *, compiled: bool = COMPILED
) -> tuple[Codes, Codes, Codes] | None:
    """Sort rows by major, below n_groups, and then by minor, as int32, each (row,); None where two agree in both.

    A row is written where it belongs with all that it has, so that no column is gathered afterwards.
    Cost: O(rows + groups) where groups are small.
    """
    if not compiled:
        rows = np.lexsort((minor, major))
        first, second, third = (each[rows].astype(np.int32) for each in (major, minor, carried))
        repeated = (first[1:] == first[:-1]) & (second[1:] == second[:-1])
        return None if repeated.any() else (first, second, third)
    columns = np.ascontiguousarray(major, dtype=np.int32), _as_codes(minor), _as_codes(carried)
    to = (np.empty(len(major), np.int32), np.empty(len(major), np.int32), np.empty(len(major), np.int32))
    again = _by_range(lambda cut: _scan.ordered_rows(*columns, n_groups, *cut, *to), n_groups, len(major))
    return None if any(again) else to


def _as_codes(column: Codes) -> Codes:
    """Return integers of at most 32 bits, one after the other."""
    return np.ascontiguousarray(column, dtype=column.dtype if column.dtype.itemsize <= 4 else np.int32)


def _by_range(order: Callable[[tuple[int, int]], Found], n_groups: int, n_rows: int) -> list[Found]:
    """Order the rows of ranges of groups, each by a thread."""
    threads = n_threads(n_rows)
    return in_threads(order, shares(n_groups, threads), threads)

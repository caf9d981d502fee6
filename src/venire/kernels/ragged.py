"""Ragged arrays as padded blocks of rows of similar length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from venire.types import Ints


def offsets(counts: Ints) -> Ints:
    """Where each row starts in a flat array, and where the last ends; counts (row,) -> (row + 1,)."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])


def copied(times: Ints) -> tuple[Ints, Ints]:
    """Repeat rows: the number of the row of each copy, and of the copy within its row; times (row,) -> (copy,) both."""
    row = np.repeat(np.arange(len(times)), times)
    return row, np.arange(len(row)) - offsets(times)[row]


def blocks(counts: Ints, *, cells: int) -> Iterator[tuple[Ints, int]]:
    """Distribute rows over blocks, longest first: (numbers of the rows, width of the block).

    A block has at most ``cells`` cells (or one row), and is cut where rows get shorter than half its width.
    """
    order = np.argsort(-counts, kind="stable")
    start = 0
    while start < len(order):
        width = int(counts[order[start]])
        most = max(1, cells // max(width, 1))
        rows = order[start : start + most]
        wide = counts[rows] * 2 >= width
        rows = rows[: int(np.argmin(wide))] if not wide.all() else rows
        yield rows, width
        start += len(rows)


def gather(start: Ints, counts: Ints, width: int, *, padding: int) -> Ints:
    """Positions of each row's cells in the flat array, then ``padding``; start, counts (row,) -> (row, width)."""
    cell = np.arange(width)
    return np.where(cell < counts[:, None], start[:, None] + cell, padding)

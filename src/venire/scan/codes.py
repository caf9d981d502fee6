"""Columns of codes of 8, 16 or 32 bits: compiled where there is a compiler, else with numpy.

numpy widens codes to 64 bits before it uses them as an index or counts them; with many rows that takes more time and
memory than the work itself.  The compiled functions read codes as they are, and gather with as many threads as cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from venire.types import Codes, Ints, Places

try:
    from venire.scan import _scan
except ImportError:
    COMPILED = False
else:
    COMPILED = True

Number = TypeVar("Number", bound=np.generic)
Part = TypeVar("Part")
Found = TypeVar("Found")
MANY = 1 << 22
"""Rows from which on several threads gather."""


def gather(table: NDArray[Number], codes: Places, *, compiled: bool = COMPILED) -> NDArray[Number]:
    """Return ``table[codes]``; table (name,) of numbers, codes (row,), or whatever else numpy takes as an index."""
    kind = getattr(codes, "dtype", None)  # a list or a slice has none
    if not compiled or kind is None or kind.kind != "i" or kind.itemsize > 4:
        return table[codes]
    table, index = np.ascontiguousarray(table), np.ascontiguousarray(codes)
    found = np.empty(len(codes), dtype=table.dtype)
    cuts = shares(len(index), threads := n_threads(len(index)))
    in_threads(lambda cut: _scan.gathered(table, index[slice(*cut)], found[slice(*cut)]), cuts, threads)
    return found


def n_threads(n_rows: int) -> int:
    """Return how many threads to use for so many rows."""
    return (os.cpu_count() or 1) if n_rows >= MANY else 1


def shares(n: int, parts: int) -> list[tuple[int, int]]:
    """Divide n into parts of nearly the same size: where each begins and ends."""
    return list(pairwise(n * part // parts for part in range(parts + 1)))


def in_threads(function: Callable[[Part], Found], parts: Sequence[Part], threads: int) -> list[Found]:
    """Apply a function that releases the interpreter lock to parts."""
    if threads == 1:
        return [function(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, parts))


def count(codes: Codes, n_names: int, *, compiled: bool = COMPILED) -> Ints:
    """Count how often each code occurs -> (name,)."""
    if not compiled or codes.dtype.itemsize > 4:
        return np.bincount(codes, minlength=n_names)
    return np.frombuffer(_scan.counted(np.ascontiguousarray(codes), n_names), dtype=np.int32).astype(np.int64)


def homes(group: Codes, codes: Codes, n_names: int, *, compiled: bool = COMPILED) -> Codes | None:
    """Return the one group in which each code occurs -> (name,), -1 for none; None if one occurs in two groups."""
    if compiled:
        found = _scan.homes(np.ascontiguousarray(group), np.ascontiguousarray(codes), n_names)
        return None if found is None else np.frombuffer(found, dtype=np.int32)
    home = np.full(n_names, -1, dtype=np.int32)
    home[codes] = group
    return home if bool((home[codes] == group).all()) else None

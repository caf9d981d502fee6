"""Columns of codes of 8, 16 or 32 bits: compiled where there is a compiler, else with numpy.

numpy widens codes to 64 bits before it uses them as an index or counts them; with many rows that takes more time and
memory than the work itself.  The compiled functions read codes as they are, and gather with as many threads as cores.
"""

from __future__ import annotations

import os
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
MANY = 1 << 22
"""Rows from which on several threads gather."""


def gather(table: NDArray[Number], codes: Places, *, compiled: bool = COMPILED) -> NDArray[Number]:
    """Return ``table[codes]``; table (name,) of numbers, codes (row,)."""
    if not compiled or codes.dtype.kind != "i" or codes.dtype.itemsize > 4:
        return table[codes]
    table, index = np.ascontiguousarray(table), np.ascontiguousarray(codes)
    found = np.empty(len(codes), dtype=table.dtype)
    if len(codes) < MANY:
        _scan.gathered(table, index, found)
        return found
    from concurrent.futures import ThreadPoolExecutor

    cuts = np.linspace(0, len(codes), (os.cpu_count() or 1) + 1).astype(np.int64).tolist()
    parts = [slice(*cut) for cut in pairwise(cuts)]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: _scan.gathered(table, index[part], found[part]), parts))
    return found


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

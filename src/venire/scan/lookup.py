"""Finding byte strings among known ones: a filter, a table of hashes, and verified bytes.

Most documents of a run were never judged.  A small filter excludes nearly all of them; the others are looked up by hash
in a sorted table and then compared byte for byte, so that collisions of hashes have no effect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.scan.slices import Slices, equal, hashes
from venire.types import Bools, Codes, Ints, Words

_MIX = np.uint64(0xC2B2AE3D27D4EB4F)


class Index(NamedTuple):
    """Known pairs (group, slice), numbered; ``order`` leads from the sorted hashes to the numbers."""

    slices: Slices
    group: Codes
    hashes: Words
    order: Ints
    most_alike: int
    filter: Bools
    shift: np.uint64


def build_index(group: Codes, slices: Slices) -> Index:
    """Make the index of pairs (group (n,), slice (n,)); a pair's number is its position.  O(n log n)."""
    keys = grouped(hashes(slices), group)
    order = np.argsort(keys)
    ordered = keys[order]
    bits = max(10, len(keys).bit_length() + 3)
    shift = np.uint64(64 - bits)
    present = np.zeros(1 << bits, dtype=np.bool_)
    present[(keys >> shift).view(np.int64)] = True
    return Index(slices, group, ordered, order, _longest_run(ordered), present, shift)


def grouped(hashed: Words, group: Codes | Ints) -> Words:
    """Mix a group number into each hash."""
    mixed = (hashed ^ group.astype(np.uint64)) * _MIX
    return mixed ^ (mixed >> np.uint64(31))


def find(index: Index, group: Codes, slices: Slices, hashed: Words) -> Codes:
    """Number of each pair (group (n,), slice (n,)) in the index, -1 if unknown -> (n,)."""
    keys = grouped(hashed, group)
    number = np.full(len(keys), -1, dtype=np.int32)
    maybe = np.flatnonzero(index.filter[(keys >> index.shift).view(np.int64)])
    if len(maybe) == 0 or len(index.order) == 0:
        return number
    place = np.searchsorted(index.hashes, keys[maybe])
    for step in range(index.most_alike):
        candidate = index.order[np.minimum(place + step, len(index.order) - 1)]
        same = group[maybe] == index.group[candidate]
        rows, found = maybe[same], candidate[same]
        alike = equal(slices.take(rows), index.slices.take(found))
        number[rows[alike]] = found[alike]
    return number


def _longest_run(ordered: Words) -> int:
    """Length of the longest run of equal values; 1 unless two known strings share a hash."""
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] + np.uint64(1)))
    return int(np.diff(starts, append=len(ordered)).max(initial=1))

"""Byte strings as slices of one buffer: hashed, compared, encoded and ordered eight bytes at a time.

A run file of seven million lines holds seven million document ids, and none becomes a Python object here.  A slice is
a start and an end in a buffer of bytes, and its *words* are its bytes taken eight at a time, zero after its end.  No
slice holds a zero byte, so two slices are equal exactly when their words are, and big-endian words compare as the bytes
do.

Every function costs O(n * ceil(longest / 8)) and copies only what it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from venire.types import Bools, Codes, Ints, Octets, Places, Words

PADDING = 8
"""Number of zero bytes after the last slice of a buffer, so that every word can be read whole."""

_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
COPIED_AT_ONCE = 1 << 13


class Slices(NamedTuple):
    """Byte strings ``buffer[start:end]``; buffer (byte,) ends in PADDING zeros, start and end (n,)."""

    buffer: Octets
    start: Ints
    end: Ints

    def take(self, which: Places) -> Slices:
        """Choose some of the slices, in the order given."""
        return Slices(self.buffer, self.start[which], self.end[which])

    def at(self, position: int) -> bytes:
        """Return one slice as bytes."""
        return self.buffer[self.start[position] : self.end[position]].tobytes()

    def to_bytes(self) -> list[bytes]:
        """Return every slice as bytes; for small numbers of slices."""
        whole = self.buffer.tobytes()
        return [whole[a:b] for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]


def padded(data: bytes) -> Octets:
    """Return bytes as an array followed by PADDING zeros."""
    return np.frombuffer(data + bytes(PADDING), dtype=np.uint8)


def from_bytes(values: Iterable[bytes]) -> Slices:
    """Concatenate byte strings in a new buffer."""
    parts = list(values)
    end = np.cumsum([len(part) for part in parts], dtype=np.int64)
    start = np.concatenate([np.zeros(1, dtype=np.int64), end[:-1]]) if parts else end
    return Slices(padded(b"".join(parts)), start, end)


def compact(slices: Slices) -> Slices:
    """Copy the slices into a buffer of their own, a few thousand at a time to bound memory."""
    length = slices.end - slices.start
    end = np.cumsum(length)
    start = end - length
    size = int(end[-1]) if len(end) else 0
    buffer = np.zeros(size + PADDING, dtype=np.uint8)
    for first in range(0, len(end), COPIED_AT_ONCE):
        some = slice(first, first + COPIED_AT_ONCE)
        here = slice(int(start[first]), int(end[some][-1]))
        source = np.repeat(slices.start[some] - start[some], length[some]) + np.arange(here.start, here.stop)
        buffer[here] = slices.buffer[source]
    return Slices(buffer, start, end)


def concatenate(parts: Iterable[Slices]) -> Slices:
    """Concatenate several sets of slices in one buffer."""
    buffers, starts, ends, offset = [], [], [], 0
    for part in map(compact, parts):
        buffers.append(part.buffer[: len(part.buffer) - PADDING])
        starts.append(part.start + offset)
        ends.append(part.end + offset)
        offset += len(buffers[-1])
    nothing = np.zeros(0, dtype=np.int64)
    buffer = np.concatenate([*buffers, np.zeros(PADDING, dtype=np.uint8)])
    return Slices(buffer, np.concatenate([nothing, *starts]), np.concatenate([nothing, *ends]))


def words(slices: Slices) -> Iterator[Words]:
    """Yield the first word of every slice, then the second, ... until the longest has ended; each (n,)."""
    buffer, start, end = slices
    unaligned = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    length = end - start
    longest = int(length.max(initial=0))
    shortest = int(length.min(initial=longest))
    last = len(buffer) - PADDING
    for offset in range(0, longest, 8):
        if shortest >= offset + 8:
            yield unaligned[start + offset]
        elif shortest == longest:
            yield unaligned[start + offset] & _KEEP[longest - offset]
        else:
            place = np.minimum(start + offset, last)
            yield unaligned[place] & _KEEP[np.clip(length - offset, 0, 8)]


def hashes(slices: Slices) -> Words:
    """Hash every slice to 64 bits, independently of the other slices."""
    length = slices.end - slices.start
    shortest = int(length.min()) if len(length) else 0
    mixed = np.full(len(length), _MIX)
    for number, word in enumerate(words(slices)):
        further = (mixed ^ word) * _MIX
        further ^= further >> _SHIFT
        mixed = further if 8 * number < shortest else np.where(length > 8 * number, further, mixed)
    mixed *= _MIX
    return mixed ^ (mixed >> _SHIFT)


def equal(a: Slices, b: Slices) -> Bools:
    """Compare two equally long sets of slices one by one, byte for byte."""
    same = (a.end - a.start) == (b.end - b.start)
    if not same.all():
        return _scatter(same, equal(a.take(same), b.take(same)))
    for left, right in zip(words(a), words(b), strict=True):
        same &= left == right
    return same


def _scatter(where: Bools, values: Bools) -> Bools:
    result = where.copy()
    result[where] = values
    return result


def changes(slices: Slices) -> Bools:
    """Mark every slice that differs from the one before it; the first is marked."""
    changed = np.ones(len(slices.start), dtype=np.bool_)
    length = slices.end - slices.start
    np.not_equal(length[1:], length[:-1], out=changed[1:])
    for word in words(slices):
        changed[1:] |= word[1:] != word[:-1]
    return changed


def encode(slices: Slices) -> tuple[Codes, Ints]:
    """Number the distinct slices: codes (n,) and the first position of each; sorted bytewise.

    Distinct slices are found by their hashes and then verified byte for byte; should two of them ever share
    a hash, all are compared as bytes instead.
    """
    _, first, inverse = np.unique(hashes(slices), return_index=True, return_inverse=True)
    if not equal(slices, slices.take(first[inverse])).all():
        return encode_exactly(slices)
    rank, order = _positions(bytewise_order(slices.take(first)))
    return rank[inverse].astype(np.int32), first[order]


def _positions(order: Ints) -> tuple[Ints, Ints]:
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank, order


def encode_exactly(slices: Slices) -> tuple[Codes, Ints]:
    """Number the distinct slices as ``encode`` does, with a dictionary: slow, but free of collisions."""
    seen: dict[bytes, int] = {}
    texts = slices.to_bytes()
    for position, text in enumerate(texts):
        seen.setdefault(text, position)
    number = {text: n for n, text in enumerate(sorted(seen))}
    codes = np.fromiter((number[text] for text in texts), dtype=np.int32, count=len(texts))
    return codes, np.array([seen[text] for text in sorted(seen)], dtype=np.int64)


def bytewise_order(slices: Slices) -> Ints:
    """Positions of the slices in ascending order of their bytes.

    The common prefix of all slices is skipped; most ids then differ within one word.
    """
    start = slices.start + _common_prefix(slices)
    keys = [word.byteswap() for word in words(slices._replace(start=start))]
    if len(keys) > 1:
        return np.lexsort(keys[::-1])
    return np.argsort(keys[0]) if keys else np.arange(len(start))


def _common_prefix(slices: Slices) -> int:
    """Length of the common prefix of all slices."""
    length = 0
    for word in words(slices):
        differs = int(np.bitwise_or.reduce(word ^ word[0]))
        if differs:
            return length + ((differs & -differs).bit_length() - 1) // 8
        length += 8
    return 0

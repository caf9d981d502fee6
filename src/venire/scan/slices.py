"""Byte strings as slices of one buffer: hashed, compared, encoded and ordered eight bytes at a time.

A run file of seven million lines holds seven million document ids, and none becomes a Python object here.  A slice is
a start and an end in a buffer of bytes, and its *words* are its bytes taken eight at a time, zero after its end.  No
slice holds a zero byte, so two slices are equal exactly when their words are, and big-endian words compare as the bytes
do.

Every function costs O(n + bytes), times log n where it sorts, and copies only what it returns.  The words of all slices
are taken together up to ``LONG`` bytes; what is longer is rare, and is processed slice by slice, so that one long slice
does not cost as much as n of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from venire.scan.codes import COMPILED, gather
from venire.types import Bools, Codes, Ints, Octets, Places, Words

if COMPILED:
    from venire.scan import _scan

PADDING = 8
"""Number of zero bytes after the last slice of a buffer, so that every word can be read whole."""

_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)
LONG = 512
COPIED_AT_ONCE = 1 << 13
BYTES_AT_ONCE = 1 << 23

SEED = int.from_bytes(os.urandom(8), "little")
"""What ids are hashed with: drawn when the process starts, so that nobody can choose ids that share a hash."""


class Slices(NamedTuple):
    """Byte strings ``buffer[start:end]``; buffer (byte,) ends in PADDING zeros, start and end (n,)."""

    buffer: Octets
    start: Ints
    end: Ints

    def take(self, which: Places) -> Slices:
        """Choose some of the slices, in the order given."""
        return Slices(self.buffer, gather(self.start, which), gather(self.end, which))

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


def compact(slices: Slices, which: Places | None = None) -> Slices:
    """Copy the slices into a buffer of their own, in the order given if some are chosen; memory is what is returned."""
    if COMPILED and len(slices.start if which is None else which) > COPIED_AT_ONCE:
        return _compact_compiled(slices, which)
    slices = slices if which is None else slices.take(which)
    length = slices.end - slices.start
    end = np.cumsum(length)
    start = end - length
    size = int(end[-1]) if len(end) else 0
    buffer = np.zeros(size + PADDING, dtype=np.uint8)
    at_once = min(COPIED_AT_ONCE, max(1, BYTES_AT_ONCE // int(length.max(initial=1))))
    for first in range(0, len(end), at_once):
        some = slice(first, first + at_once)
        here = slice(int(start[first]), int(end[some][-1]))
        source = np.repeat(slices.start[some] - start[some], length[some]) + np.arange(here.start, here.stop)
        buffer[here] = slices.buffer[source]
    return Slices(buffer, start, end)


def _compact_compiled(slices: Slices, which: Places | None) -> Slices:
    if which is not None and which.dtype == np.bool_:
        which = np.flatnonzero(which)
    chosen = None if which is None else np.ascontiguousarray(which, dtype=np.int32)
    places = np.ascontiguousarray(slices.start), np.ascontiguousarray(slices.end)
    data, ends = _scan.compacted(slices.buffer, *places, chosen)
    return behind_each_other(np.frombuffer(data, dtype=np.uint8), np.frombuffer(ends, dtype=np.int64))


def behind_each_other(buffer: Octets, end: Ints) -> Slices:
    """Return the slices that follow each other in a buffer, by their ends."""
    return Slices(buffer, np.append(0, end[:-1]) if len(end) else end, end)


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


def heads(slices: Slices) -> tuple[Slices, Ints]:
    """Cut the slices after LONG bytes; and the positions of those that are longer."""
    buffer, start, end = slices
    return Slices(buffer, start, np.minimum(end, start + LONG)), np.flatnonzero(end - start > LONG)


def hashes(slices: Slices) -> Words:
    r"""Hash every slice to 64 bits, independently of the other slices.

    .. math:: \sum_i (l_i + a_i) (h_i + b_i) \bmod 2^{64}

    with the halves l, h of each word, the length being the first, and keys a, b of 32 bits that depend on ``SEED``:
    NH of Black et al. (1999), doi:10.1007/3-540-48405-1_14.  Whatever two slices are, they share a hash for at most one
    key in 2^32.  The sum is mixed, and slices that have ended add nothing to it.
    """
    short, long = heads(slices)
    length = slices.end - slices.start
    n_words = int(length.max(initial=0)) // 8 + 2
    keys = make_keys(SEED, max(64, 1 << n_words.bit_length()))
    mixed = _products(length.astype(np.uint64), keys[0])
    for word, key in zip(words(short), keys[1:], strict=False):
        mixed += _products(word, key)
    mixed[long] += np.array([_rest_of_sum(slices, row, keys) for row in long], dtype=np.uint64)
    mixed ^= mixed >> _HALF
    mixed *= _MIX
    mixed ^= mixed >> _HALF
    return mixed


def _rest_of_sum(slices: Slices, row: int, keys: Words) -> np.uint64:
    """Sum what the words of one slice behind the first LONG bytes add to its hash."""
    rest = slices.buffer[slices.start[row] + LONG : slices.end[row]]
    word = np.zeros(-(-len(rest) // 8), dtype="<u8")
    word.view(np.uint8)[: len(rest)] = rest
    return _products(word, keys[1 + LONG // 8 :][: len(word)]).sum(dtype=np.uint64)


def _products(word: Words, key: Words | np.uint64) -> Words:
    """(low half of the word + that of the key) (high half + high half), less its value at the word 0."""
    a, b = key & _LOW, key >> _HALF
    low = word & _LOW
    low += a
    high = word >> _HALF
    high += b
    low *= high
    low -= a * b
    return low


@lru_cache(maxsize=8)
def make_keys(seed: int, count: int) -> Words:
    """Expand a seed of 64 bits into keys (count,).

    This is splitmix64 of Steele, Lea and Flood (2014), doi:10.1145/2660193.2660195.
    """
    key = np.arange(1, count + 1, dtype=np.uint64) * _MIX + np.uint64(seed)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def equal(a: Slices, b: Slices) -> Bools:
    """Compare two equally long sets of slices one by one, byte for byte."""
    same = (a.end - a.start) == (b.end - b.start)
    if not same.all():
        return _scatter(same, equal(a.take(same), b.take(same)))
    (short, long), (other, _) = heads(a), heads(b)
    for left, right in zip(words(short), words(other), strict=True):
        same &= left == right
    for row in long[same[long]]:
        same[row] = a.at(row) == b.at(row)
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
    short, long = heads(slices)
    for word in words(short):
        changed[1:] |= word[1:] != word[:-1]
    for row in long[~changed[long]]:
        changed[row] = slices.at(row) != slices.at(row - 1)
    return changed


def encode(slices: Slices) -> tuple[Codes, Ints]:
    """Number the distinct slices: codes (n,) and the first position of each; sorted bytewise.

    Distinct slices are found by their hashes and then verified byte for byte; should two of them ever share
    a hash, all are compared as bytes instead.  Where the compiled table of names is there, it does this.
    """
    if COMPILED and len(slices.start) > COPIED_AT_ONCE:
        return _encode_compiled(slices)
    _, first, inverse = np.unique(hashes(slices), return_index=True, return_inverse=True)
    if not equal(slices, slices.take(first[inverse])).all():
        return encode_exactly(slices)
    rank, order = _positions(bytewise_order(slices.take(first)))
    return rank[inverse].astype(np.int32), first[order]


def _encode_compiled(slices: Slices) -> tuple[Codes, Ints]:
    """Number the distinct slices as ``encode`` does."""
    start, end = np.ascontiguousarray(slices.start), np.ascontiguousarray(slices.end)
    number = np.frombuffer(_scan.Names(SEED).add_slices(slices.buffer, start, end), dtype=np.int32)
    first = np.empty(int(number.max(initial=-1)) + 1, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    rank, order = _positions(bytewise_order(slices.take(first)))
    return rank.astype(np.int32)[number], first[order]


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
    start = slices.start + _common_prefix(heads(slices)[0])
    if (slices.end - start).max(initial=0) > LONG:
        texts = slices.to_bytes()
        return np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    keys = [word.byteswap() for word in words(slices._replace(start=start))]
    if not keys or (len(keys) == 1 and bool((keys[0][1:] > keys[0][:-1]).all())):
        return np.arange(len(start))
    return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0])


def _common_prefix(slices: Slices) -> int:
    """Length of the common prefix of all slices."""
    length = 0
    for word in words(slices):
        differs = int(np.bitwise_or.reduce(word ^ word[0]))
        if differs:
            return length + ((differs & -differs).bit_length() - 1) // 8
        length += 8
    return 0

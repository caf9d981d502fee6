"""Ids chosen to share a hash: under hashes without a seed that were once in use, and under any that chains words.

A hash that multiplies and shifts word by word can be inverted: for any first word there is a second that leads to the
hash wanted.  ``solved`` makes ids of 16 bytes like that.  A seed as the initial value would not help: a flipped top bit
stays a top bit in a product with any odd number, so the next word can undo it.  ``paired`` makes ids like that.
"""

from __future__ import annotations

import numpy as np

from venire.types import Words

MIX = np.uint64(0x9E3779B97F4A7C15)
INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))
SHIFT = np.uint64(29)
WANTED = np.array([0x1234567890ABCDEF], dtype=np.uint64)


def step(mixed: Words, word: Words) -> Words:
    further = (mixed ^ word) * MIX
    return further ^ (further >> SHIFT)


def back(mixed: Words) -> Words:
    """Undo a step with the word 0."""
    mixed = mixed ^ (mixed >> SHIFT) ^ (mixed >> np.uint64(58))
    return mixed * INVERSE


def texts(words: Words) -> list[bytes]:
    """Return rows of words (n, word) as bytes, without those that hold a byte of white space or below."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    return [row.tobytes() for row in octets[(octets > 32).all(axis=1)]]


def solved(count: int, start: np.uint64) -> list[bytes]:
    """Make different ids of 16 bytes that lead from one initial value to the same last value."""
    rng = np.random.default_rng(7)
    first = rng.integers(0, 1 << 64, 12 * count, dtype=np.uint64)
    return texts(np.stack([first, back(WANTED) ^ step(start, first)], axis=1))[:count]


def compiled(count: int) -> list[bytes]:
    """Make ids that shared all 64 bits of the hash of the compiled scanner."""
    return solved(count, MIX ^ np.uint64(16))


def in_numpy(count: int) -> list[bytes]:
    """Make ids that shared all 64 bits of the hash of the scanner in numpy."""
    return solved(count, MIX)


def paired(n_pairs: int) -> list[bytes]:
    """Make 2^n_pairs ids, each pair of words plain or with bits flipped of which the second undoes the first."""
    plain = np.frombuffer(b"a" * 16, dtype="<u8").astype(np.uint64)
    flipped = plain ^ np.array([1 << 63, 1 << 63 | 1 << 34], dtype=np.uint64)
    choice = (np.arange(1 << n_pairs)[:, None] >> np.arange(n_pairs)) & 1
    return texts(np.where(choice[:, :, None] == 1, flipped, plain).reshape(len(choice), 2 * n_pairs))


def random(count: int, length: int) -> list[bytes]:
    """Make ids of the same form that nobody chose."""
    octets = np.random.default_rng(8).integers(33, 256, (count, length), dtype=np.uint8)
    return [row.tobytes() for row in octets]

"""Decimal numbers from slices, each the nearest double.

A plain decimal ``whole.fraction`` is an integer divided by a power of ten.  As long as the integer is at
most 2**53 and the power at most 10**22 both are doubles, so their quotient is correctly rounded (Clinger 1990,
doi:10.1145/93542.93557).  Up to eight digits before and eight after the point are parsed at once, as one word
each: neighbours are joined to pairs, pairs to fours, fours to eights, by three multiplications.  Other
numbers, with exponents or longer fractions, are parsed by ``float``, one at a time.  Cost: O(bytes).
"""

from __future__ import annotations

import re

import numpy as np

from venire.scan.slices import PADDING, Slices
from venire.types import Bools, Floats, Ints, Words

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_POWERS = np.array([10**n for n in range(9)], dtype=np.uint64)
_LARGEST = np.uint64(1 << 53)
_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x4646464646464646)
_HIGH_BITS = np.uint64(0x8080808080808080)
_BEFORE = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)  # masks the n bytes ahead of a field
_JOINTS = (
    (np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(10 * (1 << 8) + 1), np.uint64(8)),
    (np.uint64(0x00FF00FF00FF00FF), np.uint64(100 * (1 << 16) + 1), np.uint64(16)),
    (np.uint64(0x0000FFFF0000FFFF), np.uint64(10_000 * (1 << 32) + 1), np.uint64(32)),
)


def decimals(slices: Slices) -> tuple[Floats, Bools]:
    """Parse slices as finite decimal numbers: values (n,), and which are not numbers (n,)."""
    buffer, start, end = slices
    sign = buffer[start]
    negative = sign == ord("-")
    unsigned = start + (negative | (sign == ord("+")))
    places, has_point = _places(Slices(buffer, unsigned, end))
    whole, plain = _digits(Slices(buffer, unsigned, end - places - has_point))
    fraction, also = _digits(Slices(buffer, end - places, end))
    power = _POWERS[places]
    mantissa = whole * power + fraction
    plain &= also & (mantissa <= _LARGEST) & (end - unsigned > has_point)
    value: Floats = mantissa.astype(np.float64) / power.astype(np.float64)
    np.negative(value, out=value, where=negative)
    for position in np.flatnonzero(~plain).tolist():
        text = slices.at(position)
        value[position] = float(text) if _NUMBER.fullmatch(text) else np.nan
    return value, ~np.isfinite(value)


def _places(slices: Slices) -> tuple[Ints, Bools]:
    """Number of digits after the point among the last nine bytes, and whether there is a point; both (n,).

    Most files write all scores in the same form, so that of the first is tried before the others.
    """
    buffer, start, end = slices
    places = np.zeros(len(start), dtype=np.int64)
    has_point = np.zeros(len(start), dtype=np.bool_)
    rest: Ints | slice = slice(None)
    guess = len(slices.at(0).partition(b".")[2]) if len(start) else 0
    for behind in sorted(range(9), key=lambda each: each != guess):
        place = end[rest] - 1 - behind
        here = (buffer[place] == ord(".")) & (place >= start[rest])
        places[rest] = np.where(here, behind, places[rest])
        has_point[rest] = here
        rest = np.flatnonzero(~has_point)
        if len(rest) == 0:
            break
    return places, has_point


def _digits(slices: Slices) -> tuple[Words, Bools]:
    """Parse up to eight digits each: values (n,), 0 for an empty slice, and which are digits only (n,)."""
    buffer, start, end = slices
    unaligned = np.ndarray((len(buffer) - PADDING + 1,), dtype="<u8", buffer=buffer, strides=(1,))
    length = end - start
    fits = (length <= 8) & (length >= 0) & (end >= 8)
    ahead = _BEFORE[8 - int(length[0])] if (length == length[:1]).all() and fits.any() else _BEFORE[(8 - length) * fits]
    word = unaligned[np.maximum(end - 8, 0)]
    word = (word & ~ahead) | (_ZEROS & ahead)
    fits &= (((word + _ABOVE_NINE) | (word - _ZEROS)) & _HIGH_BITS) == 0
    for mask, factor, shift in _JOINTS:
        word = ((word & mask) * factor) >> shift
    return word, fits

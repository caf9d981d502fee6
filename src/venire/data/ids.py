"""Ids: many names in one buffer of bytes; and Category: a column of codes into names.

A name is the bytes in the file.  It is decoded as UTF-8, other bytes as surrogate escapes, so that writing it back
gives the same bytes.  Order and equality are those of the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from venire.errors import UnknownName
from venire.scan.codes import COMPILED, count, gather
from venire.scan.slices import Slices, compact, concatenate, encode, from_bytes
from venire.types import Bools, Codes, Ints, Places

COUNTED_AT_ONCE = 1 << 20


def as_text(name: bytes) -> str:
    """Decode a name; ``as_bytes`` is the inverse."""
    return name.decode("utf-8", "surrogateescape")


def as_bytes(name: str) -> bytes:
    """Return the bytes of a name."""
    return name.encode("utf-8", "surrogateescape")


def is_id(name: str) -> bool:
    """Return whether a text can be a name: not empty, without a zero byte, and no half of a pair of surrogates."""
    try:
        return b"\0" not in (as_bytes(name) or b"\0")
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, eq=False, repr=False)
class Ids(Sequence[str]):
    """A sequence of names in one buffer, without an object for each."""

    slices: Slices

    @classmethod
    def of(cls, names: Iterable[str]) -> Ids:
        """Pack names."""
        return cls(from_bytes(as_bytes(name) for name in names))

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> Ids: ...
    def __getitem__(self, position: int | slice) -> str | Ids:
        """Return one name, or a range of them."""
        if isinstance(position, slice):
            return self.take(np.arange(len(self))[position])
        return as_text(self.slices.at(position))

    def __len__(self) -> int:
        return len(self.slices.start)

    def __iter__(self) -> Iterator[str]:
        return map(as_text, self.slices.to_bytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal to any sequence of the same names, so it has no hash of its own

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:4])
        return f"<{len(self)} ids: {shown}{', ...' if len(self) > 4 else ''}>"

    def take(self, which: Places) -> Ids:
        """Choose names, in the order given, in a buffer of their own."""
        return Ids(compact(self.slices, which))


@dataclass(frozen=True, eq=False)
class Category:
    """A column of names: codes (row,) into the distinct names."""

    codes: Codes
    names: Ids

    @classmethod
    def of(cls, values: Iterable[str]) -> Category:
        """Encode a column of names."""
        return cls.of_slices(from_bytes(as_bytes(value) for value in values))

    @classmethod
    def of_slices(cls, slices: Slices) -> Category:
        """Encode a column of byte strings; names come out in bytewise order."""
        codes, first = encode(slices)
        return cls(codes, Ids(compact(slices, first)))

    @classmethod
    def constant(cls, name: str, n_rows: int) -> Category:
        """Return a column with the same name in every row."""
        return cls(np.zeros(n_rows, dtype=np.int32), Ids.of([name]))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Ints | Bools) -> Category:
        """Choose rows; names that no longer occur are dropped."""
        codes = gather(self.codes, rows)
        used = count_codes(codes, len(self.names)) > 0
        if used.all():
            return Category(codes, self.names)
        place = (np.cumsum(used) - 1).astype(np.int32)
        return Category(gather(place, codes), self.names.take(used))

    def texts(self) -> list[str]:
        """Return every row as text."""
        if len(self.codes) < len(self.names):
            return list(self.names.take(self.codes))
        names = list(self.names)
        return [names[code] for code in self.codes.tolist()]

    def code_of(self, name: str, kind: str) -> int:
        """Return the code of a name; raise if it is unknown."""
        names = list(self.names)
        if name not in names:
            raise UnknownName(kind, name, names)
        return names.index(name)

    def among(self, names: str | Iterable[str], kind: str) -> Bools:
        """Mark the rows that have one of these names -> (row,); raise if a name is unknown."""
        wanted = [names] if isinstance(names, str) else names
        return np.isin(self.codes, [self.code_of(name, kind) for name in wanted])


def count_codes(codes: Codes, n_names: int) -> Ints:
    """Count how often each name occurs -> (name,); a block of rows at a time, since numpy copies what it counts."""
    if COMPILED:
        return count(codes, n_names)
    total = np.zeros(n_names, dtype=np.int64)
    step = max(COUNTED_AT_ONCE, 2 * n_names)
    for begin in range(0, len(codes), step):
        total += np.bincount(codes[begin : begin + step], minlength=n_names)
    return total


def narrow(codes: Codes, n_names: int) -> Codes:
    """Return codes in the narrowest type that holds as many names."""
    return codes.astype(np.int8 if n_names <= 1 << 7 else np.int16 if n_names <= 1 << 15 else np.int32, copy=False)


def joined(columns: Sequence[Category]) -> Category:
    """Concatenate columns over one set of names."""
    if len(columns) == 1:
        return columns[0]
    names = Category.of_slices(concatenate(column.names.slices for column in columns))
    parts, offset = [], 0
    for column in columns:
        parts.append(gather(names.codes[offset : offset + len(column.names)], column.codes))
        offset += len(column.names)
    codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
    return Category(codes, names.names)


def numbered_within(group: Codes | Ints) -> Category:
    """Number the rows of each group 1, 2, ..., in their order; group (row,)."""
    order = np.argsort(group, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return Category(place, Ids.of(str(number) for number in range(1, int(place.max(initial=-1)) + 2)))


def in_natural_order(names: Iterable[str]) -> list[str]:
    """Sort distinct names: numerically if all are numbers, else bytewise."""
    every = list(names)
    return [every[n] for n in natural_order(Ids.of(every))]


def natural_order(names: Ids) -> Ints:
    """Return the order of names: numeric if all are numbers, else bytewise."""
    texts = list(names)
    if all(text.isascii() and text.isdigit() for text in texts):
        return np.array(sorted(range(len(texts)), key=lambda n: _as_number(texts[n])), dtype=np.int64)
    return np.array(sorted(range(len(texts)), key=lambda n: as_bytes(texts[n])), dtype=np.int64)


def _as_number(digits: str) -> tuple[int, str, str]:
    """Return what orders digits by the number they write, however many they are."""
    number = digits.lstrip("0")
    return len(number), number, digits

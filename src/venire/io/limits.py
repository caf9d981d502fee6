"""Limits on what is read: sizes beyond which a file is refused rather than read.

A damaged or hostile file must not take all the memory, or hours.  Each limit is far above what judgments, runs and logs
have, is an error that names the file, the line and the limit, and can be raised: by ``within_limits`` in Python, and by
an option of every command that reads files.  The limits in force belong to the context (``contextvars``) of the caller,
not to the process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace

from venire.errors import FormatError, SettingError, UnknownName, Way

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(i?B)?", re.ASCII | re.IGNORECASE)


def _limit(value: int, what: str, *, size: bool = False) -> int:
    found: int = field(default=value, metadata={"what": what, "size": size})
    return found


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest of everything that is read; sizes are in bytes."""

    line_length: int = _limit(1 << 20, "a line of a text file", size=True)
    field_length: int = _limit(1 << 17, "a field that is read: an id, a label or a number", size=True)
    columns: int = _limit(10_000, "columns of a table, or keys of its JSON objects")
    json_depth: int = _limit(64, "levels of nesting in JSON and TOML")
    digits: int = _limit(300, "digits of a label that is a number")
    scale_labels: int = _limit(10_000, "labels of a declared scale")
    labels_per_item: int = _limit(100_000, "labels of one document for one topic")
    assessors: int = _limit(100_000, "assessors whose agreement is computed, or by whose labels runs are scored")
    files: int = _limit(10_000, "files of a folder or a pattern, or named together")
    toml_size: int = _limit(1 << 20, "a TOML file", size=True)
    json_size: int = _limit(16 << 20, "a saved model or certificate", size=True)
    document_size: int = _limit(
        64 << 20, "a file of gains, topics, groups, intents or duplicates, or JSON of another tool", size=True
    )
    decompressed_size: int = _limit(16 << 30, "a file after decompression, or what a pipe holds", size=True)
    ratio: int = _limit(200, "bytes of memory for each byte of a compressed or Parquet file, after the first 64 MiB")

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) < 1:
                raise SettingError(f"the limit {_spelled(each.name)} is below 1", hint="limits are whole numbers")


FREE = 64 << 20
"""Bytes that any compressed file may hold, whatever its ratio."""
_IN_FORCE: ContextVar[Limits | None] = ContextVar("limits", default=None)


def current() -> Limits:
    """Return the limits in force."""
    return _IN_FORCE.get() or Limits()


@contextmanager
def within_limits(**largest: int | str) -> Iterator[Limits]:
    """Read under other limits within a ``with`` block; sizes may be texts such as "4MiB".

    largest: fields of :class:`Limits` by name.  Files of runs are read when they are scanned, so the block holds the
    evaluation, too.

    Examples
    --------
    >>> from venire.io import within_limits
    >>> with within_limits(line_length="4MiB") as limits:
    ...     limits.line_length
    4194304
    """
    values = {_known(name): value if isinstance(value, int) else read_size(value) for name, value in largest.items()}
    token = _IN_FORCE.set(replace(current(), **values))
    try:
        yield current()
    finally:
        _IN_FORCE.reset(token)


def read_size(text: str) -> int:
    """Read a whole number with or without a unit: "4MiB", "4M", "4194304"."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise SettingError(f"{text!r} is not a whole number or a size such as 4MiB")
    return int(found[1]) * UNITS[found[2].upper()]


def shown_size(size: int) -> str:
    """Return a size in the largest unit that divides it: "4MiB"."""
    for unit in ("T", "G", "M", "K"):
        if size and size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}iB"
    return f"{size}"


def over(name: str, where: object, line: int | None, found: str, *, hint: str = "") -> FormatError:
    """Return the error for something beyond a limit; found: what was found, as in "a line of 2,000,000 bytes".

    hint: a way to resolve it besides a higher limit.
    """
    value = getattr(current(), name)
    size = next(each for each in fields(Limits) if each.name == name).metadata["size"]
    shown, more = (shown_size(value), shown_size(4 * value)) if size else (f"{value:,}", f"{4 * value}")
    ways = [hint] if hint else []
    ways.append(Way("raise the limit", limit=f"{_spelled(name)}={more}"))
    return FormatError(where, line, f"found {found}, and the limit is {shown}", hint=ways)


def refuse_crowd(n_assessors: int, *, hint: str = "pool their labels") -> None:
    """Raise where there are more assessors than can be treated one by one; hint: a way to take them together."""
    if n_assessors > current().assessors:
        hint = f"{hint}, or choose some of the assessors"
        raise over("assessors", "judgments", None, f"{n_assessors:,} assessors", hint=hint)


def table() -> list[tuple[str, str, str]]:
    """Return the name, default and meaning of each limit, for the documentation."""
    rows = []
    for each in fields(Limits):
        value = getattr(Limits(), each.name)
        shown = shown_size(value) if each.metadata["size"] else f"{value:,}"
        rows.append((_spelled(each.name), shown, each.metadata["what"]))
    return rows


def _spelled(name: str) -> str:
    return name.replace("_", "-")


def _known(name: str) -> str:
    names = {each.name for each in fields(Limits)}
    if (plain := name.replace("-", "_")) not in names:
        raise UnknownName("limit", name, sorted(map(_spelled, names)))
    return plain

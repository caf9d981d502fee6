"""Blocks of whole rows from an open file, so that a table of any size is read in the memory of one block.

A row ends at a line end that stands in no quoted field; in a block where no field begins with a quote, quotes are plain
characters.  Cost: one pass over the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

BLOCK = 1 << 24


def row_blocks(file: BinaryIO, begun: bytes, *, separator: str | None) -> Iterator[bytes]:
    """Read on from what was begun, in blocks of whole rows; separator None: lines that know no quotes."""
    rest = begun
    while more := file.read(max(BLOCK, len(rest))):
        data = rest + more
        end = _last_row(data, separator)
        if end:
            yield data[:end]
        rest = data[end:]
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def has_quotes(data: bytes, separator: str) -> bool:
    """Whether any field begins with a quote."""
    return b'"' in data and (data.startswith(b'"') or any(mark in data for mark in (b'\n"', separator.encode() + b'"')))


def _last_row(data: bytes, separator: str | None) -> int:
    """Where the last whole row ends; 0 if none does."""
    if separator is None or not has_quotes(data, separator):
        return data.rfind(b"\n") + 1
    text = np.frombuffer(data, dtype=np.uint8)
    newline = np.flatnonzero(text == ord("\n"))
    outside = np.searchsorted(np.flatnonzero(text == ord('"')), newline) % 2 == 0
    return int(newline[outside].max(initial=-1)) + 1

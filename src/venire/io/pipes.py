"""Pipes: standard input, a FIFO, ``<(zcat run.gz)``.

A pipe can be read only once, and most readers look at the first bytes before they read.  What a pipe held is kept until
the process ends, in memory or, if it is long, in a temporary file.
"""

from __future__ import annotations

import os
import stat
import sys
from functools import lru_cache
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from venire.io.limits import current, over

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = Path("-")
BUFFER = 1 << 22
KEPT_IN_MEMORY = 1 << 26
"""Bytes of a pipe that are kept in memory; longer ones are kept in a temporary file."""


def kept(path: Path) -> BinaryIO | None:
    """Return what a pipe held; None for a regular file."""
    if path == STDIN:
        return _view(_standard_input(sys.stdin.buffer))
    status = path.stat()
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return None
    place = (status.st_dev, status.st_ino)
    if (held := _PIPES.get(place)) is None or held.changed != status.st_mtime_ns:
        with path.open("rb", buffering=0) as pipe:
            content = _drained(cast("BinaryIO", pipe), path)
            held = _PIPES[place] = Kept(content, os.fstat(pipe.fileno()).st_mtime_ns)
    return _view(held.content)


class Spool:
    """A file without a name, which is closed when nobody reads it any more."""

    def __init__(self) -> None:
        self.file = cast("BinaryIO", TemporaryFile())  # noqa: SIM115

    def __del__(self) -> None:
        self.file.close()


class Kept(NamedTuple):
    """What a pipe held, and when it was last written to: a later writer has other content."""

    content: bytes | Spool
    changed: int


_PIPES: dict[tuple[int, int], Kept] = {}


@lru_cache(maxsize=1)
def _standard_input(stream: BinaryIO) -> bytes | Spool:
    return _drained(stream, STDIN)


def _drained(stream: BinaryIO, path: Path) -> bytes | Spool:
    """Read a pipe to its end, into memory or a file without a name."""
    most, size, parts = current().decompressed_size, 0, list[bytes]()
    spool: Spool | None = None
    while block := stream.read(1 << 20):
        size += len(block)
        if size > most:
            raise over("decompressed_size", path, None, f"more than {most:,} bytes in a pipe")
        parts.append(block)
        if size > KEPT_IN_MEMORY:
            spool = spool or Spool()
            spool.file.write(b"".join(parts))
            parts.clear()
    if spool is None:
        return b"".join(parts)
    spool.file.write(b"".join(parts))
    spool.file.flush()
    return spool


def _view(content: bytes | Spool) -> BinaryIO:
    """Return a reader of what was kept, with a position of its own."""
    return BytesIO(content) if isinstance(content, bytes) else BufferedReader(_Section(content), BUFFER)


class _Section(RawIOBase):
    """A file that is read from its start, whatever other readers of the same descriptor do."""

    def __init__(self, spool: Spool) -> None:
        self._spool, self._descriptor, self._place = spool, spool.file.fileno(), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place}.get(whence, os.fstat(self._descriptor).st_size)
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer).cast("B")
        data = os.pread(self._descriptor, len(target), self._place)
        target[: len(data)] = data
        self._place += len(data)
        return len(data)

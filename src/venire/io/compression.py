"""Compressed files: gz and zst, by their first bytes when they are read, by their endings when they are written."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from venire.io.limits import FREE, current, over
from venire.io.outputs import NewFiles

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER = 1 << 22

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
COMPRESSED_AT_ONCE = 1 << 12
"""Bytes of zst that are decompressed at once: at most 128 MiB come out, since a block of 128 KiB takes 4 bytes."""


def decompressed(raw: BinaryIO, path: Path) -> BinaryIO:
    """Return the decompressed bytes of an open file, within the limits; one that is not compressed as it is."""
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP):
        return BufferedReader(_Measured(cast("RawIOBase", gzip.GzipFile(fileobj=raw)), raw, path), BUFFER)
    if magic == ZSTD:
        return BufferedReader(_Measured(ZstdFile(raw), raw, path), BUFFER)
    return raw


class _Measured(RawIOBase):
    """Decompressed bytes, up to the limits on their number and on their ratio to those that were compressed."""

    def __init__(self, inner: RawIOBase, raw: BinaryIO, path: Path) -> None:
        self._inner, self._raw, self._path, self._size, self._limits = inner, raw, path, 0, current()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = self._inner.readinto(buffer) or 0
        self._size += count
        most = self._limits
        if self._size > most.decompressed_size:
            found = f"more than {most.decompressed_size:,} bytes after decompression"
            raise over("decompressed_size", self._path, None, found)
        if self._size > FREE and self._size > most.ratio * max(self._raw.tell(), 1):
            found = f"{self._size:,} bytes compressed to {self._raw.tell():,}, {self._size // self._raw.tell():,} to 1"
            raise over("ratio", self._path, None, found, hint="unpack it to see what it is")
        return count

    def readall(self) -> bytes:
        parts = iter(lambda: self.read(BUFFER), b"")
        return b"".join(part for part in parts if part)


class ZstdFile(RawIOBase):
    """The decompressed bytes of a file of one or more zst frames; raises EOFError where a frame is cut off."""

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard

        self._raw, self._zstandard = raw, zstandard
        self._frame: Any = zstandard.ZstdDecompressor().decompressobj()
        self._begun = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer with the next bytes; 0 at the end."""
        while not self._ready:
            compressed = self._frame.unused_data or self._raw.read(COMPRESSED_AT_ONCE)
            if not compressed:
                if self._begun and not self._frame.eof:
                    raise EOFError("the last zst frame is not whole")
                return 0
            if self._frame.eof:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            self._begun = True
            try:
                self._ready = memoryview(self._frame.decompress(compressed))
            except self._zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


@contextmanager
def written(path: Path, files: NewFiles) -> Iterator[BinaryIO]:
    """Open a new file for writing, compressed as its ending says; the same bytes are always written alike."""
    with files.open(path) as raw:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                yield cast("BinaryIO", file)
        elif path.name.lower().endswith(".zst"):
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as writer:
                yield cast("BinaryIO", writer)
        else:
            yield raw

"""Reading zst files to their very end: a file that was cut off is an error, not a shorter file."""

from __future__ import annotations

from io import RawIOBase
from typing import TYPE_CHECKING, BinaryIO

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

COMPRESSED_AT_ONCE = 1 << 17


class ZstdFile(RawIOBase):
    """The decompressed bytes of a file of one or more zst frames; raises EOFError where a frame is not whole."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._begun = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """It is for reading."""
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
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._begun = True
            try:
                self._ready = memoryview(self._frame.decompress(compressed))
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

"""Files as bytes: plain, gz or zst by their first bytes; pipes; in chunks of whole lines; and comments.

A pipe (standard input, a FIFO, ``<(zcat run.gz)``) can be read only once, and most readers look at the first bytes
before they read.  What a pipe held is kept until the process ends, in memory or, if it is long, in a temporary file.

Bytes stay bytes.  A byte order mark is dropped; a last line without a line end gets one, and is marked, since it may
have been cut off.  In qrels and runs, lines that begin with ``#`` are comments, as in trec_eval; a comment that looks
like data is reported by a warning.  Also what all readers share: the files behind a name, and split columns.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import stat
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedReader, BytesIO, RawIOBase
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from venire.data.ids import as_bytes
from venire.errors import CommentWarning, FormatError
from venire.io.limits import FREE, current, over
from venire.io.outputs import NewFiles
from venire.results import counted
from venire.scan.fields import Fault, Fields, split
from venire.scan.slices import padded

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = Path("-")
CHUNK = 1 << 22
BOM = b"\xef\xbb\xbf"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
COMPRESSED_AT_ONCE = 1 << 12
"""Bytes of zst that are decompressed at once: at most 128 MiB come out, since a block of 128 KiB takes 4 bytes."""
KEPT_IN_MEMORY = 1 << 26
"""Bytes of a pipe that are kept in memory; longer ones are kept in a temporary file."""
ENDINGS = (
    *(".gz", ".zst"),
    *(".txt", ".tsv", ".csv", ".jsonl", ".ndjson", ".parquet"),
    *(".qrels", ".qrel", ".run", ".runs", ".trec", ".res"),
)
COMMENT = re.compile(rb"^#[^\n]*", re.MULTILINE)
NUMBER = re.compile(rb"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


class Chunk(NamedTuple):
    """Whole lines; ``cut``: the last one had no line end, and got one; ``before``: the line before them."""

    data: bytes
    cut: bool = False
    before: bytes = b""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its decompressed bytes; what goes wrong becomes a FormatError."""
    with opened_raw(path) as raw:
        yield _decompressed(raw, path)


@contextmanager
def opened_raw(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes as they are; a pipe is read once and can be opened again."""
    try:
        if (kept := _kept(path)) is not None:
            yield kept
            return
        with path.open("rb") as raw:
            yield raw
    except FileNotFoundError:
        raise FormatError(path, None, "there is no such file", hint=f"looked from {Path.cwd()}") from None
    except IsADirectoryError:
        raise FormatError(path, None, "is a folder, expected a file", hint="name the files in it") from None
    except PermissionError:
        raise FormatError(path, None, "may not be read", hint="change its permissions") from None
    except gzip.BadGzipFile as error:
        raise _damaged(path, error) from None
    except OSError as error:
        if error.filename is None or str(error.filename) != str(path):
            raise
        raise FormatError(path, None, f"cannot be read ({error.strerror})") from None
    except (EOFError, zlib.error) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> FormatError:
    message = f"the compressed data end early or are damaged ({error})"
    return FormatError(path, None, message, hint="fetch the file again")


def is_readable(path: Path) -> bool:
    """Return whether a path is a file or a pipe, or "-" for standard input."""
    try:
        return path == STDIN or (path.exists() and not path.is_dir())
    except OSError:  # a name that is too long
        return False


def _kept(path: Path) -> BinaryIO | None:
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
    return BytesIO(content) if isinstance(content, bytes) else BufferedReader(_Section(content), CHUNK)


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


def _decompressed(raw: BinaryIO, path: Path) -> BinaryIO:
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP):
        return BufferedReader(_Measured(cast("RawIOBase", gzip.GzipFile(fileobj=raw)), raw, path), CHUNK)
    if magic == ZSTD:
        return BufferedReader(_Measured(ZstdFile(raw), raw, path), CHUNK)
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
        parts = iter(lambda: self.read(CHUNK), b"")
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


def read_bytes(path: Path) -> bytes:
    """Read a whole file, decompressed, without byte order mark; its lines are within the limit."""
    with opened(path) as file:
        data = file.read().removeprefix(BOM)
    refuse_long_lines(data, path)
    return data


def refuse_long_lines(data: bytes, path: object, *, fields: bool = False) -> None:
    """Raise at the first line beyond the limit; fields: also at the first field, between white space."""
    start = 0
    while (start := _long_line(data, start, fields=fields)) >= 0:
        end = _line_end(data, start)
        if (fault := _length_fault(data[start:end], path, fields=fields)) is not None:
            raise fault(data.count(b"\n", 0, start) + 1)
        start = end + 1


def _long_line(data: bytes, start: int, *, fields: bool) -> int:
    """Return where the first line begins that is too long, or might have a field that is; -1 if there is none.

    Cost: O(bytes / limit) where lines are short.
    """
    most = min(current().line_length, current().field_length) if fields else current().line_length
    while len(data) - start > most:
        end = data.rfind(b"\n", start, start + most + 1)
        if end < 0:
            return start
        start = end + 1
    return -1


def _line_end(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end


def _length_fault(text: bytes, path: object, *, fields: bool) -> Callable[[int | None], FormatError] | None:
    """Return the error for a line that is too long, or has a field that is, once its number is known."""
    most = current()
    if len(text) > most.line_length:
        found, hint = f"a line of {len(text):,} bytes or more", "lines end in LF or CRLF: is this a text file?"
        return lambda line: over("line_length", path, line, found, hint=hint)
    longest = max(map(len, text.split()), default=0) if fields and not text.startswith(b"#") else 0
    if longest > most.field_length:
        return lambda line: over("field_length", path, line, f"a field of {longest:,} bytes", hint="ids are short")
    return None


def refuse_long_part(data: bytes, start: int, path: object, *, before: int = 0, fields: bool = False) -> None:
    """Raise at the first long line or field of a part of a file, from a place on.

    before: the number of bytes ahead of these.
    """
    while (start := _long_line(data, start, fields=fields)) >= 0:
        end = _line_end(data, start)
        if (fault := _length_fault(data[start:end], path, fields=fields)) is not None:
            raise fault(line_at(path, before + start) if isinstance(path, Path) else None)
        start = end + 1


def line_at(path: Path, place: int) -> int:
    """Return the number of the line at a place, by reading the file again: for errors alone."""
    line = 1
    with opened(path) as file:
        while place > 0 and (block := file.read(min(CHUNK, place))):
            line, place = line + block.count(b"\n"), place - len(block)
    return line


def chunks(file: BinaryIO, path: object = "", *, size: int = CHUNK) -> Iterator[Chunk]:
    """Read an open file in chunks that end where one group of lines ends and the next begins; path: for errors.

    A group is a stretch of lines with the same first field; it is never cut, so a chunk is larger than ``size`` only
    where a group is.  Cost: one pass over the bytes; reads grow with what is left over, so that one long group costs
    no more.
    """
    rest, before, n_before = file.read(size).removeprefix(BOM), b"", 0
    refuse_long_part(rest, 0, path, fields=True)
    while block := file.read(max(size, len(rest))):
        data = rest + block
        refuse_long_part(data, rest.rfind(b"\n") + 1, path, before=n_before, fields=True)
        edge = _last_group(data)
        if edge:
            yield Chunk(data[:edge], before=before)
            before = last_line(data, edge) or before
        rest, n_before = data[edge:], n_before + edge
    if rest:
        cut = not rest.endswith(b"\n")
        yield Chunk(rest + b"\n" * cut, cut, before)


def last_line(data: bytes, end: int) -> bytes:
    """Return the last line that ends before a place and is neither empty nor a comment, or nothing."""
    while end > 0:
        start = data.rfind(b"\n", 0, end - 1) + 1
        line = data[start:end].strip()
        if line and not data.startswith(b"#", start):
            return line
        end = start
    return b""


def _last_group(data: bytes) -> int:
    """Where a group of lines starts that reaches to the last whole line, or 0: by long steps back, then by halves.

    Where groups are scattered there may be other groups behind that place; it still is where one begins.
    """
    high = data.rfind(b"\n", 0, data.rfind(b"\n")) + 1
    group, step = _first_field(data, high), 1 << 12
    while True:
        low = data.rfind(b"\n", 0, max(0, high - step)) + 1
        if _first_field(data, low) != group:
            break
        if low == 0:
            return 0
        high, step = low, 2 * step
    while (after := data.find(b"\n", low) + 1) < high:
        middle = max(after, data.rfind(b"\n", 0, (low + high) // 2) + 1)
        if _first_field(data, middle) == group:
            high = middle
        else:
            low = middle
    return high


def _first_field(data: bytes, line: int) -> bytes:
    """Return the first field of the line that starts here; an empty line has an empty one."""
    return next(iter(data[line : data.find(b"\n", line)].split(None, 1)), b"")


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


def stem(path: Path) -> str:
    """Return a file's name without its endings of format and compression: the name of its assessor or system."""
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def warn_of_comments(where: object, data: bytes, n_columns: int, *, lines_before: int = 0) -> None:
    """Warn of the first comment that has the columns of data: a first word longer than ``#``, or a label or score."""
    if b"#" not in data or (not data.startswith(b"#") and b"\n#" not in data):  # one byte is found ten times faster
        return
    found: list[re.Match[bytes]] = []
    for line in COMMENT.finditer(data):
        fields = line[0].split()
        if len(fields) == n_columns and (len(fields[0]) > 1 or NUMBER.fullmatch(fields[n_columns // 2 + 1])):
            found.append(line)
    if found:
        text = found[0][0].decode("utf-8", "replace").strip()[:60]
        more = f" ({len(found):,} such lines)" if len(found) > 1 else ""
        message = f"{text!r} begins with '#', so it is a comment; it has the columns of data{more}"
        line_number = lines_before + data.count(b"\n", 0, found[0].start()) + 1
        warnings.warn(CommentWarning(message, where=where, line=line_number), stacklevel=4)


def spaced_lines(columns: Mapping[str, Sequence[str]], path: object) -> bytes:
    """Write columns separated by a space; raise where a name has white space, or a topic would begin a comment."""
    for what, names in columns.items():
        distinct = set(names)
        wrong = min((name for name in distinct if len(name.split()) != 1), default=None)
        if wrong is not None:
            message = f"{what} {wrong!r} does not fit into columns that white space separates"
            raise FormatError(path, None, message, hint="give it a name without white space")
        comment = min((name for name in distinct if what == "topic" and name.startswith("#")), default=None)
        if comment is not None:
            message = f"topic {comment!r} begins with '#': its lines would be comments in qrels"
            raise FormatError(path, None, message, hint="rename the topic, or keep the judgments in a table")
    return as_bytes("".join(f"{' '.join(row)}\n" for row in zip(*columns.values(), strict=True)))


def names_files(source: object) -> bool:
    """Return whether a source is the name of a file, a folder or a pattern, or several of them."""
    several = source if isinstance(source, list | tuple) else [source]
    return bool(several) and all(isinstance(each, str | Path) for each in several)


def expanded_all(source: Any) -> list[Path]:
    """Return the files behind one name or several."""
    several = source if isinstance(source, list | tuple) else [source]
    paths = [path for each in several for path in expanded(each)]
    if len(paths) > current().files:
        raise over("files", paths[0], None, f"{len(paths):,} files")
    return paths


def expanded(source: str | Path) -> list[Path]:
    """Return the files behind a path, a folder or a pattern; hidden files of a folder are left out."""
    path = Path(source)
    if not str(source):
        raise FormatError("", None, "the name of a file is empty")
    if is_readable(path):
        return [path]
    if path.is_dir():
        files = _within_limit((each for each in path.iterdir() if not each.name.startswith(".")), path)
        if not files:
            raise FormatError(path, None, "is a folder without files", hint="name files, or the folder they are in")
        return files
    if not glob.has_magic(str(source)):
        raise FormatError(source, None, "there is no such file or folder", hint=f"looked from {Path.cwd()}")
    found = map(Path, glob.iglob(str(source), recursive=True))  # noqa: PTH207 - absolute patterns too
    if files := _within_limit(found, source):
        return files
    raise FormatError(source, None, "no file matches this pattern", hint=f"looked from {Path.cwd()}")


def _within_limit(paths: Iterable[Path], source: object) -> list[Path]:
    """Return the regular files among paths, in order; raise if they are too many."""
    most = current().files
    files = sorted(islice((each for each in paths if each.is_file()), most + 1))
    if len(files) > most:
        raise over("files", source, None, f"more than {most:,} files", hint="name fewer of them")
    return files


def split_columns(data: bytes, names: Sequence[str], where: object) -> Fields:
    """Split a whole text into as many columns as there are names; raise at the first line that does not fit."""
    refuse_long_lines(data, where, fields=True)
    fields = split(padded(data if data.endswith(b"\n") else data + b"\n"), len(names))
    if (fault := fields.fault) is not None:
        raise line_fault(where, fault.line + 1, data.split(b"\n")[fault.line], fault, names)
    return fields


def line_fault(
    where: object, line: int, text: bytes, fault: Fault, names: Sequence[str], *, cut: bool = False
) -> FormatError:
    """Describe a line that holds a control byte, is too long, or has too few or too many columns; cut: without end."""
    if fault.kind == "control":
        hint = "compressed files must be gz or zst, and Parquet files end in .parquet"
        message = f"found the control byte 0x{fault.detail:02x}: this is not a text file"
        return FormatError(where, line, message, hint=hint)
    if fault.kind == "long":
        message = f"found a line of {fault.detail:,} bytes, longer than can be read"
        return FormatError(where, line, message, hint="lines end in LF or CRLF: is this a text file?")
    hint = "ids contain no white space, and columns are separated by spaces or tabs"
    if cut:
        hint = "the last line has no line end: the file may have been cut off"
    elif (fault.detail, len(names)) in ((6, 4), (4, 6)):
        hint = f"this looks like {'a run' if fault.detail == 6 else 'judgments'}: judgments come first, then runs"
    shown, expected = text[:60].decode("utf-8", "replace").strip(), f"{len(names)}: {', '.join(names)}"
    return FormatError(
        where, line, f"found {counted(fault.detail, 'column')} in {shown!r}, expected {expected}", hint=hint
    )

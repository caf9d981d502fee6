"""Files as bytes: plain, gz or zst by their first bytes, or standard input; in chunks of whole lines; and comments.

Bytes stay bytes.  A byte order mark is dropped; a last line without a line end gets one, and is marked, since it may
have been cut off.  In qrels and runs, lines that begin with ``#`` are comments, as in trec_eval; a comment that looks
like data is reported by a warning.  Also what all readers share: the files behind a name, and split columns.
"""

from __future__ import annotations

import glob
import gzip
import re
import sys
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from venire.data.ids import as_bytes
from venire.errors import CommentWarning, FormatError
from venire.results import counted
from venire.scan.fields import Fault, Fields, split
from venire.scan.slices import padded

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = Path("-")
CHUNK = 1 << 22
BOM = b"\xef\xbb\xbf"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
COMPRESSED_AT_ONCE = 1 << 17
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
    try:
        if path == STDIN:
            yield _decompressed(BytesIO(_read_once(sys.stdin.buffer)))
            return
        with path.open("rb") as raw:
            yield _decompressed(raw)
    except FileNotFoundError:
        raise FormatError(path, None, "there is no such file", hint=f"looked from {Path.cwd()}") from None
    except IsADirectoryError:
        raise FormatError(path, None, "is a folder, expected a file", hint="name the files in it") from None
    except PermissionError:
        raise FormatError(path, None, "may not be read", hint="change its permissions") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"the compressed data end early or are damaged ({error})"
        raise FormatError(path, None, message, hint="fetch the file again") from None


def _decompressed(raw: BinaryIO) -> BinaryIO:
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=raw))
    if magic == ZSTD:
        return cast("BinaryIO", BufferedReader(ZstdFile(raw), CHUNK))
    return raw


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


@lru_cache(maxsize=1)
def _read_once(stream: BinaryIO) -> bytes:
    """Keep what standard input held, since it can be read only once."""
    return stream.read()


def read_bytes(path: Path) -> bytes:
    """Read a whole file, decompressed, without byte order mark."""
    with opened(path) as file:
        return file.read().removeprefix(BOM)


def chunks(file: BinaryIO, *, size: int = CHUNK) -> Iterator[Chunk]:
    """Read an open file in chunks that end where one group of lines ends and the next begins.

    A group is a stretch of lines with the same first field; it is never cut, so a chunk is larger than ``size`` only
    where a group is.  Cost: one pass over the bytes; reads grow with what is left over, so that one long group costs
    no more.
    """
    rest, before = file.read(size).removeprefix(BOM), b""
    while block := file.read(max(size, len(rest))):
        data = rest + block
        edge = _last_group(data)
        if edge:
            yield Chunk(data[:edge], before=before)
            before = last_line(data, edge) or before
        rest = data[edge:]
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
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, compressed as its ending says; the same bytes are always written alike."""
    with path.open("wb") as raw:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                yield cast("BinaryIO", file)
        elif path.name.lower().endswith(".zst"):
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(raw) as writer:
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
    return [path for each in several for path in expanded(each)]


def expanded(source: str | Path) -> list[Path]:
    """Return the files behind a path, a folder or a pattern; hidden files of a folder are left out."""
    path = Path(source)
    if not str(source):
        raise FormatError("", None, "the name of a file is empty")
    if path == STDIN or path.is_file():
        return [path]
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        if not files:
            raise FormatError(path, None, "is a folder without files", hint="name files, or the folder they are in")
        return files
    if not glob.has_magic(str(source)):
        raise FormatError(source, None, "there is no such file or folder", hint=f"looked from {Path.cwd()}")
    found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 - absolute patterns too
    if files := sorted(each for each in found if each.is_file()):
        return files
    raise FormatError(source, None, "no file matches this pattern", hint=f"looked from {Path.cwd()}")


def split_columns(data: bytes, names: Sequence[str], where: object) -> Fields:
    """Split a whole text into as many columns as there are names; raise at the first line that does not fit."""
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

"""Text files as bytes: in chunks of whole lines, within the limits on their length, split into columns; and comments.

Bytes stay bytes.  A byte order mark is dropped; a last line without a line end gets one, and is marked, since it may
have been cut off.  In qrels and runs, lines that begin with ``#`` are comments, as in trec_eval; a comment that looks
like data is reported by a warning.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from venire.data.ids import as_bytes
from venire.errors import CommentWarning, FormatError
from venire.io.files import opened
from venire.io.limits import current, over
from venire.results import counted
from venire.scan.fields import Fault, Fields, split
from venire.scan.slices import padded

CHUNK = 1 << 22

BOM = b"\xef\xbb\xbf"
COMMENT = re.compile(rb"^#[^\n]*", re.MULTILINE)
NUMBER = re.compile(rb"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


class Chunk(NamedTuple):
    """Whole lines; ``cut``: the last one had no line end, and got one; ``before``: the line before them."""

    data: bytes
    cut: bool = False
    before: bytes = b""


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

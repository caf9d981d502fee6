"""What can be seen of a text without knowing what it holds: line ends, encoding, lines that do not fit.

A reader stops at the first thing that is wrong.  A survey goes on, and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from venire.data.ids import as_text
from venire.errors import FormatError, VenireError
from venire.results import counted
from venire.scan.fields import Fields, split
from venire.scan.slices import PADDING, padded

TAB, LF, VT, FF, CR, SPACE, HASH = 9, 10, 11, 12, 13, 32, 35


@dataclass(frozen=True)
class Problem:
    """Something to know about a file; ``line`` counts from 1, ``fatal``: the file cannot be read as it is."""

    what: str
    line: int | None = None
    hint: str | None = None
    fatal: bool = False


class Found(NamedTuple):
    """One kind of trouble: on how many lines, which is the first (from 0), and what stands there."""

    line: int
    n_lines: int
    detail: str = ""

    def such(self, plural: str = "such lines") -> str:
        """Return how many more there are, as an addition to a sentence."""
        return f" ({self.n_lines:,} {plural})" if self.n_lines > 1 else ""


class TextFacts(NamedTuple):
    """Counts over the lines of a text; ``invalid`` is the first line that is not UTF-8, from 0."""

    n_bytes: int = 0
    n_lines: int = 0
    comments: int = 0
    empty: int = 0
    crlf: int = 0
    lone_cr: int = 0
    ascii: bool = True
    invalid: int | None = None

    def plus(self, other: TextFacts) -> TextFacts:
        """Add the counts of the text that follows."""
        invalid = self.invalid
        if invalid is None and other.invalid is not None:
            invalid = self.n_lines + other.invalid
        return TextFacts(
            self.n_bytes + other.n_bytes,
            self.n_lines + other.n_lines,
            self.comments + other.comments,
            self.empty + other.empty,
            self.crlf + other.crlf,
            self.lone_cr + other.lone_cr,
            self.ascii and other.ascii,
            invalid,
        )


def survey_text(data: bytes) -> TextFacts:
    """Count what whole lines look like.  O(bytes)."""
    text = np.frombuffer(data, dtype=np.uint8)
    newline = np.flatnonzero(text == LF)
    length = np.diff(newline, prepend=-1) - 1
    crlf = data.count(b"\r\n")
    return TextFacts(
        len(data),
        len(newline),
        data.count(b"\n#") + data.startswith(b"#"),
        int((length == 0).sum() + ((length == 1) & (text[newline - 1] == CR)).sum()),
        crlf,
        data.count(b"\r") - crlf,
        data.isascii(),
        _first_invalid(data),
    )


def _first_invalid(data: bytes) -> int | None:
    try:
        if not data.isascii():
            data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start)
    return None


def described(text: TextFacts, *, bom: bool) -> dict[str, object]:
    """Return the facts of a text under their names."""
    encoding = "ASCII" if text.ascii else "UTF-8" if text.invalid is None else "not UTF-8"
    ends = "LF" if not text.crlf else "CRLF" if text.crlf == text.n_lines else "LF and CRLF"
    return {
        "bytes": text.n_bytes,
        "lines": text.n_lines,
        "encoding": encoding + " with byte order mark" * bom,
        "line_ends": ends,
        "comments": text.comments,
        "empty_lines": text.empty,
    }


def text_problems(text: TextFacts, *, cut: bool) -> list[Problem]:
    """Say what is odd about a text; nothing here keeps it from being read."""
    problems = []
    if text.invalid is not None:
        hint = "names are kept byte for byte; for readable ones convert it: iconv -f LATIN1 -t UTF-8"
        problems.append(Problem("is not UTF-8 from here on", text.invalid + 1, hint))
    if text.crlf and text.crlf != text.n_lines:
        problems.append(Problem(f"{text.crlf:,} of {text.n_lines:,} lines end in CRLF, the others in LF"))
    if text.lone_cr:
        hint = "lines must end in LF or CRLF: tr '\\r' '\\n' turns them"
        problems.append(Problem(f"{text.lone_cr:,} carriage returns do not end a line", hint=hint))
    if cut:
        hint = "if the file was cut off, fetch it again"
        problems.append(Problem("the last line has no line end", text.n_lines, hint))
    return problems


def split_leniently(data: bytes, n_columns: int) -> tuple[Fields, dict[str, Found]]:
    """Split whole lines into fields; lines that do not fit are left out, and counted by what is wrong with them."""
    fields = split(padded(data), n_columns)
    if fields.fault is None:
        return fields, {}
    buffer = padded(data).copy()
    text = buffer[: len(buffer) - PADDING]
    newline = np.flatnonzero(text == LF)
    begin = np.append(0, newline[:-1] + 1)
    control = (text < SPACE) & ~np.isin(text, np.array([TAB, LF, VT, FF, CR], dtype=np.uint8))
    odd = np.unique(np.searchsorted(newline, np.flatnonzero(control)))
    first = f"0x{text[np.argmax(control)]:02x}"
    text[control] = ord("?")
    inside = text > SPACE
    field = np.flatnonzero(inside & np.append(True, ~inside[:-1]))
    count = np.bincount(np.searchsorted(newline, field), minlength=len(newline))
    wrong = np.flatnonzero((count != n_columns) & (count > 0) & (text[begin] != HASH))
    text[begin[np.union1d(odd, wrong)]] = HASH
    found = {"control": Found(int(odd[0]), len(odd), first)} if len(odd) else {}
    if len(wrong):
        line = data[begin[wrong[0]] : newline[wrong[0]]]
        shown = f"{counted(int(count[wrong[0]]), 'column')} in {as_text(line[:60]).strip()!r}"
        found["columns"] = Found(int(wrong[0]), len(wrong), shown)
    return split(buffer, n_columns), found


def misfits(found: Mapping[str, Found], expected: str) -> list[Problem]:
    """Say which lines do not fit."""
    problems = []
    if one := found.get("control"):
        what = f"found the control byte {one.detail}, which no text holds{one.such()}"
        hint = "compressed files must be gz or zst, and Parquet files end in .parquet"
        problems.append(Problem(what, one.line + 1, hint, fatal=True))
    if one := found.get("columns"):
        what = f"found {one.detail}, expected {expected}{one.such()}"
        problems.append(Problem(what, one.line + 1, "correct or remove such lines", fatal=True))
    return problems


def problem_of(error: VenireError) -> Problem:
    """Put what a reader raised into the form of a problem."""
    if not isinstance(error, FormatError):
        return Problem(error.message, None, error.hint, fatal=True)
    place = f"{error.where}:{error.line}" if error.line is not None else f"{error.where}"
    return Problem(error.message.removeprefix(f"{place}: "), error.line, error.hint, fatal=True)


def joined(parts: Iterable[tuple[int, Mapping[str, Found]]]) -> dict[str, Found]:
    """Add up what was found in the parts of a file; each comes with the number of lines before it."""
    whole: dict[str, Found] = {}
    for before, found in parts:
        for kind, (line, n_lines, detail) in found.items():
            earlier = whole.get(kind)
            if earlier is None:
                whole[kind] = Found(before + line, n_lines, detail)
            else:
                whole[kind] = earlier._replace(n_lines=earlier.n_lines + n_lines)
    return whole

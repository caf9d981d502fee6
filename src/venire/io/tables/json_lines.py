"""JSONL: lines of JSON objects as frames, with what is wrong found before and after a fast parser read them.

Objects may lack keys, and numbers become text as written.  The parser infers a type for everything that is nested in an
object, and keeps the last of two values under one key; hence nested values are left out, and repeated keys refused.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from venire.errors import FormatError
from venire.io.limits import current, over
from venire.results import counted
from venire.types import Ints, Octets

if TYPE_CHECKING:
    import polars as pl

LF, SPACE, QUOTE, BACKSLASH = b'\n "\\'

BRACKET = np.zeros(256, dtype=np.int8)
BRACKET[[ord("{"), ord("[")]], BRACKET[[ord("}"), ord("]")]] = 1, -1
KEY = re.compile(rb'"(?:[^"\\\n]|\\.)*+"(?=\s*+:)')
"""A key of a JSON object, or a text that looks like one."""
USUAL_KEY = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+')
"""A key that can be written without escapes."""
FIRST = 64
"""Objects among whose keys those of all others usually are."""


def parsed(block: bytes, before: int, where: object) -> tuple[pl.DataFrame, Ints]:
    """Parse whole lines -> a frame with a row per object, and each row's line; before: the number of lines ahead.

    block: UTF-8 without zero bytes.
    A column that is an object or a list of lists somewhere is empty, and of a nested type.
    """
    import polars as pl

    lines, number = _filled_lines(block)
    number += before + 1
    if not lines:
        return pl.DataFrame(), number
    lines, nested = _without_nested(lines, number, where)
    frame = _parsed_lines(lines, number, where)
    nothing = pl.Series([None], dtype=pl.Struct({"nested": pl.Null})).new_from_index(0, frame.height)
    return frame.with_columns(nothing.alias(name) for name in nested if name in frame.columns), number


def first_keys(block: bytes) -> list[str]:
    """Return the keys of the first objects as they come; none if they are unusual, or a line is no object."""
    lines = (line for line in io.BytesIO(block) if line.strip(b"\r\n"))
    keys: dict[str, None] = {}
    try:
        for line in islice(lines, FIRST):
            found = json.loads(line, parse_int=str)
            keys.update(dict.fromkeys(found if isinstance(found, dict) else [""]))
    except (ValueError, RecursionError):
        return []
    usual = len(keys) <= current().columns and all(map(USUAL_KEY.fullmatch, keys))
    return list(keys) if usual else []


def _filled_lines(chunk: bytes) -> tuple[bytes, Ints]:
    """Return the lines that are not empty, without carriage returns, and their numbers from 0."""
    text = np.frombuffer(chunk.replace(b"\r\n", b"\n"), dtype=np.uint8)
    length = np.diff(np.flatnonzero(text == ord("\n")), prepend=-1)
    filled = length > 1
    return text[np.repeat(filled, length)].tobytes(), np.flatnonzero(filled)


def _without_nested(lines: bytes, number: Ints, where: object) -> tuple[bytes, set[str]]:
    """Replace objects and lists of lists within objects by an empty text -> the lines, and the keys of those.

    The parser would infer a type for all that is nested in them, at a cost that grows fast with their depth.  Lists of
    texts or numbers stay.  Cost: one pass over the bytes, and where there are brackets besides those of each line's
    object a few more.
    """
    if lines.count(b"{") <= len(number) and b"[" not in lines:
        return lines, set()
    text = np.frombuffer(lines, dtype=np.uint8)
    quote = _real_quotes(text, lines)
    place = np.flatnonzero(BRACKET[text])
    ends = np.flatnonzero(text == LF)
    line = np.searchsorted(ends, place)
    before = np.searchsorted(quote, place)
    begun = np.append(0, np.searchsorted(quote, ends))  # quotes ahead of each line
    real = (before - begun[line]) % 2 == 0
    place, line = place[real], line[real]
    step = BRACKET[text[place]].astype(np.int64)
    depth = np.append(0, np.cumsum(step))
    depth = depth[1:] - depth[np.searchsorted(line, np.arange(len(number)))][line]
    most = current().json_depth
    if len(deep := np.flatnonzero(depth > most)):
        found = f"JSON nested more than {most} levels deep"
        raise over("json_depth", where, int(number[line[deep[0]]]), found, hint="write one flat object per line")
    opening = np.flatnonzero((step > 0) & (depth == 2))
    flat = (text[place[opening]] == ord("[")) & (np.append(depth, 0)[opening + 1] == 1)
    opening = opening[~flat]
    if len(opening) == 0:
        return lines, set()
    shallow = np.append(np.flatnonzero((depth <= 1) & (step < 0)), len(place))
    closing = shallow[np.searchsorted(shallow, opening)]
    whole = np.append(line, -1)[closing] == line[opening]
    start, end = place[opening[whole]], place[closing[whole]]
    return _blanked(text, start, end), set(_keys(lines, quote, start))


def _real_quotes(text: Octets, lines: bytes) -> Ints:
    """Return the places of quotes that begin or end a text: those after an even number of backslashes."""
    quote = np.flatnonzero(text == QUOTE)
    if b"\\" not in lines:
        return quote
    slash = np.flatnonzero(text == BACKSLASH)
    begins = np.append(True, np.diff(slash) > 1)
    run = np.cumsum(begins) - 1
    length = np.bincount(run)
    ends = slash[np.append(np.flatnonzero(begins)[1:] - 1, len(slash) - 1)]
    odd = ends[length % 2 == 1] + 1
    return quote[~np.isin(quote, odd, assume_unique=True)]


def _keys(lines: bytes, quote: Ints, value: Ints) -> list[str]:
    """Return the different keys of values that begin at these places: the text that ended last."""
    last = np.searchsorted(quote, value)
    last = last[last >= 2]
    raw = {
        lines[begin : end + 1] for begin, end in zip(quote[last - 2].tolist(), quote[last - 1].tolist(), strict=True)
    }
    found = []
    for key in raw:
        with suppress(ValueError):
            found.append(str(json.loads(key)))
    return found


def _blanked(text: Octets, start: Ints, end: Ints) -> bytes:
    """Write an empty text over each range of bytes, both ends included."""
    edge = np.zeros(len(text) + 1, dtype=np.int8)
    edge[start] += 1
    edge[end + 1] -= 1
    found = np.where(np.cumsum(edge[:-1], dtype=np.int8) > 0, np.uint8(SPACE), text)
    found[start], found[start + 1] = QUOTE, QUOTE
    return found.tobytes()


def _parsed_lines(lines: bytes, number: Ints, where: object) -> pl.DataFrame:
    """Parse lines, none of them empty; number: that of each line, for errors."""
    import polars as pl

    counts = _key_counts(lines, number, where)
    try:
        frame = pl.read_ndjson(lines, infer_schema_length=None)
    except (pl.exceptions.PolarsError, RuntimeError) as error:
        raise _fault(lines, number, where, str(error)) from None
    if frame.height != len(number):
        raise _fault(lines, number, where, f"{counted(frame.height, 'object')} on {counted(len(number), 'line')}")
    _refuse_twice(lines, number, frame, where, counts)
    return frame


def _key_counts(lines: bytes, number: Ints, where: object) -> dict[bytes, int]:
    """Count how often the keys of the first object occur; raise where all keys are more than a table has columns.

    Each would be a whole column.  Where objects have no other keys than the first, counting them shows it.
    """
    most = current().columns
    names = set(islice(KEY.findall(lines[: lines.find(b"\n")]), most))
    counts = {name: lines.count(name) for name in names}
    if lines.count(b'":') <= sum(counts.values()):
        return counts
    seen: dict[bytes, None] = {}
    for found in KEY.finditer(lines):
        seen[found[0]] = None
        if len(seen) > most:
            line = int(number[min(lines.count(b"\n", 0, found.start()), len(number) - 1)])
            hint = "write topics, documents and labels as values, under a few keys"
            raise over("columns", where, line, f"more than {most:,} different keys", hint=hint)
    return counts


def _refuse_twice(lines: bytes, number: Ints, frame: pl.DataFrame, where: object, counts: Mapping[bytes, int]) -> None:
    """Raise at the first object that has a key twice; counts: how often some keys occur.

    Lines are parsed one by one only where there are more keys than values: not in a file without nulls.
    """
    names = {json.dumps(name, ensure_ascii=ascii).encode() for name in frame.columns for ascii in (True, False)}
    n_values = frame.height * frame.width - sum(frame.null_count().row(0))
    if sum(counts[name] if name in counts else lines.count(name) for name in names) <= n_values:
        return
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        if (fault := _twice(text, line, where)) is not None:
            raise fault


def _twice(text: bytes, line: int, where: object) -> FormatError | None:
    """Return the error for an object that has a key twice, if it does."""
    keys = [key for key, _ in json.loads(text, object_pairs_hook=list, parse_int=str)]
    twice = [key for key, times in Counter(keys).items() if times > 1]
    hint = "each object has one value for a key"
    return FormatError(where, line, f"the object has the key {twice[0]!r} twice", hint=hint) if twice else None


def _fault(lines: bytes, number: Ints, where: object, message: str) -> FormatError:
    """Return the error for the first line that is not a JSON object."""
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        shown = repr(text[:60].decode("utf-8", "replace"))
        try:
            found = json.loads(text, parse_int=str)
        except (ValueError, RecursionError) as error:
            return FormatError(where, line, f"{shown} is not JSON ({error})")
        if not isinstance(found, dict):
            return FormatError(where, line, f'found {shown}, expected an object like {{"topic": "51", ...}}')
        if (fault := _twice(text, line, where)) is not None:
            return fault
    line = int(number[_first_refused(lines)])
    return FormatError(where, line, f"the lines from here on cannot be read ({message})")


def _first_refused(lines: bytes) -> int:
    """Return the position of a line that the parser does not take, found by halves; 0 if it takes each."""
    rest, first = lines.removesuffix(b"\n").split(b"\n"), 0
    while len(rest) > 1:
        half = len(rest) // 2
        refused = _refused(rest[:half])
        rest, first = (rest[:half], first) if refused else (rest[half:], first + half)
    return first if _refused(rest) else 0


def _refused(lines: list[bytes]) -> bool:
    import polars as pl

    try:
        pl.read_ndjson(b"\n".join(lines), infer_schema_length=None)
    except (pl.exceptions.PolarsError, RuntimeError):
        return True
    return False

"""Small files that are read whole: TOML beside judgments, and JSON that Venire saved.

Whatever is wrong with them is an error of ours, also nesting that a parser cannot follow, and numbers with thousands of
digits.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from venire.errors import FormatError
from venire.io.files import opened
from venire.io.limits import current, over
from venire.io.lines import BOM, refuse_long_lines
from venire.types import Floats, Ints

_TYPES = {str: "text", bool: "true or false", list: "a list"}
MOST_COUNTED = 2.0**53
"""From here on not every whole number is a float."""
FORMAT = 1
"""Version of the format of saved files; a change that older versions of Venire cannot read raises it."""

PART = r"""(?<![\w-])(?:(?>[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
"""A part of a key of TOML, with the dot behind it."""


def read_small(path: Path) -> bytes:
    """Read a file of lines whole, up to the limits on its size and that of lines, without byte order mark."""
    data = _content(path, "document_size")
    refuse_long_lines(data, path)
    return data


def _content(path: Path, limit: str) -> bytes:
    """Read a file whole, up to the limit of this name, without byte order mark."""
    most = getattr(current(), limit)
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise over(limit, path, None, f"more than {most:,} bytes")
    return data.removeprefix(BOM)


def read_text(path: Path, limit: str = "document_size") -> str:
    """Read a text in UTF-8, up to the limit of this name."""
    data = _content(path, limit)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        hint = "save it as UTF-8 text"
        raise FormatError(path, line, f"found the byte 0x{byte:02x}, which is not UTF-8", hint=hint) from None


def read_toml(path: Path, *, hint: str) -> dict[str, Any]:
    """Read TOML; hint: what was expected."""
    return parsed_toml(read_text(path, "toml_size"), path, hint=hint)


def parsed_toml(text: str, path: Path, *, hint: str) -> dict[str, Any]:
    """Parse the text of a TOML file.

    The parser takes quadratic time for a key of many parts, so that these are refused before.
    """
    if re.search(f"{PART}{{{current().json_depth}}}", text):
        raise _too_deep(path, "TOML")
    found: dict[str, Any] = _parsed(text, tomllib.loads, path, form="TOML", hint=hint)
    return found


def read_json(path: Path, *, hint: str | None = None, limit: str = "json_size") -> Any:
    """Read one JSON value, up to the limit of this name; hint: what was expected."""
    return parsed_json(read_text(path, limit), path, hint=hint)


def parsed_json(text: str, path: Path, line: int | None = None, *, hint: str | None = None) -> Any:
    """Parse one JSON value, of a whole file or of a line of it; an object that has a key twice is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            hint = "each object has one value for a key"
            raise FormatError(path, line, f"an object has the key {twice[:60]!r} twice", hint=hint)
        return held

    return _parsed(text, partial(json.loads, object_pairs_hook=once), path, line, form="JSON", hint=hint)


def read_saved(path: Path, kind: str, *, what: str, hint: str) -> dict[str, Any]:
    """Read a JSON object that Venire saved, of this kind; one in a later format is refused.

    what: as in "is not a saved fit"; hint: how to make one.
    """
    held = read_json(path, hint=hint)
    if not isinstance(held, dict) or held.get("kind") != kind:
        raise FormatError(path, None, f"is not {what}", hint=hint)
    version = held.get("version")
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        ways = f"read it with the version of venire that wrote it, or {hint}"
        more = f" ({held['venire']})" if newer and isinstance(held.get("venire"), str) else ""
        found = f"has format {version!r}" + (f", written by a later version of venire{more}" if newer else "")
        raise FormatError(path, None, f"{found}, expected {FORMAT}", hint=ways)
    return held


def header(kind: str) -> dict[str, Any]:
    """Return what every saved object begins with: its kind, its format, and the version of Venire."""
    from importlib.metadata import version

    return {"kind": kind, "version": FORMAT, "venire": version("venire")}


def saved(kind: str, **members: Any) -> str:
    """Return a JSON object with a header, as ``read_saved`` reads it."""
    return json.dumps({**header(kind), **members}, ensure_ascii=False, indent=1, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    return value.tolist()


def _parsed(
    text: str, parse: Callable[[str], Any], path: Path, line: int | None = None, *, form: str, hint: str | None
) -> Any:
    """Parse a text; what the parser cannot follow is an error, as is nesting beyond the limit."""
    try:
        found = parse(text)
    except RecursionError:
        raise _too_deep(path, form, line) from None
    except FormatError:
        raise
    except ValueError as error:  # also integers of more digits than Python reads
        raise FormatError(path, line, f"is not {form} ({error})", hint=hint) from None
    most, values, inner = current(), [found], list[Any]()
    largest = 10**most.digits
    for depth in range(most.json_depth + 1):
        if any(isinstance(each, int) and abs(each) >= largest for each in values):
            raise over("digits", path, line, f"{form} with an integer of more than {most.digits} digits")
        inner, values = values, [each for value in values for each in _held(value)]
        if not values and depth < most.json_depth:
            return found
    if any(isinstance(each, dict | list) for each in inner):
        raise _too_deep(path, form, line)
    return found


def _held(value: Any) -> Iterable[Any]:
    """Return what an object or a list holds."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _too_deep(path: Path, form: str, line: int | None = None) -> FormatError:
    return over("json_depth", path, line, f"{form} nested more than {current().json_depth} levels deep")


def typed(value: Any, expected: type) -> Any:
    """Return a value if it has this type: text, a list, or a truth value."""
    if not isinstance(value, expected):
        raise ValueError(f"found {value!r}, expected {_TYPES[expected]}")
    return value


def numbers(held: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats:
    """Return a member of a saved object as an array of finite numbers of this shape."""
    found = np.array(held[name], dtype=np.float64)
    if found.shape != shape:
        raise ValueError(f"{name} has the shape {found.shape}, expected {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return found


def counts(held: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Ints:
    """Return a member of a saved object as an array of counts of this shape."""
    found = numbers(held, name, shape)
    if (found < 0).any() or (found != np.floor(found)).any() or (found >= MOST_COUNTED).any():
        raise ValueError(f"{name} is not a count")
    return found.astype(np.int64)

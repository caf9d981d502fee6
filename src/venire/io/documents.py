"""Small files that are read whole: TOML beside judgments, and JSON that Venire wrote.

Whatever is wrong with them is an error of ours, also nesting that a parser cannot follow, and numbers with thousands of
digits.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from venire.errors import FormatError
from venire.io.limits import current, over
from venire.io.lines import BOM, opened, refuse_long_lines


def read_small(path: Path) -> bytes:
    """Read a file of lines whole, up to the limits on its size and that of lines, without byte order mark."""
    data = _content(path)
    refuse_long_lines(data, path)
    return data


def _content(path: Path) -> bytes:
    most = current().document_size
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise over("document_size", path, None, f"a document of more than {most:,} bytes")
    return data.removeprefix(BOM)


def read_document(path: Path) -> str:
    """Read a text file whole: UTF-8, up to the limit on its size."""
    data = _content(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        hint = "save it as UTF-8 text"
        raise FormatError(path, line, f"found the byte 0x{byte:02x}, which is not UTF-8", hint=hint) from None


def read_toml(path: Path, *, hint: str) -> dict[str, Any]:
    """Read TOML; hint: what was expected."""
    found: dict[str, Any] = _parsed(path, tomllib.loads, "TOML", hint)
    return found


def read_json(path: Path, *, hint: str | None = None) -> Any:
    """Read one JSON value; hint: what was expected."""
    return _parsed(path, json.loads, "JSON", hint)


def _parsed(path: Path, parse: Callable[[str], Any], form: str, hint: str | None) -> Any:
    text = read_document(path)
    try:
        found = parse(text)
    except RecursionError:
        raise _too_deep(path, form) from None
    except ValueError as error:  # also integers of more digits than Python reads
        raise FormatError(path, None, f"is not {form} ({error})", hint=hint) from None
    level = [found]
    for _ in range(current().json_depth):
        level = [each for held in level for each in _held(held)]
    if level:
        raise _too_deep(path, form)
    return found


def _held(value: Any) -> list[Any]:
    """Return the objects and lists that an object or a list holds."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inner if isinstance(each, dict | list)]


def _too_deep(path: Path, form: str) -> FormatError:
    return over("json_depth", path, None, f"{form} nested more than {current().json_depth} levels deep")

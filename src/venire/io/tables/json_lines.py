"""JSONL: one JSON object per line, read in batches; objects may lack keys, and numbers become text as written.

Memory: that of a batch, besides the text and what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from venire.errors import FormatError
from venire.io.tables.cells import Batch, batch_of
from venire.io.tables.columns import Form, find_columns
from venire.io.tables.delimited import refuse_bytes
from venire.results import counted
from venire.types import Ints

if TYPE_CHECKING:
    import polars as pl

BATCH = 1 << 23


def read_json_lines(data: bytes, form: Form) -> Iterator[Batch]:
    """Read lines of JSON objects, in batches of whole lines."""
    data = data if data.endswith(b"\n") else data + b"\n"
    start, line = 0, 0
    while start < len(data):
        end = data.find(b"\n", min(start + BATCH, len(data) - 1)) + 1
        chunk = data[start:end]
        refuse_bytes(chunk, line, form.where)
        lines, number = filled_lines(chunk)
        number += line + 1
        if lines:
            frame = parsed_lines(lines, number, form)
            columns = find_columns(frame.columns, form, line=int(number[0]))
            form = form._replace(layout=form.layout or columns.layout)
            yield batch_of(frame, columns, number)
        start, line = end, line + chunk.count(b"\n")


def filled_lines(chunk: bytes) -> tuple[bytes, Ints]:
    """Return the lines that are not empty, without carriage returns, and their numbers from 0."""
    text = np.frombuffer(chunk.replace(b"\r\n", b"\n"), dtype=np.uint8)
    length = np.diff(np.flatnonzero(text == ord("\n")), prepend=-1)
    filled = length > 1
    return text[np.repeat(filled, length)].tobytes(), np.flatnonzero(filled)


def parsed_lines(lines: bytes, number: Ints, form: Form) -> pl.DataFrame:
    """Parse lines, none of them empty; number: that of each line, for errors."""
    import polars as pl

    try:
        frame = pl.read_ndjson(lines, infer_schema_length=None)
    except (pl.exceptions.PolarsError, RuntimeError) as error:
        raise _fault(lines, number, form, str(error)) from None
    if frame.height != len(number):
        raise _fault(lines, number, form, f"{counted(frame.height, 'object')} on {counted(len(number), 'line')}")
    _refuse_twice(lines, number, frame, form)
    return frame


def _refuse_twice(lines: bytes, number: Ints, frame: pl.DataFrame, form: Form) -> None:
    """Raise at the first object that has a key twice.

    Lines are parsed one by one only where there are more keys than values: not in a file without nulls.
    """
    names = {json.dumps(name, ensure_ascii=ascii).encode() for name in frame.columns for ascii in (True, False)}
    n_values = frame.height * frame.width - sum(frame.null_count().row(0))
    if sum(lines.count(name) for name in names) <= n_values:
        return
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        if (fault := _twice(text, line, form)) is not None:
            raise fault


def _twice(text: bytes, line: int, form: Form) -> FormatError | None:
    """Return the error for an object that has a key twice, if it does."""
    keys = [key for key, _ in json.loads(text, object_pairs_hook=list)]
    twice = [key for place, key in enumerate(keys) if key in keys[:place]] if len(set(keys)) < len(keys) else []
    hint = "each object has one value for a key"
    return FormatError(form.where, line, f"the object has the key {twice[0]!r} twice", hint=hint) if twice else None


def _fault(lines: bytes, number: Ints, form: Form, message: str) -> FormatError:
    """Return the error for the first line that is not a JSON object."""
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        shown = repr(text[:60].decode("utf-8", "replace"))
        try:
            found = json.loads(text)
        except ValueError as error:
            return FormatError(form.where, line, f"{shown} is not JSON ({error})")
        if not isinstance(found, dict):
            return FormatError(form.where, line, f'found {shown}, expected an object like {{"topic": "51", ...}}')
        if (fault := _twice(text, line, form)) is not None:
            return fault
    return FormatError(form.where, int(number[0]), f"the lines from here on cannot be read ({message})")

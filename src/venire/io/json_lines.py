"""JSONL: one JSON object per line, read in batches; keys may come and go, and numbers become text as they are written.

Memory: that of a batch beside the text and what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from venire.errors import FormatError
from venire.io.column_names import Form, find_columns
from venire.io.delimited import refuse_bytes
from venire.io.frames import Batch, batch_of
from venire.types import Ints
from venire.words import counted

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
            yield batch_of(frame, columns, number)
        start, line = end, line + chunk.count(b"\n")


def filled_lines(chunk: bytes) -> tuple[bytes, Ints]:
    """Leave out carriage returns and the lines that are empty; the others, and their numbers from 0."""
    text = np.frombuffer(chunk.replace(b"\r\n", b"\n"), dtype=np.uint8)
    length = np.diff(np.flatnonzero(text == ord("\n")), prepend=-1)
    filled = length > 1
    return text[np.repeat(filled, length)].tobytes(), np.flatnonzero(filled)


def parsed_lines(lines: bytes, number: Ints, form: Form) -> pl.DataFrame:
    """Parse lines that hold something; number: that of each line, for errors."""
    import polars as pl

    try:
        frame = pl.read_ndjson(lines, infer_schema_length=None)
    except (pl.exceptions.PolarsError, RuntimeError) as error:
        raise _fault(lines, number, form, str(error)) from None
    if frame.height != len(number):
        raise _fault(lines, number, form, f"{counted(frame.height, 'object')} on {counted(len(number), 'line')}")
    return frame


def _fault(lines: bytes, number: Ints, form: Form, message: str) -> FormatError:
    """Find the first line that is no JSON object."""
    for line, text in zip(number.tolist(), lines.split(b"\n"), strict=False):
        shown = repr(text[:60].decode("utf-8", "replace"))
        try:
            found = json.loads(text)
        except ValueError as error:
            return FormatError(form.where, line, f"{shown} is not JSON ({error})")
        if not isinstance(found, dict):
            return FormatError(form.where, line, f'found {shown}, expected an object like {{"topic": "51", ...}}')
    return FormatError(form.where, int(number[0]), f"the lines from here on cannot be read ({message})")

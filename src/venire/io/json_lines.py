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
from venire.io.frames import Batch
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
        number = line + 1 + _filled(chunk)
        if len(number):
            frame = _parsed(chunk, line, number, form)
            columns = find_columns(frame.columns, form, line=int(number[0]))
            yield Batch(frame.select(columns.used()), columns, number)
        start, line = end, line + chunk.count(b"\n")


def _filled(chunk: bytes) -> Ints:
    """Numbers, from 0, of the lines that hold more than a line end."""
    text = np.frombuffer(chunk, dtype=np.uint8)
    newline = np.flatnonzero(text == ord("\n"))
    length = np.diff(newline, prepend=-1)
    return np.flatnonzero((length > 2) | ((length == 2) & (text[newline - 1] != ord("\r"))))


def _parsed(chunk: bytes, before: int, number: Ints, form: Form) -> pl.DataFrame:
    import polars as pl

    refuse_bytes(chunk, before, form.where)
    try:
        frame = pl.read_ndjson(chunk, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        raise _fault(chunk, number, form, str(error)) from None
    if len(frame) != len(number):
        raise _fault(chunk, number, form, f"{len(number)} lines hold {len(frame)} objects")
    return frame


def _fault(chunk: bytes, number: Ints, form: Form, message: str) -> FormatError:
    """Find the first line that is no JSON object."""
    lines = (line for line in chunk.split(b"\n") if line.removesuffix(b"\r"))
    for line, text in zip(number.tolist(), lines, strict=True):
        shown = repr(text[:60].decode("utf-8", "replace"))
        try:
            found = json.loads(text)
        except ValueError as error:
            return FormatError(form.where, line, f"{shown} is not JSON ({error})")
        if not isinstance(found, dict):
            return FormatError(form.where, line, f'found {shown}, expected an object like {{"topic": "51", ...}}')
    return FormatError(form.where, int(number[0]), f"the lines from here on cannot be read ({message})")

"""Cells of tables: numbers and other types as text, and text as codes of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Category, Ids
from venire.errors import FormatError
from venire.io.limits import current, over
from venire.scan.slices import Slices, padded
from venire.types import Codes, Ints

if TYPE_CHECKING:
    import polars as pl

EXACT = 1 << 53
"""From here on not every integer is a float."""
NAMES_AT_ONCE = 1 << 20


def texts(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return the text of each cell, null where it is empty; line (row,) is for errors."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Object:
        message = f"column {column.name!r} holds {column.dtype}, expected text or numbers"
        raise FormatError(where, None, message, hint="rename the column if it is not to be read, or unnest it")
    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    if column.dtype.is_float():
        column = _digits(column, where, line)
    try:
        text = column.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise FormatError(where, None, f"column {column.name!r} is not text ({error})") from None
    return text.set(text == "", None)


def _digits(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return floats as text, whole ones without a fraction."""
    import polars as pl

    column = column.fill_nan(None)
    whole = (column == column.floor()).fill_null(False)
    wrong = (whole & (column.abs() >= EXACT)).arg_true()
    if len(wrong):
        message = f"{column[wrong[0]]} in column {column.name!r} may have lost its last digits"
        raise FormatError(where, int(line[wrong[0]]), message, hint="store such numbers as text or as integers")
    return column.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole, column.cast(pl.String))


def encoded(column: pl.Series, where: object, line: Ints) -> Category:
    """Encode a column of text without nulls; names come out in bytewise order.  O(n), and a sort of the names."""
    import polars as pl

    rows = column.alias("name").to_frame().with_row_index("row")
    first = rows.select(pl.col("row").min().over("name")).to_series().to_numpy()
    leading = np.flatnonzero(first == np.arange(len(first), dtype=first.dtype))
    names = column.gather(leading)
    order = names.arg_sort().to_numpy()
    code: Codes = np.empty(len(first), dtype=np.int32)
    code[leading[order]] = np.arange(len(order), dtype=np.int32)
    category = Category(code[first], packed(names.gather(order)))
    buffer, _, end = category.names.slices
    zero = np.flatnonzero(buffer[: end[-1]] == 0)
    if len(zero):
        wrong = int(np.searchsorted(end, zero[0], side="right"))
        row = int(np.argmax(category.codes == wrong))
        raise FormatError(where, int(line[row]), f"{column.name} {category.names[wrong]!r} has a zero byte")
    refuse_long_names(category, where, line, str(column.name))
    return category


def refuse_long_names(column: Category, where: object, line: Ints, what: str) -> None:
    """Raise at the first row whose name is longer than a field may be."""
    length = column.names.slices.end - column.names.slices.start
    if len(wrong := np.flatnonzero(length > current().field_length)):
        row = int(np.argmax(column.codes == wrong[0]))
        found = f"a field of {length[wrong[0]]:,} bytes ({what})"
        raise over("field_length", where, int(line[row]), found, hint="ids and labels are short")


def packed(names: pl.Series) -> Ids:
    """Pack a column of text into Ids."""
    parts = [names.slice(start, NAMES_AT_ONCE) for start in range(0, len(names), NAMES_AT_ONCE)]
    end = np.cumsum(names.str.len_bytes().to_numpy(), dtype=np.int64)
    start = np.append(0, end[:-1]) if len(end) else end
    return Ids(Slices(padded(b"".join(part.str.join("").item().encode() for part in parts)), start, end))

"""Columns of a table: cells as text, whatever their type, times as seconds, probabilities, and names as codes.

The text of an integer is its digits, that of a whole float the digits of the integer; an empty cell is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Category, Ids
from venire.errors import FormatError
from venire.scan.slices import Slices, padded
from venire.types import Codes, Ints

if TYPE_CHECKING:
    import polars as pl

EXACT = 1 << 53
"""From here on not every integer is a float."""
NAMES_AT_ONCE = 1 << 20


def picked(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Choose columns by name; unlike in a polars selection, ``*`` and ``^a$`` are names, not patterns."""
    import polars as pl

    return pl.DataFrame([frame[name] for name in names])


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


def seconds(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return times in seconds, null where empty: numbers as they are, dates since 1970 (UTC if they name no zone)."""
    import polars as pl

    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if isinstance(column.dtype, pl.Date | pl.Datetime):
        return column.dt.epoch("us") / 1e6
    text = texts(column, where, line)
    number = text.cast(pl.Float64, strict=False)
    dated = text.filter(number.is_null() & text.is_not_null()).unique()
    if len(dated) == 0:
        return number
    since = [_epoch(each) for each in dated]
    if None in since:
        wrong = dated[since.index(None)]
        message = f"{wrong!r} in column {column.name!r} is neither a number nor a time like 2013-05-31T12:00:00Z"
        hint = "rename the column if it is not the time of the label"
        raise FormatError(where, int(line[(text == wrong).arg_true()[0]]), message, hint=hint)
    return number.fill_null(text.replace_strict(dated, since, default=None, return_dtype=pl.Float64))


def probabilities(column: pl.Series, where: object, line: Ints) -> pl.Series:
    """Return probabilities above 0 and up to 1, null where empty; anything else is an error."""
    import polars as pl

    if column.dtype.is_numeric():
        given = column.cast(pl.Float64).fill_nan(None)
    else:
        given = texts(column, where, line).str.strip_chars()
        given = given.set(given == "", None)
    number = given.cast(pl.Float64, strict=False)
    right = ((number > 0) & (number <= 1)).fill_null(False)
    wrong = (given.is_not_null() & ~right).arg_true()
    if len(wrong):
        message = f"{given[wrong[0]]!r} in column {column.name!r} is not a probability above 0 and up to 1"
        hint = "rename the column if it is not the probability with which the item was chosen to be judged"
        raise FormatError(where, int(line[wrong[0]]), message, hint=hint)
    return number


def _epoch(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


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
    return category


def packed(names: pl.Series) -> Ids:
    """Pack a column of text into Ids."""
    parts = [names.slice(start, NAMES_AT_ONCE) for start in range(0, len(names), NAMES_AT_ONCE)]
    end = np.cumsum(names.str.len_bytes().to_numpy(), dtype=np.int64)
    start = np.append(0, end[:-1]) if len(end) else end
    return Ids(Slices(padded(b"".join(part.str.join("").item().encode() for part in parts)), start, end))

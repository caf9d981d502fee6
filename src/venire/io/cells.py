"""Cells of a table as text, whatever type their column has, and times as seconds.

An integer is its digits, a float that is whole is the integer's, an empty cell is null.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from venire.errors import FormatError
from venire.types import Ints

if TYPE_CHECKING:
    import polars as pl

EXACT = 1 << 53
"""From here on not every integer is a float."""


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
    """Write floats as text, whole ones without a fraction."""
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


def _epoch(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

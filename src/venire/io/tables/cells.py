"""Cells of tables: numbers and other types as text, and text as codes of names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Category, Ids, narrow
from venire.errors import FormatError
from venire.io.limits import current, over
from venire.scan.codes import gather
from venire.scan.names import Names, in_byte_order
from venire.scan.slices import Slices
from venire.types import Codes, Ints

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
    names = Names()
    return checked_names(names.add(column), names.all(), where, line, str(column.name))


def checked_names(
    codes: Codes,
    slices: Slices,
    where: object,
    line: Ints | range,
    what: str,
    *,
    small: bool = False,
    ordered: bool = True,
) -> Category:
    """Put names into bytewise order; raise at the first row whose name has a zero byte, or is too long.

    codes (row,) into slices, not negative; small: they come out in the narrowest type.  ordered False: names stay as
    they came.
    """
    if ordered:
        place, slices = in_byte_order(slices)
        codes = gather(narrow(place, len(place)) if small else place, codes)
    category = Category(codes, Ids(slices))
    written = slices.buffer[: slices.end[-1]] if len(slices.end) else slices.buffer[:0]
    if not written.min(initial=1):
        wrong = int(np.searchsorted(slices.end, np.argmin(written), side="right"))
        row = int(np.argmax(category.codes == wrong))
        raise FormatError(where, int(line[row]), f"{what} {category.names[wrong]!r} has a zero byte")
    refuse_long_names(category, where, line, what)
    return category


def refuse_long_names(column: Category, where: object, line: Ints | range, what: str) -> None:
    """Raise at the first row whose name is longer than a field may be."""
    length = column.names.slices.end - column.names.slices.start
    if len(wrong := np.flatnonzero(length > current().field_length)):
        row = int(np.argmax(column.codes == wrong[0]))
        found = f"a field of {length[wrong[0]]:,} bytes ({what})"
        raise over("field_length", where, int(line[row]), found, hint="ids and labels are short")


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

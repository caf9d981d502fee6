"""Cells of tables: numbers and other types as text, and text as codes of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Category, Ids, narrow
from venire.errors import FormatError
from venire.io.limits import current, over
from venire.scan.names import Names, in_byte_order
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
    return checked_names(names.add(column), names, where, line, str(column.name))


def checked_names(
    codes: Codes, names: Names, where: object, line: Ints | range, what: str, *, small: bool = False
) -> Category:
    """Put names into bytewise order; raise at the first row whose name has a zero byte, or is too long.

    codes (row,), not negative; small: they come out in the narrowest type.
    """
    place, ordered = in_byte_order(names.all())
    category = Category((narrow(place, len(place)) if small else place)[codes], Ids(ordered))
    zero = np.flatnonzero(ordered.buffer[: ordered.end[-1]] == 0) if len(place) else place
    if len(zero):
        wrong = int(np.searchsorted(ordered.end, zero[0], side="right"))
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

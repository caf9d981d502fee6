"""What all readers share: the files behind a name, columns that white space separates, tables as data frames."""

from __future__ import annotations

import glob
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.errors import FormatError
from venire.io.lines import STDIN, read_bytes
from venire.results import counted
from venire.scan.fields import Fault, Fields, split
from venire.scan.slices import padded
from venire.types import Ints

if TYPE_CHECKING:
    import polars as pl


def expanded(source: str | Path) -> list[Path]:
    """Return the files behind a path, a folder or a pattern; hidden files of a folder are left out."""
    path = Path(source)
    if not str(source):
        raise FormatError("", None, "the name of a file is empty")
    if path == STDIN or path.is_file():
        return [path]
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        if not files:
            raise FormatError(path, None, "is a folder without files", hint="name files, or the folder they are in")
        return files
    if not glob.has_magic(str(source)):
        raise FormatError(source, None, "there is no such file or folder", hint=f"looked from {Path.cwd()}")
    found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 - absolute patterns too
    if files := sorted(each for each in found if each.is_file()):
        return files
    raise FormatError(source, None, "no file matches this pattern", hint=f"looked from {Path.cwd()}")


def split_columns(data: bytes, names: Sequence[str], where: object) -> Fields:
    """Split a whole text into as many columns as there are names; raise at the first line that does not fit."""
    fields = split(padded(data if data.endswith(b"\n") else data + b"\n"), len(names))
    if (fault := fields.fault) is not None:
        raise line_fault(where, fault.line + 1, data.split(b"\n")[fault.line], fault, names)
    return fields


def line_fault(
    where: object, line: int, text: bytes, fault: Fault, names: Sequence[str], *, cut: bool = False
) -> FormatError:
    """Describe a line that holds a control byte, or too few or too many columns; cut: it has no line end."""
    if fault.kind == "control":
        hint = "compressed files must be gz or zst, and Parquet files end in .parquet"
        message = f"found the control byte 0x{fault.detail:02x}: this is not a text file"
        return FormatError(where, line, message, hint=hint)
    hint = "ids contain no white space, and columns are separated by spaces or tabs"
    if cut:
        hint = "the last line has no line end: the file may have been cut off"
    elif (fault.detail, len(names)) in ((6, 4), (4, 6)):
        hint = f"this looks like {'a run' if fault.detail == 6 else 'judgments'}: judgments come first, then runs"
    shown, expected = text[:60].decode("utf-8", "replace").strip(), f"{len(names)}: {', '.join(names)}"
    return FormatError(
        where, line, f"found {counted(fault.detail, 'column')} in {shown!r}, expected {expected}", hint=hint
    )


class TableRows(NamedTuple):
    """A table as read: its frame, the line of each row (row,), and its name in errors."""

    frame: pl.DataFrame
    line: Ints
    where: object


def read_frame(path: Path, data: bytes | None = None) -> TableRows:
    """Read a whole table, Parquet, JSON Lines, CSV or TSV by its first bytes and its name; cells of text stay text.

    data: the bytes of the file, where they were read already.  Lines of Parquet are its rows, from 1.
    """
    import polars as pl

    from venire.io.column_names import Form
    from venire.io.delimited import checked_rows, find_layout, refuse_bytes
    from venire.io.json_lines import filled_lines, parsed_lines
    from venire.io.table_formats import JSON_LINES, PARQUET, SEPARATOR, ending_of

    data, ending = read_bytes(path) if data is None else data, ending_of(path.name)
    if data.startswith(PARQUET) or ending == ".parquet":
        try:
            return numbered(pl.read_parquet(io.BytesIO(data)), path)
        except pl.exceptions.PolarsError as error:
            raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None
    data = data if data.endswith(b"\n") else data + b"\n"
    if ending in JSON_LINES or (ending not in SEPARATOR and data[:4096].lstrip()[:1] == b"{"):
        refuse_bytes(data, 0, path)
        lines, number = filled_lines(data)
        return TableRows(parsed_lines(lines, number + 1, Form(path)) if lines else pl.DataFrame(), number + 1, path)
    layout = find_layout(data, path, preferred=SEPARATOR.get(ending, ""))
    schema, quote = dict.fromkeys(layout.names, pl.String), '"' if layout.quoted else None
    if not data[layout.start :].strip():
        return numbered(pl.DataFrame(schema=schema), path)
    rows, line = checked_rows(data[layout.start :], data.count(b"\n", 0, layout.start), layout)
    frame = pl.read_csv(rows, has_header=False, separator=layout.separator, quote_char=quote, schema=schema)
    return TableRows(frame, line, path)


def frame_of(source: Any, name: str) -> TableRows:
    """Take a frame of polars or pandas, or columns by name; lines count its rows from 1."""
    import polars as pl

    if isinstance(source, Mapping):
        return numbered(pl.DataFrame(source), name)
    from venire.io.column_names import Form
    from venire.io.tables import as_polars

    return numbered(as_polars(source, Form(name)), name)


def numbered(frame: pl.DataFrame, where: object) -> TableRows:
    """Number the rows of a frame from 1."""
    return TableRows(frame, np.arange(1, frame.height + 1), where)

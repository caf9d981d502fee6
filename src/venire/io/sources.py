"""What all readers share: the files behind a name, and columns that white space separates."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from venire.errors import FormatError
from venire.io.lines import STDIN
from venire.results import counted
from venire.scan.fields import Fault, Fields, split
from venire.scan.slices import padded


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

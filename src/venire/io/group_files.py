"""Groups of topics: a file of two columns, topic and group."""

from __future__ import annotations

from pathlib import Path

from venire.data.ids import as_text
from venire.errors import FormatError
from venire.io.lines import read_bytes

HEADER = ("topic", "group")


def read_groups(path: Path) -> dict[str, str]:
    """Read which group each topic belongs to; columns are separated by a tab, a comma or white space."""
    groups: dict[str, str] = {}
    for number, raw in enumerate(read_bytes(path).splitlines(), start=1):
        line = as_text(raw).strip()
        if not line or line.startswith("#"):
            continue
        separator = next((each for each in ("\t", ",") if each in line), None)
        fields = [field.strip() for field in line.split(separator, 1)]
        if len(fields) != 2 or not all(fields):
            raise FormatError(path, number, f"found {line[:60]!r}, expected a topic and its group", hint="51 ambiguous")
        if not groups and tuple(field.lower() for field in fields) == HEADER:
            continue
        if groups.setdefault(fields[0], fields[1]) != fields[1]:
            raise FormatError(path, number, f"topic {fields[0]!r} is in a second group", hint="keep one of the lines")
    if not groups:
        raise FormatError(path, None, "holds no groups", hint="expected lines of a topic and its group")
    return groups

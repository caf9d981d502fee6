"""Quepid exports a snapshot of a case as CSV: the documents that were returned for each query, with their positions.

Columns are Snapshot Name, Query Text, Doc ID and Doc Position, among others.  The run is named after the snapshot, a
topic is the text of its query.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.files import stem
from venire.io.sources.mapping import Row, run_table
from venire.io.sources.quepid import rows_of_csv
from venire.io.tables.columns import plain
from venire.results import first_few

COLUMNS = ("snapshotname", "querytext", "docid", "docposition")
"""As plain() writes them."""


def lists(path: Path) -> RunTable:
    """Read the lists of one snapshot; the first position has the highest score."""
    rows = rows_of_csv(path)
    line, names = next(rows, (1, []))
    known = [plain(name) for name in names]
    if not set(COLUMNS) <= set(known):
        raise FormatError(
            path, line, f"found the columns {first_few(names, 8) or 'none'}, expected those of a snapshot"
        )
    places = [known.index(name) for name in COLUMNS]
    systems: dict[str, None] = {}

    def scores() -> Iterator[Row]:
        for line, cells in rows:
            system, topic, doc, position = ([*cells, *[""] * len(names)][place] for place in places)
            if not doc:
                continue
            if not position.isdecimal():
                raise FormatError(path, line, f"found the position {position[:30]!r}, expected a number from 1 on")
            systems[system] = None
            yield topic, doc, -float(position)

    found = list(scores())
    if len(systems) > 1:
        message = f"has several snapshots: {first_few(list(systems), 6)}"
        raise FormatError(path, None, message, hint="export each to a file of its own")
    return run_table(path, next(iter(systems), "") or stem(path), iter(found))

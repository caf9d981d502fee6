"""Click logs as plain text, counted by the compiled scan: a row is one result, CSV or TSV without quotes.

Nothing here raises for what a log holds: a log with anything unusual (quotes, text that is not ASCII, flags other than
0 and 1, empty cells, ranks beyond 65,535, pages of more than a thousand results that are not in order) is left to
``clicks``, which reads any log, and says what is wrong and where.  Memory: the names and counts of each document, each
distinct list, and 8 bytes for each session (24 if it has a click and the log no dwell times).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from venire.io.files import opened
from venire.io.limits import current
from venire.io.lines import BOM, refuse_long_part
from venire.io.tables import blocks
from venire.io.tables.columns import SEPARATOR, ending_of
from venire.io.tables.delimited import find_layout
from venire.scan import slices
from venire.scan.codes import COMPILED
from venire.scan.names import Names
from venire.scan.slices import Slices

if COMPILED:
    from venire.scan import _scan

ROLES = ("session", "topic", "doc", "clicked", "rank", "dwell")
ABSENT = 255
UNUSUAL = (b'"', b"\r", b"\0")
_COUNTS = [("shown", np.int64), ("clicks", np.int64), ("satisfied", np.int64)]
_ITEMS = np.dtype([*_COUNTS, ("topic", np.int32), ("doc", np.int32), ("page", np.uint32), ("number", np.uint32)])
_LISTS = np.dtype([("n_shown", np.int64), ("first", np.int64), ("begin", np.int64), ("length", "i4"), ("topic", "i4")])
_LAST = np.dtype([("session", np.uint64), ("item", np.int32), ("rank", np.int32)])


class Counted(NamedTuple):
    """What was counted: tables of items, ranks, lists (with their items in places) and last clicks, and names."""

    items: Any
    ranks: Any
    lists: Any
    places: Any
    sessions: Any
    last: Any
    n_rows: int
    n_repeats: int
    n_unknown: int
    topics: Slices
    docs: Slices
    has_rank: bool
    has_dwell: bool


def counted_logs(paths: Sequence[Path], find: Callable[[Sequence[str], Path], Any], dwell: float) -> Counted | None:
    """Count logs together; None if they are to be read in another way.

    find: from the names of columns to ``LogColumns``, which has to be the same for all.
    """
    if not COMPILED:
        return None
    names, counter, form = (Names(), Names()), None, None
    for path in paths:
        with opened(path) as file:
            head = file.read(blocks.BLOCK).removeprefix(BOM)
            if blocks.format_of(path, head) != "delimited":
                return None
            refuse_long_part(head, 0, path)
            layout = find_layout(head + b"\n", path, preferred=SEPARATOR.get(ending_of(path.name), ""))
            columns = find(layout.names, path)
            places = [layout.names.index(columns.roles[role]) if role in columns.roles else ABSENT for role in ROLES]
            if form not in (None, (layout.separator, len(layout.names), places, columns.unit)) or columns.wide:
                return None
            if max(place for place in (*places, len(layout.names)) if place != ABSENT) >= ABSENT:
                return None
            form = (layout.separator, len(layout.names), places, columns.unit)
            if counter is None:
                counter = _scan.ClickCounter(
                    names[0].table(),
                    names[1].table(),
                    slices.SEED,
                    layout.separator.encode(),
                    bytes(places),
                    len(layout.names),
                    dwell,
                    columns.unit,
                    current().field_length,
                )
            for block in blocks.row_blocks(file, head[layout.start :], path, separator=None, before=layout.start):
                if not block.isascii() or any(byte in block for byte in UNUSUAL) or not counter.scan(block):
                    return None
            if not counter.scan(b""):
                return None
    found = None if counter is None or form is None else counter.counts()
    if found is None or form is None or not found[6]:
        return None
    types: list[Any] = [_ITEMS, _COUNTS, _LISTS, np.int32, np.uint64, _LAST]
    arrays: list[Any] = [np.frombuffer(cast("bytes", found[n]), dtype=kind) for n, kind in enumerate(types)]
    known = [place != ABSENT for place in form[2]]
    items, ranks, lists, places, sessions, last = arrays
    return Counted(
        *(items, ranks, lists, places, sessions, last),
        *found[6:],
        *(names[0].all(), names[1].all()),
        *known[4:],
    )

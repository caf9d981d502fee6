"""Results that were shown, page by page, to counts: compiled where there is a compiler, else row by row.

A *page* is a stretch of rows with the same session and topic; rows with the same document are one result of it, at its
best rank, and the results in the order of their ranks are its list.  Sessions are identified by hashes of 64 bits.
Memory: the names and counts of each document, each distinct list, and 8 bytes for each page, 24 if it has a click and
no row a dwell time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.scan import slices
from venire.scan.codes import COMPILED
from venire.scan.names import Column, Names
from venire.scan.slices import Slices
from venire.types import Codes, Octets, Words

if COMPILED:
    from venire.scan import _scan
if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

ROLES = ("session", "topic", "doc", "clicked", "rank", "dwell")
CLICKED, WITH_DWELL, SATISFIED = 1, 2, 4
"""What is known of a row: the sum of those that apply."""
MOST_KEYS = 64
_COUNTS = [("shown", np.int64), ("clicks", np.int64), ("satisfied", np.int64)]
_TABLES: Sequence[Any] = (
    [*_COUNTS, ("topic", np.int32), ("doc", np.int32)],
    [*_COUNTS, ("rank", np.int64)],
    [("n_shown", np.int64), ("first", np.int64), ("begin", np.int64), ("length", np.int64)],
    np.int32,
    np.uint64,
    [("session", np.uint64), ("item", np.int32), ("rank", np.int32)],
)
"""Types of the tables of counts."""


class Counted(NamedTuple):
    """All counts: tables of items, ranks, lists (whose items are in places), pages and last clicks; and names."""

    items: Any
    ranks: Any
    lists: Any
    places: Codes
    sessions: Words
    last: Any
    n_rows: int
    n_repeats: int
    n_unknown: int
    topics: Slices
    docs: Slices


class Fields(NamedTuple):
    """The columns of a text: names, the column of each role, separator ("" for JSON), quoted or not, unit of dwell."""

    names: Sequence[str]
    roles: Mapping[str, str]
    separator: str
    quoted: bool
    unit: float


class PageCounter:
    """Counts so far; dwell: a click with so many seconds is satisfied; longest: bytes of the longest name."""

    def __init__(self, dwell: float, longest: int, *, compiled: bool = COMPILED) -> None:
        self._names = Names(compiled=compiled), Names(compiled=compiled)
        self._twin: _scan.ClickCounter | None = None
        if compiled:
            topics, docs = (each.table() for each in self._names)
            self._twin = _scan.ClickCounter(topics, docs, slices.SEED, dwell, longest)
        self._plain = PlainCounter()
        self._thread: ThreadPoolExecutor | None = None
        self._counting: Future[None] | None = None
        self._longest = longest

    def scan(self, block: bytes, fields: Fields, most: int) -> bool:
        """Count the rows of whole lines, UTF-8 without zero bytes; False, and nothing is counted, if they are unusual.

        Unusual are cells that are not written in the usual way, or wrong, objects with other keys than the first one
        or with objects in them, and a last page of more rows than ``most``.
        """
        is_json = not fields.separator
        if self._twin is None or (is_json and len(fields.names) > MOST_KEYS):
            return False
        role_of = {name: ROLES.index(role) for role, name in fields.roles.items()}
        roles = bytes(role_of.get(name, len(ROLES)) for name in fields.names)
        keys = tuple(name.encode() for name in fields.names) if is_json else None
        form = (roles, fields.separator or " ", keys, fields.unit, fields.quoted, most)
        rows = self._twin.scan(block, *form)
        if rows:
            self._count(rows, has_dwell="dwell" in fields.roles)
        return bool(rows)

    def add(self, names: Sequence[Column], rank: Codes | None, flags: Octets, *, has_dwell: bool) -> int | None:
        """Count rows: names are session, topic and document, rank (row,) from 1 on, flags (row,).

        Returns how many rows the last page has; None if a topic or document has a zero byte or is too long.
        """
        if self._twin is not None:
            session, topic, doc = (each.__arrow_c_stream__() for each in names)
            found = self._twin.read(session, topic, doc, rank, flags)
            if found is not None:
                self._count(found[0], has_dwell=has_dwell)
            return None if found is None else found[1]
        cells = [each.to_list() for each in names]
        distinct = {cell for column in cells[1:] for cell in column if cell is not None}
        if any("\0" in cell or len(cell.encode()) > self._longest for cell in distinct):
            return None
        codes = [known.add(column).tolist() for known, column in zip(self._names, names[1:], strict=True)]
        ranks = [0] * len(flags) if rank is None else rank.tolist()
        for row in zip(map(hash, cells[0]), *codes, ranks, flags.tolist(), strict=True):
            self._plain.add(*row)
        self._plain.has_dwell |= has_dwell
        return self._plain.n_rows - self._plain.first

    def _count(self, rows: int, *, has_dwell: bool) -> None:
        """Count rows in another thread, while the next ones are read."""
        from concurrent.futures import ThreadPoolExecutor

        self._wait()
        self._thread = self._thread or ThreadPoolExecutor(1)
        if self._twin is not None:
            self._counting = self._thread.submit(self._twin.count, rows, has_dwell)

    def _wait(self) -> None:
        if self._counting is not None:
            self._counting.result()
            self._counting = None

    def end(self) -> None:
        """End a log, and with it a page."""
        self._wait()
        (self._twin or self._plain).end()

    def counted(self) -> Counted:
        """Return all counts."""
        self.end()
        found: Sequence[Any] = self._plain.counts() if self._twin is None else self._twin.counts()
        made: Any = np.array if self._twin is None else np.frombuffer
        tables: Any = (made(part, dtype=kind) for part, kind in zip(found, _TABLES, strict=False))
        return Counted(*(*tables, *found[6:], self._names[0].all(), self._names[1].all()))


class PlainCounter:
    """The same row by row, in Python."""

    def __init__(self) -> None:
        self.items: dict[tuple[int, int], list[int]] = {}
        self.ranks: dict[int, list[int]] = {}
        self.lists: dict[tuple[int, ...], list[int]] = {}
        self.sessions: list[int] = []
        self.last: list[tuple[int, int, int]] = []
        self.page: dict[tuple[int, int], tuple[int, int, bool]] = {}
        self.at: tuple[int, int] | None = None
        self.has_dwell = False
        self.n_rows = self.n_repeats = self.n_unknown = self.first = 0

    def add(self, session: int, topic: int, doc: int, rank: int, flags: int) -> None:
        """Count a row; rank 0: none."""
        if (session, topic) != self.at:
            self.end()
            self.at, self.first = (session, topic), self.n_rows
        item, clicked_at, satisfied = (topic, doc), self.n_rows if flags & CLICKED else -1, bool(flags & SATISFIED)
        self.n_unknown += flags & (CLICKED | WITH_DWELL) == CLICKED
        self.n_rows += 1
        if item not in self.page:
            self.page[item] = rank or len(self.page) + 1, clicked_at, satisfied
            return
        best, last, before = self.page[item]
        self.page[item] = min(rank or best, best), max(clicked_at, last), before or satisfied
        self.n_repeats += 1

    def end(self) -> None:
        """Count the results of the page."""
        if self.at is None:
            return
        results = sorted(self.page.items(), key=lambda result: result[1][0])
        for item, (rank, clicked_at, satisfied) in results:
            of_item = self.items.setdefault(item, [0, 0, 0, len(self.items)])
            for counts in (of_item, self.ranks.setdefault(rank, [0, 0, 0])):
                counts[:3] = counts[0] + 1, counts[1] + (clicked_at >= 0), counts[2] + satisfied
        self.lists.setdefault(tuple(self.items[item][3] for item, _ in results), [0, self.first])[0] += 1
        self.sessions.append(session := hash(self.at) % (1 << 64))
        item, (rank, clicked_at, _) = max(results, key=lambda result: result[1][1])
        if clicked_at >= 0 and not self.has_dwell:
            self.last.append((session, self.items[item][3], rank))
        self.page, self.at = {}, None

    def counts(self) -> tuple[Any, ...]:
        """Return rows of the tables, and numbers."""
        items = [(*counts[:3], *item) for item, counts in self.items.items()]
        ranks = [(*counts, rank) for rank, counts in self.ranks.items()]
        places = [item for each in self.lists for item in each]
        begin = accumulate(map(len, self.lists), initial=0)
        lists = [(*counts, start, len(each)) for start, (each, counts) in zip(begin, self.lists.items(), strict=False)]
        return items, ranks, lists, places, self.sessions, self.last, self.n_rows, self.n_repeats, self.n_unknown

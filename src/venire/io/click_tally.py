"""Counts of click logs of any format, and what they say: rows are counted by ``scan.pages``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.clicks import Clicks, RankCounts, ShownLists
from venire.data.ids import Category, Ids
from venire.data.judgments import number_items
from venire.errors import FormatError
from venire.io.limits import current
from venire.io.tables.blocks import TableRows
from venire.io.tables.cells import encoded
from venire.kernels.ragged import offsets
from venire.results import Note
from venire.scan.codes import COMPILED
from venire.scan.pages import CLICKED, SATISFIED, WITH_DWELL, Counted, Fields, PageCounter
from venire.types import Codes, Octets, Words

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 1 << 21
"""Rows of one session with one topic, beyond which the column is probably not the session."""
MOSTLY_CLICKED = 0.9
"""The share of results with a click from which on those without one are probably missing."""


class Tally:
    """The counts so far; dwell: a click with at least this many seconds is satisfied."""

    def __init__(self, dwell: float, *, compiled: bool = COMPILED) -> None:
        self.dwell = dwell
        self.has_dwell, self.has_rank = False, True
        self._pages = PageCounter(dwell, current().field_length, compiled=compiled)

    def scan(self, block: bytes, fields: Fields) -> bool:
        """Count the rows of whole lines of text; False, and nothing is counted, if they are to be read first."""
        taken = self._pages.scan(block, fields, MOST_ROWS)
        if taken:
            self._note_columns(fields.roles)
        return taken

    def add(self, rows: TableRows) -> None:
        """Count rows of session, topic, doc and clicked, without nulls, and perhaps rank and dwell (seconds)."""
        frame, has_dwell = rows.frame, "dwell" in rows.frame.columns
        rank = frame["rank"].to_numpy() if "rank" in frame.columns else None
        names = [frame[role] for role in ("session", "topic", "doc")]
        length = self._pages.add(names, rank, self._flags(frame), has_dwell=has_dwell)
        if length is None:
            for name in names[1:]:
                encoded(name, rows.where, rows.line)  # raises at the row
        elif length > MOST_ROWS:
            message = f"session {names[0][-1]!r} shows over {MOST_ROWS:,} results for one topic"
            raise FormatError(rows.where, None, message, hint="is this column the session? rename it if it is not")
        self._note_columns(frame.columns)

    def _flags(self, frame: pl.DataFrame) -> Octets:
        """Return what is known of each row, of which ``scan.pages`` counts."""
        clicked = frame["clicked"].to_numpy()
        if "dwell" not in frame.columns:
            return clicked * np.uint8(CLICKED)
        seconds = frame["dwell"].to_numpy()  # NaN where there is none
        found = clicked * np.uint8(CLICKED) + ~np.isnan(seconds) * np.uint8(WITH_DWELL)
        return found + (clicked & (seconds >= self.dwell)) * np.uint8(SATISFIED)

    def _note_columns(self, roles: Iterable[str]) -> None:
        present = set(roles)
        self.has_dwell |= "dwell" in present
        self.has_rank &= "rank" in present

    def end(self) -> None:
        """End a log: sessions do not go on in the next one."""
        self._pages.end()

    def clicks(self, where: object, notes: Iterable[Note] = ()) -> Clicks:
        """Return the counts, documents and ranks in order."""
        found = self._pages.counted()
        if found.n_rows == 0:
            raise FormatError(where, None, "holds no results that were shown", hint="expected rows under the header")
        items, number = number_items(*(_named(found, role) for role in ("topic", "doc")))
        order = np.empty(len(number), dtype=np.int64)
        order[number] = np.arange(len(number))
        counts = {name: found.items[of][order] for name, of in COUNTS.items()}
        by_rank = np.sort(found.ranks, order="rank")
        ranks = {name: by_rank[of].copy() for name, of in COUNTS.items()}
        if not self.has_dwell:
            last = _last_of_sessions(found.last)
            counts["satisfied"] = np.bincount(number[last["item"]], minlength=len(items))
            ranks["satisfied"] = np.bincount(np.searchsorted(by_rank["rank"], last["rank"]), minlength=len(by_rank))
        n_sessions = _n_distinct(found.sessions)
        about = self._notes(found, len(found.sessions) - n_sessions)
        shown, clicked = int(counts["impressions"].sum()), int(counts["clicks"].sum())
        return Clicks(
            items=items,
            **counts,
            ranks=RankCounts(by_rank["rank"].copy(), **ranks),
            lists=_shown_lists(found, items.topic, number),
            sessions=n_sessions,
            rule=f"dwell of {self.dwell:g} s or more" if self.has_dwell else "the last click of a session",
            notes=(*notes, *about, *missing_impressions(shown, clicked)),
        )

    def _notes(self, found: Counted, back: int) -> Iterator[Note]:
        """Note how a log was read, and what was left out; back: how often sessions continue."""
        if not self.has_dwell:
            text = "there are no dwell times: the last click of a session, in the order of its rows, is satisfied"
            yield Note("no-dwell-times", text)
        elif found.n_unknown:
            yield Note("unknown-dwell-times", "{n:click} without a dwell time not satisfied", n=found.n_unknown)
        if not self.has_rank:
            yield Note("no-ranks", "there are no ranks: the order of rows within a session is the rank")
        if found.n_repeats:
            text = "{n:row} with a document that its session has already: both are one result"
            yield Note("repeated-results", text, n=found.n_repeats)
        if back:
            text = "sessions continue after rows of others {n:time}: the lists they saw are known in pieces only"
            yield Note("scattered-sessions", f"{text}; sort the log by session", n=back)


COUNTS = {"impressions": "shown", "clicks": "clicks", "satisfied": "satisfied"}


def _named(found: Counted, role: str) -> Category:
    """Return the topic or document of each item, as it was numbered."""
    return Category(np.ascontiguousarray(found.items[role]), Ids(found.topics if role == "topic" else found.docs))


def _n_distinct(hashes: Words) -> int:
    """Count distinct hashes, of which there is at least one."""
    ordered = np.sort(hashes)
    return 1 + int((ordered[1:] != ordered[:-1]).sum())


def _last_of_sessions(last: Any) -> Any:
    """Return the last click of each session, of clicks in the order of the log."""
    _, place = np.unique(last["session"][::-1], return_index=True)
    return last[len(last) - 1 - place]


def _shown_lists(found: Counted, topic: Codes, number: Codes) -> ShownLists:
    """Order lists by topic, the most frequent first."""
    lists = found.lists
    of = topic[number[found.places[lists["begin"]]]]
    order = np.lexsort((lists["first"], -lists["n_shown"], of))
    length = lists["length"][order]
    offset = offsets(length)
    place = np.repeat(lists["begin"][order] - offset[:-1], length) + np.arange(int(offset[-1]))
    return ShownLists(of[order], lists["n_shown"][order], offset, number[found.places[place]])


def missing_impressions(shown: int, clicked: int) -> Iterator[Note]:
    """Note that results without a click are probably missing from a log."""
    if clicked == shown:
        text = "every result in the log was clicked: results that were shown and not clicked are missing, so"
        way = "click-through rates are not known; log every result that was shown"
        yield Note("no-unclicked-results", f"{text} {way}")
    elif clicked >= MOSTLY_CLICKED * shown:
        text = "{share:.0%} of the results in the log were clicked: if results that were shown and not clicked are"
        way = "missing, click-through rates are too high"
        yield Note("few-unclicked-results", f"{text} {way}", share=clicked / shown)

"""Tally: a click log counted batch by batch, in memory that grows with what is distinct in it, not with its rows.

State: for each topic and document its names and 32 bytes; for each session 8 bytes, and 20 more where it has a click
and the log no dwell times; for each distinct list that was shown 8 bytes a document and 24 more.  Documents, sessions
and lists are told apart by hashes of 64 bits: among 10^7 of them two agree by chance with a probability of 3 in 10^6.

Rows of a session stand together.  If they do not, counts and last clicks are right all the same, since they are settled
at the end; only the list that such a session saw is known in pieces, and the notes say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.clicks import Clicks, RankCounts
from venire.data.judgments import number_items
from venire.errors import FormatError
from venire.io.click_lists import ODD, Places, list_counts, pair_hashes, shown_lists
from venire.io.tables.cells import encoded
from venire.io.tables.columns import Form
from venire.results import counted
from venire.types import Bools, Codes, Ints, Words

if TYPE_CHECKING:
    import polars as pl

COUNTS = ("impressions", "clicks", "satisfied")
TOPIC, DOC, SESSION = 1, 2, 3  # seeds of hashes
MOSTLY_CLICKED = 0.9
"""The share of results with a click from which on those without one are probably missing."""
SPARE = 1 << 18
"""Rows of new counts that wait, at least, before they are added to those known."""


class Batch(NamedTuple):
    """Results of whole sessions, all (row,): the session's number and the document's hash, sessions in order.

    last: the last click of its session.
    """

    names: pl.DataFrame
    session: Ints
    item: Words
    rank: Codes
    clicked: Bools
    satisfied: Bools
    last: Bools


@dataclass
class Part:
    """Counts by key: those known, and those that wait to be added; a key's counts are sums, ``first`` is a minimum."""

    key: str
    known: pl.DataFrame | None = None
    waiting: list[pl.DataFrame] = field(default_factory=list)

    def add(self, frame: pl.DataFrame) -> None:
        """Take new counts; add them up when they are more than those known, so that the whole costs O(n log n)."""
        self.waiting.append(frame)
        if sum(each.height for each in self.waiting) > max(SPARE, 0 if self.known is None else self.known.height):
            self.settle()

    def settle(self) -> pl.DataFrame:
        """Add up what waits, and return all."""
        import polars as pl

        parts = self.waiting if self.known is None else [self.known, *self.waiting]
        self.waiting = []
        columns = parts[0].columns
        sums = [pl.col(name).sum() for name in columns if name in (*COUNTS, "n_shown")]
        least = [pl.col(name).min() for name in columns if name == "first"]
        same = [pl.col(name).first() for name in columns if name == "items"]
        self.known = pl.concat(parts).group_by(self.key).agg(*sums, *least, *same).select(columns)
        return self.known


@dataclass
class Tally:
    """What was counted so far; dwell: the seconds from which on a click satisfies."""

    dwell: float
    items: Part = field(default_factory=lambda: Part("item"))
    names: list[pl.DataFrame] = field(default_factory=list)
    ranks: Part = field(default_factory=lambda: Part("rank"))
    lists: Part = field(default_factory=lambda: Part("list"))
    sessions: list[Words] = field(default_factory=list)
    last: list[tuple[Words, Words, Codes]] = field(default_factory=list)
    n_rows: int = 0
    n_repeats: int = 0
    n_unknown: int = 0
    has_dwell: bool = False
    has_rank: bool = True

    def add(self, rows: pl.DataFrame) -> None:
        """Count rows of whole sessions."""
        changed = session_starts(rows)
        start = np.flatnonzero(changed)
        names = rows.select("session", "topic")[start]
        session = pair_hashes(names["session"], SESSION, names["topic"], TOPIC)
        self.sessions.append(session)
        batch = self._without_repeats(self._batch(rows, np.cumsum(changed) - 1, start))
        if "rank" not in rows.columns:
            batch = batch._replace(rank=_places(batch.session))
        if not self.has_dwell:
            self._keep_last_clicks(batch, session)
        self._count_items(batch)
        self.ranks.add(_rank_counts(batch))
        self.lists.add(list_counts(batch.session, batch.item, batch.rank, before=self.n_rows))
        self.n_rows += rows.height

    def clicks(self, where: object, notes: tuple[str, ...] = ()) -> Clicks:
        """Settle the counts."""
        import polars as pl

        if self.n_rows == 0:
            raise FormatError(where, None, "holds no results that were shown", hint="expected rows under the header")
        known = self.items.settle().join(pl.concat(self.names), on="item")
        form = Form(where)
        lines = np.arange(1, known.height + 1)
        items, number = number_items(*(encoded(known[name], form, lines) for name in ("topic", "doc")))
        place = Places.of(known["item"].to_numpy(), number)
        counts = {name: _placed(known[name], number) for name in COUNTS}
        ranks = self.ranks.settle().sort("rank")
        by_rank = {name: ranks[name].cast(pl.Int64).to_numpy().copy() for name in ("rank", *COUNTS)}
        n_sessions = _n_distinct(self.sessions)
        if not self.has_dwell:
            item, rank = self._last_clicks()
            counts["satisfied"] += np.bincount(place.of_hashes(item), minlength=len(items))
            np.add.at(by_rank["satisfied"], np.searchsorted(by_rank["rank"], rank), 1)
        return Clicks(
            items=items,
            **counts,
            ranks=RankCounts(**by_rank),
            lists=shown_lists(self.lists.settle(), items, place),
            sessions=n_sessions,
            rule=f"dwell of {self.dwell:g} s or more" if self.has_dwell else "the last click of a session",
            notes=(*notes, *self._remarks(n_sessions, counts["impressions"], counts["clicks"])),
        )

    def _batch(self, rows: pl.DataFrame, session: Ints, start: Ints) -> Batch:
        clicked = rows["clicked"].to_numpy()
        satisfied = np.zeros(len(clicked), dtype=np.bool_)
        if "dwell" in rows.columns:
            self.has_dwell = True
            self.last.clear()
            satisfied = clicked & (rows["dwell"] >= self.dwell).fill_null(False).to_numpy()
            self.n_unknown += int((clicked & rows["dwell"].is_null().to_numpy()).sum())
        elif self.has_dwell:
            self.n_unknown += int(clicked.sum())
        if "rank" in rows.columns:
            rank = rows["rank"].to_numpy()
        else:
            self.has_rank = False
            rank = np.zeros(len(session), dtype=np.int32)  # once rows of one result are joined, their order
        item = pair_hashes(rows["topic"], TOPIC, rows["doc"], DOC)
        return Batch(rows.select("topic", "doc"), session, item, rank, clicked, satisfied, _last_of(clicked, start))

    def _count_items(self, batch: Batch) -> None:
        """Count documents by their hashes, and keep the names of those that are new."""
        import polars as pl

        counts = _item_counts(batch)
        new = counts
        if self.names:
            new = counts.join(pl.concat([each.select("item") for each in self.names]), on="item", how="anti")
        self.names.append(batch.names[new["row"]].with_columns(new["item"]))
        self.items.add(counts.drop("row"))

    def _keep_last_clicks(self, batch: Batch, session: Words) -> None:
        """Keep the last click of each session that has one: session, document, rank."""
        row = np.flatnonzero(batch.last)
        self.last.append((session[batch.session[row]], batch.item[row], batch.rank[row]))

    def _last_clicks(self) -> tuple[Words, Codes]:
        """Document and rank of the last click of each session, however its rows were scattered."""
        session, item, rank = (np.concatenate(each) for each in zip(*self.last, strict=True))
        _, from_end = np.unique(session[::-1], return_index=True)
        last = len(session) - 1 - from_end
        return item[last], rank[last]

    def _without_repeats(self, batch: Batch) -> Batch:
        """Join the rows of one document in one session: clicked if one is, at the best rank."""
        import polars as pl

        key = pl.Series("key", batch.item + batch.session.astype(np.uint64) * ODD)
        if key.n_unique() == len(key):
            return batch
        flags = ("clicked", "satisfied", "last")
        columns = {name: getattr(batch, name) for name in ("rank", *flags)}
        frame = pl.DataFrame({"key": key, **columns}).with_row_index("row")
        joined = frame.group_by("key").agg(pl.col("row", "rank").min(), pl.col(*flags).any()).sort("row")
        self.n_repeats += len(key) - joined.height
        row = joined["row"].to_numpy()
        merged = {name: joined[name].to_numpy() for name in columns}
        return Batch(batch.names[row], batch.session[row], batch.item[row], **merged)

    def _remarks(self, n_sessions: int, impressions: Ints, clicks: Ints) -> tuple[str, ...]:
        """Say what was taken for what, and what was left out."""
        notes = []
        if not self.has_dwell:
            notes.append(
                "there are no dwell times: the last click of a session, in the order of its rows, is satisfied"
            )
        if self.n_unknown:
            notes.append(f"{counted(self.n_unknown, 'click')} without a dwell time not satisfied")
        if not self.has_rank:
            notes.append("there are no ranks: the order of rows within a session is the rank")
        if self.n_repeats:
            notes.append(
                f"{counted(self.n_repeats, 'row')} with a document that its session has already: both are one result"
            )
        notes += missing_impressions(int(impressions.sum()), int(clicks.sum()))
        back = sum(map(len, self.sessions)) - n_sessions
        if back:
            notes.append(
                f"sessions come back after rows of others {counted(back, 'time')}: the lists they saw are known in "
                "pieces only; sort the log by session"
            )
        return tuple(notes)


def missing_impressions(shown: int, clicked: int) -> list[str]:
    """Say that results without a click seem to be missing from a log, if they do."""
    if clicked < MOSTLY_CLICKED * shown:
        return []
    if clicked == shown:
        return [
            "every result in the log was clicked: results that were shown and not clicked are missing, so "
            "click-through rates are not known; log every result that was shown"
        ]
    return [
        f"{clicked / shown:.0%} of the results in the log were clicked: if results that were shown and not clicked are "
        "missing, click-through rates are too high"
    ]


def session_starts(rows: pl.DataFrame) -> Bools:
    """Mark the rows where another session, or another topic of it, begins -> (row,)."""
    changed = (rows["session"] != rows["session"].shift(1)) | (rows["topic"] != rows["topic"].shift(1))
    return changed.fill_null(True).to_numpy()


def _places(session: Ints) -> Codes:
    """Number the rows of each session from 1; session ascends from 0, (row,) -> (row,)."""
    start = np.searchsorted(session, np.arange(session[-1] + 1))
    return (np.arange(len(session)) - start[session] + 1).astype(np.int32)


def _last_of(clicked: Bools, start: Ints) -> Bools:
    """Mark the last click of each session that has one; clicked (row,), start (session,) -> (row,)."""
    last = np.maximum.reduceat(np.where(clicked, np.arange(len(clicked)), -1), start)
    marked = np.zeros(len(clicked), dtype=np.bool_)
    marked[last[last >= 0]] = True
    return marked


def _n_distinct(parts: list[Words]) -> int:
    """Count distinct hashes; a sort is quicker here than a table."""
    ordered = np.sort(np.concatenate(parts))
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def _item_counts(batch: Batch) -> pl.DataFrame:
    """Count each document of a batch; ``row``: one of its rows."""
    import polars as pl

    frame = pl.DataFrame({"item": batch.item, "clicked": batch.clicked, "satisfied": batch.satisfied})
    return (
        frame.with_row_index("row")
        .group_by("item")
        .agg(
            pl.len().cast(pl.Int64).alias("impressions"),
            pl.col("clicked").sum().cast(pl.Int64).alias("clicks"),
            pl.col("satisfied").sum().cast(pl.Int64),
            pl.col("row").first(),
        )
    )


def _rank_counts(batch: Batch) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame({"rank": batch.rank, "clicked": batch.clicked, "satisfied": batch.satisfied})
    return frame.group_by("rank").agg(
        pl.len().cast(pl.Int64).alias("impressions"),
        pl.col("clicked").sum().cast(pl.Int64).alias("clicks"),
        pl.col("satisfied").sum().cast(pl.Int64),
    )


def _placed(counts: pl.Series, number: Codes) -> Ints:
    placed = np.empty(len(number), dtype=np.int64)
    placed[number] = counts.to_numpy()
    return placed

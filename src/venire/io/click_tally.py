"""Counts of click logs: of blocks of typed rows (``Tally``), and those of the compiled scan (``clicks_of``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.clicks import Clicks, RankCounts, ShownLists
from venire.data.ids import Category, Ids
from venire.data.judgments import number_items
from venire.errors import FormatError
from venire.io.click_scan import Counted
from venire.io.tables.cells import encoded
from venire.kernels.ragged import offsets
from venire.results import Note
from venire.types import Codes, Ints, Words

if TYPE_CHECKING:
    import polars as pl

SPARE = 1 << 18
"""Least number of rows of new counts before they are added to those known."""
MOSTLY_CLICKED = 0.9
"""The share of results with a click from which on those without one are probably missing."""
ODD = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: an odd number that mixes two hashes well."""


@dataclass
class Running:
    """A group-by whose rows arrive frame by frame: counts are sums, ``first`` is a minimum."""

    key: str
    parts: list[pl.DataFrame] = field(default_factory=list)

    def add(self, frame: pl.DataFrame) -> None:
        """Add counts; they are summed when they are more than those known, so that the whole costs O(n log n)."""
        self.parts.append(frame)
        if sum(each.height for each in self.parts[1:]) > max(SPARE, self.parts[0].height):
            self.total()

    def total(self) -> pl.DataFrame:
        """Return the sums over all rows so far."""
        import polars as pl

        names = [name for name in self.parts[0].columns if name != self.key]
        sums = [pl.col(name).min() if name == "first" else pl.col(name).sum() for name in names]
        self.parts = [pl.concat(self.parts).lazy().group_by(self.key).agg(sums).collect()]
        return self.parts[0]


@dataclass
class Tally:
    """The counts so far; dwell: a click with at least this many seconds is satisfied."""

    dwell: float
    items: Running = field(default_factory=lambda: Running("item"))
    names: list[pl.DataFrame] = field(default_factory=list)
    ranks: Running = field(default_factory=lambda: Running("rank"))
    lists: Running = field(default_factory=lambda: Running("items"))
    sessions: list[pl.Series] = field(default_factory=list)
    last: list[pl.DataFrame] = field(default_factory=list)
    n_rows: int = 0
    n_repeats: int = 0
    n_unknown: int = 0
    has_dwell: bool = False
    has_rank: bool = True

    def add(self, rows: pl.DataFrame) -> None:
        """Count rows of whole sessions."""
        import polars as pl

        shown = self._shown(rows)
        counts = (
            pl.len().cast(pl.Int64).alias("impressions"),
            pl.col("clicked").sum().cast(pl.Int64).alias("clicks"),
            pl.col("satisfied").sum().cast(pl.Int64),
        )
        pages = shown.lazy() if self._by_rank(shown) else shown.lazy().sort("page", "rank", maintain_order=True)
        pages = pages.group_by("page", maintain_order=True).agg(items="item", first=pl.col("row").min())
        items = shown.lazy().group_by("item").agg(pl.col("row").first(), *counts).collect()
        known = pl.concat([items.select("item").clear(), *(each.select("item") for each in self.names)])
        new = items.join(known, on="item", how="anti")
        self.names.append(rows.select("topic", "doc")[new["row"] - self.n_rows].with_columns(new["item"]))
        self.items.add(items.drop("row"))
        self.ranks.add(shown.lazy().group_by("rank").agg(*counts).collect())
        lists = pages.group_by("items").agg(pl.len().cast(pl.Int64).alias("n_shown"), pl.col("first").min())
        self.lists.add(lists.collect())
        if not self.has_dwell:
            clicked = shown.filter("clicked").sort("clicked_at").select("session", "item", "rank")
            self.last.append(clicked.unique("session", keep="last", maintain_order=True))
        self.n_rows += rows.height

    @staticmethod
    def _by_rank(shown: pl.DataFrame) -> bool:
        page, rank = shown["page"], shown["rank"]
        return not ((rank.diff() <= 0) & (page.diff() == 0)).any()

    def _shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return a row per result of a page (session and topic), rows of one document joined: at its best rank."""
        import polars as pl

        self.has_dwell |= "dwell" in rows.columns
        self.has_rank &= "rank" in rows.columns
        seconds = pl.col("dwell") if "dwell" in rows.columns else pl.lit(None, pl.Float64)
        self.n_unknown += rows.select((pl.col("clicked") & seconds.is_null()).sum()).item()
        session, at = _hash("session", "topic"), pl.col("row")
        shown = rows.with_row_index("row", self.n_rows).select(
            *("row", "clicked"),
            pl.col("rank") if "rank" in rows.columns else pl.lit(0, pl.Int32).alias("rank"),
            session=session,
            page=(session != session.shift(1)).fill_null(True).cum_sum(),
            item=_hash("topic", "doc"),
            satisfied=pl.col("clicked") & (seconds >= self.dwell).fill_null(False),
            clicked_at=pl.when("clicked").then(at),
        )
        first = shown["page"].diff().fill_null(1) > 0
        self.sessions.append(shown["session"].filter(first))
        if shown.select((pl.col("page") * ODD + pl.col("item")).n_unique()).item() < shown.height:
            best, same = pl.col("row", "rank").min(), pl.col("session").first()
            flags, last = pl.col("clicked", "satisfied").any(), pl.col("clicked_at").max()
            joined = shown.group_by("page", "item").agg(best, same, flags, last).sort("row")
            self.n_repeats += shown.height - joined.height
            shown = joined
        if "rank" in rows.columns:
            return shown
        return shown.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("page"))

    def clicks(self, where: object, notes: Iterable[Note] = ()) -> Clicks:
        """Return the counts, documents and ranks in order."""
        import polars as pl

        if self.n_rows == 0:
            raise FormatError(where, None, "holds no results that were shown", hint="expected rows under the header")
        known = self.items.total().join(pl.concat(self.names), on="item")
        line = np.arange(1, known.height + 1)
        items, number = number_items(*(encoded(known[name], where, line) for name in ("topic", "doc")))
        order = np.argsort(known["item"].to_numpy())
        hashes, number_of = known["item"].to_numpy()[order], number[order]

        def place(hashed: pl.Series) -> Codes:
            return number_of[np.searchsorted(hashes, hashed.to_numpy())]

        counts = known.select("impressions", "clicks", "satisfied")[np.argsort(number)]
        ranks = self.ranks.total().with_columns(pl.col("rank").cast(pl.Int64)).sort("rank")
        if not self.has_dwell:
            last = pl.concat(self.last).unique("session", keep="last", maintain_order=True)
            by_item = np.bincount(place(last["item"]), minlength=len(items))
            by_rank = last.group_by(pl.col("rank").cast(pl.Int64)).agg(satisfied=pl.len().cast(pl.Int64))
            counts = counts.with_columns(satisfied=by_item)
            ranks = ranks.drop("satisfied").join(by_rank, on="rank", how="left", maintain_order="left").fill_null(0)
        n_sessions = pl.concat(self.sessions).n_unique()
        shown, clicked = int(counts["impressions"].sum()), int(counts["clicks"].sum())
        return Clicks(
            items=items,
            **_arrays(counts),
            ranks=RankCounts(**_arrays(ranks)),
            lists=_shown_lists(self.lists.total(), items.topic, place),
            sessions=n_sessions,
            rule=_rule(self.dwell if self.has_dwell else None),
            notes=(*notes, *self._notes(n_sessions), *missing_impressions(shown, clicked)),
        )

    def _notes(self, n_sessions: int) -> Iterator[Note]:
        back = sum(map(len, self.sessions)) - n_sessions
        return _log_notes((self.n_unknown, self.n_repeats, back), has_dwell=self.has_dwell, has_rank=self.has_rank)


def _log_notes(n: tuple[int, int, int], *, has_dwell: bool, has_rank: bool) -> Iterator[Note]:
    """Note how a log was read, and what was left out; n: clicks without dwell time, repeats, sessions that continue."""
    n_unknown, n_repeats, back = n
    if not has_dwell:
        text = "there are no dwell times: the last click of a session, in the order of its rows, is satisfied"
        yield Note("no-dwell-times", text)
    elif n_unknown:
        yield Note("unknown-dwell-times", "{n:click} without a dwell time not satisfied", n=n_unknown)
    if not has_rank:
        yield Note("no-ranks", "there are no ranks: the order of rows within a session is the rank")
    if n_repeats:
        text = "{n:row} with a document that its session has already: both are one result"
        yield Note("repeated-results", text, n=n_repeats)
    if back:
        text = "sessions continue after rows of others {n:time}: the lists they saw are known in pieces only"
        yield Note("scattered-sessions", f"{text}; sort the log by session", n=back)


def clicks_of(found: Counted, dwell: float, notes: Iterable[Note]) -> Clicks:
    """Return what the compiled scan counted, documents and ranks in order."""
    items, number = number_items(*(_named(found, role) for role in ("topic", "doc")))
    order = np.empty(len(number), dtype=np.int64)
    order[number] = np.arange(len(number))
    counts = {"impressions": found.items["shown"][order], "clicks": found.items["clicks"][order]}
    counts["satisfied"] = found.items["satisfied"][order]
    rank = np.flatnonzero(found.ranks["shown"])
    by_rank = found.ranks[rank]
    ranks = RankCounts(rank, *(by_rank[name].copy() for name in ("shown", "clicks", "satisfied")))
    if not found.has_dwell:
        last = _last_of_sessions(found.last)
        counts["satisfied"] = np.bincount(number[last["item"]], minlength=len(items))
        ranks = replace(ranks, satisfied=np.bincount(last["rank"], minlength=len(found.ranks))[rank])
    n_sessions = _n_distinct(found.sessions)
    n = (found.n_unknown, found.n_repeats, len(found.sessions) - n_sessions)
    about = _log_notes(n, has_dwell=found.has_dwell, has_rank=found.has_rank)
    shown, clicked = int(counts["impressions"].sum()), int(counts["clicks"].sum())
    return Clicks(
        items=items,
        **counts,
        ranks=ranks,
        lists=_counted_lists(found, items.topic, number),
        sessions=n_sessions,
        rule=_rule(dwell if found.has_dwell else None),
        notes=(*notes, *about, *missing_impressions(shown, clicked)),
    )


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


def _counted_lists(found: Counted, topic: Codes, number: Codes) -> ShownLists:
    """Order lists by topic, the most frequent first."""
    lists = found.lists
    of = topic[number[found.places[lists["begin"]]]]
    order = np.lexsort((lists["first"], -lists["n_shown"], of))
    length = lists["length"][order].astype(np.int64)
    offset = offsets(length)
    place = np.repeat(lists["begin"][order] - offset[:-1], length) + np.arange(int(offset[-1]))
    return ShownLists(of[order], lists["n_shown"][order], offset, number[found.places[place]])


def _rule(dwell: float | None) -> str:
    return "the last click of a session" if dwell is None else f"dwell of {dwell:g} s or more"


def _hash(first: str, second: str) -> pl.Expr:
    """Hash pairs of names."""
    import polars as pl

    return pl.col(first).hash(1) * ODD + pl.col(second).hash(2)


def _arrays(frame: pl.DataFrame) -> dict[str, Ints]:
    return {each.name: each.to_numpy() for each in frame}


def _shown_lists(lists: pl.DataFrame, topic: Codes, place: Callable[[pl.Series], Codes]) -> ShownLists:
    """Order lists by topic, the most frequent first; place: numbers of hashed documents."""
    import polars as pl

    lists = lists.with_columns(topic=pl.Series(topic[place(lists["items"].list.first())]))
    lists = lists.sort("topic", "n_shown", "first", descending=[False, True, False])
    items, length = lists["items"], lists["items"].list.len().to_numpy().astype(np.int64)
    return ShownLists(lists["topic"].to_numpy(), lists["n_shown"].to_numpy(), offsets(length), place(items.explode()))


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

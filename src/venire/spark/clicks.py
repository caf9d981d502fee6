"""Clicks on Spark: a click log in a data frame into the counts of ``data.clicks``; Spark's own aggregation does it.

Rows of one document in a session are one result, at its best rank.  Counts are added up by topic and document, by rank,
and by list.  Spark adds up partly before it moves rows, so a frequent topic or document does not slow it down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from venire.data.clicks import Clicks, RankCounts, ShownLists
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, number_items
from venire.errors import FormatError, SettingError
from venire.io.click_tally import missing_impressions
from venire.io.clicks import HINT, find_log_columns
from venire.kernels.ragged import offsets
from venire.results import Note
from venire.spark.parts import slices_of
from venire.spark.tables import BadRows, collected, empty, quoted, text_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

PAGE = ("session", "topic")


def clicks(log: DataFrame, *, dwell: float = 30.0, strict: bool = False) -> Clicks:
    """Count a click log in a data frame of Spark, with a row for each result that was shown.

    Parameters
    ----------
    log : columns session, topic, doc, clicked (0 or 1), rank, and perhaps dwell (seconds), under the names that
        ``read_clicks`` knows
    dwell : a click with at least this many seconds is satisfied; without dwell times, the click of a session at the
        lowest place of the list is, since rows have no order
    strict : a row that cannot be used is an error; else such rows are counted, in a note and a warning

    Returns
    -------
    Clicks, equal to those of ``read_clicks`` for a log in the order of sessions and ranks; of lists that were shown
    equally often, the one that comes first by its documents is the first.
    """
    from pyspark.sql import functions as F

    if not dwell >= 0:
        raise SettingError(f"a dwell time of {dwell} s is not possible", hint="30 is usual")
    rows, timed = _log_rows(log)
    wrong = [*empty(*PAGE, "doc"), F.col("clicked").isNull(), F.coalesce(F.col("rank") < 1, F.lit(True))]
    bad = BadRows.of("clicks", rows, wrong, strict=strict)
    rows, count = bad.without()
    enough = F.coalesce(F.col("dwell") >= dwell, F.lit(False))
    results = rows.groupBy(*PAGE, "doc").agg(
        F.min("rank").alias("rank"),
        F.max("clicked").alias("clicked"),
        F.max((F.col("clicked") == 1) & enough).alias("satisfied"),
        F.count("*").alias("rows"),
        F.sum(F.when((F.col("clicked") == 1) & F.col("dwell").isNull(), 1).otherwise(0)).alias("unknown"),
    )
    if not timed:
        last = F.max(F.when(F.col("clicked") == 1, F.struct("rank", "doc"))).alias("last")
        ends = results.groupBy(*PAGE).agg(last).select(*PAGE, F.col("last.doc").alias("last"))
        results = results.join(ends, [*PAGE]).withColumn(
            "satisfied", F.coalesce(F.col("doc") == F.col("last"), F.lit(False))
        )
    results = results.cache()
    try:
        found = _counted(results, dwell if timed else None)
    finally:
        results.unpersist()
    return replace(found, notes=(*bad.notes(count.get["n"]), *found.notes))


def _log_rows(log: DataFrame) -> tuple[DataFrame, bool]:
    """Select session, topic, doc, rank, clicked (0, 1, or null) and dwell in seconds; and whether there are any."""
    from pyspark.sql import functions as F

    roles, _, unit = find_log_columns(log.columns, "clicks", None, wide=False)
    if "rank" not in roles:
        message = "there is no column rank, and rows of a data frame have no order"
        raise FormatError("clicks", None, message, hint=HINT)
    flag = F.lower(F.trim(text_of(log, roles["clicked"])))
    clicked = F.when(flag.isin("1", "true", "yes", "1.0"), 1).when(flag.isin("0", "false", "no", "0.0"), 0)
    number = "try_cast({} AS {})"
    seconds = (
        F.expr(number.format(quoted(roles["dwell"]), "DOUBLE")) * unit
        if "dwell" in roles
        else F.lit(None).cast("double")
    )
    rank = F.expr(number.format(quoted(roles["rank"]), "INT"))
    names = [text_of(log, roles[role]).alias(role) for role in (*PAGE, "doc")]
    seconds = F.when(F.isnan(seconds), None).otherwise(seconds)
    return log.select(*names, rank.alias("rank"), clicked.alias("clicked"), seconds.alias("dwell")), "dwell" in roles


def _counted(results: DataFrame, dwell: float | None) -> Clicks:
    """Add up results by document, rank and list; dwell None: the last click of a session is satisfied."""
    from pyspark.sql import functions as F

    sums = (
        F.count("*").alias("impressions"),
        F.sum("clicked").alias("clicks"),
        F.sum(F.col("satisfied").cast("long")).alias("satisfied"),
    )
    known = collected(results.groupBy("topic", "doc").agg(*sums))
    if known.num_rows == 0:
        raise FormatError("clicks", None, "holds no results that were shown", hint=HINT)
    items, number = number_items(*(Category.of_slices(slices_of(known[name])) for name in ("topic", "doc")))
    order = np.argsort(number)
    counts = {name: known[name].to_numpy().astype(np.int64)[order] for name in ("impressions", "clicks", "satisfied")}
    ranks = collected(results.groupBy("rank").agg(*sums).orderBy("rank"))
    page = F.transform(F.sort_array(F.collect_list(F.struct("rank", "doc"))), lambda each: each["doc"])
    lists = results.groupBy(*PAGE).agg(page.alias("docs")).groupBy("topic", "docs").agg(F.count("*").alias("n_shown"))
    about = results.agg(F.sum("unknown"), F.sum(F.col("rows") - 1), F.countDistinct(*PAGE)).first()
    unknown, repeats, sessions = about if about is not None else (0, 0, 0)
    shown, clicked = int(counts["impressions"].sum()), int(counts["clicks"].sum())
    return Clicks(
        items=items,
        **counts,
        ranks=RankCounts(*(ranks[name].to_numpy().astype(np.int64) for name in ranks.column_names)),
        lists=_shown_lists(collected(lists), items),
        sessions=int(sessions),
        rule="the last click of a session" if dwell is None else f"dwell of {dwell:g} s or more",
        notes=(*_notes(int(unknown), int(repeats), dwell), *missing_impressions(shown, clicked)),
    )


def _shown_lists(lists: pa.Table, items: Items) -> ShownLists:
    """Order lists by topic, the most frequent first, then by their documents."""
    import polars as pl

    frame = pl.DataFrame(lists)
    names = {name: number for number, name in enumerate(items.topics)}
    frame = frame.with_columns(number=pl.col("topic").replace_strict(names, return_dtype=pl.Int32))
    frame = frame.with_columns(key=pl.col("docs").list.join("\x1f"))
    frame = frame.sort("number", "n_shown", "key", descending=[False, True, False])
    length = frame["docs"].list.len().to_numpy().astype(np.int64)
    every = Ids.of(frame["docs"].explode())
    topic = frame["number"].to_numpy()
    place = items.numbers_of(items.topics, np.repeat(topic, length), every.slices).astype(np.int32)
    return ShownLists(topic, frame["n_shown"].to_numpy().astype(np.int64), offsets(length), place)


def _notes(unknown: int, repeats: int, dwell: float | None) -> Iterator[Note]:
    if dwell is None:
        text = "there are no dwell times: the click of a session at the lowest place of the list is satisfied"
        yield Note("no-dwell-times", text)
    elif unknown:
        yield Note("unknown-dwell-times", "{n:click} without a dwell time not satisfied", n=unknown)
    if repeats:
        text = "{n:row} with a document that its session has already: both are one result"
        yield Note("repeated-results", text, n=repeats)

"""Parts on an executor: the stream of sorted rows that a task reads, cut into whole lists with their judgments.

Rows of judgments and runs are tagged (``kind``), united, and sorted by topic, split, kind, and who judged or ranked, so
that the judgments of a topic come before its lists.  A stream of Arrow batches is cut where a list ends; the judgments
of a topic are carried along to its later lists.  Memory: some lists, and the judgments of their topics, however large
the partition or the topic is.  Nothing here needs Spark.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.ids import Category, Ids, as_text
from venire.data.judgments import Items, Judgments
from venire.data.runs import Facts
from venire.data.scale import Scale
from venire.errors import FormatError, RepeatedLineWarning
from venire.io.judgments import read_judgments
from venire.kernels.ragged import offsets
from venire.results import Note
from venire.scan.lists import Lines, Rules, list_starts, single
from venire.scan.scanner import Scanned, Sought, make_scanner
from venire.scan.slices import PADDING, Slices, changes
from venire.types import Codes, Ints

if TYPE_CHECKING:
    import pyarrow as pa

LABELS, LISTS = 0, 1
"""Kinds of rows, in the order in which they come."""
PART_ROWS = 1 << 18
"""About how many rows a part has."""
LABELLED_ROWS = 1 << 16
"""About how many rows a part with judgments has: reading these takes memory of its own."""
UNJUDGED = "-1"
ROW_NOTES = ("identical-rows", "superseded-labels", "identical-rows-kept")
"""Notes that count rows, which add up over parts."""
NAMED = ("topic", "who", "doc")
"""Columns of text that every row has."""
TOPIC = ("topic", "split")
LIST = ("topic", "who")


@dataclass
class UsableRows:
    """Batches without bad rows, and how many these are: rows without a name or a finite value.

    They are looked for here, and not by Spark, where it takes longer.
    """

    batches: Iterable[pa.RecordBatch]
    n_bad: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.batches:
            good = batch if all_usable(batch) else usable(batch)
            self.n_bad += batch.num_rows - good.num_rows
            yield good


def all_usable(batch: pa.RecordBatch) -> bool:
    """Whether no row is bad."""
    if any(batch.column(name).null_count for name in (*NAMED, "value")):
        return False
    lengths = (np.diff(text_ends(batch.column(name))) for name in NAMED)
    return bool(np.isfinite(batch.column("value").to_numpy()).all() and all(each.all() for each in lengths))


def usable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out bad rows."""
    import pyarrow.compute as pc

    good = pc.is_finite(batch.column("value"))
    for name in NAMED:
        good = pc.and_(good, pc.greater(pc.binary_length(batch.column(name)), 0))
    return batch.filter(good)


class Rows(NamedTuple):
    """Rows of a part: those of judgments and those of runs; first: the judgments were not in a part before."""

    labels: pa.Table
    lists: pa.Table
    first: bool


def whole_groups(
    batches: Iterable[pa.RecordBatch], last: Callable[[pa.Table], int], n_rows: int = PART_ROWS
) -> Iterator[pa.Table]:
    """Join batches to tables of about n_rows; what follows the row ``last``, which may go on, is in the next table."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    size, enough = 0, n_rows
    for batch in batches:
        held.append(batch)
        size += batch.num_rows
        if size < enough:
            continue
        table = pa.Table.from_batches(held).combine_chunks()
        if end := last(table):
            yield table.slice(0, end)
            table = table.slice(end)
        held, size = table.to_batches(), table.num_rows
        enough = max(n_rows, 2 * size)
    if size:
        yield pa.Table.from_batches(held).combine_chunks()


def last_group(table: pa.Table, names: tuple[str, ...]) -> int:
    """Return the first of the last rows that agree in some columns, by which rows are sorted."""
    columns = [table[name] for name in names]
    last = [column[-1] for column in columns]
    low, high = 0, table.num_rows - 1
    while low < high:
        middle = (low + high) // 2
        if all(column[middle] == value for column, value in zip(columns, last, strict=True)):
            high = middle
        else:
            low = middle + 1
    return low


def last_list(table: pa.Table) -> int:
    """Return where the last list begins, or the last topic if its judgments have not ended."""
    names = (*TOPIC, "kind", "who") if table["kind"][-1].as_py() == LISTS else TOPIC
    return last_group(table, names)


def tagged_parts(batches: Iterable[pa.RecordBatch], n_rows: int = LABELLED_ROWS) -> Iterator[Rows]:
    """Cut tagged rows into parts of whole lists with the judgments of their topics."""
    carried: tuple[object, pa.Table] | None = None
    for table in whole_groups(batches, last_list, n_rows):
        split = table["split"].to_numpy()
        new = changes(slices_of(table["topic"])) | np.append(True, split[1:] != split[:-1])
        begin = np.append(np.flatnonzero(new), table.num_rows)
        if carried is not None and carried[0] == _key(table):
            yield Rows(carried[1], table.slice(0, int(begin[1])), False)
            begin = begin[1:]
        for start, end in _segments(begin, split):
            yield _rows(table.slice(start, end - start), bool(split[start] == 0))
        if len(begin) > 1:
            last = table.slice(int(begin[-2]))
            carried = _key(last), _rows(last, True).labels


def _segments(begin: Ints, split: Ints) -> Iterator[tuple[int, int]]:
    """Yield where groups that are a part begin and end: later splits of a topic alone, all others together."""
    start = int(begin[0])
    for group, end in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):
        if split[group] > 0:
            if start < group:
                yield start, group
            yield group, end
            start = end
    if start < int(begin[-1]):
        yield start, int(begin[-1])


def _key(table: pa.Table) -> tuple[object, ...]:
    return tuple(table[name][0].as_py() for name in TOPIC)


def _rows(table: pa.Table, first: bool) -> Rows:
    import pyarrow.compute as pc

    labels, lists = (table.filter(pc.equal(table["kind"], kind)) for kind in (LABELS, LISTS))
    return Rows(labels, lists, first)


def slices_of(column: pa.ChunkedArray) -> Slices:
    """Return a column of text without nulls as slices of one buffer; the bytes are copied once."""
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # pyarrow returns an array without rows as it is
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    data = array.buffers()[2]
    if len(array) == 0 or data is None:
        nothing = np.zeros(len(array), dtype=np.int64)
        return Slices(np.zeros(PADDING, dtype=np.uint8), nothing, nothing)
    place = text_ends(array).astype(np.int64)
    size = int(place[-1] - place[0])
    buffer = np.zeros(size + PADDING, dtype=np.uint8)
    buffer[:size] = np.frombuffer(data, dtype=np.uint8, count=size, offset=int(place[0]))
    place -= place[0]
    return Slices(buffer, place[:-1], place[1:])


def text_ends(array: pa.Array) -> Ints | Codes:
    """Return where the texts of an array end in its bytes, and before these where the first begins: (n + 1,)."""
    import pyarrow as pa

    ends = array.buffers()[1]
    if ends is None:
        return np.zeros(len(array) + 1, dtype=np.int32)
    chosen = slice(array.offset, array.offset + len(array) + 1)
    if pa.types.is_large_string(array.type):
        return np.frombuffer(ends, dtype=np.int64)[chosen]
    return np.frombuffer(ends, dtype=np.int32)[chosen]


def read_labels(rows: pa.Table, scale: Scale, duplicate_labels: str | None) -> Judgments:
    """Read judgments of some topics; value: the level of a label, -1 for none."""
    import polars as pl

    if rows.num_rows == 0:
        nothing, nobody = np.zeros(0, dtype=np.int32), Ids.of([])
        items = Items(nobody, nothing, nobody)
        return Judgments(scale, items, nothing, Category(nothing, nobody), nothing)
    columns = [name for name in rows.column_names if name not in ("split", "kind", "value")]
    frame = pl.DataFrame(rows.select(columns)).rename({"who": "assessor"})
    texts = pl.Series([UNJUDGED, *scale.labels])
    frame = frame.with_columns(label=texts.gather(rows["value"].to_numpy().astype(np.int64) + 1))
    if "time" in frame.columns:
        frame = frame.sort("time", "label")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedLineWarning)  # a note counts them
        try:
            found = read_judgments(frame, scale=scale, duplicate_labels=duplicate_labels)
        except FormatError as error:  # its line counts rows that have no order
            hint = "add a column time, so that the last label counts, or keep all labels (keep)"
            raise FormatError("judgments", None, error.what, hint=hint) from None
    notes = [note for note in found.notes if note.kind in ROW_NOTES]
    n_judged = int((rows["value"].to_numpy() >= 0).sum())
    if duplicate_labels == "error" and len(found) < n_judged:
        text = "{n:row} with the label that an assessor gave already for the same document, dropped"
        notes.append(Note("identical-rows", text, n=n_judged - len(found)))
    return replace(found, notes=tuple(notes))


def items_of_topics(items: Items, topics: Ints) -> tuple[Ints, Items]:
    """Return which items some topics have, by their numbers in ascending order, and these items alone."""
    which = _ranges(np.searchsorted(items.topic, topics), np.searchsorted(items.topic, topics, side="right"))
    topic = np.searchsorted(topics, items.topic[which]).astype(np.int32)
    return which, Items(items.topics.take(topics), topic, items.doc.take(which))


def labels_of_topics(judgments: Judgments, topics: Ints) -> Judgments:
    """Choose the labels of some topics, by their numbers, on their items alone; rows are ``by_item``."""
    which, items = items_of_topics(judgments.items, topics)
    rows = _ranges(np.searchsorted(judgments.item, which), np.searchsorted(judgments.item, which, side="right"))
    number = np.full(len(judgments.items), -1, dtype=np.int32)
    number[which] = np.arange(len(which), dtype=np.int32)
    chosen = judgments.take(rows)
    return replace(chosen, items=items, item=number[chosen.item])


def topics_among(lists: pa.Table, topics: Ids) -> Ints:
    """Return the numbers of the topics that sorted rows of lists have, in ascending order."""
    names = slices_of(lists["topic"])
    there = set(names.take(changes(names)).to_bytes())
    return np.array([n for n, name in enumerate(topics.slices.to_bytes()) if name in there], dtype=np.int64)


def lists_alone(batches: Iterable[pa.RecordBatch], n_rows: int = PART_ROWS) -> Iterator[Rows]:
    """Cut rows of runs into parts of whole lists."""
    for table in whole_groups(batches, partial(last_group, names=LIST), n_rows):
        yield Rows(table.slice(0, 0), table, False)


def _ranges(start: Ints, end: Ints) -> Ints:
    """Return all numbers from each start to its end, in order."""
    length = end - start
    return np.repeat(start - np.append(0, np.cumsum(length)[:-1]), length) + np.arange(int(length.sum()))


def find_hits(lists: pa.Table, items: Items, *, single_precision: bool = False) -> tuple[Facts, tuple[Note, ...]]:
    """Find items in sorted rows of whole lists, and note documents that a list has twice, and lists that tie.

    Systems come in the order of their names.  Of a document that a list has twice, the row with the best score counts.
    """
    sought, rules = Sought(items.topics.slices, items.topic, items.doc.slices), Rules()
    lines = _lines(lists, single_precision)
    found, notes = make_scanner(sought, rules).scan_lines(lines), list[Note]()
    if found.fault is not None:
        best_first = lines.take(np.lexsort((-lines.score, np.cumsum(list_starts(lines)))))
        found = make_scanner(sought, rules._replace(keep_first=True)).scan_lines(best_first)
        text = "{n:row} with a document that its list has already: the one with the best score counts"
        notes.append(Note("repeated-documents", text, n=len(lines.score) - int(found.depth.sum())))
    return _facts(found, items), (*notes, *_tied(found))


def _lines(lists: pa.Table, single_precision: bool) -> Lines:
    topic, system, doc = (slices_of(lists[name]) for name in ("topic", "who", "doc"))
    score = lists["value"].to_numpy().astype(np.float64, copy=False)
    return Lines(topic, system, doc, single(score) if single_precision else score, np.arange(len(score)))


def _facts(found: Scanned, items: Items) -> Facts:
    """Return what one scan found, systems by name."""
    names = sorted(set(found.systems))
    place = {name: number for number, name in enumerate(names)}
    known = np.flatnonzero(found.topic >= 0)
    number = np.full(len(found.topic), -1, dtype=np.int64)
    number[known] = np.arange(len(known))
    system = np.array([place[name] for name in found.systems], dtype=np.int32)[known]
    unjudged = sorted({found.topics[n] for n in np.flatnonzero(found.topic < 0).tolist()})
    systems, unjudged_topics = (tuple(map(as_text, each)) for each in (names, unjudged))
    offset = offsets(np.bincount(number[found.hit_list], minlength=len(known)))
    depth = found.depth[known].astype(np.int64)
    return Facts(items, systems, system, found.topic[known], depth, offset, found.rank, found.item, unjudged_topics)


def _tied(found: Scanned) -> Iterator[Note]:
    """Note by system how many lists for judged topics, of two documents or more, tie throughout."""
    lists = np.flatnonzero(found.level.astype(np.bool_) & (found.depth > 1) & (found.topic >= 0)).tolist()
    for name, n in Counter(as_text(found.systems[number]) for number in lists).items():
        yield Note("tied-lists", "all documents of {n:list} of {system} tie", n=n, system=name)

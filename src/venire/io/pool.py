"""The pool: items that were labelled, and results that the first ranks of some run have and nobody labelled."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

import numpy as np

from venire.data.ids import Category, joined
from venire.data.judgments import Judgments, number_items
from venire.data.runs import RunTable
from venire.io.runs import RunsLike, as_runs, file_name, kernel_rules, lines_of, table_scores, whole_run
from venire.kernels.ragged import offsets
from venire.scan.lists import first_lines
from venire.scan.slices import bytewise_order
from venire.types import Bools, Floats, Ints


def with_results(judgments: Judgments, runs: RunsLike, depth: int) -> Judgments:
    """Add the first results of all runs to the items of the judgments, for topics that were judged.

    depth: how many results of each list.  Labels stay as they are; items are numbered anew.  Cost: O(lines log lines),
    the lines of one source at a time.

    Examples
    --------
    >>> from venire import read_judgments
    >>> labels = read_judgments({"q1": {"b": 1}})
    >>> found = with_results(labels, {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}}, 2)
    >>> list(found.items.doc), found.item.tolist()
    (['a', 'b'], [1])
    """
    sources, known = as_runs(runs), judgments.items
    rules = kernel_rules(sources.rules)
    topics = [Category(known.topic, known.topics)]
    docs = [Category(np.arange(len(known), dtype=np.int32), known.doc)]
    for source in sources.sources:
        lines = lines_of(source, rules)
        first = lines.take(first_lines(lines, depth, keep_first=rules.keep_first))
        topic, doc = Category.of_slices(first.topic), Category.of_slices(first.doc)
        judged = np.isin(list(topic.names), list(known.topics))[topic.codes]
        topics.append(topic.take(judged))
        docs.append(doc.take(judged))
    items, number = number_items(joined(topics), joined(docs))
    return replace(judgments, items=items, item=number[: len(known)][judgments.item])


def first_docs(runs: RunsLike, lists: Collection[tuple[str, str]], depth: int) -> dict[tuple[str, str], list[str]]:
    """Return the ids of the first results of some lists, given by system and topic.

    Cost: O(lines), the lines of one source at a time, and sorting those of these lists.

    Examples
    --------
    >>> first_docs({"s": {"q1": {"a": 3.0, "b": 5.0}, "q2": {"a": 1.0}}}, [("s", "q1")], 2)
    {('s', 'q1'): ['b', 'a']}
    """
    sources, found = as_runs(runs), dict[tuple[str, str], list[str]]()
    if not lists:
        return found
    for source in sources.sources:
        name = file_name(source) if sources.rules.system_from == "file" else None
        wanted = partial(_wanted, lists=lists, name=name)
        if isinstance(source, RunTable):
            table, rows = source, np.flatnonzero(wanted(source.system, source.topic))
        else:
            table = whole_run(source, keep=wanted)
            rows = np.arange(len(table.score))
        rows = _by_rank(table, rows, table_scores(table, kernel_rules(sources.rules)))
        rows = rows[_rank(_owner(table)[rows]) <= depth]
        systems, topics, docs = (each.take(rows).texts() for each in (table.system, table.topic, table.doc))
        for system, topic, doc in zip(systems, topics, docs, strict=True):
            found.setdefault((name or system, topic), []).append(doc)
    return found


def _owner(table: RunTable) -> Ints:
    """Return the list of every row, as a number -> (row,)."""
    return table.system.codes.astype(np.int64) * max(len(table.topic.names), 1) + table.topic.codes


def _wanted(system: Category, topic: Category, *, lists: Collection[tuple[str, str]], name: str | None) -> Bools:
    """Mark the rows of some lists; name: that of all systems, if it is not in the rows -> (row,)."""
    table = [[(name or each, which) in lists for which in topic.names] for each in system.names]
    return np.array(table, dtype=np.bool_).reshape(-1, max(len(topic.names), 1))[system.codes, topic.codes]


def _by_rank(table: RunTable, rows: Ints, score: Floats) -> Ints:
    """Sort rows by list and rank; of a document that a list has twice, the first row counts."""
    name = np.argsort(bytewise_order(table.doc.names.slices))[table.doc.codes[rows]]
    owner = _owner(table)[rows]
    first = np.unique(owner * max(len(table.doc.names), 1) + name, return_index=True)[1]
    return np.asarray(rows[first[np.lexsort((-name[first], -score[rows[first]], owner[first]))]])


def _rank(owner: Ints) -> Ints:
    """Number the rows of each group from 1; groups are together."""
    size = np.bincount(np.cumsum(np.append(True, owner[1:] != owner[:-1])[: len(owner)]) - 1)
    return np.asarray(np.arange(len(owner)) - np.repeat(offsets(size)[:-1], size) + 1)

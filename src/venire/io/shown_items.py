"""Shown items: every document that the runs show for a judged topic gets a number, whether anybody judged it or not.

A scan of runs knows judged items alone.  Where documents that nobody judged are to be judged after all, two systems
that show the same one must be seen to do so; then the runs are read once more, for the names of their documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from venire.data.ids import Category, joined
from venire.data.judgments import Judgments, number_items
from venire.data.runs import Runs, RunTable
from venire.io.lines import chunks, opened
from venire.scan.fields import split
from venire.scan.lists import DOC, TOPIC
from venire.scan.slices import padded

Columns = tuple[Category, Category]


def with_shown_items(judgments: Judgments, runs: Runs) -> Judgments:
    """Number the documents of the runs among the items; labels stay as they are.

    Cost: O(lines + distinct documents); memory: a chunk of a file, and the distinct documents.
    """
    items = judgments.items
    known = set(items.topics)
    old = Category(items.topic, items.topics), Category(np.arange(len(items), dtype=np.int32), items.doc)
    parts = [old, *(_distinct(part, known) for source in runs.sources for part in _columns(source))]
    topic, doc = (joined(each) for each in zip(*parts, strict=True))
    found, number = number_items(topic, doc)
    return replace(judgments, items=found, item=number[judgments.item])


def _columns(source: Path | RunTable) -> Iterator[Columns]:
    """Topics and documents of a source, part by part; a faulty line ends a part, and the scan that follows names it."""
    if isinstance(source, RunTable):
        yield source.topic, source.doc
        return
    with opened(source) as file:
        for chunk in chunks(file):
            fields = split(padded(chunk.data), 6)
            yield Category.of_slices(fields.column(TOPIC)), Category.of_slices(fields.column(DOC))


def _distinct(columns: Columns, known: set[str]) -> Columns:
    """Keep one row for each document of a judged topic."""
    topic, doc = columns
    judged = np.array([name in known for name in topic.names], dtype=np.bool_)[topic.codes]
    cell = topic.codes.astype(np.int64) * max(len(doc.names), 1) + doc.codes
    rows = np.unique(np.where(judged, cell, -1), return_index=True)[1]
    rows = rows[judged[rows]]
    return topic.take(rows), doc.take(rows)

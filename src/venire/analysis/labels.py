"""Labels drawn from a known truth."""

from __future__ import annotations

import numpy as np

from venire.analysis.patterns import Pairs
from venire.analysis.truth import Truth
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.types import Codes, Floats, Ints


def judgments_of(truth: Truth, rows: Pairs, *, streams: list[np.random.Generator]) -> Judgments:
    """Draw labels for rows of (item of the truth, assessor); they come out by item, then assessor."""
    item, assessor = _in_order(*rows, len(truth.assessors))
    names = Category(assessor.astype(np.int32), Ids.of(truth.assessors)).take(np.arange(len(assessor)))
    number = np.zeros(len(truth.items), dtype=np.int32)
    number[truth.judged] = np.arange(len(truth.judged))
    topic = Category(truth.items.topic, truth.items.topics).take(truth.judged)
    items = Items(topic.names, topic.codes, truth.items.doc.take(truth.judged))
    return Judgments(truth.scale, items, number[item], names, _labels(truth, item, assessor, streams))


def _in_order(item: Ints, assessor: Ints, n_assessors: int) -> Pairs:
    key = item * n_assessors + assessor
    if (key[1:] < key[:-1]).any():
        key.sort()
    return np.divmod(key, n_assessors)


def _labels(truth: Truth, item: Ints, assessor: Ints, streams: list[np.random.Generator]) -> Codes:
    """Draw labels (row,), each assessor's from a stream of their own."""
    n_levels = len(truth.scale)
    label = np.empty(len(item), dtype=np.int32)
    by_assessor = np.argsort(assessor.astype(np.int16) if len(streams) < 2**15 else assessor, kind="stable")
    ends = np.bincount(assessor, minlength=len(streams)).cumsum()
    cell = truth.items.topic.astype(np.int64) * n_levels + truth.level
    for rows, name, rng in zip(np.split(by_assessor, ends[:-1]), truth.assessors, streams, strict=True):
        p = truth.confusion_on(name).reshape(-1, n_levels)
        label[rows] = drawn(p, cell[item[rows]], rng)
    return label


def drawn(p: Floats, cell: Ints, rng: np.random.Generator) -> Codes:
    """Draw a level for every row by the probabilities of its cell; p (cell, level), cell (row,) -> (row,)."""
    cumulative = p.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    u = rng.random(len(cell))
    level = np.zeros(len(cell), dtype=np.int32)
    for threshold in cumulative.T[:-1]:
        level += u >= threshold[cell]
    return level

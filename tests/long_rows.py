"""Judgments from rows written out in a test: (topic, doc, assessor, label), and an intent if there is a fifth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.io.rows import Rows, assemble


def judgments_of(rows: Iterable[Sequence[object]], scale: str = "0<1<2", *, fifth: str = "intent") -> Judgments:
    """Assemble rows as a reader would; every label of an assessor is kept."""
    columns = [Category.of(map(str, column)) for column in zip(*rows, strict=True)]
    topic, doc, assessor, label = columns[:4]
    facets = {fifth: columns[4]} if len(columns) == 5 else {}
    part = Rows("rows", topic, doc, assessor, label, np.arange(1, len(topic) + 1), facets)
    return assemble([part], scale=Scale.parse(scale))


def double(*pairs: tuple[object, object, int], scale: str = "0<1<2", topics: int = 1) -> Judgments:
    """Judge items by A and B, so many with each pair of labels: (by A, by B, how many); deal them out to topics."""
    rows, number = [], 0
    for a, b, count in pairs:
        for _ in range(count):
            rows += [(number % topics, f"d{number}", "A", a), (number % topics, f"d{number}", "B", b)]
            number += 1
    return judgments_of(rows, scale)

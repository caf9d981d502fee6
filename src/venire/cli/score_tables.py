"""Scores as tables: long for machines, measures across for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from venire.cli.rendering import Cell, Table

if TYPE_CHECKING:
    from venire.measures.scores import Scores

LONG = ("system", "measure", "topic", "assessor", "value")
ALL = "all"
"""The topic of a mean over topics."""

Row = tuple[tuple[str, str, str | None], list[float | None]]
"""A system, a topic and an assessor, and their values, one per measure."""


def long_table(scores: Scores, assessor: str | None, *, per_topic: bool) -> Table:
    """Lay scores out with a row per value; ``assessor`` names whose labels they are, where that is no axis."""
    rows = [
        (system, measure, topic, judge, value)
        for (system, topic, judge), values in score_rows(scores, assessor, per_topic=per_topic)
        for measure, value in zip(scores.names["measure"], values, strict=True)
    ]
    return Table(LONG, rows)


def wide_table(scores: Scores, *, per_topic: bool) -> Table:
    """Lay scores out with systems (and topics, and assessors) down, measures across."""
    shown = {"system": True, "topic": per_topic, "assessor": "assessor" in scores.axes}
    rows: list[list[Cell]] = [
        [*(name for name, keep in zip(place, shown.values(), strict=True) if keep), *values]
        for place, values in score_rows(scores, None, per_topic=per_topic)
    ]
    return Table([*(name for name, keep in shown.items() if keep), *scores.names["measure"]], rows)


def score_rows(scores: Scores, assessor: str | None, *, per_topic: bool) -> Iterator[Row]:
    """Yield the values of each system: topic by topic if asked, then the means; None where there is none."""
    import numpy as np

    means = scores.mean("topic").values[:, None]
    values = np.concatenate([scores.values, means], axis=1) if per_topic else means
    values = values if "assessor" in scores.axes else values[..., None]
    topics = [*(scores.names["topic"] if per_topic else ()), ALL]
    judges: Iterable[str | None] = scores.names["assessor"] if "assessor" in scores.axes else [assessor]
    for system, by_topic in zip(scores.names["system"], np.moveaxis(values, 2, 3), strict=True):
        for topic, by_judge in zip(topics, by_topic.tolist(), strict=True):
            for judge, row in zip(judges, by_judge, strict=True):
                yield (system, topic, judge), [None if math.isnan(value) else value for value in row]

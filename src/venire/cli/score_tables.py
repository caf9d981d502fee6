"""Scores as tables: long for machines, measures across for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from venire.cli.rendering import Cell, Table
from venire.results import known

if TYPE_CHECKING:
    from venire.measures.random_users import UserScores
    from venire.measures.scores import Scores

LONG = ("system", "measure", "topic", "assessor", "value")
SPREAD = ("sd", "low", "high")
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
                yield (system, topic, judge), [known(value) for value in row]


def long_user_table(found: UserScores, assessor: str | None, *, per_topic: bool) -> Table:
    """Lay scores of simulated users out, a row per mean over users, with their spread."""
    rows: list[list[Cell]] = [
        [system, measure, topic, assessor, *map(known, cells)]
        for (system, topic), values in user_rows(found, per_topic=per_topic)
        for measure, cells in zip(found.users.names["measure"], values, strict=True)
    ]
    return Table([*LONG, *SPREAD], rows)


def wide_user_table(found: UserScores, *, per_topic: bool) -> Table:
    """Lay scores of simulated users out with systems (and topics) down, and measures with their spread across."""
    rows: list[list[Cell]] = [
        [system, *([topic] if per_topic else []), *(known(cell) for cells in values for cell in cells[:2])]
        for (system, topic), values in user_rows(found, per_topic=per_topic)
    ]
    across = [name for measure in found.users.names["measure"] for name in (measure, f"{measure} sd")]
    return Table(["system", *(["topic"] if per_topic else []), *across], rows)


def user_rows(found: UserScores, *, per_topic: bool) -> Iterator[tuple[tuple[str, str], list[list[float]]]]:
    """Yield value, sd, low and high by measure: of each system, topic by topic if asked, then of its means."""
    import numpy as np

    from venire.measures.random_users import HIGH, LOW

    overall = [found.mean.values, found.sd.values, found.quantile(LOW), found.quantile(HIGH)]
    means = np.stack(overall, axis=-1)[:, None]
    nothing = np.full(found.topics.values.shape, np.nan)
    topics = np.stack([found.topics.values, found.topic_spread.values, nothing, nothing], axis=-1)
    values = np.concatenate([topics, means], axis=1) if per_topic else means
    names = [*(found.topics.names["topic"] if per_topic else ()), ALL]
    for system, by_topic in zip(found.users.names["system"], values.tolist(), strict=True):
        for topic, by_measure in zip(names, by_topic, strict=True):
            yield (system, topic), by_measure

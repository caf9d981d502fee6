"""Labels whose disagreement is asked about in many ways: a setting, and judgments made of rows."""

from __future__ import annotations

from venire import PredictedRelevance, read_judgments
from venire.simulation.assessors import OneJudgesAll
from venire.simulation.levels import Synthetic
from venire.simulation.systems import Systems, scattered

ALL = PredictedRelevance(relevant="all", estimator="labels")
SETTING = Synthetic(
    n_topics=12,
    docs_per_topic=40,
    n_unjudged=10,
    pattern=OneJudgesAll(share=0.6, common=False),
    systems=Systems(quality=scattered(5), depth=20, missing=0.2),
)


def rows_by(labels: dict[str, dict[str, int]], who: str) -> list[tuple[str, str, str, int]]:
    return [(who, topic, doc, label) for topic, docs in labels.items() for doc, label in docs.items()]


def judgments_of(rows, scale: str = "0<1<2"):
    import polars as pl

    frame = pl.DataFrame(rows, schema=["assessor", "topic", "doc", "label"], orient="row")
    return read_judgments(frame, scale=scale)

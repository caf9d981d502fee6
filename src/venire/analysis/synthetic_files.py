"""A simulated collection as a folder: Venire's own formats, and the truth beside them.

judgments.tsv          topic, doc, assessor, label; the scale on top where the labels do not tell it
runs/<system>.run      TREC runs: topic, Q0, doc, rank, score, system
truth/items.tsv        topic, doc, level (from 0), label: the true one, of every document, judged or not
truth/assessors.tsv    assessor, kind, topic_weight, true, label, p: the confusion at effect 0
truth/systems.tsv      system, quality, order (1: the best)
truth/topics.tsv       topic, effect
truth/setting.json     all parameters, rng and version: what made the collection, and makes it again
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.analysis.simulated_folders import (
    prepare,
    spelled,
    write_columns,
    write_runs,
    write_setting,
    write_systems,
)
from venire.analysis.synthetic import Collection
from venire.io.judgment_writing import write_judgments

if TYPE_CHECKING:
    import polars as pl


def write_collection(collection: Collection, folder: str | Path) -> None:
    """Write a collection into a folder, new or empty; an earlier collection there is replaced.

    Cost: linear in labels, documents and lines of runs.
    """
    folder = Path(folder)
    prepare(folder, runs=True)
    write_judgments(collection.judgments, folder / "judgments.tsv")
    write_runs(collection.runs, folder / "runs")
    _write_truth(collection, folder / "truth")


def _write_truth(collection: Collection, folder: Path) -> None:
    import polars as pl

    truth, labels = collection.truth, collection.truth.scale.labels
    items = {
        "topic": spelled(truth.topics, truth.items.topic),
        "doc": pl.Series(list(truth.items.doc)),
        "level": pl.Series(truth.level),
        "label": spelled(labels, truth.level),
    }
    write_columns(folder / "items.tsv", items)
    write_columns(folder / "assessors.tsv", _confusions(collection))
    write_systems(folder, truth.systems, truth.quality.tolist())
    write_columns(folder / "topics.tsv", {"topic": pl.Series(list(truth.topics)), "effect": pl.Series(truth.effect)})
    write_setting(folder, replace(collection.setting, prevalence=tuple(truth.prevalence.tolist())), collection.seed)


def _confusions(collection: Collection) -> dict[str, pl.Series]:
    import polars as pl

    truth = collection.truth
    kinds = {assessor.name: assessor.kind_name for assessor in collection.setting.assessors}
    assessor, true, label = (place.ravel() for place in np.indices(truth.confusion.shape))
    return {
        "assessor": spelled(truth.assessors, assessor),
        "kind": spelled([kinds[name] for name in truth.assessors], assessor),
        "topic_weight": pl.Series(truth.weight[assessor]),
        "true": spelled(truth.scale.labels, true),
        "label": spelled(truth.scale.labels, label),
        "p": pl.Series(truth.confusion.ravel()),
    }

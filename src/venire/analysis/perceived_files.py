"""A collection of perceived relevance as a folder: Venire's own formats, and the truth beside them.

judgments.tsv          topic, doc, assessor, label; the scale on top where the labels do not tell it
preferences.tsv        topic, left, right, assessor, strength (positive: left is better, 0: a tie)
runs/<system>.run      TREC runs, if there are systems
truth/items.tsv        topic, doc, relevance (in [0, 1]), level (from 0), label: its grade
truth/assessors.tsv    assessor, batch, sigma
truth/topics.tsv       topic, batch, alpha, beta
truth/systems.tsv      system, quality, order (1: the best)
truth/setting.json     all parameters, rng and version: what made the collection, and makes it again
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.analysis.perceived_collections import PerceivedCollection, assessor_names
from venire.analysis.perceived_relevance import graded
from venire.analysis.simulated_folders import (
    prepare,
    spelled,
    write_columns,
    write_runs,
    write_setting,
    write_systems,
)
from venire.data.preferences import Preferences
from venire.io.judgment_writing import write_judgments

if TYPE_CHECKING:
    import polars as pl

RECIPE = "chu2021"
PREFERENCES = "preferences.tsv"


def write_perceived(collection: PerceivedCollection, folder: str | Path) -> None:
    """Write a collection into a folder, new or empty; an earlier simulation there is replaced.

    Cost: linear in labels, preferences and lines of runs.
    """
    folder = Path(folder)
    prepare(folder, runs=bool(collection.runs.sources))
    write_judgments(collection.judgments, folder / "judgments.tsv")
    write_columns(folder / PREFERENCES, preference_columns(collection.preferences))
    write_runs(collection.runs, folder / "runs")
    _write_truth(collection, folder / "truth")


def preference_columns(preferences: Preferences) -> dict[str, pl.Series]:
    """Spell preferences out, strengths as whole numbers."""
    import polars as pl

    return {
        "topic": spelled(preferences.topics, preferences.topic),
        "left": spelled(preferences.docs, preferences.left),
        "right": spelled(preferences.docs, preferences.right),
        "assessor": spelled(preferences.assessor.names, preferences.assessor.codes),
        "strength": pl.Series(preferences.strength.astype(np.int64)),
    }


def _write_truth(collection: PerceivedCollection, folder: Path) -> None:
    import polars as pl

    setting, items = collection.setting, collection.judgments.items
    level = graded(collection.relevance, setting.n_grades)
    truth = {
        "topic": spelled(items.topics, items.topic),
        "doc": pl.Series(list(items.doc)),
        "relevance": pl.Series(collection.relevance),
        "level": pl.Series(level),
        "label": spelled(collection.judgments.scale.labels, level),
    }
    write_columns(folder / "items.tsv", truth)
    assessors = {
        "assessor": pl.Series(assessor_names(setting)),
        "batch": pl.Series(np.repeat(np.arange(1, setting.n_batches + 1), setting.n_assessors)),
        "sigma": pl.Series(collection.sigma.ravel()),
    }
    write_columns(folder / "assessors.tsv", assessors)
    topics = {"topic": pl.Series(list(items.topics)), "batch": pl.Series(collection.batch + 1)}
    shape = {name: pl.Series(column.copy()) for name, column in zip(("alpha", "beta"), collection.shape.T, strict=True)}
    write_columns(folder / "topics.tsv", topics | shape)
    write_systems(folder, setting.systems.names, setting.systems.quality)
    write_setting(folder, setting, collection.seed, recipe=RECIPE)

"""A collection in context as a folder: Venire's own formats, and the truth beside them.

judgments.tsv          topic, doc, assessor, label, given (the document read before; empty: none)
preferences.tsv        topic, left, right, assessor, strength (-2 to 2; positive: the left list is better, 0: a tie)
clicks.tsv             session, topic, rank, doc, clicked (0 or 1), dwell (seconds; empty: no click)
aspects.tsv            topic, doc, given, assessor, aspect, label (or N/A), if aspects were asked for
runs/left.run, right.run   TREC runs
truth/items.tsv        topic, doc, worth (in grades), label: the nearest, facets that it covers
truth/pairs.tsv        topic, doc, given, worth: in condition, of pairs that were judged or are neighbours in a list
truth/assessors.tsv    assessor, topic: who judged what
truth/topics.tsv       topic, engine (on the left: 1 or 2), design, left, right: what the lists are worth to users
truth/systems.tsv      system, quality (mean worth to users), order (1: the best)
truth/setting.json     all parameters, rng and version: what made the collection, and makes it again
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.analysis.context_collections import ContextCollection, ContextTruth
from venire.analysis.context_labels import graded_labels
from venire.analysis.context_lists import SIDES
from venire.analysis.perceived_files import preference_columns
from venire.analysis.simulated_folders import (
    prepare,
    spelled,
    write_columns,
    write_runs,
    write_setting,
    write_systems,
)
from venire.data.conditional import given_items
from venire.data.judgments import Judgments
from venire.types import Bools, Ints

if TYPE_CHECKING:
    import polars as pl

RECIPE = "golbus2014"


def write_context(collection: ContextCollection, folder: str | Path) -> None:
    """Write a collection into a folder, new or empty; an earlier simulation there is replaced.

    Cost: linear in labels, click rows and documents.
    """
    folder = Path(folder)
    prepare(folder, runs=True)
    scale = f"# scale: {collection.setting.scale}\n"
    write_columns(folder / "judgments.tsv", collection.judgments.to_polars(), header=scale)
    write_columns(folder / "preferences.tsv", preference_columns(collection.preferences))
    if collection.setting.clicks.sessions:
        write_columns(folder / "clicks.tsv", collection.clicks)
    if collection.aspects is not None:
        write_columns(folder / "aspects.tsv", collection.aspects, header=scale)
    write_runs(collection.runs, folder / "runs")
    _write_truth(collection, folder / "truth")


def _write_truth(collection: ContextCollection, folder: Path) -> None:
    truth, judgments = collection.truth, collection.judgments
    write_columns(folder / "items.tsv", _items(collection))
    write_columns(folder / "pairs.tsv", _pairs(truth, judgments))
    who = np.unique(np.stack([judgments.items.topic[judgments.item], judgments.assessor.codes]), axis=1)
    named = {"assessor": spelled(judgments.assessor.names, who[1]), "topic": spelled(judgments.items.topics, who[0])}
    write_columns(folder / "assessors.tsv", named)
    write_columns(folder / "topics.tsv", _topics(collection))
    write_systems(folder, SIDES, truth.utility.mean(axis=0).tolist())
    write_setting(folder, collection.setting, collection.seed, recipe=RECIPE)


def _items(collection: ContextCollection) -> dict[str, pl.Series]:
    """Say of every document of every topic what it is worth and covers, facets as numbers: 1,4."""
    import polars as pl

    contents, setting = collection.truth.contents, collection.setting
    topic, doc = (place.ravel() for place in np.indices(contents.worth.shape))
    worth = contents.worth.ravel()
    return {
        "topic": spelled(collection.judgments.items.topics, topic),
        "doc": spelled(collection.truth.docs, doc),
        "worth": pl.Series(worth),
        "label": spelled(setting.scale.labels, graded_labels(worth, setting.top)),
        "facets": _listed(contents.covers.reshape(len(worth), -1)),
    }


def _listed(covers: Bools) -> pl.Series:
    """Number what is covered, from 1, with commas between; (row, facet) -> (row,)."""
    import polars as pl

    row, facet = np.nonzero(covers)
    table = pl.DataFrame({"row": row, "facet": facet + 1}).group_by("row", maintain_order=True)
    return table.agg(pl.col("facet").cast(pl.String).str.join(","))["facet"]


def _pairs(truth: ContextTruth, judgments: Judgments) -> dict[str, pl.Series]:
    """Say what documents are truly worth after others: pairs that were judged, and neighbours in the lists."""
    import polars as pl

    topic, doc, given = pairs_of(truth, judgments)
    return {
        "topic": spelled(judgments.items.topics, topic),
        "doc": spelled(truth.docs, doc),
        "given": spelled(truth.docs, given),
        "worth": pl.Series(truth.contents.worth_given(topic, doc, given)),
    }


def pairs_of(truth: ContextTruth, judgments: Judgments) -> tuple[Ints, Ints, Ints]:
    """List pairs that were judged or are neighbours -> topic, doc, given, (pair,) each, places in the truth."""
    n_topics, n_docs = truth.contents.worth.shape
    place = {name: number for number, name in enumerate(truth.docs)}
    docs = np.array([place[name] for name in judgments.items.doc], dtype=np.int64)
    given = given_items(judgments)
    item, before = judgments.item[given >= 0], given[given >= 0]
    topic = np.broadcast_to(np.arange(n_topics)[:, None, None], truth.lists[..., 1:].shape)
    lists = truth.lists
    key = np.concatenate(
        [
            (judgments.items.topic[item].astype(np.int64) * n_docs + docs[item]) * n_docs + docs[before],
            ((topic * n_docs + lists[..., 1:]) * n_docs + lists[..., :-1]).ravel(),
        ]
    )
    pair, given = np.divmod(np.unique(key), n_docs)
    return pair // n_docs, pair % n_docs, given


def _topics(collection: ContextCollection) -> dict[str, pl.Series]:
    import polars as pl

    truth = collection.truth
    design = np.where(truth.fifth, 0, 1) if collection.setting.design == "paper" else np.full(len(truth.fifth), 2)
    left, right = (pl.Series(column.copy()) for column in truth.utility.T)
    return {
        "topic": pl.Series(list(collection.judgments.items.topics)),
        "engine": pl.Series(truth.engine + 1),
        "design": spelled(("fifth", "tenth", "neighbours"), design),
        "left": left,
        "right": right,
    }

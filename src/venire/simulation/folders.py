"""Folders of simulated collections: what all recipes share when they write one.

A folder is new, empty, or holds an earlier simulation, which is replaced.  ``truth/setting.json`` names the recipe, if
it is not the usual one, and so tells which files were ours; nothing else is ever removed.

A simulated collection as a folder: Venire's own formats, and the truth beside them.

judgments.tsv          topic, doc, assessor, label; the scale on top where the labels do not tell it
runs/<system>.run      TREC runs: topic, Q0, doc, rank, score, system
truth/items.tsv        topic, doc, level (from 0), label: the true one, of every document, judged or not
truth/assessors.tsv    assessor, kind, topic_weight, true, label, p: the confusion at effect 0
truth/systems.tsv      system, quality, order (1: the best)
truth/topics.tsv       topic, effect
truth/setting.json     all parameters, rng and version: what made the collection, and makes it again

A collection of perceived relevance as a folder: Venire's own formats, and the truth beside them.

judgments.tsv          topic, doc, assessor, label; the scale on top where the labels do not tell it
preferences.tsv        topic, left, right, assessor, strength (positive: left is better, 0: a tie)
runs/<system>.run      TREC runs, if there are systems
truth/items.tsv        topic, doc, relevance (in [0, 1]), level (from 0), label: its grade
truth/assessors.tsv    assessor, batch, sigma
truth/topics.tsv       topic, batch, alpha, beta
truth/systems.tsv      system, quality, order (1: the best)
truth/setting.json     all parameters, rng and version: what made the collection, and makes it again

A collection in context as a folder: Venire's own formats, and the truth beside them.

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

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.data.conditional import given_items
from venire.data.ids import Ids
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs, RunTable
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.judgments import write_judgments
from venire.simulation.context.collection import ContextCollection, ContextTruth
from venire.simulation.context.labels import graded_labels
from venire.simulation.context.truth import SIDES
from venire.simulation.levels import Collection
from venire.simulation.perceived import PerceivedCollection, assessor_names
from venire.simulation.perceived_truth import graded
from venire.simulation.systems import DECIMALS
from venire.types import Bools, Codes, Ints

if TYPE_CHECKING:
    import polars as pl

OWN_FILES = {
    "chu2021": ("preferences.tsv",),
    "golbus2014": ("preferences.tsv", "clicks.tsv", "aspects.tsv", "truth/pairs.tsv"),
}
"""What a recipe writes that others may not."""


def prepare(folder: Path, *, runs: bool) -> None:
    """Make a folder ready: refuse what is no place for a collection, clear what an earlier one left, make its parts."""
    if folder.exists() and not folder.is_dir():
        raise FormatError(folder, None, "is a file, expected a folder", hint="choose another place")
    earlier = folder / "truth" / "systems.tsv"
    if earlier.exists():
        _clear(folder, earlier)
    elif folder.exists() and any(folder.iterdir()):
        raise FormatError(folder, None, "is not empty, and holds no simulated collection", hint="choose another folder")
    for part in [folder / "truth"] + [folder / "runs"] * runs:
        part.mkdir(parents=True, exist_ok=True)


def _clear(folder: Path, systems: Path) -> None:
    """Remove the runs of an earlier collection, and the files that are of its recipe alone."""
    for line in systems.read_text(encoding="utf-8").splitlines()[1:]:
        (folder / "runs" / f"{line.split(chr(9))[0]}.run").unlink(missing_ok=True)
    setting = folder / "truth" / "setting.json"
    recipe = json.loads(setting.read_text(encoding="utf-8")).get("recipe") if setting.is_file() else None
    for name in OWN_FILES.get(str(recipe), ()):
        (folder / name).unlink(missing_ok=True)


def write_runs(runs: Runs, folder: Path) -> None:
    """Write TREC runs, a file per system."""
    import polars as pl

    for run in runs.sources:
        if isinstance(run, RunTable):
            columns = {
                "topic": spelled(run.topic.names, run.topic.codes),
                "Q0": pl.repeat("Q0", len(run.score), eager=True),
                "doc": spelled(run.doc.names, run.doc.codes),
                "rank": pl.Series(_ranks(run.topic.codes)),
                "score": pl.Series(run.score),
                "system": spelled(run.system.names, run.system.codes),
            }
            path = folder / f"{run.name}.run"
            pl.DataFrame(columns).write_csv(
                path, include_header=False, separator=" ", quote_style="never", float_precision=DECIMALS
            )


def _ranks(topic: Codes) -> Ints:
    """Count 1, 2, ... within each stretch of one topic; (row,) -> (row,)."""
    row = np.arange(len(topic))
    starts = np.append(True, topic[1:] != topic[:-1])[: len(topic)]
    return row - np.maximum.accumulate(np.where(starts, row, 0)) + 1


def spelled(names: Ids | Sequence[str], codes: Codes | Ints) -> pl.Series:
    """Spell out a column; names (name,), codes (row,) -> (row,)."""
    import polars as pl

    return pl.Series(list(names), dtype=pl.String).gather(pl.Series(codes))


def write_columns(path: Path, columns: Mapping[str, pl.Series] | pl.DataFrame, *, header: str = "") -> None:
    """Write a table, tabs between columns, below a header."""
    import polars as pl

    with path.open("wb") as file:
        file.write(header.encode())
        pl.DataFrame(columns).write_csv(file, separator="\t", quote_style="never")


def write_systems(folder: Path, systems: Sequence[str], quality: Sequence[float]) -> None:
    """Write which systems there are: system, quality, order (1: the best)."""
    import polars as pl

    place = np.argsort(np.argsort(-np.array(quality, dtype=np.float64))) + 1
    columns = {
        "system": pl.Series(list(systems), dtype=pl.String),
        "quality": pl.Series(list(quality), dtype=pl.Float64),
        "order": pl.Series(place),
    }
    write_columns(folder / "systems.tsv", columns)


def write_setting(folder: Path, setting: object, seed: np.random.SeedSequence, *, recipe: str | None = None) -> None:
    """Write all parameters, rng and version: what made the collection, and makes it again."""
    plain = seed.spawn_key == () and seed.n_children_spawned == 0
    whole = {
        "entropy": seed.entropy,
        "spawn_key": list(seed.spawn_key),
        "n_children_spawned": seed.n_children_spawned,
    }
    made = {"rng": seed.entropy if plain else whole, "setting": as_plain(setting)}
    named = {} if recipe is None else {"recipe": recipe}
    text = json.dumps({"venire": _version(), **named, **made}, indent=2, ensure_ascii=False)
    (folder / "setting.json").write_text(text + "\n", encoding="utf-8")


def as_plain(value: object) -> object:
    """Turn a setting into what JSON can hold: values under their names, small values as they are printed."""
    if isinstance(value, Scale):
        return str(value)
    if is_dataclass(value) and not callable(value):
        return {each.name: as_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [as_plain(each) for each in value]
    if value is None or isinstance(value, int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    return str(getattr(value, "__name__", repr(value)))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("venire")
    except PackageNotFoundError:
        return "not installed"


def write_collection(collection: Collection, folder: str | Path) -> None:
    """Write a collection into a folder, new or empty; an earlier collection there is replaced.

    Cost: linear in labels, documents and lines of runs.
    """
    folder = Path(folder)
    prepare(folder, runs=True)
    write_judgments(collection.judgments, folder / "judgments.tsv")
    write_runs(collection.runs, folder / "runs")
    _write_level_truth(collection, folder / "truth")


def _write_level_truth(collection: Collection, folder: Path) -> None:
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


PERCEIVED = "chu2021"
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
    _write_perceived_truth(collection, folder / "truth")


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


def _write_perceived_truth(collection: PerceivedCollection, folder: Path) -> None:
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
    write_setting(folder, setting, collection.seed, recipe=PERCEIVED)


IN_CONTEXT = "golbus2014"


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
    _write_context_truth(collection, folder / "truth")


def _write_context_truth(collection: ContextCollection, folder: Path) -> None:
    truth, judgments = collection.truth, collection.judgments
    write_columns(folder / "items.tsv", _items(collection))
    write_columns(folder / "pairs.tsv", _pairs(truth, judgments))
    who = np.unique(np.stack([judgments.items.topic[judgments.item], judgments.assessor.codes]), axis=1)
    named = {"assessor": spelled(judgments.assessor.names, who[1]), "topic": spelled(judgments.items.topics, who[0])}
    write_columns(folder / "assessors.tsv", named)
    write_columns(folder / "topics.tsv", _topics(collection))
    write_systems(folder, SIDES, truth.utility.mean(axis=0).tolist())
    write_setting(folder, collection.setting, collection.seed, recipe=IN_CONTEXT)


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

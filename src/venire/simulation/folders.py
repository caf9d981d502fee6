"""Folders of simulated collections: data in Venire's formats, and the truth beside them.

A folder is new, empty, or contains an earlier simulation, which is replaced.  ``truth/setting.json`` has all
parameters, the seed, the version and the kind of collection, and so identifies the files of the earlier simulation;
no other files are removed, and none outside the folder.  ``FILES`` lists the files of each kind and their columns.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np

from venire.data.judgments import given_items
from venire.data.preferences import Preferences
from venire.data.runs import RunTable
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io.judgments import add_judgments
from venire.io.outputs import NewFiles, is_temporary
from venire.simulation.context.collection import ContextCollection
from venire.simulation.context.observations import as_text, graded_labels
from venire.simulation.context.truth import SIDES
from venire.simulation.levels import Collection
from venire.simulation.perceived import PerceivedCollection, assessor_names, graded
from venire.simulation.systems import DECIMALS
from venire.types import Ints

if TYPE_CHECKING:
    import polars as pl

Simulated: TypeAlias = Collection | PerceivedCollection | ContextCollection
Tables: TypeAlias = "dict[str, dict[str, Any] | pl.DataFrame]"

_PREFERENCES = "topic, left, right, assessor, strength (positive: left is better, 0: a tie)"
_SETTING = "all parameters, rng and version, which reproduce the collection"
FILES = {
    "levels": {
        "judgments.tsv": "topic, doc, assessor, label",
        "runs": "one TREC run per system",
        "truth/items.tsv": "topic, doc, level (from 0), label: true label of every document, judged or not",
        "truth/assessors.tsv": "assessor, kind, topic_weight, true, label, p: confusion matrix of each assessor",
        "truth/systems.tsv": "system, quality, order (1: the best)",
        "truth/topics.tsv": "topic, effect: difficulty of each topic",
        "truth/setting.json": _SETTING,
    },
    "perceived": {
        "judgments.tsv": "topic, doc, assessor, label",
        "preferences.tsv": _PREFERENCES,
        "runs": "one TREC run per system",
        "truth/items.tsv": "topic, doc, relevance (0 to 1), level (from 0), label: true relevance and its grade",
        "truth/assessors.tsv": "assessor, batch, sigma: noise of each assessor",
        "truth/systems.tsv": "system, quality, order (1: the best)",
        "truth/topics.tsv": "topic, batch, alpha, beta: parameters of the Beta distribution",
        "truth/setting.json": _SETTING,
    },
    "context": {
        "judgments.tsv": "topic, doc, assessor, label, given (the document read before; empty: none)",
        "preferences.tsv": _PREFERENCES,
        "clicks.tsv": "session, topic, rank, doc, clicked (0 or 1), dwell (seconds; empty: no click)",
        "aspects.tsv": "topic, doc, given, assessor, aspect, label (or N/A)",
        "runs": "the two systems, left and right",
        "truth/items.tsv": "topic, doc, worth (in grades), label, facets: worth and contents of every document",
        "truth/pairs.tsv": "topic, doc, given, worth: conditional worth, of judged pairs and neighbours in a list",
        "truth/assessors.tsv": "assessor, topic: who judged what",
        "truth/systems.tsv": "system, quality (mean utility), order (1: the best)",
        "truth/topics.tsv": "topic, engine (on the left), design, left, right: utility of both lists",
        "truth/setting.json": _SETTING,
    },
}
"""Files of each kind of collection, with a description."""
SYSTEMS, ANOTHER = "truth/systems.tsv", "choose another folder"


def write_collection(collection: Simulated, folder: str | Path) -> dict[str, str]:
    """Write a simulated collection of any kind into a folder; return the files written, with a description.

    The folder is new or empty, or an earlier simulation in it is replaced once all new files are complete.  Cost:
    linear in labels, preferences, click rows, documents and lines of runs.
    """
    import polars as pl

    folder = Path(folder)
    if isinstance(collection, ContextCollection):
        kind, tables = "context", _context_tables(collection)
    elif isinstance(collection, PerceivedCollection):
        kind, tables = "perceived", _perceived_tables(collection)
    else:
        kind, tables = "levels", _level_tables(collection)
    runs = [run for run in collection.runs.sources if isinstance(run, RunTable)]
    own = [f"runs/{run.name}.run" for run in runs]
    earlier = earlier_files(folder)
    for part in [folder / "truth"] + [folder / "runs"] * bool(runs):
        part.mkdir(parents=True, exist_ok=True)
    with NewFiles() as files:
        scale = f"# scale: {collection.judgments.scale}\n"
        for name in sorted(tables, key=lambda name: name != SYSTEMS):  # by which the folder is known again
            with files.open(folder / name) as file:
                file.write(scale.encode() if name in ("judgments.tsv", "aspects.tsv") else b"")
                pl.DataFrame(tables[name]).write_csv(file, separator="\t", quote_style="never")
        for run, name in zip(runs, own, strict=True):
            with files.open(folder / name) as file:
                _write_run(run, file)
        if kind != "context":
            add_judgments(files, collection.judgments, folder / "judgments.tsv")
        files.add(folder / "truth" / "setting.json", _setting(collection, kind))
    written = {"judgments.tsv", "truth/setting.json", *tables}
    for name in earlier - written - set(own):
        (folder / name).unlink(missing_ok=True)
    return {name: words for name, words in FILES[kind].items() if name in written or (own and name == "runs")}


def earlier_files(folder: Path) -> set[str]:
    """Return the files of an earlier collection in a folder, which a new one replaces; raise where there are others.

    Only files within the folder count, by names that a collection gives them: a name that leads elsewhere is refused.
    """
    if folder.exists() and not folder.is_dir():
        raise FormatError(folder, None, "is a file, expected a folder", hint=ANOTHER)
    systems, setting = folder / SYSTEMS, folder / "truth" / "setting.json"
    if not systems.exists():
        if folder.exists() and not all(map(_is_left_over, folder.iterdir())):
            raise FormatError(folder, None, "is not empty, and contains no simulated collection", hint=ANOTHER)
        return set()
    for part in (folder / "truth", folder / "runs"):
        if part.is_symlink():
            raise FormatError(part, None, "is a link to another folder", hint=ANOTHER)
    try:
        names = [line.split("\t")[0] for line in systems.read_text(encoding="utf-8").splitlines()[1:]]
        held = json.loads(setting.read_text(encoding="utf-8")) if setting.is_file() else {}
    except (ValueError, RecursionError) as error:
        place = systems if isinstance(error, UnicodeDecodeError) else setting
        raise FormatError(place, None, f"is not as a simulation writes it ({error})", hint=ANOTHER) from None
    for name in names:
        if Path(f"{name}.run").name != f"{name}.run" or "\0" in name:
            raise FormatError(systems, None, f"system {name!r} is not the name of a file", hint=ANOTHER)
    kind = held.get("kind") if isinstance(held, dict) else None
    return {*(f"runs/{name}.run" for name in names), *FILES.get(str(kind), {})} - {"runs"}


def _is_left_over(path: Path) -> bool:
    """Return whether this is all that a first simulation leaves which was killed."""
    part = path.name in ("truth", "runs") and path.is_dir()
    return all(map(is_temporary, path.iterdir())) if part else is_temporary(path)


def _write_run(run: RunTable, file: BinaryIO) -> None:
    """Write a TREC run."""
    import polars as pl

    row = np.arange(len(run.score))
    starts = np.append(True, run.topic.codes[1:] != run.topic.codes[:-1])[: len(row)]
    columns = {
        "topic": as_text(run.topic.names, run.topic.codes),
        "Q0": pl.repeat("Q0", len(row), eager=True),
        "doc": as_text(run.doc.names, run.doc.codes),
        "rank": row - np.maximum.accumulate(np.where(starts, row, 0)) + 1,
        "score": run.score,
        "system": as_text(run.system.names, run.system.codes),
    }
    table = pl.DataFrame(columns)
    table.write_csv(file, include_header=False, separator=" ", quote_style="never", float_precision=DECIMALS)


def _setting(collection: Simulated, kind: str) -> bytes:
    """Return all parameters, rng and version, which reproduce the collection."""
    setting: object = collection.setting
    if isinstance(collection, Collection):
        setting = replace(collection.setting, prevalence=tuple(collection.truth.prevalence.tolist()))
    seed: Any = {name: getattr(collection.seed, name) for name in ("entropy", "spawn_key", "n_children_spawned")}
    if seed["spawn_key"] == () and seed["n_children_spawned"] == 0:
        seed = collection.seed.entropy
    content = {"venire": version("venire"), "kind": kind, "rng": seed, "setting": _as_json(setting)}
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def _as_json(value: object) -> object:
    """Convert a setting to JSON: dataclasses to objects, patterns and kinds of assessors to text."""
    if isinstance(value, Scale):
        return str(value)
    if is_dataclass(value) and not callable(value):
        return {each.name: _as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_as_json(each) for each in value]
    if value is None or isinstance(value, int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    return str(getattr(value, "__name__", repr(value)))


def _level_tables(collection: Collection) -> Tables:
    truth, labels = collection.truth, collection.truth.scale.labels
    kinds = {assessor.name: assessor.kind_name for assessor in collection.setting.assessors}
    assessor, true, label = (number.ravel() for number in np.indices(truth.confusion.shape))
    return {
        "truth/items.tsv": {
            "topic": as_text(truth.topics, truth.items.topic),
            "doc": list(truth.items.doc),
            "level": truth.level,
            "label": as_text(labels, truth.level),
        },
        "truth/assessors.tsv": {
            "assessor": as_text(truth.assessors, assessor),
            "kind": as_text([kinds[name] for name in truth.assessors], assessor),
            "topic_weight": truth.weight[assessor],
            "true": as_text(labels, true),
            "label": as_text(labels, label),
            "p": truth.confusion.ravel(),
        },
        "truth/systems.tsv": _systems(truth.systems, truth.quality.tolist()),
        "truth/topics.tsv": {"topic": list(truth.topics), "effect": truth.effect},
    }


def _perceived_tables(collection: PerceivedCollection) -> Tables:
    setting, items = collection.setting, collection.judgments.items
    level = graded(collection.relevance, setting.n_grades)
    return {
        "preferences.tsv": _preferences(collection.preferences),
        "truth/items.tsv": {
            "topic": as_text(items.topics, items.topic),
            "doc": list(items.doc),
            "relevance": collection.relevance,
            "level": level,
            "label": as_text(collection.judgments.scale.labels, level),
        },
        "truth/assessors.tsv": {
            "assessor": assessor_names(setting),
            "batch": np.repeat(np.arange(1, setting.n_batches + 1), setting.n_assessors),
            "sigma": collection.sigma.ravel(),
        },
        "truth/systems.tsv": _systems(setting.systems.names, setting.systems.quality),
        "truth/topics.tsv": {
            "topic": list(items.topics),
            "batch": collection.batch + 1,
            "alpha": collection.shape[:, 0].copy(),
            "beta": collection.shape[:, 1].copy(),
        },
    }


def _context_tables(collection: ContextCollection) -> Tables:
    truth, judgments, setting = collection.truth, collection.judgments, collection.setting
    contents, topics = truth.contents, judgments.items.topics
    topic, doc = (number.ravel() for number in np.indices(contents.worth.shape))
    pairs = _judged_or_neighbours(collection)
    who = np.unique(np.stack([judgments.items.topic[judgments.item], judgments.assessor.codes]), axis=1)
    design = np.where(truth.fifth, 0, 1) if setting.design == "paper" else np.full(len(truth.fifth), 2)
    optional: Tables = {"clicks.tsv": collection.clicks} if setting.clicks.sessions else {}
    optional |= {} if collection.aspects is None else {"aspects.tsv": collection.aspects}
    return optional | {
        "judgments.tsv": judgments.to_polars(),
        "preferences.tsv": _preferences(collection.preferences),
        "truth/items.tsv": {
            "topic": as_text(topics, topic),
            "doc": as_text(truth.docs, doc),
            "worth": contents.worth.ravel(),
            "label": as_text(setting.scale.labels, graded_labels(contents.worth.ravel(), setting.top)),
            "facets": [",".join(map(str, np.flatnonzero(row) + 1)) for row in contents.covers[topic, doc]],
        },
        "truth/pairs.tsv": {
            "topic": as_text(topics, pairs[0]),
            "doc": as_text(truth.docs, pairs[1]),
            "given": as_text(truth.docs, pairs[2]),
            "worth": contents.worth_given(*pairs),
        },
        "truth/assessors.tsv": {
            "assessor": as_text(judgments.assessor.names, who[1]),
            "topic": as_text(topics, who[0]),
        },
        "truth/systems.tsv": _systems(SIDES, truth.utility.mean(axis=0).tolist()),
        "truth/topics.tsv": {
            "topic": list(topics),
            "engine": truth.engine + 1,
            "design": as_text(("fifth", "tenth", "neighbours"), design),
            "left": truth.utility[:, 0].copy(),
            "right": truth.utility[:, 1].copy(),
        },
    }


def _judged_or_neighbours(collection: ContextCollection) -> tuple[Ints, Ints, Ints]:
    """Return the pairs that were judged or are neighbours -> topic, doc, given, (pair,) each, numbers in the truth."""
    truth, judgments, lists = collection.truth, collection.judgments, collection.truth.lists
    n_topics, n_docs = truth.contents.worth.shape
    number = {name: n for n, name in enumerate(truth.docs)}
    docs = np.array([number[name] for name in judgments.items.doc], dtype=np.int64)
    given = given_items(judgments)
    item, before = judgments.item[given >= 0], given[given >= 0]
    judged = (judgments.items.topic[item].astype(np.int64) * n_docs + docs[item]) * n_docs + docs[before]
    topic = np.broadcast_to(np.arange(n_topics)[:, None, None], lists[..., 1:].shape)
    neighbours = (topic * n_docs + lists[..., 1:]) * n_docs + lists[..., :-1]
    pair, given = np.divmod(np.unique(np.concatenate([judged, neighbours.ravel()])), n_docs)
    return pair // n_docs, pair % n_docs, given


def _preferences(preferences: Preferences) -> pl.DataFrame:
    """Return preferences with strengths as whole numbers."""
    import polars as pl

    return preferences.to_polars().with_columns(pl.col("strength").cast(pl.Int64))


def _systems(systems: tuple[str, ...], quality: list[float] | tuple[float, ...]) -> dict[str, Any]:
    import polars as pl

    order = np.argsort(np.argsort(-np.array(quality, dtype=np.float64))) + 1
    names, values = pl.Series(systems, dtype=pl.String), pl.Series(quality, dtype=pl.Float64)
    return {"system": names, "quality": values, "order": order}

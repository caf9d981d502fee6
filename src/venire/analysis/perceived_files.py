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

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.analysis.perceived_collections import PerceivedCollection, assessor_names
from venire.analysis.perceived_relevance import graded
from venire.analysis.synthetic_files import as_plain
from venire.analysis.systems import DECIMALS
from venire.data.ids import Ids
from venire.data.preferences import Preferences
from venire.data.runs import RunTable
from venire.errors import FormatError
from venire.io.judgment_writing import write_judgments
from venire.types import Codes, Ints

if TYPE_CHECKING:
    import polars as pl

RECIPE = "chu2021"
PREFERENCES = "preferences.tsv"


def write_perceived(collection: PerceivedCollection, folder: str | Path) -> None:
    """Write a collection into a folder, new or empty; an earlier simulation there is replaced.

    Cost: linear in labels, preferences and lines of runs.
    """
    folder = Path(folder)
    _clear(folder)
    parts = [folder / "truth"] + [folder / "runs"] * bool(collection.runs.sources)
    for part in parts:
        part.mkdir(parents=True, exist_ok=True)
    write_judgments(collection.judgments, folder / "judgments.tsv")
    _write_table(folder / PREFERENCES, _preferences(collection.preferences))
    for source in collection.runs.sources:
        if isinstance(source, RunTable):
            _write_run(source, folder / "runs" / f"{source.name}.run")
    _write_truth(collection, folder / "truth")


def remove_preferences(folder: str | Path) -> None:
    """Remove the preferences of an earlier collection of this kind, and nothing that this module did not write."""
    setting = Path(folder) / "truth" / "setting.json"
    if setting.is_file() and json.loads(setting.read_text(encoding="utf-8")).get("recipe") == RECIPE:
        (Path(folder) / PREFERENCES).unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    """Remove the runs of an earlier simulation; refuse a folder that holds anything else."""
    if folder.exists() and not folder.is_dir():
        raise FormatError(folder, None, "is a file, expected a folder", hint="choose another place")
    earlier = folder / "truth" / "systems.tsv"
    if earlier.exists():
        for line in earlier.read_text(encoding="utf-8").splitlines()[1:]:
            (folder / "runs" / f"{line.split(chr(9))[0]}.run").unlink(missing_ok=True)
    elif folder.exists() and any(folder.iterdir()):
        raise FormatError(folder, None, "is not empty, and holds no simulated collection", hint="choose another folder")


def _preferences(preferences: Preferences) -> dict[str, pl.Series]:
    import polars as pl

    return {
        "topic": _texts(preferences.topics, preferences.topic),
        "left": _texts(preferences.docs, preferences.left),
        "right": _texts(preferences.docs, preferences.right),
        "assessor": _texts(preferences.assessor.names, preferences.assessor.codes),
        "strength": pl.Series(preferences.strength.astype(np.int64)),
    }


def _write_run(run: RunTable, path: Path) -> None:
    import polars as pl

    row = np.arange(len(run.score))
    starts = np.append(True, run.topic.codes[1:] != run.topic.codes[:-1])[: len(row)]
    columns = {
        "topic": _texts(run.topic.names, run.topic.codes),
        "Q0": pl.repeat("Q0", len(row), eager=True),
        "doc": _texts(run.doc.names, run.doc.codes),
        "rank": pl.Series(row - np.maximum.accumulate(np.where(starts, row, 0)) + 1),
        "score": pl.Series(run.score),
        "system": _texts(run.system.names, run.system.codes),
    }
    frame = pl.DataFrame(columns)
    frame.write_csv(path, include_header=False, separator=" ", quote_style="never", float_precision=DECIMALS)


def _write_truth(collection: PerceivedCollection, folder: Path) -> None:
    import polars as pl

    setting, items = collection.setting, collection.judgments.items
    level = graded(collection.relevance, setting.n_grades)
    truth = {
        "topic": _texts(items.topics, items.topic),
        "doc": pl.Series(list(items.doc)),
        "relevance": pl.Series(collection.relevance),
        "level": pl.Series(level),
        "label": _texts(collection.judgments.scale.labels, level),
    }
    _write_table(folder / "items.tsv", truth)
    assessors = {
        "assessor": pl.Series(assessor_names(setting)),
        "batch": pl.Series(np.repeat(np.arange(1, setting.n_batches + 1), setting.n_assessors)),
        "sigma": pl.Series(collection.sigma.ravel()),
    }
    _write_table(folder / "assessors.tsv", assessors)
    topics = {"topic": pl.Series(list(items.topics)), "batch": pl.Series(collection.batch + 1)}
    shape = {name: pl.Series(column.copy()) for name, column in zip(("alpha", "beta"), collection.shape.T, strict=True)}
    _write_table(folder / "topics.tsv", topics | shape)
    _write_table(folder / "systems.tsv", _systems(collection))
    text = json.dumps(_setting(collection), indent=2, ensure_ascii=False)
    (folder / "setting.json").write_text(text + "\n", encoding="utf-8")


def _systems(collection: PerceivedCollection) -> dict[str, pl.Series]:
    import polars as pl

    systems = collection.setting.systems
    place = np.argsort(np.argsort(-np.array(systems.quality))) + 1
    return {
        "system": pl.Series(systems.names, dtype=pl.String),
        "quality": pl.Series(systems.quality, dtype=pl.Float64),
        "order": pl.Series(place),
    }


def _setting(collection: PerceivedCollection) -> dict[str, object]:
    seed = collection.seed
    plain = seed.spawn_key == () and seed.n_children_spawned == 0
    whole = {
        "entropy": seed.entropy,
        "spawn_key": list(seed.spawn_key),
        "n_children_spawned": seed.n_children_spawned,
    }
    made = {"recipe": RECIPE, "rng": seed.entropy if plain else whole, "setting": as_plain(collection.setting)}
    return {"venire": _version(), **made}


def _version() -> str:
    try:
        return version("venire")
    except PackageNotFoundError:
        return "not installed"


def _texts(names: Ids | tuple[str, ...], codes: Codes | Ints) -> pl.Series:
    """Spell out a column; names (name,), codes (row,) -> (row,)."""
    import polars as pl

    return pl.Series(list(names), dtype=pl.String).gather(pl.Series(codes))


def _write_table(path: Path, columns: dict[str, pl.Series]) -> None:
    import polars as pl

    pl.DataFrame(columns).write_csv(path, separator="\t", quote_style="never")

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

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.analysis.synthetic import Collection
from venire.analysis.systems import DECIMALS
from venire.data.ids import Ids
from venire.data.judgments import Judgments
from venire.data.runs import RunTable
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.types import Codes, Ints

if TYPE_CHECKING:
    import polars as pl


def write_collection(collection: Collection, folder: str | Path) -> None:
    """Write a collection into a folder, new or empty; an earlier collection there is replaced.

    Cost: linear in labels, documents and lines of runs.
    """
    folder = Path(folder)
    _clear(folder)
    for part in (folder / "runs", folder / "truth"):
        part.mkdir(parents=True, exist_ok=True)
    _write_judgments(collection.judgments, folder / "judgments.tsv")
    for source in collection.runs.sources:
        if isinstance(source, RunTable):
            _write_run(source, folder / "runs" / f"{source.name}.run")
    _write_truth(collection, folder / "truth")


def _clear(folder: Path) -> None:
    """Remove the runs of an earlier collection; refuse a folder that holds anything else."""
    if folder.exists() and not folder.is_dir():
        raise FormatError(folder, None, "is a file, expected a folder", hint="choose another place")
    earlier = folder / "truth" / "systems.tsv"
    if earlier.exists():
        for line in earlier.read_text(encoding="utf-8").splitlines()[1:]:
            (folder / "runs" / f"{line.split(chr(9))[0]}.run").unlink(missing_ok=True)
    elif folder.exists() and any(folder.iterdir()):
        raise FormatError(folder, None, "is not empty, and holds no simulated collection", hint="choose another folder")


def _write_judgments(judgments: Judgments, path: Path) -> None:
    items = judgments.items
    columns = {
        "topic": _texts(items.topics, items.topic[judgments.item]),
        "doc": _texts(items.doc, judgments.item),
        "assessor": _texts(judgments.assessor.names, judgments.assessor.codes),
        "label": _texts(judgments.scale.labels, judgments.label),
    }
    _write_table(path, columns, header=_scale_line(judgments))


def _scale_line(judgments: Judgments) -> str:
    """Declare the scale, unless it is the one that would be inferred from the labels that occur."""
    inferred = Scale.of_integers([int(judgments.label.max(initial=0))])
    return "" if judgments.scale == inferred else f"# scale: {judgments.scale}\n"


def _write_run(run: RunTable, path: Path) -> None:
    import polars as pl

    columns = {
        "topic": _texts(run.topic.names, run.topic.codes),
        "Q0": pl.repeat("Q0", len(run.score), eager=True),
        "doc": _texts(run.doc.names, run.doc.codes),
        "rank": pl.Series(_ranks(run.topic.codes)),
        "score": pl.Series(run.score),
        "system": _texts(run.system.names, run.system.codes),
    }
    with path.open("wb") as file:
        pl.DataFrame(columns).write_csv(
            file, include_header=False, separator=" ", quote_style="never", float_precision=DECIMALS
        )


def _ranks(topic: Codes) -> Ints:
    """Count 1, 2, ... within each stretch of one topic; (row,) -> (row,)."""
    row = np.arange(len(topic))
    starts = np.append(True, topic[1:] != topic[:-1])[: len(topic)]
    return row - np.maximum.accumulate(np.where(starts, row, 0)) + 1


def _write_truth(collection: Collection, folder: Path) -> None:
    import polars as pl

    truth, labels = collection.truth, collection.truth.scale.labels
    items = {
        "topic": _texts(truth.topics, truth.items.topic),
        "doc": pl.Series(list(truth.items.doc)),
        "level": pl.Series(truth.level),
        "label": _texts(labels, truth.level),
    }
    _write_table(folder / "items.tsv", items)
    _write_table(folder / "assessors.tsv", _confusions(collection))
    place = np.argsort(np.argsort(-truth.quality)) + 1
    systems = {"system": pl.Series(truth.systems, dtype=pl.String), "quality": pl.Series(truth.quality)}
    _write_table(folder / "systems.tsv", systems | {"order": pl.Series(place)})
    _write_table(folder / "topics.tsv", {"topic": pl.Series(list(truth.topics)), "effect": pl.Series(truth.effect)})
    text = json.dumps(_setting(collection), indent=2, ensure_ascii=False)
    (folder / "setting.json").write_text(text + "\n", encoding="utf-8")


def _confusions(collection: Collection) -> dict[str, pl.Series]:
    import polars as pl

    truth = collection.truth
    kinds = {assessor.name: assessor.kind_name for assessor in collection.setting.assessors}
    assessor, true, label = (place.ravel() for place in np.indices(truth.confusion.shape))
    return {
        "assessor": _texts(truth.assessors, assessor),
        "kind": _texts([kinds[name] for name in truth.assessors], assessor),
        "topic_weight": pl.Series(truth.weight[assessor]),
        "true": _texts(truth.scale.labels, true),
        "label": _texts(truth.scale.labels, label),
        "p": pl.Series(truth.confusion.ravel()),
    }


def _setting(collection: Collection) -> dict[str, object]:
    seed = collection.seed
    plain = seed.spawn_key == () and seed.n_children_spawned == 0
    whole = {
        "entropy": seed.entropy,
        "spawn_key": list(seed.spawn_key),
        "n_children_spawned": seed.n_children_spawned,
    }
    setting = replace(collection.setting, prevalence=tuple(collection.truth.prevalence.tolist()))
    return {"venire": _version(), "rng": seed.entropy if plain else whole, "setting": as_plain(setting)}


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


def _texts(names: Ids | tuple[str, ...] | list[str], codes: Codes | Ints) -> pl.Series:
    """Spell out a column; names (name,), codes (row,) -> (row,)."""
    import polars as pl

    return pl.Series(list(names), dtype=pl.String).gather(pl.Series(codes))


def _write_table(path: Path, columns: dict[str, pl.Series], *, header: str = "") -> None:
    import polars as pl

    with path.open("wb") as file:
        file.write(header.encode())
        pl.DataFrame(columns).write_csv(file, separator="\t", quote_style="never")

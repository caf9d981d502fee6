"""Folders of simulated collections: what all recipes share when they write one.

A folder is new, empty, or holds an earlier simulation, which is replaced.  ``truth/setting.json`` names the recipe, if
it is not the usual one, and so tells which files were ours; nothing else is ever removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from venire.analysis.systems import DECIMALS
from venire.data.ids import Ids
from venire.data.runs import Runs, RunTable
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.types import Codes, Ints

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

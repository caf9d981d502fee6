"""read_runs: files, folders, patterns, frames and dictionaries into Runs; nothing is read before it is needed."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.runs import ORDERS, REPEATED, SCORE_TYPES, SYSTEM_FROM, RunRules, Runs, RunTable
from venire.errors import FormatError, UnknownName
from venire.io.foreign_objects import known_runs
from venire.io.lines import STDIN
from venire.words import read_number

RunsLike = Runs | str | Path | Mapping[str, Any] | Iterable[Any]

_COLUMNS = {
    "topic": ("topic", "qid", "query_id", "q_id", "query"),
    "doc": ("doc", "docid", "docno", "doc_id"),
    "score": ("score", "sim"),
    "system": ("system", "tag", "run", "run_id", "name"),
}


def read_runs(
    source: RunsLike,
    *,
    order: str = "score",
    score_type: str = "float64",
    repeated: str = "error",
    system_from: str = "tag",
) -> Runs:
    """Name the runs to evaluate, and the rules to read them by; files are scanned once, when first needed.

    Parameters
    ----------
    source : path, folder, pattern ("runs/*.gz"), "-" for standard input, or several of these in a list
        TREC files of six columns (topic, Q0, document, rank, score, tag), plain, gz or zst, with one system or
        many; Parquet files with columns topic, doc, score and system.  Also a dictionary
        {topic: {doc: score}} (one system) or {system: {topic: {doc: score}}}; ScoredDoc rows of ir_measures, a Run of
        ranx; and such by the names of their systems, {system: source}.
    order, score_type, repeated, system_from
        See :class:`RunRules`.

    Examples
    --------
    >>> read_runs({"q1": {"d1": 2.5, "d2": 1.0}})
    <Runs: run (1 source)>
    """
    rules = RunRules(order=order, score_type=score_type, repeated=repeated, system_from=system_from)
    for value, known in (
        (order, ORDERS),
        (score_type, SCORE_TYPES),
        (repeated, REPEATED),
        (system_from, SYSTEM_FROM),
    ):
        if value not in known:
            raise UnknownName("rule", value, known)
    if isinstance(source, Runs):
        return Runs(source.sources, rules)
    return Runs(tuple(_sources(source, rules)), rules)


def _sources(source: Any, rules: RunRules) -> Iterable[Path | RunTable]:
    source = known_runs(source)
    if isinstance(source, RunTable):
        yield source
    elif isinstance(source, Mapping):
        yield _from_dict(source)
    elif isinstance(source, (str, Path)):
        for path in expanded(source):
            yield _from_parquet(path, rules) if path.name.endswith(".parquet") else path
    elif hasattr(source, "columns"):
        yield _from_frame(source, "frame")
    else:
        for each in source:
            yield from _sources(each, rules)


def expanded(source: str | Path) -> list[Path]:
    """Name the files behind a path, a folder or a pattern; hidden files of a folder are left out."""
    path = Path(source)
    if not str(source):
        raise FormatError("", None, "the name of a file is empty")
    if path == STDIN or path.is_file():
        return [path]
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        if not files:
            raise FormatError(path, None, "is a folder without files", hint="name files, or the folder they are in")
        return files
    if glob.has_magic(str(source)):
        files = sorted(
            Path(each)
            for each in glob.glob(str(source), recursive=True)  # noqa: PTH207 - absolute patterns too
            if Path(each).is_file()
        )
        if files:
            return files
        raise FormatError(source, None, "no file fits this pattern", hint=f"looked from {Path.cwd()}")
    raise FormatError(source, None, "there is no such file or folder", hint=f"looked from {Path.cwd()}")


def _from_dict(runs: Mapping[str, Any]) -> RunTable:
    """Read {topic: {doc: score}} or {system: {topic: {doc: score}}}."""
    nested = any(isinstance(each, Mapping) for lists in runs.values() for each in dict(lists).values())
    systems = runs if nested else {"run": runs}
    names = list(map(_name, systems))
    rows = [
        (number, _name(topic), _name(doc), _score(score, topic, doc))
        for number, topics in enumerate(systems.values())
        for topic, docs in topics.items()
        for doc, score in docs.items()
    ]
    system, topic, doc, score = zip(*rows, strict=True) if rows else ((), (), (), ())
    of_systems = Category(np.array(system, dtype=np.int32), Ids.of(names))
    return RunTable("run", of_systems, Category.of(topic), Category.of(doc), np.array(score, dtype=np.float64))


def _name(name: object) -> str:
    text = str(name)
    if not text or "\0" in text:
        raise FormatError("run", None, f"found the id {text!r}, expected text", hint="runs are {topic: {doc: score}}")
    return text


def _score(score: Any, topic: object, doc: object) -> float:
    try:
        return read_number(score) if isinstance(score, str) else float(score)
    except (TypeError, ValueError):
        message = f"the score {score!r} of document {doc!r} for topic {topic!r} is not a finite number"
        raise FormatError("run", None, message) from None


def _from_parquet(path: Path, rules: RunRules) -> RunTable:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise FormatError(path, None, f"cannot be read as Parquet ({error})") from None
    return _from_frame(frame, str(path), from_file=rules.system_from == "file")


def _from_frame(frame: Any, name: str, *, from_file: bool = False) -> RunTable:
    import polars as pl

    table = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    found: dict[str, str] = {}
    for role, names in _COLUMNS.items():
        column = next((each for each in table.columns if each.lower() in names), None)
        if column is None and role != "system":
            raise FormatError(
                name,
                None,
                f"has the columns {', '.join(table.columns)}, expected one for the {role}",
                hint=f"rename a column to {role!r}",
            )
        found[role] = column or ""
    system = Category.constant(Path(name).stem, len(table)) if from_file or not found["system"] else None
    return RunTable(
        name,
        system or Category.of(table[found["system"]].cast(pl.String).to_list()),
        Category.of(table[found["topic"]].cast(pl.String).to_list()),
        Category.of(table[found["doc"]].cast(pl.String).to_list()),
        table[found["score"]].cast(pl.Float64).to_numpy(),
    )

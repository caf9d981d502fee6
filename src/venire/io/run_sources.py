"""read_runs: files, folders, patterns, frames and dictionaries into Runs; nothing is read before it is needed."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.runs import ORDERS, REPEATED, SCORE_TYPES, SYSTEM_FROM, RunRules, Runs, RunTable
from venire.errors import FormatError, UnknownName
from venire.io.foreign_objects import known_runs
from venire.io.lines import STDIN
from venire.io.tables.columns import is_run_table
from venire.results import read_number

RunsLike = Runs | str | Path | Mapping[str, Any] | Iterable[Any]

KNOWN_RULES = {"order": ORDERS, "score_type": SCORE_TYPES, "repeated": REPEATED, "system_from": SYSTEM_FROM}


def read_runs(
    source: RunsLike,
    *,
    order: str | None = None,
    score_type: str | None = None,
    repeated: str | None = None,
    system_from: str | None = None,
) -> Runs:
    """Name the runs to evaluate, and the rules to read them by; files are scanned once, when first needed.

    Parameters
    ----------
    source : path, folder, pattern ("runs/*.gz"), "-" for standard input, or several of these in a list
        TREC files of six columns (topic, Q0, document, rank, score, tag), plain, gz or zst, with one system or
        many; tables (CSV, TSV, Parquet) with columns topic, doc, score or rank, and perhaps system.  Also a dictionary
        {topic: {doc: score}} (one system) or {system: {topic: {doc: score}}}; ScoredDoc rows of ir_measures, a Run of
        ranx; and such by the names of their systems, {system: source}.  Runs that were read before keep their rules,
        except those given here.
    order, score_type, repeated, system_from
        See :class:`RunRules`, which has the defaults.

    Examples
    --------
    >>> runs = read_runs({"q1": {"d1": 2.5, "d2": 1.0}})
    >>> runs
    <Runs: run (1 source)>
    >>> read_runs(runs) is runs, read_runs(runs, repeated="first").rules.repeated
    (True, 'first')
    """
    asked = {"order": order, "score_type": score_type, "repeated": repeated, "system_from": system_from}
    given = {name: value for name, value in asked.items() if value is not None}
    for name, value in given.items():
        if value not in KNOWN_RULES[name]:
            raise UnknownName("rule", value, KNOWN_RULES[name])
    if not isinstance(source, Runs):
        return Runs(tuple(_sources(source)), RunRules(**given))
    return Runs(source.sources, replace(source.rules, **given)) if given else source


def as_runs(source: RunsLike) -> Runs:
    """Return runs as they are, under the rules they were read by; read anything else by the default rules."""
    return source if isinstance(source, Runs) else read_runs(source)


def _sources(source: Any) -> Iterable[Path | RunTable]:
    source = known_runs(source)
    if isinstance(source, RunTable):
        yield source
    elif isinstance(source, Mapping):
        yield _from_dict(source)
    elif isinstance(source, (str, Path)):
        for path in expanded(source):
            yield _from_file(path)
    elif hasattr(source, "columns"):
        from venire.io.run_tables import run_of_frame

        yield run_of_frame(source)
    else:
        for each in source:
            yield from _sources(each)


def _from_file(path: Path) -> Path | RunTable:
    """Read a table; other files are left to be scanned."""
    if not is_run_table(path):
        return path
    from venire.io.run_tables import read_run_table

    return read_run_table(path)


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

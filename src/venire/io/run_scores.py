"""run_scores: runs as dictionaries, as pytrec_eval, ir_measures and ranx take them.

Whole lists come into memory, a Python object for every document: for runs of the usual size, not for millions of lines.
Ties are broken by whoever reads the scores; Venire breaks them as trec_eval does, by document, descending.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from venire.data.ids import Category
from venire.data.runs import RunRules, RunTable
from venire.errors import FormatError
from venire.io.lines import Chunk, read_bytes
from venire.io.runs import (
    COLUMNS,
    RunsLike,
    as_runs,
    file_name,
    kernel_rules,
    repeated_row_fault,
    run_fault,
    table_scores,
)
from venire.scan.fields import split
from venire.scan.lists import read_lines
from venire.scan.slices import padded

RunScores = dict[str, dict[str, dict[str, float]]]


def run_scores(runs: RunsLike) -> RunScores:
    """Read runs whole: {system: {topic: {doc: score}}}; by the rules of ``read_runs``.

    Where runs are ordered by rank, the score is the rank below zero.

    Examples
    --------
    >>> scores = run_scores({"q1": {"d1": 2.5, "d2": 1}})
    >>> scores["run"]
    {'q1': {'d1': 2.5, 'd2': 1.0}}
    """
    source = as_runs(runs)
    held: RunScores = {}
    for each in source.sources:
        table = _ordered(each, source.rules) if isinstance(each, RunTable) else _table(each, source.rules)
        if source.rules.system_from == "file":
            table = replace(table, system=Category.constant(file_name(each), len(table.score)))
        twice = held.keys() & set(table.system.names)
        if twice:
            hint = "name systems by their files: system_from='file'"
            raise FormatError(table.name, None, f"system {min(twice)!r} stands in another source too", hint=hint)
        _add(held, table, source.rules)
    return held


def _ordered(table: RunTable, rules: RunRules) -> RunTable:
    return replace(table, score=table_scores(table, kernel_rules(rules)))


def _table(path: Path, rules: RunRules) -> RunTable:
    """Read a file of six columns whole."""
    data = read_bytes(path)
    chunk = Chunk(data if data.endswith(b"\n") else data + b"\n")
    lines, fault = read_lines(split(padded(chunk.data), 6), kernel_rules(rules))
    if fault is not None:
        raise run_fault(path, fault, chunk, kernel_rules(rules))
    if len(lines.score) == 0:
        raise FormatError(path, None, "holds no run lines", hint=f"expected {COLUMNS}")
    topic, doc, system = (Category.of_slices(column) for column in (lines.topic, lines.doc, lines.system))
    return RunTable(str(path), system, topic, doc, lines.score)


def _add(held: RunScores, table: RunTable, rules: RunRules) -> None:
    columns = table.system.texts(), table.topic.texts(), table.doc.texts(), table.score.tolist()
    for row, (system, topic, doc, score) in enumerate(zip(*columns, strict=True)):
        docs = held.setdefault(system, {}).setdefault(topic, {})
        if doc in docs and rules.repeated == "error":
            raise repeated_row_fault(table, row)
        docs.setdefault(doc, score)

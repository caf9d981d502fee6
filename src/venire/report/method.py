"""Method: how every number of the report was computed, with references, and how to reproduce it.

A formula of ``assets/formulas.toml`` is listed if a table or picture shows its number, or the report uses its measure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from venire.report.document import Chapter, Grid, Picture, Words
from venire.report.question import Question


def chapter(question: Question, others: Sequence[Chapter]) -> Chapter:
    """Write the chapter, for what the other chapters show."""
    made = question.made_with()
    shown = [name for each in others for part in each.parts if not isinstance(part, Words) for name in _shown(part)]
    parts = (
        Words(str(made["command"]) or "made in Python by venire.report_on", "command"),
        Grid(
            "formulas",
            "How each number is computed.",
            ["number", "formula", "reference"],
            formulas_of(shown, _measures(question, others)),
            shown=50,
        ),
        Grid(
            "versions",
            "Versions and settings.",
            ["what", "value"],
            [[name, str(value)] for name, value in made.items() if name != "command"],
        ),
    )
    source, again = ("the arguments of venire.report_on", "call")
    if question.command:
        source, again = "the files in the command below", "command"
    same = f"the same {again} with the same versions reproduces the report"
    finding = f"Every number is computed from {source} with seed {made['rng']}: {same}."
    return Chapter("method", "Method", finding, parts)


def _shown(part: Grid | Picture) -> list[str]:
    """Name what a table or picture shows: itself, and of a table its columns and the words in its cells."""
    if isinstance(part, Picture):
        return [part.name]
    cells = {cell for row in part.rows for cell in row if isinstance(cell, str)}
    return [part.name, *(f"{part.name}.{name}" for name in part.columns), *(f"{part.name}={cell}" for cell in cells)]


def _measures(question: Question, others: Sequence[Chapter]) -> list[str]:
    """Name the measures that the report shows: its own, and those in tables by measure."""
    tables = [part for each in others for part in each.parts if isinstance(part, Grid) and "measure" in part.columns]
    places = [(part, list(part.columns).index("measure")) for part in tables]
    return list(dict.fromkeys([question.measure, *(str(row[n]) for part, n in places for row in part.rows)]))


@cache
def all_formulas() -> dict[str, Any]:
    """Return the formulas: a list of those of numbers, with what shows them, and those of measures by name."""
    return tomllib.loads(files("venire.report").joinpath("assets", "formulas.toml").read_text(encoding="utf-8"))


def formulas_of(shown: Collection[str], measures: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return name, formula and reference of the numbers in tables and pictures, and of the measures that are used.

    Examples
    --------
    >>> formulas_of(["entropy"], ["CG@5"])
    [('CG', 'Σ g over the first k results', 'Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418')]
    """
    known, names = all_formulas(), dict.fromkeys(name.partition("@")[0].partition("(")[0] for name in measures)
    used = [(name, known["measure"][name]) for name in names if name in known["measure"]]
    used += [(each["number"], each) for each in known["formula"] if set(each["shown"]) & set(shown)]
    return [(name, each["text"], each["reference"]) for name, each in used]

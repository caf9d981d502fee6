"""Method: how every number of the report was made, from which papers, and how to make it again."""

from __future__ import annotations

from collections.abc import Sequence

from venire.report.document import Chapter, Grid, Picture, Words
from venire.report.formulas import formulas_of
from venire.report.question import Question


def chapter(question: Question, others: Sequence[Chapter]) -> Chapter:
    """Write it, for what the other chapters show."""
    made = question.made_with()
    shown = [name for each in others for part in each.parts if not isinstance(part, Words) for name in _shown(part)]
    parts = (
        Words(str(made["command"]) or "made from Python, by venire.report_on", "command"),
        Grid(
            "formulas",
            "How each number is made.",
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
    said = "the files named in the command below" if question.command else "what venire.report_on was given"
    again = "command" if question.command else "call"
    finding = f"Every number comes from {said}, with seed {made['rng']}: the same {again} makes the same report."
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

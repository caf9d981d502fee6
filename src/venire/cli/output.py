"""The result of a command, to standard output or a file: as aligned text, CSV, Markdown, LaTeX or JSON; and its notes.

A cell is text, a whole number, a score, or None.  Text shows scores with four digits, CSV and JSON with all of them.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

import click

from venire.cli.messages import say
from venire.results import Note

Cell = str | int | float | None

_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
}


@dataclass(frozen=True)
class Table:
    """Columns by name, and rows of as many cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Any]], keys: Sequence[str] | None = None) -> Table:
        """Lay records out: these keys, or all of the first record."""
        keys = tuple(records[0]) if keys is None else keys
        return cls(keys, [[record[key] for key in keys] for record in records])

    def records(self) -> list[dict[str, Cell]]:
        """Return one dictionary per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def shown(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[shown(cell) for cell in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Tell which columns hold numbers: at least one, and no text."""
        held = [{type(row[n]) for row in self.rows} for n in range(len(self.columns))]
        return [bool(kinds & {int, float}) and str not in kinds for kinds in held]


def shown(cell: Cell) -> str:
    """Return a cell as text: four digits, thousands separated, a dash for None."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else " ".join(cell.splitlines())


def as_text(table: Table) -> str:
    """Align the columns, numbers to the right."""
    lines = [list(table.columns), *table.shown()]
    widths = [max(len(line[n]) for line in lines) for n in range(len(table.columns))]
    numeric = table.numeric()

    def aligned(line: Sequence[str]) -> str:
        cells = zip(line, widths, numeric, strict=True)
        return "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells)

    return "".join(aligned(line).rstrip() + "\n" for line in lines)


def as_csv(table: Table) -> str:
    """Write comma-separated values: all digits, nothing between the commas where there is nothing."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([table.columns, *table.rows])
    return file.getvalue()


def as_markdown(table: Table) -> str:
    """Write a table as GitHub and mkdocs read it."""
    rule = ["---:" if right else "---" for right in table.numeric()]
    lines = [[_markdown(name) for name in table.columns], rule]
    lines += [[_markdown(cell) for cell in line] for line in table.shown()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(table: Table) -> str:
    """Write a tabular with the rules of booktabs."""
    columns = "".join("r" if right else "l" for right in table.numeric())
    lines = [[_latex(cell) for cell in line] for line in [table.columns, *table.shown()]]
    head, *body = (" & ".join(line) + r" \\" for line in lines)
    rows = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*rows, r"\bottomrule", r"\end{tabular}"]) + "\n"


RENDERERS = {"table": as_text, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
FORMATS = ("table", "json", "csv", "markdown", "latex")


def as_json(document: Mapping[str, object]) -> str:
    """Write a JSON object; each record of a list is on its own line."""
    members = [f"{_json(key)}: {_json_value(value)}" for key, value in document.items()]
    return "{" + ",\n".join(members) + "}\n"


def _json_value(value: object) -> str:
    if not isinstance(value, list) or not any(isinstance(each, dict) for each in value):
        return _json(value)
    return "[\n" + ",\n".join(_json(each) for each in value) + "\n]"


def _json(value: object) -> str:
    """Write a value; what is not a finite number is null, since JSON has no other word for it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, default=str)


def _finite(value: object) -> object:
    """Replace numbers that are not finite by None, at any depth."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*`<])", r"\\\1", text)


def _latex(text: str) -> str:
    return "--" if text == "-" else "".join(_LATEX.get(character, character) for character in text)


@dataclass(frozen=True, kw_only=True)
class Output:
    """The values of --format, -o, --plot and --quiet; ``path`` None is standard output."""

    format: str
    path: Path | None
    quiet: bool
    plot: Path | None = None

    @property
    def for_machines(self) -> bool:
        """Whether machines will read it: one row per value, all digits."""
        return self.format in ("json", "csv")

    def finish(
        self,
        name: str,
        table: Callable[[], Table],
        *,
        document: Mapping[str, object] | None = None,
        figure: tuple[Any, ...] = (),
        notes: Iterable[Note | str] = (),
    ) -> None:
        """Write the result, as JSON the document; draw the figure if asked for; print the notes.

        figure: the module of ``venire.plots``, the function there, and its arguments.
        """
        if document is not None and self.format == "json":
            self.json(document)
        else:
            self.table(name, table())
        if figure:
            self.draw(*figure)
        self.notes(notes)

    def draw(self, module: str, function: str, *values: object, **named: object) -> None:
        """Write a figure to the file of --plot, if there is one."""
        if self.plot is not None:
            from venire.plots.style import write_figure

            plot = getattr(import_module(f"venire.plots.{module}"), function)
            write_figure(plot(*values, **named), self.plot)

    def table(self, name: str, table: Table, *, beside: Mapping[str, object] | None = None) -> None:
        """Write a table; in JSON, a list of records under its name, with further members."""
        if self.format == "json":
            self.json({name: table.records(), **(beside or {})})
        else:
            self.text(RENDERERS[self.format](table))

    def json(self, document: Mapping[str, object]) -> None:
        """Write a JSON object."""
        self.text(as_json(document))

    def text(self, text: str) -> None:
        """Write text as UTF-8.

        Bytes of a name that are not UTF-8 come out as they went in; in JSON, which must be UTF-8, as escapes that
        Python reads back as such bytes.
        """
        data = text.encode("utf-8", "backslashreplace" if self.format == "json" else "surrogateescape")
        if self.path is None:
            click.echo(data, nl=False)
        else:
            self.path.write_bytes(data)

    def notes(self, notes: Iterable[Note | str]) -> None:
        """Print notes, each once, unless quiet."""
        for note in dict.fromkeys(map(str, () if self.quiet else notes)):
            say("note", note)

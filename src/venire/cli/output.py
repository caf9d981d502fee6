"""What a command writes: its result to standard output or a file, and messages and progress to standard error.

A result is aligned text, CSV, Markdown, LaTeX or JSON; messages are errors, hints, warnings and notes.

A cell is text, a whole number, a score, or None.  Text shows scores with four digits, CSV and JSON with all of them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import click

from venire.errors import OutputError, VenireWarning
from venire.io.outputs import write_bytes
from venire.results import CONTROLS, Note, finite, visible

Cell = str | int | float | None
LONGEST_MESSAGE = 1500
LINE_END = re.compile(r"\r\n|[\r\n]")
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide forms count as well
"""With what a formula of a spreadsheet begins."""
NUMERIC = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?%?")
MARKUP = re.compile(r"[\\|*`<\[\]!~$&]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
COLOURS = {"error": "red", "warning": "yellow"}

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
    return f"{cell:,}" if isinstance(cell, int) else visible(" ".join(LINE_END.split(cell)))


def as_text(table: Table) -> str:
    """Align the columns, numbers to the right."""
    lines = [[shown(name) for name in table.columns], *table.shown()]
    widths = [max(len(line[n]) for line in lines) for n in range(len(table.columns))]
    numeric = table.numeric()

    def aligned(line: Sequence[str]) -> str:
        cells = zip(line, widths, numeric, strict=True)
        return "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells)

    return "".join(aligned(line).rstrip() + "\n" for line in lines)


def as_csv(table: Table, *, raw_names: bool = False) -> str:
    """Write comma-separated values: all digits, nothing between the commas where there is nothing.

    raw_names: names are written as they are, instead of controls as escapes and an apostrophe before what a spreadsheet
    would take for a formula.
    """
    file = io.StringIO()
    rows = [table.columns, *table.rows]
    csv.writer(file, lineterminator="\n").writerows(rows if raw_names else ([*map(_csv, row)] for row in rows))
    return file.getvalue()


def _csv(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    text = visible(cell)
    return f"'{text}" if text.startswith(FORMULA) and text != "-" and not NUMERIC.fullmatch(text) else text


def as_markdown(table: Table) -> str:
    """Write a table as GitHub and mkdocs read it."""
    rule = ["---:" if right else "---" for right in table.numeric()]
    lines = [[_markdown(shown(name)) for name in table.columns], rule]
    lines += [[_markdown(cell) for cell in line] for line in table.shown()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(table: Table) -> str:
    """Write a tabular with the rules of booktabs."""
    columns = "".join("r" if right else "l" for right in table.numeric())
    lines = [[_latex(cell) for cell in line] for line in [[*map(shown, table.columns)], *table.shown()]]
    head, *body = (_latex_row(" & ".join(line)) for line in lines)
    rows = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
    return "\n".join([*rows, r"\bottomrule", r"\end{tabular}"]) + "\n"


RENDERERS = {"table": as_text, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
FORMATS = ("table", "json", "csv", "markdown", "latex")


SCHEMA = 1
"""Version of the JSON of all commands; a change after which programs that read it may fail raises it."""


def as_json(document: Mapping[str, object]) -> str:
    """Write a JSON object; each record of a list is on its own line; ``schema`` names the schema of the command."""
    context = click.get_current_context(silent=True)
    named = {} if context is None else {"schema": f"urn:venire:{schema_name(context)}:{SCHEMA}"}
    members = [f"{_json(key)}: {_json_value(value)}" for key, value in {**document, **named}.items()]
    text = "{" + ",\n".join(members) + "}\n"
    return CONTROLS.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def schema_name(context: click.Context) -> str:
    """Return the name of the schema of a command: its words, joined by a dash."""
    names = []
    while context.parent is not None:
        names.append(str(context.info_name))
        context = context.parent
    return "-".join(reversed(names))


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write a JSON object to a file."""
    write_bytes(path, as_json(document).encode("utf-8", "backslashreplace"))


def _json_value(value: object) -> str:
    if not isinstance(value, list) or not any(isinstance(each, dict) for each in value):
        return _json(value)
    return "[\n" + ",\n".join(_json(each) for each in value) + "\n]"


def _json(value: object) -> str:
    """Write a value; what is not a finite number is null, since JSON has no other word for it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, default=str)


def _markdown(text: str) -> str:
    """Escape what would be markup: emphasis, code, HTML, links, images, formulas; ``_`` only at the edge of a word."""
    return MARKUP.sub(r"\\\g<0>", text)


def _latex(text: str) -> str:
    return "--" if text == "-" else "".join(_LATEX.get(character, character) for character in text)


def _latex_row(cells: str) -> str:
    """End a row; one that begins with ``[`` or ``*`` would be read as an option of the end of the row before it."""
    return ("{}" if cells.lstrip().startswith(("[", "*")) else "") + cells + r" \\"


@dataclass(frozen=True, kw_only=True)
class Output:
    """The values of --format, -o, --plot and --quiet; ``path`` None is standard output."""

    format: str
    path: Path | None
    quiet: bool
    plot: Path | None = None
    raw_names: bool = False

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
            self.text(
                as_csv(table, raw_names=self.raw_names) if self.format == "csv" else RENDERERS[self.format](table)
            )

    def json(self, document: Mapping[str, object]) -> None:
        """Write a JSON object; ``made_with`` has the version of Venire and fingerprints of the files that were read."""
        self.text(as_json({**document, **made_with(document)}))

    def text(self, text: str) -> None:
        """Write text as UTF-8; in text that people read, controls are escapes.

        Bytes of a name that are not UTF-8 come out as they went in; in JSON, which must be UTF-8, as escapes that
        Python reads back as such bytes.
        """
        text = text if self.for_machines else visible(text, keep="\n")
        try:
            self.data(text.encode("utf-8", "backslashreplace" if self.format == "json" else "surrogateescape"))
        except UnicodeEncodeError:  # half of a pair of surrogates, which JSON may name and no text can hold
            self.data(text.encode("utf-8", "backslashreplace"))

    def data(self, data: bytes) -> None:
        """Write bytes as they are."""
        if self.path is None:
            _print(data)
        else:
            write_bytes(self.path, data)

    def notes(self, notes: Iterable[Note | str]) -> None:
        """Print notes, each once, unless quiet."""
        for note in dict.fromkeys(map(str, () if self.quiet else notes)):
            say("note", note)


def made_with(document: Mapping[str, object]) -> dict[str, object]:
    """Return what a result can be traced by, the version and the inputs, unless the document has it."""
    if not {"made_with", "inputs"}.isdisjoint(document) or click.get_current_context(silent=True) is None:
        return {}
    from importlib.metadata import version

    from venire.cli.places import input_files

    return {"made_with": {"version": version("venire"), "inputs": [each._asdict() for each in input_files()]}}


def say(kind: str, text: str, *, keep: str = "") -> None:
    """Write ``kind: text``; the kind is coloured on a terminal, unless NO_COLOR is set.

    Controls are escapes, except those to ``keep``, and a text that is longer than a screen is cut.
    """
    text = visible(text, keep=keep)
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]}... ({len(text) - LONGEST_MESSAGE:,} more characters)"
    word = click.style(f"{kind}:", fg=COLOURS.get(kind), bold=kind in COLOURS or None)
    with suppress(OSError):
        click.echo(f"{word} {text}", err=True, color=False if os.environ.get("NO_COLOR") else None)


def _print(data: bytes) -> None:
    """Write to standard output; an error names it."""
    try:
        click.echo(data, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, f"standard output: cannot be written: {error.strerror}") from error


def not_enough_memory(error: MemoryError) -> str:
    """Return what was too large, as far as the error says."""
    return ": ".join(["not enough memory", *filter(None, [str(error)])])


@contextmanager
def route_warnings(take: Callable[[str, type[VenireWarning]], bool]) -> Iterator[None]:
    """Hand Venire's warnings to ``take`` as they come; what it does not take, and all others, goes its usual way."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not (issubclass(category, VenireWarning) and take(str(message), category)):
            usual(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.simplefilter("always", VenireWarning)
        warnings.showwarning = show
        yield


@contextmanager
def print_warnings(*, quiet: bool) -> Iterator[None]:
    """Print Venire's warnings, each text once."""
    printed: set[str] = set()

    def take(text: str, _: type[VenireWarning]) -> bool:
        if not quiet and text not in printed:
            printed.add(text)
            say("warning", text)
        return True

    with route_warnings(take):
        yield


@contextmanager
def collect_warnings(*, but: tuple[type[VenireWarning], ...] = ()) -> Iterator[list[str]]:
    """Collect the texts of Venire's warnings, except some kinds; they are printed as well."""
    texts: list[str] = []

    def take(text: str, kind: type[VenireWarning]) -> bool:
        if not issubclass(kind, but):
            texts.append(text)
        return False

    with route_warnings(take):
        yield texts


def on_a_terminal() -> bool:
    """Return whether a person sees standard error."""
    return sys.stderr is not None and sys.stderr.isatty()


PATIENCE = 1.0
"""Seconds before a bar of bytes appears."""

COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1")


@contextmanager
def bar(sources: Iterable[object], *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that takes the number of bytes just read; None where no bar is shown.

    No bar is shown if the total is unknown, as for compressed files.
    """
    total = None if quiet or not on_a_terminal() else total_bytes(sources)
    if total is None:
        yield None
        return
    begun, waiting = time.monotonic(), 0
    shown: list[Any] = []
    with ExitStack() as stack:

        def advance(n_bytes: int) -> None:
            nonlocal waiting
            waiting += n_bytes
            if not shown and time.monotonic() - begun > PATIENCE:
                shown.append(stack.enter_context(click.progressbar(length=total, label="reading", file=sys.stderr)))
            for each in shown:
                each.update(waiting)
                waiting = 0

        yield advance


def total_bytes(sources: Iterable[object]) -> int | None:
    """Add up the bytes of the files; None where they cannot be known before reading."""
    total = 0
    for source in sources:
        if not isinstance(source, Path) or not source.is_file():
            return None
        with source.open("rb") as file:
            if file.read(4).startswith(COMPRESSED):
                return None
        total += source.stat().st_size
    return total


@contextmanager
def stages(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that takes the name of the stage that begins; it does nothing where no bar is shown."""
    if quiet or not on_a_terminal():
        yield lambda _: None
        return
    with click.progressbar(length=total, file=sys.stderr, show_pos=True, item_show_func=str) as shown:
        yield lambda name: shown.update(1, name)

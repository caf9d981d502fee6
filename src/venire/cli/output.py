"""Where the result of a command goes: standard output or a file, in one of the formats; notes go beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from venire.cli.messages import say
from venire.cli.rendering import RENDERERS, Table, as_json
from venire.results import Note


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

    def draw(self, module: str, function: str, *values: object) -> None:
        """Write a figure to the file of --plot, if there is one."""
        if self.plot is not None:
            from venire.plots.style import write_figure

            plot = getattr(import_module(f"venire.plots.{module}"), function)
            write_figure(plot(*values), self.plot)

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

"""Where the result of a command goes: standard output or a file, in one of the formats; notes go beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from venire.cli.rendering import RENDERERS, Table, as_json
from venire.cli.speech import say


@dataclass(frozen=True, kw_only=True)
class Output:
    """What the options --format, -o and --quiet came to; ``path`` None is standard output."""

    format: str
    path: Path | None
    quiet: bool

    @property
    def for_machines(self) -> bool:
        """Whether machines will read it: one row per value, all digits."""
        return self.format in ("json", "csv")

    def table(self, name: str, table: Table, *, beside: Mapping[str, object] | None = None) -> None:
        """Write a table; in JSON it is a list of records under its name, and more may stand beside it."""
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

    def notes(self, notes: Iterable[object]) -> None:
        """Say notes, each text once, unless all is to be quiet."""
        for note in dict.fromkeys(() if self.quiet else map(str, notes)):
            say("note", note)

"""What is said beside the result: errors, hints, warnings and notes, all on standard error."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import click

from venire.errors import VenireWarning

COLOURS = {"error": "red", "warning": "yellow"}


def say(kind: str, text: str) -> None:
    """Write ``kind: text``; the kind is coloured on a terminal, unless NO_COLOR is set."""
    word = click.style(f"{kind}:", fg=COLOURS.get(kind), bold=kind in COLOURS or None)
    with suppress(BrokenPipeError):
        click.echo(f"{word} {text}", err=True, color=False if os.environ.get("NO_COLOR") else None)


@contextmanager
def listening(*, quiet: bool) -> Iterator[None]:
    """Say Venire's warnings as they come, each text once; other warnings go their usual way."""
    said: set[str] = set()
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, VenireWarning):
            usual(message, category, filename, lineno, file, line)
        elif not quiet and str(message) not in said:
            said.add(str(message))
            say("warning", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", VenireWarning)
        warnings.showwarning = show
        yield

"""Messages on standard error: errors, hints, warnings and notes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
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

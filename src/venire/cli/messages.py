"""What goes to standard error: errors, hints, warnings, notes and progress bars."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

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


PATIENCE = 1.0
"""Seconds before a bar of bytes appears."""

COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1")


@contextmanager
def bar(sources: Iterable[object], *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that takes the number of bytes just read; None where no bar is shown.

    No bar is shown if the total is unknown, as for compressed files.
    """
    total = None if quiet or not sys.stderr.isatty() else total_bytes(sources)
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
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total, file=sys.stderr, show_pos=True, item_show_func=str) as shown:
        yield lambda name: shown.update(1, name)

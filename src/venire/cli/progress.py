"""Progress bars on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

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

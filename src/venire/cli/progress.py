"""A bar on standard error for what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""Seconds that pass before a bar appears."""

COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1")


@contextmanager
def bar(sources: Iterable[object], *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Give a function that takes the number of bytes just done, or None where no bar may be seen."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    shown: list[tuple[Progress, TaskID]] = []
    begun, done = time.monotonic(), 0

    def advance(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        if not shown and time.monotonic() - begun > PATIENCE:
            shown.append(_started(total_bytes(sources)))
        for progress, task in shown:
            progress.update(task, completed=done)

    try:
        yield advance
    finally:
        for progress, _ in shown:
            progress.stop()


def _started(total: int | None) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task("reading", total=total)


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
def stages(total: int, *, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Give a function that takes the name of the stage just begun, or None where no bar may be seen."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, begun = progress.add_task("reading", total=total), 0

        def begin(name: str) -> None:
            nonlocal begun
            progress.update(task, description=name, completed=begun)
            begun += 1

        yield begin

"""Fingerprints of inputs: the name, size and SHA-256 hash of every file that a result was computed from.

A result can be traced by them: the same hashes, settings and versions give the same result.  A pipe is identified by
what it held, and a file by its bytes as they are, compressed or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from venire.io.files import DATASET, opened_raw
from venire.io.paths import expanded_all
from venire.io.pipes import STDIN

AT_ONCE = 1 << 20
THREADS = 4


class Input(NamedTuple):
    """An input of a result: its name, the SHA-256 hash of its content, and its size in bytes if it is a file."""

    name: str
    sha256: str
    size: int | None = None


def files_of(sources: Sequence[str | Path]) -> tuple[Input, ...]:
    """Identify files, pipes and standard input; folders and patterns stand for the files behind them.

    Cost: one pass over the bytes, files in parallel threads.
    """
    paths = expanded_all(list(sources))
    with ThreadPoolExecutor(THREADS) as pool:
        return tuple(pool.map(file_input, paths))


def file_input(path: Path) -> Input:
    """Identify a file, a pipe, what standard input held, or the qrels of a dataset of ir_datasets."""
    digest, size = sha256(), 0
    if str(path).startswith(DATASET):
        from venire.io.sources.irds import content

        for line in content(path):
            digest.update(line)
        return Input(str(path), digest.hexdigest())
    with opened_raw(path) as file:
        while block := file.read(AT_ONCE):
            digest.update(block)
            size += len(block)
    return Input("standard input" if path == STDIN else str(path), digest.hexdigest(), size)

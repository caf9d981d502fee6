"""Scan many inputs with one build of the compiled twin: `python fuzz/scan_mutated.py LIBRARY SEED COUNT`.

Made to be run under sanitizers: answers are only looked at where they are returned, a wrong step in memory ends it all.
Every input is a block of memory of its own, so that a read past its end is seen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

import sanitized

if __name__ == "__main__":
    sanitized.load(Path(sys.argv[1]))  # before venire is imported

from mutations import EDGES, JUDGED, mutated_run, whole_run
from slow_reader import RULES, Known
from venire.io.runs import kernel_rules
from venire.scan import scanner
from venire.scan.scanner import CompiledScanner, Sought
from venire.scan.slices import from_bytes


def main() -> None:
    library, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if scanner._scan.__file__ != library:
        sys.exit(f"{library} is not the twin in use")
    known = Known.of(JUDGED).items
    scanners = [scanner_of(Sought(known.topics.slices, known.topic, known.doc.slices), number) for number in range(16)]
    n_scanned = 0
    numbers = (b"1 Q0 a %b %b s" % (edge, edge) for edge in EDGES)
    for data in chain(numbers, prefixes(seed), (mutated_run(seed, number) for number in range(count)), large(seed)):
        for each in scanners:
            each.scan(ended(data))
        n_scanned += 1
    for sought, data in short_of_ids():
        for number in range(16):
            scanner_of(sought, number).scan(data)
        n_scanned += 1
    print(f"{n_scanned} inputs scanned")


def scanner_of(sought: Sought, number: int) -> CompiledScanner:
    return CompiledScanner.of(sought, kernel_rules(RULES[number]))


def ended(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


def prefixes(seed: int) -> Iterator[bytes]:
    """Files that end at every place of a line: behind their last field there is one byte, and nothing else."""
    for number in range(6):
        data = whole_run(np.random.default_rng([seed, number]))[-300:]
        data = data[data.find(b"\n") + 1 :]
        yield from (data[:size] for size in range(len(data)))


def large(seed: int) -> Iterator[bytes]:
    """Files for which every table must grow: long lists with ties, in order and out of it, and many short lists."""
    rng = np.random.default_rng(seed)
    for step in (1, 100, 10_000):
        scores = rng.integers(0, 9_000, 9_000) // step
        yield b"".join(b"1 Q0 doc-%04d 1 %d s\n" % (doc, score) for doc, score in enumerate(scores.tolist()))
        yield b"".join(b"1 Q0 doc-%04d 1 %d s\n" % (doc, -score) for doc, score in enumerate(np.sort(scores).tolist()))
    yield b"".join(b"%d Q0 a 1 1 s\n" % topic for topic in range(3_000))


def short_of_ids() -> Iterator[tuple[Sought, bytes]]:
    """Ids of every length at the very end of what is looked for, found and nearly found."""
    for length in range(1, 26):
        name = b"x" * length
        sought = Sought(from_bytes([b"1", name]), np.array([0, 1], dtype=np.int32), from_bytes([b"d", name]))
        others = [name, name[:-1] + b"y", name + b"x", name[1:] or b"z"]
        lines = [b"%b Q0 %b 1 1 %b\n" % (topic, doc, doc) for topic in others for doc in others]
        yield sought, b"".join(lines)
        yield sought, lines[0]


if __name__ == "__main__":
    main()

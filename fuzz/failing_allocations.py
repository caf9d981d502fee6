"""Let every allocation of the compiled scan fail in turn: `python fuzz/failing_allocations.py LIBRARY`.

LIBRARY is a test build (``test_build.h``).  The first allocation fails, then the second, and so on until all succeed:
each time there must be a MemoryError and nothing may stay held; in the end the result must be that of the scanner in
numpy.  Where Python has ``_testcapi``, its own allocations are made to fail in the same way.  Then the functions on
columns (``columns``), which must return what they do in numpy, and the counter of click logs.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

import sanitized

if __name__ == "__main__":
    sanitized.load(Path(sys.argv[1]))  # before venire is imported

import polars as pl

from slow_reader import assert_twins_agree
from venire.scan import _scan
from venire.scan.fields import split
from venire.scan.lists import Rules, read_lines
from venire.scan.names import names_in_groups, ordered_rows
from venire.scan.scanner import CompiledScanner, NumpyScanner, Sought
from venire.scan.slices import from_bytes, padded

try:
    import _testcapi
except ImportError:
    _testcapi = None

T = TypeVar("T")
MOST = 10_000  # allocations of one call


class Build(NamedTuple):
    """The counters of a test build."""

    fail_at: ctypes.c_long
    held: ctypes.c_long


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    build = Build(*(ctypes.c_long.in_dll(library, name) for name in Build._fields))
    sought, long, short = known(), long_lines(), few_lines()
    slow = NumpyScanner.of(sought, Rules())
    expected = {data: slow.scan(data) for data in (long, short)}

    def from_here(number: int) -> None:
        build.fail_at.value = number

    def try_all(data: bytes, whose: str, start: Callable[[int], None], end: Callable[[], None]) -> None:
        """Let allocations fail in the constructor and in the scan of some lines."""
        made, count = failures(lambda: CompiledScanner.of(sought, Rules()), build, start, end)
        print(f"constructor: {count} allocations{whose} failed in turn")
        before = sys.getallocatedblocks()  # 0 under sanitizers
        found, count = failures(lambda: made.scan(data), build, start, end)
        assert_twins_agree(found, expected[data])
        del found
        print(f"scan: {count} allocations{whose} failed in turn")
        if (more := sys.getallocatedblocks() - before) > 100:
            sys.exit(f"{more} objects stay after {count} failures")

    try_all(long, "", from_here, lambda: from_here(0))
    if _testcapi is None:
        print("those of Python were left out: there is no _testcapi")
    else:
        nth = lambda number: _testcapi.set_nomemory(number, number + 1)  # noqa: E731
        try_all(short, " of Python", nth, _testcapi.remove_mem_hooks)
    for name, call, expected_of in columns():
        found, count = failures(call, build, from_here, lambda: from_here(0))
        if found != expected_of:
            sys.exit(f"{name}: another result after {count} failures")
        print(f"{name}: {count} allocations failed in turn")
        if not count:
            sys.exit(f"{name}: nothing was allocated")
    if build.held.value:
        sys.exit(f"{build.held.value} blocks are held in the end")
    print("done")


def failures(
    call: Callable[[], T], build: Build, start: Callable[[int], None], end: Callable[[], None]
) -> tuple[T, int]:
    """Make the first allocation fail, then the second, ... until none does; return the result and how many did."""
    before = build.held.value
    for number in range(1, MOST):
        start(number)
        try:
            result = call()
        except MemoryError:
            end()
        else:
            end()
            return result, number - 1
        if build.held.value != before:
            sys.exit(f"{build.held.value - before} blocks are held after failure {number}")
    sys.exit(f"there is no end after {MOST} failures")


def columns() -> list[tuple[str, Callable[[], object], object]]:
    """What is done with columns, as (name, call, what it returns).  Every call begins anew, with nothing held."""
    rng = np.random.default_rng(5)
    texts = [b"%d%b" % (n, b" is a long name" * (n % 2)) for n in rng.integers(0, 900, 3_000).tolist()]
    number = {text: n for n, text in enumerate(dict.fromkeys(texts))}
    codes, packed, text = [number[each] for each in texts], from_bytes(texts), pl.Series(texts).cast(pl.String)
    major, minor = rng.integers(0, 900, 3_000, dtype=np.int32), rng.permutation(3_000).astype(np.int16)
    group, several = (major[: len(number)] % 7).astype(np.int32), from_bytes(number)
    by_name = sorted(zip(group.tolist(), number, strict=True))

    def added() -> list[int]:
        return np.frombuffer(_scan.Names(1).add(text.__arrow_c_stream__()), dtype=np.int32).tolist()

    def added_slices() -> list[int]:
        return np.frombuffer(_scan.Names(1).add_slices(*packed), dtype=np.int32).tolist()

    return [
        ("names of a column", added, codes),
        ("names of slices", added_slices, codes),
        ("rows in order", lambda: ordered_rows(major, minor, 900).tolist(), np.lexsort((minor, major)).tolist()),
        ("names in order", lambda: names_in_groups(group, 7, several)[1].to_bytes(), [name for _, name in by_name]),
        ("rows of runs", lambda: ranks_of(CompiledScanner), ranks_of(NumpyScanner)),
        ("click log", counted_clicks, counted_clicks()),
    ]


def ranks_of(scanner: type[CompiledScanner | NumpyScanner]) -> list[int]:
    """Scan the columns of long lists; with a document twice, of which the first counts."""
    lines, _ = read_lines(split(padded(long_lines() * 2), 6), Rules())
    return scanner.of(known(), Rules(keep_first=True)).scan_lines(lines).rank.tolist()


def counted_clicks() -> list[object]:
    """Count logs of many sessions, whose pages are not in the order of ranks: as TSV, as JSON, and as columns."""
    cells = [(n // 10, n // 10 % 7, n % 97, n * 7 % 10 + 1, int(n % 3 == 0), n % 50) for n in range(2_000)]
    names, roles = ("session", "topic", "doc", "rank", "clicked", "dwell"), bytes([0, 1, 2, 4, 3, 5])
    lines = b"".join(b's%d\tt%d\t"d%d"\t%d\t%d\t%d\n' % each for each in cells)
    text = ", ".join(
        f'"{name}": {"%d" if n > 2 else chr(34) + name[0] + "%d" + chr(34)}' for n, name in enumerate(names)
    )
    objects = "".join(f"{{{text}}}\n" % each for each in cells).encode()
    topics, docs = _scan.Names(1), _scan.Names(1)
    counter = _scan.ClickCounter(topics, docs, 1, 30.0, 1_000)
    for block, separator, keys in ((lines, "\t", None), (objects, " ", tuple(name.encode() for name in names))):
        if not (number := counter.scan(block, roles, separator, keys, 1.0, True, 1_000)):
            sys.exit("the click log is not counted")
        counter.count(number, True)
        counter.end()
    columns = [pl.Series([f"{name}{each[n]}" for each in cells]) for n, name in enumerate("std")]
    flags = np.array([each[4] for each in cells], dtype=np.uint8)
    found = counter.read(*(each.__arrow_c_stream__() for each in columns), None, flags)
    if found is None:
        sys.exit("the columns are not counted")
    counter.count(found[0], False)
    counter.end()
    return [*counter.counts(), *topics.all(), *docs.all()]


def few_lines() -> bytes:
    """Lists with names that Python has no objects for yet."""
    return b"".join(b"topic-%d Q0 d1 1 1e-200 system-%d\n" % (number, number) for number in range(20))


def known() -> Sought:
    """Items of three topics, so many that what is found fills more than one block."""
    docs = [b"d%d" % number for number in range(2_500)]
    topic = np.repeat(np.arange(3, dtype=np.int32), len(docs))
    return Sought(from_bytes([b"1", b"2", b"3"]), topic, from_bytes(docs * 3))


def long_lines() -> bytes:
    """A long list in any order with ties, numbers that are read slowly, and many short lists."""
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 900, 9_000).tolist()
    long = [b"1 Q0 d%d 1 %d%b s\n" % (n, score, b"" if n % 500 else b"e-30") for n, score in enumerate(scores)]
    short = [b"%d Q0 d1 1 1 t\n" % topic for topic in range(2, 2_000)]
    return b"".join(long + short)


if __name__ == "__main__":
    main()

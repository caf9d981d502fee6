"""Let every allocation of the compiled scan fail in turn: `python fuzz/failing_allocations.py LIBRARY`.

LIBRARY is a test build (``test_build.h``).  The first allocation fails, then the second, and so on until all succeed:
each time there must be a MemoryError and nothing may stay held; in the end the result must be that of the scanner in
numpy.  Where Python has ``_testcapi``, its own allocations are made to fail in the same way.
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

from slow_reader import assert_twins_agree
from venire.scan.lists import Rules
from venire.scan.scanner import CompiledScanner, NumpyScanner, Sought
from venire.scan.slices import from_bytes

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

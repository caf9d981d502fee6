"""The process that decodes a Parquet or Arrow file: started by ``parquet``, which it answers over its pipes.

Run as a script, apart from the package.  A damaged file may end it in any way, and then the caller raises an error.
Its memory is limited by the size of the file.  Messages are a letter, a length of eight bytes and as many bytes: N, the
names of the columns; B, a block that was decoded: its number of rows; Z, the end; E, the words of an error.
"""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import polars as pl

ALLOWANCE = 256 << 20
"""Bytes of memory for any file."""
SECONDS, BYTES_A_SECOND = 60, 1 << 20
"""Time for any file, and for larger ones the least speed."""
STALLED, LEAST_WORK = 15, 0.005
"""Seconds in each of which decoding does less work than this, in seconds, after which the process ends itself: threads
of the decoder that wait for each other."""
ARROW = b"ARROW1"
"""How an Arrow file begins."""
BUSY = threading.Event()
"""Set while something is decoded."""


def main() -> None:
    """Serve requests, a line of JSON each: the path, the rows of a block and the ratio of memory to bytes."""
    import polars as pl

    warm = io.BytesIO()  # threads and what else stays are begun before memory is limited
    pl.DataFrame({"a": ["x"] * 8}).write_parquet(warm)
    warm.seek(0)
    pl.scan_parquet(warm).select("a").slice(0, 4).collect()
    threading.Thread(target=_end_if_stalled, daemon=True).start()
    while line := sys.stdin.buffer.readline():
        path, n_rows, ratio = json.loads(line)
        size = Path(path).stat().st_size
        with suppress(ImportError, OSError, ValueError):
            _limit(ALLOWANCE + ratio * size, SECONDS + size // BYTES_A_SECOND)
        try:
            _decode(path, n_rows)
        except pl.exceptions.PolarsError as error:
            _tell(b"E", str(error)[:500].encode("utf-8", "replace"))


def _decode(path: str, n_rows: int) -> None:
    """Tell the names of the columns, read which of them are wanted, and decode them block by block."""
    BUSY.set()
    with open_table(path) as table:
        _tell(b"N", json.dumps(table.collect_schema().names()).encode("ascii"))
        chosen: list[str] = json.loads(sys.stdin.buffer.readline() or b"[]")
        BUSY.set()
        start, table = 0, columns_of(path, table, chosen, n_rows)
        while chosen and (part := table.slice(start, n_rows).collect()).height:
            _tell(b"B", str(part.height).encode("ascii"))
            BUSY.set()
            start += part.height
    _tell(b"Z", b"")


@contextmanager
def open_table(path: str) -> Iterator[pl.LazyFrame]:
    """Open a file by its first bytes: an Arrow file, an Arrow stream, which is read whole, anything else as Parquet.

    An Arrow file is mapped while it is open, and its record batches are copied as they are asked for.  If another
    program cuts the file meanwhile, the system may end the process that reads what is gone (SIGBUS); a file that was
    cut before is an error like any other.
    """
    import polars as pl

    head = _head(path)
    with Path(path).open("rb") as file:
        if head == ARROW:
            yield pl.scan_ipc(file)
        elif head.startswith(b"\xff\xff\xff\xff"):
            yield _read_stream(file)
        else:
            yield pl.scan_parquet(path, glob=False)


def _head(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(len(ARROW))


def _read_stream(file: BinaryIO) -> pl.LazyFrame:
    import polars as pl

    try:
        return pl.read_ipc_stream(file).lazy()
    except OSError as error:  # the stream ends early
        raise pl.exceptions.ComputeError(str(error)) from None


def columns_of(path: str, table: pl.LazyFrame, chosen: Sequence[str], n_rows: int) -> pl.LazyFrame:
    """Choose columns of an open file that are read in blocks of so many rows.

    If a block is within one record batch of Arrow, columns are read at once, since a batch is decoded whole for every
    block that it has a part in.
    """
    from polars.selectors import by_name

    columns = table.select(by_name(*chosen))
    if _head(path) != ARROW:
        return columns
    first = columns.slice(0, n_rows).collect()
    return columns.collect().lazy() if first.height == n_rows and first.n_chunks() == 1 else columns


def _limit(memory: int, seconds: int) -> None:
    """Limit the memory that is added from here on, and the time; write no core file."""
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    spent = resource.getrusage(resource.RUSAGE_SELF)
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(spent.ru_utime + spent.ru_stime) + seconds),
        (resource.RLIMIT_AS, pages * resource.getpagesize() + memory),
    ):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _end_if_stalled() -> None:
    """Watch from a thread of its own; the decoder lets it run."""
    idle, before = 0, time.process_time()
    while idle < STALLED:
        time.sleep(1)
        now = time.process_time()
        idle = idle + 1 if BUSY.is_set() and now - before < LEAST_WORK else 0
        before = now
    os._exit(1)


def _tell(kind: bytes, content: bytes) -> None:
    """Send a message; while the caller takes its time to read it, nothing is decoded."""
    BUSY.clear()
    sys.stdout.buffer.write(kind + struct.pack("<Q", len(content)) + content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

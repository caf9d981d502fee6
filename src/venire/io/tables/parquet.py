"""Parquet and Arrow files, tried in a process of their own: what a damaged file does to the decoder is an error.

The decoder of polars ends the whole process on some damaged files (it asks for more memory than there is, or panics
within a panic), which no ``except`` can catch.  So another process decodes each block of rows first, and if it comes to
no harm, the block is decoded here; nothing is copied from process to process.  Only the columns that are used are
decoded.  Cost: about 0.3 s to start the process, which serves all files of a program, and decoding twice, on two cores.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Timer
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from venire.errors import FormatError
from venire.io.limits import FREE, current, over
from venire.io.tables.parquet_process import columns_of, open_table

if TYPE_CHECKING:
    from concurrent.futures import Future

    import polars as pl

HINT = "write the file again, or write the table as CSV"
TOO_MUCH = "cannot be read as Parquet or Arrow: it is damaged, or needs more memory or time than files of its size"
CELL = 5
"""Bytes of memory of a cell, rounded up: judgments of four columns take 18 bytes a row, besides their names."""
SCRIPT = Path(__file__).with_name("parquet_process.py")
PATIENCE, BYTES_A_SECOND = 120.0, 1 << 20
"""Seconds without an answer after which the process is ended, and for larger files the least speed."""


def column_names(path: Path, file: BinaryIO) -> list[str]:
    """Return the names of the columns of an open file."""
    found: list[str] = []

    def choose(names: Sequence[str]) -> list[str]:
        found.extend(names)
        return []

    list(blocks(path, file, choose, n_rows=1))
    return found


def blocks(
    path: Path, file: BinaryIO, choose: Callable[[Sequence[str]], Sequence[str]], *, n_rows: int
) -> Iterator[pl.DataFrame]:
    """Read an open file in blocks of so many rows; choose: from the names of all columns to those that are read.

    While a block is used, a thread decodes the next.
    """
    from concurrent.futures import ThreadPoolExecutor

    with _on_disk(path, file) as place, _decoder() as decoder, ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        patience = PATIENCE + (size := place.stat().st_size) / BYTES_A_SECOND
        decoder.ask([str(place), n_rows, current().ratio])
        names = json.loads(decoder.answer(path, patience)[1])
        if len(names) > current().columns:
            raise over("columns", path, None, f"{len(names):,} columns")
        decoder.ask(chosen := list(choose(names)))
        table, start = None, 0
        ahead: deque[Future[pl.DataFrame]] = deque()
        while (message := decoder.answer(path, patience))[0] == b"B":
            if table is None:
                table = columns_of(str(place), stack.enter_context(open_table(str(place))), chosen, n_rows)
            start += int(message[1])
            if (memory := start * len(chosen) * CELL) > FREE + current().ratio * size:
                found = f"{memory // size:,} bytes of memory for each byte of the file"
                raise over("ratio", path, None, found, hint="write the table as CSV")
            ahead.append(pool.submit(table.slice(start - int(message[1]), n_rows).collect))
            if len(ahead) > 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


class Decoder:
    """The process, and the pipes to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=SCRIPT.absolute().anchor,  # it stays, and would keep the disk of the present folder in use
            env={**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(each).absolute()) for each in sys.path if each)},
        )
        self.owner = os.getpid()
        self.idle = True
        atexit.register(self.end)

    def ask(self, request: object) -> None:
        """Send a request; a process that has ended is noticed when its answer is read."""
        self.idle = False
        pipe = cast("IO[bytes]", self._process.stdin)
        with suppress(BrokenPipeError):
            pipe.write(json.dumps(request).encode("ascii") + b"\n")
            pipe.flush()

    def answer(self, path: Path, patience: float) -> tuple[bytes, bytes]:
        """Read what the process says; raise what it found, or that it ended without a word, or was silent for long."""
        pipe = cast("IO[bytes]", self._process.stdout)
        timer = Timer(patience, self._process.kill)
        timer.start()
        try:
            head = pipe.read(9)
            kind, length = head[:1], struct.unpack("<Q", head[1:])[0] if len(head) == 9 else -1
            content = pipe.read(length) if length >= 0 else b""
        finally:
            timer.cancel()
        if length < 0 or len(content) < length:
            raise FormatError(path, None, TOO_MUCH, hint=HINT)
        self.idle = kind in (b"Z", b"E")
        if kind == b"E":
            words = content.decode("utf-8", "replace")
            raise FormatError(path, None, f"cannot be read as Parquet or Arrow ({words})", hint=HINT)
        return kind, content

    def lives(self) -> bool:
        """Return whether the process is ours, not that of a parent, and has not ended."""
        return self.owner == os.getpid() and self._process.poll() is None

    def end(self) -> None:
        """End the process, unless it is that of a parent."""
        atexit.unregister(self.end)
        if self.owner == os.getpid():
            self._process.kill()
            self._process.communicate()


_WAITING: list[Decoder] = []
"""Processes that wait for another file, so that a folder of files starts one."""


@contextmanager
def _decoder() -> Iterator[Decoder]:
    """Take a process that waits, or start one; one that is not done with its file is ended."""
    _WAITING[:] = [each for each in _WAITING if each.lives()]
    decoder = _WAITING.pop() if _WAITING else Decoder()
    try:
        yield decoder
    finally:
        if decoder.idle and not _WAITING:
            _WAITING.append(decoder)
        else:
            decoder.end()


@contextmanager
def _on_disk(path: Path, file: BinaryIO) -> Iterator[Path]:
    """Return where the file is; one that was compressed, or came through a pipe, is unpacked into a temporary file."""
    as_text = str(path).encode("utf-8", "replace").decode("utf-8")  # the decoder takes no other names
    if getattr(getattr(file, "raw", None), "name", None) == as_text:
        yield path.absolute()
        return
    with NamedTemporaryFile(suffix=".parquet", delete=False) as copy:
        try:
            shutil.copyfileobj(file, copy)
            copy.close()
            yield Path(copy.name)
        finally:
            copy.close()
            Path(copy.name).unlink()

"""Files that are read: opened, plain or compressed, and what their names say."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from venire.errors import FormatError
from venire.io.compression import decompressed
from venire.io.pipes import STDIN, kept

ENDINGS = (
    *(".gz", ".zst"),
    *(".txt", ".tsv", ".csv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather", ".ipc"),
    *(".qrels", ".qrel", ".run", ".runs", ".trec", ".res"),
)


DATASET = "irds:"
"""How the name of a dataset of ir_datasets begins."""
SHARD = re.compile(r"-\d{5}-of-\d{5}$")
"""How the name of one file of several ends that are one table, as Hugging Face writes them."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its decompressed bytes; what goes wrong becomes a FormatError."""
    with opened_raw(path) as raw:
        yield decompressed(raw, path)


@contextmanager
def opened_raw(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes as they are; a pipe is read once and can be opened again."""
    try:
        if (content := kept(path)) is not None:
            yield content
            return
        with path.open("rb") as raw:
            yield raw
    except FileNotFoundError:
        raise FormatError(path, None, "there is no such file", hint=f"looked from {Path.cwd()}") from None
    except IsADirectoryError:
        raise FormatError(path, None, "is a folder, expected a file", hint="name the files in it") from None
    except PermissionError:
        raise FormatError(path, None, "may not be read", hint="change its permissions") from None
    except gzip.BadGzipFile as error:
        raise _damaged(path, error) from None
    except OSError as error:
        if error.filename is None or str(error.filename) != str(path):
            raise
        raise FormatError(path, None, f"cannot be read ({error.strerror})") from None
    except (EOFError, zlib.error) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> FormatError:
    message = f"the compressed data end early or are damaged ({error})"
    return FormatError(path, None, message, hint="fetch the file again")


def is_readable(path: Path) -> bool:
    """Return whether a path is a file or a pipe, or "-" for standard input."""
    try:
        return path == STDIN or (path.exists() and not path.is_dir())
    except OSError:  # a name that is too long
        return False


def stem(path: Path) -> str:
    """Return a file's name without its endings of format and compression: the name of its assessor or system."""
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return SHARD.sub("", name) or name

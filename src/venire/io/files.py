"""Files that are read: opened, plain or compressed, and found behind the name of a file, a folder or a pattern."""

from __future__ import annotations

import glob
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from venire.errors import FormatError
from venire.io.compression import decompressed
from venire.io.limits import current, over
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


def names_files(source: object) -> bool:
    """Return whether a source is the name of a file, a folder or a pattern, or several of them."""
    several = source if isinstance(source, list | tuple) else [source]
    return bool(several) and all(isinstance(each, str | Path) for each in several)


def expanded_all(source: Any) -> list[Path]:
    """Return the files behind one name or several."""
    several = source if isinstance(source, list | tuple) else [source]
    paths = [path for each in several for path in expanded(each)]
    if len(paths) > current().files:
        raise over("files", paths[0], None, f"{len(paths):,} files")
    return paths


def expanded(source: str | Path) -> list[Path]:
    """Return the files behind a path, a folder or a pattern; hidden files of a folder are left out.

    A folder with a corpus, queries and qrels stands for its qrels, one that Hugging Face saved for its table.  A
    dataset of ir_datasets has no file: its name is returned.
    """
    path = Path(source)
    if str(source).startswith(DATASET):
        return [path]
    if not str(source):
        raise FormatError("", None, "the name of a file is empty")
    if is_readable(path):
        return [path]
    if path.is_dir():
        from venire.io.sources.folders import data_files

        if data := data_files(path):
            return data
        files = _within_limit((each for each in path.iterdir() if not each.name.startswith(".")), path)
        if not files:
            raise FormatError(path, None, "is a folder without files", hint="name files, or the folder they are in")
        return files
    if not glob.has_magic(str(source)):
        raise FormatError(source, None, "there is no such file or folder", hint=f"looked from {Path.cwd()}")
    found = map(Path, glob.iglob(str(source), recursive=True))  # noqa: PTH207 - absolute patterns too
    if files := _within_limit(found, source):
        return files
    raise FormatError(source, None, "no file matches this pattern", hint=f"looked from {Path.cwd()}")


def _within_limit(paths: Iterable[Path], source: object) -> list[Path]:
    """Return the regular files among paths, in order; raise if they are too many."""
    most = current().files
    files = sorted(islice((each for each in paths if each.is_file()), most + 1))
    if len(files) > most:
        raise over("files", source, None, f"more than {most:,} files", hint="name fewer of them")
    return files

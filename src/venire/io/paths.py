"""Paths: the files behind the name of a file, a folder or a pattern."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from venire.errors import FormatError
from venire.io.files import DATASET, is_readable
from venire.io.limits import current, over
from venire.io.sources.folders import data_files


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

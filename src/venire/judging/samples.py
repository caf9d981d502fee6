"""A small study that runs, to start from: its file with comments, topics, documents and guidelines."""

from __future__ import annotations

import errno
import os
from importlib.resources import files
from pathlib import Path

from venire.errors import OutputError
from venire.io.outputs import NewFiles

STUDY = "study.toml"
ASSETS = (
    *(STUDY, "topics.tsv", "documents.jsonl", "guidelines.md", "pool.tsv", "given.tsv", "aspects.tsv", "pairs.tsv"),
    *("first.run", "second.run"),
)


def write_sample(path: Path) -> list[Path]:
    """Write the study under this name, and the other files beside it; raise where one of them is there already.

    Its folder is made if it is not there, in one that is.  The study comes last: without it, files that are as they
    should be were left by a process that was killed.
    """
    folder = files("venire.judging") / "assets"
    places = {path if name == STUDY else path.with_name(name): (folder / name).read_bytes() for name in ASSETS}
    there = [place for place, data in places.items() if os.path.lexists(place) and not _is_left(place, path, data)]
    if there:
        message = f"{there[0]}: is there already"
        raise OutputError(errno.EEXIST, message, hint="choose an empty folder: nothing is overwritten")
    path.parent.mkdir(exist_ok=True)
    with NewFiles() as written:
        for place in reversed(places):
            written.add(place, places[place])
    return list(places)


def _is_left(place: Path, study: Path, data: bytes) -> bool:
    return place != study and place.is_file() and not place.is_symlink() and place.read_bytes() == data

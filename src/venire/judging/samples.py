"""A small study that runs, to start from: its file with comments, topics, documents and guidelines."""

from __future__ import annotations

import errno
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

    Its folder is made if it is not there, in one that is.
    """
    places = {path if name == STUDY else path.with_name(name): name for name in ASSETS}
    there = [place for place in places if place.exists() or place.is_symlink()]
    if there:
        message = f"{there[0]}: is there already"
        raise OutputError(errno.EEXIST, message, hint="choose an empty folder: nothing is overwritten")
    path.parent.mkdir(exist_ok=True)
    folder = files("venire.judging") / "assets"
    with NewFiles() as written:
        for place, name in places.items():
            written.add(place, (folder / name).read_bytes())
    return list(places)

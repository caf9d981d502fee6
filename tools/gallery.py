"""Draw the pictures of the gallery: run the Python of docs/gallery/index.md, and write each ``figure`` beside it.

    python tools/gallery.py [FOLDER]

The collections are made by the page's first block of commands, in a folder that is then forgotten.  The same versions
of everything give the same bytes.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "gallery" / "index.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[(.*)\]\((\w+\.svg)\)$", re.MULTILINE)
ENTRY = re.compile(r"^### ", re.MULTILINE)
NEEDLESS = re.compile(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*|^ +", re.DOTALL | re.MULTILINE)
FONTS = re.compile(r"'DejaVu Sans', [^;\"]*sans-serif")
TAG = re.compile(r"<[^>]+>")
LONG = re.compile(r"(?<![#\w.])-?\d+\.\d{3,}(?!\w)")


class Entry(NamedTuple):
    """A picture of the gallery."""

    title: str
    picture: str
    commands: list[str]
    code: str


def opening(text: str) -> tuple[list[str], str]:
    """Return the commands and the Python that stand before the first picture."""
    return _blocks(ENTRY.split(text)[0])


def entries(text: str) -> list[Entry]:
    """Return the pictures of a page, in their order."""
    return [_entry(each) for each in ENTRY.split(text)[1:]]


def draw_all(folder: Path) -> None:
    """Draw every picture into a folder."""
    from venire.plots.style import write_figure

    text = PAGE.read_text(encoding="utf-8")
    commands, code = opening(text)
    names: dict[str, Any] = {}
    with TemporaryDirectory() as place, chdir(place):
        for command in commands:
            arguments = [sys.executable, "-m", "venire", *shlex.split(command)[1:], "--quiet"]
            subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
        exec(code, names)
        for each in entries(text):
            exec(each.code, names)
            write_figure(names["figure"], folder / each.picture)
            shorten(folder / each.picture)


def shorten(path: Path) -> None:
    """Take comments, fonts that look alike and needless digits out of a picture."""
    text = FONTS.sub("'DejaVu Sans', Verdana, sans-serif", NEEDLESS.sub("", path.read_text(encoding="utf-8")))
    shorter = TAG.sub(lambda tag: LONG.sub(lambda found: f"{float(found[0]):.2f}", tag[0]), text)  # not in text
    path.write_text(shorter, encoding="utf-8")


def _entry(text: str) -> Entry:
    found = PICTURE.search(text)
    if found is None:
        raise ValueError(f"no picture below {text.splitlines()[0]!r}")
    return Entry(found[1], found[2], *_blocks(text))


def _blocks(text: str) -> tuple[list[str], str]:
    """Return commands, one a line, and Python."""
    found = BLOCK.findall(text)
    commands = "".join(body for kind, body in found if kind == "sh").replace("\\\n", " ").splitlines()
    return commands, "".join(body for kind, body in found if kind == "python")


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PAGE.parent)

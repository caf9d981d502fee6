"""A study on disk, and ``venire judge serve`` on it in a process of its own, which tests may kill."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from venire.judging.store import Store
from venire.judging.study_files import read_study

STUDY = """
[study]
name = "demo"
title = "Which pages answer the question?"
guidelines_text = "Judge what is there."
rest_after = {rest_after}

[[scale]]
name = "0"
definition = "Not relevant"
[[scale]]
name = "1"
definition = "Related"
[[scale]]
name = "2"
definition = "Relevant"

[topics]
list = [{{topic = "t1", query = "how do frogs breathe", description = "By which organs?"}}]

[documents]
file = "documents.jsonl"

[[assessors]]
name = "ann"
[[assessors]]
name = "bob"

[[tasks]]
kind = "label"
judgments = {judgments}
pool = "pool.tsv"
"""
ASPECTS = "".join(
    f'[[aspects]]\nname = "{name}"\ndefinition = "{words}"\n'
    for name, words in {
        "reliability": "Can it be trusted?",
        "clarity": "Is it easy to read?",
        "date": "Is it new?",
    }.items()
)
EVERY_KIND = """
[[tasks]]
judgments = 2
kind = "label"
view = "snippet"
pool = "one.tsv"
[[tasks]]
judgments = 2
kind = "conditional"
pairs = "given.tsv"
[[tasks]]
judgments = 2
kind = "aspects"
pool = "one.tsv"
[[tasks]]
judgments = 2
kind = "preference"
pairs = "pairs.tsv"
[[tasks]]
judgments = 2
kind = "lists"
runs = ["first.run", "second.run"]
depth = 5
"""
"""Tasks of the other kinds, one each."""
LONG = "<p>Frogs.</p>" * 40


def written(folder: Path, documents: list[dict[str, str]], *, judgments: int = 1, rest_after: int = 0) -> Path:
    """Write a study in which each document is labelled, and return its file."""
    folder.joinpath("documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")
    rows = ["topic\tdoc", *(f"t1\t{each['doc']}" for each in documents)]
    folder.joinpath("pool.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    path = folder / "demo.toml"
    path.write_text(STUDY.format(judgments=judgments, rest_after=rest_after), "utf-8")
    return path


def every_kind(folder: Path) -> Path:
    """Write a study with one task of each kind, and return its file."""
    tables = {
        "one.tsv": "topic\tdoc\nt1\td0\n",
        "given.tsv": "topic\tdoc\tgiven\nt1\td0\td1\n",
        "pairs.tsv": "topic\tleft\tright\nt1\td0\td1\n",
        "first.run": "".join(f"t1 Q0 d{n} {n + 1} {9 - n} first\n" for n in range(5)),
        "second.run": "".join(f"t1 Q0 d{4 - n} {n + 1} {9 - n} second\n" for n in range(5)),
    }
    for name, text in tables.items():
        folder.joinpath(name).write_text(text, "utf-8")
    path = written(folder, pages(5), judgments=2)
    folder.joinpath("pool.tsv").write_text(tables["one.tsv"], "utf-8")
    path.write_text(path.read_text("utf-8") + ASPECTS + EVERY_KIND, "utf-8")
    return path


def pages(n: int) -> list[dict[str, str]]:
    """Return documents that are long enough to scroll."""
    return [
        {
            "doc": f"d{i}",
            "title": f"Page {i}",
            "snippet": f"Snippet {i}",
            "html": f"<h1>Page {i}</h1>" + "<p>Frogs.</p>" * 40,
        }
        for i in range(n)
    ]


class Served:
    """A study that is served; a context that ends the process."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path, self.port, self.options = path, 0, options
        self.start()

    def start(self) -> None:
        """Start the server, at the port that it had before."""
        words = [sys.executable, "-m", "venire", "judge", "serve", str(self.path), "--port", str(self.port)]
        words += self.options
        self.log = self.path.with_suffix(".log").open("ab")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.startswith("Organiser:"):
                self.organiser = line.split()[1]
                break
        self.root = self.organiser.partition("/join/")[0]
        self.port = int(self.root.rpartition(":")[2])

    def kill(self) -> None:
        """End the server without warning."""
        self.process.kill()
        self.process.wait()
        self.close_streams()

    def close_streams(self) -> None:
        """Close what the server wrote to."""
        self.process.stdout.close()
        self.log.close()

    def store(self) -> Store:
        """Open the same database."""
        return Store.open(*read_study(self.path))

    def link(self, assessor: str, *, again: bool = False) -> str:
        """Invite an assessor."""
        with self.store() as store:
            return f"{self.root}/join/{store.invite(assessor, again=again)}"

    def answers(self) -> list[tuple[str, str, dict[str, object]]]:
        """Return who answered which document how, in the order in which answers were stored."""
        with self.store() as store:
            return [(each.assessor, each.task.doc, dict(each.value)) for each in store.stored(surplus=True)]

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

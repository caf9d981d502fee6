"""A study in a folder, for tests: two topics, four documents, two people and a machine; parts can be replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

HEAD = """\
[study]
name = "small"
guidelines_text = "Judge the page."

[[scale]]
name = "0"
definition = "not relevant"
[[scale]]
name = "1"
[[scale]]
name = "2"

[topics]
file = "topics.tsv"

[documents]
file = "docs.jsonl"

[[assessors]]
name = "ann"
reference = true
[[assessors]]
name = "bob"
[[assessors]]
name = "model"
kind = "machine"
"""
LABELS = """
[[tasks]]
kind = "label"
pool = "pool.tsv"
"""


def lines(records: Sequence[Mapping[str, str]]) -> str:
    """Return records as lines of JSON."""
    return "".join(json.dumps(each) + "\n" for each in records)


DOCS = ("d1", "d2", "d3", "d4")
FILES = {
    "topics.tsv": "topic\tquery\tdescription\nq1\tboil eggs\thow long\nq2\tchain oil\t\n",
    "docs.jsonl": lines([{"doc": d, "title": f"Title {d}", "snippet": "...", "text": f"Text of {d}"} for d in DOCS]),
    "pool.tsv": "topic\tdoc\nq1\td1\nq1\td2\nq1\td3\nq2\td1\nq2\td4\n",
    "given.tsv": "topic\tdoc\tgiven\nq1\td2\td1\nq1\td3\td1\n",
    "pairs.tsv": "topic\tleft\tright\nq1\td1\td2\nq2\td1\td4\n",
    "a.run": "q1 Q0 d1 1 3 a\nq1 Q0 d2 2 2 a\nq2 Q0 d4 1 3 a\nq2 Q0 d1 2 2 a\n",
    "b.run": "q1 Q0 d3 1 3 b\nq1 Q0 d1 2 2 b\nq2 Q0 d1 1 3 b\nq9 Q0 d9 1 3 b\n",
}


def write_study(folder: Path, text: str = HEAD + LABELS, files: Mapping[str, str | bytes] = {}) -> Path:
    """Write a study and the files that it may name; return its path."""
    for name, content in {**FILES, **files, "study.toml": text}.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / "study.toml"


# Pages that people see

ASPECTS = """
[[aspects]]
name = "reliability"
definition = "Can it be trusted?"
[[aspects]]
name = "clarity"
definition = "Is it easy to read?"
[[aspects]]
name = "date"
definition = "Is it new?"
"""
OTHER_KINDS = """
[[tasks]]
judgments = 2
kind = "label"
view = "snippet"
pool = "pool.tsv"
[[tasks]]
judgments = 2
kind = "conditional"
pairs = "given.tsv"
[[tasks]]
judgments = 2
kind = "aspects"
pool = "pool.tsv"
[[tasks]]
judgments = 2
kind = "aspects"
pairs = "given.tsv"
[[tasks]]
judgments = 2
kind = "preference"
pairs = "pairs.tsv"
[[tasks]]
judgments = 2
kind = "lists"
runs = ["a.run", "b.run"]
depth = 5
"""
"""Tasks of the other kinds, one each; of aspects, one given another document too."""


def pages(n: int) -> list[dict[str, str]]:
    """Return documents that are long enough to scroll."""
    html = "<h1>Page {}</h1>" + "<p>Frogs.</p>" * 40
    return [{"doc": f"d{i}", "title": f"Page {i}", "snippet": f"Snippet {i}", "html": html.format(i)} for i in range(n)]


def write_pages(
    folder: Path,
    documents: Sequence[Mapping[str, str]],
    *,
    judgments: int = 1,
    rest_after: int = 0,
    people: Sequence[str] = (),
) -> Path:
    """Write a study in which each document is labelled; people: more of them; return its path."""
    title = f'title = "Which pages answer the question?"\nrest_after = {rest_after}'
    text = HEAD.replace('name = "small"', f'name = "small"\n{title}')
    for name, words in (("1", "Related"), ("2", "Answers the question")):
        text = text.replace(f'name = "{name}"', f'name = "{name}"\ndefinition = "{words}"')
    text += "".join(f'[[assessors]]\nname = "{name}"\n' for name in people)
    text += f"{LABELS}judgments = {judgments}\n"
    pool = "".join(f"q1\t{each['doc']}\n" for each in documents)
    return write_study(folder, text, {"docs.jsonl": lines(documents), "pool.tsv": f"topic\tdoc\n{pool}"})


def write_every_kind(folder: Path) -> Path:
    """Write a study with one task of each kind; return its path."""
    path = write_pages(folder, pages(5), judgments=2)
    files = {
        "pool.tsv": "topic\tdoc\nq1\td0\n",
        "given.tsv": "topic\tdoc\tgiven\nq1\td0\td1\n",
        "pairs.tsv": "topic\tleft\tright\nq1\td0\td1\n",
        "docs.jsonl": lines(pages(5)),
        "a.run": "".join(f"q1 Q0 d{n} {n + 1} {9 - n} a\n" for n in range(5)),
        "b.run": "".join(f"q1 Q0 d{4 - n} {n + 1} {9 - n} b\n" for n in range(5)),
    }
    return write_study(folder, path.read_text("utf-8") + ASPECTS + OTHER_KINDS, files)

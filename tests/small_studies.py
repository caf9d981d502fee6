"""A small study in a folder, for tests: two topics, four documents, two people and a machine; parts can be replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
DOCS = ("d1", "d2", "d3", "d4")
FILES = {
    "topics.tsv": "topic\tquery\tdescription\nq1\tboil eggs\thow long\nq2\tchain oil\t\n",
    "docs.jsonl": "".join(
        json.dumps({"doc": doc, "title": f"Title {doc}", "snippet": "...", "text": f"Text of {doc}"}) + "\n"
        for doc in DOCS
    ),
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

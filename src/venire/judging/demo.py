"""A study to try out judging: simulated documents, tasks of all five kinds, two people and a machine.

The study file and the guidelines are those of the sample; topics, documents and lists are simulated, and the true
labels are in ``truth.qrels``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.random import Generator

from venire.errors import FormatError
from venire.io.outputs import NewFiles
from venire.judging.samples import STUDY
from venire.simulation.documents import SimulatedDocument, simulate_documents, simulate_topics
from venire.types import RNGLike

NOISE = {"first": 0.4, "second": 1.2}
"""Systems, and the standard deviation of what they add to the true label before they sort."""


def write_demo(folder: Path, *, rng: RNGLike = 0) -> Path:
    """Write the study into a folder that is new or empty, and return its file; one that is there stays as it is."""
    if (folder / STUDY).exists():
        return folder / STUDY
    if folder.exists() and any(folder.iterdir()):
        raise FormatError(folder, None, f"is not empty, and has no {STUDY}", hint="choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(rng)
    topics = simulate_topics()
    documents = simulate_documents(topics, rng=draw)
    sample = files("venire.judging") / "assets"
    contents = {name: (sample / name).read_text(encoding="utf-8") for name in ("guidelines.md", STUDY)}
    contents["topics.tsv"] = _table("topic query description", ((t.topic, t.query, t.description) for t in topics))
    contents["documents.jsonl"] = "".join(_record(each) for each in documents)
    contents |= _tasks(documents) | {f"{name}.run": _run(documents, name, draw) for name in NOISE}
    contents["truth.qrels"] = "".join(f"{each.topic} 0 {each.doc} {each.label}\n" for each in documents)
    with NewFiles() as new:
        for name, text in contents.items():
            new.add(folder / name, text.encode())
    return folder / STUDY


def _table(columns: str, rows: Iterable[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in [columns.split(), *rows])


def _record(document: SimulatedDocument) -> str:
    shown = {name: getattr(document, name) for name in ("doc", "title", "snippet", "text")}
    return json.dumps(shown, ensure_ascii=False) + "\n"


def _tasks(documents: Sequence[SimulatedDocument]) -> dict[str, str]:
    """Return what is asked: labels of all documents, and one task of the other kinds for each topic."""
    firsts = [[*group][:2] for _, group in groupby(documents, key=lambda each: each.topic)]
    return {
        "pool.tsv": _table("topic doc", ((each.topic, each.doc) for each in documents)),
        "given.tsv": _table("topic doc given", ((b.topic, b.doc, a.doc) for a, b in firsts)),
        "aspects.tsv": _table("topic doc", ((a.topic, a.doc) for a, _ in firsts)),
        "pairs.tsv": _table("topic left right", ((a.topic, a.doc, b.doc) for a, b in firsts)),
    }


def _run(documents: Sequence[SimulatedDocument], system: str, draw: Generator) -> str:
    """Return the list of a system: documents by their true label and noise."""
    lines = []
    for topic, group in groupby(documents, key=lambda each: each.topic):
        scored = [(each.label + draw.normal(0, NOISE[system]), each.doc) for each in group]
        ranked = enumerate(sorted(scored, reverse=True), 1)
        lines += [f"{topic} Q0 {doc} {rank} {score:.4f} {system}\n" for rank, (score, doc) in ranked]
    return "".join(lines)

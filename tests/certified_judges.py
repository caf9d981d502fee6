"""A small collection with three people and three language models, which labelled all or some of what systems return."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire import read_judgments

SYSTEMS, N_TOPICS, N_DOCS = ("best", "good", "fair", "poor"), 12, 24
SHARE = {"best": 0.9, "good": 0.7, "fair": 0.5, "poor": 0.3}
NOISE = {"ann": 0.1, "bob": 0.1, "eve": 0.1, "strong": 0.1, "weak": 0.75}


def frame(*, labelled=1.0, seed=3):
    """Rows of labels; people give them to this share of the documents, ``sampled`` is a model that labelled few."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(N_TOPICS):
        for doc in range(N_DOCS):
            truth = int(doc % 3)
            asked = rng.random() < labelled
            for who, noise in NOISE.items():
                label = rng.integers(3) if rng.random() < noise else truth
                if asked or who in ("strong", "weak"):
                    rows.append((f"q{topic}", f"d{doc}", who, str(label)))
            if doc < 3:
                rows.append((f"q{topic}", f"d{doc}", "sampled", str(truth)))
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")


def judged(table):
    """Read such a table."""
    return read_judgments(table, scale="0<1<2")


def lists(seed=4):
    """Runs of the systems: the better ones rank relevant documents first more often."""
    rng = np.random.default_rng(seed)
    runs = {}
    for system in SYSTEMS:
        score = {doc: doc % 3 for doc in range(N_DOCS)}
        runs[system] = {
            f"q{topic}": {
                f"d{doc}": float(score[doc] * (rng.random() < SHARE[system]) + rng.random()) for doc in range(N_DOCS)
            }
            for topic in range(N_TOPICS)
        }
    return runs


def write_files(folder, table):
    """Write judgments and runs -> paths of the judgments and of the folder of runs."""
    table.write_csv(folder / "judgments.tsv", separator="\t")
    (folder / "runs").mkdir(exist_ok=True)
    for system, topics in lists().items():
        lines = []
        for topic, scores in topics.items():
            ranked = sorted(scores.items(), key=lambda each: -each[1])
            lines += [f"{topic} Q0 {doc} {n} {score} {system}" for n, (doc, score) in enumerate(ranked, 1)]
        (folder / "runs" / system).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "judgments.tsv"), str(folder / "runs")

"""Collections with two judges who labelled everything: alike, or with another winner for each of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire import read_judgments

N_TOPICS, N_SHARED, N_OWN = 12, 20, 5


def docs_of(system):
    """What a system returns on every topic: its own documents first, then the same ones as the other."""
    return [*(f"{system}{n}" for n in range(N_OWN)), *(f"x{n}" for n in range(N_SHARED // 4))]


def table(*, overrates=3, identical=False):
    """Rows of labels by ``expert`` and ``llm``, who differ only where the llm overrates what L alone returns."""
    rng = np.random.default_rng(8)
    rows = []
    for topic in range(N_TOPICS):
        labels = {f"x{n}": rng.choice(4, p=[0.5, 0.2, 0.2, 0.1]) for n in range(N_SHARED)}
        labels |= {f"C{n}": rng.choice([1, 2, 3]) for n in range(N_OWN)}
        labels |= {f"L{n}": rng.choice([0, 1, 1, 2]) for n in range(N_OWN)}
        for doc, label in labels.items():
            other = label if identical or not doc.startswith("L") else overrates
            rows += [(f"q{topic}", doc, "expert", str(label)), (f"q{topic}", doc, "llm", str(other))]
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")


def judged(frame):
    """Read such a table."""
    return read_judgments(frame, scale="0<1<2<3")


def lists():
    """Runs of C and L, which share half of what they return, and of D, which returns what C does in another order."""
    orders = {"C": docs_of("C"), "D": [*docs_of("C")[3:], *docs_of("C")[:3]], "L": docs_of("L")}
    return {
        system: {f"q{t}": {doc: -float(n) for n, doc in enumerate(docs)} for t in range(N_TOPICS)}
        for system, docs in orders.items()
    }


def write_files(folder, frame):
    """Write judgments and runs -> paths of the judgments and of the folder of runs."""
    frame.write_csv(folder / "judgments.tsv", separator="\t")
    (folder / "runs").mkdir()
    for system, topics in lists().items():
        lines = [
            f"{topic} Q0 {doc} {rank} {score} {system}"
            for topic, ranked in topics.items()
            for rank, (doc, score) in enumerate(ranked.items(), 1)
        ]
        (folder / "runs" / system).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "judgments.tsv"), str(folder / "runs")

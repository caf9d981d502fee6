"""A collection for plans: an LLM labelled everything that counts, and people label what a plan asks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from venire.data.asked import Asked

TOPICS, DOCS = 20, 12
SCALE = "0<1<2"


def label(topic: int, doc: int) -> int:
    """The label by people."""
    return int(np.random.default_rng([topic, doc]).choice(3, p=[0.5, 0.3, 0.2]))


def by_llm(topic: int, doc: int) -> int:
    """The label by the LLM, which is another one in a quarter of the cases."""
    rng = np.random.default_rng([topic, doc, 1])
    return label(topic, doc) if rng.random() < 0.75 else int(rng.integers(3))


def ranked(system: str, topic: int) -> list[int]:
    """Documents in the order of a system: good ranks by label and noise, poor by noise, same as good does."""
    rng = np.random.default_rng([topic, {"good": 5, "same": 5, "poor": 6}[system]])
    weight = {"good": 1.0, "same": 1.0, "poor": 0.2}[system]
    return sorted(range(DOCS), key=lambda doc: -(weight * label(topic, doc) + rng.normal()))


def write_files(folder: Path, *, judged: int = DOCS, systems: Iterable[str] = ("good", "poor", "same")) -> list[str]:
    """Write the LLM's labels of the first documents, and the runs -> names of both, for a command."""
    lines = [f"# scale: {SCALE}", "topic\tdoc\tassessor\tlabel"]
    lines += [f"t{t}\td{d}\tllm\t{by_llm(t, d)}" for t in range(TOPICS) for d in range(judged)]
    (folder / "llm.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "runs").mkdir()
    for system in systems:
        rows = [
            f"t{t} Q0 d{d} {rank} {100 - rank} {system}"
            for t in range(TOPICS)
            for rank, d in enumerate(ranked(system, t), start=1)
        ]
        (folder / "runs" / f"{system}.run").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return [str(folder / "llm.tsv"), str(folder / "runs")]


def answered(asked: Iterable[Asked], path: Path, *, stated: bool = True) -> str:
    """Write the labels that a plan asks for, with their probabilities where these are to be stated -> the file."""
    columns = ["topic", "doc", "judge", "label", *(["probability"] if stated else [])]
    lines = [f"# scale: {SCALE}", "\t".join(columns)]
    for each in asked:
        given = label(int(each.topic[1:]), int(each.doc[1:]))
        chance = [repr(each.probability)] if stated else []
        lines.append("\t".join([each.topic, each.doc, each.judge, str(given), *chance]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)

"""A collection with labels for intents by a reference, another person and a machine."""

from __future__ import annotations

import numpy as np
import polars as pl

N_TOPICS, N_INTENTS, N_DOCS, N_SYSTEMS = 10, 3, 16, 4
JUDGES = {"nist": 0.0, "ann": 0.1, "gpt4": 0.25}
"""How often each judge finds the opposite of what holds."""


def _relevant() -> np.ndarray:
    return np.random.default_rng(2).random((N_TOPICS, N_INTENTS, N_DOCS)) < 0.3


def frame(*, part: bool = False) -> pl.DataFrame:
    """Rows of labels 0 to 2; with ``part``, those of the reference for a third of the documents alone."""
    rng, rows = np.random.default_rng(5), []
    for (t, i, d), holds in np.ndenumerate(_relevant()):
        for who, wrong in JUDGES.items():
            label = int(holds != (rng.random() < wrong)) * rng.choice([1, 2])
            if not (part and who == "nist" and (t + d) % 3):
                rows.append((f"q{t}", f"i{i}", f"d{d:02}", who, str(label)))
    return pl.DataFrame(rows, schema=["topic", "intent", "doc", "assessor", "label"], orient="row")


def runs() -> dict[str, dict[str, dict[str, float]]]:
    """Rank twelve documents and two that nobody labelled, the better the later the system."""
    rng, found = np.random.default_rng(6), {}
    for system in range(N_SYSTEMS):
        scores = 0.6 * system * _relevant().sum(axis=1) + rng.normal(size=(N_TOPICS, N_DOCS))
        found[f"s{system}"] = {f"q{t}": _list(scores[t]) for t in range(N_TOPICS)}
    return found


def _list(scores: np.ndarray) -> dict[str, float]:
    docs = [*(f"d{n:02}" for n in np.argsort(-scores)[:12].tolist()), "new1", "new2"]
    return {doc: float(-rank) for rank, doc in enumerate(docs)}

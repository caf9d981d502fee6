"""A crowd: workers who each label a small part of a collection, with noise, and lists of two systems."""

from __future__ import annotations

import numpy as np
import polars as pl

N_TOPICS, N_DOCS = 8, 24
COLUMNS = ["topic", "doc", "assessor", "label"]


def crowd_table(n_workers: int = 30, share: float = 0.25, *, expert: float = 0.0, seed: int = 1) -> pl.DataFrame:
    """Labels 0 to 2; w00 gives one label only.  expert: the share of documents that an expert labelled, too."""
    rng, rows = np.random.default_rng(seed), []
    for topic in range(N_TOPICS):
        truth = rng.integers(0, 3, N_DOCS)
        for worker in range(n_workers):
            for doc in np.flatnonzero(rng.random(N_DOCS) < share).tolist():
                label = 1 if worker == 0 else int(np.clip(truth[doc] + rng.choice([-1, 0, 0, 1]), 0, 2))
                rows.append((f"q{topic}", f"d{doc:02}", f"w{worker:02}", label))
        for doc in np.flatnonzero(rng.random(N_DOCS) < expert).tolist():
            rows.append((f"q{topic}", f"d{doc:02}", "expert", int(truth[doc])))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def crowd_runs(seed: int = 2) -> dict[str, dict[str, dict[str, float]]]:
    """Lists of three systems in random order."""
    rng = np.random.default_rng(seed)
    docs = [f"d{doc:02}" for doc in range(N_DOCS)]
    return {
        name: {f"q{topic}": dict(zip(docs, rng.random(N_DOCS).tolist(), strict=True)) for topic in range(N_TOPICS)}
        for name in ("a", "b", "c")
    }

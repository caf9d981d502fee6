"""Pairwise discriminative power: `python bench/pdp.py N_TOPICS K`; prints what it cost as JSON.

work is the seconds from document-level preferences (topic, K, K) to the entropy of every topic; peak the megabytes of
the whole process.  Without arguments: 1,000 topics at K = 5 and 10,000 at K = 10, in processes of their own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from time import perf_counter

import numpy as np
from machine import megabytes

from venire.kernels.ranking_entropy import clipped, entropy_of, scores_of_wins

SIZES = ((1_000, 5), (10_000, 10))


def drawn(n_topics: int, k: int) -> np.ndarray:
    """Preferences of random documents, each by five random assessors' labels."""
    rng = np.random.default_rng(k)
    worth = rng.normal(size=(n_topics, k, 1)) + rng.normal(size=(n_topics, k, 5))
    return (0.5 + np.tanh(worth[:, :, None] - worth[:, None, :]) / 2).mean(axis=3)


def measured(n_topics: int, k: int) -> dict[str, object]:
    preferences = drawn(n_topics, k)
    start = perf_counter()
    value = entropy_of(scores_of_wins(clipped(preferences).sum(axis=2) - 0.5)).value
    work = perf_counter() - start
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return {
        "topics": n_topics,
        "k": k,
        "work": work,
        "ms_per_topic": 1e3 * work / n_topics,
        "peak": peak,
        "mean": value.mean(),
    }


def main(arguments: list[str]) -> None:
    if arguments:
        print(json.dumps(measured(*map(int, arguments))))
        return
    for size in SIZES:
        subprocess.run([sys.executable, __file__, *map(str, size)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])

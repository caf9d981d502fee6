"""Judgments with labels in condition, drawn from a known P(label in condition | label, label before)."""

from __future__ import annotations

import numpy as np

from long_rows import judgments_of
from venire.data.judgments import Judgments


def drawn_in_context(truth, *, topics: int, docs: int = 8, rng=0, shares=None) -> Judgments:
    """Label documents in isolation at random, and each after its neighbour as truth (label, before, label) says."""
    truth = np.asarray(truth)
    n, generator = len(truth), np.random.default_rng(rng)
    label = generator.choice(n, size=(topics, docs), p=shares)
    chance = truth[label, np.roll(label, 1, axis=1)].cumsum(axis=-1)
    after = np.minimum((chance < generator.random((topics, docs, 1))).sum(axis=-1), n - 1)
    rows = [(f"t{t}", f"d{d}", "A", label[t, d], "") for t in range(topics) for d in range(docs)]
    rows += [(f"t{t}", f"d{d}", "A", after[t, d], f"d{(d - 1) % docs}") for t in range(topics) for d in range(docs)]
    return judgments_of(rows, "<".join(map(str, range(n))), fifth="given")


def redundancy(strength: float = 0.7) -> np.ndarray:
    """Three labels; after a document labelled 2 a label falls by one with this probability, else it mostly stays."""
    truth = np.zeros((3, 3, 3))
    for a in range(3):
        for b in range(3):
            down = strength if b == 2 and a > 0 else 0.05
            truth[a, b, a] += 1 - down - 0.05
            truth[a, b, max(a - 1, 0)] += down
            truth[a, b, min(a + 1, 2)] += 0.05
    return truth


def no_context() -> np.ndarray:
    """Three labels; what was read before plays no role."""
    rows = np.array([[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.05, 0.35, 0.6]])
    return np.repeat(rows[:, None, :], 3, axis=1)

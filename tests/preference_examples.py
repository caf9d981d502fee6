"""Labels and preference tests on the same documents: the example of Chu et al. (2021), and simulated collections."""

from __future__ import annotations

import numpy as np

from papers.chu2021 import BELOW_FOUR, BELOW_SEVEN, FOUR_GRADES, SEVEN_GRADES, label_preferences
from venire import read_judgments
from venire.data.preferences import Preferences
from venire.io import read_grid

SEVEN = read_grid(SEVEN_GRADES, scale="0<1<2<3<4<5<6")
FOUR = read_grid(FOUR_GRADES, scale="0<1<2<3")


def example(grades: str):
    return (FOUR, label_preferences(BELOW_FOUR)) if grades == "4" else (SEVEN, label_preferences(BELOW_SEVEN))


def collection(n_topics, *, grades=4, sigma=0.15, n_docs=5, n_assessors=3, n_tests=300, seed=0, perceive=1):
    """True relevance, noisy labels and noiseless tests, as in Section 4.1; the truth depends on the seed alone."""
    truth, noise = np.random.default_rng(seed), np.random.default_rng([seed, perceive])
    relevance = truth.beta(3, 3, size=(n_topics, n_docs))
    seen = relevance[..., None] + sigma * noise.normal(size=(n_topics, n_docs, n_assessors))
    labels = np.clip(np.floor(seen * grades), 0, grades - 1).astype(int)
    rows = [
        {"topic": f"t{t:04d}", "doc": f"d{d}", "assessor": f"u{u}", "label": int(labels[t, d, u])}
        for t, d, u in np.ndindex(labels.shape)
    ]
    frame = {key: [row[key] for row in rows] for key in rows[0]}
    return read_judgments(frame_of(frame), scale="<".join(map(str, range(grades)))), choices_on(
        relevance, n_tests, truth
    )


def frame_of(columns):
    import polars as pl

    return pl.DataFrame(columns)


def choices_on(relevance, n_tests, rng):
    """Preference tests on random pairs of documents, decided by their true relevance."""
    n_topics, n_docs = relevance.shape
    rows = []
    for _ in range(n_tests):
        t, (a, b) = rng.integers(n_topics), rng.choice(n_docs, 2, replace=False)
        rows.append((f"t{t:04d}", f"d{a}", f"d{b}", 1 if relevance[t, a] > relevance[t, b] else -1))
    return Preferences.of(rows)

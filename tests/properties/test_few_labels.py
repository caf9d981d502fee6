"""Many judges with few labels each: scores are those of the array of all judges and items."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import Judgments, evaluate, read_judgments
from venire.measures import scoring

MEASURES = ["nDCG@5", "nDCG", "AP", "RR", "P@3", "R@5", "RBP(p=0.8)", "ERR@5", "Judged@4"]


def crowd(seed: int) -> tuple[Judgments, dict]:
    """Forty assessors of a few labels each, some of them repeated; lists with documents that nobody judged."""
    rng = np.random.default_rng(seed)
    n = 150
    columns = {
        "topic": [f"q{each}" for each in rng.integers(0, 4, n)],
        "doc": [f"d{each}" for each in rng.integers(0, 12, n)],
        "assessor": [f"u{each}" for each in rng.integers(0, 40, n)],
        "label": rng.integers(0, 3, n).tolist(),
    }
    runs = {
        name: {f"q{t}": {f"d{d}": float(s) for s, d in enumerate(rng.permutation(16)[:10])} for t in range(5)}
        for name in ("one", "two")
    }
    return read_judgments(pl.DataFrame(columns), duplicate_labels="keep"), runs


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning", "ignore::venire.errors.MissingTopicsWarning")
@pytest.mark.parametrize("unjudged", [0, "condensed", 0.3])
@pytest.mark.parametrize("copies", [None, [["d1", "d2", "d5"], ["d3", "d4"]]])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_all_judges_and_items(monkeypatch, seed, unjudged, copies):
    judgments, runs = crowd(seed)
    measures = MEASURES if unjudged != 0.3 else ["nDCG@5", "P@3", "RBP(p=0.8)", "ERR@5"]
    measures = [*measures, "infAP"] if unjudged == 0 else measures
    found = []
    for share, cells in ((0, 1 << 24), (0, 100), (1 << 40, 1 << 24)):
        monkeypatch.setattr(scoring, "SPARSE", share)
        monkeypatch.setattr(scoring, "JUDGE_CELLS", cells)
        found.append(evaluate(judgments, runs, measures, per="assessor", unjudged=unjudged, duplicates=copies).values)
    np.testing.assert_allclose(found[0], found[2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[1], found[2], rtol=0, atol=1e-12)
    assert np.isfinite(found[0]).any()

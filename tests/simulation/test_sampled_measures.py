"""statAP and infAP recover average precision from samples of judgments."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from venire import evaluate
from venire.measures.precision import precisions

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

N_DOCS, N_SAMPLES = 200, 4000


def truth(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Draw relevance by rank, more at the top, and return its average precision."""
    relevant = rng.random(N_DOCS) < np.linspace(0.8, 0.05, N_DOCS)
    rank = np.arange(1, N_DOCS + 1)
    return relevant, float(precisions(relevant.astype(np.float64), rank) / relevant.sum())


def scores(labels: pl.DataFrame, measure: str) -> np.ndarray:
    run = {topic: {f"d{n}": float(N_DOCS - n) for n in range(N_DOCS)} for topic in labels["topic"].unique().to_list()}
    return evaluate(labels, run, measure).values[0, :, 0]


@pytest.mark.parametrize(("effort", "bias"), [(0.75, 0.04), (1.5, 0.02), (3.0, 0.007)])
def test_statap_estimates_both_parts_without_bias_and_their_ratio_with_little(effort, bias):
    """With 11, 21 and 38 sampled relevant documents on average, the bias is -0.028, -0.013 and -0.003."""
    rng = np.random.default_rng(3)
    relevant, average_precision = truth(rng)
    rank = np.arange(1, N_DOCS + 1)
    chance = np.clip(effort / np.sqrt(rank), 0.05 * effort, 1.0)
    drawn = rng.random((N_SAMPLES, N_DOCS)) < chance
    weight = drawn * relevant / chance
    total, top = weight.sum(axis=1), precisions(weight, rank)
    for estimate, true in ((total, relevant.sum()), (top, average_precision * relevant.sum())):
        assert abs(estimate.mean() - true) < 4 * estimate.std() / np.sqrt(N_SAMPLES)
    assert abs((top / total).mean() - average_precision) < bias
    topic, doc = np.nonzero(drawn[:50])
    columns = {"topic": topic.astype(str), "doc": [f"d{n}" for n in doc], "label": relevant[doc].astype(int)}
    found = scores(pl.DataFrame(columns).with_columns(probability=chance[doc]), "statAP")
    assert found.tolist() == pytest.approx((top / total)[:50].tolist())


def test_infap_of_a_uniform_sample_recovers_average_precision():
    rng = np.random.default_rng(5)
    relevant, average_precision = truth(rng)
    drawn = rng.random((200, N_DOCS)) < 0.3
    topic, doc = np.nonzero(np.ones_like(drawn))
    label = np.where(drawn.ravel(), relevant[doc].astype(int), -1)
    frame = pl.DataFrame({"topic": topic.astype(str), "doc": [f"d{n}" for n in doc], "label": label})
    found = scores(frame, "infAP")
    assert abs(found.mean() - average_precision) < 0.01

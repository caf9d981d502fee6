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


def inferred(drawn: np.ndarray, relevant: np.ndarray, chance: np.ndarray | None = None) -> np.ndarray:
    """infAP of samples, drawn (sample, document)."""
    topic, doc = np.nonzero(np.ones_like(drawn))
    label = np.where(drawn.ravel(), relevant[doc].astype(int), -1)
    frame = pl.DataFrame({"topic": topic.astype(str), "doc": [f"d{n}" for n in doc], "label": label})
    return scores(frame if chance is None else frame.with_columns(probability=chance[doc]), "infAP")


def sample_of(size: dict[range, int], n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw so many documents of each range of ranks, without replacement -> (sample, document)."""
    drawn = np.zeros((n_samples, N_DOCS), dtype=np.bool_)
    for ranks, n in size.items():
        place = rng.permuted(np.tile(np.array(ranks), (n_samples, 1)), axis=1)[:, :n]
        np.put_along_axis(drawn, place, True, axis=1)
    return drawn


def test_infap_of_a_uniform_sample_recovers_average_precision():
    rng = np.random.default_rng(5)
    relevant, average_precision = truth(rng)
    found = inferred(rng.random((200, N_DOCS)) < 0.3, relevant)
    assert abs(found.mean() - average_precision) < 0.01


def test_infap_by_strata_has_less_error_than_that_of_a_uniform_sample_of_the_same_size():
    """With 60 of 200 documents, all of the first 20 among them: 0.045 instead of 0.091."""
    rng = np.random.default_rng(6)
    relevant, average_precision = truth(rng)
    top, middle, rest = range(20), range(20, 80), range(80, N_DOCS)
    size = {top: 20, middle: 24, rest: 16}
    chance = np.concatenate([np.full(len(ranks), n / len(ranks)) for ranks, n in size.items()])
    strata = inferred(sample_of(size, 400, rng), relevant, chance)
    uniform = inferred(sample_of({range(N_DOCS): 60}, 400, rng), relevant)
    assert abs(strata.mean() - average_precision) < 0.01
    assert root_mean_square(strata - average_precision) < 0.6 * root_mean_square(uniform - average_precision)
    as_uniform = inferred(sample_of(size, 400, rng), relevant)
    assert as_uniform.mean() > average_precision + 0.05


def root_mean_square(error: np.ndarray) -> float:
    return float(np.sqrt((error**2).mean()))

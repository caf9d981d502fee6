"""Intervals of means: the quantile of Student's t distribution, and the range of a measure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtrit

from venire import Scores, evaluate
from venire.measures.names import KINDS, WITHOUT_HIGHEST, range_of
from venire.measures.scores import student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 49, 999, 10**6])
@pytest.mark.parametrize("p", [0.9, 0.975, 0.9995])
def test_it_is_that_of_scipy(freedom, p):
    assert student_quantile(freedom, p) == pytest.approx(stdtrit(freedom, p), rel=1e-7)


def interval(values: list[list[float]], measures: tuple[str, ...], **chosen: str) -> list[list[float]]:
    """Scores of one system by topic and measure -> low and high of each measure."""
    names = {"system": ("a",), "topic": tuple(map(str, range(len(values)))), "measure": measures}
    scores = Scores(np.array([values], dtype=np.float64), ("system", "topic", "measure"), names)
    return [each.values.ravel().tolist() for each in scores.select(**chosen).interval()]


def test_limits_are_cut_at_the_range_of_each_measure():
    half = stdtrit(1, 0.975) / 2
    low, high = interval([[1, 1, 1], [0, 0, 0]], ("nDCG@10", "DCG@10", "own"))
    assert low == pytest.approx([0, 0, 0.5 - half])
    assert high == pytest.approx([1, 0.5 + half, 0.5 + half])
    assert interval([[1, 1], [0, 0]], ("nDCG@10", "AP"), measure="AP") == [[0], [1]]
    assert interval([[1, 1], [0, 0]], ("nDCG@10", "DCG"), measure="nDCG@10")[1] == pytest.approx([0.5 + half])


def test_limits_are_not_cut_within_the_scores():
    """As of a function of one's own with the name of a measure; topics without a score do not matter."""
    low, high = interval([[-3, np.nan], [5, 0.5], [1, 0.5]], ("nDCG@10", "AP"))
    assert (low[0], high[0]) == (-3, 5)
    assert (low[1], high[1]) == (0.5, 0.5)


@pytest.mark.parametrize("name", [name for name in KINDS if name not in {kind.__name__ for kind in WITHOUT_HIGHEST}])
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_scores_are_within_the_range(name):
    """Of random rankings, by labels for intents if the measure needs them."""
    rng, measure = np.random.default_rng(1), f"{name}@4"
    rows = [(str(t), str(i), f"d{d}", str(rng.integers(0, 4))) for t in range(30) for i in range(3) for d in range(6)]
    labels = pl.DataFrame(rows, schema=["topic", "intent", "doc", "label"], orient="row")
    labels = labels if KINDS[name].by_intent else labels.filter(pl.col("intent") == "0").drop("intent")
    runs = {str(n): {str(t): {f"d{d}": rng.random() for d in range(8)} for t in range(30)} for n in range(3)}
    scores = evaluate(labels, runs, measure).values
    assert range_of(measure) == (0, 1)
    assert 0 <= scores.min() < scores.max() <= 1 + 1e-12


def test_ranges_of_measures_that_may_exceed_1_or_are_not_known():
    assert range_of("nDCG(alpha=0.5)@5") == range_of("DCG@5") == range_of("alpha-nDCG@5") == (0, np.inf)
    assert range_of("P(rel=2)@5") == range_of("map") == (0, 1)
    assert range_of("own") == (-np.inf, np.inf)

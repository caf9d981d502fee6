"""Student's interval of a mean over few topics holds the true mean; the percentile bootstrap holds it less often."""

from __future__ import annotations

import numpy as np
import pytest

from venire.kernels.resampling import topic_weights
from venire.measures.scores import Scores

SHAPES = {"usual": (2.0, 3.0), "low": (0.7, 2.5)}
"""Beta distributions of scores over topics: those of a usual measure, and skewed ones with many near 0."""


@pytest.mark.parametrize("n_topics", [3, 5, 10, 50])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_means_over_few_topics_hold_the_truth(n_topics, shape, collections, figure):
    n, (a, b) = 10 * collections(300), SHAPES[shape]
    rng = np.random.default_rng(n_topics)
    values = rng.beta(a, b, (n, n_topics))
    names = {"system": tuple(map(str, range(n))), "topic": tuple(map(str, range(n_topics)))}
    low, high = (each.values for each in Scores(values, ("system", "topic"), names).interval())
    covered = float(((low < a / (a + b)) & (a / (a + b) < high)).mean())
    figure("coverage", covered)
    means = values[:200] @ topic_weights(n_topics, 400, rng).T / n_topics
    drawn_low, drawn_high = np.quantile(means, [0.025, 0.975], axis=1)
    drawn = float(((drawn_low < a / (a + b)) & (a / (a + b) < drawn_high)).mean())
    figure("bootstrap", drawn)
    assert (0.93 if shape == "usual" else 0.87) < covered < 0.975
    assert n_topics > 10 or covered > drawn

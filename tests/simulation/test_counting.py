"""Expected counts of relevant results against collections whose truth is known.

Every topic has a joint distribution of two people's labels of its own, drawn around a common one; one system returns
ten results of each.  Deep in the pool, where nothing is returned, the second person agrees less.  The truth is the
expected number of results among the ten that the second person gives the top label.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import binom, t

from long_rows import judgments_of
from venire import PredictedRelevance
from venire.disagreement import count_relevant

FIRST = np.array([[0.30, 0.06, 0.02], [0.08, 0.20, 0.06], [0.03, 0.07, 0.18]])
DEEP = np.array([[0.60, 0.04, 0.01], [0.15, 0.08, 0.01], [0.07, 0.03, 0.01]])
"""P(label by the judge, label by another person): of results that are returned, and of the others."""
TRUTH = 10 * FIRST[:, 2].sum()


def collection(rng: np.random.Generator, *, n_topics: int, share: float, kappa: float = 12.0):
    """The judge labels all, another person a share of the results of every topic."""
    rows, runs = [], {}
    for topic in range(n_topics):
        for name, joint in (("f", FIRST), ("p", DEEP)):
            chances = rng.dirichlet(kappa * joint.ravel())
            for number, cell in enumerate(rng.choice(9, size=10, p=chances)):
                rows.append((topic, f"{name}{number}", "judge", cell // 3))
                if rng.random() < share:
                    rows.append((topic, f"{name}{number}", "other", cell % 3))
        runs[str(topic)] = {f"f{number}": -float(number) for number in range(10)}
    return judgments_of(rows), runs


@pytest.mark.parametrize(("n_topics", "share"), [(30, 0.3), (15, 0.6)])
def test_intervals_of_expected_counts_cover(collections, figure, n_topics, share):
    n, rng = collections(60), np.random.default_rng(n_topics)
    model = PredictedRelevance(relevant="2", observed=["judge"], n_draws=0)
    covered = {"with p(R|i) estimated": 0, "with p(R|i) taken as known": 0, "fitted on the pool": 0}
    for _ in range(n):
        labels, runs = collection(rng, n_topics=n_topics, share=share)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, pool = (
                count_relevant(labels, runs, model, fit_to=each, assessor="judge") for each in ("returned", "pool")
            )
        known = found.scores.select(measure="prm:2").values[0].std(ddof=1) / n_topics**0.5
        errors = [
            (found.mean[0, 0, 0], found.se[0, 0, 0]),
            (found.mean[0, 0, 0], known),
            (pool.mean[0, 0, 0], pool.se[0, 0, 0]),
        ]
        for name, (mean, se) in zip(covered, errors, strict=True):
            covered[name] += abs(mean - TRUTH) <= t.ppf(0.975, n_topics - 1) * se
    for name, times in covered.items():
        figure(f"{n_topics} topics, {name}", times / n)
    assert covered["with p(R|i) estimated"] >= binom.ppf(0.001, n, 0.93)
    assert covered["with p(R|i) taken as known"] < covered["with p(R|i) estimated"]

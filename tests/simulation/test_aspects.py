"""Aspects with a known structure: clusters are found, and intervals cover the correlation that is there."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.aspects.cases import Cases
from venire.aspects.correlations import aspect_clusters, aspect_correlations
from venire.aspects.study import study_aspects
from venire.io.aspects import read_aspects

FIRST, SECOND = ("overall", "topical", "new"), ("fresh", "author", "style")


def collection(rng, n_topics, n_docs, *, topic_share=0.3):
    """Two unrelated sides of a document, three aspects of each; part of both is the topic's."""

    def side():
        topics = np.repeat(rng.normal(size=n_topics), n_docs)
        return np.sqrt(topic_share) * topics + np.sqrt(1 - topic_share) * rng.normal(size=n_topics * n_docs)

    columns = {
        "topic": [str(1 + n // n_docs) for n in range(n_topics * n_docs)],
        "doc": [f"d{n}" for n in range(n_topics * n_docs)],
    }
    for names in (FIRST, SECOND):
        shared = side()
        for name in names:
            grade = np.digitize(0.8 * shared + 0.6 * rng.normal(size=len(shared)), [-0.7, 0.0, 0.7])
            columns[name] = [str(each) for each in grade]
    return read_aspects(pl.DataFrame(columns))


def test_clusters_are_found():
    study = study_aspects(collection(np.random.default_rng(1), 40, 15), n_draws=50)
    found = study.clusters[0]
    assert {frozenset(group) for group in found.groups} == {frozenset(FIRST), frozenset(SECOND)}
    supports = {frozenset(each.aspects): each.support for each in found.merges}
    assert supports[frozenset(FIRST)] > 0.9
    assert supports[frozenset(SECOND)] > 0.9


def test_intervals_over_topics_cover():
    rng = np.random.default_rng(2)
    whole = aspect_correlations(Cases.of(collection(rng, 1_500, 10), n_draws=1))
    pairs = [("topical", "new"), ("topical", "fresh")]
    truth = {pair: whole.find(*pair).rho.value for pair in pairs}
    covered = dict.fromkeys(pairs, 0)
    for seed in range(40):
        aspects = collection(rng, 30, 10)
        cases = Cases.of(aspects, n_draws=100, rng=seed)
        found = aspect_correlations(cases)
        for pair in pairs:
            rho = found.find(*pair).rho
            covered[pair] += rho.low <= truth[pair] <= rho.high
    assert all(count >= 33 for count in covered.values()), covered
    assert aspect_clusters(found, "isolation").reason is None

"""PDP of simulated collections: two exchangeable label sets do not differ, and intervals cover the truth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from venire import read_judgments
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.quality.label_preferences import LabelPreferences
from venire.quality.lists import chosen_lists
from venire.quality.pdp import PDP, compare_pdp, pdp

N_DOCS, N_ASSESSORS, N_LABELS, SIGMA = 7, 3, 4, 0.15
MODES = {mode: LabelPreferences(mode=mode) for mode in ("individual", "aggregate")}


@cache
def labelled(n_topics: int) -> tuple[Judgments, tuple[np.ndarray, ...]]:
    """Judgments of all documents by three assessors, and the places of their rows in labels (topic, doc, assessor)."""
    columns = dict(zip(("topic", "doc", "assessor"), np.indices((n_topics, N_DOCS, N_ASSESSORS)), strict=True))
    frame = pl.DataFrame({name: each.ravel() for name, each in columns.items()} | {"label": [0] * columns["doc"].size})
    found = read_judgments(frame.cast(pl.String), scale="0<1<2<3")
    topic, doc, who = (np.array(list(each), dtype=int) for each in (found.topics, found.items.doc, found.assessors))
    return found, (topic[found.items.topic[found.item]], doc[found.item], who[found.assessor.codes])


def labels_on(relevance, rng: np.random.Generator) -> Judgments:
    """Labels of three assessors, each a noisy reading of the true relevance (topic, document)."""
    seen = relevance[..., None] + SIGMA * rng.normal(size=(*relevance.shape, N_ASSESSORS))
    label = np.clip(np.floor(seen * N_LABELS), 0, N_LABELS - 1)
    every, place = labelled(len(relevance))
    return replace(every, label=label[place].astype(every.label.dtype))


def choices_on(relevance, per_topic: int, rng: np.random.Generator) -> Preferences:
    """Different pairs of documents of every topic; people see their true relevance with noise."""
    first, second = np.triu_indices(relevance.shape[1], 1)
    rows = []
    for topic, worth in enumerate(relevance):
        pairs = rng.choice(len(first), per_topic, replace=False)
        better = worth[first[pairs]] - worth[second[pairs]] + 0.1 * rng.normal(size=per_topic) > 0
        chosen = zip(first[pairs].tolist(), second[pairs].tolist(), better.tolist(), strict=True)
        rows += [(str(topic), str(a), str(b), 1 if left else -1) for a, b, left in chosen]
    return Preferences.of(rows)


def measured(seed, n_topics: int, per_topic: int, mode: str, *, n_sets: int, **how) -> list[PDP]:
    """PDP of several exchangeable label sets of the same documents, with the same tests and lists."""
    rng = np.random.default_rng(seed)
    relevance = rng.beta(3, 3, size=(n_topics, N_DOCS))
    tests = choices_on(relevance, per_topic, rng)
    sets = [labels_on(relevance, rng) for _ in range(n_sets)]
    lists = chosen_lists(sets[0], tests, k=3, also=sets[-1], rng=rng)
    return [pdp(labels, tests, lists=lists, labels=MODES[mode], **how) for labels in sets]


def most_of(n: int, rate: float) -> float:
    """Return the share that a correct method exceeds once in 1,000 seeds."""
    return float(binom.ppf(0.999, n, rate)) / n


@pytest.mark.parametrize("mode", MODES)
def test_exchangeable_label_sets_do_not_differ(collections, figure, mode):
    """Each set is ahead in half of the collections, and a difference is significant in 5 % of them at most."""
    n = collections(27) // 9
    found = {}
    for n_topics, per_topic in product((10, 20, 50), (2, 5, 20)):
        sets = (measured([seed, n_topics, per_topic], n_topics, per_topic, mode, n_sets=2) for seed in range(n))
        found[n_topics, per_topic] = [compare_pdp(a, b) for a, b in sets]
        share = np.mean([each.significant for each in found[n_topics, per_topic]])
        figure(f"false positives, {n_topics} topics with {per_topic} tests", share)
        assert share <= max(0.07, most_of(n, 0.05))
    every = [each for many in found.values() for each in many]
    wrong, first = np.mean([each.significant for each in every]), np.mean([each.difference < 0 for each in every])
    figure("false positives", wrong)
    figure("p below .2", np.mean([each.p_value < 0.2 for each in every]))
    figure("the first set is ahead", first)
    assert wrong <= max(0.06, most_of(len(every), 0.05))
    assert abs(first - 0.5) <= most_of(len(every), 0.5) - 0.5


@pytest.mark.parametrize("mode", MODES)
def test_intervals_cover_what_many_topics_and_tests_give(collections, figure, mode):
    truth = measured(99, 1500, 21, mode, n_sets=1, n_draws=0)[0].value
    n = collections(30) // 6
    for n_topics, per_topic in ((3, 20), (5, 20), (9, 5), (20, 2), (20, 20), (50, 5)):
        found = [measured([seed, n_topics], n_topics, per_topic, mode, n_sets=1)[0] for seed in range(n)]
        covered = np.mean([each.low <= truth <= each.high for each in found])
        figure(f"coverage, {n_topics} topics with {per_topic} tests", covered)
        figure("bias", np.mean([each.value for each in found]) - truth)
        assert 1 - covered <= max(0.1, most_of(n, 0.1))

"""Intervals over a handful of topics hold the truth, and labels that are alike are rarely called different.

Topics differ in what is relevant and in how far people agree.  Two assessors label each item twice, so that pairs of
one assessor and of two can be counted.  The truth is that of very many topics.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from venire import PredictedRelevance
from venire.agreement.consistency import consistency
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale
from venire.disagreement.predicted_relevance import difference

SCALE = Scale.parse("0<1<2<3")
CUTS = [-0.3, 0.6, 1.4]
Intervals = Callable[[Judgments], tuple[np.ndarray, np.ndarray, np.ndarray]]


def collection(n_topics: int, rng: np.random.Generator, *, repeats: int, per_topic: int = 100) -> Judgments:
    """Judge items by two assessors; topics have their own prevalence and their own noise, and unequal numbers."""
    sizes = 5 + rng.poisson(per_topic * rng.gamma(4, 1 / 4, n_topics))
    topic = np.repeat(np.arange(n_topics, dtype=np.int32), sizes)
    quality = rng.normal(0, 0.7, n_topics)[topic] + rng.normal(size=len(topic))
    noise = rng.uniform(0.2, 1.6, n_topics)[topic]
    person = noise[:, None] * rng.normal(size=(len(topic), 2))
    seen = quality[:, None, None] + person[:, :, None] + (repeats > 1) * 0.4 * rng.normal(size=(len(topic), 2, repeats))
    return judged(topic, np.digitize(seen, CUTS))


def judged(topic: np.ndarray, label: np.ndarray) -> Judgments:
    """Make judgments of labels (item, assessor, repeat)."""
    n_items, n_assessors, repeats = label.shape
    items = Items(Ids.of(map(str, range(int(topic.max()) + 1))), topic, Ids.of(map(str, range(n_items))))
    who = np.tile(np.repeat(np.arange(n_assessors, dtype=np.int32), repeats), n_items)
    item = np.repeat(np.arange(n_items, dtype=np.int32), n_assessors * repeats)
    names = Category(who, Ids.of("AB"[:n_assessors]))
    return Judgments(SCALE, items, item, names, label.ravel().astype(np.int32))


def of_disagreement(judgments: Judgments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = PredictedRelevance(n_draws=100).fit(judgments).spread
    return found.p, found.low, found.high


def of_prior(judgments: Judgments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = PredictedRelevance(n_draws=100, prior=0.5).fit(judgments).spread
    return found.p, found.low, found.high


def of_consistency(judgments: Judgments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sides = consistency(judgments, n_draws=0).sides().values()
    p, low, high = (np.vstack([getattr(each.spread, end) for each in sides]) for end in ("p", "low", "high"))
    return p, low, high


COMMANDS: dict[str, tuple[Intervals, int]] = {
    "disagreement": (of_disagreement, 1),
    "prior": (of_prior, 1),
    "consistency": (of_consistency, 2),
}


@cache
def truth(name: str) -> np.ndarray:
    intervals, repeats = COMMANDS["disagreement" if name == "prior" else name]
    return intervals(collection(6_000, np.random.default_rng(1), repeats=repeats))[0]


@pytest.mark.parametrize("n_topics", [3, 5, 9, 20])
@pytest.mark.parametrize("name", list(COMMANDS))
def test_intervals_of_every_label_cover(name, n_topics, collections, figure):
    intervals, repeats = COMMANDS[name]
    right, n = truth(name), collections(60)
    held, known = np.zeros_like(right), np.zeros_like(right)
    for rng in np.random.default_rng(n_topics).spawn(n):
        _, low, high = intervals(collection(n_topics, rng, repeats=repeats))
        held += (low <= right) & (right <= high)
        known += ~np.isnan(low)
    shares = held / known
    figure(f"{name}, {n_topics} topics, least of {right.size} labels", shares.min())
    figure("most", shares.max())
    assert (known > 0.9 * n).all(), "a label of one topic has no interval, which is rare here"
    assert (held >= binom.ppf(1e-4, known, 0.93)).all(), shares


def two_middle_labels(n_topics: int, rng: np.random.Generator, *, slope: float, mixed: bool) -> Judgments:
    """Judge items "in the middle" 1 or 2: by a coin (slope 0), or rather 2 where they are better.

    mixed: each topic has a coin of its own, so that both labels are not of the same topics.
    """
    sizes = 5 + rng.poisson(60 * rng.gamma(4, 1 / 4, n_topics))
    topic = np.repeat(np.arange(n_topics, dtype=np.int32), sizes)
    quality = rng.normal(0, 0.7, n_topics)[topic] + rng.normal(size=len(topic))
    seen = quality[:, None] + rng.uniform(0.3, 1.2, n_topics)[topic, None] * rng.normal(size=(len(topic), 2))
    coin = rng.uniform(0.05, 0.95, n_topics)[topic, None] if mixed else 0.5
    upper = rng.random(seen.shape) < coin + slope * (seen - 0.35)
    label = np.digitize(seen, [-0.3, 1.0])
    return judged(topic, np.where(label == 2, 3, np.where((label == 1) & upper, 2, label))[:, :, None])


def distinguished(n: int, n_topics: int, **how: float) -> float:
    """How often labels 1 and 2 are distinguished, of the collections in which both have an interval."""
    found = [
        difference(PredictedRelevance(n_draws=100).fit(two_middle_labels(n_topics, rng, **how)), 0, 1, 2)
        for rng in np.random.default_rng(n_topics).spawn(n)
    ]
    return float(np.mean([each.distinguished for each in found if not np.isnan(each.low)]))


@pytest.mark.parametrize("mixed", [False, True], ids=["same topics", "other topics"])
@pytest.mark.parametrize("n_topics", [3, 5, 9, 20, 50])
def test_labels_that_are_alike_are_rarely_called_different(n_topics, mixed, collections, figure):
    n = collections(60)
    share = distinguished(n, n_topics, slope=0.0, mixed=mixed)
    figure(f"false positives, {n_topics} topics", share)
    assert share * n <= binom.ppf(0.999, n, 0.05)


@pytest.mark.parametrize(("n_topics", "least"), [(20, 0.3), (50, 0.7)])
def test_labels_that_differ_are_found(n_topics, least, collections, figure):
    n = collections(60)
    share = distinguished(n, n_topics, slope=0.4, mixed=False)
    figure(f"power, {n_topics} topics", share)
    assert share >= least - 3 * np.sqrt(least * (1 - least) / n)

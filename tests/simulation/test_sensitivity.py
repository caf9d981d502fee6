"""Sensitivity against known truth; by chance, with another seed, a test fails about 1 time in 1000."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

from venire import PredictedRelevance, Scale
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.disagreement import PredictedRelevanceFit
from venire.disagreement.by_result_quality import ResultLists, against_quality
from venire.disagreement.by_topic import topic_influence
from venire.disagreement.double_judgments import available, double_judgments_needed, simulate_rounds
from venire.kernels.shares import shares, variance_per_judgment

SCALE = Scale.parse("0<1<2")
LEVELS = np.array([0.6, 0.25, 0.15])
CONFUSION = np.array([[0.85, 0.13, 0.02], [0.25, 0.55, 0.2], [0.05, 0.25, 0.7]])
JOINT = np.einsum("l,la,lb->ab", LEVELS, CONFUSION, CONFUSION)
TOP = np.array([[False, False, True]])
SETTING = PredictedRelevance(estimator="labels", n_draws=0)


@cache
def numbered(n: int) -> Ids:
    return Ids.of(map(str, range(n)))


def judged(labels: np.ndarray, topic: np.ndarray) -> Judgments:
    """Two labels (item, 2) on every item, by a and b; topic (item,)."""
    n_items = len(labels)
    items = Items(numbered(int(topic.max()) + 1), topic.astype(np.int32), numbered(n_items))
    who = Category(np.tile(np.array([0, 1], dtype=np.int32), n_items), Ids.of(["a", "b"]))
    item = np.repeat(np.arange(n_items, dtype=np.int32), 2)
    return Judgments(SCALE, items, item, who, labels.ravel().astype(np.int32))


def drawn(joint: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw pairs of labels -> (n, 2)."""
    cell = rng.choice(joint.size, size=n, p=joint.ravel())
    return np.stack(np.unravel_index(cell, joint.shape), axis=1)


def deviation(fit: PredictedRelevanceFit, n: int, *, mirrored: bool) -> np.ndarray:
    """Standard deviation of p(R|i) with n double judgments, at the p that was estimated -> (label,)."""
    return np.sqrt(variance_per_judgment(fit.by_topic.sum(axis=0), fit.p, TOP, mirrored=mirrored) / n)[0]


def as_spread_as(values: np.ndarray, sd: float, *, within: float = 0.0) -> bool:
    """Whether values (draw,) vary as stated, up to chance, and up to a relative error of the statement itself."""
    n = len(values)
    low, high = np.sqrt(chi2.ppf([5e-4, 1 - 5e-4], n - 1) / (n - 1))
    return bool(low * (1 - within) < values.std(ddof=1) / sd < high * (1 + within))


@pytest.mark.parametrize("setting", [SETTING, PredictedRelevance(observed=["a"], n_draws=0)], ids=["both", "one-sided"])
@pytest.mark.parametrize("n", [600, 4_000])
def test_rounds_vary_as_predicted(setting, n):
    """Over 2,000 rounds; the prediction is to first order, and a few per cent off with 600 double judgments."""
    rng = np.random.default_rng(1)
    fit = setting.fit(judged(drawn(JOINT, 3_000, rng), np.arange(3_000) % 30))
    predicted = deviation(fit, n, mirrored=setting is SETTING)
    assert (np.sqrt(double_judgments_needed(fit).variance[0] / n) >= predicted).all()
    found = simulate_rounds(fit, sizes=[n], n_rounds=2_000, rng=rng)
    slack = np.sqrt(chi2.ppf([5e-4, 1 - 5e-4], 1_999) / 1_999)
    ratio = found.sd[0, 0] / predicted
    assert (ratio > slack[0] * 0.99).all()
    assert (ratio < slack[1] * (1.03 if n == 600 else 1.01)).all()
    np.testing.assert_allclose(found.mean[0, 0], fit.p[0], atol=4 * predicted.max() / np.sqrt(2_000) + 5e-3)


@pytest.mark.parametrize(
    ("setting", "mirrored"), [(SETTING, True), (PredictedRelevance(observed=["a"], n_draws=0), False)]
)
def test_estimates_vary_as_predicted_from_the_truth_and_from_any_sample(setting, mirrored):
    """1,000 collections of 800 double judgments, drawn anew each time from one truth."""
    n, rng = 800, np.random.default_rng(2)
    p = shares(JOINT, TOP)
    true = np.sqrt(variance_per_judgment(JOINT, p, TOP, mirrored=mirrored) / n)[0]
    fits = [setting.fit(judged(drawn(JOINT, n, rng), np.zeros(n))) for _ in range(1_000)]
    values = np.array([fit.p[0] for fit in fits])
    for label in range(3):
        assert as_spread_as(values[:, label], true[label], within=0.02)
    predicted = np.array([deviation(fit, n, mirrored=mirrored) for fit in fits])
    np.testing.assert_allclose(predicted.mean(axis=0), true, rtol=0.03)


def test_the_printed_deviation_would_be_noticed():
    """Taking the two pairs of an item for two items gives too little for the top label."""
    rng = np.random.default_rng(3)
    fits = [SETTING.fit(judged(drawn(JOINT, 800, rng), np.zeros(800))) for _ in range(1_000)]
    values = np.array([fit.p[0, 2] for fit in fits])
    printed = float(np.mean([fit.spread.sd[0, 2] for fit in fits]))
    assert not as_spread_as(values, printed, within=0.02)


def test_as_many_double_judgments_as_needed_give_the_deviation_asked_for():
    """A plan from many double judgments: the largest variance within the interval is then nearly that of p itself."""
    rng = np.random.default_rng(4)
    pilot = SETTING.fit(judged(drawn(JOINT, 40_000, rng), np.arange(40_000) % 40))
    needed = double_judgments_needed(pilot, 0.03)
    n = int(needed.judgments[0, 2])
    assert 500 < n < 3_000
    values = [SETTING.fit(judged(drawn(JOINT, n, rng), np.zeros(n))).p[0, 2] for _ in range(1_000)]
    assert as_spread_as(np.array(values), 0.03, within=0.03)


def clustered(n_topics: int, n_items: int, rng: np.random.Generator) -> Judgments:
    """Topics that differ in how much people agree: a mixture of the joint above and of blind labels."""
    blind = np.outer(JOINT.sum(axis=1), JOINT.sum(axis=0))
    mixed = rng.uniform(0, 1, size=n_topics)
    labels = [drawn(w * JOINT + (1 - w) * blind, n_items, rng) for w in mixed]
    return judged(np.concatenate(labels), np.repeat(np.arange(n_topics), n_items))


def test_topics_add_their_part():
    """400 collections of 30 topics: both parts together are the spread there is; that of items alone is too small."""
    rng, setting = np.random.default_rng(5), PredictedRelevance(estimator="labels", n_draws=100)
    fits = [setting.fit(clustered(30, 100, rng), rng=n) for n in range(400)]
    values = np.array([fit.p[0, 2] for fit in fits])
    efforts = [double_judgments_needed(fit, 0.02) for fit in fits]
    n = available(fits[0])
    assert n == 3_000
    whole = np.sqrt(np.mean([each.floor[0, 2] ** 2 + each.variance[0, 2] / n for each in efforts]))
    items = float(np.mean([np.sqrt(each.variance[0, 2] / n) for each in efforts]))
    assert as_spread_as(values, whole, within=0.05)
    assert not as_spread_as(values, items, within=0.05)
    topics = int(np.median([each.topics[0, 2] for each in efforts]))
    assert topics > 30
    again = [SETTING.fit(clustered(topics, 100, rng)).p[0, 2] for _ in range(300)]
    assert as_spread_as(np.array(again), 0.02, within=0.07)


def test_topics_that_do_not_matter_add_nothing():
    rng, setting = np.random.default_rng(6), PredictedRelevance(estimator="labels", n_draws=300)
    floors = []
    for n in range(50):
        fit = setting.fit(judged(drawn(JOINT, 3_000, rng), np.repeat(np.arange(30), 100)), rng=n)
        floors.append(double_judgments_needed(fit).floor[0, 2] / fit.spread.sd_items[0, 2])
    assert np.median(floors) < 0.5


def test_quantiles_over_topics_cover_other_topics():
    """The p of ever so many topics lies between the 5 % and 95 % quantiles nine times in ten, nearly: 40 topics."""
    rng = np.random.default_rng(7)
    truth = shares(0.5 * JOINT + 0.5 * np.outer(JOINT.sum(axis=1), JOINT.sum(axis=0)), TOP)
    inside = 0
    for n in range(300):
        judgments = clustered(40, 60, rng)
        found = topic_influence(SETTING.fit(judgments), judgments.topics, rng=n)
        inside += bool(found.quantiles[0, 0, 2] < truth[0, 2] < found.quantiles[4, 0, 2])
    assert 0.82 < inside / 300 < 0.94


def test_lists_ordered_by_second_labels_promise_too_much():
    """Lists drawn at random, documents all alike: nothing depends on quality, yet the best lists by a seem better.

    Read one-sided from a, whose labels order the lists, p(R|i) stays what it is.
    """
    rng, n_topics, n_lists, n_docs = np.random.default_rng(8), 60, 20, 10
    n_items = n_topics * n_lists * n_docs
    labels = drawn(JOINT, n_items, rng)
    judgments = judged(labels, np.repeat(np.arange(n_topics), n_lists * n_docs))
    owner = np.repeat(np.arange(n_topics * n_lists), n_docs)
    lists = ResultLists(
        tuple(f"s{n:02d}" for n in range(n_lists)),
        np.repeat(np.arange(n_topics, dtype=np.int32), n_lists),
        np.tile(np.arange(n_lists, dtype=np.int32), n_topics),
        owner,
        np.arange(n_items, dtype=np.int32),
        None,
    )
    found = against_quality(judgments, lists, SETTING, by=["a"], level="2")
    truth = shares(JOINT, TOP)
    assert (found.p[0, 0] > truth[0] + 0.05).sum() >= 2
    assert found.one_sided is not None
    one_sided, n = found.one_sided[0, 0], found.pairs[0, 0] / 2
    assert (np.abs(one_sided - truth[0]) < 3.5 * np.sqrt(truth[0] * (1 - truth[0]) / (n / 2))).all()
    np.testing.assert_allclose(found.p[-1, 0], truth[0], atol=0.03)

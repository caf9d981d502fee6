"""Intervals of agreement hold the truth as often as they say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from venire.agreement.alpha import alpha
from venire.agreement.cohen import cohen_kappa
from venire.agreement.intervals import Coefficient
from venire.agreement.kappa import conger_kappa, fleiss_kappa, gwet_ac, raw_agreement
from venire.agreement.overlap import jaccard
from venire.agreement.phi import phi
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.scale import Scale

N_RATERS, N_TRIALS = 5, 250
LENIENT = np.linspace(-0.4, 0.4, N_RATERS)


def collection(n_topics: int, per_topic: int, rng: np.random.Generator) -> Judgments:
    """Five assessors of different leniency; topics differ in what is relevant and in how clear it is; 30 % missing."""
    n_items = n_topics * per_topic
    topic = np.repeat(np.arange(n_topics, dtype=np.int32), per_topic)
    centre, noise = rng.normal(0, 0.7, n_topics)[topic], rng.uniform(0.3, 1.2, n_topics)[topic]
    quality = centre + rng.normal(0, 1, n_items)
    seen = quality[:, None] + LENIENT + noise[:, None] * rng.normal(size=(n_items, N_RATERS))
    label = np.digitize(seen, [-0.8, 0.2, 1.2])
    item, who = np.nonzero(rng.random(label.shape) < 0.7)
    items = Items(Ids.of(map(str, range(n_topics))), topic, Ids.of(map(str, range(n_items))))
    names = Category(who.astype(np.int32), Ids.of(map(str, range(N_RATERS))))
    return Judgments(Scale.parse("0<1<2<3"), items, item.astype(np.int32), names, label[item, who].astype(np.int32))


STATISTICS: dict[str, Callable[..., Coefficient]] = {
    "alpha": lambda judgments, **how: alpha(judgments, "ordinal", **how),
    "alpha nominal": lambda judgments, **how: alpha(judgments, "nominal", **how),
    "fleiss": lambda judgments, **how: fleiss_kappa(judgments, "quadratic", **how),
    "conger": lambda judgments, **how: conger_kappa(judgments, "linear", **how),
    "cohen": lambda judgments, **how: cohen_kappa(judgments, "quadratic", **how).mean,
    "gwet": lambda judgments, **how: gwet_ac(judgments, "linear", **how),
    "raw": lambda judgments, **how: raw_agreement(judgments, **how),
}


@pytest.mark.parametrize("name", list(STATISTICS))
def test_intervals_over_topics_cover_the_truth(name: str) -> None:
    statistic = STATISTICS[name]
    truth = statistic(collection(6000, 12, np.random.default_rng(1)), n_draws=0).value
    hits = 0
    for rng in np.random.default_rng(7).spawn(N_TRIALS):
        found = statistic(collection(30, 12, rng), n_draws=300, rng=rng)
        hits += found.low <= truth <= found.high
    assert hits / N_TRIALS > 0.9
    assert binomtest(hits, N_TRIALS, p=0.95).pvalue > 1e-3


FEW = STATISTICS | {
    "jaccard": lambda judgments, **how: jaccard(judgments, "2", **how)[0],
    "phi": lambda judgments, **how: phi(judgments, interval=None, chance=False, **how).coefficient(),
    "mean of topics": lambda judgments, **how: alpha(judgments, "interval", over="topics", **how),
}


@pytest.mark.parametrize("name", list(FEW))
def test_intervals_over_few_topics_cover_the_truth(name, collections, figure) -> None:
    statistic, n = FEW[name], collections(20) if name != "phi" else collections(50) // 10  # which takes long
    truth = statistic(collection(3000, 40, np.random.default_rng(1)), n_draws=0).value
    for n_topics in (3, 5, 9):
        found = [
            statistic(collection(n_topics, 40, rng), n_draws=300) for rng in np.random.default_rng(n_topics).spawn(n)
        ]
        share = np.mean([each.low <= truth <= each.high for each in found])
        figure(f"{n_topics} topics", share)
        assert share * n >= binom.ppf(1e-3, n, 0.92)


@pytest.mark.parametrize("name", ["alpha", "fleiss", "cohen"])
def test_intervals_over_items_cover_the_truth_of_one_topic(name: str) -> None:
    """Items of many topics, one of each, are unrelated."""
    statistic = STATISTICS[name]
    truth = statistic(collection(70_000, 1, np.random.default_rng(2)), n_draws=0).value
    hits = 0
    for rng in np.random.default_rng(8).spawn(N_TRIALS):
        found = statistic(collection(80, 1, rng), resample="items", n_draws=300, rng=rng)
        hits += found.low <= truth <= found.high
    assert hits / N_TRIALS > 0.9
    assert binomtest(hits, N_TRIALS, p=0.95).pvalue > 1e-3


def test_the_mean_over_topics_covers_the_mean_of_topics() -> None:
    truth = alpha(collection(6000, 12, np.random.default_rng(3)), "interval", over="topics", n_draws=0).value
    hits = 0
    for rng in np.random.default_rng(9).spawn(N_TRIALS):
        found = alpha(collection(30, 12, rng), "interval", over="topics", n_draws=300, rng=rng)
        hits += found.low <= truth <= found.high
    assert binomtest(hits, N_TRIALS, p=0.95).pvalue > 1e-3

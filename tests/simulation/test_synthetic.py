"""Simulated collections keep what their truth states; by chance, with another seed, a fit fails 1 time in 1000."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from venire.simulation.assessors import (
    Assessor,
    Careful,
    Lazy,
    Lenient,
    OnePerItem,
    Random,
    RandomAssessors,
    Strict,
    parse_assessors,
)
from venire.simulation.levels import Collection, Synthetic, generate
from venire.simulation.systems import Systems

ALIKE = Synthetic(n_topics=100, docs_per_topic=400, n_unjudged=0, topic_effect=0, systems=Systems(quality=()))


def fits(observed: np.ndarray, p: np.ndarray) -> bool:
    """Whether counts look like draws from p, all rows together, and nothing came that cannot; both (..., cell)."""
    expected = p * observed.sum(axis=-1, keepdims=True)
    possible = p > 1e-12
    assert expected[possible].min() > 1, "too few for the chi-square distribution to hold"
    statistic = ((observed - expected)[possible] ** 2 / expected[possible]).sum()
    freedom = possible.sum() - observed[..., 0].size
    return bool(observed[~possible].sum() == 0 and chi2.sf(statistic, freedom) > 1e-3)


def confused(collection: Collection, assessor: str, topics: np.ndarray) -> np.ndarray:
    """How often an assessor gave each label on these topics -> (true level, label)."""
    truth, judgments = collection.truth, collection.judgments.where(assessor=assessor)
    true = truth.level[truth.judged][judgments.item]
    asked = topics[judgments.items.topic[judgments.item]]
    counts = np.zeros((len(truth.scale),) * 2, dtype=np.int64)
    np.add.at(counts, (true[asked], judgments.label[asked]), 1)
    return counts


@pytest.mark.parametrize(
    "kind", [Careful(), Strict(), Lenient(), Random(), Random((0.6, 0.3, 0.1, 0.0)), Lazy()], ids=repr
)
def test_labels_follow_the_stated_confusion(kind):
    collection = generate(replace(ALIKE, assessors=(Assessor("a", kind),)), rng=11)
    counts = confused(collection, "a", np.ones(100, dtype=bool))
    assert fits(counts, kind(4))


def test_another_confusion_would_be_noticed():
    collection = generate(replace(ALIKE, assessors=(Assessor("a", Careful(0.15)),)), rng=11)
    counts = confused(collection, "a", np.ones(100, dtype=bool))
    assert not fits(counts, Careful(0.17)(4))


def test_labels_follow_the_confusion_of_their_topic():
    setting = replace(
        ALIKE,
        n_topics=6,
        docs_per_topic=20_000,
        concentration=math.inf,
        topic_effect=0.7,
        assessors=parse_assessors("careful, strict"),
    )
    collection = generate(setting, rng=12)
    assert collection.truth.effect.min() < -0.2
    assert collection.truth.effect.max() > 0.2
    counts = np.stack([confused(collection, "strict1", np.arange(6) == topic) for topic in range(6)])
    assert fits(counts, collection.truth.confusion_on("strict1"))
    assert not fits(counts, np.tile(Strict()(4), (6, 1, 1)))


def test_levels_follow_the_prevalence():
    collection = generate(replace(ALIKE, concentration=math.inf, n_unjudged=400, missed=0.2), rng=13)
    truth, prevalence = collection.truth, collection.setting.level_probabilities
    outside = 0.2 * prevalence + 0.8 * np.eye(4)[0]
    assert fits(np.bincount(truth.level[truth.judged], minlength=4), prevalence)
    assert fits(np.bincount(np.delete(truth.level, truth.judged), minlength=4), outside)


def test_probability_of_relevance_is_that_of_a_random_assessor():
    setting = replace(ALIKE, topic_effect=0.7, assessors=parse_assessors("3*careful, strict, lenient, random, lazy"))
    collection = generate(replace(setting, pattern=RandomAssessors(1)), rng=14)
    judgments, truth = collection.judgments, collection.truth
    p = truth.at_least(2)[truth.judged][judgments.item]
    for low, high in [(0.0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.0)]:
        among = (p >= low) & (p < high)
        surplus = (judgments.label[among] >= 2).sum() - p[among].sum()
        assert among.sum() > 300
        assert abs(surplus) < 3.3 * math.sqrt((p[among] * (1 - p[among])).sum())


def test_topic_effects_make_agreement_vary_over_topics():
    def spread(topic_effect: float) -> float:
        setting = replace(
            ALIKE, topic_effect=topic_effect, concentration=math.inf, assessors=parse_assessors("2*careful")
        )
        judgments = generate(setting, rng=15).judgments
        labels = [judgments.where(assessor=name).label for name in judgments.assessors]
        return float((labels[0] == labels[1]).reshape(100, 400).mean(axis=1).var())

    still, some, much = spread(0), spread(0.3), spread(1)
    assert still * 3 < some
    assert some * 2 < much


def test_harder_topics_have_less_agreement():
    setting = replace(ALIKE, topic_effect=1, concentration=math.inf, assessors=parse_assessors("2*careful"))
    collection = generate(setting, rng=16)
    labels = [collection.judgments.where(assessor=name).label for name in ("careful1", "careful2")]
    agreement = (labels[0] == labels[1]).reshape(100, 400).mean(axis=1)
    assert np.corrcoef(agreement, collection.truth.effect)[0, 1] < -0.9


@pytest.mark.parametrize("tie_step", [0, 0.5])
def test_true_order_shows_with_enough_topics(tie_step):
    setting = replace(ALIKE, n_topics=2000, docs_per_topic=100, n_unjudged=50)
    collection = generate(replace(setting, systems=Systems(depth=20, tie_step=tie_step)), rng=17)
    level = collection.truth.level.reshape(2000, 150)
    discount = 1 / np.log2(np.arange(2, 22))
    gain = {
        run.name: float((level[run.topic.codes, run.doc.codes].reshape(-1, 20) @ discount).mean())
        for run in collection.runs.sources
    }
    assert tuple(sorted(gain, key=gain.__getitem__, reverse=True)) == collection.truth.order
    assert collection.truth.order != collection.truth.systems


def test_a_system_of_no_quality_ranks_at_random():
    setting = replace(ALIKE, n_topics=500, docs_per_topic=100, concentration=math.inf)
    collection = generate(replace(setting, systems=Systems(quality=(0.0,), topic_spread=0, depth=10)), rng=18)
    run, level = collection.runs.sources[0], collection.truth.level.reshape(500, 100)
    returned = np.bincount(level[run.topic.codes, run.doc.codes], minlength=4)
    assert fits(returned, setting.level_probabilities)


def test_assessors_drawn_at_random_are_drawn_alike():
    assessors = parse_assessors("6*careful")
    judgments = generate(replace(ALIKE, assessors=assessors, pattern=RandomAssessors(3)), rng=19).judgments
    panel = (1 << judgments.assessor.codes.reshape(-1, 3)).sum(axis=1)
    _, counts = np.unique(panel, return_counts=True)
    assert len(counts) == 20
    assert fits(counts, np.full(20, 1 / 20))


def test_second_assessors_are_drawn_alike():
    assessors = parse_assessors("4*careful")
    pattern = OnePerItem(twice=1, whole_topics=False)
    judgments = generate(replace(ALIKE, assessors=assessors, pattern=pattern), rng=20).judgments
    pair = judgments.assessor.codes.reshape(-1, 2) @ np.array([4, 1])
    _, counts = np.unique(pair, return_counts=True)
    assert len(counts) == 6
    assert fits(counts, np.full(6, 1 / 6))

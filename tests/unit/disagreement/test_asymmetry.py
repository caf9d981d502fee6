from __future__ import annotations

import numpy as np
import pytest

from long_rows import double
from venire import PredictedRelevance
from venire.disagreement.by_topic import asymmetry

SETTING = PredictedRelevance(relevant="2")
SIDES = {"observed": ["A"], "reference": ["B"]}


def test_both_directions_and_their_difference():
    found = asymmetry(double((2, 2, 10), (2, 1, 30), (1, 1, 20), (1, 2, 5), (0, 0, 9)), SETTING, **SIDES)
    assert found.forth.p[0].tolist() == [0, 5 / 25, 10 / 40]
    assert found.back.p[0].tolist() == [0, 30 / 50, 10 / 15]
    assert found.difference[0].tolist() == pytest.approx([0, 5 / 25 - 30 / 50, 10 / 40 - 10 / 15])


def test_a_lenient_assessor_promises_less():
    labels = double((2, 2, 100), (2, 1, 100), (1, 1, 150), (1, 0, 100), (0, 0, 200), topics=20)
    found = asymmetry(labels, SETTING, **SIDES)
    assert found.high[0, 2] < 0
    assert (found.low <= found.difference).all()
    assert (found.difference <= found.high).all()


def test_one_topic_gives_no_interval():
    found = asymmetry(double((2, 2, 10), (2, 1, 30), (1, 0, 20), (0, 0, 9)), SETTING, **SIDES)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


def test_no_resampling_gives_no_interval():
    labels = double((2, 2, 10), (2, 1, 30), (1, 0, 20), (0, 0, 9), topics=5)
    found = asymmetry(labels, PredictedRelevance(relevant="2", n_draws=0), **SIDES)
    assert np.isnan(found.low).all()
    assert not np.isnan(found.difference[0, [1, 2]]).any()


def test_a_label_without_pairs_in_one_direction_is_unknown():
    found = asymmetry(double((2, 0, 20), (2, 2, 20), topics=4), SETTING, **SIDES)
    assert np.isnan(found.difference[0, :2]).all()
    assert np.isnan(found.low[0, :2]).all()
    assert not np.isnan(found.low[0, 2])


def test_the_setting_may_have_a_prior_of_its_own():
    labels = double((2, 2, 10), (2, 1, 30), (1, 0, 20), (0, 0, 9))
    assert asymmetry(labels, PredictedRelevance(prior=1.0), **SIDES).forth.p[0, 2] == 10 / 40


def test_the_interval_covers_the_truth_where_topics_differ():
    # One topic in two is judged by a lenient A, the next by a strict one: no difference on the whole.
    generator, hits = np.random.default_rng(2), 0
    for _ in range(100):
        counts = []
        for topic in range(12):
            forth, back = generator.multinomial(30, generator.dirichlet([4, 4]))
            counts += [(2, 2, 15, topic), (2, 1, forth, topic), (1, 2, back, topic), (1, 1, 20, topic)]
        found = asymmetry(_by_topic(counts), SETTING, **SIDES)
        hits += bool(found.low[0, 2] <= 0 <= found.high[0, 2])
    assert 88 <= hits <= 100


def _by_topic(counts):
    from long_rows import judgments_of

    rows, number = [], 0
    for a, b, count, topic in counts:
        for _ in range(count):
            rows += [(topic, f"d{number}", "A", a), (topic, f"d{number}", "B", b)]
            number += 1
    return judgments_of(rows)

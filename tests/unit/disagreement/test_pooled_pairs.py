"""Pooled pairs: each label, and the label that the others gave the item."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from crowds import crowd_table
from venire import read_judgments
from venire.disagreement.pooled_pairs import pooled_pairs
from venire.disagreement.predicted_relevance import PredictedRelevance


def by_hand(frame: pl.DataFrame) -> Counter:
    """Count pairs of the label of the others, the lowest of the most frequent ones, and the own label, by topic."""
    found: Counter = Counter()
    rows = frame.rows()
    for topic, doc, who, label in rows:
        others = Counter(each[3] for each in rows if each[:2] == (topic, doc) and each[2] != who)
        if others:
            most = min(value for value, n in others.items() if n == max(others.values()))
            found[topic, most, label] += 1
    return found


def test_pairs_are_those_counted_one_by_one():
    frame = crowd_table(12, 0.15)
    pairs = pooled_pairs(read_judgments(frame), "the others").to_polars()
    own, others = (pairs.filter((pl.col("assessor") == "the others") == is_pool) for is_pool in (False, True))
    both = own.join(others, on=["topic", "doc"], suffix="_others", validate="1:1")
    found = Counter(zip(both["topic"], map(int, both["label_others"]), map(int, both["label"]), strict=True))
    assert found == by_hand(frame)


def test_a_label_that_is_repeated_is_not_among_the_others():
    frame = pl.DataFrame(
        [("q", "d", "u", 1), ("q", "d", "u", 0)], schema=["topic", "doc", "assessor", "label"], orient="row"
    )
    assert len(pooled_pairs(read_judgments(frame, scale="0<1"), "others")) == 0


def test_what_the_others_say_predicts_one_more_person_and_the_whole_pool_promises_too_much():
    """Labels by chance: another person's label does not depend on the pool."""
    rng = np.random.default_rng(5)
    rows = [(f"q{n % 20}", f"d{n}", f"w{w}", int(rng.random() < 0.5)) for n in range(3000) for w in range(3)]
    judgments = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    model = PredictedRelevance(relevant="1", estimator="one-sided", observed=["others"])
    np.testing.assert_allclose(model.fit(pooled_pairs(judgments, "others")).p[0], 0.5, atol=0.025)

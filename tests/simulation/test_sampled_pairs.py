"""Items chosen by their first label: weights recover p(R|i), which Eq. (5) without weights overestimates."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from long_rows import judgments_of
from venire import PredictedRelevance

JOINT = np.array([[0.40, 0.10, 0.04], [0.10, 0.12, 0.06], [0.04, 0.06, 0.08]])
"""Share of double judgments (a, b)."""
CHANCE = np.array([0.02, 0.25, 0.8])
TRUE = JOINT[:, 2] / JOINT.sum(axis=1)


def chosen_by_first_label(rng, *, n_topics=20, n_items=100, unplanned=0.0):
    """Everyone is first and second; the second label has the probability of the first one."""
    rows, chance = [], []
    for topic in range(n_topics):
        drawn = rng.choice(9, size=n_items, p=JOINT.ravel())
        for n, (a, b) in enumerate(zip(*np.divmod(drawn, 3), strict=True)):
            who, other = rng.permutation(["ann", "bob"])
            rows.append((topic, f"d{n}", who, int(a)))
            chance.append(np.nan)
            both = rng.random() < unplanned
            if both or rng.random() < CHANCE[a]:
                rows.append((topic, f"d{n}", other, int(b)))
                chance.append(np.nan if both else CHANCE[a])
    labels = judgments_of(rows)
    order = {row[:3]: p for row, p in zip([tuple(map(str, each)) for each in rows], chance, strict=True)}
    table = labels.to_polars()
    found = np.array([order[row] for row in table.select("topic", "doc", "assessor").rows()])
    return replace(labels, probability=found)


def estimates(n, **how):
    """p(2|i) -> (round, label), and whether the interval covers the truth."""
    p, covered = [], []
    for rng in np.random.default_rng(3).spawn(n):
        fit = PredictedRelevance(relevant="2").fit(chosen_by_first_label(rng, **how))
        p.append(fit.p[0])
        covered.append((fit.spread.low[0] <= TRUE) & (fit.spread.high[0] >= TRUE))
    return np.array(p), np.array(covered)


@pytest.mark.parametrize("unplanned", [0.0, 0.1])
def test_p_is_unbiased_and_covered(unplanned):
    p, covered = estimates(150, unplanned=unplanned)
    error = p.std(axis=0) / np.sqrt(len(p))
    assert (np.abs(p.mean(axis=0) - TRUE) < 4 * error + 0.004).all()
    assert (covered.mean(axis=0) > 0.9).all()


def test_without_weights_p_is_too_high():
    labels = chosen_by_first_label(np.random.default_rng(1), n_topics=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = PredictedRelevance(relevant="2", estimator="labels").fit(replace(labels, probability=None))
    assert plain.p[0, 0] > 2 * TRUE[0]


def test_either_label_first_is_more_precise_than_one_sided():
    rounds = [chosen_by_first_label(rng) for rng in np.random.default_rng(5).spawn(60)]
    both = np.array([PredictedRelevance(relevant="2").fit(each).p[0, 1] for each in rounds])
    late = [~np.isnan(each.probability) for each in rounds]
    one = []
    for each, later in zip(rounds, late, strict=True):
        second = np.zeros(len(each.items), dtype=int) - 1
        second[each.item[later]] = each.label[later]
        first = ~later & (each.label == 1) & (second[each.item] >= 0)
        one.append((second[each.item[first]] == 2).mean())
    assert np.std(both) < 0.95 * np.std(one)

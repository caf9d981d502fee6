from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from long_rows import judgments_of
from venire import PredictedRelevance
from venire.disagreement.by_topic import N_PERMUTATIONS, GroupComparison, compare_groups
from venire.errors import PairsError

SETTING = PredictedRelevance(relevant="2")


def labels(agreement: dict[str, float], *, per_topic: int = 40, rng: int = 0):
    """Judge topics by A and B, who agree on as many items as stated; else one of them is two lower."""
    generator = np.random.default_rng(rng)
    rows = []
    for topic, share in agreement.items():
        for n in range(per_topic):
            a = 2 * int(n % 2)
            b = a if generator.random() < share else 2 - a
            rows += [(topic, f"d{n}", "A", a), (topic, f"d{n}", "B", b)]
    return judgments_of(rows)


def test_groups_that_differ_are_to_be_fitted_apart():
    agreement = {f"n{n}": 0.95 for n in range(8)} | {f"i{n}": 0.6 for n in range(8)}
    compared = compare_groups(labels(agreement), {name: name[0] for name in agreement}, SETTING)
    assert list(compared.fits) == ["n", "i"]
    assert compared.fits["n"].p[0, 2] == pytest.approx(0.95, abs=0.03)
    assert compared.fits["i"].p[0, 2] == pytest.approx(0.6, abs=0.06)
    assert compared.p_value.tolist() == [pytest.approx(2 / (1 + N_PERMUTATIONS), abs=2e-3)]
    assert "equal p(R|i) in n and i: p = " in compared.sentence()


def test_topics_that_differ_do_not_make_groups_differ():
    # Pairs of a topic are not independent: taken as such, these groups would differ beyond doubt.
    agreement = dict(zip(map(str, range(10)), [0.3, 0.95, 0.9, 0.5, 0.5, 0.95, 0.9, 0.5, 0.35, 0.95], strict=True))
    compared = compare_groups(labels(agreement), {name: "ab"[int(name) % 2] for name in agreement}, SETTING)
    assert chi2.sf(compared.statistic[0], 2) < 1e-3
    assert compared.p_value[0] > 0.05
    assert compared.p_adjusted.min() > 0.05


def test_the_sentence_goes_by_the_adjusted_p_value():
    found = GroupComparison({"x": None, "y": None}, ("1", "2", "3"), np.ones(3), np.array([0.03, 0.2, 0.9]))
    np.testing.assert_allclose(found.p_adjusted, [0.09, 0.6, 1.0])
    assert "p = 0.09 (Bonferroni, 3 notions of relevance)" in found.sentence()


def test_the_statistic_is_the_one_stated():
    agreement = {"1": 0.9, "2": 0.5, "3": 0.7}
    judgments = labels(agreement)
    groups = {"1": "x", "2": "y", "3": "y"}
    compared = compare_groups(judgments, groups, SETTING)
    whole, expected = SETTING.fit(judgments), 0.0
    for fit in compared.fits.values():
        for i in (0, 2):
            p = whole.p[0, i]
            expected += fit.pairs[0, i] * (fit.p[0, i] - p) ** 2 / (p * (1 - p))
    assert compared.statistic[0] == pytest.approx(expected)


def test_by_chance_alone_p_values_are_uniform():
    generator = np.random.default_rng(4)
    found = []
    for n in range(60):
        agreement = {str(topic): share for topic, share in enumerate(generator.beta(6, 3, size=12))}
        groups = {name: "ab"[int(name) % 2] for name in agreement}
        found.append(compare_groups(labels(agreement, per_topic=10, rng=n), groups, SETTING).p_value[0])
    assert kstest(found, "uniform").pvalue > 1e-3


def test_topics_in_no_group_are_left_out():
    agreement = {"1": 0.9, "2": 0.5, "3": 0.0}
    compared = compare_groups(labels(agreement), {"1": "x", "2": "y"}, SETTING)
    assert sum(fit.pairs[0].sum() for fit in compared.fits.values()) == 2 * 2 * 40


def test_a_group_is_fitted_as_the_whole_is():
    rows = [("1", "a", who, label) for who, label in zip("ABC", "201", strict=True)]
    rows += [("2", "a", who, label) for who, label in zip("AB", "22", strict=True)]
    compared = compare_groups(judgments_of(rows), {"1": "x", "2": "y"}, SETTING)
    assert {fit.setting.estimator for fit in compared.fits.values()} == {"labels"}


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"1": "x", "2": "x"}, "all topics are in the group 'x'"),
        ({"1": "x", "9": "y"}, "no topic of group 'y' has items judged twice"),
        ({}, "no topic is in a group"),
    ],
)
def test_groups_that_cannot_be_compared(groups, words):
    with pytest.raises(PairsError, match=words) as error:
        compare_groups(labels({"1": 0.9, "2": 0.5}), groups, SETTING)
    assert error.value.hint

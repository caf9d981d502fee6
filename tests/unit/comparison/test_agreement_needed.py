"""How far another judge must agree for a system to stay ahead: by counting, by drawing, and as the paper has it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from venire import compare
from venire.comparison import agreement_needed, min_agreement_to_stay_ahead
from venire.comparison.judge_change import CONFIDENCE, OwnDocuments, RankCounts, min_agreement
from venire.errors import AmbiguousLabels, SettingError, UnknownName

N_TOPICS = 8


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(1)
    return {str(t): {f"d{n}": int(rng.integers(3)) for n in range(12)} for t in range(N_TOPICS)}


@pytest.fixture(scope="module")
def runs(labels):
    """Three systems, of which the first is good and the last is bad; every list has documents that nobody judged."""
    rng = np.random.default_rng(2)
    return {
        name: {
            t: {doc: share * label + rng.normal() for doc, label in docs.items()} | {"new": 0.5 + share}
            for t, docs in labels.items()
        }
        for name, share in (("good", 2.0), ("fair", 0.7), ("poor", 0.0))
    }


def test_documents_of_one_system_alone_are_counted(labels, runs):
    found = agreement_needed(labels, runs, ["P@4", "P(rel=2)@4"])
    tops = {
        name: {(t, doc) for t, docs in lists.items() for doc in sorted(docs, key=docs.get, reverse=True)[:4]}
        for name, lists in runs.items()
    }
    for each, least in product(("P@4", "P(rel=2)@4"), (1, 2)):
        if each == ("P@4", "P(rel=2)@4")[least - 1]:
            own = found.pair("good", "poor", each).documents
            counts = []
            for mine, other in (("good", "poor"), ("poor", "good")):
                given = [labels[t].get(doc) for t, doc in tops[mine] - tops[other]]
                counts += [sum(label is not None and label >= least for label in given)]
                counts += [sum(label is not None and label < least for label in given)]
            assert own == OwnDocuments(*counts, places=4 * N_TOPICS)


def test_at_the_agreement_needed_the_order_stays_with_the_stated_probability(labels, runs):
    found = agreement_needed(labels, runs, "P@4")
    for pair in found.pairs:
        if 0.5 < pair.needed < 1:
            assert found.stays_ahead(pair, pair.needed, pair.needed) == pytest.approx(CONFIDENCE, abs=1e-3)
            behind = pair.documents.chances(pair.not_behind, pair.not_behind)[2]
            assert behind == pytest.approx(1 - CONFIDENCE, abs=1e-3)
            assert pair.not_behind <= pair.needed
            rates = (pair.needed, pair.needed)
            drawn = compare(labels, runs, "P@4", baseline=pair.b, candidate=pair.a, agreement=rates, n_draws=4000)
            assert drawn.records()[0]["p_stays_ahead"] == pytest.approx(CONFIDENCE, abs=0.015)
    assert any(0.5 < pair.needed < 1 for pair in found.pairs)


def test_drawn_judges_come_to_the_same_as_counting(labels, runs):
    """CG@4 of binary labels is four times P@4, and is not recognised as such."""
    exact = agreement_needed(labels, runs, "P@4")
    drawn = agreement_needed(labels, runs, "CG@4", n_draws=2000)
    for one, other in zip(exact.pairs, drawn.pairs, strict=True):
        assert (one.a, one.b, other.documents) == (other.a, other.b, None)
        assert other.needed == pytest.approx(one.needed, abs=0.02)
    a, b = exact.winner()["system"], exact.winner()["rival"]
    for a0, a1 in ((0.2, 0.9), (0.5, 0.5), (0.8, 0.6), (1.0, 0.1)):
        chances = [found.stays_ahead(found.pair(a, b), a0, a1) for found in (exact, drawn)]
        assert chances[1] == pytest.approx(chances[0], abs=0.04)
    by_count, by_draws = exact.contour(a, b), drawn.contour(a, b)
    assert by_count.chance.shape == (41, 41)
    assert np.corrcoef(by_count.chance[::4, ::4].ravel(), by_draws.chance.ravel())[0, 1] > 0.98


def test_the_extreme_case_is_that_of_the_paper():
    for n, rule in product((1, 5, 10), ("two-sided", "one-sided", "exact", "exact, strictly")):
        assert min_agreement(RankCounts(c10=n).own, rule) == min_agreement_to_stay_ahead(n, rule)


@pytest.mark.parametrize("counts", [(3, 2, 4, 1, 0), (1, 0, 3, 2, 4)])
def test_documents_and_ranks_have_the_same_moments(counts):
    ranks = RankCounts(*counts)
    for a0, a1 in ((0.85, 0.7), (0.6, 0.95), (1.0, 1.0)):
        assert ranks.own.expected(a0, a1) == pytest.approx(ranks.expected(a0, a1))
        assert ranks.own.variance(a0, a1) == pytest.approx(ranks.variance(a0, a1))
    assert ranks.own.reversed.delta == -ranks.own.delta == -ranks.delta


def test_many_documents_are_computed_exactly_where_the_normal_is_good():
    own = OwnDocuments(900, 600, 800, 700, places=4000)
    ahead, level, behind = own.chances(0.8, 0.7)
    assert ahead + level + behind == pytest.approx(1, abs=1e-12)
    assert ahead + level / 2 == pytest.approx(own.normal(0.8, 0.7), abs=2e-3)


def test_systems_that_score_the_same_need_nothing(labels):
    runs = {name: {t: {"d0": 2.0, "d1": 1.0} for t in labels} for name in ("x", "y")}
    found = agreement_needed(labels, runs, "P@2")
    assert found.records()[0]["needed"] is None
    assert found.winner()["needed"] is None
    assert found.sentence() == "By P@2, x is not ahead of y."


def test_a_winner_whose_documents_were_judged_alone_is_safe():
    labels = {str(t): {"a": 1, "b": 1} for t in range(20)}
    runs = {"x": {str(t): {"a": 2.0, "b": 1.0} for t in range(20)}, "y": {str(t): {"u": 1.0} for t in range(20)}}
    with pytest.warns(match="unjudged"):
        found = agreement_needed(labels, runs, "P@2")
    assert found.pairs[0].needed == 0.5


def test_pairs_with_a_baseline_and_several_measures(labels, runs):
    found = agreement_needed(labels, runs, ["P@4", "nDCG@4"], baseline="fair", n_draws=50)
    assert [(each.a, each.b) for each in found.pairs if each.measure == "P@4"] == [("good", "fair"), ("fair", "poor")]
    assert found.measures == ("P@4", "nDCG@4 (binary:1)")
    one = agreement_needed(labels, runs, "P@4", baseline="fair", candidate="good")
    assert len(one.pairs) == 1
    assert "good stays ahead of fair with a probability of 95%" in one.sentence()


def test_what_is_not_there_is_refused(labels, runs):
    found = agreement_needed(labels, runs, "P@4")
    with pytest.raises(UnknownName):
        found.pair("good", "best")
    with pytest.raises(UnknownName):
        found.winner("AP")
    with pytest.raises(AmbiguousLabels):
        agreement_needed(labels, runs, assessor="x", pool="mean")
    with pytest.raises(SettingError, match="not ahead"):
        min_agreement(OwnDocuments(1, 0, 1, 0, places=2))
    with pytest.raises(SettingError, match="must not be negative"):
        OwnDocuments(-1, 0, 1, 0, places=2)

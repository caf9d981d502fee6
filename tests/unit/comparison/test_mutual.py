"""Mutual evaluation: expectations against every order, left-out topics against refits, small cases by hand."""

from importlib import import_module
from itertools import permutations, product
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire import evaluate, read_judgments
from venire.comparison.mutual_evaluation import (
    best_discounted,
    double_judgments,
    expected_discounted,
    expected_graded_precisions,
    leave_one_topic_out,
    mutual_evaluation,
)
from venire.disagreement.gains import fit_gains
from venire.errors import MeasureError, PairsError, ScaleError, SettingError
from venire.io import read_grid
from venire.results import Note

MEASURES = ["AP", "AP@3", "GAP", "nDCG", "nDCG@2", "nDCG(dcg=zipf)"]
GAINS = ["linear", "exponential", "0=0,1=0.3,2=0.3"]

documents = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5)


def orders(levels):
    """Every ranking of documents, highest level first."""
    groups = [[doc for doc, own in enumerate(levels) if own == level] for level in sorted(set(levels), reverse=True)]
    return [[doc for group in parts for doc in group] for parts in product(*(permutations(group) for group in groups))]


def counts_of(labels):
    counts = np.zeros((3, 3), dtype=np.int64)
    for ranker, reference in labels:
        counts[ranker, reference] += 1
    return counts


@given(documents, st.tuples(*[st.floats(0, 1)] * 3), st.integers(1, 6))
def test_expectations_are_means_over_every_order(labels, gains, cut):
    discount = np.where(np.arange(1, 6) <= cut, 1 / np.arange(1, 6), 0.0)
    worth = [gains[reference] for _, reference in labels]
    rankings = [[worth[doc] for doc in order] for order in orders([ranker for ranker, _ in labels])]
    found, g = counts_of(labels), np.array(gains)
    slow = [sum(c * x for c, x in zip(discount, ranking, strict=False)) for ranking in rankings]
    assert expected_discounted(found, g, discount) == pytest.approx(mean(slow))
    slow = [
        sum(discount[r] * sum(min(ranking[i], ranking[r]) for i in range(r + 1)) for r in range(len(ranking)))
        for ranking in rankings
    ]
    assert expected_graded_precisions(found, g, discount) == pytest.approx(mean(slow))
    best = sum(c * x for c, x in zip(discount, sorted(worth, reverse=True), strict=False))
    assert best_discounted(found.sum(axis=0), g, discount) == pytest.approx(best)


def judged(labels, topic="1"):
    return [
        {"topic": topic, "doc": f"d{n}", "assessor": who, "label": pair[side]}
        for n, pair in enumerate(labels)
        for side, who in enumerate(("ranker", "reference"))
    ]


def as_judgments(rows):
    import polars as pl

    return read_judgments(pl.DataFrame(rows), scale="0<1<2", duplicate_labels="keep")


LABELS = [(2, 2), (2, 0), (2, 1), (1, 2), (1, 0), (0, 1), (0, 0)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("gains", GAINS)
def test_it_is_the_mean_score_of_every_run_that_the_labels_allow(measure, gains):
    judgments = as_judgments(judged(LABELS))
    runs = {
        f"order {number}": {"1": {f"d{doc}": -float(rank) for rank, doc in enumerate(order)}}
        for number, order in enumerate(orders([ranker for ranker, _ in LABELS]))
    }
    worth = "binary:2" if measure.startswith("AP") else gains
    scores = evaluate(judgments, runs, [measure], gains=worth, assessor="reference")
    found = mutual_evaluation(judgments, measure, gains=[gains])
    (value,) = [row.value for row in found.rows if row.a == "reference"]
    assert value == pytest.approx(scores.values.mean())


def three_topics():
    rng = np.random.default_rng(3)
    rows = []
    for topic in ("t1", "t2", "t3"):
        ranker = rng.integers(0, 3, 12)
        reference = np.clip(ranker + rng.integers(-1, 2, 12), 0, 2)
        rows += judged(list(zip(ranker.tolist(), reference.tolist(), strict=True)), topic)
    return as_judgments(rows)


@pytest.mark.filterwarnings("ignore::venire.errors.FewPairsWarning")
@pytest.mark.parametrize("name", ["prm:2", "prm:1", "prm:2:2/3", "udm:1/3", "udm:2/4", "udm:2/3:1", "prm:"])
def test_parameters_come_from_the_other_topics(name):
    judgments = three_topics()
    gains = leave_one_topic_out([name], judgments)[name]
    for number, topic in enumerate(judgments.topics):
        others = judgments.where(topic=[each for each in judgments.topics if each != topic])
        np.testing.assert_allclose(gains[number], fit_gains(name, others).values)
    assert not np.allclose(gains[0], gains[1])


def test_the_row_of_all_is_the_mean_and_deviation_over_topics_of_both_directions():
    found = mutual_evaluation(three_topics(), "nDCG", gains=["linear"])
    everyone, one, other = found.rows
    assert (everyone.a, everyone.b) == (None, None)
    assert {(one.a, one.b), (other.a, other.b)} == {("ranker", "reference"), ("reference", "ranker")}
    by_topic = [
        mean(
            row.value for row in mutual_evaluation(three_topics().where(topic=topic), "nDCG", gains=["linear"]).rows[1:]
        )
        for topic in ("t1", "t2", "t3")
    ]
    assert everyone.value == pytest.approx(mean(by_topic))
    assert everyone.sd == pytest.approx(stdev(by_topic))
    assert everyone.low < everyone.value < everyone.high
    assert everyone.topics == 3


def test_perfect_agreement_scores_one_by_every_measure():
    judgments = read_grid("2 1 0 0 1\n 2 1 0 0 1")
    found = mutual_evaluation(judgments, MEASURES, gains=["linear", "exponential", "binary:1"])
    assert [row.value for row in found.rows] == pytest.approx([1.0] * len(found.rows))


def test_the_directions_differ_where_one_is_more_generous():
    strict, generous = "2 0 0 0", "2 2 0 0"
    rows = mutual_evaluation(read_grid(f"{strict}\n{generous}", assessors=["strict", "generous"]), "AP").rows
    by_reference = {row.a: row.value for row in rows}
    assert by_reference["strict"] == pytest.approx((1 + 1 / 2) / 2)
    assert by_reference["generous"] == pytest.approx((1 + mean([2 / 2, 2 / 3, 2 / 4])) / 2)
    assert by_reference[None] == pytest.approx(mean([by_reference["strict"], by_reference["generous"]]))


def test_only_documents_that_both_judged_count_and_a_repeated_label_counts_once():
    both = mutual_evaluation(read_grid("2 1 0\n 1 2 0"), "nDCG", gains=["linear"]).rows
    more = mutual_evaluation(read_grid("2 1 0 2 .\n 1 2 0 . 2"), "nDCG", gains=["linear"]).rows
    assert [row.value for row in more] == [row.value for row in both]
    rows = judged([(2, 1), (1, 2), (0, 0)])
    again = {"topic": "1", "doc": "d0", "assessor": "ranker", "label": 0}
    found = mutual_evaluation(as_judgments([*rows, again]), "nDCG", gains=["linear"])
    assert [row.value for row in found.rows] == [row.value for row in both]
    assert Note("repeated-labels", "", n=1, least=2) in found.notes


def test_every_two_assessors_of_many():
    sets = double_judgments(read_grid("2 1 0\n 1 2 .\n . 0 0\n 2 2 2"))
    pairs = {(sets.assessors[a], sets.assessors[b]) for a, b in zip(sets.reference, sets.ranker, strict=True)}
    assert pairs == {
        *{("U1", "U2"), ("U2", "U1"), ("U1", "U3"), ("U3", "U1"), ("U1", "U4"), ("U4", "U1")},
        *{("U2", "U4"), ("U4", "U2"), ("U3", "U4"), ("U4", "U3")},
    }
    assert sets.notes == (Note("few-documents", "", n=1, least=2),)
    found = {
        (sets.assessors[a], sets.assessors[b]): counts.tolist()
        for a, b, counts in zip(sets.reference, sets.ranker, sets.counts, strict=True)
    }
    assert found["U1", "U4"] == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert found["U4", "U1"] == [[0, 0, 1], [0, 0, 1], [0, 0, 1]]


def test_a_topic_without_a_relevant_document_has_no_value_and_is_noted():
    rows = [*judged([(2, 1), (0, 0)], "t1"), *judged([(2, 2), (0, 0)], "t2")]
    found = mutual_evaluation(as_judgments(rows), "AP")
    values = {row.a: (row.value, row.topics) for row in found.rows}
    assert values["reference"] == (1.0, 1)
    assert values["ranker"] == (1.0, 2)
    assert Note("no-value", "", n=1, columns="AP with binary:2 gains") in found.notes


def test_a_model_that_falls_from_label_to_label_has_no_gap():
    rows = [row for topic in "abc" for row in judged([(2, 0), (2, 0), (1, 2), (2, 1), (0, 0), (1, 1)], topic)]
    found = mutual_evaluation(as_judgments(rows), ["GAP", "nDCG"], gains=["prm:2"])
    assert found.rows[0].record()["value"] is None
    assert found.rows[0].topics == 0
    assert found.rows[3].value > 0


@pytest.mark.parametrize(
    ("judgments", "measures", "error", "words"),
    [
        (read_grid("2 1 0"), "AP", PairsError, "judged by the same two assessors"),
        (read_grid("2 . 0\n . 1 ."), "AP", PairsError, "judged by the same two assessors"),
        (read_grid("a b\n b a", scale="a|b"), "AP", ScaleError, "no order to rank"),
        (read_grid("2 1 0\n 1 2 0"), "RBP", MeasureError, "AP, GAP and nDCG"),
        (read_grid("2 1 0\n 1 2 0"), "nDCG(dcg=exp-log2)", MeasureError, "AP, GAP and nDCG"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(judgments, measures, error, words):
    with pytest.raises(error, match=words):
        mutual_evaluation(judgments, measures, gains=["linear"])


def test_two_gains_of_one_name_are_refused():
    judgments = read_grid("2 1 0\n 1 2 0")
    with pytest.raises(SettingError, match="same name"):
        mutual_evaluation(judgments, gains=["linear", "linear"])
    named = mutual_evaluation(judgments, "nDCG", gains={"mine": {"0": 0, "1": 1, "2": 5}})
    assert named.rows[0].gains == "mine"


def test_more_pairs_than_can_be_listed_are_left_to_the_mean(monkeypatch):
    monkeypatch.setattr(import_module("venire.comparison.mutual_evaluation"), "MOST_PAIRS", 5)
    judgments = read_grid("2 1 0\n 1 2 0\n 2 2 0")
    found = mutual_evaluation(judgments, "nDCG", gains=["linear"])
    assert len(found.rows) == 1
    assert Note("many-pairs", "", n=6) in found.notes


def test_it_says_what_it_found():
    found = mutual_evaluation(three_topics(), ["AP", "nDCG"], gains=["linear"])
    assert "score AP" in found.sentence()
    assert set(found.records()[0]) >= {"between", "measure", "gains", "other_gains", "a", "b", "correlation", "value"}
    assert found.records()[0]["correlation"] is None


def test_two_judges_of_real_topics_look_as_in_the_paper(data_dir):
    """Demeester et al. (2014), Table 2, on other data: AP lowest, 1/N higher with N, zipf below log."""
    judgments = read_judgments(data_dir / "dl21_full" / "judges.tsv.gz")
    found = mutual_evaluation(judgments.where(assessor=["nist", "gpt4_umbrela"]))
    value = {(row.measure, row.gains): row.value for row in found.headline()}
    assert value["AP", "binary:3"] == pytest.approx(0.460, abs=5e-4)
    for measure in ("GAP", "nDCG", "nDCG(dcg=zipf)"):
        assert value["AP", "binary:3"] < value[measure, "udm:1/2"] < value[measure, "udm:1/3"]
        assert value[measure, "udm:1/3"] < value[measure, "udm:1/4"]
    assert value["nDCG(dcg=zipf)", "exponential"] < value["nDCG", "exponential"]

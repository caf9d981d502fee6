from __future__ import annotations

import numpy as np
import pytest

from long_rows import double, judgments_of
from venire import PredictedRelevance
from venire.disagreement.predicted_relevance import difference, differences

CLEAR = double((2, 2, 300), (2, 1, 100), (1, 1, 300), (1, 0, 50), (0, 0, 300), topics=12)


def fitted(labels, **setting):
    return PredictedRelevance(**setting).fit(labels)


def noted(fit):
    return [(note.kind, note.fields.get("lower"), note.fields.get("upper")) for note in fit.notes]


def test_nothing_to_say():
    assert fitted(CLEAR).notes == ()


def test_labels_that_cannot_be_distinguished():
    labels = double((2, 2, 100), (1, 1, 100), (1, 2, 100), (2, 1, 100), (0, 0, 200), topics=12)
    assert noted(fitted(labels)) == [("labels-not-distinguished", "1 (0.50)", "2 (0.50)")]


def test_agreement_so_low_that_an_evaluation_is_questionable():
    blind = double(*((a, b, 40) for a in range(3) for b in range(3)), topics=12)
    (note,) = fitted(blind).notes
    assert noted(fitted(blind)) == [("no-labels-distinguished", "0 (0.33)", "2 (0.33)")]
    assert "n" not in note.fields
    assert str(note).endswith("questionable")


def test_with_few_topics_labels_are_not_called_questionable():
    blind = double(*((a, b, 40) for a in range(3) for b in range(3)), topics=4)
    words = [*map(str, fitted(blind).notes)]
    assert fitted(blind).notes[0].fields["n"] == 4
    assert not any("questionable" in each for each in words)


def test_a_label_that_promises_more_than_a_higher_one():
    labels = double(
        (1, 1, 30), (1, 3, 300), (3, 1, 300), (3, 3, 300), (2, 2, 300), (0, 0, 300), scale="0<1<2<3", topics=12
    )
    assert ("labels-reversed", "1 (0.91)", "2 (0.00)") in noted(fitted(labels))


def test_labels_with_few_pairs_or_none():
    labels = double((3, 3, 12), (3, 1, 1), (1, 1, 300), (0, 0, 300), scale="0<1<2<3")
    none, few = fitted(labels).notes[-2:]
    assert (none.kind, none.fields) == ("no-pairs", {"label": "2"})
    assert (few.kind, few.fields) == ("few-pairs", {"label": "3", "n": 25, "least": 50})


def test_categories_are_compared_from_the_smallest_share_to_the_largest():
    labels = double(("a", "a", 200), ("b", "b", 100), ("b", "a", 100), ("c", "c", 200), scale="b|c|a", topics=12)
    assert fitted(labels, relevant="a").notes == ()
    alike = double(("a", "a", 50), ("a", "b", 100), ("b", "b", 50), ("c", "c", 200), scale="b|c|a", topics=12)
    assert noted(fitted(alike, relevant="a")) == [("labels-not-distinguished", "b (0.50)", "a (0.50)")]


def test_a_set_in_the_middle_need_not_rise_with_the_scale():
    labels = double((2, 2, 300), (1, 1, 300), (0, 0, 300), topics=12)
    assert noted(fitted(labels, relevant=["1"])) == [("labels-not-distinguished", "0 (0.00)", "2 (0.00)")]


def test_what_no_pair_contradicts_is_not_certain():
    few = fitted(double((2, 2, 4), (0, 0, 4), topics=2))
    many = fitted(double((2, 2, 240), (0, 0, 240), topics=12))
    assert (few.p[0, [0, 2]] == many.p[0, [0, 2]]).all()
    assert difference(few, 0, 0, 2).low < 0.1
    assert difference(many, 0, 0, 2).low > 0.5


@pytest.mark.parametrize("together", [True, False])
def test_labels_that_rise_and_fall_together_are_distinguished_though_their_intervals_overlap(together):
    # Label 2 is relevant .1 more often than label 1 in each of ten topics, or what it is in another topic.
    rows = []
    for topic in range(10):
        for label, hits in ((1, 8 * topic), (2, 8 * (topic if together else 9 - topic) + 8)):
            for number in range(80):
                rows += [
                    (topic, f"d{label}-{number}", "A", label),
                    (topic, f"d{label}-{number}", "B", 3 * (number < hits)),
                ]
    fit = fitted(judgments_of(rows, "0<1<2<3"), observed="A")
    found = difference(fit, 0, 1, 2)
    assert fit.spread.high[0, 1] > fit.spread.low[0, 2] + 0.2
    assert found.value == pytest.approx(0.1)
    assert found.distinguished == together
    assert any("distinguished" in word for word in map(str, fit.notes)) != together


def test_differences_are_of_neighbouring_labels_and_in_order():
    found = differences(fitted(CLEAR))
    assert [(each.lower, each.upper) for each in found] == [(0, 1), (1, 2)]
    for each in found:
        assert each.low < each.value < each.high


def test_few_topics_are_announced():
    (word,) = map(str, fitted(double((2, 2, 300), (1, 1, 300), (0, 0, 300), topics=5)).notes[-1:])
    assert "5 topics" in word


def test_one_topic_compares_nothing_and_says_so():
    fit = fitted(double((2, 2, 300), (1, 1, 300), (0, 0, 300)))
    assert np.isnan(difference(fit, 0, 0, 2).low)
    (word,) = map(str, fit.notes)
    assert "one topic" in word


def test_a_label_of_one_topic_is_named():
    rows = [
        (topic, f"d{n}", who, label) for topic in range(12) for n in range(30) for who in "AB" for label in (n % 2,)
    ]
    rows += [(3, f"e{n}", who, 2) for n in range(60) for who in "AB"]
    (note,) = [note for note in fitted(judgments_of(rows)).notes if note.kind == "one-topic"]
    assert note.fields["label"] == "2"


@pytest.mark.parametrize(
    ("labels", "setting", "expected"),
    [
        (CLEAR, {}, "relevant (2), by the label of one assessor: 86% for 2, 13% for 1, 0% for 0."),
        (
            CLEAR,
            {"relevant": "1"},
            "relevant (1 or higher), by the label of one assessor: 100% for 2, 93% for 1, 8% for 0.",
        ),
        (double((2, 2, 9)), {}, "relevant (2), by the label of one assessor: 100% for 2."),
    ],
)
def test_the_finding_in_one_sentence(labels, setting, expected):
    assert fitted(labels, **setting).sentence() == f"Probability that another person finds a result {expected}"


def test_the_sentence_names_judge_users_and_results():
    found = fitted(CLEAR).sentence(judge="nist", users="crowd", among=" among the first 10")
    assert "crowd finds a result among the first 10 relevant (2), by the label of nist" in found


def test_a_table_of_text_with_few_pairs_in_brackets():
    lines = str(fitted(double((2, 2, 4), (1, 1, 30), (1, 2, 2), topics=2), relevant="all")).split("\n")
    assert lines[0] == "p(R|label), paired, 95% interval: jackknife over 2 topics"
    assert [line.split()[0] for line in lines[1:]] == ["R", "2", "1", "0", "R", "2", "1", "0"]
    assert lines[2].split(maxsplit=1)[1].startswith("(0.800 [")
    assert lines[3].endswith("(2 of 62 pairs)")
    assert lines[3].split()[1] == "0.032"
    assert lines[4].endswith("unknown (no pairs)")


def test_nothing_is_said_of_topics_that_were_not_resampled():
    labels = double((2, 2, 100), (2, 1, 20), (1, 1, 100), (0, 0, 100), topics=12)
    fit = fitted(labels, n_draws=0)
    assert np.isnan(fit.spread.sd_topics).all()
    assert fit.notes == ()

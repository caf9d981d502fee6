from __future__ import annotations

import pytest

from long_rows import judgments_of
from venire.data.intents import explicit_intents, top_intents
from venire.errors import AmbiguousLabels, UnknownName

ROWS = [
    ("1", "a", "A", "2", "1"),
    ("1", "a", "A", "1", "2"),
    ("1", "a", "B", "0", "0"),
    ("1", "b", "A", "0", "0"),
    ("1", "b", "B", "1", "3"),
    ("2", "a", "A", "1", "7"),
    ("2", "c", "B", "0", "0"),
]


def rows_of(judgments) -> set[tuple[str, ...]]:
    return set(judgments.to_polars().select("topic", "doc", "assessor", "label", "intent").rows())


def test_no_intent_is_the_lowest_label_for_every_intent_of_the_topic():
    spelt_out = explicit_intents(judgments_of(ROWS))
    kept = {row for row in ROWS if row[4] != "0"}
    added = {("1", doc, who, "0", intent) for doc, who in (("a", "B"), ("b", "A")) for intent in "123"}
    assert rows_of(spelt_out) == kept | added | {("2", "c", "B", "0", "7")}
    assert len(spelt_out) == 4 + 6 + 1


def test_without_such_labels_nothing_changes():
    labels = judgments_of([row for row in ROWS if row[4] != "0"])
    assert explicit_intents(labels) is labels


def test_an_intent_0_beside_others_of_the_same_document_is_an_intent():
    labels = judgments_of([*ROWS, ("1", "a", "A", "0", "0")])
    assert explicit_intents(labels) is labels


def test_another_name_for_no_intent():
    rows = [(*row[:4], "none" if row[4] == "0" else row[4]) for row in ROWS]
    assert rows_of(explicit_intents(judgments_of(rows), none_met="none")) == rows_of(
        explicit_intents(judgments_of(ROWS))
    )


def test_a_topic_without_other_intents_stays_as_it_is():
    navigational = [("3", "x", "A", "2", "0"), ("3", "x", "B", "1", "0")]
    assert set(navigational) <= rows_of(explicit_intents(judgments_of([*ROWS, *navigational])))


def test_a_label_above_the_lowest_for_no_intent_contradicts_itself():
    with pytest.raises(AmbiguousLabels, match="document 'd' has the label '1' for the intent '0' of topic '2'"):
        explicit_intents(judgments_of([*ROWS, ("2", "d", "A", "1", "0")]))


def test_categories_have_no_lowest_label():
    rows = [("1", "a", "A", "x", "1"), ("1", "a", "B", "y", "0")]
    with pytest.raises(AmbiguousLabels, match="have no order"):
        explicit_intents(judgments_of(rows, "x|y"))


def test_the_most_probable_intent_of_each_topic():
    probability = {("1", "1"): 0.2, ("1", "2"): 0.5, ("1", "3"): 0.3, ("2", "7"): 1.0}
    chosen = top_intents(explicit_intents(judgments_of(ROWS)), probability)
    assert rows_of(chosen) == {
        ("1", "a", "A", "1", "2"),
        ("1", "a", "B", "0", "2"),
        ("1", "b", "A", "0", "2"),
        ("2", "a", "A", "1", "7"),
        ("2", "c", "B", "0", "7"),
    }
    assert chosen.notes == ()


def test_the_first_of_equally_probable_intents():
    probability = {("1", "3"): 0.5, ("1", "2"): 0.5, ("2", "7"): 1.0}
    assert {row[4] for row in rows_of(top_intents(judgments_of(ROWS), probability)) if row[0] == "1"} == {"3"}


def test_an_intent_that_nobody_judged_is_noted():
    probability = {("1", "1"): 0.2, ("1", "9"): 0.5, ("2", "7"): 1.0}
    chosen = top_intents(judgments_of(ROWS), probability)
    assert {row[0] for row in rows_of(chosen)} == {"2"}
    assert [(note.kind, note.fields["names"]) for note in chosen.notes] == [("topics-without-intent", ["1"])]


def test_a_topic_without_probabilities_is_refused():
    with pytest.raises(UnknownName, match="topic with probabilities of intents '2'"):
        top_intents(judgments_of(ROWS), {("1", "1"): 1.0})


def test_topics_that_were_not_chosen_need_no_probabilities():
    chosen = top_intents(judgments_of(ROWS).where(topic="1"), {("1", "1"): 1.0})
    assert rows_of(chosen) == {("1", "a", "A", "2", "1")}


@pytest.mark.parametrize("make", [explicit_intents, lambda labels: top_intents(labels, {("1", "1"): 1.0})])
def test_labels_without_intents_are_refused(make):
    with pytest.raises(AmbiguousLabels, match="have no intents"):
        make(judgments_of([row[:4] for row in ROWS]))

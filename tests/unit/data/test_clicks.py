from __future__ import annotations

import pytest

from venire import evaluate
from venire.io.clicks import read_clicks

LOG = {
    "topic": ["q1", "q1", "q1", "q2", "q2"],
    "docs": ["a b", "b a", "b a", "c", "a c"],
    "clicks": ["1 0", "1 1", "0 0", "0", "0 1"],
    "dwells": ["10 -", "5 31", "- -", "-", "- 30"],
}


@pytest.fixture
def clicks():
    return read_clicks(LOG)


def test_rates_and_their_mean_over_documents(clicks):
    assert list(clicks.items.doc) == ["a", "b", "a", "c"]
    assert clicks.impressions.tolist() == [3, 3, 1, 2]
    assert clicks.clicks.tolist() == [2, 1, 0, 1]
    assert clicks.rates().tolist() == [1 / 3, 0.0, 0.0, 0.5]
    assert clicks.topic_rates().tolist() == [1 / 6, 0.25]


def test_labels_are_none_clicked_satisfied(clicks):
    labels = clicks.labels()
    assert labels.label.tolist() == [2, 1, 0, 2]
    assert str(labels.scale) == "0<1<2"
    assert labels.items is clicks.items, "so that one scan of runs serves both"


def test_the_usual_list_is_the_one_shown_most_often_or_first(clicks):
    scores = evaluate({"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}, clicks.usual_lists(), "RR")
    assert scores.values[0, :, 0].tolist() == [0.5, 1.0], "b a twice; c before a c"
    assert clicks.lists.n_shown.tolist() == [2, 1, 1, 1]


def test_it_says_what_is_there(clicks):
    expected = "5 sessions: 9 impressions of 4 documents for 2 topics, 4 clicks, 2 satisfied (dwell of 30 s or more)"
    assert repr(clicks) == f"<Clicks: {expected}>"

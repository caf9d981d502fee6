from __future__ import annotations

import numpy as np
import pytest

from venire import PairsError, PredictedRelevance, SettingError, Synthetic, generate, read_runs, returned, run_scores
from venire.analysis.systems import Systems, scattered


@pytest.fixture(scope="module")
def made():
    """Lists of 20 results with many ties; a good part of the pool is in none."""
    systems = Systems(quality=scattered(3), depth=20, tie_step=0.5)
    return generate(Synthetic(n_topics=4, docs_per_topic=60, systems=systems), rng=2)


def first_results(runs, top):
    """Every (topic, doc) that a system has among its first, found list by list: by score, then document, descending."""
    return {
        (topic, doc)
        for lists in run_scores(runs).values()
        for topic, scores in lists.items()
        for doc in sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)[:top]
    }


@pytest.mark.parametrize("top", [1, 3, 10, None])
def test_labels_are_those_of_what_some_list_has_first(made, top):
    shown = first_results(made.runs, top)
    rows = made.judgments.to_polars()
    expected = [row for row in rows.rows() if row[:2] in shown]
    found = returned(made.judgments, made.runs, top)
    assert 0 < len(expected) < len(rows)
    assert found.to_polars().rows() == expected
    assert found.notes[-1].startswith(f"{len(expected):,} of {len(rows):,} labels are of items in ")


def test_ties_are_ordered_as_measures_order_them():
    judged = {"q": {"a": 1, "b": 0, "c": 1}}
    found = returned(judged, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, top=2)
    assert found.to_polars()["doc"].to_list() == ["b", "c"]


def test_unjudged_results_take_their_places():
    found = returned({"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}, top=2)
    assert found.to_polars()["doc"].to_list() == ["a"]


def test_runs_are_scanned_once_for_choosing_and_scoring(made):
    runs = read_runs(run_scores(made.runs))
    found = returned(made.judgments, runs)
    (scanned,) = runs.scanned.values()
    assert found.items is made.judgments.items
    assert returned(made.judgments, runs, top=1).items is scanned.items
    assert list(runs.scanned.values()) == [scanned]


def test_a_label_is_worth_more_among_what_is_returned(made):
    model = PredictedRelevance(relevant="2", n_draws=0)
    pool, first = model.fit(made.judgments), model.fit(returned(made.judgments, made.runs))
    assert (np.asarray(first.p)[..., 1:] > np.asarray(pool.p)[..., 1:]).all()


def test_nothing_left_is_an_error():
    with pytest.raises(PairsError, match="none of 1 label is of an item in the first result of some list") as caught:
        returned({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, top=1)
    assert "same names" in str(caught.value)
    with pytest.raises(PairsError, match="in some list"):
        returned({"q": {"b": 1}}, {"q": {"a": 1.0}, "other": {"b": 1.0}}, top=None)
    with pytest.raises(SettingError, match="the first 0 results"):
        returned({"q": {"b": 1}}, {"q": {"b": 1.0}}, top=0)


def test_one_result_of_each_list():
    first = returned({"q": {"a": 1, "b": 0}}, {"q": {"a": 3.0, "b": 2.0}}, top=1)
    assert first.notes[-1] == "1 of 2 labels are of items in the first result of some list"

from __future__ import annotations

import warnings

import numpy as np
import pytest

from long_rows import judgments_of
from venire import PredictedRelevance, read_judgments, read_runs
from venire.disagreement import in_top_results
from venire.disagreement.top_results import labels_to_fit
from venire.errors import PairsError, PoolFitWarning, SettingError
from venire.io import run_scores
from venire.io.runs import as_runs, scan
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems, scattered


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
    found = in_top_results(made.judgments, made.runs, top)
    assert 0 < len(expected) < len(rows)
    assert found.to_polars().rows() == expected
    assert found.notes[-1].kind == "top-results"
    assert (found.notes[-1].fields["kept"], found.notes[-1].fields["n"]) == (len(expected), len(rows))


def test_ties_are_ordered_as_measures_order_them():
    judged = {"q": {"a": 1, "b": 0, "c": 1}}
    found = in_top_results(judged, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, top=2)
    assert found.to_polars()["doc"].to_list() == ["b", "c"]


def test_unjudged_results_take_their_places():
    found = in_top_results({"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}, top=2)
    assert found.to_polars()["doc"].to_list() == ["a"]


def test_runs_are_scanned_once_for_choosing_and_scoring(made):
    scanned = scan(read_runs(run_scores(made.runs)), made.judgments.items)
    assert as_runs(scanned) is scanned
    assert scan(scanned, made.judgments.items) is scanned
    assert Case.of(made.judgments, scanned, Scoring(assessor=made.judgments.assessors[0])).facts is scanned.facts
    assert in_top_results(made.judgments, scanned).items is made.judgments.items
    other = read_judgments({topic: {"unseen": 1} for topic in made.judgments.topics}).items
    assert scan(scanned, other).facts.items is other


def test_a_label_is_worth_more_among_what_is_returned(made):
    model = PredictedRelevance(relevant="2", n_draws=0)
    pool, first = model.fit(made.judgments), model.fit(in_top_results(made.judgments, made.runs))
    assert (np.asarray(first.p)[..., 1:] > np.asarray(pool.p)[..., 1:]).all()


def test_nothing_left_is_an_error():
    with pytest.raises(PairsError, match="none of 1 label is of an item in the first result of some list") as caught:
        in_top_results({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, top=1)
    assert "same names" in str(caught.value)
    with pytest.raises(PairsError, match="in some list"):
        in_top_results({"q": {"b": 1}}, {"q": {"a": 1.0}, "other": {"b": 1.0}}, top=None)
    with pytest.raises(SettingError, match="the first 0 results"):
        in_top_results({"q": {"b": 1}}, {"q": {"b": 1.0}}, top=0)


def test_one_result_of_each_list():
    first = in_top_results({"q": {"a": 1, "b": 0}}, {"q": {"a": 3.0, "b": 2.0}}, top=1)
    assert (first.notes[-1].fields["kept"], first.notes[-1].fields["n"]) == (1, 2)


def chosen(made, model=None, **options):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = labels_to_fit(made.judgments, made.runs, model=model, **options)
    return found, [str(each.message) for each in heard if each.category is PoolFitWarning]


def test_first_results_are_fitted_on_where_they_have_enough_pairs(made):
    found, heard = chosen(made)
    assert (found.top, heard) == (10, [])
    assert found.judgments.to_polars().equals(in_top_results(made.judgments, made.runs).to_polars())
    pool, heard = chosen(made, fit_to="pool")
    assert (pool.top, pool.note, heard) == (None, None, [])
    assert pool.judgments is made.judgments


def test_too_few_pairs_fall_back_on_the_pool_aloud(made):
    few, heard = chosen(made, top=1)
    assert few.top is None
    assert len(heard) == 1
    assert "fitted on the whole pool" in heard[0]
    forced, heard = chosen(made, top=1, fit_to="returned")
    assert (forced.top, heard) == (1, [])


def test_a_label_without_pairs_among_first_results_falls_back_aloud():
    rows = [("q", f"d{n}", who, n % 2 if n < 20 else 2) for n in range(24) for who in "AB"]
    labels, runs = judgments_of(rows), {"q": {f"d{n}": -float(n) for n in range(20)}}
    with pytest.warns(PoolFitWarning, match="no top result with the label 2 was judged twice"):
        found = labels_to_fit(labels, runs, top=20)
    assert found.judgments is labels


def test_runs_unlike_the_judgments_fall_back_aloud_unless_returned_was_asked_for():
    judged, runs = {"q": {"b": 1}}, {"q": {"z": 1.0}}
    with pytest.warns(PoolFitWarning, match="none of 1 label"):
        labels_to_fit(judged, runs)
    with pytest.raises(PairsError, match="none of 1 label"):
        labels_to_fit(judged, runs, fit_to="returned")


def test_items_that_runs_treat_alike_are_in_one_group():
    labels = read_judgments({"q": {"a": 1, "b": 0, "c": 1, "d": 0}})
    runs = {"one": {"q": {"a": 3.0, "b": 2.0}}, "two": {"q": {"b": 3.0, "c": 2.0}}}
    first, second, third, none = labels_to_fit(labels, runs, fit_to="pool").rank.tolist()
    assert none == 0
    assert len({first, second, third}) == 3  # b is first as a is, but in two lists

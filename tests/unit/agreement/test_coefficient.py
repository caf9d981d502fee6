from __future__ import annotations

import pytest

from venire import read_grid
from venire.agreement.coefficient import n_draws_of
from venire.agreement.table import FUNCTIONS, statistics

GRID = "2 1 0 1 2 0\n2 2 0 0 2 1\n1 1 0 0 2 0"


@pytest.mark.parametrize("over", ["items", "topics"])
def test_an_interval_that_nobody_asked_for_is_not_blamed_on_the_data(over):
    records = statistics(read_grid(GRID), over=over, n_draws=0)
    assert {each["name"] for each in records} == set(FUNCTIONS)
    without = [each for each in records if each["low"] is None]
    assert len(without) >= len(records) - 1  # phi has the interval of its posterior
    assert {each["reason"] for each in without} == {"no interval was asked for: that takes two draws or more"}
    assert all(each["value"] is not None for each in records)


def test_an_interval_that_rests_on_one_topic_says_so():
    (record,) = statistics(read_grid(GRID), names=["raw_agreement"], over="topics", n_draws=50)
    assert record["low"] is None
    assert "it rests on one item or topic" in record["reason"]


@pytest.mark.parametrize(("method", "n"), [("bootstrap over items, n=1000", 1000), ("posterior", 0), ("n=", 0)])
def test_how_many_draws_a_method_has(method, n):
    assert n_draws_of(method) == n


def test_labels_repeated_by_an_assessor_say_how_to_read_them():
    import polars as pl

    from venire import read_judgments

    rows = [("1", "a", "U", 0), ("1", "a", "U", 2), ("1", "a", "V", 2), ("1", "b", "U", 1), ("1", "b", "V", 0)]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    records = statistics(read_judgments(frame, repeats="keep"), n_draws=20)
    empty = [each for each in records if each["value"] is None]
    assert {each["name"] for each in empty} == set(FUNCTIONS) - {"phi"}
    assert all("assessor 'U' gave several labels for document 'a'" in each["reason"] for each in empty)
    assert all("--repeats last" in each["reason"] for each in empty)
    again = statistics(read_judgments(frame), n_draws=20)
    assert all(each["value"] is not None for each in again if each["name"] != "jaccard")

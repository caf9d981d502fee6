"""The order of rows, of systems and of files does not matter: a report has the same bytes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from two_judges import judged, lists, table
from venire import read_judgments, read_runs, report_on
from venire.report.page import page
from venire.simulation import Synthetic, generate

MADE = generate(Synthetic(n_topics=8, docs_per_topic=30), rng=3)


def shuffled(frame, rng):
    return frame[rng.permutation(len(frame))]


def shuffled_runs(runs, rng):
    """The same lists, systems and documents in another order."""
    return {
        system: {topic: {doc: ranked[doc] for doc in rng.permutation(list(ranked))} for topic, ranked in topics.items()}
        for system, topics in ((system, runs[system]) for system in rng.permutation(list(runs)))
    }


@pytest.mark.parametrize("reference", ["", "expert"])
def test_a_report_has_the_same_bytes_for_permuted_rows_and_systems(reference):
    rng = np.random.default_rng(5)
    made = [
        page(report_on(judged(frame), read_runs(runs), reference=reference or (), n_draws=50))
        for frame, runs in ((table(), lists()), (shuffled(table(), rng), shuffled_runs(lists(), rng)))
    ]
    assert made[0] == made[1]


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_a_report_with_a_plan_for_the_reference_has_the_same_bytes():
    rng = np.random.default_rng(7)
    frame = table().filter((pl.col("assessor") == "llm") | pl.Series(rng.random(len(table())) < 0.2))
    made = [
        page(report_on(judged(each), read_runs(runs), reference="expert", n_draws=50))
        for each, runs in ((frame, lists()), (shuffled(frame, rng), shuffled_runs(lists(), rng)))
    ]
    assert made[0] == made[1]
    assert 'data-name="plan_judgments"' in made[0]


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_a_report_on_assessors_who_shared_the_work_has_the_same_bytes():
    frame = MADE.judgments.to_polars().filter(pl.col("doc").str.slice(-1) != pl.col("assessor").str.slice(-1))
    rng = np.random.default_rng(6)
    made = [page(report_on(read_judgments(each), MADE.runs, n_draws=50)) for each in (frame, shuffled(frame, rng))]
    assert made[0] == made[1]


def test_rows_are_read_in_one_order_and_repeated_labels_in_that_of_the_source():
    rows = [
        ("2", "b", "y", "1"),
        ("1", "a", "y", "0"),
        ("1", "a", "x", "2"),
        ("2", "b", "y", "0"),
        ("1", "a", "y", "1"),
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    kept = read_judgments(frame, duplicate_labels="keep").to_polars()
    assert kept.rows() == [rows[2], rows[1], rows[4], rows[0], rows[3]]
    last = read_judgments(frame, duplicate_labels="last").to_polars()
    assert last.rows() == [rows[2], rows[4], rows[3]]

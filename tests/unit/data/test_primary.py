"""One label per item where assessors shared the work."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire import read_judgments
from venire.data.assessors import PRIMARY, coverage, primary_rows, with_primary


def shared_work():
    rows = {
        "topic": ["t1"] * 5 + ["t2"] * 4,
        "doc": ["d1", "d2", "d3", "d1", "d1", "d1", "d2", "d1", "d2"],
        "assessor": ["ann", "ann", "ann", "bob", "cid", "bob", "bob", "ann", "cid"],
        "label": [0, 1, 2, 2, 1, 1, 0, 2, 2],
    }
    return read_judgments(pl.DataFrame(rows))


def test_the_primary_label_is_by_who_judged_most_of_the_topic():
    judgments = shared_work()
    rows = judgments.take(primary_rows(judgments)).to_polars()
    found = {(topic, doc): who for topic, doc, who in zip(rows["topic"], rows["doc"], rows["assessor"], strict=True)}
    assert found == {
        ("t1", "d1"): "ann",
        ("t1", "d2"): "ann",
        ("t1", "d3"): "ann",
        ("t2", "d1"): "bob",
        ("t2", "d2"): "bob",
    }


def test_primary_labels_are_of_one_judge_and_no_label_is_lost():
    judgments = shared_work()
    found = with_primary(judgments)
    assert len(found) == len(judgments)
    assert set(found.assessors) == {"ann", "bob", "cid", PRIMARY}
    own = found.where(assessor=PRIMARY)
    assert len(own) == len(np.unique(judgments.item)) == len(np.unique(own.item))


def test_of_repeated_labels_the_last_is_primary():
    rows = {"topic": ["t", "t"], "doc": ["d", "d"], "assessor": ["ann", "ann"], "label": [1, 0]}
    judgments = read_judgments(pl.DataFrame(rows), duplicate_labels="keep")
    assert judgments.label[primary_rows(judgments)].tolist() == [0]


def test_coverage_counts_items_not_labels():
    assert dict(zip(shared_work().assessors, coverage(shared_work()).tolist(), strict=True)) == {
        "ann": 0.8,
        "bob": 0.6,
        "cid": 0.4,
    }


def test_labels_given_after_another_document_have_a_primary_one_of_their_own():
    rows = {
        "topic": ["t"] * 4,
        "doc": ["d", "d", "c", "d"],
        "assessor": ["ann", "ann", "ann", "bob"],
        "label": [1, 0, 1, 1],
        "given": ["", "c", "", "c"],
    }
    judgments = read_judgments(pl.DataFrame(rows))
    assert primary_rows(judgments).tolist() == [True, True, True, False]

from __future__ import annotations

import numpy as np
import pytest

from venire import evaluate, read_judgments, read_runs
from venire.errors import FormatError, UnjudgedWarning
from venire.io.pool import first_docs, with_results

RUNS = {
    "a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d9": 1.0}},
    "b": {"q1": {"d4": 5.0, "d1": 5.0, "d5": 5.0}, "q2": {"d9": 1.0}},
}


def pool(judgments, runs=RUNS, depth=2):
    found = with_results(judgments, runs, depth)
    topics = [found.items.topics[n] for n in found.items.topic]
    return found, list(zip(topics, found.items.doc, strict=True))


def test_first_results_of_judged_topics_are_added_and_ties_are_broken_by_name():
    labels = read_judgments({"q1": {"d2": 1, "d7": 0}})
    _, items = pool(labels)
    assert items == [("q1", doc) for doc in ("d1", "d2", "d4", "d5", "d7")]  # of three ties in b: d5, d4


def test_labels_stay_with_their_items():
    labels = read_judgments({"q1": {"d2": 1, "d7": 0}, "q2": {"d9": 2}})
    found, items = pool(labels)
    given = {items[item]: found.scale.labels[label] for item, label in zip(found.item, found.label, strict=True)}
    assert given == {("q1", "d2"): "1", ("q1", "d7"): "0", ("q2", "d9"): "2"}
    with pytest.warns(UnjudgedWarning):
        before, after = (evaluate(each, RUNS, "P@2").values for each in (labels, found))
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("order", ["score", "rank"])
def test_results_are_those_of_the_rules(tmp_path, order):
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 low 1 1.0 s\nq1 Q0 high 2 9.0 s\n")
    _, items = pool(read_judgments({"q1": {"x": 1}}), read_runs(path, order=order), depth=1)
    assert items == [("q1", "high" if order == "score" else "low"), ("q1", "x")]


@pytest.mark.parametrize(
    ("text", "message"),
    [("q1 Q0 a 1 2.0 s\nq1 Q0 b 2 much s\n", "'much' is not a finite number"), ("", "holds no run lines")],
)
def test_a_file_that_is_no_run_is_refused(tmp_path, text, message):
    path = tmp_path / "run.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        pool(read_judgments({"q1": {"x": 1}}), path)


def test_the_first_results_of_a_list_by_rank():
    assert first_docs(RUNS, [("b", "q1"), ("a", "q2"), ("a", "q7")], 2) == {
        ("b", "q1"): ["d5", "d4"],
        ("a", "q2"): ["d9"],
    }


def test_the_first_results_follow_the_rules(tmp_path):
    path = tmp_path / "first.txt"
    path.write_text("q1 Q0 a 1 2 tag\nq1 Q0 b 2 3 tag\nq1 Q0 a 3 9 tag\n", encoding="utf-8")
    runs = read_runs(path, duplicate_docs="first", system_from="file")
    assert first_docs(runs, [("first", "q1")], 5) == {("first", "q1"): ["b", "a"]}
    assert first_docs(read_runs(path, duplicate_docs="first", order="rank"), [("tag", "q1")], 1) == {
        ("tag", "q1"): ["a"]
    }

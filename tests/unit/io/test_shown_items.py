"""Documents of runs, numbered among the judged ones."""

from __future__ import annotations

import gzip

import pytest

from venire import evaluate, read_judgments, read_runs
from venire.io.shown_items import with_shown_items

LABELS = {"10": {"b": 1, "a": 0}, "9": {"b": 2, "é": 1}}
LINES = "9 Q0 b 1 3 A\n9 Q0 x 2 2 A\n10 Q0 b 1 3 A\n10 Q0 y 2 2 A\n7 Q0 z 1 1 A\n9 Q0 x 1 3 B\n9 Q0 é 2 1 B\n"
DOCS = [("9", "b"), ("9", "x"), ("9", "é"), ("10", "a"), ("10", "b"), ("10", "y")]


def shown(judgments):
    items = judgments.items
    return [(items.topics[code], doc) for code, doc in zip(items.topic.tolist(), items.doc, strict=True)]


@pytest.fixture
def runs(tmp_path):
    with gzip.open(tmp_path / "runs.gz", "wt", encoding="utf-8") as file:
        file.write(LINES)
    return read_runs(tmp_path / "runs.gz")


def test_documents_of_judged_topics_are_numbered_by_topic_and_name(runs):
    found = with_shown_items(read_judgments(LABELS), runs)
    assert shown(found) == DOCS


def test_from_memory_too():
    runs = read_runs({"A": {"9": {"x": 1.0}, "7": {"z": 1.0}}, "B": {"10": {"y": 1.0}}})
    assert shown(with_shown_items(read_judgments(LABELS), runs)) == DOCS


@pytest.mark.filterwarnings("ignore::venire.UnjudgedWarning", "ignore::venire.MissingTopicsWarning")
def test_labels_and_scores_stay_as_they_are(runs):
    before = read_judgments(LABELS)
    after = with_shown_items(before, runs)
    assert sorted(before.to_polars().rows()) == sorted(after.to_polars().rows())
    assert evaluate(before, runs, "nDCG@5").values.tolist() == evaluate(after, runs, "nDCG@5").values.tolist()


def test_a_faulty_line_is_left_to_the_scan(tmp_path):
    (tmp_path / "run").write_text("9 Q0 b 1 3 A\n9 Q0 x\n", encoding="utf-8")
    found = with_shown_items(read_judgments(LABELS), read_runs(tmp_path / "run"))
    assert ("9", "b") in shown(found)

from __future__ import annotations

import numpy as np
import pytest

from venire import read_judgments
from venire.disagreement.top_results import results_to_label
from venire.errors import SettingError

JUDGED = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 0, "d": 1}}
LISTS = {"s": ["a", "x", "b", "c"], "t": ["a", "c", "b"], "u": ["b", "a"]}


@pytest.fixture
def runs(tmp_path):
    for system, docs in LISTS.items():
        (tmp_path / f"{system}.run").write_text("".join(f"1 Q0 {d} 0 {-n} {system}\n" for n, d in enumerate(docs)))
    (tmp_path / "v.run").write_text("2 Q0 d 0 9 v\n")
    return tmp_path


def test_what_many_systems_return_is_drawn_sooner(runs):
    """Of the first two: a stands in three lists, b and c in one, d of topic 2 in one; x was not judged."""
    first = [results_to_label(JUDGED, runs, 1, k=2, rng=rng)[0] for rng in range(1200)]
    share = {pair: first.count(pair) / 1200 for pair in set(first)}
    expected = {("1", "a"): 3 / 6, ("1", "b"): 1 / 6, ("1", "c"): 1 / 6, ("2", "d"): 1 / 6}
    assert share == pytest.approx(expected, abs=4 * (0.25 / 1200) ** 0.5)


def test_every_result_once_and_none_below_k(runs):
    assert sorted(results_to_label(JUDGED, runs, 4, k=3)) == [("1", "a"), ("1", "b"), ("1", "c"), ("2", "d")]
    assert results_to_label(JUDGED, runs, 3, k=3, rng=5) == results_to_label(JUDGED, runs, 4, k=3, rng=5)[:3]
    with pytest.raises(SettingError, match="the first 1 of the lists have 3 that were judged"):
        results_to_label(JUDGED, runs, 4, k=1)
    with pytest.raises(SettingError, match="0 results"):
        results_to_label(JUDGED, runs, 0)


def test_items_without_a_label_are_not_drawn(runs):
    labels = read_judgments(JUDGED)
    labels = labels.take(np.array([doc != "a" for doc in labels.to_polars()["doc"]]))
    assert ("1", "a") not in results_to_label(labels, runs, 3, k=3)

"""Preferences by labels: against slow counting, in both orientations, and where the truth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from venire import Judgments, read_judgments
from venire.data.preferences import Preferences
from venire.errors import PairsError
from venire.io.preferences import read_preferences
from venire.users.preferences import item_numbers, preferences_by_labels


def collection(seed: int, *, n_topics: int = 8, n_docs: int = 12) -> tuple[Judgments, Preferences, dict]:
    """Labels 0..2 by two assessors, the second of whom leaves out a third; choices also on unjudged documents."""
    import polars as pl

    rng = np.random.default_rng(seed)
    labels = {}
    for topic in range(n_topics):
        for doc in range(n_docs):
            for who in ("x", "y"):
                if who == "x" or rng.random() < 0.67:
                    labels[f"t{topic}", f"d{doc}", who] = int(rng.integers(3))
    rows = []
    for _ in range(600):
        left, right = rng.choice(n_docs + 1, 2, replace=False)
        rows.append((f"t{rng.integers(n_topics + 1)}", f"d{left}", f"d{right}", int(rng.integers(-2, 3))))
    frame = pl.DataFrame(
        [(*key, label) for key, label in labels.items()], ["topic", "doc", "assessor", "label"], orient="row"
    )
    return read_judgments(frame), Preferences.of(rows), labels


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_slow_loop(seed: int) -> None:
    judgments, preferences, labels = collection(seed)
    expected = np.zeros((3, 3, 3), dtype=int)
    unlabelled = 0
    for topic, left, right, _, strength in preferences.to_polars().rows():
        found = [
            (labels[topic, left, who], labels[topic, right, who])
            for who in ("x", "y")
            if (topic, left, who) in labels and (topic, right, who) in labels
        ]
        unlabelled += not found
        for a, b in found:
            expected[a, b, 1 - int(np.sign(strength))] += 1
            expected[b, a, 1 + int(np.sign(strength))] += 1
    result = preferences_by_labels(preferences, judgments)
    assert (result.counts == expected).all()
    assert result.n_unlabelled == unlabelled
    p = (expected[..., 0] + expected[..., 1] / 2) / expected.sum(axis=-1)
    off = ~np.eye(3, dtype=bool)
    assert result.p[off] == pytest.approx(p[off])
    assert result.p + result.p.T == pytest.approx(np.ones((3, 3)))
    assert (result.low <= result.p).all()
    assert result.low + result.high.T == pytest.approx(np.ones((3, 3)))


def test_items_are_found_by_topic_and_document() -> None:
    judgments = read_judgments({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0}})
    left, right = item_numbers(
        Preferences.of([("q2", "d1", "d2", 1), ("q1", "d2", "d1", 1), ("q9", "d1", "d2", 1)]), judgments
    )
    assert left.tolist() == [2, 1, -1]
    assert right.tolist() == [-1, 0, -1]


def known(p_next: dict[tuple[int, int], float], *, seed: int = 0) -> tuple[Judgments, Preferences]:
    """One label per document, choices that prefer the higher label with the chance given."""
    rng = np.random.default_rng(seed)
    qrels = {f"t{t}": {f"d{n}": n % 3 for n in range(30)} for t in range(20)}
    rows = []
    for _ in range(6000):
        a, b = rng.choice(30, 2, replace=False)
        low, high = sorted((int(a), int(b)), key=lambda n: n % 3)
        if (low % 3, high % 3) in p_next:
            won = rng.random() < p_next[low % 3, high % 3]
            left, right = (high, low) if rng.random() < 0.5 else (low, high)
            rows.append((f"t{rng.integers(20)}", f"d{left}", f"d{right}", 1 if won == (left == high) else -1))
    return read_judgments(qrels), Preferences.of(rows)


def test_labels_that_users_tell_apart_are_found() -> None:
    judgments, preferences = known({(0, 1): 0.8, (1, 2): 0.5})
    result = preferences_by_labels(preferences, judgments)
    first, none, second = result.records()
    assert (first["lower"], first["higher"], first["told_apart"]) == ("0", "1", True)
    assert first["low"] < 0.8 < first["high"]
    assert second["low"] < 0.5 < second["high"]
    assert second["told_apart"] is False
    assert (none["p"], none["told_apart"]) == (None, None)
    assert "no choice is between" in none["reason"]


def test_choices_between_equal_labels_are_told() -> None:
    judgments = read_judgments({"1": {"a": 1, "b": 1, "c": 0, "d": 0}})
    choices = [("1", "a", "b", 1), ("1", "c", "d", 0), ("1", "b", "a", 1), ("1", "a", "c", 1)]
    found = preferences_by_labels(Preferences.of(choices), judgments)
    assert found.n_choices == 4
    assert found.counts.trace().sum() / found.counts.sum() == 0.75


def test_a_scale_that_users_contradict_is_named() -> None:
    judgments, preferences = known({(0, 1): 0.2})
    found = preferences_by_labels(preferences, judgments)
    assert found.high[1, 0] < 0.5
    assert np.isnan(found.p[2, 1])
    assert "1 over 0 in" in found.sentence()
    assert "2 over 1" not in found.sentence()


def test_names_that_do_not_meet_are_an_error() -> None:
    with pytest.raises(PairsError, match="no choice is between two documents that one assessor labelled"):
        preferences_by_labels(Preferences.of([("q1", "d1", "d2", 1)]), read_judgments({"1": {"d1": 1, "d2": 0}}))


def test_real_grades_are_told_apart_by_the_authors(data_dir: Path) -> None:
    judgments = read_judgments(data_dir / "cast19_prefs" / "qrels_nist.txt.gz")
    preferences = read_preferences(data_dir / "cast19_prefs" / "prefs_local.txt.gz")
    result = preferences_by_labels(preferences, judgments)
    assert result.n_choices == 3743
    assert (result.counts[4, 3, 0], result.counts[3, 2, 0]) == (255, 177)
    assert result.told_apart(4, 3)
    assert result.told_apart(3, 2)
    assert result.p[4, 0] > result.p[4, 3]

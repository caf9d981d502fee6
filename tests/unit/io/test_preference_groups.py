"""The first three examples are those that trec_eval gives for its format prefs, with the pairs that it counts."""

from __future__ import annotations

import pytest

from venire import AmbiguousLabels, FormatError, Preferences
from venire.io.exchange import read_preference_groups, write_preference_groups


def pairs(preferences: Preferences) -> list[tuple[str, str, str]]:
    rows = preferences.to_polars().rows(named=True)
    assert all(row["strength"] == 1 for row in rows)
    return sorted((row["assessor"], row["left"], row["right"]) for row in rows)


@pytest.fixture
def read(tmp_path):
    def of(text: str) -> Preferences:
        path = tmp_path / "x.prefs"
        path.write_text(text)
        return read_preference_groups(path)

    return of


def test_a_whole_ranking_is_all_its_pairs_but_ties(read):
    levels = {"1": 3.0, "2": 2.0, "3": 0.0, "4": 6.0, "5": 0.0, "6": 2.0}
    found = read("".join(f"q u s {doc} {level}\n" for doc, level in levels.items()))
    expected = [("u", a, b) for a in levels for b in levels if levels[a] > levels[b]]
    assert pairs(found) == sorted(expected)
    assert len(found) == 13


def test_a_pair_in_two_sub_groups_counts_once(read):
    text = "q u s 1 3\nq u s 2 2\nq u s 3 1\nq u t 1 2\nq u t 2 1\nq u t 4 3\n"
    assert [row[1:] for row in pairs(read(text))] == [("1", "2"), ("1", "3"), ("2", "3"), ("4", "1"), ("4", "2")]


def test_users_may_contradict_each_other(read):
    text = "q u s 1 3\nq u s 2 2\nq v s 1 0\nq v s 3 6\nq v s 4 2\nq v t 1 0\nq v t 2 8\n"
    assert pairs(read(text)) == [("u", "1", "2"), ("v", "2", "1"), ("v", "3", "1"), ("v", "3", "4"), ("v", "4", "1")]


def test_topics_are_apart(read):
    assert len(read("q u s 1 3\nr u s 2 2\n")) == 0


def test_what_is_written_comes_back(tmp_path):
    rows = [
        ("q", "a", "b", 2, "ann"),
        ("q", "b", "c", -1, "ann"),
        ("q", "a", "b", -1, "bob"),
        ("q", "a", "c", 0, "bob"),
    ]
    path = tmp_path / "x.prefs"
    write_preference_groups(Preferences.of(rows), path)
    assert path.read_text().splitlines()[:2] == ["q ann 1 a 2.0", "q ann 1 b 1.0"]
    assert pairs(read_preference_groups(path)) == [("ann", "a", "b"), ("ann", "c", "b"), ("bob", "b", "a")]


def test_a_user_does_not_contradict_himself(tmp_path):
    both = Preferences.of([("q", "a", "b", 1, "ann"), ("q", "b", "a", 1, "ann"), ("r", "a", "b", 1, "ann")])
    with pytest.raises(AmbiguousLabels, match=r"'ann' prefers each of .* \(1 such pair\)"):
        write_preference_groups(both, tmp_path / "x")
    write_preference_groups(both.anonymous(), tmp_path / "x")
    assert len(read_preference_groups(tmp_path / "x")) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q u a 1\n", "found 4 columns"),
        ("q u s a high\n", "x.prefs:1: the level is not"),
        ("\n", "holds no preferences"),
        ("q u s a 1\x00\n", "control byte"),
    ],
)
def test_what_is_no_such_file(read, text, words):
    with pytest.raises(FormatError, match=words):
        read(text)


def test_names_with_white_space_are_refused(tmp_path):
    with pytest.raises(FormatError, match="assessor 'ann b' does not fit"):
        write_preference_groups(Preferences.of([("q", "a", "b", 1, "ann b")]), tmp_path / "x")

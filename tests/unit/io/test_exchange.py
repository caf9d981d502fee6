from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire import FormatError, Preferences, evaluate, read_judgments, read_runs
from venire.disagreement.gains import predicted_qrels
from venire.errors import AmbiguousLabels, SettingError, UnknownName
from venire.io.exchange import (
    TOOLS,
    Qrel,
    as_whole,
    read_preference_groups,
    run_scores,
    write_preference_groups,
    write_scaled_qrels,
)

TWO = {"ann": {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}}, "bob": {"q1": {"a": 1, "b": 2, "c": 0}}}
LINES = "1 Q0 a 2 0.5 x\n1 Q0 b 1 2 x\n2 Q0 a 1 1e-3 y\n"
WORTH = {"0": 0.0, "1": 0.4, "2": 0.9}


def test_rows_are_those_of_ir_measures():
    rows = list(predicted_qrels(TWO, WORTH, assessor="bob"))
    assert rows == [Qrel("q1", "a", 400), Qrel("q1", "b", 900), Qrel("q1", "c", 0)]
    assert Qrel._fields == ("query_id", "doc_id", "relevance", "iteration")


def test_whole_gains_stay_as_they_are_and_others_are_scaled():
    assert predicted_qrels(TWO, "linear", assessor="ann").scale_by == 1
    assert predicted_qrels(TWO, "linear", pool="mean").scale_by == 1000
    assert predicted_qrels(TWO, "linear", pool="mean").to_dict() == {
        "q1": {"a": 1500, "b": 1500, "c": 0},
        "q2": {"a": 1000},
    }


def test_judgment_groups_name_their_assessor():
    rows = list(predicted_qrels(TWO, "linear", per="assessor").lines())
    assert rows[0] == Qrel("q1", "a", 2, "ann")
    assert [row.iteration for row in rows] == ["ann"] * 4 + ["bob"] * 3
    with pytest.raises(AmbiguousLabels, match="2 assessors do not fit"):
        predicted_qrels(TWO, "linear", per="assessor").to_dict()
    with pytest.raises(AmbiguousLabels, match="which knows no assessors"):  # ir_measures would keep the last one's
        iter(predicted_qrels(TWO, "linear", per="assessor"))


def test_nothing_is_pooled_in_silence():
    with pytest.raises(AmbiguousLabels, match="nothing says whose labels count"):
        predicted_qrels(TWO, "linear")


def test_a_model_may_be_fitted_on_other_judgments():
    others = {who: {"x": {f"d{n}": int(n < at) for n in range(100)}} for who, at in (("c", 40), ("d", 50))}
    one = {"q1": {"a": 1, "b": 0}}
    # 40 + 40 of 90 labels 1 have a second label 1; 10 of 110 labels 0
    assert predicted_qrels(one, "prm:1", fit_on=others).to_dict() == {
        "q1": {"a": round(8000 / 9), "b": round(1000 / 11)}
    }


@given(
    gains=st.lists(st.floats(0, 5), min_size=1, max_size=20),
    scale_by=st.integers(1, 10_000),
)
def test_rounding_is_at_most_half_a_step(gains, scale_by):
    values = np.array(gains)
    assert np.abs(as_whole(values, scale_by) / scale_by - values).max() <= 0.5 / scale_by + 1e-12


def test_what_rounding_loses_is_said():
    qrels = predicted_qrels(TWO, {"0": 0.001, "1": 0.002, "2": 0.9}, assessor="ann", scale_by=10)
    assert qrels.relevance.tolist() == [9, 0, 0, 0]
    assert (qrels.notes[0].kind, qrels.notes[0].fields) == ("gains-rounded-to-zero", {"n": 3})
    assert (qrels.notes[1].kind, qrels.notes[1].fields) == ("gains-merged", {"before": 3, "after": 2})
    assert qrels.rounding == pytest.approx(0.002)


def test_small_gains_are_not_to_be_taken_for_relevance():
    note = predicted_qrels(TWO, WORTH, assessor="ann").notes[0]
    assert (note.kind, note.fields) == ("small-gains-relevant", {"n": 2})
    assert predicted_qrels(TWO, "linear", assessor="ann").notes == ()


def test_the_sentence_states_the_scale():
    words = predicted_qrels(TWO, WORTH, assessor="ann").sentence()
    assert words == "4 lines on 2 topics: relevance is 1,000 times the gain, rounded (stated)."
    groups = predicted_qrels(TWO, "linear", per="assessor").sentence()
    assert groups == "7 lines on 2 topics in 2 judgment groups: relevance is the gain (linear)."


@pytest.mark.parametrize(("scale_by", "words"), [(0, "expected a whole number from 1 on"), (10**9, "is more than")])
def test_scales_that_cannot_be(scale_by, words):
    with pytest.raises(SettingError, match=words):
        predicted_qrels(TWO, WORTH, assessor="ann", scale_by=scale_by)


def test_a_file_has_no_comment_and_its_scale_stands_beside(tmp_path):
    path = tmp_path / "prm.qrels"
    beside = write_scaled_qrels(predicted_qrels(TWO, WORTH, assessor="bob"), path)
    assert path.read_text() == "q1 0 a 400\nq1 0 b 900\nq1 0 c 0\n"
    assert beside == tmp_path / "prm.qrels.toml"
    stated = tomllib.loads(beside.read_text())
    assert stated["gains"] == {"name": "stated", "scale_by": 1000, "labels": WORTH}
    assert read_judgments(path).scale.labels == ("0", "400", "900")
    lists = {"q1": {"a": 2.0, "b": 1.0, "c": 0.5}}
    ours = evaluate(TWO, lists, "nDCG@3", gains=WORTH, assessor="bob", topics=["q1"]).values.item()
    assert evaluate(path, lists, "nDCG@3", gains="raw").values.item() == pytest.approx(ours, abs=1e-12)


def test_nothing_stands_beside_where_relevance_is_the_gain(tmp_path):
    assert write_scaled_qrels(predicted_qrels(TWO, "linear", assessor="ann"), tmp_path / "plain.qrels") is None
    assert [path.name for path in tmp_path.iterdir()] == ["plain.qrels"]


def test_a_scale_that_was_beside_is_replaced(tmp_path):
    path = tmp_path / "q.qrels"
    write_scaled_qrels(predicted_qrels(TWO, WORTH, assessor="ann"), path)
    write_scaled_qrels(predicted_qrels(TWO, "linear", assessor="ann"), path)
    assert read_judgments(path).scale.labels == ("0", "1", "2")


def test_groups_come_back(tmp_path):
    path = tmp_path / "groups.qrels"
    write_scaled_qrels(predicted_qrels(TWO, "linear", per="assessor"), path, to="groups")
    assert path.read_text().splitlines()[0] == "q1 ann a 2"
    again = read_judgments(path, second_column="assessor")
    assert sorted(again.to_polars().rows()) == sorted(read_judgments(TWO).to_polars().rows())


def test_ranx_goes_by_the_ending(tmp_path):
    qrels = predicted_qrels(TWO, WORTH, assessor="bob")
    write_scaled_qrels(qrels, tmp_path / "prm.json", to="ranx")
    assert (tmp_path / "prm.json").read_text() == '{"q1": {"a": 400, "b": 900, "c": 0}}\n'
    write_scaled_qrels(qrels, tmp_path / "prm.txt", to="ranx")
    assert (tmp_path / "prm.txt").read_text().startswith("q1 0 a 400\n")
    with pytest.raises(FormatError, match="ranx does not read"):
        write_scaled_qrels(qrels, tmp_path / "prm.qrels", to="ranx")


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    with pytest.raises(FormatError, match="document 'b c' does not fit"):
        write_scaled_qrels(predicted_qrels({"q": {"a": 1, "b c": 0}}, "linear"), tmp_path / "q")
    with pytest.raises(AmbiguousLabels, match="do not fit into qrels for trec"):
        write_scaled_qrels(predicted_qrels(TWO, "linear", per="assessor"), tmp_path / "q")
    with pytest.raises(UnknownName, match="there is no tool 'trek'"):
        write_scaled_qrels(predicted_qrels(TWO, "linear", assessor="ann"), tmp_path / "q", to="trek")
    with pytest.raises(FormatError, match="is not UTF-8"):
        write_scaled_qrels(predicted_qrels({"q": {"\udcff": 1}}, "linear"), tmp_path / "q.json", to="ranx")
    assert TOOLS == ("trec", "ir_measures", "ranx", "groups")
    assert not list(tmp_path.iterdir())


# The first three examples are those that trec_eval gives for its format prefs, with the pairs that it counts.
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


def test_files_hold_several_systems(tmp_path):
    path = tmp_path / "two.run"
    path.write_text(LINES)
    assert run_scores(path) == {"x": {"1": {"a": 0.5, "b": 2.0}}, "y": {"2": {"a": 0.001}}}
    assert run_scores(read_runs(path, order="rank"))["x"] == {"1": {"a": -2.0, "b": -1.0}}
    assert set(run_scores(read_runs(path, system_from="file"))) == {"two"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (LINES + LINES, "ranked twice"),
        ("1 Q0 a 2 x\n", "found 5 columns"),
        ("1 Q0 a 1 high x\n", "not a finite number"),
        ("\n", "holds no run lines"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path, content, words):
    path = tmp_path / "x.run"
    path.write_text(content)
    with pytest.raises(FormatError, match=words):
        run_scores(path)


def test_a_document_twice_counts_once_if_so_asked(tmp_path):
    path = tmp_path / "x.run"
    path.write_text("1 Q0 a 1 3 x\n1 Q0 a 2 1 x\n")
    assert run_scores(read_runs(path, duplicate_docs="first")) == {"x": {"1": {"a": 3.0}}}


def test_one_system_in_two_sources_is_an_error():
    with pytest.raises(FormatError, match="another source too"):
        run_scores([{"1": {"a": 1.0}}, {"1": {"b": 1.0}}])

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire import AmbiguousLabels, FormatError, SettingError, UnknownName, evaluate, read_judgments
from venire.disagreement.gains import predicted_qrels
from venire.io.exchange import TOOLS, Qrel, as_whole, write_scaled_qrels

TWO = {"ann": {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}}, "bob": {"q1": {"a": 1, "b": 2, "c": 0}}}
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

"""Traps that other tools leave open, each with what we do; the other tool is run where it is installed."""

from __future__ import annotations

import gzip
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import assume, given, strategies as st

from strategies import SCALE, grades, ranking, run
from their_measures import their_measure
from venire import FormatError, VenireError, evaluate, read_judgments, read_runs
from venire.errors import MissingTopicsWarning, TopicsError

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")
pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")

JUDGED = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1, "d": 0}}
RUN = b"1 Q0 b 1 9.5 sys\n1 Q0 a 2 8.25 sys\n1 Q0 x 3 7 sys\n1 Q0 c 4 6 sys\n2 Q0 d 1 2 sys\n2 Q0 a 2 1 sys\n"
AP_OF_RUN = [(1 / 2 + 2 / 4) / 2, 1 / 2]


def written(folder: Path, data: bytes, name: str = "run.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def value(judged: object, lists: object, measure: str, **options: object) -> float:
    """Score one system on one topic by one measure."""
    ((scores,),) = evaluate(judged, lists, [measure], **options).values
    (only,) = scores
    return float(only)


def aps(path: Path, **rules: str) -> list[float]:
    return evaluate(JUDGED, read_runs(path, **rules), ["AP"]).values[0, :, 0].tolist()


# --- gains, scores and ties ------------------------------------------------------------------------------------


def test_fractions_of_a_gain_are_kept():
    """trec_eval sorts gains by the whole part of their difference, and so misses the best ranking."""
    judged, lists = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}
    gains = {"0": 0, "1": 0.9, "2": 1.8}
    assert value(judged, lists, "nDCG", gains=gains) == pytest.approx(1.0, abs=1e-12)
    assert value({"q": {"a": 1, "b": 0}}, lists, "nDCG", gains={"0": 0, "1": 0.9}) == pytest.approx(1 / math.log2(3))
    assert their_ndcg(judged, lists, "ndcg.1=0.9,2=1.8") > 1.3  # of a measure that ends at 1
    assert their_ndcg({"q": {"a": 1, "b": 0}}, lists, "ndcg.1=0.9") == 0


def their_ndcg(judged: object, lists: object, name: str) -> float:
    """Score by trec_eval itself; pytrec_eval's Python part drops gains from the name."""
    from pytrec_eval_ext import RelevanceEvaluator

    evaluator = RelevanceEvaluator(
        query_relevance=judged, measures={name}, relevance_level=1, judged_docs_only_flag=False
    )
    return evaluator.evaluate(lists)["q"]["ndcg"]


def test_scores_that_differ_in_double_precision_alone_are_no_tie():
    judged, lists = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.00000001, "b": 1.0}}
    assert np.float32(1.00000001) == np.float32(1.0)
    (theirs,) = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(lists)["q"].values()
    assert value(judged, read_runs(lists), "RR") == 1
    assert value(judged, read_runs(lists, score_type="float32"), "RR") == theirs == 0.5


def test_scores_beyond_single_precision_tie_there(tmp_path):
    judged, lists = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2e39, "b": 1e39}}
    path = written(tmp_path, b"q Q0 a 1 2e39 s\nq Q0 b 2 1e39 s\n")
    (theirs,) = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(lists)["q"].values()
    for source in (path, lists):
        assert value(judged, read_runs(source), "RR") == 1
        assert value(judged, read_runs(source, score_type="float32"), "RR") == theirs == 0.5


@pytest.mark.parametrize(("higher", "lower"), [("b", "a"), ("ab", "a"), ("a", "B"), ("é", "z"), ("d2", "d10")])
def test_ties_go_by_the_bytes_of_the_id_descending(higher, lower):
    judged, lists = {"q": {higher: 1}}, {"q": {lower: 1.0, higher: 1.0}}
    assert value(judged, lists, "RR") == 1
    assert pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(lists)["q"]["recip_rank"] == 1
    (theirs,) = ir_measures.iter_calc([their_measure("RR@2")], judged, lists)
    assert theirs.value == 0.5  # the other way round


def test_judged_goes_by_the_same_order_as_all_measures():
    judged, lists = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    (theirs,) = ir_measures.iter_calc([their_measure("Judged@1")], judged, lists)
    assert (value(judged, lists, "Judged@1"), theirs.value) == (1, 0)


@given(judged=grades(lowest=0), lists=run(), p=st.floats(0.01, 0.99))
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_graded_rbp_never_exceeds_one(judged, lists, p):
    """Raw grades for gains, as ranx takes them, would give (1 - p) * 3 / (1 - p) = 3 for a list of threes."""
    assume(judged.keys() & lists.keys())
    scores = evaluate(read_judgments(judged, scale=SCALE), read_runs(lists), [f"RBP(p={p!r})"])
    assert scores.values.max() <= 1 + 1e-12


def test_graded_rbp_by_hand():
    judged, lists = {"q": {"a": 3, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    assert value(judged, lists, "RBP(p=0.5)") == pytest.approx(0.5 * 1 + 0.25 / 3, abs=1e-12)
    assert value(judged, lists, "RBP(p=0.5,rel=1)") == pytest.approx(0.75, abs=1e-12)


def test_err_takes_the_top_of_the_scale():
    judged, lists = {"1": {"a": 1, "b": 2, "c": 0}}, {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}
    by_hand = 1 / 4 + (1 - 1 / 4) * (3 / 4) / 3  # R = 1/4, 0, 3/4 on a scale of 0, 1, 2
    assert value(judged, lists, "ERR@10") == pytest.approx(by_hand, abs=1e-12)
    assert value(read_judgments(judged, scale="0<1<2<3<4"), lists, "ERR@10") == pytest.approx(
        1 / 16 + (1 - 1 / 16) * (3 / 16) / 3, abs=1e-12
    )


@pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval with perl")
def test_gdeval_takes_four_for_the_top_of_every_scale():
    judged, lists = {"1": {"a": 1, "b": 2, "c": 0}}, {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}
    (theirs,) = ir_measures.iter_calc([their_measure("ERR@10")], judged, lists)
    assert theirs.value == pytest.approx(1 / 16 + (1 - 1 / 16) * (3 / 16) / 3, abs=0.5e-5)
    assert value(judged, lists, "ERR@10") > 3 * theirs.value


@given(judged=grades(lowest=0), lists=run(), gains=st.lists(st.floats(0, 50), min_size=4, max_size=4))
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_ndcg_never_exceeds_one(judged, lists, gains):
    assume(judged.keys() & lists.keys())
    worth = dict(zip("0123", gains, strict=True))
    scores = evaluate(
        read_judgments(judged, scale=SCALE), lists, ["nDCG", "nDCG@3", "nDCG(dcg=zipf)@5", "nERR@4"], gains=worth
    )
    assert scores.values.max() <= 1 + 1e-12


@given(judged=grades(lowest=0), lists=run(), unjudged=st.floats(0.01, 5))
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_ndcg_never_exceeds_one_where_unjudged_documents_have_a_gain(judged, lists, unjudged):
    assume(judged.keys() & lists.keys())
    measures = ["nDCG@1", "nDCG@5", "nDCG@20", "nERR@5", "CG", "nDCG(dcg=exp-log2)@5"]
    scores = evaluate(read_judgments(judged, scale=SCALE), lists, measures, unjudged=unjudged)
    for name in measures:
        if name.startswith("n"):
            assert scores.select(measure=name).values.max() <= 1 + 1e-12, name


# --- what counts -----------------------------------------------------------------------------------------------


def test_missing_topics_count_in_the_mean():
    lists = {"1": {"a": 1.0}}
    with pytest.warns(MissingTopicsWarning, match="1 of 2"):
        scores = evaluate(JUDGED, lists, ["P@1"])
    theirs = pytrec_eval.RelevanceEvaluator(JUDGED, {"P_1"}).evaluate(lists)
    assert scores.mean().values.tolist() == [[0.5]]
    assert [each["P_1"] for each in theirs.values()] == [1.0]  # and so is their mean
    assert list(ir_measures.calc_aggregate([ir_measures.P @ 1], JUDGED, lists).values()) == [0.5]
    with pytest.warns(MissingTopicsWarning):
        assert evaluate(JUDGED, lists, ["P@1"], missing="skip").mean().values.tolist() == [[1.0]]


def test_a_topic_with_an_empty_list_is_a_missing_one():
    with pytest.warns(MissingTopicsWarning, match="1 of 2"):
        scores = evaluate(JUDGED, {"1": {"a": 1.0}, "2": {}}, ["P@1"])
    assert scores.values[0, :, 0].tolist() == [1, 0]
    theirs = pytrec_eval.RelevanceEvaluator(JUDGED, {"P_1"}).evaluate({"1": {"a": 1.0}, "2": {}})
    assert [theirs[topic]["P_1"] for topic in "12"] == [1, 0]


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_system_that_returned_nothing_has_no_score(missing):
    with pytest.warns(MissingTopicsWarning, match=r"none returned nothing for any scored topic \(of 2\)"):
        scores = evaluate(JUDGED, {"none": {}, "one": {"1": {"a": 1.0}, "2": {"a": 1.0}}}, ["P@1"], missing=missing)
    assert (scores.names["system"], scores.silent, scores.values.tolist()) == (("one",), ("none",), [[[1], [1]]])
    assert [row["value"] for row in scores.records()] == [1, 1, None, None]
    assert list(ir_measures.calc_aggregate([ir_measures.P @ 1], JUDGED, {}).values()) == [0]


@pytest.mark.parametrize("lists", [{"none": {"9": {"a": 1.0}}}, {"none": {"9": {"a": 1.0}}, "no": {}}])
def test_it_is_an_error_if_all_systems_returned_nothing(lists):
    with pytest.raises(TopicsError, match="no topic in common") as raised:
        evaluate(JUDGED, lists, ["P@1"])
    assert raised.value.hint


def test_topics_without_judgments_are_ignored_and_counted():
    scores = evaluate(JUDGED, {"1": {"a": 1.0}, "2": {"a": 1.0}, "9": {"a": 1.0}, "8": {"a": 1.0}}, ["P@1"])
    assert scores.names["topic"] == ("1", "2")
    assert [note.fields for note in scores.notes if note.kind == "unjudged-topics"] == [{"n": 2}]


def test_topics_without_relevant_documents_score_zero_as_with_trec_eval():
    judged, lists = {"1": {"a": 0, "b": 0}}, {"1": {"a": 2.0, "b": 1.0}}
    names = {"map": "AP", "ndcg": "nDCG", "Rprec": "Rprec", "bpref": "bpref", "recall_5": "R@5", "recip_rank": "RR"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, set(names)).evaluate(lists)["1"]
    assert set(theirs.values()) == {0.0}
    scores = evaluate(judged, lists, list(names.values()))
    assert scores.values.tolist() == [[[0.0] * len(names)]]


def test_labels_below_zero_are_unjudged_or_the_lowest():
    judged, lists = {"1": {"a": -1, "b": 1}}, {"1": {"a": 2.0, "b": 1.0}}
    unjudged, lowest = (read_judgments(judged, negative=rule) for rule in ("unjudged", "lowest"))
    assert [value(each, lists, "Judged@2") for each in (unjudged, lowest)] == [0.5, 1]
    assert [value(each, lists, "bpref") for each in (unjudged, lowest)] == [1, 0]
    assert [note.fields["n"] for note in unjudged.notes if note.kind == "negative-labels"] == [1]
    assert pytrec_eval.RelevanceEvaluator(judged, {"bpref"}).evaluate(lists)["1"]["bpref"] == 1
    (theirs,) = ir_measures.iter_calc([their_measure("Judged@2")], judged, lists)
    assert theirs.value == 1  # judged there, unjudged in every other measure


def test_a_topic_with_labels_below_zero_alone_is_not_judged():
    scores = evaluate({"1": {"a": 1}, "2": {"a": -1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}, ["P@1"])
    assert scores.names["topic"] == ("1",)


# --- repeated documents and tags -------------------------------------------------------------------------------

TWICE = b"1 Q0 b 1 9 sys\n1 Q0 a 2 8 sys\n2 Q0 d 1 2 sys\n1 Q0 b 3 7 sys\n"


@pytest.mark.parametrize("data", [TWICE, RUN + b"2 Q0 a 3 0.5 sys\n"], ids=["scattered", "together"])
def test_a_document_twice_in_a_list_is_an_error_that_names_the_line(tmp_path, data):
    path = written(tmp_path, data)
    with pytest.raises(FormatError, match="ranked twice") as caught:
        aps(path)
    assert (caught.value.where, caught.value.line) == (path, data.count(b"\n"))
    assert "first" in (caught.value.hint or "")


def test_the_first_line_of_a_repeated_document_can_count(tmp_path):
    path = written(tmp_path, b"1 Q0 a 1 9 sys\n1 Q0 b 2 8 sys\n1 Q0 a 3 1 sys\n2 Q0 a 1 1 sys\n")
    kept = evaluate(JUDGED, read_runs(path, duplicate_docs="first"), ["RR", "Judged@3"])
    assert kept.values[0, 0].tolist() == [1, 1]
    lists = ir_measures.read_trec_run(str(path))
    (theirs,) = (each for each in ir_measures.iter_calc([ir_measures.RR], JUDGED, lists) if each.query_id == "1")
    assert theirs.value == 0.5  # the last line counts, in silence


def test_one_tag_in_two_files_is_an_error(tmp_path):
    paths = [written(tmp_path, RUN, name) for name in ("one.run", "two.run")]
    with pytest.raises(FormatError, match=r"'sys' is in .*one\.run too") as caught:
        evaluate(JUDGED, read_runs(paths), ["AP"])
    assert "name systems after their files" in (caught.value.hint or "")
    scores = evaluate(JUDGED, read_runs(paths, system_from="file"), ["AP"])
    assert scores.names["system"] == ("one", "two")
    assert scores.values[:, :, 0].tolist() == [AP_OF_RUN, AP_OF_RUN]


def test_one_system_from_two_tables_is_an_error():
    with pytest.raises(FormatError, match="system 'run'"):
        evaluate(JUDGED, read_runs([{"1": {"a": 1.0}, "2": {"a": 1.0}}, {"1": {"b": 1.0}, "2": {"d": 1.0}}]), ["AP"])


@given(judged=grades(lowest=0), lists=run())
def test_the_reference_order_is_that_of_the_measures(judged, lists):
    """The order that the other tests rely on, against P at every rank."""
    both = [topic for topic in lists if topic in judged]
    for topic in both:
        docs = ranking(lists[topic])
        names = [f"P@{k}" for k in range(1, len(docs) + 1)]
        scores = evaluate(read_judgments({topic: judged[topic]}, scale=SCALE), {topic: lists[topic]}, names)
        relevant = [judged[topic].get(doc, 0) >= 1 for doc in docs]
        expected = np.cumsum(relevant) / np.arange(1, len(docs) + 1)
        np.testing.assert_allclose(scores.values[0, 0], expected, rtol=0, atol=1e-12)


def test_a_hint_is_part_of_the_message(tmp_path):
    with pytest.raises(VenireError, match="hint: ") as caught:
        aps(written(tmp_path, TWICE))
    assert str(caught.value).startswith(str(tmp_path))


# --- files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["abc", "nan", "inf", "-inf", "1e400", "1,5", "0x1p3", "--1", "1e", ".", "1_0"])
def test_a_score_that_is_not_a_finite_number_is_an_error(tmp_path, score):
    """trec_eval reads 0 where it can read nothing, and orders nan somewhere."""
    with pytest.raises(FormatError, match="is not a finite number") as caught:
        aps(written(tmp_path, RUN + f"2 Q0 e 3 {score} sys\n".encode()))
    assert caught.value.line == 7
    assert repr(score) in str(caught.value)


@pytest.mark.parametrize("score", ["high", float("nan"), float("inf"), None])
def test_a_score_in_memory_that_is_not_a_finite_number_is_an_error(score):
    with pytest.raises(VenireError, match="not a finite number"):
        evaluate(JUDGED, {"1": {"a": 1.0}, "2": {"d": score}}, ["AP"])


@pytest.mark.parametrize("line", [b"2 Q0 e 3 1\n", b"2 Q0 e 3 1 sys more\n", b"2 Q0 e 3 1", b"2\n", b"2 Q0 e 3 0."])
def test_another_number_of_columns_is_an_error(tmp_path, line):
    with pytest.raises(FormatError, match=rf"found {len(line.split())} columns? in") as caught:
        aps(written(tmp_path, RUN + line))
    assert caught.value.line == 7
    assert line.endswith(b"\n") or "cut off" in (caught.value.hint or "")


def test_a_last_line_that_was_cut_off_in_its_tag_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="'sy' without a line end") as caught:
        aps(written(tmp_path, RUN[:-2]))
    assert caught.value.line == 6
    assert aps(written(tmp_path, RUN[:-1])) == AP_OF_RUN  # no line end, but the whole tag
    with pytest.raises(FormatError, match="'sy' without a line end"):
        aps(written(tmp_path, RUN[:-2]), system_from="file")


def test_a_file_of_several_systems_cannot_name_them(tmp_path):
    path = written(tmp_path, b"1 Q0 a 1 3 s\n1 Q0 b 2 2 t\n2 Q0 a 1 1 t\n")
    with pytest.raises(FormatError, match=r"holds 2 systems \('s', 't'\), and a file can name only one"):
        aps(path, system_from="file")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only a comment\n", b"\xef\xbb\xbf"])
def test_files_that_hold_nothing_are_errors(tmp_path, data):
    path = written(tmp_path, data)
    with pytest.raises(FormatError, match="holds no run lines"):
        aps(path)
    with pytest.raises(FormatError, match="holds no judgments"):
        read_judgments(path)


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, RUN.replace(b"x", b"\0"), b"PK\3\4" + RUN])
def test_binary_files_are_errors(tmp_path, data):
    with pytest.raises(FormatError, match="not a text file"):
        aps(written(tmp_path, data))


LINES = RUN.splitlines(keepends=True)
SAME = {
    "CRLF": RUN.replace(b"\n", b"\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + RUN,
    "tabs": RUN.replace(b" ", b"\t"),
    "several separators": b"  " + RUN.replace(b" ", b" \t  ").replace(b"\n", b" \n"),
    "empty lines": b"\n" + RUN.replace(b"\n", b"\n\n \t\n"),
    "comments": b"# head\n" + LINES[0] + b"# in between\n" + b"".join(LINES[1:]),
    "interleaved topics": b"".join(LINES[n] for n in (0, 4, 1, 5, 2, 3)),
    "scores out of order": b"".join(LINES[n] for n in (3, 2, 1, 0, 5, 4)),
    "no last line end": RUN[:-1],
    "gz": gzip.compress(RUN),
    "gz in two members": gzip.compress(RUN[:70]) + gzip.compress(RUN[70:]),
    "zst": zstandard.compress(RUN),
    "zst in two frames": zstandard.compress(RUN[:70]) + zstandard.compress(RUN[70:]),
    "other ranks": RUN.replace(b" 2 8.25", b" 77 8.25"),
    "scores with exponents": RUN.replace(b"9.5", b"95e-1").replace(b"8.25", b"+.825E1").replace(b" 7 ", b" 7. "),
}


@pytest.mark.parametrize("data", SAME.values(), ids=SAME)
def test_the_same_run_in_other_clothes(tmp_path, data):
    assert aps(written(tmp_path, data)) == AP_OF_RUN


def test_the_rank_column_can_be_the_order(tmp_path):
    path = written(tmp_path, b"1 Q0 b 2 9 sys\n1 Q0 a 1 8 sys\n2 Q0 a 1 1 sys\n")
    assert evaluate(JUDGED, read_runs(path, order="rank"), ["RR"]).values[0, 0].tolist() == [1]
    assert evaluate(JUDGED, read_runs(path), ["RR"]).values[0, 0].tolist() == [0.5]


LONG = b"".join(b"1 Q0 doc%d %d %d sys\n" % (n * 7919 % 100_003, n, 30_000 - n) for n in range(30_000))


@pytest.mark.parametrize("whole", [gzip.compress(LONG), zstandard.compress(LONG)], ids=["gz", "zst"])
@pytest.mark.parametrize("kept", [0.1, 0.9])
def test_compressed_files_that_end_early_are_errors(tmp_path, whole, kept):
    with pytest.raises(FormatError, match="end early or are damaged"):
        aps(written(tmp_path, whole[: int(len(whole) * kept)]))


def test_damaged_zst_is_an_error(tmp_path):
    whole = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(RUN))
    whole[-1] ^= 0xFF  # the checksum
    with pytest.raises(FormatError, match="end early or are damaged"):
        aps(written(tmp_path, bytes(whole)))


def test_ids_are_bytes_valid_text_or_not(tmp_path):
    judged = read_judgments(written(tmp_path, b"\xff 0 \xe9t\xe9 1\n\xff 0 \xe9 0\n", "qrels"))
    path = written(tmp_path, b"\xff Q0 \xe9 1 2 \xf6\n\xff Q0 \xe9t\xe9 2 1 \xf6\n")
    scores = evaluate(judged, path, ["RR"])
    assert scores.values.tolist() == [[[0.5]]]
    names = (scores.names["system"][0], scores.names["topic"][0], judged.items.doc[1])
    assert [name.encode("utf-8", "surrogateescape") for name in names] == [b"\xf6", b"\xff", b"\xe9t\xe9"]


def test_judgments_with_a_line_too_short_are_errors(tmp_path):
    with pytest.raises(FormatError, match="found 3 columns") as caught:
        read_judgments(written(tmp_path, b"1 0 a 1\n1 0 b\n", "qrels"))
    assert caught.value.line == 2

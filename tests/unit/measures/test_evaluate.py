"""evaluate: the rules that change a number, each with the number."""

import numpy as np
import polars as pl
import pytest

from venire import evaluate, read_judgments, read_runs
from venire.comparison import compare_systems
from venire.errors import (
    EqualLabelsWarning,
    GainsError,
    MeasureError,
    MissingTopicsWarning,
    SettingError,
    UnjudgedWarning,
    UnknownName,
)
from venire.io import read_duplicates
from venire.io.runs import scan
from venire.measures import measure, nDCG
from venire.results import Note

GRADED = {"1": {"a": 3, "b": 1, "c": 0, "d": 2}}
RUN = {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}


def score(name, judgments=GRADED, run=RUN, **options):
    return evaluate(judgments, run, name, **options).values.item()


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("P@4", {}, 3 / 4),
        ("P(rel=2)@4", {}, 2 / 4),
        ("P@4", {"gains": "exponential"}, 3 / 4),
        ("P@4", {"gains": "binary:3"}, 1 / 4),
        ("P@4", {"gains": {"0": 0.1, "1": 0.2, "2": 0.5, "3": 0.9}}, 1.7 / 4),
        ("P(rel=2)@4", {"gains": {"0": 0.1, "1": 0.2, "2": 0.5, "3": 0.9}}, 2 / 4),
        ("Success@2", {"gains": {"0": 0, "1": 0.5, "2": 0, "3": 0.5}}, 0.75),
        ("RR", {"gains": {"0": 0, "1": 0.5, "2": 0, "3": 0.5}}, 0.5 + 0.5 * 0.5 / 2),
        ("R@2", {"gains": {"0": 0, "1": 0.5, "2": 0.5, "3": 1}}, 1.5 / 2),
        ("AP", {"gains": {"0": 0, "1": 0.5, "2": 0, "3": 0.5}}, (0.5 + 0.5 * 1.5 / 2) / 1),
        ("Rprec", {"gains": {"0": 0, "1": 0.5, "2": 0, "3": 1}}, (1 + 0.5 * 0.5) / 1.5),
        ("CG@2", {"gains": "exponential"}, 8),
        ("ERR@1", {}, 7 / 8),
        ("ERR@1", {"gains": "exponential"}, 7 / 8),
        ("ERR@1", {"gains": {"0": 0, "1": 0.1, "2": 0.2, "3": 0.6}}, 0.6),
        ("RBP(p=0.5)@1", {}, 0.5),
        ("RBP(p=0.5)@2", {}, 0.5 + 0.25 / 3),
        ("RBP(p=0.5)@1", {"gains": {"0": 0, "1": 0.1, "2": 0.2, "3": 0.6}}, 0.3),
        ("RBPResidual(p=0.5)", {}, 1 / 16),
        ("GAP", {"gains": "binary:3"}, 1.0),
        ("Q", {}, (4 / 4 + 6 / 7 + 9 / 10) / 3),
    ],
)
def test_what_each_measure_reads_from_gains(name, options, expected):
    assert score(name, **options) == pytest.approx(expected, abs=1e-15)


def test_gap_follows_equation_7_of_demeester_2014_over_all_judged_results():
    gains = {"0": 0.0, "1": 0.2, "2": 0.5, "3": 1.0}
    numerator = 1 + (0.2 + 0.2) / 2 + (0.5 + 0.2 + 0 + 0.5) / 4
    assert score("GAP", gains=gains) == pytest.approx(numerator / 1.7)
    three_top = {"1": {"a": 1, "x": 1, "y": 1}}
    assert score("GAP", three_top, {"1": {"a": 1.0}}) == pytest.approx(1 / 3)


def test_gap_needs_gains_that_rise():
    with pytest.raises(GainsError, match="GAP needs gains that increase"):
        score("GAP", gains={"0": 0, "1": 0.5, "2": 0.2, "3": 1})


def test_binary_measures_that_stay_at_rel_say_so():
    scores = evaluate(GRADED, RUN, ["P@4", "nDCG@4"], gains="exponential")
    assert Note("binary-measure", "", measure="P@4", rel="1", gains="exponential") in scores.notes
    assert not evaluate(read_judgments(GRADED, scale="0<1<2<3"), RUN, ["P@4"], gains="linear").notes


def test_the_ideal_sorts_by_gain_not_by_label():
    upside_down = {"0": 3, "1": 0, "2": 0, "3": 0}
    assert score("nDCG@4", gains=upside_down, run={"1": {"c": 1.0}}) == 1.0


def test_unjudged_documents_have_no_gain_a_gain_or_no_place():
    run = {"1": {"x": 9.0, **RUN["1"]}}
    with pytest.warns(UnjudgedWarning, match="among their first 1: run 100%"):
        assert score("P@1", run=run) == 0
    assert score("P@1", run=run, unjudged="condensed") == 1
    assert score("nDCG@5", run=run, unjudged="condensed") == score("nDCG@5")
    assert score("CG@1", run=run, unjudged=0.5) == 0.5
    assert score("nDCG@1", run=run, unjudged=3.0) == 1.0
    assert score("nDCG@1", run=run, unjudged=5.0) == 1.0


@pytest.mark.parametrize("name", ["AP", "R@5", "Rprec", "bpref", "Q", "GAP", "nDCG", "nERR"])
def test_measures_that_count_relevant_documents_are_undefined_when_unjudged_ones_have_gain(name):
    with pytest.raises(MeasureError, match="is not defined when unjudged documents have a gain"):
        score(name, unjudged=0.5)


def test_missing_topics_score_zero_or_are_left_out_and_are_counted():
    judgments = {"1": {"a": 1}, "2": {"b": 1}}
    with pytest.warns(MissingTopicsWarning, match=r"run \(1 of 2\)"):
        assert evaluate(judgments, {"1": {"a": 1.0}}, "P@1").mean().values.item() == 0.5
    with pytest.warns(MissingTopicsWarning, match="omitted"):
        assert evaluate(judgments, {"1": {"a": 1.0}}, "P@1", missing="skip").mean().values.item() == 1.0


def test_topics_nobody_judged_are_ignored_and_counted():
    scores = evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"a": 1.0}}, "P@1")
    assert scores.names["topic"] == ("1",)
    assert Note("unjudged-topics", "", n=2) in scores.notes


def test_only_the_topics_asked_for_are_scored():
    judgments, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0}, "2": {"c": 1.0}}
    assert evaluate(judgments, run, "RR", topics=["1"]).mean().values.item() == 1.0
    with pytest.raises(UnknownName, match="no judged topic"):
        evaluate(judgments, run, "RR", topics=["7"])


def test_copies_of_a_document_count_once_and_the_ideal_takes_one_of_each(tmp_path):
    (tmp_path / "copies.txt").write_text("0\ta\tb\r\n0\tb\td\r\n")
    copies = read_duplicates(tmp_path / "copies.txt")
    assert score("CG@4", duplicates=copies) == 3
    assert score("P@4", duplicates=copies) == 1 / 4
    assert score("nDCG@4", duplicates=copies) == 1.0
    assert score("R@4", duplicates=copies) == 1.0
    assert score("Judged@4", duplicates=copies) == 1.0


def test_a_measure_of_ones_own_works_like_a_built_in():
    first_two = measure(lambda gains: gains[..., :2].max(axis=-1), k=2, name="Best")
    scores = evaluate(GRADED, RUN, [first_two, nDCG(10), "P@1"], gains="exponential")
    assert scores.names["measure"] == ("Best@2", "nDCG@10", "P@1")
    assert scores.values[0, 0, 0] == 7
    with pytest.raises(MeasureError, match="returns one number"):
        evaluate(GRADED, RUN, [measure(lambda gains: gains, k=3, name="Wrong")])
    with pytest.raises(MeasureError, match="Bad failed on gains by rank: no"):
        evaluate(GRADED, RUN, [measure(_refuse, name="Bad")])


def _refuse(_gains):
    raise ValueError("no")


def test_a_plain_function_of_one_ranking_is_a_measure_too():
    def total(gains):
        return float(sum(gains))

    scores = evaluate(GRADED, RUN, [total, "CG"])
    assert scores.names["measure"] == ("total", "CG")
    assert scores.values[0, 0].tolist() == [6.0, 6.0]
    assert evaluate(GRADED, RUN, total).values.item() == 6.0


def test_runs_are_scanned_once_for_all_evaluations(tmp_path):
    path = tmp_path / "run"
    path.write_text("1 Q0 a 1 2.0 s\n1 Q0 d 2 1.0 s\n")
    judgments = read_judgments(GRADED)
    runs = scan(read_runs(path), judgments.items)
    first = evaluate(judgments, runs, "nDCG@10").values
    path.unlink()
    np.testing.assert_array_equal(evaluate(judgments, runs, "nDCG@10").values, first)
    assert evaluate(judgments, runs, "P@2", gains="binary:3").values.item() == 0.5


def test_scores_are_a_named_array():
    scores = evaluate(GRADED, {"s": RUN, "t": {"1": {"d": 1.0}}}, ["P@2", "RR"])
    assert scores.axes == ("system", "topic", "measure")
    assert scores.values.shape == (2, 1, 2)
    assert scores.select(system="t", measure="RR").values.tolist() == [1.0]
    assert scores.mean("system").values.tolist() == [[0.75, 1.0]]
    assert scores.per_topic().columns == ["system", "topic", "P@2", "RR"]
    assert scores.to_pandas().shape == (4, 4)
    assert ">s</td>" in scores._repr_html_()
    assert "2 systems x 1 topic x 2 measures" in repr(scores)
    with pytest.raises(UnknownName, match="no axis 'judge'"):
        scores.mean("judge")
    with pytest.raises(UnknownName, match="no system 'u'"):
        scores.select(system="u")


def test_an_assessor_without_labels_for_a_topic_has_no_score_there(tmp_path):
    (tmp_path / "ann").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "bob").write_text("1 0 a 0\n")
    judgments = read_judgments([tmp_path / "ann", tmp_path / "bob"])
    scores = evaluate(judgments, {"1": {"a": 1.0}, "2": {"a": 1.0}}, "P@1", per="assessor")
    np.testing.assert_array_equal(scores.values[0, :, 0, :], [[1, 0], [1, np.nan]])
    np.testing.assert_array_equal(scores.mean().values[0, 0], [1, 0])
    assert Note("no-labels", "", n=1) in scores.notes
    assert scores.spread("assessor").axes == ("system", "topic", "measure")


def test_no_measure_and_unknown_rules_are_refused():
    with pytest.raises(MeasureError, match="no measure was given"):
        evaluate(GRADED, RUN, [])
    with pytest.raises(UnknownName, match="no rule for missing topics 'drop'"):
        evaluate(GRADED, RUN, missing="drop")
    with pytest.raises(UnknownName, match="no rule for unjudged documents 'ignore'"):
        evaluate(GRADED, RUN, unjudged="ignore")
    with pytest.raises(MeasureError, match="a number from 0 on"):
        evaluate(GRADED, RUN, unjudged=-1)


def test_a_warning_names_the_line_of_the_caller():
    with pytest.warns(UnjudgedWarning) as caught:
        evaluate({"q": {"d": 1}}, {"q": {"x": 1.0}}, "nDCG@1")
    assert [each.filename for each in caught] == [__file__]


def from_label(lowest, *, unjudged=0):
    """Judgments of three topics with labels from the lowest to three above it, and two runs that return all of them,
    after documents that were not judged.
    """
    docs = [f"d{n}" for n in range(8)]
    labels = {f"q{t}": {doc: lowest + (n + t) % 4 for n, doc in enumerate(docs)} for t in range(3)}
    more = [f"u{n}" for n in range(unjudged)]
    runs = {
        name: {topic: {doc: -float(n) for n, doc in enumerate([*more, *docs[::step]])} for topic in labels}
        for name, step in (("up", 1), ("down", -1))
    }
    return labels, runs


def test_labels_that_all_count_as_relevant_are_announced_with_ways_out():
    labels, runs = from_label(1)
    with pytest.warns(EqualLabelsWarning) as caught:
        scores = evaluate(labels, runs, ["P@5", "nDCG@5", "RR"])
    assert (scores.values[:, :, [0, 2]] == 1).all()
    (text,) = (str(each.message) for each in caught)
    assert text.startswith("P@5, RR: all labels that occur (1, 2, 3, 4) count alike, as relevant")
    assert "use P(rel=3)@5, gains binary:3, or the scale 1<2<3<4, whose lowest label has no gain" in text
    for way in ({"measures": "P(rel=3)@5"}, {"measures": "P@5", "gains": "binary:3"}):
        assert evaluate(labels, runs, **way).values.max() < 1


def test_labels_none_of_which_counts_are_announced():
    labels, runs = from_label(0)
    none = read_judgments({topic: dict.fromkeys(docs, 0) for topic, docs in labels.items()})
    with pytest.warns(EqualLabelsWarning, match=r"AP: no label that occurs \(0\) counts as relevant"):
        assert evaluate(none, runs, "AP").values.max() == 0
    low = read_judgments(labels, scale="0<1<2<3<4")
    with pytest.warns(EqualLabelsWarning, match=r"P\(rel=4\)@5: no label .* use P\(rel=2\)@5 or gains binary:2"):
        assert evaluate(low, runs, "P(rel=4)@5").values.max() == 0


def test_files_of_relevant_documents_are_no_cause_for_alarm():
    """Where most results have no label, or one label is given, scores depend on which results were judged."""
    labels, runs = from_label(1, unjudged=10)
    with pytest.warns(UnjudgedWarning) as caught:
        evaluate(labels, runs, "P@10")
    assert [each.category for each in caught] == [UnjudgedWarning]
    evaluate({topic: dict.fromkeys(docs, 1) for topic, docs in labels.items()}, from_label(1)[1], ["P@5", "Judged@5"])


@pytest.mark.parametrize("name", ["nDCG@3", "DCG", "CG@2", "nDCG(dcg=exp-log2)@4", "P@3", "ERR@3"])
def test_many_judges_are_scored_as_a_few(name):
    rng, topics = np.random.default_rng(4), ["1", "2", "3"]
    rows = [(t, f"d{d}", f"j{j:02}", int(rng.integers(0, 4))) for t in topics for d in range(6) for j in range(20)]
    rows = [row for row in rows if rng.random() < 0.8]
    judgments = read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))
    runs = {name: {t: {f"d{d}": float(rng.random()) for d in range(6)} for t in topics} for name in "abc"}
    together = evaluate(judgments, runs, name, per="assessor").values
    few = [judgments.where(assessor=judgments.assessors[n : n + 4]) for n in range(0, 20, 4)]
    parts = [evaluate(each, runs, name, per="assessor").values for each in few]
    np.testing.assert_allclose(together, np.concatenate(parts, axis=-1), rtol=1e-13, atol=1e-14)


def silent_scores(**options):
    runs = {"none": {"9": {"a": 1.0}}, "one": {"1": {"a": 1.0}}, "two": {"2": {"b": 1.0}}}
    with pytest.warns(MissingTopicsWarning):
        return evaluate({"1": {"a": 1}, "2": {"b": 1}}, runs, ["P@1", "RR"], **options)


def test_systems_that_returned_nothing_are_after_the_others_without_a_score():
    scores = silent_scores()
    assert (scores.names["system"], scores.silent) == (("one", "two"), ("none",))
    assert scores.mean().values.tolist() == [[0.5, 0.5]] * 2
    for table in (scores.table()[1], [line.split() for line in repr(scores).splitlines()[2:]]):
        assert [row[0] for row in table] == ["one", "one", "two", "two", "none", "none"][:: 1 if len(table) == 6 else 2]
        assert table[-1][-2:] == ["-", "-"]
    frame = scores.to_polars()
    assert frame.filter(frame["system"] == "none")["value"].is_null().all()
    assert scores.to_pandas().query("system == 'none'")["value"].isna().sum() == 4
    assert np.isnan(scores.select(system="none").values).all()
    assert scores.complete().names["system"] == ("one", "two", "none")
    assert scores.mean("system").silent == scores.select(system="one").silent == ()
    assert "none returned nothing for any scored topic (of 2)" in scores.to_dict()["notes"][-1]


def test_what_counts_is_whether_topics_that_are_scored_have_results():
    assert silent_scores(topics=["1"]).silent == ("none", "two")
    labels = {"1": {"ann": {"a": 1}}, "2": {"bob": {"b": 1}}}
    rows = [(topic, doc, who, "1") for topic, each in labels.items() for who, docs in each.items() for doc in docs]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    runs = {"one": {"1": {"a": 1.0}}, "two": {"2": {"b": 1.0}}}
    with pytest.warns(MissingTopicsWarning, match=r"two returned nothing for any scored topic \(of 1\)"):
        assert evaluate(frame, runs, "P@1", assessor="ann").silent == ("two",)
    with pytest.warns(MissingTopicsWarning, match="without a list score 0"):
        assert evaluate(frame, runs, "P@1", per="assessor").silent == ()


def test_they_cannot_be_named_in_comparisons_of_scores():
    scores = silent_scores()
    assert [(row["a"], row["b"]) for row in compare_systems(scores, "P@1").records()] == [("one", "two")]
    for pairs in ("none", [("one", "none")]):
        with pytest.raises(SettingError, match="none returned nothing for any scored topic") as raised:
            compare_systems(scores, "P@1", pairs=pairs)
        assert raised.value.hint

"""compare: topics and judges side by side."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from venire import compare, evaluate, read_judgments
from venire.comparison.compare import KEYS, as_binary
from venire.data import panel
from venire.data.gains import gains_for
from venire.data.judgments import Judgments
from venire.disagreement import transitions
from venire.errors import AmbiguousLabels, PairsError, SettingError, UnknownName
from venire.io import judgments as judgment_files, runs
from venire.results import Note

N_TOPICS, N_DOCS = 12, 20


@pytest.fixture(scope="module")
def collection():
    """Two judges who often differ, and four systems: good, a copy of it, fair and poor."""
    rng = np.random.default_rng(4)
    old = rng.choice(3, p=[0.6, 0.25, 0.15], size=(N_TOPICS, N_DOCS))
    new = np.clip(old + rng.choice([-1, 0, 1], p=[0.2, 0.6, 0.2], size=old.shape), 0, 2)
    rows = [
        (f"q{t}", f"d{n}", who, str(labels[t, n]))
        for who, labels in (("old", old), ("new", new))
        for t in range(N_TOPICS)
        for n in range(N_DOCS)
    ]
    topic, doc, who, label = zip(*rows, strict=True)
    judgments = read_judgments(
        pl.DataFrame({"topic": topic, "doc": doc, "assessor": who, "label": label}), scale="0<1<2"
    )
    runs = {}
    for name, quality in (("good", 1.6), ("fair", 0.7), ("poor", 0.0)):
        scores = quality * old + rng.normal(size=old.shape)
        runs[name] = {f"q{t}": {f"d{n}": float(scores[t, n]) for n in range(N_DOCS)} for t in range(N_TOPICS)}
    runs["copy"] = runs["good"]
    return judgments, runs


def test_records_hold_what_was_promised(collection):
    judgments, runs = collection
    found = compare(judgments, runs, ["nDCG@10", "P@5"], assessor="old", new_judge="new", n_draws=200)
    records = found.records()
    assert len(records) == 2 * 6
    assert all(tuple(record) == KEYS for record in records)
    scores = evaluate(judgments, runs, ["nDCG@10"], assessor="old").mean("topic")
    mean = dict(zip(scores.names["system"], scores.values[:, 0], strict=True))
    for record in records[:6]:
        assert record["delta"] == pytest.approx(mean[record["a"]] - mean[record["b"]])
        assert record["p_stays_ahead"] + record["p_tie"] + record["p_flips"] == pytest.approx(1)
        assert 0 < record["p_value"] <= record["p_adjusted"] <= 1


def test_the_machine_scores_the_runs_where_the_reference_is_declared(collection):
    judgments, runs = collection
    for declared in ({"reference": "new"}, {"reference": "new", "machines": "old"}):
        found = compare(judgments.declare(**declared), runs, n_draws=20)
        assert found.swap.case.scoring.assessor == "old"
        assert found.swap.transitions.new == ("new",)
        notes = {note.kind: note.fields for note in found.notes}
        assert notes["current-judge"] == {
            "judge": "old",
            "one": "machine" if "machines" in declared else "other assessor",
        }
        assert notes["reference-judge"] == {"judge": "new"}


def test_the_only_assessor_besides_the_new_judge_scores_the_runs(collection):
    judgments, runs = collection
    assert compare(judgments, runs, new_judge="new", n_draws=20).swap.case.scoring.assessor == "old"
    declared = judgments.declare(reference="new", machines="old")
    assert compare(declared, runs, new_judge="old", n_draws=20).swap.case.scoring.assessor == "new"


def test_several_judges_besides_the_reference_are_listed(collection):
    judgments, runs = collection
    third = with_third(judgments)
    with pytest.raises(AmbiguousLabels, match=r"2 judges besides the reference \(") as caught:
        compare(third.declare(reference="new"), runs, n_draws=20)
    assert all(name in caught.value.message for name in third.assessors if name != "new")
    assert "assessor NAME" in caught.value.hint
    found = compare(third.declare(reference="new", machines="old"), runs, n_draws=20)
    assert found.swap.case.scoring.assessor == "old"


def test_a_pair_that_becomes_a_tie_is_fragile():
    """x is ahead on every topic now; another judge makes all its documents irrelevant in six of ten draws."""
    labels = {f"q{t}": {"a": 1, "b": 0} for t in range(10)}
    runs = {"x": {topic: {"a": 1.0} for topic in labels}, "y": {topic: {"b": 1.0} for topic in labels}}
    found = compare(labels, runs, "P@1", agreement=(1.0, 0.05), n_draws=500).by_measure[0]
    record = found.records()[0]
    assert record["p_flips"] == 0
    assert record["p_tie"] == pytest.approx(0.95**10, abs=0.08)  # no document stays relevant
    assert found.changes.fragile.tolist() == [True]
    assert found.stability.fragile.tolist() == [True]
    assert found.fragile() == [0]


def test_a_pair_that_is_tied_now_is_not_fragile(collection):
    judgments, runs = collection
    two = {name: runs[name] for name in ("good", "copy")}
    found = compare(judgments, two, assessor="old", n_draws=20).by_measure[0]
    assert found.changes.tie.tolist() == [1.0]
    assert found.changes.fragile.tolist() == found.stability.fragile.tolist() == [False]


def with_third(judgments):
    """Add a third assessor, who gives the labels of the first the other way round."""
    own = judgments.where(assessor="old").to_polars()
    turned = own.with_columns(pl.lit("odd").alias("assessor"), pl.col("label").replace({"0": "2", "2": "0"}))
    return read_judgments(pl.concat([judgments.to_polars(), turned]), scale="0<1<2")


def test_the_declared_reference_is_the_other_judge_by_default(collection):
    judgments, runs = with_third(collection[0]), collection[1]

    def found(labels, **options):
        return compare(labels, runs, assessor="old", n_draws=100, **options)

    declared = found(judgments.declare(reference="new"))
    assert declared.records() == found(judgments, new_judge="new").records()
    (note,) = [each for each in declared.notes if each.kind == "reference-judge"]
    assert note.fields == {"judge": "new"}
    whoever = found(judgments, new_judge="any").records()
    assert declared.records() != whoever
    for labels, options in (
        (judgments, {}),
        (judgments.declare(reference="old"), {}),
        (judgments.declare(reference=["new", "odd"]), {}),
        (judgments.declare(reference="new"), {"new_judge": "any"}),
    ):
        other = found(labels, **options)
        assert other.records() == whoever
        assert "reference-judge" not in [each.kind for each in other.notes]
    stated = found(judgments.declare(reference="new"), agreement=(0.9, 0.8))
    assert "reference-judge" not in [each.kind for each in stated.notes]


def test_a_large_lead_stays_and_a_copy_is_level(collection):
    judgments, runs = collection
    found = compare(judgments, runs, "nDCG@10", assessor="old", new_judge="new", n_draws=300)
    by_pair = {frozenset((record["a"], record["b"])): record for record in found.records()}
    assert by_pair[frozenset(("good", "poor"))]["p_stays_ahead"] > 0.95
    level = by_pair[frozenset(("good", "copy"))]
    assert (level["delta"], level["p_stays_ahead"], level["p_flips"]) == (0, 0, 0)
    one = found.by_measure[0]
    tau = one.tau()
    assert tau["low"] <= tau["mean"] <= tau["high"] <= 1
    systems = {record["system"]: record for record in one.systems()}
    assert systems["poor"]["rank_low"] >= 3
    assert systems["good"]["low"] <= systems["good"]["high"]
    assert "pairs of systems differ" in found.sentence()


def test_one_candidate_against_a_baseline(collection):
    judgments, runs = collection
    found = compare(judgments, runs, assessor="old", baseline="poor", candidate="good", n_draws=50)
    (record,) = found.records()
    assert (record["a"], record["b"]) == ("good", "poor")
    assert record["delta"] > 0
    assert "good is ahead of poor" in found.sentence()


def test_stated_agreement_reduces_the_labels_to_two(collection):
    judgments, runs = collection
    found = compare(judgments, runs, "P@5", assessor="old", agreement=(1.0, 1.0), judge_model="fixed", n_draws=20)
    assert {record["method"] for record in found.records()} == {"20 draws, fixed"}
    stays = {(r["a"], r["b"]): r["p_stays_ahead"] for r in found.records() if abs(r["delta"]) > 1e-9}
    assert list(stays.values()) == pytest.approx([1.0] * len(stays), abs=1e-9)
    assert found.notes[0].kind == "binary-labels"
    labels, gains, note = as_binary(judgments, gains_for("linear", judgments.scale))
    assert (labels.label == (judgments.label >= 1)).all()
    assert labels.scale.labels == ("0", "1")
    assert gains.values.tolist() == [0, 1]
    assert note.fields == {"labels": ("1", "2")}


def test_what_cannot_be_compared_is_said(collection):
    judgments, runs = collection
    with pytest.raises(AmbiguousLabels, match="whose labels"):
        compare(judgments, runs)
    with pytest.raises(UnknownName, match="nobody"):
        compare(judgments, runs, assessor="nobody")
    with pytest.raises(UnknownName, match="god"):
        compare(judgments, runs, assessor="old", baseline="god")
    with pytest.raises(SettingError, match="baseline"):
        compare(judgments, runs, assessor="old", candidate="good")
    with pytest.raises(UnknownName, match="form of judge"):
        compare(judgments, runs, assessor="old", judge_model="odd")


def test_with_one_judge_systems_are_compared_over_topics_alone(collection):
    judgments, runs = collection
    found = compare(judgments.where(assessor="old"), runs, ["nDCG@10", "P@5"], n_draws=200)
    both = compare(judgments, runs, ["nDCG@10", "P@5"], assessor="old", n_draws=200)
    of_topics = ("a", "b", "measure", "delta", "p_value", "p_adjusted")
    for one, two in zip(found.records(), both.records(), strict=True):
        assert {key: one[key] for key in of_topics} == {key: two[key] for key in of_topics}
        assert 0 <= one["p_stays_ahead_topics"] <= 1
        assert one["method"] == "one judge"
        assert all(one[key] is None for key in ("p_stays_ahead", "p_flips", "p_tie", "sd", "observed"))
    assert found.swap is None
    assert found.favoured is None
    assert [each["system"] for each in found.by_measure[0].systems()] == ["good", "copy", "fair", "poor"]
    assert found.by_measure[0].tau() == {"mean": None, "low": None, "high": None}
    assert "one-judge" in {note.kind for note in found.notes if isinstance(note, Note)}
    assert "nan" not in found.sentence()


def test_a_named_new_judge_who_did_not_judge_and_a_judge_stated_twice_are_refused(collection):
    judgments, runs = collection
    with pytest.raises(PairsError, match="only 'old' judged"):
        compare(judgments.where(assessor="old"), runs, new_judge="new")
    with pytest.raises(SettingError, match="cannot be 'new'"):
        compare(judgments, runs, assessor="old", agreement=(0.9, 0.8), new_judge="new")


def test_with_one_topic_there_is_no_p_value_and_no_nan_in_words(collection):
    judgments, runs = collection
    one = {"assessor": "old", "baseline": "fair", "candidate": "good", "topics": ["q1"], "n_draws": 20}
    found = compare(judgments, runs, "nDCG@5", **one)
    assert found.records()[0]["p_value"] is None
    assert "nan" not in found.sentence()


def test_stated_agreement_names_a_measure_of_two_labels(collection):
    """Of labels that are reduced to two a measure has other scores: it has another name, in every part."""
    judgments, runs = collection
    pair = {"assessor": "old", "baseline": "poor", "candidate": "good", "n_draws": 20}
    graded = compare(judgments, runs, ["nDCG@10", "P@5"], **pair).records()
    found = compare(judgments, runs, ["nDCG@10", "P@5", "CG@5"], agreement=(0.9, 0.8), **pair)
    names = ["nDCG@10 (binary:1)", "P@5", "CG@5 (binary:1)"]
    assert [record["measure"] for record in found.records()] == names
    assert list(found.scores.names["measure"]) == names
    assert [each.forecast.measure for each in found.by_measure] == names
    assert names[0] in found.sentence()
    two = evaluate(judgments, runs, "nDCG@10", assessor="old", gains="binary:1").mean("topic")
    mean = dict(zip(two.names["system"], two.values[:, 0], strict=True))
    assert found.records()[0]["delta"] == pytest.approx(mean["good"] - mean["poor"])
    assert found.records()[0]["delta"] != pytest.approx(graded[0]["delta"])
    assert found.records()[1]["delta"] == pytest.approx(graded[1]["delta"])


def count_calls(monkeypatch, module, name):
    """Return the first arguments of the calls of a function of a module, wherever it was imported to."""
    calls, function = [], getattr(module, name)

    def counting(*args, **options):
        calls.append(args[0])
        return function(*args, **options)

    for each in [each for key, each in sys.modules.items() if key.startswith("venire")]:
        if getattr(each, name, None) is function:
            monkeypatch.setattr(each, name, counting)
    return calls


@pytest.mark.parametrize("measures", [["nDCG@10"], ["nDCG@10", "P@5", "AP"]])
@pytest.mark.parametrize("options", [{"new_judge": "new"}, {"agreement": (0.9, 0.8)}])
def test_judgments_are_read_once_and_runs_are_scanned_once(collection, monkeypatch, measures, options):
    judgments, lists = collection
    scans, reads, panels, fits = (
        count_calls(monkeypatch, module, name)
        for module, name in (
            (runs, "read_facts"),
            (judgment_files, "as_judgments"),
            (panel, "build_panel"),
            (transitions, "fit_transitions"),
        )
    )
    compare(judgments.to_polars(), lists, measures, assessor="old", n_draws=20, **options)
    reads = [given for given in reads if not isinstance(given, Judgments)]
    assert (len(scans), len(reads), len(panels)) == (1, 1, 1)
    assert len(fits) == ("new_judge" in options)


def test_measures_are_forecast_from_the_same_draws(collection):
    judgments, lists = collection
    options = {"assessor": "old", "new_judge": "new", "judge_model": "pooled", "n_draws": 40}
    together = compare(judgments, lists, ["nDCG@10", "P@5", "AP"], **options)
    for one in together.by_measure:
        alone = compare(judgments, lists, one.forecast.measure, **options).by_measure[0]
        np.testing.assert_allclose(one.forecast.draws, alone.forecast.draws, rtol=1e-12)
        assert [each["p_adjusted"] for each in one.records()] == [each["p_adjusted"] for each in alone.records()]

"""Who judges: one, each, or a pool."""

import numpy as np
import pytest

from venire import evaluate, read_judgments
from venire.data.panel import POOLS, build_panel, one_label_each, pooled_judge
from venire.errors import AmbiguousLabels, ScaleError, UnjudgedWarning, UnknownName
from venire.io import read_grid

RUN = {"1": {"a": 3.0, "b": 2.0}}


@pytest.fixture
def three(tmp_path):
    for name, labels in {"ann": (2, 0), "bob": (1, 0), "cyd": (2, 1)}.items():
        (tmp_path / name).write_text(f"1 0 a {labels[0]}\n1 0 b {labels[1]}\n")
    return read_judgments([tmp_path / name for name in ("ann", "bob", "cyd")])


def test_several_assessors_and_no_word_is_an_error_that_lists_the_ways_out(three):
    with pytest.raises(AmbiguousLabels) as caught:
        evaluate(three, RUN)
    settings = [way.settings for way in caught.value.ways]
    assert settings == [{"assessor": "NAME"}, {"per": "assessor"}, {"pool": "median|majority|max|min|mean"}]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 0, 3], {"median": 0, "majority": 0, "max": 3, "min": 0, "mean": 1}),
        ([0, 1, 2, 3], {"median": 1.5, "majority": 1.5, "max": 3, "min": 0, "mean": 1.5}),
        ([2, 2, 1, 1], {"median": 1.5, "majority": 1.5, "max": 2, "min": 1, "mean": 1.5}),
        ([3], {"median": 3, "majority": 3, "max": 3, "min": 3, "mean": 3}),
        ([0, 2, 2], {"median": 2, "majority": 2, "max": 2, "min": 0, "mean": 4 / 3}),
    ],
)
def test_pools_of_labels(labels, expected):
    counts = np.bincount(labels, minlength=4)[None]
    pooled = {name: float((pool(counts) @ np.arange(4)).item()) for name, pool in POOLS.items()}
    assert pooled == pytest.approx(expected)


def test_each_assessor_is_an_axis_that_agrees_with_each_alone(three):
    scores = evaluate(three, RUN, ["nDCG@2", "AP"], per="assessor")
    assert scores.axes == ("system", "topic", "measure", "assessor")
    for name in three.assessors:
        alone = evaluate(three, RUN, ["nDCG@2", "AP"], assessor=name)
        np.testing.assert_array_equal(scores.select(assessor=name).values, alone.values)


def test_choices_exclude_each_other_and_must_exist(three):
    with pytest.raises(AmbiguousLabels, match="exclude each other"):
        build_panel(three, assessor="ann", pool="max")
    with pytest.raises(UnknownName, match="did you mean 'median'"):
        build_panel(three, pool="meidan")
    with pytest.raises(UnknownName, match="no assessor 'dan'"):
        build_panel(three, assessor="dan")


def test_labels_without_order_have_no_middle(tmp_path):
    (tmp_path / "x").write_text("1 0 a news\n")
    judgments = read_judgments(tmp_path / "x", scale="news|wiki")
    with pytest.raises(ScaleError, match="no order to pool by"):
        build_panel(judgments, pool="median")


def test_labels_one_assessor_repeats_count_with_their_mean(tmp_path):
    (tmp_path / "x").write_text("1 0 a 2\n1 0 a 1\n1 0 b 0\n")
    scores = evaluate(read_judgments(tmp_path / "x", duplicate_labels="keep"), RUN, ["CG@2"])
    assert scores.values.item() == 1.5
    assert "several-labels-by-one-assessor" in [note.kind for note in scores.notes]


def test_intents_are_never_mixed_in_silence(tmp_path):
    (tmp_path / "x").write_text("1 1 a 1\n1 2 a 0\n")
    judgments = read_judgments(tmp_path / "x", second_column="intent")
    with pytest.raises(AmbiguousLabels, match=r"(?s)several intents of a topic.*intent=NAME"):
        evaluate(judgments, RUN)
    assert evaluate(judgments.where(intent="1"), RUN, ["P@1"]).values.item() == 1.0


def test_labels_given_after_another_document_are_left_out_with_a_note(tmp_path):
    table = tmp_path / "x.tsv"
    table.write_text("topic\tdoc\tlabel\tgiven\n1\ta\t1\t\n1\tb\t1\ta\n")
    with pytest.warns(UnjudgedWarning, match="run 50%"):
        scores = evaluate(read_judgments(table), RUN, ["P@2"])
    assert scores.values.item() == 0.5
    assert [note.fields for note in scores.notes if note.kind == "conditional-labels-left-out"] == [{"n": 1}]


def test_a_pooled_judge_stands_beside_those_who_are_kept_apart():
    labels = read_grid("0 1 2\n0 2 2\n1 1 0", assessors=["u1", "u2", "expert"])
    found = pooled_judge(labels, "median", apart=["expert"], name="crowd")
    assert found.judgments.assessors == ("crowd", "expert")
    assert found.judgments.where(assessor="crowd").column("label").texts() == ["0", "1", "2"]
    assert found.judgments.where(assessor="expert").column("label").texts() == ["1", "1", "0"]
    assert found.panel.gains(np.array([0.0, 1.0, 2.0]), 0, 1)[0].tolist() == [[0.0, 1.5, 2.0]]
    assert one_label_each(found.panel).tolist() == [0, 1, 2]
    assert found.judgments.items is labels.items

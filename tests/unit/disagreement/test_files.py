from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest

from long_rows import double
from venire import FormatError, PredictedRelevance, Scale
from venire.disagreement.files import read_fit, write_fit
from venire.kernels.shares import Spread

LABELS = double((2, 2, 70), (2, 1, 40), (1, 1, 60), (1, 0, 30), (0, 0, 99), topics=12)


def saved(tmp_path, fit):
    write_fit(fit, tmp_path / "fit.json", fingerprint="0123456789abcdef")
    return tmp_path / "fit.json"


@pytest.mark.parametrize(
    "setting",
    [
        {"relevant": "all"},
        {"relevant": ["0", "1"], "prior": 0.5},
        {"relevant": "1", "observed": ["A"], "weight": "item"},
        {"estimator": "paired", "observed": ("A",), "reference": ("B",), "n_draws": 0},
    ],
)
def test_what_was_saved_is_read_back(tmp_path, setting):
    fit = PredictedRelevance(**setting).fit(LABELS)
    again = read_fit(saved(tmp_path, fit))
    assert again.scale == fit.scale
    assert again.relevant.names == fit.relevant.names
    assert again.relevant.labels.tolist() == fit.relevant.labels.tolist()
    assert again.method == fit.method
    assert str(again) == str(fit)
    for name in Spread._fields:
        np.testing.assert_array_equal(getattr(again.spread, name), getattr(fit.spread, name), err_msg=name)
    for name in fit.relevant.names:
        assert again.gains(name).values.tolist() == fit.gains(name).values.tolist()
        assert again.udm_gains((1, 3), name).values.tolist() == fit.udm_gains((1, 3), name).values.tolist()


def test_a_file_says_what_made_it(tmp_path):
    held = json.loads(saved(tmp_path, PredictedRelevance().fit(LABELS)).read_text(encoding="utf-8"))
    assert held["venire"] == version("venire")
    assert held["fingerprint"] == "0123456789abcdef"
    assert held["setting"]["estimator"] == "paired"
    assert held["topics"] == 12
    assert np.array(held["counts"]).sum() == 2 * 299


def test_labels_that_nobody_judged_twice_stay_unknown(tmp_path):
    fit = PredictedRelevance().fit(double((2, 2, 60), (0, 0, 60)))
    path = saved(tmp_path, fit)
    assert "NaN" not in path.read_text(encoding="utf-8")
    assert np.isnan(read_fit(path).p).tolist() == [[False, True, False]]


def test_categories_and_odd_names(tmp_path):
    labels = double(("été", "b:1/3", 60), ("été", "été", 60), ("b:1/3", "b:1/3", 60), scale="été|b:1/3")
    fit = PredictedRelevance(relevant="été").fit(labels)
    again = read_fit(saved(tmp_path, fit))
    assert again.scale == fit.scale
    assert again.p.tolist() == fit.p.tolist()


def test_labels_that_cannot_be_written_as_one_text(tmp_path):
    labels = double((0, 0, 60), (1, 1, 60), (0, 1, 20), scale="0<1")
    labels = replace(labels, scale=Scale(("<18", ">=18")))
    fit = PredictedRelevance().fit(labels)
    assert read_fit(saved(tmp_path, fit)).scale == fit.scale


def test_parameters_come_highest_label_first():
    fit = PredictedRelevance(relevant="all").fit(LABELS)
    records = fit.records()
    assert [(each["relevant"], each["label"]) for each in records] == [(r, i) for r in "21" for i in "210"]
    assert list(records[0]) == [
        *("relevant", "label", "p", "sd", "sd_items", "sd_topics", "low", "high", "hits", "pairs")
    ]
    assert (records[0]["hits"], records[0]["pairs"]) == (140, 180)
    assert isinstance(records[0]["pairs"], int)


def test_items_that_weigh_the_same_have_fractions_of_pairs():
    rows = double((2, 2, 1), (2, 1, 3))
    counts = {each["label"]: each["pairs"] for each in PredictedRelevance(weight="item").fit(rows).records()}
    assert counts == {"2": 2.5, "1": 1.5, "0": 0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[1, 2]", "is not a saved fit"),
        ('{"kind": "something else"}', "is not a saved fit"),
        ('{"kind": "venire fit of predicted relevance"}', "has format None, expected 1"),
        ('{"kind": "venire fit of predicted relevance", "version": 1}', "is not a whole fit"),
        (
            '{"kind": "venire fit of predicted relevance", "version": 2, "venire": "9.0"}',
            "later version of venire .9.0",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, text, words):
    path = tmp_path / "fit.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=words):
        read_fit(path)


@pytest.mark.parametrize("gone", ["scale", "setting", "relevant", "topics", "counts", "parameters"])
def test_a_fit_with_something_missing_is_refused(tmp_path, gone):
    path = saved(tmp_path, PredictedRelevance().fit(LABELS))
    held = json.loads(path.read_text(encoding="utf-8"))
    del held[gone]
    path.write_text(json.dumps(held))
    with pytest.raises(FormatError, match=gone):
        read_fit(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"nothing.json: there is no such file"):
        read_fit(tmp_path / "nothing.json")


def test_a_byte_order_mark_does_not_matter(tmp_path):
    path = saved(tmp_path, PredictedRelevance().fit(LABELS))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_fit(path).pairs.tolist() == PredictedRelevance().fit(LABELS).pairs.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda held: held["parameters"][0].update(p=1.5), "p is 1.5 for '2'"),
        (lambda held: held["parameters"][0].update(pairs=-1), "pairs is -1"),
        (lambda held: held["parameters"].pop(), "2 parameters, expected one for each label"),
        (lambda held: held["counts"].pop(), "counts has the shape"),
        (lambda held: held["counts"][0].__setitem__(0, -3), "not those of labels"),
        (lambda held: held.update(topics=2.5), "topics is not a count"),
        (lambda held: held["scale"].update(labels=["0", 1, "2"]), "found 1, expected text"),
    ],
)
def test_a_fit_with_impossible_numbers_is_refused(tmp_path, change, words):
    path = saved(tmp_path, PredictedRelevance().fit(LABELS))
    held = json.loads(path.read_text(encoding="utf-8"))
    change(held)
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(FormatError, match=words):
        read_fit(path)

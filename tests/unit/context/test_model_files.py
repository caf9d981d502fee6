from __future__ import annotations

import json
from importlib.metadata import version

import numpy as np
import pytest

from context_pairs import drawn_in_context, redundancy
from venire.context.model import fit_conditional_labels, read_conditional_labels, write_conditional_labels
from venire.context.pairs import labelled_pairs
from venire.errors import FormatError, SettingError

LABELS = drawn_in_context(redundancy(), topics=20, rng=1)
TABLE = {"topic": ["t0", "t0", "t1"], "doc": ["d1", "d2", "d1"], "x": [1.0, 3.0, -2.0]}


def saved(tmp_path, **setting):
    model = fit_conditional_labels(LABELS, **setting)
    write_conditional_labels(model, tmp_path / "model.json", fingerprint="0123456789abcdef")
    return model, tmp_path / "model.json"


@pytest.mark.parametrize("interactions", [False, True])
def test_what_was_saved_predicts_the_same_to_the_last_bit(tmp_path, interactions):
    model, path = saved(tmp_path, interactions=interactions, regularisation=0.3)
    again, pairs = read_conditional_labels(path), labelled_pairs(LABELS).pairs
    np.testing.assert_array_equal(again.probabilities(pairs), model.probabilities(pairs))
    assert again.setting == model.setting
    assert again.scale == model.scale
    assert again.sentence() == model.sentence()


def test_features_are_bound_again(tmp_path):
    model, path = saved(tmp_path, features=TABLE)
    again, pairs = read_conditional_labels(path), labelled_pairs(LABELS).pairs
    with pytest.raises(SettingError, match="uses features, and none are bound"):
        again.probabilities(pairs)
    bound = again.with_features(LABELS, TABLE)
    np.testing.assert_array_equal(bound.probabilities(pairs), model.probabilities(pairs))


def test_a_file_says_what_made_it(tmp_path):
    _, path = saved(tmp_path)
    held = json.loads(path.read_text(encoding="utf-8"))
    assert held["venire"] == version("venire")
    assert (held["version"], held["fingerprint"], held["pairs"], held["topics"]) == (1, "0123456789abcdef", 160, 20)
    assert held["columns"] == [f"{role}={n}" for role in ("label", "given") for n in range(3)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "other"}, "is not a saved predictor"),
        ({"version": 2}, "has format 2, written by a later version"),
        ({"intercept": None}, "intercept has the shape"),
        ({"intercept": [1, 2]}, r"intercept has the shape \(2,\), expected \(3,\)"),
        ({"intercept": [1, 2, float("nan")]}, "intercept holds a number that is not finite"),
        ({"coefficients": [[1, 2], [3]]}, "is not a complete predictor"),
        ({"coefficients": [[0] * 5] * 3}, r"coefficients has the shape \(3, 5\), expected \(3, 6\)"),
        ({"columns": ["label=0"]}, "columns are not the 6 that"),
        ({"scale": {"labels": ["0", "0", "1"], "measurement": "ordinal"}}, "occurs twice in the scale"),
        ({"scale": {"labels": ["0", "1"], "measurement": "ordinal"}}, "columns are not the 4 that"),
        ({"scale": {"labels": [0, 1, 2], "measurement": "ordinal"}}, "found 0, expected text"),
        ({"setting": {"regularisation": -1, "interactions": False}}, "expected a positive number"),
        ({"setting": {"regularisation": 1, "interactions": "no"}}, "expected true or false"),
        ({"setting": {"penalty": 1}}, "is not a complete predictor"),
        ({"counts": [1, 2, 3]}, "numbers of pairs contradict each other"),
        ({"counts": [1.5, 2, 3]}, "counts is not a count"),
        ({"topics": 0}, "contradict each other"),
        ({"features": {"names": ["x"]}}, "lacks 'paired'"),
        ({"features": {"names": ["x"], "paired": True, "centre": [0], "spread": [0]}}, "is not positive"),
    ],
)
def test_files_that_are_not_whole(tmp_path, change, words):
    _, path = saved(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(FormatError, match=words) as error:
        read_conditional_labels(path)
    assert error.value.hint


@pytest.mark.parametrize(
    "key", ["scale", "setting", "features", "columns", "intercept", "coefficients", "joint", "same"]
)
def test_a_file_that_lacks_something(tmp_path, key):
    _, path = saved(tmp_path)
    held = json.loads(path.read_text(encoding="utf-8"))
    del held[key]
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(FormatError, match=f"lacks '{key}'"):
        read_conditional_labels(path)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1", b"[]", b"3"])
def test_files_of_another_kind(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(FormatError, match=r"x\.json"):
        read_conditional_labels(tmp_path / "x.json")
    with pytest.raises(FormatError, match="there is no such file"):
        read_conditional_labels(tmp_path / "nothing.json")

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from venire import PredictedRelevance, evaluate
from venire.aspects.rankings import combine_aspects
from venire.errors import AmbiguousLabels, FewPairsWarning, SettingError, UnknownName
from venire.io.aspects import read_aspects

ROWS = {
    "topic": ["1"] * 5,
    "doc": ["a", "b", "c", "d", "e"],
    "rel": ["2", "1", "0", "N/A", "2"],
    "trust": ["5", "10", "10", "4", "N/A"],
}


@pytest.fixture
def aspects():
    return read_aspects(pl.DataFrame(ROWS))


def by_doc(made):
    values = made.gains.values[made.judgments.label]
    return {
        made.judgments.items.doc[item]: value for item, value in zip(made.judgments.item.tolist(), values, strict=True)
    }


@pytest.mark.parametrize(
    ("options", "worth"),
    [
        ({}, {"a": 0.75, "b": 0.75, "c": 0.5, "d": 0.4, "e": 1.0}),
        ({"weights": {"rel": 1, "trust": 0.5}}, {"a": 2.5 / 3, "b": 2 / 3, "c": 1 / 3, "d": 0.4, "e": 1.0}),
        ({"weights": {"rel": 2, "trust": 0}}, {"a": 1.0, "b": 0.5, "c": 0.0, "e": 1.0}),
        ({"how": "minimum"}, {"a": 0.5, "b": 0.5, "c": 0.0, "d": 0.4, "e": 1.0}),
        ({"how": "product"}, {"a": 0.5, "b": 0.5, "c": 0.0, "d": 0.4, "e": 1.0}),
        ({"how": "minimum", "reverse": ["trust"]}, {"a": 0.5, "b": 0.0, "c": 0.0, "d": 0.6, "e": 1.0}),
        ({"overall": "rel"}, {"a": 0.75, "b": 0.75, "c": 0.5, "e": 1.0}),
        ({"weights": ["rel"], "exponential": True}, {"a": 1.0, "b": 1 / 3, "c": 0.0, "e": 1.0}),
    ],
)
def test_worth_by_hand(aspects, options, worth):
    weights = options.pop("weights", None)
    assert by_doc(combine_aspects(aspects, weights, **options)) == pytest.approx(worth)


def test_one_aspect_scores_as_it_does_alone(aspects):
    made = combine_aspects(aspects, ["trust"])
    run = {"1": {"c": 4.0, "a": 3.0, "d": 2.0, "b": 1.0}}
    for measure in ("nDCG@3", "RBP(p=0.5)"):
        alone = evaluate(aspects.judgments("trust"), run, measure).values
        assert evaluate(made.judgments, run, measure, gains=made.gains).values == pytest.approx(alone)


def test_names_notes_and_labels(aspects):
    made = combine_aspects(aspects, {"rel": 1, "trust": 0.5}, reverse=["trust"])
    assert made.name == made.gains.name == "rel + 0.5 trust (reversed)"
    assert "rel=2+trust=5" in made.judgments.scale.labels
    assert "rel=N/A+trust=4" in made.judgments.scale.labels
    assert made.gains.unit
    assert (made.notes[0].kind, made.notes[0].fields["n"]) == ("partial-grades", 2)
    assert made.sentence().startswith("rel + 0.5 trust (reversed): 5 combinations of labels with gains from")
    assert combine_aspects(aspects, {"rel": 1, "trust": 0.5}, how="product").name == "product of rel, trust^0.5"


def test_what_cannot_be(aspects):
    with pytest.raises(UnknownName, match="aspect 'trst'"):
        combine_aspects(aspects, {"trst": 1})
    with pytest.raises(UnknownName, match="aspect 'x'"):
        combine_aspects(aspects, reverse=["x"])
    with pytest.raises(UnknownName, match="way to combine aspects 'mean'"):
        combine_aspects(aspects, how="mean")
    with pytest.raises(SettingError, match="no aspect has a weight"):
        combine_aspects(aspects, {"rel": 0})
    with pytest.raises(SettingError, match="expected 0 or more"):
        combine_aspects(aspects, {"rel": -1})
    with pytest.raises(SettingError, match="satisfy on every aspect"):
        combine_aspects(aspects, how="prm")
    empty = read_aspects(pl.DataFrame({"topic": ["1"], "doc": ["a"], "rel": ["N/A"], "trust": ["1"]}))
    with pytest.raises(AmbiguousLabels, match="no document has a grade"):
        combine_aspects(empty, ["rel"])


def test_models_count_pairs_of_combined_labels():
    first = ["11", "11", "11", "10", "01", "00"]
    second = ["11", "11", "10", "11", "00", "01"]
    frame = pl.DataFrame(
        {
            "topic": ["1"] * 12,
            "doc": [f"d{n}" for n in range(6)] * 2,
            "assessor": ["x"] * 6 + ["y"] * 6,
            "rel": [label[0] for label in first + second],
            "trust": [label[1] for label in first + second],
        }
    )
    aspects = read_aspects(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewPairsWarning)
        made = combine_aspects(aspects, how="prm")
        udm = combine_aspects(aspects, how="udm:1/3")
        loose = combine_aspects(aspects, how="prm", relevant={"trust": "0"})
        prior = combine_aspects(aspects, how="prm", model=PredictedRelevance(prior=0.5))
    worth = dict(zip(made.judgments.scale.labels, made.gains.values.tolist(), strict=True))
    # Six ordered pairs begin with 1+1, four of them end with it; both that begin with 1+0 do.
    assert worth == pytest.approx(
        {"rel=1+trust=1": 4 / 6, "rel=1+trust=0": 1.0, "rel=0+trust=1": 0.0, "rel=0+trust=0": 0.0}
    )
    assert udm.gains.values[list(worth).index("rel=1+trust=1")] == 1
    assert loose.gains.values[list(worth).index("rel=1+trust=1")] == 1
    assert np.all((prior.gains.values > 0) & (prior.gains.values < 1))

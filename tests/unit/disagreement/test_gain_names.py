from __future__ import annotations

import pytest

from long_rows import double
from venire import PredictedRelevance
from venire.data.gains import names_model
from venire.disagreement.gains import fit_gains, read_share
from venire.errors import GainsError, ScaleError

LABELS = double(
    ("Key", "Key", 70),
    ("Key", "Rel", 40),
    ("Rel", "Rel", 60),
    ("Rel", "Non", 30),
    ("Non", "Non", 99),
    scale="Non<Rel<Key",
)
FIT = PredictedRelevance(relevant="all").fit(LABELS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prm", FIT.gains("Key")),
        ("prm:", FIT.gains("Key")),
        ("prm:Key", FIT.gains("Key")),
        ("prm:Rel", FIT.gains("Rel")),
        ("prm:Rel:2/3", FIT.gains("Rel", at_least=(2, 3))),
        ("prm:Rel|Key", FIT.gains("Rel")),
        ("udm:1/3", FIT.udm_gains((1, 3), "Key")),
        ("udm:2/3:Rel", FIT.udm_gains((2, 3), "Rel")),
    ],
)
def test_a_name_is_fitted(text, expected):
    assert fit_gains(text, LABELS).values.tolist() == pytest.approx(expected.values.tolist())


def test_the_lowest_label_may_keep_its_weight():
    kept = fit_gains("udm:1/3:Rel", LABELS, keep_lowest=True)
    estimated = FIT.udm_gains((1, 3), "Rel", lowest=None)
    assert kept.values.tolist() == pytest.approx(estimated.values.tolist())
    assert kept.values[0] > 0 == fit_gains("udm:1/3:Rel", LABELS).values[0]
    assert kept.name == "udm:1/3:Rel, lowest kept"
    with pytest.raises(GainsError, match="lowest label of prm:Rel"):
        fit_gains("prm:Rel", LABELS, keep_lowest=True)


def test_more_may_be_said_of_the_fit():
    found = fit_gains("prm:Key", LABELS, observed=["A"])
    assert found.values.tolist() == PredictedRelevance(observed=["A"]).fit(LABELS).gains().values.tolist()
    assert found.values.tolist() != FIT.gains("Key").values.tolist()


def test_labels_with_a_colon_or_a_stroke_are_labels():
    labels = double(("n/a", "n/a", 60), ("x:y", "x:y", 60), ("n/a", "x:y", 30), scale="n/a<x:y")
    assert fit_gains("prm:x:y", labels).values.tolist() == pytest.approx([30 / 150, 120 / 150])
    assert fit_gains("prm:x:y:1/2", labels).name == "prm:x:y:1/2"


def test_a_label_that_looks_like_a_share_is_a_label():
    labels = double(("no", "no", 60), ("a:1/3", "a:1/3", 60), ("no", "a:1/3", 30), scale="no<a:1/3")
    assert fit_gains("prm:a:1/3", labels).name == "prm:a:1/3"


@pytest.mark.parametrize(("text", "expected"), [("prm", True), ("prm:Key", True), ("udm:1/3", True), ("linear", False)])
def test_which_names_are_models(text, expected):
    assert names_model(text) is expected


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("prm:Kay", ScaleError, "'Kay' is not a label"),
        ("prm:Non", ScaleError, "makes every label"),
        ("prm:Key:3/2", GainsError, "'3/2' is not M/N"),
        ("prm:all", GainsError, "gains are for one of them"),
        ("udm:1/3:all", GainsError, "gains are for one of them"),
        ("udm", GainsError, "'' is not M/N"),
        ("udm:Key", GainsError, "'Key' is not M/N"),
        ("udm:0/3", GainsError, "'0/3' is not M/N"),
        ("linear", GainsError, "'linear' names no model"),
    ],
)
def test_what_cannot_be_fitted_is_refused(text, error, words):
    with pytest.raises(error, match=words) as caught:
        fit_gains(text, LABELS)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "1", "1/", "/3", "1/2/3", "-1/3", "1.5/3", "a/b", "4/3", "0/0", "²/³"])
def test_shares_that_are_none(text):
    with pytest.raises(GainsError, match="is not M/N"):
        read_share(text)


def test_shares():
    assert read_share("1/3") == (1, 3)
    assert read_share(" 2 / 10 ") == (2, 10)

"""What a label is worth: by formula, by hand, refused."""

import numpy as np
import pytest

from venire import Gains, Scale, binary, exponential, linear
from venire.data import raw
from venire.data.gains import gains_for
from venire.errors import GainsError, ScaleError

GRADES = Scale.parse("Non<Rel<HRel<Key")


@pytest.mark.parametrize(
    ("gains", "values"),
    [
        ("linear", [0, 1, 2, 3]),
        (linear, [0, 1, 2, 3]),
        ("exponential", [0, 1, 3, 7]),
        (exponential, [0, 1, 3, 7]),
        ("binary:HRel", [0, 0, 1, 1]),
        (binary("Rel"), [0, 1, 1, 1]),
        ("Non=0,Rel=0.25,HRel=0.5,Key=1", [0, 0.25, 0.5, 1]),
        ({"Key": 5, "HRel": 2, "Rel": 1, "Non": 0}, [0, 1, 2, 5]),
    ],
)
def test_gains_by_name_function_or_mapping(gains, values):
    np.testing.assert_array_equal(gains_for(gains, GRADES).values, values)


def test_raw_gains_are_the_numbers_in_the_file():
    fedweb = Scale.parse("0<1<3<7")
    np.testing.assert_array_equal(raw(fedweb).values, [0, 1, 3, 7])
    np.testing.assert_array_equal(linear(fedweb).values, [0, 1, 2, 3])


def test_gains_on_a_scale_that_was_not_declared_are_those_of_trec_eval():
    found = Scale.of_integers([7, 3, 1])
    np.testing.assert_array_equal(linear(found).values, [1, 3, 7])
    np.testing.assert_array_equal(exponential(found).values, [1, 7, 127])
    np.testing.assert_array_equal(gains_for("binary:2", found).values, [0, 1, 1])
    np.testing.assert_array_equal(gains_for("0=0,1=0.1,2=0.2,3=0.3,7=1", found).values, [0.1, 0.3, 1])
    with pytest.raises(ScaleError, match="'8' is not a label"):
        gains_for("binary:8", found)
    with pytest.raises(GainsError, match="too large for exponential"):
        exponential(Scale.of_integers([0, 5000]))


def test_gains_for_more_labels_than_occur_are_taken_where_no_scale_was_declared():
    stated = gains_for({"0": 0, "1": 0.2, "2": 0.7, "3": 1}, Scale.parse("0<1<2<3"))
    found = gains_for(stated, Scale.of_integers([0, 3, 1]))
    assert (found.scale.labels, found.values.tolist()) == (("0", "1", "3"), [0, 0.2, 1])
    with pytest.raises(GainsError, match="these gains are for the scale"):
        gains_for(stated, Scale.parse("0<1<3"))


@pytest.mark.parametrize(
    ("gains", "unit"),
    [
        ("linear", False),
        ("binary:Rel", True),
        ("Non=0,Rel=0.3,HRel=0.3,Key=0.9", True),
        ("Non=0,Rel=1,HRel=2,Key=3", False),
    ],
)
def test_only_stated_gains_within_the_unit_interval_are_probabilities(gains, unit):
    assert gains_for(gains, GRADES).unit is unit


@pytest.mark.parametrize(
    ("gains", "error", "message"),
    [
        ("lienar", GainsError, "neither a formula"),
        ("binary:Relevant", ScaleError, "'Relevant' is not a label"),
        ("Non=0,Rel=1", GainsError, "no gain for label 'HRel'"),
        ("Non=0,Rel=1,HRel=1,Kye=1", GainsError, "did you mean 'Key'"),
        ("Non=0,Rel=x,HRel=1,Key=1", GainsError, "'x' is not a number"),
        ("Non=-1,Rel=0,HRel=1,Key=1", GainsError, "expected 0 or more"),
        ("raw", ScaleError, "not all numbers"),
        (Gains(Scale.parse("a<b"), np.array([0.0, 1.0]), "own"), GainsError, "for the scale a<b"),
    ],
)
def test_gains_that_do_not_fit_are_refused(gains, error, message):
    with pytest.raises(error, match=message):
        gains_for(gains, GRADES)


def test_categories_need_gains_by_hand():
    kinds = Scale.parse("news|wiki")
    with pytest.raises(ScaleError, match="the gain of every label, for example news=1,wiki=0"):
        linear(kinds)
    np.testing.assert_array_equal(gains_for("news=1,wiki=0.5", kinds).values, [1, 0.5])

from __future__ import annotations

import polars as pl
import pytest

from venire import read_judgments
from venire.data.aspects import ABSENT, NO_LABEL, aspects_of, shares_of_top
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, ScaleError, UnknownName
from venire.results import Note


def table(**columns):
    return pl.DataFrame(columns)


TWO = {"topic": ["1", "1", "1"], "doc": ["a", "b", "c"]}


def test_labels_of_one_aspect_are_on_its_own_scale():
    judgments = read_judgments(table(**TWO, rel=["2", "0", "1"], trust=["7", "10", "0"]), layout="aspects")
    assert judgments.scale.labels[-1] == "10"
    assert judgments.where(aspect="rel").scale == Scale.parse("0<1<2")
    assert judgments.where(aspect=["rel"], topic="1").label.tolist() == [2, 0, 1]
    assert judgments.where(aspect=["rel", "trust"]).scale.labels[-1] == "10"
    assert judgments.where(aspect="trust").scale.labels[-1] == "10"


def test_own_scales_of_labels_that_are_no_whole_numbers():
    judgments = read_judgments(table(**TWO, rel=["2", "0", "1"], trust=["0.5", "1.5", "2.5"]), layout="aspects")
    own = judgments.where(aspect="trust")
    assert own.scale.labels == ("0.5", "1.5", "2.5")
    assert own.label.tolist() == [0, 1, 2]


def test_a_declared_scale_is_that_of_every_aspect():
    columns = table(**TWO, rel=["2", "0", "1"], trust=["3", "1", "0"])
    judgments = read_judgments(columns, layout="aspects", scale="0<1<2<3")
    assert judgments.where(aspect="rel").scale.labels[-1] == "3"


def test_not_applicable_is_no_judgment_and_is_told():
    columns = table(topic=["1", "1", "2"], doc=["a", "b", "a"], label=["2", "N/A", "0"])
    judgments = read_judgments(columns)
    assert (len(judgments), judgments.scale.labels) == (2, ("0", "2"))
    assert Note("not-applicable", "", n=1, label="N/A") in judgments.notes
    assert len(judgments.items) == 3
    other = read_judgments(columns.with_columns(label=pl.Series(["2", "nil", "0"])), not_applicable="nil")
    assert Note("not-applicable", "", n=1, label="nil") in other.notes


def test_a_scale_that_has_the_label_keeps_it():
    columns = table(topic=["1", "1"], doc=["a", "b"], label=["good", "N/A"])
    judgments = read_judgments(columns, scale="N/A<good")
    assert judgments.label.tolist() == [1, 0]
    assert "not-applicable" not in [note.kind for note in judgments.notes]


def test_labels_that_are_all_not_applicable():
    judgments = read_judgments(table(topic=["1"], doc=["a"], label=["N/A"]))
    assert len(judgments) == 0


def test_grades_stand_side_by_side_with_absent_and_missing_apart():
    columns = table(**TWO, rel=["good", "N/A", None], trust=["bad", "good", "bad"])
    judgments = read_judgments(columns, layout="aspects", scale="bad|good|N/A")
    aspects = aspects_of(judgments, scales={"rel": Scale.parse("bad<good")})
    assert aspects.names == ("rel", "trust")
    assert aspects.grade.tolist() == [[1, 0], [ABSENT, 1], [NO_LABEL, 0]]
    assert aspects.complete().tolist() == [True, False, False]
    assert aspects.scale_of("rel").ordered
    assert not aspects.scale_of("trust").ordered
    one = aspects.judgments("rel")
    assert (one.label.tolist(), len(one.notes)) == ([1], 1)
    assert "1 are N/A" in aspects.sentence()
    with pytest.raises(UnknownName, match="aspect 'rle'"):
        aspects.grades("rle")


def test_labels_off_the_scale_of_their_aspect_are_refused():
    judgments = read_judgments(table(**TWO, rel=["2", "0", "1"], trust=["7", "5", "0"]), layout="aspects")
    with pytest.raises(ScaleError, match="'2' is not on the scale of the aspect 'rel'"):
        aspects_of(judgments, scales={"rel": Scale.parse("0<1")})


def test_two_labels_for_one_aspect_are_refused():
    columns = table(topic=["1", "1"], doc=["a", "a"], aspect=["rel", "rel"], label=["1", "0"])
    with pytest.raises(AmbiguousLabels, match="several 'rel' labels"):
        aspects_of(read_judgments(columns, duplicate_labels="keep"))


def test_other_facets_and_none():
    columns = table(topic=["1", "1"], doc=["a", "a"], aspect=["rel", "rel"], unit=["page", "snippet"], label=["1", "0"])
    with pytest.raises(AmbiguousLabels, match="values of unit"):
        aspects_of(read_judgments(columns))
    with pytest.raises(UnknownName, match="column 'aspect'"):
        aspects_of(read_judgments({"1": {"a": 1}}))


def test_shares_of_the_top_label():
    scale = Scale.parse("0<1<2")
    assert shares_of_top(scale).tolist() == [0, 0.5, 1]
    assert shares_of_top(scale, reverse=True).tolist() == [1, 0.5, 0]
    assert shares_of_top(scale, exponential=True).tolist() == [0, 1 / 3, 1]

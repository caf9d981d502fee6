"""Judgments: assembled from rows, kept apart, counted."""

import numpy as np
import polars as pl
import pytest

from venire import FormatError, Scale, VenireError, read_judgments, write_judgments
from venire.data.gains import gains_for
from venire.data.judgments import on_one_scale
from venire.errors import AmbiguousLabels, GainsError, RepeatedLineWarning, ScaleError, UnknownName


@pytest.fixture
def qrels(tmp_path):
    def write(text, name="judge.qrels"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def labels_of(judgments):
    frame = judgments.to_polars()
    return {(row["topic"], row["doc"], row["assessor"]): row["label"] for row in frame.iter_rows(named=True)}


def test_one_file_is_one_assessor_named_after_it(qrels):
    first, second = qrels("1 0 a 2\n1 0 b 0\n", "ann.qrels"), qrels("1 0 a 1\n", "bob.txt")
    judgments = read_judgments([first, second])
    assert judgments.assessors == ("ann", "bob")
    assert labels_of(judgments) == {("1", "a", "ann"): "2", ("1", "b", "ann"): "0", ("1", "a", "bob"): "1"}


def test_the_second_column_can_name_assessors_or_intents(qrels):
    path = qrels("1 x a 2\n1 y a 0\n")
    assert read_judgments(path, second_column="assessor").assessors == ("x", "y")
    by_intent = read_judgments(path, second_column="intent")
    assert list(by_intent.facets["intent"].names) == ["x", "y"]
    assert len(by_intent.where(intent="y")) == 1


def test_topics_that_are_numbers_stand_in_their_order(qrels):
    assert read_judgments(qrels("10 0 a 1\n9 0 a 1\n101 0 a 0\n")).topics == ("9", "10", "101")
    assert read_judgments(qrels("q10 0 a 1\nq9 0 a 1\n")).topics == ("q10", "q9")


def test_a_second_label_for_an_item_is_an_error_that_names_its_line(qrels):
    path = qrels("1 0 a 2\n1 0 b 0\n1 0 a 1\n")
    with pytest.raises(FormatError, match=r"(?s)judge.qrels:3: document 'a' gets label '1' ") as caught:
        read_judgments(path)
    assert caught.value.line == 3


@pytest.mark.parametrize(("rule", "kept"), [("keep", ["2", "1"]), ("first", ["2"]), ("last", ["1"])])
def test_repeats_follow_the_rule(qrels, rule, kept):
    judgments = read_judgments(qrels("1 0 a 2\n1 0 a 1\n"), duplicate_labels=rule)
    assert judgments.to_polars()["label"].to_list() == kept


def test_an_identical_line_only_warns(qrels):
    path = qrels("1 0 a 2\n1 0 a 2\n1 0 b 1\n1 0 b 1\n")
    with pytest.warns(RepeatedLineWarning, match=r"judge.qrels:2: .* \(and 1 more such lines\)"):
        assert len(read_judgments(path)) == 2


@pytest.mark.parametrize(("negative", "labels"), [("unjudged", ["1"]), ("lowest", ["0", "1"])])
def test_grades_below_zero_are_unjudged_or_lowest(qrels, negative, labels):
    judgments = read_judgments(qrels("1 0 a -2\n1 0 b 1\n"), negative=negative)
    assert judgments.to_polars()["label"].to_list() == labels
    assert any(note.kind == "negative-labels" for note in judgments.notes) == (negative == "unjudged")


def test_a_declared_scale_may_have_negative_labels(qrels):
    judgments = read_judgments(qrels("1 0 a -2\n1 0 b 1\n"), scale="-2<0<1<2")
    assert judgments.to_polars()["label"].to_list() == ["-2", "1"]


def test_a_label_off_the_scale_names_its_line(qrels):
    with pytest.raises(FormatError, match=r"judge.qrels:2: label '3' is not on the scale 0<1<2"):
        read_judgments(qrels("1 0 a 1\n1 0 b 3\n"), scale="0<1<2")


def test_labels_that_are_no_numbers_need_a_scale(qrels):
    path = qrels("1 0 a Rel\n1 0 b Non\n")
    with pytest.raises(FormatError, match=r"judge.qrels:2: label .Non.") as caught:
        read_judgments(path)
    assert "declare the scale" in caught.value.hint
    assert "Non<Rel" not in caught.value.hint
    assert read_judgments(path, scale="Non<Rel").label.tolist() == [1, 0]


def test_fractions_are_ranked_as_they_are(qrels):
    judgments = read_judgments(qrels("1 0 a 0.5\n1 0 b 0\n1 0 c 0.25\n"))
    assert judgments.scale.labels == ("0", "0.25", "0.5")
    assert judgments.scale.measurement == "interval"


def test_a_header_or_a_toml_beside_the_file_declares_the_scale(qrels, tmp_path):
    header = qrels("# scale: Non<Rel<Key\n1 0 a Key\n", "h.qrels")
    assert read_judgments(header).scale.labels == ("Non", "Rel", "Key")
    path = qrels("1 0 a Key\n", "t.qrels")
    (tmp_path / "t.qrels.toml").write_text('labels = ["Non", "Key"]\n')
    assert read_judgments(path).scale.labels == ("Non", "Key")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 0 a 1\n1 0 a\n", r":2: found 3 columns in '1 0 a', expected 4: topic, 0, document, label"),
        (b"", "holds no judgments"),
        (b"1 0 a 1\n\x00\x01\x02\n", r":2: found the control byte 0x00: this is not a text file"),
    ],
)
def test_bad_qrels_say_where_and_what(qrels, text, message):
    with pytest.raises(FormatError, match=message):
        read_judgments(qrels(text))


def test_ids_keep_their_bytes(qrels, tmp_path):
    path = qrels(b"t\xff 0 d\xfe\xc3\xa4 1\n")
    judgments = read_judgments(path)
    write_judgments(judgments, tmp_path / "again.qrels")
    assert (tmp_path / "again.qrels").read_bytes() == b"t\xff 0 d\xfe\xc3\xa4 1\n"


def test_summary_counts_items_by_labels_and_labels_by_assessor(qrels):
    judgments = read_judgments([qrels("1 0 a 2\n1 0 b 0\n2 0 c 0\n", "ann"), qrels("1 0 a 1\n", "bob")])
    summary = judgments.summary()
    assert (summary.n_labels, summary.n_items, summary.n_topics) == (4, 3, 2)
    assert summary.items_with == {1: 2, 2: 1}
    assert {name: counts.tolist() for name, counts in summary.labels.items()} == {"ann": [2, 0, 1], "bob": [0, 1, 0]}
    assert "1 item with 2 labels" in str(summary)
    np.testing.assert_array_equal(judgments.label_counts(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])


def test_a_part_counts_its_own_items_and_names_its_rows(qrels):
    part = read_judgments(qrels("1 0 a 2\n1 0 b 0\n2 0 c 0\n3 0 d 1\n", "ann")).take([3, 1])
    summary = part.summary()
    assert (summary.n_labels, summary.n_items, summary.n_topics, summary.items_with) == (2, 2, 2, {1: 2})
    assert (part.column("doc").texts(), part.column("topic").texts()) == (["d", "b"], ["3", "1"])


def test_labels_of_other_aspects_are_not_further_labels_of_an_item():
    rows = [
        ("1", "a", "x", 1, "rel"),
        ("1", "a", "x", 0, "trust"),
        ("1", "a", "y", 1, "rel"),
        ("1", "b", "x", 0, "rel"),
    ]
    columns = dict(zip(("topic", "doc", "assessor", "label", "aspect"), zip(*rows, strict=True), strict=True))
    summary = read_judgments(pl.DataFrame(columns)).summary()
    assert summary.items_with == {1: 2, 2: 1}
    assert summary.n_items == 2


def test_where_names_what_is_there(qrels):
    judgments = read_judgments(qrels("1 0 a 1\n"))
    with pytest.raises(UnknownName, match=r"(?s)no assessor 'jugde'.*did you mean 'judge'"):
        judgments.where(assessor="jugde")
    with pytest.raises(UnknownName, match="no column 'aspect'"):
        judgments.where(aspect="trust")


def test_several_assessors_do_not_fit_plain_qrels(qrels, tmp_path):
    judgments = read_judgments([qrels("1 0 a 2\n", "ann"), qrels("1 0 a 1\n", "bob")])
    with pytest.raises(AmbiguousLabels, match="2 different values of assessor do not fit"):
        write_judgments(judgments, tmp_path / "both.qrels")
    write_judgments(judgments, tmp_path / "both.qrels", second_column="assessor")
    assert labels_of(read_judgments(tmp_path / "both.qrels", second_column="assessor")) == labels_of(judgments)


def test_judgments_come_from_dictionaries_and_frames():
    from_dict = read_judgments({"1": {"a": 1, "b": 0}})
    frame = pl.DataFrame({"qid": ["1", "1"], "docid": ["a", "b"], "rel": [1, 0]})
    for judgments in (read_judgments(frame), read_judgments(frame.to_pandas())):
        assert judgments.to_polars()["label"].to_list() == from_dict.to_polars()["label"].to_list()
        assert judgments.items.doc == ["a", "b"]


def test_files_of_one_name_in_two_folders_are_two_assessors(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "qrels.txt").write_text("1 0 a 1\n")
    judgments = read_judgments([tmp_path / "one" / "qrels.txt", tmp_path / "two" / "qrels.txt"])
    assert judgments.assessors == ("one/qrels", "two/qrels")
    with pytest.raises(FormatError, match="is given twice"):
        read_judgments([tmp_path / "one" / "qrels.txt"] * 2)


@pytest.mark.parametrize("name", ["x.csv", "x.qrels"])
def test_whole_numbers_may_have_a_fraction_of_zero(tmp_path, name):
    text = "qid,docno,grade\n1,a,1.0\n1,b,3.0\n" if name == "x.csv" else "1 0 a 1\n1 0 b 3.0\n"
    (tmp_path / name).write_text(text)
    judgments = read_judgments(tmp_path / name)
    assert judgments.scale.labels == ("1", "3")
    assert judgments.label.tolist() == [0, 1]


def test_fractions_are_noted_since_linear_gains_are_places(qrels):
    assert any("not whole numbers" in str(note) for note in read_judgments(qrels("1 0 a 0.5\n1 0 b 1\n")).notes)


def test_a_scale_that_is_not_declared_holds_the_labels_that_occur(qrels):
    one, other = qrels("1 0 a 7\n1 0 b 1\n1 0 c -2\n", "one.qrels"), qrels("1 0 a 3\n2 0 b 1\n", "two.qrels")
    found = read_judgments([one, other])
    assert found.scale.labels == ("1", "3", "7")
    assert [note.fields["scale"] for note in found.notes if note.kind == "inferred-scale"] == ["1<3<7"]
    assert found.where(assessor="two").scale.labels == ("1", "3", "7")
    declared = read_judgments([one, other], scale="0<1<2<3<7")
    assert "inferred-scale" not in [note.kind for note in declared.notes]


@pytest.mark.parametrize(("grades", "labels"), [((1, 1), ("0", "1")), ((0, 0), ("0", "1")), ((3, 3), ("0", "3"))])
def test_a_label_that_occurs_alone_has_another_beside_it(grades, labels):
    assert read_judgments({"1": dict(zip("ab", grades, strict=True))}).scale.labels == labels


def test_labels_below_zero_are_0_if_they_are_the_lowest(qrels):
    found = read_judgments(qrels("1 0 a -2\n1 0 b 1\n1 0 c 2\n"), negative="lowest")
    assert (found.scale.labels, found.label.tolist()) == (("0", "1", "2"), [0, 1, 2])


def test_judgments_without_a_declared_scale_go_on_one_scale():
    few, more = read_judgments({"1": {"a": 0, "b": 3}}), read_judgments({"1": {"a": 1, "b": 3, "c": 2}})
    one, other = on_one_scale(few, more)
    assert one.scale.labels == other.scale.labels == ("0", "1", "2", "3")
    assert (one.label.tolist(), other.label.tolist()) == ([0, 3], [1, 3, 2])
    with pytest.raises(ScaleError, match="'2' is not a label"):
        on_one_scale(read_judgments({"1": {"a": 0}}, scale="0<1<3"), more)


@pytest.mark.parametrize(
    "read", [lambda: read_judgments({"1": {"a": "1_000"}}), lambda: Scale.parse("0<1_0").numbers()]
)
def test_digits_parted_by_underscores_are_no_number(read):
    with pytest.raises(VenireError, match=r"1_0+"):
        read()
    with pytest.raises(GainsError, match="not a number"):
        gains_for("0=0,1=1_0", Scale.parse("0<1"))

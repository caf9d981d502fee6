from __future__ import annotations

import pytest

from aspect_examples import WIDE, long_form
from venire import read_judgments
from venire.errors import FormatError, ScaleError, UnknownName
from venire.io.aspects import read_aspects


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="labels.tsv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_long_and_wide_tables_say_the_same(write):
    wide = read_aspects(write(WIDE))
    long = read_aspects(write(long_form(), "long.tsv"))
    assert wide.names == long.names == ("nov", "overall", "top")
    assert wide.grade.tolist() == long.grade.tolist()
    assert wide.given.texts() == long.given.texts()
    docs = [wide.items.doc[item] for item in wide.item.tolist()]
    assert list(zip(docs, wide.given.texts(), wide.grade.tolist(), strict=True))[:3] == [
        ("a", "", [-1, 2, 2]),
        ("b", "", [1, 1, 1]),
        ("b", "a", [2, 0, 1]),
    ]


def test_scales_are_inferred_stated_or_declared(write):
    text = "topic\tdoc\taspect\tlabel\n1\ta\trel\t2\n1\ta\ttrust\thigh\n1\tb\trel\tN/A\n1\tb\ttrust\tlow\n"
    path = write(text)
    found = read_aspects(path, scales={"trust": "low<high"})
    assert [str(scale) for scale in found.scales] == ["0<2", "low<high"]
    assert found.grade.tolist() == [[1, 1], [-1, 0]]
    with pytest.raises(FormatError, match=r"labels.tsv:3: label 'high' is not a number"):
        read_aspects(path)
    with pytest.raises(FormatError, match=r"labels.tsv:2: label '2' is not on the scale"):
        read_aspects(path, scale="low<high")
    with pytest.raises(UnknownName, match="aspect 'trst'"):
        read_aspects(path, scales={"trst": "low<high"})
    declared = read_aspects(
        write("# scale: bad<good\n" + text.replace("2", "good").replace("high", "bad")[:-4] + "bad\n")
    )
    assert [str(scale) for scale in declared.scales] == ["bad<good", "bad<good"]


def test_a_label_of_another_aspect_is_told_with_its_line(write):
    text = "topic\tdoc\taspect\tlabel\n1\ta\trel\tlow\n1\tb\trel\tno\n1\ta\ttrust\thigh\n"
    with pytest.raises(FormatError, match=r"labels.tsv:2: label 'low' is not on the scale of 'rel', no<yes"):
        read_aspects(write(text), scales={"trust": "low<high", "rel": "no<yes"})


def test_unknown_aspects_are_told_with_their_line(write):
    text = "topic\tdoc\taspect\tlabel\n1\ta\trel\t2\n1\tb\ttrsut\t1\n"
    with pytest.raises(FormatError, match=r"labels.tsv:3: there is no aspect 'trsut'") as caught:
        read_aspects(write(text), names=["rel", "trust"])
    assert caught.value.hint == "expected 'rel', 'trust'"


def test_tables_without_aspects_and_conflicting_scales(write):
    with pytest.raises(FormatError, match="names no aspects"):
        read_aspects(write("topic\tdoc\tlabel\n1\ta\t1\n"))
    line = "topic\tdoc\taspect\tlabel\n1\ta\trel\tx\n"
    files = [write(f"# scale: x<y\n{line}", "one.tsv"), write(f"# scale: y<x\n{line}", "two.tsv")]
    with pytest.raises(ScaleError, match="different scales"):
        read_aspects(files)


def test_judgments_in_memory_are_taken_as_they_are(write):
    text = "topic\tdoc\trel\ttrust\n1\ta\t2\t7\n1\tb\t1\t5\n1\tc\t0\t5\n"
    judgments = read_judgments(write(text), layout="aspects")
    assert read_aspects(judgments).grade.tolist() == [[2, 1], [1, 0], [0, 0]]


def test_clef(data_dir):
    found = read_aspects(data_dir / "clef18_aspects" / "aspects.tsv.gz")
    assert dict(zip(found.names, map(len, found.scales), strict=True)) == {
        "rel": 3,
        "trust": 11,
        "understandability": 11,
    }
    assert (len(found), found.complete().all()) == (26_025, True)

"""Wide tables: a column per assessor or aspect."""

from __future__ import annotations

import polars as pl
import pytest

from venire import read_aspects, read_judgments
from venire.errors import FormatError, UnknownName
from venire.io.tables import blocks
from written_tables import LONG, refusal, rows


def test_wide_cells_are_labels_and_empty_ones_none(read):
    table = read("qid\tdocid\tnist\tgpt,4\n1\ta\t2\t\n1\tb\t\t\n2\ta\t0\t1\n", "judges.tsv")
    assert rows(table) == [("1", "a", "nist", "2", 2), ("2", "a", "nist", "0", 4), ("2", "a", "gpt,4", "1", 4)]
    assert list(table.doc.names) == ["a"]
    (note,) = table.notes
    assert (note.kind, note.fields["spread"], note.fields["names"]) == ("wide-table", "assessor", ("nist", "gpt,4"))


def test_in_a_wide_table_every_other_column_is_an_assessor(read):
    table = read("topic,doc,query,rel,time,intent,Intent\n1,a,0,1,9.5,i,2\n", layout="wide")
    assert sorted(table.assessor.texts()) == ["Intent", "query", "rel"]
    assert table.facets["intent"].texts() == ["i", "i", "i"]
    assert table.time.tolist() == [9.5] * 3


def test_wide_by_aspects_may_have_assessors(read):
    text = "qid,docid,rel,trust\n1,a,2,\n1,b,0,1\n"
    table = read(text, layout="aspects")
    assert rows(table)[0] == ("1", "a", "judges", "2", 2)
    assert table.facets["aspect"].texts() == ["rel", "rel", "trust"]
    named = read("qid,worker,docid,rel,trust\n1,w1,a,2,1\n1,w2,a,,0\n", layout="aspects")
    assert named.assessor.texts() == ["w1", "w1", "w2"]
    assert named.facets["aspect"].texts() == ["rel", "trust", "trust"]


def test_wide_tables_without_labels_are_refused(read):
    assert "no column holds labels" in refusal(read, "topic,doc\n1,a\n", layout="wide")
    assert "holds no judgments" in refusal(read, "topic,doc,x\n1,a,\n", layout="wide")
    assert "a column has no name" in refusal(read, "topic,doc,,x\n1,a,0,1\n", layout="wide")
    assert ":3: the topic is empty" in refusal(read, "topic,doc,x\n1,a,0\n,a,1\n,b,\n", layout="wide")
    with pytest.raises(UnknownName, match="'narrow'"):
        read(LONG, layout="narrow")


def test_wide_json_lines_need_no_key_for_what_was_not_judged(read, monkeypatch):
    text = "".join(f'{{"topic": 1, "doc": "d{n}", "w{n % 50}": {n % 3}}}\n' for n in range(200))
    monkeypatch.setattr(blocks, "BLOCK", 400)
    table = read(text, "judges.jsonl", layout="wide")
    assert rows(table) == [("1", f"d{n}", f"w{n % 50}", str(n % 3), n + 1) for n in range(200)]


@pytest.mark.parametrize(
    ("text", "assessors"),
    [
        ("topic,doc,ann,bob\n1,a,1,\n1,b,0,2\n", ("ann", "bob")),
        ("qid,docid,intent,p1,p2\n1,a,i,1,0\n", ("p1", "p2")),
        ("topic,doc,ann,bob\n1,a,N/A,1\n1,b,0,-2\n", ("ann", "bob")),
    ],
)
def test_a_wide_table_is_recognised(tmp_path, text, assessors):
    path = tmp_path / "judges.csv"
    path.write_text(text)
    found = read_judgments(path)
    assert found.assessors == assessors
    assert found.notes[0].kind == "wide-table"
    assert found.notes[0].fields["recognised"]
    stated = read_judgments(path, layout="wide")
    assert found.to_polars().equals(stated.to_polars())
    assert not stated.notes[0].fields["recognised"]


@pytest.mark.parametrize(
    "text",
    [
        "topic,doc,stars\n1,a,1\n1,b,0\n",
        "topic,doc,worker,stars,stripes\n1,a,7,1,2\n",
        "topic,doc,stars,confidence\n1,a,1,3\n",
        "topic,doc,stars,timestamp\n1,a,1,3\n",
        "topic,doc,stars,remark\n1,a,1,good\n",
        "topic,doc,stars,words\n" + "".join(f"1,d{n},1,{n}\n" for n in range(30)),
    ],
)
def test_a_table_that_may_be_long_is_not_taken_for_wide(tmp_path, text):
    path = tmp_path / "judges.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"(?s)no column for the label.*layout.*wide"):
        read_judgments(path)
    assert len(read_judgments(path, columns={"label": "stars"})) == text.count("\n") - 1


@pytest.mark.parametrize("text", ["topic,doc,rel,nist,gpt\n1,a,1,2,0\n", "topic,doc,assessor,label,trust\n1,a,x,1,2\n"])
def test_a_table_with_a_column_of_labels_is_long(tmp_path, text):
    path = tmp_path / "judges.csv"
    path.write_text(text)
    assert len(read_judgments(path)) == 1


def test_wide_by_aspects_is_recognised_where_aspects_are_asked_for(tmp_path):
    path = tmp_path / "judges.csv"
    path.write_text("topic,doc,rel,trust\n1,a,2,1\n1,b,0,\n")
    assert len(read_judgments(path)) == 2
    found = read_judgments(path, aspects=["trust"])
    assert found.where(aspect="trust").to_polars()["label"].to_list() == ["1"]
    assert "aspect" not in read_judgments(path, aspects=["style"]).facets
    assert read_aspects(path).names == ("rel", "trust")


def test_labels_of_a_declared_scale_are_labels_of_a_wide_table(tmp_path):
    path = tmp_path / "judges.csv"
    path.write_text("topic,doc,ann,bob\n1,a,Rel,Non\n")
    assert read_judgments(path, scale="Non<Rel").assessors == ("ann", "bob")
    with pytest.raises(FormatError, match="does not look like a label"):
        read_judgments(path)


def test_frames_are_recognised_too():
    frame = pl.DataFrame({"topic": [1, 1], "doc": ["a", "b"], "x": [1, 0], "y": [2, None]})
    assert len(read_judgments(frame)) == 3

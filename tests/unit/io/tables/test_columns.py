"""Files that are given as another kind than they are, and columns that are named for it."""

from __future__ import annotations

import polars as pl
import pytest

from venire import FormatError, read_aspects, read_judgments, read_preferences
from venire.errors import UnknownName

ODD = "query,url,rating,batch\n1,a,1,x\n1,b,0,x\n1,b,2,y\n2,a,3,y\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, text: str):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("p.csv", "topic,left,right,assessor,strength\n1,a,b,u,1\n", "preferences"),
        ("p.tsv", "topic\tleft\tright\tstrength\n1\ta\tb\t1\n", "preferences"),
        ("p.txt", "1 a b a\n1 b c c\n2 a b =\n", "preferences"),
        ("c.csv", "session,topic,rank,doc,clicked\ns,1,1,a,0\n", "a click log"),
        ("r.csv", "topic,doc,rank,score,system\n1,a,1,3.5,s\n", "a run"),
        ("r.txt", "1 Q0 a 1 3.5 s\n", "a run"),
    ],
)
def test_what_are_no_judgments_is_named(write, name, text, kind):
    with pytest.raises(FormatError, match=f"looks like {kind}"):
        read_judgments(write(name, text))


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("c.csv", "session,topic,rank,doc,clicked\ns,1,1,a,0\n", "a click log"),
        ("j.tsv", "topic\tdoc\tassessor\tlabel\n1\ta\tu\t2\n", "judgments"),
    ],
)
def test_what_are_no_preferences_is_named(write, name, text, kind):
    with pytest.raises(FormatError, match=f"looks like {kind}"):
        read_preferences(write(name, text))


@pytest.mark.parametrize("head", ["votes_rel,votes_non", "n_rel,n_non", "0,1"])
def test_votes_that_were_counted_are_not_assessors(write, head):
    path = write("v.csv", f"topic,doc,{head}\n1,a,1,4\n1,b,5,0\n1,c,2,3\n2,a,0,5\n")
    with pytest.raises(FormatError, match="numbers of votes"):
        read_judgments(path, layout="wide")


def test_assessors_may_be_numbers(write):
    path = write("w.csv", "topic,doc,1,2\n1,a,1,0\n1,b,2,2\n1,c,0,1\n2,a,0,1\n")
    assert read_judgments(path, layout="wide").assessors == ("1", "2")


def test_judgments_whose_labels_are_all_0_are_no_preferences(write):
    assert len(read_judgments(write("zero.txt", "1 0 a 0\n1 0 b 0\n"))) == 2


def test_columns_are_stated(write):
    found = read_judgments(write("odd.csv", ODD), columns={"doc": "url", "assessor": "batch"})
    assert (found.assessors, len(found)) == (("x", "y"), 4)
    frame = pl.read_csv(write("odd.csv", ODD))
    assert read_judgments(frame, columns={"doc": "url", "assessor": "batch"}).to_polars().equals(found.to_polars())


def test_columns_are_stated_of_tables_alone(write):
    odd, qrels = write("odd.tsv", ODD.replace(",", "\t")), write("nist.txt", "1 0 a 2\n")
    found = read_judgments([odd, qrels], columns={"doc": "url"})
    assert found.assessors == ("nist", "odd")


def test_columns_stated_count_before_those_found_by_name(write):
    path = write("two.csv", "topic,doc,label,rating,url\n1,a,0,3,x\n1,b,1,2,y\n")
    found = read_judgments(path, columns={"label": "rating", "doc": "url"})
    assert (found.scale.labels, list(found.items.doc)) == (("2", "3"), ["x", "y"])


@pytest.mark.parametrize(
    ("columns", "kind", "words"),
    [
        ({"dc": "url"}, UnknownName, "did you mean 'doc'"),
        ({"doc": "ulr"}, FormatError, "did you mean 'url'"),
        ({"doc": "url", "label": "url"}, FormatError, "two things"),
    ],
)
def test_columns_that_cannot_be_are_refused(write, columns, kind, words):
    with pytest.raises(kind, match=f"(?s).*{words}"):
        read_judgments(write("odd.csv", ODD), columns=columns)


@pytest.mark.parametrize("name", ["odd.csv", "odd.jsonl", "odd.parquet"])
def test_rows_are_chosen_by_any_column_before_repeats_are_settled(tmp_path, name):
    frame = pl.read_csv(ODD.encode())
    path = tmp_path / name
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[name.partition(".")[2]](path)
    found = read_judgments(path, columns={"doc": "url"}, where={"batch": "x"})
    assert [found.scale.labels[level] for level in found.label] == ["1", "0"]
    assert (found.scale.labels, found.dropped) == (("0", "1", "2", "3"), {})
    with pytest.raises(UnknownName, match="did you mean 'batch'"):
        read_judgments(path, columns={"doc": "url"}, where={"bach": "x"})
    with pytest.raises(UnknownName, match="there is no batch 'z'"):
        read_judgments(path, columns={"doc": "url"}, where={"batch": "z"})


def test_rows_of_a_wide_table_are_chosen_too(write):
    path = write("wide.csv", "topic,doc,batch,u,v\n1,a,x,1,2\n1,b,y,0,\n")
    found = read_judgments(path, layout="wide", where={"batch": "x"})
    assert (found.assessors, found.label.tolist()) == (("u", "v"), [1, 2])


def test_a_file_without_the_column_has_no_value_in_it(write):
    one, other = write("odd.csv", ODD), write("more.csv", "query,url,rating\n9,a,1\n")
    found = read_judgments([one, other], columns={"doc": "url"}, where={"batch": ["x", "y"]})
    assert "9" not in {found.topics[code] for code in found.column("topic").codes}


def test_aspects_have_columns_too(write):
    path = write("a.csv", "topic,url,side,grade,batch\n1,a,rel,1,x\n1,a,style,2,x\n1,b,rel,0,y\n")
    found = read_aspects(path, columns={"doc": "url", "aspect": "side"}, where={"batch": ["x"]})
    assert (found.names, len(found)) == (("rel", "style"), 1)

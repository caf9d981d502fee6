from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from venire.data.ids import Category
from venire.data.rows import Rows, assemble
from venire.data.scale import Scale
from venire.errors import FormatError
from venire.io import delimited, frames, json_lines
from venire.io.column_names import Form
from venire.io.tables import looks_like_table, read_table, rows_from_dict, rows_from_frame

LONG = "qid,docid,worker,rel\n1,a,w1,2\n1,b,w2,0\n01,a,w1,1\n"
LONG_ROWS = [("1", "a", "w1", "2", 2), ("1", "b", "w2", "0", 3), ("01", "a", "w1", "1", 4)]


def rows(table: Rows) -> list[tuple[str | int, ...]]:
    """Topic, doc, assessor, label and line of every row."""
    columns = [each.texts() for each in (table.topic, table.doc, table.assessor, table.label)]
    return list(zip(*columns, table.line.tolist(), strict=True))


@pytest.fixture
def read(tmp_path):
    """Write a text into a file of this name and read it."""

    def write_and_read(text: str | bytes, name: str = "judges.csv", **options) -> Rows:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_table(path, **options)

    return write_and_read


def refusal(read, text: str | bytes, name: str = "judges.csv", **options) -> str:
    """The words with which a table is refused, from the file's name on."""
    with pytest.raises(FormatError) as caught:
        read(text, name, **options)
    return str(caught.value).partition(name)[2]


# The formats


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("name", ["judges.csv", "judges.tsv", "judges.txt"])
def test_the_separator_follows_the_name_and_compression_the_bytes(read, name, compress):
    text = LONG.replace(",", ";" if name == "judges.txt" else "\t" if name == "judges.tsv" else ",")
    assert rows(read(compress(text.encode()), name)) == LONG_ROWS


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("name", ["judges.csv", "judges.tsv", "judges"])
def test_a_header_without_the_separator_of_the_name_tells_its_own(read, name, separator):
    assert rows(read(LONG.replace(",", separator), name)) == LONG_ROWS


def test_json_lines_hold_numbers_or_text_and_empty_lines_are_counted(read):
    text = (
        '{"qid": 1, "docid": "a", "worker": "w1", "rel": 2.0}\n\n'
        '{"qid": "1", "docid": "b", "worker": "w2", "rel": 0}\r\n\r\n'
        '{"rel": 1, "qid": "01", "docid": "a", "worker": "w1", "more": {"deep": [1]}}'
    )
    expected = [(*row[:4], line) for row, line in zip(LONG_ROWS, (1, 3, 5), strict=True)]
    assert rows(read(text, "judges.jsonl")) == expected
    assert rows(read("\n" + text, "judges")) == [(*row[:4], row[4] + 1) for row in expected]


def test_parquet_numbers_become_their_digits_and_lines_are_rows(read):
    file = io.BytesIO()
    frame = pl.DataFrame({"qid": [9007199254740993, 7], "docid": ["01", "1.0"], "rel": [2.0, 0.5], "more": [[1], [2]]})
    frame.write_parquet(file)
    table = read(file.getvalue(), "judges.parquet")
    assert rows(table) == [("9007199254740993", "01", "judges", "2", 1), ("7", "1.0", "judges", "0.5", 2)]
    assert rows(read(file.getvalue(), "misnamed.csv"))[0][:2] == ("9007199254740993", "01")


def test_text_stays_as_it_is_written(read):
    table = read("topic,doc,label\n01,1.0,+1\n1e3,NA,2.0\n true,null, 3 \n")
    assert table.topic.texts() == ["01", "1e3", " true"]
    assert table.doc.texts() == ["1.0", "NA", "null"]
    assert table.label.texts() == ["+1", "2.0", "3"]


def test_a_file_that_names_no_assessor_is_one(read):
    assert read("topic,doc,label\n1,a,0\n", "trec8.csv").assessor.texts() == ["trec8"]
    assert read("topic,doc,label\n1,a,0\n", assessor="nist").assessor.texts() == ["nist"]
    assert "has assessors of its own" in refusal(read, LONG, assessor="nist")


def test_repeats_are_kept(read):
    table = read("topic,doc,label\n1,a,0\n1,a,1\n")
    assert len(assemble([table])) == 2


# The structure of CSV and TSV


def test_quotes_crlf_byte_order_mark_and_comments(read):
    text = '\ufeff# made by hand\r\n# scale: Non<Rel\r\n\r\ntopic,doc,label\r\n1,"a,""b""",Rel\r\n"2",\'c,Non\r\n'
    table = read(text)
    assert rows(table) == [("1", 'a,"b"', "judges", "Rel", 5), ("2", "'c", "judges", "Non", 6)]
    assert table.scale == Scale.parse("Non<Rel")


def test_lines_are_counted_through_quoted_line_ends(read):
    table = read('topic,doc,"a\nlabel",label\n1,"x\n\ny",,0\n\n1,z,,1\n')
    assert rows(table) == [("1", "x\n\ny", "judges", "0", 3), ("1", "z", "judges", "1", 7)]


def test_quotes_inside_fields_are_plain_where_no_field_begins_with_one(read):
    assert read('topic\tdoc\tlabel\n1\t5" disk\t0\n2\ta"\t1\n', "judges.tsv").doc.texts() == ['5" disk', 'a"']


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('1,"a",0\n2,5" disk,1\n', 3),
        ('1,"a"b,0\n2,c,1\n', 2),
        ('1,"a\n2,c,1\n', 2),
        ('1,a,0\n2,"c,1\n3,d,1\n', 3),
        ('1,""a,0\n', 2),
    ],
)
def test_quotes_that_enclose_no_whole_field_are_refused(read, text, line):
    assert refusal(read, "topic,doc,label\n" + text).startswith(f":{line}: found a quote")


@pytest.mark.parametrize(
    ("text", "line", "found"), [("1,a,0\n1,b\n", 3, 2), ("1,a,0\n\n1,b,1,1\n", 4, 4), ("1,a,0\n \n", 3, 1)]
)
@pytest.mark.parametrize("quoted", [False, True])
def test_rows_with_more_or_fewer_fields_are_refused(read, text, line, found, quoted):
    text = text.replace("1,a,0", '"1",a,0') if quoted else text
    assert refusal(read, "topic,doc,label\n" + text).startswith(f":{line}: found {found} fields, expected 3")


def test_bytes_that_are_no_text_are_refused_on_their_line(read):
    assert ":3: found the byte 0xff" in refusal(read, b"topic,doc,label\n1,a,0\n1,\xff,0\n")
    assert ":1: found the byte 0xe9" in refusal(read, b"topic,doc,label,caf\xe9\n1,a,0,1\n")
    assert ":1: found the byte 0xff" in refusal(read, "topic,doc,label\n".encode("utf-16"))
    assert ":2: found a zero byte" in refusal(read, b"topic,doc,label\n1,\0,0\n")
    assert ":1: found the byte 0xff" in refusal(read, b'{"topic": "\xff"}\n', "judges.jsonl")


def test_headers_are_whole_and_name_no_column_twice(read):
    assert ":1: the header names column 'doc' 2 times" in refusal(read, "topic,doc,doc,label\n1,a,b,0\n")
    assert "found no header" in refusal(read, "# nothing else\n")
    assert "found no header" in refusal(read, "")
    assert "CR alone" in refusal(read, "topic,doc,label\r1,a,0\r")


@pytest.mark.parametrize("text", ["topic,doc,label\n", "topic,doc,label\n\n\r\n"])
def test_a_table_without_rows_is_refused(read, text):
    assert "holds no judgments" in refusal(read, text)


def test_batches_make_no_difference(read, monkeypatch):
    text = "topic,doc,label\n" + "".join(f'{n % 7},"d\n{n}",{n % 3}\n' for n in range(500))
    wide = "topic,doc,x,y\n" + "".join(f"{n % 7},d{n},{n % 3},{n % 2 or ''}\n" for n in range(500))
    lines = "".join(f'{{"topic": {n % 7}, "doc": "d{n}", "label": {n % 3}}}\n' for n in range(500))
    whole = [rows(read(text)), rows(read(wide, wide=True)), rows(read(lines, "judges.jsonl"))]
    monkeypatch.setattr(delimited, "BATCH", 64)
    monkeypatch.setattr(delimited, "WIDE_BATCH", 64)
    monkeypatch.setattr(json_lines, "BATCH", 64)
    assert [rows(read(text)), rows(read(wide, wide=True)), rows(read(lines, "judges.jsonl"))] == whole
    assert "found a quote" in refusal(read, text + '8,"d')
    assert ":1002: found 2 fields" in refusal(read, text + "8,d\n")


# Columns


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        ("Topic_ID,doc no,LABEL", "topic = Topic_ID, doc = doc no, label = LABEL"),
        ("query,q-id,docid,score", "topic = q-id, doc = docid, label = score; not used: query"),
        ("qid,pid,document,rel,score", None),
        ("qid,pid,doc,rel,score", "topic = qid, doc = doc, label = rel; not used: pid, score"),
        ("topicID,workerID,docID,gold,label", "topic = topicID, doc = docID, assessor = workerID, label = label; not"),
        ("q,passage,user,grade,date", "topic = q, doc = passage, assessor = user, label = grade, time = date"),
    ],
)
def test_columns_are_found_by_their_usual_names(read, header, roles):
    text = f"{header}\n" + ",".join("1" * (header.count(",") + 1)) + "\n"
    if roles is None:
        assert "columns 'pid' and 'document' could both be the doc" in refusal(read, text)
    else:
        assert read(text).notes[0].startswith(f"judges.csv: {roles}")


def test_what_is_missing_or_ambiguous_is_said(read):
    said = refusal(read, "# by hand\nqid,url,label\n1,a,0\n")
    assert ":2: no column for the doc: found qid, url, label; expected one of doc, docid" in said
    assert "rename" in said
    assert "--wide" in refusal(read, "qid,docid,nist,gpt\n1,a,0,1\n")
    said = refusal(read, "qid,topic,doc,label\n1,1,a,0\n")
    assert ":1: columns 'qid' and 'topic' could both be the topic" in said
    assert "rename" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,a,w,\n", ":2: the label is empty"),
        ("1,a,w,0\n1,a,w, \n", ":3: the label is empty"),
        ("1,a,w,0\n1,,w,\n", ":3: the doc is empty"),
        ("1,a,w,0\n1,a,,1\n,a,w,1\n", ":3: the assessor is empty"),
    ],
)
def test_empty_cells_of_a_long_table_are_refused(read, text, said):
    assert refusal(read, "topic,doc,assessor,label\n" + text).startswith(said)


def test_facets_and_times_are_read_where_they_are(read):
    table = read(
        "topic,doc,label,subtopic,dimension,given_doc,unit,task,timestamp\n"
        "1,a,0,i1,trust,z,page,t,12.5\n1,b,1,,,,,,\n1,c,1,,,,,,2013-05-31T12:00:00Z\n"
        "1,d,1,,,,,,2013-05-31 14:00:00+02:00\n1,e,1,,,,,,2013-05-31T12:00\n"
    )
    assert {name: column.texts()[:2] for name, column in table.facets.items()} == {
        "intent": ["i1", ""],
        "aspect": ["trust", ""],
        "given": ["z", ""],
        "unit": ["page", ""],
        "task": ["t", ""],
    }
    noon = pd.Timestamp("2013-05-31T12:00:00Z").timestamp()
    np.testing.assert_array_equal(table.time, [12.5, np.nan, noon, noon, noon])


def test_a_time_that_is_none_is_refused(read):
    assert ":3: 'noon' in column 'date' is neither" in refusal(read, "topic,doc,label,date\n1,a,0,1\n1,b,0,noon\n")


# Wide tables


def test_wide_cells_are_labels_and_empty_ones_none(read):
    table = read("qid\tdocid\tnist\tgpt,4\n1\ta\t2\t\n1\tb\t\t\n2\ta\t0\t1\n", "judges.tsv", wide=True)
    assert rows(table) == [("1", "a", "nist", "2", 2), ("2", "a", "nist", "0", 4), ("2", "a", "gpt,4", "1", 4)]
    assert list(table.doc.names) == ["a"]
    assert table.notes == ("judges.tsv: topic = qid, doc = docid; assessors: nist, gpt,4",)


def test_in_a_wide_table_every_other_column_is_an_assessor(read):
    table = read("topic,doc,query,rel,time,intent,Intent\n1,a,0,1,9.5,i,2\n", wide=True)
    assert sorted(table.assessor.texts()) == ["Intent", "query", "rel"]
    assert table.facets["intent"].texts() == ["i", "i", "i"]
    assert table.time.tolist() == [9.5] * 3


def test_wide_by_aspects_may_have_assessors(read):
    text = "qid,docid,rel,trust\n1,a,2,\n1,b,0,1\n"
    table = read(text, wide_aspects=True)
    assert rows(table)[0] == ("1", "a", "judges", "2", 2)
    assert table.facets["aspect"].texts() == ["rel", "rel", "trust"]
    named = read("qid,worker,docid,rel,trust\n1,w1,a,2,1\n1,w2,a,,0\n", wide_aspects=True)
    assert named.assessor.texts() == ["w1", "w1", "w2"]
    assert named.facets["aspect"].texts() == ["rel", "trust", "trust"]


def test_wide_tables_without_labels_are_refused(read):
    assert "no column holds labels" in refusal(read, "topic,doc\n1,a\n", wide=True)
    assert "holds no judgments" in refusal(read, "topic,doc,x\n1,a,\n", wide=True)
    assert "a column has no name" in refusal(read, "topic,doc,,x\n1,a,0,1\n", wide=True)
    assert ":3: the topic is empty" in refusal(read, "topic,doc,x\n1,a,0\n,a,1\n,b,\n", wide=True)
    with pytest.raises(ValueError, match="exclude each other"):
        read(LONG, wide=True, wide_aspects=True)


def test_wide_json_lines_need_no_key_for_what_was_not_judged(read, monkeypatch):
    text = "".join(f'{{"topic": 1, "doc": "d{n}", "w{n % 50}": {n % 3}}}\n' for n in range(200))
    monkeypatch.setattr(json_lines, "BATCH", 400)
    table = read(text, "judges.jsonl", wide=True)
    assert rows(table) == [("1", f"d{n}", f"w{n % 50}", str(n % 3), n + 1) for n in range(200)]


# JSONL and Parquet, refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"topic": 1, "doc": 2, "label": 0}\n{"topic": 1,\n', ":2: '{\"topic\": 1,' is not JSON"),
        ('{"topic": 1, "doc": 2, "label": 0}\n\n[1]\n', ":3: found '[1]', expected an object"),
        ('{"topic": 1, "doc": [2], "label": 0}\n', "column 'doc' holds List"),
        ('{"topic": 1, "doc": "\\u0000", "label": 0}\n', ":1: doc '\\x00' holds a zero byte"),
        ('{"topic": 1, "doc": 1e17, "label": 0}\n', ":1: 1e+17 in column 'doc' may have lost its last digits"),
        ('{"topic": 1, "doc": 2, "label": null}\n', ":1: the label is empty"),
    ],
)
def test_what_is_wrong_with_json_lines_is_said(read, text, said):
    assert said in refusal(read, text, "judges.jsonl")


def test_json_lines_may_not_change_their_names_midway(read, monkeypatch):
    monkeypatch.setattr(json_lines, "BATCH", 10)
    text = '{"topic": 1, "doc": 2, "label": 0}\n{"topic": 1, "docid": 2, "label": 0}\n'
    assert ":2: from here on 'docid' is the doc, but before it was 'doc'" in refusal(read, text, "judges.jsonl")


def test_damaged_parquet_is_refused(read):
    assert "cannot be read as Parquet" in refusal(read, b"PAR1 and nothing else", "judges.parquet")
    assert "is not Parquet" in refusal(read, LONG, "judges.parquet")


# Frames and dictionaries


@pytest.mark.parametrize("as_frame", [pl.DataFrame, pd.DataFrame])
def test_frames_are_read_as_files_are(as_frame):
    frame = as_frame({"qid": ["1", "2"], "docid": [1, 2], "worker": ["x", "y"], "rel": [1.0, 0.0], "date": [1.5, None]})
    table = rows_from_frame(frame)
    assert rows(table) == [("1", "1", "x", "1", 1), ("2", "2", "y", "0", 2)]
    np.testing.assert_array_equal(table.time, [1.5, np.nan])
    assert table.notes[0].startswith("frame: topic = qid")


@pytest.mark.parametrize("wide", [False, True])
def test_frames_are_left_as_they_were(wide):
    frame = pl.DataFrame({"topic": ["1", "2"], "doc": ["a", "b"], "label": ["1", " "], "unit": [None, ""]})
    before = frame.clone()
    if wide:
        rows_from_frame(frame, wide=True)
    else:
        with pytest.raises(FormatError, match="frame:2: the label is empty"):
            rows_from_frame(frame)
    assert frame.equals(before)


@pytest.mark.parametrize("as_frame", [pl.DataFrame, pd.DataFrame])
def test_wide_frames_are_melted(as_frame, monkeypatch):
    frame = as_frame({"topic": ["1", "2"], "doc": ["a", "b"], "x": [1, None], "row": [None, 0]})
    expected = [("1", "a", "x", "1", 1), ("2", "b", "row", "0", 2)]
    assert rows(rows_from_frame(frame, wide=True)) == expected
    monkeypatch.setattr(frames, "CELLS_AT_ONCE", 1)
    assert rows(rows_from_frame(frame, wide=True)) == expected


def test_columns_of_every_type_are_text():
    frame = pl.DataFrame(
        {
            "topic": pl.Series(["a", "b"], dtype=pl.Categorical),
            "doc": pl.Series(["x", "y"], dtype=pl.Enum(["y", "x"])),
            "label": pl.Series([1, 2], dtype=pl.Int8),
            "unit": [True, False],
            "time": pl.Series(["2013-05-31T12:00:00", None]).str.to_datetime(),
        }
    )
    table = rows_from_frame(frame, assessor="me")
    assert rows(table) == [("a", "x", "me", "1", 1), ("b", "y", "me", "2", 2)]
    assert table.facets["unit"].texts() == ["true", "false"]
    np.testing.assert_array_equal(table.time, [1370001600.0, np.nan])
    days = rows_from_frame(frame.with_columns(pl.col("time").dt.date()))
    np.testing.assert_array_equal(days.time, [1369958400.0, np.nan])


def test_a_pandas_index_with_names_is_read_too():
    frame = pd.DataFrame({"topic": ["1"], "doc": ["a"], "label": [3]}).set_index(["topic", "doc"])
    assert rows(rows_from_frame(frame)) == [("1", "a", "assessor", "3", 1)]


def test_what_is_no_frame_is_refused():
    with pytest.raises(FormatError, match=r"found builtins.list, expected a data frame"):
        rows_from_frame([1, 2])
    with pytest.raises(FormatError, match="cannot be read"):
        rows_from_frame(pd.DataFrame({"topic": ["1", 2], "doc": ["a", "b"], "label": [0, 1]}, dtype=object))


def test_dictionaries_need_no_polars():
    table = rows_from_dict({"q2": {"b": 1, "a": 2.0}, "q1": {"b": "0"}, "q0": {}}, assessor="me")
    assert rows(table) == [("q2", "b", "me", "1", 1), ("q2", "a", "me", "2", 2), ("q1", "b", "me", "0", 3)]
    assert table.repeats == "error"
    assert list(table.topic.names) == ["q1", "q2"]
    code = (
        "import sys; from venire.io.tables import rows_from_dict; rows_from_dict({'q': {'d': 1}}); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "venire.io.tables" in loaded
    assert not {"polars", "pandas", "pyarrow"} & set(loaded)


@pytest.mark.parametrize("qrels", [{}, {"q": {}}, {1: {"d": 1}}, {"q": {2: 1}}, {"q": {"d": ""}}])
def test_dictionaries_of_something_else_are_refused(qrels):
    with pytest.raises(FormatError, match="expected"):
        rows_from_dict(qrels)


# Encoding


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), min_size=1))
def test_names_are_encoded_as_category_does(texts):
    ours = frames.encoded(pl.Series("doc", texts), Form("here"), np.arange(len(texts)))
    theirs = Category.of(texts)
    assert ours.codes.tolist() == theirs.codes.tolist()
    assert list(ours.names) == list(theirs.names)
    assert ours.names.slices.buffer.tolist() == theirs.names.slices.buffer.tolist()


def test_many_names_are_packed_piece_by_piece(monkeypatch):
    monkeypatch.setattr(frames, "NAMES_AT_ONCE", 3)
    names = [f"é{n}" for n in range(10)]
    assert list(frames.packed(pl.Series(names))) == names


# Table or qrels


@pytest.mark.parametrize(
    ("head", "name", "table"),
    [
        (b"51 0 d1 1\n", "qrels.txt", False),
        (b"1048585\t0\t7187158\t1\n", "qrels.dev.tsv", False),
        (b"1048585\t0\t7187158\t1\n", "qrels.dev.tsv.gz", False),
        (b"# scale: Non<Rel\n51 0 d1 Rel\n", "qrels", False),
        (b"qid\tdocid\tnist\n", "judges.tsv", True),
        (b"# scale: Non<Rel\nQuery_ID,DocNo,Rel\n", "judges", True),
        (b'\xef\xbb\xbf"topic";"doc";"label"\r\n', "judges.txt", True),
        (b"topic\tsomething\n", "judges.tsv", False),
        (b"PAR1\x15", "judges", True),
        (b' {"topic": 1}', "-", True),
        (b"1,2,3\n", "judges.csv.zst", True),
        (b"", "judges.jsonl", True),
        (b"", "qrels", False),
    ],
)
def test_tables_are_told_from_qrels(head, name, table):
    assert looks_like_table(head, name) is table


# Real judgments


@pytest.mark.parametrize(
    ("name", "options", "n_rows", "n_assessors"),
    [
        ("dl21_full/judges.tsv.gz", {"wide": True}, 283_691, 37),
        ("rf10_crowd/trec-rf10-data.tsv.gz", {}, 98_453, 766),
        ("clef18_aspects/aspects.tsv.gz", {"wide_aspects": True}, 78_075, 1),
    ],
)
def test_real_tables_are_read_cell_by_cell(data_dir: Path, name, options, n_rows, n_assessors):
    table = read_table(data_dir / name, **options)
    assert (len(table.line), len(table.assessor.names)) == (n_rows, n_assessors)
    with gzip.open(data_dir / name, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    named = table.assessor.texts() if not options else (table.facets.get("aspect") or table.assessor).texts()
    columns = [column.texts() for column in (table.topic, table.doc, table.label)]
    for row in range(0, n_rows, 97):
        cells = lines[table.line[row] - 1]
        texts = [column[row] for column in columns]
        label = cells[lines[0].index(named[row])] if options else cells[lines[0].index("label")]
        assert [cells[0], cells[1 if options else 2], label] == texts

"""Tables of text: separators, quotes, lines, columns by name, and tables told from qrels."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard

from venire.data.scale import Scale
from venire.io.rows import assemble
from venire.io.tables import blocks
from venire.io.tables.columns import looks_like_table
from venire.io.tables.rows import read_table
from written_tables import LONG, LONG_ROWS, refusal, rows


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("name", ["judges.csv", "judges.tsv", "judges.txt"])
def test_the_separator_follows_the_name_and_compression_the_bytes(read, name, compress):
    text = LONG.replace(",", ";" if name == "judges.txt" else "\t" if name == "judges.tsv" else ",")
    assert rows(read(compress(text.encode()), name)) == LONG_ROWS


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("name", ["judges.csv", "judges.tsv", "judges"])
def test_a_header_without_the_separator_of_the_name_tells_its_own(read, name, separator):
    assert rows(read(LONG.replace(",", separator), name)) == LONG_ROWS


def test_text_stays_as_it_is_written(read):
    table = read("topic,doc,label\n01,1.0,+1\n1e3,NA,2.0\n true,null, 3 \n")
    assert table.topic.texts() == ["01", "1e3", " true"]
    assert table.doc.texts() == ["1.0", "NA", "null"]
    assert table.label.texts() == ["+1", "2.0", "3"]


def test_a_file_that_names_no_assessor_is_one(read):
    assert read("topic,doc,label\n1,a,0\n", "trec8.csv").assessor.texts() == ["trec8"]


def test_the_last_label_counts_unless_all_are_kept(read):
    table = read("topic,doc,label\n1,a,0\n1,a,1\n")
    settled = assemble([table])
    assert settled.label.tolist() == [1]
    assert settled.dropped == {"identical_rows": 0, "superseded_labels": 1}
    assert len(assemble([table], duplicate_labels="keep")) == 2


@pytest.mark.parametrize("name", ["judges.csv", "judges.jsonl"])
def test_identical_rows_are_dropped_and_counted(read, name):
    rows = [("1", "a", "1", "x"), ("1", "a", "1", "x"), ("1", "a", "1", "y"), ("1", "b", "0", ""), ("1", "b", "0", "")]
    names = ("topic", "doc", "label", "comment")
    texts = {
        "judges.csv": "\n".join(",".join(row) for row in [names, *rows]),
        "judges.jsonl": "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows),
    }
    settled = assemble([read(texts[name], name)])
    assert settled.label.tolist() == [1, 0]
    assert settled.dropped == {"identical_rows": 2, "superseded_labels": 1}


@pytest.mark.parametrize("column", ["time", "round", "repeat"])
def test_rows_of_another_time_are_not_identical(read, column):
    settled = assemble([read(f"topic,doc,label,{column}\n1,a,1,1\n1,a,1,2\n1,a,1,2\n")])
    assert settled.dropped == {"identical_rows": 1, "superseded_labels": 1}


def test_the_last_label_is_the_latest_where_there_are_times(read):
    table = read("topic,doc,label,time\n1,a,2,20\n1,a,1,10\n1,b,0,\n1,b,1,5\n")
    assert assemble([table]).label.tolist() == [2, 1]
    assert assemble([table], duplicate_labels="first").label.tolist() == [1, 0]


def test_the_cells_of_repeated_rows_of_a_wide_table_count_once(read):
    settled = assemble([read("topic,doc,x,y\n1,a,1,2\n1,a,1,2\n1,b,0,\n", layout="wide")])
    assert (settled.label.tolist(), settled.dropped["identical_rows"]) == ([1, 2, 0], 2)


def test_a_file_read_twice_over_gives_the_same_labels(read):
    body = "1,a,x,1\n1,a,y,2\n1,b,x,0\n1,b,y,0\n"
    once, twice = (assemble([read("topic,doc,assessor,label\n" + body * times)]) for times in (1, 2))
    assert once.to_polars().equals(twice.to_polars())
    assert (once.dropped, twice.dropped) == ({}, {"identical_rows": 4, "superseded_labels": 0})


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
    whole = [rows(read(text)), rows(read(wide, layout="wide")), rows(read(lines, "judges.jsonl"))]
    monkeypatch.setattr(blocks, "BLOCK", 64)
    assert [rows(read(text)), rows(read(wide, layout="wide")), rows(read(lines, "judges.jsonl"))] == whole
    assert "found a quote" in refusal(read, text + '8,"d')
    assert ":1002: found 2 fields" in refusal(read, text + "8,d\n")


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
        assert read(text).notes[0].fields["roles"].startswith(roles)


def test_what_is_missing_or_ambiguous_is_said(read):
    said = refusal(read, "# by hand\nqid,url,label\n1,a,0\n")
    assert ":2: no column for the doc: found qid, url, label; expected one of doc, docid" in said
    assert "state which column is the doc" in said
    assert "state the layout" in refusal(read, "qid,docid,nist\n1,a,0\n")
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


@pytest.mark.parametrize(
    ("name", "options", "n_rows", "n_assessors"),
    [
        ("dl21_full/judges.tsv.gz", {"layout": "wide"}, 283_691, 37),
        ("rf10_crowd/trec-rf10-data.tsv.gz", {}, 98_453, 766),
        ("clef18_aspects/aspects.tsv.gz", {"layout": "aspects"}, 78_075, 1),
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

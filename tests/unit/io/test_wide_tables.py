"""Wide tables: a column per assessor or aspect."""

from __future__ import annotations

import pytest

from venire.io import json_lines
from written_tables import LONG, refusal, rows


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

"""Texts of topics and documents: only those that are asked for, whatever else a file holds."""

from __future__ import annotations

import gzip
import json

import pytest

from venire.errors import FormatError
from venire.io.limits import within_limits
from venire.io.texts import LONGEST, MOST, Texts, read_texts


def written(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_topics_are_lines_of_id_tab_and_text(tmp_path):
    path = written(tmp_path, "topics.tsv", "1\twhat is <b>this</b>?", "", "2\tthe other\twith a tab")
    found = read_texts(topics=path)
    assert found.of_topics(["1", "2", "3"]) == {"1": "what is <b>this</b>?", "2": "the other\twith a tab"}
    assert found.of_docs(["1"]) == {}


@pytest.mark.parametrize("key", ["id", "doc", "docno", "doc_id", "docid", "pid", "_id"])
def test_documents_are_json_lines(tmp_path, key):
    lines = [json.dumps({key: n, "title": "T" if n else "", "text": f"text {n}", "more": [1]}) for n in range(3)]
    found = read_texts(docs=written(tmp_path, "docs.jsonl", *lines))
    assert found.of_docs({"0", "2"}) == {"0": "text 0", "2": "T: text 2"}


def test_a_compressed_corpus_is_read_until_everything_is_found(tmp_path):
    path = tmp_path / "docs.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write('{"id": "a", "contents": "first"}\n{"id": "a", "contents": "second"}\nnot a line\n')
    assert Texts(docs=path).of_docs(["a"]) == {"a": "first"}
    with pytest.raises(FormatError, match="gz:3: found"):
        Texts(docs=path).of_docs(["a", "b"])


def test_long_texts_are_cut_and_more_so_if_there_are_many(tmp_path):
    path = written(tmp_path, "docs.tsv", f"a\t{'x' * 2000}", "b\tshort")
    found = Texts(docs=path)
    assert found.of_docs(["a", "b"]) == {"a": "x" * LONGEST + "…", "b": "short"}
    many = [str(n) for n in range(MOST // 100)]
    assert len(found.of_docs(["a", *many])["a"]) == 100


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("only an id", "only an id"),
        ("\tno id", "no id"),
        ('{"id": "a"', "not JSON"),
        ('{"id": "a", "label": 1}', "keys id, label"),
        ('{"text": "a"}', "keys text"),
        ('{"id": {"$gt": 1}, "text": "a"}', "keys id, text"),
        ('{"id": ' + "[" * 100_000, "not JSON"),
    ],
)
def test_a_line_that_is_neither_is_an_error_that_names_it(tmp_path, line, found):
    path = written(tmp_path, "docs", line)
    with pytest.raises(FormatError, match="docs:1: found") as caught:
        read_texts(docs=path)
    assert found in str(caught.value)
    assert "expected an id" in caught.value.hint


def test_empty_files_missing_files_and_endless_lines_are_errors(tmp_path):
    with pytest.raises(FormatError, match="holds no text"):
        read_texts(topics=written(tmp_path, "empty", ""))
    with pytest.raises(FormatError, match="no such file"):
        read_texts(topics=tmp_path / "nothing")
    path = written(tmp_path, "long", "a\t" + "x" * 500)
    with within_limits(line_length=100), pytest.raises(FormatError, match="line of more than 100 bytes"):
        read_texts(docs=path)

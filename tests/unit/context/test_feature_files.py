from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

from venire.context.pairs import read_features
from venire.errors import FormatError

CSV = "topic,doc,given,x,y\n1,a,b,0.5,\n1,b,a,2,-1e3\n"


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_every_form_is_read_alike(tmp_path, ending):
    path = tmp_path / f"f.{ending}"
    frame = pl.DataFrame(
        {"topic": ["1", "1"], "doc": ["a", "b"], "given": ["b", "a"], "x": [0.5, 2], "y": [None, -1e3]}
    )
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "jsonl":
        frame.write_ndjson(path)
    else:
        text = (CSV if "csv" in ending else CSV.replace(",", "\t")).encode()
        path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    rows = read_features(path)
    assert {name: column.texts() for name, column in rows.named.items()} == {
        "topic": ["1", "1"],
        "doc": ["a", "b"],
        "given": ["b", "a"],
    }
    assert rows.columns == ("x", "y")
    np.testing.assert_array_equal(rows.values, [[0.5, np.nan], [2, -1000]])


def test_whole_numbers_and_truth_values():
    rows = read_features({"topic": [1], "doc": [7], "n": [3], "is": [True]})
    assert rows.named["doc"].texts() == ["7"]
    assert rows.values.tolist() == [[3.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("topic,doc,x\n1,a,0.5\n\n1,b,high\n", r"f\.csv:4: 'high' in column 'x' is not a finite number"),
        ("topic,doc,x\n1,a,inf\n", r"f\.csv:2: 'inf' in column 'x' is not a finite number"),
        ("topic,doc\n1,a\n", "found the columns topic, doc"),
        ("query,doc,x\n1,a,2\n", "found the columns query, doc, x"),
        ("topic,doc,x\n", "holds no features"),
        ("topic,doc,x\n1,a\n", r"f\.csv:2: found 2 fields, expected 3"),
    ],
)
def test_what_is_refused_and_where(tmp_path, text, words):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(FormatError, match=words) as error:
        read_features(tmp_path / "f.csv")
    assert error.value.hint

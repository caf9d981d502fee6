"""Streams of rows are cut into whole lists with their judgments, wherever batches end; and tasks, without Spark."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import venire
from venire.data.scale import Scale
from venire.engine.seam import unpack
from venire.errors import FormatError, MeasureError
from venire.measures.list_facts import ListFacts, merged_lists
from venire.measures.scoring import Scoring
from venire.spark.engine import _fault, task
from venire.spark.evaluate import ScoreRows
from venire.spark.parts import LIST, Rows, UsableRows, last_group, slices_of, tagged_parts, whole_groups

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
SCALE = Scale.parse("0<1<2<3")


def collection(seed):
    rng = np.random.default_rng(seed)
    cells = np.unravel_index(rng.permutation(6 * 20 * 2)[:120], (6, 20, 2))
    judged = [(f"q{t}", f"a{a}", f"d{d}", int(rng.integers(0, 4))) for t, d, a in zip(*cells, strict=True)]
    listed = [
        (f"q{t}", f"s{s}", f"d{d}", float(rng.integers(0, 5)))
        for t in range(1, 8)
        for s in range(5)
        for d in rng.permutation(30)[: rng.integers(1, 12)].tolist()
    ]
    names = ["topic", "who", "doc", "value"]
    return (pl.DataFrame(each, schema=names, orient="row", strict=False) for each in (judged, listed))


def tagged(judged, listed, n_splits):
    """Unite rows as Spark does: a topic has several splits, each with all of its judgments."""
    splits = pl.DataFrame({"split": range(n_splits)}, schema={"split": pl.Int32})
    one = judged.join(splits, how="cross").with_columns(kind=pl.lit(0, pl.Int8), value=pl.col("value").cast(pl.Float64))
    split = pl.col("who").str.slice(1).cast(pl.Int32) % n_splits
    other = listed.with_columns(split=split, kind=pl.lit(1, pl.Int8))
    rows = pl.concat([one, other.select(one.columns)])
    return rows.sample(fraction=1.0, shuffle=True, seed=1).sort("topic", "split", "kind", "who").to_arrow()


def job(measures, scale=SCALE, **who):
    scoring = Scoring(**who)
    return ScoreRows(scoring.plan(measures, scale), scoring, scale, "error", single_precision=False)


@pytest.mark.parametrize("n_splits", [1, 3])
@pytest.mark.parametrize(("batch", "n_rows"), [(1, 1), (3, 10), (7, 40), (1000, 25), (50, 10_000)])
def test_scores_do_not_depend_on_where_batches_end(batch, n_rows, n_splits):
    judged, listed = collection(batch)
    measures = ["nDCG@5", "AP", "RBP(p=0.8)"]
    labels = venire.read_judgments(judged.rename({"who": "assessor", "value": "label"}), scale=SCALE)
    runs = listed.rename({"who": "system", "value": "score"})
    expected = venire.evaluate(labels, runs, measures, per="assessor")
    batches = tagged(judged, listed, n_splits).to_batches(max_chunksize=batch)
    scored = job(measures, per="assessor")
    parts = list(tagged_parts(batches, n_rows))
    found = merged_lists([scored.facts(part) for part in parts])
    assert sum(part.lists.num_rows for part in parts) == listed.height
    # the judgments of each topic are noted once, however many parts its lists are in
    assert sum(part.labels.num_rows for part in parts if part.first) == judged.height
    assert found.unjudged_topics == ("q6", "q7")
    place = {
        (found.systems[s], found.topics[t]): n for n, (s, t) in enumerate(zip(found.system, found.topic, strict=True))
    }
    judges = [found.judges.index(name) for name in expected.names["assessor"]]
    for s, system in enumerate(expected.names["system"]):
        for t, topic in enumerate(expected.names["topic"]):
            if (system, topic) in place:
                values = np.where(
                    found.seen[:, [found.topics.index(topic)]], found.values[:, :, place[system, topic]], np.nan
                )
                np.testing.assert_allclose(values[judges], expected.values[s, t].T, rtol=0, atol=1e-12)


def test_a_list_longer_than_a_part_stays_whole():
    topics = ["a"] * 50 + [name for name in "bcdefghijk" for _ in range(11)]
    batches = pl.DataFrame({"topic": topics, "who": ["x"] * 160}).to_arrow().to_batches(max_chunksize=3)
    parts = list(whole_groups(batches, partial(last_group, names=LIST), 5))
    seen = [sorted(set(part["topic"].to_pylist())) for part in parts]
    assert len(parts) > 1
    assert sum(part.num_rows for part in parts) == 160
    assert [topic for each in seen for topic in each] == [*"abcdefghijk"]


def test_slices_of_columns_that_are_views_of_others():
    column = pl.DataFrame({"a": ["é", "", "xyz", "b"]}).to_arrow()["a"]
    assert slices_of(column.slice(1, 2)).to_bytes() == [b"", b"xyz"]
    assert slices_of(column.slice(0, 0)).to_bytes() == []


LARGEST = np.finfo(np.float64).max
BAD = [
    *(("", "s", "d", 1.0), ("q", "", "d", 1.0), ("q", "s", "", 1.0)),
    *((None, "s", "d", 1.0), ("q", None, "d", 1.0), ("q", "s", None, 1.0)),
    *(("q", "s", "d", each) for each in (None, np.nan, np.inf, -np.inf)),
]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("bad", [[], *([row] for row in BAD), BAD])
def test_rows_without_a_name_or_a_finite_value_are_left_out_and_counted(bad, text):
    good = [("q", "s", f"d{n}", LARGEST) for n in range(3)]
    rows = [*good[:1], *bad, *good[1:]]
    columns = [
        pa.array(each, kind) for each, kind in zip(zip(*rows, strict=True), [text] * 3 + [pa.float64()], strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=["topic", "who", "doc", "value"])
    for each in (batch, batch.slice(1)):  # a slice begins within the buffers of its columns
        found = UsableRows([each, each])
        kept = [list(part.to_pylist()) for part in found]
        assert found.n_bad == 2 * len(bad)
        assert [[tuple(row.values()) for row in part] for part in kept] == [good[batch.num_rows - each.num_rows :]] * 2


def test_a_task_returns_one_row_of_facts_or_a_fault():
    judged, listed = collection(1)
    batches = tagged(judged, listed, 1).to_batches(max_chunksize=9)
    (answer,) = task(iter(batches), job=job(["AP"], pool="mean"), cut=tagged_parts)
    assert len(unpack(ListFacts, answer["facts"][0].as_py()).topics) == 6
    assert list(task(iter([]), job=job(["AP"], pool="mean"), cut=tagged_parts)) == []
    twice = pl.concat([judged, judged.head(1).with_columns(value=3 - pl.col("value"))])
    batches = tagged(twice, listed, 1).to_batches(max_chunksize=9)
    (answer,) = task(iter(batches), job=job(["AP"], pool="mean"), cut=tagged_parts)
    error = _fault(**json.loads(answer["fault"][0].as_py()))
    assert isinstance(error, FormatError)
    assert "had another label before" in str(error)
    assert isinstance(_fault("MeasureError", "", "no", ""), MeasureError)


def test_parts_without_judgments_have_lists_of_unjudged_topics():
    _, listed = collection(2)
    rows = tagged(listed.head(0).with_columns(value=pl.lit(0)), listed, 1)
    (part,) = tagged_parts(rows.to_batches())
    assert isinstance(part, Rows)
    found = job(["AP"], pool="mean").facts(part)
    assert (len(found.topic), found.unjudged_topics) == (0, tuple(f"q{n}" for n in range(1, 8)))

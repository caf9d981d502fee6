from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from venire import read_judgments, write_judgments
from venire.data.ids import Category
from venire.data.judgments import FACETS, Judgments
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, FormatError, UnknownName
from venire.io.rows import Rows, assemble
from venire.io.tables.rows import read_table

ENDINGS = [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".tsv.zst", ".ndjson.gz", ".jsonl.zst"]
AWKWARD = ("a,b", 'say "hello"', '"', "tab\tbed", "line\nend", "\r", "é😀", " space ", "#1", "01", "1.0", "null", "-")
SCALES = ("0<1", "0<1<2<3", "Non<Rel<HRel", "news|wiki", "0<1<2 : interval", "-1<0<1", "0<0.5<1 : ratio")


def judgments(records, *, scale="0<1<2<3", facets=(), time=None) -> Judgments:
    """Judgments of rows (topic, doc, assessor, label, facet, ...)."""
    topic, doc, assessor, label, *more = (Category.of(column) for column in zip(*records, strict=True))
    rows = Rows(
        source="here",
        topic=topic,
        doc=doc,
        assessor=assessor,
        label=label,
        line=np.arange(len(records)),
        facets=dict(zip(facets, more, strict=True)),
        time=time,
    )
    return assemble([rows], scale=scale if isinstance(scale, Scale) else Scale.parse(scale), negative="lowest")


def records(table: Judgments) -> Counter[tuple[object, ...]]:
    """Count the rows, as text; no time is -1."""
    time = np.full(len(table), -1.0) if table.time is None else np.nan_to_num(table.time, nan=-1)
    columns = [table.column("topic"), Category(table.item, table.items.doc), table.assessor, *table.facets.values()]
    labels = [table.scale.labels[level] for level in table.label]
    return Counter(zip(*(column.texts() for column in columns), labels, time.tolist(), strict=True))


def there_and_back(table: Judgments, path: Path, **options) -> Judgments:
    write_judgments(table, path, **options)
    return assemble([read_table(path, **options)], duplicate_labels="keep")


@st.composite
def some_judgments(draw) -> Judgments:
    """Judgments with awkward ids, some of the facets, perhaps times, and any scale."""
    name = st.sampled_from(AWKWARD) | st.text(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12
    )
    scale = Scale.parse(draw(st.sampled_from(SCALES)))
    facets = draw(st.lists(st.sampled_from(("aspect", *FACETS)), unique=True, max_size=2))
    row = st.tuples(name, name, name, st.sampled_from(scale.labels), *[name | st.just("") for _ in facets])
    chosen = draw(st.lists(row, min_size=1, max_size=8))
    if "given" in facets:
        chosen = [draw(after_another(each, chosen, 4 + facets.index("given"))) for each in chosen]
    times = st.none() | st.lists(
        st.floats(-1e12, 1e12) | st.just(np.nan), min_size=len(chosen), max_size=len(chosen)
    ).map(np.array)
    return judgments(chosen, scale=scale, facets=facets, time=draw(times))


def after_another(row, rows, place):
    """Strategy for a row that is given nothing, or another document of its topic."""
    others = sorted({doc for topic, doc, *_ in rows if topic == row[0] and doc != row[1]})
    return st.sampled_from(["", *others]).map(lambda doc: (*row[:place], doc, *row[place + 1 :]))


@settings(max_examples=150)
@given(ending=st.sampled_from(ENDINGS), table=some_judgments())
def test_long_tables_come_back_exactly(tmp_path_factory, ending, table):
    again = there_and_back(table, tmp_path_factory.mktemp("tables") / f"judges{ending}")
    assert records(again) == records(table)
    assert again.scale == table.scale
    assert list(again.facets) == list(table.facets)


@settings(max_examples=150)
@given(ending=st.sampled_from(ENDINGS), layout=st.sampled_from(["wide", "aspects"]), table=some_judgments())
def test_wide_tables_come_back_exactly_or_are_refused(tmp_path_factory, ending, layout, table):
    path = tmp_path_factory.mktemp("tables") / f"judges{ending}"
    try:
        again = there_and_back(table, path, layout=layout)
    except (AmbiguousLabels, UnknownName, FormatError):
        assert not path.exists()
        return
    assert records(again) == records(table)
    assert again.scale == table.scale


def test_long_and_wide_look_as_expected(tmp_path):
    table = judgments([("1", "a", "x", "2"), ("1", "a", "y,z", "0"), ("1", "b", "x", "3")])
    write_judgments(table, tmp_path / "long.csv")
    assert (tmp_path / "long.csv").read_text() == (
        '# scale: 0<1<2<3\ntopic,doc,assessor,label\n1,a,x,2\n1,a,"y,z",0\n1,b,x,3\n'
    )
    write_judgments(table, tmp_path / "wide.tsv", layout="wide")
    assert (tmp_path / "wide.tsv").read_text() == ("# scale: 0<1<2<3\ntopic\tdoc\tx\ty,z\n1\ta\t2\t0\n1\tb\t3\t\n")
    aspects = judgments([("1", "a", "x", "2", "trust"), ("1", "a", "x", "3", "rel")], scale="2<3", facets=["aspect"])
    write_judgments(aspects, tmp_path / "aspects.csv", layout="aspects")
    assert (tmp_path / "aspects.csv").read_text() == ("# scale: 2<3\ntopic,doc,assessor,rel,trust\n1,a,x,3,2\n")


def test_facets_and_times_keep_wide_rows_apart(tmp_path):
    chosen = [("1", "a", "x", "2", "i1"), ("1", "a", "x", "0", "i2"), ("1", "a", "y", "1", "i2")]
    table = judgments(chosen, facets=["intent"], time=np.array([1.5, np.nan, 3.0]))
    again = there_and_back(table, tmp_path / "judges.csv", layout="wide")
    assert records(again) == records(table)
    assert again.time is not None


@pytest.mark.parametrize("layout", ["wide", "aspects"])
def test_two_labels_for_one_cell_are_refused(tmp_path, layout):
    table = judgments([("1", "a", "x", "2", "rel"), ("1", "a", "x", "0", "rel")], facets=["aspect"])
    with pytest.raises(AmbiguousLabels, match="document 'a' of topic '1' has several labels"):
        write_judgments(table, tmp_path / "judges.csv", layout=layout)


@pytest.mark.parametrize("name", ["topic", "qid", "Doc_ID", "time", "intent", " "])
def test_assessors_that_would_be_read_as_something_else_are_no_columns(tmp_path, name):
    with pytest.raises(FormatError, match="cannot be a column"):
        write_judgments(judgments([("1", "a", name, "2")]), tmp_path / "judges.csv", layout="wide")


def test_aspects_are_columns_only_where_there_are_aspects(tmp_path):
    with pytest.raises(UnknownName, match="aspect"):
        write_judgments(judgments([("1", "a", "x", "2")]), tmp_path / "judges.csv", layout="aspects")


# Scales


def test_a_scale_is_declared_where_reading_would_not_infer_it(tmp_path):
    rows = [("1", "a", "x", "0"), ("1", "b", "x", "3")]
    every = [("1", f"d{label}", "x", label) for label in "0123"]
    write_judgments(judgments(every), tmp_path / "plain.csv")
    assert "scale" not in (tmp_path / "plain.csv").read_text()
    write_judgments(judgments(rows, scale="0<3"), tmp_path / "levels.csv")
    assert (tmp_path / "levels.csv").read_text().startswith("# scale: 0<3\n")
    found = read_judgments({"1": {"a": 0, "b": 3, "c": 1}})
    write_judgments(found.where(label=["0", "3"]), tmp_path / "inferred.csv")
    assert "scale" not in (tmp_path / "inferred.csv").read_text()
    write_judgments(judgments(rows[:1]), tmp_path / "lower.csv")
    assert (tmp_path / "lower.csv").read_text().startswith("# scale: 0<1<2<3\ntopic,")
    write_judgments(judgments(rows[:1]), tmp_path / "lower.jsonl")
    assert (tmp_path / "lower.jsonl.toml").is_file()


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_labels_no_comment_can_hold_are_declared_beside(tmp_path, ending):
    scale = Scale(("a<b", "c\nd", "e : ratio"), "nominal")
    table = judgments([("1", "a", "x", label) for label in scale.labels], scale=scale)
    assert there_and_back(table, tmp_path / f"judges{ending}").scale == scale
    assert (tmp_path / f"judges{ending}.toml").is_file()


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_scale_file_left_from_before_does_not_mislead(tmp_path, ending):
    (tmp_path / "judges.toml").write_text('scale = "0<1<2<3<4"', encoding="utf-8")
    table = judgments([("1", "a", "x", "0"), ("1", "b", "x", "3")])
    assert there_and_back(table, tmp_path / f"judges{ending}").scale == table.scale


# Refusals and bytes


def test_what_a_table_cannot_hold_is_refused(tmp_path):
    with pytest.raises(FormatError, match="is not UTF-8"):
        write_judgments(judgments([("1", "\udcff", "x", "2")]), tmp_path / "judges.csv")
    with pytest.raises(FormatError, match="white space"):
        write_judgments(judgments([("1", "a", "x", " b")], scale=Scale(("a", " b"))), tmp_path / "judges.csv")
    assert not list(tmp_path.iterdir())


def test_the_same_judgments_make_the_same_bytes(tmp_path):
    table = judgments([("1", "a", "x", "2")])
    for name in ("first.csv.gz", "second.csv.gz"):
        write_judgments(table, tmp_path / name)
    assert (tmp_path / "first.csv.gz").read_bytes() == (tmp_path / "second.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "first.csv.gz").read_bytes()).startswith(b"# scale: 0<1<2<3\ntopic,doc")


def test_polars_reads_what_was_written(tmp_path):
    write_judgments(judgments([("1", "a", "x", "2")]), tmp_path / "judges.parquet")
    assert pl.read_parquet(tmp_path / "judges.parquet").rows() == [("1", "a", "x", "2")]


@pytest.mark.parametrize("name", ["*", "^a.*$", "^.*$"])
def test_a_name_is_a_name_though_it_looks_like_a_pattern(tmp_path, name):
    table = pl.DataFrame({"topic": ["q", "q"], "doc": ["d", "e"], "assessor": [name, name], "label": [1, 0]})
    path = tmp_path / "wide.csv"
    write_judgments(read_judgments(table), path, layout="wide")
    assert read_judgments(path, layout="wide").assessors == (name,)

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from venire import FormatError
from venire.agreement.directed import directed_agreement
from venire.io.search_task import COLUMNS, search_judgments

CLICKS = [
    ("ann", 707, "d1", True, True),
    ("ann", 707, "d2", True, False),
    ("ann", 707, "d3", False, False),
    ("ann", 770, "d1", True, False),
    ("bob", 707, "d1", True, False),
    ("bob", 707, "d3", True, True),
]


def frame(rows=CLICKS) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def labels(clicks, **more) -> list[tuple[str, str, str, str, str]]:
    found = search_judgments(clicks, **more).to_polars()
    return sorted(found.select("assessor", "topic", "doc", "label", "task").rows())


EXPECTED = [
    ("ann", "707", "d1", "1", "search"),
    ("ann", "707", "d2", "0", "search"),
    ("ann", "770", "d1", "0", "search"),
    ("bob", "707", "d1", "0", "search"),
    ("bob", "707", "d3", "1", "search"),
]


def test_opened_and_saved_is_1_opened_alone_is_0_and_the_rest_is_nothing():
    assert labels(frame()) == EXPECTED
    found = search_judgments(frame())
    assert str(found.scale) == "0<1"
    assert [(note.kind, note.fields["n"]) for note in found.notes] == [("unopened-documents", 1)]


@pytest.mark.parametrize(
    "given",
    [
        lambda table: table.to_pandas(),
        lambda table: table.to_dict(as_series=False),
        lambda table: table.select(pl.all().reverse()).select(reversed(COLUMNS)),
        lambda table: table.with_columns(pl.col("opened", "saved").cast(pl.Int64)),
        lambda table: table.with_columns(pl.col("opened", "saved").cast(pl.Float64)),
        lambda table: table.with_columns(pl.col("opened", "saved").replace_strict({True: " Yes", False: "no "})),
        lambda table: table.with_columns(saved=pl.when("opened").then("saved")),
        lambda table: table.with_columns(label=pl.lit(3), time=pl.lit("soon"), rank=pl.lit(1)),
    ],
)
def test_tables_of_any_kind_are_read(given):
    assert labels(given(frame())) == EXPECTED


def test_all_who_saved_nothing_still_have_two_labels_to_give():
    assert str(search_judgments(frame([("ann", 1, "d", True, False)])).scale) == "0<1"


def test_the_task_may_be_called_otherwise():
    assert {row[-1] for row in labels(frame(), task="web search")} == {"web search"}


def test_a_document_opened_twice_has_two_labels_unless_one_is_to_count():
    again = [*CLICKS, ("ann", 707, "d2", True, True)]

    def of_d2(**more):
        return [row[3] for row in labels(frame(again), **more) if row[:3] == ("ann", "707", "d2")]

    assert (of_d2(), of_d2(duplicate_labels="first"), of_d2(duplicate_labels="last")) == (["0", "1"], ["0"], ["1"])
    with pytest.raises(FormatError, match="clicks:7: document 'd2' gets label '1'"):
        search_judgments(frame(again), duplicate_labels="error")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("ann", 1, "d", False, True)], r"clicks:7: the document was saved and not opened"),
        ([("ann", 1, "d", None, False)], r"clicks:7: it is not stated whether the document was opened"),
        ([("ann", 1, "d", True, None)], r"clicks:7: it is not stated whether the document was saved"),
        ([(None, 1, "d", True, True)], r"clicks:7: the user is empty"),
        ([("", 1, "d", True, True)], r"clicks:7: the user is empty"),
        ([("ann", None, "d", True, True)], r"clicks:7: the topic is empty"),
        ([("ann", 1, None, False, False)], r"clicks:7: the doc is empty"),
    ],
)
def test_bad_rows_are_named(rows, message):
    with pytest.raises(FormatError, match=message):
        search_judgments(frame([*CLICKS, *rows]))


@pytest.mark.parametrize(
    ("clicks", "message"),
    [
        (frame().with_columns(saved=pl.lit("maybe")), "clicks:1: saved is 'maybe', expected yes or no"),
        (frame().with_columns(opened=pl.lit(2)), "clicks:1: opened is '2', expected yes or no"),
        (frame().with_columns(opened=pl.lit([1])), "column 'opened' holds List"),
        (frame().rename({"user": "users"}), "no column 'user', .*\n.*did you mean 'users'"),
        (frame().drop("saved").to_pandas(), "no column 'saved'"),
        (frame().with_columns(opened=False, saved=False), "no document was opened"),
        (frame()[:0], "no document was opened"),
        (frame().lazy(), "LazyFrame, expected a data frame"),
        ([1, 2], "builtins.list, expected a data frame"),
        ({**frame().to_dict(as_series=False), "doc": ["d"]}, "cannot be read"),
        ({**frame().to_dict(as_series=False), "doc": [1, "d", {}, 2, 3, 4]}, "cannot be read"),
    ],
)
def test_bad_tables_are_refused(clicks, message):
    with pytest.raises(FormatError, match=message):
        search_judgments(clicks)


states = st.sampled_from([(False, False), (True, False), (True, True)])


@given(st.dictionaries(st.tuples(st.sampled_from("uvw"), st.sampled_from("12"), st.sampled_from("abcd")), states))
def test_agreement_is_over_documents_that_both_opened(cells):
    cells = {**cells, ("u", "1", "z"): (True, True), ("v", "1", "z"): (True, False)}
    found = directed_agreement(search_judgments(frame([(*key, *state) for key, state in cells.items()])), at_least=0)
    for record in found.records():
        both = [
            (saved, cells[second, topic, doc][1])
            for (first, topic, doc), (opened, saved) in cells.items()
            for second in [record["second"]]
            if first == record["first"] and opened and cells.get((second, topic, doc), (False,))[0]
        ]
        assert record["n1"] == sum(one for one, _ in both)
        assert record["n0"] == sum(not one for one, _ in both)
        assert record["agree1"] == sum(one and other for one, other in both)
        assert record["agree0"] == sum(not (one or other) for one, other in both)

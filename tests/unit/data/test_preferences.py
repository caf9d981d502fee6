"""The table of preferences: orientation, choosing rows, joining, refusing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from venire.data.ids import Category, Ids
from venire.data.preferences import Preferences, joined_preferences
from venire.errors import SettingError, UnknownName
from venire.io.preferences import read_preferences

ROWS = [
    ("t1", "d2", "d1", 2, "ann"),
    ("t1", "d1", "d2", -1, "bob"),
    ("t1", "d3", "d1", 0, "bob"),
    ("t2", "d1", "d2", 1, "ann"),
]


def rows_of(table: Preferences) -> list[tuple[str, str, str, float, str]]:
    frame = table.to_polars().select("topic", "left", "right", "strength", "assessor")
    return frame.rows()  # type: ignore[return-value]


@pytest.fixture
def table() -> Preferences:
    return Preferences.of(ROWS)


def test_rows_come_back_as_they_were(table: Preferences) -> None:
    assert rows_of(table) == [(*row[:3], float(row[3]), row[4]) for row in ROWS]
    assert table.outcome.tolist() == [1, -1, 0, 1]


def test_summary_counts_pairs_whichever_way_round(table: Preferences) -> None:
    assert table.sentence() == "4 choices (1 tie) on 3 pairs of 2 topics by 2 assessors"
    pair, first = table.pairs()
    assert pair[0] == pair[1]
    assert len({*pair.tolist()}) == len(first) == 3
    assert (pair[first] == np.arange(3)).all()


def test_where_chooses_by_topic_and_assessor(table: Preferences) -> None:
    assert len(table.where(topic="t1")) == 3
    assert rows_of(table.where(topic=["t1", "t2"], assessor="ann")) == [rows_of(table)[0], rows_of(table)[3]]
    assert table.where(assessor="bob").assessors == ("bob",)
    with pytest.raises(UnknownName, match="no topic 't9'"):
        table.where(topic="t9")


def test_oriented_rows_of_one_pair_look_alike(table: Preferences) -> None:
    turned = table.oriented()
    assert (turned.left < turned.right).all()
    assert rows_of(turned)[:2] == [("t1", "d1", "d2", -2.0, "ann"), ("t1", "d1", "d2", -1.0, "bob")]


def test_anonymous_makes_every_choice_another_persons() -> None:
    table = Preferences.of([("t", "a", "b", 1), ("t", "b", "a", 1), ("t", "a", "c", 0), ("t", "a", "b", -1)])
    assert table.assessors == ("unknown",)
    assert table.anonymous().assessor.texts() == ["1", "2", "1", "3"]


def test_joined_tables_share_their_names(table: Preferences) -> None:
    other = Preferences.of([("t0", "d9", "d1", 1, "eve")])
    joined = joined_preferences([other, table])
    assert rows_of(joined) == rows_of(other) + rows_of(table)
    assert list(joined.docs) == ["d1", "d2", "d3", "d9"]


def test_documents_may_stand_in_any_order() -> None:
    table = Preferences(
        topics=Ids.of(["t"]),
        docs=Ids.of(["z", "a", "m"]),
        topic=np.zeros(1, dtype=np.int32),
        left=np.array([0], dtype=np.int32),
        right=np.array([2], dtype=np.int32),
        assessor=Category.constant("x", 1),
        strength=np.array([1.0]),
    )
    assert rows_of(table.oriented()) == [("t", "z", "m", 1.0, "x")]


def test_nothing_is_a_table_too() -> None:
    empty = Preferences.of([])
    assert len(empty) == len(empty.oriented()) == len(empty.anonymous()) == 0
    assert len(joined_preferences([])) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [(("t", "a", "a", 1), "row 1 compares 'a' with itself"), (("t", "a", "b", float("nan")), "row 1 has strength nan")],
)
def test_what_is_no_choice_is_refused(row: tuple[object, ...], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Preferences.of([row])


def test_rows_know_where_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("topic,a,b,preferred\nq,x,y,x\nq,x,z,?\n\nq,y,z,z\n")
    table = read_preferences(path)
    assert [table.place(row) for row in range(2)] == [(str(path), 2), (str(path), 5)]
    assert table.take(np.array([1])).place(0)[1] == 5
    joined = joined_preferences([Preferences.of([("q", "a", "b", 1)]), table.oriented()])
    assert [joined.place(row) for row in (0, 2)] == [("preferences", 1), (str(path), 5)]
    assert Preferences.of([("q", "a", "b", 1)]).place(0) == ("preferences", 1)

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire import Judgments, read_judgments
from venire.agreement.overlap import KINDS, overlap
from venire.errors import AmbiguousLabels, PairsError
from venire.io import read_grid

Row = tuple[str, str, str, str]


def judged(rows: list[Row]) -> Judgments:
    import polars as pl

    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return read_judgments(frame, scale="0<1<2", duplicate_labels="keep")


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    cell = st.tuples(st.sampled_from("ab"), st.sampled_from("wxyz"), st.sampled_from("UVW"))
    cells = draw(st.dictionaries(cell, st.lists(st.sampled_from("012"), min_size=1, max_size=2), min_size=2))
    rows = [(*key, label) for key, labels in cells.items() for label in labels]
    return [*rows, ("c", "w", "U", "2"), ("c", "w", "V", "1")]


def share(labels: list[str], least: str) -> float:
    return sum(label >= least for label in labels) / len(labels)


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 1e-12 else None


def slow(rows: list[Row], least: str) -> dict[tuple[str, str], dict[str, float | None]]:
    """Relevant sets of every two assessors, page by page and topic by topic."""
    cells = defaultdict(list)
    for topic, doc, who, label in rows:
        cells[topic, doc, who].append(label)
    found = {}
    for a, b in combinations(sorted({who for _, _, who in cells}), 2):
        sizes = {}
        for topic, doc, who in cells:
            if who == a and (topic, doc, b) in cells:
                one, other = share(cells[topic, doc, a], least), share(cells[topic, doc, b], least)
                sizes.setdefault(topic, []).append((one * other, one + other - one * other, one, other))
        if not sizes:
            continue
        by_topic = [np.sum(each, axis=0) for each in sizes.values()]
        record: dict[str, float | None] = {"items": sum(map(len, sizes.values()))}
        for place, kind in enumerate(KINDS, start=1):
            defined = [value for each in by_topic if (value := ratio(each[0], each[place])) is not None]
            record[kind] = float(np.mean(defined)) if defined else None
            whole = np.sum(by_topic, axis=0)
            record[f"{kind}_pooled"] = ratio(whole[0], whole[place])
        found[a, b] = record
    return found


@given(rows=tables())
def test_sets_match_counting_one_by_one(rows):
    records = overlap(judged(rows)).records()
    for least in "12":
        expected = slow(rows, least)
        here = {(each["a"], each["b"]): each for each in records if each["relevant"] == least}
        assert here.keys() == expected.keys()
        for pair, values in expected.items():
            for key, value in values.items():
                assert here[pair][key] == (None if value is None else pytest.approx(value))


def test_directions_change_precision_and_recall():
    grid = "2 2 2 0 0 .\n2 0 0 2 0 2"
    forth = overlap(read_grid(grid, assessors=["a", "b"]), relevant="2").records()[0]
    back = overlap(read_grid(grid, assessors=["b", "a"]), relevant="2").records()[0]
    assert (forth["jaccard"], forth["precision"], forth["recall"], forth["items"]) == (0.25, 1 / 3, 0.5, 5)
    assert (back["precision"], back["recall"]) == (forth["recall"], forth["precision"])


def test_topics_are_averaged_or_pooled():
    rows = [("1", doc, who, "2") for doc in "wxyz" for who in "UV"]
    rows += [("2", "w", "U", "2"), ("2", "w", "V", "0"), ("3", "w", "U", "0"), ("3", "w", "V", "0")]
    found = overlap(judged(rows), relevant="2")
    record = found.records()[0]
    assert (record["jaccard"], record["jaccard_pooled"]) == (0.5, 0.8)
    assert (record["precision"], record["recall"]) == (0.5, 1.0)
    assert record["items"] == 6
    assert found.overall()["jaccard"].tolist() == [0.5]
    assert found.overall()["precision"].tolist() == [pytest.approx(2 / 3)]


def test_copies_are_one_page():
    grid = read_grid("2 . 0\n. 2 0")
    assert overlap(grid, [["d1", "d2"]], relevant="2").records()[0]["jaccard"] == 1
    assert overlap(grid, relevant="2").records()[0]["jaccard"] is None


def test_says_what_a_perfect_list_is_worth_to_the_other():
    found = overlap(read_grid("2 2 1 0\n2 0 2 0"), relevant="all")
    assert "sets of 2 is 0.33" in found.sentence()
    assert "recall 0.50" in found.sentence()
    assert "1 or higher is 0.67" in found.sentence(1)
    assert "nan" not in overlap(read_grid("0 0\n0 0", scale="0<1")).sentence()


def test_many_assessors_cost_what_they_judged():
    """A crowd of 5,000 who judged 4 pages each: a table of assessors by pages would have 10^8 cells."""
    rng = np.random.default_rng(0)
    rows = [("t", f"d{n // 2}", f"w{n // 4}", str(rng.integers(3))) for n in range(20_000)]
    rows += [("t", f"d{n}", f"w{n}", "2") for n in range(5_000)]
    found = overlap(judged(rows), relevant="2")
    assert sum(each["items"] for each in found.records()) == len({(row[1], row[2]) for row in rows}) - 10_000


def test_refusals():
    import polars as pl

    with pytest.raises(PairsError, match="two assessors"):
        overlap(read_grid("2 1 0"))
    table = {"topic": ["a"] * 2, "doc": ["x"] * 2, "assessor": ["U", "V"], "label": ["2", "0"], "aspect": ["p", "q"]}
    with pytest.raises(AmbiguousLabels, match="aspect"):
        overlap(read_judgments(pl.DataFrame(table), scale="0<1<2"))

from __future__ import annotations

from importlib import import_module
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from venire import read_judgments
from venire.agreement.consistency import consistency
from venire.data.judgments import Judgments
from venire.errors import AmbiguousLabels, PairsError, ScaleError, SettingError, UnknownName
from venire.io import read_grid
from venire.io.duplicates import read_duplicates
from venire.results import Note

LABELS = ("0", "1", "2")

Row = tuple[str, str, str, str]


def judged(rows: list[Row], scale: str = "0<1<2") -> Judgments:
    import polars as pl

    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    return read_judgments(frame, scale=scale, duplicate_labels="keep")


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Judgments in which assessors judge a page again, and pages are judged by several; at least one pair."""
    topic, doc, who = st.sampled_from("ab"), st.sampled_from(["x", "y", "y-copy"]), st.sampled_from("UVW")
    rows = draw(st.lists(st.tuples(topic, doc, who, st.sampled_from(LABELS)), min_size=2, max_size=14))
    return [*rows, ("a", "x", "U", "2"), ("a", "x", "U", "0"), ("a", "x", "V", "1")]


def slow_pairs(rows: list[Row], *, by_page: bool) -> dict[str, np.ndarray]:
    """Count ordered pairs of labels of a page one after the other, y and its copy being one page."""
    page = [(topic, doc[0]) for topic, doc, _, _ in rows]
    cell = [(*page[n], row[2]) for n, row in enumerate(rows)]
    found = {"self": np.zeros((3, 3)), "cross": np.zeros((3, 3))}
    for one, other in permutations(range(len(rows)), 2):
        if page[one] != page[other]:
            continue
        same = cell[one] == cell[other]
        n_one, n_other = cell.count(cell[one]), cell.count(cell[other])
        weight = 1 / (n_one * (n_one - 1) if same else n_one * n_other) if by_page else 1
        found["self" if same else "cross"][int(rows[one][3]), int(rows[other][3])] += weight
    return found


@given(rows=tables(), weight=st.sampled_from(["pair", "page"]))
def test_pairs_match_counting_one_by_one(rows, weight):
    found = consistency(judged(rows), [["y", "y-copy"]], relevant="all", weight=weight, n_draws=3)
    assert found.relevant.names == ("2", "1")
    for who, counts in slow_pairs(rows, by_page=weight == "page").items():
        spread = found.sides()[who].spread
        np.testing.assert_allclose(spread.pairs, [counts.sum(axis=1)] * 2, atol=1e-9)
        np.testing.assert_allclose(spread.hits, [counts[:, 2], counts[:, 1:].sum(axis=1)], atol=1e-9)
        known = counts.sum(axis=1) > 0
        np.testing.assert_array_equal(np.isnan(spread.p), [~known] * 2)
        np.testing.assert_allclose(spread.p[0, known], (counts[:, 2] / counts.sum(axis=1).clip(1e-9))[known])


def every_list(rows: list[Row]) -> list[dict[str, np.ndarray]]:
    """All choices of two different judgments per cell (ordered), each as likely as another: pairs of labels."""
    cells: dict[tuple[str, ...], list[int]] = {}
    for topic, doc, who, label in rows:
        cells.setdefault((topic, doc, who), []).append(int(label))
    lists = []
    for choice in product(
        *([*permutations(labels, 2)] if len(labels) > 1 else [(labels[0], -1)] for labels in cells.values())
    ):
        own, cross = np.zeros((3, 3)), np.zeros((3, 3))
        for first, second in choice:
            if second >= 0:
                own[first, second] += 1
                own[second, first] += 1
        for (one, a), (other, b) in permutations(zip(cells, choice, strict=True), 2):
            if one[:2] == other[:2]:
                cross[a[0], b[0]] += 1
        lists.append({"self": own, "cross": cross})
    return lists


def test_draws_are_lists_of_single_judgments():
    text = [
        ("a", "x", "U", "220"),
        ("a", "x", "V", "21"),
        ("a", "y", "U", "1"),
        ("a", "y", "V", "22"),
        ("b", "x", "U", "2"),
        ("b", "x", "V", "2"),
        ("b", "z", "U", "10"),
    ]
    rows = [(topic, doc, who, label) for topic, doc, who, labels in text for label in labels]
    found = consistency(judged(rows), relevant="2", weight="page", n_draws=20_000, rng=1)
    lists = every_list(rows)
    for who, shares in found.sides().items():
        for level in (0, 1, 2):
            true = [each[who][level, 2] / n for each in lists if (n := each[who][level].sum()) > 0]
            drawn = shares.drawn[:, 0, level]
            drawn = drawn[~np.isnan(drawn)]
            assert set(drawn.round(9)) == set(np.round(true, 9))
            error = np.std(true) / np.sqrt(len(drawn))
            assert drawn.mean() == pytest.approx(np.mean(true), abs=4 * error + 1e-9)
            assert drawn.std() == pytest.approx(np.std(true), rel=0.05, abs=1e-9)


def test_by_pair_draws_weigh_a_page_by_its_judgments():
    """The mean of the counts over draws is the count of all pairs, which the p of the table is made of."""
    rng = np.random.default_rng(5)
    rows = [
        (str(rng.integers(3)), f"d{rng.integers(9)}", "UVW"[rng.integers(3)], LABELS[rng.integers(3)])
        for _ in range(150)
    ]
    found = consistency(judged(rows), relevant="all", n_draws=8000, rng=2)
    for who, factor in (("self", 2.0), ("cross", 1.0)):
        shares = found.sides()[who]
        sd = shares.draws.pairs.std(axis=0)
        mean = shares.draws.pairs.mean(axis=0) / factor
        assert (np.abs(mean - shares.spread.pairs[0]) <= 4 * sd / np.sqrt(8000)).all()
        mean, sd = shares.draws.hits.mean(axis=0) / factor, shares.draws.hits.std(axis=0)
        assert (np.abs(mean - shares.spread.hits) <= 4 * sd / np.sqrt(8000)).all()


def test_blocks_of_draws_are_joined(monkeypatch):
    judgments = judged(
        [("a", f"d{n}", who, LABELS[n % 3]) for n in range(5) for who in "UV" for _ in range(2)]
        + [("a", "d0", "U", "2"), ("a", "d1", "V", "0")]
    )
    monkeypatch.setattr(import_module("venire.agreement.consistency"), "BLOCK_CELLS", 7)
    found = consistency(judgments, n_draws=50)
    assert found.cross.drawn.shape == found.own.drawn.shape == (50, 1, 3)
    assert found.own.draws.pairs.sum(axis=1) == pytest.approx([2 * found.own.spread.pairs[0].sum()] * 50)
    assert found.cross.draws.pairs.sum(axis=1) == pytest.approx([found.cross.spread.pairs[0].sum()] * 50)


def test_an_assessor_who_never_wavers_has_no_spread():
    judgments = judged(
        [("a", f"d{n}", "U", LABELS[n % 3]) for n in range(9) for _ in range(3)]
        + [("a", f"d{n}", "V", LABELS[(n + n // 3) % 3]) for n in range(9)]
    )
    found = consistency(judgments, n_draws=20)
    by_label = {(each["label"], each["who"]): each for each in found.records()}
    assert by_label["2", "self"]["p"] == 1
    assert by_label["2", "self"]["hits"] == by_label["2", "self"]["pairs"] == 18
    assert by_label["2", "cross"]["p"] == pytest.approx(1 / 3)
    assert {each["sd"] for each in found.records()} == {0.0}
    assert found.sentence() == "Assessors agree with themselves for 100% and with each other for 33% of their labels 2."


def test_self_consistency_is_told_from_disagreement_in_simulated_judgments():
    """Opinions differ, and each judgment slips now and then; the truth of both is known."""
    rng = np.random.default_rng(11)
    slip, n = 0.1, 6000
    opinion = rng.integers(0, 2, n)[:, None] ^ (rng.random((n, 2)) < 0.2)
    given_labels = opinion[:, :, None] ^ (rng.random((n, 2, 2)) < slip)
    rows = [(str(d % 20), f"d{d}", "UV"[who], str(given_labels[d, who, time])) for d, who, time in np.ndindex(n, 2, 2)]
    found = consistency(judged(rows, scale="0<1"), n_draws=50)
    same = (1 - slip) ** 2 + slip**2
    agree = 0.8**2 + 0.2**2
    assert found.own.spread.p[0, 1] == pytest.approx(same, abs=0.015)
    assert found.cross.spread.p[0, 1] == pytest.approx(agree * same + (1 - agree) * (1 - same), abs=0.015)
    assert found.notes == ()


@pytest.mark.parametrize(("n_topics", "said"), [(1, "one topic"), (4, "4 topics")])
def test_few_topics_are_announced(n_topics, said):
    rows = [(str(n % n_topics), f"d{n}", who, "1") for n in range(200) for who in "UVV"]
    found = consistency(judged(rows, scale="0<1"), n_draws=0)
    assert sum(said in word for word in map(str, found.notes)) == 2
    assert np.isnan(found.own.spread.low[0, 1]) == (n_topics == 1)


def test_same_pages():
    rows = [
        ("a", "x", "U", "2"),
        ("a", "x", "U", "2"),
        ("a", "x", "V", "0"),
        ("a", "y", "U", "2"),
        ("a", "y", "V", "2"),
        ("a", "z", "W", "2"),
        ("a", "z", "W", "0"),
    ]
    every, same = (consistency(judged(rows), same_pages=chosen) for chosen in (False, True))
    assert (every.own.n_pages, every.cross.n_pages) == (2, 2)
    assert (same.own.n_pages, same.cross.n_pages) == (1, 1)
    assert every.cross.spread.hits[0].tolist() == [2, 0, 2]
    assert same.cross.spread.hits[0].tolist() == [2, 0, 0]
    with pytest.raises(PairsError, match="twice by one assessor and once by another"):
        consistency(judged(rows[3:5]), same_pages=True)


def test_intents_are_pages_of_their_own_and_units_are_refused():
    import polars as pl

    table = {"topic": ["a"] * 4, "doc": ["x"] * 4, "assessor": ["U", "U", "V", "V"], "label": ["2", "0", "2", "0"]}
    intents = read_judgments(pl.DataFrame(table | {"intent": ["1", "2", "1", "2"]}), scale="0<1<2")
    assert consistency(intents).own.n_pages == 0
    assert consistency(intents).cross.spread.hits[0].tolist() == [0, 0, 2]
    units = read_judgments(pl.DataFrame(table | {"unit": ["snippet", "page"] * 2}), scale="0<1<2")
    with pytest.raises(AmbiguousLabels, match="unit"):
        consistency(units)


def test_nothing_is_silent():
    grid = read_grid("2 1 0\n2 2 0")
    found = consistency(grid, n_draws=5)
    assert found.notes[0].kind == "no-self-pairs"
    assert "with each other for 67%" in found.sentence()
    assert [each["p"] for each in found.records() if each["who"] == "self"] == [None] * 3
    alone = consistency(read_grid("2 1 0 0"), [["d1", "d2"]])
    assert alone.notes[0].kind == "no-cross-pairs"
    assert "label 2 has 1 self pairs, fewer than 50" in " ".join(map(str, alone.notes))
    none = consistency(grid, n_draws=0)
    assert {each["sd"] for each in none.records()} == {None}


def test_inconsistency_that_looks_like_disagreement_is_named():
    rows = [("a", f"d{n}", who, str(n % 2 * 2)) for n in range(4) for who in "UV"]
    rows += [("a", f"d{n}", "U", str((n + 1) % 2 * 2)) for n in range(4)]
    assert "self-not-above-cross" in [note.kind for note in consistency(judged(rows)).notes if isinstance(note, Note)]


@pytest.mark.parametrize(
    ("setting", "error"),
    [({"weight": "topic"}, UnknownName), ({"n_draws": -1}, SettingError), ({"relevant": "9"}, ScaleError)],
)
def test_settings_are_checked(setting, error):
    with pytest.raises(error):
        consistency(read_grid("2 1\n2 2"), **setting)


def test_no_pairs_is_an_error_with_ways_out():
    with pytest.raises(PairsError, match="no page was judged twice"):
        consistency(read_grid("2 1 0"))
    with pytest.raises(PairsError, match="no label"):
        consistency(read_grid("2 1 0").take(np.zeros(3, dtype=bool)))


def test_the_same_seed_gives_the_same_draws():
    judgments = judged([("a", f"d{n}", who, label) for n in range(6) for who in "UV" for label in "210"])
    one, again, other = (consistency(judgments, n_draws=30, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.own.drawn, again.own.drawn)
    assert (one.own.drawn != other.own.drawn).any()


def test_fedweb_2013_assessors_agree_with_themselves_as_printed_for_2012(data_dir):
    """Demeester et al. (2014), Section 3.3.2: mean(self) = 0.92 for p(Key|Key)."""
    folder = data_dir / "fedweb13"
    judgments = read_judgments(folder / "FW13-QRELS-RM.txt.gz", scale="0<1<3<7")
    copies = read_duplicates(folder / "duplicates.txt.gz")
    found = consistency(judgments, copies)
    assert (found.own.spread.hits[0, 3], found.own.spread.pairs[0, 3]) == (1940, 2108)
    assert found.own.spread.p[0, 3] == pytest.approx(0.92, abs=0.005)
    assert np.mean(found.own.drawn[:, 0, 3]) == pytest.approx(0.92, abs=0.005)
    assert found.own.n_pages == 1194
    once = consistency(judgments, copies, weight="page")
    assert once.own.spread.p[0, 3] == pytest.approx(0.8811, abs=5e-5)


def test_where_nothing_relevant_was_judged_twice_no_number_is_said():
    found = consistency(read_grid("0 0 0\n0 0 0", scale="0<1"))
    assert "for an unknown share" in found.sentence()

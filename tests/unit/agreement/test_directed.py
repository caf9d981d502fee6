from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from venire import Judgments, read_judgments
from venire.agreement.directed import between, differences, directed_agreement
from venire.comparison.judge_change import RankCounts
from venire.errors import AmbiguousLabels, PairsError, SettingError, UnknownName
from venire.io import read_grid

Row = tuple[str, str, str, str, str]
COLUMNS = ["topic", "doc", "assessor", "label", "task"]


def judged(rows: list[Row], *, scale: str = "0<1<2") -> Judgments:
    return read_judgments(pl.DataFrame(rows, schema=COLUMNS, orient="row"), scale=scale, duplicate_labels="keep")


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Labels on three levels, some of them repeated, by four assessors in two topics and two tasks."""
    cell = st.tuples(
        st.sampled_from("st"), st.sampled_from("wxyz"), st.sampled_from("ABCD"), st.sampled_from(["j", "s"])
    )
    labels = st.lists(st.sampled_from("012"), min_size=1, max_size=3)
    cells = draw(st.dictionaries(cell, labels, min_size=1, max_size=40))
    rows = [(topic, doc, who, label, task) for (topic, doc, who, task), each in cells.items() for label in each]
    return [*rows, ("s", "v", "A", "2", "j"), ("s", "v", "B", "1", "j")]


def slow(rows: list[Row], by: tuple[str, ...], least: str) -> dict[tuple[str, ...], list[float]]:
    """n0, n1, agree0, agree1 of every group and directed pair, item by item, every two of their labels in turn."""
    cells: dict[tuple, list[bool]] = defaultdict(list)
    for topic, doc, who, label, task in rows:
        names = {"topic": topic, "task": task}
        cells[(*(names[each] for each in by), topic, doc, task if "task" in by else "", who)].append(label >= least)
    found: dict[tuple[str, ...], list[float]] = {}
    for one, other in permutations(cells, 2):
        if one[:-1] != other[:-1]:
            continue
        sums = found.setdefault((*one[: len(by)], one[-1], other[-1]), [0.0] * 4)
        weight = 1 / (len(cells[one]) * len(cells[other]))
        for first in cells[one]:
            for second in cells[other]:
                sums[first] += weight
                sums[2 + first] += weight * (first == second)
    return found


@given(tables(), st.sampled_from([(), ("topic",)]), st.sampled_from("12"))
def test_counts_are_those_on_fingers(rows, by, least):
    one_task = [(*row[:4], "j") for row in rows]
    check(one_task, by, least)


@given(tables(), st.sampled_from([("task",), ("topic", "task"), ("task", "topic")]), st.sampled_from("12"))
def test_labels_of_different_tasks_are_never_paired(rows, by, least):
    check(rows, by, least)
    with pytest.raises(AmbiguousLabels):
        directed_agreement(judged([*rows, ("s", "v", "A", "2", "s")]))


def check(rows: list[Row], by: tuple[str, ...], least: str) -> None:
    expected = slow(rows, by, least)
    records = directed_agreement(judged(rows), relevant=least, by=by, at_least=0).records()
    keys = [tuple(record[name] for name in (*by, "first", "second")) for record in records]
    assert sorted(keys) == sorted(expected)
    for key, record in zip(keys, records, strict=True):
        n0, n1, agree0, agree1 = expected[key]
        counts = [record[name] for name in ("n0", "n1", "agree0", "agree1")]
        assert counts == pytest.approx([n0, n1, agree0, agree1], abs=1e-9)
        assert record["a0"] == (pytest.approx(agree0 / n0) if n0 > 1e-9 else None)
        assert record["a1"] == (pytest.approx(agree1 / n1) if n1 > 1e-9 else None)


@given(tables(), st.integers(0, 3))
def test_pairs_whose_first_judge_found_too_few_are_left_out(rows, at_least):
    rows = [(*row[:4], "j") for row in rows]
    whole = directed_agreement(judged(rows), at_least=0).records()
    enough = [each for each in whole if min(each["n0"], each["n1"]) >= at_least - 1e-9]
    if not enough:
        with pytest.raises(PairsError, match="the most is"):
            directed_agreement(judged(rows), at_least=at_least)
        return
    found = directed_agreement(judged(rows), at_least=at_least)
    assert found.records() == enough
    assert found.n_left_out == len(whole) - len(enough)
    assert len(found.notes) == (found.n_left_out > 0)


def test_agreement_is_directed_and_without_self_pairs():
    found = directed_agreement(
        read_grid("""
            1 1 1 1 0 0
            1 1 0 0 0 1
            1 0 . . 0 0""")
    )
    assert (len(found), found.n_pairs) == (6, 6)
    assert all(each["first"] != each["second"] for each in found.records())
    (one,), (other,) = found.of("U1", "U2"), found.of("U2", "U1")
    assert (one["n0"], one["agree0"], one["n1"], one["agree1"]) == (2, 1, 4, 2)
    assert (one["a0"], one["a1"]) == (1 / 2, 2 / 4)
    assert (other["a0"], other["a1"]) == (1 / 3, 2 / 3)
    (short,) = found.of("U3", "U1")
    assert (short["n0"], short["n1"]) == (3, 1)
    with pytest.raises(UnknownName):
        found.of("U1", "U9")


def test_thirty_seven_users_make_1332_directed_pairs():
    found = directed_agreement(read_grid("\n".join(["1 0"] * 37)))
    assert len(found) == 37 * 36 == 1332
    assert found.sentence().startswith("Over 1,332 directed pairs of 37 assessors")


def test_a_repeated_label_counts_by_its_share():
    """A says 1, 1, 0 for x: two thirds of an item found relevant, and one third irrelevant."""
    rows = [("s", "x", "A", label, "j") for label in "110"]
    rows += [("s", "x", "B", "1", "j"), ("s", "y", "A", "0", "j"), ("s", "y", "B", "0", "j")]
    (one,), (other,) = (directed_agreement(judged(rows, scale="0<1"), at_least=0).of(*pair) for pair in ("AB", "BA"))
    assert (one["n1"], one["agree1"], one["a1"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(1))
    assert (one["n0"], one["agree0"], one["a0"]) == (pytest.approx(4 / 3), 1, pytest.approx(3 / 4))
    assert (other["n1"], other["agree1"]) == (1, pytest.approx(2 / 3))
    with pytest.raises(PairsError):
        directed_agreement(judged(rows[:4], scale="0<1"), at_least=1)


def test_one_hundred_labels_in_thirds_reach_a_whole_number_despite_rounding():
    rows = [("s", f"d{n}", who, label, "j") for n in range(6) for who in "AB" for label in "110"]
    assert len(directed_agreement(judged(rows, scale="0<1"), at_least=2)) == 2


def test_an_intent_makes_another_item():
    rows = [
        ("1", "d", who, label, intent)
        for intent, labels in (("x", "10"), ("y", "00"))
        for who, label in zip("AB", labels, strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label", "intent"], orient="row")
    (record,) = directed_agreement(read_judgments(frame)).of("A", "B")
    assert (record["n0"], record["n1"], record["a0"], record["a1"]) == (1, 1, 1.0, 0.0)


def test_histogram_counts_every_pair_once():
    found = directed_agreement(read_grid("1 1 0 0\n1 0 0 0\n0 1 1 0"))
    edges, counts = found.histogram(bins=4)
    assert edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    for rate, row in zip(("a0", "a1"), counts.tolist(), strict=True):
        values = [each[rate] for each in found.records()]
        assert row == [sum(low <= v < high or v == high == 1 for v in values) for low, high in pairwise(edges)]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda j: directed_agreement(j, by="assessor"), SettingError, "not the assessor"),
        (lambda j: directed_agreement(j, by=("topic", "topic")), SettingError, "different columns"),
        (lambda j: directed_agreement(j, by="task"), UnknownName, "no column 'task'"),
        (lambda j: directed_agreement(j, at_least=-1), SettingError, "expected 0 or more"),
        (lambda j: directed_agreement(j, at_least=float("nan")), SettingError, "expected 0 or more"),
        (lambda j: directed_agreement(j, relevant="all"), SettingError, "one notion"),
        (lambda j: directed_agreement(j.where(assessor="U1")), PairsError, "judged by two assessors"),
        (lambda j: directed_agreement(j.take(np.zeros(len(j), dtype=bool))), PairsError, "no label to pair"),
        (lambda j: differences(directed_agreement(j)), SettingError, "counted by nothing"),
        (lambda j: differences(directed_agreement(j, by="topic")), PairsError, "two topics"),
    ],
)
def test_what_cannot_be_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(read_grid("2 1 0\n2 0 1\n1 2 0"))


@given(tables())
def test_differences_are_those_of_every_two_topics(rows):
    found = directed_agreement(judged(rows), by=("topic", "task"), at_least=0)
    rates = {(r["first"], r["second"], r["task"], r["topic"]): (r["a0"], r["a1"]) for r in found.records()}
    expected = []
    for one, other in combinations(sorted(rates), 2):
        if one[:3] == other[:3]:
            pairs = zip(rates[one], rates[other], strict=True)
            expected.append((*one[:2], one[3], other[3], *(None if None in p else p[1] - p[0] for p in pairs)))
    if not expected:
        with pytest.raises(PairsError):
            differences(found, "topic")
        return
    records = differences(found, "topic").records()
    keys = ("first", "second", "topic_one", "topic_other", "difference0", "difference1")
    assert sorted([tuple(r[key] for key in keys) for r in records], key=str) == sorted(expected, key=str)


def two_topics(a: float, b: float, *, n: int = 10) -> list[Row]:
    """A finds all n documents of a topic relevant, and one more not; B agrees on a share of the relevant."""
    rows = []
    for topic, share in (("s", a), ("t", b)):
        for number in range(n):
            second = "1" if number < round(share * n) else "0"
            rows += [(topic, f"d{number}", "A", "1", "j"), (topic, f"d{number}", "B", second, "j")]
        rows += [(topic, "none", "A", "0", "j"), (topic, "none", "B", "0", "j")]
    return rows


def test_words_say_by_how_much_the_median_pair_varies():
    found = differences(
        directed_agreement(judged(two_topics(0.9, 0.4), scale="0<1"), by="topic").take(np.array([0, 2]))
    )
    assert found.records()[0]["difference1"] == pytest.approx(-0.5)
    assert found.typical().tolist() == pytest.approx([0.0, 0.5])
    assert "varies by 50 and 0 points between topics" in found.sentence()
    edges, counts = found.histogram(bins=4)
    assert (edges.tolist(), counts.tolist()) == ([-1, -0.5, 0, 0.5, 1], [[0, 0, 1, 0], [0, 1, 0, 0]])


def test_chance_is_what_sharing_the_items_out_at_random_gives():
    """The variance of the formula is that over all ways to choose the first topic's items."""
    found = differences(
        directed_agreement(judged(two_topics(0.75, 0.5, n=4), scale="0<1"), by="topic").take(np.array([0, 2]))
    )
    agreed = [1] * 5 + [0] * 3
    drawn = []
    for chosen in combinations(range(8), 4):
        here = sum(agreed[n] for n in chosen)
        drawn.append((5 - here) / 4 - here / 4)
    spread = found.spread()
    assert spread.by_chance[1] ** 2 == pytest.approx(np.mean(np.square(drawn)))
    assert spread.found[1] == pytest.approx(0.25)
    assert spread.beyond[1] == 0.0
    assert "leaves 0 and 0" in found.sentence()


def test_two_tasks_in_results_of_their_own_are_matched_by_name():
    one = directed_agreement(read_grid("1 1 0\n1 0 0\n0 1 0", assessors=["a", "b", "c"]))
    other = directed_agreement(read_grid("0 1 1\n0 0 1\n1 0 1", assessors=["d", "b", "a"]))
    found = between(one, other, names=("judging", "search"))
    records = {(r["first"], r["second"]): r for r in found.records()}
    assert records.keys() == {("a", "b"), ("b", "a")}
    for pair, record in records.items():
        assert (record["task_one"], record["task_other"]) == ("judging", "search")
        (here,), (there,) = one.of(*pair), other.of(*pair)
        assert record["difference1"] == pytest.approx(there["a1"] - here["a1"])
        assert (record["a0_one"], record["a0_other"]) == (here["a0"], there["a0"])
    with pytest.raises(PairsError, match="agreement for both"):
        between(one, directed_agreement(read_grid("1 0\n1 0")), names=("judging", "search"))
    with pytest.raises(SettingError):
        between(one, directed_agreement(read_grid("1 0\n1 0"), by="topic"), names=("judging", "search"))


# Simulation with known truth.


def simulated(rates: dict[str, tuple[float, float]], *, n: int, rng: np.random.Generator) -> list[Row]:
    """A corpus judge finds a third of n documents per topic relevant; a new judge agrees at the topic's a0, a1."""
    rows: list[Row] = []
    for topic, agreement in rates.items():
        old = (rng.random(n) < 1 / 3).astype(int)
        agrees = rng.random(n) < np.array(agreement)[old]
        new = np.where(agrees, old, 1 - old)
        for doc, (first, second) in enumerate(zip(old.tolist(), new.tolist(), strict=True)):
            rows += [(topic, f"d{doc}", "corpus", str(first), "j"), (topic, f"d{doc}", "new", str(second), "j")]
    return rows


def test_known_rates_are_recovered():
    truth = {"1": (0.85, 0.70), "2": (0.6, 0.95), "3": (1.0, 0.5)}
    rows = simulated(truth, n=2000, rng=np.random.default_rng(11))
    records = directed_agreement(judged(rows, scale="0<1"), by="topic").of("corpus", "new")
    assert [each["topic"] for each in records] == list(truth)
    for record, agreement in zip(records, truth.values(), strict=True):
        for number, rate in enumerate(agreement):
            error = (rate * (1 - rate) / record[f"n{number}"]) ** 0.5
            assert abs(record[f"a{number}"] - rate) <= 4 * error


def test_recovered_rates_forecast_what_the_new_judge_does():
    """Eq. (1) with the rates of the data gives the mean of Delta' over pairs of lists that the new judge scores."""
    rng = np.random.default_rng(2)
    rows = simulated({"1": (0.85, 0.70)}, n=6000, rng=rng)
    (record,) = directed_agreement(judged(rows, scale="0<1")).of("corpus", "new")
    old = np.array([int(row[3]) for row in rows if row[2] == "corpus"])
    new = np.array([int(row[3]) for row in rows if row[2] == "new"])
    ones, zeros = np.flatnonzero(old == 1), np.flatnonzero(old == 0)
    draws = 20_000
    ahead = new[rng.choice(ones, (draws, 5))].mean(axis=1) - new[rng.choice(zeros, (draws, 5))].mean(axis=1)
    counts = RankCounts(c10=5)
    forecast = counts.expected(record["a0"], record["a1"])
    variance = counts.variance(record["a0"], record["a1"])
    assert abs(ahead.mean() - forecast) < 4 * (variance / draws) ** 0.5
    assert ahead.var() == pytest.approx(variance, rel=5 * (2 / draws) ** 0.5)


def test_variation_of_topics_is_told_from_chance():
    rng = np.random.default_rng(4)
    alike = dict.fromkeys(map(str, range(40)), (0.8, 0.7))
    unlike = {str(n): (0.8, float(rng.choice([0.4, 1.0]))) for n in range(40)}
    beyond = []
    for truth in (alike, unlike):
        found = directed_agreement(judged(simulated(truth, n=60, rng=rng), scale="0<1"), by="topic")
        chosen = found.take(found.first == found.assessors.index("corpus"))
        beyond.append(differences(chosen).spread())
    assert beyond[0].found == pytest.approx(beyond[0].by_chance, rel=0.25)
    assert (beyond[0].beyond < 0.06).all()
    rates = np.array([a1 for _, a1 in unlike.values()])
    assert beyond[1].beyond[1] == pytest.approx(2**0.5 * rates.std(ddof=1), rel=0.15)
    assert beyond[1].beyond[0] < 0.06


def test_crowd_of_the_relevance_feedback_track(data_dir):
    frame = pl.read_csv(data_dir / "rf10_crowd" / "trec-rf10-data.tsv.gz", separator="\t")
    frame = frame.select(topic="topicID", doc="docID", assessor="workerID", label="label").filter(pl.col("label") >= 0)
    found = directed_agreement(read_judgments(frame, duplicate_labels="keep"), relevant="1", at_least=6)
    busy = (
        frame.with_columns(relevant=pl.col("label") >= 1)
        .group_by("topic", "doc", "assessor")
        .agg(pl.col("relevant").mean())
    )
    row = 17
    first, second = (found.assessors[code[row]] for code in (found.first, found.second))
    one, other = (busy.filter(pl.col("assessor").cast(pl.String) == name) for name in (first, second))
    both = one.join(other, on=["topic", "doc"])
    a1 = (both["relevant"] * both["relevant_right"]).sum() / both["relevant"].sum()
    assert found.records()[row]["a1"] == pytest.approx(a1)

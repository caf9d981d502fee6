from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.stats import linregress

from venire import read_judgments
from venire.agreement import with_others as rest
from venire.agreement.confusion import confusions
from venire.agreement.flags import FlaggedProfiles, habits
from venire.agreement.profiles import profiles
from venire.errors import AmbiguousLabels, PairsError, UnknownName
from venire.io import read_grid
from venire.simulation import Synthetic, generate
from venire.simulation.assessors import RandomAssessors, parse_assessors

COLUMNS = ["topic", "doc", "assessor", "label"]
LABELS = 4
HABITS = "6*careful, lenient, strict(shift=0.4), random, lazy, lazy(idle=0.4, level=3)"


def table(rows):
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return read_judgments(frame, scale="0<1<2<3", duplicate_labels="keep")


def simulated(seed, who=HABITS, **setting):
    usual = {"n_topics": 20, "docs_per_topic": 60, "n_unjudged": 0}
    return generate(Synthetic(assessors=parse_assessors(who), **(usual | setting)), rng=seed).judgments


def named_habits(judgments):
    found = profiles(judgments)
    return {found.assessors[n]: [each.flag for each in flags] for n, flags in habits(found).items()}


@st.composite
def some_labels(draw):
    """Draw labels with gaps and repetitions, at least two assessors on one item."""
    row = st.tuples(st.sampled_from("12"), st.sampled_from("abc"), st.sampled_from("UVW"), st.integers(0, LABELS - 1))
    return [*draw(st.lists(row, max_size=25)), ("1", "a", "U", 0), ("1", "a", "V", draw(st.integers(0, LABELS - 1)))]


def by_fingers(rows):
    """Hold every label against the others', the long way: agreement, chance, leniency, distance, by assessor."""
    items = {}
    for topic, doc, who, label in rows:
        items.setdefault((topic, doc), {}).setdefault(who, []).append(label)
    shared = {key: cell for key, cell in items.items() if len(cell) > 1}
    weighed = [(who, label, 1 / len(each)) for cell in shared.values() for who, each in cell.items() for label in each]
    found = {}
    for who in {who for who, _, _ in weighed}:
        own = sum(weight for name, _, weight in weighed if name == who)
        p = [sum(weight for name, each, weight in weighed if (name, each) == (who, m)) / own for m in range(LABELS)]
        sums = np.zeros(4)
        for cell in (cell for cell in shared.values() if who in cell):
            others = [(m, 1 / len(each) / (len(cell) - 1)) for name, each in cell.items() if name != who for m in each]
            for label in cell[who]:
                parts = [((label == m), p[m], label - m, abs(label - m)) for m, _ in others]
                sums += np.array([share for _, share in others]) @ np.array(parts, dtype=float) / len(cell[who])
        found[who] = (sums / own).tolist()
    return found


@given(some_labels())
def test_profiles_are_what_fingers_count(rows):
    found = profiles(table(rows))
    expected = by_fingers(rows)
    for n, name in enumerate(found.assessors):
        means = [found.agreement.value[n], found.chance[n], found.leniency.value[n], found.difference[n]]
        assert means == pytest.approx(expected.get(name, [np.nan] * 4), nan_ok=True)


@given(some_labels())
def test_small_blocks_make_no_difference(rows):
    whole, before = rest.rest_of(table(rows), np.arange(4.0)), rest.BLOCK
    try:
        rest.BLOCK = 3
        parts = rest.rest_of(table(rows), np.arange(4.0))
    finally:
        rest.BLOCK = before
    for one, other in zip(whole[1:], parts[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@given(some_labels())
def test_confusions_are_counted_on_fingers(rows):
    found = confusions(table(rows))
    items = {}
    for topic, doc, who, label in rows:
        items.setdefault((topic, doc), {}).setdefault(who, []).append(label)
    for a, b in combinations(found.assessors, 2):
        slow = np.zeros((LABELS, LABELS))
        for cell in items.values():
            for one in cell.get(a, []):
                for other in cell.get(b, []):
                    slow[one, other] += 1 / len(cell[a]) / len(cell[b])
        np.testing.assert_allclose(found.matrix(a, b), slow, atol=1e-12)
        np.testing.assert_allclose(found.matrix(b, a), slow.T, atol=1e-12)
        assert ((a, b) in found.pairs()) == bool(slow.any())


def test_confusions_in_long_form():
    found = confusions(read_grid("2 1 . 0\n2 2 1 0"))
    assert found.records()[0] == {"a": "U1", "b": "U2", "label_a": "0", "label_b": "0", "n": 1.0}
    assert sum(record["n"] for record in found.records()) == 3
    with pytest.raises(UnknownName):
        found.matrix("U1", "nobody")
    with pytest.raises(PairsError):
        confusions(read_grid("1 .\n. 1"))


@pytest.mark.parametrize("seed", range(5))
def test_known_habits_are_found_and_careful_assessors_are_left_alone(seed):
    found = named_habits(simulated(seed, topic_effect=0.5))
    assert {name: flags for name, flags in found.items() if name.startswith("careful")} == {}
    assert found["lenient1"] == ["higher labels"]
    assert found["strict1"] == ["lower labels"]
    assert found["random1"] == ["unrelated labels"]
    assert "one label often" in found["lazy1"]
    assert found["lazy2"] == ["higher labels", "one label often"]


@pytest.mark.parametrize("seed", range(5))
def test_habits_are_found_where_everybody_judges_a_part(seed):
    found = named_habits(simulated(seed, n_topics=40, topic_effect=0.0, pattern=RandomAssessors(4)))
    assert {name for name in found if name.startswith("careful")} == set()
    assert set(found) >= {"lenient1", "random1", "lazy1", "lazy2"}


@pytest.mark.parametrize("seed", range(3))
def test_one_label_where_others_give_several(seed):
    found = named_habits(simulated(seed, "4*careful, lazy(idle=1.0), lazy(idle=1.0, level=2)", topic_effect=0.0))
    assert found == {"lazy1": ["one label"], "lazy2": ["one label"]}


def test_one_label_is_no_habit_where_there_is_one_to_give():
    assert named_habits(table([("1", f"d{n}", who, 0) for n in range(100) for who in "UVW"])) == {}


def test_of_many_careful_assessors_hardly_any_is_flagged():
    flagged = sum(len(named_habits(simulated(seed, "50*careful", pattern=RandomAssessors(5)))) for seed in range(4))
    assert flagged <= 3


def test_shift_does_not_depend_on_who_the_others_are():
    rng = np.random.default_rng(3)
    shifts = {"A": 0, "B": 0, "C": 1, "D": 1, "E": 0}
    rows = []
    for n in range(4000):
        truth = rng.integers(0, 3)
        some = rng.permutation(list("CDE" if n % 2 else "ABCE"))[: 2 + n % 2]
        rows += [("1", f"d{n}", who, int(truth + shifts[who])) for who in some]
    found = profiles(table(rows))
    assert found.shift.tolist() == pytest.approx([0, 0, 1, 1, 0], abs=1e-3)
    assert found.leniency.value[found.assessors.index("E")] < -0.4


def with_times(judgments, seconds, rng):
    """Let every assessor judge items in an order of their own, at a pace of their own."""
    time = np.zeros(len(judgments))
    for who, pace in enumerate(seconds):
        rows = rng.permutation(np.flatnonzero(judgments.assessor.codes == who))
        time[rows] = np.cumsum(rng.gamma(4.0, pace / 4, size=len(rows)))
    return replace(judgments, time=time)


@pytest.mark.parametrize("seed", range(4))
def test_drift_and_speed(seed):
    rng = np.random.default_rng(seed)
    judgments = with_times(simulated(seed, "6*careful"), [20, 25, 30, 20, 25, 2], rng)
    drifts = np.flatnonzero(judgments.assessor.codes == 1)
    late = np.argsort(np.argsort(judgments.time[drifts])) / len(drifts)
    label = judgments.label.copy()
    label[drifts] = np.minimum(label[drifts] + (rng.random(len(drifts)) < 0.9 * late), 3)
    found = profiles(replace(judgments, label=label))
    flags = {found.assessors[n]: [each.flag for each in each_of] for n, each_of in habits(found).items()}
    assert "drift" in flags.pop("careful2")
    assert flags == {"careful6": ["fast"]}
    assert found.seconds[5] == pytest.approx(1.84, rel=0.15)


def test_trends_are_those_of_least_squares():
    judgments = with_times(simulated(1, "3*careful", n_topics=2), [5, 5, 5], np.random.default_rng(1))
    found, held = profiles(judgments), rest.rest_of(judgments, np.arange(4.0))
    for who in range(3):
        rows = held.own.who == who
        order = np.argsort(np.argsort(judgments.time[held.own.row[rows]]))
        for values, trend in ((held.gap, found.drift), (held.equal, found.agreement_drift)):
            line = linregress(order, values[rows])
            assert trend.change[who] == pytest.approx(line.slope * (rows.sum() - 1))
            assert trend.p[who] == pytest.approx(line.pvalue)


def test_labels_that_are_always_as_far_from_the_others_have_no_trend():
    """U is a third above the others, who say 0, 1, 1 in the first half and 0, 3, 2 in the second: other floats."""
    cases = [(1, 0, 1, 1)] * 20 + [(2, 0, 3, 2)] * 20
    rows = [("1", f"d{n}", who, label) for n, case in enumerate(cases) for who, label in zip("UVWX", case, strict=True)]
    judgments = table(rows)
    found = profiles(replace(judgments, time=np.arange(len(judgments), dtype=float)))
    assert (found.drift.change[0], found.drift.p[0], found.leniency.se[0]) == (0, 1, 0)
    assert found.leniency.value[0] == pytest.approx(1 / 3)


def test_times_all_alike_tell_nothing_of_speed():
    judgments = simulated(0, "4*careful", n_topics=2)
    found = profiles(replace(judgments, time=np.zeros(len(judgments))))
    assert found.seconds.tolist() == [0, 0, 0, 0]
    assert habits(found) == {}


def test_labels_without_order_have_no_leniency():
    found = profiles(read_grid("a b c a\na b b a\n. c b a", scale="a|b|c"))
    for record in found.records():
        assert record["agreement"] is not None
        assert [record[key] for key in ("leniency", "shift", "difference", "drift", "seconds")] == [None] * 5


def test_one_who_judged_alone_is_told_as_far_as_it_goes():
    found = {each["assessor"]: each for each in profiles(read_grid("0 1 0 .\n0 1 1 .\n. . . 1")).records()}
    assert found["U3"]["agreement"] is None
    assert (found["U3"]["n_labels"], found["U3"]["top_label"], found["U3"]["entropy"]) == (1, "1", 0.0)
    assert found["U1"]["agreement"] == pytest.approx(2 / 3)
    assert found["U1"]["entropy"] == pytest.approx(0.9183, abs=1e-4)


def test_evidence_is_in_words():
    flagged = FlaggedProfiles(profiles(simulated(0)))
    found = {each["assessor"]: each for each in flagged.records()}
    assert "higher than the typical assessor" in found["lenient1"]["evidence"][0]
    assert f"kappa {found['random1']['kappa']:.2f}" in found["random1"]["evidence"][0]
    assert "random1 (unrelated labels)" in flagged.sentence()


def test_nobody_differs_is_not_said_of_those_who_were_not_compared():
    """Below 20 labels nothing is tested."""
    few, many = profiles(read_grid("0 1\n0 1")), profiles(read_grid("0 1 " * 10 + "\n" + "0 1 " * 10))
    assert habits(few) == habits(many) == {}
    assert "; 0 of them share 20 labels" in FlaggedProfiles(few).sentence()
    assert "; 2 of them share 20 labels" in FlaggedProfiles(many).sentence()


def test_aspects_are_not_mixed():
    frame = {"topic": ["1"] * 4, "doc": list("aabb"), "assessor": list("UVUV"), "label": [0, 1, 1, 1]}
    with pytest.raises(AmbiguousLabels):
        profiles(read_judgments(pl.DataFrame({**frame, "aspect": list("xyxy")})))


def test_workers_of_a_crowd_who_nearly_always_say_the_same_are_found(data_dir):
    frame = pl.read_csv(data_dir / "rf10_crowd" / "trec-rf10-data.tsv.gz", separator="\t").filter(pl.col("label") >= 0)
    columns = {"topic": "topicID", "doc": "docID", "assessor": "workerID", "label": "label"}
    found = profiles(read_judgments(frame.select(**columns)))
    flags = {found.assessors[n]: [each.flag for each in each_of] for n, each_of in habits(found).items()}
    assert [flags[name] for name in ("w101", "w102", "w108", "w675")] == [["one label often"]] * 4

"""A crowd as one judge: pooled labels score the runs, and the other judge is an expert or another crowd."""

from __future__ import annotations

import numpy as np
import pytest

from venire import compare, evaluate
from venire.comparison.crowd import ANOTHER, another_crowd, crowd_judge
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.panel import POOLS
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, PairsError, UnknownName

N_TOPICS, N_DOCS = 6, 10


@pytest.fixture(scope="module")
def judged():
    """Seven workers who label five in seven items each, and an expert who labels all, at random around one quality."""
    rng = np.random.default_rng(4)
    topic = np.repeat(np.arange(N_TOPICS, dtype=np.int32), N_DOCS)
    items = Items(Ids.of(map(str, range(N_TOPICS))), topic, Ids.of(f"d{n}" for n in range(len(topic))))
    who, item = np.nonzero(rng.random((8, len(topic))) < np.array([5 / 7] * 7 + [1.0])[:, None])
    seen = rng.normal(size=len(topic))[item] + 0.7 * rng.normal(size=len(item))
    names = Category(who.astype(np.int32), Ids.of([*(f"w{n}" for n in range(7)), "expert"]))
    label = np.digitize(seen, [0, 1]).astype(np.int32)
    return Judgments(Scale.parse("0<1<2"), items, item.astype(np.int32), names, label)


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(5)
    docs = {str(t): [f"d{n}" for n in range(t * N_DOCS, (t + 1) * N_DOCS)] for t in range(N_TOPICS)}
    return {s: {t: {d: rng.random() for d in some} for t, some in docs.items()} for s in ("x", "y", "z")}


WORKERS = [f"w{n}" for n in range(7)]


@pytest.mark.parametrize("pool", ["majority", "median", "mean", "max", "dawid-skene"])
def test_scores_are_those_of_evaluate_with_the_same_pool(judged, runs, pool):
    from venire.disagreement.dawid_skene import pool_for

    crowd = judged.where(assessor=WORKERS)
    expected = evaluate(crowd, runs, ["nDCG@5", "P@5"], pool=pool_for(crowd, pool))
    found = compare(judged, runs, ["nDCG@5", "P@5"], pool=pool, new_judge="expert", n_draws=20)
    assert np.allclose(found.scores.values, expected.values)
    assert found.swap.transitions.new == ("expert",)
    assert found.swap.transitions.old.endswith("of 7 assessors")


def test_an_expert_who_labelled_all_decides(judged, runs):
    found = compare(judged, runs, "nDCG@5", pool="majority", new_judge="expert", n_draws=20)
    own = evaluate(judged, runs, "nDCG@5", assessor="expert").mean().values[:, 0]
    for row in found.records():
        a, b = ("xyz".index(row[side]) for side in "ab")
        assert row["expected_delta"] == pytest.approx(own[a] - own[b])
        assert row["p_stays_ahead"] == float((own[a] - own[b]) * row["delta"] > 0)


def test_the_declared_reference_is_the_other_judge_and_not_pooled(judged, runs):
    declared = compare(judged.declare(reference="expert"), runs, "P@5", pool="majority", n_draws=20)
    named = compare(judged, runs, "P@5", pool="majority", new_judge="expert", n_draws=20)
    assert declared.records() == named.records()


def test_without_a_reference_the_other_judge_is_another_crowd(judged, runs):
    found = compare(judged, runs, "P@5", pool="majority", n_draws=50)
    assert found.swap.transitions.new == (ANOTHER,)
    assert [note.kind for note in found.notes if getattr(note, "kind", "") == "another-crowd"]
    assert all(0 <= row["p_stays_ahead"] <= 1 for row in found.records())
    again = compare(judged, runs, "P@5", pool="majority", n_draws=50)
    assert found.records() == again.records()


def test_stated_agreement_needs_no_other_judge(judged, runs):
    found = compare(judged, runs, "P@5", pool="max", agreement=(1.0, 1.0), n_draws=20)
    assert all(row["p_stays_ahead"] == 1.0 for row in found.records() if abs(row["delta"]) > 1e-9)
    one = compare(judged, runs, "nDCG@5", gains="binary:2", pool="median", agreement=(0.9, 0.8), n_draws=20)
    expected = evaluate(judged, runs, "nDCG@5", gains="binary:2", pool="median")
    assert np.allclose(one.scores.values, expected.values)


def test_another_crowd_is_as_sure_as_the_labels_of_an_item():
    counts = np.array([[6, 0], [4, 2], [3, 3], [2, 4], [0, 6], [0, 0]] * 30)
    chance = another_crowd(counts, POOLS["majority"], rng=3)[:6, 1]
    assert (np.diff(chance[:5]) > 0.1).all()
    assert chance[2] == pytest.approx(0.5, abs=0.1)
    assert chance[5] == 0.0, "nothing is predicted where nobody labelled"
    alike = another_crowd(np.tile([3, 1], (50, 1)), POOLS["mean"], rng=3)
    assert alike[:, 0] == pytest.approx(0.75, abs=0.1)


def test_what_cannot_be_pooled_is_refused(judged, runs):
    with pytest.raises(AmbiguousLabels, match="assessor and pool exclude each other"):
        compare(judged, runs, "P@5", assessor="w1", pool="majority")
    with pytest.raises(UnknownName, match="no assessor 'export'"):
        crowd_judge(judged, "majority", new_judge="export")
    with pytest.raises(UnknownName, match="no way to pool 'best'"):
        crowd_judge(judged, "best")
    with pytest.raises(AmbiguousLabels, match="nobody is left to pool"):
        crowd_judge(judged.where(assessor="expert"), "majority", new_judge="expert")
    with pytest.raises(PairsError, match="no item has labels by two assessors"):
        crowd_judge(judged.where(assessor="expert"), "majority")


def test_a_pool_of_machines_is_a_machine(judged):
    crowd = crowd_judge(judged.declare(machines=WORKERS, reference="expert"), "majority")
    assert crowd.judgments.machines == (crowd.name,)
    assert crowd.judgments.reference == ("expert",)
    assert crowd_judge(judged.declare(machines=["w1"], reference="expert"), "majority").judgments.machines == ()


def test_machines_are_not_in_a_pool_of_people(judged, runs):
    people, machines = WORKERS[2:], WORKERS[:2]
    declared = judged.declare(machines=machines, reference="expert")
    found = compare(declared, runs, pool="majority", n_draws=20)
    alone = compare(judged.where(assessor=[*people, "expert"]).declare(reference="expert"), runs, pool="majority")
    np.testing.assert_array_equal(found.scores.values, alone.scores.values)
    (note,) = (note for note in found.notes if getattr(note, "kind", "") == "pooled")
    assert note.fields == {"pool": "majority of 5 assessors", "names": ", ".join(people), "machines": "w0, w1"}
    assert "without the machines w0, w1" in str(note)


def test_the_reference_is_pooled_where_all_others_are_machines(judged, runs):
    declared = judged.declare(machines=WORKERS[:3], reference=[*WORKERS[3:], "expert"])
    found = compare(declared, runs, pool="median", n_draws=20)
    (note,) = (note for note in found.notes if getattr(note, "kind", "") == "pooled")
    assert note.fields["names"] == ", ".join([*WORKERS[3:], "expert"])
    assert found.swap.transitions.new == (ANOTHER,)


def test_a_machine_that_is_named_is_the_other_judge(judged, runs):
    declared = judged.declare(machines=WORKERS[:3])
    found = compare(declared, runs, pool="median", new_judge="w1", n_draws=20)
    (note,) = (note for note in found.notes if getattr(note, "kind", "") == "pooled")
    assert (note.fields["names"], note.fields["machines"]) == (", ".join([*WORKERS[3:], "expert"]), "w0, w2")
    assert found.swap.transitions.new == ("w1",)


def test_one_person_besides_the_reference_is_no_crowd(judged, runs):
    declared = judged.declare(machines=WORKERS[:3], reference=WORKERS[3:])
    found = compare(declared, runs, pool="median", n_draws=20)
    (note,) = (note for note in found.notes if getattr(note, "kind", "") == "pooled")
    assert note.fields["names"] == ", ".join([*WORKERS[3:], "expert"])

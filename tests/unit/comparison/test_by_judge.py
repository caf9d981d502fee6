"""Scores by judge, contradictions between judges, and who opposes the claim that a system is ahead."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student, ttest_1samp

from two_judges import judged, lists, table
from venire import evaluate, read_judgments
from venire.comparison import ScoresByJudge, scores_by_judge
from venire.comparison.by_judge import ENOUGH
from venire.errors import UnknownName


def of_arrays(scores, **more) -> ScoresByJudge:
    """Scores by judge from an array (judge, system, topic), everything labelled by everybody."""
    scores = np.asarray(scores, dtype=np.float64)
    places = np.where(np.isnan(scores), 0.0, 10.0)[..., None]
    names = [tuple(f"{what}{n}" for n in range(size)) for what, size in zip("jst", scores.shape, strict=True)]
    return ScoresByJudge(*names, ("m",), scores[..., None], places, places.max(axis=0), **more)


def differences(*means, n=30, sd=0.1, rng=0):
    """Scores of two systems by judges who have the first ahead by these means; the same topics, other noise."""
    noise = np.random.default_rng(rng).normal(0, 1, (len(means), n)) * np.reshape(sd, (-1, 1))
    noise -= noise.mean(axis=1, keepdims=True)
    ahead = np.array(means)[:, None] + noise
    return np.stack([0.5 + ahead / 2, 0.5 - ahead / 2], axis=1)


ROWS = [
    ("q1", "a", "ann", 1),
    ("q1", "b", "ann", 0),
    ("q2", "a", "ann", 1),
    ("q2", "b", "ann", 1),
    ("q3", "a", "ann", 0),
    ("q3", "b", "ann", 1),
    ("q1", "a", "bob", 0),
    ("q1", "b", "bob", 1),
    ("q2", "a", "bob", 0),
]
RUNS = {
    "x": {q: {"a": 2.0, "b": 1.0} for q in ("q1", "q2", "q3")},
    "y": {q: {"b": 2.0, "a": 1.0} for q in ("q1", "q2", "q3")},
}


def small(rows=ROWS):
    return read_judgments(pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row"))


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_the_first_system_of_each_judge_is_named_with_those_that_tie():
    assert scores_by_judge(small(), RUNS, "P@1").sentence() == (
        "By P@1, x and y are first by the labels of ann; y is first by the labels of bob."
    )
    apart = [("q1", "a", "ann", 1), ("q1", "b", "bob", 1), ("q1", "c", "cy", 1)]
    runs = {
        name: {"q1": {doc: float(n) for n, doc in enumerate(order)}} for name, order in (("x", "abc"), ("y", "cba"))
    }
    found = scores_by_judge(small(apart), runs, "P@3").sentence()
    assert found == "No judge labelled enough to tell which system is first by P@3."


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
def test_means_intervals_and_shares_by_hand():
    found = scores_by_judge(small(), RUNS, "P@1")
    assert (found.judges, found.systems) == (("ann", "bob"), ("x", "y"))
    np.testing.assert_allclose(found.mean[..., 0], [[2 / 3, 2 / 3], [0, 0.5]])
    half = student.ppf(0.975, 2) * np.sqrt(1 / 3) / np.sqrt(3)  # of 1, 1, 0: variance 1/3
    np.testing.assert_allclose(found.low[0, 0, 0], max(2 / 3 - half, 0))
    np.testing.assert_allclose(found.high[0, 0, 0], min(2 / 3 + half, 1))
    half = student.ppf(0.975, 1) * np.sqrt(0.5) / np.sqrt(2)  # bob judged two topics: 1, 0
    np.testing.assert_allclose(found.high[1, 1, 0], min(0.5 + half, 1))
    assert found.n_topics[..., 0].tolist() == [[3, 3], [2, 2]]
    np.testing.assert_allclose(found.share[:, 0], [1, 3 / 4])  # of the first results of q1 and q2, bob lacks b of q2
    record = found.records()[3]
    assert (record["judge"], record["system"], record["measure"]) == ("bob", "y", "P@1")
    assert (record["mean"], record["topics"], record["share"]) == (0.5, 2, 0.75)


def test_scores_are_those_of_evaluate():
    measures = ["nDCG@10", "AP", "P@5"]
    found = scores_by_judge(judged(table()), lists(), measures)
    for judge, name in enumerate(found.judges):
        expected = evaluate(judged(table()), lists(), measures, assessor=name)
        np.testing.assert_allclose(found.scores[judge], expected.values)
        np.testing.assert_allclose(found.mean[judge], expected.mean("topic").values)


def test_judges_who_contradict_each_other_are_found_with_their_p_values():
    found = scores_by_judge(judged(table()), lists()).contradictions()
    assert set(found.pairs()) == {("L", "D"), ("C", "L")}
    row = next(each for each in found.records() if {each["a"], each["b"]} == {"C", "L"})
    scores = {
        name: evaluate(judged(table()), lists(), "nDCG@10", assessor=name).values[..., 0] for name in ("expert", "llm")
    }
    difference = {name: values[0] - values[2] for name, values in scores.items()}  # C less L
    assert (row["a"], row["judge"], row["against"]) == ("C", "expert", "llm")
    assert row["delta"] == pytest.approx(difference["expert"].mean())
    assert row["delta_against"] == pytest.approx(difference["llm"].mean())
    between = ttest_1samp(difference["expert"] - difference["llm"], 0).pvalue
    assert row["p_between"] == pytest.approx(3 * between, rel=1e-6)  # three pairs of systems, one of judges
    # Holm over three pairs and two judges: of six p-values, both of C and D are the largest
    p = ttest_1samp(difference["llm"], 0).pvalue
    assert row["p_against"] >= p
    assert row["p_against"] <= 6 * p
    assert "L is ahead by 0.189" in found.sentence(found.found[1])


def test_copies_and_judges_who_agree_do_not_contradict():
    same = scores_by_judge(judged(table(identical=True)), lists())
    found = same.contradictions()
    assert (found.records(), found.reversals, found.n_judges) == ([], (), 1)
    assert [note.kind for note in same.notes_on_judges()] == ["copied-labels"]
    alike = scores_by_judge(judged(table(overrates=2)), lists()).contradictions()
    assert (alike.records(), alike.n_judges) == ([], 2)


@pytest.mark.parametrize(
    ("means", "more", "contradicts"),
    [
        ((0.2, -0.2), {}, True),  # significant in both directions
        ((0.2, -0.001), {}, True),  # not significant, but the judges differ
        ((0.06, -0.001), {}, False),  # so small a difference between them may be chance
        ((0.06, -0.001), {"reference": ("j1",)}, True),  # unless it is the reference who reverses it
        ((0.06, -0.001), {"reference": ("j0",)}, False),
        ((0.02, -0.02), {}, False),  # nothing is significant
        ((0.2, 0.0), {}, False),  # equal is not reversed
    ],
)
def test_when_a_reversal_is_a_contradiction(means, more, contradicts):
    found = of_arrays(differences(*means, sd=(0.1, 0.3)), **more).contradictions()
    assert bool(found.found) == contradicts
    assert [row.against for row in found.found] == (["j1"] if contradicts else [])
    assert bool(found.reversals) == (means[0] > 0.05 and means[1] < 0)


def test_with_many_judges_single_reversals_of_small_differences_are_no_contradictions():
    rng = np.random.default_rng(4)
    means = np.append(rng.normal(0.1, 0.03, 35), [-0.02, -0.01])
    found = of_arrays(differences(*means, sd=0.25, rng=5)).contradictions()
    assert len({row.against for row in found.reversals}) == 2
    assert found.found == ()


def test_judges_of_other_topics_are_not_reversed_by_their_topics():
    """The second judge gives the same scores, on the half of the topics where the other system is better."""
    topics = np.append(np.full(40, 0.3), np.full(10, -0.2)) + np.random.default_rng(1).normal(0, 0.05, 50)
    scores = np.stack([np.stack([0.5 + topics / 2, 0.5 - topics / 2])] * 2)
    scores[1, :, :40] = np.nan
    found = of_arrays(scores).contradictions()
    assert found.tested[0].significant.all()
    assert found.reversals == ()


def test_lists_that_a_judge_did_not_label_do_not_count():
    """The expert labelled all that C and D return, and little of L: scores by the expert, and no contradiction."""
    frame = table()
    little = frame.filter((pl.col("assessor") == "llm") | ~pl.col("doc").str.starts_with("L"))
    other = (pl.col("assessor") == "expert") & (pl.col("doc") == "x9")
    little = little.with_columns(label=pl.when(other).then(pl.lit("1")).otherwise(pl.col("label")))  # no copy
    found = scores_by_judge(judged(little), lists())
    assert found.judges == ("llm", "expert")
    share = found.share[1, 0]
    assert 0.6 < share < ENOUGH
    assert found.mean[1, 2, 0] < found.mean[1, 0, 0]  # L is far behind by the expert's labels
    assert found.contradictions().found == ()
    assert found.contradictions(pairs=[("C", "L")]).n_judges == 1
    assert "expert (labelled" in found.table()[0][2]
    assert [note.kind for note in found.notes_on_judges()] == ["few-labels"]


def test_scores_from_few_labels_are_not_shown_to_people():
    """Documents without a label count as not relevant: the score of the expert says how much was labelled."""
    few = (pl.col("assessor") == "llm") | pl.col("doc").str.ends_with("1")
    found = scores_by_judge(judged(table().filter(few)), lists())
    assert found.share[1, 0] < 0.5
    _, rows = found.table()
    assert {row[2] for row in rows} == {"-"}
    assert all(row[1] != "-" for row in rows)
    assert "expert" not in found.sentence()
    assert not np.isnan(found.mean[1]).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_topics(n):
    scores = differences(0.4, -0.4, n=n, sd=0.0)
    found = of_arrays(scores)
    assert np.isnan(found.low).all() == (n == 1)
    assert found.contradictions().found == ()
    cells = found.table()[1]
    assert ("[" in cells[0][1]) == (n > 1)
    assert all(record["low"] is None for record in found.records()) == (n == 1)


def test_one_judge_and_one_system():
    one = scores_by_judge(judged(table()).where(assessor="llm"), lists())
    assert one.table()[0] == ["system", "llm"]
    assert one.contradictions().records() == []
    assert "one judge only" in one.contradictions().sentence()
    alone = scores_by_judge(judged(table()), {"C": lists()["C"]})
    assert alone.contradictions().records() == []


def test_declared_judges_come_first_and_many_are_counted():
    frame = table()
    more = [frame.filter(pl.col("assessor") == "llm").with_columns(assessor=pl.lit(f"llm{n}")) for n in range(6)]
    labels = judged(pl.concat([frame, *more]))
    plain = scores_by_judge(labels, lists())
    assert plain.judges[0] == "expert"
    named = scores_by_judge(labels.declare(reference="llm3", machines=["llm", "llm0"]), lists())
    assert named.judges[0] == "llm3"
    assert set(named.judges[-2:]) == {"llm", "llm0"}
    heads, _ = named.table()
    assert heads[1] == "llm3 (reference)"
    assert len(heads) == 6
    hidden = next(note for note in named.notes_on_judges() if note.kind == "judges-not-shown")
    assert hidden.fields["n"] == 3
    assert len(named.records()) == 8 * 3
    assert scores_by_judge(labels, lists(), judges=["llm"]).judges == ("llm",)
    with pytest.raises(UnknownName):
        scores_by_judge(labels, lists(), judges=["nobody"])


def test_pooled_labels_are_one_judge():
    found = scores_by_judge(judged(table()), lists(), pool="mean")
    assert found.judges == ("pooled labels",)
    expected = evaluate(judged(table()), lists(), pool="mean").mean("topic").values
    np.testing.assert_allclose(found.mean[0], expected)


@pytest.mark.parametrize("seed", range(30))
def test_no_claim_holds_in_both_directions(seed):
    """Whatever judges say, and whatever they labelled: of two opposite claims, one is opposed."""
    rng = np.random.default_rng(seed)
    n_judges, n_topics = int(rng.integers(1, 6)), int(rng.integers(1, 25))
    scores = 0.5 + rng.normal(0, 0.2, (n_judges, 1, 1)) * [[[1], [-1]]] + rng.normal(0, 0.2, (n_judges, 2, n_topics))
    scores[:, :, 1:][rng.random((n_judges, 2, n_topics - 1)) < rng.choice([0, 0.3])] = np.nan
    reference = ("j0",) if seed % 3 == 0 else ()
    found = of_arrays(scores, reference=reference).contradictions()
    opposed = [found.against(*pair).reasons() for pair in (("s0", "s1"), ("s1", "s0"))]
    assert any(opposed)


def test_who_opposes_a_claim():
    found = of_arrays(differences(0.2, 0.15, -0.01, sd=0.6)).contradictions()
    assert found.against("s0", "s1").reasons() == []  # two of three, and the third is not significant
    (reason,) = found.against("s1", "s0").reasons()
    assert "ahead with the labels of 1 of 3 judges; the baseline is ahead with those of j0 and j1" in reason
    two = of_arrays(differences(0.02, -0.02, sd=0.6)).contradictions()
    assert all(two.against(*pair).reasons() for pair in (("s0", "s1"), ("s1", "s0")))
    assert two.against("s1", "s0", margin=0.05).reasons() == []
    declared = of_arrays(differences(0.02, 0.03, -0.02, sd=0.6), reference=("j2",)).contradictions()
    assert declared.against("s0", "s1").reasons()
    assert declared.against("s1", "s0").reasons() == []


def test_a_judge_who_has_the_baseline_ahead_significantly_outweighs_a_majority():
    found = of_arrays(differences(-0.06, 0.01, 0.01, sd=(0.05, 0.6, 0.6))).contradictions()
    assert found.found == ()
    (reason,) = found.against("s0", "s1").reasons()
    assert "with the labels of j0, s1 is ahead of s0 by 0.060" in reason
    assert found.against("s1", "s0").reasons()
    assert found.against("s0", "s1", margin=0.1).reasons() == []

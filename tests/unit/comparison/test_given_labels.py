"""What another judge labelled stands in every draw, and only the rest is drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from two_judges import judged, lists, table
from venire import compare, evaluate, report_on
from venire.comparison.forecast import POOLED, JudgeSwap, forecast
from venire.comparison.uncertainty import compare_judge_models, uncertainty_sources
from venire.disagreement.transitions import FORMS, FURTHER, fit_transitions

SEED = np.random.SeedSequence(3)


def labels_of(judgments, name):
    """Labels by one assessor, -1 for none -> (item,)."""
    own = judgments.where(assessor=name)
    found = np.full(len(judgments.items), -1)
    found[own.item] = own.label
    return found


def partly(*, share=0.4, more=("llm",)):
    """The expert labelled all but a few documents, others a part of all; those after the first differ from it."""
    rng, frame = np.random.default_rng(2), table()
    expert = frame.filter((pl.col("assessor") == "expert") & (pl.col("doc") != "L0"))
    llm = frame.filter(pl.col("assessor") == "llm")
    parts = [llm.filter(pl.Series(rng.random(len(llm)) < share)).with_columns(assessor=pl.lit(name)) for name in more]
    return judged(pl.concat([expert, *parts[:1], *(changed(part, rng) for part in parts[1:])]))


def changed(frame, rng, share=0.1):
    """Change a share of the labels, so that they are no copies."""
    other = pl.Series(rng.random(len(frame)) < share)
    drawn = pl.Series(rng.integers(4, size=len(frame)).astype(str))
    return frame.with_columns(label=pl.when(other).then(drawn).otherwise(pl.col("label")))


def named(frame, assessor, name):
    """The labels of an assessor, under another name."""
    return frame.filter(pl.col("assessor") == assessor).with_columns(assessor=pl.lit(name))


@pytest.mark.parametrize("form", [*FORMS, POOLED])
@pytest.mark.parametrize("named", [True, False])
def test_two_complete_judges_who_contradict_each_other_leave_nothing_to_chance(form, named):
    judgments = judged(table())
    for assessor, other, ahead, behind in (("llm", "expert", "L", "C"), ("expert", "llm", "C", "L")):
        pair = {"assessor": assessor, "baseline": behind, "candidate": ahead, "judge_model": form}
        pair["new_judge"] = other if named else "any"
        for measure in ("nDCG@10", "P(rel=2)@5"):
            (record,) = compare(judgments, lists(), measure, **pair, n_draws=40).records()
            assert record["delta"] > 0.1
            assert (record["p_stays_ahead"], record["p_flips"], record["se"]) == (0, 1, 0)


@pytest.mark.parametrize("form", [*FORMS, POOLED])
def test_a_second_judge_who_says_the_same_keeps_every_order(form):
    judgments = judged(table(identical=True))
    for measure in ("nDCG@10", "P(rel=2)@3"):
        found = compare(judgments, lists(), measure, assessor="expert", judge_model=form, n_draws=40)
        assert min(abs(record["delta"]) for record in found.records()) < 0.1
        assert [record["p_stays_ahead"] for record in found.records()] == [1, 1, 1]


def test_scores_under_a_complete_judge_are_those_of_that_judge():
    judgments = judged(table())
    found = forecast(judgments, lists(), "AP", assessor="expert", new_judge="llm", n_draws=10)
    own = evaluate(judgments, lists(), "AP", assessor="llm").mean("topic").values[:, 0]
    np.testing.assert_allclose(found.draws, np.tile(own, (10, 1)))


@pytest.mark.parametrize("form", FORMS)
def test_given_labels_stand_in_every_draw_and_the_rest_is_drawn(form):
    judgments = partly()
    scene = JudgeSwap.of(judgments, lists(), "nDCG@10", assessor="expert", new_judge="llm")
    drawn = scene.judges(form, 60, seed=SEED).labels(0, 60)
    expert, llm = (labels_of(judgments, name) for name in ("expert", "llm"))
    assert (drawn[:, llm >= 0] == llm[llm >= 0]).all()
    assert ((llm >= 0) & (expert < 0)).any()
    rest = (llm < 0) & (expert >= 0)
    assert (drawn[:, rest] >= 0).all()
    assert (np.ptp(drawn[:, rest], axis=0) > 0).mean() > 0.5
    assert (drawn[:, (llm < 0) & (expert < 0)] == -1).all()
    judges = scene.judges(form, 60, seed=SEED)
    gains, known = judges.gains(np.arange(4.0), 0, 60)
    np.testing.assert_array_equal(known, drawn >= 0)
    np.testing.assert_array_equal(gains[known], drawn[known])


@pytest.mark.parametrize("form", FORMS)
def test_other_judges_take_turns_and_a_further_one_has_no_labels(form):
    names = ("llm", "more", "most")
    judgments = partly(more=names)
    scene = JudgeSwap.of(judgments, lists(), "nDCG@10", assessor="expert")
    drawn = scene.judges(form, 30, seed=SEED).labels(0, 30)
    assert set(scene.transitions.new) == set(names)
    n_judges = scene.transitions.n_judges(form)
    assert n_judges == (3 if form == "assessors" else 3 + FURTHER)
    for number, name in enumerate(scene.transitions.new):
        own = labels_of(judgments, name)
        assert (drawn[number::n_judges, own >= 0] == own[own >= 0]).all()
        further = drawn[3::n_judges] if n_judges > 3 else 1 - drawn
        assert (further[:, own >= 0] != own[own >= 0]).any()
    parts = np.concatenate([scene.judges(form, 30, seed=SEED).part(n, n + 7).labels(0, 7) for n in range(0, 21, 7)])
    np.testing.assert_array_equal(parts, drawn[:21])


def test_two_of_three_complete_judges_agree():
    frame = table()
    third = changed(named(frame, "expert", "another"), np.random.default_rng(1), 0.05)
    for name in ("another", "AAA"):
        judgments = judged(pl.concat([frame, third.with_columns(assessor=pl.lit(name))]))
        for measure in ("nDCG@10", "P(rel=2)@5"):
            found = compare(
                judgments,
                lists(),
                measure,
                assessor="expert",
                baseline="L",
                candidate="C",
                judge_model="fixed",
                n_draws=40,
            )
            (record,) = found.records()
            assert 1 / 5 <= record["p_stays_ahead"] <= 4 / 5
            assert (record["observed"]["judges"], record["observed"]["judges_agree"]) == (2, 1)
            assert record["method"] == "observed and 40 draws, fixed"


@pytest.mark.parametrize("form", [*FORMS, POOLED])
def test_copies_of_another_judge_change_nothing(form):
    other = changed(named(table(), "expert", "other"), np.random.default_rng(1), 0.05)
    frame = pl.concat([table(), other])
    more = [frame, *(named(frame, "llm", f"copy{n}") for n in range(4)), named(frame, "expert", "again")]
    options = {"assessor": "expert", "baseline": "L", "candidate": "C", "judge_model": form, "n_draws": 60}
    one, many = (compare(judged(each), lists(), "nDCG@10", **options) for each in (frame, pl.concat(more)))
    assert one.records() == many.records()
    assert one.records()[0]["observed"]["judges"] == 2
    (note,) = (note for note in many.notes if note.kind == "copies-left-out")
    assert note.fields == {"n_left": 5, "n_others": 7}
    assert not any(note.kind == "copies-left-out" for note in one.notes)


def test_of_copies_the_one_with_most_labels_counts():
    frame = table()
    part = named(frame, "llm", "part").filter(pl.col("topic") != "q3")
    for frames in ([frame, part], [part, frame]):
        swap = JudgeSwap.of(judged(pl.concat(frames)), lists(), "nDCG@10", assessor="expert")
        assert swap.transitions.new == ("llm",)
    named_one = JudgeSwap.of(judged(pl.concat([frame, part])), lists(), assessor="expert", new_judge="part")
    assert named_one.transitions.new == ("part",)
    assert not named_one.notes


@pytest.mark.parametrize("names", [(), ("third",), ("third", "fourth")])
def test_where_all_others_are_copies_every_order_stays_and_this_is_said(names):
    frame = table(identical=True)
    judgments = judged(pl.concat([frame, *(named(frame, "llm", name) for name in names)]))
    found = compare(judgments, lists(), "nDCG@10", assessor="expert", n_draws=40)
    assert [record["p_stays_ahead"] for record in found.records()] == [1, 1, 1]
    assert [note.fields for note in found.notes if note.kind == "only-copies"] == [{"old": "expert"}]


def test_a_copy_counts_if_only_it_labelled_items_of_the_current_judge():
    frame = table()
    expert = frame.filter((pl.col("assessor") == "expert") & pl.col("topic").is_in(["q0", "q1"]))
    far = named(frame, "llm", "far").filter(pl.col("topic") > "q1")
    near = named(frame, "llm", "near").filter(pl.col("topic").is_in(["q0", "q2", "q3"]))
    swap = JudgeSwap.of(judged(pl.concat([expert, far, near])), lists(), assessor="expert")
    assert swap.transitions.new == ("near",)


def test_names_of_the_others_change_no_draw():
    names = ("llm", "more", "most")
    judgments = partly(more=names)
    frame = judgments.to_polars().with_columns(pl.col("assessor").replace({"llm": "zoe", "most": "abe"}))
    one, other = (forecast(each, lists(), assessor="expert", n_draws=40) for each in (judgments, judged(frame)))
    np.testing.assert_array_equal(one.draws, other.draws)


def test_all_is_drawn_where_transitions_are_stated():
    judgments = judged(table())
    known = fit_transitions(judgments, "expert", "llm")
    scene = JudgeSwap.of(judgments, lists(), "nDCG@10", assessor="expert", transitions=known)
    drawn = scene.judges("fixed", 50, seed=SEED).labels(0, 50)
    assert (np.ptp(drawn, axis=0) > 0).mean() > 0.5


def test_topics_are_drawn_only_where_that_is_asked_for():
    judgments = judged(table(identical=True))
    found = forecast(judgments, lists(), assessor="expert", n_draws=40)
    assert found.judge_model == "hierarchical"
    assert (np.ptp(found.draws, axis=0) == 0).all()
    pooled = forecast(judgments, lists(), assessor="expert", n_draws=40, judge_model="pooled")
    np.testing.assert_array_equal(pooled.draws, found.draws)


def test_the_pool_counts_the_bootstrap_by_what_is_unknown_of_the_judge():
    judgments = partly()
    swap = JudgeSwap.of(judgments, lists(), ["nDCG@10", "P(rel=2)@5"], assessor="expert", new_judge="llm")
    old, new = (labels_of(judgments, name) for name in ("expert", "llm"))
    both = (old >= 0) & (new >= 0)
    r = np.corrcoef(old[both], new[both])[0, 1]
    assert swap.transitions.correlations() == pytest.approx([r])
    for number in range(2):
        share = swap.observed.share()[0, number]
        assert 0.3 < share < 0.7
        assert swap.weight_of_topics(number) == pytest.approx(r / 2 * (1 - share))
    alone, pooled = (swap.forecasts(judge_model=name, n_draws=200)[0] for name in ("hierarchical", "pooled"))
    n_topics = round(200 * swap.weight_of_topics())
    np.testing.assert_array_equal(pooled.draws[: 200 - n_topics], alone.draws[n_topics:])
    np.testing.assert_array_equal(pooled.others["both"], alone.others["both"])


def test_every_sort_of_draw_follows_the_same_rule():
    judgments = judged(table())
    swap = JudgeSwap.of(judgments, lists(), "nDCG@10", assessor="expert")
    forms = compare_judge_models(swap, n_draws=20)
    pair = [(each["a"], each["b"]) for each in forms.pair_records()].index(("C", "L"))
    assert {forms.pair_records()[pair][f"p_stays_ahead_{form}"] for form in FORMS} == {0}
    sources = uncertainty_sources(swap, n_draws=20)
    assert sources.p_beats("C", "L", source="judges") == 0


def test_a_report_does_not_say_that_the_winner_survives():
    runs = {system: lists()[system] for system in "CL"}
    made = report_on(judged(table()), runs, assessor="expert", n_draws=50)
    found = made.content()["verdict"]["verdict"]
    assert (found["winner"], found["leader"], found["judge"]) == (None, "C", "expert")
    assert [each["against"] for each in found["contradicted_by"]] == ["llm"]
    assert found["p_first"]["judges"] == found["p_first"]["both"] == 0

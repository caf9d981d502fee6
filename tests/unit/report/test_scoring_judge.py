"""Whose labels score the runs where nobody said: by what they judged, never by their names."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from two_judges import judged, lists, table
from venire import evaluate, read_judgments, read_runs, report_on
from venire.data.assessors import PRIMARY
from venire.report.evidence import Evidence
from venire.report.question import Question
from venire.simulation import Synthetic, generate

RENAMED = {"lazy1": "AAA", "careful1": "zzz", "expert": "zoe", "ann": "zed", "cid": "abe"}


def renamed(judgments, names=RENAMED):
    """The same judgments, read anew, under names in another order."""
    frame = judgments.to_polars().with_columns(pl.col("assessor").replace(names))
    return read_judgments(frame, scale=str(judgments.scale))


def evidence(judgments, runs=None):
    return Evidence(Question(judgments, read_runs(runs or lists())))


def shared_work(n_docs=20, part=14):
    """Three assessors, each of whom judged a part of every topic: ann and bob as much, cid less."""
    rng, rows = np.random.default_rng(3), []
    for topic in range(6):
        truth = rng.integers(0, 3, n_docs)
        for name, first, last in (("cid", 4, 12), ("bob", n_docs - part, n_docs), ("ann", 0, part)):
            noise = rng.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=n_docs)
            labels = np.clip(truth + noise, 0, 2)
            rows += [(f"q{topic}", f"x{n}", name, str(labels[n])) for n in range(first, last)]
    columns = ["topic", "doc", "assessor", "label"]
    return read_judgments(pl.DataFrame(rows, schema=columns, orient="row"), scale="0<1<2")


def test_of_two_who_are_level_one_judges_whatever_names_and_order_and_the_headline_says_so():
    swapped = table().with_columns(pl.col("assessor").replace({"expert": "llm", "llm": "expert"}))
    for frame in (table(), table().reverse(), swapped):
        found = evidence(judged(frame))
        chosen, (other,) = found.judge, {"expert", "llm"} - {found.judge}
        assert (other if frame is swapped else chosen) == evidence(judged(table())).judge
        assert found.level_with == (other,)
        headline = report_on(judged(frame), lists(), n_draws=20).chapters[0].finding
        assert f"the labels of {chosen}, but {other} judged as many" in headline
        named = report_on(judged(frame), lists(), assessor=chosen, n_draws=20).chapters[0].finding
        assert headline.startswith(named)
        assert "The runs are scored" not in named


def test_a_few_missing_labels_do_not_decide_who_judges_but_many_do():
    """The judge who agrees most judges, unless the label of more than one item in a hundred is missing."""
    frame, rng = table(identical=True), np.random.default_rng(0)
    odd = frame.filter(pl.col("assessor") == "llm").with_columns(assessor=pl.lit("odd"))
    odd = odd.with_columns(label=pl.Series([str(each) for each in rng.integers(0, 4, len(odd))]))
    own = frame.filter(pl.col("assessor") == "expert")
    assert len(own) >= 100
    for n_missing, judge in ((1, "expert"), (1 + len(own) // 50, "odd")):
        found = evidence(judged(pl.concat([own[n_missing:], odd])))
        assert found.judge == judge
        why = next(
            part
            for part in report_on(found.question.judgments, lists(), n_draws=20).chapters[0].parts
            if getattr(part, "about", "") == "judge"
        )
        assert f"labels of {judge}, " in why.text


@pytest.mark.parametrize("worse", ["aaa", "zzz"])
def test_of_those_who_judged_as_much_the_one_who_agrees_most_judges(worse):
    frame, rng = table(identical=True), np.random.default_rng(0)
    odd = frame.filter(pl.col("assessor") == "llm").with_columns(assessor=pl.lit(worse))
    label = np.where(rng.random(len(odd)) < 0.3, rng.integers(0, 4, len(odd)), odd["label"].cast(int))
    odd = odd.with_columns(label=pl.Series(label).cast(str))
    llm = frame.filter(pl.col("assessor") == "llm")
    label = np.where(rng.random(len(llm)) < 0.1, rng.integers(0, 4, len(llm)), llm["label"].cast(int))
    llm = llm.with_columns(label=pl.Series(label).cast(str))
    judgments = judged(pl.concat([odd, llm, frame.filter(pl.col("assessor") == "expert")]))
    found = evidence(judgments)
    assert (found.judge, found.level_with) == ("expert", ())


def test_where_everybody_judged_a_part_names_decide_nothing_either():
    one, other = (evidence(each) for each in (shared_work(), renamed(shared_work())))
    assert one.judge == other.judge == PRIMARY
    np.testing.assert_array_equal(one.own.item, other.own.item)
    np.testing.assert_array_equal(one.own.label, other.own.label)
    assert one.level_topics == other.level_topics == 0


def test_topics_on_which_two_are_level_are_counted_in_the_headline():
    judgments = shared_work()
    two = judgments.take(np.isin(judgments.assessor.texts(), ["ann", "bob"]))
    found = evidence(two)
    assert found.judge == PRIMARY
    assert found.level_topics == 6
    assert "On 6 topics, two assessors" in report_on(two, lists_of(two), n_draws=20).chapters[0].finding


def lists_of(judgments, n_docs=8):
    docs = [f"x{n}" for n in range(n_docs)]
    orders = {"s": docs, "t": docs[::-1]}
    return {name: {t: {d: -float(n) for n, d in enumerate(o)} for t in judgments.topics} for name, o in orders.items()}


@pytest.mark.filterwarnings("ignore::venire.errors.UnjudgedWarning")
@pytest.mark.parametrize("doubly", [1.0, 0.3])
def test_renaming_assessors_changes_no_number_of_a_report(doubly):
    made = generate(Synthetic(n_topics=6, docs_per_topic=30), rng=2)
    rows = np.random.default_rng(1).random(len(made.judgments)) < doubly
    sets = [renamed(made.judgments.take(rows), names) for names in ({}, RENAMED)]
    found = [numbers(report_on(each, made.runs, n_draws=30).content()) for each in sets]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert len(found[0]) > 100


def numbers(content):
    """All numbers of the chapters, in an order of their own: tables list assessors by name."""
    found, rest = [], [value for key, value in content.items() if key not in ("made_with", "method")]
    while rest:
        value = rest.pop()
        if isinstance(value, dict | list):
            rest += list(value.values()) if isinstance(value, dict) else value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.append(float(value))
    return sorted(found)


def both(**declared):
    return evidence(judged(table()).declare(**declared))


def test_the_declared_reference_scores_the_runs_and_people_do_before_machines():
    assert both(reference="llm").judge == "llm"
    assert both(reference="expert").judge == "expert"
    assert both(machines="expert").judge == "llm"
    assert both(machines=["expert", "llm"]).judge == "expert"
    named = Evidence(Question(judged(table()), read_runs(lists()), reference=("llm",)))
    assert (named.judge, named.by_judge.judges[0]) == ("llm", "llm")


def test_a_reference_with_few_labels_does_not_score_the_runs_but_stands_for_users():
    frame = table()
    few = frame.filter((pl.col("assessor") == "llm") | (pl.col("topic").is_in(["q0", "q1"])))
    found = evidence(judged(few).declare(reference="expert"))
    assert (found.judge, found.people) == ("llm", ("expert",))
    results = frame.filter((pl.col("assessor") == "llm") | ~pl.col("doc").is_in([f"x{n}" for n in range(5, 20)]))
    found = evidence(judged(results).declare(reference="expert"))
    assert found.judge == "expert"  # labelled all that the systems return, if not all of the pool


def test_references_who_shared_the_work_score_the_runs_together():
    frame = shared_work().to_polars()
    machine = frame.group_by("topic", "doc", maintain_order=True).agg(label=pl.lit("1"))
    machine = machine.with_columns(assessor=pl.lit("llm")).select(frame.columns)
    labels = read_judgments(pl.concat([frame, machine]), scale="0<1<2").declare(reference=["ann", "bob", "cid"])
    found = evidence(labels, lists_of(labels, 20))
    assert found.judge == PRIMARY
    assert found.possible_judges == ("ann", "bob", "cid")
    assert len(found.own) == 6 * 20
    first, *people, last = found.by_judge.judges  # the one who scores first, then by kind and nearness
    assert (first, set(people), last) == (PRIMARY, {"ann", "bob", "cid"}, "llm")
    plain = evidence(read_judgments(pl.concat([frame, machine]), scale="0<1<2"), lists_of(labels, 20))
    assert plain.judge == "llm"


def test_nobody_is_a_user_who_is_not_known_to_be_a_person():
    found = both(reference="expert", machines="llm")
    assert found.people is None
    assert "nobody besides expert" in found.user_fit.reason
    assert both(machines="llm").judge == "expert"
    assert both().people == ()


def verdict_of(**declared):
    runs = {system: lists()[system] for system in "CL"}
    return report_on(judged(table()).declare(**declared), runs, n_draws=20).chapters[0]


def test_a_contradicted_winner_is_named_with_reserve():
    for declared in ({}, {"reference": "expert"}, {"reference": "llm"}):
        chapter = verdict_of(**declared)
        assert chapter.finding.startswith("No winner can be named without reserve")
        assert "with the labels of expert, C is ahead of L" in chapter.finding
        verdict = chapter.numbers["verdict"]
        assert (verdict["winner"], verdict["leader"]) == (None, "L" if declared.get("reference") == "llm" else "C")
        assert [part.name for part in chapter.parts[:1]] == ["scores_by_judge"]
        assert chapter.numbers["contradictions"][0]["against"] in ("llm", "expert")
        assert {each["judge"] for each in chapter.numbers["by_judge"]} == {"expert", "llm"}
        about = [getattr(part, "about", "") for part in chapter.parts]
        assert ("nothing-declared" in about) == ("whose-labels" in about) == (not declared)


def test_a_winner_whom_nobody_contradicts_is_named():
    runs = {system: lists()[system] for system in "CL"}
    for overrates, identical in ((1, False), (3, True)):
        labels = judged(table(overrates=overrates, identical=identical))
        chapter = report_on(labels, runs, n_draws=20).chapters[0]
        assert chapter.finding.startswith("C is significantly better than the other system")
        assert chapter.numbers["verdict"]["winner"] == "C"
        assert ("llm is a copy of expert" in chapter.finding) == identical


def test_labels_of_people_stand_for_random_users():
    """Users are the expert, by whom C is better, not what the labels of the llm make probable."""
    found = Evidence(Question(judged(table()), read_runs(lists()), assessor="llm", relevant="2", n_draws=20))
    expected = evaluate(judged(table()), lists(), ["nDCG@10", "CG@10"], assessor="expert", gains="binary:2")
    np.testing.assert_allclose(found.users.mean.values, expected.mean("topic").values)
    np.testing.assert_allclose(found.users.sd.values, 0, atol=1e-12)

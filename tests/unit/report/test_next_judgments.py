"""What to judge next: the plan that fits a report, what its card says, and what its chapter holds."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import venire.io.runs
from two_judges import judged, lists, table, write_files
from venire import plan, read_judgments, read_runs
from venire.cli.main import cli
from venire.io.plans import read_plan
from venire.planning import Plan
from venire.report.document import Picture
from venire.report.evidence import Evidence
from venire.report.front import front
from venire.report.making import make_report
from venire.report.next_judgments import ANOTHER, UNPLANNED, WITHIN, next_judgments, plan_chapter, step
from venire.report.question import Missing, Question
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")


def partly(share=0.2, **how):
    """Labels of an llm on everything, and of the reference on a share of the results."""
    frame, rng = table(), np.random.default_rng(4)
    kept = frame.filter((pl.col("assessor") == "llm") | pl.Series(rng.random(len(frame)) < share))
    return Question(judged(kept).declare(reference="expert", machines="llm"), read_runs(lists()), n_draws=60, **how)


def unjudged_part():
    """The same labels, but nobody labelled one result in five."""
    frame = partly().judgments.to_polars()
    items = frame.select("topic", "doc").unique(maintain_order=True).gather_every(5)
    return frame.join(items, on=["topic", "doc"], how="anti")


@pytest.fixture(scope="module")
def asked():
    return Evidence(partly())


def close(n_topics=20, rng=3):
    setting = Synthetic(n_topics=n_topics, docs_per_topic=25, n_unjudged=5, systems=Systems(quality=(2.0, 2.25)))
    made = generate(setting, rng=rng)
    return Question(made.judgments, made.runs, n_draws=60)


def test_a_reference_that_labelled_a_part_is_asked_for_results_that_it_did_not_label(asked):
    found = next_judgments(asked)
    assert found.goal.partition(":")[0] in ("best", "pair")
    assert {(each.judge, each.kind) for each in found.asked} == {("expert", "reference")}
    own = asked.judgments.where(assessor="expert").to_polars().select("topic", "doc").rows()
    assert 0 < len(found) <= 100
    assert {(each.topic, each.doc) for each in found.asked}.isdisjoint(own)
    assert {50.0, 100.0} <= {each.budget for each in found.forecast}


def test_it_is_the_plan_of_the_planner_where_all_results_are_labelled(asked):
    found = next_judgments(asked)
    other = plan(asked.judgments, read_runs(lists()), goal=found.goal, budget=100, judge="llm")
    assert found.asked == other.asked
    assert found.forecast == other.forecast


def test_the_card_of_judges_says_what_to_collect_and_the_chapter_lists_it(asked):
    found = next_judgments(asked)
    made = front(asked, found)
    assert made.planned == "judges"
    sentence = next(card for card in made.cards if card.name == "judges").steps[0]
    assert sentence == step(asked, found)["judges"]
    there = min(found.forecast, key=lambda each: abs(each.budget - 100))
    assert f"{len(found)} results" in sentence
    assert f"{there.p_decided:.2f}"[1:] in sentence or "below .01" in sentence or "above .99" in sentence
    chapter = plan_chapter(asked, found)
    assert chapter.finding == sentence
    curve = next(part for part in chapter.parts if isinstance(part, Picture))
    first, last = found.forecast[0], found.forecast[-1]
    ends = f"From {first.p_decided:.2f} with {first.budget:,.0f} to {last.p_decided:.2f} with {last.budget:,.0f}."
    assert (curve.name, curve.words) == ("plan_chart", ends)
    assert {part.name: len(part.rows) for part in chapter.parts if hasattr(part, "rows")} == {
        "plan_forecast": len(found.forecast),
        "plan_judgments": len(found),
    }


def test_the_json_has_the_plan_as_the_planner_writes_it(asked):
    content = make_report(asked.question).content()["plan"]
    found = next_judgments(asked).to_dict()
    assert {name: content[name] for name in found} == found
    assert {"goal", "state", "forecast", "rows"} <= set(content)


def test_results_that_nobody_labelled_are_planned_too():
    labels = judged(unjudged_part()).declare(reference="expert", machines="llm")
    evidence = Evidence(replace(partly(), judgments=labels))
    found = next_judgments(evidence)
    n_first = sum(each.kind == "first" for each in found.asked)
    assert 0 < n_first < len(found)
    assert f"label {len(found)} results, {n_first} of them not judged by llm: " in step(evidence, found)["judges"]


def test_runs_are_scanned_once(monkeypatch):
    n_scans, scanning = [], venire.io.runs.read_facts
    monkeypatch.setattr(venire.io.runs, "read_facts", lambda *given: (n_scans.append(1), scanning(*given))[1])
    evidence = Evidence(partly())
    assert evidence.verdict.best
    assert isinstance(next_judgments(evidence), Plan)
    assert len(n_scans) == 1


def test_systems_with_the_same_results_count_as_one():
    question = partly()
    runs = lists()
    twice = Evidence(replace(question, runs=read_runs({**runs, "E": runs["C"], "F": runs["L"]})))
    found = next_judgments(twice)
    assert twice.verdict.twins
    other = plan(twice.judgments, twice.runs, goal=found.goal, budget=100, judge="llm")
    assert (found.asked, found.forecast) == (other.asked, other.forecast)


def test_one_assessor_means_second_judgments_by_somebody_else():
    alone = Evidence(replace(partly(), judgments=judged(table()).where(assessor="expert")))
    found = next_judgments(alone)
    assert (found.goal, {each.kind for each in found.asked}) == ("labels", {"second"})
    assert {each.judge for each in found.asked} == {ANOTHER}
    returned = {(topic, doc) for topics in lists().values() for topic, docs in topics.items() for doc in docs}
    assert {(each.topic, each.doc) for each in found.asked} <= returned
    made = front(alone, found)
    assert made.planned == "users"
    users = next(card for card in made.cards if card.name == "users")
    assert users.steps[0].startswith("Have 100 results judged a second time: ")
    there = min(found.forecast, key=lambda each: abs(each.budget - 100))
    assert f"is then known to within {there.half_width:.2f}. To know it to within {WITHIN:g}" in users.steps[0]


def test_topics_are_planned_where_nothing_else_is_asked_for():
    evidence = Evidence(close())
    found = next_judgments(evidence)
    assert found.goal == f"topics:{evidence.verdict.best},{evidence.verdict.closest}"
    assert found.asked == ()
    made = front(evidence, found)
    assert made.planned == "topics"
    more = int(found.budget)
    two = f"{evidence.verdict.best} and {evidence.verdict.closest}"
    there = min(found.forecast, key=lambda each: abs(each.budget - more))
    assert made.cards[0].steps == (
        f"Judge {more} more topics: a significant difference between {two} is then found with probability "
        f"{there.p_decided:.2f}, or 0.80 if the observed difference is the true one.".replace(" 0.", " ."),
    )


def test_without_an_open_question_nothing_is_planned():
    setting = Synthetic(n_topics=40, docs_per_topic=60, systems=Systems(quality=(0.5, 3.5)))
    made = generate(setting, rng=2)
    evidence = Evidence(Question(made.judgments, made.runs, n_draws=60))
    found = next_judgments(evidence)
    assert isinstance(found, Missing)
    content = plan_chapter(evidence, found).content()
    assert (content["goal"], content["state"], content["rows"], content["forecast"]) == (None, UNPLANNED, [], [])
    assert front(evidence, found).planned is None


def test_judgments_without_runs_have_a_plan_of_second_judgments():
    found = make_report(Question(judged(table()).where(assessor="expert"), read_runs([]), n_draws=20)).content()["plan"]
    assert (found["goal"], len(found["rows"])) == ("labels", 100)


TINY = {
    "one topic": [("a", "x", "p", "1"), ("a", "x", "m", "0"), ("a", "y", "m", "1"), ("a", "z", "m", "0")],
    "no pair": [("a", "x", "p", "1"), ("a", "y", "m", "1"), ("b", "y", "m", "0"), ("b", "z", "m", "1")],
    "one label of the reference": [
        ("a", "x", "p", "0"),
        ("b", "x", "m", "0"),
        ("b", "y", "m", "1"),
        ("c", "x", "m", "1"),
    ],
    "nothing returned": [("a", "w", "p", "1"), ("a", "w", "m", "0"), ("a", "v", "m", "1")],
    "one label": [("a", "x", "p", "0"), ("a", "y", "m", "0"), ("b", "x", "m", "0")],
}


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("reference", [(), ("p",)])
def test_a_report_on_very_little_says_what_is_planned_or_why_nothing_is(name, reference):
    frame = pl.DataFrame(TINY[name], schema=["topic", "doc", "assessor", "label"], orient="row")
    orders = {"s": "xyz", "t": "zyx", "u": "yzx"}
    runs = {s: {t: {d: -float(n) for n, d in enumerate(docs)} for t in "abc"} for s, docs in orders.items()}
    question = Question(read_judgments(frame, scale="0<1"), read_runs(runs), n_draws=20, reference=reference)
    found = make_report(question).content()["plan"]
    assert found["finding"].endswith(".")
    assert found["state"] in (UNPLANNED, "judge", "decided", "not decidable")
    assert bool(found["rows"]) <= (found["state"] == "judge")


@pytest.mark.parametrize(
    ("frame", "more", "goal"),
    [
        (table().filter(pl.col("assessor") == "expert"), [], "labels"),
        (table()[::2], [], "labels"),
        (partly().judgments.to_polars(), ["--reference", "expert", "-m", "P@5"], "best"),
        (unjudged_part(), ["--reference", "expert", "--machine", "llm", "-m", "P@5"], "best"),
        (partly().judgments.to_polars(), ["--reference", "expert", "--machine", "llm", "--rng", "3"], "best"),
    ],
)
def test_the_command_names_the_one_that_writes_the_plan(tmp_path, frame, more, goal):
    judgments, runs = write_files(tmp_path, frame.select("topic", "doc", "assessor", "label"))
    out = str(tmp_path / "plan.tsv")
    words = ["report", judgments, runs, *more, "--draws", "20", "-o", str(tmp_path / "page.html"), "--format", "json"]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    line = next(line for line in done.stderr.splitlines() if line.startswith("note: venire plan "))
    command = shlex.split(line.removeprefix("note: venire ").partition(", with the same files,")[0])
    assert command[2].partition(":")[0] == goal
    again = CliRunner().invoke(cli, ["plan", judgments, runs, *command[1:-1], out], catch_exceptions=False)
    assert again.exit_code == 0, again.output
    rows = [each._asdict() for each in read_plan(out)]
    report = json.loads(done.stdout)["plan"]
    assert [{**each, "other": ""} for each in report["rows"]] == rows
    assert report["sentence"] in again.stderr

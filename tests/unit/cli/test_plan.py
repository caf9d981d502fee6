"""venire plan: its contract, a study in rounds, and what cannot be planned."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

import venire as library
from json_results import loaded
from planned_files import DOCS, SCALE, TOPICS, answered, by_llm, ranked, write_files
from venire import planning
from venire.data.asked import Asked
from venire.io.plans import read_plan, write_plan
from venire.kernels.sampling import systematic
from venire.planning import candidates as venire_candidates, second_judgments as venire_second

COLUMNS = ["topic", "doc", "judge", "kind", "probability", "reason"]
PEOPLE = ("--reference", "ann", "-m", "P@5", "--gains", "binary:2")
PAIR = ("--goal", "pair:good,poor", "--budget", "40", *PEOPLE)


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


def test_the_output_is_tsv_with_the_columns_of_the_contract(venire, files):
    code, out, err = venire("plan", *files, *PAIR)
    assert code == 0
    head, *rows = csv.reader(io.StringIO(out), delimiter="\t")
    assert head == COLUMNS
    assert len(rows) == 40
    assert {row[2] for row in rows} == {"ann"}
    assert {row[3] for row in rows} == {"reference"}
    assert all(0 < float(row[4]) <= 1 for row in rows)
    topics = [row[0] for row in rows]
    assert [topic for n, topic in enumerate(topics) if n == 0 or topics[n - 1] != topic] == list(dict.fromkeys(topics))
    assert len({tuple(row[:2]) for row in rows}) == 40
    assert "Goal pair:good,poor: collect 40 judgments (40 reference)" in err
    assert "p_decided" in err


def test_json_has_the_rows_and_the_forecast(venire, files):
    document = loaded(venire("plan", *files, *PAIR, "--format", "json").out)
    assert [list(row) for row in document["rows"]] == [COLUMNS] * 40
    assert all(set(each) == {"budget", "p_decided", "half_width"} for each in document["forecast"])
    budgets = [each["budget"] for each in document["forecast"]]
    assert budgets == sorted(budgets)
    assert {20, 40, 80} <= set(budgets)
    assert (document["goal"], document["state"]) == ("pair:good,poor", "judge")
    widths = [each["half_width"] for each in document["forecast"]]
    assert widths[-1] < widths[0]


def test_a_file_holds_what_standard_output_has(venire, files, tmp_path):
    path = tmp_path / "plan.tsv"
    assert venire("plan", *files, *PAIR, "-o", path).out == ""
    assert path.read_text() == venire("plan", *files, *PAIR).out
    assert venire("plan", *files, *PAIR, "--rng", "1").out != path.read_text()
    assert venire("plan", *files, *PAIR, "-q").err == ""
    assert "plan" in venire("inspect", path).out


def test_text_has_the_forecast_as_bars(venire, files):
    code, out, err = venire("plan", *files, *PAIR, "--format", "text")
    assert (code, err) == (0, "")
    bars = [line.split() for line in out.splitlines() if re.search(r" [#.]{20} ", line)]
    found = loaded(venire("plan", *files, *PAIR, "--format", "json").out)["forecast"]
    assert [int(each[0].replace(",", "")) for each in bars] == [each["budget"] for each in found]
    assert [each[2].count("#") for each in bars] == [round(20 * each["p_decided"]) for each in found]
    assert "enough at about" in out


@pytest.mark.parametrize("form", ["csv", "table", "markdown", "latex"])
def test_other_formats_have_the_rows(venire, files, form):
    out = venire("plan", *files, *PAIR, "--format", form).out
    assert sum("returned by" in line for line in out.splitlines()) == 40


def test_python_plans_the_same(venire, files):
    found = library.plan(
        files[0],
        files[1],
        "P@5",
        goal="pair:good,poor",
        budget=40,
        reference="ann",
        gains="binary:2",
    )
    rows = csv.DictReader(io.StringIO(venire("plan", *files, *PAIR).out), delimiter="\t")
    assert [(row["topic"], row["doc"], float(row["probability"])) for row in rows] == [
        (each.topic, each.doc, pytest.approx(each.probability)) for each in found.asked
    ]


def test_plot(venire, files, tmp_path):
    assert venire("plan", *files, *PAIR, "--plot", tmp_path / "curve.svg").code == 0
    picture = (tmp_path / "curve.svg").read_text()
    assert "the budget: 40" in picture
    assert "enough at about" in picture


# ---- rounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stated", [True, False])
def test_a_study_in_rounds_until_it_is_decided(venire, files, tmp_path, stated):
    asked, labels, plans = set[tuple[str, str]](), list[str](), list[str]()
    for number in range(1, 9):
        path = tmp_path / f"plan{number}.tsv"
        more = [word for each in labels for word in ("-j", each)] + [
            word for each in plans for word in ("--after", each)
        ]
        goal = ("--goal", "pair:good,poor", "--budget", "120", "--batch", "15", *PEOPLE)
        code, _, err = venire("plan", *files, *goal, *more, "-o", path)
        assert code == 0, err
        batch = read_plan(path)
        if not batch:
            break
        assert len(batch) == 15
        assert asked.isdisjoint((each.topic, each.doc) for each in batch)
        asked |= {(each.topic, each.doc) for each in batch}
        plans.append(str(path))
        labels.append(answered(batch, tmp_path / f"labels{number}.tsv", stated=stated))
    assert number > 3
    assert path.read_text() == "\t".join(COLUMNS) + "\n"
    stop = "note: Goal pair:good,poor: decided; no more judgments are needed. good is ahead of poor by "
    assert err.startswith(stop)
    ahead, low, high = map(float, re.findall(r"0\.\d+", err[len(stop) :].splitlines()[0]))
    assert 0 < low < ahead < high


def test_a_budget_that_is_spent(venire, files, tmp_path):
    plan = tmp_path / "plan.tsv"
    goal = ("--goal", "pair:good,poor", "--budget", "6", *PEOPLE)
    assert venire("plan", *files, *goal, "-o", plan).code == 0
    labels = answered(read_plan(plan), tmp_path / "labels.tsv")
    code, out, err = venire("plan", *files, *goal, "-j", labels, "--after", plan)
    assert (code, out) == (0, "\t".join(COLUMNS) + "\n")
    assert "the budget is spent" in err
    document = loaded(venire("plan", *files, *goal, "-j", labels, "--after", plan, "--format", "json").out)
    assert (document["rows"], document["forecast"], document["state"]) == ([], [], "budget")
    assert venire("plan", *files, *goal, "-j", labels, "--after", plan, "--format", "text").out.startswith("Goal")
    assert venire("plan", *files, *goal, "-j", labels, "--after", plan, "--plot", tmp_path / "x.svg").code == 0


def test_labels_that_are_missing_are_told(venire, files, tmp_path):
    plan = tmp_path / "plan.tsv"
    goal = ("--goal", "pair:good,poor", "--budget", "60", "--batch", "20", *PEOPLE)
    assert venire("plan", *files, *goal, "-o", plan).code == 0
    labels = answered(read_plan(plan)[:12], tmp_path / "labels.tsv")
    code, _, err = venire("plan", *files, *goal, "-j", labels, "--after", plan)
    assert code == 0
    assert "earlier plans asked for 8 judgments that did not come back" in err
    assert "12 of the budget is spent, 48 is left" in err


def test_a_plan_that_nobody_answered_is_no_look(venire, files, tmp_path):
    first, second = tmp_path / "plan1.tsv", tmp_path / "plan2.tsv"
    goal = ("--goal", "pair:good,poor", "--budget", "60", "--batch", "20", *PEOPLE)
    assert venire("plan", *files, *goal, "-o", first).code == 0
    code, out, _ = venire("plan", *files, *goal, "--after", first)
    assert (code, out) == (0, first.read_text())
    labels = answered(read_plan(first), tmp_path / "labels.tsv")
    assert venire("plan", *files, *goal, "-j", labels, "--after", first, "-o", second).code == 0
    code, out, err = venire("plan", *files, *goal, "-j", labels, "--after", first, "--after", second)
    assert (code, out) == (0, second.read_text()), err
    assert "earlier plans asked for 20 judgments that did not come back" in err


def test_what_was_asked_again_counts_once(venire, files, tmp_path):
    first, again = tmp_path / "plan1.tsv", tmp_path / "plan2.tsv"
    goal = ("--goal", "pair:good,poor", "--budget", "20", "--batch", "10", *PEOPLE)
    assert venire("plan", *files, *goal, "-o", first).code == 0
    write_plan(read_plan(first), again)
    labels = answered(read_plan(first), tmp_path / "labels.tsv")
    code, out, _ = venire("plan", *files, *goal, "-j", labels, "--after", first, "--after", again)
    assert (code, len(out.splitlines())) == (0, 11)


@pytest.fixture
def first_round(venire, files, tmp_path):
    """A plan of 20 judgments, and the command that plans the next ones."""
    plan, goal = tmp_path / "plan.tsv", ("--goal", "pair:good,poor", "--budget", "60", "--batch", "20", *PEOPLE)
    assert venire("plan", *files, *goal, "-o", plan).code == 0
    return read_plan(plan), lambda *more: venire("plan", *files, *goal, "--after", plan, *more)


def test_labels_of_somebody_else_are_not_taken_for_a_judge(first_round, tmp_path):
    asked, plan_next = first_round
    labels = answered([each._replace(judge="zoe") for each in asked], tmp_path / "labels.tsv", stated=False)
    code, out, err = plan_next("-j", labels)
    assert (code, out) == (2, "")
    assert "'zoe' labelled only what 'ann' was asked for" in err
    assert "--reference ann,zoe" in err
    both = plan_next("-j", labels, "--reference", "zoe")
    assert "weighted by their inclusion probabilities; the effective number of 20 labels is" in both.err, both.err


def test_large_budgets_are_written_in_full(venire, files, tmp_path):
    more = ("--goal", "best", "--cost", "reference=10000", "--budget", "1234567", *PEOPLE, "--plot", tmp_path / "a.svg")
    err = venire("plan", *files, *more, "-o", tmp_path / "plan.tsv").err
    assert "With a budget of 1,080,000 the goal" in err
    assert "the cost of all that can be asked, 1,080,000" in err
    assert "the budget: 1,234,567" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("goal", ["labels", "agreement"])
def test_notes_on_the_forecast_are_those_of_the_whole_budget(venire, judged_once, goal):
    more = ("--goal", goal, "--budget", "60", "--format", "json")
    whole, part, least = (
        loaded(venire("plan", judged_once, *more, *batch).out) for batch in ((), ("--batch", "20"), ("--batch", "60"))
    )
    assert whole["notes"] == part["notes"] == least["notes"]
    assert len(part["rows"]) == 20
    every = loaded(venire("plan", judged_once, *more[:2], "--budget", "5000", "--batch", "20", *more[4:]).out)
    assert not any("all of them" in note for note in every["notes"])


def test_budgets_after_a_plan_are_further_ones(first_round, tmp_path):
    asked, plan_next = first_round
    assert " With a budget of 60 " in plan_next().err, "nobody answered yet"
    err = plan_next("-j", answered(asked, tmp_path / "labels.tsv")).err
    assert " With a further budget of 40 the goal is decided with probability " in err
    assert " A further budget of about " in err


def test_probabilities_of_plan_and_labels_are_the_same(first_round, tmp_path):
    asked, plan_next = first_round
    changed = [asked[0]._replace(probability=asked[0].probability / 2), *asked[1:]]
    labels = answered(changed, tmp_path / "labels.tsv")
    assert "in its plan" in plan_next("-j", labels).err
    assert "these are labels: name the plan" in plan_next("-j", labels, "--after", labels).err


def test_times_of_earlier_labels_give_minutes(first_round, tmp_path):
    asked, plan_next = first_round
    labels = answered(asked, tmp_path / "labels.tsv")
    rows = Path(labels).read_text().splitlines()
    timed = [rows[0], rows[1] + "\ttime", *(f"{row}\t{90 * number}" for number, row in enumerate(rows[2:]))]
    Path(labels).write_text("\n".join(timed))
    assert "about 30 minutes of the assessors" in plan_next("-j", labels).err


# ---- what there is to plan ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", ["best", "top:2", "levels"])
def test_other_goals_about_systems(venire, files, goal):
    code, out, _ = venire("plan", *files, "--goal", goal, "--budget", "25", *PEOPLE)
    assert (code, len(out.splitlines())) == (0, 26)


def test_results_that_nobody_labelled_are_first_judgments(venire, tmp_path):
    files = write_files(tmp_path, judged=6)
    code, out, _ = venire("plan", *files, "--goal", "levels", "--budget", "60", "-m", "P@10", "--gains", "binary:2")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert {row["kind"] for row in rows} == {"first"}
    assert {row["judge"] for row in rows} == {"llm"}
    assert all(int(row["doc"][1:]) >= 6 for row in rows)


def test_a_budget_for_everything_asks_for_everything_once(venire, files):
    _, out, _ = venire("plan", *files, "--goal", "levels", "--budget", "5000", *PEOPLE)
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert {row["probability"] for row in rows} == {"1.0"}
    assert len({(row["topic"], row["doc"]) for row in rows}) == len(rows) <= TOPICS * DOCS


def test_a_reference_that_labelled_everything(venire, files, tmp_path):
    everything = [Asked(f"t{t}", f"d{d}", "ann", "reference", 1.0, "all") for t in range(TOPICS) for d in range(DOCS)]
    labels = answered(everything, tmp_path / "labels.tsv", stated=False)
    code, out, err = venire("plan", *files, "-j", labels, *PAIR)
    assert (code, out) == (0, "\t".join(COLUMNS) + "\n")
    assert "decided; no more judgments are needed" in err
    assert "The order is" not in err
    order = venire("plan", *files, "-j", labels, "--goal", "top:3", *PAIR[2:]).err
    assert "decided; no more judgments are needed. good is ahead of poor by" in order
    same = ("--goal", "pair:good,same", *PAIR[2:])
    code, out, err = venire("plan", *files, "-j", labels, *same)
    assert (code, out) == (0, "\t".join(COLUMNS) + "\n")
    assert (
        "nothing that counts is left to judge, and the goal is not decided. good and same have the same score." in err
    )


@pytest.mark.parametrize("goal", ["best", "top:2"])
def test_systems_that_are_all_the_same_have_no_order(venire, tmp_path, goal):
    files = write_files(tmp_path)
    run = (tmp_path / "runs" / "poor.run").read_text()
    for name in ("good", "same"):
        (tmp_path / "runs" / f"{name}.run").write_text(run.replace("poor", name))
    code, _, err = venire("plan", *files, "--goal", goal, "--budget", "9", *PEOPLE[2:], "--reference", "llm")
    assert code == 0
    assert "the goal is not decided. good, poor and same have the same score." in err


def test_less_may_be_enough_where_the_first_budget_of_the_forecast_is(venire, files):
    more = ("--goal", "levels", "--within", "2", "--budget", "40", *PEOPLE, "--format", "text")
    out = venire("plan", *files, *more).out
    assert "A budget of about 10 or less decides it with probability 0.8 or more." in out
    assert "enough at about 10 or less\n" in out
    assert "enough at about 1\n" in venire("plan", *files, *more[:4], "--budget", "2", *more[6:]).out


def test_systems_with_the_same_results_count_as_one(venire, files):
    found = loaded(venire("plan", *files, "--goal", "best", "--budget", "40", *PEOPLE, "--format", "json").out)
    assert any("return the same results" in note for note in found["notes"])
    assert min(each["half_width"] for each in found["forecast"][:-1]) > 0
    assert found["forecast"][-2]["p_decided"] > 0.5


def test_the_only_assessor_is_named_as_the_reference(venire, files):
    code, _, err = venire("plan", *files, "--goal", "best", "--budget", "9", "-m", "P@5", "--gains", "binary:2")
    assert code == 0
    assert "the labels of llm, the only assessor, are those that count" in err


def test_the_forecast_has_the_budget_half_and_twice_of_it(venire, files):
    for budget, wanted in (("7.5", {4, 7.5, 15}), ("5000", {27, 54, 108})):
        out = venire("plan", *files, *PAIR[:3], budget, *PAIR[4:], "--format", "json").out
        assert wanted <= {each["budget"] for each in loaded(out)["forecast"]}, budget


def test_costs_are_what_the_budget_pays(venire, files):
    out = venire("plan", *files, *PAIR, "--cost", "reference=4,second=1").out
    assert len(out.splitlines()) == 1 + 10


def test_several_people_share_the_topics(venire, files):
    out = venire("plan", *files, *PAIR[:4], "--reference", "ann,bob", "--reference", "cy", *PAIR[6:]).out
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert {row["judge"] for row in rows} == {"ann", "bob", "cy"}
    assert len({(row["topic"], row["judge"]) for row in rows}) == len({row["topic"] for row in rows})


def test_a_topic_keeps_its_person_in_later_batches(venire, files, tmp_path):
    plans, labels = [tmp_path / f"plan{n}.tsv" for n in (1, 2)], tmp_path / "labels.tsv"
    words = ("--goal", "pair:good,poor", "--budget", "60", "--batch", "14", *PEOPLE[2:], "--reference", "ann,bob,cy")
    assert venire("plan", *files, *words, "-o", plans[0]).code == 0
    answered(read_plan(plans[0]), labels)
    assert venire("plan", *files, "-j", labels, *words, "--after", plans[0], "-o", plans[1]).code == 0
    first, second = ({each.topic: each.judge for each in read_plan(path)} for path in plans)
    assert first.keys() & second.keys()
    assert first.keys() != second.keys()
    assert all(second[topic] == first[topic] for topic in first.keys() & second.keys())


# ---- other goals --------------------------------------------------------------------------------------------------


@pytest.fixture
def judged_once(tmp_path):
    """Labels of three people, each item by one of them."""
    who = {0: "ann", 1: "bob", 2: "cy"}
    rows = [f"t{t}\td{d}\t{who[d % 3]}\t{by_llm(t, d)}" for t in range(TOPICS) for d in range(DOCS)]
    path = tmp_path / "people.tsv"
    path.write_text("\n".join([f"# scale: {SCALE}", "topic\tdoc\tassessor\tlabel", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("goal", ["labels", "agreement"])
def test_second_judgments(venire, judged_once, goal):
    code, out, err = venire("plan", judged_once, "--goal", goal, "--budget", "30")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert ({row["kind"] for row in rows}, len(rows)) == ({"second"}, 30)
    first = {0: "ann", 1: "bob", 2: "cy"}
    assert all(row["judge"] != first[int(row["doc"][1:]) % 3] for row in rows)
    code, out, _ = venire("plan", judged_once, "--goal", goal, "--budget", "30", "--reference", "zoe")
    assert {row["judge"] for row in csv.DictReader(io.StringIO(out), delimiter="\t")} == {"zoe"}


def test_second_judgments_are_not_asked_again_and_keep_their_probabilities(venire, judged_once, tmp_path):
    plan = tmp_path / "plan.tsv"
    goal = ("--goal", "labels", "--budget", "30")
    assert venire("plan", judged_once, *goal, "-o", plan).code == 0
    known, bare = (answered(read_plan(plan), tmp_path / name, stated=name == "a.tsv") for name in ("a.tsv", "b.tsv"))
    stated = venire("plan", judged_once, "-j", known, *goal, "--format", "json")
    rows = loaded(stated.out)["rows"]
    assert {(row["topic"], row["doc"]) for row in rows}.isdisjoint((row.topic, row.doc) for row in read_plan(plan))
    twice = ("--goal", "labels", "--budget", "60", "--after", plan, "--format", "json")
    taken = loaded(venire("plan", judged_once, "-j", bare, *twice).out)
    assert (taken["rows"], taken["forecast"]) == (rows, loaded(stated.out)["forecast"])
    assert loaded(venire("plan", judged_once, "-j", bare, *goal, "--format", "json").out)["rows"] != rows
    asked = loaded(venire("plan", judged_once, "-j", known, *goal, "--again", "--format", "json").out)["rows"]
    assert not {(row["topic"], row["doc"]) for row in asked}.isdisjoint((r.topic, r.doc) for r in read_plan(plan))


@pytest.mark.parametrize("goal", ["labels", "agreement"])
def test_second_judgments_in_batches_until_the_budget_is_spent(venire, judged_once, tmp_path, goal):
    plans, labels = list[str](), list[str]()
    for number, left in enumerate((20, 8, 0)):
        path = tmp_path / f"plan{number}.tsv"
        more = [word for pair in zip(plans, labels, strict=True) for word in ("--after", pair[0], "-j", pair[1])]
        settings = ("--goal", goal, "--budget", "20", "--batch", "12", "--within", "0.01", "-o", path)
        code, _, err = venire("plan", judged_once, *more, *settings)
        assert code == 0, err
        assert len(read_plan(path)) == min(left, 12)
        plans.append(str(path))
        labels.append(answered(read_plan(path), tmp_path / f"labels{number}.tsv"))
    told = {"labels": "The widest 95% interval of p(", "agreement": "Alpha is 0."}[goal]
    assert f"Goal {goal}: the budget is spent, and the goal is not decided. {told}" in err
    assert "20 of the budget is spent, 0 is left" in err
    other = venire("plan", judged_once, "--goal", "preferences", "--budget", "9", "--after", plans[0])
    assert "earlier plan 1 asks for second judgments, so it has another goal" in other.err


@pytest.mark.parametrize("goal", ["labels", "agreement"])
def test_second_labels_by_others_count_with_the_probabilities_of_the_plan(venire, judged_once, tmp_path, goal):
    plan, words = tmp_path / "plan.tsv", ("--goal", goal, "--budget", "60", "--batch", "20")
    assert venire("plan", judged_once, *words, "-o", plan).code == 0
    asked = read_plan(plan)
    zoe = answered([each._replace(judge="zoe") for each in asked], tmp_path / "labels.tsv")
    found = venire("plan", judged_once, *words, "--after", plan, "-j", zoe)
    assert (found.code, len(found.out.splitlines())) == (0, 21)
    assert "20 of the budget is spent, 40 is left" in found.err
    assert "did not come back" not in found.err
    unstated = answered([each._replace(judge="zoe") for each in asked], tmp_path / "unstated.tsv", stated=False)
    code, out, err = venire("plan", judged_once, *words, "--after", plan, "-j", unstated)
    assert (code, out) == (2, "")
    assert re.search(r"was labelled by \w+ and zoe; '\w+' was asked", err)
    assert "keep the column probability" in err
    bare = venire("plan", judged_once, *words, "--after", plan)
    assert "20 judgments that did not come back" in bare.err


def test_first_labels_are_no_answers_even_with_the_probability_of_the_plan(venire, judged_once, tmp_path):
    plan, lines = tmp_path / "plan.tsv", Path(judged_once).read_text().splitlines()
    Path(judged_once).write_text("\n".join([lines[0], f"{lines[1]}\tprobability", *(f"{e}\t1" for e in lines[2:])]))
    words = ("plan", judged_once, "--goal", "agreement", "--budget", str(TOPICS * DOCS))
    assert venire(*words, "-o", plan).code == 0
    assert {each.probability for each in read_plan(plan)} == {1.0}
    err = venire(*words, "--after", plan).err
    assert f"{TOPICS * DOCS} judgments that did not come back" in err


def test_an_answer_to_the_plan_before_the_last_counts_once(venire, judged_once, tmp_path):
    words = (judged_once, "--goal", "labels", "--budget", "60", "--batch", "20")
    plans = [tmp_path / "plan1.tsv", tmp_path / "plan2.tsv"]
    assert venire("plan", *words, "-o", plans[0]).code == 0
    asked = read_plan(plans[0])
    write_plan([each._replace(judge="zoe", probability=each.probability / 2) for each in asked], plans[1])
    late = answered(asked, tmp_path / "labels.tsv")
    err = venire("plan", *words, "-j", late, "--after", plans[0], "--after", plans[1]).err
    assert "20 of the budget is spent, 40 is left" in err


def test_preference_tests_in_batches(venire, judged_once, tmp_path):
    plan, choices = tmp_path / "plan.tsv", tmp_path / "choices.tsv"
    settings = ("--goal", "preferences", "--budget", "20", "--batch", "15")
    assert venire("plan", judged_once, *settings, "-o", plan).code == 0
    assert '"' not in plan.read_text()
    rows = [f"{each.topic}\t{each.other}\t{each.doc}\t1" for each in read_plan(plan)]
    choices.write_text("\n".join(["topic\tleft\tright\tstrength", *rows[1:]]))
    code, out, err = venire("plan", judged_once, *settings, "--preferences", choices, "--after", plan)
    assert (code, len(out.splitlines())) == (0, 1 + 6), err
    assert "14 of the budget is spent, 6 is left" in err
    assert "earlier plans asked for 1 judgment that did not come back" in err
    settings = ("--goal", "preferences", "--budget", "14", "--preferences", choices, "--after", plan)
    err = venire("plan", judged_once, *settings).err
    assert "Goal preferences: the budget is spent, and the goal is not decided. The widest interval of p(a > b)" in err


def test_preference_tests_have_a_second_document(venire, judged_once, tmp_path):
    goal = ("--goal", "preferences", "--budget", "20")
    path = tmp_path / "plan.tsv"
    code, out, err = venire("plan", judged_once, *goal, "--cost", "preference=0.5")
    assert code == 0, err
    assert out.splitlines()[0] == "\t".join([*COLUMNS, "other"])
    assert len(out.splitlines()) == 41
    path.write_text(out)
    found = read_plan(path)
    assert {each.kind for each in found} == {"preference"}
    choices = ["topic\tleft\tright\tassessor\tstrength"]
    choices += [f"{each.topic}\t{each.doc}\t{each.other}\tann\t1" for each in found]
    (tmp_path / "choices.tsv").write_text("\n".join(choices) + "\n")
    again = venire("plan", judged_once, *goal, "--preferences", tmp_path / "choices.tsv", "--format", "json")
    pairs = {(each.topic, frozenset((each.doc, each.other))) for each in found}
    assert pairs.isdisjoint((row["topic"], frozenset((row["doc"], row["other"]))) for row in loaded(again.out)["rows"])


def test_more_topics_are_a_forecast_without_rows(venire, files):
    goal = ("--budget", "40", "--reference", "llm", "-m", "P@5", "--gains", "binary:2")
    code, out, err = venire("plan", *files, "--goal", "topics:good,poor", *goal)
    assert (code, out) == (0, "\t".join(COLUMNS) + "\n"), err
    document = loaded(venire("plan", *files, "--goal", "topics:good,poor", *goal, "--format", "json").out)
    by_budget = {each["budget"]: each for each in document["forecast"]}
    found = planning.plan_more_topics(
        files[0], files[1], measure="P@5", gains="binary:2", budget=40, pair=("good", "poor")
    )
    assert by_budget[40]["p_decided"] == pytest.approx(next(x.p_decided for x in found.forecast if x.budget == 40))
    assert venire("plan", *files, "--goal", "topics", *goal).code == 0
    assert "there is no system 'bad'" in venire("plan", *files, "--goal", "topics:good,bad", *goal).err


def test_more_topics_before_there_are_runs(venire, judged_once):
    goal = ("--goal", "topics", "--budget", "40", "--reference", "ann")
    code, out, err = venire("plan", judged_once, *goal, "--within", "0.1", "-m", "P@5", "--gains", "binary:2")
    assert (code, out) == (0, "\t".join(COLUMNS) + "\n"), err
    how = {"budget": 40, "within": 0.1, "measure": "P@5", "gains": "binary:2", "assessor": "ann"}
    found = planning.plan_more_topics(judged_once, **how)
    assert found.sentence() in err
    assert {note.kind for note in found.notes} == {"topics-at-hand", "no-runs"}
    assert all(str(note) in err for note in found.notes)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--goal", "topics:a,b"], "name their RUNS"),
        (["RUNS", "--goal", "topics", "--within", "0.1"], "leave out --within, or RUNS"),
        (["RUNS", "--goal", "topics", "--batch", "5"], "goal 'topics' has no batch"),
        (["--goal", "agreement", "--relevant", "2"], "goal 'agreement' has no relevant"),
        (["--goal", "labels", "--judge", "ann"], "goal 'labels' has no judge"),
        (["--goal", "labels", "-m", "P@5"], "goal labels scores no systems: leave out -m"),
        (["RUNS", "--goal", "best", "--within", "0.1"], "goal 'best' has no within"),
        (["RUNS", "--goal", "topics"], "nothing says who is to judge"),
        (["RUNS", "--goal", "topics", "--reference", "ann,bob"], "the labels of one assessor, not of ann, bob"),
        (["RUNS", "--goal", "topics", "--reference", "ann", "--cost", "first=2"], "goal 'topics' has no cost"),
        (["RUNS", "--goal", "preferences"], "leave out RUNS"),
        (["--goal", "preferences", "--reference", "ann"], "goal 'preferences' has no reference"),
    ],
)
def test_settings_of_other_goals_are_refused(venire, judged_once, tmp_path, more, what):
    (tmp_path / "other").mkdir()
    runs = write_files(tmp_path / "other")[1]
    words = [runs if each == "RUNS" else each for each in more]
    code, out, err = venire("plan", judged_once, *words, "--budget", "30")
    assert (code, out) == (2, "")
    assert what in err


# ---- what cannot be planned ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--goal", "pair:good,bad"], "there is no system 'bad'"),
        (["--goal", "pair:good"], "for example pair:good,OTHER"),
        (["--goal", "topics:good"], "for example topics:good,OTHER"),
        (["--goal", "pair:good,good"], "names one system twice"),
        (["--goal", "first"], "there is no goal 'first'"),
        (["--goal", "top:0"], "expected a number of systems"),
        (["--budget", "0"], "0.0 is not in the range x>0"),
        (["--budget", "-3"], "-3.0 is not in the range x>0"),
        (["--budget", "nan"], "not a finite number"),
        (["--budget", "0.5"], "0.5 does not pay for a judgment, which costs 1"),
        (["--batch", "0.1"], "0.1 does not pay for a judgment, which costs 1"),
        (["--batch", "100"], "--batch 100 is more than --budget 40"),
        (["--judge", "gpt"], "there is no assessor 'gpt'"),
        (["--judge", "ann"], "there is no assessor 'ann'"),
        (["--judge", "llm", "--reference", "llm"], "judge and reference"),
        (["--cost", "third=1"], "there is no kind of judgment 'third'"),
        (["--cost", "second"], "KIND=X"),
        (["--cost", "first=0"], "first judgments cost 0"),
        (["--within", "0"], "0.0 is not in the range x>0"),
        (["-m", "P@0"], "P@0"),
        (["--after", "none.tsv"], "none.tsv"),
    ],
)
def test_mistakes_are_refused_with_a_reason(venire, files, more, what):
    code, out, err = venire("plan", *files, *PAIR, *more)
    assert (code, out) == (2, "")
    assert what in err
    assert "Traceback" not in err


def test_runs_are_required_for_goals_about_systems(venire, files):
    code, _, err = venire("plan", files[0], *PAIR)
    assert code == 2
    assert "RUNS" in err


def test_plans_of_other_files_are_refused(venire, files, tmp_path):
    for row, what in (
        (Asked("t99", "d1", "ann", "reference", 0.5, "rank 1"), "is of other files"),
        (Asked("t1", "d1", "bob", "reference", 0.5, "rank 1"), "asks 'bob'"),
        (Asked("t1", "d1", "ann", "second", 0.5, "rank 1"), "another goal"),
    ):
        write_plan([row], tmp_path / "plan.tsv")
        code, _, err = venire("plan", *files, *PAIR, "--after", tmp_path / "plan.tsv")
        assert code == 2
        assert what in err
    (tmp_path / "plan.tsv").write_text("topic\tdoc\n1\t2\n")
    code, _, err = venire("plan", *files, *PAIR, "--after", tmp_path / "plan.tsv")
    assert code == 2
    assert "plan.tsv:1: found the columns topic, doc, expected those of a plan" in err


def test_a_plan_is_not_judgments(venire, files, tmp_path):
    assert venire("plan", *files, *PAIR, "-o", tmp_path / "plan.tsv").code == 0
    code, _, err = venire("evaluate", tmp_path / "plan.tsv", files[1])
    assert code == 2
    assert "looks like a plan" in err


def test_the_plan_before_is_not_overwritten(venire, files, tmp_path):
    plan = tmp_path / "plan.tsv"
    assert venire("plan", *files, *PAIR, "-o", plan).code == 0
    before = plan.read_bytes()
    assert venire("plan", *files, *PAIR, "--after", plan, "-o", plan).code == 2
    assert plan.read_bytes() == before


# ---- rounds are independent draws, and what they spend ------------------------------------------------------------


@pytest.mark.parametrize("goal", ["levels", "labels", "agreement"])
def test_each_round_has_random_numbers_of_its_own(venire, files, judged_once, tmp_path, monkeypatch, goal):
    seeds = []

    def drawn(probability, key, rng):
        seed = rng.bit_generator.seed_seq
        seeds.append((str(seed.entropy), seed.spawn_key))
        return systematic(probability, key, rng)

    for module in (venire_candidates, venire_second):
        monkeypatch.setattr(module, "systematic", drawn)
    words = [*files, *PEOPLE] if goal == "levels" else [judged_once]
    words += ["--goal", goal, "--budget", "40", "--batch", "20"]
    plan = tmp_path / "plan.tsv"
    assert venire("plan", *words, "-o", plan).code == 0
    first = set(seeds)
    seeds.clear()
    assert venire("plan", *words, "--after", plan, "-j", answered(read_plan(plan), tmp_path / "l.tsv")).code == 0
    assert set(seeds) - first


def test_agreement_in_rounds_does_not_choose_items_by_their_label(venire, judged_once, tmp_path):
    """Rounds have different probabilities, and within a round all items have the same."""
    words = [judged_once, "--goal", "agreement", "--budget", "90", "--batch", "30"]
    for number in range(3):
        plan = tmp_path / f"plan{number}.tsv"
        code, _, err = venire("plan", *words, "-o", plan)
        assert code == 0
        assert "asked for by the first ones" not in err
        words += ["--after", plan, "-j", answered(read_plan(plan), tmp_path / f"labels{number}.tsv")]


@pytest.mark.parametrize(
    ("cost", "what"),
    [
        ("preference=2", "asks for no preference judgments, and only their cost is given"),
        ("second=2,preference=2", "asks for no preference and second judgments"),
        ("reference=2,reference=3", "reference judgments have two costs"),
        ("reference=100", "a budget of 40 does not pay for a judgment, which costs 100"),
    ],
)
def test_costs_that_cannot_be_meant_are_refused(venire, files, cost, what):
    code, out, err = venire("plan", *files, *PAIR, "--cost", cost)
    assert (code, out) == (2, "")
    assert what in err


def test_a_rest_that_pays_for_nothing_is_a_spent_budget(venire, files, tmp_path):
    """Costs of kinds that the goal does not ask for do not matter."""
    plan, goal = tmp_path / "plan.tsv", ("--goal", "pair:good,poor", *PEOPLE, "--cost", "reference=.3,preference=.01")
    assert venire("plan", *files, *goal, "--budget", "1.4", "-o", plan).code == 0
    assert len(read_plan(plan)) == 4
    labels = answered(read_plan(plan), tmp_path / "labels.tsv")
    code, out, err = venire("plan", *files, *goal, "--budget", "1.4", "-j", labels, "--after", plan)
    assert (code, out) == (0, "\t".join(COLUMNS) + "\n")
    assert "Goal pair:good,poor: the budget is spent" in err
    third = venire("plan", *files, *goal, "--budget", "1.5", "-j", labels, "--after", plan)
    assert len(third.out.splitlines()) == 2, "1.5 less four times .3 pays for one more"


def test_a_budget_below_what_is_spent(first_round, tmp_path):
    asked, plan_next = first_round
    labels = answered(asked, tmp_path / "labels.tsv")
    err = plan_next("-j", labels, "--budget", "12", "--batch", "12").err
    assert "20 is spent, and the budget of all plans together is 12" in err
    assert "-8" not in err


def test_labels_of_plans_that_are_not_named_are_told(first_round, venire, files, tmp_path):
    asked, _ = first_round
    labels = answered(asked, tmp_path / "labels.tsv")
    err = venire("plan", *files, *PAIR, "-j", labels).err
    assert "20 labels of the reference with a probability, of no earlier plan that is named" in err
    assert "earlier plan that is named" not in first_round[1]("-j", labels).err


def test_budgets_below_one_are_written_with_their_digits(venire, files):
    out = venire("plan", *files, *PAIR[:3], "1", *PAIR[4:], "--cost", "reference=.01", "--format", "text").out
    assert re.search(r"^ *0\.25 ", out, flags=re.MULTILINE)
    assert "enough at about 0." in out


def test_judgments_of_other_results_are_not_said_to_be_drawn_again(first_round, tmp_path):
    asked, plan_next = first_round
    other = asked[0]._replace(doc="elsewhere")
    write_plan([*asked, other], tmp_path / "plan.tsv")
    err = plan_next("-j", answered(asked, tmp_path / "labels.tsv")).err
    assert "earlier plans asked for 1 judgment of results that are not among these, and were not answered" in err
    assert "drawn again" not in err
    (tmp_path / "plan.tsv").write_text("")
    err = plan_next("-j", answered(asked, tmp_path / "labels.tsv")).err
    assert "a plan has the columns topic, doc, judge, kind, probability, reason" in err


def test_items_with_two_labels_can_be_asked_again(venire, judged_once, tmp_path):
    everything = [Asked(f"t{t}", f"d{d}", "zoe", "second", 1.0, "all") for t in range(TOPICS) for d in range(DOCS)]
    labels = answered(everything, tmp_path / "labels.tsv", stated=False)
    words = (judged_once, "-j", labels, "--goal", "labels", "--budget", "9", "--within", ".01", "--relevant", "1|2")
    err = venire("plan", *words).err
    assert "nothing that counts is left to judge" in err
    assert "every item that counts has two labels or more; it can be asked again" in err
    assert "interval of p(R|i)" in err
    again = venire("plan", *words, "--again")
    assert (again.code, len(again.out.splitlines())) == (0, 10)
    assert "two labels or more" not in again.err


def test_few_minutes_are_not_none(first_round, tmp_path):
    asked, plan_next = first_round
    labels = Path(answered(asked, tmp_path / "labels.tsv"))
    rows = labels.read_text().splitlines()
    timed = [rows[0], rows[1] + "\ttime", *(f"{row}\t{number}" for number, row in enumerate(rows[2:]))]
    labels.write_text("\n".join(timed))
    assert "less than one minute of the assessors" in plan_next("-j", labels).err


def test_a_budget_far_beyond_all_that_can_be_asked(venire, files):
    out = venire("plan", *files, *PAIR[:3], "1e300", *PAIR[4:], "--format", "text").out
    assert "With a budget of 108 the goal is decided with probability 1.00" in out


def test_topics_that_are_left_out_are_told(venire, files, tmp_path):
    lines = Path(files[0]).read_text().splitlines()
    Path(files[0]).write_text("\n".join(line for line in lines if not line.startswith(("t3\t", "t7\t"))) + "\n")
    labels = answered([Asked("t3", "d0", "ann", "reference", 0.5, "drawn")], tmp_path / "labels.tsv")
    code, out, err = venire("plan", *files, *PAIR)
    assert (code, "2 topics of the runs not judged and ignored" in err) == (0, True)
    assert {"t3", "t7"}.isdisjoint(row["topic"] for row in csv.DictReader(io.StringIO(out), delimiter="\t"))
    err = venire("plan", *files, "-j", labels, *PAIR).err
    assert "1 topic of the runs not judged and ignored" in err
    assert "1 topic left out, which the reference labelled and llm did not" in err
    assert "labels are too few to compare predictions" not in err


def test_a_measure_that_counts_below_the_labels_of_the_reference_says_so(venire, files, tmp_path):
    asked = [Asked(f"t{t}", f"d{ranked('good', t)[0]}", "ann", "reference", 0.5, "first rank") for t in range(TOPICS)]
    labels = answered(asked, tmp_path / "labels.tsv")
    err = venire(
        "plan", *files, "-j", labels, "--goal", "pair:good,poor", "--budget", "40", "--reference", "ann", "-m", "AP"
    ).err
    assert "AP counts relevant results at every rank" in err

"""Reports on labels for intents: the same numbers as evaluate, and a sentence on what is left out."""

from __future__ import annotations

import json

import polars as pl
import pytest

from labelled_intents import JUDGES, frame, runs
from venire import evaluate, read_judgments, report_on
from venire.errors import AmbiguousLabels
from venire.io.answers import as_answers
from venire.report.next_judgments import NAMES_DOCUMENTS
from venire.report.page import page

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")

M = "alpha_nDCG@10"


@pytest.fixture(scope="module")
def report():
    return report_on(read_judgments(frame()).declare(machines="gpt4"), runs(), measure=M, reference="nist", n_draws=40)


def chapter(report, name):
    return next(each for each in report.chapters if each.name == name)


def part(report, chapter_name, name):
    return next(each for each in chapter(report, chapter_name).parts if getattr(each, "name", "") == name)


def test_scores_are_those_of_evaluate(report):
    content = report.content()
    found = {(row["judge"], row["system"]): row["mean"] for row in content["verdict"]["by_judge"]}
    scores = evaluate(frame(), runs(), M, per="assessor").mean("topic")
    expected = {(row["assessor"], row["system"]): row["value"] for row in scores.records()}
    assert found == pytest.approx(expected)
    assert len(found) == 4 * len(JUDGES)
    board = {row["system"]: row["score"] for row in content["front"]["leaderboard"]}
    assert board == pytest.approx({name: expected["nist", name] for name in board})


def test_probabilities_of_intents_count():
    known = {(f"q{t}", f"i{n}"): (0.7, 0.2, 0.1)[n] for t in range(10) for n in range(3)}
    found = report_on(frame(), runs(), measure=M, reference="nist", intents=known, n_draws=10).content()
    scores = evaluate(frame(), runs(), M, assessor="nist", intents=known).mean("topic").values[:, 0]
    assert sorted(row["score"] for row in found["front"]["leaderboard"]) == pytest.approx(sorted(scores))


def test_what_is_about_documents_is_left_out_and_that_is_said(report):
    words = next(each for each in chapter(report, "judgments").parts if getattr(each, "about", "") == "by-intent")
    assert words.text.startswith("Labels are for intents, so an item is a document for one. Left out is ")
    table = part(report, "systems", "systems_scores")
    assert "expected_relevant" not in table.columns
    assert [row[table.columns.index("unjudged_of_10")] for row in table.rows] == [0] * 4
    assert {"random_user", "low", "high"} <= {*table.columns}
    assert [row[0] for row in part(report, "quality", "discriminative_power").rows] == [
        *(M, "ERR_IA@10", "Dsharp_nDCG@10", "StRecall@10")
    ]
    assert report.content()["front"]["disputed"] == []


def test_unjudged_results_are_documents():
    lists = {name: {t: dict([*reversed(docs.items())]) for t, docs in each.items()} for name, each in runs().items()}
    lists = {name: {t: {d: -s for d, s in docs.items()} for t, docs in each.items()} for name, each in lists.items()}
    found = report_on(frame(), lists, measure=M, reference="nist", n_draws=10)  # the two that nobody labelled are first
    table = part(found, "systems", "systems_scores")
    assert [row[table.columns.index("unjudged_of_10")] for row in table.rows] == [2] * 4


def test_the_page_holds_scores_by_topic_and_no_documents(report):
    text = page(report)
    held = json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert held["documents"] is False
    assert {len(topic[2]) + len(topic[3]) for topic in held["topics"]} == {0}
    scores = evaluate(frame(), runs(), M, assessor="gpt4")
    place, at = held["scored"].index("gpt4"), [held["systems"].index(name) for name in scores.names["system"]]
    for n, topic in enumerate(scores.names["topic"]):
        own = next(each for each in held["topics"] if each[0] == topic)[5][place]
        assert [own[system] for system in at] == [round(10_000 * value) for value in scores.values[:, n, 0].tolist()]
    assert 'id="disputed"' not in text
    assert "Documents are left out: each has several labels by every judge." in text


def test_plans_that_name_documents_are_not_made():
    found = report_on(frame(part=True), runs(), measure=M, reference="nist", n_draws=10)
    assert chapter(found, "plan").finding == f"Nothing is planned: {NAMES_DOCUMENTS}."


def test_earlier_judgments_and_preferences():
    pairs = pl.DataFrame({"topic": ["q0", "q1"], "left": ["d00"] * 2, "right": ["d01"] * 2, "preferred": ["left"] * 2})
    some = frame().filter(pl.col("assessor") != "ann")
    found = report_on(frame(), runs(), measure=M, reference="nist", before=some, preferences=pairs, n_draws=10)
    assert chapter(found, "changes").finding.startswith("With 480 labels more than before")
    assert "documents are named without one" in chapter(found, "users").finding
    assert any(getattr(each, "about", "") == "no-pdp" for each in chapter(found, "quality").parts)
    lists = pairs.with_columns(left=pl.lit("s0"), right=pl.lit("s3"))
    found = report_on(frame(), runs(), measure=M, reference="nist", preferences=lists, n_draws=10)
    table = part(found, "users", "measures_and_users_table")
    measures = {row[list(table.columns).index("measure")] for row in table.rows}
    assert measures == {M, "ERR_IA@10", "Dsharp_nDCG@10", "StRecall@10"}


def test_measures_of_documents_and_labels_of_documents_are_refused():
    with pytest.raises(AmbiguousLabels, match="nDCG@10 scores documents for one"):
        report_on(frame(), runs())
    assert report_on(frame()).chapters[0].name == "summary"  # nothing is scored


def test_nuggets_of_answers():
    rows = [
        (
            f"q{t}",
            f"rag{s}",
            f"n{n}",
            "vital" if n else "okay",
            who,
            "support" if (t * n + s * k) % 3 else "not_support",
        )
        for t in range(6)
        for s in range(3)
        for n in range(4)
        for k, who in enumerate(("gpt4", "nist"), start=1)
    ]
    table = pl.DataFrame(rows, schema=["topic", "run", "nugget", "importance", "assessor", "label"], orient="row")
    judgments, answers = as_answers(table)
    found = report_on(judgments, answers, measure="VitalScore", reference="nist", n_draws=10)
    scores = evaluate(judgments, answers, "VitalScore", assessor="nist").mean("topic").values[:, 0]
    assert sorted(row["score"] for row in found.content()["front"]["leaderboard"]) == pytest.approx(sorted(scores))
    words = next(each for each in chapter(found, "judgments").parts if getattr(each, "about", "") == "by-intent")
    assert "an item is an answer for a nugget" in words.text
    power = part(found, "quality", "discriminative_power")
    assert [row[0] for row in power.rows] == ["VitalScore", "AllScore", "WeightedScore"]

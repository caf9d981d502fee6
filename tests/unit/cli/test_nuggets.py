"""Nuggets of answers on the command line: a file is judgments and runs in one."""

from __future__ import annotations

import json

import numpy as np
import pytest

import source_files as files
from venire import evaluate
from venire.agreement import alpha
from venire.io import as_answers, read_nuggets


@pytest.fixture
def judges(tmp_path):
    """Files of two judges, of whom the second finds the opposite of the first."""
    opposite = {"support": "not_support", "not_support": "support"}
    second = json.loads(json.dumps(files.NUGGETS))
    for nugget in (nugget for answer in second for nugget in answer["nuggets"]):
        nugget["assignment"] = opposite.get(nugget["assignment"], nugget["assignment"])
    paths = tmp_path / "gpt4.jsonl", tmp_path / "nist.jsonl"
    for path, records in zip(paths, (files.NUGGETS, second), strict=True):
        path.write_bytes(files.lines(records))
    return paths


def test_scores_are_those_of_python(venire, judges):
    names = ["VitalScore", "VitalScore(strict=True)", "AllScore", "WeightedScore"]
    asked = [word for name in names for word in ("-m", name)]
    answer = venire("evaluate", judges[0], "-j", judges[1], "--per", "assessor", *asked, "--format", "json")
    found = {(row["system"], row["assessor"], row["measure"]): row["value"] for row in json.loads(answer.out)["scores"]}
    scores = evaluate(*as_answers(read_nuggets([*judges])), names, per="assessor").mean()
    expected = {(row["system"], row["assessor"], row["measure"]): row["value"] for row in scores.records()}
    assert answer.code == 0
    assert len(found) == 16
    assert found == pytest.approx(expected)
    assert found["a", "gpt4", "VitalScore"] == 1
    assert found["a", "nist", "VitalScore"] == 0


def test_means_over_topics_are_those_of_nuggetizer(venire, tmp_path):
    """Support counts 1, partial support 1/2 unless strict, over vital or all nuggets; 0 without vital ones."""
    rng = np.random.default_rng(4)
    worth = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
    topics = {f"q{n}": rng.choice(["vital", "okay"], 4) if n else ["okay"] * 4 for n in range(5)}
    records, expected = [], {}
    for topic, grades in topics.items():
        labels = rng.choice([*worth], 4)
        nuggets = [{"text": f"n{n}", "importance": grades[n], "assignment": labels[n]} for n in range(4)]
        records.append({"qid": topic, "run_id": "a", "nuggets": nuggets})
        for name, kept in (("VitalScore", [n for n in range(4) if grades[n] == "vital"]), ("AllScore", range(4))):
            for strict in (False, True):
                support = [np.floor(worth[labels[n]]) if strict else worth[labels[n]] for n in kept]
                key = f"{name}(strict=True)" if strict else name
                expected[key] = expected.get(key, 0) + sum(support) / max(len(support), 1) / len(topics)
    path = tmp_path / "gpt4.jsonl"
    path.write_bytes(files.lines(records))
    asked = [word for name in expected for word in ("-m", name)]
    rows = json.loads(venire("evaluate", path, *asked, "--format", "json").out)["scores"]
    assert {row["measure"]: row["value"] for row in rows} == pytest.approx(expected)


def test_judges_are_compared(venire, judges):
    first, second = judges
    settings = ["--assessor", "gpt4", "--new-judge", "nist", "-m", "VitalScore", "--format", "json"]
    answer = venire("compare", first, "-j", second, *settings)
    (pair,) = json.loads(answer.out)["pairs"]
    assert (pair["a"], pair["delta"], pair["expected_delta"], pair["p_flips"]) == ("a", 1, -1, 1)


def test_labels_are_chosen_by_assessor(venire, judges):
    answer = venire("evaluate", *[judges[0], "-j", judges[1]], "-m", "VitalScore", "--where", "assessor=nist")
    assert [line.split()[:2] for line in answer.out.splitlines()[1:3]] == [["a", "0.0000"], ["b", "1.0000"]]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([], "nDCG@10 does not score the nuggets of answers: use -m with VitalScore"),
        (["-m", "VitalScore", "--order", "rank"], "--order cannot be used with the nuggets of answers"),
        (["-m", "VitalScore", "--where", "importance=vital"], "nuggets of answers cannot be chosen by importance"),
        (["run.txt", "-m", "VitalScore"], "has the nuggets of an answer, not of a document"),
    ],
)
def test_what_does_not_fit_is_named(venire, judges, more, expected):
    answer = venire("evaluate", judges[0], *more)
    assert (answer.code, answer.out) == (2, "")
    assert expected in answer.err


def test_other_judgments_need_runs(venire, tmp_path):
    passages = tmp_path / "passages.jsonl"
    passages.write_bytes(files.lines(files.NUGGETS_OF_PASSAGES))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 a 1\n")
    for judgments in (passages, qrels, "-"):
        answer = venire("evaluate", judgments, "-m", "VitalScore", stdin="1 0 a 1\n")
        assert (answer.code, answer.err.splitlines()[0]) == (2, "error: Missing argument 'RUNS...'.")


def test_agreement_on_nuggets_of_answers(venire, judges):
    """The second judge has the opposite labels: an item is a nugget in an answer, and every statistic is that of it."""
    answer = venire("agreement", *judges, "--draws", "0", "--format", "json")
    rows = {(row["name"], row["level"]): row for row in json.loads(answer.out)["statistics"]}
    labels, _ = as_answers(read_nuggets([*judges]))
    assert answer.code == 0
    assert rows["krippendorff_alpha", "ordinal"]["value"] == pytest.approx(alpha(labels, n_draws=0).value)
    assert rows["krippendorff_alpha", "ordinal"]["n_items"] == len(labels) // 2
    assert venire("agreement", *judges, "--by", "assessor").code == 0
    refused = venire("agreement", *judges, "--duplicate-labels", "keep")
    assert "--duplicate-labels cannot be used with the nuggets of answers" in refused.err


def test_commands_that_cannot_use_it_say_which_can(venire, judges):
    answer = venire("disagreement", *judges)
    assert answer.code == 2
    assert "only evaluate, compare and agreement take it, without runs" in answer.err

"""venire certify: the contract of its JSON, the gate, stale certificates and the page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from certified_judges import frame, write_files
from json_results import loaded
from venire.cli.main import cli

MORE = ["--scale", "0<1<2", "--draws", "50"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("certify"), frame())


def run(files, *more, **how):
    return CliRunner().invoke(cli, ["certify", *files, *MORE, *more], **how)


@pytest.fixture(scope="module")
def record(files):
    result = run(files, "--reference", "ann,bob,eve", "-m", "P(rel=1)@10", "-m", "nDCG@10", "--format", "json", "-q")
    assert result.exit_code == 0, result.output
    return loaded(result.stdout)


def test_json_has_the_keys_of_the_contract(record):
    assert record["reference"] == ["ann", "bob", "eve"]
    assert set(record) >= {"reference", "judges", "inputs"}
    assert [set(each) for each in record["inputs"]] == [{"name", "sha256", "size"}] * 5
    judge = record["judges"][0]
    assert set(judge) >= {
        *("judge", "agreement", "order", "alt_test", "scores", "pairs", "favoured", "claims", "prompt"),
    }
    assert set(judge["order"]) >= {"tau", "tau_ap", "kept", "lost", "reversed", "false"}
    assert list(judge["scores"][0]) == ["system", "measure", "raw", "corrected", "low", "high"]
    assert list(judge["pairs"][0]) == ["a", "b", "measure", "raw", "corrected", "low", "high", "p_a_ahead"]
    assert list(judge["favoured"][0]) == ["system", "measure", "residual", "low", "high", "p_adjusted"]
    assert set(judge["claims"][0]) >= {"claim", "verdict", "value", "needed"}
    assert [each["claim"] for each in judge["claims"]] == ["levels", "order", "top", "pairs"] * 2
    assert len(judge["scores"]) == 8
    assert len(judge["pairs"]) == 12
    assert judge["alt_test"]["missing"] is None
    assert [each["epsilon"] for each in judge["alt_test"]["results"]] == [0.1, 0.15, 0.2]


def test_all_judges_are_ranked(record, files):
    assert [each["judge"] for each in record["judges"]] == ["strong", "weak", "sampled"]
    shown = run(files, "--reference", "ann", "--judge", "all", "-q").stdout.splitlines()
    assert shown[0].split()[:3] == ["judge", "measure", "alpha"]
    assert len(shown) == 6  # bob and eve are not declared as people
    table = run(files, "--reference", "ann", "--judge", "weak", "--format", "csv", "-q").stdout.splitlines()
    assert table[0].startswith("judge,claim,measure,verdict,value,needed")


def test_two_people_are_too_few_for_the_alt_test(files):
    result = run(files, "--reference", "ann,bob", "--judge", "strong", "--format", "json", "-q")
    found = loaded(result.stdout)["judges"][0]["alt_test"]
    assert "it needs 3 people" in found["missing"]
    assert found["results"][0]["winning_rate"] is None


def test_findings_are_printed_in_words(files):
    result = run(files, "--reference", "ann", "--judge", "weak")
    assert "note: weak may " in result.stderr
    assert "The alternative annotator test was not possible" in result.stderr
    assert "what people reach among themselves is not known" in result.stderr


@pytest.mark.parametrize(
    ("judge", "condition", "code"),
    [
        *(("strong", "tau>=0.5", 0), ("strong", "tau_ap>=0.5", 0), ("strong", "alpha>=0.5", 0)),
        *(("weak", "alpha>=0.5", 1), ("weak", "levels=PASS", 1), ("sampled", "tau>=0", 1)),
        ("sampled", "levels=NOT ENOUGH LABELS", 0),
    ],
)
def test_the_gate(files, judge, condition, code):
    result = run(files, "--reference", "ann,bob,eve", "--judge", judge, "--require", condition)
    assert result.exit_code == code, result.output
    assert ("not passed: " if code else "passed: ") in result.stderr


def test_every_judge_must_pass(files):
    result = run(files, "--reference", "ann,bob,eve", "--judge", "strong,weak", "--require", "alpha>=0.5", "-q")
    assert result.exit_code == 1
    assert "weak: alpha = " in result.stderr
    assert "strong: alpha" not in result.stderr


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("tau", "is not a condition"),
        ("levels=GOOD", "is not a verdict"),
        ("height>=1", "'height' is not known"),
        ("height=PASS", "'height' is not known"),
        ("tau>=0.9.9", "is not a number"),
        ("tau>=-1e999", "has -1e999, expected a finite number"),
    ],
)
def test_conditions_are_checked_before_any_file_is_read(condition, why):
    result = CliRunner().invoke(cli, ["certify", "none.tsv", "none", "--require", condition])
    assert result.exit_code == 2
    assert why in result.stderr


def test_a_stale_certificate_is_refused(tmp_path):
    judgments, runs = write_files(tmp_path, frame())
    prompt, held = tmp_path / "prompt.txt", tmp_path / "certificate.json"
    prompt.write_text("Rate the passage.")
    asked = ["--prompt", f"strong={prompt}"]
    made = run((judgments, runs), "--reference", "ann", "--judge", "strong", "--json", str(held), *asked, "-q")
    assert made.exit_code == 0, made.output
    check = ["--check", str(held)]
    assert run((judgments, runs), *check, *asked).exit_code == 0
    assert run((judgments, runs), *check, "--require", "tau>=0.5").exit_code == 0
    assert run((judgments, runs), *check, "--require", "tau>=1.1").exit_code == 1
    prompt.write_text("Rate the passage from 0 to 2.")
    stale = run((judgments, runs), *check, *asked)
    assert (stale.exit_code, "the prompt of strong is not what it was" in stale.stderr) == (2, True)
    frame(seed=8).write_csv(judgments, separator="\t")
    stale = run((judgments, runs), *check)
    assert stale.exit_code == 2
    assert "judgments.tsv is not what it was" in stale.stderr


def test_a_certificate_is_bound_to_topics_and_gains_too(tmp_path):
    files = write_files(tmp_path, frame())
    topics, gains, held = (tmp_path / name for name in ("topics.txt", "gains.tsv", "certificate.json"))
    topics.write_text("q1\nq2\nq3\n")
    gains.write_text("0\t0\n1\t1\n2\t3\n")
    more = ["--topics", str(topics), "--gains", str(gains)]
    made = run(files, "--reference", "ann", "--judge", "strong", *more, "--json", str(held), "-q")
    assert made.exit_code == 0, made.output
    assert run(files, *more, "--check", str(held)).exit_code == 0
    topics.write_text("q1\nq2\n")
    stale = run(files, *more, "--check", str(held))
    assert (stale.exit_code, "topics.txt is not what it was" in stale.stderr) == (2, True)


@pytest.mark.parametrize("role", ["judgments", "runs", "topics"])
def test_a_certificate_is_bound_to_standard_input(tmp_path, role):
    judgments, runs = write_files(tmp_path, frame())
    held, topics = tmp_path / "certificate.json", tmp_path / "topics.txt"
    topics.write_text("q1\nq2\nq3\n")
    source = {"judgments": judgments, "runs": next(Path(runs).iterdir()), "topics": topics}[role]
    text = Path(source).read_text()
    files = ("-" if role == "judgments" else judgments, "-" if role == "runs" else runs)
    more = ["--topics", "-"] if role == "topics" else []
    made = run(files, "--reference", "ann", "--judge", "strong", *more, "--json", str(held), "-q", input=text)
    assert made.exit_code == 0, made.output
    assert run(files, *more, "--check", str(held), input=text).exit_code == 0
    other = text.replace("q1", "q2", 1) if role == "topics" else text[: text.rstrip().rindex("\n") + 1]
    stale = run(files, *more, "--check", str(held), input=other)
    assert (stale.exit_code, "standard input is not what it was" in stale.stderr) == (2, True)


@pytest.fixture(scope="module")
def held(files, tmp_path_factory):
    path = tmp_path_factory.mktemp("held") / "certificate.json"
    made = run(files, "--reference", "ann,bob", "--judge", "strong,weak", "-m", "P@10", "--json", str(path), "-q")
    assert made.exit_code == 0, made.output
    return str(path)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["--reference", "eve"], "made with reference ann and bob, not with reference eve"),
        (["--reference", "ann"], "made with reference ann and bob, not with reference ann"),
        (["-m", "nDCG@10"], "made with measures P@10, not with measures nDCG@10"),
        (["-m", "P@10", "-m", "nDCG@10"], "made with measures P@10, not with measures P@10 and nDCG@10"),
        (["--gains", "exponential"], "made with gains linear, not with gains exponential"),
        (["--judge", "sampled"], "it is not about sampled, but about strong and weak"),
        (["--max-bias", "0.1"], "made with levels 0.02, not with levels 0.1"),
        (["--min-tau", "0.5"], "made with order 0.9, not with order 0.5"),
        (["--first", "3"], "made with n_top 10, not with n_top 3"),
        (["--pool", "median"], "made with no pool, not with pool median"),
        (["--where", "assessor=ann"], "made with no where, not with where assessor=ann"),
    ],
)
def test_a_certificate_for_something_else_is_refused(files, held, asked, why):
    result = run(files, *asked, "--check", held)
    assert result.exit_code == 2, result.output
    assert why in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "asked",
    [
        *([], ["--reference", "bob,ann"], ["-m", "p@10"], ["--gains", "linear"], ["--judge", "all"]),
        *(["--judge", "weak"], ["--max-bias", "0.02", "--min-tau", "0.9", "--first", "10"]),
    ],
    ids=str,
)
def test_options_that_say_what_the_certificate_says(files, held, asked):
    result = run(files, *asked, "--check", held)
    assert result.exit_code == 0, result.output


def test_conditions_on_a_certificate_are_about_the_judges_that_are_named(files, held):
    weak, strong = (
        run(files, "--check", held, "--judge", name, "--require", "alpha>=0.5") for name in ("weak", "strong")
    )
    assert (weak.exit_code, strong.exit_code) == (1, 0)
    assert "strong: " not in weak.stderr


def test_the_page_begins_with_the_verdict(files, tmp_path):
    page = tmp_path / "certificate.html"
    result = run(files, "--reference", "ann,bob,eve", "--judge", "strong", "-o", str(page), "-q")
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "<title>Certificate of strong</title>" in text
    assert text.index("What strong may be trusted with") < text.index("Agreement with people") < text.index("<svg")
    assert "sha256" in text


def test_no_reference_names_the_option(files):
    result = run(files)
    assert result.exit_code == 2
    assert "--reference NAME" in result.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--family", "gpt4"), ("--family", "gpt4="), ("--prompt", "llm"), ("--judge", "nobody")]
)
def test_wrong_options(files, option, value):
    result = run(files, "--reference", "ann", option, value)
    assert result.exit_code == 2
    assert "bug" not in result.stderr


def test_families_are_tested_together(files):
    asked = ["--reference", "ann,bob,eve", "--judge", "strong", "--family", "llm=best,good", "--format", "json", "-q"]
    families = loaded(run(files, *asked).stdout)["judges"][0]["favoured_families"]
    assert [each["family"] for each in families] == ["llm"]


def test_criteria_are_options(files):
    asked = ["--reference", "ann,bob,eve", "--judge", "weak", "--format", "json", "-q"]
    loose = ["--max-bias", "1", "--min-tau", "-1", "--min-tau-ap", "-1", "--max-reversed", "1", "--first", "2"]
    record = loaded(run(files, *asked, *loose).stdout)
    assert {each["verdict"] for each in record["judges"][0]["claims"]} == {"PASS"}
    assert record["criteria"]["n_top"] == 2


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """Labels of ann and strong, each given twice: what was given first, by its time, comes last in the file."""
    last = frame().filter(pl.col("assessor").is_in(["ann", "strong"])).with_columns(time=pl.lit("2020-01-02"))
    first = last.with_columns(label=pl.lit("1"), time=pl.lit("2020-01-01"))
    return write_files(tmp_path_factory.mktemp("repeated"), pl.concat([last, first]))


def test_repeated_labels_have_one_rule_in_all_commands(files, repeated):
    """The latest label counts in certify, in corrected scores and for agreement; certify also tells repeatability."""
    one = ["--where", "assessor=ann", "--where", "assessor=strong"]

    def answer(command, where, *more):
        result = CliRunner().invoke(cli, [command, *where, "--scale", "0<1<2", "--format", "json", "-q", *more])
        assert result.exit_code == 0, result.output
        return loaded(result.stdout)

    measured = ["-m", "P(rel=1)@10", "--reference", "ann"]
    once, twice = (
        (
            answer("certify", where, *measured, "--draws", "50", *more)["judges"][0],
            answer("evaluate", where, *measured, "--corrected", "--assessor", "strong", *more)["scores"],
            answer("agreement", where[:1], *more)["statistics"],
        )
        for where, more in ((files, one), (repeated, []))
    )
    certified, corrected, agreed = twice
    alpha = next(each for each in agreed if each["name"] == "krippendorff_alpha" and each["level"] == "ordinal")
    assert certified["agreement"]["alpha"]["value"] == pytest.approx(alpha["value"])
    assert certified["agreement"]["alpha"]["value"] == once[0]["agreement"]["alpha"]["value"]
    assert [each["corrected"] for each in certified["scores"]] == pytest.approx([each["value"] for each in corrected])
    assert corrected == once[1]
    assert once[0]["agreement"]["repeatability"] is None
    assert certified["agreement"]["repeatability"]["pairs"] == 288  # each of 12 topics x 24 documents twice

"""venire report and venire demo."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from venire.cli.main import cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("report")
    size = ["--topics", "12", "--docs", "25", "--systems", "3"]
    made = CliRunner().invoke(cli, ["simulate", "-o", str(where / "made"), *size, "-q"], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    return where


def run(*arguments: object):
    return CliRunner().invoke(cli, [str(each) for each in arguments], catch_exceptions=False)


def test_a_page_and_the_same_as_json_and_the_same_seed_makes_the_same(folder):
    page, content, again = folder / "report.html", folder / "report.json", folder / "again.html"
    files = (folder / "made" / "judgments.tsv", folder / "made" / "runs")
    found = run("report", *files, "-o", page, "--json", content, "--draws", 50, "--assessor", "careful1")
    assert found.exit_code == 0
    assert "Verdict\n" in found.stdout
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    read = json.loads(content.read_text(encoding="utf-8"))
    assert read["verdict"]["verdict"]["best"].startswith("s0")
    assert read["made_with"]["draws"] == 50
    told = run("report", *files, "-o", again, "--draws", 50, "--assessor", "careful1", "--format", "json")
    assert json.loads(told.stdout) == read
    assert again.read_bytes() == page.read_bytes()


def test_mistakes_are_one_line(folder):
    files = (folder / "made" / "judgments.tsv", folder / "made" / "runs")
    unknown = run("report", *files, "-o", folder / "x.html", "--assessor", "nobody")
    assert unknown.exit_code == 2
    assert "nobody" in unknown.stderr
    assert "Traceback" not in unknown.stderr
    nowhere = run("report", *files, "-o", folder / "no" / "x.html")
    assert nowhere.exit_code == 2
    assert "there is no folder" in nowhere.stderr


def test_the_demo_ends_with_a_verdict_and_the_truth(folder):
    found = run("demo", "-o", folder / "demo")
    assert found.exit_code == 0
    assert "s04 is the best of 8 systems" in found.stdout
    assert "the true order of the systems is s04, s07" in found.stderr
    assert {path.name for path in (folder / "demo").iterdir()} == {
        *("judgments.tsv", "runs", "truth", "report.html", "report.json")
    }
    again = next(line for line in found.stderr.splitlines() if "then: " in line).partition("then: ")[2]
    assert again.startswith("venire report ")

"""venire report and venire demo."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from two_judges import table, write_files
from venire.cli.main import cli
from venire.cli.report import _aspects


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("report")
    size = ["--topics", "12", "--docs", "25", "--systems", "3"]
    made = CliRunner().invoke(
        cli, ["simulate", "levels", "-o", str(where / "made"), *size, "-q"], catch_exceptions=False
    )
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


@pytest.mark.slow
def test_the_demo_ends_with_a_verdict_and_the_truth(folder):
    found = run("demo", "-o", folder / "demo")
    assert found.exit_code == 0
    assert "s04 is significantly better" in found.stdout
    assert "the true order of the systems is s04, s07" in found.stderr
    assert {path.name for path in (folder / "demo").iterdir()} == {
        *("judgments.tsv", "runs", "truth", "report.html", "report.json")
    }
    again = next(line for line in found.stderr.splitlines() if "then: " in line).partition("then: ")[2]
    assert again.startswith("venire report ")


def two_aspects() -> list[str]:
    """Lines of a table: labels of two assessors on two aspects of six documents of four topics."""
    head = "topic\tdoc\tassessor\taspect\tlabel\n"
    return [head] + [
        f"t{t}\td{n}\t{who}\t{aspect}\t{(n + t + k) % 3}\n"
        for t in range(4)
        for n in range(6)
        for k, who in enumerate(("ann", "bob"))
        for aspect in ("relevance", "trust")
    ]


def test_earlier_judgments_are_chosen_among_as_the_new_ones(tmp_path):
    head, *made = two_aspects()
    (tmp_path / "new.tsv").write_text(head + "".join(made), encoding="utf-8")
    (tmp_path / "old.tsv").write_text(head + "".join(made[: len(made) // 2]), encoding="utf-8")
    lists = [f"t{t} Q0 d{n} 0 {n * m % 5} s{m}\n" for m in (2, 3) for t in range(4) for n in range(6)]
    (tmp_path / "runs.txt").write_text("".join(lists), encoding="utf-8")
    files = (tmp_path / "new.tsv", tmp_path / "runs.txt", "--before", tmp_path / "old.tsv")
    found = run("report", *files, "-o", tmp_path / "r.html", "--draws", 30)
    assert found.exit_code == 0, found.stderr
    assert "With 24 labels more than before" in " ".join(found.stdout.split())


def test_the_measure_is_checked_before_the_work_begins(folder):
    files = (folder / "made" / "judgments.tsv", folder / "made" / "runs")
    wrong = run("report", *files, "-o", folder / "x.html", "-m", "nDCGG@10", "-q")
    assert wrong.exit_code == 2
    assert "nDCGG" in wrong.stderr
    assert not (folder / "x.html").exists()


def test_aspects_are_of_the_topics_and_assessors_that_were_chosen(tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("".join(two_aspects()), encoding="utf-8")
    usual = {"scale": None, "layout": None, "duplicate_labels": None}
    how = {**usual, "columns": {}}
    read = _aspects([str(path)], how, ("topic=t1", "topic=t2", "assessor=bob", "aspect=trust"))
    assert len(read) == 12


def test_standard_input_is_read_once(folder):
    runs = folder / "made" / "runs"
    twice = run("report", "-", runs, "--before", "-", "-o", folder / "y.html")
    assert twice.exit_code == 2
    assert "only once" in twice.stderr


def test_a_family_of_systems_and_the_favour_of_a_judge(tmp_path):
    files = write_files(tmp_path, table())
    options = ["-o", tmp_path / "r.html", "--draws", 30, "--format", "json"]
    found = run("report", *files, *options, "--reference", "expert", "--family", "llm=L")
    favoured = json.loads(found.stdout)["verdict"]["favoured"]
    assert [row.get("family") or row["system"] for row in favoured] == ["llm", "L"]
    alone = run("report", *files, *options, "--family", "llm=L")
    assert alone.exit_code == 2
    assert "--reference NAME" in alone.stderr
    unclear = run("report", *files, *options, "--reference", "expert", "--family", "L")
    assert unclear.exit_code == 2
    assert "NAME=RUN" in unclear.stderr


def test_texts_of_topics_and_documents_are_on_the_page(folder):
    files = (folder / "made" / "judgments.tsv", folder / "made" / "runs")
    topics, docs, page = folder / "topics.tsv", folder / "docs.jsonl", folder / "texts.html"
    topics.write_text("1\thow to <b>read</b>\n", encoding="utf-8")
    docs.write_text("".join(json.dumps({"id": f"d{n:04}", "text": f"words {n}"}) + "\n" for n in range(99)), "utf-8")
    found = run("report", *files, "-o", page, "--draws", 5, "--topics", topics, "--docs", docs)
    assert found.exit_code == 0
    html = page.read_text(encoding="utf-8")
    data = json.loads(html.split('id="data">')[1].split("</script>")[0])
    assert [topic[-1] for topic in data["topics"] if topic[0] == "1"] == ["how to <b>read</b>"]
    assert data["texts"]
    assert all(text == f"words {int(doc[1:])}" for doc, text in data["texts"].items())
    assert "<b>read" not in html
    docs.write_text("no tab\n", encoding="utf-8")
    wrong = run("report", *files, "-o", page, "--draws", 5, "--docs", docs)
    assert wrong.exit_code == 2
    assert "docs.jsonl:1: found 'no tab'" in wrong.stderr

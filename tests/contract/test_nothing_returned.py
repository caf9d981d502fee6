"""A system that returned nothing is named with a dash or null in every output, and changes nothing else."""

from __future__ import annotations

import csv
import json
import random
import re

import pytest
from click.testing import CliRunner

from venire.cli.main import cli

DOCS = [f"d{n}" for n in range(8)]
SAID = "none returned nothing for any scored topic (of 12)"
COMMANDS = {
    "evaluate": "evaluate judgments.tsv RUNS --assessor nist -m nDCG@10 -m P@5 --per-topic",
    "skip": "evaluate judgments.tsv RUNS --assessor nist --missing skip",
    "per assessor": "evaluate judgments.tsv RUNS --per assessor",
    "users": "evaluate judgments.tsv RUNS --assessor nist --gains 0=.2,1=.9 --users 20 --per-topic",
    "corrected": "evaluate judgments.tsv RUNS --assessor gpt --reference nist --corrected",
    "compare": "compare judgments.tsv RUNS --assessor nist",
    "one judge": "compare judgments.tsv RUNS --where assessor=nist",
    "needed": "compare judgments.tsv RUNS --assessor nist --agreement-needed",
    "corrected pairs": "compare judgments.tsv RUNS --assessor gpt --reference nist --corrected",
    "count": "count judgments.tsv RUNS --assessor nist",
    "power": "power judgments.tsv RUNS --assessor nist",
    "robustness": "robustness judgments.tsv RUNS --draws 20",
    "certify": "certify judgments.tsv RUNS --judge gpt --reference nist",
}
WITHOUT_ROWS = {"power", "robustness"}
"""Commands whose rows are not of systems."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two judges; the runs one, two and three, and those of a system with a list for another topic only."""
    folder, drawn = tmp_path_factory.mktemp("nothing"), random.Random(5)
    rows, runs = ["topic\tdoc\tassessor\tlabel"], {name: [] for name in ("one", "two", "three")}
    for topic in range(12):
        labels = {doc: int(n < 3) for n, doc in enumerate(DOCS)}
        for doc, label in labels.items():
            rows += [f"t{topic}\t{doc}\tnist\t{label}", f"t{topic}\t{doc}\tgpt\t{label ^ (drawn.random() < 0.15)}"]
        for name, weight in zip(runs, (0.9, 0.6, 0.3), strict=True):
            order = sorted(DOCS, key=lambda doc: -(labels[doc] * weight + drawn.random()))
            runs[name] += [f"t{topic} Q0 {doc} {n} {-n} {name}" for n, doc in enumerate(order)]
    runs["none"] = [f"other Q0 {doc} {n} {-n} none" for n, doc in enumerate(DOCS)]
    (folder / "judgments.tsv").write_text("\n".join(rows) + "\n")
    for name, lines in runs.items():
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    return folder


def venire(folder, command, *systems):
    runs = " ".join(str(folder / f"{name}.run") for name in systems)
    words = command.replace("RUNS", runs).replace("judgments.tsv", str(folder / "judgments.tsv")).split()
    return CliRunner().invoke(cli, words)


def of_systems(value):
    """Return a document without what is said of the files and of the system that returned nothing."""
    if isinstance(value, dict):
        left_out = ("made_with", "inputs", "warnings", "notes")
        return {key: of_systems(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list):
        return [of_systems(each) for each in value if not (isinstance(each, dict) and "none" in each.values())]
    return round(value, 12) if isinstance(value, float) else value  # sums over topics may be in another order


def rows_of(value):
    """Yield the rows of the system that returned nothing."""
    if isinstance(value, dict) and "none" in value.values():
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from rows_of(each)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_system_that_returned_nothing_changes_no_number(folder, command):
    words = f"{COMMANDS[command]} --format json"
    alone = venire(folder, words, "one", "two", "three")
    beside = venire(folder, words, "one", "two", "none", "three")
    assert (alone.exit_code, beside.exit_code) == (0, 0), beside.output
    assert SAID in beside.stderr
    assert SAID not in alone.stderr
    document = json.loads(beside.stdout)
    assert of_systems(document) == of_systems(json.loads(alone.stdout))
    rows = list(rows_of(document))
    assert bool(rows) == (command not in WITHOUT_ROWS)
    known = ("topics", "share", "places")  # no number of it: judges have their share of the others' results
    assert not [key for row in rows for key, cell in row.items() if isinstance(cell, float | int) and key not in known]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in {*WITHOUT_ROWS, "certify"}])
def test_tables_have_its_name_with_a_dash(folder, command):
    systems = "one", "none", "two"
    text = venire(folder, COMMANDS[command], *systems).stdout.splitlines()
    own = [line.split() for line in text if "none" in line.split()]
    assert own
    assert all("-" in line for line in own)
    assert not [cell for line in own for cell in line if re.search(r"\d\.\d", cell)]
    markdown = venire(folder, f"{COMMANDS[command]} --format markdown", *systems).stdout
    assert [line for line in markdown.splitlines() if "| none |" in line and "| - |" in line]
    cells = csv.DictReader(venire(folder, f"{COMMANDS[command]} --format csv", *systems).stdout.splitlines())
    own = [row for row in cells if "none" in row.values()]
    assert own
    assert not [cell for row in own for cell in row.values() if re.search(r"\d\.\d", cell)]


@pytest.mark.parametrize("systems", [("none",), ("none", "none2")])
def test_where_all_returned_nothing_it_is_an_error(folder, systems):
    (folder / "none2.run").write_text((folder / "none.run").read_text().replace("none", "none2"))
    for command in COMMANDS.values():
        found = venire(folder, command, *systems)
        assert found.exit_code == 2
        assert "have no topic in common: the runs have 'other'" in found.stderr


def test_compared_with_a_system_that_returned_nothing_there_is_no_number_and_no_winner(folder):
    for named in ("--baseline none", "--candidate none --baseline one", "--candidate one --baseline none"):
        found = venire(folder, f"{COMMANDS['compare']} {named}", "one", "none", "two")
        assert found.exit_code == 0
        assert "note: Nothing is compared: none returned nothing for any scored topic." in found.stderr
        pairs = found.stdout.split("\n\n")[1].splitlines()[1:]
        assert all(line.split()[2:] == ["nDCG@10", "-", "-", "-"] for line in pairs)
        drawn = venire(folder, f"{COMMANDS['compare']} {named} --plot {folder / 'plot.svg'}", "one", "none", "two")
        assert (drawn.exit_code, "and is not written" in drawn.stderr) == (0, True)
        assert not (folder / "plot.svg").exists()
        refused = venire(folder, f"{COMMANDS['needed']} {named}", "one", "none", "two")
        assert (refused.exit_code, "no pair of systems to compare" in refused.stderr) == (2, True)
        gate = venire(folder, f"{COMMANDS['compare']} {named} --require delta>=-1 -q", "one", "none", "two")
        assert gate.exit_code == 1
        assert all(line.endswith(": none returned nothing for any scored topic") for line in gate.stderr.splitlines())


def test_an_empty_run_is_an_error_by_the_name_of_the_file(folder):
    (folder / "empty.run").write_text("")
    for command in COMMANDS.values():
        found = venire(folder, command, "one", "empty")
        assert (found.exit_code, "empty.run: holds no run lines" in found.stderr) == (2, True)


def test_a_judge_who_did_not_label_the_topics_of_a_system_does_not_correct_its_score(folder, tmp_path):
    """The person labelled a further topic, and the judge did not: a system with results for it alone has no score."""
    labels = (folder / "judgments.tsv").read_text() + "".join(f"other\t{doc}\tnist\t1\n" for doc in DOCS)
    (tmp_path / "judgments.tsv").write_text(labels)
    for name in ("one", "two", "three", "none"):
        (tmp_path / f"{name}.run").write_text((folder / f"{name}.run").read_text())
    options = "evaluate judgments.tsv RUNS --assessor gpt --reference nist --corrected -m P@5 --format json"
    with_it, without = (
        json.loads(venire(tmp_path, options, *systems).stdout)["scores"]
        for systems in (("one", "two", "three", "none"), ("one", "two", "three"))
    )
    assert [row for row in with_it if row["system"] != "none"] == without
    (row,) = [row for row in with_it if row["system"] == "none"]
    assert {key for key, value in row.items() if value is None} >= {"value", "low", "high"}

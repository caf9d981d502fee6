"""A study from its first file to a certificate and a report, by the commands that users run."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from model_server import ModelServer
from people import answer_all
from studies_on_disk import lines
from venire import read_aspects, read_judgments
from venire.cli.main import cli
from venire.judging.machines.prompts import Prompts
from venire.judging.store import Store
from venire.judging.study_files import read_study

GOLBUS = """
[study]
name = "golbus"
guidelines_text = "Judge the page for a user who has just read the first one, where there is one."
[topics]
file = "topics.tsv"
[documents]
file = "docs.jsonl"
[[assessors]]
name = "ann"
[[assessors]]
name = "bob"
[[assessors]]
name = "model"
kind = "machine"
[[tasks]]
preset = "golbus"
runs = ["left.run", "right.run"]
"""
GRADES = ("bad", "fair", "good", "excellent", "perfect")
SIDES = ("overall", "topicality", "novelty", "freshness", "authority", "quality")
TRUTH = {"egg-times": 2, "egg-myths": 1, "omelette": 0, "chain-care": 2, "chain-shop": 0, "chain-forum": 1}


def venire(*words: object) -> str:
    """Run a command; return what it prints."""
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="venire")
    assert done.exit_code == 0, done.output
    return click.unstyle(done.stdout)


@pytest.mark.slow
def test_the_design_of_golbus_is_collected_exported_and_analysed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    topics = [f"q{n}" for n in range(6)]
    docs = {topic: [f"{topic}-{n}" for n in range(12)] for topic in topics}
    named = "".join(f'[[scale]]\nname = "{each}"\n' for each in GRADES)
    named += "".join(f'[[aspects]]\nname = "{each}"\n' for each in SIDES)
    runs = {"left": lambda own: own[:10], "right": lambda own: own[:1:-1]}
    texts = [{"doc": doc, "snippet": doc, "html": f"<p dir=rtl>{doc}"} for own in docs.values() for doc in own]
    files = {"topics.tsv": "topic\tquery\n" + "".join(f"{each}\tquery {each}\n" for each in topics)}
    files |= {"study.toml": GOLBUS + named, "docs.jsonl": lines(texts)}
    for name, ranked in runs.items():
        rows = [(topic, doc, n) for topic, own in docs.items() for n, doc in enumerate(ranked(own))]
        files[f"{name}.run"] = "".join(f"{topic} Q0 {doc} {n + 1} {9 - n} {name}\n" for topic, doc, n in rows)
    for name, text in files.items():
        tmp_path.joinpath(name).write_text(text)
    study, tasks = read_study("study.toml")
    on_aspects = [task for task in tasks if task.kind == "aspects"]
    with Store.open(study, tasks) as store:
        truth = {doc: n % 5 for own in docs.values() for n, doc in enumerate(own)}
        assert sum(answer_all(store, name, truth) for name in study.people) == len(on_aspects) + 2 * len(topics)
    with ModelServer() as server:
        asked = venire("judge", "ask", "study.toml", "--model", "toy", "--base-url", server.url, "--format", "json")
    assert json.loads(asked)["stored"] == len(tasks)

    venire("judge", "export", "study.toml", "--of", "aspects", "-o", "aspects.csv")
    venire("judge", "export", "study.toml", "--of", "lists", "-o", "lists.csv")
    found = read_aspects("aspects.csv")
    assert (len(found), int(found.is_conditional.sum())) == (
        2 * len(on_aspects),
        2 * sum(bool(t.given) for t in on_aspects),
    )
    assert {scale.labels for scale in found.scales} == {GRADES}
    people = ("--where", "assessor=ann", "--where", "assessor=bob")
    told = json.loads(venire("aspects", "aspects.csv", *people, "--draws", 20, "--format", "json"))
    assert {row["context"] for row in told["distributions"]} == {"isolation", "condition"}
    assert {row["aspect"] for row in told["changes"]} == {*SIDES}
    overall = (*people, "--where", "aspect=overall")
    predicted = venire("context", "predict", "aspects.csv", *overall, "--folds", 3, "--draws", 20, "--format", "json")
    assert json.loads(predicted)["topics"] == len(topics)
    swept = ("aspects.csv", "left.run", "right.run", "--preferences", "lists.csv", "--pool", "median", "--draws", 20)
    assert "CCG@5" in venire("context", "sweep", *swept, *overall)


@pytest.mark.slow
def test_made_judged_exported_certified_and_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    venire("judge", "init", "study.toml")
    study, tasks = read_study("study.toml")
    assert TRUTH.keys() == study.documents.keys()
    with Store.open(study, tasks) as store:
        people = {name: answer_all(store, name, TRUTH) for name in study.people}
    with ModelServer() as server:
        asked = json.loads(
            venire("judge", "ask", "study.toml", "--model", "toy", "--base-url", server.url, "--format", "json")
        )
    assert min(people.values()) > 0
    assert asked["stored"] == len(tasks)

    venire("judge", "export", "study.toml", "-o", "labels.csv")
    venire("judge", "export", "study.toml", "--of", "preferences", "-o", "preferences.csv")
    found = read_judgments("labels.csv")
    assert {*found.assessors} == {*study.people, "model"}
    assert (found.reference, found.machines) == (("ann",), ("model",))
    assert found.prompts == {"model": Prompts(study).hash} == {"model": asked["prompt"]}
    with Store.open(study, tasks) as store:
        given = [each for each in store.stored() if "label" in each.value and not each.repeat]
    assert len(found) == len(given)

    venire(
        "certify",
        "labels.csv",
        "first.run",
        "second.run",
        "-o",
        "page.html",
        "--json",
        "certificate.json",
        "--draws",
        20,
    )
    [judge] = json.loads((tmp_path / "certificate.json").read_text())["judges"]
    assert (judge["judge"], judge["prompt"]) == ("model", asked["prompt"])
    text = venire("report", "labels.csv", "first.run", "second.run", "-o", "report.html", "--draws", 20)
    assert f"{len(found)} labels on 6 items of 2 topics by 3 assessors" in " ".join(text.split())
    assert (tmp_path / "report.html").stat().st_size > 10_000

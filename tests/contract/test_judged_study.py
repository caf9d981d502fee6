"""A study from its first file to a certificate and a report, by the commands that users run."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from model_server import ModelServer
from people import answer_all
from venire import read_judgments
from venire.cli.main import cli
from venire.judging.machines.prompts import Prompts
from venire.judging.store import Store
from venire.judging.study_files import read_study

TRUTH = {"egg-times": 2, "egg-myths": 1, "omelette": 0, "chain-care": 2, "chain-shop": 0, "chain-forum": 1}


def venire(*words: object) -> str:
    """Run a command; return what it prints."""
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="venire")
    assert done.exit_code == 0, done.output
    return click.unstyle(done.stdout)


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

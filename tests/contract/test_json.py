"""The JSON that commands write follows the schemas of the documentation, which are closed and complete.

Documents are checked wherever a test runs a command (``json_schemas``); here are the schemas themselves, and the files
that commands save.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import every_command
from json_schemas import SCHEMAS, check, current_command, shortened, tool, validator
from venire.cli.main import cli
from venire.cli.output import SCHEMA

NAMES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
WITHOUT_JSON = {"completion", "judge-serve", "judge-init", "judge-import"}
"""Commands that write no JSON."""
SAVED = {
    "saved-fit": "disagreement labels.parquet --draws 5 --save saved.json",
    "saved-model": "context predict given.parquet --folds 2 --splits 2 --draws 5 --save saved.json",
    "setting-levels": "simulate levels --topics 3 --docs 5 --systems 2 -o saved",
    "setting-perceived": "simulate perceived --topics 3 --systems 2 -o saved",
    "setting-context": "simulate context --topics 6 --docs 10 --sessions 2 --users 2 -o saved",
}


def schema(name: str) -> dict[str, object]:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def parts(value: object) -> Iterator[dict[str, object]]:
    """Yield the schemas within a schema."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(each)


def test_every_command_that_writes_json_has_a_schema():
    commands = {words.replace(" ", "-") for words, _ in every_command.every_command()}
    assert commands - WITHOUT_JSON == {name for name in NAMES if not name.startswith(("saved-", "setting-"))}
    assert set(SAVED) == {name for name in NAMES if name.startswith(("saved-", "setting-"))}


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_versioned_and_closed(name):
    held = schema(name)
    validator(name).check_schema(held)
    assert held["$id"] == f"urn:venire:{name}:{SCHEMA}"
    closed = [each for each in parts(held) if "properties" in each and "type" in each]
    assert closed
    assert all(each.get("additionalProperties") is False for each in closed if "required" in each)
    assert all({*each["required"]} <= {*each["properties"]} for each in closed if "required" in each)


def test_the_page_lists_the_schemas():
    text = tool()["PAGE"].read_text(encoding="utf-8")
    assert tool()["page"](tool()["written"](), text) == text, "run python tools/schemas.py"


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
@pytest.mark.parametrize("name", SAVED)
def test_saved_files_follow_their_schemas(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every_command.write_files(tmp_path)
    done = CliRunner().invoke(cli, [*SAVED[name].split(), "-q"])
    assert done.exit_code == 0, done.output
    (path,) = tmp_path.glob("saved*.json") if name.startswith("saved-") else (tmp_path / "saved").rglob("*.json")
    check(name, json.loads(path.read_text(encoding="utf-8")))


REPORTS = {
    "one judge": "labels.parquet runs --where assessor=ann",
    "one judge, one system": "labels.parquet runs/0.parquet --where assessor=ann",
    "judgments alone": "labels.parquet",
    "users": "labels.parquet runs --preferences lists.parquet --clicks log.parquet --before earlier.parquet",
    "documents preferred": "labels.parquet runs --preferences pairs.parquet --assessor ann --where assessor=ann",
    "aspects": "aspects.parquet runs --where aspect=overall",
    "a reference and a machine": "labels.parquet runs --reference ann --machine cy --family all=s1,s2",
    "a pool and a reference": "labels.parquet runs --reference ann --pool majority",
    "a pool": "labels.parquet runs --pool majority",
    "one topic": "labels.parquet runs --where topic=t1",
}
SMALL = {
    "one judge": "compare labels.parquet runs --where assessor=ann",
    "one topic": "compare labels.parquet runs --where topic=t1 --assessor ann",
    "one judge and two systems": "compare labels.parquet runs --where assessor=ann --candidate s1 --baseline s2",
    "agreement on one topic": "agreement labels.parquet --where topic=t1",
    "certificate on one topic": "certify labels.parquet runs --where topic=t1 --reference ann",
    "power with one judge": "power labels.parquet runs --where assessor=ann",
    "agreement needed with one system": "compare labels.parquet runs/0.parquet --assessor ann --agreement-needed",
    "counts by each assessor": "count labels.parquet runs --per assessor",
    "pairs that are weighted": "sensitivity labels.parquet --weight item",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
@pytest.mark.parametrize("arguments", REPORTS.values(), ids=REPORTS)
def test_reports_of_every_form_follow_their_schema(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every_command.write_files(tmp_path)
    for ending in ("", ".toml"):
        (tmp_path / f"earlier.parquet{ending}").write_bytes((tmp_path / f"labels.parquet{ending}").read_bytes())
    done = CliRunner().invoke(cli, ["report", *arguments.split(), "--draws", "5", "--json", "report.json", "-q"])
    assert done.exit_code == 0, done.output


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
@pytest.mark.parametrize("arguments", SMALL.values(), ids=SMALL)
def test_results_of_few_labels_follow_their_schema(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every_command.write_files(tmp_path)
    done = CliRunner().invoke(cli, [*arguments.split(), "--draws", "5", "--format", "json", "-q"])
    assert done.exit_code == 0, done.output


def evaluated(folder: Path) -> dict[str, object]:
    (folder / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (folder / "x.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n")
    args = ["evaluate", str(folder / "qrels"), str(folder / "x.run"), "--format", "json", "-q"]
    return json.loads(CliRunner().invoke(cli, args).stdout)


def test_a_schema_refuses_what_was_not_agreed(tmp_path):
    found = evaluated(tmp_path)
    assert found["schema"] == f"urn:venire:evaluate:{SCHEMA}"
    follows = validator("evaluate").is_valid
    assert follows(found)
    (row,) = found["scores"]
    others = [
        {**found, "more": 1},
        {key: value for key, value in found.items() if key != "scores"},
        {**found, "schema": "urn:venire:evaluate:2"},
        {**found, "scores": [{**row, "value": "1.0"}]},
        {**found, "scores": [{**row, "more": 1}]},
        {**found, "scores": [{key: value for key, value in row.items() if key != "low"}]},
    ]
    assert not any(map(follows, others))


def test_a_test_that_runs_a_command_checks_its_json(tmp_path, monkeypatch):
    monkeypatch.setattr("venire.cli.output.SCHEMA", 2)
    with pytest.raises(json.JSONDecodeError):  # the command failed
        evaluated(tmp_path)
    assert current_command() is None


def test_long_lists_are_checked_by_some_records():
    assert len(shortened(list(range(1000)))) == 20
    assert shortened({"a": [{"b": [1]}]}) == {"a": [{"b": [1]}]}

"""Every JSON says what it was made from: the version, and size and hash of each file that was read."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.metadata import version

import pytest
from click.testing import CliRunner

from two_judges import table, write_files
from venire.cli.main import cli

COMMANDS = {
    "evaluate": ["JUDGMENTS", "RUNS", "--per", "assessor"],
    "compare": ["JUDGMENTS", "RUNS", "--assessor", "llm", "--draws", "20"],
    "robustness": ["JUDGMENTS", "RUNS"],
    "agreement": ["JUDGMENTS"],
    "disagreement": ["JUDGMENTS"],
    "inspect": ["JUDGMENTS", "RUNS"],
    "power": ["JUDGMENTS", "RUNS", "--assessor", "llm"],
    "report": ["JUDGMENTS", "RUNS", "--draws", "20", "-o", "page.html"],
    "certify": ["JUDGMENTS", "RUNS", "--reference", "expert", "--draws", "20"],
    "plan": ["JUDGMENTS", "RUNS", "--goal", "best", "--budget", "9", "--reference", "ann"],
}


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_result_names_its_inputs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judgments, runs = write_files(tmp_path, table())
    (tmp_path / "judgments.tsv.toml").write_text('scale = "0<1<2<3"\n', encoding="utf-8")
    names = {"JUDGMENTS": judgments, "RUNS": runs}
    arguments = [command, *(names.get(each, each) for each in COMMANDS[command]), "--format", "json", "-q"]
    answer = CliRunner().invoke(cli, arguments)
    assert answer.exit_code == 0, answer.output
    made = json.loads(answer.stdout)
    made = made.get("made_with", made)
    assert version("venire") in (made.get("version"), made.get("venire"))
    read = [tmp_path / "judgments.tsv", tmp_path / "judgments.tsv.toml"]
    read += [] if "RUNS" not in COMMANDS[command] else sorted((tmp_path / "runs").iterdir())
    expected = {(str(path), sha256(path.read_bytes()).hexdigest(), path.stat().st_size) for path in read}
    assert expected <= {(each["name"], each["sha256"], each["size"]) for each in made["inputs"]}
    if command == "report":
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert all(digest in page for _, digest, _ in expected)

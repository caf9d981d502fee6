"""What is shipped: the source distribution is a whole project, and the commands of the workflows exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from venire.cli.main import cli

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
NOT_SHIPPED = re.compile(r"\.(gitignore|pre-commit-config\.yaml)$")


def commands(path: Path, program: str) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(rf"\s*(?:- run: )?({program} .*)", line) for line in lines)
    return [shlex.split(each[1], comments=True) for each in found if each]


def test_commands_of_workflows_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [command for path in WORKFLOWS for command in commands(path, "venire")]
    assert len(asked) >= 2
    for _, *arguments in asked:
        answer = CliRunner().invoke(cli, arguments)
        assert answer.exit_code == 0, answer.output


def test_targets_of_workflows_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    asked = {command[-1] for path in WORKFLOWS for command in commands(path, "make")}
    assert {"fuzz", "test"} <= asked <= targets


@pytest.mark.slow
def test_the_source_distribution_has_all_files_of_the_project(tmp_path):
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip("this is no clone, so nothing says which files there are")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / done.stdout.split()[-1]) as file:
        shipped = {name.partition("/")[2] for name in file.getnames()}
    assert [name for name in tracked if name not in shipped and not NOT_SHIPPED.search(name)] == []
    assert not [name for name in shipped if name.endswith((".pyc", ".so"))]


@pytest.mark.slow
def test_the_wheel_has_what_a_study_needs(tmp_path):
    """A study is written and opened by the package as it is installed, away from the source."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(installed)
        names = file.namelist()
    for folder in ("judging/web/templates", "judging/web/assets", "judging/assets", "judging/migrations"):
        tracked = subprocess.run(
            ["git", "ls-files", f"src/venire/{folder}"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        expected = {each.removeprefix("src/") for each in tracked.stdout.split()}
        assert expected <= set(names), folder
    code = "import sys, venire.cli.main as m; assert sys.argv.pop(1) in m.__file__; m.main()"
    for command in (["init", "study.toml"], ["invite", "study.toml", "ann"], ["export", "study.toml", "-o", "a.csv"]):
        ran = subprocess.run(
            [sys.executable, "-c", code, str(installed), "judge", *command],
            **{"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(installed)}},
            **{"capture_output": True, "text": True, "check": False},
        )
        assert ran.returncode == (2 if command[0] == "export" else 0), ran.stderr
    assert "no answers" in ran.stderr.lower() or "no labels" in ran.stderr.lower(), ran.stderr

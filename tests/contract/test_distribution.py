"""What is shipped: the source distribution is a whole project, and the commands of the workflows exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tarfile
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

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from venire.cli.main import cli

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 0\n2 0 d 1\n"
SECOND = "1 0 a 0\n1 0 b 1\n1 0 c 1\n"
RUN = "1 Q0 a 1 3.5 sys\n1 Q0 b 2 2.5 sys\n1 Q0 c 3 1.5 sys\n2 Q0 a 1 2 sys\n2 Q0 d 2 1 sys\n"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Venire = Callable[..., Answer]


@pytest.fixture
def venire() -> Venire:
    """Run the command line in this process, standard output and standard error apart."""

    def run(*args: object, stdin: bytes | str = b"") -> Answer:
        apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
        result = CliRunner(**apart).invoke(cli, [str(arg) for arg in args], input=stdin, prog_name="venire")
        assert isinstance(result.exception, SystemExit | None), result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file into the test's folder."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def qrels(write) -> Path:
    return write("qrels.txt", QRELS)


@pytest.fixture
def second(write) -> Path:
    return write("other.txt", SECOND)


@pytest.fixture
def run(write) -> Path:
    return write("sys.run", RUN)

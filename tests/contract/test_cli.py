"""What scripts rely on: streams, exit codes, keys, a quick start; all in processes of their own."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from venire.cli.main import COMMANDS, cli

QRELS = b"1 0 a 1\n1 0 b 0\n"
OTHER = b"1 0 a 0\n1 0 b 1\n"
RUN = b"1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n"
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def venire(*args: object, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-W", "error", "-m", "venire", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("qrels.txt", QRELS), ("other.txt", OTHER), ("x.run", RUN)):
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_the_result_is_all_that_stands_on_standard_output(folder):
    done = venire(
        "evaluate", "qrels.txt", "-j", "other.txt", "x.run", "--per", "assessor", "--format", "json", cwd=folder
    )
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "scores": [
            {"system": "x", "measure": "nDCG@10", "topic": "all", "assessor": "other", "value": 0.6309297535714575},
            {"system": "x", "measure": "nDCG@10", "topic": "all", "assessor": "qrels", "value": 1.0},
        ]
    }


def test_csv_has_five_columns(folder):
    done = venire("evaluate", "qrels.txt", "x.run", "--format", "csv", cwd=folder)
    rows = list(csv.reader(io.StringIO(done.stdout.decode())))
    assert rows == [["system", "measure", "topic", "assessor", "value"], ["x", "nDCG@10", "all", "qrels", "1.0"]]


def test_a_missing_value_is_null_and_never_nan(folder):
    (folder / "y.run").write_bytes(b"9 Q0 a 1 2 y\n")
    for form, value in (("json", b"null}"), ("csv", b"all,qrels,\n"), ("table", b" -\n")):
        done = venire("evaluate", "qrels.txt", "x.run", "y.run", "--missing", "skip", "--format", form, cwd=folder)
        assert done.returncode == 0
        assert value in done.stdout
        assert b"nan" not in done.stdout.lower()


def test_runs_from_a_pipe(folder):
    done = venire("evaluate", "qrels.txt", "-", stdin=RUN, cwd=folder)
    assert (done.returncode, done.stdout) == (
        0,
        b"system  nDCG@10\nx        1.0000\n",
    )


@pytest.mark.parametrize(
    "args",
    [
        ["evaluate", "qrels.txt", "nowhere.run"],
        ["evaluate", "qrels.txt", "x.run", "--format", "xml"],
        ["evaluate", "qrels.txt", "-j", "other.txt", "x.run"],
        ["evaluate", "qrels.txt", "x.run", "-o", "nowhere/scores.csv"],
        ["evaluate", "x.run", "qrels.txt"],
        ["inspect", "nowhere"],
        ["simulate"],
        ["simulate", "levels", "-o", "x.run"],
        ["nothing"],
    ],
)
def test_bad_input_ends_with_2_and_words(folder, args):
    done = venire(*args, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stderr


def test_inspect_ends_with_2_where_a_file_cannot_be_read(folder):
    (folder / "bad.run").write_bytes(RUN + b"1 Q0\n")
    assert venire("inspect", "qrels.txt", "x.run", cwd=folder).returncode == 0
    done = venire("inspect", "qrels.txt", "bad.run", "--format", "json", cwd=folder)
    assert done.returncode == 2
    document = json.loads(done.stdout)
    assert [set(each) for each in document["files"]] == [{"file", "kind", "facts", "problems"}] * 2
    assert document["files"][1]["problems"][0]["line"] == 3
    assert set(document["files"][1]["problems"][0]) == {"line", "what", "hint"}


def test_a_reader_who_leaves_early_is_no_error(folder):
    (folder / "big.run").write_bytes(b"".join(b"1 Q0 d%d 1 %d x\n" % (n, -n) for n in range(10)))
    command = [sys.executable, "-m", "venire", "evaluate", "qrels.txt", "big.run"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate()
    assert process.returncode == 141
    assert b"Traceback" not in err
    assert b"error" not in err.lower()


def test_version():
    done = venire("--version")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[0] == f"venire {version('venire')}"


def test_help_needs_nothing_but_click():
    code = (
        "import sys\nfrom venire.cli.main import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "evaluate" in done.stdout
    assert not {"numpy", "polars", "scipy", "pandas", "pyarrow", "rich", "zstandard"} & set(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_a_terminal_and_has_examples(name):
    done = venire(name, "--help")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert max(map(len, text.splitlines())) <= 80
    assert f"  venire {name} " in text.partition("Examples:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name):
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert f"venire {name}" in DOCS.read_text(encoding="utf-8")

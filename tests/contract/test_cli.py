"""What scripts rely on: streams, exit codes, keys, a quick start; in a process of its own where that matters."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from importlib.metadata import version
from inspect import signature
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from json_results import loaded
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


def in_process(*args: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}  # click before 8.2
    result = CliRunner(**apart).invoke(cli, args, prog_name="venire")
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.stdout, result.stderr


NO_INTERVAL = {"low": None, "high": None}


def test_the_result_is_all_that_stands_on_standard_output(folder):
    done = venire(
        "evaluate", "qrels.txt", "-j", "other.txt", "x.run", "--per", "assessor", "--format", "json", cwd=folder
    )
    assert done.returncode == 0
    assert loaded(done.stdout) == {
        "scores": [
            {"system": "x", "measure": "nDCG@10", "topic": "all", "assessor": "other", "value": 0.6309297535714575}
            | NO_INTERVAL,
            {"system": "x", "measure": "nDCG@10", "topic": "all", "assessor": "qrels", "value": 1.0} | NO_INTERVAL,
        ]
    }


def test_csv_has_the_keys_of_json(folder, monkeypatch):
    monkeypatch.chdir(folder)
    _, out, _ = in_process("evaluate", "qrels.txt", "x.run", "--format", "csv")
    rows = list(csv.reader(io.StringIO(out)))
    keys = ["system", "measure", "topic", "assessor", "value", "low", "high"]
    assert rows == [keys, ["x", "nDCG@10", "all", "qrels", "1.0", "", ""]]


@pytest.mark.filterwarnings("ignore::venire.errors.VenireWarning")
def test_a_missing_value_is_null_and_never_nan(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "y.run").write_bytes(b"9 Q0 a 1 2 y\n")
    for form, value in (("json", "null}"), ("csv", "all,qrels,,,\n"), ("table", " -\n")):
        code, out, _ = in_process("evaluate", "qrels.txt", "x.run", "y.run", "--missing", "skip", "--format", form)
        assert code == 0
        assert value in out
        assert "nan" not in out.lower()


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
def test_bad_input_ends_with_2_and_words(folder, args, monkeypatch):
    monkeypatch.chdir(folder)
    code, out, err = in_process(*args)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "Traceback" not in err


def test_errors_of_a_process_are_plain_text_without_a_terminal(folder):
    done = venire("evaluate", "qrels.txt", "nowhere.run", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stderr


def test_inspect_ends_with_2_where_a_file_cannot_be_read(folder, monkeypatch):
    (folder / "bad.run").write_bytes(RUN + b"1 Q0\n")
    monkeypatch.chdir(folder)
    assert in_process("inspect", "qrels.txt", "x.run")[0] == 0
    code, out, _ = in_process("inspect", "qrels.txt", "bad.run", "--format", "json")
    assert code == 2
    document = loaded(out)
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
    assert not {"numpy", "polars", "scipy", "pandas", "pyarrow", "zstandard"} & set(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_a_terminal_and_has_examples(name):
    code, text, _ = in_process(name, "--help")
    assert code == 0
    assert max(map(len, text.splitlines())) <= 80
    assert f"  venire {name} " in text.partition("Examples:")[2]


def test_every_command_is_documented():
    text = DOCS.read_text(encoding="utf-8")
    assert all(cli.get_command(click.Context(cli), name) and f"venire {name}" in text for name in COMMANDS)

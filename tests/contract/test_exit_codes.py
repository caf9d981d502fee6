"""Exit codes mean one thing each: 0 done, 1 a gate that does not hold, 2 bad input; never a bug for what users do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from every_command import COMMANDS, arguments, write_files
from venire.cli.main import cli

DIGITS = "9" * 4301
"""More digits than Python converts to a whole number."""
QRELS = "".join(f"t{t} 0 d{d} {(d + t) % 3}\n" for t in range(3) for d in range(5))
RUN = "".join(f"t{t} Q0 d{d} {d} {9 - d} s{s}\n" for s in (1, 2) for t in range(3) for d in range(5))
TOML = {
    "deep": f"scale = {'[' * 5000}{']' * 5000}",
    "dotted": f"a{'.a' * 5000} = 1",
    "digits": f"x = {DIGITS}",
    "cut": "scale = ",
    "other-types": "labels = 3\nmeasurement = 4",
    "no-text": b"\xff\xfe\0",
    "names-of-lists": "reference = [[1]]",
    "repeated": 'labels = ["0", "0"]',
}
JSON = {
    "empty": "",
    "cut": "{",
    "list": "[]",
    "number": DIGITS,
    "null": "null",
    "other-type": '{"kind": [1]}',
    "deep": "[" * 100_000,
    "deep-object": '{"a":' * 100_000,
    "no-text": b"\xff",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels.txt", QRELS), ("other.txt", QRELS[: len(QRELS) * 2 // 3]), ("x.run", RUN)):
        (tmp_path / name).write_text(text)
    for name, text in (("comments", "# a\n# b c\n"), ("empty", ""), ("blank", "\n \n")):
        (tmp_path / name).write_text(text)
    return tmp_path


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def refused(*args: object) -> str:
    """Run a command that must end with 2 and a message, and return the message."""
    result = CliRunner().invoke(cli, [str(each) for each in args], prog_name="venire")
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert re.search("^error: .", result.output, re.MULTILINE), result.output
    return str(result.output)


# ---- what is read -------------------------------------------------------------------------------------------------

READ = {
    "evaluate {} x.run": "judgments",
    "evaluate qrels.txt {}": "runs",
    "evaluate qrels.txt x.run --topics {}": "topics",
    "evaluate qrels.txt x.run --gains ./{}": "gains",
    "evaluate qrels.txt x.run --fit-on {} --gains prm:1": "judgments",
    "compare qrels.txt {}": "runs",
    "agreement {} other.txt": "judgments",
    "certify qrels.txt x.run --check {}": "certificate",
    "clicks {}": "clicks",
    "consistency qrels.txt --duplicates {}": "duplicates",
    "disagreement qrels.txt other.txt --groups {}": "groups",
    "disagreement qrels.txt other.txt --intents {}": "intents",
    "pdp qrels.txt {}": "preferences",
    "preferences qrels.txt x.run --preferences {}": "preferences",
    "context predict qrels.txt --features {}": "features",
    "report qrels.txt x.run --before {} -o page.html": "judgments",
    "export {} -o out.qrels": "judgments",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", READ)
@pytest.mark.parametrize("name", ["comments", "empty", "blank", "missing", "."])
def test_files_without_data(command, name):
    if "--duplicates" in command and name in ("comments", "empty", "blank"):
        pytest.skip("a list of duplicates may be empty")
    assert refused(*command.format(name).split())


@pytest.mark.parametrize("command", ["evaluate {} x.run", "agreement {} other.txt", "export {} -o out"])
@pytest.mark.parametrize("name", TOML)
def test_declarations_that_cannot_be_read(folder, command, name):
    write(folder / "labels.txt", QRELS)
    write(folder / "labels.toml", TOML[name])
    assert "labels.toml" in (said := refused(*command.format("labels.txt").split())) or "label '0' occurs twice" in said
    assert CliRunner().invoke(cli, ["inspect", "labels.txt"], prog_name="venire").exit_code == 2


@pytest.mark.parametrize("name", JSON)
def test_saved_files_that_cannot_be_read(folder, name):
    write(folder / "saved.json", JSON[name])
    write(folder / "made" / "truth" / "systems.tsv", "system\tquality\ns1\t1\n")
    write(folder / "made" / "truth" / "setting.json", JSON[name])
    assert "saved.json" in refused("evaluate", "qrels.txt", "x.run", "--gains", "saved.json")
    assert "saved.json" in refused("certify", "qrels.txt", "x.run", "--check", "saved.json")
    assert "saved.json" in refused("evaluate", "qrels.txt", "x.run", "-m", "CCG@5", "--predict", "saved.json")
    result = CliRunner().invoke(
        cli, ["simulate", "levels", "--topics", "2", "--docs", "3", "-o", "made"], prog_name="venire"
    )
    assert result.exit_code in (0, 2)
    assert "Traceback" not in result.output
    assert (result.exit_code == 0) == (name in ("list", "null", "other-type"))  # JSON, though of no kind of collection


def test_numbers_with_thousands_of_digits(folder):
    write(folder / "label.txt", f"{QRELS}t1 0 d9 {DIGITS}\n")
    assert "label" in refused("evaluate", "label.txt", "x.run")
    write(folder / "topics.txt", "".join(f"{DIGITS}{t} 0 d{d} {d % 2}\n" for t in (2, 1) for d in range(3)))
    write(folder / "topics.run", "".join(f"{DIGITS}{t} Q0 d{d} 1 {d} s\n" for t in (2, 1) for d in range(3)))
    done = CliRunner().invoke(cli, ["evaluate", "topics.txt", "topics.run", "--per-topic"], prog_name="venire")
    assert done.exit_code == 0, done.output
    for option, text in (
        ("-m", f"nDCG@{DIGITS}"),
        ("--gains", f"udm:1/{DIGITS}"),
        ("--gains", f"0=0,1=1,2={DIGITS}"),
        ("--rng", f"-{DIGITS}"),
    ):
        refused("evaluate", "qrels.txt", "x.run", option, text)
    refused("count", "qrels.txt", "x.run", "--top", DIGITS)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("gains", ["0=inf,1=1,2=2", "0=nan,1=1,2=2", "0=0,1=1,2=1e999", "0=0,1=,2=1", "=", "x" * 5000])
@pytest.mark.parametrize("command", ["evaluate", "compare", "power", "count"])
def test_gains_that_are_not_finite_numbers(command, gains):
    refused(command, "qrels.txt", "x.run", "--gains", gains)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize(
    "command",
    [
        "disagreement qrels.txt other.txt --prior",
        "certify qrels.txt x.run --reference qrels --max-bias",
        "simulate context -o made --complementarity",
        "simulate perceived -o made --sigma 0",
    ],
)
def test_options_that_are_not_finite_numbers(command, value):
    refused(*command.split(), value)


def test_long_lists_of_gains_are_no_name_of_a_file(folder):
    labels = [str(n) for n in range(200)]
    write(folder / "many.txt", "".join(f"1 0 d{label} {label}\n" for label in labels))
    write(folder / "many.run", "".join(f"1 Q0 d{label} 1 {label} s\n" for label in labels))
    gains = ",".join(f"{label}={label}" for label in labels)
    done = CliRunner().invoke(cli, ["evaluate", "many.txt", "many.run", "--gains", gains], prog_name="venire")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "systems", ["system\n../../precious\n", "system\n/tmp/precious\n", "system\na\0b\n", b"\xff\n\xff\n"]
)
def test_a_simulation_removes_nothing_outside_its_folder(folder, systems):
    write(folder / "precious.run", "x")
    write(folder / "made" / "sub" / "truth" / "systems.tsv", systems)
    write(folder / "made" / "sub" / "truth" / "setting.json", '{"kind": "levels"}')
    assert "systems.tsv" in refused("simulate", "levels", "--topics", "2", "--docs", "3", "-o", "made/sub")
    assert (folder / "precious.run").read_text() == "x"


def test_a_simulation_does_not_follow_links_out_of_its_folder(folder):
    for name in ("runs", "truth"):
        write(folder / "elsewhere" / "s1.run", "x")
        write(folder / "elsewhere" / "systems.tsv", "system\ns1\n")
        write(folder / "elsewhere" / "setting.json", '{"kind": "levels"}')
        made = folder / f"made-{name}"
        write(made / "truth" / "systems.tsv", "system\ns1\n") if name == "runs" else made.mkdir()
        (made / name).symlink_to("../elsewhere")
        refused("simulate", "levels", "--topics", "2", "--docs", "3", "-o", made)
        assert (folder / "elsewhere" / "s1.run").read_text() == "x"
        assert (folder / "elsewhere" / "setting.json").exists()


@pytest.mark.usefixtures("folder")
def test_only_a_gate_ends_with_1():
    for condition, code in (("alpha>=2", 1), ("alpha>=-2", 0), ("alpha>=", 2), ("nothing>1", 2)):
        args = ["certify", "qrels.txt", "-j", "other.txt", "x.run", "--reference", "other", "--draws", "5"]
        done = CliRunner().invoke(cli, [*args, "--require", condition], prog_name="venire")
        assert done.exit_code == code, (condition, done.output)


# ---- streams ------------------------------------------------------------------------------------------------------


def in_a_shell(line: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    script = f'venire() {{ "{sys.executable}" -W error -m venire "$@"; }}\n{line}'
    return subprocess.run(["bash", "-c", script], capture_output=True, cwd=folder, timeout=60, check=False)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("venire evaluate qrels.txt - <&-", 2, b"standard input (-) is closed"),
        ("venire evaluate - x.run <&-", 2, b"standard input (-) is closed"),
        ("venire evaluate qrels.txt x.run <&-", 0, b""),
        ("venire evaluate qrels.txt x.run >&-", 2, b"standard output is closed"),
        ("venire evaluate qrels.txt x.run -o scores.txt >&-", 0, b""),
        ("venire evaluate qrels.txt x.run 2>&-", 0, b""),
        ("venire evaluate qrels.txt nowhere.run 2>&-", 2, b""),
        ("venire evaluate qrels.txt x.run <&- -o scores.txt >&- 2>&-", 0, b""),
        ("venire evaluate qrels.txt nowhere.run 2>/dev/full", 2, b""),
        ("venire simulate levels --topics 2 --docs 3 -o made 2>/dev/full", 0, b""),
        ("venire evaluate qrels.txt x.run >/dev/full", 2, b"standard output: cannot be written: No space left"),
        ("venire --help >/dev/full", 2, b"No space left"),
        ("venire --help >&-", 0, b""),
        ("venire evaluate qrels.txt x.run -o /dev/stdout | cat; exit ${PIPESTATUS[0]}", 0, b""),
        ("venire evaluate qrels.txt x.run -o /dev/full", 2, b"/dev/full: cannot be written: no space left"),
        ("cat x.run | venire evaluate qrels.txt -", 0, b""),
    ],
)
def test_closed_and_full_streams(folder, line, code, said):
    done = in_a_shell(line, folder)
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    "command",
    ["--help", "--version", "evaluate --help", "evaluate qrels.txt x.run", "inspect qrels.txt", "completion zsh"],
)
def test_a_reader_who_has_left(folder, command):
    reading, writing = os.pipe()
    os.close(reading)
    args = [sys.executable, "-m", "venire", *command.split()]
    done = subprocess.run(args, stdout=writing, stderr=subprocess.PIPE, cwd=folder, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_one_line_is_enough(folder):
    line = "venire evaluate qrels.txt x.run --per-topic --format csv -q | head -1; exit ${PIPESTATUS[1]}"
    done = in_a_shell(line, folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1


WAIT = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
from pathlib import Path
from venire.cli import main
from venire.io import outputs

def wait(*_):
    Path("begun").touch()
    time.sleep(60)

class Waiting:
    def __getattr__(self, name):
        return wait if name == "fsync" else getattr(os, name)

outputs.os = Waiting()
main.main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interruption_leaves_nothing_behind(folder, number, code):
    (folder / "scores.txt").write_text("old")
    args = [sys.executable, "-c", WAIT, "evaluate", "qrels.txt", "x.run", "-o", "scores.txt"]
    process = subprocess.Popen(args, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(600):
        if (folder / "begun").exists():
            break
        time.sleep(0.1)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, b"Traceback" in said) == (code, False), said
    assert (folder / "scores.txt").read_text() == "old"
    assert not list(folder.glob(".venire-*"))


LIMITED = """
import resource
from venire.cli.main import main

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
main()
"""


def test_too_little_memory_names_what_was_too_large(folder):
    command = [sys.executable, "-c", LIMITED, *["simulate", "perceived", "-o", "made", "--topics", "2000000000"]]
    done = subprocess.run(command, capture_output=True, cwd=folder, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert re.search(r"error: not enough memory: Unable to allocate .* array", done.stderr)
    assert "hint: ask for less" in done.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_ends_with_another_code_for_files_that_are_not_there(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    if any(each.endswith(".parquet") for each in arguments(words)) and words != "inspect":
        refused(*arguments(words))
        write_files(tmp_path)
        for path in tmp_path.glob("*.parquet"):
            path.write_bytes(path.read_bytes()[:-20])
        refused(*arguments(words))

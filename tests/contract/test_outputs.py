"""No output destroys: every command, every output option, every way in which writing fails.

A file under its final name is the old one or the new one, whole; nothing else is left, but by a process that is killed.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from every_command import (
    COMMANDS,
    FOLDERS,
    OF_STUDIES,
    QUICK,
    WITHOUT_FILES,
    arguments,
    every_command,
    inputs,
    is_folder,
    outputs as outputs_of,
)
from venire.cli.main import cli
from venire.cli.places import PLACES
from venire.io import judgments as judgment_files, outputs
from venire.judging import study_files

SOURCE = Path(__file__).parents[2] / "src" / "venire"
OLD = b"an old file\n"
WRITING = [*COMMANDS, *OF_STUDIES]
TRIED = [*QUICK, *OF_STUDIES]
SLOW = [pytest.param(words, marks=[] if words in TRIED else pytest.mark.slow) for words in WRITING]
PAIRS = [(words, option) for words in WRITING for option in outputs_of(words)]


NEVER_AGAIN = {"judge init"}
"""Commands that refuse to write where something is."""
KILLED_FIRST = ("evaluate", "simulate levels", "judge init")
STUDY_READ = ("study.db", "topics.tsv", "docs.jsonl", "pool.tsv", "guidelines.md", "gold.qrels", "pages/d1.txt")


# ---- one way of writing -------------------------------------------------------------------------------------------

FORBIDDEN = {"write_text", "write_bytes", "touch", "unlink", "rmtree", "mkstemp", "NamedTemporaryFile"}
FORBIDDEN |= {"to_csv", "to_parquet", "savetxt", "tofile", "dump", "sink_csv", "sink_parquet", "symlink_to"}
INTO_MEMORY = {"write_csv", "write_parquet", "write_ndjson", "write_json", "savefig"}
OPEN_FILES = {"file", "held", "sink"}
ALLOWED = {
    ("io/outputs.py", "unlink"),
    ("io/outputs.py", "os.open"),
    ("io/inspect.py", "write_bytes"),  # copies in a temporary folder, which it reads
    ("plots/style.py", "savefig"),  # the method that a user calls
    ("simulation/folders.py", "unlink"),  # files of an earlier simulation
    ("io/tables/parquet.py", "unlink"),  # a copy of what came through a pipe
    ("io/tables/parquet_process.py", "write_parquet"),  # into memory
    ("cli/main.py", "os.open"),  # /dev/null in place of a closed stream
    ("judging/web/organising.py", "write_csv"),  # into memory
    ("judging/database.py", "touch"),  # a database is written where it is; a new one is for its owner alone
}


def writes(code: str) -> Iterator[str]:
    """Yield calls that write to files, but for those that write to open files."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call):
            continue
        called, first = node.func, node.args[0] if node.args else None
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        owner = getattr(called.value, "id", "") if isinstance(called, ast.Attribute) else ""
        if owner == "os" and name in ("open", "replace", "rename", "remove", "unlink", "write"):
            yield f"os.{name}" if name == "open" else name
        elif (isinstance(called, ast.Attribute) and name in FORBIDDEN) or (
            name in INTO_MEMORY and isinstance(called, ast.Attribute) and getattr(first, "id", "") not in OPEN_FILES
        ):
            yield name
        elif name == "open":
            modes = [*node.args[isinstance(called, ast.Name) :], *(word.value for word in node.keywords)]
            texts = [each.value for each in modes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            yield from ("open" for mode in texts if set(mode) & set("wax+"))


def test_files_are_written_in_one_place():
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in SOURCE.rglob("*.py")
        for name in writes(path.read_text(encoding="utf-8"))
    }
    own = {("io/outputs.py", name) for name in ("write", "replace", "open")}
    assert found - own <= ALLOWED


def test_the_rule_itself():
    code = 'p.write_text("x")\nopen("a", "w")\nPath("a").open(mode="ab")\nframe.write_csv(path)\nos.open("a", 1)'
    assert sorted(writes(code)) == ["open", "open", "os.open", "write_csv", "write_text"]
    assert not list(
        writes('open("a")\npath.open("rb")\nframe.write_csv(file)\nwrite_bytes(path, b"")\nx.replace(1, 2)')
    )


def test_every_command_and_every_output_is_tried():
    found = {
        words: {each.opts[0] for each in command.params if each.callback in PLACES}
        for words, command in every_command()
    }
    assert {words for words, options in found.items() if not options} == set(WITHOUT_FILES)
    assert found == {words: set(outputs_of(words)) for words in WRITING} | {words: set() for words in WITHOUT_FILES}


def test_every_option_that_is_written_is_known():
    """A parameter that takes a path, and neither completes files to read nor is an output, would be missed."""
    for words, command in every_command():
        for each in command.params:
            written = {"-o", "--json", "--plot"} & {*each.opts} or each.opts[0].startswith(("--save", "--posterior"))
            assert not written or each.callback in PLACES or each.name == "posterior_model", (words, each.opts)


# ---- refused before work begins -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The working folder, with what the command of a test reads."""
    called = getattr(request.node, "callspec", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("venire.report.page.inline_svg", lambda picture: picture.name)  # drawing takes longest
    with inputs(called.params.get("words", "") if called else "", tmp_path):
        yield tmp_path


def run(args: list[str]) -> tuple[int, str]:
    """Exit code, and what was said."""
    result = CliRunner().invoke(cli, args, prog_name="venire")
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


def with_output(words: str, option: str, path: object) -> list[str]:
    """The arguments of a command with another place for an output; a study keeps the ending of its name."""
    old = outputs_of(words)[option]
    new = f"{path}.toml" if words == "judge init" else str(path)
    n = len(words.split())
    return [*words.split(), *(new if each == old else each for each in arguments(words)[n:])]


def held(folder: Path) -> dict[str, bytes]:
    """The files below a folder, but for the memory that processes share which have a SQLite file open."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


def inputs_of(words: str, folder: Path) -> list[Path]:
    if words in OF_STUDIES:
        return [Path("study.toml"), Path("study.db-wal"), *(Path(name) for name in STUDY_READ)]
    files = [Path(text) for text in arguments(words) if (folder / text).is_file()]
    return [*files, *([Path("runs/1.parquet")] if "runs" in arguments(words) else [])]


@pytest.mark.parametrize(("words", "option"), [pair for pair in PAIRS if not is_folder(*pair)])
def test_no_output_may_be_an_input(folder, words, option):
    for path in inputs_of(words, folder):
        (folder / "link").symlink_to(folder / path)
        (folder / "links").symlink_to((folder / path).parent)
        (folder / "hard").hardlink_to(folder / path)
        before = held(folder)
        for name in (path, folder / path, f"./{path}", "link", "hard", f"links/{path.name}"):
            code, said = run(with_output(words, option, name))
            assert (code, held(folder)) == (2, before), name
            assert re.search(r"error: .*, which is read", said), said
        for name in ("link", "links", "hard"):
            (folder / name).unlink()


@pytest.mark.parametrize("words", [words for words in COMMANDS if "runs" in arguments(words)])
def test_no_output_goes_to_a_folder_that_is_read(folder, words):
    for option in outputs_of(words):
        code, said = run(with_output(words, option, "runs/new.svg"))
        assert code == 2
        assert "is in the folder runs, which is read" in said
    assert not (folder / "runs" / "new.svg").exists()


def test_a_pattern_is_read_too(folder):
    args = ["evaluate", "labels.parquet", "runs/*.parquet", "--per", "assessor", "-o", "runs/0.parquet"]
    before = held(folder)
    code, said = run(args)
    assert (code, held(folder)) == (2, before)
    assert "runs/*.parquet, which is read" in said


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["export", "labels.parquet", "--assessor", "ann", "-o", "labels.parquet.toml"], "which is read"),
        (["export", "labels.parquet", "--assessor", "ann", "-o", "labels.parquet"], "which is read"),
        (
            ["evaluate", "labels.parquet", "runs", "--per", "assessor", "--gains", "gains.txt", "-o", "gains.txt"],
            "--gains",
        ),
        (["certify", "labels.parquet", "runs", "--prompt", "ann=prompt", "--json", "prompt"], "--prompt"),
    ],
)
def test_files_that_texts_name_and_files_beside_are_inputs_too(folder, args, said):
    (folder / "gains.txt").write_text("Non 0\nRel 1\nHRel 2\n")
    (folder / "prompt").write_text("Is it relevant?")
    before = held(folder)
    code, found = run(args)
    assert (code, held(folder)) == (2, before)
    assert said in found


def test_a_name_that_is_no_file_to_read_is_free(folder):
    (folder / "ann").write_bytes(OLD)
    assert run(["export", "labels.parquet", "--assessor", "ann", "-o", "ann"])[0] == 0
    assert (folder / "ann").read_bytes() != OLD


def test_an_empty_name_is_refused(folder):
    before = held(folder)
    code, said = run(["agreement", "labels.parquet", "-o", ""])
    assert (code, held(folder)) == (2, before)
    assert "the name of the file is empty" in said


@pytest.mark.parametrize("words", [words for words in WRITING if len(outputs_of(words)) > 1])
def test_two_outputs_have_two_names(folder, words):
    (folder / "there").write_bytes(OLD)
    (folder / "link").symlink_to("there")
    (folder / "nowhere").symlink_to("not-yet")
    for one, other in combinations(outputs_of(words), 2):
        linked = () if is_folder(words, other) else (("there", "link"), ("not-yet", "nowhere"))
        for names in (("new", "new"), ("new", "./new"), *linked):
            args = with_output(words, one, names[0])
            args[args.index(other) + 1] = names[1]
            before = held(folder)
            code, said = run(args)
            assert (code, held(folder)) == (2, before)
            assert f"{one} and {other} are the same file" in said or f"{other} and {one} are the same file" in said


@pytest.mark.usefixtures("folder")
def test_a_device_may_be_named_twice():
    args = arguments("disagreement")
    for name in outputs_of("disagreement").values():
        args[args.index(name)] = "/dev/null" if not name.endswith(".svg") else name
    assert run(args)[0] == 0


@pytest.mark.parametrize(("words", "option"), PAIRS)
def test_a_place_where_nothing_can_be_written_is_refused(folder, words, option, monkeypatch):
    refuse_work(monkeypatch)
    (folder / "file").write_bytes(OLD)
    before = held(folder)
    for name in ("file/x", "file/x/y") if is_folder(words, option) else ("nowhere/x", "runs", "file/x"):
        code, said = run(with_output(words, option, name))
        assert (code, held(folder)) == (2, before)
        assert re.search(r"error: .*(nowhere|runs|file)", said), said


WORK = SimpleNamespace(refused=False)
"""Whether a command may begin to work; a module that is first imported in a test keeps the function that asks this."""


def refuse_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail where a command begins to work."""
    monkeypatch.setattr(WORK, "refused", True)
    for module, name in ((judgment_files, "read_judgments"), (study_files, "read_study")):
        monkeypatch.setattr(module, name, partial(_asked_to_work, getattr(module, name)))


def _asked_to_work(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    if WORK.refused:
        pytest.fail("work began")
    return real(*args, **options)


def test_standard_output_that_is_an_input_is_refused(folder):
    (folder / "labels.txt").write_text("1 0 a 1\n")
    before = held(folder)
    with (folder / "labels.txt").open("ab") as file:
        command = [sys.executable, "-m", "venire", "inspect", "labels.txt"]
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, cwd=folder, text=True, check=False)
    assert (done.returncode, held(folder)) == (2, before)
    assert "standard output goes to labels.txt, which is read" in done.stderr


# ---- every write fails --------------------------------------------------------------------------------------------


class Failing:
    """The module ``os``, of which one function fails at its n-th call, or at every call."""

    def __init__(self, step: str, at: int, act: Callable[..., object]) -> None:
        self.step, self.at, self.act, self.calls = step, at, act, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name != self.step:
            return real

        def counted(*args: Any) -> Any:
            self.calls += 1
            return self.act(real, *args) if self.calls == self.at else real(*args)

        return counted


def out_of_space(real: Callable[..., int], *args: Any) -> int:
    """Write half of what there is to write, then fail, as a disk does."""
    if real is os.write:
        real(args[0], args[1][: len(args[1]) // 2])
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Scene:
    """A command with old files in the places of its outputs, and what it writes there where nothing fails."""

    def __init__(self, words: str, folder: Path) -> None:
        self.words, self.folder = words, folder
        self.args = arguments(words)
        before = held(folder)
        if any(is_folder(words, option) for option in outputs_of(words)) and words not in NEVER_AGAIN:
            assert run([*self.args, "--rng", "1"])[0] == 0
        if words not in FOLDERS:
            for name in {*outputs_of(words).values(), *held(folder)} - {*before, outputs_of(words).get("--qrels")}:
                (folder / name).write_bytes(OLD)
        self.old = held(folder)
        code, said = run(self.args)
        assert code == 0, said
        self.new = held(folder)
        assert self.new != self.old
        self.reset()

    def reset(self) -> None:
        found = held(self.folder)
        for name in found.keys() - self.old.keys():
            (self.folder / name).unlink()
        for name, data in self.old.items():
            if found.get(name) != data:
                (self.folder / name).write_bytes(data)

    def check(self, *, temporary: bool = False) -> None:
        """Each file is as before or as it should be; no other file is there."""
        found = held(self.folder)
        left = [name for name in found if name not in self.old and name not in self.new]
        assert all(re.fullmatch(r"(.*/)?\.venire-[0-9a-f]+\.tmp", name) for name in left), left
        assert temporary or not left
        for name in {*self.old, *self.new}:
            assert found.get(name) in (self.old.get(name), self.new.get(name)), name


def fail_each(scene: Scene, monkeypatch: pytest.MonkeyPatch, step: str) -> int:
    """Let each call of a function fail in turn; return how often the command failed."""
    failed = 0
    for at in range(1, 1000):
        failing = Failing(step, at, out_of_space)
        monkeypatch.setattr(outputs, "os", failing)
        code, said = run(scene.args)
        monkeypatch.setattr(outputs, "os", os)
        scene.check()
        if failing.calls < at:
            assert code == 0
            return failed
        if code != 0 or step == "write":  # a folder need not be flushed
            failed += 1
            assert (code, "Traceback" in said) == (2, False), said
            assert re.search(r"error: .*: cannot be written: no space left on device", said), said
        scene.reset()
    raise AssertionError("the command never ended")


@pytest.mark.parametrize("words", SLOW)
def test_each_write_fails_in_turn(folder, monkeypatch, words):
    scene = Scene(words, folder)
    assert fail_each(scene, monkeypatch, "write") >= len(outputs_of(words))


@pytest.mark.slow
@pytest.mark.parametrize("step", ["open", "fsync", "fchmod", "close"])
@pytest.mark.parametrize("words", TRIED)
def test_each_other_step_fails_in_turn(folder, monkeypatch, words, step):
    old = not (step == "fchmod" and words in NEVER_AGAIN)  # whose permissions are kept
    assert fail_each(Scene(words, folder), monkeypatch, step) >= old * len(outputs_of(words))


def test_the_study_of_the_demo_is_written_whole_or_not_at_all(folder, monkeypatch):
    """``demo --judge`` serves what it has written, so it is tried apart."""
    monkeypatch.setattr("venire.judging.web.serving.serve", lambda *_: None)
    (folder / "file").write_bytes(OLD)
    before = held(folder)
    for name, why in (("file", "is a file"), ("file/x", "is a file"), (".", "is not empty")):
        code, said = run(["demo", "--judge", "-o", name])
        assert (code, held(folder)) == (2, before)
        assert why in said
    for at in range(1, 20):
        failing = Failing("write", at, out_of_space)
        monkeypatch.setattr(outputs, "os", failing)
        code, said = run(["demo", "--judge", "-o", "study"])
        if failing.calls < at:
            break
        assert (code, held(folder)) == (2, before)
        assert "cannot be written: no space left on device" in said
    assert code == 0
    assert at > 10, "ten files were written"


@pytest.mark.parametrize("words", SLOW)
def test_a_limit_on_the_size_of_files(folder, words):
    scene = Scene(words, folder)
    largest = max(len(data) for name, data in scene.new.items() if data != scene.old.get(name))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (0, largest // 2):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            code, said = run(scene.args)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        scene.check()
        assert code == 2, said
        assert re.search(r"error: .*: cannot be written: file too large", said), said
        scene.reset()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB in memory; only root may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass


@pytest.mark.parametrize("words", TRIED)
def test_a_full_disk(small_disk, monkeypatch, words):
    monkeypatch.chdir(small_disk)
    with inputs(words, small_disk):
        scene = Scene(words, small_disk)
        fill(small_disk)
        scene.old["filler"] = scene.new["filler"] = (small_disk / "filler").read_bytes()
        code, said = run(scene.args)
        scene.check()
    assert code == 2
    assert "cannot be written: no space left on device" in said


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("words", "option"), PAIRS)
def test_a_folder_that_is_only_read(small_disk, monkeypatch, words, option):
    refuse_work(monkeypatch)
    (small_disk / "old").write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for name in ("new",) if is_folder(words, option) else ("old", "new"):
        code, said = run(with_output(words, option, small_disk / name))
        assert code == 2
        assert str(small_disk) in said
        assert re.search("cannot be written|nothing can be written", said)
    assert (small_disk / "old").read_bytes() == OLD


KILLER = """
import json, os, signal, sys, tempfile
from pathlib import Path
import matplotlib.figure, numpy, polars, scipy.stats, sklearn.linear_model
from venire.cli.main import cli
from venire.io import judgments as judgment_files, outputs
from venire.judging import study_files

calls = 0

class Killing:
    def __getattr__(self, name):
        real = getattr(os, name)
        return die(real, half=name == "write") if name == step else real

def die(real, half=False):
    def counted(*args):
        global calls
        calls += 1
        if calls == at:
            if half:
                real(args[0], args[1][: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args)
    return counted

for line in sys.stdin:
    folder, step, at, args = json.loads(line)
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            os.chdir(folder)
            for number in (1, 2):
                os.dup2(said.fileno(), number)
            outputs.os = Killing()
            if step == "replace":
                Path.replace = die(Path.replace)
            cli.main(args, prog_name="venire")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        print(json.dumps([code, said.read().decode()]), flush=True)
"""


@pytest.fixture(scope="module")
def killed():
    """Return a function that runs a command in a process that kills itself at a call of a function: code and output.

    The processes are forks of one that has loaded the libraries, and has used none of them.
    """
    command = [sys.executable, "-c", KILLER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def start(folder: Path, step: str, at: int, args: list[str]) -> tuple[int, str]:
            server.stdin.write(json.dumps([str(folder), step, at, args]) + "\n")
            server.stdin.flush()
            return tuple(json.loads(server.stdout.readline()))

        yield start


@pytest.mark.parametrize(
    "words",
    [pytest.param(each, marks=[] if each in KILLED_FIRST else pytest.mark.slow) for each in TRIED],
)
def test_killed_in_the_middle(folder, killed, words):
    scene = Scene(words, folder)
    for step, at in (("write", 1), ("fsync", 1), ("replace", 1), ("replace", 2), ("write", 2)):
        code, said = killed(folder, step, at, scene.args)
        assert code == -9 or (at == 2 and code == 0), said
        scene.check(temporary=True)
        code, said = run(scene.args)  # what a killed process left is in nobody's way
        assert code == 0, said
        scene.reset()


@pytest.mark.parametrize("at", [1, 2, 4])
def test_a_first_simulation_that_was_killed_can_be_run_again(folder, killed, at):
    args = [*arguments("simulate levels")[:-1], "new"]
    assert killed(folder, "replace", at, args)[0] == -9
    assert [path for path in (folder / "new").rglob("*") if path.is_file()]
    assert run(args)[0] == 0

"""Every command and script of the documentation runs, and prints what the page says.

A page is followed from its first block to its last in a folder that holds the files its examples name
(``documented_files.py``: add a name there when an example needs one) and, as ``venire-demo``, the demo's collection.

- ``sh`` blocks: lines of ``venire`` run in this process, all others in a shell.  They end with 0, those with
  ``--require`` with 0 or 1, or with what a comment says: ``# exits with 1``.  Blocks of ``make`` or ``pip`` set up a
  machine and are not run; nor is a block after ``<!-- not run: REASON -->``.
- ``python`` blocks run in the same folder and share their names; those with ``>>>`` are doctests, run elsewhere.
- The lines of a ``text`` block right after either must be in its output, in that order; ``...`` stands for others.
  Where there is no such block, commands run with few draws, and ``venire demo`` is not run again.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from documented_files import write_documented_files
from model_server import ModelServer
from venire.cli.main import COMMANDS, cli

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?:^<!-- not run: (?P<reason>[^\n]*) -->\n+)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
CODE = re.compile(r"# exits with (\d+)")
SET_UP = ("make", "pip")
LONGEST = 10
"""Lines of an example of an integration."""
FOREIGN = ("trec_eval", "ir_measures")
"""Tools that need not be there; what they make of our files is tested elsewhere."""
IN_CONTEXT = re.compile(r"venire context|alpha=|--alphas")
"""Examples of labels in condition call their judgments judgments.tsv too."""
FEW = 4
LONG = {
    *("docs/gallery/index.md", "docs/howto/how-many-judgments.md", "docs/howto/release-gate.md"),
    *(
        "docs/integrations/index.md",
        "docs/tutorials/judging.md",
        "docs/howto/judges-who-contradict.md",
        "docs/howto/llm-judge-good-enough.md",
        "docs/tutorials/first-report.md",
    ),
}
"""Pages that ``make test-slow`` follows."""


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int

    @property
    def is_run(self) -> bool:
        if self.kind == "sh":
            return self.text.split()[0] not in SET_UP
        return self.kind == "python" and ">>>" not in self.text


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = [each for each in BLOCK.finditer(text) if each["reason"] is None]
    return [Block(each["kind"], each["text"], text.count("\n", 0, each.start("kind")) + 1) for each in found]


PAGES = [page for page in [README, *sorted((ROOT / "docs").rglob("*.md"))] if any(each.is_run for each in blocks(page))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


PAGE_CASES = [pytest.param(page, marks=pytest.mark.slow if name_of(page) in LONG else ()) for page in PAGES]


def follow(page: Path) -> None:
    """Run the blocks of a page in the current folder, and compare what they print with what it says."""
    names: dict[str, Any] = {"__name__": "page"}
    for block, after in pairwise([*blocks(page), Block("", "", 0)]):
        if block.is_run:
            where, shown = f"{name_of(page)}, line {block.line}", after.kind == "text"
            shutil.copyfile("given.tsv" if IN_CONTEXT.search(block.text) else "judgments.tsv.plain", "judgments.tsv")
            said = in_python(block, names, where) if block.kind == "python" else in_shell(block, where, quick=not shown)
            if shown:
                compare_lines(said, after.text, where)


def in_python(block: Block, names: dict[str, Any], where: str) -> str:
    """Run a script; if it ends with an expression, show that too, as a notebook does."""
    *body, last = ast.parse(block.text, where).body
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), where, "exec"), names)
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
            said.write("" if value is None else f"{value!r}\n")
        else:
            exec(compile(block.text, where, "exec"), names)
    return said.getvalue()


def in_shell(block: Block, where: str, *, quick: bool) -> str:
    lines = [line for line in block.text.replace("\\\n", " ").splitlines() if line.split("#")[0].strip()]
    commands = [words_of(line) for line in lines]
    if None in commands:
        return _by_shell(block.text, where)
    return "".join(_by_command(words or [], line, where, quick) for words, line in zip(commands, lines, strict=True))


def words_of(line: str) -> list[str] | None:
    """Split a line that is a command of venire alone; None for what needs a shell."""
    reader = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    reader.whitespace_split = True
    words = list(reader)
    shell = "$" in line or any(set(word) <= set("|&;<>") for word in words)
    return None if shell or words[0] != "venire" else words[1:]


def _by_command(words: list[str], line: str, where: str, quick: bool) -> str:
    if quick and words[0] == "demo":
        return _with_the_demo_at_hand(words)
    with pytest.MonkeyPatch.context() as patch:
        if quick:
            patch.setattr("venire.plots.style.write_figure", lambda figure, path: path.touch())  # noqa: ARG005
        result = CliRunner().invoke(cli, words, prog_name="venire", default_map=few_draws() if quick else None)
    said = click.unstyle(result.output)
    assert result.exit_code in codes(line), f"{where}: {line}\n{said}"
    return said


def _with_the_demo_at_hand(words: list[str]) -> str:
    """Check the options, and take the collection that is there: one page runs the demo itself."""
    command = cli.get_command(click.Context(cli), "demo")
    assert command is not None
    folder = command.make_context("demo", words[1:]).params["folder"]
    if folder != Path("venire-demo"):
        shutil.copytree("venire-demo", folder)
    return ""


def _by_shell(text: str, where: str) -> str:
    tools = "".join(f"{tool}() {{ :; }}\n" for tool in FOREIGN)
    own = "".join(f'{tool}() {{ "{sys.executable}" -m {tool} "$@"; }}\n' for tool in ("pytest", "venire"))
    script = tools + own + text
    home = {**os.environ, "HOME": str(Path.cwd())}
    done = subprocess.run(["sh", "-eu", "-c", script], capture_output=True, text=True, env=home, check=False)
    said = click.unstyle(done.stdout + done.stderr)
    assert done.returncode in codes(text), f"{where}: {text}\n{said}"
    return said


def codes(text: str) -> set[int]:
    stated = CODE.search(text)
    return {int(stated[1])} if stated else {0, 1} if "--require" in text else {0}


@cache
def few_draws() -> dict[str, Any]:
    """Defaults of all commands that make them quick; what an example states itself stays."""

    def of(command: click.Command | None) -> dict[str, Any]:
        if isinstance(command, click.Group):
            return {name: of(each) for name, each in command.commands.items()}
        assert command is not None
        return {str(each.name): FEW for each in command.params if {"--draws"} & set(each.opts)}

    return {name: of(cli.get_command(click.Context(cli), name)) for name in COMMANDS}


def compare_lines(output: str, text: str, where: str) -> None:
    """Find the lines of a page in an output, in their order."""
    said = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in text.splitlines():
        wanted = " ".join(line.split())
        if wanted not in ("", "..."):
            assert wanted in said, f"after {where}: the page says\n{line}\nand what is printed does not:\n{output}"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from venire.cli.demo import _setting
    from venire.simulation import generate, write_collection

    folder = tmp_path_factory.mktemp("documented")
    write_documented_files(folder)
    shutil.copyfile(folder / "judgments.tsv", folder / "judgments.tsv.plain")
    write_collection(generate(_setting(), rng=0), folder / "venire-demo")
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the reader's own; pictures of reports are left out, they take longer than all the rest."""
    monkeypatch.setattr("venire.report.page.inline_svg", lambda picture: f"<svg>{picture.name}</svg>")
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def model_server():
    """A language model for ``venire judge ask``: its address is in the environment, as the pages say."""
    with ModelServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield


@pytest.mark.usefixtures("folder", "model_server")
@pytest.mark.parametrize("page", PAGE_CASES, ids=name_of)
def test_a_reader_can_follow_the_page(page):
    follow(page)


@pytest.mark.usefixtures("folder")
def test_the_examples_of_the_readme_hold():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
    assert doctest.testfile(str(README), module_relative=False, optionflags=flags).failed == 0


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "integrations").glob("*.md")), ids=name_of)
def test_examples_of_integrations_are_short_and_of_a_kind_that_is_run(page):
    """The kinds are those of this file, and the steps of a workflow, which test_action.py runs."""
    for each in BLOCK.finditer(page.read_text(encoding="utf-8")):
        prompts = ">>> " in each["text"]
        lines = [line for line in each["text"].splitlines() if line.strip()]
        code = [line for line in lines if line.startswith((">>>", "...")) or not prompts]
        assert each["kind"] in {"sh", "python", "text", "yaml"}, each[0]
        assert each["kind"] == "text" or len(code) <= LONGEST, each[0]


def test_a_page_that_says_what_is_not_printed_is_found():
    compare_lines("a  1\nb 2\nc 3\n", "a 1\n...\nc 3\n", "here")
    for text in ("a 2\n", "c 3\na 1\n"):
        with pytest.raises(AssertionError, match="after here: the page says"):
            compare_lines("a  1\nb 2\nc 3\n", text, "here")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('venire inspect a.tsv --scale "Non<Rel"  # look', ["inspect", "a.tsv", "--scale", "Non<Rel"]),
        ("zcat run.gz | venire evaluate qrels.txt -", None),
        ("venire completion bash >> ~/.bashrc", None),
    ],
)
def test_only_plain_commands_run_without_a_shell(line, words):
    assert words_of(line) == words

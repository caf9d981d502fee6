"""Every command and script of the documentation runs, and prints what the page says.

A page is run from its first block to its last in a folder that holds the files its examples name
(``documented_files.py``: add a name there when an example needs one) and, under ``venire-demo``, the demo's collection.

- ``sh`` blocks: lines of ``venire`` run in this process, all others in a shell.  They end with 0, those with
  ``--require`` with 0 or 1, or with what a comment says: ``# exits with 1``.  Blocks of ``make`` or ``pip`` set up a
  machine and are not run; nor is a block after ``<!-- not run: REASON -->``.
- ``python`` blocks run in the same folder and share their names; those with ``>>>`` are doctests, run elsewhere.
- The lines of a ``text`` block right after either must be in its output, in that order; ``...`` stands for others.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from documented_files import write_documented_files

from venire.cli.main import COMMANDS, cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- not run: (?P<reason>[^\n]*) -->\n+)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
CODE = re.compile(r"# exits with (\d+)")
FOREIGN = ("trec_eval", "ir_measures")
"""Tools that need not be there; what they make of our files is tested elsewhere."""
SHELL = set("|&;<>()$`")
IN_CONTEXT = re.compile(r"venire context|alpha=|--alphas")
"""Examples of labels in context call their judgments judgments.tsv too."""


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for match in BLOCK.finditer(text):
        if match["reason"] is None:
            yield Block(match["kind"], match["text"], text.count("\n", 0, match.start()) + 1)


def is_run(block: Block) -> bool:
    if block.kind == "sh":
        return block.text.split()[0] not in ("make", "pip")
    return block.kind == "python" and ">>>" not in block.text


def lines_of(block: Block) -> list[str]:
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def words_of(line: str) -> list[str] | None:
    """Split a line that is a command of venire alone; None for all that needs a shell."""
    reader = shlex.shlex(line, posix=True, punctuation_chars="".join(sorted(SHELL - set("$`"))))
    reader.whitespace_split = True
    words = list(reader)
    plain = words[:1] == ["venire"] and not any(set(word) <= SHELL for word in words) and "$" not in line
    return words[1:] if plain else None


@dataclass
class Reader:
    """Somebody who follows a page, in a folder of their own."""

    folder: Path
    names: dict[str, Any]

    def follow(self, page: Path) -> None:
        output: str | None = None
        for block in blocks(page):
            where = f"{page.relative_to(ROOT)}, line {block.line}"
            if is_run(block):
                output = self._run(block, where)
            elif block.kind == "text" and output is not None:
                _compare(output, block.text, where)
                output = None
            else:
                output = None

    def _run(self, block: Block, where: str) -> str:
        self._lay_out("given.tsv" if IN_CONTEXT.search(block.text) else "judgments.tsv.plain")
        if block.kind == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(block.text, where, "exec"), self.names)
            return said.getvalue()
        commands = [words_of(line) for line in lines_of(block)]
        if any(words is None for words in commands):
            return _in_shell(block, where)
        return "".join(_in_process(words, line, where) for words, line in zip(commands, lines_of(block), strict=True))

    def _lay_out(self, name: str) -> None:
        shutil.copyfile(self.folder / name, self.folder / "judgments.tsv")


def _in_process(words: list[str] | None, line: str, where: str) -> str:
    import time; t0=time.time()
    result = CliRunner().invoke(cli, words, prog_name="venire", default_map=quick())
    if time.time()-t0>0.8: print("SLOW", round(time.time()-t0,1), line, file=sys.__stderr__)
    said = click.unstyle(result.output)
    assert result.exit_code in _expected(line), f"{where}: {line}\n{said}"
    return said


@cache
def quick() -> dict[str, Any]:
    """Defaults that make commands quick: few draws.  What an example states itself stays."""
    found = {}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        found[name] = _few(command)
    return found


def _few(command: click.Command | None) -> dict[str, Any]:
    if isinstance(command, click.Group):
        return {name: _few(each) for name, each in command.commands.items()}
    assert command is not None
    return {each.name: 20 for each in command.params if {"--bootstrap", "--draws"} & set(each.opts)}


def _in_shell(block: Block, where: str) -> str:
    tools = "".join(f"{tool}() {{ :; }}\n" for tool in FOREIGN)
    script = f'{tools}venire() {{ "{sys.executable}" -m venire "$@"; }}\n{block.text}'
    environment = {**os.environ, "HOME": str(Path.cwd())}
    done = subprocess.run(["sh", "-eu", "-c", script], capture_output=True, text=True, env=environment, check=False)
    said = click.unstyle(done.stdout + done.stderr)
    assert done.returncode in _expected(block.text), f"{where}: {block.text}\n{said}"
    return said


def _expected(text: str) -> set[int]:
    stated = CODE.search(text)
    return {int(stated[1])} if stated else {0, 1} if "--require" in text else {0}


def _compare(output: str, text: str, where: str) -> None:
    """Find the lines of a page in an output, in their order."""
    said = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in text.splitlines():
        wanted = " ".join(line.split())
        if wanted not in ("", "..."):
            assert wanted in said, f"{where} says {line!r}, and what is printed does not:\n{output}"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documented")
    write_documented_files(folder)
    shutil.copyfile(folder / "judgments.tsv", folder / "judgments.tsv.plain")
    return folder


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from venire import generate, write_collection
    from venire.cli.demo import _setting

    folder = tmp_path_factory.mktemp("demo") / "venire-demo"
    write_collection(generate(_setting(), rng=0), folder)
    return folder


@pytest.fixture
def reader(files: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    folder = tmp_path / "reader"
    shutil.copytree(files, folder)
    shutil.copytree(demo, folder / "venire-demo")
    monkeypatch.chdir(folder)
    return Reader(folder, {"__name__": "page"})


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(map(is_run, blocks(page)))], ids=lambda page: str(page.relative_to(ROOT))
)
def test_a_reader_can_follow_the_page(reader, page):
    reader.follow(page)


def examples(name: str) -> list[str]:
    command = cli.get_command(click.Context(cli), name)
    lines = (command.epilog or "").replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if "venire " in line]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_the_help_run(reader, name):
    for line in examples(name):
        reader._run(Block("sh", line + "\n", 0), f"venire {name} --help")

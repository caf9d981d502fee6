from __future__ import annotations

import re
from importlib.metadata import version

import click
import pytest

from venire.cli import inputs
from venire.cli.main import COMMANDS, SECTIONS, cli
from venire.scan.scanner import COMPILED


def fails_with(error: BaseException):
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_help_lists_every_command_with_its_words(venire):
    answer = venire("--help")
    assert answer.code == 0
    assert re.findall(r"^  ([a-z]+) +[A-Z]", answer.out, re.MULTILINE)[: len(COMMANDS)] == COMMANDS
    assert re.findall(r"^([A-Z][a-z ]+):$", answer.out, re.MULTILINE)[1:] == list(SECTIONS)
    assert all(" ".join(words.split()) in " ".join(answer.out.split()) for words in SECTIONS["Judges"].values())


def test_without_a_command_there_is_help(venire):
    assert venire() == venire("--help")
    assert venire().code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_says_what_their_modules_say(name):
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_version(venire):
    answer = venire("--version")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == f"venire {version('venire')}"
    assert f"numpy {version('numpy')}" in answer.out
    assert answer.out.splitlines()[2].partition(", ")[0] == f"scan of runs: {'compiled' if COMPILED else 'in numpy'}"


def test_an_unknown_command_is_answered_with_the_nearest(venire):
    assert venire("evalute", "x") == (2, "", "error: there is no command 'evalute'\nhint: did you mean 'evaluate'?\n")


def test_an_unknown_option_is_answered_with_a_way_to_the_help(venire, qrels, run):
    answer = venire("evaluate", qrels, run, "--measures", "AP")
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: No such option")
    assert answer.err.endswith("hint: see venire evaluate --help\n")


def test_a_missing_argument_is_bad_usage(venire, qrels):
    answer = venire("evaluate", qrels)
    assert answer.code == 2
    assert "RUNS" in answer.err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption_ends_with_130_and_no_traceback(venire, qrels, run, monkeypatch, error):
    monkeypatch.setattr(inputs, "read_labels", fails_with(error))
    answer = venire("evaluate", qrels, run)
    assert (answer.code, answer.out, answer.err.strip()) == (130, "", "")


def test_too_little_memory_is_said(venire, qrels, run, monkeypatch):
    monkeypatch.setattr(inputs, "read_labels", fails_with(MemoryError()))
    code, out, err = venire("evaluate", qrels, run)
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == "error: not enough memory"
    assert f"hint: the largest input is {run}, with 81 bytes" in err


def test_an_error_of_the_system_names_the_file(venire, qrels, run, monkeypatch):
    monkeypatch.setattr(inputs, "read_labels", fails_with(OSError(28, "No space left on device", "x.csv")))
    assert venire("evaluate", qrels, run) == (2, "", "error: x.csv: No space left on device\n")


def test_nobody_reading_is_no_error(venire, qrels, run, monkeypatch):
    monkeypatch.setattr(inputs, "read_labels", fails_with(BrokenPipeError()))
    assert venire("evaluate", qrels, run) == (141, "", "")


def test_our_own_mistake_shows_where_and_is_not_taken_for_a_gate(venire, qrels, run, monkeypatch):
    monkeypatch.setattr(inputs, "read_labels", fails_with(ZeroDivisionError("oops")))
    answer = venire("evaluate", qrels, run)
    assert answer.code == 70
    assert "ZeroDivisionError: oops" in answer.err
    assert answer.err.splitlines()[-1].startswith("error: this is a bug in venire")


def test_errors_reach_a_caller_who_wants_them():
    with pytest.raises(click.UsageError):
        cli.main(["evaluate", "--nonsense"], standalone_mode=False)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(venire, shell):
    answer = venire("completion", shell)
    assert answer.code == 0
    assert "_VENIRE_COMPLETE" in answer.out


def test_completion_of_another_shell(venire):
    assert venire("completion", "csh").code == 2


def test_ways_out_are_those_that_a_command_has(venire, tmp_path):
    table = tmp_path / "two.tsv"
    table.write_text("topic\tdoc\tassessor\tlabel\n1\ta\tx\t1\n1\ta\ty\t0\n1\tb\ty\t0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 s\n1 Q0 b 2 1 s\n")
    said = venire("evaluate", table, tmp_path / "run").err
    assert "--per assessor" in said
    assert "or pool their labels" in said
    said = venire("export", table, "-o", tmp_path / "out.qrels").err
    assert "--assessor NAME) or pool their labels" in said
    assert "--per" not in said
    once = tmp_path / "once.tsv"
    once.write_text("topic\tdoc\tassessor\tlabel\n1\ta\tx\t1\n1\tb\tx\t0\n")
    said = venire("evaluate", once, tmp_path / "run", "--gains", "prm:1").err
    assert "--observed" not in said
    assert "have some items judged a second time" in said
    assert "--observed" in venire("disagreement", once).err

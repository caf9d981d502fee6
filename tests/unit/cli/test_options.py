from __future__ import annotations

import click
import pytest

from venire.cli import options
from venire.cli.main import COMMANDS, cli
from venire.data import panel, runs
from venire.io import qrels, rows
from venire.io.tables import columns


def all_options(group=cli, path="venire"):
    """Every option, by command and name, those of subcommands too."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command, words = group.get_command(ctx, name), f"{path} {name}"
        yield from ((f"{words} {each.opts[-1]}", each) for each in command.params if isinstance(each, click.Option))
        if isinstance(command, click.Group):
            yield from all_options(command, words)


def test_the_words_are_those_of_the_library():
    assert tuple(panel.POOLS) == options.POOLS
    assert options.DUPLICATE_LABELS == rows.DUPLICATE_LABELS
    assert tuple(columns.LAYOUTS) == options.LAYOUTS
    assert options.SECOND_COLUMN == qrels.SECOND_COLUMN
    assert options.ORDERS == runs.ORDERS
    assert options.DUPLICATE_DOCS == runs.DUPLICATE_DOCS
    assert options.SYSTEM_FROM == runs.SYSTEM_FROM


def test_every_option_says_what_it_does_and_what_holds_without_it():
    for name, option in all_options():
        assert option.help, name
        stated = isinstance(option.default, str | int | list | tuple) and option.default not in (False, (), "")
        if stated and not option.hidden:
            assert "[default: " in option.get_help_record(click.Context(cli))[1], name


def test_no_help_states_a_limit_that_is_not_there():
    for name, option in all_options():
        assert "None" not in (option.get_help_record(click.Context(cli)) or ("", ""))[1], name


def test_an_option_that_takes_a_word_lists_them():
    for name, option in all_options():
        if isinstance(option.type, click.Choice) and len(option.type.choices) > 1:
            assert all(choice in option.help for choice in option.type.choices), name


SHARED = (
    *("more", "where", "scale", "layout", "second_column", "duplicate_labels"),
    *("order", "duplicate_docs", "system_from", "format", "quiet", "plot", "topic_file", "per"),
)


@pytest.mark.parametrize("name", SHARED)
def test_shared_options_are_the_same_everywhere(name):
    """But in simulate, which reads no files, and for the format of plan, which is that of a file by default."""
    others = {"simulate", "plan"} if name == "format" else {"simulate"}
    found = {
        (option.help, str(option.default), tuple(option.opts), option.metavar)
        for command in set(COMMANDS) - others
        for option in cli.get_command(click.Context(cli), command).params
        if isinstance(option, click.Option) and option.name == name
    }
    assert len(found) == 1


@pytest.mark.parametrize("name", ["evaluate", "inspect"])
def test_rng_is_taken_where_nothing_is_random(venire, qrels, run, name):
    plain, seeded = venire(name, qrels, run), venire(name, qrels, run, "--rng", "7")
    assert seeded == plain
    assert seeded.code == 0


def test_limits_are_raised_by_an_option(venire, write):
    """The error names the limit and the option; with the option the file is read."""
    run, qrels = write("run.txt", f"1 Q0 {'d' * 200_000} 1 1 s\n"), write("q.txt", "1 0 a 1\n1 0 b 0\n")
    refused = venire("evaluate", qrels, run)
    assert refused.code == 2
    assert "run.txt:1: found a field of 200,000 bytes" in refused.err
    assert "(--limit field-length=512KiB)" in refused.err
    assert venire("evaluate", qrels, run, "--limit", "field-length=512KiB", "--limit", "line-length=2MiB").code == 0
    assert venire("evaluate", qrels, run).code == 2


@pytest.mark.parametrize("text", ["field-length", "field-lenght=3", "field-length=x", "field-length=0"])
def test_limits_that_are_none(venire, write, text):
    answer = venire("inspect", write("q.txt", "1 0 a 1\n"), "--limit", text)
    assert answer.code == 2
    assert "field-len" in answer.err or "'x'" in answer.err


def test_commands_that_read_files_have_limits(venire):
    assert "--limit NAME=SIZE" in venire("report", "--help").out
    assert "--limit" not in venire("completion", "--help").out

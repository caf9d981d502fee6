"""The commands in Markdown, from the objects that parse their options: usage, help, options in sections, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from venire.cli.main import COMMANDS, cli

RAW = "\b\n"
"""What click puts before text that keeps its lines."""


def all_commands() -> str:
    """Return every command of venire, in the order of its help."""
    context = click.Context(cli, info_name="venire")
    lines: list[str] = []
    for name in COMMANDS:
        command = cli.get_command(context, name)
        if command is not None:
            lines += one_command(command, context, name)
    return "\n".join(lines)


def one_command(command: click.Command, parent: click.Context, name: str, *, level: int = 2) -> Iterator[str]:
    """Yield the lines of a command and of the commands below it."""
    context = click.Context(command, info_name=name, parent=parent)
    yield from [f"{'#' * level} {context.command_path}", "", "```text"]
    yield " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from ["```", "", *as_paragraphs(command.help or ""), ""]
    for section, records in option_sections(command, context).items():
        yield from [f"| {section} | |", "| --- | --- |"]
        yield from (f"| `{names}` | {escaped(words)} |" for names, words in records)
        yield ""
    yield from [*examples(command.epilog or ""), ""]
    for below, each in commands_below(command, context).items():
        yield from one_command(each, context, below, level=level + 1)


def commands_below(command: click.Command, context: click.Context) -> dict[str, click.Command]:
    """Return the commands of a group, by name."""
    if not isinstance(command, click.Group):
        return {}
    found = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return {name: each for name, each in found.items() if each is not None}


def option_sections(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Return names and help of the options of each section, in the order of the help."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            sections.setdefault(getattr(parameter, "section", "Output"), []).append(record)
    return sections


def as_paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs of help on one line each; what keeps its lines becomes a code block."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.startswith(RAW):
            yield from ["", "```text", *paragraph.removeprefix(RAW).splitlines(), "```", ""]
        else:
            yield from [escaped(" ".join(paragraph.split())), ""]


def examples(epilog: str) -> Iterator[str]:
    """Yield the examples below the options as a code block."""
    lines = epilog.removeprefix(RAW).rstrip().splitlines()
    if lines and lines[0] == "Examples:":
        yield from ["**Examples**", "", "```sh", *(line.removeprefix("  ") for line in lines[1:]), "```"]


def escaped(text: str) -> str:
    """Return plain text as Markdown that shows the same characters, in a table too."""
    return re.sub(r"[\\`*_<>#|\[\]]", lambda found: f"&#{ord(found[0])};", text)

"""Options in sections, and groups of options that reach a command as one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from venire.errors import VenireError, Way, joined_ways

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
FLAG = re.compile(r"--[a-z][a-z-]*")
"""An option where a text names it."""


class Option(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *args: Any, section: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


def with_flags(way: Way) -> str:
    """Return a way to resolve an error with its settings as options: "choose one (--assessor NAME)"."""
    flags = (f"--{name.replace('_', '-')} {value}" for name, value in way.settings.items())
    return f"{way.text} ({' '.join(flags)})"


class Command(click.Command):
    """A command whose help lists its options in sections."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run; of several ways out of an error, name those for which this command has the options."""
        try:
            return super().invoke(ctx)
        except VenireError as error:
            if error.ways:
                flags = {name for parameter in self.get_params(ctx) for name in parameter.opts}
                ways = [with_flags(way) if isinstance(way, Way) else way for way in error.ways]
                error.hint = joined_ways([way for way in ways if flags.issuperset(FLAG.findall(way))])
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, in the order in which their first options come."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Output"), []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


def option(*names: str, section: str, **settings: Any) -> Decorator:
    """Declare an option in a section of the help; it says its default, if it has one."""
    settings.setdefault("show_default", not settings.get("is_flag", False))
    return click.option(*names, cls=Option, section=section, **settings)


def one_of(*names: str, choices: tuple[str, ...], section: str, help: str, **settings: Any) -> Decorator:
    """Declare an option that takes one of a few words; ``{}`` in its help is where they are listed."""
    listed = ", ".join(choices[:-1]) + f" or {choices[-1]}"
    settings.setdefault("metavar", "WORD")
    return option(*names, section=section, type=click.Choice(choices), help=help.format(listed), **settings)


def whole_number(*names: str, section: str, least: int, metavar: str = "N", **settings: Any) -> Decorator:
    """Declare an option that takes a whole number, from ``least`` on."""
    return option(*names, section=section, type=click.IntRange(min=least), metavar=metavar, **settings)


def gathered(
    name: str,
    options: Mapping[str, Decorator],
    *,
    seen: Sequence[str] = (),
    check: Callable[[Mapping[str, Any]], None] | None = None,
) -> Decorator:
    """Declare options that reach the command as one dictionary, under this name, once they are checked.

    ``seen``: options declared elsewhere that stand in the dictionary too.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(**values: Any) -> Any:
            group = {key: values.pop(key) for key in options} | {key: values[key] for key in seen}
            if check is not None:
                check(group)
            return function(**values, **{name: group})

        return in_order(command, [*options.values()])

    return decorate


def said(*names: str) -> list[str]:
    """Options among these parameters that stand on the command line, as they are written."""
    context = click.get_current_context()
    there = {name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return [parameter.opts[0] for parameter in context.command.params if parameter.name in there]


def in_order(function: Callable[..., Any], decorators: Sequence[Decorator]) -> Callable[..., Any]:
    """Apply decorators so that their options come in the order given."""
    for each in reversed(decorators):
        function = each(function)
    return function

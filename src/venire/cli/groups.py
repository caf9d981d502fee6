"""Groups of commands that import the module of a command only when it is run, so that help is quick."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from venire.errors import UnknownName


class LazyGroup(click.Group):
    """A group whose commands are the attribute ``command`` of modules in ``package``.

    sections: title -> name of the command -> its one line of help; the order of the help
    """

    package: str
    sections: Mapping[str, Mapping[str, str]]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands, in the order of the help."""
        return [name for section in self.sections.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{self.package}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; an unknown name is an error that suggests the nearest one."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            raise UnknownName("command", args[0], known)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading them."""
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([*commands.items()], col_max=20)

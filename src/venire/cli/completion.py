"""venire completion: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import click

from venire.cli.options import Command

SHELLS = ("bash", "zsh", "fish")

EXAMPLES = """\b
Examples:
  venire completion bash >> ~/.bashrc
  venire completion zsh >> ~/.zshrc
  venire completion fish > ~/.config/fish/completions/venire.fish
"""


@click.command("completion", cls=Command, epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS))
def command(*, shell: str) -> None:
    """Print the script that completes commands in SHELL."""
    from click.shell_completion import get_completion_class

    from venire.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    complete = kind(cli, {}, "venire", "_VENIRE_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())

"""venire: the group of commands, its exit codes, and errors as one line.

A command's module is imported only when that command is run, so that ``venire --help`` is quick; its one-line
help stands in the table here.  Exit codes: 0 done, 1 a gate did not hold, 2 bad input or usage; and, as is usual,
70 a bug, 130 interrupted, 141 nobody reads the output any more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from venire.cli.speech import say
from venire.errors import UnknownName, VenireError

DONE, GATE, BAD, BUG, INTERRUPTED, UNREAD = 0, 1, 2, 70, 130, 141

COMMANDS = {
    "report": ("venire.cli.report", "Write a page with all that can be said of judgments and runs."),
    "demo": ("venire.cli.demo", "Make a collection whose truth is known, and report on it."),
    "evaluate": ("venire.cli.evaluate", "Score runs against judgments."),
    "compare": ("venire.cli.compare", "Say which systems differ, and if another judge would agree."),
    "disagreement": ("venire.cli.disagreement", "Estimate what one assessor's label says about other people."),
    "count": ("venire.cli.count", "Count the relevant results that a random user finds."),
    "consistency": ("venire.cli.consistency", "Compare assessors with themselves and with each other."),
    "robustness": ("venire.cli.robustness", "Ask whether the order of systems depends on who judged."),
    "agreement": ("venire.cli.agreement", "Say how far assessors agree, and what each is like."),
    "power": ("venire.cli.power", "Count the systems that measures and labels tell apart."),
    "pdp": ("venire.cli.pdp", "Measure how much of the order of documents labels leave open."),
    "preferences": ("venire.cli.preferences", "Say what users prefer, and which measures and labels agree."),
    "clicks": ("venire.cli.clicks", "Say what a click log holds, and if measures agree with it."),
    "scales": ("venire.cli.scales", "Compare judgments on their scale with coarser and finer ones."),
    "aspects": ("venire.cli.aspects", "Ask what labels on several aspects of relevance say."),
    "sensitivity": ("venire.cli.sensitivity", "Ask what disagreement depends on, and what judging it takes."),
    "context": ("venire.cli.context", "Predict labels that documents get after other documents."),
    "export": ("venire.cli.export", "Write judgments and gains for trec_eval, ir_measures and ranx."),
    "inspect": ("venire.cli.inspect", "Say what files hold, and what is wrong with them."),
    "simulate": ("venire.cli.simulate", "Make a collection whose truth is known."),
    "completion": ("venire.cli.completion", "Print the script that completes commands in your shell."),
}


class Commands(click.Group):
    """A group whose commands are loaded when asked for, and whose errors are words."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands, in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for, or the one that is nearest to it."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UnknownName("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; leave in silence when nobody reads its output any more."""
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _let_go_of_output()
            return UNREAD
        return answer

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run, say what went wrong if anything did, and exit with a code that tells."""
        run: Callable[..., Any] = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        try:
            answer = run(*args, standalone_mode=False, **extra)
            code = answer if isinstance(answer, int) else DONE
        except click.Abort:
            code = INTERRUPTED
        except click.ClickException as error:
            code = _bad(error.format_message(), _usage_hint(error))
        except VenireError as error:
            code = _bad(error.message, error.hint)
        except OSError as error:
            code = _bad(f"{error.filename or 'system'}: {error.strerror or error}")
        except MemoryError:
            code = _bad("there is not enough memory for this")
        except Exception:
            code = _bug()
        sys.exit(code)


def _bad(message: str, hint: str | None = None) -> int:
    say("error", message)
    if hint:
        say("hint", hint)
    return BAD


def _bug() -> int:
    """Show where the program went wrong: that is our mistake, not the user's."""
    from traceback import format_exc

    with suppress(BrokenPipeError):
        click.echo(format_exc(), err=True, nl=False)
    say("error", "this is a mistake in venire itself; please report it with the lines above")
    return BUG


def _usage_hint(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path} --help" if context else None


def _let_go_of_output() -> None:
    """Point standard output at nothing, so that closing it at the end does not fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:  # noqa: ARG001
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec
    from platform import python_version

    try:
        own = version("venire")
    except PackageNotFoundError:
        own = "(not installed)"
    compiled = find_spec("venire.kernels._scan") is not None
    scan = "compiled" if compiled else "in numpy (no C compiler was there when venire was installed; it is slower)"
    click.echo(f"venire {own}\npython {python_version()}, numpy {version('numpy')}\nscan of runs: {scan}")
    ctx.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try: venire demo, then open venire-demo/report.html",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Search evaluation that knows its judges disagree."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the command line."""
    cli.main(prog_name="venire")

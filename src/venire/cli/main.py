"""venire: the group of commands, its exit codes, and errors as one line.

The module of a command is imported only when the command is run, so that ``venire --help`` is quick; its one-line
help is in the table here.  Exit codes: 0 success, 1 a gate failed, 2 bad input or usage; and, as is usual, 70 a bug,
130 interrupted, 141 the output is no longer read, 143 ended by a signal.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from venire.cli.groups import LazyGroup
from venire.cli.output import not_enough_memory, say
from venire.errors import VenireError
from venire.results import visible

DONE, GATE, BAD, BUG, INTERRUPTED, UNREAD = 0, 1, 2, 70, 130, 141

SECTIONS = {
    "Start here": {
        "demo": "Simulate a collection and write a report on it.",
        "report": "Write an HTML report on judgments and runs.",
        "inspect": "Describe files and list the problems in them.",
    },
    "Systems": {
        "evaluate": "Score runs against judgments.",
        "compare": "Test which systems differ, and forecast the result under another judge.",
        "robustness": "Measure how the ranking of systems depends on the assessor.",
        "count": "Estimate how many relevant results a random user finds.",
    },
    "Judges": {
        "certify": "State what the labels of a judge, such as an LLM, may be trusted with.",
        "agreement": "Compute inter-annotator agreement and profiles of assessors.",
        "consistency": "Compare the agreement of assessors with themselves and with each other.",
        "disagreement": "Estimate the probability that a random user finds a result relevant, given its label.",
        "sensitivity": "Analyse how estimates of disagreement vary, and how many judgments they need.",
    },
    "Planning": {
        "plan": "Choose what to judge next for a goal and a budget, and forecast what it will tell.",
        "judge": "Collect judgments from people and language models.",
    },
    "Users": {
        "preferences": "Compare measures and labels with side-by-side preferences of users.",
        "clicks": "Summarise a click log and correlate it with measures.",
        "context": "Predict conditional labels, and choose their weight.",
        "aspects": "Analyse labels on several aspects of relevance.",
    },
    "Measures and scales": {
        "power": "Compute the discriminative power of measures and labels.",
        "pdp": "Compute how much of the ideal ranking labels leave undetermined.",
        "scales": "Compare the label scale with coarser and finer ones.",
    },
    "Files": {
        "export": "Write judgments and gains for trec_eval, ir_measures and ranx.",
        "simulate": "Simulate a collection with known truth.",
        "completion": "Print the completion script of a shell.",
    },
}
COMMANDS = [name for section in SECTIONS.values() for name in section]


class Commands(LazyGroup):
    """All commands; errors are printed as one line."""

    package = "venire.cli"
    sections = SECTIONS

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command line, and print help if it asks for it."""
        with _unread():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _unread():
            return super().invoke(ctx)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run, print the error if there is one, and exit with its code."""
        run: Callable[..., Any] = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        try:
            answer = run(*args, standalone_mode=False, **extra)
            code = answer if isinstance(answer, int) else DONE
        except _Unread:
            code = UNREAD
        except click.Abort:
            code = INTERRUPTED
        except click.ClickException as error:
            code = _bad(error.format_message(), _usage_hint(error), keep="\n\t")
        except VenireError as error:
            code = _bad(error.message, error.hint)
        except OSError as error:
            code = _bad(f"{error.filename or 'system'}: {error.strerror or error}")
        except MemoryError as error:
            code = _bad(not_enough_memory(error))
        except Exception:
            code = _bug()
        sys.exit(_flushed(code))


class _Unread(Exception):  # noqa: N818 - it is no error
    """The output is no longer read."""


@contextmanager
def _unread() -> Iterator[None]:
    """Raise _Unread in place of the error that click takes for a failure, with exit code 1."""
    try:
        yield
    except BrokenPipeError:
        _let_go_of_output()
        raise _Unread from None


def _flushed(code: int) -> int:
    """Write what is left of standard output, while there is still an exit code to tell of an error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_output()
        return code or UNREAD
    except (OSError, ValueError) as error:
        _let_go_of_output()
        return code or _bad(f"standard output: {getattr(error, 'strerror', None) or error}")
    return code


def _bad(message: str, hint: str | None = None, *, keep: str = "") -> int:
    say("error", message, keep=keep)
    if hint:
        say("hint", hint)
    return BAD


def _bug() -> int:
    """Print the traceback of an unexpected error."""
    from traceback import format_exc

    with suppress(OSError):
        click.echo(visible(format_exc(), keep="\n"), err=True, nl=False)
    say("error", "this is a bug in venire; please report it with the lines above")
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
    from platform import python_version

    from venire.scan.scanner import COMPILED

    try:
        own = version("venire")
    except PackageNotFoundError:
        own = "(not installed)"
    scan = "compiled" if COMPILED else "in numpy, which is slower (no C compiler was found when venire was installed)"
    click.echo(f"venire {own}\npython {python_version()}, numpy {version('numpy')}\nscan of runs: {scan}")
    ctx.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try: venire demo, then open venire-demo/report.html\n\n"
    "Exit codes: 0 done, 1 a condition of --require does not hold, 2 invalid input or usage.",
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
    """Run the command line, as a process of its own."""
    gc.set_threshold(100_000)  # most objects are those of modules, and stay
    _hold_closed_streams()
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), _end)
    cli.main(prog_name="venire")


def _hold_closed_streams() -> None:
    """Point streams that are closed at nothing, so that no file that is opened takes their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _end(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
    """End as usual when asked to, so that no temporary file is left."""
    sys.exit(128 + number)

"""Options that commands share; each means the same everywhere.

Options of one group reach a command as one value: the keywords of a library function, or an ``Output``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from venire.cli.output import Output
from venire.cli.rendering import FORMATS
from venire.cli.speech import listening

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PATH = click.Path(allow_dash=True)
"""A file, a folder, a pattern, or - for standard input; completed by the shell, looked at by the library."""

POOLS = ("median", "majority", "max", "min", "mean")
REPEATS = ("error", "keep", "first", "last")
SECOND_COLUMN = ("ignore", "assessor", "intent")
NEGATIVE = ("unjudged", "lowest")
MISSING = ("zero", "skip")
ORDERS = ("score", "rank")
SCORE_TYPES = ("float64", "float32")
REPEATED = ("error", "first")
SYSTEM_FROM = ("tag", "file")


class Option(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *args: Any, section: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Command(click.Command):
    """A command whose help lists its options in sections."""

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
    """Declare an option in a section of the help; says its default, if it has one."""
    settings.setdefault("show_default", not settings.get("is_flag", False))
    return click.option(*names, cls=Option, section=section, **settings)


def one_of(*names: str, choices: tuple[str, ...], section: str, **settings: Any) -> Decorator:
    """Declare an option that takes one of a few words."""
    return option(*names, section=section, type=click.Choice(choices), **settings)


def gathered(
    name: str, options: Mapping[str, Decorator], *, check: Callable[[Mapping[str, Any]], None] | None = None
) -> Decorator:
    """Declare options that reach the command as one dictionary, under this name, once they are checked."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(**values: Any) -> Any:
            group = {key: values.pop(key) for key in options}
            if check is not None:
                check(group)
            return function(**values, **{name: group})

        for each in reversed(options.values()):
            command = each(command)
        return command

    return decorate


more_judgments = option(
    *("-j", "--judgments", "more"),
    section="Judgments",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="Judgments in a further file; may be repeated.",
)


def _one_form(values: Mapping[str, Any]) -> None:
    if values["wide"] and values["wide_aspects"]:
        raise click.UsageError("--wide and --wide-aspects exclude each other")


_JUDGMENTS = "Judgments"
reading = gathered(
    "reading",
    {
        "scale": option(
            "--scale",
            section=_JUDGMENTS,
            metavar="LABELS",
            help='The labels, lowest first: "Non<Rel<HRel"; "a|b" if they have no order.  '
            "[default: what a file declares, else 0..max]",
        ),
        "wide": option("--wide", section=_JUDGMENTS, is_flag=True, help="Tables have one column per assessor."),
        "wide_aspects": option(
            "--wide-aspects", section=_JUDGMENTS, is_flag=True, help="Tables have one column per aspect."
        ),
        "second_column": one_of(
            "--second-column",
            choices=SECOND_COLUMN,
            section=_JUDGMENTS,
            default="ignore",
            help="What the second column of qrels is.",
        ),
        "negative": one_of(
            "--negative",
            choices=NEGATIVE,
            section=_JUDGMENTS,
            default="unjudged",
            help="What labels below zero are.",
        ),
        "repeats": one_of(
            "--repeats",
            choices=REPEATS,
            section=_JUDGMENTS,
            help="A second label by one assessor for one item.  [default: error in qrels, keep in tables]",
        ),
    },
    check=_one_form,
)

_RUNS = "Runs"
run_rules = gathered(
    "rules",
    {
        "order": one_of(
            "--order", choices=ORDERS, section=_RUNS, default="score", help="The column that orders documents."
        ),
        "score_type": one_of(
            "--score-type",
            choices=SCORE_TYPES,
            section=_RUNS,
            default="float64",
            help="Precision of scores; float32 ties them as trec_eval 9 does.",
        ),
        "repeated": one_of(
            "--repeated",
            choices=REPEATED,
            section=_RUNS,
            default="error",
            help="A document that stands twice in a list.",
        ),
        "system_from": one_of(
            "--system-from", choices=SYSTEM_FROM, section=_RUNS, default="tag", help="What names the system."
        ),
    },
)


def rng_option(*, used: bool) -> Decorator:
    """Declare --rng, which every command takes; it is shown where something is random."""
    return option(
        "--rng",
        section="Collection",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        hidden=not used,
        expose_value=used,
        help="Seed of everything random: the same seed gives the same result.",
    )


def output_options(*, folder: bool = False) -> Decorator:
    """Declare --format, -o and --quiet; the command gets an ``Output`` as ``out``, and its warnings are heard."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(**values: Any) -> Any:
            path = None if folder else values.pop("path")
            out = Output(format=values.pop("format"), path=path, quiet=values.pop("quiet"))
            with listening(quiet=out.quiet):
                return function(**values, out=out)

        for each in reversed(_OUTPUT_FOLDER if folder else _OUTPUT):
            command = each(command)
        return command

    return decorate


def _checked_place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Refuse a place where nothing can be written before any work is done."""
    if text is None or text == "-":
        return None
    path = Path(text)
    if path.is_dir():
        raise click.BadParameter(f"{text} is a folder, expected a file", ctx, parameter)
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}", ctx, parameter)
    return path


_FORMAT = one_of("--format", choices=FORMATS, section="Output", default="table", help="How the result is written.")
_QUIET = option("-q", "--quiet", section="Output", is_flag=True, help="No notes, warnings or progress; errors only.")
_OUTPUT = (
    _FORMAT,
    option(
        *("-o", "--output", "path"),
        section="Output",
        type=click.Path(),
        callback=_checked_place,
        metavar="FILE",
        help="Write the result there.  [default: standard output]",
    ),
    _QUIET,
)
_OUTPUT_FOLDER = (_FORMAT, _QUIET)

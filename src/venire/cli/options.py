"""Options that commands share; each means the same everywhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import isinf, isnan
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from venire.cli.output import FORMATS, Output, not_enough_memory, print_warnings
from venire.cli.places import checked_place, file_place, refuse_clashes, smaller_input
from venire.errors import VenireError, Way, joined_ways

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
PATH = click.Path(allow_dash=True)
"""A file, a folder, a pattern, or - for standard input; completed by the shell, looked at by the library."""
JUDGMENTS, RUNS, MODEL, OUTPUT = "Judgments", "Runs", "Model", "Output"
FLAG = re.compile(r"--[a-z][a-z-]*")
"""An option where a text names it."""


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *args: Any, section: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Number(click.FloatRange):
    """A number in a range, not NaN, and not infinite unless that is allowed."""

    def __init__(self, *limits: Any, infinite: bool = False, **more: Any) -> None:
        super().__init__(*limits, **more)
        self.infinite = infinite

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number."""
        found = super().convert(value, param, ctx)
        if isnan(found) or (isinf(found) and not self.infinite):
            self.fail(f"{value} is not a finite number", param, ctx)
        return found


NOT_NEGATIVE = Number(min=0)


def with_flags(way: Way) -> str:
    """Return a way to resolve an error with its settings as options: "choose one (--assessor NAME)"."""
    flags = (f"--{name.replace('_', '-')} {value}".rstrip() for name, value in way.settings.items())
    return f"{way.text} ({' '.join(flags)})"


class Command(click.Command):
    """A command whose help lists its options in sections; one that reads files takes --limit, unless it has its own."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        own = any("--limit" in parameter.opts for parameter in self.params)
        if any(parameter.type is PATH for parameter in self.params) and not own:
            self.params.append(_limit_option())

    def invoke(self, ctx: click.Context) -> Any:
        """Run; of several ways out of an error, name those for which this command has the options.

        Outputs that would destroy an input, or each other, are refused first.
        """
        refuse_clashes(ctx)
        try:
            return super().invoke(ctx)
        except MemoryError as error:
            raise VenireError(not_enough_memory(error), hint=smaller_input(ctx)) from error
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


def _limit_option() -> Option:
    return Option(
        ["--limit"],
        section="Limits",
        multiple=True,
        expose_value=False,
        callback=_set_limits,
        metavar="NAME=SIZE",
        help="Raise a limit on what is read, such as line-length=4MiB; may be repeated.  An error names its limit.",
    )


def _set_limits(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    """Read NAME=SIZE, one or several, and read all files of the command under these limits."""
    if not texts:
        return
    from venire.io.limits import within_limits

    asked: dict[str, int | str] = {}
    for text in texts:
        name, equals, size = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not NAME=SIZE, as in line-length=4MiB", ctx, parameter)
        asked[name] = size
    ctx.with_resource(within_limits(**asked))


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


def flag(*names: str, section: str, **settings: Any) -> Decorator:
    """Declare an option without a value."""
    return option(*names, section=section, is_flag=True, **settings)


def number(*names: str, section: str, type: Number = NOT_NEGATIVE, metavar: str = "X", **settings: Any) -> Decorator:
    """Declare an option that takes a number, not negative if no other range is stated."""
    return option(*names, section=section, type=type, metavar=metavar, **settings)


def input_file(*names: str, section: str, metavar: str = "FILE", **settings: Any) -> Decorator:
    """Declare an option that names something to read."""
    return option(*names, section=section, type=PATH, metavar=metavar, **settings)


def output_file(
    *names: str, section: str = OUTPUT, metavar: str = "FILE", callback: Any = file_place, **settings: Any
) -> Decorator:
    """Declare an option that names something to write; ``callback`` refuses what cannot be written."""
    return option(*names, section=section, type=click.Path(), metavar=metavar, callback=callback, **settings)


def gathered(
    name: str,
    options: Mapping[str, Decorator],
    *,
    seen: Sequence[str] = (),
    check: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None,
) -> Decorator:
    """Declare options that reach the command as one dictionary under this name; ``check`` may return another one.

    seen: options declared elsewhere that are in the dictionary too.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(**values: Any) -> Any:
            group = {key: values.pop(key) for key in options} | {key: values[key] for key in seen}
            if check is not None:
                group = check(group) or group
            return function(**values, **{name: group})

        return in_order(command, [*options.values()])

    return decorate


def given(*names: str) -> list[str]:
    """Return the options among these parameters that were given on the command line, as they are written."""
    context = click.get_current_context()
    there = {name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return [parameter.opts[0] for parameter in context.command.params if parameter.name in there]


def in_order(function: Callable[..., Any], decorators: Sequence[Decorator]) -> Callable[..., Any]:
    """Apply decorators so that their options come in the order given."""
    for each in reversed(decorators):
        function = each(function)
    return function


# The words that the library knows; a test holds them together, so that no help has to load it.
POOLS = ("median", "majority", "max", "min", "mean")
ALL_POOLS = (*POOLS, "dawid-skene")
DUPLICATE_LABELS = ("error", "keep", "first", "last")
SECOND_COLUMN = ("ignore", "assessor", "intent")
LAYOUTS = ("long", "wide", "aspects")
ORDERS = ("score", "rank")
DUPLICATE_DOCS = ("error", "first")
SINGLE = "float32"
SYSTEM_FROM = ("tag", "file")

more_judgments = input_file(
    *("-j", "--judgments", "more"), section=JUDGMENTS, multiple=True, help="Another file of judgments; may be repeated."
)


def _stated_columns(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Read WHAT=NAME, one or several."""
    stated: dict[str, str] = {}
    for text in texts:
        what, equals, name = text.partition("=")
        if not (what and equals and name) or what in stated:
            found = f"{what!r} is stated twice" if what in stated else f"{text!r} is not WHAT=NAME, as in label=rating"
            raise click.BadParameter(found, ctx, parameter)
        stated[what] = name
    return stated


reading = gathered(
    "reading",
    {
        "scale": option(
            "--scale",
            section=JUDGMENTS,
            metavar="LABELS",
            help='The labels, lowest first: "Non<Rel<HRel"; "a|b" if they have no order.  '
            "[default: as declared in the file or beside it, else the labels that occur]",
        ),
        "layout": one_of(
            "--layout",
            choices=LAYOUTS,
            section=JUDGMENTS,
            help="Layout of tables, {}: a row per label, a column per assessor, or a column per aspect.  [default: "
            "recognised]",
        ),
        "second_column": one_of(
            "--second-column",
            choices=SECOND_COLUMN,
            section=JUDGMENTS,
            default="ignore",
            help="Meaning of the second column of qrels: {}.",
        ),
        "duplicate_labels": one_of(
            "--duplicate-labels",
            choices=DUPLICATE_LABELS,
            section=JUDGMENTS,
            help="Rule for several labels of one item by one assessor: {}.  "
            "[default: error for qrels, last for tables]",
        ),
        "columns": option(
            *("--column", "columns"),
            section=JUDGMENTS,
            multiple=True,
            callback=_stated_columns,
            metavar="WHAT=NAME",
            help="Name of a column of tables, such as label=rating or doc=url; may be repeated.  "
            "[default: by their usual names]",
        ),
    },
)


def _rules(group: dict[str, Any]) -> dict[str, Any]:
    """Return the rules as ``read_runs`` takes them."""
    return group | ({"order": "score", "score_type": SINGLE} if group["order"] == SINGLE else {})


run_rules = gathered(
    "rules",
    {
        "order": one_of(
            "--order",
            choices=(*ORDERS, SINGLE),
            section=RUNS,
            default="score",
            help="Documents are ordered by {}: float32 is the score in single precision, as in trec_eval 9.",
        ),
        "duplicate_docs": one_of(
            "--duplicate-docs",
            choices=DUPLICATE_DOCS,
            section=RUNS,
            default="error",
            help="Rule for a document that occurs twice in a list: {}.",
        ),
        "system_from": one_of(
            "--system-from",
            choices=SYSTEM_FROM,
            section=RUNS,
            default="tag",
            help="Source of the name of a system: {}.",
        ),
    },
    check=_rules,
)


def rng_option(*, used: bool, section: str = "Random numbers") -> Decorator:
    """Declare --rng, which every command takes; it is shown where something is random."""
    return whole_number(
        "--rng",
        section=section,
        least=0,
        default=0,
        hidden=not used,
        expose_value=used,
        help="Seed: the same seed gives the same result.",
    )


def output_options(*, folder: bool = False, formats: tuple[str, ...] = FORMATS) -> Decorator:
    """Declare --format, -o and --quiet; the command gets an ``Output`` as ``out``, and warnings are printed.

    ``folder``: the command declares -o itself, as a folder.  ``formats``: the first is the default.
    """
    words = "Format of the result: {}."
    form = one_of("--format", choices=formats, section=OUTPUT, default=formats[0], help=words)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(**values: Any) -> Any:
            path = None if folder else values.pop("path")
            if path is None and sys.stdout is None:
                raise click.UsageError("standard output is closed: send it to a file or to /dev/null")
            names = ("format", "raw_names", "quiet", *(["plot"] if "plot" in values else []))
            out = Output(path=path, **{name: values.pop(name) for name in names})
            with print_warnings(quiet=out.quiet):
                return function(**values, out=out)

        return in_order(command, [form, _RAW_NAMES, *([] if folder else [_OUTPUT]), _QUIET])

    return decorate


_RAW_NAMES = flag(
    "--raw-names",
    section=OUTPUT,
    help="In CSV, write names as they are, also those that a spreadsheet takes for formulas.",
)
_OUTPUT = output_file(
    *("-o", "--output", "path"), callback=checked_place, help="File of the result.  [default: standard output]"
)
_QUIET = flag("-q", "--quiet", section=OUTPUT, help="Print only errors.")


def draws_option(
    section: str, *, default: int | None = 300, least: int = 0, help: str = "Number of bootstrap samples of topics."
) -> Decorator:
    """Declare --draws, ``n_draws``; 0: no intervals."""
    return whole_number("--draws", "n_draws", section=section, least=least, default=default, help=help)


def order_length_option(section: str) -> Decorator:
    """Declare --top, ``k``: the number of documents of a list, for PDP."""
    words = "Number of documents in a list.  [default: 10, or the median length of the lists]"
    return whole_number("--top", "k", section=section, least=2, metavar="K", help=words)


def choose_option(section: str, *choices: str) -> Decorator:
    """Declare --choose: which documents' order PDP asks for."""
    words = (
        "Documents of a list, {}: the top K of each run, or K documents of each topic, drawn at random from those with "
        "preference tests or from all"
    )
    words += ", or those with the highest mean label" if "best" in choices else ""
    words += ".  [default: runs if RUNS are given, else tested]"
    return one_of("--choose", choices=("runs", "tested", "random", *choices), section=section, help=words)


def prior_option(section: str, help: str) -> Decorator:
    """Declare --prior: what is added to counts before shares are taken."""
    return number("--prior", section=section, default=0.0, help=help)


def resource_option(section: str, *, begin: str = "Position of the resource", end: str = "") -> Decorator:
    """Declare --resource, which ``read_resource`` reads."""
    words = (
        f"{begin} in a document's name, as in '{{resource}}-{{rank}}'; or a regular expression with "
        f"(?P<resource>...), a column of the judgments, or a file of documents and resources.{end}"
    )
    return input_file("--resource", section=section, metavar="PATTERN", help=words)


def read_resource(text: str) -> str | dict[str, str]:
    """Read which resource documents belong to from a file, if there is one of this name; else it is a pattern."""
    from venire.io.files import is_readable
    from venire.io.side_files import read_groups

    return read_groups(Path(text)) if is_readable(Path(text)) else text


def show_option(*choices: str, help: str) -> Decorator:
    """Declare --show: which table is written; the first by default."""
    return one_of("--show", choices=choices, section=OUTPUT, default=choices[0], help=f"{help}  JSON has all.")


relevant_option = option(
    "--relevant",
    section=MODEL,
    metavar="LABEL|all",
    help="Relevant labels: this one and higher ones, a set 'A|B', or all thresholds.  [default: the top label]",
)
slight_option = number(
    "--slight",
    section="Preferences",
    metavar="S",
    help="Strengths up to S are slight, which are ties of strong preference.  [default: 1 if strengths exceed 1]",
)
plot_option = output_file("--plot", metavar="FILE.svg", help="Plot the result to this file: svg, png or pdf.")

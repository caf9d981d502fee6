"""venire simulate: collections whose truth is known, one subcommand per kind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli import options as declare
from venire.cli.output import Output, Table
from venire.cli.places import folder_place
from venire.results import visible

if TYPE_CHECKING:
    from venire.simulation.folders import Simulated

COLLECTION, DOCUMENTS, LABELS, USERS = "Collection", "Documents", "Labels", "Users"
DESIGNS = ("paper", "neighbours")

EXAMPLES = {
    "levels": (
        "-o demo",
        '-o demo --assessors "3*careful, strict(shift=0.5)"',
        '-o trec --pattern "one-per-item(twice=0.2)" --rng 7',
    ),
    "perceived": ("-o pdp --topics 300 --grades 7", "-o pdp --sigma 0.05 0.05 --systems 10"),
    "context": ("-o serps --redundancy 0.8 --context 1", "-o serps --topics 200 --aspects"),
}


def examples(*kinds: str) -> str:
    """Return the examples of some kinds of collections, as click keeps them."""
    lines = [f"  venire simulate {kind} {each}" for kind in kinds for each in EXAMPLES[kind]]
    return "\n".join(["\b", "Examples:", *lines])


def param(
    names: str, default: Any, help: str, section: str = COLLECTION, *, least: int = 1, most: float = inf, **kind: Any
) -> declare.Decorator:
    """Declare an option by its default: a flag, a count from ``least`` on, a number up to ``most``, two, or text."""
    kinds: dict[type, dict[str, Any]] = {
        bool: {"is_flag": True},
        int: {"type": click.IntRange(min=least), "metavar": "N"},
        float: {"type": declare.Number(min=0, max=None if most == inf else most), "metavar": "X"},
        tuple: {"type": declare.Number(min=0), "nargs": 2, "metavar": "LOW HIGH"},
        str: {},
    }
    return declare.option(*names.split(), section=section, default=default, help=help, **kinds[type(default)] | kind)


def subcommand(name: str, summary: str, *options: declare.Decorator) -> declare.Decorator:
    """Declare a kind of collection with its own options, and those of all kinds."""
    place = {"required": True, "type": click.Path(path_type=Path), "metavar": "DIR", "callback": folder_place}
    words = "The folder to write: new, empty, or one with an earlier simulation."
    folder = declare.option("-o", "--output", "folder", section=declare.OUTPUT, help=words, **place)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        declared = declare.in_order(
            function,
            [folder, declare.rng_option(used=True, section=COLLECTION), *options, declare.output_options(folder=True)],
        )
        return command.command(name, cls=declare.Command, short_help=summary, epilog=examples(name))(declared)

    return decorate


@click.group("simulate", epilog=examples(*EXAMPLES), no_args_is_help=False)
def command() -> None:
    """Simulate judgments and runs whose truth is known.

    The truth is written next to the data, so that the results of an evaluation can be compared with it.
    """


@subcommand(
    *("levels", "True levels, which assessors confuse with known probabilities."),
    param("--topics n_topics", 50, "Number of topics."),
    param("--docs docs_per_topic", 200, "Number of judged documents of each topic."),
    param("--systems n_systems", 10, "Number of systems, each with a run."),
    param(
        *("--assessors", "2*careful, strict, lenient, lazy"),
        "The assessors: careful, strict, lenient, lazy or random, optionally with parameters.",
        metavar="KINDS",
    ),
    param(
        *("--pattern", "everyone"),
        "Who judges what: everyone, one-per-item(twice=0.2), random-assessors(k=3), one-judges-all or rejudge.",
        metavar="PATTERN",
    ),
    param("--scale", "0<1<2<3", "The labels, lowest first.", metavar="LABELS"),
)
def levels(
    *, folder: Path, rng: int, out: Output, n_systems: int, scale: str, assessors: str, pattern: str, **options: Any
) -> None:
    """Simulate true levels, which assessors confuse with known probabilities."""
    from venire.data.scale import Scale
    from venire.simulation.assessors import parse_assessors, parse_pattern
    from venire.simulation.levels import Synthetic, generate
    from venire.simulation.systems import Systems, scattered

    options |= {"scale": Scale.parse(scale), "systems": Systems(quality=scattered(n_systems))}
    setting = Synthetic(**options, assessors=parse_assessors(assessors), pattern=parse_pattern(pattern))
    made = generate(setting, rng=rng)
    _write(out, folder, made, assessors=list(made.truth.assessors), systems_best_first=list(made.truth.order))


@subcommand(
    *("perceived", "True relevance, which assessors perceive with noise."),
    param("--topics n_topics", 10_000, "Number of topics."),
    param("--docs docs_per_topic", 5, "Number of documents of each topic."),
    param("--systems n_systems", 0, "Number of systems, each with a run.", least=0),
    param("--assessors n_assessors", 15, "Number of assessors of each batch of topics."),
    param("--grades n_grades", 4, "Number of grades of the labels.", LABELS, least=2),
    param("--sigma", (0.001, 0.3), "Range of the assessors' noise; low noise is high quality.", LABELS),
    param("--preference-noise", 0.0, "Noise of a document in a comparison.", USERS),
    param("--tie tie_threshold", 0.0, "Largest difference between two documents that is a tie.", USERS),
    param("--comparers preference_assessors", 1, "Number of assessors who compare documents side by side.", USERS),
    declare.whole_number(
        *("--pairs", "pairs_per_topic"),
        section=USERS,
        least=1,
        help="Number of pairs of each topic that are compared.  [default: all]",
    ),
)
def perceived(*, folder: Path, rng: int, out: Output, n_systems: int, **options: Any) -> None:
    """Simulate true relevance in [0, 1], which assessors perceive with noise, and preferences.

    The generator and its defaults are those of Chu et al. (2021), Section 4.1.
    """
    from venire.simulation.perceived import PerceivedRelevance, generate_perceived
    from venire.simulation.systems import Systems, scattered

    setting = PerceivedRelevance(**options, systems=Systems(quality=scattered(n_systems)))
    made = generate_perceived(setting, rng=rng)
    sigma, systems = made.sigma.mean(axis=1).tolist(), list(setting.systems.best_first)
    _write(out, folder, made, sigma_of_batches=sigma, systems_best_first=systems)


@subcommand(
    *("context", "Labels alone and after another document, and users."),
    param("--topics n_topics", 457, "Number of topics."),
    param("--docs docs_per_topic", 20, "Number of documents of each topic that both engines rank."),
    param("--scale", "bad<fair<good<excellent<perfect", "The labels, lowest first.", metavar="LABELS"),
    param("--assessors n_assessors", 20, "Number of assessors."),
    declare.one_of(
        "--design",
        choices=DESIGNS,
        section=COLLECTION,
        default="paper",
        help="Conditional labels, {}: as in Section 3.2, or of each document given the previous one.",
    ),
    param("--aspects", False, "Label five aspects as well; labels may be N/A."),
    param("--redundancy", 0.6, "Share of worth lost by a document that repeats the previous one.", DOCUMENTS, most=1),
    param("--complementarity", 0.4, "Share of worth gained by a document that completes the previous one.", DOCUMENTS),
    param("--context", 0.5, "True alpha: weight of conditional worth in preferences and clicks.", USERS, most=1),
    param("--users n_users", 5, "Number of users who compare the two lists.", USERS),
    param("--sessions", 40, "Number of click sessions of each topic.", USERS, least=0),
)
def context(*, folder: Path, rng: int, out: Output, scale: str, sessions: int, aspects: bool, **options: Any) -> None:
    """Simulate labels alone and conditional on another document, preferences between two systems, and clicks.

    The defaults approximate the figures of Golbus et al. (2014).
    """
    from venire.data.scale import Scale
    from venire.simulation.context.collection import generate_context
    from venire.simulation.context.setting import AspectModel, ClickModel, ContextSetting

    options |= {"scale": Scale.parse(scale), "clicks": ClickModel(sessions=sessions)}
    setting = ContextSetting(**options, aspects=AspectModel() if aspects else None)
    made = generate_context(setting, rng=rng)
    shown = {name: getattr(setting, name) for name in ("redundancy", "complementarity", "context")}
    left_better = float((made.truth.utility[:, 0] > made.truth.utility[:, 1]).mean())
    _write(out, folder, made, **shown, left_better=left_better)


def _write(out: Output, folder: Path, collection: Simulated, **truth: object) -> None:
    """Write a collection, and report its files and its truth."""
    from venire.simulation.folders import write_collection

    files = write_collection(collection, folder)
    table = Table(("file", "holds"), [(str(folder / name), words) for name, words in files.items()])
    truth = {"scale": str(collection.judgments.scale), "topics": collection.setting.n_topics, **truth}
    out.table("files", table, beside={"truth": truth})
    if not out.quiet:
        with suppress(OSError):  # of standard error
            click.echo(visible(f"wrote {collection.sentence()}; into {folder}"), err=True)

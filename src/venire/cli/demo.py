"""venire demo: simulate a collection and report on it, or a study to judge; needs no file and no network."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from venire.cli.judge import named_extras
from venire.cli.options import OUTPUT, Command, flag, option, output_options, rng_option
from venire.cli.output import Output, stages
from venire.cli.places import demo_place
from venire.cli.report import show_report, write_both

if TYPE_CHECKING:
    from venire.simulation.levels import Synthetic

EXAMPLES = """\b
Examples:
  venire demo
  venire demo -o my-demo --rng 3
  venire demo --judge
"""
JUDGING = "Judging"
QUALITY = (1.6, 2.1, 1.1, 3.2, 1.9, 1.4, 2.2, 0.8)
"""Quality of the systems: one is clearly best, the others differ less."""


@click.command("demo", cls=Command, epilog=EXAMPLES)
@option(
    *("-o", "--output", "folder"),
    section=OUTPUT,
    type=click.Path(path_type=Path),
    callback=demo_place,
    metavar="DIR",
    help="The folder to write: new, empty, or one with an earlier demo.  [default: venire-demo, or venire-demo-study "
    "with --judge]",
)
@flag(
    "--judge",
    section=JUDGING,
    is_eager=True,
    help="Serve a study of simulated documents instead, for two people, until it is stopped.",
)
@option(
    "--port",
    section=JUDGING,
    default=8765,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port of the study; 0 for any.",
)
@output_options(folder=True)
@rng_option(used=True)
def command(*, folder: Path, judge: bool, port: int, out: Output, rng: int) -> None:
    """Simulate a collection of eight systems and five assessors, and write a report on it.

    The truth is known: the order of the systems, and which assessors are strict, lenient or lazy.  Edit the files and
    run the printed command again.
    """
    if judge:
        with named_extras():
            _serve_study(folder, port, rng)
    else:
        _report(folder, out, rng)


def _report(folder: Path, out: Output, rng: int) -> None:
    """Write a collection and its report."""
    from venire import read_judgments, read_runs
    from venire.io.fingerprints import files_of
    from venire.report.making import STAGES, make_report
    from venire.report.question import Question
    from venire.simulation import generate, write_collection

    with stages(STAGES + 2, quiet=out.quiet) as stage:
        stage("collection")
        made = generate(_setting(), rng=rng)
        write_collection(made, folder)
        judgments, runs, page = folder / "judgments.tsv", folder / "runs", folder / "report.html"
        again = shlex.join(["venire", "report", str(judgments), str(runs), "-o", str(page), "--rng", str(rng)])
        inputs = files_of([judgments, runs])
        question = Question(read_judgments(judgments), read_runs(runs), rng=rng, command=again, inputs=inputs)
        report = make_report(question, stage=stage)
        stage("page")
        write_both(report, page, folder / "report.json")
    show_report(out, report, page)
    order = ", ".join(made.truth.order)
    truth = f"simulated data: the true order of the systems is {order}; assessors are named by their behaviour"
    out.notes([truth, f"edit {judgments} or {runs}, then: {again}"])


def _serve_study(folder: Path, port: int, rng: int) -> None:
    """Write a study, unless it is there, and serve it; print links for its people and the organiser."""
    from venire.judging.demo import write_demo
    from venire.judging.store import Store
    from venire.judging.study_files import read_study
    from venire.judging.web.serving import serve
    from venire.judging.web.site import Site

    path = write_demo(folder, rng=rng)
    study, tasks = read_study(path)
    with Store.open(study, tasks) as store:

        def announce(site: Site) -> None:
            click.echo(f"{path}: {len(tasks)} tasks on simulated documents; stop with Ctrl-C, and go on when you like")
            for name in study.people:
                click.echo(f"{name}: {site.root}/join/{store.invite(name, again=True)}")
            click.echo(f"organiser: {site.root}/join/{store.organiser_token()}")

        serve(store, Site(port=port), announce)


def _setting() -> Synthetic:
    from venire.simulation import Synthetic
    from venire.simulation.systems import Systems

    return Synthetic(systems=Systems(quality=QUALITY))

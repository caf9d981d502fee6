"""venire report: an HTML report on judgments and runs."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare, places
from venire.cli.output import Output, Table, stages, write_json

if TYPE_CHECKING:
    from venire.data.aspects import Aspects
    from venire.data.judgments import Judgments
    from venire.report.document import Report
    from venire.report.question import Question

MAIN_ASPECTS = ("overall", "relevance", "rel", "topicality")
"""Default names of the aspect that scores the runs."""
EXAMPLES = """\b
Examples:
  venire report judgments.tsv runs -o report.html
  venire report llm.qrels runs -j human.qrels --reference human --relevant 2
  venire report judgments.tsv runs --preferences prefs.tsv --clicks log.tsv
  venire report crowd.tsv --pool dawid-skene
  venire report new.tsv runs --before old.tsv --json report.json
  venire report judgments.tsv runs --topics topics.tsv --docs docs.jsonl
"""


@click.command("report", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@declare.input_file("--preferences", section=declare.JUDGMENTS, help="Preferences between results.")
@declare.input_file("--clicks", section=declare.JUDGMENTS, help="A click log.")
@declare.input_file("--before", section=declare.JUDGMENTS, help="Earlier judgments: show what new ones changed.")
@declare.input_file("--topics", section=declare.JUDGMENTS, help="Texts of topics: id, tab, text.")
@declare.input_file("--docs", section=declare.JUDGMENTS, help="Texts of documents: JSON lines with id and text.")
@declare.option("-m", "--measure", section=inputs.SCORING, default="nDCG@10", metavar="NAME", help="The measure.")
@inputs.intents_option
@declare.option(
    "--assessor",
    section=inputs.SCORING,
    metavar="NAME",
    help="Whose labels score the runs.  [default: of the reference, else of all, who judged nearly all, else most of "
    "each topic]",
)
@inputs.pool_option(
    choices=("majority", "median", "dawid-skene"),
    help="Pool the labels of people who are not the reference: {}.  [default: majority for a crowd, of 20 people or "
    "more who each judged less than half, else not at all]",
)
@declare.option(
    "--relevant",
    section=inputs.SCORING,
    metavar="LABEL",
    help="The lowest relevant label.  [default: that from which people agree best]",
)
@declare.draws_option(inputs.SCORING, default=1000, least=2, help="Number of draws of topics, judges and users.")
@inputs.family_option(inputs.SCORING)
@inputs.declared
@declare.more_judgments
@inputs.where_option
@declare.reading
@declare.run_rules
@declare.output_file(*("-o", "--output", "page_path"), default="report.html", help="File of the page.")
@declare.output_file(*("--json", "json_path"), help="Write the same content as JSON to this file.")
@declare.output_options(folder=True)
@declare.rng_option(used=True)
def command(*, out: Output, **options: Any) -> None:
    """Write a report on JUDGMENTS, and RUNS if given: one HTML page that needs no network.

    It covers the ranking of systems and its uncertainty, the quality of the judgments, the gains of labels, and whether
    another judge would change the ranking.  It states what cannot be concluded.  Without runs, it is on the judgments
    alone.  Files of nuggetizer with the nuggets of answers are both JUDGMENTS and RUNS for measures such as VitalScore.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second process takes the other core
    from venire.report.aside import second_process

    question = _question(options)
    with second_process(question) as aside:
        from venire.report.making import STAGES, make_report

        with stages(STAGES + 1, quiet=out.quiet) as stage:
            report = make_report(question, stage=stage, aside=aside)
            stage("page")
            write_both(report, options["page_path"], options["json_path"])
    show_report(out, report, options["page_path"])


def write_both(report: Report, page_path: Path, json_path: Path | None) -> None:
    """Write the page, and the same content as JSON."""
    from venire import write_report

    write_report(report, page_path)
    if json_path is not None:
        write_json(json_path, report.content())


def show_report(out: Output, report: Report, page_path: Path) -> None:
    """Print the finding of every chapter, or everything as JSON, and say where the page is."""
    if out.format == "json":
        out.json(report.content())
    elif out.format == "table":
        out.text("\n".join(_paragraph(chapter.title, chapter.finding) for chapter in report.chapters))
    else:
        rows = [[chapter.title, chapter.finding] for chapter in report.chapters]
        out.table("report", Table(["chapter", "finding"], rows))
    out.notes([f"wrote {page_path}", *plan_note(report)])


def plan_note(report: Report) -> list[str]:
    """Name the command that writes what to judge next to a file, if the report has such judgments."""
    found = next((chapter for chapter in report.chapters if chapter.name == "plan"), None)
    if found is None or not found.numbers["rows"]:
        return []
    words = ["venire", "plan", "--goal", found.numbers["goal"], "--budget", f"{len(found.numbers['rows'])}"]
    for name, value in found.settings.items():
        if value:
            words += [f"--{name}", ",".join(value) if isinstance(value, list) else f"{value}"]
    return [f"{shlex.join([*words, '-o', 'plan.tsv'])}, with the same files, writes what to judge next"]


def _paragraph(title: str, text: str) -> str:
    """A finding under its title, in lines that fit a terminal."""
    return f"{title}\n{fill(text, 88, initial_indent='  ', subsequent_indent='  ')}\n"


def _question(options: dict[str, Any]) -> Question:
    from venire import read_preferences, read_runs
    from venire.data.judgments import on_one_scale
    from venire.io.clicks import read_clicks
    from venire.io.texts import read_texts
    from venire.report.question import Question

    files = [options["judgments"], *options["more"]]
    preferences, clicks, before = (options[name] for name in ("preferences", "clicks", "before"))
    further = (preferences, clicks, before, options["topics"], options["docs"], options["intent_file"])
    inputs.one_standard_input(*files, *options["runs"], *further)
    texts = read_texts(topics=options["topics"], docs=options["docs"])
    measures = inputs.checked_measures([options["measure"]])
    options = {**options, "measures": measures, "reading": inputs.reading_for(measures, options["reading"])}
    if not options["runs"] and inputs.any_by_intent(measures) and inputs.are_answers(files):
        every, runs = inputs.read_answers(files, options)
        labels = every
    else:
        every = inputs.read_files(files, reading=options["reading"], where=options["where"])
        labels = inputs.with_declared(_chosen(every, options["where"]), **options["declared"])
        runs = read_runs(list(options["runs"]), **options["rules"])
    earlier = None
    if before:
        labels, earlier = on_one_scale(labels, _earlier(before, every, options))
    if options["runs"]:
        labels = inputs.with_intents(labels, measures, options["intent_file"])
        earlier = None if earlier is None else inputs.with_intents(earlier, measures, options["intent_file"])
    return Question(
        labels,
        runs,
        measure=measures[0],
        assessor=options["assessor"],
        pool=options["pool"],
        relevant=options["relevant"],
        reference=labels.reference,
        families=inputs.read_families(options["families"]),
        preferences=read_preferences(preferences) if preferences else None,
        clicks=read_clicks(clicks) if clicks else None,
        aspects=_aspects(files, options["reading"], options["where"]) if len(_names_of_aspects(every)) > 1 else None,
        before=earlier,
        n_draws=options["n_draws"],
        rng=options["rng"],
        command=shlex.join(["venire", *sys.argv[1:]]),
        inputs=places.input_files(),
        texts=texts,
    )


def _earlier(path: str, every: Judgments, options: dict[str, Any]) -> Judgments:
    """Read earlier judgments, on the scale of the new ones if it was declared, and choose as among the new ones."""
    scale = options["reading"]["scale"] if every.scale.inferred else every.scale
    reading = {**options["reading"], "scale": scale}
    return _chosen(inputs.read_files(path, reading=reading, where=options["where"]), options["where"])


def _chosen(judgments: Judgments, where: tuple[str, ...]) -> Judgments:
    return inputs.chosen_labels(judgments, [*where, *_main_aspect(judgments, where)])


def _names_of_aspects(judgments: Judgments) -> list[str]:
    column = judgments.facets.get("aspect")
    return [] if column is None else list(column.names)


def _main_aspect(judgments: Judgments, where: tuple[str, ...]) -> list[str]:
    """Select the aspect of overall relevance, unless one was given or none has a usual name."""
    names = _names_of_aspects(judgments)
    if len(names) < 2 or any(text.startswith("aspect=") for text in where):
        return []
    return [f"aspect={name}" for name in MAIN_ASPECTS if name in names][:1]


def _aspects(files: list[str], reading: dict[str, Any], where: tuple[str, ...]) -> Aspects:
    """Read grades by aspect, N/A among them, and choose as among the labels, except by aspect."""
    from venire.data.aspects import aspects_of
    from venire.io.aspects import aspect_labels

    how = {name: reading[name] for name in ("scale", "layout", "duplicate_labels", "columns")}
    labels, scales = aspect_labels(files, where=inputs.by_own_columns(where), **how)
    return aspects_of(
        inputs.chosen_labels(labels, [text for text in where if not text.startswith("aspect=")]), scales=scales
    )

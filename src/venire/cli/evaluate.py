"""venire evaluate: scores of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import Cell, Output, Table, bar
from venire.errors import SettingError, Way
from venire.results import first_few, known, listed

if TYPE_CHECKING:
    from venire.comparison.corrected_scores import CorrectedScores
    from venire.data.judgments import Judgments
    from venire.measures.random_users import UserScores
    from venire.measures.scores import Scores

EXAMPLES = """\b
Examples:
  venire evaluate qrels.txt runs
  venire evaluate judgments.tsv runs --pool median -m nDCG@10 -m AP
  venire evaluate judgments.tsv runs --per assessor --format csv -o scores.csv
  venire evaluate llm.qrels runs --gains fit.json --users 1000
  zcat run.gz | venire evaluate qrels.txt - -m "P(rel=2)@5" --per-topic
  venire evaluate judgments.tsv runs -m "CCG(alpha=0.5)@5" --predict fit
  venire evaluate labels.tsv runs --assessor gpt4 --reference nist --corrected
  venire evaluate diversity.qrels runs -m alpha_nDCG@10 -m StRecall@10
  venire evaluate labels.parquet runs.parquet --engine spark --master local[4]
  venire evaluate gpt4.jsonl -m VitalScore -m "VitalScore(strict=True)"
"""

MISSING = ("zero", "skip")
SPARK, ENGINE = "spark", "Engine"
NOT_ON_SPARK = (
    *("users", "corrected", "duplicate_file", "intent_file", "fit_on", "predict", "features", "backoff", "expected"),
    *("layout", "second_column", "negative", "not_applicable", "where", "duplicate_docs", "system_from", "reference"),
)
"""Settings that scores on Spark do not have."""
NOT_CORRECTED = (
    *("per", "pool", "unjudged", "missing", "users", "per_topic", "duplicate_file"),
    *("predict", "features", "backoff", "expected"),
)
"""Settings that corrected scores do not have."""

scoring = declare.gathered(
    "scoring",
    {
        **inputs.WHOSE,
        "pool": inputs.pool_option(choices=declare.ALL_POOLS),
        "unjudged": declare.option(
            "--unjudged",
            section=inputs.SCORING,
            metavar="GAIN",
            default="0",
            help="Gain of unjudged documents, or condensed: remove them from the lists.",
        ),
        "missing": declare.one_of(
            "--missing",
            choices=MISSING,
            section=inputs.SCORING,
            default="zero",
            help="Rule for topics without a list: {}.",
        ),
    },
)

REFERENCE = "With --corrected, the people whose labels count; may be repeated.  [default: as declared in the files]"
declared = declare.gathered("declared", {"reference": inputs.reference_option(help=REFERENCE)})


@click.command("evaluate", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@inputs.measures_option
@inputs.worth
@scoring
@declare.whole_number(
    "--users",
    section=inputs.SCORING,
    least=1,
    help="Score for N simulated users, for whom a document is relevant with the probability of its gain.",
)
@declare.flag(
    "--corrected",
    section=inputs.SCORING,
    help="Estimate the scores that the reference would give, from the labels of --assessor on everything and those of "
    "the reference on some of it.",
)
@inputs.intents_option
@inputs.topics_option
@declare.flag("--per-topic", section=inputs.SCORING, help="Write scores for each topic too.")
@declare.input_file(
    *("--duplicates", "duplicate_file"),
    section=inputs.SCORING,
    help="Duplicate documents, each line a set of copies: only the first in a list has a gain.",
)
@declare.one_of(
    "--engine",
    choices=("local", SPARK),
    section=ENGINE,
    default="local",
    help="Score on this machine or on a cluster: {}.  Spark reads Parquet, CSV, TSV and JSON lines.",
)
@declare.option(
    "--master",
    section=ENGINE,
    metavar="URL",
    help="The cluster of Spark, such as spark://host:7077 or local[4].  [default: as Spark is configured]",
)
@declare.flag(
    "--strict",
    section=ENGINE,
    help="With Spark, a row that cannot be used is an error.  [default: such rows are counted and left out]",
)
@inputs.in_context
@declared
@declare.more_judgments
@inputs.where_option
@declare.reading
@declare.run_rules
@declare.output_options()
@declare.rng_option(used=True)
def command(
    *, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, rng: int, **options: Any
) -> None:
    """Score RUNS against JUDGMENTS.

    JUDGMENTS are TREC qrels or a table (CSV, TSV, JSONL, Parquet).  RUNS are TREC run files, folders, patterns, or
    - for standard input.  All may be gz or zst.  If several assessors judged, use --assessor, --per
    assessor or --pool; --corrected estimates the scores that a reference (people) would give.  Measures with alpha,
    such as "CCG(alpha=0.5)@5", use conditional labels, which name the previous document in a column given.  Measures by
    intent, such as alpha_nDCG@10, use labels for intents: a column intent or subtopic, or the second column of qrels.
    Files of nuggetizer with the nuggets of answers are both JUDGMENTS and RUNS, for measures such as VitalScore.
    """
    from venire.io import read_duplicates

    scoring, copies = options["scoring"], options["duplicate_file"]
    context = [options["in_context"][name] for name in ("predict", "features")]
    beside = [options["worth"]["fit_on"], options["topic_file"], options["intent_file"], copies, *context]
    inputs.one_standard_input(judgments, *more, *runs, *beside)
    measures = inputs.checked_measures(options["measures"])
    if options["users"] is not None and scoring["per"] is not None:
        raise click.UsageError("--users cannot be used with --per: use --assessor or --pool")
    if options["corrected"] and (odd := declare.given(*NOT_CORRECTED)):
        raise click.UsageError(f"{odd[0]} cannot be used with --corrected")
    if not options["corrected"] and declare.given("reference"):
        raise click.UsageError("--reference is for corrected scores: use it with --corrected")
    if options["engine"] == SPARK:
        out.notes(_write_from_spark(out, [judgments, *more], runs, measures, options))
        return
    if odd := declare.given("master", "strict"):
        raise click.UsageError(f"{odd[0]} is for the engine spark: use it with --engine spark")
    labels, sources = inputs.read_labels_and_runs([judgments, *more], runs, options)
    topics, notes = inputs.chosen_topics(options["topic_file"], labels)
    if scoring["pool"] is not None and 0 < len(labels.machines) < len(labels.assessors):
        machines = f"the labels of machines ({first_few(labels.machines, 4)}) are pooled with those of people"
        notes.append(f"{machines}; --where assessor=NAME chooses whose labels count")
    sources = inputs.scanned_for_fit(sources, labels, [options["worth"]["gains"]])
    case = {
        **scoring,
        "pool": inputs.pool_for(labels, scoring["pool"]),
        "judgments": labels,
        "runs": sources,
        "measures": measures,
        "gains": inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=sources, notes=notes),
        "topics": topics,
        "duplicates": read_duplicates(copies) if copies else None,
        "context": inputs.context_for(labels, **options["in_context"]),
    }
    write = _write_scores if options["users"] is None else _write_user_scores
    write = _write_corrected if options["corrected"] else write
    found = write(out, case, users=options["users"], rng=rng, per_topic=options["per_topic"])
    out.notes([*found, *notes])


def _write_scores(out: Output, case: dict[str, Any], *, per_topic: bool, **_: object) -> list[str]:
    """Score and write; what is there to note."""
    from venire import evaluate

    with bar(case["runs"].sources, quiet=out.quiet) as progress:
        scores = evaluate(**case, progress=progress)
    return [*_show(out, scores, _whose(case), per_topic=per_topic), *_not_means(case)]


def _show(out: Output, scores: Scores, whose: str | None, *, per_topic: bool) -> list[str]:
    """Write scores; what is there to note."""
    if out.for_machines:
        beside = {"context": scores.context.record()} if scores.context else {}
        out.table("scores", long_table(scores, whose, per_topic=per_topic), beside=beside)
    else:
        out.table("scores", wide_table(scores, per_topic=per_topic))
    brackets = not out.for_machines and len(scores.names["measure"]) > 1
    return [*scores.notes, *_intervals(scores, brackets=brackets)]


def _write_from_spark(
    out: Output, judgments: Sequence[str], runs: Sequence[str], measures: Sequence[str], options: dict[str, Any]
) -> list[str]:
    """Score tables on Spark and write; what is there to note."""
    from venire.data.gains import names_model
    from venire.io.side_files import read_gains
    from venire.io.texts import topic_ids
    from venire.spark.evaluate import evaluate
    from venire.spark.tables import read_table, start_session

    if odd := declare.given(*NOT_ON_SPARK):
        raise click.UsageError(f"{odd[0]} cannot be used with --engine spark")
    scoring, reading, rules = options["scoring"], options["reading"], options["rules"]
    gains = options["worth"]["gains"]
    if scoring["pool"] not in (None, *declare.POOLS) or names_model(gains) or inputs.is_saved_fit(Path(gains)):
        raise click.UsageError("models are fitted on this machine: use another --gains or --pool with --engine spark")
    if not runs or "-" in (*judgments, *runs):
        raise click.UsageError("--engine spark reads JUDGMENTS and RUNS that are files or folders")
    spark = start_session(options["master"])
    try:
        scores = evaluate(
            read_table(spark, judgments),
            read_table(spark, runs),
            measures,
            **scoring,
            gains=read_gains(gains) if "=" in gains else gains,
            topics=topic_ids(Path(options["topic_file"])) if options["topic_file"] else None,
            order=rules["order"] if declare.given("order") else None,
            score_type=rules.get("score_type", "float64"),
            strict=options["strict"],
            **{name: reading[name] for name in ("scale", "columns", "duplicate_labels")},
        )
    finally:
        spark.stop()
    return _show(out, scores, scoring["assessor"], per_topic=options["per_topic"])


def _intervals(scores: Scores, *, brackets: bool) -> list[str]:
    """Return what low and high, or numbers in brackets, are; nothing where topics are too few."""
    n_topics, what = len(scores.names["topic"]), "in brackets" if brackets else "low and high"
    words = f"{what}: 95% interval of the mean over {n_topics:,} topics (Student's t); single topics have none"
    return [words] if n_topics >= FEWEST_TOPICS else []


def _not_means(case: dict[str, Any]) -> list[str]:
    """Return a note on scores with gains by a model that are not means over users."""
    from venire.data.gains import names_model

    if not names_model(case["gains"].name):
        return []
    from venire.measures.random_users import not_means_over_users

    names = not_means_over_users(case["measures"], case["gains"])
    verb = "is" if len(names) == 1 else "are each"
    return [f"{', '.join(names)} with these gains {verb} not the mean over users; --users 1000 gives it"] * bool(names)


def _write_user_scores(out: Output, case: dict[str, Any], *, users: int, rng: int, per_topic: bool) -> list[str]:
    """Score for simulated users and write; what is there to note."""
    from venire.measures.random_users import evaluate_users

    case = {name: value for name, value in case.items() if name not in ("per", "context")}
    with bar(case["runs"].sources, quiet=out.quiet) as progress:
        found = evaluate_users(**case, users=users, rng=rng, progress=progress)
    if out.for_machines:
        out.table("scores", long_user_table(found, _whose(case), per_topic=per_topic))
    else:
        out.table("scores", wide_user_table(found, per_topic=per_topic))
    return [*found.notes, found.sentence(), *_intervals(found.topics, brackets=not out.for_machines)]


def _write_corrected(out: Output, case: dict[str, Any], *, rng: int, **_: object) -> list[str]:
    """Estimate the scores that the reference would give, and write them; what is there to note."""
    from venire.comparison.corrected_scores import corrected_scores

    judge = judge_to_correct(case["judgments"], case["assessor"])
    kept = {name: case[name] for name in ("judgments", "runs", "measures", "gains", "topics")}
    with bar(case["runs"].sources, quiet=out.quiet) as progress:
        found = corrected_scores(**kept, judge=judge, rng=rng, progress=progress)
    out.table("scores", corrected_table(found, judge, long=out.for_machines))
    what = "in brackets" if len(found.measures) > 1 and not out.for_machines else "low and high"
    words = f"{what}: 95% interval of the score that {listed(found.reference)} would give on these topics; it is "
    words += "due to the labels that were not given, not to the choice of topics"
    return [found.sentence(), words, *found.notes]


def judge_to_correct(labels: Judgments, assessor: str | None) -> str:
    """Return whose labels are corrected: as named, or else the only one who is not the reference."""
    from venire.data.panel import judges_besides
    from venire.disagreement.reference_labels import reference_names

    people = reference_names(labels, None)
    if assessor is not None:
        return assessor
    others = judges_besides(labels, people)
    if len(others) != 1:
        who = f"of {first_few(others, 4)}" if others else "since nobody but the reference judged"
        way = Way("name the judge", assessor="NAME") if others else "add the labels of a judge"
        raise SettingError(f"nothing says whose labels are corrected, {who}", hint=[way])
    return others[0]


def corrected_table(found: CorrectedScores, judge: str, *, long: bool) -> Table:
    """Lay corrected scores out: a row per value, or systems down and measures across, each beside the raw score."""
    import numpy as np

    if long:
        rows: list[list[Cell]] = [
            [row["system"], row["measure"], ALL, judge, *(row[key] for key in ("corrected", "low", "high", "raw"))]
            for row in found.records()
        ]
        return Table([*LONG, "raw"], rows)
    if len(found.measures) == 1:
        numbers = (found.value, found.low, found.high, found.raw)
        rows = [[system, *(known(each[n, 0]) for each in numbers)] for n, system in enumerate(found.systems)]
        rows += [[system, *[None] * len(numbers)] for system in found.silent]
        return Table(["system", *found.measures, "low", "high", "raw"], rows)
    cells = np.stack([found.value, found.low, found.high], axis=-1).tolist()
    rows = [
        [system, *(with_interval(list(map(known, each))) for each in cells[n]), *map(known, found.raw[n].tolist())]
        for n, system in enumerate(found.systems)
    ]
    rows += [[system, *[None] * (2 * len(found.measures))] for system in found.silent]
    return Table(["system", *found.measures, *(f"{name} raw" for name in found.measures)], rows)


def _whose(case: dict[str, Any]) -> str | None:
    """Name whose labels are scored with; None for a pool."""
    return None if case["pool"] else case["assessor"] or case["judgments"].assessors[0]


LONG = ("system", "measure", "topic", "assessor", "value", "low", "high")
SPREAD = ("sd", "user_low", "user_high")
FEWEST_TOPICS = 3
"""The fewest topics for which the table for people has intervals."""
ALL = "all"
"""The topic of a mean over topics."""

Row = tuple[tuple[str, str, str | None], list[list[float | None]]]
"""A system, a topic and an assessor, and by measure their value and its interval, if it is a mean over topics."""


def long_table(scores: Scores, assessor: str | None, *, per_topic: bool) -> Table:
    """Lay scores out with a row per value; ``assessor`` names whose labels they are, where that is no axis."""
    rows = [
        (system, measure, topic, judge, *values)
        for (system, topic, judge), by_measure in score_rows(scores, assessor, per_topic=per_topic)
        for measure, values in zip(scores.names["measure"], by_measure, strict=True)
    ]
    return Table(LONG, rows)


def wide_table(scores: Scores, *, per_topic: bool) -> Table:
    """Lay scores out with systems (and topics, and assessors) down, and measures across, with intervals of means.

    Intervals have columns of their own if there is one measure, and are in the cells of several.
    """
    shown = {"system": True, "topic": per_topic, "assessor": "assessor" in scores.axes}
    measures = scores.names["measure"]
    several = len(scores.names["topic"]) >= FEWEST_TOPICS
    apart = ("low", "high") if several and len(measures) == 1 else ()
    rows: list[list[Cell]] = [
        [
            *(name for name, keep in zip(place, shown.values(), strict=True) if keep),
            *(by_measure[0] if apart else [with_interval(each) if several else each[0] for each in by_measure]),
        ]
        for place, by_measure in score_rows(scores, None, per_topic=per_topic)
    ]
    return Table([*(name for name, keep in shown.items() if keep), *measures, *apart], rows)


def with_interval(cells: Sequence[float | None]) -> Cell:
    """Write a value with its interval, as in 0.5134 [0.432, 0.595]; without one, the value as wide as the others."""
    value, low, high = cells
    if value is None:
        return None
    return f"{value:.4f}" if low is None or high is None else f"{value:.4f} [{low:.3f}, {high:.3f}]"


def score_rows(scores: Scores, assessor: str | None, *, per_topic: bool) -> Iterator[Row]:
    """Yield the values of each system: topic by topic if asked, then the means; None where there is none."""
    import numpy as np

    scores = scores.complete()
    whole = (scores.mean("topic"), *scores.interval("topic"))
    means = np.stack([each.values[:, None] for each in whole], axis=-1)
    topics = np.stack([scores.values, *[np.full_like(scores.values, np.nan)] * 2], axis=-1)
    values = np.concatenate([topics, means], axis=1) if per_topic else means
    values = np.moveaxis(values, 3, 2) if "assessor" in scores.axes else values[:, :, None]
    names = [*(scores.names["topic"] if per_topic else ()), ALL]
    judges: Iterable[str | None] = scores.names["assessor"] if "assessor" in scores.axes else [assessor]
    for system, by_topic in zip(scores.names["system"], values.tolist(), strict=True):
        for topic, by_judge in zip(names, by_topic, strict=True):
            for judge, by_measure in zip(judges, by_judge, strict=True):
                yield (system, topic, judge), [[known(value) for value in row] for row in by_measure]


def long_user_table(found: UserScores, assessor: str | None, *, per_topic: bool) -> Table:
    """Lay scores of simulated users out, a row per mean over users, with their spread."""
    rows: list[list[Cell]] = [
        [system, measure, topic, assessor, *map(known, cells)]
        for (system, topic), values in user_rows(found, per_topic=per_topic)
        for measure, cells in zip(found.users.names["measure"], values, strict=True)
    ]
    return Table([*LONG, *SPREAD], rows)


def wide_user_table(found: UserScores, *, per_topic: bool) -> Table:
    """Lay scores of simulated users out: systems (and topics) down; measures, with intervals, and spread across."""
    several = len(found.topics.names["topic"]) >= FEWEST_TOPICS
    rows: list[list[Cell]] = []
    for (system, topic), values in user_rows(found, per_topic=per_topic):
        cells = [list(map(known, each)) for each in values]
        pairs = ((with_interval(each[:3]) if several else each[0], each[3]) for each in cells)
        rows.append([system, *([topic] if per_topic else []), *(cell for pair in pairs for cell in pair)])
    across = [name for measure in found.users.names["measure"] for name in (measure, f"{measure} sd")]
    return Table(["system", *(["topic"] if per_topic else []), *across], rows)


def user_rows(found: UserScores, *, per_topic: bool) -> Iterator[tuple[tuple[str, str], list[list[float]]]]:
    """Yield the numbers of each measure, in the order of LONG and SPREAD: topic by topic if asked, then of means."""
    import numpy as np

    from venire.measures.random_users import HIGH, LOW

    overall = [found.mean.values, *found.over_topics(), found.sd.values, found.quantile(LOW), found.quantile(HIGH)]
    means = np.stack(overall, axis=-1)[:, None]
    nothing = [np.full(found.topics.values.shape, np.nan)] * 2
    topics = np.stack([found.topics.values, *nothing, found.topic_spread.values, *nothing], axis=-1)
    values = np.concatenate([topics, means], axis=1) if per_topic else means
    names, silent = [*(found.topics.names["topic"] if per_topic else ()), ALL], found.topics.silent
    systems, nothing_else = (*found.users.names["system"], *silent), np.full((len(silent), *values.shape[1:]), np.nan)
    for system, by_topic in zip(systems, np.concatenate([values, nothing_else]).tolist(), strict=True):
        for topic, by_measure in zip(names, by_topic, strict=True):
            yield (system, topic), by_measure

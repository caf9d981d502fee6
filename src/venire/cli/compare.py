"""venire compare: significance of differences between systems, and forecasts under another judge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from venire.cli import gate, inputs
from venire.cli.options import ALL_POOLS, Command, draws_option, flag, gathered, given, one_of, option
from venire.cli.output import RENDERERS, Cell, Output, Table, bar
from venire.results import read_number

if TYPE_CHECKING:
    from venire.comparison.agreement_needed import AgreementNeeded, PairNeeded
    from venire.comparison.by_judge import ScoresByJudge
    from venire.comparison.compare import Comparison
    from venire.data.judgments import Judgments
    from venire.data.runs import Runs

JUDGE = "Judge"
NEEDED = ("a", "b", "measure", "delta", "needed", "not_behind")
CORRECTED = ("a", "b", "measure", "raw", "corrected", "low", "high", "p_a_ahead")
MOST_JUDGES = 5
"""Number of assessors whose rates of agreement are told."""
JUDGE_MODELS = ("hierarchical", "fixed", "assessors", "pooled")
EXAMPLES = """\b
Examples:
  venire compare judgments.tsv runs --assessor nist
  venire compare judgments.tsv runs --assessor nist --new-judge gpt4 -m AP
  venire compare crowd.tsv runs --pool dawid-skene --reference expert
  venire compare llm.qrels -j labels.tsv runs --assessor llm \\
    --reference ann --corrected --baseline old
  venire compare qrels.txt runs --agreement-needed -m P@10 --plot needed.svg
  venire compare qrels.txt runs --agreement 0.9,0.7 -m P@10 --baseline bm25
  venire compare judgments.tsv runs --assessor nist \\
    --baseline old --candidate new --require "p_stays_ahead>=0.9"
  venire compare qrels.txt old.run new.run \\
    --require "delta>=0.02" --require "p_adjusted<=0.05"
"""
NUMBERS = (
    *("delta", "p_value", "p_adjusted", "expected_delta", "sd", "p_stays_ahead", "p_tie", "p_flips"),
    *("p_stays_ahead_topics", "p_stays_ahead_both"),
)
"""What a condition may be about."""

NOT_CORRECTED = (
    *("new_judge", "judge_model", "agreement", "n_draws", "pool"),
    *("require", "intent_file", "plot", "agreement_needed"),
)
"""Options that are about a forecast, and not about corrected differences."""

judging = gathered(
    "judging",
    {
        "assessor": inputs.assessor_option(
            JUDGE,
            "The assessor whose labels score the runs.  [default: the only one besides --new-judge; where a reference "
            "is declared, the one machine, or the only one besides the reference]",
        ),
        "pool": inputs.pool_option(
            JUDGE,
            choices=ALL_POOLS,
            help="Score the runs with pooled labels, by {}, of all people except --new-judge or the reference; without "
            "these, the other judge is another crowd.  Declared machines are left out.",
        ),
        "new_judge": option(
            "--new-judge",
            section=JUDGE,
            metavar="NAME|any",
            help="The other judge: an assessor, or any for a random one.  [default: the declared reference if it is "
            "one assessor, not the one who scores the runs; else any]",
        ),
        "judge_model": one_of(
            "--judge-model",
            choices=JUDGE_MODELS,
            section=JUDGE,
            default="hierarchical",
            help="Model from which missing labels of the other judge are drawn: {}.",
        ),
        "agreement": option(
            "--agreement",
            section=JUDGE,
            metavar="A0,A1",
            help="Assumed rates of agreement of another judge with irrelevant and with relevant labels.",
        ),
        "n_draws": draws_option(JUDGE, default=2000, least=2, help="Number of draws of another judge."),
    },
)


@click.command("compare", cls=Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@inputs.measures_option
@inputs.worth
@inputs.intents_option
@inputs.topics_option
@judging
@option(
    "--baseline",
    section=JUDGE,
    metavar="SYSTEM",
    help="Compare the other systems with this one.  [default: compare all pairs; with --require, the first system of "
    "RUNS; with --candidate, the other of two systems]",
)
@option("--candidate", section=JUDGE, metavar="SYSTEM", help="Compare only this system with the baseline.")
@option(
    "--require",
    section=JUDGE,
    multiple=True,
    metavar="CONDITION",
    help='A condition, as in "p_stays_ahead>=0.9": exit code 1 if the candidate, or one of several, does not meet it, '
    "or if judges contradict each other on it; may be repeated.",
)
@flag(
    "--agreement-needed",
    section=JUDGE,
    help="Instead of a forecast, compute how far another judge must agree for the better of two systems to stay ahead, "
    "by P@10 unless -m is given.  JSON has also the probability by both rates, which --plot shows.",
)
@flag(
    "--corrected",
    section=JUDGE,
    help="Instead of a forecast, estimate the differences that the reference would find, from the labels of --assessor "
    "and those that the reference gave, such as those of a plan, with their probabilities.",
)
@inputs.declared
@inputs.shared_options()
@click.pass_context
def command(
    ctx: click.Context, /, *, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any
) -> None:
    """Compare the systems of RUNS, and forecast whether another judge would change their order.

    The first table has the mean score of every system by the labels of every judge, with 95% intervals over topics.
    The second has, for each pair of systems: the difference, its significance over topics, and the probability that the
    order stays the same under another judge.  Significant pairs are marked *, fragile pairs !; pairs with both marks
    come first.  With one judge, it is the probability that the order stays the same on other topics.
    Files of nuggetizer with the nuggets of answers are both JUDGMENTS and RUNS, for measures such as VitalScore.
    """
    from venire import compare
    from venire.data.assessors import nothing_declared
    from venire.io.runs import scan

    conditions = [gate.read_condition(text, NUMBERS, example="p_stays_ahead>=0.9") for text in options["require"]]
    inputs.one_standard_input(
        judgments, *more, *runs, options["worth"]["fit_on"], options["topic_file"], options["intent_file"]
    )
    measures = inputs.checked_measures(options["measures"])
    if options["agreement_needed"] and (odd := given("new_judge", "judge_model", "agreement", "require")):
        raise click.UsageError(f"{odd[0]} cannot be used with --agreement-needed")
    if options["corrected"] and (odd := given(*NOT_CORRECTED)):
        raise click.UsageError(f"{odd[0]} cannot be used with --corrected")
    labels, sources = inputs.read_labels_and_runs([judgments, *more], runs, options)
    topics, notes = inputs.chosen_topics(options["topic_file"], labels)
    if options["agreement_needed"]:
        _tell_needed(labels, sources, out, {**options, "topics": topics}, notes)
        return
    if options["corrected"]:
        _tell_corrected(labels, sources, out, {**options, "topics": topics, "measures": measures}, notes)
        return
    judge = dict(options["judging"])
    if len(labels.assessors) == 1 and judge["agreement"] is None and (odd := given("judge_model", "plot")):
        raise click.UsageError(f"{odd[0]} is about another judge, and only {labels.assessors[0]!r} judged")
    judge["agreement"] = read_rates(judge["agreement"])
    with bar(sources.sources, quiet=out.quiet) as progress:
        sources = scan(sources, labels.items, progress=progress)
        assumed = bool(conditions) and options["baseline"] is None and options["candidate"] is None
        found = compare(
            labels,
            sources,
            measures,
            gains=inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=sources, notes=notes),
            baseline=sources.facts.systems[0] if assumed else options["baseline"],
            candidate=options["candidate"],
            topics=topics,
            rng=options["rng"],
            **judge,
        )
    by_judge, contradictions = found.by_judge, found.contradictions
    beside = details(found, n_draws=judge["n_draws"], rng=options["rng"])
    declared = nothing_declared(labels) if judge["pool"] is None else ()
    favoured = found.favoured
    judges = {
        "by_judge": by_judge.records(),
        "contradictions": contradictions.records(),
        "favoured": [] if favoured is None else favoured.records(),
    }
    _write(out, found, beside._replace(records={**beside.records, **judges}), by_judge)
    if found.swap is not None:
        out.draw("comparison", "plot_stability", found.by_measure[0].stability)
    first = [*[contradictions.sentence()] * bool(found.pairs), *by_judge.notes_on_judges()]
    first = first if len(by_judge.judges) > 1 else []
    if favoured is not None and favoured.found:
        first.append(favoured.sentence())
    words = [*map(str, first), found.sentence(), *beside.words, *_planned(found)]
    words += ["the plot is of other judges, and is not written"] * (out.plot is not None and not found.by_measure)
    out.notes([*words, *declared, *found.notes, *notes])
    if conditions:
        ctx.exit(gate.report(gate.of_candidates(found, conditions, assumed=assumed), out))


def _tell_needed(labels: Judgments, runs: Runs, out: Output, options: dict[str, Any], notes: list[str]) -> None:
    """Write how far another judge must agree, and how far the other assessors do."""
    from venire.comparison.agreement_needed import agreement_needed

    judging = options["judging"]
    with bar(runs.sources, quiet=out.quiet) as progress:
        found = agreement_needed(
            labels,
            runs,
            inputs.checked_measures(options["measures"]) if given("measures") else ["P@10"],
            gains=inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=runs, notes=notes),
            **{name: options[name] for name in ("baseline", "candidate", "topics", "rng")},
            **{name: judging[name] for name in ("assessor", "pool")},
            **({"n_draws": judging["n_draws"]} if given("n_draws") else {}),
            progress=progress,
        )
    pair = nearest_pair(found)
    wanted = pair is not None and (out.format == "json" or out.plot is not None)
    contour = found.contour(pair.a, pair.b, pair.measure) if pair is not None and wanted else None
    judges, words = judge_rates(labels, found, pair) if pair is not None else ([], [])
    records = found.records()
    more = [name for name in records[0] if name not in NEEDED] if records and out.format != "table" else []
    out.finish(
        "needed",
        lambda: Table.of(records, (*NEEDED, *more)),
        document={
            "needed": records,
            "winner": [found.winner(name) for name in found.measures],
            "judges": judges,
            "contour": None if contour is None else contour.document(),
        },
        notes=[found.sentence(), *words, *found.notes, *notes],
    )
    if contour is not None and pair is not None:
        rates = [(each["assessor"], each["a0"], each["a1"]) for each in judges if None not in each.values()]
        out.draw("comparison", "plot_agreement_needed", contour, needed=pair.needed, judges=rates)


def _tell_corrected(labels: Judgments, runs: Runs, out: Output, options: dict[str, Any], notes: list[str]) -> None:
    """Write the differences that the reference would find, with their intervals."""
    from venire.cli.evaluate import judge_to_correct
    from venire.comparison.compare import some_to_test
    from venire.comparison.corrected_scores import corrected_scores

    with bar(runs.sources, quiet=out.quiet) as progress:
        found = corrected_scores(
            labels,
            runs,
            options["measures"],
            judge=judge_to_correct(labels, options["judging"]["assessor"]),
            gains=inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=runs, notes=notes),
            topics=options["topics"],
            rng=options["rng"],
            progress=progress,
        )
    wanted, untested = some_to_test(found.systems, found.silent, options["baseline"], options["candidate"])
    if isinstance(wanted, str):
        wanted = [(name, wanted) for name in found.systems if name != wanted]
    pairs = [found.pairs(name, wanted) for name in found.measures]
    rows = [row for each in pairs for row in each.records()]
    rows += [
        {**dict.fromkeys(CORRECTED), "a": a, "b": b, "measure": name} for name in found.measures for a, b in untested
    ]
    out.table("corrected", Table.of(rows, CORRECTED))
    words = "low and high: 95% interval of the difference on these topics; it is due to the labels that were not given"
    out.notes([*(each.sentence() for each in pairs), words, *found.notes, *notes])


def nearest_pair(found: AgreementNeeded) -> PairNeeded | None:
    """Return the pair that was asked for, or the winner and its nearest rival; None where nobody is ahead."""
    of_first = [each for each in found.pairs if each.measure == found.measures[0]]
    if len(of_first) > 1 and (rival := found.winner()["rival"]) is not None:
        of_first = [found.pair(found.winner()["system"], rival)]
    return next((each for each in of_first if each.delta > 0), None)


def judge_rates(labels: Judgments, found: AgreementNeeded, pair: PairNeeded) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rates at which other assessors agree with the current one, and what they come to for a pair."""
    from venire.agreement.directed import directed_agreement
    from venire.errors import PairsError

    if found.judge not in labels.assessors or len(labels.assessors) < 2:
        return [], []
    try:
        rates = directed_agreement(found.relevant_labels(labels, pair.measure), relevant="1", at_least=0)
    except PairsError:
        return [], []
    records = [
        {"assessor": each["second"], **{name: each[name] for name in ("a0", "a1", "n0", "n1")}}
        for each in rates.records()
        if each["first"] == found.judge
    ]
    for each in records:
        unknown = each["a0"] is None or each["a1"] is None
        each["p_stays_ahead"] = None if unknown else found.stays_ahead(pair, each["a0"], each["a1"])
    known_ones = [each for each in records if each["p_stays_ahead"] is not None]
    words = [
        f"{each['assessor']} agrees with {each['a0']:.0%} of the irrelevant and {each['a1']:.0%} of the relevant "
        f"labels of {found.judge}: {pair.a} stays ahead of {pair.b} with probability {each['p_stays_ahead']:.2f}"
        for each in known_ones[:MOST_JUDGES]
    ]
    return records, words


def _planned(found: Comparison) -> list[str]:
    """Return the difference that these topics can detect; nothing where no two systems differ on any topic."""
    from venire.planning import plan_topics

    if len(found.scores.names["topic"]) <= 2 or not found.by_measure:
        return []
    effects = found.by_measure[0].tested.effects
    if not (effects.wins.any() or effects.losses.any()):
        return []
    return [plan_topics(found.scores, found.scores.names["measure"][0], pairs=found.pairs).sentence()]


def _write(out: Output, found: Comparison, beside: Details, by_judge: ScoresByJudge) -> None:
    """Write scores by judge and pairs; in JSON also systems, and tau and details of the first measure; CSV is pairs."""
    from venire.comparison.compare import KEYS, flattened

    records = found.records()
    if out.for_machines:
        if out.format == "csv":
            records = [flattened(record) for record in records]
        keys = list(records[0]) if records else KEYS
        table = Table(keys, [[record[key] for key in keys] for record in records])
        out.table("pairs", table, beside={"systems": found.systems(), "tau": found.tau(), **beside.records})
    else:
        systems_shown = {name for pair in (*found.pairs, *found.untested) for name in pair}
        tables = [judges_table(by_judge, systems_shown), people_table(found)]
        out.text("\n".join(RENDERERS[out.format](each) for each in tables))


def judges_table(scores: ScoresByJudge, systems: Collection[str]) -> Table:
    """Return systems by judges, with intervals; one row per measure and system."""
    tables = [(measure, *scores.table(measure)) for measure in scores.measures]
    rows = [[row[0], measure, *row[1:]] for measure, _, rows in tables for row in rows if row[0] in systems]
    return Table(["system", "measure", *tables[0][1][1:]], rows)


def people_table(found: Comparison) -> Table:
    """Return the pairs as a table: * significant, ! fragile; pairs with both marks first."""
    chances = ["p_stays_ahead", "p_flips"] if found.swap is not None else ["p_stays_ahead_topics"]
    columns = ["a", "b", "measure", "delta", "p_adjusted", *chances, ""]
    rows: list[list[Cell]] = []
    for each in found.by_measure:
        first = each.fragile()
        marks = zip(each.tested.significant.tolist(), each.changes.fragile.tolist(), strict=True)
        cells = [
            [*(record[key] for key in columns[:-1]), "*" * significant + "!" * fragile]
            for record, (significant, fragile) in zip(each.records(), marks, strict=True)
        ]
        rows += [cells[n] for n in first] + [row for n, row in enumerate(cells) if n not in set(first)]
    measures, unknown = found.scores.names["measure"], [None] * (len(columns) - 4)
    rows += [[a, b, measure, *unknown, ""] for measure in measures for a, b in found.untested]
    return Table(columns, rows)


def read_rates(text: str | None) -> tuple[float, float] | None:
    """Read two agreement rates, as in 0.9,0.7."""
    if text is None:
        return None
    try:
        a0, a1 = (read_number(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} are not two rates, as in 0.9,0.7", param_hint="--agreement") from None
    return a0, a1


FEWER_DRAWS = 500
"""The most draws for these details."""


class Details(NamedTuple):
    """Records for JSON, by key, and sentences."""

    records: dict[str, Any]
    words: list[str]


def details(found: Comparison, *, n_draws: int, rng: int) -> Details:
    """Compare judge models, and for one pair also sources of uncertainty and topics; of the first measure.

    There are none with one judge, nor where agreement rates were stated: then the judge model is known.
    """
    from venire.comparison import head_to_head
    from venire.comparison.uncertainty import compare_judge_models, uncertainty_sources

    if found.swap is None:
        return Details({}, [])
    first, swap = found.by_measure[0], found.swap.only(0)
    if swap.given is None or len(swap.systems) < 2:
        return Details({}, [])
    drawing: dict[str, Any] = {"n_draws": min(n_draws, FEWER_DRAWS), "rng": rng}
    models = compare_judge_models(swap, **drawing)
    if len(first.tested.a) > 1:
        whole = len(first.tested.a) == len(swap.systems) * (len(swap.systems) - 1) // 2
        return Details({"judge_models": models.records()}, [models.sentence()] if whole else [])
    a, b = (swap.systems[int(side[0])] for side in (first.tested.a, first.tested.b))
    sources = uncertainty_sources(swap, **drawing)
    topic_by_topic = head_to_head(swap.scores, a, b)
    stays = {name: one.stays[pair_number(one.forecast.systems, a, b)] for name, one in models.found.items()}
    shown = ", ".join(f"{p:.2f} ({name})" for name, p in stays.items())
    records = {
        "judge_models": [{"judge_model": name, "p_stays_ahead": float(p)} for name, p in stays.items()],
        "sources": sources.records([(a, b)]),
        "topics": topic_by_topic.records(),
    }
    words = [f"By judge model, the order stays with probability {shown}."]
    return Details(records, [*words, sources.sentence(a, b), topic_by_topic.sentence()])


def pair_number(systems: Sequence[str], a: str, b: str) -> int:
    """Return the number of a pair among all pairs of systems, first with second, first with third, ..."""
    low, high = sorted((systems.index(a), systems.index(b)))
    return low * len(systems) - low * (low + 1) // 2 + high - low - 1

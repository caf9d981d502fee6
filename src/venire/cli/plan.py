"""venire plan: what to judge next, for a goal and a budget."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import FORMATS, Output, Table, as_text, bar
from venire.results import counted, read_number, visible

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.data.runs import Runs
    from venire.planning.goals import Goal
    from venire.planning.result import Plan

PLAN = "Plan"
TSV, TEXT = "tsv", "text"
WIDTH = 20
"""Characters of a bar of probability 1."""
REFERENCE = (
    "The people who are asked, and whose labels count where systems are compared; they may have given none yet.  May "
    "be repeated.  [default: as declared in the files, or the only assessor]"
)
EXAMPLES = """\b
Examples:
  venire plan llm.qrels runs --goal pair:old,new --budget 100 \\
    --reference ann -o plan.tsv
  venire plan llm.qrels runs --goal best --budget 200 --batch 50 \\
    --reference ann,bob -o plan1.tsv
  venire plan llm.qrels -j labels1.tsv runs --goal best --budget 200 \\
    --batch 50 --reference ann,bob --after plan1.tsv -o plan2.tsv
  venire plan llm.qrels runs --goal levels --budget 300 --reference ann \\
    -m P@10 --gains binary:2 --plot forecast.svg --format text
  venire plan judgments.tsv --goal labels --budget 200 -o second.tsv
  venire plan judgments.tsv runs --goal topics --budget 50 --reference ann
  venire plan judgments.tsv --goal topics --budget 50 --reference ann
"""

asking = declare.gathered(
    "asking",
    {
        "goal": declare.option(
            "--goal",
            section=PLAN,
            required=True,
            metavar="GOAL",
            help="What is to be decided: pair:A,B (which of two systems is better), best (the best system), top:K (the "
            "order of the first K systems), levels (the mean score of every system), labels (what a label is worth), "
            "agreement (how far assessors agree), topics or topics:A,B (how many more), preferences (how often a "
            "higher label is preferred).",
        ),
        "budget": declare.option(
            "--budget",
            section=PLAN,
            required=True,
            type=declare.Number(min=0, min_open=True),
            metavar="N",
            help="How much may be spent in all: a number of judgments, unless --cost is given; for topics, of topics.",
        ),
        "batch": declare.option(
            "--batch",
            section=PLAN,
            type=declare.Number(min=0, min_open=True),
            metavar="N",
            help="How much of it to spend now; plan again with --after when the labels are there.  [default: all]",
        ),
        "after": declare.option(
            "--after",
            section=PLAN,
            multiple=True,
            type=declare.PATH,
            metavar="PLAN.tsv",
            help="An earlier plan of this budget, whose labels are among JUDGMENTS, or whose choices are among "
            "--preferences; may be repeated, the first plan first.",
        ),
        "cost": declare.option(
            "--cost",
            section=PLAN,
            multiple=True,
            metavar="KIND=X,...",
            help="Cost of a judgment by kind (first, second, reference, preference), as in second=1,preference=.5; may "
            "be repeated.  [default: 1]",
        ),
        "within": declare.option(
            "--within",
            section=PLAN,
            type=declare.Number(min=0, min_open=True),
            metavar="X",
            help="Half-width of 95% intervals that decides levels [default: 0.03], labels and agreement [0.05], "
            "preferences [0.1] or, without RUNS, topics [0.05].",
        ),
    },
)
people = declare.gathered(
    "people",
    {
        "reference": inputs.reference_option(PLAN, REFERENCE),
        "judge": declare.option(
            "--judge",
            section=PLAN,
            multiple=True,
            metavar="NAME,...",
            help="Whose labels are on (nearly) everything and predict those of the reference; may be repeated.  "
            "[default: the declared machines, or everybody but the reference]",
        ),
    },
)


@click.command("plan", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@asking
@people
@declare.option(
    *("--preferences", "preference_files"),
    section=PLAN,
    multiple=True,
    type=declare.PATH,
    metavar="FILE",
    help="For goal preferences: choices that are known, whose pairs are not asked again; may be repeated.",
)
@declare.option(
    "--relevant",
    section=PLAN,
    metavar="LABEL",
    help="For goal labels: relevant labels, this one and higher ones, or a set 'A|B'.  [default: the top label]",
)
@declare.option(
    "--again",
    section=PLAN,
    is_flag=True,
    help="For goal labels: ask also about items with two labels or more.",
)
@declare.option(
    *("-m", "--measure"),
    section=inputs.SCORING,
    default="nDCG@10",
    metavar="NAME",
    help='The measure by which systems are compared, such as AP or "RBP(p=0.8)".',
)
@inputs.worth
@inputs.topics_option
@inputs.machines_option
@declare.more_judgments
@inputs.where_option
@declare.reading
@declare.run_rules
@declare.output_options(formats=(TSV, TEXT, *FORMATS))
@declare.plot_option
@declare.rng_option(used=True)
def command(*, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any) -> None:
    """Choose what to judge next so that a goal is decided, and forecast whether it will be.

    The result is a plan: one judgment to collect per line, with the columns topic, doc, judge, kind, probability and
    reason.  Add a column label, and the plan is a file of judgments; the probabilities enter the estimates of other
    commands.  What was labelled is not asked again.  A plan without lines means: stop, and the reason is printed.
    For topics there is a forecast alone.  --format text writes the forecast instead of the plan.  RUNS are required
    for goals about systems and for topics:A,B; without them, topics is planned for systems that did not run yet.
    """
    from venire.planning.goals import Goal

    asked = options["asking"]
    goal, cost = Goal.parse(asked["goal"]), read_costs(asked["cost"])
    _refuse_odd(goal, runs, asked)
    files = (options["worth"]["fit_on"], options["topic_file"], *options["preference_files"])
    inputs.one_standard_input(judgments, *more, *runs, *asked["after"], *files)
    measure = inputs.checked_measures([options["measure"]])[0]
    declared = {"declared": {"machines": options["machines"]}}
    labels = inputs.read_labels([judgments, *more], {**options, **declared})
    found, notes = _planned(labels, runs, {**options, "goal": goal, "cost": cost, "measure": measure}, out)
    write(out, found, notes)


def _refuse_odd(goal: Goal, runs: Sequence[str], asked: Mapping[str, Any]) -> None:
    """Refuse what does not go together, before any file is read."""
    from venire.planning.goals import OF_SYSTEMS, PREFERENCES, TOPICS

    if (goal.kind in OF_SYSTEMS or goal.about) and not runs:
        raise click.UsageError(f"goal {goal} is about systems: name their RUNS after JUDGMENTS")
    if goal.kind == TOPICS and runs and asked["within"] is not None:
        message = f"goal {goal} with RUNS is decided where differences are significant: leave out --within, or RUNS"
        raise click.UsageError(message)
    if goal.kind == PREFERENCES and runs:
        raise click.UsageError(f"goal {goal} is about labels: leave out RUNS")
    if goal.kind not in (*OF_SYSTEMS, TOPICS) and (odd := declare.given("measure", "gains", "fit_on")):
        raise click.UsageError(f"goal {goal} scores no systems: leave out {odd[0]}")
    if asked["batch"] is not None and asked["batch"] > asked["budget"]:
        raise click.UsageError(f"--batch {asked['batch']:g} is more than --budget {asked['budget']:g}, which is all")


def read_costs(texts: Sequence[str]) -> dict[str, float]:
    """Read costs by kind, as in second=1,preference=.5."""
    found: dict[str, float] = {}
    for text in (part for each in texts for part in each.split(",") if part.strip()):
        kind, _, number = (word.strip() for word in text.partition("="))
        if kind in found:
            raise click.BadParameter(f"{kind} judgments have two costs", param_hint="--cost")
        try:
            found[kind] = read_number(number)
        except ValueError:
            message = f"{text!r} is not KIND=X, as in second=1,preference=.5"
            raise click.BadParameter(message, param_hint="--cost") from None
    return found


def _planned(labels: Judgments, runs: Sequence[str], options: Mapping[str, Any], out: Output) -> tuple[Plan, list[str]]:
    """Read the runs and the earlier plans, and plan."""
    from venire import plan, read_runs
    from venire.io.plans import read_plan
    from venire.io.preferences import read_preferences

    topics, notes = inputs.chosen_topics(options["topic_file"], labels)
    sources = read_runs(list(runs), **options["rules"]) if runs else None
    choices = options["preference_files"]
    asked: dict[str, Any] = {name: options["asking"][name] for name in ("budget", "batch", "within")}
    asked |= {name: inputs.names_among(some, labels.assessors) or None for name, some in options["people"].items()}
    asked |= {name: options[name] for name in ("goal", "cost", "relevant", "again", "rng")}
    with bar(sources.sources if sources is not None else (), quiet=out.quiet) as progress:
        found = plan(
            labels,
            sources,
            options["measure"],
            gains=_gains(labels, sources, options, notes),
            after=[read_plan(path) for path in options["asking"]["after"]],
            preferences=read_preferences(list(choices)) if choices else None,
            topics=topics,
            progress=progress,
            **asked,
        )
    return found, notes


def _gains(labels: Judgments, sources: Runs | None, options: Mapping[str, Any], notes: list[str]) -> Any:
    """Settle the gains, where systems are scored."""
    from venire.planning.goals import OF_SYSTEMS, TOPICS

    worth = options["worth"]
    if options["goal"].kind not in (*OF_SYSTEMS, TOPICS):
        return worth["gains"]
    scanned = None if sources is None else inputs.scanned_for_fit(sources, labels, [worth["gains"]])
    return inputs.resolve_gains(labels, options["reading"], **worth, runs=scanned, notes=notes)


def write(out: Output, found: Plan, notes: Sequence[str]) -> None:
    """Write the plan, its figure, and the forecast: to standard error, or in place of the plan."""
    words = [found.sentence(), *forecast_lines(found), *time_words(found), *map(str, found.notes), *notes]
    if out.format == TEXT:
        out.text("".join(f"{line}\n" for line in words))
        words = []
    elif out.format == TSV:
        write_rows(out, found)
    elif out.format == "json":
        out.json(found.to_dict())
    else:
        from venire.io.plans import COLUMNS

        records = found.records()
        out.table("rows", Table.of(records, None if records else COLUMNS))
    out.draw("planning", "plot_forecast", found)
    out.notes(words)


def write_rows(out: Output, found: Plan) -> None:
    """Write the plan as TSV: names as they are, but on a terminal with escapes for controls."""
    from venire.io.plans import plan_bytes, write_plan

    if out.path is not None:
        write_plan(found.asked, out.path)
        return
    data = plan_bytes(found.asked)
    out.data(visible(data.decode(), keep="\t\n").encode() if sys.stdout.isatty() else data)


def forecast_lines(found: Plan) -> list[str]:
    """Return the forecast as lines of text: by budget, the probability as a number and a bar, and the half-width."""
    from venire.planning.result import DECIDED_WITH, JUDGE, rounded

    if found.state != JUDGE:
        return []
    budgets = [rounded(each.budget) for each in found.forecast]
    rows = [
        [
            budget.rjust(len("budget")),
            f"{each.p_decided:.2f}",
            ("#" * round(WIDTH * each.p_decided)).ljust(WIDTH, "."),
            f"{each.half_width:.4f}",
        ]
        for budget, each in zip(budgets, found.forecast, strict=True)
    ]
    lines = as_text(Table(("budget", "p_decided", "", "half_width"), rows)).splitlines()
    if found.enough is None:
        return [*lines, f"no budget up to {budgets[-1]} decides the goal with probability {DECIDED_WITH:g}"]
    return [*lines, f"enough at {found.enough_at()}"]


def time_words(found: Plan) -> list[str]:
    """Say how long the assessors will need, where times are known."""
    if found.minutes is None or not len(found):
        return []
    minutes = "less than one minute" if found.minutes < 1 else f"about {counted(round(found.minutes), 'minute')}"
    return [f"{minutes} of the assessors, by earlier times"]

"""venire preferences: preferences of users, and their agreement with measures and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import Cell, Output, Table

if TYPE_CHECKING:
    from venire.data.judgments import Judgments
    from venire.data.preferences import Preferences
    from venire.data.runs import Runs
    from venire.planning.preferences import SampleSizeCheck
    from venire.users.verdicts import PreferenceSummary

PLAN = "Plan"
PAIR_KEYS = ("topic", "left", "right", "label_left", "label_right")
MODES = ("individual", "aggregate")
PLAN_KEYS = ("mode", "per_label_pair", "mean_error", "error_95", "expected_95")

planning = declare.gathered(
    "plan",
    {
        "ask": declare.whole_number(
            "--ask",
            section=PLAN,
            least=1,
            metavar="B",
            help="Write pairs of documents to be compared: B for every two labels of JUDGMENTS, spread over topics.  "
            "PDP needs about 40 in individual mode and 160 in aggregate mode.  Needs no preferences.",
        ),
        "within": declare.number(
            "--within",
            section=PLAN,
            type=declare.Number(0, 1, min_open=True),
            help="Estimate the number of tests for every two labels of JUDGMENTS with which the error of p(a > b) is "
            "at most X, by resampling the given tests and by theory.",
        ),
    },
)


def write_pairs(out: Output, labels: Judgments, n: int, rng: int) -> None:
    """Write which pairs of documents to ask people about."""
    from venire.planning.preferences import pairs_to_ask

    found = pairs_to_ask(labels, n, rng=rng)
    out.table("pairs", Table.of(found.records(), PAIR_KEYS), beside={"warnings": _short(labels, found.short, n)})
    out.notes([found.sentence(), *labels.notes])


def _short(labels: Judgments, short: tuple[tuple[int, int, int], ...], n: int) -> list[str]:
    from venire.results import counted

    names = labels.scale.labels
    return [
        f"{names[a]} against {names[b]}: {counted(room, 'pair')} of documents, {n:,} asked for" for a, b, room in short
    ]


def write_needed(
    out: Output, labels: Judgments, preferences: Preferences, *, within: float, n_draws: int, rng: int
) -> None:
    """Write the error of p(a > b) by the number of tests, and how many are enough."""
    from venire.planning.preferences import check_sample_size

    n_draws = max(n_draws, 2)
    found = [check_sample_size(preferences, labels, mode=mode, n_draws=n_draws, rng=rng) for mode in MODES]
    rows = [{"mode": each.mode, **record} for each in found for record in each.records()]
    needed = [_needed(each, within) for each in found]
    beside = {"needed": needed, "warnings": [*map(str, labels.notes), *map(str, preferences.notes)]}
    out.table("tests", Table.of(rows, PLAN_KEYS), beside=beside)
    words = [_in_words(each, largest=found[0].sizes[-1]) for each in needed]
    out.notes([*words, *(each.sentence() for each in found), *labels.notes, *preferences.notes])


def _needed(found: SampleSizeCheck, within: float) -> dict[str, Any]:
    """How many tests are enough, by drawing and by Eq. (12), corrected."""
    numbers = {"by_drawing": found.enough(within), "by_equation": found.by_equation(within)}
    return {"mode": found.mode, "within": within, **numbers}


def _in_words(needed: dict[str, Any], *, largest: int) -> str:
    n = needed["by_drawing"]
    tests = f"{n} test is" if n == 1 else f"{n} tests are"
    enough = f"more than {largest} tests for every two labels are needed" if n is None else f"{tests} enough"
    return (
        f"{needed['mode']} mode: {enough} for an error of p(a > b) of at most {needed['within']:g} in 95% of cases; "
        f"by Chu et al. "
        f"(2021), Eq. 12, corrected: {needed['by_equation']:,}"
    )


PREFERENCES = "Preferences"
MEASURES = ("nDCG@10", "P@10", "ERR@10", "RBP(p=0.8)")
KEYS = ("rank", "measure", "gains", "condition", "preference", "share_of_ties", "kappa", "low", "high", "jaccard", "p")
RANKED = (*KEYS, "p_adjusted")
PEOPLE = ("preference", "cases", "left", "ties", "right", "modal_ties", "agreement", "alpha", "alpha_low", "alpha_high")
SCORES = (*("measures", "gain_names", "fit_on", "pool", "missing"), *("predict", "features", "backoff", "expected"))
"""Parameters that say how runs are scored."""
LABELS = ("lower", "higher", "higher_preferred", "ties", "lower_preferred", "p", "low", "high", "told_apart")
EXAMPLES = """\b
Examples:
  venire preferences --preferences side-by-side.tsv
  venire preferences qrels.txt --preferences documents.tsv --plot labels.svg
  venire preferences qrels.txt runs --preferences side-by-side.tsv \\
      -m nDCG@5 -m ERR@5 --gains linear --gains exponential
  venire preferences qrels.txt --ask 40 --format csv -o pairs-to-ask.csv
  venire preferences qrels.txt --preferences documents.tsv --within 0.1
"""

asking = declare.gathered(
    "asking",
    {
        "files": declare.input_file(
            *("--preferences", "files"),
            section=PREFERENCES,
            multiple=True,
            help="Choices: topic, left, right, assessor, strength (positive: left is better) or the one preferred; may "
            "be repeated.",
        ),
        "slight": declare.slight_option,
        "anonymous": declare.flag(
            "--anonymous", section=PREFERENCES, help="Treat all choices on a pair as choices of different people."
        ),
    },
)


@click.command("preferences", cls=declare.Command, epilog=EXAMPLES)
@click.argument("judgments", required=False, type=declare.PATH)
@inputs.some_runs_argument
@asking
@planning
@inputs.measures_with(MEASURES, 'A measure, such as nDCG@5 or "CCG(alpha=0.5)@5"; may be repeated.')
@inputs.gain_names_option(default=["linear"], more=", to compare them.")
@inputs.fit_on_option()
@inputs.compared_scoring
@declare.draws_option(inputs.SCORING, default=1000)
@inputs.in_context
@inputs.shared_options()
def command(
    *, judgments: str | None, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any
) -> None:
    """Compare measures and labels with the preferences of users who compared results side by side.

    With RUNS, left and right are systems: measures and gains are ranked by Cohen's kappa with the preferences of users
    over topics.  With JUDGMENTS only, left and right are documents: the share of users who prefer the higher label,
    for each pair of labels.  With neither: the agreement between users.  --ask and --within plan preference tests.
    """
    from venire.io.preferences import read_preferences

    files, plan = options["asking"]["files"], options["plan"]
    context = [options["in_context"][name] for name in ("predict", "features")]
    inputs.one_standard_input(judgments, *more, *runs, *files, options["fit_on"], *context)
    _refuse_odd(judgments, more, runs, options)
    measures = inputs.checked_measures(options["measures"])
    if judgments is not None and plan["ask"] is not None:
        write_pairs(out, _documents(judgments, more, options), plan["ask"], options["rng"])
        return
    preferences = read_preferences(list(files))
    preferences = preferences.anonymous() if options["asking"]["anonymous"] else preferences
    people = _people(preferences, options)
    if judgments is None:
        _write(out, people)
        return
    if plan["within"] is not None:
        how = {"within": plan["within"], "n_draws": options["n_draws"], "rng": options["rng"]}
        write_needed(out, _documents(judgments, more, options), preferences, **how)
    elif runs:
        labels = inputs.read_labels([judgments, *more], options)
        _write_ranked(out, people, (labels, runs, preferences), {**options, "measures": measures})
    else:
        _write_labels(out, people, _documents(judgments, more, options), preferences)


def _refuse_odd(judgments: str | None, more: tuple[str, ...], runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    planned = [f"--{name}" for name, value in options["plan"].items() if value is not None]
    if judgments is None and more:
        raise click.UsageError("-j requires JUDGMENTS")
    if planned and (judgments is None or runs):
        raise click.UsageError(f"{planned[0]} requires JUDGMENTS and no RUNS: left and right are documents")
    if len(planned) > 1:
        raise click.UsageError("--ask cannot be used with --within")
    if not options["asking"]["files"] and "--ask" not in planned:
        raise click.UsageError("Missing option '--preferences'.")
    if judgments is None and declare.given("assessor"):
        raise click.UsageError("--assessor requires JUDGMENTS")
    if not runs and (odd := declare.given(*SCORES)):
        raise click.UsageError(f"{odd[0]} requires RUNS; select labels with --assessor and --where")


def _documents(judgments: str, more: tuple[str, ...], options: dict[str, Any]) -> Judgments:
    """Read labels of documents by themselves: those after other documents are left out; perhaps of one assessor."""
    from dataclasses import replace

    from venire.data.panel import in_isolation

    labels = inputs.read_labels([judgments, *more], options)
    if options["scoring"]["assessor"] is not None:
        labels = labels.where(assessor=options["scoring"]["assessor"])
    alone, notes = in_isolation(labels)
    return replace(alone, notes=(*alone.notes, *notes))


def _people(preferences: Preferences, options: dict[str, Any]) -> PreferenceSummary:
    from venire.users.verdicts import summarise_preferences

    return summarise_preferences(preferences, slight=options["asking"]["slight"], rng=options["rng"])


def _of_people(people: PreferenceSummary) -> dict[str, Any]:
    """Return the members of JSON about users."""
    return {
        "people": people.records(),
        "assessors": people.assessor_records(),
        "position": people.position_record(),
        "warnings": list(people.notes),
    }


def _write(out: Output, people: PreferenceSummary) -> None:
    """Write the preferences and the agreement between users."""
    out.finish(
        "people",
        lambda: Table.of(people.records(), None if out.for_machines else PEOPLE),
        document=_of_people(people),
        figure=("users", "plot_people", people),
        notes=[*people.sentences(), *people.notes, *people.verdicts.notes],
    )


def _write_labels(out: Output, people: PreferenceSummary, labels: Judgments, preferences: Preferences) -> None:
    """Write preferences by pair of labels."""
    from venire.results import counted
    from venire.users.preferences import preferences_by_labels

    found = preferences_by_labels(preferences, labels)
    records = found.records()
    counts = {"choices": found.n_choices, "unlabelled": found.n_unlabelled, "topics": found.n_topics}
    unknown = [f"{counted(found.n_unlabelled, 'choice')} omitted: a document has no label"] * bool(found.n_unlabelled)
    shown = [{key: _cell(value) for key, value in each.items()} for each in records]
    out.finish(
        "labels",
        lambda: Table.of(shown, None if out.for_machines else LABELS),
        document={"labels": records, **counts, **_of_people(people)},
        figure=("users", "plot_preferences_by_labels", found),
        notes=[found.sentence(), people.agreement[0].sentence(), *unknown, *people.notes, *labels.notes],
    )


def _write_ranked(
    out: Output,
    people: PreferenceSummary,
    read: tuple[Judgments, tuple[str, ...], Preferences],
    options: dict[str, Any],
) -> None:
    """Write the agreement of measures with users, best first."""
    from venire import read_runs
    from venire.users.agreement import choose_measure

    labels, runs, preferences = read
    sources = inputs.scanned_for_fit(read_runs(list(runs), **options["rules"]), labels, options["gain_names"])
    notes = list[str]()
    found = choose_measure(
        labels,
        sources,
        preferences,
        options["measures"],
        gains=_gains(labels, sources, options, notes),
        slight=options["asking"]["slight"],
        n_draws=options["n_draws"],
        rng=options["rng"],
        context=inputs.context_for(labels, **options["in_context"]),
        **options["scoring"],
    )
    records = found.records()
    weak, strong = found.agreement.baseline()
    always = f"predicting a tie for every pair: kappa 0, Jaccard {weak['jaccard']:.3f} (weak) and "
    f"{strong['jaccard']:.3f} (strong)"
    users = [people.verdicts.sentence(), people.agreement[0].sentence()]
    out.finish(
        "measures",
        lambda: Table.of(records, None if out.for_machines else RANKED),
        document={"measures": records, "baseline": [weak, strong], **_of_people(people), "warnings": [*found.notes]},
        figure=("users", "plot_choice", found),
        notes=[found.sentence(), *users, always, *notes, *found.notes],
    )


def _gains(labels: Judgments, runs: Runs, options: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Settle each of the gains that were named."""
    names = dict.fromkeys(options["gain_names"])
    how = {**{key: options[key] for key in ("fit_on", "where")}, "runs": runs, "notes": notes}
    return {name: inputs.resolve_gains(labels, options["reading"], gains=name, **how) for name in names}


def _cell(value: Any) -> Cell:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value

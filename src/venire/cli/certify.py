"""venire certify: what the labels of a judge, such as an LLM, may be trusted with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli import gate, inputs, options as declare, places
from venire.cli.output import Output, Table, bar, write_json

if TYPE_CHECKING:
    from venire.certification.certificate import Certificate, JudgeCertificate
    from venire.cli.gate import Condition

JUDGE, CLAIMS = "Judge", "Claims"
A_FILE = "a file"
NUMBERS = (
    *("tau", "tau_low", "tau_high", "tau_ap", "tau_ap_low", "tau_ap_high", "tau_ap_top", "tau_ap_top_low"),
    *("rbo", "rbo_low", "alpha", "x"),
)
"""What a condition may be about: correlations of orders, agreement, and the difference from which pairs are safe."""
VERDICTS = dict.fromkeys(("levels", "order", "top", "pairs"), ("PASS", "FAIL", "NOT ENOUGH LABELS"))
CRITERIA = {
    "levels": "max_bias",
    "order": "min_tau",
    "top": "min_tau_ap",
    "n_top": "first",
    "pairs": "max_reversed",
    "min_labels": "min_labels",
}
"""Criteria of the library, and the options that set them."""
EXAMPLES = """\b
Examples:
  venire certify judgments.tsv runs --reference nist --judge gpt4 -o gpt4.html
  venire certify judgments.tsv runs --reference nist,ann -m P@10
  venire certify judgments.tsv runs --reference nist --family gpt4=old,new
  venire certify judgments.tsv runs --reference nist --json certificate.json
  venire certify judgments.tsv runs --check certificate.json \\
    --require "tau>=0.9" --require levels=PASS
"""

criteria = declare.gathered(
    "criteria",
    {
        "max_bias": declare.number(
            "--max-bias",
            section=CLAIMS,
            default=0.02,
            help="Levels: the largest difference from the reference's score that is allowed.",
        ),
        "min_tau": declare.number(
            "--min-tau",
            section=CLAIMS,
            type=declare.Number(-1, 1),
            default=0.9,
            help="Order of all systems: the least tau.",
        ),
        "min_tau_ap": declare.number(
            "--min-tau-ap",
            section=CLAIMS,
            type=declare.Number(-1, 1),
            default=0.9,
            help="Order of the first systems: the least tau-AP.",
        ),
        "first": declare.whole_number(
            "--first", section=CLAIMS, least=2, default=10, help="How many systems are the first."
        ),
        "max_reversed": declare.number(
            "--max-reversed",
            section=CLAIMS,
            type=declare.Number(0, 1),
            default=0.05,
            help="Pairs: the largest share of reversed pairs.",
        ),
        "min_labels": declare.whole_number(
            "--min-labels",
            section=CLAIMS,
            least=0,
            default=100,
            help="No claim passes with fewer labels of the reference, unless they are all.",
        ),
    },
    check=lambda group: {name: group[flag] for name, flag in CRITERIA.items()},
)


@click.command("certify", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument()
@inputs.some_runs_argument
@declare.option(
    *("--judge", "judges"),
    section=JUDGE,
    multiple=True,
    default=["all"],
    metavar="NAME,...|all",
    help="Judges to certify; may be repeated.  all: the declared machines, or else everybody but the reference.",
)
@inputs.pool_option(
    JUDGE,
    choices=declare.ALL_POOLS,
    help="Pool the labels of several people, by {}: those of the reference, or, if nobody is, of all who are neither "
    "machines nor named by --judge.  If neither judges nor machines are named, the others are pooled and certified.",
)
@inputs.family_option(JUDGE)
@declare.option(
    *("--prompt", "prompts"),
    section=JUDGE,
    multiple=True,
    type=places.NamedPath(),
    metavar="NAME=FILE|HASH",
    help="The prompt of a judge, to which the certificate is bound; may be repeated.  [default: as in the files]",
)
@inputs.measures_option
@inputs.worth
@inputs.intents_option
@inputs.topics_option
@criteria
@declare.draws_option(CLAIMS, default=500, least=2, help="Number of draws of labels that the reference did not give.")
@declare.option(
    "--require",
    section=CLAIMS,
    multiple=True,
    metavar="CONDITION",
    help='A condition, as in "tau>=0.9", "tau_ap>=0.9" or levels=PASS: exit code 1 if a judge does not meet it by '
    "every measure; may be repeated.",
)
@declare.option(
    "--check",
    section=CLAIMS,
    type=click.Path(),
    metavar="FILE.json",
    help="Compute nothing: check that this certificate is for these files, and for the reference, measures, gains, "
    "criteria and judges that are named, with exit code 2 if it is not.",
)
@inputs.declared
@declare.more_judgments
@inputs.where_option
@declare.reading
@declare.run_rules
@declare.output_file(
    *("-o", "--output", "page_path"), metavar="FILE.html", help="Write the certificate as a page to this file."
)
@declare.output_file(*("--json", "json_path"), help="Write the certificate as JSON to this file.")
@declare.output_options(folder=True)
@declare.rng_option(used=True)
@click.pass_context
def command(
    ctx: click.Context, /, *, judgments: str, runs: tuple[str, ...], more: tuple[str, ...], out: Output, **options: Any
) -> None:
    """State what the labels of a judge, such as an LLM, may be trusted with.

    The judge labelled (nearly) everything that RUNS return, the reference (people) all or some of it.  For each judge:
    agreement with the reference beside what people reach among themselves, the alternative annotator test, the order of
    systems, systems that it favours, corrected scores, and a verdict for each claim: PASS, FAIL or NOT ENOUGH LABELS.
    Files of nuggetizer with the nuggets of answers are both JUDGMENTS and RUNS, for measures such as VitalScore.
    """
    conditions = [
        gate.read_condition(text, NUMBERS, VERDICTS, example="tau>=0.9 or levels=PASS") for text in options["require"]
    ]
    prompts = read_prompts(options["prompts"])
    inputs.one_standard_input(
        judgments, *more, *runs, options["worth"]["fit_on"], options["topic_file"], options["intent_file"]
    )
    if options["check"] is not None:
        record = _checked([judgments, *more, *runs], options, prompts)
        out.notes([f"{options['check']} is for these files"])
    else:
        found, notes = _certified([judgments, *more], runs, {**options, "prompts": prompts}, out)
        record = found.record()
        _write(out, found, record, options, notes)
    if conditions:
        ctx.exit(gate.report(gate_results(record, conditions), out))


def bound_files(files: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the files that a certificate is bound to: these, and those of gains, fits, topics, intents and scales."""
    gains = [options["worth"]["gains"]] if gains_words(options) == A_FILE else []
    others = (options["worth"]["fit_on"], options["topic_file"], options["intent_file"])
    named = [*files, *gains, *(name for name in others if name is not None)]
    return [*named, *(str(path) for path in places.scale_files(named))]


def gains_words(options: Mapping[str, Any]) -> str:
    """Return the gains as they were given; those of a file are bound by its hash, wherever it is."""
    from venire.io.files import is_readable

    text: str = options["worth"]["gains"]
    return A_FILE if is_readable(Path(text)) else text


def _checked(files: Sequence[str], options: Mapping[str, Any], prompts: Mapping[str, str]) -> dict[str, Any]:
    """Read a certificate, and refuse it if it is stale; return it with the judges that were named, or with all."""
    from venire.certification.binding import check_certificate, read_certificate
    from venire.io.fingerprints import files_of

    record = read_certificate(options["check"])
    asked = asked_for(options, record)
    check_certificate(record, files_of(bound_files(files, options)), prompts=prompts, asked=asked)
    if "judges" not in asked or record.get("settings", {}).get("pool"):
        return record
    return {**record, "judges": [each for each in record["judges"] if each["judge"] in asked["judges"]]}


def asked_for(options: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the command line says of how a certificate should have been made, by the names in its JSON."""
    said: dict[str, tuple[str, Any]] = {
        "reference": ("reference", inputs.names_among(options["declared"]["reference"], record["reference"])),
        "measures": ("measures", inputs.checked_measures(options["measures"])),
        "n_draws": ("draws", options["n_draws"]),
        **{flag: (name, options["criteria"][name]) for name, flag in CRITERIA.items()},
        **{name: (name, value) for name, value in settings_of(options).items()},
    }
    found = {name: value for parameter, (name, value) in said.items() if declare.given(parameter)}
    judges = inputs.names_among(options["judges"], [each["judge"] for each in record["judges"]])
    return found if judges == ["all"] else {**found, "judges": judges}


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that a certificate keeps as they were given."""
    return {"gains": gains_words(options), "pool": options["pool"], "where": sorted(options["where"])}


def _certified(
    files: Sequence[str], runs: Sequence[str], options: Mapping[str, Any], out: Output
) -> tuple[Certificate, list[str]]:
    """Read the files, and certify."""
    from venire import certify
    from venire.certification.claims import Criteria
    from venire.io.fingerprints import files_of
    from venire.io.runs import scan

    measures = inputs.checked_measures(options["measures"])
    labels, sources = inputs.read_labels_and_runs(files, runs, inputs.keeping_repeats(options))
    topics, notes = inputs.chosen_topics(options["topic_file"], labels)
    with bar(sources.sources, quiet=out.quiet) as progress:
        scanned = scan(sources, labels.items, progress=progress)
        gains = inputs.resolve_gains(labels, options["reading"], **options["worth"], runs=scanned, notes=notes)
        found = certify(
            labels,
            scanned,
            measures,
            judges=inputs.names_among(options["judges"], labels.assessors),
            pool=options["pool"],
            families=inputs.read_families(options["families"]),
            gains=gains,
            topics=topics,
            criteria=Criteria(**options["criteria"]),
            prompts=options["prompts"],
            inputs=files_of(bound_files([*files, *runs], options)) or None,
            n_draws=options["n_draws"],
            rng=options["rng"],
        )
    return replace(found, settings={**found.settings, **settings_of(options)}), notes


def read_prompts(texts: Sequence[str]) -> dict[str, str]:
    """Read hashes of prompts by judge: of a file if there is one of this name, else as they are given."""
    from venire.io.files import is_readable
    from venire.io.fingerprints import file_input

    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"{text!r} is not NAME=FILE or NAME=HASH", param_hint="--prompt")
        found[name] = file_input(Path(value)).sha256 if is_readable(Path(value)) else value
    return found


def gate_results(record: Mapping[str, Any], conditions: Sequence[Condition]) -> gate.Results:
    """Return whether every judge meets every condition by every measure, with words."""
    results: dict[str, list[tuple[bool, str]]] = {judge["judge"]: [] for judge in record["judges"]}
    for judge in record["judges"]:
        for measure in record["measures"]:
            values = _numbers(judge, measure)
            results[judge["judge"]] += [
                (each.holds(values.get(each.name)), each.text(values.get(each.name), by=measure)) for each in conditions
            ]
    return results


def _numbers(judge: Mapping[str, Any], measure: str) -> dict[str, Any]:
    """Return what conditions may be about, for one judge and measure."""
    orders: list[dict[str, Any]] = [each for each in judge["order"]["by_measure"] if each["measure"] == measure]
    order = orders[0] if orders else {}
    claims = {each["claim"]: each for each in judge["claims"] if each["measure"] == measure}
    alpha = (judge["agreement"]["alpha"] or {}).get("value")
    verdicts = {name: each["verdict"] for name, each in claims.items()}
    return {**order, "alpha": alpha, "x": claims.get("pairs", {}).get("value"), **verdicts}


def _write(
    out: Output, found: Certificate, record: Mapping[str, Any], options: Mapping[str, Any], notes: Sequence[str]
) -> None:
    """Write the page and the JSON to their files, and the verdicts or the JSON to standard output."""
    from venire.certification.certificate import ranked_table

    page, data = options["page_path"], options["json_path"]
    if data is not None:
        write_json(data, record)
    if page is not None:
        from venire import write_report
        from venire.report.certificate import certificate_report

        write_report(certificate_report(found), page)
    if out.format == "json":
        out.json(record)
    elif out.format == "csv":
        out.table("claims", Table.of(found.records()))
    else:
        out.table("judges", Table.of(ranked_table(found)))
    written = [f"wrote {path}" for path in (page, data) if path is not None]
    out.notes([*in_words(found), *found.notes, *notes, *written])


def in_words(found: Certificate) -> list[str]:
    """Return what is most important: all of one judge, the summary of several."""
    from venire.certification.certificate import summary

    if len(found.judges) == 1:
        return judge_in_words(found.judges[0])
    favours = [each.scores.favoured for each in found.judges if each.scores is not None]
    return [found.sentence(), summary(found), *(each.sentence() for each in favours if each is not None and each.found)]


def judge_in_words(judge: JudgeCertificate) -> list[str]:
    """Return the findings on one judge."""
    scores, words = judge.scores, [judge.sentence()]
    if scores is not None:
        words += [*(each.sentence() for each in judge.claims), *(each.sentence() for each in scores.order)]
        words += [scores.favoured.sentence()] if scores.favoured is not None else []
        now, more = scores.sample.labelled, scores.sample.to_halve
        text = f"About {more or 0:,} labels of the reference, instead of {now:,}, would halve the intervals."
        words += [text] if more is not None else []
    missing = judge.alt_test.notes[:1] if not judge.alt_test.complete else ()
    notes = [str(note) for note in judge.notes if note not in missing]
    return [*words, judge.agreement.sentence(), judge.alt_test.sentence(), *notes]

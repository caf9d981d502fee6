"""venire agreement: inter-annotator agreement, overall or by topic or aspect; and profiles of assessors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from venire.cli.inputs import (
    are_answers,
    judgments_argument,
    keeping_repeats,
    read_answers,
    read_labels,
    reference_option,
    shared_options,
)
from venire.cli.options import MODEL, Command, draws_option, flag, gathered, given, one_of, option, whole_number
from venire.cli.output import Output, Table
from venire.results import known, listed

if TYPE_CHECKING:
    from venire.agreement.confusion import Confusions
    from venire.agreement.directed import AgreementDifferences
    from venire.data.judgments import Judgments

BY = ("topic", "assessor", "aspect", "task")
JACCARD = "jaccard"
LEVELS = ("nominal", "ordinal", "interval", "ratio")
OVER = ("items", "topics")
KEYS = ("name", "level", "raters", "value", "low", "high", "n_items", "n_raters", "meaning", "reason")
FOR_PEOPLE = KEYS[:8]
PERSON = (
    *("assessor", "n_labels", "n_shared", "agreement", "low", "high", "kappa", "leniency", "shift", "entropy"),
    *("top_label", "top_share", "seconds", "flags"),
)
TRUSTED = "compare with a trusted assessor: --reference NAME"
MOST_ROWS = 50
"""The most directed pairs in a table for people."""
MOST_PAIRS = 100
"""The most pairs of assessors whose confusion matrices are written."""
MOST_THRESHOLDS, FEW_THRESHOLDS = 12, 5
"""Tables show the overlap for a few thresholds if there are more than the first number."""
NOT_ACROSS = "agreement is not comparable between scales: with fewer labels, agreement is easier"
EXAMPLES = """\b
Examples:
  venire agreement judgments.tsv
  venire agreement one.qrels other.qrels
  venire agreement judgments.tsv --name phi --measurement ordinal
  venire agreement judgments.tsv --by assessor --plot assessors.svg
  venire agreement judgments.tsv --by assessor --reference expert
  venire agreement aspects.tsv --by aspect --draws 300 --format json
  venire agreement judgments.tsv --directed --by topic --relevant 2
"""


@click.command("agreement", cls=Command, epilog=EXAMPLES)
@judgments_argument(several=True)
@one_of(
    *("--by", "groups"),
    choices=BY,
    section=MODEL,
    multiple=True,
    help="Compute statistics by topic, aspect or task, or a profile of each assessor: {}.  With --directed, topic and "
    "task may both be given.",
)
@flag(
    "--directed",
    section=MODEL,
    help="Compute how often the second of two assessors confirms irrelevant (a0) and relevant (a1) labels of the "
    "first, for every pair in both directions; with a reference, for pairs in which it comes first.",
)
@option(
    "--relevant",
    section=MODEL,
    metavar="LABEL",
    help="With --directed: relevant labels, this one and higher ones, or a set 'A|B'.  [default: the top label]",
)
@whole_number(
    "--at-least",
    section=MODEL,
    least=0,
    metavar="N",
    default=1,
    help="With --directed: omit pairs in which the first assessor found fewer items relevant, or fewer irrelevant.",
)
@one_of(
    "--measurement",
    choices=LEVELS,
    section=MODEL,
    help="Level of measurement of the labels: {}.  [default: that of the scale]",
)
@gathered(
    "declared",
    {
        "reference": reference_option(
            MODEL,
            "With --by assessor or --directed: compare the others with these assessors; may be repeated.  [default: as "
            "declared in the files, else compare each with all others]",
        )
    },
)
@flag(
    "--anonymous",
    section=MODEL,
    help="Take every label of an item as that of a different person, as for crowds of many workers.",
)
@option(
    *("--name", "names"),
    section=MODEL,
    multiple=True,
    metavar="STATISTIC",
    help="A statistic, such as krippendorff_alpha or phi; may be repeated.  [default: all]",
)
@one_of("--over", choices=OVER, section=MODEL, default="items", help="Pool all items, or average over topics: {}.")
@draws_option(
    MODEL,
    default=1000,
    help="Number of bootstrap samples of topics, or of items where one topic has all pairs; 0: no intervals.",
)
@shared_options(runs=False)
def command(*, judgments: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Compute inter-annotator agreement from JUDGMENTS in which items have several labels.

    Each qrels file is one assessor, named by the file.  Each statistic has a 95% confidence interval and an
    interpretation; a statistic that cannot be computed has a reason instead.  With --by assessor: the agreement of each
    assessor with the others, or with the reference, and how their labels differ.  In files of nuggetizer an item is a
    nugget in an answer.
    """
    from venire.agreement.table import TOGETHER
    from venire.data.assessors import copies, copy_notes
    from venire.io.limits import refuse_crowd

    _refuse_odd(options)
    anonymous = options["anonymous"]
    if are_answers(judgments):
        labels, _ = read_answers(judgments, options)
    else:
        labels = read_labels(judgments, keeping_repeats(options) if anonymous else options)
    labels = labels.anonymous() if anonymous else labels
    refuse_crowd(len(labels.assessors), hint=TOGETHER)
    repeated = [] if anonymous else list(map(str, copy_notes(copies(labels))))
    if options["directed"]:
        tell_directed(labels, out, options, repeated)
        return
    options["by"] = next(iter(options["groups"]), None)
    if options["by"] == "assessor":
        _tell_assessors(labels, out, options, repeated)
        return
    records = [
        {**group, **record}
        for group, some in _groups(labels, options["by"])
        for record in _statistics(some, options, rng)
    ]
    shown, left_out = _few_thresholds(records)
    topics = _of_topics(labels) if options["by"] is None else []
    group = ("group",) if options["by"] else ()
    keys = (*group, *(KEYS if out.for_machines else FOR_PEOPLE))
    out.finish(
        "statistics",
        lambda: Table.of(records if out.for_machines else shown, keys),
        document={"statistics": records, "warnings": [NOT_ACROSS, *repeated, *topics]},
        figure=("agreement", "plot_statistics", shown),
        notes=[*repeated, *_sentences(records), *labels.notes, *_reasons(shown), *left_out, *topics, NOT_ACROSS],
    )


def _refuse_odd(options: dict[str, Any]) -> None:
    """Refuse what would have no effect."""
    by = options["groups"]
    if options["directed"]:
        odd = given("measurement", "names", "over", "n_draws")
        odd += [f"--by {name}" for name in by if name not in ("topic", "task")]
        if odd:
            raise click.UsageError(f"{odd[0]} cannot be used with --directed")
        return
    if odd := given("relevant", "at_least"):
        raise click.UsageError(f"{odd[0]} is for --directed")
    if len(by) > 1:
        raise click.UsageError("--by can be given once, except with --directed")
    if options["declared"]["reference"] and by != ("assessor",):
        raise click.UsageError("--reference requires --by assessor or --directed")


def tell_directed(labels: Judgments, out: Output, options: dict[str, Any], repeated: list[str]) -> None:
    """Write a0 and a1 of every directed pair, and by how much they vary between topics or tasks."""
    import numpy as np

    from venire.agreement.directed import differences, directed_agreement
    from venire.data.scale import relevant_sets
    from venire.errors import PairsError

    by = tuple(dict.fromkeys(options["groups"]))
    found = directed_agreement(labels, relevant=options["relevant"], by=by, at_least=options["at_least"])
    if labels.reference:
        places = [found.assessors.index(name) for name in labels.reference]
        found = found.take(np.isin(found.first, places))
        if not found.n_pairs:
            message = f"nobody labelled enough items that {listed(labels.reference)} labelled"
            raise PairsError(message, hint="have others label some of the same items, or name another reference")
    compared, words = {}, []
    for name in by:
        try:
            compared[name] = differences(found, name)
        except PairsError as error:
            words.append(error.message)
    records = found.records()
    careful = [*map(str, found.notes), *words]
    few = out.format == "table" and len(records) > MOST_ROWS
    more = [f"the first {MOST_ROWS} of {len(records):,} directed pairs are shown; JSON and CSV have all"] if few else []
    marked = relevant_sets(labels.scale, options["relevant"]).labels[0]
    names = [label for label, is_relevant in zip(labels.scale.labels, marked, strict=True) if is_relevant]
    words_of_result = [*(each.sentence() for each in (found, *compared.values())), f"relevant: {listed(names)}"]
    across = next(iter(compared), None)
    figure = ("plot_agreement", found) if across is None else ("plot_differences", compared[across])
    out.finish(
        "directed",
        lambda: Table.of(records[:MOST_ROWS] if few else records),
        document={
            "directed": records,
            "differences": [_variation(name, each) for name, each in compared.items()],
            "relevant": found.relevant,
            "reference": list(labels.reference),
            "warnings": [*repeated, *careful],
        },
        figure=("agreement", *figure),
        notes=[*repeated, *words_of_result, *careful, *more, *labels.notes],
    )


def _variation(across: str, found: AgreementDifferences) -> dict[str, Any]:
    """Return by how much the rates of a pair vary: for the median pair, and root mean squares, also by chance."""
    typical, spread = found.typical(), found.spread()
    numbers = {"typical": typical, "rms": spread.found, "by_chance": spread.by_chance, "beyond_chance": spread.beyond}
    rates = {f"{name}_a{kind}": known(float(values[kind])) for name, values in numbers.items() for kind in (0, 1)}
    return {"across": across, "pairs": found.n_pairs, "differences": len(found), **rates}


def _of_topics(labels: Judgments) -> list[str]:
    """Return notes if intervals are based on few topics, or on the items of one topic."""
    import numpy as np

    from venire.data.label_pairs import few_topics, judged_by_two

    twice = labels.item[judged_by_two(labels.item, labels.assessor.codes)]
    n_topics = len(np.unique(labels.items.topic[twice]))
    if n_topics == 1:
        return ["all pairs of labels are of one topic: intervals are over its items and do not cover other topics"]
    return list(map(str, few_topics(n_topics)))


def _groups(labels: Judgments, by: str | None) -> Iterator[tuple[dict[str, str], Judgments]]:
    """Group the labels by topic or aspect; one group if ``by`` is None."""
    import numpy as np

    from venire.data.label_pairs import refuse_mixed

    if by is None:
        refuse_mixed(labels)
        yield {}, labels
        return
    column = labels.column(by)
    order = np.argsort(column.codes, kind="stable")
    ends = np.cumsum(np.bincount(column.codes, minlength=len(column.names)))
    for name, first, last in zip(column.names, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        if last > first:
            some = labels.take(order[first:last])
            refuse_mixed(some)
            yield {"group": name}, some


def _statistics(labels: Judgments, options: dict[str, Any], rng: int) -> list[dict[str, Any]]:
    from venire.agreement.table import table

    asked = {key: options[key] for key in ("measurement", "over", "n_draws")}
    return table(labels, names=options["names"] or None, rng=rng, **asked).records()


def _few_thresholds(records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Select a few thresholds of a long scale, and return a note on it."""
    levels = list(dict.fromkeys(each["level"] for each in records if each["name"] == JACCARD))
    if len(levels) <= MOST_THRESHOLDS:
        return records, []
    chosen = [levels[round(n * (len(levels) - 1) / (FEW_THRESHOLDS - 1))] for n in range(FEW_THRESHOLDS)]
    words = f"{JACCARD} is shown for {len(chosen)} of {len(levels)} labels ({', '.join(chosen)}); JSON and CSV have all"
    return [each for each in records if each["name"] != JACCARD or each["level"] in chosen], [words]


def _sentences(records: list[dict[str, Any]]) -> list[str]:
    """Return the meaning of the first statistic of each name; nothing for groups."""
    if any("group" in each for each in records):
        return []
    first: dict[str, str] = {}
    for each in records:
        if each["value"] is not None:
            first.setdefault(each["name"], each["meaning"])
    return list(first.values())


def _reasons(records: list[dict[str, Any]]) -> list[str]:
    """Return the reasons why statistics have no value or no interval, each reason once."""
    whose: dict[str, list[str]] = {}
    for each in records:
        if each["reason"] is not None:
            whose.setdefault(each["reason"], []).append(_what(each))
    return [f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in whose.items()]


def _what(record: dict[str, Any]) -> str:
    group = f"{record['group']}: " if "group" in record else ""
    return f"{group}{record['name']} ({record['level']})"


def _tell_assessors(labels: Judgments, out: Output, options: dict[str, Any], repeated: list[str]) -> None:
    """Write profiles of assessors, and in JSON their confusion matrices."""
    from venire.agreement.flags import FlaggedProfiles
    from venire.agreement.profiles import profiles

    found = profiles(labels, measurement=options["measurement"], reference=labels.reference)
    flagged = FlaggedProfiles(found)
    records, careful = flagged.records(), [*map(str, flagged.notes), *([TRUSTED] if flagged.notes else [])]
    pairs, words = _confusions(labels) if out.format == "json" or out.plot else (None, [])
    two = pairs is not None and len(found.assessors) == 2
    evidence = [f"{each['assessor']}: {words}" for each in records for words in each["evidence"]]
    out.finish(
        "assessors",
        lambda: Table.of(
            [{key: _cell(value) for key, value in each.items()} for each in records],
            None if out.for_machines else PERSON,
        ),
        document={
            "assessors": records,
            "confusions": [] if pairs is None else pairs.records(),
            "reference": list(found.reference),
            "warnings": [*repeated, *careful, *words],
        },
        figure=("agreement", "plot_confusion", pairs, *found.assessors) if two else ("agreement", "plot_labels", found),
        notes=[*repeated, flagged.sentence(), *evidence, *careful, *labels.notes],
    )


def _confusions(labels: Judgments) -> tuple[Confusions | None, list[str]]:
    """Return the confusion matrices of pairs of assessors, unless there are none or too many."""
    from venire.agreement.confusion import confusions
    from venire.errors import PairsError

    try:
        found = confusions(labels)
    except PairsError as error:
        return None, [error.message]
    if (n := len(found.pairs())) > MOST_PAIRS:
        return None, [
            f"the confusion matrices of {n:,} pairs of assessors are omitted: select assessors with --where "
            f"assessor=NAME"
        ]
    return found, []


def _cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, list) else value

"""venire disagreement: the probability of relevance for a random user, given the label of one assessor."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli import inputs, options as declare
from venire.cli.output import Output, Table
from venire.errors import GainsError, ScaleError, UnknownName, VenireError

if TYPE_CHECKING:
    from venire.cli.output import Output
    from venire.data.judgments import Judgments
    from venire.data.scale import Scale
    from venire.disagreement.combined_labels import CombinedTable
    from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
    from venire.disagreement.several_labels import ItemRelevance

ESTIMATORS, WEIGHTS = ("paired", "one-sided", "labels"), ("pair", "item")
POSTERIORS = ("same", "dawid-skene")
NAMED = {"shares": "weights", "saved": "save", "group_file": "groups"}
NOT_GROUPED = ("shares", "saved", "posterior")
NOT_COMBINED = ("at_least", "anonymous", "intents", "group_file", "saved", "posterior")
EXAMPLES = """\b
Examples:
  venire disagreement judgments.tsv
  venire disagreement judgments.tsv --relevant all --weights 1/3 --weights 2/3
  venire disagreement llm.qrels human.qrels --observed llm --save fit.json
  venire evaluate llm.qrels runs --gains fit.json -m P@10
  venire disagreement crowd.tsv --posterior items.tsv
  venire disagreement pages.tsv --combine snippets.tsv --weights 1/3
"""

model = declare.gathered(
    "model",
    {
        "relevant": declare.relevant_option,
        "estimator": declare.one_of(
            "--estimator",
            choices=ESTIMATORS,
            section=declare.MODEL,
            help="Pairs of labels that are used: {}.  [default: chosen by the data]",
        ),
        "observed": declare.option(
            "--observed",
            section=declare.MODEL,
            multiple=True,
            metavar="NAME,...",
            help="Assessors whose labels are observed; may be repeated.",
        ),
        "reference": inputs.reference_option(declare.MODEL, "Assessors who represent users; may be repeated."),
        "weight": declare.one_of(
            "--weight",
            choices=WEIGHTS,
            section=declare.MODEL,
            default="pair",
            help="Unit of weight, {}: every pair of labels or every item counts once.",
        ),
        "prior": declare.prior_option(declare.MODEL, "Weight of each label in a Dirichlet prior; 0: no prior."),
        "n_draws": declare.draws_option(declare.MODEL),
    },
)


def model_for(labels: Judgments, asked: Mapping[str, Any]) -> PredictedRelevance:
    """Return the model that was asked for; names of assessors may be lists."""
    from venire import PredictedRelevance

    sides = {side: tuple(inputs.names_among(asked[side], labels.assessors)) for side in ("observed", "reference")}
    return PredictedRelevance(**{**asked, **sides})


@click.command("disagreement", cls=declare.Command, epilog=EXAMPLES)
@inputs.judgments_argument(several=True)
@model
@declare.whole_number(
    "--at-least", section=declare.MODEL, least=2, metavar="K", help="Use only items with at least K labels."
)
@declare.input_file(
    "--intents",
    section=declare.MODEL,
    help="Use only the most probable intent of each topic: lines of topic, intent, probability.  [default: all "
    "intents]",
)
@declare.flag(
    "--anonymous",
    section=declare.MODEL,
    help="Treat all labels as labels of different people, even two by one assessor.",
)
@declare.option(
    *("--weights", "shares"),
    section=declare.MODEL,
    multiple=True,
    metavar="M/N",
    help="Weights of the User Disagreement Model, as in 1/3; may be repeated.",
)
@declare.flag(
    "--keep-lowest",
    section=declare.MODEL,
    help="Keep the estimated weight of the lowest label.  [default: 0, as in the paper]",
)
@declare.input_file(
    *("--groups", "group_file"),
    section=declare.MODEL,
    help="Fit groups of topics separately, and test whether they differ: lines of topic and group.",
)
@declare.input_file(
    *("--combine", "units"),
    section=declare.MODEL,
    metavar="FILE|unit",
    help="Combine labels of snippets and pages, as in Sure+Key: JUDGMENTS are of pages and this file of their "
    "snippets; or JUDGMENTS have both, with a column unit.",
)
@declare.output_file(
    *("--save", "saved"), metavar="FIT.json", help="Save the fit, for the option --gains of other commands."
)
@declare.output_file(
    "--posterior",
    metavar="FILE.tsv",
    help="Write for each item the probability that a random user finds it relevant, given all its labels.",
)
@declare.one_of(
    "--posterior-model",
    choices=POSTERIORS,
    section=declare.OUTPUT,
    default="same",
    help="Model of assessors for --posterior, {}: the same for all, or a confusion matrix for each.",
)
@inputs.shared_options(runs=False)
def command(*, judgments: tuple[str, ...], out: Output, rng: int, **options: Any) -> None:
    """Estimate the probability that a random user finds a result relevant, given the label of one assessor.

    JUDGMENTS have several labels of an item; each qrels file is one assessor, named by the file.  For each label: the
    probability for a random user (Predicted Relevance Model) with its confidence interval; with --weights, the
    probability that at least M of N users agree (User Disagreement Model).
    """
    from venire.disagreement.gains import read_share
    from venire.disagreement.predicted_relevance import difference_records

    shares = [read_share(text) for text in options["shares"]]
    if options["keep_lowest"] and not shares and options["units"] is None:
        raise click.UsageError("--keep-lowest requires --weights M/N")
    inputs.one_standard_input(*judgments, options["units"], options["group_file"])
    labels = inputs.read_labels(judgments, inputs.keeping_repeats(options) if options["anonymous"] else options)
    setting = model_for(labels, options["model"])
    if options["units"] is not None:
        _refuse_beside("--combine", {**options, "plot": out.plot}, *NOT_COMBINED, "plot")
        _write_combined(out, labels, options, setting, shares, rng)
        return
    labels = _prepared(labels, at_least=options["at_least"], anonymous=options["anonymous"], intents=options["intents"])
    if options["group_file"] is not None:
        _refuse_beside("--groups", {**options, "plot": out.plot}, *NOT_GROUPED, "plot")
        write_groups(out, labels, options["group_file"], setting, rng)
        return
    fit = setting.fit(labels, rng=rng)
    counted, more = counted_weights(labels, fit, shares)
    words, weights = [*map(str, fit.notes)], udm_records(fit, shares, counted, keep=options["keep_lowest"])
    both = {} if out.quiet and out.format != "json" else both_ways(labels, setting, rng)
    items, of_items = item_posteriors(labels, fit, options["posterior_model"]) if options["posterior"] else ([], [])
    if options["saved"] is not None:
        from venire.data.judgments import fingerprint
        from venire.disagreement.files import write_fit

        write_fit(fit, options["saved"], fingerprint=fingerprint(labels))
    if items:
        write_posteriors(labels, items, options["posterior"])
    held = {"estimator": fit.setting.estimator, "parameters": fit.records(), "udm": weights, "warnings": words}
    method = f"estimator {fit.setting.estimator}; 95% intervals: {fit.method}"
    more += [*neglected_words(weights), *asymmetry_words(both, setting), *of_items]
    out.finish(
        "parameters",
        lambda: parameter_table(fit, weights, people=not out.for_machines),
        document={**held, "differences": difference_records(fit), **both},
        figure=("disagreement", "plot_parameters", fit),
        notes=[fit.sentence(), method, *more, *labels.notes, *words],
    )


def _prepared(labels: Judgments, *, at_least: int | None, anonymous: bool, intents: str | None) -> Judgments:
    """Choose what is paired: spell intents out, keep items with many labels, forget who gave a label."""
    if intents is not None or "intent" in labels.facets:
        from venire.data.intents import explicit_intents, top_intents
        from venire.io.side_files import read_intent_probabilities

        labels = explicit_intents(labels)
        labels = labels if intents is None else top_intents(labels, read_intent_probabilities(Path(intents)))
    if at_least is not None:
        labels = labels.labelled(at_least=at_least)
    return labels.anonymous() if anonymous else labels


def _refuse_beside(flag: str, options: dict[str, Any], *names: str) -> None:
    """Refuse what is made of one fit beside an option that makes several, or another one."""
    for name in names:
        if options[name]:
            option = f"--{NAMED.get(name, name).replace('_', '-')}"
            raise click.UsageError(f"{option} cannot be used with {flag}")


def _write_combined(
    out: Output,
    labels: Judgments,
    options: dict[str, Any],
    setting: PredictedRelevance,
    shares: list[tuple[int, int]],
    rng: int,
) -> None:
    """Write the weights of snippet and page labels taken together."""
    units = two_units(labels, options["units"], reading=options["reading"], where=options["where"])
    lowest = None if options["keep_lowest"] else 0.0
    found = combined_tables(*units, setting, shares=shares, lowest=lowest, rng=rng)
    write_combined(out, found)
    out.notes([*(each.sentence() for each in found), *found[0].combined.judgments.notes])


Share = tuple[int, int]
Place = tuple[str, str, int, int]
"""A notion of relevance, a label, M and N."""


def counted_weights(
    labels: Judgments, fit: PredictedRelevanceFit, shares: Sequence[Share]
) -> tuple[dict[Place, Mapping[str, Any]], list[str]]:
    """Weights counted on items with N labels or more, next to the prediction; and what to say about them."""
    import numpy as np

    from venire.disagreement.many_labels import observed_weights

    if not shares or fit.setting.estimator == "one-sided":
        return {}, []
    found: dict[Place, Mapping[str, Any]] = {}
    words: list[str] = []
    for name in fit.relevant.names:
        try:
            seen = observed_weights(labels, shares, relevant=name)
        except VenireError as error:
            return {}, [f"observed weights cannot be computed: {error.message}"]
        found |= {(name, str(each["label"]), each["M"], each["N"]): each for each in seen.records()}  # type: ignore[misc]
        words.append(seen.sentence(np.array([_weights(fit, share, name, keep=True) for share in shares], dtype=float)))
    return found, words


def udm_records(
    fit: PredictedRelevanceFit, shares: Sequence[Share], counted: Mapping[Place, Mapping[str, Any]], *, keep: bool
) -> list[dict[str, Any]]:
    """Weights of the User Disagreement Model, one record per share, notion of relevance and label.

    ``weight`` is what a label is worth as a gain, nothing for the lowest unless it is kept; ``estimated`` what the
    model says of each; ``counted`` the same on items with N labels or more, ``correlated`` the prediction for users who
    are not independent given the label; None where too few items have N labels.
    """
    return [
        {
            **{"relevant": name, "label": label, "M": m, "N": n, "weight": weights[level]},
            "estimated": estimated[level],
            "counted": counted.get((name, label, m, n), {}).get("observed"),
            "correlated": counted.get((name, label, m, n), {}).get("correlated"),
        }
        for m, n in shares
        for name in fit.relevant.names
        for weights, estimated in [[_weights(fit, (m, n), name, keep=each) for each in (keep, True)]]
        for level, label in reversed(list(enumerate(fit.scale.labels)))
    ]


def neglected_words(weights: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a note on the lowest label if its weight is 0 and its estimate is not."""
    lost = [each for each in weights if each["estimated"] is not None and each["weight"] != each["estimated"]]
    if not lost:
        return []
    several = len({each["relevant"] for each in lost}) > 1
    estimated = ", ".join(
        f"{each['estimated']:.4f} for {each['M']}/{each['N']}" + f" ({each['relevant']})" * several for each in lost
    )
    return [
        f"the lowest label, {lost[0]['label']}, has weight 0, as Demeester et al. (2014) propose; the estimate is "
        f"{estimated} (--keep-lowest)"
    ]


def _weights(fit: PredictedRelevanceFit, share: Share, name: str, *, keep: bool) -> list[float | None]:
    """Weights by label; None for all of them where a label was never judged twice and so has none."""
    try:
        return [float(value) for value in fit.udm_gains(share, name, lowest=None if keep else 0.0).values]
    except GainsError:
        return [None] * len(fit.scale)


def parameter_table(fit: PredictedRelevanceFit, weights: Sequence[Mapping[str, Any]], *, people: bool) -> Table:
    """Lay a fit out, a row per notion of relevance and label; people see numbers that rest on few pairs bracketed."""
    from venire.disagreement.predicted_relevance import KEYS
    from venire.kernels.shares import FEW_PAIRS

    shares = list(dict.fromkeys((each["M"], each["N"]) for each in weights))
    shown = [kind for kind in ("weight", "estimated", "counted") if any(each[kind] is not None for each in weights)]
    if all(each["weight"] == each["estimated"] for each in weights):
        shown = [kind for kind in shown if kind != "estimated"]
    found = {(each["relevant"], each["label"], each["M"], each["N"]): each for each in weights}
    rows = []
    for record in fit.records():
        cells = list(record.values())
        if people and record["pairs"] < FEW_PAIRS:
            cells[2:8] = [None if cell is None else f"({cell:.4f})" for cell in cells[2:8]]
        for m, n in shares:
            cells += [found[record["relevant"], record["label"], m, n][kind] for kind in shown]
        rows.append(cells)
    weighted = [f"{'udm' if kind == 'weight' else kind}:{m}/{n}" for m, n in shares for kind in shown]
    return Table(["relevant", "label", *KEYS, *weighted], rows)


def both_ways(labels: Judgments, setting: PredictedRelevance, rng: int) -> dict[str, Any]:
    """Compare both directions where both sides are named."""
    if not (setting.observed and setting.reference):
        return {}
    from venire.disagreement.by_topic import asymmetry

    found = asymmetry(labels, setting, observed=setting.observed, reference=setting.reference, rng=rng)
    return {"asymmetry": found.records()}


def asymmetry_words(both: Mapping[str, Any], setting: PredictedRelevance) -> list[str]:
    """Return the labels for which the direction matters: the interval of the difference excludes 0."""
    known = [each for each in both.get("asymmetry", ()) if each["low"] is not None]
    notable = [each for each in known if each["low"] > 0 or each["high"] < 0]
    one, other = (", ".join(names) for names in (setting.observed, setting.reference))
    if known and not notable:
        return [f"no 95% interval of the difference between observing {one} and {other} excludes 0"]
    by_notion: dict[str, list[str]] = {}
    for each in notable:
        by_notion.setdefault(each["relevant"], []).append(
            f"after {each['label']} by {one} {each['observed_first']:.2f}, by {other} {each['reference_first']:.2f} "
            f"(difference {each['low']:+.2f} to {each['high']:+.2f})"
        )
    words = "p({}) of the other side depends on which side is observed: {}"
    return [words.format(name, "; ".join(parts)) for name, parts in by_notion.items()]


def write_groups(out: Output, labels: Judgments, path: str, setting: PredictedRelevance, rng: int) -> None:
    """Write the fits of groups of topics, one below the other, and whether they differ."""
    from venire.disagreement.by_topic import compare_groups
    from venire.disagreement.predicted_relevance import KEYS
    from venire.io.side_files import read_groups

    compared = compare_groups(labels, read_groups(Path(path)), setting, rng=rng)
    records = [{"group": name, **record} for name, fit in compared.fits.items() for record in fit.records()]
    words = [f"{name}: {word}" for name, fit in compared.fits.items() for word in fit.notes]
    tests = [
        {"relevant": name, "statistic": float(statistic), "p_value": float(p), "p_adjusted": float(adjusted)}
        for name, statistic, p, adjusted in zip(
            compared.names, compared.statistic, compared.p_value, compared.p_adjusted, strict=True
        )
    ]
    estimator = next(iter(compared.fits.values())).setting.estimator
    out.finish(
        "parameters",
        lambda: Table.of(records, ["group", "relevant", "label", *KEYS]),
        document={"estimator": estimator, "parameters": records, "udm": [], "warnings": words, "groups": tests},
        notes=[compared.sentence(), *labels.notes, *words],
    )


UNIT = "unit"
USUAL = (1, 3)
"""The default M of N: that of Table 4 of the paper."""


def two_units(
    labels: Judgments, source: str, *, reading: Mapping[str, Any], where: Sequence[str]
) -> tuple[Judgments, Judgments]:
    """Labels of snippets and of pages: of a file and those given, or both of these, by the column ``unit``."""
    if source != UNIT:
        return inputs.read_beside(source, reading=reading, where=where, but=(UNIT,)), labels
    from venire.disagreement.combined_labels import UNITS, split_units

    there = labels.column(UNIT).names
    for unit in UNITS:
        if unit not in there:
            raise UnknownName("unit", unit, there)
    return split_units(labels, [_scale(labels.where(unit=unit)) for unit in UNITS], UNITS)


def _scale(labels: Judgments) -> Scale:
    """The scale of one unit: that of all labels, or, if they have no order, those of the unit as they are listed."""
    from venire.data.scale import Scale

    if labels.scale.ordered:
        return labels.scale
    used = set(labels.label.tolist())
    return Scale(tuple(label for level, label in enumerate(labels.scale.labels) if level in used))


def combined_tables(
    snippets: Judgments,
    pages: Judgments,
    setting: PredictedRelevance,
    *,
    shares: Sequence[tuple[int, int]],
    lowest: float | None,
    rng: int,
) -> list[CombinedTable]:
    """Weigh combined labels for each M of N; lowest: the weight of the lowest page label, None: as estimated."""
    from venire.disagreement.combined_labels import combined_table

    top = _top(setting.relevant, snippets.scale, pages.scale)
    how: dict[str, Any] = {"top": top, "lowest": lowest, "model": setting, "rng": rng}
    return [combined_table(snippets, pages, at_least=at_least, **how) for at_least in shares or [USUAL]]


def _top(relevant: Any, *scales: Scale) -> tuple[str, str] | None:
    """Read the snippet and the page label that make a result relevant, as in Sure+Key."""
    from venire.disagreement.combined_labels import JOIN

    if relevant is None:
        return None
    for snippet in scales[0].labels:
        page = str(relevant).removeprefix(snippet + JOIN)
        if page != relevant and page in scales[1].labels:
            return snippet, page
    best = JOIN.join(scale.labels[-1] for scale in scales)
    raise ScaleError(
        f"{relevant!r} is not a label of a snippet and one of a page", hint=f"join them, as in --relevant {best}"
    )


def write_combined(out: Output, found: Sequence[CombinedTable]) -> None:
    """Write the weights, a row per combination, largest first; people see those that rest on few pairs bracketed."""
    records = [{"M": each.at_least[0], "N": each.at_least[1], **record} for each in found for record in each.records()]
    if out.format == "json":
        out.json({"combined": records})
        return
    columns = [key for key in records[0] if out.for_machines or key != "few"]
    rows = [[_cell(record, key, people=not out.for_machines) for key in columns] for record in records]
    out.table("combined", Table(columns, rows))


def _cell(record: Mapping[str, Any], key: str, *, people: bool) -> Any:
    value = record[key]
    if people and record["few"] and key in ("weight", "p") and value is not None:
        return f"({value:.4f})"
    return str(value) if isinstance(value, bool) else value


SAME, DAWID_SKENE = "same", "dawid-skene"
COLUMNS = ("topic", "doc", "relevant", "labels", "probability")


def item_posteriors(labels: Judgments, fit: PredictedRelevanceFit, model: str) -> tuple[list[ItemRelevance], list[str]]:
    """Probabilities for every notion of relevance of the fit, and what to say about them.

    model: assessors are all the same (``disagreement.several_labels``), or each errs in their own way
    (``disagreement.dawid_skene``).
    """
    if model == DAWID_SKENE:
        from venire.disagreement.dawid_skene import DawidSkene

        latent = DawidSkene().fit(labels)
        found = [latent.relevance(name) for name in fit.relevant.names]
        words = [latent.sentence()]
    else:
        from venire.disagreement.several_labels import posterior

        found = [posterior(labels, fit, relevant=name) for name in fit.relevant.names]
        words = []
    return found, [*words, *(each.sentence() for each in found), *(str(note) for each in found for note in each.notes)]


def write_posteriors(labels: Judgments, found: Sequence[ItemRelevance], path: Path) -> None:
    """Write a line per notion of relevance and item that has a label; commas apart in a .csv, else tabs."""
    import numpy as np

    from venire.data.ids import Category
    from venire.io.compression import written
    from venire.io.outputs import NewFiles

    text = io.StringIO()
    table = csv.writer(text, delimiter="," if ".csv" in path.suffixes else "\t", lineterminator="\n")
    table.writerow(COLUMNS)
    for each in found:
        rows = np.flatnonzero(each.n_labels > 0).astype(np.int32)
        topic, doc = Category(labels.items.topic[rows], labels.items.topics), Category(rows, labels.items.doc)
        numbers = each.n_labels[rows].tolist(), each.probability[rows].tolist()
        table.writerows(zip(topic.texts(), doc.texts(), [each.relevant] * len(rows), *numbers, strict=True))
    with NewFiles() as files, written(path, files) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))

"""Inputs of commands: judgments and their labels, topics, gains, conditional labels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venire.cli.options import (
    JUDGMENTS,
    PATH,
    POOLS,
    Decorator,
    flag,
    gathered,
    given,
    in_order,
    input_file,
    more_judgments,
    one_of,
    option,
    output_options,
    plot_option,
    reading,
    rng_option,
    run_rules,
)
from venire.errors import FormatError, GainsError, UnknownName, VenireError, VenireWarning, known_names
from venire.results import read_number

if TYPE_CHECKING:
    from venire.data.context import Context, Predictor
    from venire.data.gains import Gains
    from venire.data.judgments import Judgments
    from venire.data.runs import Runs
    from venire.disagreement.top_results import LabelsToFit

SCORING = "Scoring"
KEPT = ("topic", "doc", "assessor", "label", "intent", "aspect", "given", "unit", "task")
"""Columns that judgments keep; rows are chosen by others while they are read."""
NOT_OF_ANSWERS = (
    *("layout", "second_column", "duplicate_labels", "columns", "intent_file"),
    *("order", "duplicate_docs", "system_from"),
)
"""Settings of other judgments and runs than the nuggets of answers."""
FIT_TO = ("returned", "pool")
FIT_WHAT = "--fit-on is for gains by a model: --gains prm:LABEL or --gains udm:M/N"
OBJECT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"')
"""How a JSON object with keys begins, perhaps after a byte-order mark."""

REFERENCE = (
    "Assessors whose labels are the truth that others are compared with; may be repeated.  "
    "[default: as declared in the files]"
)

where_option = option(
    "--where",
    section=JUDGMENTS,
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only labels with this value in a column, such as aspect=trust; may be repeated.",
)


def reference_option(section: str = JUDGMENTS, help: str = REFERENCE) -> Decorator:
    """Declare --reference, which ``with_declared`` reads."""
    return option("--reference", section=section, multiple=True, metavar="NAME,...", help=help)


machines_option = option(
    *("--machine", "machines"),
    section=JUDGMENTS,
    multiple=True,
    metavar="NAME,...",
    help="Assessors that are programs, such as an LLM; may be repeated.  [default: as declared in the files]",
)
declared = gathered("declared", {"reference": reference_option(), "machines": machines_option})
"""Who is who; reaches a command as ``declared``, and ``read_labels`` applies it."""


def family_option(section: str) -> Decorator:
    """Declare --family, ``families``, which ``read_families`` reads."""
    words = "Systems that are tested together for favour, such as those built on the judge; may be repeated."
    return option("--family", "families", section=section, multiple=True, metavar="NAME=RUN,...", help=words)


def read_families(texts: Sequence[str]) -> dict[str, list[str]]:
    """Read families of systems, as in gpt4=runA,runB."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        if not (name and equals and members.strip(",")):
            raise click.BadParameter(f"{text!r} is not NAME=RUN,..., as in gpt4=runA,runB", param_hint="--family")
        found.setdefault(name, []).extend(member for member in members.split(",") if member)
    return found


def measures_with(default: Sequence[str], help: str) -> Decorator:
    """Declare -m, ``measures``, with a default of its own."""
    names = ("-m", "--measure", "measures")
    return option(*names, section=SCORING, multiple=True, default=[*default], metavar="NAME", help=help)


def assessor_option(section: str = SCORING, help: str = "Use the labels of one assessor.") -> Decorator:
    """Declare --assessor."""
    return option("--assessor", section=section, metavar="NAME", help=help)


def pool_option(
    section: str = SCORING,
    *,
    choices: tuple[str, ...] = POOLS,
    default: str | None = None,
    help: str = "Pool the labels of an item: {}.",
) -> Decorator:
    """Declare --pool; ``{}`` in its help is where the choices are listed."""
    return one_of("--pool", choices=choices, section=section, default=default, help=help)


def pool_for(labels: Judgments, pool: str | None) -> Any:
    """Return a pool as ``evaluate`` takes it: a model of assessors is fitted on the labels."""
    if pool not in (None, *POOLS):
        from venire.disagreement.dawid_skene import pool_for as fitted

        return fitted(labels, pool)
    return pool


def gain_names_option(*, default: Sequence[str] = (), more: str) -> Decorator:
    """Declare --gains as a list, ``gain_names``; ``more`` ends its help."""
    words = f"Gains of labels, as in evaluate; may be repeated{more}"
    settings = {"multiple": True, "type": PATH, "default": [*default], "metavar": "GAINS"}
    return option("--gains", "gain_names", section=SCORING, help=words, **settings)


def fit_on_option(section: str = SCORING, top: str = "10", *, runs: bool = True) -> Decorator:
    """Declare --fit-on, which ``labels_for_fit`` reads."""
    words = "The judgments on which a model of disagreement is fitted: a file, in which --where holds too, except for "
    words += "topics and assessors"
    if runs:
        words += f"; or of JUDGMENTS, the labels of results that RUNS have among their first {top} (returned), or all "
        words += "(pool).  [default: returned; pool, with a warning, where too few of them have two labels]"
    else:
        words += ".  [default: JUDGMENTS]"
    metavar = "FILE|returned|pool" if runs else "FILE"
    return input_file("--fit-on", section=section, metavar=metavar, help=words)


measures_option = measures_with(["nDCG@10"], 'A measure, such as AP or "RBP(p=0.8)"; may be repeated.')
intents_option = input_file(
    *("--intents", "intent_file"),
    section=SCORING,
    help="Probabilities of intents, for measures such as alpha_nDCG@10: lines of topic, intent, probability.  "
    "[default: all intents alike]",
)

topics_option = input_file(
    *("--topics", "topic_file"),
    section=SCORING,
    help="Use only the topics in this file, one per line, or those of a collection, such as irds:ID.  "
    "[default: all judged topics]",
)
WHOSE = {
    "assessor": assessor_option(),
    "per": option(
        "--per",
        section=SCORING,
        type=click.Choice(["assessor"]),
        metavar="assessor",
        help="Score with the labels of each assessor separately.",
    ),
    "pool": pool_option(),
}
"""Whose labels count; to be gathered, alone or among others."""
compared_scoring = gathered(
    "scoring",
    {
        **{name: WHOSE[name] for name in ("assessor", "pool")},
        "missing": one_of(
            "--missing",
            choices=("error", "skip"),
            section=SCORING,
            default="error",
            help="Rule for compared lists without a score: {}.",
        ),
    },
)
"""How lists are scored that users compared."""
WORTH = {
    "gains": input_file(
        "--gains",
        section=SCORING,
        default="linear",
        metavar="GAINS",
        help="Gains of labels: linear, exponential, raw, binary:LABEL, pairs as in Non=0,Rel=0.4, or a file; or those "
        "of a model of disagreement: prm:LABEL, udm:M/N or a saved fit.",
    )
}
worth_without_runs = gathered("worth", {**WORTH, "fit_on": fit_on_option(runs=False)}, seen=["where"])
worth = gathered("worth", {**WORTH, "fit_on": fit_on_option()}, seen=["where"])


def shared_options(*, runs: bool = True) -> Decorator:
    """Declare what commands that read judgments share: a plot, which labels, how files are read, output, the seed."""
    rules = [run_rules] if runs else []
    files = [more_judgments, where_option] if runs else [where_option]
    shared = [*files, reading, *rules, output_options(), plot_option, rng_option(used=True)]
    return lambda function: in_order(function, shared)


def judgments_argument(*, several: bool = False) -> Decorator:
    """Declare the argument JUDGMENTS; ``several``: one file or more."""
    return click.argument("judgments", type=PATH, nargs=-1 if several else 1, required=True)


runs_argument = click.argument("runs", nargs=-1, required=True, type=PATH)
some_runs_argument = click.argument("runs", nargs=-1, type=PATH)


def one_standard_input(*paths: str | None) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")


def checked_measures(names: Sequence[str]) -> list[str]:
    """Return each name once, in our spelling; a name that is not a measure is an error before any file is read."""
    from venire.measures.names import parse_measure, spelled

    for name in names:
        parse_measure(name)
    return list(dict.fromkeys(map(spelled, names)))


def read_labels(files: Sequence[str], options: Mapping[str, Any]) -> Judgments:
    """Read the judgments of a command and select labels.

    options has reading and where, and perhaps declared, measures and intent_file.
    """
    measures, where = options.get("measures", ()), options["where"]
    reading = reading_for(measures, options["reading"])
    labels = chosen_labels(read_files([*files], reading=reading, where=where), where)
    labels = with_declared(labels, **options.get("declared", {}))
    return with_intents(labels, measures, options.get("intent_file"))


def reading_for(measures: Sequence[str], reading: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read the second column of qrels as intents where a measure is by intent, unless it was said what it is."""
    return {**reading, "second_column": "intent"} if any_by_intent(measures) and not given("second_column") else reading


def with_intents(labels: Judgments, measures: Sequence[str], file: str | None) -> Judgments:
    """Make items of documents for intents where a measure is by intent, with the probabilities of a file."""
    if file is None and not any_by_intent(measures):
        return labels
    from venire.io.side_files import read_intent_probabilities
    from venire.measures.evaluate import labels_for

    return labels_for(labels, measures, None if file is None else read_intent_probabilities(Path(file)))


def read_labels_and_runs(
    files: Sequence[str], runs: Sequence[str], options: Mapping[str, Any]
) -> tuple[Judgments, Runs]:
    """Read judgments and runs; without runs, nuggets of answers, which are both."""
    from venire import read_runs

    if runs:
        return read_labels(files, options), read_runs([*runs], **options["rules"])
    if not are_answers(files):
        raise click.UsageError("Missing argument 'RUNS...'.")
    if not any_by_intent(options["measures"]):
        names = "VitalScore, AllScore or WeightedScore"
        raise click.UsageError(f"{options['measures'][0]} does not score the nuggets of answers: use -m with {names}")
    return read_answers(files, options)


def are_answers(files: Sequence[str]) -> bool:
    """Return whether all files hold the nuggets of answers."""
    from venire.io.paths import expanded_all
    from venire.io.sources.nuggets import of_answers

    return "-" not in files and all(map(of_answers, expanded_all([*files])))


def read_answers(files: Sequence[str], options: Mapping[str, Any]) -> tuple[Judgments, Runs]:
    """Read the nuggets of answers as judgments and runs."""
    from venire.io import as_answers, read_nuggets

    if odd := given(*NOT_OF_ANSWERS):
        raise click.UsageError(f"{odd[0]} cannot be used with the nuggets of answers")
    answers = as_answers(read_nuggets([*files]), scale=options["reading"]["scale"])
    if lacking := [*by_own_columns(options["where"])]:
        raise click.UsageError(f"--where: nuggets of answers cannot be chosen by {lacking[0]}")
    labels = chosen_labels(answers.judgments, options["where"])
    return with_declared(labels, **options.get("declared", {})), answers.runs


def any_by_intent(measures: Sequence[str]) -> bool:
    """Return whether a measure scores labels for intents."""
    from venire.measures.names import parse_measure

    return any(parse_measure(name).by_intent for name in measures)


def with_declared(labels: Judgments, *, reference: Sequence[str] = (), machines: Sequence[str] = ()) -> Judgments:
    """Declare the assessors that were named on the command line; what files declare holds where none were."""
    return labels.declare(
        reference=names_among(reference, labels.assessors) or None,
        machines=names_among(machines, labels.assessors) or None,
    )


def names_among(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Read lists of names: ``a,b`` are two names, unless that is one of the known names."""
    whole = set(known)
    parts = ([text] if text in whole else text.split(",") for text in texts)
    return list(dict.fromkeys(name.strip() for some in parts for name in some if name.strip()))


def read_files(
    files: str | list[str], *, reading: Mapping[str, Any], where: Iterable[str], by_columns: bool = True
) -> Judgments:
    """Read judgments; a table with a column per aspect is recognised where ``where`` asks for one of its aspects.

    by_columns: choose by columns that judgments do not keep.
    """
    from venire import read_judgments

    own = by_own_columns(where) if by_columns else None
    return read_judgments(files, where=own, aspects=_wanted(where).get("aspect", ()), **reading)


def by_own_columns(where: Iterable[str]) -> dict[str, list[str]]:
    """What ``COLUMN=VALUE`` says of columns that judgments do not keep, for ``read_judgments`` to choose by."""
    return {column: values for column, values in _wanted(where).items() if column not in KEPT}


def keeping_repeats(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keep all labels of an assessor for an item unless --duplicate-labels was given."""
    reading = options["reading"]
    return {**options, "reading": {**reading, "duplicate_labels": reading["duplicate_labels"] or "keep"}}


def chosen_labels(judgments: Judgments, where: Iterable[str]) -> Judgments:
    """Choose labels by ``COLUMN=VALUE``; other columns than those kept were chosen by on reading."""
    wanted = {column: values for column, values in _wanted(where).items() if column in KEPT}
    for column in wanted:
        judgments.column(column)
    chosen = judgments.where(**wanted) if wanted else judgments
    if len(chosen) == 0:
        raise VenireError("no labels remain", hint="; ".join(map(str, chosen.notes)) or "check --where")
    return chosen


def _wanted(where: Iterable[str]) -> dict[str, list[str]]:
    """Read ``COLUMN=VALUE``; several values of one column are alternatives."""
    wanted: dict[str, list[str]] = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not COLUMN=VALUE, as in aspect=trust", param_hint="--where")
        wanted.setdefault(column, []).append(value)
    return wanted


def chosen_topics(path: str | None, judgments: Judgments) -> tuple[list[str] | None, list[str]]:
    """Read the topics to score, by default the text before a tab on each line; return notes on those not judged."""
    from venire.io.texts import topic_ids

    if path is None:
        return None, []
    known = set(judgments.topics)
    topics = topic_ids(Path(path))
    topics = [topic for topic in dict.fromkeys(topics) if topic in known or (topic and not topic.startswith("#"))]
    unknown = [topic for topic in topics if topic not in known]
    if len(unknown) == len(topics):
        hint = known_names(unknown[0], judgments.topics) if unknown else "expected one topic per line"
        raise FormatError(path, None, "contains no judged topic", hint=hint)
    listed = ", ".join(unknown[:5]) + ", ..." * (len(unknown) > 5)
    judged = [topic for topic in topics if topic in known]
    return judged, [f"topics of {path} that were not judged: {listed}"] if unknown else []


def resolve_gains(
    labels: Judgments,
    reading: Mapping[str, Any],
    *,
    gains: str,
    fit_on: str | None,
    where: Iterable[str] = (),
    runs: Runs | None = None,
    notes: list[str] | None = None,
) -> Gains:
    """Settle gains for labels: by formula, pairs or file, or fitted by a model on these or other judgments.

    notes: to which is added what a model was fitted on, if not on all the labels, and that its gains are estimates.
    """
    from venire.data.gains import gains_for, names_model

    if names_model(gains):
        from venire.disagreement.top_results import AS_KNOWN

        chosen = labels_for_fit(labels, reading, fit_on=fit_on, where=where, runs=runs)
        if notes is not None:
            notes += [str(note) for note in (chosen.note, AS_KNOWN) if note and str(note) not in notes]
        return gains_for(chosen.gains(gains), labels.scale)
    if fit_on is not None:
        raise click.UsageError(FIT_WHAT)
    from venire.io.files import is_readable

    if is_saved_fit(Path(gains)):
        return gains_for(_saved_gains(Path(gains)), labels.scale)
    if not is_readable(Path(gains)) and "=" not in gains:
        return gains_for(gains, labels.scale)
    from venire.io.side_files import read_gains

    return gains_for(read_gains(gains), labels.scale)


def scanned_for_fit(runs: Runs, labels: Judgments, gains: Iterable[str]) -> Runs:
    """Scan runs now if gains are fitted on their first results, so that scoring does not scan them again."""
    from venire.data.gains import names_model
    from venire.io.runs import scan

    return scan(runs, labels.items) if any(map(names_model, gains)) else runs


def labels_for_fit(
    labels: Judgments,
    reading: Mapping[str, Any],
    *,
    fit_on: str | None,
    where: Iterable[str],
    runs: Runs | None,
    **chosen: Any,
) -> LabelsToFit:
    """Choose what a model is fitted on: other judgments, or of these what the runs return first, or all of them.

    chosen: top, model and progress of ``labels_to_fit``.
    """
    from venire.disagreement.top_results import LabelsToFit, labels_to_fit

    if fit_on is not None and fit_on not in FIT_TO:
        return LabelsToFit(read_others(fit_on, labels, reading=reading, where=where))
    if runs is None:
        return LabelsToFit(labels)
    return labels_to_fit(labels, runs, fit_to=fit_on, **chosen)


def read_others(path: str, labels: Judgments, *, reading: Mapping[str, Any], where: Iterable[str]) -> Judgments:
    """Read the judgments that a model is fitted on, on the scale of the labels to score with.

    What ``where`` says of the question that a label answers (aspect, unit, task, intent) holds for them too.  Topics
    and assessors are chosen among the labels to score with alone: a model learns from several assessors, and may do so
    on other topics.
    """
    from venire.data.judgments import on_one_scale

    given = {name: value for name, value in reading.items() if value is not None}
    declared = {} if labels.scale.inferred else {"scale": labels.scale}
    others = _read_beside(path, {**declared, **given}, where, but=("topic", "assessor"))
    return on_one_scale(labels, others)[1]


def read_beside(path: str, *, reading: Mapping[str, Any], where: Iterable[str], but: Sequence[str] = ()) -> Judgments:
    """Read a further file of judgments, whose labels may be others; choose among them, except by the columns ``but``.

    ``--scale`` holds for the file if it has all of its labels; else the file's own scale does, with a warning.
    """
    try:
        return _read_beside(path, reading, where, but)
    except FormatError as error:
        try:
            found = _read_beside(path, {**reading, "scale": None}, where, but)
        except VenireError:
            raise error from None
        warnings.warn(f"{error.message}; of this file, the scale is {found.scale}", VenireWarning, 2)
        return found


def _read_beside(path: str, reading: Mapping[str, Any], where: Iterable[str], but: Sequence[str]) -> Judgments:
    """Read a further file and choose among its labels; one without such a column is taken whole, with a warning."""
    asked = [text for text in where if text.partition("=")[0] not in but]
    own: Mapping[str, Any] = by_own_columns(asked)
    try:
        found = read_files(path, reading=reading, where=asked)
    except UnknownName:
        found, own = read_files(path, reading=reading, where=asked, by_columns=False), {}
    columns = ("topic", "doc", "assessor", "label", *found.facets, *own)
    there = [text for text in asked if text.partition("=")[0] in columns]
    if lacking := [text for text in asked if text not in there]:
        warnings.warn(f"{path} has no such column, so all its labels count: {', '.join(lacking)}", VenireWarning, 3)
    try:
        return chosen_labels(found, there)
    except VenireError as error:
        raise FormatError(path, None, error.message, hint=error.hint) from None


def is_saved_fit(path: Path) -> bool:
    """Whether a file is a fit that was saved: by its ending, or because it begins as a JSON object does."""
    from venire.io.files import is_readable, opened

    if not is_readable(path):
        return False
    with opened(path) as file:
        begins = OBJECT.match(file.read(64))
    return begins is not None or path.suffix.lower() == ".json"


def _saved_gains(path: Path) -> Gains:
    """Gains by a fit that was saved, if it is of one notion of relevance."""
    from venire.disagreement.files import read_fit

    fit = read_fit(path)
    if len(fit.relevant.names) > 1:
        found = ", ".join(fit.relevant.names)
        hint = "make it again with one of them: venire disagreement --relevant LABEL --save FIT.json"
        raise GainsError(f"{path} was fitted for several notions of relevance ({found})", hint=hint)
    return fit.gains()


FIT = "fit"
BACKOFFS = ("isolation", "first")
CONTEXT = "Context (measures with alpha, labels with a column given)"


def features_option(section: str) -> Decorator:
    """Declare --features."""
    words = "Numerical features for the prediction: a table with topic, doc, optionally given, and a column for each."
    return input_file("--features", section=section, help=words)


def _check(values: Mapping[str, Any]) -> None:
    if values["predict"] is None and (odd := given("features", "expected")):
        raise click.UsageError(f"{odd[0]} is for predicted labels: use it with --predict")


in_context = gathered(
    "in_context",
    {
        "predict": input_file(
            "--predict",
            section=CONTEXT,
            metavar="fit|FILE.json",
            help="Predict conditional labels that were not collected: fit a model for each topic on the other topics, "
            "or use a model saved by venire context predict.",
        ),
        "features": features_option(CONTEXT),
        "backoff": one_of(
            "--backoff",
            choices=BACKOFFS,
            section=CONTEXT,
            default="isolation",
            help="Substitute for conditional labels that are neither collected nor predicted, {}: the label in "
            "isolation, or the label given the first document where it was collected.",
        ),
        "expected": flag(
            "--expected",
            section=CONTEXT,
            help="Use the mean gain over predicted labels instead of the gain of the most probable label.",
        ),
    },
    check=_check,
)
"""Options that reach a command as ``in_context``, for ``context_for``."""


def alphas_option(help: str, default: str | None = None) -> Decorator:
    """Declare --alphas, a text that ``weights_of`` reads."""
    return option("--alphas", section=SCORING, default=default, metavar="A,B,...", help=help)


def weights_of(text: str | None) -> list[float]:
    """Read numbers with commas between them; none where there is no text."""
    try:
        return [read_number(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise click.BadParameter(f"{text!r} are not numbers, as in 0,0.5,1", param_hint="--alphas") from None


def context_for(labels: Judgments, *, backoff: str, expected: bool, **predicted_by: Any) -> Context | None:
    """Return the substitutes for conditional labels that were not collected; None for the default."""
    if backoff == BACKOFFS[0] and predicted_by["predict"] is None:
        return None
    from venire.data.context import Context

    return Context(predictor=_predictor(labels, **predicted_by), backoff=backoff, expected=expected)


def _predictor(labels: Judgments, *, predict: str | None, features: str | None) -> Predictor | None:
    if predict is None:
        return None
    from venire.context.model import cross_fitted, read_conditional_labels
    from venire.data.judgments import fingerprint

    if predict == FIT:
        return cross_fitted(labels, features=features)
    fitted = read_conditional_labels(predict)
    if fitted.fingerprint == fingerprint(labels):
        words = f"{predict} was fitted on the same labels; --predict fit excludes each topic from its own model"
        warnings.warn(words, VenireWarning, stacklevel=2)
    return fitted if features is None else fitted.with_features(labels, features)

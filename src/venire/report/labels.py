"""Two chapters on labels: how far the assessors agree, and what a label is worth to a user."""

from __future__ import annotations

from typing import Any

from venire.agreement.confusion import Confusions
from venire.agreement.flags import ONE_LABEL, FlaggedProfiles
from venire.data.assessors import PRIMARY, copy_notes
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.disagreement.user_disagreement import udm_weights
from venire.measures.intents import AllScore
from venire.measures.names import parse_measure
from venire.report.assessors import (
    MANY,
    nearness_parts,
    nearness_records,
    pool_parts,
    pool_record,
    worker_parts,
    worker_record,
)
from venire.report.document import Chapter, Grid, Part, Picture, Words, warning
from venire.report.evidence import TOP, Evidence
from venire.report.pictures import confusion_chart, labels_chart, parameters_chart, statistics_chart, weights_chart
from venire.report.question import Missing
from venire.report.scoring_judge import NEARLY_ALL
from venire.results import counted, listed

MOST_MAPS = 4
MOST_SHOWN = 8
MOST_LABELS = 12
LONGEST_SCALE = 80
PROFILE = ("assessor", "n_labels", "n_shared", "agreement", "kappa", "leniency", "entropy", "top_label", "top_share")
WORTH_TITLE = "What a label is worth"
SHARES = ((1, 2), (1, 3), (2, 3))
MOST_THRESHOLDS = 8
"""With more thresholds, only that of a relevant result is shown."""
MOST_WARNINGS = 4


def judgments_chapter(evidence: Evidence) -> Chapter:
    """Write the chapter on the judgments: how many, by whom, how far they agree, and who labels differently."""
    labels = evidence.question.judgments
    parts: list[Part] = [*map(warning, copy_notes(evidence.copies)), *pool_parts(evidence), *_by_intent(evidence)]
    parts.append(_overlap(evidence))
    numbers: dict[str, Any] = {"pool": pool_record(evidence), "nearness": nearness_records(evidence), "workers": None}
    if not isinstance(evidence.profiles, Missing):
        found = FlaggedProfiles(evidence.profiles)
        many = len(found.profiles.assessors) > MANY
        near = nearness_parts(evidence)
        how = [] if near and many else worker_parts(found) if many else _bars(found)
        parts += [*near, *how, *_differing(found)]
        numbers["workers"] = worker_record(found) if many else None
    parts += [*_agreement(evidence), *_selected(evidence), *_maps(evidence)]
    if labels.notes:
        parts.append(Words(f"Notes from reading the judgments: {'; '.join(map(str, labels.notes))}."))
    return Chapter("judgments", "The judgments", judgments_finding(evidence), tuple(parts), numbers)


def _bars(found: FlaggedProfiles) -> list[Part]:
    """Show the shares of labels of each assessor."""
    words = "A bar per assessor with the shares of the labels, and how the assessor differs from the others."
    caption = "Shares of the labels that each assessor gives."
    return [Picture("labels_by_assessor", caption, labels_chart(found.profiles), words)]


def judgments_finding(evidence: Evidence) -> str:
    """Say how many labels there are, by whom, and how well they agree."""
    labels, agreement = evidence.question.judgments, evidence.agreement
    names, scale = labels.scale.labels, str(labels.scale)
    if len(names) > MOST_LABELS or (len(names) > 3 and len(scale) > LONGEST_SCALE):
        scale = f"{names[0]}<{names[1]}<...<{names[-1]} ({len(names)} labels)"
    text = f"{labels.summary().counts()}, scale {scale}"
    if isinstance(agreement, Missing):
        return f"{text}. {agreement.sentence('Agreement')}"
    alpha = next((each for each in agreement if each["name"] == "krippendorff_alpha"), None)
    if alpha is None or alpha["value"] is None:
        reason = "no item was judged twice" if alpha is None else alpha["reason"]
        return f"{text}. {Missing(reason).sentence('Agreement')}"
    between = "" if alpha["low"] is None else f", 95% confidence interval {alpha['low']:.2f} to {alpha['high']:.2f}"
    return f"{text}; Krippendorff's alpha is {alpha['value']:.2f} ({alpha['level']}{between})."


def _by_intent(evidence: Evidence) -> list[Part]:
    """Say what an item is where labels are for intents, and what is left out for that reason."""
    if not evidence.question.by_intent:
        return []
    nuggets = isinstance(parse_measure(evidence.question.measure), AllScore)
    items = "nuggets, so an item is an answer for a nugget" if nuggets else "intents, so an item is a document for one"
    text = (
        f"Labels are for {items}. Left out is what is about documents as a whole: disputed documents, how many results "
        "are relevant, and which results to judge next."
    )
    return [Words(text, about="by-intent")]


def _overlap(evidence: Evidence) -> Grid:
    summary = evidence.question.judgments.summary()
    total = sum(summary.items_with.values())
    rows = [[k, n, n / total] for k, n in summary.items_with.items()]
    return Grid("overlap", "Items by number of labels.", ["labels_per_item", "items", "share"], rows, shown=12)


def _differing(found: FlaggedProfiles) -> list[Part]:
    """Say who labels differently, with the evidence; a table of all assessors."""
    records = found.records()
    differ = sorted((each for each in records if each["flags"]), key=_unlike)
    words = [
        Words(f"{each['assessor']} ({', '.join(each['flags'])}): {'; '.join(each['evidence'])}.")
        for each in differ[:MOST_SHOWN]
    ]
    if len(differ) > MOST_SHOWN:
        words.append(Words(f"These {MOST_SHOWN} of {len(differ)} agree least; the table lists all."))
    rows = [{key: each[key] for key in PROFILE} | {"differs_by": ", ".join(each["flags"])} for each in records]
    others = listed(found.profiles.reference) or "the others"
    caption = (
        f"All assessors: agreement and kappa with {others} on shared items, leniency (mean label minus that of "
        f"{others}), entropy of the labels in bits (0: always the same label)."
    )
    return [Words(found.sentence()), *words, *map(warning, found.notes), Grid.of("assessors", caption, rows, shown=40)]


def _unlike(record: dict[str, Any]) -> tuple[bool, float, float]:
    """Return a key that sorts assessors: those with one label first, then by how little they agree with the others."""
    return (
        ONE_LABEL not in record["flags"],
        0.0 if record["kappa"] is None else record["kappa"],
        -abs(record["leniency"] or 0.0),
    )


def _agreement(evidence: Evidence) -> list[Part]:
    found = evidence.agreement
    if isinstance(found, Missing):
        return []
    whole = [each for each in found if "," not in each["raters"]]
    keys: tuple[str, ...] = ("name", "level", "raters", "value", "low", "high", "n_items", "meaning")
    if any(each["reason"] for each in whole):
        keys = (*keys, "reason")
    rows = [{key: each[key] for key in keys} for each in whole]
    if all(each["value"] is None for each in whole):
        return []  # the finding says why
    words = "Statistics of agreement with their 95% confidence intervals."
    caption = "Agreement of the assessors; all statistics except raw agreement and Jaccard's are corrected for chance."
    return [
        Picture("agreement", caption, statistics_chart(whole), words),
        Grid.of("agreement_statistics", "Statistics of agreement, and the meaning of each.", rows),
    ]


def _selected(evidence: Evidence) -> list[Part]:
    """Warn of agreement on selected items, if second judgments depend on the first label."""
    found = evidence.selection
    if found is None or isinstance(found, Missing) or isinstance(evidence.agreement, Missing):
        return []
    return [warning(f"{found.reason}; agreement is that of the selected items, not of all", about="selected-items")]


def _maps(evidence: Evidence) -> list[Part]:
    """Confusion matrices of the judge with those nearest who share most items; if several are the judge, of any two."""
    found, judge = evidence.confusions, evidence.judge
    if isinstance(found, Missing) or evidence.crowd is not None:
        return []
    alone = judge in found.assessors
    pairs = [(judge, other) for other in evidence.nearest if other != judge] if alone else found.pairs()
    shared = found.n_shared()
    n_shared = {pair: shared.get(pair, shared.get(pair[::-1], 0.0)) for pair in pairs}
    most = NEARLY_ALL * max(n_shared.values(), default=0.0)
    closest = sorted((pair for pair, n in n_shared.items() if n), key=lambda pair: -min(n_shared[pair], most))
    return [_map(found, *pair) for pair in closest[:MOST_MAPS]]


def _map(found: Confusions, one: str, other: str) -> Picture:
    words = f"Counts of items by the label of {one} and the label of {other}."
    items = counted(int(found.matrix(one, other).sum()), "item")
    caption, name = (
        f"Labels of {one} and {other} on the {items} that both judged.",
        f"confusion_{_slug(one)}_{_slug(other)}",
    )
    return Picture(name, caption, confusion_chart(found, one, other), words, small=True)


def _slug(name: str) -> str:
    """Return a name that can be part of an id."""
    return "".join(letter if letter.isalnum() and letter.isascii() else f"_{ord(letter):x}" for letter in name)


def label_worth_chapter(evidence: Evidence) -> Chapter:
    """Write the chapter on p(R|i) for each threshold, UDM weights and gains."""
    whole, fit = evidence.fit, evidence.user_fit
    if isinstance(whole, Missing) or isinstance(fit, Missing):
        reason = whole if isinstance(whole, Missing) else fit
        finding = reason.sentence("p(R|label)") if isinstance(reason, Missing) else ""
        return Chapter("label_worth", WORTH_TITLE, finding, (_gains(evidence),))
    if len(whole.relevant.names) > MOST_THRESHOLDS:
        whole = fit
    finding = worth_finding(evidence, fit)
    words = f"Probability that a random user finds a result relevant, by label, with intervals. {finding}"
    weights = "Probability that at least one of N users finds a document relevant, by N, with a line per label."
    parts: list[Part] = [
        Picture(
            "parameters", f"p(R|label), with 95% confidence intervals ({whole.method}).", parameters_chart(whole), words
        ),
        _parameters(whole),
        Picture("udm_weights", f"UDM weights P(1/N), relevant: {evidence.relevant}.", weights_chart(fit), weights),
        _udm(fit),
        _gains(evidence),
        *_of_others(evidence),
        *_of_pool(evidence),
        *_warnings(fit),
    ]
    return Chapter("label_worth", WORTH_TITLE, finding, tuple(parts))


def _of_others(evidence: Evidence) -> list[Part]:
    """Say that the label of an assessor is left out of the pool with which it is compared."""
    if evidence.crowd is None or evidence.people:
        return []
    text = "Each label is compared with the label that most of the other assessors gave the item: nobody's own label is"
    return [Words(f"{text} in the pool that is to predict it.", about="left-out")]


def _of_pool(evidence: Evidence) -> list[Part]:
    """Warn that p(R|i) is learnt on all items judged twice, not on those that users see."""
    if evidence.user_model.top is not None or not evidence.facts.systems:
        return []
    few = f"The first {TOP} results of the systems have too few double judgments, so all items judged twice are used"
    return [warning(f"{few}; first results with the same label are often better: estimates may be too low", "pool")]


def _warnings(fit: PredictedRelevanceFit) -> list[Part]:
    """Return the first notes on the fit, and the number of the others."""
    if len(fit.notes) <= MOST_WARNINGS + 1:
        return [*map(warning, fit.notes)]
    more = f"There are {len(fit.notes) - MOST_WARNINGS} more such warnings: see the intervals in the table"
    return [*map(warning, fit.notes[:MOST_WARNINGS]), warning(more, "more-warnings")]


def worth_finding(evidence: Evidence, fit: PredictedRelevanceFit) -> str:
    """State p(R|i): of which results, by whose label, and for whom."""
    users, top = " or ".join(evidence.people or ()), evidence.user_model.top
    return fit.sentence(
        judge="one assessor" if evidence.judge == PRIMARY else evidence.judge,
        users=users or ("another person" if evidence.judgments.people else "another judge"),
        among="" if top is None else f" among the first {top} of a system",
    )


def _parameters(fit: PredictedRelevanceFit) -> Grid:
    spread = fit.spread
    rows = [
        [
            name,
            fit.scale.labels[level],
            *(float(each[row, level]) for each in (fit.p, spread.low, spread.high)),
            int(fit.hits[row, level]),
            int(fit.pairs[row, level]),
        ]
        for row, name in enumerate(fit.relevant.names)
        for level in reversed(range(len(fit.scale)))
    ]
    columns = ["relevant_from", "label", "p", "low", "high", "hits", "pairs"]
    caption = (
        "p(R|label): of the pairs of a label of the judge and a label of another assessor on the same result, the "
        "share whose second label is relevant, with its 95% confidence interval."
    )
    return Grid("p_relevant", caption, columns, rows)


def _udm(fit: PredictedRelevanceFit) -> Grid:
    columns = {f"{m}/{n}": udm_weights(m, n, fit.p[0], fit.relevant.labels[0]) for m, n in SHARES}
    rows = [
        [fit.scale.labels[level], *(float(each[level]) for each in columns.values())]
        for level in reversed(range(len(fit.scale)))
    ]
    caption = (
        "Weights of the User Disagreement Model: probability that at least M of N users find the result relevant. As "
        "gains (below), the lowest label has weight 0."
    )
    return Grid("udm", caption, ["label", *columns], rows)


def _gains(evidence: Evidence) -> Grid:
    labels = evidence.question.judgments.scale.labels
    top = {name: max(float(gains.values.max()), 1e-12) for name, gains in evidence.gains.items()}
    rows = [
        [labels[level], *(float(gains.values[level]) / top[name] for name, gains in evidence.gains.items())]
        for level in reversed(range(len(labels)))
    ]
    caption = "Gains, each as a share of its maximum."
    return Grid("gains", caption, ["label", *evidence.gains], rows)

"""What a label is worth: p(R|i) for each threshold, UDM weights, and gains beside each other."""

from __future__ import annotations

from venire.data.assessors import PRIMARY
from venire.disagreement.predicted_relevance import PredictedRelevanceFit, sentence, warnings_of
from venire.disagreement.user_disagreement import udm_weights
from venire.plots.disagreement import plot_parameters, plot_weights
from venire.report.document import Chapter, Grid, Part, Picture, warning
from venire.report.evidence import TOP, Evidence
from venire.report.question import Missing

TITLE = "What a label is worth"
SHARES = ((1, 2), (1, 3), (2, 3))
MOST_THRESHOLDS = 8
"""On a finer scale, only the label from which on a user is satisfied is shown, not every threshold."""
MOST_WARNINGS = 4


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    whole, fit = evidence.fit, evidence.user_fit
    if isinstance(whole, Missing) or isinstance(fit, Missing):
        reason = whole if isinstance(whole, Missing) else fit
        finding = reason.sentence("What a label is worth to a random user") if isinstance(reason, Missing) else ""
        return Chapter("label_worth", TITLE, finding, (_gains(evidence),))
    if len(whole.relevant.names) > MOST_THRESHOLDS:
        whole = fit
    finding = _finding(evidence, fit)
    words = f"Probability that a random user finds relevant what one assessor gave each label. {finding}"
    weights = "Probability that at least one of N users finds a document relevant, by N, a line per label."
    parts: list[Part] = [
        Picture("parameters", f"p(R|label): {whole.method}.", plot_parameters(whole), words),
        _parameters(whole),
        Picture("udm_weights", f"UDM weights P(1/N), relevant: {evidence.relevant}.", plot_weights(fit), weights),
        _udm(fit),
        _gains(evidence),
        *[warning(text) for text in (*_of_pool(evidence), *_warnings(fit))],
    ]
    return Chapter("label_worth", TITLE, finding, tuple(parts))


def _of_pool(evidence: Evidence) -> list[str]:
    """Warn that what users look at is better than what was judged twice."""
    if evidence.user_model.top is not None:
        return []
    few = f"the first {TOP} results of the systems have too few pairs of labels to learn from them alone"
    better = "of results with the same label those are better that users look at, and these numbers may be too low"
    return [f"{few}, so all items judged twice had to do: {better}"]


def _warnings(fit: PredictedRelevanceFit) -> list[str]:
    """What to be warning about; of many, the first, and how many more of the sort there are."""
    found = warnings_of(fit)
    if len(found) <= MOST_WARNINGS + 1:
        return found
    more = f"{len(found) - MOST_WARNINGS} more labels or pairs of labels are as doubtful: the table has their intervals"
    return [*found[:MOST_WARNINGS], more]


def _finding(evidence: Evidence, fit: PredictedRelevanceFit) -> str:
    """Say what the labels of the judge promise, of which results, and to whom."""
    users, top = ", ".join(evidence.question.reference), evidence.user_model.top
    who = "one assessor" if evidence.judge == PRIMARY else evidence.judge
    told = sentence(fit).replace("one assessor", who, 1)
    if users:
        told = told.replace("of other people find the result relevant", f"of the labels of {users} say relevant", 1)
    return told if top is None else f"Among the first {top} results of the systems, w{told[1:]}"


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
        "Of the pairs of a label of the judge and one of somebody else on the same result, the share whose second "
        "label is relevant, by the first; with its 95 % interval."
    )
    return Grid("p_relevant", caption, columns, rows)


def _udm(fit: PredictedRelevanceFit) -> Grid:
    columns = {f"{m}/{n}": udm_weights(m, n, fit.p[0], fit.relevant.labels[0]) for m, n in SHARES}
    rows = [
        [fit.scale.labels[level], *(float(each[level]) for each in columns.values())]
        for level in reversed(range(len(fit.scale)))
    ]
    caption = (
        "Weights of the User Disagreement Model: probability that at least M of N users find it relevant. Used as "
        "gains, as below, the lowest label is worth nothing."
    )
    return Grid("udm", caption, ["label", *columns], rows)


def _gains(evidence: Evidence) -> Grid:
    labels = evidence.question.judgments.scale.labels
    top = {name: max(float(gains.values.max()), 1e-12) for name, gains in evidence.gains.items()}
    rows = [
        [labels[level], *(float(gains.values[level]) / top[name] for name, gains in evidence.gains.items())]
        for level in reversed(range(len(labels)))
    ]
    caption = "Gains beside each other, each as a share of its highest."
    return Grid("gains", caption, ["label", *evidence.gains], rows)

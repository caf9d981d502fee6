"""Would another judge change this: the stability map, fragile pairs, and the order by judges who labelled all."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from venire.comparison.compare import MeasureComparison
from venire.comparison.forecast import FRAGILE, TIE
from venire.comparison.stability import DIGITS
from venire.data.assessors import copy_notes
from venire.kernels.rank_correlation import kendall_tau
from venire.plots.stability import plot_ranks, plot_stability, plot_tau
from venire.report.document import Chapter, Grid, Part, Picture, Words, warning
from venire.report.evidence import Evidence
from venire.report.question import Missing
from venire.results import counted, known, listed
from venire.types import Floats

NEARLY_ALL = 0.98
"""Share of the items of whoever judged most that another judge must have labelled to be shown."""
TITLE = "Would another judge change this?"
MOST_PAIRS = 200


def chapter(evidence: Evidence) -> Chapter:
    """Write it."""
    one = evidence.comparison
    if len(evidence.facts.systems) < 2:
        return Chapter("another_judge", TITLE, "There is one system only, so there is no order to change.")
    if isinstance(one, Missing):
        return Chapter("another_judge", TITLE, one.sentence("Whether another judge would change the order"))
    stability = one.stability
    if (np.abs(stability.delta) <= TIE).all() and (stability.tie >= 1).all():
        return Chapter("another_judge", TITLE, _level(evidence))
    n_systems, tau = len(one.forecast.systems), one.tau()
    words = "How often each system is ahead of each other one under another judge, as a map of shades."
    parts: list[Part] = [
        Picture("stability_map", _map_caption(n_systems), plot_stability(stability), words),
        *_fragile(one),
        Picture(
            "rank_intervals",
            "Places of each system under other judges (95 %), and now (dot).",
            plot_ranks(stability),
            "The place of each system now as a dot, and its places under other judges as a line.",
        ),
        *(
            [
                Picture(
                    "tau",
                    "How alike the order of systems is under other judges.",
                    plot_tau(stability),
                    f"Kendall's tau with the order now, mean {tau['mean']:.2f}.",
                )
            ]
            if tau["mean"] is not None
            else []
        ),
        *_seen(evidence, one),
        *[warning(str(note)) for note in copy_notes(evidence.copies, evidence.judge)],
        *[warning(note) for note in _of_judges(one.forecast.notes, evidence.question.judgments.notes)],
    ]
    return Chapter("another_judge", TITLE, _finding(one.sentence(), one), tuple(parts), {"tau": tau})


def _level(evidence: Evidence) -> str:
    """Say that systems which are level under every judge have no order."""
    if evidence.nothing_judged:
        return (
            "Whether another judge would change the order cannot be told: nothing that the systems return was judged."
        )
    return "All systems score the same, now and under other judges, so there is no order that one could change."


def _finding(sentence: str, one: MeasureComparison) -> str:
    """Say what can be found; where no difference can, how alike the orders are under other judges."""
    tau = one.tau()["mean"]
    if len(one.tested.a) == 1 or one.tested.significant.any() or tau is None:
        return sentence
    if np.isnan(one.tested.p_value).all():
        sentence = f"By {one.forecast.measure}, no difference between systems can be tested on so few topics."
    alike = f"the order of the systems under another judge has a Kendall's tau of {tau:.2f} with that now, on average"
    return f"{sentence.removesuffix('.')}; {alike}."


def _map_caption(n_systems: int) -> str:
    return (
        f"Probability that the system of a row is ahead of that of a column under another judge, on the same topics; "
        f"{n_systems} systems, best first."
    )


def _of_judges(notes: Iterable[object], known: Iterable[object]) -> list[str]:
    """Notes on judges and pairs, but for those on how files were read, which stand elsewhere."""
    texts = dict.fromkeys(map(str, notes))
    told = [note for note in texts if ("judge" in note or "pairs" in note) and "of the runs" not in note]
    return [note for note in told if note not in set(map(str, known))]


def _fragile(one: MeasureComparison) -> list[Part]:
    """Pairs that are significant and yet fragile, first of all; then all others that may turn round."""
    chosen = one.fragile()
    if np.isnan(one.tested.p_value).all():
        return [Words("No difference could be tested over topics, so none can be called significant.")]
    if not one.tested.significant.any():
        return [Words("No difference is significant over topics, so there is none that another judge could undo.")]
    if not chosen:
        return [
            Words(
                "No difference that is significant over topics is fragile: another judge turns none of them round "
                f"with a probability over {FRAGILE:.0%}."
            )
        ]
    records = one.records()
    keys = ("a", "b", "delta", "p_adjusted", "p_stays_ahead", "p_flips")
    rows = [{key: records[n][key] for key in keys} for n in chosen[:MOST_PAIRS]]
    caption = (
        f"Significant over topics, yet fragile: another judge turns them round with a probability over {FRAGILE:.0%}. "
        "These are the findings that a paper would get wrong."
    )
    return [Grid.of("fragile_pairs", caption, rows)]


def _seen(evidence: Evidence, one: MeasureComparison) -> list[Part]:
    """Show what the other assessors who judged nearly everything make of the systems, by their own labels."""
    labels, question = evidence.labels, evidence.question
    n_items = [len(np.unique(labels.item[labels.assessor.codes == code])) for code in range(len(labels.assessors))]
    whole = [
        name
        for name, n in zip(labels.assessors, n_items, strict=True)
        if name != evidence.judge and n >= NEARLY_ALL * max(n_items)
    ]
    if not whole:
        return []
    from venire.measures.evaluate import evaluate

    scores = evaluate(labels.where(assessor=whole), evidence.runs, question.measure, per="assessor")
    means = scores.mean("topic").values[:, 0]
    rows = [[name, *_order_by(mean, one)] for name, mean in zip(whole, means.T, strict=True)]
    caption = (
        f"The systems by the labels of {counted(len(whole), 'other assessor')} who judged nearly everything: the best "
        "system, how many pairs keep their order, how many are reversed, and Kendall's tau with the order now."
    )
    return [Grid("other_judges", caption, ["assessor", "best", "same_order", "reversed", "tau"], rows)]


def _order_by(mean: Floats, one: MeasureComparison) -> list[object]:
    """Hold mean scores by another judge, (system,), against the order now."""
    a, b, now = one.tested.a, one.tested.b, one.forecast.mean
    then = np.where(np.abs(mean[a] - mean[b]) > TIE, np.sign(mean[a] - mean[b]), 0.0)
    same = then * np.sign(np.where(np.abs(one.changes.delta) > TIE, one.changes.delta, 0.0))
    best = [one.forecast.systems[n] for n in np.flatnonzero(mean >= mean.max() - TIE).tolist()]
    tau = float(kendall_tau(np.round(mean, DIGITS)[None], np.round(now, DIGITS))[0])
    return [listed(best), int((same > 0).sum()), int((same < 0).sum()), known(tau)]

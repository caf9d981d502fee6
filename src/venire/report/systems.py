"""Two chapters on systems: their scores by gains and for a random user, and their order under another judge."""

from __future__ import annotations

from typing import Any

import numpy as np

from venire.comparison.compare import MeasureComparison
from venire.comparison.forecast import FRAGILE, TIE
from venire.comparison.stability import DIGITS
from venire.data.assessors import copy_notes, coverage
from venire.disagreement.counting import count_relevant
from venire.kernels.rank_correlation import kendall_tau
from venire.measures.evaluate import evaluate
from venire.report.document import Chapter, Grid, Part, Picture, Words, warning
from venire.report.evidence import TOP, Evidence
from venire.report.pictures import ranks_chart, slope_chart, stability_chart, tau_chart, user_scores_chart
from venire.report.question import Missing, or_missing
from venire.report.user_model import without_few_pairs_warning
from venire.results import counted, known, listed
from venire.types import Floats

Means = dict[str, Floats]
MANY_UNJUDGED = 0.2
NEARLY_ALL = 0.98
"""Share of the largest number of items by an assessor that another assessor must have labelled to be shown."""
JUDGE_TITLE = "Would another judge change this?"
MOST_PAIRS = 200


def systems_chapter(evidence: Evidence) -> Chapter:
    """Write the chapter on the scores of the systems."""
    means = {name: scores.mean("topic").values[:, 0] for name, scores in evidence.scores.items()}
    systems = evidence.scores["linear"].names["system"]
    parts: list[Part] = [warning(text, "equal-labels") for text in evidence.equal_labels]
    if isinstance(evidence.users, Missing):
        parts.append(Words(evidence.users.sentence("The scores for a random user"), "warning"))
    elif len(systems) > 1 and evidence.users.mean.values[:, 0].max() > TIE:
        words = f"Mean {evidence.question.measure} of each system over simulated users, with intervals, best first."
        caption = f"{evidence.question.measure} of each system for a random user, best first."
        parts.append(Picture("user_scores", caption, user_scores_chart(evidence.users), words))
    parts.append(_table(evidence, means))
    if any(np.ptp(each) > TIE for each in means.values()):
        words = f"Ranks of {len(systems)} systems under {', '.join(means)}; those that change most are in colour."
        caption = "Ranks by the gains of the labels. Lines that cross are systems whose order depends on the gains."
        parts.append(Picture("slopes", caption, slope_chart(means, systems), words))
    parts += _unjudged(systems, evidence.unjudged.share)
    return Chapter("systems", "The systems", _systems_finding(evidence, means), tuple(parts))


def _systems_finding(evidence: Evidence, means: Means) -> str:
    systems, measure = evidence.scores["linear"].names["system"], evidence.question.measure
    whose = f"with the labels of {evidence.judge}"
    if max(float(each.max()) for each in means.values()) <= 0:
        return f"All systems score 0 by {measure} {whose}, with all gains."
    if len(systems) == 1:
        return f"{systems[0]} scores {means['linear'][0]:.3f} by {measure} {whose}."
    if all(np.ptp(each) <= TIE for each in means.values()):
        return f"All {len(systems)} systems score the same by {measure} {whose}, with all gains."
    first = _first(systems, means["linear"])
    have = "has" if len(first) == 1 else "have"
    start = f"{listed(first)} {have} the highest {measure}, {means['linear'].max():.3f}, {whose}"
    return f"{start}{_for_users(evidence, first)}{_order_changes(means)}."


def _for_users(evidence: Evidence, first: list[str]) -> str:
    """Say which systems have the highest mean score for a random user, if that is known."""
    if isinstance(evidence.users, Missing):
        return ""
    mean = evidence.users.mean.values[:, 0]
    if mean.max() <= TIE:
        return "; for a random user, all systems score 0"
    names = _first(evidence.scores["linear"].names["system"], mean)
    if names == first:
        return " and also for a random user"
    return f"; for a random user, {listed(names)} {'has' if len(names) == 1 else 'have'} the highest"


def _first(systems: tuple[str, ...], mean: Floats) -> list[str]:
    """Return the systems with the highest mean; several if they are equal."""
    return [systems[n] for n in np.flatnonzero(mean >= mean.max() - TIE).tolist()]


def _order_changes(means: Means) -> str:
    """Say how far the order depends on the gains."""
    names, table = list(means), np.array(list(means.values()))
    if table.shape[1] < 3:
        return ""
    tau = kendall_tau(table[:, None], table[None])
    tau = np.where(np.isnan(tau), 1.0, tau)
    one, other = np.unravel_index(int(tau.argmin()), tau.shape)
    if tau[one, other] > 1 - 1e-9:
        return "; the order is the same with all gains"
    least = f"the lowest tau-b is {tau.min():.2f}, between {names[one]} and {names[other]}"
    return f"; the order depends on the gains ({least})"


def _table(evidence: Evidence, means: Means) -> Grid:
    systems = evidence.scores["linear"].names["system"]
    columns: dict[str, Any] = {"system": systems}
    note = ""
    if not isinstance(evidence.users, Missing):
        by_topic = evidence.users.topics.values[:, :, 0]
        columns["random_user"] = by_topic.mean(axis=1)
        note = f" Random user: mean {evidence.question.measure} over simulated users"
        if by_topic.shape[1] > 1:
            columns["low"], columns["high"] = (each[:, 0] for each in evidence.users.over_topics())
            note += ", with its 95% confidence interval over topics"
        note += ". Relevance that is not known from labels is drawn independently for each result."
    columns |= means
    expected = _expected_relevant(evidence)
    if expected is not None:
        columns["expected_relevant"] = expected
        note += f" Expected relevant: expected number of the first {TOP} results that a random user finds relevant."
    columns[f"unjudged_of_{TOP}"] = evidence.unjudged.number
    order = np.argsort(-np.asarray(columns["random_user" if "random_user" in columns else "linear"]), kind="stable")
    rows = [[_plain(column[n]) for column in columns.values()] for n in order.tolist()]
    caption = f"{evidence.question.measure} of each system by gains (linear: as in the leaderboard), best first.{note}"
    return Grid("systems_scores", caption, list(columns), rows, shown=len(rows) if len(rows) <= 70 else 40)


def _expected_relevant(evidence: Evidence) -> Floats | None:
    """Return the expected numbers of relevant results for a random user -> (system,); None if they are not known.

    A result that is judged for intents is not relevant or irrelevant as a whole.
    """
    if evidence.question.by_intent:
        return None
    if not isinstance(evidence.users, Missing):
        return evidence.users.mean.values[:, 1]
    fit = evidence.user_fit
    if isinstance(fit, Missing):
        return None
    with without_few_pairs_warning():
        found = or_missing(
            lambda: count_relevant(evidence.labels, evidence.runs, fit, top=TOP, assessor=evidence.judge)
        )
    if isinstance(found, Missing):
        return None
    place = [found.systems.index(each) for each in evidence.scores["linear"].names["system"]]
    return np.asarray(found.mean[0, 0][place])


def _unjudged(systems: tuple[str, ...], share: Floats) -> list[Part]:
    """Warn of systems with many unjudged results."""
    many = np.flatnonzero(share > MANY_UNJUDGED)
    if len(many) == 0:
        return []
    worst = many[np.argsort(-share[many], kind="stable")][:3]
    named = ", ".join(f"{systems[n]} ({share[n]:.0%})" for n in worst.tolist())
    have = "has" if len(many) == 1 else "have"
    text = f"{len(many)} of {len(systems)} systems {have} over {MANY_UNJUDGED:.0%} of the first {TOP} results unjudged"
    return [warning(f"{text}: {named}. Unjudged results have gain 0, so the scores may be too low", "many-unjudged")]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def another_judge_chapter(evidence: Evidence) -> Chapter:
    """Write the chapter on another judge: the stability map, fragile pairs, and judges who labelled nearly all."""
    one = evidence.comparison
    if len(evidence.facts.systems) < 2:
        return Chapter("another_judge", JUDGE_TITLE, "There is one system only, so there is no order.")
    if isinstance(one, Missing):
        return Chapter("another_judge", JUDGE_TITLE, one.sentence("The order under another judge"))
    stability = one.stability
    if (np.abs(stability.delta) <= TIE).all() and (stability.tie >= 1).all():
        return Chapter("another_judge", JUDGE_TITLE, _no_order(evidence))
    tau = one.tau()
    share = "ahead of that of a column"
    caption = f"Share of outcomes with another judge in which the system of a row is {share}; same topics, best first."
    words = f"A matrix of shades: how often the system of a row is {share} under another judge."
    parts: list[Part] = [Picture("stability_map", caption, stability_chart(stability), words), *_fragile(one)]
    caption = "Rank of each system now (dot), and 95% interval of its rank under other judges."
    words = "The rank of each system now as a dot, and the interval of its ranks under other judges as a line."
    parts.append(Picture("rank_intervals", caption, ranks_chart(stability), words))
    if tau["mean"] is not None:
        caption = "Kendall's tau between the order of systems now and under other judges."
        words = f"Distribution of Kendall's tau with the order now, mean {tau['mean']:.2f}."
        parts.append(Picture("tau", caption, tau_chart(stability), words))
    parts += _seen(evidence, one)
    parts += map(warning, copy_notes(evidence.copies, evidence.judge))
    parts += [warning(note) for note in one.forecast.notes if getattr(note, "kind", "") == "no-labels"]
    finding = _another_judge_finding(one, len(evidence.contradictions.pairs()))
    return Chapter("another_judge", JUDGE_TITLE, finding, tuple(parts), {"tau": tau})


def _no_order(evidence: Evidence) -> str:
    """Say that systems with equal scores under every judge have no order."""
    if evidence.nothing_judged:
        return Missing("nothing that the systems return was judged").sentence("The order under another judge")
    return "All systems score the same, now and under other judges, so there is no order."


def _another_judge_finding(one: MeasureComparison, n_contradicted: int) -> str:
    """Say what is significant; if nothing is, how similar the order is under other judges.

    n_contradicted: on how many pairs single judges contradict each other.
    """
    tau = one.tau()["mean"]
    if len(one.tested.a) > 1 and one.tested.significant.any():
        single = f" Single judges contradict each other on {n_contradicted:,}." if n_contradicted else ""
        return f"{one.sentence()}{single} The test: {one.tested.how}."
    if len(one.tested.a) == 1 or tau is None:
        return one.sentence()
    untested = f"By {one.forecast.measure}, no difference between systems can be tested on so few topics."
    first = untested if np.isnan(one.tested.p_value).all() else one.sentence()
    return f"{first} Kendall's tau between the order now and under another judge is {tau:.2f} on average."


def _fragile(one: MeasureComparison) -> list[Part]:
    """List pairs whose difference is significant over topics, and fragile under another judge."""
    chosen = one.fragile()
    if np.isnan(one.tested.p_value).all():
        return [Words("No difference could be tested over topics.", about="untested")]
    if not one.tested.significant.any():
        return [Words("No difference is significant over topics, so there is no fragile one.", about="none")]
    if not chosen:
        text = "No significant difference is fragile: another judge reverses or ties none with a probability over "
        text += f"{FRAGILE:.0%}."
        return [Words(text, about="none-fragile")]
    records = one.records()
    keys = ("a", "b", "delta", "p_adjusted", "p_stays_ahead", "p_tie", "p_flips")
    rows = [{key: records[n][key] for key in keys} for n in chosen[:MOST_PAIRS]]
    caption = (
        "Differences that are significant over topics and fragile: another judge would reverse or tie them with a "
        f"probability over {FRAGILE:.0%}."
    )
    return [Grid.of("fragile_pairs", caption, rows)]


def _seen(evidence: Evidence, one: MeasureComparison) -> list[Part]:
    """Score the systems with the labels of each other assessor who judged nearly all items."""
    labels, question = evidence.labels, evidence.question
    share = coverage(labels)
    enough = (share >= NEARLY_ALL * share.max()).tolist()
    whole = [name for name, held in zip(labels.assessors, enough, strict=True) if held and name != evidence.judge]
    if not whole:
        return []
    scores = evaluate(labels.where(assessor=whole), evidence.runs, question.measure, per="assessor")
    means = scores.mean("topic").values[:, 0]
    rows = [[name, *_order_by(mean, one)] for name, mean in zip(whole, means.T, strict=True)]
    caption = (
        f"The systems by the labels of {counted(len(whole), 'other assessor')} who judged nearly all items: the best "
        "system, the numbers of pairs in the same and in reversed order, and Kendall's tau with the order now."
    )
    return [Grid("other_judges", caption, ["assessor", "best", "same_order", "reversed", "tau"], rows)]


def _order_by(mean: Floats, one: MeasureComparison) -> list[object]:
    """Compare mean scores by another judge, (system,), with the order now."""
    a, b, now = one.tested.a, one.tested.b, one.forecast.mean
    then = np.where(np.abs(mean[a] - mean[b]) > TIE, np.sign(mean[a] - mean[b]), 0.0)
    same = then * np.sign(np.where(np.abs(one.changes.delta) > TIE, one.changes.delta, 0.0))
    best = [one.forecast.systems[n] for n in np.flatnonzero(mean >= mean.max() - TIE).tolist()]
    tau = float(kendall_tau(np.round(mean, DIGITS)[None], np.round(now, DIGITS))[0])
    return [listed(best), int((same > 0).sum()), int((same < 0).sum()), known(tau)]

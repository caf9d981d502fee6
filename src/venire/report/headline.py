"""The verdict: which system is best, for whom, with which uncertainty; what to do next; what new judgments changed."""

from __future__ import annotations

import numpy as np

from venire.comparison.contradictions import ALPHA, Reversal
from venire.comparison.forecast import TIE
from venire.comparison.verdict import MOST_NAMES, SOURCES, TOP as TOP_SYSTEMS
from venire.data.assessors import PRIMARY, copy_notes, nothing_declared
from venire.disagreement.double_judgments import JudgingEffort, double_judgments_needed, lowest_labels
from venire.disagreement.predicted_relevance import PredictedRelevanceFit
from venire.randomness import FEW_TOPICS
from venire.report.document import Chapter, Grid, Part, Words, warning
from venire.report.evidence import TOP, Evidence
from venire.report.favour import favour_note, favour_parts, favour_records, finders
from venire.report.question import Missing, or_missing
from venire.report.scoring_judge import coverage_but, judged_topics, levelled
from venire.report.user_model import UserModel
from venire.results import counted, listed
from venire.types import Bools, Ints

DEVIATION = 0.05
"""The standard deviation of p(R|i) from which on more double judgments are recommended."""
SECOND_JUDGMENTS = 300
"""Double judgments recommended where there are none."""
MOST_LABELS = 8
MOST_PAIRS = 200
TOO_MANY = 10
"""More topics than this many times the present number are not recommended."""
SURE = 0.95
"""The share of draws in which a winner must come first, by every source, to be recommended without reservation."""
SMALL = 0.0005
"""A margin below this is shown as 0.000."""
_SPREAD = "standard deviation"


def verdict_chapter(evidence: Evidence) -> Chapter:
    """Write the chapter on the best system."""
    found, contradictions = evidence.verdict, evidence.contradictions
    parts: list[Part] = [*_by_judge(evidence), *_contradicted(evidence), *favour_parts(evidence), *_sure(evidence)]
    parts += [*_significant(evidence), *_limits(evidence), *advice(evidence)]
    copied = [f"{note}." for note in copy_notes(evidence.copies)]
    others = [*_other_contradictions(evidence), *_favour(evidence), *equal_judges(evidence), *copied]
    numbers = {"verdict": found.record(), "by_judge": evidence.by_judge.records()}
    numbers |= {"contradictions": contradictions.records(), "favoured": favour_records(evidence)}
    return Chapter("verdict", "Verdict", " ".join([found.sentence(), *others]), tuple(parts), numbers)


def _favour(evidence: Evidence) -> list[str]:
    """Say that a judge favours a system, if so."""
    note = favour_note(finders(evidence))
    return [] if note is None else [f"{note}."]


def _by_judge(evidence: Evidence) -> list[Part]:
    """Show the scores of the systems by the labels of every judge, with intervals."""
    scores, measure = evidence.by_judge, evidence.question.measure
    columns, rows = scores.table()
    interval = ", with 95% confidence intervals over topics" if evidence.verdict.n_topics > 1 else ""
    more = len(scores.judges) - len(columns) + 1
    others = f" {counted(more, 'more judge')} {'is' if more == 1 else 'are'} in the JSON output." if more else ""
    caption = f"{measure} of each system by the labels of each judge{interval}; best by the first judge first.{others}"
    notes = [note for note in scores.notes_on_judges() if note.kind == "few-labels"]
    said = [Words(f"{note}.", about=note.kind) for note in notes]  # the sentence begins with names
    said += [Words(_capital(f"{note}."), about=note.kind) for note in nothing_declared(evidence.judgments)]
    return [Grid("scores_by_judge", caption, columns, rows, shown=8, names=True), *said]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _other_contradictions(evidence: Evidence) -> list[str]:
    """Say on how many pairs judges contradict each other, unless the verdict has told all of it."""
    found, told = evidence.contradictions, evidence.verdict.leader is not None and evidence.verdict.contradictions
    if not found.found or (told and len(found.pairs()) == 1):
        return []
    if told:
        return [f"Judges contradict each other on {len(found.pairs())} of {counted(found.n_pairs, 'pair')} in all."]
    return contradictions_in_words(evidence)


def contradictions_in_words(evidence: Evidence) -> list[str]:
    """Say on how many pairs judges contradict each other, and name one: near the top, of the best system, or own."""
    verdict, rows = evidence.verdict, [*evidence.verdict.contradictions, *evidence.contradictions.found]

    def place(row: Reversal) -> tuple[bool, bool, bool, bool]:
        involved, both = evidence.judge in (row.judge, row.against), row.p_against <= ALPHA
        return not verdict.near_the_top(row), not both, verdict.best not in (row.a, row.b), not involved

    found = evidence.contradictions.sentence(min(rows, key=place))
    return [f"{found}{among_the_first(evidence, ' Of these pairs, {}.')}"]


def among_the_first(evidence: Evidence, words: str) -> str:
    """Say how many contradicted pairs are among the first ten systems, where there are more."""
    found, n_systems = evidence.contradictions, len(evidence.verdict.systems)
    n = len({frozenset((row.a, row.b)) for row in found.found if evidence.verdict.near_the_top(row)})
    return words.format(f"{n or 'none'} among the first {TOP_SYSTEMS}") if n_systems > TOP_SYSTEMS else ""


def _contradicted(evidence: Evidence) -> list[Part]:
    """List the pairs of systems on which judges contradict each other."""
    found = sorted(evidence.contradictions.found, key=lambda row: not evidence.verdict.near_the_top(row))
    rows = [row.record() for row in found]
    if not rows:
        return []
    keys = ("a", "b", "judge", "delta", "p_adjusted", "against", "delta_against", "p_against", "p_between")
    caption = (
        "Contradictions: the difference is significant by one judge and reversed by another. P-values are adjusted for "
        "all pairs and judges; p between is that of the difference between the two judges."
    )
    shown = [{key: _p(row[key]) if key.startswith("p_") else row[key] for key in keys} for row in rows[:MOST_PAIRS]]
    return [Grid.of("contradictions", caption, shown, shown=10)]


def _p(p: float | None) -> str:
    """Format a p-value, never as 0."""
    return "not tested" if p is None else "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def equal_judges(evidence: Evidence) -> list[str]:
    """Name the assessors who could have scored the runs as well as the one who was chosen."""
    if evidence.level_with:
        others, agree = listed(evidence.level_with, MOST_NAMES), "agrees" if len(evidence.level_with) == 1 else "agree"
        why = f"but {others} judged as many items and {agree} as much with the others; nothing declares who counts"
        return [f"The runs are scored with the labels of {evidence.judge}, {why}."]
    if evidence.level_topics:
        topics = counted(evidence.level_topics, "topic")
        return [f"On {topics}, two assessors judged as many items and agree as much: one of them is used."]
    return []


def _sure(evidence: Evidence) -> list[Part]:
    found = evidence.verdict
    if len(found.systems) == 1 or not found.p_first or found.mean.max() <= 0:
        return []
    rows = [
        [name, found.p_first[source], found.margin[source]]
        for source, name in ((source, source_name(evidence, source)) for source in SOURCES)
        if source in found.p_first
    ]
    who = f"{found.best} or a system with the same scores" if found.twins else found.best
    caption = f"Share of simulated outcomes in which {who} comes first, by what changes"
    ahead = max(found.margin.values()) >= SMALL
    caption += "; margin: the 95% quantile of how far the best other system is ahead of it." if ahead else "."
    columns = ["what_changes", "p_first", "margin"]
    return [Grid("verdict_sure", caption, columns, rows, unseen=() if ahead else ("margin",))]


def _significant(evidence: Evidence) -> list[Part]:
    """Say how many pairs differ significantly, and which differences these topics can detect."""
    tested, plan, found = evidence.tested, evidence.plan, evidence.verdict
    if isinstance(tested, Missing) or isinstance(plan, Missing) or found.n_topics < 2 or np.ptp(found.mean) <= TIE:
        return []
    if plan.median_detectable > max(1.0, float(np.nanmax(evidence.scores["linear"].values))):
        few = f"With {found.n_topics} topics the difference detectable with power 0.8 is larger than any score."
        return [Words(f"{tested.sentence()} {few}", about="undetectable")]
    return [Words(f"{tested.sentence()} {plan.sentence()}", about="detectable")]


def _limits(evidence: Evidence) -> list[Part]:
    """Say what cannot be concluded, and whose labels are used."""
    n_topics = evidence.verdict.n_topics
    words: list[Part] = [*_labels_used(evidence), *_topics_used(evidence), *_whose(evidence)]
    if not isinstance(evidence.users, Missing):
        words.append(Words(_user(evidence), about="random-user"))
    for missing, what in (
        (evidence.sources, "The effect of another judge"),
        (evidence.users, "The scores for a random user"),
    ):
        if isinstance(missing, Missing):
            words.append(Words(missing.sentence(what), "warning", about="missing"))
    if n_topics == 1:
        text = "There is one topic only, so the effect of other topics is not known"
        words.append(warning(text, about="one-topic"))
    elif n_topics < FEW_TOPICS:
        text = f"There are {n_topics} topics: intervals from fewer than {FEW_TOPICS} topics are unreliable"
        words.append(warning(text, about="few-topics"))
    return words


def _whose(evidence: Evidence) -> list[Part]:
    """Say whose labels score the runs, where nobody was named and there are several."""
    if not (whose := _scored_with(evidence)):
        return []
    if evidence.judge == PRIMARY and evidence.crowd is None:
        whose = f"{whose}; others fill in what is missing"
    named = evidence.people
    users = f", and those of {listed(named)} also for users" if named else "" if named is None else " and for users"
    others = f" The other labels stand for other judges{users}." if evidence.several else ""
    if evidence.crowd is not None and evidence.crowd.transitions is not None:
        others = " The other judge is another crowd, with as many labels for each item."
    return [Words(f"The runs are scored {whose}.{others} Another assessor can be named.", about="judge")]


def _scored_with(evidence: Evidence) -> str:
    """Return whose labels score the runs, and why; nothing if somebody was named, or there is one judge only."""
    if len(evidence.question.judgments.assessors) == 1 or evidence.question.assessor is not None:
        return ""
    if evidence.crowd is not None:
        return f"with the {evidence.judge}"
    if evidence.judge != PRIMARY:
        return f"with the labels of {evidence.judge}, {_why_them(evidence)}"
    group = f", of {listed(evidence.possible_judges)}" if evidence.excluded else ""
    return f"on each topic with the labels of the assessor who judged most of it{group}"


def scored_sentence(evidence: Evidence) -> str:
    """Say whose labels score the systems, and that no reference was declared, if so; nothing for a single judge."""
    whose = _scored_with(evidence)
    if not whose or evidence.crowd is not None:
        return ""
    declared = "" if evidence.judgments.reference else "; no reference is declared (set “reference” to choose)"
    return f"Scored {whose}{declared}."


def _declared(evidence: Evidence) -> str:
    """Say that the judge was chosen because of what was declared, if so."""
    labels, judge = evidence.judgments, evidence.judge
    if judge in labels.reference:
        others = [name for name in labels.reference if name != judge]
        return f"one of the reference ({listed(labels.reference)})" if others else "the declared reference"
    if labels.reference and judge not in labels.machines:
        return f"because the reference ({listed(labels.reference)}) labelled too few of the results"
    if judge in labels.machines and labels.people:
        return f"a machine, because people ({listed(labels.people)}) labelled too few of the results"
    return "" if not labels.machines or judge in labels.machines else "the person who judged most items"


def _why_them(evidence: Evidence) -> str:
    """Say why this judge was chosen: coverage, agreement with the others, or neither."""
    if why := _declared(evidence):
        return why
    share, names = levelled(coverage_but(evidence.labels, evidence.excluded)), evidence.labels.assessors
    as_much = [name for name, n in zip(names, share, strict=True) if n >= share[names.index(evidence.judge)]]
    over = [name for name in as_much if name in evidence.useless and name != evidence.judge]
    passed = f" (not counting {listed(over)}: one label only)" if over else ""
    if evidence.level_with:
        return f"one of those who judged most items{passed} and agree most with the others"
    if len(as_much) - len(over) == 1:
        return f"who judged most items{passed}"
    busiest = ", of those who judged most items" if len(as_much) < len(names) else ""
    return f"who agrees most with the others{busiest}{passed}"


def _labels_used(evidence: Evidence) -> list[Part]:
    """Warn of labels that distinguish no systems: none of the results, all the same, or those of one who gives one."""
    words = []
    if evidence.nothing_judged:
        text = f"None of the first {TOP} results of any system was judged, so the systems cannot be compared"
        words.append(warning(f"{text}: check the names of topics and documents", about="unmatched"))
    if evidence.only_label is not None:
        text = f"All labels that score the runs are {evidence.only_label}"
        words.append(warning(f"{text}: scores differ only by how much was judged", about="same-labels"))
    if evidence.judge in evidence.useless:
        text = f"{evidence.judge}, whose labels score the runs, gives one label only"
        words.append(warning(f"{text}: choose another assessor", about="one-label"))
    return [*words]


def _topics_used(evidence: Evidence) -> list[Part]:
    """Say which topics have no lists, or no labels, and whether they count."""
    if evidence.nothing_judged:
        return []
    words, n_judged, facts = [], int(judged_topics(evidence.question.judgments).sum()), evidence.facts
    if evidence.left_out:
        n, are = len(evidence.left_out), "is" if len(evidence.left_out) == 1 else "are"
        text = f"{n} of {n_judged} judged topics {are} omitted, since no system has a list"
        words.append(warning(f"{text}: {listed(evidence.left_out)}", about="no-lists"))
    scores = evidence.scores["linear"]
    words += [warning(text, about="returned-nothing") for text in scores.warnings]
    scored = scores.names["topic"]
    inside = np.isin(np.array(facts.items.topics, dtype=object)[facts.topic], scored)
    missing = len(scored) - np.bincount(facts.system[inside], minlength=len(facts.systems))
    worst = [n for n in np.argsort(-missing, kind="stable").tolist() if 0 < missing[n] < len(scored)]
    lacking = [f"{facts.systems[n]} ({missing[n]})" for n in worst]
    if lacking:
        text = f"Systems without a list for some of the {len(scored)} topics score 0 there"
        words.append(warning(f"{text}: {listed(lacking)}", about="missing-lists"))
    if facts.unjudged_topics:
        were = "was not judged and is" if len(facts.unjudged_topics) == 1 else "were not judged and are"
        text = f"{counted(len(facts.unjudged_topics), 'topic')} of the runs {were} omitted"
        words.append(warning(text, about="unjudged-topics"))
    return [*words]


def _user(evidence: Evidence) -> str:
    """Define a random user."""
    people = listed(evidence.people or ()) or "the other assessors"
    if evidence.crowd is not None and not evidence.people:
        return "A random user is one more member of the crowd: results are relevant with probability p(R|label)."
    higher = "" if evidence.relevant == evidence.question.judgments.scale.labels[-1] else " or higher"
    relevant = f"R: {evidence.relevant}{higher}"
    return (
        f"A random user is one of {people}, with that assessor's labels ({relevant}); results without such a label are "
        f"relevant with probability p(R|label), estimated from {people}."
    )


def advice(evidence: Evidence) -> list[Part]:
    """Recommend what to judge next: topics, or double judgments, and of which labels; or which system to choose."""
    if evidence.nothing_judged:
        text = "use the same names of topics and documents in judgments and runs, then report again."
        return [Words(text, "todo", about="names")]
    if evidence.only_label is not None:
        text = f"judge more results: with {evidence.only_label} as the only label, no system can be better than others."
        return [Words(text, "todo", about="results")]
    parts = [*_whose_labels(evidence), *_favoured_leader(evidence), *_topics(evidence), *double_judgments(evidence)]
    asked = any(isinstance(each, Words) and each.kind == "todo" for each in parts)
    return parts if asked else [*parts, *_choice(evidence)]


def _whose_labels(evidence: Evidence) -> list[Part]:
    """Recommend to decide whose labels count, if judges contradict each other on the best system."""
    row = evidence.verdict.contradiction
    if row is None or evidence.judgments.reference:
        return []
    text = f"decide whether the labels of {row.judge} or those of {row.against} count"
    return [Words(f"{text}, and declare the reference: the order of systems depends on it.", "todo", "whose-labels")]


def _favoured_leader(evidence: Evidence) -> list[Part]:
    """Recommend corrected scores where the judge who scores the runs favours the system that it puts first."""
    best, judge = evidence.verdict.best, evidence.judge
    if not any(each.judge == judge and best in each.found for each in finders(evidence)):
        return []
    people = listed(evidence.judgments.reference)
    text = f"compare corrected scores before choosing {best}: compared with {people}, {judge} favours it."
    return [Words(text, "todo", about="favoured-leader")]


def _choice(evidence: Evidence) -> list[Part]:
    """Recommend the winner, and for whom."""
    winner, p_first = evidence.verdict.winner, evidence.verdict.p_first
    if winner is None or not p_first:
        return []
    source, least = min(p_first.items(), key=lambda each: each[1])
    if least >= SURE:
        text = f"choose {winner}: it is significantly better than all others, and first with a probability of at least"
        return [Words(f"{text} {SURE:.0%} in every case.", "todo", about="choose")]
    text = f"choose {winner} if the labels of {evidence.judge} are those that count"
    text = f"{text}; with {source_name(evidence, source)} it comes first with probability {least:.0%} only."
    return [Words(text, "todo", about="choose-for-judge")]


def source_name(evidence: Evidence, source: str) -> str:
    """Return what is drawn, in words; the other judge of a crowd is another crowd."""
    return SOURCES[source].replace("another judge", "another crowd" if evidence.another_crowd else "another judge")


def _topics(evidence: Evidence) -> list[Part]:
    """Recommend how many topics to judge for a significant difference between the best system and the next."""
    found = evidence.verdict
    if found.n_topics == 1:
        return [Words(f"judge at least {FEW_TOPICS} topics: one topic allows no test.", "todo", about="more-topics")]
    if found.closest is None or isinstance(evidence.plan, Missing) or found.mean.max() <= 0:
        return []
    needed = needed_topics(evidence)
    if not np.isfinite(needed):
        return []
    about, two = f"about {int(np.ceil(needed)):,} topics", f"{found.best} and {found.closest}"
    power = "(power 0.8, if the true difference is the observed one)"
    if needed > TOO_MANY * found.n_topics:
        text = f"treat {two} as equally good: a significant difference between them needs {about} {power}."
        return [Words(text, "todo", about="equal")]
    text = f"judge {about} in all for a significant difference between {two} {power}."
    return [Words(text, "todo", about="topics")]


def needed_topics(evidence: Evidence) -> float:
    """Return how many topics tell the best system from the next; infinite where that is not known."""
    found, plan = evidence.verdict, evidence.plan
    if isinstance(plan, Missing):
        return float("inf")
    names = [{plan.systems[a], plan.systems[b]} for a, b in zip(plan.a.tolist(), plan.b.tolist(), strict=True)]
    return float(plan.needed[names.index({found.best, found.closest})])


def double_judgments(evidence: Evidence) -> list[Part]:
    """Recommend how many more results to judge twice, and of which labels."""
    fit = evidence.user_fit
    if isinstance(fit, Missing):
        text = (
            f"have a second assessor judge about {SECOND_JUDGMENTS} results, drawn from those that the systems return."
        )
        return [Words(text, "todo", about="second-assessor")]
    effort = or_missing(lambda: double_judgments_needed(fit, DEVIATION))
    if isinstance(effort, Missing):
        return []
    more = _more_of_each(fit, effort)
    available = judged_once(evidence.user_model)
    hopeless = (effort.floor[0] >= DEVIATION) | ((more > available) & (effort.n_topics > 1))
    more = np.where(hopeless, 0, np.minimum(more, available))
    rest: list[Part] = [Words(each.sentence()) for each in lowest_labels(fit)[:1] if each.negligible]
    rest = [*_more_topics(effort, hopeless), *rest]
    if not more.any():
        enough = effort.n_topics > 1 and not hopeless.any()
        return [Words(_enough(fit), about="enough"), *rest] if enough else rest
    each = [f"{more[n]:,} with label {fit.scale.labels[n]}" for n in reversed(range(len(more))) if more[n]]
    if len(each) > MOST_LABELS:
        each = [*each[:MOST_LABELS], f"others with {len(each) - MOST_LABELS} lower labels"]
    text = f"judge {more.sum():,} more results twice ({', '.join(each)})"
    text = f"{text}, to estimate p({fit.relevant.names[0]}|label) with a {_SPREAD} of {DEVIATION:g} on these topics."
    return [Words(text, "todo", about="double-judgments"), *rest]


def _more_of_each(fit: PredictedRelevanceFit, effort: JudgingEffort) -> Ints:
    """How many more double judgments are needed, by first label -> (label,)."""
    share = fit.pairs[0] / max(float(fit.pairs[0].sum()), 1.0)
    needed = effort.judgments_on_these_topics if effort.n_topics > 1 else effort.judgments
    return np.ceil(np.nan_to_num(np.maximum(needed[0] - effort.n_judgments, 0.0) * share)).astype(np.int64)


def judged_once(model: UserModel) -> Ints:
    """Count results with one label only, which can be judged a second time, by the label of the judge -> (label,)."""
    labels = model.judgments
    own = labels.assessor.codes == labels.assessors.index(model.observed)
    once = own & ~np.isin(labels.item, labels.item[~own])
    return np.bincount(labels.label[once], minlength=len(labels.scale))


def _enough(fit: PredictedRelevanceFit) -> str:
    """Say that no more double judgments are needed, except of labels that have none."""
    name = f"p({fit.relevant.names[0]}|label)"
    unknown = [label for label, n in zip(fit.scale.labels, fit.pairs[0], strict=True) if n == 0]
    but = f"; it is not known for {listed(unknown)}, which no item judged twice has" if unknown else ""
    return f"The double judgments suffice to estimate {name} with a {_SPREAD} of at most {DEVIATION:g}{but}."


def _more_topics(effort: JudgingEffort, labels: Bools) -> list[Part]:
    """Say for which labels no more judging of these topics helps, and how many topics are needed."""
    hopeless = np.flatnonzero(labels)[::-1].tolist()
    if not hopeless:
        return []
    names = listed([effort.scale.labels[level] for level in hopeless], MOST_LABELS)
    needed = counted(int(effort.topics[0, hopeless].max()), "topic")
    text = f"judge about {needed} in all, as much of each as now, to estimate p({effort.relevant.names[0]}|label)"
    why = "topics differ, so more labels on these topics are not enough"
    text = f"{text} for label {names} with a {_SPREAD} of {DEVIATION:g}: {why}."
    return [Words(text, "todo", about="topics-for-labels")]

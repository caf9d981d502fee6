"""The first screen: the verdict in one sentence, what would change it, the leaderboard, and three cards.

A card says how likely the best system stays first on other topics, with another judge and for a random user, in number
and in words, and what to do next.  Words of likelihood are those of the IPCC (Mastrandrea et al. 2010, Table 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from venire.comparison.by_judge import SHOWN as ENOUGH
from venire.comparison.forecast import TIE
from venire.comparison.verdict import Verdict
from venire.planning.result import Plan
from venire.report.charts import percent
from venire.report.document import Words
from venire.report.drill import Drill, dissent
from venire.report.evidence import Evidence
from venire.report.headline import advice, among_the_first, needed_topics, scored_sentence, source_name
from venire.report.judges import OPPOSED, JudgesPanel, judges_panel
from venire.report.leaderboard import Leaderboard, leaderboard
from venire.report.next_judgments import step
from venire.report.question import Missing
from venire.report.relevance import relevance_note
from venire.results import counted, listed

LIKELY = (
    (0.99, "virtually certain"),
    (0.9, "very likely"),
    (0.66, "likely"),
    (0.33, "about as likely as not"),
    (0.1, "unlikely"),
    (0.01, "very unlikely"),
    (0.0, "exceptionally unlikely"),
)
"""Words for probabilities, from the largest: the lowest probability of each."""
MOST_NAMED = 3
SAME = "score the same on every topic"
CARDS = {"topics": "On other topics", "judges": "With another judge", "users": "For a random user"}
CROWD = {"judges": "With another crowd"}
"""Titles of cards where the other judge is another crowd."""
STEPS = {
    "topics": ("more-topics", "topics", "equal", "names", "results", "choose", "choose-for-judge"),
    "judges": ("whose-labels", "favoured-leader"),
    "users": ("second-assessor", "double-judgments", "topics-for-labels"),
}
"""Which recommendations belong to a card, by what they are about."""


@dataclass(frozen=True)
class Card:
    """One source of doubt: the probability that the best system stays first (None: not known), and what to do next."""

    name: str
    title: str
    probability: float | None
    likelihood: str
    text: str
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Front:
    """What is read first; ``drill`` is what the page holds to look up pairs, topics and documents.

    planned: the card whose first step is the plan of what to judge next; who: the best system, with those that score
    the same; scored: whose labels score the systems, and why.
    """

    verdict: str
    change: str
    board: Leaderboard
    cards: tuple[Card, ...]
    judges: JudgesPanel
    drill: Drill | None
    planned: str | None = None
    who: str = ""
    scored: str = ""

    def shows(self) -> list[str]:
        """Name what is shown, as in the list of formulas."""
        disputed = self.drill is not None and bool(self.drill.disputed)
        several = ["leaderboard", "cards"] if len(self.board.systems) > 1 else []
        return [*several, *(["disputed_documents"] if disputed else [])]

    def content(self) -> dict[str, Any]:
        """Return it as plain data, without the lists and labels that the page embeds."""
        return {
            "verdict": self.verdict,
            "change": self.change,
            "measure": self.board.measure,
            "leaderboard": self.board.records(),
            "p_best_of": self.board.source,
            "cards": [asdict(card) for card in self.cards],
            "agreement": self.judges.content(),
            "disputed": [] if self.drill is None else self.drill.disputed_records(),
        }


def front(evidence: Evidence, plan: Plan | Missing | None = None, held: Drill | None = None) -> Front:
    """Make the first screen; plan: what to judge next; held: what can be looked up in the page."""
    asked = {} if plan is None else step(evidence, plan)
    steps = next_steps(evidence, asked)
    return Front(
        verdict_sentence(evidence),
        change_sentence(evidence),
        leaderboard(evidence),
        tuple(_card(evidence, name, steps[name]) for name in CARDS),
        judges_panel(evidence),
        held,
        next(iter(asked), None),
        _who(evidence),
        scored_sentence(evidence),
    )


def next_steps(evidence: Evidence, asked: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return what to do next, by card.  Everything that the first screen recommends comes from here.

    asked: what to collect by the plan, by card, which comes first; it says how many topics are needed.
    """
    said = [part for part in advice(evidence) if isinstance(part, Words)]
    return {
        name: (
            *([asked[name]] if name in asked else []),
            *(
                _capital(each.text)
                for each in said
                if each.about in about and each.kind == "todo" and not (name in asked and each.about == "topics")
            ),
        )
        for name, about in STEPS.items()
    }


def verdict_sentence(evidence: Evidence) -> str:
    """Return the verdict in at most 25 words, names counted as one."""
    found, n = evidence.verdict, len(evidence.verdict.systems)
    by = f"by {found.measure}"
    if n == 1:
        return f"There is one system only, {found.best}: its {found.measure} is {found.mean[0]:.3f}."
    if evidence.nothing_judged:
        return "Nothing can be said: none of the results of any system was judged."
    if _level(evidence):
        return f"No winner: {'both' if n == 2 else f'all {n}'} systems have the same score {by}."
    if against := dissent(evidence):
        two = f"{found.best} ahead of {against.system}"
        return f"No clear winner {by}: {evidence.judge} puts {two}, {against.judge} the reverse."
    if found.leader is None:
        return f"No winner {by}: {_rivals(found)}."
    if found.doubtful:
        return f"No clear winner: {found.best} leads {by}, but another judge would rather put another system first."
    judges = evidence.several and not evidence.another_crowd
    agreed = ", and no judge significantly reverses it" if judges else ""
    return f"{found.best} is the best of {n} systems {by}: its lead is significant{agreed}."


def _rivals(found: Verdict) -> str:
    """Say from which systems the best one does not differ."""
    cannot = "cannot be tested against" if found.n_topics < 2 else "does not differ significantly from"
    others = listed([name for name in found.rivals if name not in found.twins], MOST_NAMED)
    if not found.twins:
        return f"{found.best} is first, but {cannot} {others}"
    same = listed([found.best, *found.twins], MOST_NAMED)
    return f"{same} score the same and {cannot.replace('does', 'do')} {others}" if others else f"{same} {SAME}"


def change_sentence(evidence: Evidence) -> str:
    """Say what would change the verdict."""
    found = evidence.verdict
    if len(found.systems) == 1:
        return "A second system would make it a comparison."
    if _level(evidence):
        return "Labels that distinguish the results of the systems would change this."
    against = dissent(evidence)
    if against and evidence.judge in evidence.judgments.reference:
        return f"{evidence.judge} is the reference: look at the documents on which {against.judge} differs."
    if against:
        return "Whose labels count decides it: declare the reference, or look at the documents on which they differ."
    if found.leader is None:
        return _more_topics(evidence)
    if not found.p_first:
        return "Other topics might change this; one topic does not tell."
    source, least = min(found.p_first.items(), key=lambda each: each[1])
    if least > 0.99:
        names = listed([source_name(evidence, each) for each in found.p_first])
        return f"Little would change this: with {names} it stays first with probability >99%."
    other = source_name(evidence, source)
    return f"What would most likely change it: {other}, with probability {percent(1 - least)}."


def _more_topics(evidence: Evidence) -> str:
    """Say how many topics would separate the best system from the next."""
    found = evidence.verdict
    if found.closest is None:
        return "These systems have the same score on every topic: other topics or deeper lists would be needed."
    if found.n_topics < 2 or isinstance(evidence.plan, Missing):
        return "More topics would: one topic allows no test." if found.n_topics < 2 else "More topics would."
    needed = needed_topics(evidence)
    two = f"{found.best} and {found.closest}"
    if not np.isfinite(needed):
        return f"No number of topics is known that would separate {two}."
    return f"About {int(np.ceil(needed)):,} topics, rather than {found.n_topics}, would separate {two}."


def _card(evidence: Evidence, name: str, steps: tuple[str, ...]) -> Card:
    p = None if _level(evidence) else evidence.verdict.p_first.get(name)
    likelihood = "not known" if p is None else in_words(p)
    if not steps and isinstance(missing := _missing(evidence, name), Missing) and missing.hint:
        steps = (f"{_capital(missing.hint)}.",)
    title = (CARDS | CROWD if evidence.another_crowd else CARDS)[name]
    return Card(name, title, p, likelihood, _about(evidence, name), steps)


def _who(evidence: Evidence) -> str:
    """Name the best system, or those that score the same: "a", "a, b or c"."""
    names = listed([evidence.verdict.best, *evidence.verdict.twins], MOST_NAMED)
    return " or ".join(names.rsplit(" and ", 1)) if evidence.verdict.twins else names


def _about(evidence: Evidence, name: str) -> str:
    """Say what a card rests on, or why its probability is not known."""
    if name == "topics":
        n, twins = evidence.verdict.n_topics, evidence.verdict.twins
        shared = f" {counted(len(twins) + 1, 'system')} {SAME} and count as one." if twins else ""
        return f"{counted(n, 'topic')} judged{'; one does not tell about others' if n == 1 else ''}.{shared}"
    if isinstance(missing := _missing(evidence, name), Missing):
        return f"{_capital(missing.reason)}."
    if name == "users":
        own, facts = evidence.own, evidence.facts
        return f"{relevance_note(own, facts, relevant=evidence.relevant, judge=evidence.judge)}."
    if evidence.another_crowd:
        return "Another crowd is other workers, with as many labels for each item."
    found, observed = evidence.contradictions, _others(evidence)
    if not found.pairs():
        return f"{observed}No two judges {OPPOSED}."
    pairs = f"{len(found.pairs())} of {counted(found.n_pairs, 'pair')} of systems"
    return f"{observed}Judges contradict each other on {pairs}{among_the_first(evidence, ', {}')}."


def _others(evidence: Evidence) -> str:
    """Say how many of the other judges put the best system first, or one that scores the same, by their own labels.

    Judges who labelled too little to be shown are not counted (``comparison.by_judge``).
    """
    found, verdict = evidence.by_judge, evidence.verdict
    kept = [j for j, name in enumerate(found.judges) if name != evidence.judge and found.share[j, 0] >= ENOUGH]
    if not kept or _level(evidence):
        return ""
    means = np.nan_to_num(found.mean[kept, :, 0], nan=-np.inf)
    first = means >= means.max(axis=1, keepdims=True) - TIE
    best = np.isin(np.array(found.systems, dtype=object), [verdict.best, *verdict.twins])
    agree = first[:, best].any(axis=1)
    votes = first[~agree].sum(axis=0)
    it, rival = "one of them" if verdict.twins else "it", found.systems[int(votes.argmax())]
    if len(kept) == 1:
        return f"The other judge puts {it} first, too. " if agree.all() else f"The other judge puts {rival} first. "
    if agree.all():
        return f"All {len(kept)} other judges put {it} first, too. "
    n_others, rest = len(set(found.judges) - {evidence.judge}), int((~agree).sum() - votes.max())
    some = f"Of {n_others} other judges {len(kept)} judged enough: {agree.sum()}"
    some = some if n_others > len(kept) else f"{agree.sum()} of {len(kept)} other judges"
    more = f", {rest} another system" if rest > 0 else ""
    return f"{some} put {it} first, {votes.max()} put {rival} first{more}. "


def _level(evidence: Evidence) -> bool:
    """Whether nothing distinguishes the systems: there is one only, nothing was judged, or all score the same."""
    return evidence.nothing_judged or bool(np.ptp(evidence.verdict.mean) <= TIE)


def _missing(evidence: Evidence, name: str) -> object:
    """Return the reason why nothing is known of a source, if so."""
    return {"judges": evidence.sources, "users": evidence.users}.get(name)


def in_words(p: float) -> str:
    """Return a probability in words.

    Examples
    --------
    >>> in_words(0.97), in_words(0.5)
    ('very likely', 'about as likely as not')
    """
    return next(words for least, words in LIKELY if p >= least)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

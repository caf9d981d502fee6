"""Layout: scores of lists laid out by name, with what is missing and what to say about it.

A *case* is everything that is scored, whatever is asked of it: the labels and whose of them count, the facts of one
scan of the runs, and which documents are copies.  A layout knows which of its topics are scored and where each list
belongs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.facts import Facts, no_common_topic
from venire.data.judgments import Judgments
from venire.data.panel import Panel, Pool, build_panel
from venire.errors import MissingTopicsWarning, UnjudgedWarning, UnknownName
from venire.io.duplicates import Duplicates, groups_of
from venire.io.run_sources import RunsLike, as_runs
from venire.io.scanning import Progress, scan
from venire.measures.scoring import Plan
from venire.results import Note, counted
from venire.types import Bools, Floats, Ints

UNJUDGED_SHARE, UNJUDGED_DEPTH = 0.2, 10
MISSING = ("zero", "skip")


@dataclass(frozen=True, eq=False)
class Case:
    """What is scored: judgments, whose labels count, the facts of the runs, and copies (item,) or None."""

    judgments: Judgments
    panel: Panel
    facts: Facts
    group: Ints | None = None

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        runs: RunsLike,
        *,
        assessor: str | None = None,
        per: str | None = None,
        pool: str | Pool | None = None,
        duplicates: Duplicates | None = None,
        progress: Progress | None = None,
    ) -> Case:
        """Settle who judges, and scan the runs once."""
        sources = as_runs(runs)
        panel = build_panel(judgments, assessor=assessor, per=per, pool=pool)
        facts = scan(sources, judgments.items, progress=progress)
        return cls(judgments, panel, facts, None if duplicates is None else groups_of(duplicates, judgments.items))


@dataclass(frozen=True, eq=False)
class Layout:
    """Where scores go: the topics that are scored (topic,), who has labels for them, and what lists score there.

    seen (judge, every topic): whether the judge has a label; nothing (measure,): what a missing list scores.
    """

    facts: Facts
    chosen: Ints
    seen: Bools
    nothing: Floats
    topics: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, case: Case, plan: Plan, *, topics: Iterable[str] | None = None, missing: str = "zero") -> Layout:
        """Choose the topics, and say what is missing, once."""
        check_missing(missing)
        facts, panel = case.facts, case.panel
        seen = np.zeros((len(panel.judges), len(facts.items.topics)), dtype=np.bool_)
        seen[panel.judge, facts.items.topic[panel.item]] = True
        names = case.judgments.topics
        chosen, unknown = _chosen_topics(names, seen, topics)
        if len(facts.topic) and not np.isin(facts.topic, chosen).any():
            in_runs = [*(names[n] for n in np.unique(facts.topic)), *facts.unjudged_topics]
            raise no_common_topic(in_runs, (names[n] for n in chosen))
        nothing = [each.empty_score if missing == "zero" else np.nan for each in plan.measures]
        notes = _notes(case, plan, unseen=int((~seen[:, chosen]).sum()), unknown=unknown)
        _warn_missing(facts, chosen, missing)
        if not plan.unjudged_known:
            _warn_unjudged(facts, panel, chosen, min(plan.depth or UNJUDGED_DEPTH, UNJUDGED_DEPTH))
        return cls(facts, chosen, seen, np.array(nothing), tuple(names[n] for n in chosen), notes)

    def place(self, values: Floats) -> Floats:
        """Lay scores (judge, measure, list) out -> (system, topic, measure, judge); NaN where there is no score.

        One judge who has labels may stand for many that are drawn from them.
        """
        shape = (1, len(self.facts.systems), len(self.facts.items.topics))
        table = np.tile(self.nothing[:, None, None], (len(values), *shape))
        table[:, :, self.facts.system, self.facts.topic] = values
        table = np.where(self.seen[:, None, None, :], table, np.nan)
        return table[..., self.chosen].transpose(2, 3, 1, 0)


def check_missing(missing: str) -> None:
    """Refuse a rule for missing topics that there is not."""
    if missing not in MISSING:
        raise UnknownName("rule for missing topics", missing, MISSING)


def _notes(case: Case, plan: Plan, *, unseen: int, unknown: int) -> tuple[Any, ...]:
    notes: list[Any] = [*case.judgments.notes, *case.panel.notes, *dict.fromkeys(w.note for w in plan.worths if w.note)]
    if case.facts.unjudged_topics:
        notes.append(f"{counted(len(case.facts.unjudged_topics), 'topic')} of the runs not judged and ignored")
    if unknown:
        notes.append(Note("topics-not-judged", "{n:,} of the topics asked for were not judged", n=unknown))
    if unseen:
        notes.append(f"no score for {counted(unseen, 'pair')} of assessor and topic without a label")
    return tuple(notes)


def _chosen_topics(names: tuple[str, ...], seen: Bools, wanted: Iterable[str] | None) -> tuple[Ints, int]:
    """Numbers of the topics to score, judged and asked for; and how many asked for were not judged."""
    chosen = seen.any(axis=0)
    if wanted is None:
        return np.flatnonzero(chosen), 0
    asked = set(wanted)
    chosen &= np.array([name in asked for name in names], dtype=np.bool_)
    if not chosen.any():
        raise UnknownName("judged topic among", ", ".join(sorted(asked)[:3]), names)
    return np.flatnonzero(chosen), len(asked) - int(chosen.sum())


def _warn_missing(facts: Facts, chosen: Ints, missing: str) -> None:
    """Say which systems lack lists for topics that are scored."""
    there = np.zeros((len(facts.systems), len(facts.items.topics)), dtype=np.bool_)
    there[facts.system, facts.topic] = True
    lacking = (~there[:, chosen]).sum(axis=1)
    worst = np.flatnonzero(lacking)
    if len(worst):
        named = ", ".join(f"{facts.systems[n]} ({lacking[n]} of {len(chosen)})" for n in worst[:5])
        rule = "score 0; leave them out with missing='skip'" if missing == "zero" else "are left out of its means"
        more = f" and {counted(len(worst) - 5, 'more system')}" if len(worst) > 5 else ""
        message = f"topics without a list {rule}: {named}{more}"
        warnings.warn(message, MissingTopicsWarning, stacklevel=4)


def _warn_unjudged(facts: Facts, panel: Panel, chosen: Ints, k: int) -> None:
    """Say which systems have many documents among their first k that nobody judged."""
    judged = np.zeros(panel.n_items, dtype=np.bool_)
    judged[panel.item] = True
    n_systems = len(facts.systems)
    scored = np.isin(facts.topic, chosen)
    top = (facts.rank <= k) & judged[facts.item] & np.repeat(scored, facts.n_hits)
    hits = np.bincount(np.repeat(facts.system, facts.n_hits)[top], minlength=n_systems)
    reach = np.minimum(facts.depth, k) * scored
    shown = np.bincount(facts.system, weights=reach, minlength=n_systems)
    unjudged = 1 - hits / np.maximum(shown, 1)
    many = np.flatnonzero((unjudged > UNJUDGED_SHARE) & (shown > 0))
    if len(many):
        worst = many[np.argsort(-unjudged[many], kind="stable")][:3]
        named = ", ".join(f"{facts.systems[n]} {unjudged[n]:.0%}" for n in worst)
        some = f"{len(many)} of {counted(n_systems, 'system')}"
        message = f"{some} {'has' if len(many) == 1 else 'have'} over {UNJUDGED_SHARE:.0%} unjudged documents"
        warnings.warn(f"{message} among their first {k}: {named}", UnjudgedWarning, stacklevel=4)

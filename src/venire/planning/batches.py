"""A budget in batches for the goals that a half-width decides: labels, agreement and preferences.

What earlier plans asked for and got is spent; the planner of the goal makes the forecast for what is left, and draws
the next batch from what was not judged yet.  No hypothesis is tested: each look has the same intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from venire.data.asked import Asked
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.planning.earlier import earlier_rounds, keys_of, past_notes, refuse_other_plans, refuse_too_little
from venire.planning.result import JUDGE, SPENT, Plan, costs

Judged = tuple[str, frozenset[str], str]
"""Topic, documents and judge of a judgment; a label has one document, and anybody may compare two."""


def in_batches(
    planner: Callable[..., Plan],
    after: Sequence[Plan | Iterable[Asked]],
    given: Collection[Judged],
    *,
    kind: str,
    budget: float,
    batch: float | None = None,
    cost: Mapping[str, float] | None = None,
) -> Plan:
    """Plan with what is left of a budget after earlier plans, whose judgments are among those given; draw a batch."""
    rounds, price = earlier_rounds(after), costs(cost)[kind]
    refuse_other_plans(rounds, (kind,))
    refuse_too_little(price, budget=budget, batch=batch)
    done = [_judged(row) in given for each in rounds for row in each]
    spent = price * sum(done)
    left = budget - spent
    found = planner(budget=max(left, price), batch=batch, cost=cost)
    if found.state == JUDGE and left < price * (1 - 1e-9):
        found = replace(found, asked=(), forecast=(), enough=None, minutes=None, state=SPENT)
    return replace(found, budget=max(left, 0.0), notes=(*found.notes, *past_notes(spent, left, done.count(False))))


def _judged(row: Asked) -> Judged:
    return row.topic, frozenset({row.doc, row.other} - {""}), row.judge


def labelled(labels: Judgments) -> set[Judged]:
    """Return what was labelled, and by whom."""
    return {(topic, frozenset({doc}), name) for topic, doc, name in keys_of(labels)}


def compared(preferences: Preferences | None) -> set[Judged]:
    """Return which documents were compared, by anybody."""
    if preferences is None:
        return set()
    docs, topics = preferences.docs, preferences.topics
    rows = zip(*(each.tolist() for each in (preferences.topic, preferences.left, preferences.right)), strict=True)
    return {(topics[topic], frozenset({docs[left], docs[right]}), "") for topic, left, right in rows}

"""A budget in batches for the goals that a half-width decides: labels, agreement and preferences.

What earlier plans asked for and got is spent; the planner of the goal makes the forecast for what is left, and draws
the next batch from what was not judged yet.  No hypothesis is tested: each look has the same intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from venire.data.asked import Asked
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.errors import SettingError
from venire.planning.earlier import (
    SAME,
    earlier_rounds,
    keys_of,
    past_notes,
    refuse_other_plans,
    refuse_too_little,
    rows_of,
)
from venire.planning.result import JUDGE, SPENT, Plan, costs
from venire.planning.second_judgments import of_people
from venire.results import listed

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


def labelled(labels: Judgments, after: Sequence[Plan | Iterable[Asked]], *, again: bool = False) -> set[Judged]:
    """Return which second labels came back: by who was asked, or by anybody with the probability of the plan.

    Second labels by others without it are refused.  With ``again``, items may have had two labels: only who was asked
    counts.
    """
    asked: dict[tuple[str, str], list[Asked]] = {}
    for row in chain.from_iterable(rows_of(after)):
        asked.setdefault((row.topic, row.doc), []).append(row)
    people: dict[tuple[str, str], set[str]] = {}
    for topic, doc, name in keys_of(of_people(labels)):
        people.setdefault((topic, doc), set()).add(name)
    chance = np.full(len(labels), np.nan) if labels.probability is None else labels.probability
    twice = {key for key, names in people.items() if len(names) > 1 and not again}
    back = {
        (topic, doc)
        for (topic, doc, name), stated in zip(keys_of(labels), chance.tolist(), strict=True)
        for row in asked.get((topic, doc), ())
        if name == row.judge or ((topic, doc) in twice and abs(stated / row.probability - 1) <= SAME)
    }
    refuse_other_judges(people, {key: rows[-1] for key, rows in asked.items() if key in twice - back})
    return {_judged(asked[key][-1]) for key in back}


def refuse_other_judges(
    people: Mapping[tuple[str, str], Collection[str]], odd: Mapping[tuple[str, str], Asked]
) -> None:
    """Raise where somebody labelled nothing but odd items: asked for, and labelled twice, but not by who was asked."""
    elsewhere = {name for key, names in people.items() if key not in odd for name in names}
    for key, row in sorted(odd.items()):
        if not elsewhere.issuperset(people[key]):
            message = f"{row.doc!r} of topic {row.topic!r} was labelled by {listed(sorted(people[key]))}"
            raise SettingError(
                f"{message}; {row.judge!r} was asked, and the probability of the plan is not stated",
                hint=["keep the column probability of the plan with the labels", "leave out what was not asked for"],
            )


def compared(preferences: Preferences | None) -> set[Judged]:
    """Return which documents were compared, by anybody."""
    if preferences is None:
        return set()
    docs, topics = preferences.docs, preferences.topics
    rows = zip(*(each.tolist() for each in (preferences.topic, preferences.left, preferences.right)), strict=True)
    return {(topics[topic], frozenset({docs[left], docs[right]}), "") for topic, left, right in rows}

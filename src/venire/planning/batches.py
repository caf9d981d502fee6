"""A budget in batches for the goals that a half-width decides: labels, agreement and preferences.

What earlier plans asked for and got is spent; the planner of the goal makes the forecast for what is left, and draws
the next batch from what was not judged yet.  No hypothesis is tested: each look has the same intervals.
"""

from __future__ import annotations

from collections import Counter
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

    Labels that are somebody else's second ones without it are refused, unless items with two labels are asked again.
    """
    asked: dict[tuple[str, str], list[Asked]] = {}
    for row in chain.from_iterable(rows_of(after)):
        asked.setdefault((row.topic, row.doc), []).append(row)
    chance = np.full(len(labels), np.nan) if labels.probability is None else labels.probability
    back = {
        (topic, doc)
        for (topic, doc, name), stated in zip(keys_of(labels), chance.tolist(), strict=True)
        for row in asked.get((topic, doc), ())
        if name == row.judge or abs(stated / row.probability - 1) <= SAME
    }
    if not again:
        refuse_other_judges(labels, {key: rows[-1] for key, rows in asked.items() if key not in back})
    return {_judged(asked[key][-1]) for key in back}


def refuse_other_judges(labels: Judgments, missing: Mapping[tuple[str, str], Asked]) -> None:
    """Raise where somebody labelled a second time what others were asked for, and nothing else."""
    of_name: dict[str, set[tuple[str, str]]] = {}
    for topic, doc, name in keys_of(of_people(labels)) if missing else ():
        of_name.setdefault(name, set()).add((topic, doc))
    n_labels = Counter(chain.from_iterable(of_name.values()))
    for name, keys in of_name.items():
        if keys <= missing.keys() and all(n_labels[key] > 1 for key in keys):
            row = missing[min(keys)]
            message = f"{name!r} labelled only what others were asked for, as {row.doc!r} of topic {row.topic!r}"
            hint = ["keep the column probability of the plan with the labels", f"leave the labels of {name!r} out"]
            raise SettingError(f"{message}, without the probability of the plan", hint=hint)


def compared(preferences: Preferences | None) -> set[Judged]:
    """Return which documents were compared, by anybody."""
    if preferences is None:
        return set()
    docs, topics = preferences.docs, preferences.topics
    rows = zip(*(each.tolist() for each in (preferences.topic, preferences.left, preferences.right)), strict=True)
    return {(topics[topic], frozenset({docs[left], docs[right]}), "") for topic, left, right in rows}

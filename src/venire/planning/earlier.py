"""Earlier plans of a budget: what they asked for, whether the labels that came back are theirs, and what was spent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from venire.data.asked import Asked
from venire.data.judgments import Judgments
from venire.errors import SettingError, Way
from venire.planning.result import SPENT_SO_FAR, Plan
from venire.randomness import seed_of, stream
from venire.results import Note, first_few
from venire.types import Ints, RNGLike

SAME = 1e-3
"""Two probabilities that differ by a smaller share are the same, but for the digits they were written with."""


def rows_of(after: Sequence[Plan | Iterable[Asked]]) -> list[list[Asked]]:
    """Return what each earlier plan asked for."""
    return [list(each.asked if isinstance(each, Plan) else each) for each in after]


def earlier_rounds(after: Sequence[Plan | Iterable[Asked]]) -> list[list[Asked]]:
    """Return what each earlier plan asked for; what was asked again counts in the last of its rounds."""
    rounds = rows_of(after)
    last = {(row.topic, row.doc, row.other): number for number, each in enumerate(rounds) for row in each}
    return [
        [row for row in each if last[row.topic, row.doc, row.other] == number] for number, each in enumerate(rounds)
    ]


def refuse_other_plans(
    rounds: Sequence[Sequence[Asked]], kinds: Collection[str], people: Sequence[str] | None = None
) -> None:
    """Raise where an earlier plan asks for other kinds of judgments, or other people; None: anybody may be asked."""
    for number, row in ((number, row) for number, each in enumerate(rounds, start=1) for row in each):
        if row.kind not in kinds:
            raise SettingError(
                f"earlier plan {number} asks for {row.kind} judgments, so it has another goal",
                hint="name plans of this goal",
            )
        if people is not None and row.judge not in people:
            raise SettingError(
                f"earlier plan {number} asks {row.judge!r}, and the reference is {first_few(people, 4)}",
                hint=[Way("name all people whose labels count", reference="NAME")],
            )


def refuse_other_people(rounds: Sequence[Sequence[Asked]], labels: Judgments, people: Collection[str]) -> None:
    """Raise where somebody who is not of the reference labelled what was asked of it, and nothing else."""
    asked = {(row.topic, row.doc): row for each in rounds for row in each}
    for name in labels.assessors if asked else ():
        if name in people:
            continue
        rows = np.flatnonzero(labels.assessor.among(name, "assessor"))
        mine = list(keys_of(labels, rows)) if len(rows) <= len(asked) else []
        if mine and all((topic, doc) in asked for topic, doc, _ in mine):
            row = asked[mine[0][:2]]
            message = f"{name!r} labelled only what {row.judge!r} was asked for, as {row.doc!r} of topic {row.topic!r}"
            both = Way("name both, if the labels of both count", reference=f"{row.judge},{name}")
            raise SettingError(message, hint=[both, f"leave the labels of {name!r} out"])


def of_these_files(rounds: Sequence[Sequence[Asked]], labels: Judgments) -> tuple[list[list[Asked]], list[Note]]:
    """Leave out what is not among these results, with a note; raise where an earlier plan is about none of them."""
    items = labels.items
    pool = {(items.topics[topic], doc) for topic, doc in zip(items.topic, items.doc, strict=True)} if rounds else set()
    for number, each in enumerate(rounds, start=1):
        if each and pool.isdisjoint((row.topic, row.doc) for row in each):
            row = each[0]
            message = f"earlier plan {number} is of other files: {row.doc!r} of topic {row.topic!r} is not among them"
            raise SettingError(message, hint="name plans that were made for these judgments and runs")
    found = [[row for row in each if (row.topic, row.doc) in pool] for each in rounds]
    n = sum(map(len, rounds)) - sum(map(len, found))
    text = "earlier plans asked for {n:judgment} of results that are not among these, and were not answered"
    return found, [Note("plan-elsewhere", text, n=n)] if n else []


def with_probabilities(
    labels: Judgments, after: Sequence[Plan | Iterable[Asked]], people: Sequence[str] = ()
) -> Judgments:
    """Add the probabilities of earlier plans to the labels that came from them, where they are not stated.

    people: whose labels of what was asked come from the plans; none: that of who was asked
    """
    known: dict[tuple[str, str, str], list[float]] = {}
    for asked in (asked for each in rows_of(after) for asked in each):
        for name in people or (asked.judge,):
            known.setdefault((asked.topic, asked.doc, name), []).append(asked.probability)
    if not known:
        return labels
    found = np.full(len(labels), np.nan) if labels.probability is None else labels.probability.copy()
    rows = np.flatnonzero(labels.assessor.among({name for *_, name in known} & set(labels.assessors), "assessor"))
    for row, key in zip(rows.tolist(), keys_of(labels, rows), strict=True):
        chances = known.get(key)
        if chances is not None and not np.isnan(found[row]) and not np.isclose(found[row], chances, rtol=SAME).any():
            topic, doc, _ = key
            message = (
                f"{doc!r} of topic {topic!r} has the probability {found[row]:g} among the labels, and {chances[-1]:g}"
            )
            raise SettingError(f"{message} in its plan", hint="keep probabilities as they were drawn, in both files")
        if chances is not None and np.isnan(found[row]):
            found[row] = chances[-1]
    return replace(labels, probability=found)


def n_drawn(labels: Judgments) -> int:
    """Return how many labels were drawn by a design, as their probabilities say."""
    return 0 if labels.probability is None else int(np.count_nonzero(~np.isnan(labels.probability)))


def own_draws(rng: RNGLike, n: int) -> np.random.Generator:
    """Return the generator of a round that begins with n judgments that were drawn.

    With the random numbers of the round before, what a round draws would depend on what was drawn there, and the
    probabilities would not be those of the draw.
    """
    return stream(seed_of(rng), n) if n else np.random.default_rng(rng)


def keys_of(labels: Judgments, rows: Ints | slice = slice(None)) -> Iterator[tuple[str, str, str]]:
    """Yield topic, document and assessor of some labels, or all."""
    items, names = labels.items, labels.assessors
    item = labels.item[rows]
    topics = (items.topics[topic] for topic in items.topic[item].tolist())
    return zip(topics, items.doc.take(item), (names[n] for n in labels.assessor.codes[rows].tolist()), strict=True)


def unnamed_notes(labels: Judgments, rounds: Sequence[Sequence[Asked]], people: Collection[str]) -> list[Note]:
    """Say how many labels of people have a probability, and come from no earlier plan that is named."""
    asked = {(row.topic, row.doc) for each in rounds for row in each}
    known = set(people) & set(labels.assessors)
    if labels.probability is None or not known:
        return []
    rows = np.flatnonzero(labels.assessor.among(known, "assessor") & ~np.isnan(labels.probability))
    n = len({key[:2] for key in keys_of(labels, rows)} - asked)
    text = (
        "{n:label} of the reference with a probability, of no earlier plan that is named: if they were collected with "
        "this budget, name their plans too, so that they count as spent, and looks at them as looks"
    )
    return [Note("plans-unnamed", text, n=n)] if n else []


def refuse_too_little(least: float, **given: float | None) -> None:
    """Raise where a budget or a batch is no amount, or does not pay for a judgment, which costs as much on average."""
    for name, value in given.items():
        if value is not None and not 0 < value < np.inf:
            raise SettingError(f"a {name} of {value:g}", hint="expected a number above 0")
        if value is not None and value < least * (1 - 1e-9):
            message = f"a {name} of {value:g} does not pay for a judgment, which costs {least:.4g}"
            raise SettingError(message, hint=f"raise the {name}")


def past_notes(spent: float, left: float, missing: int) -> list[Note]:
    """Say what is spent, and how many judgments that were asked for are missing."""
    notes = []
    if left < -1e-9 * spent:
        text = "{spent:,.9g} is spent, and the budget of all plans together is {budget:,.9g}"
        notes.append(Note(SPENT_SO_FAR, text, spent=spent, budget=spent + left))
    elif spent:
        text = "{spent:,.9g} of the budget is spent, {left:,.9g} is left"
        notes.append(Note(SPENT_SO_FAR, text, spent=spent, left=max(left, 0.0)))
    if missing:
        text = "earlier plans asked for {n:judgment} that did not come back so far and can be drawn again"
        notes.append(Note("plan-missing", text, n=missing))
    return notes

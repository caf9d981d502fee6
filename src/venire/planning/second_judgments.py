"""Second judgments: items that one person labelled, who else may label them, and a random sample of them.

What a second label says about people depends on where results come from (Demeester et al. 2015, Section 6.1,
doi:10.1007/s10791-015-9275-x).  With runs, items are those among the first 10 results of some system; else all that are
labelled.  The sample is spread over topics: disagreement depends on the topic, and many topics with few second labels
say more than few topics with many (Section 6.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from venire.data.asked import SECOND, Asked
from venire.data.judgments import Judgments
from venire.data.panel import in_isolation
from venire.disagreement.top_results import in_top_results
from venire.errors import SettingError, Way
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import RunsLike
from venire.kernels.sampling import inclusion_probabilities, systematic
from venire.planning.earlier import refuse_too_little
from venire.planning.preferences import middle_labels
from venire.planning.result import ALL_ASKED
from venire.results import Note, first_few
from venire.types import Bools, Codes, Floats, Ints

FLOOR = 0.1
"""Least probability of an item that counts, as a share of that of a sample with equal probabilities."""


class Candidates(NamedTuple):
    """Items that may be labelled again: item, label (candidate,); labels: all those of people; judges: whom to ask."""

    labels: Judgments
    item: Ints
    label: Codes
    judges: tuple[str, ...]
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.item)

    @property
    def topic(self) -> Codes:
        """Topic of each item -> (candidate,)."""
        return self.labels.items.topic[self.item]

    def by_topic(self) -> Ints:
        """Count items by topic and label -> (topic, label)."""
        shape = len(self.labels.items.topics), len(self.labels.scale)
        return np.bincount(self.topic.astype(np.int64) * shape[1] + self.label, minlength=shape[0] * shape[1]).reshape(
            shape
        )


def candidates(
    judgments: JudgmentsLike, runs: RunsLike | None, judges: str | Sequence[str] | None, *, again: bool = False
) -> Candidates:
    """Find the items that one person labelled, and that one of the judges may label; again: all labelled items."""
    labels = _population(as_judgments(judgments), runs)
    who = _judges(labels, judges)
    people = of_people(labels)
    n_labelled = np.bincount(_distinct(people) // max(len(people.assessor.names), 1), minlength=len(people.items))
    wanted = np.flatnonzero((n_labelled > 0) if again else (n_labelled == 1))
    taken = _n_taken(labels, who)[wanted] == len(who)
    if len(wanted) and taken.all():
        raise SettingError(
            f"nobody is known who could label an item a second time: {first_few(who, 4)} labelled all of them",
            hint=[Way("name other people", judges="NAME"), Way("name other people", reference="NAME")],
        )
    template = "{n:item} cannot be asked: nobody of {judges:list} is left who did not label them"
    alone = Note("no-other-judge", template, n=int(taken.sum()), judges=who)
    item = wanted[~taken]
    notes = (*labels.notes, *([alone] if taken.any() else []))
    return Candidates(people, item, middle_labels(people)[item], who, notes)


def _population(labels: Judgments, runs: RunsLike | None) -> Judgments:
    """Choose the labels in isolation, and those of top results where there are runs."""
    alone, notes = in_isolation(labels)
    alone = replace(alone, notes=tuple(notes))
    return alone if runs is None else in_top_results(alone, runs)


def of_people(labels: Judgments) -> Judgments:
    """Leave out the labels of machines, unless there are no others."""
    person = ~np.isin(np.array(labels.assessors, dtype=object), labels.machines)[labels.assessor.codes]
    return labels.take(person) if labels.machines and person.any() else labels


def _judges(labels: Judgments, judges: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return who may be asked: those named, or else the people known."""
    if judges is None:
        return labels.people or tuple(name for name in labels.assessors if name not in labels.machines)
    names = (judges,) if isinstance(judges, str) else tuple(dict.fromkeys(judges))
    if not names or "" in names:
        raise SettingError("the people to ask have no names", hint=[Way("name them", judges="NAME")])
    return names


def _distinct(labels: Judgments) -> Ints:
    """Number each item and assessor who labelled it, once -> (cell,)."""
    return np.unique(labels.item.astype(np.int64) * len(labels.assessor.names) + labels.assessor.codes)


def _by_judges(labels: Judgments, judges: tuple[str, ...]) -> tuple[Ints, Ints]:
    """Return the labels by judges: item and number of the judge -> both (label,)."""
    number = {name: at for at, name in enumerate(judges)}
    judge = np.array([number.get(name, -1) for name in labels.assessors], dtype=np.int64)[labels.assessor.codes]
    rows = judge >= 0
    return labels.item[rows].astype(np.int64), judge[rows]


def _n_taken(labels: Judgments, judges: tuple[str, ...]) -> Ints:
    """Count the judges who labelled each item -> (item,)."""
    item, judge = _by_judges(labels, judges)
    return np.bincount(np.unique(item * len(judges) + judge) // len(judges), minlength=len(labels.items))


def _taken(labels: Judgments, judges: tuple[str, ...], items: Ints) -> Bools:
    """Whether each judge labelled an item -> (item, judge)."""
    place = np.full(len(labels.items), -1)
    place[items] = np.arange(len(items))
    item, judge = _by_judges(labels, judges)
    found = np.zeros((len(items), len(judges)), dtype=np.bool_)
    some = place[item] >= 0
    found[place[item[some]], judge[some]] = True
    return found


def sampled(found: Candidates, size: Floats, n: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Sample n items with probabilities in proportion to size (candidate,), spread over labels and their topics.

    Topics are in random order, another one for each label, so that none gets more than its share of every label.
    Returns probability and whether drawn, both (candidate,).
    """
    probability = inclusion_probabilities(size, n, least=FLOOR * n / max(int((size > 0).sum()), 1))
    n_topics, n_labels = len(found.labels.items.topics), len(found.labels.scale)
    place = rng.permuted(np.tile(np.arange(n_topics), (n_labels, 1)), axis=1)
    key = found.label.astype(np.int64) * n_topics + place[found.label, found.topic]
    return probability, systematic(probability, key, rng)


def asked(found: Candidates, probability: Floats, drawn: Bools) -> tuple[Asked, ...]:
    """List the items drawn, by topic; the judges who did not label an item are asked in turn."""
    rows = np.flatnonzero(drawn)
    free = ~_taken(found.labels, found.judges, found.item[rows])
    n_judges = len(found.judges)
    turn = (np.arange(len(rows))[:, None] + np.arange(n_judges)) % n_judges
    judge = turn[np.arange(len(rows)), np.take_along_axis(free, turn, axis=1).argmax(axis=1)]
    items, labels = found.labels.items, found.labels.scale.labels
    return tuple(
        Asked(
            items.topics[int(items.topic[item])],
            items.doc[int(item)],
            found.judges[who],
            SECOND,
            chance,
            f"second label of an item labelled {labels[level]}",
        )
        for item, who, chance, level in zip(
            found.item[rows].tolist(),
            judge.tolist(),
            probability[rows].tolist(),
            found.label[rows].tolist(),
            strict=True,
        )
    )


def affordable(price: float, available: int, notes: list[Note], *, budget: float, batch: float | None = None) -> int:
    """Return how many judgments to ask for now, at most those that can be asked; notes gets one where that is less."""
    refuse_too_little(price, budget=budget, batch=batch)
    n = int(min(budget, budget if batch is None else batch) / price * (1 + 1e-12))
    if n > available > 0:
        template = "the budget buys {n:,} judgments, and {available:,} can be asked: the plan has all of them"
        notes.append(Note(ALL_ASKED, template, n=n, available=available))
    return min(n, available)

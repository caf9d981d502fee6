"""Which questions a study asks: tasks from a pool, a plan, runs or pairs, and the designs of two papers.

Golbus et al. (2014), Sections 3.2 and 4, doi:10.1145/2566486.2568015: aspects in isolation and given the document at
another rank of the same list, by one assessor per topic, and preferences between lists.

Demeester et al. (2015), Sections 5.1, 6.1 and 6.2, doi:10.1007/s10791-015-9275-x: second labels of a sample of the
results that the evaluation looks at, by other assessors, spread over many topics.

Whatever is random depends on the seed and on names alone (``chance``): the same study gives the same tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import combinations, pairwise
from typing import NamedTuple

from venire.data.asked import PREFERENCE as ASKED_PREFERENCE, Asked
from venire.data.ids import as_text
from venire.io.runs import RunsLike, as_runs, kernel_rules, lines_of
from venire.judging.study import ASPECTS, CONDITIONAL, LABEL, LISTS, PREFERENCE
from venire.judging.tasks import Task
from venire.scan.lists import first_lines

Lists = Mapping[str, Mapping[str, tuple[str, ...]]]
"""System -> topic -> its first documents, best first."""
GOLBUS_SHARE, GOLBUS_DEPTH, GOLBUS_LIST_JUDGMENTS = 3 / 5, 10, 5
"""Share of topics whose first four documents are judged given the fifth; ranks; assessors who compare two lists."""


class Item(NamedTuple):
    """What a task is about, as a file or a run has it; line: where the file has it, None for runs."""

    topic: str
    doc: str
    given: str = ""
    other: str = ""
    probability: float | None = None
    line: int | None = None


def chance(*names: object) -> float:
    """Return a number in [0, 1) that depends on these names alone, as if it were drawn at random.

    Examples
    --------
    >>> chance(1, "ann", "q1") == chance(1, "ann", "q1"), chance(1, "ann", "q1") == chance(2, "ann", "q1")
    (True, False)
    """
    text = "\0".join(map(str, names)).encode("utf-8", "surrogateescape")
    return int.from_bytes(sha256(text).digest()[:6], "big") / 2**48


def tasks_of(items: Iterable[Item], kind: str, *, view: str, needed: int = 1) -> list[Task]:
    """Ask one question about each item; an item that comes again, as in two lists, is asked once."""
    found: dict[str, Task] = {}
    for each in items:
        task = Task(
            kind=kind,
            topic=each.topic,
            doc=each.doc,
            other=each.other,
            given=each.given,
            view=view,
            needed=needed,
            probability=each.probability,
        )
        found.setdefault(task.key, task)
    return list(found.values())


def tasks_of_plan(asked: Sequence[Asked], *, view: str) -> list[Task]:
    """Ask for what a plan lists, with its judges, probabilities and reasons."""
    return [
        Task(
            kind=PREFERENCE if each.kind == ASKED_PREFERENCE else LABEL,
            topic=each.topic,
            doc=each.doc,
            other=each.other,
            view=view,
            judge=each.judge,
            probability=each.probability,
            reason=f"{each.kind}: {each.reason}",
        )
        for each in asked
    ]


def first_ranks(runs: RunsLike, topics: Iterable[str], depth: int) -> Lists:
    """Return the first documents of each list, by score, for these topics.  O(lines log lines) for each source.

    Examples
    --------
    >>> first_ranks({"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}}, ["q1"], 2)
    {'run': {'q1': ('a', 'b')}}
    """
    sources, wanted = as_runs(runs), set(topics)
    found: dict[str, dict[str, list[str]]] = {}
    rules = kernel_rules(sources.rules)
    for source in sources.sources:
        lines = lines_of(source, rules)
        first = lines.take(first_lines(lines, depth, keep_first=rules.keep_first))
        columns = (map(as_text, each.to_bytes()) for each in (first.system, first.topic, first.doc))
        for system, topic, doc in zip(*columns, strict=True):
            if topic in wanted:
                found.setdefault(system, {}).setdefault(topic, []).append(doc)
    return {system: {topic: tuple(docs) for topic, docs in by_topic.items()} for system, by_topic in found.items()}


def pooled(lists: Lists) -> Iterator[Item]:
    """Yield the documents of all lists, each once for a topic."""
    pool = ((topic, doc) for by_topic in lists.values() for topic, docs in by_topic.items() for doc in docs)
    return (Item(topic, doc) for topic, doc in dict.fromkeys(pool))


def given_previous(lists: Lists) -> Iterator[Item]:
    """Yield each document given the one ranked just before it, as contextual measures need it (Golbus, Eq. 6)."""
    for by_topic in lists.values():
        for topic, docs in by_topic.items():
            yield from (Item(topic, doc, given=before) for before, doc in pairwise(docs))


def list_pairs(lists: Lists) -> Iterator[Item]:
    """Yield each two systems that have a list for a topic."""
    for first, second in combinations(lists, 2):
        yield from (Item(topic, first, other=second) for topic in lists[first] if topic in lists[second])


def golbus(lists: Lists, *, seed: int, view: str, n_people: int, aspects: bool) -> list[Task]:
    """Return the tasks of Golbus et al. (2014): documents in isolation and given another one, and pairs of lists.

    Section 3.2: for each topic, the documents at ranks 1 to 5 in isolation, and those at 2 to 5 given the first.  For a
    random 3/5 of the topics also ranks 1 to 4 given the fifth; for the others ranks 6 to 10 in isolation, and 7 to 10
    given the sixth.  Section 4.1: each is judged on all aspects; without ``aspects``, with one label.  Section 4.2:
    where there are two systems, five assessors (or as many as there are) compare their lists.
    """
    topics = sorted({topic for by_topic in lists.values() for topic in by_topic})
    order = sorted(topics, key=lambda topic: chance(seed, "golbus", topic))
    fifth = set(order[: round(GOLBUS_SHARE * len(order))])
    alone, given = list[Item](), list[Item]()
    for by_topic in lists.values():
        for topic, docs in by_topic.items():
            top, rest = docs[:5], docs[5:GOLBUS_DEPTH]
            alone += [Item(topic, doc) for doc in top]
            given += [Item(topic, doc, given=top[0]) for doc in top[1:]]
            if topic in fifth:
                given += [Item(topic, doc, given=top[4]) for doc in top[:4] if len(top) > 4]
            else:
                alone += [Item(topic, doc) for doc in rest]
                given += [Item(topic, doc, given=rest[0]) for doc in rest[1:]]
    kinds = (ASPECTS, ASPECTS) if aspects else (LABEL, CONDITIONAL)
    labels = tasks_of(alone, kinds[0], view=view) + tasks_of(given, kinds[1], view=view)
    compared = min(GOLBUS_LIST_JUDGMENTS, n_people)
    return labels + tasks_of(list_pairs(lists), LISTS, view=view, needed=compared)


def with_second(
    tasks: Sequence[Task],
    *,
    seed: int,
    share: float,
    per_topic: int | None = None,
    among: Iterable[tuple[str, str]] | None = None,
) -> list[Task]:
    """Let one more person answer a random sample of the tasks, spread over the topics (Demeester et al., Section 6.2).

    Of the tasks of each topic a share is drawn, rounded up or down at random, so that each has this probability.
    per_topic: at most so many of a topic
    among: (topic, doc) to draw from, those that the evaluation looks at (Section 6.1); all if None
    """
    wanted = None if among is None else set(among)
    eligible = [task for task in tasks if wanted is None or (task.topic, task.doc) in wanted]
    by_topic: dict[str, list[Task]] = {}
    for task in sorted(eligible, key=lambda task: chance(seed, "second", task.key)):
        by_topic.setdefault(task.topic, []).append(task)
    drawn: set[str] = set()
    for topic, group in by_topic.items():
        exact = share * len(group)
        n = int(exact) + (chance(seed, "second", topic) < exact - int(exact))
        drawn.update(task.key for task in group[: n if per_topic is None else min(n, per_topic)])
    return [replace(task, needed=task.needed + 1) if task.key in drawn else task for task in tasks]


def by_item(task: Task) -> Hashable:
    """Tasks on one document of a topic go to the same people, so that a label is compared with their own."""
    return task.topic, task.doc


def by_topic(task: Task) -> Hashable:
    """All tasks of a topic go to the same people."""
    return task.topic


def fixed(
    tasks: Sequence[Task],
    people: Sequence[str],
    *,
    seed: int,
    together: Callable[[Task], Hashable] = by_item,
) -> list[Task]:
    """Fix who answers: each task becomes one for each of its judges.  Machines answer all of them whoever judges.

    Tasks that stay together go to the people who have the fewest tasks when the first of them comes, so that nobody has
    more than another by more than such a group has, where groups are not mixed.  Tasks that are added at the end leave
    the others with those who have them.  ``needed`` of a task says how many people; without people, tasks stay as they
    are.
    """
    if not people:
        return list(tasks)
    load: Counter[str] = Counter(dict.fromkeys(people, 0))
    judges: dict[Hashable, list[str]] = {}
    spread = []
    for task in tasks:
        key = together(task)
        if key not in judges:
            judges[key] = sorted(people, key=lambda name: (load[name], chance(seed, "fixed", key, name)))
        names = judges[key][: task.needed]
        load.update(names)
        spread += [replace(task, judge=name, needed=1) for name in names]
    return spread

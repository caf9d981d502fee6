"""ListFacts: what scores, warnings and notes of an evaluation need to know of ranked lists; without their hits.

They are the small facts of ``evaluate`` (``venire.engine.seam``): their size is that of the scores.  Facts of several
parts, each with its own topics, systems and judges, merge into those of all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.data.ids import in_natural_order
from venire.data.panel import Panel
from venire.data.runs import Facts
from venire.engine.seam import added_notes, places, united
from venire.errors import MissingTopicsWarning
from venire.measures.scores import nothing_returned
from venire.results import Note
from venire.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class ListFacts:
    """Lists by system and topic, and who judged the topics.

    system, topic, depth, top (list,): top counts the judged documents among the first k.  labels (topic, label): how
    many labels of each level count.  seen (judge, topic): whether the judge has a label.  values (judge, measure,
    list): the scores; no measure where they are not computed.  silent: as in ``Facts``.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    judges: tuple[str | None, ...]
    system: Codes
    topic: Codes
    depth: Ints
    top: Ints
    labels: Ints
    seen: Bools
    values: Floats
    unjudged_topics: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    silent: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: Facts, panel: Panel, n_labels: int, k: int) -> ListFacts:
        """Summarise lists and labels, without scores."""
        n_topics, of_label = len(facts.items.topics), facts.items.topic[panel.item]
        seen = np.zeros((len(panel.judges), n_topics), dtype=np.bool_)
        seen[panel.judge, of_label] = True
        cell = of_label.astype(np.int64) * n_labels + panel.label
        judged = np.zeros(max(panel.n_items, int(facts.item.max(initial=0)) + 1), dtype=np.bool_)
        judged[panel.item] = True
        return cls(
            systems=facts.systems,
            topics=tuple(facts.items.topics),
            judges=panel.judges,
            system=facts.system,
            topic=facts.topic,
            depth=facts.depth,
            top=facts.documents(judged, depth=k),
            labels=np.bincount(cell, minlength=n_topics * n_labels).reshape(n_topics, n_labels),
            seen=seen,
            values=np.zeros((len(panel.judges), 0, len(facts.depth))),
            unjudged_topics=facts.unjudged_topics,
            notes=panel.notes,
            silent=facts.silent,
        )


def systems_with_results(lists: Facts | ListFacts, topics: Ints) -> Ints:
    """Return the numbers of the systems that returned something for one of some topics, ascending."""
    return np.unique(lists.system[np.isin(lists.topic, topics) & (lists.depth > 0)])


def silent_systems(lists: Facts | ListFacts, topics: Ints) -> tuple[str, ...]:
    """Return the names of the others; those that were left out before are not among them."""
    names = np.delete(np.array(lists.systems, dtype=object), systems_with_results(lists, topics))
    return tuple(names.tolist())


def with_results(facts: Facts, topics: Ints) -> Facts:
    """Leave out the systems that returned nothing for any of some topics, with a warning; they are ``Facts.silent``."""
    silent = silent_systems(facts, topics)
    if not silent:
        return facts
    warn_of_silent(silent, len(topics))
    return replace(facts.of_systems(systems_with_results(facts, topics)), silent=(*facts.silent, *silent))


def warn_of_silent(silent: Sequence[str], n_topics: int) -> None:
    """Warn of systems that returned nothing for the topics that are scored."""
    if silent:
        warnings.warn(nothing_returned(silent, n_topics), MissingTopicsWarning, stacklevel=5)


def merged_lists(parts: Sequence[ListFacts]) -> ListFacts:
    """Merge facts of parts with different lists; systems and judges in the order of their names, unless all agree."""
    if len(parts) == 1:
        return parts[0]
    systems, judges = united(each.systems for each in parts), united((each.judges for each in parts), _by_name)
    topics = united((each.topics for each in parts), in_natural_order)
    lists: dict[str, Any] = {
        "system": _renumbered([(each.system, each.systems) for each in parts], systems),
        "topic": _renumbered([(each.topic, each.topics) for each in parts], topics),
        "depth": np.concatenate([each.depth for each in parts]),
        "top": np.concatenate([each.top for each in parts]),
    }
    order = np.lexsort((lists["system"], lists["topic"]))
    place = np.argsort(order)
    n_labels, n_measures = max(each.labels.shape[1] for each in parts), parts[0].values.shape[1]
    labels = np.zeros((len(topics), n_labels), dtype=np.int64)
    seen = np.zeros((len(judges), len(topics)), dtype=np.bool_)
    values, before = np.full((len(judges), n_measures, len(order)), np.nan), 0
    for each in parts:
        topic, judge, after = places(each.topics, topics), places(each.judges, judges), before + len(each.depth)
        labels[topic, : each.labels.shape[1]] = np.maximum(labels[topic, : each.labels.shape[1]], each.labels)
        seen[np.ix_(judge, topic)] |= each.seen
        values[np.ix_(judge, np.arange(n_measures), place[before:after])] = each.values
        before = after
    return replace(
        parts[0],
        systems=systems,
        topics=topics,
        judges=judges,
        labels=labels,
        seen=seen,
        values=values,
        unjudged_topics=united(each.unjudged_topics for each in parts),
        notes=added_notes(note for each in parts for note in each.notes),
        **{name: column[order] for name, column in lists.items()},
    )


def _renumbered(columns: Iterable[tuple[Codes, Sequence[str]]], names: Sequence[str]) -> Codes:
    """Concatenate columns of codes into names of their own, as codes into all names."""
    return np.concatenate([places(own, names)[codes] if len(codes) else codes for codes, own in columns])


def _by_name(judges: Iterable[str | None]) -> list[str | None]:
    return sorted(judges, key=lambda name: (name is not None, name or ""))

"""Intents: judgments of a document for each of several meanings of a query.

Demeester et al. (2015), Section 5.2.3: where an assessor found none of the intents met (the intent ``0``), that is a
judgment of non-relevance for every intent of the topic.  Disagreement is then read over all intents, each pair of query
and intent an information need of its own, or over the most probable intent of each query alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.errors import AmbiguousLabels, UnknownName
from venire.types import Bools, Ints

NONE_MET = "0"


def explicit_intents(judgments: Judgments, *, none_met: str = NONE_MET) -> Judgments:
    """Turn each label for no intent into the lowest label for every intent of its topic.  O(rows + rows added)."""
    intent = _intent(judgments)
    names = list(intent.names)
    if none_met not in names:
        return judgments
    nothing = intent.codes == names.index(none_met)
    topic = judgments.items.topic[judgments.item]
    n_intents = len(names)
    known = np.unique(topic[~nothing].astype(np.int64) * n_intents + intent.codes[~nothing])
    count = np.bincount(known // n_intents, minlength=len(judgments.items.topics))
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(count)])
    rows = np.flatnonzero(nothing)
    copies = count[topic[rows]]
    source = np.repeat(rows, copies)
    within = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies)
    added = known[start[topic[source]] + within] % n_intents
    return _with_rows(judgments, np.flatnonzero(~nothing), source, added.astype(np.int32))


def _with_rows(judgments: Judgments, kept: Ints, source: Ints, intent: Ints) -> Judgments:
    """Keep some rows, and add copies of others with the lowest label and an intent of their own."""
    whole = judgments.take(np.concatenate([kept, source]))
    old = judgments.facets["intent"]
    codes = np.concatenate([old.codes[kept], intent])
    label = whole.label.copy()
    label[len(kept) :] = 0
    facets = {**whole.facets, "intent": Category(codes.astype(np.int32), old.names)}
    return replace(whole, label=label, facets=facets)


def top_intents(judgments: Judgments, probability: Mapping[tuple[str, str], float]) -> Judgments:
    """Choose the labels for the most probable intent of each topic; probability: of (topic, intent)."""
    intent = _intent(judgments)
    best: dict[str, str] = {}
    for topic, name in probability:
        if topic not in best or probability[topic, name] > probability[topic, best[topic]]:
            best[topic] = name
    missing = [topic for topic in judgments.topics if topic not in best]
    if missing:
        raise UnknownName("topic with probabilities of intents", missing[0], best)
    names = list(intent.names)
    wanted = np.array([names.index(best[topic]) if best[topic] in names else -1 for topic in judgments.topics])
    chosen: Bools = intent.codes == wanted[judgments.items.topic[judgments.item]]
    return judgments.take(chosen)


def _intent(judgments: Judgments) -> Category:
    if "intent" not in judgments.facets:
        raise AmbiguousLabels(
            "these judgments have no intents",
            hint='name the column intent, or read the second column of qrels with second_column="intent"',
        )
    return judgments.facets["intent"]

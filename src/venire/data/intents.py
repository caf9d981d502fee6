"""Intents: judgments of a document for each of several meanings of a query.

Demeester et al. (2015), Section 5.2.3: where an assessor found none of the intents met (the intent ``0``), that is a
judgment of non-relevance for every intent of the topic.  Disagreement is then estimated over all intents, each pair of
query and intent being an information need, or over the most probable intent of each query.  A topic that has no
other intent than ``0`` (a navigational query) is one information need, and its labels stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Judgments
from venire.errors import AmbiguousLabels, UnknownName
from venire.results import Note
from venire.types import Bools, Ints

NONE_MET = "0"


def explicit_intents(judgments: Judgments, *, none_met: str = NONE_MET) -> Judgments:
    """Replace each label for no intent by the lowest label for every intent of its topic.  O(rows + rows added)."""
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
    replaced = nothing & (count[topic] > 0)
    _refuse_relevant_to_none(judgments, replaced, none_met)
    rows = np.flatnonzero(replaced)
    copies = count[topic[rows]]
    source = np.repeat(rows, copies)
    within = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies)
    added = known[start[topic[source]] + within] % n_intents
    return _with_rows(judgments, np.flatnonzero(~replaced), source, added.astype(np.int32))


def _refuse_relevant_to_none(judgments: Judgments, replaced: Bools, none_met: str) -> None:
    """Raise where a document meets no intent but has a relevant label."""
    if not judgments.scale.ordered and replaced.any():
        raise AmbiguousLabels(
            f"the labels {judgments.scale} have no order, so none of them says that the intents of a topic are not met",
            hint=f"leave the labels for the intent {none_met!r} out, or declare an ordered scale",
        )
    wrong = np.flatnonzero(replaced & (judgments.label > 0))
    if len(wrong):
        item, label = int(judgments.item[wrong[0]]), judgments.scale.labels[int(judgments.label[wrong[0]])]
        raise AmbiguousLabels(
            f"document {judgments.items.doc[item]!r} has the label {label!r} for the intent {none_met!r} of topic "
            f"{judgments.items.topics[int(judgments.items.topic[item])]!r}, which means that it meets no intent",
            hint=f"expected {judgments.scale.labels[0]!r} there; call the intent something else if it is one",
        )


def _with_rows(judgments: Judgments, kept: Ints, source: Ints, intent: Ints) -> Judgments:
    """Keep some rows, and add copies of others with the lowest label and another intent."""
    whole = judgments.take(np.concatenate([kept, source]))
    old = judgments.facets["intent"]
    codes = np.concatenate([old.codes[kept], intent])
    label = whole.label.copy()
    label[len(kept) :] = 0
    facets = {**whole.facets, "intent": Category(codes.astype(np.int32), old.names)}
    return replace(whole, label=label, facets=facets)


def top_intents(judgments: Judgments, probability: Mapping[tuple[str, str], float]) -> Judgments:
    """Choose the labels for the most probable intent of each topic (the first of equals); by (topic, intent)."""
    intent = _intent(judgments)
    best: dict[str, str] = {}
    for topic, name in probability:
        if topic not in best or probability[topic, name] > probability[topic, best[topic]]:
            best[topic] = name
    topic_of, names = judgments.items.topic[judgments.item], list(intent.names)
    judged = [judgments.items.topics[code] for code in np.unique(topic_of).tolist()]
    missing = [topic for topic in judged if topic not in best]
    if missing:
        raise UnknownName("topic with probabilities of intents", missing[0], best)
    code = {name: number for number, name in enumerate(names)}
    wanted = np.array([code.get(best.get(topic, ""), -1) for topic in judgments.topics])
    chosen: Bools = intent.codes == wanted[topic_of]
    present = set(np.unique(topic_of[chosen]).tolist())
    numbered = zip(judged, np.unique(topic_of).tolist(), strict=True)
    without = [topic for topic, number in numbered if number not in present]
    note = Note("topics-without-intent", "no label for the most probable intent of topics {names:list}", names=without)
    return replace(judgments.take(chosen), notes=(*judgments.notes, *([note] if without else [])))


def _intent(judgments: Judgments) -> Category:
    if "intent" not in judgments.facets:
        message = "these judgments have no intents"
        raise AmbiguousLabels(message, hint="name the column intent, or read the second column of qrels as intents")
    return judgments.facets["intent"]

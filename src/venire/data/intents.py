"""Intents: judgments of a document for each of several meanings of a query.

Demeester et al. (2015), Section 5.2.3: where an assessor found none of the intents met (the intent ``0``), that is a
judgment of non-relevance for every intent of the topic.  If an assessor labelled a document for ``0`` and for another
intent, ``0`` is an intent like others.  Disagreement is then estimated over all intents, each pair of query and intent
being an information need, or over the most probable intent of each query.  A topic that has no other intent than ``0``
(a navigational query) is one information need, and its labels stay as they are.

Measures by intent score a ranking of documents by labels for intents.  For them, what is judged (an *item*) is a
document for one intent (``by_intent``): assessors, pools and models of judges then treat it as they treat documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from venire.data.ids import Category
from venire.data.judgments import Intents, Items, Judgments
from venire.errors import AmbiguousLabels, MeasureError, UnknownName
from venire.kernels.ragged import copied
from venire.results import Note
from venire.types import Bools, Codes, Floats, Ints

NONE_MET = "0"
Probabilities = Mapping[tuple[str, str], float]
"""The probability of an intent, or the weight of a nugget, by topic and intent."""


def explicit_intents(judgments: Judgments, *, none_met: str = NONE_MET) -> Judgments:
    """Replace each label for no intent by the lowest label for every intent of its topic.

    Nothing is replaced where an assessor labelled a document for ``none_met`` and for another intent: intents are then
    numbered from 0.  Cost: O(rows log rows + rows added).
    """
    intent = _intent(judgments)
    names = list(intent.names)
    if none_met not in names:
        return judgments
    nothing = intent.codes == names.index(none_met)
    labelled = judgments.assessor.codes.astype(np.int64) * len(judgments.items) + judgments.item
    if np.isin(labelled[nothing], labelled[~nothing]).any():
        return judgments
    topic = judgments.items.topic[judgments.item]
    n_intents = len(names)
    known = np.unique(topic[~nothing].astype(np.int64) * n_intents + intent.codes[~nothing])
    count = np.bincount(known // n_intents, minlength=len(judgments.items.topics))
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(count)])
    replaced = nothing & (count[topic] > 0)
    _refuse_relevant_to_none(judgments, replaced, none_met)
    rows = np.flatnonzero(replaced)
    row, within = copied(count[topic[rows]])
    source = rows[row]
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


def top_intents(judgments: Judgments, probability: Probabilities) -> Judgments:
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


def by_intent(judgments: Judgments, probability: Probabilities | None = None) -> Judgments:
    """Make an item of each document and intent, for measures by intent.

    probability: how probable each intent is, by (topic, intent); None: all alike.  Labels for the intent ``0`` are
    labels of non-relevance for every intent, unless one of them is relevant, or beside a label for another intent.
    Cost: O(rows log rows).

    Examples
    --------
    >>> from venire.io.rows import Rows, assemble
    >>> columns = (Category.of(each) for each in (["q"] * 3, ["d", "d", "e"], ["ann"] * 3, ["1", "0", "1"]))
    >>> rows = Rows("example", *columns, np.arange(3), {"intent": Category.of(["a", "b", "a"])})
    >>> found = by_intent(assemble([rows]))
    >>> list(found.items.doc), found.items.intents.need.tolist()
    (['d', 'd', 'e'], [0, 1, 0])
    """
    if judgments.items.intents is not None and probability is None:
        return judgments
    _intent(judgments)
    judgments = _none_met_spelled_out(judgments)
    intent, items = judgments.facets["intent"], judgments.items
    if items.intents is not None:
        judgments = replace(judgments, items=items.intents.documents, item=items.intents.document[judgments.item])
        items = judgments.items
    n_intents = len(intent.names)
    found, item = np.unique(judgments.item.astype(np.int64) * n_intents + intent.codes, return_inverse=True)
    document = (found // n_intents).astype(np.int32)
    needs, need = np.unique(items.topic[document].astype(np.int64) * n_intents + found % n_intents, return_inverse=True)
    topic = (needs // n_intents).astype(np.int32)
    weight = _weights(topic, needs % n_intents, judgments, probability)
    asked = Intents(items, document, need.astype(np.int32), topic, weight)
    questions = Items(items.topics, items.topic[document], items.doc.take(document), asked)
    return replace(judgments, items=questions, item=item.astype(np.int32))


def _none_met_spelled_out(judgments: Judgments) -> Judgments:
    intent = judgments.facets["intent"]
    names = list(intent.names)
    relevant = NONE_MET in names and (judgments.label[intent.codes == names.index(NONE_MET)] > 0).any()
    return judgments if relevant or not judgments.scale.ordered else explicit_intents(judgments)


def _weights(topic: Codes, intent: Ints, judgments: Judgments, probability: Probabilities | None) -> Floats:
    """Weight of each need (need,); a need without a probability is an error."""
    if probability is None:
        return np.ones(len(topic))
    topics, intents = list(judgments.items.topics), list(judgments.facets["intent"].names)
    pairs = [(topics[t], intents[i]) for t, i in zip(topic.tolist(), intent.tolist(), strict=True)]
    if missing := [pair for pair in pairs if pair not in probability]:
        raise MeasureError(
            f"there is no probability for intent {missing[0][1]!r} of topic {missing[0][0]!r}",
            hint="state one for every intent that was judged, or none at all to weight them alike",
        )
    weight = np.array([probability[pair] for pair in pairs], dtype=np.float64)
    if not (np.isfinite(weight) & (weight >= 0)).all():
        wrong = pairs[int(np.argmin(np.isfinite(weight) & (weight >= 0)))]
        raise MeasureError(f"the probability of intent {wrong[1]!r} of topic {wrong[0]!r} is not a number from 0 on")
    return weight


def _intent(judgments: Judgments) -> Category:
    if "intent" not in judgments.facets:
        message = "these judgments have no intents"
        raise AmbiguousLabels(message, hint="name the column intent, or read the second column of qrels as intents")
    return judgments.facets["intent"]

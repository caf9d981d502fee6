"""Judgments: one long table of labels, by any number of assessors.

A row is one label: which *item* (a document for a topic, numbered), which assessor, which level of the scale, and,
where the data have them, its facets: ``intent``, ``aspect``, ``given`` (the document read just
before), ``unit`` (snippet or page), ``task``; a time; and the probability with which the item was chosen for this
label.  Nothing is pooled: two labels by one assessor for one item are two rows.  Memory is linear in the rows; there is
never an assessor x item matrix.

Who is a person and who a machine is declared, by the file or by the user, and never guessed: ``reference`` names the
assessors whose labels count as the truth that others are compared with, ``machines`` those who are programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from venire.data.ids import Category, Ids, count_codes, natural_order, numbered_within
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, SettingError, UnknownName, Way
from venire.results import Note, Records, Tabular, counted
from venire.scan.codes import gather, homes
from venire.scan.lookup import build_index, find
from venire.scan.names import names_in_groups, ordered_rows
from venire.scan.slices import Slices, bytewise_order, hashes
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

FACETS = ("intent", "aspect", "given", "unit", "task")


@dataclass(frozen=True, eq=False)
class Intents:
    """Which intent each item is judged for: document (item,) into ``documents``, need (item,).

    A *need* is an intent of a topic: topic, weight (need,); by topic.  The items of a document are neighbours.
    """

    documents: Items
    document: Codes
    need: Codes
    topic: Codes
    weight: Floats


@dataclass(frozen=True, eq=False)
class Undrawn:
    """Items of a sampled pool that were not drawn for an assessor: item, assessor, probability (row,); by item.

    probability: with which they would have been drawn.  strata: whether items of a topic, with those that were drawn
    for the same assessor, have several probabilities.
    """

    item: Codes
    assessor: Category
    probability: Floats
    strata: bool

    def of_items(self, some: slice) -> Undrawn:
        """Return the rows of some items, numbered from the first of them."""
        rows = slice(*np.searchsorted(self.item, [some.start, some.stop]).tolist())
        who = Category(self.assessor.codes[rows], self.assessor.names)
        return replace(self, item=self.item[rows] - some.start, assessor=who, probability=self.probability[rows])


@dataclass(frozen=True, eq=False)
class Items:
    """What is judged: topic (item,) into ``topics``, and the document; sorted by topic, then document.

    intents: where an item is a document for one intent of its topic (``intents.by_intent``); else None.  undrawn: where
    judgments have probabilities; else None.
    """

    topics: Ids
    topic: Codes
    doc: Ids
    intents: Intents | None = None
    undrawn: Undrawn | None = None

    def __len__(self) -> int:
        return len(self.topic)

    def of_topics(self, first: int, last: int) -> tuple[slice, Items]:
        """Return which items topics first..last-1 have, and these items alone; names are not copied."""
        some = slice(*np.searchsorted(self.topic, [first, last]).tolist())
        topics, docs = (
            Ids(Slices(names.slices.buffer, names.slices.start[part], names.slices.end[part]))
            for names, part in ((self.topics, slice(first, last)), (self.doc, some))
        )
        undrawn = None if self.undrawn is None else self.undrawn.of_items(some)
        return some, Items(topics, self.topic[some] - np.int32(first), docs, undrawn=undrawn)

    def numbers_of(self, topics: Ids, topic: Codes, docs: Slices) -> Ints:
        """Number documents by name, -1 for unknown ones; topic (row,) into topics, docs (row,) -> (row,).

        Cost: O(items + rows).
        """
        if self.intents is not None:
            message = "items are documents for intents, and documents are named without one"
            raise AmbiguousLabels(message, hint=[Way("choose one", where="intent=NAME")])
        place = {name: number for number, name in enumerate(self.topics)}
        code = np.array([place.get(name, -1) for name in topics], dtype=np.int32)
        group = code[topic] if len(code) else np.zeros(0, dtype=np.int32)
        found = find(build_index(self.topic, self.doc.slices), group, docs, hashes(docs))
        return np.where(group >= 0, found, -1).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Judgments(Tabular):
    """Labels in long form: item, assessor and label (a level of the scale) are all (row,).

    dropped: how many rows were left out on reading because they repeat others (``rows.assemble``), by reason.
    reference, machines: assessors declared as such, all among ``assessors`` (``declare``).
    prompts: hashes of the prompts of assessors, where they are stated.
    probability: (row,) with which the item was chosen to get this label; NaN where it is not known.
    """

    scale: Scale
    items: Items
    item: Codes
    assessor: Category
    label: Codes
    facets: Mapping[str, Category] = field(default_factory=dict)
    time: Floats | None = None
    notes: tuple[Note, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    reference: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    probability: Floats | None = None

    def __len__(self) -> int:
        return len(self.item)

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics."""
        return tuple(self.items.topics)

    @property
    def assessors(self) -> tuple[str, ...]:
        """Names of the assessors."""
        return tuple(self.assessor.names)

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the assessors known to be people: the reference, and where machines are declared, all others.

        None if nothing is declared.
        """
        others = [name for name in self.assessors if name not in self.machines] if self.machines else []
        return tuple(dict.fromkeys([*self.reference, *others]))

    def declare(
        self, *, reference: str | Sequence[str] | None = None, machines: str | Sequence[str] | None = None
    ) -> Judgments:
        r"""Declare which assessors are the reference, and which are machines; None leaves what was declared before.

        Examples
        --------
        >>> from venire.io import read_grid
        >>> labels = read_grid("2 1 0\n2 2 0\n1 1 0", assessors=["ann", "bob", "llm"])
        >>> labels.declare(machines="llm").people
        ('ann', 'bob')
        >>> labels.declare(reference="ann").people
        ('ann',)
        """
        people = self.reference if reference is None else self._known_assessors(reference)
        programs = self.machines if machines is None else self._known_assessors(machines)
        if both := [name for name in people if name in programs]:
            raise SettingError(
                f"assessor {both[0]!r} is declared as the reference and as a machine",
                hint="declare it as one of them; a declaration in the file is replaced by naming all machines, or the "
                "whole reference",
            )
        return replace(self, reference=people, machines=programs)

    def _known_assessors(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Return names of assessors, each once; raise if one is unknown."""
        wanted = dict.fromkeys([names] if isinstance(names, str) else names)
        for name in wanted:
            self.assessor.code_of(name, "assessor")
        return tuple(wanted)

    def label_counts(self) -> Ints:
        """Count the labels of each item -> (item, label).  O(rows + items x labels)."""
        n_labels = len(self.scale)
        cell = self.item.astype(np.int64) * n_labels + self.label
        return np.bincount(cell, minlength=len(self.items) * n_labels).reshape(-1, n_labels)

    def take(self, rows: Ints | Bools) -> Judgments:
        """Choose rows; items keep their numbers.  Labels of one aspect alone come on that aspect's own scale."""
        facets = {name: column.take(rows) for name, column in self.facets.items()}
        scale, label = self._own_scale(facets, gather(self.label, rows))
        chosen = replace(
            self,
            scale=scale,
            item=gather(self.item, rows),
            label=label,
            facets=facets,
            time=None if self.time is None else gather(self.time, rows),
            probability=None if self.probability is None else gather(self.probability, rows),
        )
        return chosen.with_assessors(self.assessor.take(rows))

    def with_assessors(self, assessor: Category) -> Judgments:
        """Replace the assessors (row,); declarations hold for those who remain."""
        if not (self.reference or self.machines or self.prompts):
            return replace(self, assessor=assessor)
        names = set(assessor.names)
        kept = (tuple(name for name in each if name in names) for each in (self.reference, self.machines))
        reference, machines = kept
        prompts = {name: text for name, text in self.prompts.items() if name in names}
        return replace(self, assessor=assessor, reference=reference, machines=machines, prompts=prompts)

    def _own_scale(self, facets: Mapping[str, Category], label: Codes) -> tuple[Scale, Codes]:
        """Put labels on the scale of their aspect, if they are all for one that has its own."""
        aspects = list(facets["aspect"].names) if "aspect" in facets and self.scale.aspects else []
        own = dict(self.scale.aspects).get(aspects[0]) if len(aspects) == 1 else None
        return (self.scale, label) if own is None else (own, own.levels_from(self.scale)[label])

    def by_item(self) -> Judgments:
        """Return the rows in the order of their items, as reading leaves them."""
        in_order = bool((self.item[1:] >= self.item[:-1]).all())
        return self if in_order else self.take(np.argsort(self.item, kind="stable"))

    def of_topics(self, first: int, last: int) -> Judgments:
        """Return the labels for topics first..last-1 on these items alone; rows are ``by_item``.  Nothing is copied.

        All assessors keep their places, those without a label too.
        """
        some, items = self.items.of_topics(first, last)
        rows = slice(*np.searchsorted(self.item, [some.start, some.stop]).tolist())
        return replace(
            self,
            items=items,
            item=self.item[rows] - self.item.dtype.type(some.start),
            assessor=Category(self.assessor.codes[rows], self.assessor.names),
            label=self.label[rows],
            facets={name: Category(each.codes[rows], each.names) for name, each in self.facets.items()},
            time=None if self.time is None else self.time[rows],
            probability=None if self.probability is None else self.probability[rows],
        )

    def on_scale(self, scale: Scale) -> Judgments:
        """Express the same labels on another scale, which must have all that occur."""
        levels = scale.levels_from(self.scale)
        for level in np.unique(self.label[levels[self.label] < 0]).tolist():
            scale.level_of(self.scale.labels[level])
        return self if scale is self.scale else replace(self, scale=scale, label=levels[self.label])

    def where(self, **names: str | Iterable[str]) -> Judgments:
        """Choose the rows with these names: ``where(assessor="nist", aspect=["trust", "rel"])``."""
        rows = np.ones(len(self), dtype=np.bool_)
        for column, wanted in names.items():
            rows &= self.column(column).among(wanted, column)
        return self.take(rows)

    def require_one(self, *facets: str, reason: str = "nothing says which counts") -> None:
        """Raise where labels are for several values of one of these facets."""
        for name in (name for name in facets if name in self.facets):
            values = list(self.facets[name].names)
            if len(values) > 1:
                shown = ", ".join(repr(value) for value in values[:5])
                message = f"the labels are for {len(values)} different values of {name} ({shown}), and {reason}"
                hint = [Way("choose one", where=f"{name}={'' if '' in values else values[-1]}")]
                raise AmbiguousLabels(message, hint=hint)

    def labelled(self, *, at_least: int) -> Judgments:
        """Choose the rows of items that have at least this many labels."""
        enough = np.bincount(self.item, minlength=len(self.items)) >= at_least
        return self.take(enough[self.item])

    def anonymous(self) -> Judgments:
        """Take every label as that of a different person: assessors are 1, 2, ... for the labels of an item.

        For crowds whose workers are not known, or whose repeated labels are to count as opinions of others.
        """
        return replace(self, assessor=numbered_within(self.item), reference=(), machines=(), prompts={})

    def column(self, name: str) -> Category:
        """Return a column by name: topic, doc, assessor, label, or a facet."""
        if name == "topic":
            return Category(self.items.topic[self.item], self.items.topics)
        if name == "doc":
            return Category(self.item, self.items.doc)
        if name == "assessor":
            return self.assessor
        if name == "label":
            return Category(self.label, Ids.of(self.scale.labels))
        if name not in self.facets:
            raise UnknownName("column", name, ["topic", "doc", "assessor", "label", *self.facets])
        return self.facets[name]

    def summary(self) -> Summary:
        """Count topics, items and labels."""
        n_labels, n_assessors = len(self.scale), len(self.assessor.names)
        cell = self.assessor.codes.astype(np.int64) * n_labels + self.label
        labels = np.bincount(cell, minlength=n_assessors * n_labels).reshape(n_assessors, n_labels)
        times, count = np.unique(self._labels_per_question(), return_counts=True)
        judged = count_codes(self.item, len(self.items)) > 0
        return Summary(
            scale=self.scale,
            n_labels=len(self),
            n_topics=len(np.unique(self.items.topic[judged])),
            n_items=int(judged.sum()),
            items_with=dict(zip(times.tolist(), count.tolist(), strict=True)),
            labels=dict(zip(self.assessors, labels, strict=True)),
        )

    def _labels_per_question(self) -> Ints:
        """Number of labels of each item, separately for each aspect, intent and so on -> (question,)."""
        if not self.facets:
            count = count_codes(self.item, len(self.items))
            return count[count > 0]
        asked = self.item.astype(np.int64)
        for facet in self.facets.values():
            asked = asked * max(len(facet.names), 1) + facet.codes
        return np.unique(asked, return_counts=True)[1]

    def to_polars(self) -> pl.DataFrame:
        """Return the long table, names and labels as text."""
        import polars as pl

        names = ("topic", "doc", "assessor", "label", *self.facets)
        columns: dict[str, object] = {name: self.column(name).texts() for name in names}
        if self.time is not None:
            columns["time"] = self.time
        if self.probability is not None:
            columns["probability"] = self.probability
        return pl.DataFrame(columns)

    def sentence(self) -> str:
        """Return the counts in one line."""
        return self.summary().sentence()

    def records(self) -> Records:
        """Return one row per label, names and labels as text."""
        return self.to_polars().fill_nan(None).to_dicts()

    def _first(self, most: int) -> tuple[Records, int]:
        return self.take(np.arange(min(most, len(self)))).records(), len(self)

    def __repr__(self) -> str:
        return f"<Judgments: {self.sentence()}>"


def is_conditional(judgments: Judgments) -> Bools:
    """Mark the labels that were given after another document -> (row,)."""
    given = judgments.facets.get("given")
    if given is None:
        return np.zeros(len(judgments), dtype=np.bool_)
    named: Bools = given.names.slices.end > given.names.slices.start
    return named[given.codes] if len(named) else np.zeros(len(judgments), dtype=np.bool_)


def given_items(judgments: Judgments) -> Ints:
    """Number the document read before among the items: -1 in isolation, -2 where it is not there -> (row,)."""
    rows = is_conditional(judgments)
    number = np.full(len(judgments), -1, dtype=np.int64)
    if rows.any():
        given, topic = judgments.facets["given"], judgments.column("topic")
        names = given.names.slices.take(given.codes[rows])
        found = judgments.items.numbers_of(topic.names, topic.codes[rows], names)
        number[rows] = np.where(found >= 0, found, -2)
    return number


def fingerprint(judgments: Judgments) -> str:
    """Return 16 hexadecimal digits that identify a set of labels, for files made from it: "a3f0..."  O(rows)."""
    digest = sha256(f"{judgments.scale} {len(judgments.items)} items {len(judgments)} rows".encode())
    facets = sorted(judgments.facets)
    digest.update(" ".join(facets).encode())
    columns = [judgments.assessor, *(judgments.facets[name] for name in facets)]
    for names in (judgments.items.topics, judgments.items.doc, *(each.names for each in columns)):
        digest.update(np.ascontiguousarray(names.slices.end, dtype="<i8").tobytes())
        digest.update(names.slices.buffer.tobytes())
    for codes in (judgments.items.topic, judgments.item, judgments.label, *(each.codes for each in columns)):
        digest.update(np.ascontiguousarray(codes, dtype="<i4").tobytes())
    return digest.hexdigest()[:16]


def number_items(topic: Category, doc: Category) -> tuple[Items, Codes]:
    """Number the distinct pairs of topic and document: the items, and the number of each row (row,).

    Where each document belongs to one topic, as is usual in large collections, only documents are sorted, not rows.
    """
    order = natural_order(topic.names)
    place = np.argsort(order).astype(np.int32)
    home = homes(topic.codes, doc.codes, len(doc.names))
    if home is not None and (home >= 0).all():
        group = gather(place, home)
        number_of, docs = names_in_groups(group, len(order), doc.names.slices)
        in_topic = np.repeat(np.arange(len(order), dtype=np.int32), count_codes(group, len(order)))
        return Items(topic.names.take(order), in_topic, Ids(docs)), gather(number_of, doc.codes)
    by_name = np.empty(len(doc.names), dtype=np.int32)
    by_name[bytewise_order(doc.names.slices)] = np.arange(len(by_name), dtype=np.int32)
    rows = ordered_rows(gather(place, topic.codes), gather(by_name, doc.codes), len(order))
    in_topic, of_doc = topic.codes[rows], doc.codes[rows]
    new = np.append(True, (in_topic[1:] != in_topic[:-1]) | (of_doc[1:] != of_doc[:-1]))[: len(rows)]
    number = np.empty(len(rows), dtype=np.int32)
    number[rows] = np.cumsum(new) - 1
    items = Items(topic.names.take(order), place[in_topic[new]], doc.names.take(of_doc[new]))
    return items, number


def on_one_scale(labels: Judgments, others: Judgments) -> tuple[Judgments, Judgments]:
    """Put both on the scale of the first; where neither scale was declared, on that of the labels of both."""
    scale = labels.scale.joined(others.scale)
    return labels.on_scale(scale), others.on_scale(scale)


@dataclass(frozen=True)
class Summary(Tabular):
    """What a set of judgments holds; ``labels`` gives each assessor's counts, in the order of the scale.

    items_with: number of items by their number of labels.  An item judged for several aspects or intents, or after
    several other documents, counts as several items.
    """

    scale: Scale
    n_labels: int
    n_topics: int
    n_items: int
    items_with: Mapping[int, int]
    labels: Mapping[str, Ints]

    def sentence(self) -> str:
        """Return the counts and the scale in one line."""
        return f"{self.counts()}, scale {self.scale}"

    def counts(self) -> str:
        """Return the numbers of labels, items, topics and assessors."""
        labels, items = counted(self.n_labels, "label"), counted(self.n_items, "item")
        return f"{labels} on {items} of {counted(self.n_topics, 'topic')} by {counted(len(self.labels), 'assessor')}"

    def records(self) -> Records:
        """Return one row per assessor: the number of labels, and of each label."""
        return [
            {"assessor": name, "labels": int(counts.sum())} | dict(zip(self.scale.labels, counts.tolist(), strict=True))
            for name, counts in self.labels.items()
        ]

    def __str__(self) -> str:
        lines = [self.sentence()]
        lines += [f"  {counted(n, 'item')} with {counted(k, 'label')}" for k, n in self.items_with.items()]
        width = max(map(len, self.labels), default=0)
        for assessor, counts in list(self.labels.items())[:40]:
            shares = counts / max(counts.sum(), 1)
            cells = "  ".join(f"{label} {share:.0%}" for label, share in zip(self.scale.labels, shares, strict=True))
            noun = "label:" if counts.sum() == 1 else "labels:"
            lines.append(f"  {assessor:<{width}}  {counts.sum():>8,} {noun:<7} {cells}")
        if len(self.labels) > 40:
            lines.append(f"  and {counted(len(self.labels) - 40, 'more assessor')}")
        return "\n".join(lines)

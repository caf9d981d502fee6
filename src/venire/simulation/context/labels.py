r"""Labels in isolation and in condition, as assessors see documents.

An assessor a sees document d given c (or given nothing) as

    u(d|c) + disagreement e_ad + noise e_adc,    e ~ N(0, 1),

and gives the nearest grade.  e_ad is the assessor's own opinion of the document, the same in isolation and in any
condition; e_adc is drawn for every label.  One assessor judges all of a topic (Golbus et al. 2014,
doi:10.1145/2566486.2568015, Section 4.1), so that a label in condition differs from the one in isolation by context and
by e_adc alone; on a share of the topics others judge too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.simulation.context.setting import ContextSetting
from venire.simulation.context.truth import Contents
from venire.types import Bools, Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

NOBODY = -1


class Seen(NamedTuple):
    """Labels before they are labels, all (row,): topic, doc, given (-1: none), who, and the grade as it was seen.

    Rows come by topic, document, given and assessor; all are places in ``Names``.
    """

    topic: Ints
    doc: Ints
    given: Ints
    assessor: Ints
    grade: Floats


class Names(NamedTuple):
    """Names of the topics, of the documents of a topic, and of the assessors."""

    topics: Ids
    docs: Ids
    assessors: Ids

    def columns(self, seen: Seen) -> dict[str, pl.Series]:
        """Spell the columns of labels out; an empty ``given``: in isolation."""
        import polars as pl

        named = {"topic": (self.topics, seen.topic), "doc": (self.docs, seen.doc)}
        named["given"] = (Ids.of(["", *self.docs]), seen.given + 1)
        named["assessor"] = (self.assessors, seen.assessor)
        return {name: pl.Series(list(names), dtype=pl.String).gather(code) for name, (names, code) in named.items()}


def share_of(number: int, share: float, rng: np.random.Generator) -> Bools:
    """Mark a share of things, rounded to whole ones, at random -> (thing,)."""
    return rng.permutation(number) < round(share * number)


def judges(setting: ContextSetting, rng: np.random.Generator) -> Ints:
    """Draw who judges each topic, -1: nobody -> (topic, place); the first place is always taken."""
    n_places = 1 + (setting.again_by if setting.judged_again else 0)
    who = rng.random((setting.n_topics, setting.n_assessors)).argsort(axis=1)[:, :n_places]
    again = share_of(setting.n_topics, setting.judged_again, rng)
    who[:, 1:][~again] = NOBODY
    return who


def seen_by(
    setting: ContextSetting, contents: Contents, rows: tuple[Ints, Ints, Ints], streams: dict[str, np.random.Generator]
) -> Seen:
    """Let assessors look at rows (topic, doc, given).  O(rows + topics x docs)."""
    who = judges(setting, streams["judges"])
    opinion = streams["opinions"].standard_normal((who.shape[1], *contents.worth.shape))
    slip = streams["labels"].standard_normal((len(rows[0]), who.shape[1]))
    row, place = np.nonzero(who[rows[0]] >= 0)
    topic, doc, given = (column[row] for column in rows)
    grade = contents.worth_given(topic, doc, given)
    grade = grade + setting.disagreement * opinion[place, topic, doc] + setting.noise * slip[row, place]
    assessor = who[topic, place]
    order = np.lexsort([assessor, row])
    return Seen(topic[order], doc[order], given[order], assessor[order], grade[order])


def graded_labels(grade: Floats, top: int) -> Codes:
    """Give the nearest level from 0 to the top; any shape."""
    return np.clip(np.rint(grade), 0, top).astype(np.int32)


def labels_of(setting: ContextSetting, seen: Seen, names: Names) -> Judgments:
    """Make judgments of what was seen; items are the documents that were judged."""
    n_docs = len(names.docs)
    found, item = np.unique(seen.topic * n_docs + seen.doc, return_inverse=True)
    items = Items(names.topics, (found // n_docs).astype(np.int32), names.docs.take((found % n_docs).astype(np.int32)))
    given = Category((seen.given + 1).astype(np.int32), Ids.of(["", *names.docs]))
    every = np.arange(len(item))
    return Judgments(
        scale=setting.scale,
        items=items,
        item=item.astype(np.int32),
        assessor=Category(seen.assessor.astype(np.int32), names.assessors).take(every),
        label=graded_labels(seen.grade, setting.top),
        facets={"given": given.take(every)},
    )

r"""What documents are worth, alone and after another one: a truth made of facets of information.

A topic has facets; document d of worth u(d), from 0 to the top of the scale, covers a set C_d of them.  Given c, read
just before,

    o(d|c) = |C_d ∩ C_c| / |C_d|            how much of d was in c already               ``overlap``
    n(d|c) = |C_d \ C_c| / |F \ C_c|        how much of what c left open is in d         ``supplement``
    u(d|c) = u(d) (1 - redundancy o(d|c) + complementarity n(d|c)),  at most the top     ``worth_given``

A repetition is worth less, a document that completes the one before is worth more, and a worthless one stays so.  With
redundancy = complementarity = 0 context plays no role.  Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 3.1,
describe both effects in words; the formula is ours.

How contents are drawn: u(d) / top ~ Beta(shape), and d covers facet f of topic t with probability
π_tf (1 - breadth (1 - u(d) / top)), where π_tf is the power ``rarity`` of a number ~ U(0, 1): a few facets are
everywhere and most are rare, so that of two documents one mostly repeats the other or has nothing to do with it; and
better documents cover more.  Whoever covers none covers one at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.types import Bools, Codes, Floats, Ints

Places = Ints | Codes


@dataclass(frozen=True, eq=False)
class Contents:
    """Documents of every topic: ``worth`` (topic, doc), ``covers`` (topic, doc, facet); and what context does.

    Examples
    --------
    >>> covers = np.array([[[True, True, False], [True, False, False], [False, True, True]]])
    >>> contents = Contents(np.array([[2.0, 3.0, 2.0]]), covers, top=4, redundancy=0.5, complementarity=0.2)
    >>> contents.worth_given(np.array([0, 0]), np.array([1, 2]), np.array([0, 0]))
    array([1.5, 1.9])
    """

    worth: Floats
    covers: Bools
    top: int
    redundancy: float
    complementarity: float

    def overlap(self, topic: Places, doc: Places, given: Places) -> Floats:
        """o(d|c): how much of a document was in the one before; all (row,) -> (row,).  O(rows x facets)."""
        own, before = self.covers[topic, doc], self.covers[topic, given]
        return np.asarray((own & before).sum(axis=-1) / own.sum(axis=-1), dtype=np.float64)

    def supplement(self, topic: Places, doc: Places, given: Places) -> Floats:
        """n(d|c): how much of what the document before left open is in this one; 0 where it left nothing."""
        own, before = self.covers[topic, doc], self.covers[topic, given]
        left_open = (~before).sum(axis=-1)
        return np.asarray((own & ~before).sum(axis=-1) / np.maximum(left_open, 1), dtype=np.float64)

    def worth_given(self, topic: Places, doc: Places, given: Places) -> Floats:
        """u(d|c), and u(d) where ``given`` is -1; all of one shape -> that shape."""
        alone, before = self.worth[topic, doc], np.maximum(given, 0)
        lost = self.redundancy * self.overlap(topic, doc, before)
        won = self.complementarity * self.supplement(topic, doc, before)
        return np.where(given < 0, alone, np.minimum(alone * (1 - lost + won), self.top))

    def along(self, lists: Places, context: float) -> Floats:
        """Utility of each document of ranked lists, Eq. (1): (1 - context) u(d) + context u(d|the one before).

        lists (topic, ..., rank) -> (topic, ..., rank)
        """
        before = np.concatenate([np.full_like(lists[..., :1], -1), lists[..., :-1]], axis=-1)
        topic = np.arange(len(lists)).reshape(-1, *[1] * (lists.ndim - 1))
        return (1 - context) * self.worth[topic, lists] + context * self.worth_given(topic, lists, before)


def drawn_worth(size: tuple[int, int], shape: tuple[float, float], top: int, *, rng: np.random.Generator) -> Floats:
    """Draw what documents are worth -> (topic, doc)."""
    return top * rng.beta(*shape, size=size)


def drawn_facets(share: Floats, n_facets: int, rarity: float, breadth: float, *, rng: np.random.Generator) -> Bools:
    """Draw what documents cover; share (topic, doc) of the top worth -> (topic, doc, facet), at least one each."""
    common = rng.random((len(share), 1, n_facets)) ** rarity
    covers = rng.random((*share.shape, n_facets)) < common * (1 - breadth * (1 - share[..., None]))
    own = np.arange(n_facets) == rng.integers(n_facets, size=(*share.shape, 1))
    return np.asarray(covers | (own & ~covers.any(axis=-1, keepdims=True)))

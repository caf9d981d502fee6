r"""Preference tests: which pairs of documents to ask people about, and how many.

Chu et al. (2021, doi:10.1145/3459637.3482428) estimate p(a > b), the chance that a document labelled a is preferred to
one labelled b, from B tests per pair of labels.  For an estimate within :math:`\delta` of p at some confidence, Eq.
(12), as it should read (the paper prints z, not its square, and so covers 83 % where 95 % was asked):

.. math:: B = \frac{p (1 - p)}{\delta^2} z^2

    sample_size    B by that equation
    pairs_to_ask   B pairs for every two labels, spread over topics first, then over documents

The paper finds 40 tests per pair of labels enough in individual mode and asks for 160 in aggregate mode; that is for
the discriminative power as a whole, not for single probabilities, and for its own collections.

A document's label, for choosing pairs, is the median of its labels, the lower of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import SettingError
from venire.tabular import Records, Tabular
from venire.types import Bools, Codes, Ints, RNGLike
from venire.words import counted, first_few

if TYPE_CHECKING:
    import polars as pl

LEVEL = 0.95
PER_LABEL_PAIR = 40
MANY_LABELS = 60


def sample_size(p: float = 0.5, *, within: float = 0.05, level: float = LEVEL) -> int:
    """Return how many tests put an estimate of p within this distance of it; p = 1/2 needs most.

    Examples
    --------
    >>> sample_size(0.3, within=0.05)
    323
    """
    from scipy.special import ndtri

    if not (0 <= p <= 1 and within > 0 and 0 < level < 1):
        message = f"p {p:g} within {within:g} at level {level:g}"
        raise SettingError(message, hint="expected 0 <= p <= 1, within > 0 and 0 < level < 1")
    return int(np.ceil(p * (1 - p) / within**2 * ndtri((1 + level) / 2) ** 2))


@dataclass(frozen=True, eq=False)
class PairsToAsk(Tabular):
    """Pairs to show to people, all (pair,): items left and right of the judgments, and their labels.

    Which one stands left is drawn by lot, and so is the order.  short: pairs of labels, as levels, with fewer documents
    to compare than asked for, and how many pairs they have.
    """

    judgments: Judgments
    left: Ints
    right: Ints
    label_left: Codes
    label_right: Codes
    per_label_pair: int
    short: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def topic(self) -> Codes:
        """The topic of each pair, into ``judgments.items.topics`` -> (pair,)."""
        return self.judgments.items.topic[self.left]

    def sentence(self) -> str:
        """Say how many pairs, of how many topics, and what is short."""
        topics, labels = len(np.unique(self.topic)), self.judgments.scale.labels
        short = [f"{labels[a]} against {labels[b]} ({n:,})" for a, b, n in self.short]
        lack = f"; fewer than {self.per_label_pair} are there for {first_few(short, 6)}" if short else ""
        each = f"{self.per_label_pair} for every two labels"
        return f"{counted(len(self), 'pair')} of {counted(topics, 'topic')} to ask about, {each}{lack}."

    def to_polars(self) -> pl.DataFrame:
        """Return the table: topic, left, right, label_left, label_right."""
        import polars as pl

        items, labels = self.judgments.items, np.array(self.judgments.scale.labels)
        topics = items.topics.take(self.topic)
        left, right = (list(items.doc.take(side)) for side in (self.left, self.right))
        names = {"topic": list(topics), "left": left, "right": right}
        sides = {"label_left": labels[self.label_left], "label_right": labels[self.label_right]}
        return pl.DataFrame({**names, **{name: each.tolist() for name, each in sides.items()}})

    def records(self) -> Records:
        """Return one row per pair: topic, documents and labels."""
        return self.to_polars().to_dicts()


def pairs_to_ask(
    judgments: Judgments, per_label_pair: int = PER_LABEL_PAIR, *, same_label: bool = False, rng: RNGLike = 0
) -> PairsToAsk:
    """Choose pairs of documents of a topic, as many for every two labels, none of them twice.

    The pairs of two labels come from as many topics as have both, in turn; within a topic documents take turns too.
    same_label: also ask about documents of one label, which tells nothing on p(a > b), but whether people see more
    than the labels do.  Cost: O(items log items), and labels^2 x topics x per_label_pair cells.
    """
    if per_label_pair < 1:
        raise SettingError(f"{per_label_pair} pairs for every two labels", hint="expected one or more; 40 is usual")
    refuse_many(judgments.scale)
    generator = np.random.default_rng(rng)
    label = middle_labels(judgments)
    cells = _cells(judgments, label, generator)
    a, b = np.triu_indices(len(judgments.scale), 0 if same_label else 1)
    found, short = _chosen(cells, (a, b), per_label_pair, generator)
    turn = generator.random(len(found)) < 0.5
    left, right = (np.where(turn, found[:, n], found[:, 1 - n]) for n in (0, 1))
    return PairsToAsk(judgments, left, right, label[left], label[right], per_label_pair, short)


class _Cells(NamedTuple):
    """Items by topic and label, shuffled: start, n (topic, label) into item."""

    item: Ints
    start: Ints
    n: Ints


def middle_labels(judgments: Judgments) -> Codes:
    """The lower median of each item's labels -> (item,); -1 where there is none."""
    counts = judgments.label_counts()
    below = np.cumsum(counts, axis=1)
    enough = 2 * below >= below[:, -1:]
    return np.where(below[:, -1] > 0, enough.argmax(axis=1), -1).astype(np.int32)


def _cells(judgments: Judgments, label: Codes, rng: np.random.Generator) -> _Cells:
    n_topics, n_labels = len(judgments.items.topics), len(judgments.scale)
    there = np.flatnonzero(label >= 0)
    cell = judgments.items.topic[there].astype(np.int64) * n_labels + label[there]
    order = np.lexsort((rng.random(len(there)), cell))
    n = np.bincount(cell, minlength=n_topics * n_labels)
    shape = (n_topics, n_labels)
    return _Cells(there[order], (np.cumsum(n) - n).reshape(shape), n.reshape(shape))


def _chosen(
    cells: _Cells, labels: tuple[Ints, Ints], most: int, rng: np.random.Generator
) -> tuple[Ints, tuple[tuple[int, int, int], ...]]:
    """Choose pairs -> items (pair, 2), in any order; and the pairs of labels that have fewer than ``most``."""
    a, b = labels
    n_a, n_b = cells.n[:, a], cells.n[:, b]
    room = np.where(a == b, n_a * (n_a - 1) // 2, n_a * n_b)
    topic, which, turn = _offered(np.minimum(room, most))
    order = np.lexsort((rng.random(len(turn)), turn, which))
    place = np.arange(len(order)) - np.searchsorted(which[order], which[order])
    kept = rng.permutation(order[place < most])
    topic, which, turn = topic[kept], which[kept], turn[kept]
    first, second = _places(turn, n_a[topic, which], n_b[topic, which], (a == b)[which])
    one, other = (cells.item[cells.start[topic, side[which]] + at] for side, at in ((a, first), (b, second)))
    total = room.sum(axis=0)
    short = [(int(a[n]), int(b[n]), int(total[n])) for n in np.flatnonzero(total < most).tolist()]
    return np.stack([one, other], axis=1), tuple(short)


def _offered(room: Ints) -> tuple[Ints, Ints, Ints]:
    """Write out what each topic can give: room (topic, label pair) -> topic, label pair, its turn; all (offer,)."""
    cell = np.repeat(np.arange(room.size), room.ravel())
    turn = np.arange(len(cell)) - np.repeat(np.cumsum(room.ravel()) - room.ravel(), room.ravel())
    return cell // room.shape[1], cell % room.shape[1], turn


def _places(turn: Ints, n_a: Ints, n_b: Ints, same: Bools) -> tuple[Ints, Ints]:
    """Which document of each label a turn takes, so that no pair comes twice and documents take turns.

    Of two labels: (k mod n_a, k + k div lcm mod n_b) runs through all n_a n_b pairs.  Of one label with n documents:
    those at distance d = 1 + k div n, at place k mod n and d further on, round.
    """
    other = (turn + turn // np.lcm(n_a, np.maximum(n_b, 1))) % np.maximum(n_b, 1)
    step = 1 + turn // n_a
    return turn % n_a, np.where(same, (turn % n_a + step) % n_a, other)


def refuse_many(scale: Scale) -> None:
    """Raise where a scale has too many labels to ask about every two of them."""
    if len(scale) > MANY_LABELS:
        message = f"the scale has {len(scale)} labels, which makes {len(scale) * (len(scale) - 1) // 2:,} pairs of them"
        raise SettingError(message, hint=f"put neighbouring labels together first, to {MANY_LABELS} or fewer")

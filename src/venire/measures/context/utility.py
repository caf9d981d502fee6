r"""Utility: gains in isolation and conditional gains combined, for documents in the order they are read.

.. math:: u_i = (1 - \alpha)\, g(d_i) + \alpha\, g(d_i | d_{i-1})

Golbus et al. (2014), doi:10.1145/2566486.2568015, Eq. (1).  Where gains are (2^grade - 1) / c, the grades are
interpolated before the power is taken, which for one label each is a product:

.. math:: 2^u - 1 = 2^{(1 - \alpha) g(d_i)} \cdot 2^{\alpha g(d_i | d_{i-1})} - 1

Where a document has a distribution of labels (a pool, repeated or predicted labels), both factors are means over the
labels, so that the utility is its mean over independent labels, and tends to the mean gain in isolation as alpha tends
to 0.  A document that backs off to its label in isolation has exactly its gain in isolation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from venire.data.context import Found, Reads
from venire.measures.blocks import Block
from venire.measures.measure import NOWHERE, Worth
from venire.measures.scoring import Judges, Labels
from venire.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class Utility:
    """Gains of a few judges: gains and own (judge, item + 2), the latter the part of labels in isolation.

    after (label,): the part of a conditional label.
    """

    gains: Floats
    own: Floats
    after: Floats
    alpha: float
    powers: float | None

    @classmethod
    def of(cls, panel: Judges, worth: Worth, alpha: float, judges: tuple[int, int]) -> Utility:
        """Read the labels of judges first..last-1 as a measure with this alpha does."""

        def part(values: Floats, share: float) -> Floats:
            return values if worth.powers is None else (1 + worth.powers * values) ** share

        unjudged = np.array([worth.unjudged])
        plain = Labels.of(*panel.gains(worth.values, *judges), worth.unjudged)
        own = Labels.of(*panel.gains(part(worth.values, 1 - alpha), *judges), part(unjudged, 1 - alpha).item())
        return cls(plain.gains, own.gains, part(worth.values, alpha), alpha, worth.powers)

    def joined(self, own: Floats, after: Floats) -> Floats:
        """Combine both parts; any shape."""
        if self.powers is None:
            return (1 - self.alpha) * own + self.alpha * after
        return np.maximum(own * after - 1, 0.0) / self.powers

    def of_reads(self, reads: Reads, found: Found) -> Floats:
        """Utility of documents -> (judge, list, slot)."""
        judge = np.arange(len(self.gains))[:, None, None]
        after = np.append(found.shares @ self.after, 0.0)[found.row]
        joined = self.joined(self.own[judge, reads.item], after)
        return np.where(found.row >= 0, joined, self.gains[judge, reads.item])


def reads_of(block: Block, seen: Bools, n_items: int, *, condensed: bool) -> Reads:
    """Return what was read before every document of lists; seen (judge, list, slot).

    The document before is the one at the previous rank, -1 if it is unjudged.  In condensed lists, from which documents
    without a label are removed for each judge, it is the last one with a label.
    """
    item = block.item[None].astype(np.int64)
    if condensed:
        rank = np.where(seen, seen.cumsum(axis=-1), NOWHERE)
        slot = np.maximum.accumulate(np.where(seen, np.arange(seen.shape[-1]), -1), axis=-1)
        before = np.pad(slot, [(0, 0), (0, 0), (1, 0)], constant_values=-1)[..., :-1]
        previous = np.take_along_axis(np.broadcast_to(item, seen.shape), np.maximum(before, 0), axis=-1)
        previous = np.where(before >= 0, previous, -1)
    else:
        rank = block.rank[None]
        next_to = np.diff(rank, axis=-1, prepend=NOWHERE) == 1
        previous = np.where(next_to, np.roll(item, 1, axis=-1), -1)
        previous = np.where(previous < n_items, previous, -1)
    first = np.where((rank == 1) & (item < n_items), item, -1).max(axis=-1, keepdims=True, initial=-1)
    return Reads(rank, item, previous, first)

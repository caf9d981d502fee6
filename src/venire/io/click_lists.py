"""Lists that sessions saw, told apart by hashes of their documents and these by hashes of their names.

A document's hash is made of those of its topic and its name; a list's is the sum of its documents' hashes, each times a
power of an odd number by its place.  All arithmetic is modulo 2^64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.data.clicks import ShownLists
from venire.data.judgments import Items
from venire.kernels.ragged import offsets
from venire.types import Codes, Ints, Words

if TYPE_CHECKING:
    import polars as pl

ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: an odd number, whose powers spread hashes well."""


class Places(NamedTuple):
    """Where documents stand among the items, by their hashes."""

    hash: Words
    number: Codes

    @classmethod
    def of(cls, hashes: Words, number: Codes) -> Places:
        """Take hashes and numbers, both (item,), in any order."""
        order = np.argsort(hashes)
        return cls(hashes[order], number[order])

    def of_hashes(self, hashes: Words) -> Codes:
        """Numbers of hashes that are all there; same shape."""
        return self.number[np.searchsorted(self.hash, hashes)]


def pair_hashes(first: pl.Series, first_seed: int, second: pl.Series, second_seed: int) -> Words:
    """Hash pairs of names -> (row,)."""
    return first.hash(first_seed).to_numpy() * ODD + second.hash(second_seed).to_numpy()


def list_counts(session: Ints, item: Words, rank: Codes, *, before: int) -> pl.DataFrame:
    """Count the lists of a batch, each with its documents by rank; session ascends, all (row,).

    Columns: ``list`` (its hash), ``items`` (hashes), ``n_shown``, and ``first``: the row of the log where it was first
    seen, ``before`` of which stand ahead of this batch.
    """
    import polars as pl

    if ((np.diff(rank) <= 0) & (np.diff(session) == 0)).any():
        order = np.lexsort((np.arange(len(item)), rank, session))
        session, item = session[order], item[order]
    start = np.flatnonzero(np.diff(session, prepend=-1))
    length = np.diff(start, append=len(item))
    place = np.arange(len(item)) - np.repeat(start, length)
    with np.errstate(over="ignore"):
        power = np.multiply.accumulate(np.full(int(length.max()), ODD))
        code = np.add.reduceat(item * power[place], start)
    distinct, first, times = np.unique(code, return_index=True, return_counts=True)
    n_docs = length[first]
    flat = np.repeat(start[first] - (np.cumsum(n_docs) - n_docs), n_docs) + np.arange(n_docs.sum())
    docs = pl.DataFrame({"list": np.repeat(distinct, n_docs), "items": item[flat]})
    docs = docs.group_by("list", maintain_order=True).agg("items")
    return docs.with_columns(n_shown=pl.Series(times, dtype=pl.Int64), first=pl.Series(before + start[first]))


def shown_lists(known: pl.DataFrame, items: Items, place: Places) -> ShownLists:
    """Lists over the numbers of items: by topic, the most usual first."""
    length = known["items"].list.len().to_numpy().astype(np.int64)
    item = place.of_hashes(known["items"].explode().to_numpy())
    begin = np.cumsum(length) - length
    topic, n_shown = items.topic[item[begin]], known["n_shown"].to_numpy()
    order = np.lexsort((known["first"].to_numpy(), -n_shown, topic))
    length, begin = length[order], begin[order]
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return ShownLists(topic[order], n_shown[order], offsets(length), item[np.repeat(begin, length) + within])

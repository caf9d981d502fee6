r"""Directed agreement: how often a second judge says again what a first one said, of relevant and of irrelevant items.

Turpin and Scholer (2009), Definition 3 and Section 4.  Over the items that both judged,

.. math::
    a_1 &= P(\text{second finds it relevant} \mid \text{first does}), \qquad
    a_0 = P(\text{second finds it irrelevant} \mid \text{first does})

They are not symmetrical: judge A against judge B is another pair than B against A, and each is counted.  Nobody is
paired with themselves (the paper's 1,369 pairs of 37 users include the 37 of one user alone; there are 1,332).

Labels that an assessor repeats for an item: each of k labels counts 1/k, as if one of them were drawn at random.  With
r and s the shares of relevant labels that the first and the second judge gave an item, the counts are expectations,

.. math::
    n_1 = \sum r, \quad agree_1 = \sum r s, \qquad n_0 = \sum (1 - r), \quad agree_0 = \sum (1 - r)(1 - s)

A document judged for several intents, or after several other documents, is a separate item each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import distinct_items, refuse_mixed
from venire.data.relevance import Relevant, relevant_sets
from venire.errors import PairsError, SettingError, UnknownName
from venire.results import Tabular, counted, known, known_count
from venire.types import Bools, Floats, Ints

KINDS = ("irrelevant", "relevant")
TINY = 1e-9


class Rates(NamedTuple):
    """Counts (row,): items that the first judge found irrelevant, relevant (n0, n1); the second did too (agree0, 1)."""

    n0: Floats
    n1: Floats
    agree0: Floats
    agree1: Floats

    @property
    def a0(self) -> Floats:
        """Agreement on irrelevant items -> (row,); NaN where the first judge found none."""
        return _ratio(self.agree0, self.n0)

    @property
    def a1(self) -> Floats:
        """Agreement on relevant items -> (row,); NaN where the first judge found none."""
        return _ratio(self.agree1, self.n1)

    @property
    def both(self) -> Floats:
        """a0 and a1 as one array -> (2, row)."""
        return np.stack([self.a0, self.a1])

    def take(self, rows: Ints | Bools) -> Rates:
        """Choose rows."""
        return Rates(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class DirectedAgreement(Tabular):
    """Agreement of every directed pair, by group: group, first, second (row,), and their counts.

    groups: the names of each group, one for every column in ``by``; without any, all is one group.
    """

    relevant: str
    assessors: tuple[str, ...]
    by: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    group: Ints
    first: Ints
    second: Ints
    rates: Rates
    at_least: float
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.first)

    @property
    def n_pairs(self) -> int:
        """How many directed pairs of assessors there are, whatever the number of groups they met in."""
        return len(np.unique(self.first * len(self.assessors) + self.second))

    def records(self) -> list[dict[str, Any]]:
        """One record per group and directed pair; a rate is None where the first judge found no such item."""
        columns = {**self.rates._asdict(), "a0": self.rates.a0, "a1": self.rates.a1}
        kind = {"a0": known, "a1": known}
        lists = {name: [*map(kind.get(name, known_count), column.tolist())] for name, column in columns.items()}
        who = zip(self.group.tolist(), self.first.tolist(), self.second.tolist(), strict=True)
        return [
            {
                **dict(zip(self.by, self.groups[group], strict=True)),
                "first": self.assessors[first],
                "second": self.assessors[second],
                **{name: lists[name][row] for name in ("n0", "agree0", "a0", "n1", "agree1", "a1")},
            }
            for row, (group, first, second) in enumerate(who)
        ]

    def of(self, first: str, second: str) -> list[dict[str, Any]]:
        """Return the records of one directed pair; none if they were left out, or judged nothing in common."""
        for name in (first, second):
            if name not in self.assessors:
                raise UnknownName("assessor", name, self.assessors)
        chosen = (self.first == self.assessors.index(first)) & (self.second == self.assessors.index(second))
        return self.take(chosen).records()

    def take(self, rows: Ints | Bools) -> DirectedAgreement:
        """Choose rows."""
        parts = self.group[rows], self.first[rows], self.second[rows]
        return replace(self, group=parts[0], first=parts[1], second=parts[2], rates=self.rates.take(rows))

    def histogram(self, *, bins: int = 20) -> tuple[Floats, Ints]:
        """How many rows have which a0 and a1 (Figures 3 and 5): edges (bin + 1,), counts (2, bin)."""
        edges = np.linspace(0.0, 1.0, bins + 1)
        return edges, counts_between(self.rates.both, edges)

    def sentence(self) -> str:
        """Say the main finding in one sentence."""
        words = [
            f"{kind} in {np.median(known):.0%} ({known.min():.0%} to {known.max():.0%})"
            for kind, known in self._known_rates()
        ]
        per = f" and {' and '.join(self.by)}" if self.by else ""
        n_assessors = len(np.unique(np.concatenate([self.first, self.second])))
        return (
            f"Over {counted(self.n_pairs, 'directed pair')} of {counted(n_assessors, 'assessor')}, the second judge "
            f"agrees with the first on what is {' and on what is '.join(words)}, for the median pair{per}."
        )

    def _known_rates(self) -> list[tuple[str, Floats]]:
        both = [(kind, rate[~np.isnan(rate)]) for kind, rate in zip(KINDS, self.rates.both, strict=True)]
        return [(kind, known) for kind, known in both if len(known)]

    def warnings(self) -> list[str]:
        """What to be careful about."""
        if not self.n_left_out:
            return []
        within = f" within a {' and '.join(self.by)}" if self.by else ""
        return [
            f"{counted(self.n_left_out, 'directed pair')}{within} left out: the first judge found fewer than "
            f"{self.at_least:g} of the common items relevant, or irrelevant"
        ]


def directed_agreement(
    judgments: Judgments, *, relevant: Relevant = None, by: str | Sequence[str] = (), at_least: float = 1
) -> DirectedAgreement:
    '''Count how far a second judge agrees with a first, for every directed pair of assessors.

    relevant: what is relevant, the top label unless said otherwise.  by: ``"topic"``, ``"task"`` or another facet, or
    several of them, to count within each; labels for different tasks are never paired.  at_least: a pair is left out
    where the first judge found fewer of the common items relevant, or fewer irrelevant (the paper: 6 for its search
    task).  Cost: O(rows log rows + pairs of assessors on the same item), by sparse products; memory: the rows, and the
    directed pairs that met in a group.

    Examples
    --------
    >>> from venire import read_grid
    >>> found = directed_agreement(read_grid("""
    ...     1 1 1 0 0 0
    ...     1 1 0 0 0 ."""))
    >>> [(each["first"], each["second"], round(each["a0"], 2), round(each["a1"], 2)) for each in found.records()]
    [('U1', 'U2', 1.0, 0.67), ('U2', 'U1', 0.67, 1.0)]
    '''
    by = (by,) if isinstance(by, str) else tuple(by)
    sets = relevant_sets(judgments.scale, relevant)
    _check(judgments, by, at_least, len(sets.names))
    group, groups = _groups(judgments, by)
    table = _pairs(judgments, sets.labels[0], group)
    if not len(table.first):
        raise PairsError(
            "no item was judged by two assessors, so they cannot be compared",
            hint="have some items judged a second time" + (f"; or count over all {by[0]}s" if by else ""),
        )
    found = DirectedAgreement(sets.names[0], judgments.assessors, by, groups, *table, at_least)
    enough = (found.rates.n0 >= at_least - TINY) & (found.rates.n1 >= at_least - TINY)
    if not enough.any():
        most = float(np.minimum(found.rates.n0, found.rates.n1).max())
        raise PairsError(
            f"no first judge found {at_least:g} common items relevant and as many irrelevant, the most is {most:g}",
            hint="ask for fewer with at_least=, or count over all topics",
        )
    return replace(found.take(enough), n_left_out=int((~enough).sum()))


def _check(judgments: Judgments, by: tuple[str, ...], at_least: float, n_sets: int) -> None:
    if n_sets > 1:
        raise SettingError("agreement is counted for one notion of relevance at a time", hint="name one label")
    if not at_least >= 0:
        raise SettingError(f"at least {at_least:g} judgments: expected 0 or more")
    if "assessor" in by or len(set(by)) < len(by):
        raise SettingError(
            f"agreement by {', '.join(by)}: expected different columns, and not the assessor",
            hint="use topic, or a facet such as task",
        )
    if len(judgments) == 0:
        raise PairsError("there is no label to pair", hint="; ".join(map(str, judgments.notes)) or None)
    others = {name: column for name, column in judgments.facets.items() if name not in by}
    refuse_mixed(replace(judgments, facets=others))


def _groups(judgments: Judgments, by: tuple[str, ...]) -> tuple[Ints, tuple[tuple[str, ...], ...]]:
    """Number the groups that occur: group (row,), and the names of each."""
    if not by:
        return np.zeros(len(judgments), dtype=np.int64), ((),)
    columns = [judgments.column(name) for name in by]
    codes = np.stack([column.codes for column in columns])
    distinct, group = np.unique(codes, axis=1, return_inverse=True)
    names = [[column.names[code] for code in values] for column, values in zip(columns, distinct.tolist(), strict=True)]
    return group.reshape(-1), tuple(zip(*names, strict=True))


class _Table(NamedTuple):
    group: Ints
    first: Ints
    second: Ints
    rates: Rates


def _pairs(judgments: Judgments, relevant: Bools, group: Ints) -> _Table:
    """Count for all who met, by products of sparse tables (group and assessor, group and item); relevant (label,)."""
    from scipy.sparse import coo_array

    n_assessors = len(judgments.assessor.names)
    item = distinct_items(judgments)[0].astype(np.int64)
    who, row = np.unique(group * n_assessors + judgments.assessor.codes, return_inverse=True)
    what, column = np.unique(group * (int(item.max()) + 1) + item, return_inverse=True)
    cell, inverse, count = np.unique(row * len(what) + column, return_inverse=True, return_counts=True)
    share = np.bincount(inverse, relevant[judgments.label].astype(np.float64)) / count
    place = cell // len(what), cell % len(what)

    def table(values: Floats) -> Any:
        return coo_array((values, place), shape=(len(who), len(what))).tocsr()

    judged, found, not_found = table(np.ones(len(cell))), table(share), table(1 - share)
    met = _off_diagonal(judged @ judged.T)[0]

    def at(product: Any) -> Floats:
        key, values = _off_diagonal(product)
        filled = np.zeros(len(met))
        filled[np.searchsorted(met, key)] = values
        return filled

    rates = Rates(at(not_found @ judged.T), at(found @ judged.T), at(not_found @ not_found.T), at(found @ found.T))
    one, other = who[met // len(who)], who[met % len(who)]
    return _Table(one // n_assessors, one % n_assessors, other % n_assessors, rates)


def _off_diagonal(product: Any) -> tuple[Ints, Floats]:
    """Numbers of the filled cells of a sparse square table, in order, and what they hold; not its diagonal."""
    cells = product.tocoo()
    row, column = cells.row.astype(np.int64), cells.col.astype(np.int64)
    apart = np.flatnonzero(row != column)
    key = row[apart] * cells.shape[0] + column[apart]
    order = np.argsort(key)
    return key[order], cells.data[apart[order]]


def counts_between(values: Floats, edges: Floats) -> Ints:
    """How many values lie between the edges; values (kind, row), edges (bin + 1,) -> (kind, bin).  NaN is left out."""
    return np.array([np.histogram(each[~np.isnan(each)], edges)[0] for each in values])


def _ratio(part: Floats, whole: Floats) -> Floats:
    known = whole > TINY
    return np.where(known, np.minimum(part / np.where(known, whole, 1.0), 1.0), np.nan)

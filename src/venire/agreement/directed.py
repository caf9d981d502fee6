r"""Directed agreement: how often a second judge confirms a first one, on relevant and on irrelevant items.

Turpin and Scholer (2009), Definition 3 and Section 4.  Over the items that both judged,

.. math::
    a_1 &= P(\text{second finds it relevant} \mid \text{first does}), \qquad
    a_0 = P(\text{second finds it irrelevant} \mid \text{first does})

They are not symmetrical: judge A against judge B is another pair than B against A, and each is counted.  Nobody is
paired with themselves (the paper's 1,369 pairs of 37 users include the 37 of one user alone; there are 1,332).

Where an assessor has k labels for an item, each counts 1/k.  With r and s the shares of relevant labels that the first
and the second judge gave an item, the counts are expectations,

.. math::
    n_1 = \sum r, \quad agree_1 = \sum r s, \qquad n_0 = \sum (1 - r), \quad agree_0 = \sum (1 - r)(1 - s)

A document judged for several intents, or after several other documents, is a separate item each time.

Sections 4.2 and 4.4, Figures 4, 6 and 7: for a directed pair of judges and two topics (or two tasks), the difference of
a0 and that of a1.  A difference has two causes: the topics, and that each rate rests on few items.  If the items of a
pair were assigned to the two topics at random, k of all N agreed on and n, n' of them in the topics, its mean would be
zero, and its variance

.. math:: \frac{k}{N}\Big(1 - \frac{k}{N}\Big)\Big(\frac1n + \frac1{n'}\Big)\frac{N}{N-1}

The excess of the mean square of the differences over the mean of these is due to topics or tasks.  The paper does not
take chance into account.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.overlap import set_sizes
from venire.data.judgments import Judgments
from venire.data.label_pairs import distinct_items, refuse_mixed
from venire.data.scale import Relevant, relevant_sets
from venire.errors import PairsError, SettingError, UnknownName, reasons
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.kernels.ragged import offsets
from venire.results import Note, Tabular, counted, known, known_count
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
        """Return one row per group and directed pair; a rate is None where the first judge found no such item."""
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
        """Say the median rates over directed pairs."""
        n_assessors = len(np.unique(np.concatenate([self.first, self.second])))
        rates = [f"{median:.0%} ({kind} items)" for kind, median in _known(self.rates.both, np.median)]
        per = f" and {' and '.join(self.by)}" if self.by else ""
        return (
            f"Over {counted(self.n_pairs, 'directed pair')} of {counted(n_assessors, 'assessor')}, the second judge "
            f"agrees with the first in {' and '.join(rates)}, for the median pair{per}."
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to be careful about."""
        if not self.n_left_out:
            return ()
        text = "{n:directed pair} left out: the first judge found fewer than {least:g} items relevant, or irrelevant"
        return (Note("pairs-left-out", text, n=self.n_left_out, least=self.at_least),)


def directed_agreement(
    judgments: JudgmentsLike, *, relevant: Relevant = None, by: str | Sequence[str] = (), at_least: float = 1
) -> DirectedAgreement:
    '''Count how far a second judge agrees with a first, for every directed pair of assessors.

    relevant: None stands for the top label.  by: ``"topic"``, ``"task"`` or another facet, or several, to count within
    each; labels for different tasks are never paired.  at_least: a pair is left out where the first judge found fewer
    of the common items relevant, or fewer irrelevant (the paper: 6 for its search task).  Cost: O(rows log rows + pairs
    of assessors on the same item), by sparse products; memory: the rows, and the directed pairs that met in a group.

    Examples
    --------
    >>> from venire.io import read_grid
    >>> found = directed_agreement(read_grid("""
    ...     1 1 1 0 0 0
    ...     1 1 0 0 0 ."""))
    >>> [(each["first"], each["second"], round(each["a0"], 2), round(each["a1"], 2)) for each in found.records()]
    [('U1', 'U2', 1.0, 0.67), ('U2', 'U1', 0.67, 1.0)]
    '''
    judgments = as_judgments(judgments)
    by = (by,) if isinstance(by, str) else tuple(by)
    sets = relevant_sets(judgments.scale, relevant)
    _check(judgments, by, at_least, len(sets.names))
    group, groups = _groups(judgments, by)
    item = distinct_items(judgments)[0].astype(np.int64)
    sizes = set_sizes(group, judgments.assessor.codes, item, judgments.label, sets.labels)
    if not len(sizes.first):
        raise PairsError(
            "no item was judged by two assessors, so they cannot be compared",
            hint="have some items judged a second time" + (f"; or count over all {by[0]}s" if by else ""),
        )
    one, other = (np.concatenate(pair) for pair in ((sizes.one[0], sizes.other[0]), (sizes.other[0], sizes.one[0])))
    items, both, group = (np.tile(each, 2) for each in (sizes.items, sizes.both[0], sizes.topic))
    first, second = np.concatenate([sizes.first, sizes.second]), np.concatenate([sizes.second, sizes.first])
    order = np.lexsort((second, first, group))
    rates = Rates(items - one, one, np.maximum(items - one - other + both, 0.0), both)
    pairs = (group[order], first[order], second[order], rates.take(order))
    found = DirectedAgreement(sets.names[0], judgments.assessors, by, groups, *pairs, at_least)
    enough = (found.rates.n0 >= at_least - TINY) & (found.rates.n1 >= at_least - TINY)
    if not enough.any():
        most = float(np.minimum(found.rates.n0, found.rates.n1).max())
        raise PairsError(
            f"no first judge found {at_least:g} common items relevant and as many irrelevant, the most is {most:g}",
            hint="require fewer, or count over all topics",
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
        raise PairsError("there is no label to pair", hint=reasons(judgments.notes))
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


def counts_between(values: Floats, edges: Floats) -> Ints:
    """How many values lie between the edges; values (kind, row), edges (bin + 1,) -> (kind, bin).  NaN is left out."""
    return np.array([np.histogram(each[~np.isnan(each)], edges)[0] for each in values])


def _ratio(part: Floats, whole: Floats) -> Floats:
    known = whole > TINY
    return np.where(known, np.minimum(part / np.where(known, whole, 1.0), 1.0), np.nan)


class Spread(NamedTuple):
    """Root mean squares of differences, of a0 and a1 (2,): as found, by chance alone, and what is beyond chance."""

    found: Floats
    by_chance: Floats
    beyond: Floats


@dataclass(frozen=True, eq=False)
class AgreementDifferences(Tabular):
    """Rates of directed pairs in two places each: first, second, one, other (row,), and the counts of both.

    ``one`` and ``other`` number the places, topics or tasks, which are named in ``places``; ``rates`` and
    ``other_rates`` are the counts there.
    """

    across: str
    assessors: tuple[str, ...]
    places: tuple[str, ...]
    first: Ints
    second: Ints
    one: Ints
    other: Ints
    rates: Rates
    other_rates: Rates

    def __len__(self) -> int:
        return len(self.first)

    @property
    def values(self) -> Floats:
        """Differences of a0 and of a1, the other place less the one -> (2, row); NaN where a rate is not known."""
        return self.other_rates.both - self.rates.both

    @property
    def n_pairs(self) -> int:
        """How many directed pairs of assessors there are."""
        return len(np.unique(self.first * len(self.assessors) + self.second))

    def typical(self) -> Floats:
        """By how much a0 and a1 vary for the median pair -> (2,); of a pair, the mean size of its differences."""
        pair = np.unique(self.first * len(self.assessors) + self.second, return_inverse=True)[1]
        sizes = np.abs(self.values)
        return np.array([_median_of_means(size, pair) for size in sizes])

    def spread(self) -> Spread:
        """Root mean squares of the differences, and those expected if items were assigned to topics at random."""
        one, other = self.rates, self.other_rates
        chance = np.stack(
            [_chance(one.agree0 + other.agree0, one.n0, other.n0), _chance(one.agree1 + other.agree1, one.n1, other.n1)]
        )
        known = ~(np.isnan(chance) | np.isnan(self.values))
        n = np.maximum(known.sum(axis=1), 1)
        found = np.where(known, self.values**2, 0.0).sum(axis=1) / n
        expected = np.where(known, chance, 0.0).sum(axis=1) / n
        return Spread(np.sqrt(found), np.sqrt(expected), np.sqrt(np.maximum(found - expected, 0.0)))

    def histogram(self, *, bins: int = 41) -> tuple[Floats, Ints]:
        """How many differences of a0 and of a1 are how large (Figures 4 and 6): edges (bin + 1,), counts (2, bin)."""
        edges = np.linspace(-1.0, 1.0, bins + 1)
        return edges, counts_between(self.values, edges)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per directed pair and two places: the rates there, and their differences; None if unknown."""
        names = ("a0_one", "a1_one", "a0_other", "a1_other", "difference0", "difference1")
        columns = (*self.rates.both, *self.other_rates.both, *self.values)
        lists = {name: column.tolist() for name, column in zip(names, columns, strict=True)}
        return [
            {
                "first": self.assessors[self.first[row]],
                "second": self.assessors[self.second[row]],
                f"{self.across}_one": self.places[self.one[row]],
                f"{self.across}_other": self.places[self.other[row]],
                **{name: known(values[row]) for name, values in lists.items()},
            }
            for row in range(len(self))
        ]

    def sentence(self) -> str:
        """Say by how much agreement varies for the median pair, and how much of that chance explains."""
        typical, (found, chance, beyond) = self.typical()[::-1], (each[::-1] for each in self.spread())
        points = [" and ".join(f"{100 * value:.0f}" for value in each) for each in (typical, found, chance, beyond)]
        return (
            f"Agreement on relevant and irrelevant items varies by {points[0]} points between {self.across}s for the "
            f"median pair; root mean squares are {points[1]}, of which chance gives {points[2]} and leaves {points[3]}."
        )


def differences(found: DirectedAgreement, across: str = "topic") -> AgreementDifferences:
    """Compare a pair's agreement in every two topics, tasks or the like that it has agreement for.

    The agreement must have been counted by that column; where it was counted by others too, those are held fixed.
    Cost: O(rows log rows + differences), of which a pair with t topics has t (t - 1) / 2.

    Examples
    --------
    >>> from venire import read_judgments
    >>> from venire.agreement import directed_agreement
    >>> import polars as pl
    >>> table = [("t1", "a", "U", 1), ("t1", "b", "U", 0), ("t1", "a", "V", 1), ("t1", "b", "V", 0),
    ...          ("t2", "a", "U", 1), ("t2", "b", "U", 0), ("t2", "a", "V", 0), ("t2", "b", "V", 0)]
    >>> frame = pl.DataFrame(table, schema=["topic", "doc", "assessor", "label"], orient="row")
    >>> found = differences(directed_agreement(read_judgments(frame), by="topic"))
    >>> found.records()[0]["difference1"], found.typical().tolist()
    (-1.0, [0.0, 1.0])
    """
    if across not in found.by:
        raise SettingError(
            f"agreement was counted by {', '.join(found.by) or 'nothing'}, so it cannot be compared across {across}s",
            hint=f"count agreement by {across}",
        )
    column = found.by.index(across)
    places = tuple(dict.fromkeys(group[column] for group in found.groups))
    rest = tuple(dict.fromkeys(_without(group, column) for group in found.groups))
    place = np.array([places.index(group[column]) for group in found.groups])[found.group]
    held = np.array([rest.index(_without(group, column)) for group in found.groups])[found.group]
    order = np.lexsort((place, held, found.second, found.first))
    one, other = _row_pairs(np.stack([held, found.second, found.first])[:, order])
    one, other = order[one], order[other]
    if not len(one):
        raise PairsError(
            f"no directed pair has agreement for two {across}s",
            hint="require fewer judgments, or have assessors judge more in common",
        )
    pair, rates = (found.first[one], found.second[one]), (found.rates.take(one), found.rates.take(other))
    return AgreementDifferences(across, found.assessors, places, *pair, place[one], place[other], *rates)


def between(
    one: DirectedAgreement, other: DirectedAgreement, *, names: tuple[str, str], across: str = "task"
) -> AgreementDifferences:
    """Compare a pair's agreement in two results, such as those of a judging and of a search task (Figures 6 and 7).

    For tasks that come in files of their own, or that ask for different numbers of judgments.  names: what the two
    results are of.  Assessors are matched by name.
    """
    if one.by or other.by:
        raise SettingError(
            "results that are counted by topic or task cannot be compared here",
            hint="count both over all topics and tasks",
        )
    assessors = tuple(dict.fromkeys(one.assessors + other.assessors))
    numbers, other_numbers = _pair_numbers(one, assessors), _pair_numbers(other, assessors)
    pair, of_one, of_other = np.intersect1d(numbers, other_numbers, assume_unique=True, return_indices=True)
    if not len(pair):
        raise PairsError(
            f"no directed pair of assessors has agreement for both {names[0]} and {names[1]}",
            hint="assessors are matched by name",
        )
    zeros = np.zeros(len(pair), dtype=np.int64)
    n = len(assessors)
    rates = one.rates.take(of_one), other.rates.take(of_other)
    return AgreementDifferences(across, assessors, names, pair // n, pair % n, zeros, zeros + 1, *rates)


def _pair_numbers(found: DirectedAgreement, assessors: tuple[str, ...]) -> Ints:
    """Number of each row's directed pair, over these assessors -> (row,)."""
    number = {name: place for place, name in enumerate(assessors)}
    code = np.array([number[name] for name in found.assessors], dtype=np.int64)
    return code[found.first] * len(assessors) + code[found.second]


def _row_pairs(key: Ints) -> tuple[Ints, Ints]:
    """All pairs of rows with the same key, which is sorted; key (part, row) -> one, other (pair,), one before other."""
    n_rows = key.shape[1]
    start = np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))[:n_rows]
    size = np.diff(np.append(np.flatnonzero(start), n_rows))
    after = np.repeat(np.cumsum(size), size) - np.arange(n_rows) - 1
    one = np.repeat(np.arange(n_rows), after)
    return one, one + 1 + np.arange(len(one)) - offsets(after)[one]


def _without(names: tuple[str, ...], place: int) -> tuple[str, ...]:
    return names[:place] + names[place + 1 :]


def _known(values: Floats, summary: Callable[[Floats], Any]) -> list[tuple[str, float]]:
    """Summarise what is known of a0 and a1; values (2, row)."""
    both = [(kind, row[~np.isnan(row)]) for kind, row in zip(KINDS, values, strict=True)]
    return [(kind, float(summary(row))) for kind, row in both if len(row)]


def _median_of_means(size: Floats, pair: Ints) -> float:
    """Median over pairs of the mean over their rows; NaN where none is known.  size, pair (row,)."""
    known = ~np.isnan(size)
    n = np.bincount(pair[known])
    means = np.bincount(pair[known], size[known])[n > 0] / n[n > 0]
    return float(np.median(means)) if len(means) else float("nan")


def _chance(agreed: Floats, n: Floats, n_other: Floats) -> Floats:
    """Variance of a difference if items were assigned at random; NaN where there are too few to vary."""
    total = n + n_other
    known = (n > 0) & (n_other > 0) & (total > 1)
    n, n_other, total = (np.where(known, each, fill) for each, fill in ((n, 1.0), (n_other, 1.0), (total, 2.0)))
    p = np.clip(agreed / total, 0.0, 1.0)
    return np.where(known, p * (1 - p) * (1 / n + 1 / n_other) * total / (total - 1), np.nan)

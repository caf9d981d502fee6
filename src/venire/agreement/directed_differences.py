r"""Differences of directed agreement: does a pair of judges agree as much on another topic, or in another task?

Turpin and Scholer (2009), Sections 4.2 and 4.4, Figures 4, 6 and 7: for a directed pair of judges and two topics (two
tasks), the difference of a0 and that of a1.

A difference has two causes: the topics, and that each rate rests on few items.  Where the items of a pair were shared
out over the two topics at random, k of all N agreed on and n, n' of them in the topics, the difference would be zero
on average, with the variance

.. math:: \frac{k}{N}\Big(1 - \frac{k}{N}\Big)\Big(\frac1n + \frac1{n'}\Big)\frac{N}{N-1}

What the mean square of the differences has beyond the mean of these is due to topics or tasks.  The paper does not
take chance into account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.directed import KINDS, DirectedAgreement, Rates, counts_between
from venire.errors import PairsError, SettingError
from venire.kernels.ragged import offsets
from venire.results import Tabular, known
from venire.types import Floats, Ints


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

    def share_over(self, least: float = 0.5) -> Floats:
        """Share of the differences of a0 and of a1 that are larger than this -> (2,)."""
        known = ~np.isnan(self.values)
        over = np.abs(np.where(known, self.values, 0.0)) > least
        return over.sum(axis=1) / np.maximum(known.sum(axis=1), 1)

    def spread(self) -> Spread:
        """How far differences spread, and how far they would if only the choice of items mattered."""
        here, there = self.rates, self.other_rates
        chance = np.stack(
            [
                _chance(here.agree0 + there.agree0, here.n0, there.n0),
                _chance(here.agree1 + there.agree1, here.n1, there.n1),
            ]
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
        """One record per directed pair and two places: the rates there, and their differences; None if not known."""
        columns = {
            **dict(zip(("a0_one", "a1_one"), self.rates.both, strict=True)),
            **dict(zip(("a0_other", "a1_other"), self.other_rates.both, strict=True)),
            **dict(zip(("difference0", "difference1"), self.values, strict=True)),
        }
        lists = {name: column.tolist() for name, column in columns.items()}
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
        """Say in one sentence by how much agreement varies for the median pair."""
        words = [
            f"on {kind} documents {'varies ' if number == 0 else ''}by {100 * value:.0f} points"
            for number, (kind, value) in enumerate(_from_relevant(self.typical()))
        ]
        between = f"between {self.across}s for the median pair"
        return f"Agreement {words[0]} {between}" + (f", {words[1]}." if len(words) > 1 else ".")

    def chance_sentence(self) -> str:
        """Say in one sentence how much of that chance explains."""
        spread = self.spread()
        found, chance, beyond = (
            " and ".join(f"{100 * value:.0f}" for _, value in _from_relevant(each)) for each in spread
        )
        return (
            f"As root mean squares over relevant and irrelevant documents these differences are {found} points; items "
            f"shared out at random would give {chance}, which leaves {beyond} for the {self.across}s."
        )


def differences(found: DirectedAgreement, across: str = "topic") -> AgreementDifferences:
    """Compare a pair's agreement in every two topics, tasks or the like that it has agreement for.

    The agreement must have been counted by that column; where it was counted by others too, those are held fixed.
    Cost: O(rows log rows + differences), of which a pair with t topics has t (t - 1) / 2.

    Examples
    --------
    >>> from venire import directed_agreement, read_judgments
    >>> import polars as pl
    >>> table = [("t1", "a", "U", 1), ("t1", "b", "U", 0), ("t1", "a", "V", 1), ("t1", "b", "V", 0),
    ...          ("t2", "a", "U", 1), ("t2", "b", "U", 0), ("t2", "a", "V", 0), ("t2", "b", "V", 0)]
    >>> frame = pl.DataFrame(table, schema=["topic", "doc", "assessor", "label"], orient="row")
    >>> found = differences(directed_agreement(read_judgments(frame), by="topic"))
    >>> found.records()[0]["difference1"], found.sentence()
    (-1.0, 'Agreement on relevant documents varies by 100 points between topics for the median pair, on irrelevant
    documents by 0 points.')
    """
    if across not in found.by:
        raise SettingError(
            f"agreement was counted by {', '.join(found.by) or 'nothing'}, so it cannot be compared across {across}s",
            hint=f'count it by that: directed_agreement(judgments, by="{across}")',
        )
    column = found.by.index(across)
    places = tuple(dict.fromkeys(group[column] for group in found.groups))
    rest = tuple(dict.fromkeys(_without(group, column) for group in found.groups))
    place = np.array([places.index(group[column]) for group in found.groups])[found.group]
    held = np.array([rest.index(_without(group, column)) for group in found.groups])[found.group]
    order = np.lexsort((place, held, found.second, found.first))
    one, other = _twos(np.stack([held, found.second, found.first])[:, order])
    one, other = order[one], order[other]
    if not len(one):
        raise PairsError(
            f"no directed pair has agreement for two {across}s",
            hint="ask for fewer judgments with at_least=, or have assessors judge more in common",
        )
    rates = found.rates
    return AgreementDifferences(
        across,
        found.assessors,
        places,
        found.first[one],
        found.second[one],
        place[one],
        place[other],
        rates.take(one),
        rates.take(other),
    )


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
            hint='count by nothing; or by both, and use differences(found, "task")',
        )
    assessors = tuple(dict.fromkeys(one.assessors + other.assessors))
    numbers, other_numbers = _pair_numbers(one, assessors), _pair_numbers(other, assessors)
    pair, here, there = np.intersect1d(numbers, other_numbers, assume_unique=True, return_indices=True)
    if not len(pair):
        raise PairsError(
            f"no directed pair of assessors has agreement for both {names[0]} and {names[1]}",
            hint="assessors are matched by name: are they called alike in both?",
        )
    zeros = np.zeros(len(pair), dtype=np.int64)
    n = len(assessors)
    rates = one.rates.take(here), other.rates.take(there)
    return AgreementDifferences(across, assessors, names, pair // n, pair % n, zeros, zeros + 1, *rates)


def _pair_numbers(found: DirectedAgreement, assessors: tuple[str, ...]) -> Ints:
    """Number of each row's directed pair, over these assessors -> (row,)."""
    number = {name: place for place, name in enumerate(assessors)}
    code = np.array([number[name] for name in found.assessors], dtype=np.int64)
    return code[found.first] * len(assessors) + code[found.second]


def _twos(key: Ints) -> tuple[Ints, Ints]:
    """All twos of rows with the same key, which is sorted; key (part, row) -> one, other (two,), one before other."""
    n_rows = key.shape[1]
    start = np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))[:n_rows]
    size = np.diff(np.append(np.flatnonzero(start), n_rows))
    after = np.repeat(np.cumsum(size), size) - np.arange(n_rows) - 1
    one = np.repeat(np.arange(n_rows), after)
    return one, one + 1 + np.arange(len(one)) - offsets(after)[one]


def _without(names: tuple[str, ...], place: int) -> tuple[str, ...]:
    return names[:place] + names[place + 1 :]


def _median_of_means(size: Floats, pair: Ints) -> float:
    """Median over pairs of the mean over their rows; NaN where none is known.  size, pair (row,)."""
    known = ~np.isnan(size)
    n = np.bincount(pair[known])
    means = np.bincount(pair[known], size[known])[n > 0] / n[n > 0]
    return float(np.median(means)) if len(means) else float("nan")


def _chance(agreed: Floats, n: Floats, n_other: Floats) -> Floats:
    """Variance of a difference if items were shared out at random; NaN where there are too few to vary."""
    total = n + n_other
    known = (n > 0) & (n_other > 0) & (total > 1)
    n, n_other, total = (np.where(known, each, fill) for each, fill in ((n, 1.0), (n_other, 1.0), (total, 2.0)))
    p = np.clip(agreed / total, 0.0, 1.0)
    return np.where(known, p * (1 - p) * (1 / n + 1 / n_other) * total / (total - 1), np.nan)


def _from_relevant(values: Floats) -> list[tuple[str, float]]:
    """What is known of relevant, then of irrelevant documents."""
    pairs = list(zip(KINDS, values.tolist(), strict=True))[::-1]
    return [(kind, value) for kind, value in pairs if not np.isnan(value)]

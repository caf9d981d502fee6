"""Correlation of aspects: do several labels say more than one, and do they change together?

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1.  Spearman's rho between aspects and overall on
documents with a grade on every aspect (Table 2), in condition also with overall in isolation; and between changes
g(d|c) - g(d), on documents with a grade both ways on the two aspects at hand (Table 3).  Departures: every two aspects
are correlated in Table 2 too, for clusters; intervals over resampled topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from venire.analysis.aspect_cases import CHANGE, CONDITION, CONTEXTS, ISOLATION, Cases, Interval
from venire.errors import UnknownName
from venire.kernels.grade_tables import spearman_of_counts
from venire.tabular import Tabular
from venire.types import Codes, Floats, Ints

CELLS_AT_ONCE = 1 << 21
"""How many cells of resampled tables are held at a time."""


@dataclass(frozen=True, eq=False)
class Correlation:
    """Rho of two aspects on n labels, those of one assessor for one document; draws (1 + draw,).

    a_context differs from context for overall in isolation.
    """

    context: str
    a: str
    b: str
    a_context: str
    n: int
    rho: Interval
    draws: Floats

    def record(self) -> dict[str, Any]:
        """Return what JSON has."""
        return {
            "context": self.context,
            "a": self.a,
            "b": self.b,
            "a_context": self.a_context,
            "labels": self.n,
            "rho": self.rho.value,
            "low": self.rho.low,
            "high": self.rho.high,
            "reason": self.rho.reason,
        }


@dataclass(frozen=True, eq=False)
class AspectCorrelations(Tabular):
    """Correlations of every two aspects, in isolation, in condition, and of changes."""

    overall: str | None
    names: tuple[str, ...]
    pairs: tuple[Correlation, ...]

    def records(self) -> list[dict[str, Any]]:
        """One record per context and two aspects."""
        return [each.record() for each in self.pairs]

    def find(self, a: str, b: str, context: str = ISOLATION) -> Correlation:
        """Return the correlation of two aspects, in either order."""
        for name in (a, b):
            if name not in self.names:
                raise UnknownName("aspect", name, self.names)
        return next(
            each for each in self.pairs if each.context == each.a_context == context and {each.a, each.b} == {a, b}
        )

    def with_overall(self, context: str) -> list[Correlation]:
        """Correlations with overall, largest first, the unknown last (Table 2)."""
        some = [each for each in self.pairs if each.context == context and each.b == self.overall]
        return sorted(some, key=lambda each: -2.0 if each.rho.value is None else each.rho.value, reverse=True)

    def matrix(self, context: str) -> Floats:
        """Rho of every two aspects, as it is and per draw -> (1 + draw, aspect, aspect); NaN where unknown."""
        n = len(self.names)
        found = np.full((len(self.pairs[0].draws) if self.pairs else 1, n, n), np.nan)
        found[:, np.arange(n), np.arange(n)] = 1.0
        for each in self.pairs:
            if each.context == each.a_context == context:
                i, j = self.names.index(each.a), self.names.index(each.b)
                found[:, i, j] = found[:, j, i] = each.draws
        return found

    def sentence(self) -> str:
        """Say which aspect goes with overall most closely, and which least."""
        if self.overall is None:
            return "No aspect is named as overall, so none is compared with it."
        said = []
        for context in (ISOLATION, CONDITION):
            known = [each for each in self.with_overall(context) if each.rho.value is not None]
            known = [each for each in known if each.a_context == context]
            if known:
                said.append(
                    f"in {context} {' and '.join(_shown(each) for each in dict.fromkeys((known[0], known[-1])))}"
                )
        return f"Rank correlation with {self.overall}, highest and lowest: {'; '.join(said) or 'unknown'}."


def _shown(found: Correlation) -> str:
    rho = found.rho
    interval = "" if rho.low is None else f" [{rho.low:.2f}, {rho.high:.2f}]"
    return f"{found.a} {rho.value:.2f}{interval}"


def aspect_correlations(cases: Cases) -> AspectCorrelations:
    """Correlate every two aspects, and their changes.

    Cost: O(rows) per two aspects, and draws x grades^2.
    """
    pairs = [each for context in CONTEXTS for each in _every_two(cases, context)]
    if cases.overall is not None and len(cases.condition):
        pairs.append(_isolation_overall(cases, cases.overall))
    return AspectCorrelations(cases.overall, cases.names, tuple(pairs))


def _every_two(cases: Cases, context: str) -> list[Correlation]:
    names = [*cases.others, *([] if cases.overall is None else [cases.overall])]
    return [_two(cases, a, b, context) for a, b in combinations(names, 2)]


def _two(cases: Cases, a: str, b: str, context: str) -> Correlation:
    """Correlate two aspects: grades on complete documents, or changes where both have them."""
    aspects = cases.aspects
    if context == CHANGE:
        grades = [aspects.grades(name).astype(np.int64) for name in (a, b)]
        both = np.logical_and.reduce([(each[rows] >= 0) for each in grades for rows in (cases.before, cases.after)])
        rows = cases.after[both]
        values = [each[rows] - each[cases.before[both]] for each in grades]
    else:
        rows = cases.rows(context)
        rows = rows[aspects.complete()[rows]]
        values = [aspects.grades(name)[rows] for name in (a, b)]
    return _correlated(cases, (a, b, context, context), rows, values)


def _isolation_overall(cases: Cases, overall: str) -> Correlation:
    """Correlate overall in condition with overall in isolation, on complete documents (a row of Table 2)."""
    whole = cases.aspects.complete()[cases.after]
    before, after = cases.before[whole], cases.after[whole]
    grade = cases.aspects.grades(overall)
    return _correlated(cases, (overall, overall, CONDITION, ISOLATION), after, [grade[before], grade[after]])


def _correlated(
    cases: Cases, what: tuple[str, str, str, str], rows: Ints, values: Sequence[Codes | Ints]
) -> Correlation:
    a, b, context, a_context = what
    unordered = [name for name in (a, b) if not cases.aspects.scale_of(name).ordered]
    draws = _draws(cases, rows[:0] if unordered else rows, *values)
    constant = [name for name, each in zip((a, b), values, strict=True) if len(np.unique(each)) == 1]
    reason = cases.nothing(context) or (
        f"the labels of {' and '.join(dict.fromkeys(unordered))} have no order"
        if unordered
        else "no document has a grade on every aspect at hand"
        if not len(rows)
        else f"{'changes' if context == CHANGE else 'grades'} of {' and '.join(constant)} are all the same"
    )
    return Correlation(context, a, b, a_context, len(rows), cases.interval(draws, rows, reason), draws)


def _draws(cases: Cases, rows: Ints, a: Codes | Ints, b: Codes | Ints) -> Floats:
    """Rho as it is and per draw of topics -> (1 + draw,); NaN where it is not defined."""
    from scipy.sparse import csr_array

    draws = np.full(len(cases.weights), np.nan)
    if not len(rows):
        return draws
    levels, codes = zip(*(np.unique(each, return_inverse=True) for each in (a, b)), strict=True)
    shape = (len(levels[0]), len(levels[1]))
    cell = codes[0] * shape[1] + codes[1]
    size = shape[0] * shape[1]
    topic = cases.aspects.topic[rows]
    by_topic = csr_array((np.ones(len(rows)), (topic, cell)), shape=(cases.weights.shape[1], size)).T.tocsr()
    step = max(1, CELLS_AT_ONCE // size)
    for first in range(0, len(draws), step):
        some = cases.weights[first : first + step]
        draws[first : first + step] = spearman_of_counts((by_topic @ some.T).T.reshape(-1, *shape))
    return draws

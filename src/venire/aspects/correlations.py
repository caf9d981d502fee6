r"""Rank correlations of aspects and of their changes, and clusters of aspects by these.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1.  Spearman's rho between aspects and overall on
documents with a grade on every aspect (Table 2), of conditional labels also with overall in isolation; and between
changes g(d|c) - g(d), on documents with a grade both ways on the two aspects (Table 3).  Departures: every two aspects
are correlated in Table 2 too, for clusters; intervals over resampled topics.

The paper reads two clusters off a table: overall, topicality and novelty; authority, freshness and quality.  Here
aspects at the distance :math:`1 - \rho` are clustered by average linkage.  The support of a cluster is the share of
resampled sets of topics in which the same aspects are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from venire.aspects.cases import CHANGE, CONDITION, CONTEXTS, ISOLATION, Cases, Interval
from venire.errors import SettingError, UnknownName
from venire.kernels.rank_correlation import spearman_of_counts
from venire.results import Records, Tabular
from venire.types import Codes, Floats, Ints

CELLS_AT_ONCE = 1 << 21
"""Number of cells of resampled tables that are held at a time."""
MOST_DRAWS = 200
"""Number of resampled sets of topics that are clustered, at most."""


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
        """Return a row."""
        names = ("context", "a", "b", "a_context", "labels", "rho", "low", "high", "reason")
        return dict(zip(names, (self.context, self.a, self.b, self.a_context, self.n, *self.rho), strict=True))


@dataclass(frozen=True, eq=False)
class AspectCorrelations(Tabular):
    """Correlations of every two aspects, in isolation, of conditional labels, and of changes."""

    overall: str | None
    names: tuple[str, ...]
    pairs: tuple[Correlation, ...]

    def records(self) -> Records:
        """Return one row per context and two aspects."""
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
        """Return correlations with overall, largest first, the unknown last (Table 2)."""
        some = [each for each in self.pairs if each.context == context and each.b == self.overall]
        return sorted(some, key=lambda each: -2.0 if each.rho.value is None else each.rho.value, reverse=True)

    def matrix(self, context: str) -> Floats:
        """Return rho of every two aspects, as it is and per draw -> (1 + draw, aspect, aspect); NaN where unknown."""
        n = len(self.names)
        found = np.full((len(self.pairs[0].draws) if self.pairs else 1, n, n), np.nan)
        found[:, np.arange(n), np.arange(n)] = 1.0
        for each in self.pairs:
            if each.context == each.a_context == context:
                i, j = self.names.index(each.a), self.names.index(each.b)
                found[:, i, j] = found[:, j, i] = each.draws
        return found

    def sentence(self) -> str:
        """Return the highest and the lowest correlation with overall."""
        if self.overall is None:
            return "No aspect is named as overall, so none is compared with it."
        shown = []
        for context in (ISOLATION, CONDITION):
            known = [each for each in self.with_overall(context) if each.rho.value is not None]
            known = [each for each in known if each.a_context == context]
            shown += [f"in {context} {_shown(known[0])}, {_shown(known[-1])}"] if known else []
        return f"Rank correlation with {self.overall}, highest and lowest: {'; '.join(shown) or 'unknown'}."


def _shown(found: Correlation) -> str:
    rho = found.rho
    interval = "" if rho.low is None else f" [{rho.low:.2f}, {rho.high:.2f}]"
    return f"{found.a} {rho.value:.2f}{interval}"


def aspect_correlations(cases: Cases) -> AspectCorrelations:
    """Correlate every two aspects, and their changes.

    Cost: O(rows) per two aspects, and draws x grades^2.
    """
    names = [*cases.others, *([] if cases.overall is None else [cases.overall])]
    pairs = [_two(cases, a, b, context) for context in CONTEXTS for a, b in combinations(names, 2)]
    if cases.overall is not None and len(cases.condition):
        pairs.append(_isolation_overall(cases, cases.overall))
    return AspectCorrelations(cases.overall, cases.names, tuple(pairs))


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
    """Correlate the conditional overall label with that in isolation, on complete documents (a row of Table 2)."""
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
        else "no document has a grade on every aspect"
        if not len(rows)
        else f"{'changes' if context == CHANGE else 'grades'} of {' and '.join(constant)} are all the same"
    )
    return Correlation(context, a, b, a_context, len(rows), cases.interval(draws, rows, reason), draws)


def _draws(cases: Cases, rows: Ints, a: Codes | Ints, b: Codes | Ints) -> Floats:
    """Return rho as it is and per draw of topics -> (1 + draw,); NaN where it is not defined."""
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


class Merge(NamedTuple):
    """Aspects that are merged at a distance; support: the share of draws in which they are, None without draws."""

    aspects: list[str]
    distance: float
    support: float | None


@dataclass(frozen=True, eq=False)
class AspectClusters(Tabular):
    """Clusters of aspects by correlation: linkage (merge, 4) as scipy has it, merges, and the aspects in its order."""

    context: str
    names: tuple[str, ...]
    rho: Floats
    linkage: Floats
    merges: tuple[Merge, ...]
    order: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    reason: str | None = None

    def record(self) -> dict[str, Any]:
        """Return a JSON object with all merges."""
        return {
            "context": self.context,
            "order": list(self.order),
            "groups": [list(group) for group in self.groups],
            "merges": [each._asdict() for each in self.merges],
            "reason": self.reason,
        }

    def records(self) -> Records:
        """Return one row per merge, the closest first."""
        return [{"context": self.context, **each._asdict()} for each in self.merges]

    def sentence(self) -> str:
        """Return the clusters, and the least support of one."""
        by = "changes given another document" if self.context == CHANGE else f"grades in {self.context}"
        if not self.groups:
            return f"Clusters of aspects by {by} are not known: {self.reason}."
        support = {frozenset(each.aspects): each.support for each in self.merges}
        known = [share for group in self.groups if (share := support.get(frozenset(group))) is not None]
        least = f" (support at least {min(known):.0%})" if known else ""
        return f"Clusters of aspects by {by}: {'; '.join(', '.join(group) for group in self.groups)}{least}."


def aspect_clusters(correlations: AspectCorrelations, context: str, *, n_clusters: int = 2) -> AspectClusters:
    """Cluster aspects by the correlation of their grades, or of their changes.

    Aspects whose correlation with another is not known are left out, those with most unknown ones first.  n_clusters:
    number of ``groups``.  Cost: O(draws x aspects^3).
    """
    from scipy.cluster.hierarchy import fcluster, leaves_list, optimal_leaf_ordering

    if n_clusters < 1:
        raise SettingError(f"{n_clusters} clusters: expected 1 or more")
    draws = correlations.matrix(context)
    kept = _known(draws[0])
    left = [name for n, name in enumerate(correlations.names) if n not in kept]
    reason = f"correlations with {', '.join(left)} are not known" if left else None
    names = tuple(correlations.names[n] for n in kept)
    if len(names) < 2:
        why = next((each.rho.reason for each in correlations.pairs if each.context == context), "there is one aspect")
        return AspectClusters(context, (), np.zeros((0, 0)), np.zeros((0, 4)), (), (), (), why)
    draws = draws[np.ix_(range(len(draws)), kept, kept)]
    linkage = np.asarray(optimal_leaf_ordering(_linkage(draws[0]), _distances(draws[0])))
    sets = _sets(linkage, len(names))
    order = leaves_list(linkage).tolist()
    number = fcluster(linkage, n_clusters, criterion="maxclust")
    groups = [tuple(names[n] for n in order if number[n] == each) for each in dict.fromkeys(number[order].tolist())]
    drawn = [set(_sets(_linkage(rho), len(names))) for rho in draws[1 : 1 + MOST_DRAWS] if not np.isnan(rho).any()]
    support = [sum(some in each for each in drawn) / len(drawn) if drawn else None for some in sets]
    merges = tuple(
        Merge([names[n] for n in order if n in some], float(height), share)
        for some, height, share in zip(sets, linkage[:, 2], support, strict=True)
    )
    leaves = tuple(names[n] for n in order)
    return AspectClusters(context, names, draws[0], linkage, merges, leaves, tuple(groups), reason)


def _known(rho: Floats) -> list[int]:
    """Leave out aspects with most unknown correlations, one by one, until all are known."""
    kept = list(range(len(rho)))
    while kept and np.isnan(rho[np.ix_(kept, kept)]).any():
        kept.pop(int(np.isnan(rho[np.ix_(kept, kept)]).sum(axis=0).argmax()))
    return kept


def _distances(rho: Floats) -> Floats:
    """Return 1 - rho of every two aspects, as scipy has them."""
    return np.maximum(1 - rho[np.triu_indices(len(rho), 1)], 0.0)


def _linkage(rho: Floats) -> Floats:
    """Cluster by average linkage; rho (aspect, aspect) -> (merge, 4), as scipy.cluster.hierarchy has it."""
    from scipy.cluster.hierarchy import linkage

    return np.asarray(linkage(_distances(rho), "average"))


def _sets(linkage: Floats, n: int) -> list[frozenset[int]]:
    """Return the aspects of each merge."""
    found: list[frozenset[int]] = [frozenset([number]) for number in range(n)]
    for a, b in linkage[:, :2].astype(np.int64).tolist():
        found.append(found[a] | found[b])
    return found[n:]

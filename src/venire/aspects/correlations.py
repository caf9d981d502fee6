r"""Correlation of aspects: do several labels say more than one, and do they change together?

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1.  Spearman's rho between aspects and overall on
documents with a grade on every aspect (Table 2), in condition also with overall in isolation; and between changes
g(d|c) - g(d), on documents with a grade both ways on the two aspects at hand (Table 3).  Departures: every two aspects
are correlated in Table 2 too, for clusters; intervals over resampled topics.

Clusters of aspects: which of them say much the same, or change together.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1, find two: overall, topicality and novelty; authority,
freshness and quality.  There they are read off a table by eye; here aspects at the distance :math:`1 - \rho` are
merged step by step, mean distances deciding (average linkage).  How far topics support a cluster is the share of
resampled sets of topics in which the very same aspects are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from venire.aspects.cases import CHANGE, CONDITION, CONTEXTS, ISOLATION, Cases, Interval
from venire.errors import SettingError, UnknownName
from venire.kernels.rank_correlation import spearman_of_counts
from venire.results import Records, Tabular
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


MOST_DRAWS = 200
"""So many resampled sets of topics are clustered at most."""


@dataclass(frozen=True)
class Merge:
    """Aspects that come together at a distance; support: the share of draws in which they do, None without draws."""

    aspects: tuple[str, ...]
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
        """Return what JSON has."""
        return {
            "context": self.context,
            "order": list(self.order),
            "groups": [list(group) for group in self.groups],
            "merges": [
                {"aspects": list(each.aspects), "distance": each.distance, "support": each.support}
                for each in self.merges
            ],
            "reason": self.reason,
        }

    def records(self) -> Records:
        """Return one row per merge, the closest first."""
        return [
            {"context": self.context, "aspects": list(each.aspects), "distance": each.distance, "support": each.support}
            for each in self.merges
        ]

    def sentence(self) -> str:
        """Say which aspects belong together."""
        by = "by their changes in condition" if self.context == CONTEXTS[2] else f"by their grades in {self.context}"
        if self.reason is not None and not self.groups:
            return f"Clusters {by} are not known: {self.reason}."
        groups = "; ".join(", ".join(group) for group in self.groups)
        supports = {frozenset(each.aspects): each.support for each in self.merges}
        shares = [supports.get(frozenset(group)) for group in self.groups if len(group) > 1]
        known = [share for share in shares if share is not None]
        often = f" (together in at least {min(known):.0%} of the draws of topics)" if known else ""
        return f"Aspects that go together {by}: {groups}{often}."


def aspect_clusters(correlations: AspectCorrelations, context: str, *, n_clusters: int = 2) -> AspectClusters:
    """Cluster aspects by the correlation of their grades, or of their changes.

    Aspects whose correlation with another is not known are left out, the worst first.  n_clusters: into how many
    ``groups`` are cut.  Cost: O(draws x aspects^3).
    """
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
    return _clustered(context, names, draws, n_clusters, reason)


def _known(rho: Floats) -> list[int]:
    """Aspects that are left when those with most unknown correlations go, one by one."""
    kept = list(range(len(rho)))
    while kept and np.isnan(rho[np.ix_(kept, kept)]).any():
        kept.pop(int(np.isnan(rho[np.ix_(kept, kept)]).sum(axis=0).argmax()))
    return kept


def _clustered(
    context: str, names: tuple[str, ...], draws: Floats, n_clusters: int, reason: str | None
) -> AspectClusters:
    from scipy.cluster.hierarchy import fcluster, leaves_list

    linkage = _linkage(draws[0])
    sets = _sets(linkage, len(names))
    order = leaves_list(linkage).tolist()
    number = fcluster(linkage, n_clusters, criterion="maxclust")
    groups = [tuple(names[n] for n in order if number[n] == each) for each in dict.fromkeys(number[order].tolist())]
    support = _support(sets, draws[1 : 1 + MOST_DRAWS], len(names))
    merges = tuple(
        Merge(tuple(names[n] for n in order if n in some), float(height), share)
        for some, height, share in zip(sets, linkage[:, 2], support, strict=True)
    )
    return AspectClusters(
        context, names, draws[0], linkage, merges, tuple(names[n] for n in order), tuple(groups), reason
    )


def _linkage(rho: Floats) -> Floats:
    """Merge by mean distance; rho (aspect, aspect) -> (merge, 4), as scipy.cluster.hierarchy has it."""
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering

    distance = np.maximum(1 - rho[np.triu_indices(len(rho), 1)], 0.0)
    return np.asarray(optimal_leaf_ordering(linkage(distance, "average"), distance))


def _sets(linkage: Floats, n: int) -> list[frozenset[int]]:
    """Which aspects each merge brings together."""
    found: list[frozenset[int]] = [frozenset([number]) for number in range(n)]
    for a, b in linkage[:, :2].astype(np.int64).tolist():
        found.append(found[a] | found[b])
    return found[n:]


def _support(sets: list[frozenset[int]], draws: Floats, n: int) -> list[float | None]:
    """Share of draws in which each set is merged; None where no draw is known."""
    known = [rho for rho in draws if not np.isnan(rho).any()]
    if not known:
        return [None] * len(sets)
    from scipy.cluster.hierarchy import linkage

    corner = np.triu_indices(n, 1)
    drawn = [set(_sets(linkage(np.maximum(1 - rho[corner], 0.0), "average"), n)) for rho in known]
    return [sum(some in each for each in drawn) / len(drawn) for some in sets]

r"""Clusters of aspects: which of them say much the same, or change together.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.1, find two: overall, topicality and novelty; authority,
freshness and quality.  There they are read off a table by eye; here aspects at the distance :math:`1 - \rho` are
merged step by step, mean distances deciding (average linkage).  How far topics support a cluster is the share of
resampled sets of topics in which the very same aspects are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.analysis.aspect_cases import CONTEXTS
from venire.analysis.aspect_correlations import AspectCorrelations
from venire.errors import SettingError
from venire.tabular import Records, Tabular
from venire.types import Floats

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

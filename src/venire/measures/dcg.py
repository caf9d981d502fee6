r"""Cumulative gain: CG, DCG, nDCG.

.. math:: DCG@k = \sum_{r \le k} g_r\, c(r), \qquad c(r) = \frac{1}{\log_2(r + 1)} \text{ or } \frac1r \text{ (Zipf)}

Järvelin and Kekäläinen (2002), doi:10.1145/582415.582418; the discounts as in Kanoulas and Aslam (2009),
doi:10.1145/1645953.1646032.  nDCG divides by the DCG of the best ranking, which sorts by gain.  CG and DCG are
expectations over users for gains that are; nDCG is a ratio of expectations.

With ``alpha`` the gains are utilities in context; exp-log2 is then Eq. (2) of Golbus et al. (2014),
doi:10.1145/2566486.2568015, with u in place of g.  The best ranking is sought among orders of the judged documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from venire.data.align import Ranked
from venire.data.gains import Gains, exponential
from venire.errors import MeasureError, known_names
from venire.kernels.ranking import discounted, share
from venire.measures.measure import ContextMeasure, OverUsers, Worth, require_ideal
from venire.types import Floats, Ints


def log2(rank: Ints) -> Floats:
    """1 / log2(rank + 1)."""
    return 1 / np.log2(rank + 1.0)


def zipf(rank: Ints) -> Floats:
    """1 / rank."""
    return 1.0 / rank


DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {"log2": log2, "exp-log2": log2, "zipf": zipf}


@dataclass(frozen=True)
class CG(ContextMeasure):
    """Cumulative gain: the sum of gains of the first k."""

    mean_over_users = "always"

    def weights(self, rank: Ints) -> Floats:
        """Every rank counts alike."""
        return np.ones(rank.shape)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        return ranked.upto(self.k).gains.sum(axis=-1)


@dataclass(frozen=True)
class DCG(ContextMeasure):
    """Discounted cumulative gain; ``dcg`` is log2, zipf, or exp-log2 (over exponential gains)."""

    dcg: str = "log2"

    def __post_init__(self) -> None:
        """Check the name of the discount."""
        super().__post_init__()
        if self.dcg not in DISCOUNTS:
            raise MeasureError(f"{self.dcg!r} is not a discount", hint=known_names(self.dcg, DISCOUNTS))

    @property
    def mean_over_users(self) -> OverUsers:
        """Always; but exponential gains are no probabilities."""
        return "never" if self.dcg == "exp-log2" else "always"

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label; exponential ones for exp-log2, whatever was given."""
        if self.dcg != "exp-log2":
            return super().worth(gains, unjudged)
        note = None if gains.name in ("linear", "exponential") else f"{self} takes exponential gains, not {gains.name}"
        return Worth(exponential(gains.scale).values, unjudged, note, powers=1.0)

    def weights(self, rank: Ints) -> Floats:
        """Return the discount of each rank."""
        return DISCOUNTS[self.dcg](rank)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        seen = ranked.upto(self.k)
        return discounted(seen.gains, self.weights(seen.rank))


@dataclass(frozen=True)
class nDCG(DCG):  # noqa: N801 - the field's spelling
    """DCG as a share of what the best ranking of the topic's judged documents would have."""

    mean_over_users = "never"

    @property
    def best_depth(self) -> int | None:
        """Return the cut-off."""
        return self.k

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the DCG of the best ranking."""
        return DCG.__call__(self, best)

    def __call__(self, ranked: Ranked) -> Floats:
        """Score (judge, list, slot) -> (judge, list)."""
        return share(super().__call__(ranked), require_ideal(ranked.ideal))

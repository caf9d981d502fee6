r"""Cumulative gain: CG, DCG, nDCG, and in context CCG, CCGsingle, nCCG.

.. math:: DCG@k = \sum_{r \le k} g_r\, c(r), \qquad c(r) = \frac{1}{\log_2(r + 1)} \text{ or } \frac1r \text{ (Zipf)}

Järvelin and Kekäläinen (2002), doi:10.1145/582415.582418; the discounts as in Kanoulas and Aslam (2009),
doi:10.1145/1645953.1646032.  nDCG divides by the DCG of the best ranking, which sorts by gain.  If gains are
expectations over users, so are CG and DCG; nDCG is a ratio of expectations.

With ``alpha`` the gains are utilities in context; exp-log2 is then Eq. (2) of Golbus et al. (2014),
doi:10.1145/2566486.2568015, with u in place of g.  The best ranking is searched among orders of the judged documents.
Contextual cumulative gain is their Eq. (6), with the index j inside the inner sum, as in the text of Section 3.3.2
(printed: i).  A user stops at rank i with a chance proportional to 1 / log2(i + 1), and has gained what is ranked up to
i:

.. math::
    CCG@k = \sum_{i=1}^{k} \frac{1}{\log_2(i+1)} \sum_{j=1}^{i} u_j
          = \sum_{j=1}^{k} u_j \sum_{i=j}^{k} \frac{1}{\log_2(i+1)}, \qquad
    u_j = (1 - \alpha)\, g(d_j) + \alpha\, g(d_j | d_{j-1})

Eq. (7), which the paper calls the same, is a different measure, CCGsingle:

.. math:: CCGsingle@k = \sum_{i=1}^{k} (k - i + 1) \frac{u_i}{\log_2(i+1)}

For utilities 3, 1, 2, 0, 1 they are 13.8157 and 20.9106.  Ranks without a document have no utility, so a list that ends
before rank k does not score less than the same list filled up with worthless documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from venire.data.gains import Gains, exponential
from venire.errors import MeasureError, known_names
from venire.measures.measure import ContextMeasure, Normalised, OverUsers, Worth
from venire.results import Note
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
    adds = True

    def weights(self, rank: Ints) -> Floats:
        """Return 1 for every rank."""
        return np.ones(rank.shape)


@dataclass(frozen=True)
class DCG(ContextMeasure):
    """Discounted cumulative gain; ``dcg`` is log2, zipf, or exp-log2 (over exponential gains)."""

    dcg: str = "log2"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the name of the discount."""
        super().__post_init__()
        if self.dcg not in DISCOUNTS:
            raise MeasureError(f"{self.dcg!r} is not a discount", hint=known_names(self.dcg, DISCOUNTS))

    @property
    def mean_over_users(self) -> OverUsers:
        """Return "always", except for exponential gains, which are no probabilities."""
        return "never" if self.dcg == "exp-log2" else "always"

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label; exponential ones for exp-log2, whatever was given."""
        if self.dcg != "exp-log2":
            return super().worth(gains, unjudged)
        note = None
        if gains.name not in ("linear", "exponential"):
            text = "{measure} uses exponential gains, not {gains}"
            note = Note("exponential-gains", text, measure=str(self), gains=gains.name)
        return Worth(exponential(gains.scale).values, unjudged, note, powers=1.0)

    def weights(self, rank: Ints) -> Floats:
        """Return the discount of each rank."""
        return DISCOUNTS[self.dcg](rank)


@dataclass(frozen=True)
class nDCG(Normalised, DCG):  # noqa: N801 - the field's spelling
    """DCG as a share of what the best ranking of the topic's judged documents would have."""

    mean_over_users = "never"


@dataclass(frozen=True)
class CCG(ContextMeasure):
    """Contextual cumulative gain by Eq. (6): what users have gained by the rank at which they stop."""

    mean_over_users: ClassVar[OverUsers] = "always"

    def __post_init__(self) -> None:
        """Require a cut-off."""
        super().__post_init__()
        if self.k is None:
            name = type(self).__name__
            raise MeasureError(f"{name} needs a cut-off", hint=f"write {name}(alpha=0.5)@5")

    def by_rank(self, depth: int) -> Floats:
        """Weight of the utility at ranks 1..depth -> (depth,)."""
        return log2(np.arange(1, depth + 1))[::-1].cumsum()[::-1]

    def weights(self, rank: Ints) -> Floats:
        """Return the weight of the utility at each rank, 0 beyond k; same shape."""
        depth = self.k or 1
        return np.append(self.by_rank(depth), 0.0)[np.minimum(rank, depth + 1) - 1]


@dataclass(frozen=True)
class CCGsingle(CCG):
    """The single sum of Eq. (7): each discounted utility counts for every rank from its own to k."""

    def by_rank(self, depth: int) -> Floats:
        """Weight of the utility at ranks 1..depth -> (depth,)."""
        return np.arange(depth, 0, -1.0) * log2(np.arange(1, depth + 1))


@dataclass(frozen=True)
class nCCG(Normalised, CCG):  # noqa: N801 - spelled as nDCG is
    """CCG as a share of what the best order of the topic's judged documents would have."""

    mean_over_users = "never"

r"""Measures of a user who reads down the list and stops: RR, ERR, nERR, RBP.

.. math::
    ERR@k = \sum_{r \le k} \frac{R_r}{r} \prod_{j < r} (1 - R_j), \qquad R = \frac{2^{level} - 1}{2^{top\ level}}

Chapelle et al. (2009), doi:10.1145/1645953.1646033, with the top level of the scale, not a constant.  Stated gains
within [0, 1] are the probabilities R themselves; other stated gains are scaled as 2^level - 1 is, by one more than the
largest.  With ``alpha``, 2^u takes the place of 2^level, as in Eq. (3) of Golbus et al. (2014),
doi:10.1145/2566486.2568015; stated gains are interpolated themselves.  RR is the same sum for binary relevance: for
probabilities of relevance, the expected reciprocal rank of the first relevant document.

.. math:: RBP = (1 - p) \sum_r p^{r-1} g_r

Moffat and Zobel (2008), doi:10.1145/1416950.1416952.  Gains beyond [0, 1] are divided by the largest, as RBP is a
rate of utility per document.  Its residual is the weight of all documents without a judgment: the most by which their
labels could raise the score.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from venire.data.gains import Gains, exponential
from venire.errors import GainsError, MeasureError
from venire.measures.measure import (
    BinaryMeasure,
    ContextMeasure,
    Measure,
    Normalised,
    OverUsers,
    Ranked,
    Worth,
    by_powers,
    discounted,
)
from venire.types import Floats, Ints


@dataclass(frozen=True)
class RR(BinaryMeasure):
    """Reciprocal rank of the first relevant document."""

    mean_over_users = "independent"

    def _score(self, seen: Ranked) -> Floats:
        return stopping(seen.gains, seen.rank)


@dataclass(frozen=True)
class ERR(ContextMeasure):
    """Expected reciprocal rank at which a user who reads downwards is satisfied."""

    stops = True
    mean_over_users: ClassVar[OverUsers] = "independent"

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Probability that a document of each label satisfies."""
        if gains.unit:
            return Worth(gains.values, min(unjudged, 1.0))
        values, unknown = gains.values, unjudged
        if gains.name == "linear":
            values, unknown = exponential(gains.scale).values, 2.0**unjudged - 1
        top = float(values.max()) + 1
        powers = top if gains.name == "linear" or by_powers(gains) else None
        return Worth(values / top, min(unknown / top, 1.0), powers=powers)

    def weights(self, rank: Ints) -> Floats:
        """1 / rank."""
        return 1.0 / rank

    def _score(self, seen: Ranked) -> Floats:
        return stopping(seen.gains, seen.rank)


@dataclass(frozen=True)
class nERR(Normalised, ERR):  # noqa: N801 - the field's spelling
    """ERR as a share of that of the best ranking."""

    mean_over_users = "never"


@dataclass(frozen=True)
class RBP(Measure):
    """Rank-biased precision: gain per document for a user who reads on with probability p."""

    k: int | None = field(default=None, kw_only=True)
    p: float = 0.8
    rel: str | None = None
    mean_over_users = "always"

    def __post_init__(self) -> None:
        """Check the persistence."""
        super().__post_init__()
        if not 0 < self.p < 1:
            raise MeasureError(f"RBP: p is {self.p}, expected a probability strictly between 0 and 1")

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label as a share of the top one; 0 or 1 by ``rel`` if that is given."""
        if self.rel is not None:
            return BinaryMeasure(rel=self.rel).worth(gains, unjudged)
        top = 1.0 if gains.unit else float(gains.values.max())
        if top <= 0:
            raise GainsError("RBP needs a label with a gain above 0", hint=f"found {gains!r}")
        return Worth(gains.values / top, min(unjudged / top, 1.0))

    def _score(self, seen: Ranked) -> Floats:
        return discounted(seen.gains, self._weight(seen))

    def _weight(self, ranked: Ranked) -> Floats:
        return (1 - self.p) * np.power(self.p, ranked.rank - 1.0)

    def __str__(self) -> str:
        text = super().__str__()
        name = type(self).__name__
        if self.p != type(self).p:
            return text
        start = f"{name}(p={self.p!r}"
        return text.replace(f"{name}(", f"{start},", 1) if f"{name}(" in text else text.replace(name, f"{start})", 1)


@dataclass(frozen=True)
class RBPResidual(RBP):
    """What RBP would gain if every document without a judgment had the top gain; 1 for a missing list."""

    empty_score = 1.0

    def _score(self, seen: Ranked) -> Floats:
        return 1 - discounted(seen.judged.astype(np.float64), self._weight(seen))


def none_before(gains: Floats) -> Floats:
    """Probability that nothing at better ranks is relevant -> same shape."""
    unseen = np.ones_like(gains)
    np.cumprod(1 - gains[..., :-1], axis=-1, out=unseen[..., 1:])
    return unseen


def stopping(gains: Floats, rank: Ints) -> Floats:
    """Expected 1/rank at which a user stops who is satisfied by each document with probability g."""
    return (none_before(gains) * gains / rank).sum(axis=-1)

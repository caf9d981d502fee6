r"""Stability: which orders of systems would stay the same under another judge.

From the draws of a forecast, for every two systems: how often does the one that is ahead now stay strictly ahead?  Over
all pairs: Kendall's tau-b between the order now and in each draw.  For every system: the interval of its rank.  Tied
systems share a rank, so their interval goes from the best of the tied ranks to the worst.

A pair is *significant* by a test over topics (its adjusted p-value comes from the caller), *fragile* if it has an order
now that does not stay under another judge with a probability over 20 %: the pair is reversed or tied.  Pairs that are
both come first wherever pairs are listed: more topics under the same judge would not make them less fragile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.comparison.forecast import FRAGILE, TIE, Forecast
from venire.errors import SettingError
from venire.kernels.rank_correlation import kendall_tau
from venire.results import Estimate, Tabular, counted
from venire.types import Bools, Floats, Ints

ALPHA, CONFIDENCE = 0.05, 0.95
DIGITS = 10
"""Scores are compared to this many decimals: smaller differences are rounding errors."""
BLOCK_CELLS = 1 << 22
"""How many cells (draws x pairs of systems) are held at a time."""


@dataclass(frozen=True, eq=False)
class Stability(Tabular):
    """The order of systems under other judges.

    above (system, system): how often the row is strictly ahead of the column.  tau (draw,).  rank, rank_low, rank_high
    (system,): the rank now, and its 95 % interval over the draws.  p_adjusted (pair,), pairs in the order of ``pairs``,
    or None.
    """

    forecast: Forecast
    above: Floats
    tau: Floats
    rank: Ints
    rank_low: Ints
    rank_high: Ints
    p_adjusted: Floats | None = None

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """Numbers of the systems of all pairs, a < b -> (pair,) each."""
        return self.forecast.pairs()

    @property
    def delta(self) -> Floats:
        """Difference of the means now -> (pair,)."""
        a, b = self.pairs
        return self.forecast.mean[a] - self.forecast.mean[b]

    @property
    def stays(self) -> Floats:
        """Probability that the order stays the same, strictly; 0 for systems that are tied now -> (pair,)."""
        return self._of_sign(self.above)

    @property
    def flips(self) -> Floats:
        """Probability that the order is reversed -> (pair,)."""
        return self._of_sign(self.above.T)

    @property
    def tie(self) -> Floats:
        """Probability that the two are tied -> (pair,)."""
        a, b = self.pairs
        return np.round(1.0 - self.above[a, b] - self.above[b, a], DIGITS) + 0.0

    @property
    def fragile(self) -> Bools:
        """Pairs that another judge reverses or ties with a probability over ``FRAGILE`` -> (pair,)."""
        return (np.abs(self.delta) > TIE) & (self.flips + self.tie > FRAGILE)

    @property
    def significant(self) -> Bools:
        """Pairs that differ significantly over topics -> (pair,); none without a test."""
        n = len(self.pairs[0])
        return np.zeros(n, dtype=np.bool_) if self.p_adjusted is None else self.p_adjusted < ALPHA

    def order(self) -> Ints:
        """Return the numbers of the pairs, significant yet fragile first, then by the probability of being reversed.

        Of those that are reversed as often, first those that are tied more often.
        """
        return np.lexsort((-self.tie, -self.flips, ~(self.significant & self.fragile)))

    def correlation(self) -> Estimate:
        """Return the mean of tau over the draws, and the interval of 95 % of them."""
        known = self.tau[~np.isnan(self.tau)]
        if not len(known):
            return Estimate(np.nan, np.nan, np.nan, CONFIDENCE, "all systems are tied in every draw")
        low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return Estimate(
            float(known.mean()), float(low), float(high), CONFIDENCE, f"{counted(len(known), 'draw')} of a judge"
        )

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair, significant yet fragile pairs first."""
        a, b = self.pairs
        columns = np.stack([self.delta, self.stays, self.tie, self.flips], axis=1).tolist()
        keys = ("delta", "p_stays_ahead", "p_tie", "p_flips")
        names, p = self.forecast.systems, self.p_adjusted
        return [
            {"a": names[a[n]], "b": names[b[n]], "measure": self.forecast.measure}
            | dict(zip(keys, columns[n], strict=True))
            | {
                "p_adjusted": None if p is None else float(p[n]),
                "significant": None if p is None else bool(self.significant[n]),
                "fragile": bool(self.fragile[n]),
            }
            for n in self.order().tolist()
        ]

    def system_records(self) -> list[dict[str, Any]]:
        """Return one JSON object per system, best first."""
        low, high = self.forecast.limits(CONFIDENCE)
        keys = ("system", "mean", "low", "high", "rank", "rank_low", "rank_high")
        columns = (self.forecast.mean, low, high, self.rank, self.rank_low, self.rank_high)
        rows = zip(self.forecast.systems, *(each.tolist() for each in columns), strict=True)
        found = [dict(zip(keys, row, strict=True)) for row in rows]
        return [found[n] for n in self.by_score().tolist()]

    def by_score(self) -> Ints:
        """Return the numbers of the systems, best mean first."""
        return np.argsort(-np.round(self.forecast.mean, DIGITS), kind="stable")

    def sentence(self) -> str:
        """Return tau with the order now, and how many pairs are fragile."""
        tau, fragile = self.correlation(), int(self.fragile.sum())
        tested = (
            "" if self.p_adjusted is None else f", {int((self.significant & self.fragile).sum()):,} of them significant"
        )
        return (
            f"By {self.forecast.measure}, the order of the {len(self.rank)} systems under another judge has a tau of "
            f"{tau.value:.2f} [{tau.low:.2f}, {tau.high:.2f}] with the order now; {fragile:,} of "
            f"{counted(len(self.stays), 'pair')} are fragile{tested}."
        )

    def _of_sign(self, ahead: Floats) -> Floats:
        """Select from (system, system) in the direction of the order now -> (pair,)."""
        a, b = self.pairs
        delta = self.delta
        return np.where(delta > TIE, ahead[a, b], np.where(delta < -TIE, ahead[b, a], 0.0))


def stability(forecast: Forecast, *, p_adjusted: Floats | None = None) -> Stability:
    """Compute which orders of a forecast stay the same; p_adjusted (pair,) by a test over topics.

    Cost: O(draws x systems^2), in blocks.
    """
    n = len(forecast.systems)
    if n < 2:
        raise SettingError("there is one system, and so no order", hint="give the runs of two systems or more")
    if p_adjusted is not None and p_adjusted.shape != (n * (n - 1) // 2,):
        raise SettingError(
            f"{counted(len(p_adjusted), 'p-value')} for the {counted(n * (n - 1) // 2, 'pair')} of {n} systems"
        )
    now, draws = np.round(forecast.mean, DIGITS), np.round(forecast.draws, DIGITS)
    best, worst, above = _ranks(draws)
    tail = (1 - CONFIDENCE) / 2
    return Stability(
        forecast,
        above,
        kendall_tau(draws, now),
        1 + (now[None, :] > now[:, None]).sum(axis=1),
        np.quantile(best, tail, axis=0, method="inverted_cdf").astype(np.int64),
        np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf").astype(np.int64),
        p_adjusted,
    )


def _ranks(draws: Floats) -> tuple[Ints, Ints, Floats]:
    """Return best and worst rank (draw, system), and how often the row is ahead of the column (system, system)."""
    n_draws, n = draws.shape
    best, worst = np.empty((2, n_draws, n), dtype=np.int64)
    above = np.zeros((n, n))
    step = max(1, BLOCK_CELLS // (n * n))
    for first in range(0, n_draws, step):
        some = draws[first : first + step]
        ahead = some[:, :, None] > some[:, None, :]
        best[first : first + step] = 1 + ahead.sum(axis=1)
        worst[first : first + step] = n - ahead.sum(axis=2)
        above += ahead.sum(axis=0)
    return best, worst, above / n_draws

"""Measures against users' preference: how far does the score of a result list say what users say?

Golbus et al. (2014), doi:10.1145/2566486.2568015, Sections 4.2 and 5.2.2: Cohen's kappa and Jaccard's coefficient
between the directions of a measure and those of users (``users.verdicts``), under three
conditions.  The paper names the Jaccard coefficient without a formula; here it is a / (2 - a)
with a the share of equal directions, ties among them (``kernels.directions``).  Somebody who always says "tie" has
kappa 0, and the Jaccard coefficient that the users' ties give: the baseline.

Departure: the paper has no intervals.  Here topics are resampled with all their cases, and thresholds are set anew in
every draw.  Two measures are compared on the same draws: p is the share of draws in which the difference of kappas
strays from the one seen as far as that is from 0.  The best measure is chosen by the same data, so p_adjusted compares
with the largest such stray, in standard errors, over every two measures.

The conditions under which a measure is held against users' preference, which differ in its threshold for ties.

Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.2.2.  A measure prefers the list with the higher score; a
difference of at most t is a tie.  The threshold is set by the share of ties that it makes:

    weak           the share of ties is that of weak user preference
    strong         the share of ties is that of strong user preference
    simultaneous   the share for which the sum of both kappas, with weak and with strong preference, is largest

A threshold is 0 or one of the differences, so not every share can be had: the nearest is taken, of two the smaller.
The smallest is the share of differences that are exactly 0 (the paper's plots start flat there); it stands for any
share below.  In ``simultaneous`` one share serves all measures that are compared, as in the paper (there about 25 %):
of 41 shares from 0 to 1 the one with the largest sum on average over measures, of several the smallest.  It is chosen
to look well, so kappa there is somewhat too high, in the paper as here.  Kappa without meaning (both give one and the
same answer throughout) counts as 0 in the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from venire.errors import SettingError
from venire.kernels.directions import (
    Curves,
    at_places,
    directions,
    jaccard_of,
    nearest_places,
    thresholds_at,
    tie_curves,
)
from venire.kernels.resampling import topic_weights
from venire.results import Records, Tabular, counted, known
from venire.types import Floats, Ints, RNGLike
from venire.users.verdicts import STRENGTHS, UserVerdicts

CONDITIONS = ("weak", "strong", "simultaneous")
SHARES = np.linspace(0.0, 1.0, 41)
BLOCK_CELLS = 1 << 19
"""So many places (measures x draws x cases) are held at a time, some twenty numbers each."""


class Conditioned(NamedTuple):
    """Agreement under each condition: kappa, jaccard (condition, weak or strong, measure, draw).

    ties, threshold (condition, measure, draw): the share of ties that the measure makes, and what it takes.
    """

    kappa: Floats
    jaccard: Floats
    ties: Floats
    threshold: Floats


def conditioned(difference: Floats, users: Ints, weights: Floats) -> Conditioned:
    """Set the thresholds of every measure in every draw, and hold it against the users.

    difference (measure, case), users (weak or strong, case) directions, weights (draw, case): how often a case counts.
    Cost: O(measures x draws x cases), memory bounded.
    """
    refuse_undefined(difference)
    step = max(1, BLOCK_CELLS // max(1, difference.size))
    parts = [_block(difference, users, weights[first : first + step]) for first in range(0, len(weights), step)]
    return Conditioned(*(np.concatenate(each, axis=-1) for each in zip(*parts, strict=True)))


def swept(difference: Floats, users: Ints, weights: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Agreement at the thresholds nearest to shares of ties -> kappa, jaccard (weak or strong, measure, draw, share).

    The third are the shares of ties that were had (measure, draw, share).
    """
    step = max(1, BLOCK_CELLS // max(1, difference.size))
    parts = [
        _at_shares(difference, users, weights[first : first + step], shares) for first in range(0, len(weights), step)
    ]
    kappa, same, ties = (np.concatenate(each, axis=-2) for each in zip(*parts, strict=True))
    return kappa, jaccard_of(same), ties


def answers_at(difference: Floats, threshold: Floats) -> Ints:
    """The measures' own directions: difference (measure, case), threshold (..., measure) -> (..., measure, case)."""
    return np.where(np.abs(difference) <= threshold[..., None], 0, directions(difference)).astype(np.int64)


def refuse_undefined(difference: Floats) -> None:
    """Refuse differences that are no numbers, and none at all."""
    if difference.ndim != 2 or difference.shape[1] == 0 or not np.isfinite(difference).all():
        raise SettingError(
            f"differences of scores have shape {difference.shape}, expected numbers (measure, case) and no NaN",
            hint="leave out cases without a score",
        )


def _block(difference: Floats, users: Ints, weights: Floats) -> Conditioned:
    curves = tie_curves(difference, users, weights)
    own = (weights @ (users == 0).T) / weights.sum(axis=1, keepdims=True)
    place = nearest_places(curves, np.concatenate([own, _best_share(curves)[:, None]], axis=1))
    found = (at_places(each, place) for each in (curves.kappa, curves.same, curves.ties))
    kappa, same, ties = (np.moveaxis(each, -1, 0) for each in found)
    return Conditioned(kappa, jaccard_of(same), ties, np.moveaxis(thresholds_at(difference, place), -1, 0))


def _best_share(curves: Curves) -> Floats:
    """The share of ties for which the sum of both kappas is largest, on average over measures -> (draw,)."""
    n_draws = curves.ties.shape[1]
    places = nearest_places(curves, np.broadcast_to(SHARES, (n_draws, len(SHARES))))
    both = np.nan_to_num(at_places(curves.kappa, places)).sum(axis=0).mean(axis=0)
    return np.asarray(SHARES[np.round(both, 12).argmax(axis=-1)])


def _at_shares(difference: Floats, users: Ints, weights: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    curves = tie_curves(difference, users, weights)
    places = nearest_places(curves, np.broadcast_to(shares, (len(weights), len(shares))))
    kappa, same, ties = (at_places(each, places) for each in (curves.kappa, curves.same, curves.ties))
    return kappa, same, ties


LEVEL, N_DRAWS = 0.95, 1000
TOPICS_FOR_INTERVALS = 20
"""Over fewer topics, intervals are too narrow."""
EQUAL = 1e-12
KEYS = {"kappa": ("kappa", "low", "high"), "jaccard": ("jaccard", "jaccard_low", "jaccard_high")}
VIEWS = ((0, 0), (1, 1), (2, 0), (2, 1))
"""What is reported: (condition, weak or strong preference), as in Figures 7, 8 and both rows of 9."""


@dataclass(frozen=True, eq=False)
class UserAgreement(Tabular):
    """Agreement of measures with users: seen has one draw, drawn those of resampled topics (none: no intervals).

    Shapes are those of ``Conditioned``: (condition, weak or strong, measure, draw).
    """

    verdicts: UserVerdicts
    seen: Conditioned
    drawn: Conditioned | None

    def record(self, measure: int, view: tuple[int, int]) -> dict[str, Any]:
        """Return one JSON object: a measure under a condition, against weak or strong preference."""
        condition, strength = view
        at = (condition, strength, measure)
        found: dict[str, Any] = {
            "condition": CONDITIONS[condition],
            "preference": STRENGTHS[strength],
            "share_of_ties": float(self.seen.ties[condition, measure, 0]),
            "threshold": float(self.seen.threshold[condition, measure, 0]),
        }
        for name in ("kappa", "jaccard"):
            low, high = self.limits(name, at)
            value = known(getattr(self.seen, name)[at][0])
            found |= dict(zip(KEYS[name], (value, low, high), strict=True))
        found["reason"] = None if found["kappa"] is not None else "users and measure give one and the same answer"
        return found

    def sentence(self) -> str:
        """Say how far the best measure agrees with weak preference."""
        best = self.best(VIEWS[0])
        found = self.record(best, VIEWS[0])
        if found["kappa"] is None:
            return f"No measure can be told from chance: {found['reason']}."
        interval = "" if found["low"] is None else f" ({found['low']:.2f} to {found['high']:.2f})"
        n_measures = self.seen.kappa.shape[2]
        which = f"Measure {best + 1} of {n_measures} agrees best" if n_measures > 1 else "The measure agrees"
        return f"{which} with users: kappa {found['kappa']:.2f}{interval}, weak preference."

    def records(self) -> Records:
        """Return one row per measure, numbered from 1, and condition."""
        n_measures = self.seen.kappa.shape[2]
        return [{"measure": n + 1, **self.record(n, view)} for view in VIEWS for n in range(n_measures)]

    def limits(self, name: str, at: tuple[int, ...]) -> tuple[float | None, float | None]:
        """The interval of kappa or jaccard over resampled topics; None where it was not asked for or has no meaning."""
        if self.drawn is None:
            return None, None
        return limits(getattr(self.drawn, name)[at])

    def best(self, view: tuple[int, int]) -> int:
        """The measure with the highest kappa, the first of several."""
        return int(np.argmax(np.nan_to_num(self.seen.kappa[*view, :, 0], nan=-np.inf)))

    def p_values(self, view: tuple[int, int]) -> tuple[Floats, Floats]:
        """The p-values of every measure against the best, and adjusted for its choice -> (measure,) each; NaN: none."""
        return against_best(self.seen.kappa[*view, :, 0], None if self.drawn is None else self.drawn.kappa[view])

    def baseline(self) -> list[dict[str, Any]]:
        """What always saying "tie" would score against weak and against strong preference."""
        jaccard = jaccard_of(self.verdicts.ties)
        return [
            {"preference": name, "kappa": 0.0 if ties < 1 else None, "jaccard": float(value)}
            for name, ties, value in zip(STRENGTHS, self.verdicts.ties, jaccard, strict=True)
        ]

    def notes(self) -> list[str]:
        """Say what to be careful about."""
        few = f"intervals over {counted(self.verdicts.n_topics, 'topic')} are too narrow: there are too few"
        return [
            *self.verdicts.notes,
            *([few] if self.drawn is not None and self.verdicts.n_topics < TOPICS_FOR_INTERVALS else []),
        ]


@dataclass(frozen=True, eq=False)
class TieSweep:
    """Agreement by share of ties (Figure 6): kappa, jaccard (value or low or high, weak or strong, measure, share).

    ties (measure, share): the share of ties that could be had for each of shares.
    """

    shares: Floats
    ties: Floats
    kappa: Floats
    jaccard: Floats

    def records(self, names: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return one JSON object per measure, preference and share; names (measure,) are put in front."""
        return [
            {
                **names[measure],
                "preference": STRENGTHS[strength],
                "share": float(self.shares[place]),
                "share_of_ties": float(self.ties[measure, place]),
                **_numbers("kappa", self.kappa[:, strength, measure, place]),
                **_numbers("jaccard", self.jaccard[:, strength, measure, place]),
            }
            for measure in range(len(names))
            for strength in range(len(STRENGTHS))
            for place in range(len(self.shares))
        ]


def agreement_with_users(
    difference: Floats, verdicts: UserVerdicts, *, n_draws: int = N_DRAWS, rng: RNGLike = 0
) -> UserAgreement:
    """Hold measures against users under the three conditions: difference (measure, case), left less right.

    n_draws : how often topics are resampled; 0: no intervals
    Cost: O(measures x draws x cases).
    """
    seen = conditioned(difference, verdicts.directions, np.ones((1, len(verdicts))))
    if n_draws == 0:
        return UserAgreement(verdicts, seen, None)
    return UserAgreement(verdicts, seen, conditioned(difference, verdicts.directions, _weights(verdicts, n_draws, rng)))


def tie_sweep(
    difference: Floats, verdicts: UserVerdicts, *, shares: Floats | None = None, n_draws: int = 200, rng: RNGLike = 0
) -> TieSweep:
    """Agreement as the share of ties goes from 0 to 1 (Figure 6), with 95 % intervals; shares (share,)."""
    shares = SHARES if shares is None else shares
    seen = swept(difference, verdicts.directions, np.ones((1, len(verdicts))), shares)
    if n_draws:
        drawn = swept(difference, verdicts.directions, _weights(verdicts, n_draws, rng), shares)
        bands = [quantiles(each, axis=-2) for each in drawn[:2]]
    else:
        bands = [np.full((2, *each[..., 0, :].shape), np.nan) for each in seen[:2]]
    kappa, jaccard = (np.concatenate([each[None, :, :, 0], band]) for each, band in zip(seen[:2], bands, strict=True))
    return TieSweep(shares, seen[2][:, 0], kappa, jaccard)


def against_best(seen: Floats, drawn: Floats | None) -> tuple[Floats, Floats]:
    """p-values of kappas (measure,) against the highest, by kappas of resampled topics (measure, draw).

    Returns p and p_adjusted, (measure,): 1 for the best itself and for its equals.  Cost: O(measures^2 x draws).
    """
    n = len(seen)
    if drawn is None or np.isnan(seen).all():
        return np.full(n, np.nan), np.full(n, np.nan)
    best = int(np.nanargmax(seen))
    drawn = np.where(np.isnan(drawn), 0.0, drawn)
    stray, behind = drawn - np.nan_to_num(seen)[:, None], seen[best] - seen
    spread = (drawn[best] - drawn).std(axis=-1)
    size = np.where((spread <= EQUAL) & (behind > EQUAL), np.inf, _ratio(behind, spread)) - EQUAL
    own = np.abs(_ratio(stray[best] - stray, spread[:, None]))
    largest = np.max([_largest(each, stray, drawn, first) for first, each in enumerate(stray)], axis=0)
    p, adjusted = (
        np.where(behind > EQUAL, (1 + (each >= size[:, None]).sum(axis=-1)) / (1 + drawn.shape[1]), 1.0)
        for each in (own, largest)
    )
    return np.where(np.isnan(seen), np.nan, p), np.where(np.isnan(seen), np.nan, adjusted)


def limits(drawn: Floats) -> tuple[float | None, float | None]:
    """The interval of draws (draw,); None where most have no meaning."""
    if np.isnan(drawn).mean() > 0.5:
        return None, None
    low, high = quantiles(drawn)
    return float(low), float(high)


def quantiles(drawn: Floats, axis: int = -1) -> Floats:
    """The 95 % interval of draws along an axis -> (low or high, ...); draws without meaning count as 0."""
    return np.asarray(np.quantile(np.nan_to_num(drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=axis))


def _weights(verdicts: UserVerdicts, n_draws: int, rng: RNGLike) -> Floats:
    """How often each case counts, when topics are drawn -> (draw, case)."""
    return topic_weights(verdicts.n_topics, n_draws, np.random.default_rng(rng))[:, verdicts.topic]


def _numbers(name: str, values: Floats) -> dict[str, float | None]:
    return {key: known(value) for key, value in zip(KEYS[name], values, strict=True)}


def _largest(each: Floats, stray: Floats, drawn: Floats, first: int) -> Floats:
    """The largest stray of one measure's differences from those after it, in standard errors -> (draw,)."""
    others = slice(first + 1, None)
    spread = (drawn[first] - drawn[others]).std(axis=-1)
    return np.asarray(np.abs(_ratio(each - stray[others], spread[:, None])).max(axis=0, initial=0.0))


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.broadcast_to(whole > EQUAL, np.shape(part)))

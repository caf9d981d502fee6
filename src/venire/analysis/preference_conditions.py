"""The conditions under which a measure is held against users' preference, which differ in its threshold for ties.

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

from typing import NamedTuple

import numpy as np

from venire.errors import SettingError
from venire.kernels.direction_ties import (
    Curves,
    at_places,
    directions,
    jaccard_of,
    nearest_places,
    thresholds_at,
    tie_curves,
)
from venire.types import Floats, Ints

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

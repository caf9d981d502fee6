r"""Jaccard overlap of relevant sets with an interval, for every label that may make a result relevant.

Over the items that two assessors judged, J is the number relevant to both over the number relevant to either; the mean
over every two assessors is given, as ``overlap`` pools it (Voorhees 2000, doi:10.1016/S0306-4573(00)00010-8).  Pairs to
neither of whom anything is relevant are left out.  On an ordered scale a label stands for itself and all above it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from venire.agreement.coefficient import Coefficient, coefficient
from venire.agreement.cohen import PairCounts, fewer_draws, pair_counts, unit_sums
from venire.agreement.label_patterns import NO_PAIRS, LabelPatterns, label_patterns
from venire.agreement.resampling import Resampling, Values, dense, estimated
from venire.data.judgments import Judgments
from venire.models.relevance import Relevant, relevant_sets
from venire.types import Bools, Floats, RNGLike
from venire.words import counted

NAME = "jaccard"
MEANING = (
    "Two assessors' sets of {name}{higher} overlap by {value}, the mean of {pairs}: 1 is the same set, 0 is nothing in "
    "common, and chance is not taken into account."
)
BLOCK_CELLS = 1 << 22


def jaccard(
    judgments: Judgments,
    relevant: Relevant = "all",
    *,
    over: str = "items",
    resample: str | None = None,
    n_draws: int = 1000,
    rng: RNGLike = 0,
    patterns: LabelPatterns | None = None,
    counts: PairCounts | None = None,
) -> list[Coefficient]:
    '''Compute the mean Jaccard overlap of two assessors' relevant sets: one coefficient per notion of relevance.

    over, resample, patterns, counts, cost: as for Cohen's kappa.

    Examples
    --------
    >>> from venire import read_grid
    >>> [(each.level, round(each.value, 3)) for each in jaccard(read_grid("""
    ...     2 2 1 0 .
    ...     2 0 2 0 1"""))]
    [('2', 0.333), ('1', 0.667)]
    '''
    table = patterns or label_patterns(judgments)
    counts = counts or pair_counts(judgments, table, Resampling(over, resample, n_draws, rng))
    n_draws = fewer_draws(n_draws, len(counts.firsts), 1)
    sets, about = relevant_sets(table.scale, relevant), {"n_items": table.n_items, "n_raters": table.n_raters}
    found = []
    for name, marked in zip(sets.names, sets.labels, strict=True):
        both, either = _sizes(counts, marked)
        asked = Resampling(over, resample, n_draws, rng)
        estimate = estimated(_means(both, either), counts.source, asked, within=(0.0, 1.0))
        higher = " or higher" if table.scale.ordered and name in table.scale.labels[:-1] else ""
        pairs = counted(int((np.asarray(either.sum(axis=1)) > 0).sum()), "pair")
        meaning = MEANING.replace("{name}", _escaped(name)).replace("{higher}", higher).replace("{pairs}", pairs)
        reason = f"nothing that two assessors judged is {name}{higher} to either" if len(counts.firsts) else NO_PAIRS
        found.append(
            coefficient(estimate, name=NAME, level=name, raters="mean", meaning=meaning, reason=reason, **about)
        )
    return found


def _escaped(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


def _sizes(counts: PairCounts, marked: Bools) -> tuple[Any, Any]:
    """Items relevant to both, and to either, by pair and unit -> (pair, unit) each; sparse where few met."""
    shape = (len(counts.firsts), len(counts.source.whole))
    one, other = marked[counts.one], marked[counts.other]
    both, either = (
        unit_sums(counts.pair, counts.unit, counts.times * chosen, shape) for chosen in (one & other, one | other)
    )
    return both, either


def _means(both: Any, either: Any) -> Values:
    """Return the mean overlap of pairs as a function of weights (draw, unit) -> (draw,), NaN where undefined."""

    def block(weights: Floats) -> Floats:
        shared, whole = dense(both @ weights.T), dense(either @ weights.T)
        known = (whole > 0).sum(axis=0)
        total = (shared / np.where(whole > 0, whole, 1.0)).sum(axis=0)
        return np.where(known > 0, total / np.maximum(known, 1), np.nan)

    def values(weights: Floats) -> Floats:
        step = max(1, BLOCK_CELLS // max(both.shape[0], 1))
        return np.concatenate([block(weights[begin : begin + step]) for begin in range(0, len(weights), step)])

    return values

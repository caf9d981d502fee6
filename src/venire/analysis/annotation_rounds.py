"""Annotation rounds: how p(R|i) settles as double judgments come in.

Demeester et al. (2015), Section 6.3 and Figure 3: the double judgments at hand are drawn anew with replacement, and
p(R|i) is kept for a growing number of them, 50 times over.  A double judgment is two labels of one item; where items
have more labels, every pair of them is one.  All that matters of it is which two labels they are, so a round is a few
multinomial draws from the counts of a fit, and the number of double judgments does not matter to the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.scale import Scale
from venire.errors import PairsError, SettingError
from venire.kernels.shares import annotation_rounds, shares
from venire.models.predicted_relevance import PredictedRelevanceFit
from venire.models.relevance import RelevantSets
from venire.tabular import Records, Tabular, known
from venire.types import Bools, Floats, Ints, RNGLike

N_ROUNDS = 50
MIRRORED = ("paired", "labels")
"""Estimators under which both labels of a double judgment come first once."""

_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_FIRST = 10


@dataclass(frozen=True, eq=False)
class AnnotationRounds(Tabular):
    """Mean and standard deviation of p(R|i) over rounds, both (step, relevant, label), by sizes (step,).

    Over the rounds in which the label was seen; NaN where fewer than two have seen it.
    """

    scale: Scale
    relevant: RelevantSets
    sizes: Ints
    mean: Floats
    sd: Floats
    n_rounds: int

    def sentence(self, row: int = 0) -> str:
        """Say how sure p(R|i) is with few and with many double judgments."""
        last = self.sd[-1, row]
        if np.isnan(last).all():
            return "No label was seen often enough to say how p(R|i) settles."
        label = int(np.nanargmax(last))
        seen = np.flatnonzero(~np.isnan(self.sd[:, row, label]))
        few = int(seen[len(seen) // 2])
        return (
            f"p({self.relevant.names[row]}|{self.scale.labels[label]}), the least sure, varies by "
            f"{self.sd[few, row, label]:.3f} from round to round with {self.sizes[few]:,} double judgments and by "
            f"{last[label]:.3f} with {self.sizes[-1]:,}."
        )

    def records(self) -> Records:
        """Return one row per number of double judgments, notion of relevance and label: mean and sd over rounds."""
        return [
            {
                "judgments": int(size),
                "relevant": relevant,
                "label": label,
                "p": known(self.mean[step, row, level]),
                "sd": known(self.sd[step, row, level]),
            }
            for step, size in enumerate(self.sizes)
            for row, relevant in enumerate(self.relevant.names)
            for level, label in enumerate(self.scale.labels)
        ]


def simulate_rounds(
    fit: PredictedRelevanceFit, *, sizes: Sequence[int] | None = None, n_rounds: int = N_ROUNDS, rng: RNGLike = 0
) -> AnnotationRounds:
    """Simulate rounds of annotation from the double judgments of a fit.  O(rounds x steps x labels^2).

    sizes : numbers of double judgments to look at; None: 10, 15, 20, 30, 50, 70, 100, ... up to as many as there are
    """
    grid = np.unique(np.asarray(default_sizes(available(fit)) if sizes is None else sizes, dtype=np.int64))
    if n_rounds < 2 or len(grid) == 0 or grid[0] < 1:
        raise SettingError(
            f"{n_rounds} rounds of {', '.join(map(str, grid)) or 'no'} double judgments",
            hint="expected 2 rounds or more, of 1 double judgment or more",
        )
    counts = annotation_rounds(
        fit.by_topic.sum(axis=0), grid, n_rounds, mirrored=mirrored(fit), rng=np.random.default_rng(rng)
    )
    p, _ = shares(counts, fit.relevant.labels)
    return AnnotationRounds(fit.scale, fit.relevant, grid, *_moments(p), n_rounds)


def mirrored(fit: PredictedRelevanceFit) -> bool:
    """Whether both labels of a double judgment count as the first one."""
    return fit.setting.estimator in MIRRORED


def available(fit: PredictedRelevanceFit) -> int:
    """How many double judgments a fit rests on; items, where every item weighs the same."""
    total = float(fit.by_topic.sum())
    return round(total / 2 if mirrored(fit) and fit.setting.weight == "pair" else total)


def default_sizes(most: int) -> list[int]:
    """Numbers of double judgments to look at, about evenly spread by their logarithm, up to ``most``.

    Examples
    --------
    >>> default_sizes(120)
    [10, 15, 20, 30, 50, 70, 120]
    """
    if most < 1:
        raise PairsError("there is no double judgment to draw from", hint="have some items judged a second time")
    tens = range(len(str(most)))
    sizes = (round(_FIRST * step * 10**ten) for ten in tens for step in _STEPS)
    return [*(size for size in sizes if 1.2 * size < most), most]


def _moments(p: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation over the first axis, of what is there; NaN where fewer than two are."""
    there: Bools = ~np.isnan(p)
    n = there.sum(axis=0)
    enough = n > 1
    mean = np.where(there, p, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(there, (p - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(squares / np.maximum(n - 1, 1))
    return np.where(enough, mean, np.nan), np.where(enough, sd, np.nan)

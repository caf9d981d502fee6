"""Diagnosis: what a fit of disagreement means, in words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from venire.models.spread import FEW_PAIRS

if TYPE_CHECKING:
    from venire.models.predicted_relevance import PredictedRelevanceFit


MOST_LABELS = 11
"""How many labels a sentence names, beside the best."""


def warnings_of(fit: PredictedRelevanceFit) -> list[str]:
    """What to be careful about, most important first."""
    words: list[str] = []
    for row, name in enumerate(fit.relevant.names):
        words += _of_relevance(fit, row, name)
    return list(dict.fromkeys(words + _of_counts(fit)))


def _of_relevance(fit: PredictedRelevanceFit, row: int, name: str) -> list[str]:
    """What to be careful about for one notion of relevance."""
    p, labels = fit.p[row], fit.scale.labels
    known = np.flatnonzero(~np.isnan(p)).tolist()
    rising = _is_threshold(fit, row)
    order = known if rising else sorted(known, key=lambda level: float(p[level]))
    shown = [f"{label} ({share:.2f})" for label, share in zip(labels, p, strict=True)]
    if len(order) < 2:
        return []
    if not apart(fit, row, order[0], order[-1]):
        return [
            f"relevant {name}: even {shown[order[0]]} and {shown[order[-1]]} cannot be told apart, "
            "so an evaluation with these labels is questionable"
        ]
    words = []
    for lower, upper in pairwise(order):
        if not apart(fit, row, lower, upper):
            words.append(f"relevant {name}: {shown[lower]} and {shown[upper]} cannot be told apart")
        elif p[lower] > p[upper]:
            words.append(f"relevant {name}: {shown[lower]} promises more than the higher label {shown[upper]}")
    return words


def _is_threshold(fit: PredictedRelevanceFit, row: int) -> bool:
    """Whether labels are relevant from one upwards, so that higher ones should promise more."""
    marked = fit.relevant.labels[row]
    return fit.scale.ordered and bool((marked[1:] >= marked[:-1]).all())


def _of_counts(fit: PredictedRelevanceFit) -> list[str]:
    """Labels with few pairs, or none."""
    words = []
    for label, n in zip(fit.scale.labels, fit.pairs[0], strict=True):
        if n == 0:
            words.append(f"label {label} has no pairs, so nothing is known of it")
        elif n < FEW_PAIRS:
            pairs = f"{n:.3g} pair{'' if n == 1 else 's'}"
            words.append(f"label {label} has {pairs}, fewer than {FEW_PAIRS}: its numbers are not reliable")
    return words


def apart(fit: PredictedRelevanceFit, row: int, one: int, other: int) -> bool:
    """Whether two labels' shares differ by more than chance, as far as their intervals tell.

    The interval of the difference is made of both, as by Newcombe (1998),
    doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.
    """
    lower, upper = sorted((one, other), key=lambda level: float(fit.p[row, level]))
    up = float(fit.p[row, upper] - fit.spread.low[row, upper])
    down = float(fit.spread.high[row, lower] - fit.p[row, lower])
    return bool(fit.p[row, upper] - fit.p[row, lower] > np.hypot(up, down))


def sentence(fit: PredictedRelevanceFit, row: int = 0) -> str:
    """Say the main finding in one sentence."""
    p, labels = fit.p[row], fit.scale.labels
    told = [n for n in reversed(range(len(labels))) if not np.isnan(p[n])]  # of equal ones the higher label first
    best, *rest = sorted(told, key=lambda n: -round(100 * p[n]))
    others = "".join(f"; where {labels[n]}, {100 * p[n]:.0f}%" for n in rest[:MOST_LABELS])
    if len(rest) > MOST_LABELS:
        others += f"; where one of {len(rest) - MOST_LABELS} other labels, no more"
    return (
        f"Where one assessor says {labels[best]}, {100 * p[best]:.0f}% of other people find the result relevant "
        f"({_meaning(fit, row)}){others}."
    )


def _meaning(fit: PredictedRelevanceFit, row: int) -> str:
    """What is relevant, in words: one label below the top stands for those above it too."""
    name = fit.relevant.names[row]
    return f"{name} or higher" if _is_threshold(fit, row) and name in fit.scale.labels[:-1] else name


def table_lines(fit: PredictedRelevanceFit) -> list[str]:
    """The fit as a small table of text; numbers that rest on few pairs stand in brackets."""
    lines = [f"p(R|label), {fit.setting.estimator}, 95% interval: {fit.method}"]
    width = max(map(len, fit.scale.labels))
    for row, name in enumerate(fit.relevant.names):
        lines.append(f"R = {name}")
        for level in reversed(range(len(fit.scale))):
            lines.append(f"  {fit.scale.labels[level]:<{width}}  {_cell(fit, row, level)}")
    return lines


def _cell(fit: PredictedRelevanceFit, row: int, level: int) -> str:
    n, p = fit.pairs[row, level], fit.p[row, level]
    if np.isnan(p):
        return "unknown (no pairs)"
    text = f"{p:.3f} [{fit.spread.low[row, level]:.3f}, {fit.spread.high[row, level]:.3f}]"
    return f"{f'({text})' if n < FEW_PAIRS else text}  ({fit.hits[row, level]:g} of {n:g} pairs)"

"""Diagnosis: what a fit of disagreement means, in words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from venire.models.spread import FEW_PAIRS
from venire.types import Floats

if TYPE_CHECKING:
    from venire.models.predicted_relevance import PredictedRelevanceFit

TWO_SIDED = 1.959964


def warnings_of(fit: PredictedRelevanceFit) -> list[str]:
    """What to be careful about, most important first."""
    words: list[str] = []
    for row, name in enumerate(fit.relevant.names):
        words += _of_relevance(fit, row, name)
    return list(dict.fromkeys(words + _of_counts(fit)))


def _of_relevance(fit: PredictedRelevanceFit, row: int, name: str) -> list[str]:
    """What to be careful about for one notion of relevance."""
    p, sd, labels = fit.p[row], widest_sd(fit)[row], fit.scale.labels
    known = np.flatnonzero(~np.isnan(p)).tolist()
    words: list[str] = []
    if not fit.scale.ordered or len(known) < 2:
        return words
    bottom, top = known[0], known[-1]
    if not apart(p, sd, bottom, top):
        words.append(
            f"relevant {name}: even {labels[bottom]} ({p[bottom]:.2f}) and {labels[top]} ({p[top]:.2f}) cannot be told "
            "apart, so an evaluation with these labels is questionable"
        )
        return words
    for lower, upper in pairwise(known):
        if not apart(p, sd, lower, upper):
            words.append(
                f"relevant {name}: {labels[lower]} ({p[lower]:.2f}) and {labels[upper]} ({p[upper]:.2f}) "
                "cannot be told apart"
            )
        elif p[lower] > p[upper]:
            words.append(
                f"relevant {name}: {labels[lower]} ({p[lower]:.2f}) promises more than the higher label "
                f"{labels[upper]} ({p[upper]:.2f})"
            )
    return words


def _of_counts(fit: PredictedRelevanceFit) -> list[str]:
    """Labels with few pairs, or none."""
    words = []
    for label, n in zip(fit.scale.labels, fit.pairs[0], strict=True):
        if n == 0:
            words.append(f"label {label} has no pairs, so nothing is known of it")
        elif n < FEW_PAIRS:
            words.append(f"label {label} has {n:.0f} pairs, fewer than {FEW_PAIRS}: its numbers are not reliable")
    return words


def widest_sd(fit: PredictedRelevanceFit) -> Floats:
    """The larger of the spreads over items and over topics -> (relevant, label)."""
    return np.fmax(fit.spread.sd_items, fit.spread.sd_topics)


def apart(p: Floats, sd: Floats, one: int, other: int) -> bool:
    """Whether two labels' shares differ by more than chance, as far as their spreads tell."""
    spread = np.sqrt(np.nan_to_num(sd[one]) ** 2 + np.nan_to_num(sd[other]) ** 2)
    return bool(abs(p[one] - p[other]) > TWO_SIDED * spread)


def sentence(fit: PredictedRelevanceFit, row: int = 0) -> str:
    """Say the main finding in one sentence."""
    p, labels, name = fit.p[row], fit.scale.labels, fit.relevant.names[row]
    top = int(np.nanargmax(p))
    rest = ", ".join(f"{labels[n]} {100 * p[n]:.0f}%" for n in np.argsort(-p) if n != top and not np.isnan(p[n]))
    return (
        f"Where one assessor says {labels[top]}, {100 * p[top]:.0f}% of other people find the result relevant "
        f"({name}); {rest}."
    )


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

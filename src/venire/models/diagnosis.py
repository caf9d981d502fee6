"""Diagnosis: what a fit of disagreement means, in words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from venire.kernels.resample import FEW_TOPICS
from venire.models.spread import FEW_PAIRS, left_out, shares
from venire.tabular import Records, known

if TYPE_CHECKING:
    from venire.models.predicted_relevance import PredictedRelevanceFit


MOST_LABELS = 11
"""How many labels a sentence names, beside the best."""


def warnings_of(fit: PredictedRelevanceFit) -> list[str]:
    """What to be careful about, most important first."""
    words: list[str] = []
    for row in range(len(fit.relevant.names)):
        words += _of_relevance(fit, row)
    return list(dict.fromkeys(words + few_topics(fit.n_topics) + _of_counts(fit)))


def few_topics(n_topics: int, pairs: str = "pairs of labels") -> list[str]:
    """Say that intervals rest on few topics, or that there is none because of one."""
    if n_topics == 1:
        return [f"all {pairs} are of one topic: there are no intervals, since other topics may differ"]
    if 1 < n_topics < FEW_TOPICS:
        return [f"only {n_topics} topics have {pairs}: intervals are wide, and {FEW_TOPICS} topics are better"]
    return []


DIFFERENCE = {"difference": "value", "low": "low", "high": "high"}


class Difference(NamedTuple):
    """p(R|upper) - p(R|lower) of two labels, and its 95 % interval; NaN where a label has no interval."""

    lower: int
    upper: int
    value: float
    low: float
    high: float

    @property
    def distinguished(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def _of_relevance(fit: PredictedRelevanceFit, row: int) -> list[str]:
    """What to be careful about for one notion of relevance."""
    order = _order(fit, row)
    shown = [f"{label} ({share:.2f})" for label, share in zip(fit.scale.labels, fit.p[row], strict=True)]
    where = f"relevant {fit.relevant.names[row]}:"
    if len(order) < 2:
        return []
    whole = difference(fit, row, order[0], order[-1])
    if not whole.distinguished and not np.isnan(whole.low):
        return [
            f"{where} even {shown[whole.lower]} and {shown[whole.upper]} cannot be distinguished, "
            "so an evaluation with these labels is questionable"
        ]
    words = []
    for each in differences(fit, row):
        if each.high < 0:
            words.append(f"{where} {shown[each.lower]} promises more than the higher label {shown[each.upper]}")
        elif each.low <= 0:
            words.append(f"{where} {shown[each.lower]} and {shown[each.upper]} cannot be distinguished")
    return words


def _order(fit: PredictedRelevanceFit, row: int) -> list[int]:
    """Labels with pairs, from the one that should promise least, or else from the one that does."""
    p = fit.p[row]
    there: list[int] = np.flatnonzero(~np.isnan(p)).tolist()
    return there if _is_threshold(fit, row) else sorted(there, key=lambda level: float(p[level]))


def differences(fit: PredictedRelevanceFit, row: int = 0) -> list[Difference]:
    """Compare neighbouring labels, from the lowest on."""
    return [difference(fit, row, lower, upper) for lower, upper in pairwise(_order(fit, row))]


def difference_records(fit: PredictedRelevanceFit) -> Records:
    """Return one row per notion of relevance and two neighbouring labels; None where there is no interval."""
    labels = fit.scale.labels
    return [
        {"relevant": name, "lower": labels[each.lower], "upper": labels[each.upper]}
        | {key: known(getattr(each, column)) for key, column in DIFFERENCE.items()}
        for row, name in enumerate(fit.relevant.names)
        for each in differences(fit, row)
    ]


def difference(fit: PredictedRelevanceFit, row: int, lower: int, upper: int) -> Difference:
    r"""Return p(R|upper) - p(R|lower) with its interval, from those of both labels and what they have in common.

    Zou and Donner (2008), doi:10.1002/sim.3095: with d the difference and l, u the ends of either interval,

    .. math:: L = d - \sqrt{(p_2 - l_2)^2 + (u_1 - p_1)^2 - 2r(p_2 - l_2)(u_1 - p_1)}

    and likewise its upper end.  Both labels occur in the same topics, so that both shares may be high by chance: r is
    the correlation of the shares when each topic is left out in turn.
    """
    p, low, high = (each[row, [lower, upper]] for each in (fit.p, fit.spread.low, fit.spread.high))
    below, above, r = p - low, high - p, _correlation(fit, row, lower, upper)
    down, up = (
        np.sqrt(np.maximum(one * one + other * other - 2 * r * one * other, 0.0))
        for one, other in ((below[1], above[0]), (above[1], below[0]))
    )
    value = float(p[1] - p[0])
    return Difference(lower, upper, value, float(value - down), float(value + up))


def _correlation(fit: PredictedRelevanceFit, row: int, one: int, other: int) -> float:
    """Correlation of two labels' shares over topics left out; 0 where a share does not depend on the topic."""
    there = fit.by_topic[fit.by_topic.sum(axis=(1, 2)) > 0]
    without = left_out(there, fit.relevant.labels)[:, row][:, [one, other]]
    away = without - shares(there.sum(axis=0), fit.relevant.labels)[row, [one, other]]
    (of_one, both), (_, of_other) = away.T @ away
    return float(both / np.sqrt(of_one * of_other)) if of_one * of_other > 0 else 0.0


def _is_threshold(fit: PredictedRelevanceFit, row: int) -> bool:
    """Whether labels are relevant from one upwards, so that higher ones should promise more."""
    marked = fit.relevant.labels[row]
    return fit.scale.ordered and bool((marked[1:] >= marked[:-1]).all())


def _of_counts(fit: PredictedRelevanceFit) -> list[str]:
    """Labels with few pairs, or none."""
    words = []
    n_topics = (fit.by_topic.sum(axis=2) > 0).sum(axis=0)
    for label, n, topics in zip(fit.scale.labels, fit.pairs[0], n_topics, strict=True):
        if topics == 1 and len(fit.by_topic) > 1 and fit.n_topics > 1:
            words.append(
                f"label {label} has pairs in one topic only: it has no interval, since other topics may differ"
            )
        if n == 0:
            words.append(f"label {label} has no pairs, so nothing is known of it")
        elif n < FEW_PAIRS:
            pairs = f"{n:.3g} pair{'' if n == 1 else 's'}"
            words.append(f"label {label} has {pairs}, fewer than {FEW_PAIRS}: its numbers are not reliable")
    return words


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
    low, high = fit.spread.low[row, level], fit.spread.high[row, level]
    text = f"{p:.3f} (one topic)" if np.isnan(low) else f"{p:.3f} [{low:.3f}, {high:.3f}]"
    return f"{f'({text})' if n < FEW_PAIRS else text}  ({fit.hits[row, level]:g} of {n:g} pairs)"

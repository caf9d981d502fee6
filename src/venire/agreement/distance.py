r"""Distance: how far apart two labels are, from their values and how often each was given.

A distance is a function of values (label,) and marginals (label,) that returns an array (label, label), symmetric, zero
on the diagonal.  These are Krippendorff's (2011, Computing Krippendorff's alpha-reliability), with :math:`v` the values
and :math:`n` the marginals, the numbers of labels that can be paired:

    nominal    1 where labels differ
    ordinal    :math:`(\sum_{g=c}^{k} n_g - (n_c + n_k)/2)^2`, the squared difference of mid-ranks
    interval   :math:`(v_c - v_k)^2`; as weights of a kappa called quadratic
    ratio      :math:`((v_c - v_k) / (v_c + v_k))^2`, 0 where both are 0
    linear     :math:`|v_c - v_k|`

The ordinal distance depends on the data.  irrCAC's weights called "ordinal" are fixed ones by Gwet and give another
alpha.  Values are the labels read as numbers, or else their ranks 0, 1, 2, ... on the scale.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from venire.data.scale import LEVELS, Scale
from venire.errors import ScaleError, UnknownName
from venire.types import Floats

Distance = Callable[[Floats, Floats], Floats]


def nominal(values: Floats, _: Floats) -> Floats:
    """Return 1 where labels differ -> (label, label)."""
    return 1.0 - np.eye(len(values))


def ordinal(_: Floats, marginals: Floats) -> Floats:
    """Square the difference of mid-ranks: how many labels were given between the two -> (label, label)."""
    ranks = midranks(marginals)
    return np.square(ranks[:, None] - ranks)


def interval(values: Floats, _: Floats) -> Floats:
    """Square the difference of values -> (label, label)."""
    return np.square(values[:, None] - values)


def ratio(values: Floats, _: Floats) -> Floats:
    """Square the difference of values relative to their sum -> (label, label); values must not be negative."""
    if (values < 0).any():
        raise ScaleError(
            f"the value {values.min():g} is below zero, and ratios are of amounts",
            hint="use the level interval, or ordinal",
        )
    whole = values[:, None] + values
    return np.square((values[:, None] - values) / np.where(whole > 0, whole, 1.0))


def linear(values: Floats, _: Floats) -> Floats:
    """Difference of values, not squared -> (label, label)."""
    return np.abs(values[:, None] - values)


DISTANCES: dict[str, Distance] = {"nominal": nominal, "ordinal": ordinal, "interval": interval, "ratio": ratio}
"""Of Krippendorff's alpha, by level of measurement."""
WEIGHTS: dict[str, Distance] = {"nominal": nominal, "linear": linear, "quadratic": interval}
"""Of kappas and Gwet's coefficient, by name; as weights they are 1 less the distance over the largest."""


def midranks(marginals: Floats) -> Floats:
    """Mean rank of the labels of a kind, in order of the scale; marginals (..., label) -> (..., label)."""
    ranks: Floats = np.cumsum(marginals, axis=-1) - marginals / 2
    return ranks


def label_values(scale: Scale) -> Floats:
    """Labels as numbers -> (label,): their own values if all are numbers, else their ranks on the scale."""
    try:
        values = scale.numbers()
    except ScaleError:
        return np.arange(len(scale), dtype=np.float64)
    return values if np.isfinite(values).all() else np.arange(len(scale), dtype=np.float64)


def named_distance(level: str, among: dict[str, Distance], scale: Scale) -> Distance:
    """Return the distance of a level; refuse one that needs an order the labels do not have."""
    if level not in among:
        raise UnknownName("level", level, among)
    if level != "nominal" and not scale.ordered:
        raise ScaleError(
            f"the labels {scale} have no order, which {level} distances need",
            hint='use the level nominal, or declare a scale with an order, such as "0<1<2"',
        )
    return among[level]


def levels_of(scale: Scale) -> list[str]:
    """Levels of measurement that a scale allows: its own first, then the lower ones, highest first."""
    return list(reversed(LEVELS[: LEVELS.index(scale.measurement) + 1]))


def level_values(scale: Scale, level: str) -> Floats | None:
    """Return values of the labels on a level of measurement -> (label,); None where they have none.

    Examples
    --------
    >>> level_values(Scale.parse("0<10<100"), "ordinal"), level_values(Scale.parse("0<10<100"), "ratio")
    (array([0., 1., 2.]), array([  0.,  10., 100.]))
    """
    if level == "nominal":
        return None
    if level == "ordinal":
        return np.arange(len(scale), dtype=np.float64)
    try:
        return scale.numbers()
    except ScaleError:
        return None

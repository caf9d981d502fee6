"""Where labels lie on their scale: by their place, or by the numbers that they are."""

from __future__ import annotations

import numpy as np

from venire.data.scale import Scale
from venire.errors import ScaleError
from venire.types import Floats


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

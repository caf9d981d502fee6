"""ShownFigure: a figure that a notebook shows by itself, whether or not pyplot was imported."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

DOTS_PER_INCH = 110


class ShownFigure(Figure):
    """A matplotlib figure that is a picture where a cell ends with it; no window, no global state."""

    def _repr_png_(self) -> bytes:
        held = BytesIO()
        self.savefig(held, format="png", dpi=DOTS_PER_INCH)
        return held.getvalue()

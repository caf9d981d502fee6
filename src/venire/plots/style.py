"""One look for all plots: colour-blind safe, readable in print and on dark pages, the same bytes for the same result.

A plot function takes a result and returns a ``Figure``; it is drawn inside ``styled()``, which sets the look for this
figure alone.  Colours are those of Okabe and Ito (2008); what differs in colour differs in marker too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.errors import SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#D55E00", "#B59F00"),
)
COLOURS = (BLUE, RED, GREEN, ORANGE, PINK, SKY, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, GREY = "#555555", "#808080"
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "venire",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "lines.markersize": 5,
}
FORMATS = (".svg", ".png", ".pdf")


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the house style; nothing outside changes."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        yield


def new_figure(width: float = 7.0, height: float = 4.0) -> Figure:
    """Make an empty figure that lays itself out, opens no window, and is shown by a notebook."""
    from venire.plots.shown_figure import ShownFigure

    return ShownFigure(figsize=(width, height), layout="constrained")


def colour(number: int) -> str:
    """Return the colour of the n-th thing shown."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Return the marker of the n-th thing shown."""
    return MARKERS[number % len(MARKERS)]


def short_name(text: str, longest: int = 28) -> str:
    """Cut a long name in its middle, as names often differ at their ends; no dollar sign begins mathematics."""
    if len(text) > longest:
        end = (longest - 1) // 2
        text = text[: longest - 1 - end] + "…" + text[-end:]
    return text.replace("$", r"\$")


def unit_axis(axes: Axes, *, which: str = "y") -> None:
    """Let an axis show probabilities, from 0 to 1."""
    getattr(axes, f"set_{which}lim")(-0.02, 1.02)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as its ending says: svg, png or pdf; the same figure always gives the same bytes."""
    if path.suffix.lower() not in FORMATS:
        raise SettingError(f"{path}: a plot cannot be written as {path.suffix!r}", hint="use .svg, .png or .pdf")
    dateless = {"Date": None} if path.suffix.lower() == ".svg" else {}
    with styled():
        figure.savefig(path, metadata=dateless, dpi=150)

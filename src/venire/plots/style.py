"""Style and elements of all plots: colour-blind safe, readable in print and on dark pages, reproducible bytes.

A plot function takes a result and returns a ``Figure``; the decorator ``styled()`` sets the style for this figure only.
Colours are those of Okabe and Ito (2008); series differ both in colour and in marker.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from venire.errors import MissingGlyphWarning, SettingError
from venire.io.outputs import write_bytes
from venire.results import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, FigureBase

BLUE, ORANGE, GREEN, PINK, SKY, RED, YELLOW = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#D55E00", "#B59F00"),
)
COLOURS = (BLUE, RED, GREEN, ORANGE, PINK, SKY, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, GREY, DARK = "#555555", "#808080", "#222222"
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "venire",
    "svg.fonttype": "none",
    "text.parse_math": False,
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
    "figure.labelsize": 10,
    "figure.titlesize": 10,
    "legend.frameon": False,
    "lines.markersize": 5,
}
FORMATS = (".svg", ".png", ".pdf")
NOTEBOOK_DPI = 110
Numbers: TypeAlias = ArrayLike | Sequence[float | None] | None
_GLYPH = re.compile(r"Glyph (\d+) .*missing from")
MOST_GLYPHS = 10
LEVEL = 6
"""Columns with names of more characters than this have slanted names."""


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of all plots; other figures are not affected."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        yield


def new_figure(width: float = 7.0, height: float = 4.0) -> Figure:
    """Return an empty figure with automatic layout, without a window, that a notebook displays."""
    return _notebook_figure()(figsize=(width, height), layout="constrained")


def one_panel(width: float = 7.0, height: float = 4.0) -> tuple[Figure, Axes]:
    """Return a new figure with one panel."""
    figure = new_figure(width, height)
    return figure, figure.subplots()


@cache
def _notebook_figure() -> type[Figure]:
    """Return a class of figures that a notebook displays whether or not pyplot was imported."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def savefig(self, *args: Any, **settings: Any) -> None:
            _show_names(self)
            super().savefig(*args, **settings)

        def _repr_png_(self) -> bytes:
            return as_png(self)

    return NotebookFigure


def as_png(figure: Figure) -> bytes:
    """Draw a figure as pixels, for a notebook."""
    held = BytesIO()
    with styled():
        figure.savefig(held, format="png", dpi=NOTEBOOK_DPI)
    return held.getvalue()


def _show_names(figure: Figure) -> None:
    """Replace controls, and bytes that are not UTF-8, by escapes in every text of a figure, and in those of ticks."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_text(_printable(text.get_text()))
    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        ticks = axis.get_major_formatter()
        ticks.format_ticks = partial(_printable_ticks, type(ticks).format_ticks, ticks)  # type: ignore[method-assign]


def _printable_ticks(format_ticks: Callable[..., list[str]], *values: Any) -> list[str]:
    return [_printable(text) for text in format_ticks(*values)]


def _printable(text: str) -> str:
    return visible(text.encode("utf-8", "backslashreplace").decode("utf-8"), keep="\n")


def colour(number: int) -> str:
    """Return the colour of the n-th series."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Return the marker of the n-th series."""
    return MARKERS[number % len(MARKERS)]


def look(number: int, **more: Any) -> dict[str, Any]:
    """Return colour and marker of the n-th series, as keyword arguments of ``plot``."""
    return {"color": colour(number), "marker": marker(number)} | more


def short_name(text: str, longest: int = 28) -> str:
    """Shorten a long name in the middle, since names often differ at their ends, and make it plain."""
    if len(text) > longest:
        end = (longest - 1) // 2
        text = text[: longest - 1 - end] + "…" + text[-end:]
    return plain(text)


def short_names(names: Sequence[str], longest: int = 28) -> list[str]:
    """Shorten names; those that would be the same keep what they have from the first difference on."""
    alike: dict[str, set[str]] = {}
    for name in names:
        alike.setdefault(short_name(name, longest), set()).add(name)
    return [_from_difference(name, alike[short_name(name, longest)], longest) for name in names]


def _from_difference(name: str, alike: set[str], longest: int) -> str:
    """Shorten a name that others are like, if any are, in what they share."""
    if len(alike) == 1:
        return short_name(name, longest)
    places = enumerate(zip(*alike, strict=False))
    head, same = longest // 3, next((n for n, each in places if len(set(each)) > 1), min(map(len, alike)))
    same = max(len(name[:same].rstrip("0123456789")), same - 3)  # a number is not cut in two
    text = name if same <= head + 1 else f"{name[:head]}…{name[same:]}"
    return plain(text if len(text) <= longest else f"{text[: longest - 1]}…")


def whole_ticks(axis: Axis) -> None:
    """Put the ticks of an axis at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,.0f}")


def plain(text: str) -> str:
    """Return a name as text of a legend, which leaves out what begins with ``_``."""
    return f" {text}" if text.startswith("_") else text


def shown_of(shown: int, total: int, noun: str) -> str:
    """Return a second line of a caption where not all rows are shown, such as "(40 of 1,000 assessors)"."""
    return "" if total <= shown else f"\n({shown} of {total:,} {noun})"


def unit_axis(axes: Axes, *, which: str = "y") -> None:
    """Set the range of an axis to probabilities, 0 to 1."""
    getattr(axes, f"set_{which}lim")(-0.02, 1.02)


def name_rows(axes: Axes, names: Sequence[str], *, longest: int = 28, size: float | None = None) -> None:
    """Name rows from the top down, without grid lines between them."""
    axes.set_yticks(range(len(names)), short_names(names, longest), fontsize=size)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def name_columns(axes: Axes, names: Sequence[str], *, longest: int = 28, step: int = 1) -> None:
    """Name every ``step``-th column, slanted where names are long."""
    short = short_names(names, longest)[::step]
    slanted = max(map(len, short), default=0) > LEVEL
    slant: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks(range(0, len(names), step), short, **slant)


def draw_intervals(
    axes: Axes, place: ArrayLike, value: Numbers, low: Numbers, high: Numbers, *, number: int = 0, **marks: Any
) -> None:
    """Draw values as markers and their intervals as horizontal bars, by row; None or NaN: not known."""
    y, x, left, right = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (place, value, low, high))
    known = ~(np.isnan(left) | np.isnan(right))
    style = look(number, linestyle="") | marks
    if known.any():
        axes.hlines(y[known], left[known], right[known], color=style["color"], linewidth=2.5, alpha=0.5)
    axes.plot(x, y, **style)


def write_cells(axes: Axes, texts: Sequence[Sequence[str]], dark: ArrayLike, *, size: float = 8) -> None:
    """Write texts into the cells of a heat map, in white where the cell is dark."""
    for (row, column), is_dark in np.ndenumerate(np.asarray(dark)):
        if texts[row][column]:
            ink = "white" if is_dark else DARK
            axes.text(column, row, texts[row][column], ha="center", va="center", fontsize=size, color=ink)


def hide_axes(axes: Axes) -> None:
    """Remove grid, ticks and frame, as of a heat map."""
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def shades(n: int) -> list[Any]:
    """Return n colours from light to dark, for labels from the lowest to the highest."""
    import matplotlib as mpl

    return [mpl.colormaps["Blues"](share) for share in np.linspace(0.12, 0.95, max(n, 1))]


def diverging() -> Any:
    """Return a colour map from orange over white to blue; grey where nothing is known."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("diverging", [ORANGE, "#FBEFD5", "#F7F7F7", "#D6E8F4", BLUE])
    return colours.with_extremes(bad="#DDDDDD")


def grid_shape(number: int, most_across: int) -> tuple[int, int]:
    """Return the rows and columns of a grid for a number of panels."""
    down = max(1, -(-number // most_across))
    return down, max(1, -(-number // down))


def panel_grid(figure: FigureBase, number: int, shape: tuple[int, int], **share: Any) -> list[Axes]:
    """Return this number of panels of a grid; those that remain are left empty."""
    grid = figure.subplots(*shape, squeeze=False, **share).ravel().tolist()
    for axes in grid[number:]:
        axes.set_axis_off()
    return grid[:number]


def shared_legend(figure: FigureBase, axes: Axes, **settings: Any) -> None:
    """Draw the legend of one panel for the whole figure, above it unless ``loc`` is set."""
    handles, labels = axes.get_legend_handles_labels()
    where: dict[str, Any] = {"loc": "outside upper center", "ncols": min(len(labels), 6)}
    figure.legend(handles, labels, **where | settings)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as svg, png or pdf, by its suffix; the same figure gives the same bytes."""
    if path.suffix.lower() not in FORMATS:
        raise SettingError(f"{path}: a plot cannot be written as {path.suffix!r}", hint="use .svg, .png or .pdf")
    is_text = path.suffix.lower() == ".svg"
    held = BytesIO()
    with styled(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(held, format=path.suffix.lower()[1:], metadata={"Date": None} if is_text else {}, dpi=150)
    write_bytes(path, held.getvalue())
    _pass_on(caught, path, is_text=is_text)


def _pass_on(caught: Sequence[warnings.WarningMessage], path: Path, *, is_text: bool) -> None:
    """Give the warnings of a drawing, those of missing glyphs as one; an SVG is shown in the fonts of its reader."""
    glyphs = [_GLYPH.match(str(each.message)) for each in caught]
    lacking = "".join(dict.fromkeys(chr(int(found[1])) for found in glyphs if found))
    if lacking and not is_text:
        shown = visible(lacking[:MOST_GLYPHS]) + ("..." if len(lacking) > MOST_GLYPHS else "")
        text = f"{path}: the font lacks {shown}; write .svg, which is shown in the fonts of the reader"
        warnings.warn(MissingGlyphWarning(text), stacklevel=3)
    for each, glyph in zip(caught, glyphs, strict=True):
        if not glyph:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)

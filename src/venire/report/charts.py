"""Charts of the page as SVG: rows with intervals, lines, histograms and heat maps.

They are drawn here rather than by matplotlib, which takes longer for a page of figures than all statistics in it.  Ink,
lines and paper are properties of the page, so that one drawing serves light, dark and print; its texts stay texts.
Series differ both in colour and in marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from venire.plots.style import BLUE, COLOURS, DARK, ORANGE, short_name
from venire.results import visible
from venire.types import Floats

INK, LINE, PAPER = "var(--ink)", "var(--line)", "var(--paper)"
FONT, LETTER = 12, 7.3
"""Size of texts, and the width of a letter on average."""
PLOT_WIDTH, PLOT_HEIGHT, NARROWEST = 380, 210, 170
"""Sizes of a panel, and the width of one of several side by side."""
ROW, MANY_ROWS = (19, 14.5), 40
"""Heights of a row where there are few, and where there are many."""
PAD, GAP, KEY = 10, 26, 20
"""Free space around a drawing, between panels, and of the marker of a legend."""
BLUES = ("#f4f8fc", "#c9ddf0", "#7fb5da", "#2f7fbc", "#0a4f95", "#08306b")
FROM_TO = (ORANGE, "#FBEFD5", "#F7F7F7", "#D6E8F4", BLUE)
LEVELS, KEY_WIDTH = 40, 116
"""Number of colours of a heat map, and the width of its key."""


@dataclass(frozen=True)
class Chart:
    """A drawing: its elements, and its size in pixels."""

    parts: tuple[str, ...]
    width: float
    height: float

    def svg(self, words: str) -> str:
        """Return it as an element of a page; ``words`` say what it shows."""
        size = f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" width="{_n(self.width)}"'
        about = f'class="plot" role="img" aria-label="{escape(visible(words), quote=True)}" font-size="{FONT}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {about} {size}>{"".join(self.parts)}</svg>'


@dataclass(frozen=True)
class Layer:
    """A series in the rows of a panel: values as markers, from low to high as lines; NaN is not drawn.

    shift moves it within the row, as a share of its height; texts stand beside the markers; hollow (row,) are rings.
    """

    name: str = ""
    number: int = 0
    value: ArrayLike | None = None
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    colour: str | None = None
    width: float = 3.0
    opacity: float = 0.5
    size: float = 3.6
    shift: float = 0.0
    texts: Sequence[str] = ()
    hollow: ArrayLike | None = None

    @property
    def ink(self) -> str:
        """Its colour: that of its number, unless another is set."""
        return self.colour or COLOURS[self.number % len(COLOURS)]

    def columns(self) -> tuple[Floats, Floats, Floats]:
        """Return values and both ends -> (row,) each; NaN for what is not known."""
        known = [each for each in (self.value, self.low, self.high) if each is not None]
        n = len(np.atleast_1d(np.asarray(known[0], dtype=np.float64))) if known else 0
        blank = np.full(n, np.nan)
        value, low, high = (
            blank if each is None else np.asarray(each, dtype=np.float64) for each in (self.value, self.low, self.high)
        )
        return value, low, high


@dataclass(frozen=True)
class Panel:
    """Layers over one axis: its label, title, limits, and the values to mark (none: round ones)."""

    layers: Sequence[Layer]
    label: str = ""
    title: str = ""
    limits: tuple[float, float] | None = None
    ticks: Sequence[float] | None = None
    zero: bool = False


@dataclass(frozen=True)
class Line:
    """A series of points joined by a line; ``steps``: by stairs; ``ends``: its name is written at both ends."""

    name: str
    x: ArrayLike
    y: ArrayLike
    number: int | None = None
    markers: bool = True
    steps: bool = False
    ends: bool = False
    point: tuple[float, float] | None = None

    @property
    def ink(self) -> str:
        """Its colour: grey without a number."""
        return LINE if self.number is None else COLOURS[self.number % len(COLOURS)]


@dataclass(frozen=True)
class Scale:
    """An axis from data to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def round_values(low: float, high: float, most: float) -> tuple[list[float], int]:
    """Return round values between two, fewer than ``most`` steps apart, and the digits that they need.

    Examples
    --------
    >>> round_values(0.62, 0.91, 5)
    ([0.7, 0.8, 0.9], 1)
    """
    power = 10.0 ** np.floor(np.log10(high - low))
    step = next(each for each in power * np.array([0.1, 0.2, 0.5, 1, 2, 5, 10]) if (high - low) / each < most)
    digits = max(0, -int(np.floor(np.log10(step * 1.001))))
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    return [round(each, digits) + 0.0 for each in values.tolist()], digits


def rows_chart(
    names: Sequence[str], panels: Sequence[Panel], *, longest: int = 28, beside: Sequence[str] = ()
) -> Chart:
    """Draw a row per name, with the layers of each panel side by side; ``beside``: a text at the end of each row."""
    few = len(names) <= MANY_ROWS
    height, size = ROW[0 if few else 1], FONT if few else FONT - 2
    shown = [short_name(name, longest) for name in names]
    left = PAD + _room(shown, size)
    right = _room(beside, size)
    each_width = max(NARROWEST, _room([panel.title for panel in panels], FONT)) if len(panels) > 1 else PLOT_WIDTH
    width = each_width * len(panels) + GAP * (len(panels) - 1)
    keys = [_legend(panel.layers, left + n * (each_width + GAP), each_width) for n, panel in enumerate(panels)]
    titles = 18 * any(panel.title for panel in panels)
    top = PAD + titles + max(depth for _, depth in keys)
    bottom = top + height * len(names)
    parts = [_text(left - 6, top + height * (n + 0.5), name, "end", size) for n, name in enumerate(shown)]
    for n, (panel, (marks, _)) in enumerate(zip(panels, keys, strict=True)):
        start = left + n * (each_width + GAP)
        if panel.title:
            parts.append(_text(start, PAD + 4, panel.title, "start", FONT, bold=True))
        parts += [_moved(marks, titles), *_panel(panel, Scale(*_limits(panel), start, start + each_width), top, height)]
    ends = left + width + 6
    parts += [_text(ends, top + height * (n + 0.5), text, "start", size - 2) for n, text in enumerate(beside) if text]
    more = 36 if any(panel.label for panel in panels) else 20
    return Chart(tuple(parts), left + width + PAD + right, bottom + more)


def _panel(panel: Panel, scale: Scale, top: float, height: float) -> list[str]:
    n = max((len(layer.columns()[0]) for layer in panel.layers), default=0)
    bottom = top + height * n
    parts = _ticks(panel, scale, top, bottom)
    if panel.zero and scale.low < 0 < scale.high:
        parts.append(_line(scale(0), top, scale(0), bottom, LINE, 1))
    for layer in panel.layers:
        value, low, high = layer.columns()
        hollow = np.zeros(n, dtype=bool) if layer.hollow is None else np.asarray(layer.hollow)
        for row in range(len(value)):
            y = top + height * (row + 0.5 + layer.shift)
            if np.isfinite(low[row]) and np.isfinite(high[row]) and high[row] > low[row]:
                thick = min(layer.width, height - 2)
                x1, x2 = (scale(float(end)) for end in (low[row], high[row]))
                parts.append(_line(x1, y, x2, y, layer.ink, thick, layer.opacity))
            if np.isfinite(value[row]):
                x = scale(float(value[row]))
                parts.append(_marker(x, y, layer.number, layer.ink, layer.size, hollow=bool(hollow[row])))
                if layer.texts:
                    parts.append(_text(x + 7, y - 1, layer.texts[row], "start", FONT - 2))
    if panel.label:
        parts.append(_text((scale.start + scale.end) / 2, bottom + 29, panel.label, "middle", FONT))
    return parts


def _limits(panel: Panel) -> tuple[float, float]:
    """Return the limits of an axis: as set, or around all values."""
    if panel.limits is not None:
        return panel.limits
    every = np.concatenate([each for layer in panel.layers for each in layer.columns()])
    known = every[np.isfinite(every)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.06 * (high - low) or 0.05
    return low - room, high + room


def _ticks(panel: Panel, scale: Scale, top: float, bottom: float) -> list[str]:
    values, digits = round_values(scale.low, scale.high, (scale.end - scale.start) / 48)
    if panel.ticks is not None:
        values, digits = list(panel.ticks), 0
    parts = [_line(scale(v), top, scale(v), bottom, LINE, 1, 0.25) for v in values]
    parts += [_text(scale(v), bottom + 11, f"{v:.{digits}f}", "middle", FONT - 1) for v in values]
    return [*parts, _line(scale.start, bottom, scale.end, bottom, LINE, 1)]


def _legend(layers: Iterable[Layer], start: float, width: float) -> tuple[str, float]:
    """Draw the names of layers in lines that fit, and return how much room they take."""
    x, y, parts = start, PAD, list[str]()
    named = [layer for layer in layers if layer.name]
    for layer in named:
        text = short_name(layer.name)
        need = KEY + LETTER * len(text) + 10
        if x > start and x + need > start + width:
            x, y = start, y + 16
        if layer.value is None:
            parts.append(_line(x, y + 4, x + 14, y + 4, layer.ink, min(layer.width, 10), layer.opacity))
        else:
            parts.append(_marker(x + 7, y + 4, layer.number, layer.ink, layer.size))
        parts.append(_text(x + KEY, y + 4, text, "start", FONT - 1))
        x += need
    return "".join(parts), y + 16 - PAD + 2 if named else 0


def lines_chart(
    lines: Sequence[Line],
    *,
    x: Scale | None = None,
    y: Scale | None = None,
    x_label: str = "",
    y_label: str = "",
    x_names: Sequence[str] = (),
    x_ticks: Sequence[tuple[float, str]] = (),
    y_ticks: Sequence[float] | None = None,
    level: float | None = None,
    legend: str = "",
    height: float = PLOT_HEIGHT,
) -> Chart:
    """Draw lines over an axis of numbers, or of names; level: a dotted line across; legend: the title of the names.

    x_ticks: texts at places of the axis, in place of round numbers.
    x, y: the limits, of which the pixels are not used.  A larger y is higher, unless its limits are in reverse.
    """
    at_ends = [short_name(line.name, 34) for line in lines if line.ends]
    named = [line for line in lines if line.name and not line.ends]
    side = _room(at_ends, FONT - 1)
    left, top = PAD + 44 + side, PAD + 6
    right, bottom = left + PLOT_WIDTH, top + height
    across = Scale(*_span(x, [line.x for line in lines]), left, right)
    up = Scale(*_span(y, [line.y for line in lines]), bottom, top)
    values, digits = round_values(min(up.low, up.high), max(up.low, up.high), height / 34)
    if y_ticks is not None:
        values, digits = list(y_ticks), max((len(f"{v:g}".partition(".")[2]) for v in y_ticks), default=0)
    parts = [_line(left, up(v), right, up(v), LINE, 1, 0.25) for v in values]
    parts += [_text(left - 8 - side, up(v), f"{v:.{digits}f}", "end", FONT - 1) for v in values]
    places = list(x_ticks) or [(float(n), short_name(name, 20)) for n, name in enumerate(x_names)]
    if not places:
        marks, digits = round_values(across.low, across.high, PLOT_WIDTH / 48)
        places = [(v, f"{v:.{digits}f}") for v in marks]
    parts += [_text(across(v), bottom + 12, text, "middle", FONT - 1) for v, text in places]
    parts += [_line(left, bottom, right, bottom, LINE, 1)] if not at_ends else []
    if level is not None:
        parts.append(_line(left, up(level), right, up(level), INK, 1, 0.6, dash="2 3"))
    for line in lines:
        parts += _drawn(line, across, up)
    parts.append(_text((left + right) / 2, bottom + 29, x_label, "middle", FONT))
    parts.append(_turned(PAD + 2, (top + bottom) / 2, y_label))
    key = right + 14
    if named and legend:
        parts.append(_text(key, top + 4, legend, "start", FONT - 1))
    for n, line in enumerate(named):
        where = top + 4 + 17 * (n + bool(legend))
        number = line.number or 0
        parts.append(_marker(key + 5, where, number, line.ink, 3.6) if line.number is not None else "")
        parts.append(_text(key + KEY - 4, where, short_name(line.name, 30), "start", FONT - 1))
    room = _room([legend, *(short_name(line.name, 30) for line in named)], FONT - 1) + KEY if named else side
    tall = max(bottom + (36 if x_label else 20), top + 17 * (len(named) + 1))
    return Chart(tuple(parts), right + room + PAD, tall)


def _span(scale: Scale | None, values: Sequence[ArrayLike]) -> tuple[float, float]:
    if scale is not None:
        return scale.low, scale.high
    every = np.concatenate([np.ravel(np.asarray(each, dtype=np.float64)) for each in values])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _drawn(line: Line, across: Scale, up: Scale) -> list[str]:
    x, y = (np.asarray(each, dtype=np.float64).tolist() for each in (line.x, line.y))
    points = [(across(a), up(b)) for a, b in zip(x, y, strict=True) if b == b]
    high, low = min(up.start, up.end), max(up.start, up.end)
    inside = list(_stairs(points, high, low)) if line.steps else points
    path = "".join(
        f"{'M' if n == 0 else 'L'}{_n(a)} {_n(b)}" if not line.steps or n == 0 else f"V{_n(b)}H{_n(a)}"
        for n, (a, b) in enumerate(inside)
    )
    coloured = line.number is not None
    look = f'stroke="{line.ink}" stroke-width="{1.8 if coloured else 1}" opacity="{1 if coloured else 0.5}"'
    parts = [f'<path d="{path}" fill="none" {look}/>']
    marked = points if line.markers else [(across(line.point[0]), up(line.point[1]))] if line.point else []
    parts += [_marker(a, b, line.number or 0, line.ink, 3.4) for a, b in marked if coloured]
    if line.ends and points:
        ink = line.ink if coloured else INK
        for (a, b), side, shift in ((points[0], "end", -7), (points[-1], "start", 7)):
            parts.append(_text(a + shift, b, short_name(line.name, 34), side, FONT - 1, ink=ink))
    return parts


def _stairs(points: Sequence[tuple[float, float]], high: float, low: float) -> Iterator[tuple[float, float]]:
    """Yield the points within the frame, and of those at one height the first and the last."""
    inside = [(a, b) for a, b in points if high - 0.5 <= b <= low + 0.5]
    for n, (a, b) in enumerate(inside):
        if n in (0, len(inside) - 1) or abs(inside[n + 1][1] - b) > 0.05:
            yield a, b


def histogram(
    groups: Sequence[tuple[str, Floats]],
    edges: Floats,
    *,
    x_label: str,
    y_label: str,
    limits: tuple[float, float] | None = None,
    centre: float | None = None,
    between: tuple[float, float] | None = None,
    note: str = "",
) -> Chart:
    """Draw stacked counts of values between edges; centre: a line, between: a shaded range, with a note on both."""
    counts = np.array([np.histogram(values, edges)[0] for _, values in groups])
    low, high = limits or (float(edges[0]), float(edges[-1]))
    left, top = PAD + 50, PAD + 20
    right, bottom = left + PLOT_WIDTH, top + 150
    tallest = max(float(counts.sum(axis=0).max()), 1.0)
    across, up = Scale(low, high, left, right), Scale(0, 1.05 * tallest, bottom, top)
    parts = [] if between is None else [_rect(across(between[0]), top, across(between[1]), bottom, LINE, 0.15)]
    values, digits = round_values(0, up.high, 5)
    values = [v for v in values if v == int(v)]
    parts += [_line(left, up(v), right, up(v), LINE, 1, 0.25) for v in values]
    parts += [_text(left - 7, up(v), f"{v:,.0f}", "end", FONT - 1) for v in values]
    base = np.zeros(counts.shape[1])
    for number, row in enumerate(counts):
        for place in np.flatnonzero(row).tolist():
            y1, y2 = up(float(base[place] + row[place])), up(float(base[place]))
            x1, x2 = across(float(edges[place])), across(float(edges[place + 1]))
            parts.append(_rect(x1 + 0.5, y1, x2 - 0.5, y2, COLOURS[number], 0.8))
        base = base + row
    marks, digits = round_values(low, high, PLOT_WIDTH / 48)
    parts += [_text(across(v), bottom + 12, f"{v:.{digits}f}", "middle", FONT - 1) for v in marks]
    parts.append(_line(left, bottom, right, bottom, LINE, 1))
    if centre is not None:
        parts.append(_line(across(centre), top, across(centre), bottom, INK, 1.5))
    x = float(left)
    for number, (name, _) in enumerate(groups if len(groups) > 1 else ()):
        parts += [_rect(x, PAD, x + 12, PAD + 9, COLOURS[number], 0.8), _text(x + 18, PAD + 5, name, "start", FONT - 1)]
        x += 32 + LETTER * len(name)
    parts.append(_text(left, PAD + 5, note, "start", FONT - 1) if note else "")
    parts.append(_text((left + right) / 2, bottom + 29, x_label, "middle", FONT))
    parts.append(_turned(PAD + 4, (top + bottom) / 2, y_label))
    last = across(marks[-1]) + LETTER * (digits + 2) / 2 if len(marks) else right
    return Chart(tuple(parts), max(right, last) + PAD, bottom + 36)


def percent(p: float) -> str:
    """Format a probability, never as 0% or 100%."""
    return ">99%" if p > 0.99 else "<1%" if p < 0.01 else f"{p:.0%}"


def heat_map(
    share: Floats,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    colours: Sequence[str] = BLUES,
    cell: float = 34,
    texts: Sequence[Sequence[str]] = (),
    dots: Iterable[tuple[int, int]] = (),
    x_label: str = "",
    y_label: str = "",
    title: str = "",
    key: str = "",
    told: bool = False,
) -> Chart:
    """Draw shares from 0 to 1 as colours, the first row at the top; NaN has none.  key: what the colours mean.

    Cells of one colour are one path.  The rectangle ``cells`` lies on all of them; told: it holds the shares as text,
    by row, which the script of the page shows.
    """
    n_rows, n_columns = share.shape
    size = min(FONT, max(cell - 1, 7))
    left, top = PAD + 18 * bool(y_label) + _room(rows, size), PAD + 20 * bool(title)
    right, bottom = left + cell * n_columns, top + cell * n_rows
    across = max(map(len, columns), default=0) * 0.55 * size
    slanted = across > cell - 2
    parts = [_text(left, PAD + 4, title, "start", FONT, bold=True)] if title else []
    parts += _cells(share, colours, (left, top), cell)
    parts += [_text(left - 5, top + cell * (n + 0.5), name, "end", size) for n, name in enumerate(rows)]
    for n, name in enumerate(columns):
        x = left + cell * (n + 0.5)
        parts.append(
            _turned(x, bottom + 5, name, "end", size) if slanted else _text(x, bottom + 11, name, "middle", size)
        )
    for (row, column), value in np.ndenumerate(share):
        if texts and texts[row][column]:
            ink = "#fff" if value > 0.55 else DARK
            where = (left + cell * (column + 0.5), top + cell * (row + 0.5))
            parts.append(_text(*where, texts[row][column], "middle", FONT - 2, ink=ink))
    radius = min(3.0, cell / 4)
    centres = [(left + cell * (column + 0.5), top + cell * (row + 0.5)) for row, column in dots]
    parts += [f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="#000"/>' for x, y in centres]
    box = f'x="{_n(left)}" y="{_n(top)}" width="{_n(right - left)}" height="{_n(bottom - top)}"'
    shares = " ".join("-" if np.isnan(each) else percent(each) for each in share.ravel().tolist())
    held = f' data-shares="{escape(shares)}"' if told else ""
    parts.append(f'<rect class="cells" {box} fill="none"{held}/>')
    below = bottom + 8 + (across if slanted else 14)
    if x_label:
        below += 14
        parts.append(_text((left + right) / 2, below, x_label, "middle", FONT))
    if y_label:
        parts.append(_turned(PAD + 4, (top + bottom) / 2, y_label))
    if key:
        below += 16
        parts += _key(key, colours, left, below)
    width = max(
        right, left + _room([x_label, title], FONT), left + (KEY_WIDTH + _room([f"100%  {key}"], FONT)) * bool(key)
    )
    return Chart(tuple(parts), width + PAD, below + PAD)


def _cells(share: Floats, colours: Sequence[str], corner: tuple[float, float], cell: float) -> list[str]:
    """Draw cells, those of one colour as one path of horizontal lines."""
    level = np.where(np.isnan(share), -1, np.round(np.nan_to_num(share) * LEVELS)).astype(int)
    runs: dict[int, list[str]] = {}
    for row, line in enumerate(level):
        starts = np.flatnonzero(np.diff(line, prepend=line[0] - 1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(line)], strict=True):
            runs.setdefault(int(line[start]), []).append(f"M{start} {row}.5h{end - start}")
    place = f'transform="translate({_n(corner[0])} {_n(corner[1])}) scale({_n(cell)})" shape-rendering="crispEdges"'
    paths = [
        f'<path stroke="{mixed(colours, n / LEVELS)}" d="{"".join(each)}"/>'
        for n, each in sorted(runs.items())
        if n >= 0
    ]
    return [f'<g {place} stroke-width="1">{"".join(paths)}</g>']


def _key(words: str, colours: Sequence[str], left: float, y: float) -> list[str]:
    """Draw the colours of a heat map from 0 to 1, and say what they mean."""
    parts, width = [_text(left, y, "0%", "start", FONT - 1)], 4
    for n in range(LEVELS // 2 + 1):
        x = left + 26 + n * width
        parts.append(_rect(x, y - 5, x + width + 0.5, y + 5, mixed(colours, 2 * n / LEVELS), 1))
    return [*parts, _text(left + KEY_WIDTH, y, f"100%  {words}", "start", FONT - 1)]


def mixed(colours: Sequence[str], share: float) -> str:
    """Return the colour at a share of the way along a sequence of colours."""
    place = min(max(share, 0.0), 1.0) * (len(colours) - 1)
    first = min(int(place), len(colours) - 2)
    one, two = ([int(text[n : n + 2], 16) for n in (1, 3, 5)] for text in colours[first : first + 2])
    return "#" + "".join(f"{round(a + (b - a) * (place - first)):02x}" for a, b in zip(one, two, strict=True))


def _room(texts: Sequence[str], size: float) -> float:
    """Return the width of the longest text."""
    return max((len(text) for text in texts), default=0) * LETTER * size / FONT + 4 * bool(texts)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(x: float, y: float, text: str, anchor: str, size: float, *, ink: str = INK, bold: bool = False) -> str:
    """Draw a text whose middle is at y."""
    place = f'x="{_n(x)}" y="{_n(y + 0.35 * size)}"' + ("" if anchor == "start" else f' text-anchor="{anchor}"')
    sized = "" if size == FONT else f' font-size="{_n(size)}"'
    weight = ' font-weight="bold"' if bold else ""
    return f'<text {place}{sized}{weight} fill="{ink}">{escape(visible(text))}</text>'


def _turned(x: float, y: float, text: str, anchor: str = "middle", size: float = FONT) -> str:
    """Draw a text from the bottom up."""
    drawn = _text(0, 0, text, anchor, size)
    return drawn.replace("<text ", f'<text transform="translate({_n(x)} {_n(y)}) rotate(-90)" ') if text else ""


def _moved(parts: str, down: float) -> str:
    return f'<g transform="translate(0 {_n(down)})">{parts}</g>' if parts and down else parts


def _line(
    x1: float, y1: float, x2: float, y2: float, ink: str, width: float, opacity: float = 1.0, *, dash: str = ""
) -> str:
    look = f'stroke="{ink}" stroke-width="{_n(width)}"' + (f' opacity="{opacity:g}"' if opacity < 1 else "")
    look += f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}" {look}/>'


def _rect(x1: float, y1: float, x2: float, y2: float, ink: str, opacity: float) -> str:
    box = f'x="{_n(x1)}" y="{_n(y1)}" width="{_n(max(x2 - x1, 0.5))}" height="{_n(y2 - y1)}"'
    return f'<rect {box} fill="{ink}"' + (f' opacity="{opacity:g}"/>' if opacity < 1 else "/>")


SHAPES = ("", "-1 -1 1 -1 1 1 -1 1", "0 -1.2 1.2 1 -1.2 1", "0 -1.4 1.4 0 0 1.4 -1.4 0", "0 1.2 1.2 -1 -1.2 -1")


def _marker(x: float, y: float, number: int, ink: str, size: float, *, hollow: bool = False) -> str:
    """Draw a marker: a circle, square, triangle, diamond or inverted triangle, by the number of the series."""
    look = f'fill="{PAPER}" stroke="{ink}" stroke-width="1.5"' if hollow else f'fill="{ink}"'
    shape = SHAPES[number % len(SHAPES)]
    if not shape:
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(size)}" {look}/>'
    numbers = [float(each) * size for each in shape.split()]
    points = " ".join(f"{_n(x + a)},{_n(y + b)}" for a, b in zip(numbers[::2], numbers[1::2], strict=True))
    return f'<polygon points="{points}" {look}/>'

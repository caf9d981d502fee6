"""Drawings of the first screen: dots and intervals, groups, and bars, as SVG elements that the style sheet colours.

They are drawn here rather than by matplotlib, since a row of a table has a drawing of its own, on an axis that all rows
share.  Every mark has a title, which is read aloud and shown where the pointer is.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from venire.report.charts import round_values
from venire.report.leaderboard import Leaderboard
from venire.results import visible
from venire.types import Floats

WIDE, NARROW, HEIGHT, EDGE = 400, 112, 22, 8
"""Widths of the drawing of a row, for large and for small screens."""
TICK = 40
"""Width of the number at a tick, with some room."""
STEP, MOST_COLUMNS = 9, 9
BARS_WIDTH, BARS_HEIGHT = 1000, 180


class Axis:
    """A scale from values to places, the same for all rows; a value beyond it is at its end."""

    def __init__(self, values: Floats, width: int = WIDE) -> None:
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        pad = (high - low) * 0.03 or 0.05
        self.low, self.high, self.width = low - pad, high + pad, width

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return EDGE + (self.width - 2 * EDGE) * min(max(share, 0.0), 1.0)


def axis_of(board: Leaderboard, n_rows: int, width: int = WIDE) -> Axis:
    """Return an axis that holds the first rows of a leaderboard."""
    columns = (board.score, board.low, board.high, *board.by_judge)
    return Axis(np.concatenate([each[:n_rows] for each in columns]), width)


def ticks(axis: Axis) -> str:
    """Draw the axis: a few round values, as many as there is room for."""
    values, digits = round_values(axis.low, axis.high, min(6.0, axis.width / TICK))
    marks = [f'<text class="tick" x="{axis(v):.1f}" y="15">{v:.{digits}f}</text>' for v in values]
    return _svg(axis.width, HEIGHT, marks, f"axis of scores from {axis.low:.2f} to {axis.high:.2f}", _size(axis))


def _size(axis: Axis) -> str:
    return "row large" if axis.width == WIDE else "row little"


def row(board: Leaderboard, n: int, axis: Axis) -> str:
    """Draw a system: its interval as a line, its score as a dot, and a smaller dot for every other judge."""
    middle, parts, others = HEIGHT / 2, list[str](), list[str]()
    low, high, score = float(board.low[n]), float(board.high[n]), float(board.score[n])
    if np.isfinite(low) and np.isfinite(high):
        parts.append(f'<line class="interval" x1="{axis(low):.1f}" x2="{axis(high):.1f}" y1="{middle}" y2="{middle}"/>')
    for j, judge in enumerate(board.judges):
        value = float(board.by_judge[j, n])
        if judge.name == board.scorer or not np.isfinite(value):
            continue
        others.append(f"{judge.name} {value:.3f}")
        against = bool(board.reversed[j, n])
        parts.append(_dot(axis(value), middle, judge.kind, against, f"{judge.name}: {value:.3f}"))
    if np.isfinite(score):
        title = _title(f"{board.scorer}: {score:.3f}")
        parts.append(f'<circle class="score" cx="{axis(score):.1f}" cy="{middle}" r="4.5">{title}</circle>')
    words = f"score of {board.systems[n]} by {board.scorer}: {score:.3f}"
    words += f", 95% interval {low:.3f} to {high:.3f}" if low == low else ""
    words += f"; {', '.join(others)}" if others else ""
    return _svg(axis.width, HEIGHT, parts, words, _size(axis))


def _dot(x: float, y: float, kind: str, against: bool, words: str) -> str:
    """Draw the score by another judge: a diamond for a machine, filled if it has another system first."""
    name = f"dot{' against' if against else ''}"
    if kind == "machine":
        points = f"{x:.1f},{y - 4.2} {x + 4.2:.1f},{y} {x:.1f},{y + 4.2} {x - 4.2:.1f},{y}"
        return f'<polygon class="{name}" points="{points}">{_title(words)}</polygon>'
    return f'<circle class="{name}" cx="{x:.1f}" cy="{y}" r="3.2">{_title(words)}</circle>'


def group_bars(board: Leaderboard, n: int) -> str:
    """Draw the groups of a system: a bar per group, which is one line with those of its neighbours."""
    columns = board.member[:MOST_COLUMNS]
    if n >= columns.shape[1]:
        first, last = board.alike(n)
        title = f"does not differ significantly from systems between ranks {first} and {last}"
        return f'<span title="{title}">{first}–{last}</span>'
    marks = [
        f'<rect class="group" x="{place * STEP + 2}" y="0" width="4" height="{HEIGHT + 12}"/>'
        for place in np.flatnonzero(columns[:, n]).tolist()
    ]
    return _svg(
        max(len(columns), 1) * STEP,
        HEIGHT + 12,
        marks,
        f"groups of systems that do not differ significantly: {board.letters(n)}",
        "groups",
    )


def bars(differences: Sequence[tuple[str, float]], words: str) -> str:
    """Draw differences by topic as bars, in their order: above the line where the first system is better."""
    n, top = len(differences), max((abs(value) for _, value in differences), default=0.0) or 1.0
    width, middle = BARS_WIDTH / max(n, 1), BARS_HEIGHT / 2
    marks = [f'<line class="zero" x1="0" x2="{BARS_WIDTH}" y1="{middle}" y2="{middle}"/>']
    for place, (topic, value) in enumerate(differences):
        height = max(abs(value) / top * (middle - 4), 0.8)
        y = middle - height if value > 0 else middle
        kind = "better" if value > 0 else "worse"
        marks.append(
            f'<rect class="bar {kind}" x="{place * width + width * 0.1:.1f}" y="{y:.1f}" width="{width * 0.8:.1f}" '
            f'height="{height:.1f}">{_title(f"{topic}: {value:+.3f}")}</rect>'
        )
    return _svg(BARS_WIDTH, BARS_HEIGHT, marks, words, "bars")


def _title(words: str) -> str:
    return f"<title>{escape(visible(words))}</title>"


def _svg(width: float, height: float, parts: Sequence[str], words: str, name: str) -> str:
    label = escape(visible(words), quote=True)
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    about = f'xmlns="http://www.w3.org/2000/svg" class="{name}" role="img" aria-label="{label}"'
    return f"<svg {about} {size}>{''.join(parts)}</svg>"

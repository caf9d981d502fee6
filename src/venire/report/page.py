"""The page: a report as one HTML file that needs no network, in light, dark and print.

Figures are SVG within the page.  Their text stays text, so that it can be read aloud, searched and scaled.  Ink, lines
and paper of the plot style become properties of the page (``var(--ink)``), so one drawing serves light, dark and print.
Ids are unique per picture.

Names of topics, systems and so on are text: they are escaped, and a strict policy (Content-Security-Policy) allows the
page its own script and style sheet, by their hashes, and nothing else.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.io.outputs import write_bytes
from venire.io.templates import templates
from venire.plots.style import GREY, INK
from venire.plots.svg import svg_element
from venire.report.charts import Chart, percent
from venire.report.document import Cell, Grid, Picture, Report, Words
from venire.report.first_screen import first_screen, tone
from venire.report.front import Front

if TYPE_CHECKING:
    from jinja2 import Environment

NOTHING = "–"
SCRIPTS = ("page.js", "explore.js")
"""What a page does, and what it does in addition if it has a first screen."""
SEEN = ("workers_kappa", "labels_by_assessor", "nearness", "parameters")
"""Pictures that are shown at once where there is no first screen."""
MOST_ROWS, MOST_LETTERS = 15, 68
"""A table with more rows, or more letters in a row, takes the whole width; others stand beside text and pictures."""
THEME = {INK: "var(--ink)", GREY: "var(--line)", "#ffffff": "var(--paper)", "#000000": "var(--ink)"}
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)


def write_report(report: Report, path: str | Path) -> None:
    """Write a report as one HTML file."""
    write_bytes(Path(path), page(report).encode("utf-8", "backslashreplace"))


def page(report: Report) -> str:
    """Render a report as HTML.  O(its content)."""
    front = report.front if isinstance(report.front, Front) else None
    style, script = _asset("page.css"), _asset(*SCRIPTS[: None if front else 1])
    policy = POLICY.format(style=_hashed(style), script=_hashed(script))
    contents = [(chapter.name, chapter.title) for chapter in report.chapters]
    seen = [part for each in report.chapters for part in each.parts if isinstance(part, Picture) and part.name in SEEN]
    shown: dict[str, Any] = {"front": None, "contents": contents, "data": "", "seen": seen}
    shown |= {} if front is None else first_screen(report, front)
    template = _environment().get_template("page.html")
    return template.render(report=report, style=style, script=script, policy=policy, **shown) + "\n"


def _hashed(text: str) -> str:
    """Return the source of a policy that allows one script or style: its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _environment() -> Environment:
    from markupsafe import Markup

    made = templates("venire.report", "assets")
    made.filters |= {
        "kind": kind_of,
        "svg": lambda picture: Markup(inline_svg(picture)),
        "cells": cells,
        "heads": heads,
        "broad": broad,
        "number": shown,
        "percent": lambda p: NOTHING if p is None else percent(p),
        "tone": tone,
    }
    return made


def _asset(*names: str) -> Any:
    from markupsafe import Markup

    folder = files("venire.report").joinpath("assets")
    return Markup("\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names))


def kind_of(part: object) -> str:
    """Return the name of the type of a part, for the template."""
    return {Words: "words", Grid: "grid", Picture: "picture"}[type(part)]


def heads(grid: Grid) -> list[tuple[str, bool]]:
    """Return the columns of a table: the heading, and whether it holds numbers."""
    numbers = [all(_is_number(row[place]) for row in grid.rows) for place in range(len(grid.columns))]
    shown = grid.columns if grid.names else [name.replace("_", " ") for name in grid.columns]
    return list(zip(shown, numbers, strict=True))


def broad(grid: Grid) -> bool:
    """Whether a table needs the whole width of the page: it has long rows, or many."""
    rows = [list(map(len, grid.columns)), *([len(text) for text, _ in cells(row)] for row in grid.rows)]
    return len(grid.rows) > MOST_ROWS or sum(map(max, zip(*rows, strict=True))) + 3 * len(grid.columns) > MOST_LETTERS


def cells(row: Sequence[Cell]) -> Iterator[tuple[str, str]]:
    """Yield each cell as it is shown, and as it is sorted and saved."""
    for cell in row:
        yield shown(cell), "" if _is_nothing(cell) else str(cell)


def shown(cell: Cell) -> str:
    """Format a cell: numbers with three digits, nothing as a dash."""
    if cell is None or _is_nothing(cell):
        return NOTHING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _is_nothing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))


def inline_svg(picture: Picture) -> str:
    """Draw a picture as an element of the page, which scales with it and follows its colours; its words are its label.

    Attributes replace styles, which the policy of the page does not allow.
    """
    if isinstance(picture.figure, Chart):
        return picture.figure.svg(picture.words)
    return svg_element(picture.figure, picture.words, name=picture.name, theme=THEME, font="var(--sans)")

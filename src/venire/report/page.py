"""The page: a report as one HTML file that needs nothing else, offline, in light, dark and print."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.report.document import Cell, Grid, Picture, Report, Words
from venire.report.pictures import inline_svg

if TYPE_CHECKING:
    from jinja2 import Environment

NOTHING = "–"
_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w-])")


def write_report(report: Report, path: str | Path) -> None:
    """Write a report as one HTML file."""
    Path(path).write_text(page(report), encoding="utf-8", errors="backslashreplace")


def page(report: Report) -> str:
    """Render a report as HTML.  O(its content)."""
    template = _environment().get_template("page.html")
    return template.render(report=report, style=_asset("page.css"), script=_asset("page.js")) + "\n"


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("venire.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"kind": kind_of, "svg": _drawn, "cells": cells, "heads": heads, "prose": prose}
    return made


def _asset(name: str) -> Any:
    from markupsafe import Markup

    return Markup(files("venire.report").joinpath("assets", name).read_text(encoding="utf-8"))


def _drawn(picture: Picture) -> Any:
    from markupsafe import Markup

    return Markup(inline_svg(picture))


def kind_of(part: object) -> str:
    """Name the sort of a part, for the template."""
    return {Words: "words", Grid: "grid", Picture: "picture"}[type(part)]


def prose(text: str) -> Any:
    """Text for a page; names of options stand out and are not broken over lines."""
    from markupsafe import Markup, escape

    return Markup(_OPTION.sub(r"<code>\g<0></code>", str(escape(text))))


def heads(grid: Grid) -> list[tuple[str, bool]]:
    """Columns of a table: the name as people read it, and whether it holds numbers."""
    numbers = [all(_is_number(row[place]) for row in grid.rows) for place in range(len(grid.columns))]
    return [(name.replace("_", " "), number) for name, number in zip(grid.columns, numbers, strict=True)]


def cells(row: list[Cell], grid: Grid) -> Iterator[tuple[str, str]]:
    """Each cell as people read it, and as it sorts and is saved."""
    for cell in row:
        yield shown(cell, grid.digits), "" if _is_nothing(cell) else str(cell)


def shown(cell: Cell, digits: int) -> str:
    """Write a cell for people: numbers with a few digits, nothing as a dash."""
    if cell is None or _is_nothing(cell):
        return NOTHING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _is_nothing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))

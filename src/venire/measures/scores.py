"""Scores: a named array (system, topic, measure[, assessor]); every analysis starts here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from venire.errors import UnknownName
from venire.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

AXES = ("system", "topic", "measure", "assessor")


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Values by name: ``axes`` lists the dimensions of ``values``, ``names`` what stands along each.

    A cell is NaN where there is nothing to score: an assessor who judged nothing for a topic, or a list that is
    missing and was to be left out.  Means pass over such cells; ``notes`` says how many there are and why.
    """

    values: Floats
    axes: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def mean(self, axis: str = "topic") -> Scores:
        """Mean along one axis, over the cells that have a score."""
        return self._reduced(axis, _mean)

    def spread(self, axis: str = "assessor") -> Scores:
        """Standard deviation along one axis, over the cells that have a score."""
        return self._reduced(axis, _deviation)

    def select(self, **wanted: str) -> Scores:
        """Fix an axis at one name: ``scores.select(measure="nDCG@10")``."""
        scores = self
        for axis, name in wanted.items():
            place = scores._axis(axis)
            if name not in scores.names[axis]:
                raise UnknownName(axis, name, scores.names[axis])
            values = np.asarray(scores.values.take(scores.names[axis].index(name), axis=place))
            scores = replace(scores, values=values, axes=tuple(each for each in scores.axes if each != axis))
        return scores

    def per_topic(self) -> pl.DataFrame:
        """Return one row per system and topic, one column per measure."""
        index = [axis for axis in self.axes if axis not in ("measure",)]
        return self.to_polars().pivot("measure", index=index, values="value")

    def rows(self) -> list[dict[str, str | float | None]]:
        """Return one dictionary per cell: a name per axis and the value, None where there is none."""
        order = [self.names[axis] for axis in self.axes]
        return [
            {axis: order[n][i] for n, (axis, i) in enumerate(zip(self.axes, place, strict=True))}
            | {"value": None if np.isnan(value) else float(value)}
            for place, value in np.ndenumerate(self.values)
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return the long table: one row per cell."""
        import polars as pl

        columns: dict[str, object] = {
            axis: np.array(self.names[axis], dtype=object)[places.ravel()]
            for axis, places in zip(self.axes, np.indices(self.values.shape), strict=True)
        }
        frame = pl.DataFrame(columns | {"value": self.values.ravel()})
        return frame.with_columns(pl.col("value").fill_nan(None))

    def to_pandas(self) -> pd.DataFrame:
        """Return the long table: one row per cell."""
        return self.to_polars().to_pandas()

    def _axis(self, axis: str) -> int:
        if axis not in self.axes:
            raise UnknownName("axis", axis, self.axes)
        return self.axes.index(axis)

    def _reduced(self, axis: str, function: Callable[[Floats], Floats]) -> Scores:
        values = np.moveaxis(self.values, self._axis(axis), 0)
        return replace(self, values=function(values), axes=tuple(each for each in self.axes if each != axis))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows for people: systems (and topics, assessors) down, measures across."""
        scores = self
        down = [axis for axis in scores.axes if axis != "measure"]
        across = scores.names["measure"] if "measure" in scores.axes else ("value",)
        values = (
            np.moveaxis(scores.values, scores.axes.index("measure"), -1)
            if "measure" in scores.axes
            else scores.values[..., None]
        )
        rows = [
            [
                *(scores.names[axis][i] for axis, i in zip(down, place, strict=True)),
                *map(shown, values[place]),
            ]
            for place in np.ndindex(values.shape[:-1])
        ]
        return [*down, *across], rows

    def __repr__(self) -> str:
        shape = " x ".join(f"{len(self.names[axis])} {axis}s" for axis in self.axes)
        header, rows = (self.mean() if "topic" in self.axes else self).table()
        lines = [header, *rows[:20]]
        widths = [max(len(line[n]) for line in lines) for n in range(len(header))]
        body = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        more = [f"... and {len(rows) - 20} more rows"] if len(rows) > 20 else []
        means = ", means over topics" if "topic" in self.axes else ""
        return "\n".join([f"Scores: {shape or 'one number'}{means}", *body, *more])

    def _repr_html_(self) -> str:
        from html import escape

        header, rows = (self.mean() if "topic" in self.axes else self).table()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _mean(values: Floats) -> Floats:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    there = ~np.isnan(values)
    return _ratio(np.where(there, values, 0.0).sum(axis=0), there.sum(axis=0))


def _deviation(values: Floats) -> Floats:
    """Standard deviation (n - 1) over the first axis of what is not NaN; NaN for fewer than two."""
    there = ~np.isnan(values)
    squares = np.where(there, values - _mean(values), 0.0) ** 2
    return np.sqrt(_ratio(squares.sum(axis=0), there.sum(axis=0) - 1))


def _ratio(part: Floats, whole: Ints) -> Floats:
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)


def shown(value: float) -> str:
    """Return a score as people read it; a dash where there is none."""
    return "-" if np.isnan(value) else f"{value:.4f}"

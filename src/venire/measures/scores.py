"""Scores: an array with named axes (system, topic, measure[, assessor]), and the conditional labels it used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import atan, exp, lgamma, pi, sqrt, tan
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.errors import UnknownName
from venire.results import Note, Records, Tabular, counted, known, listed
from venire.types import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

SOURCES = ("first_rank", "collected", "predicted", "backoff_first", "backoff_isolation", "after_unjudged")
"""What conditional labels are counted by."""


@dataclass(frozen=True)
class BestOrders:
    """How the best orders of a normalised measure were found, by topic and judge.

    exact, searched: how many are proven optimal, and for how many an upper bound is used instead; ``furthest``: the
    largest distance of a best order found from its bound, as a share of the bound, and so the most by which a score can
    be too low; above: how many lists score more than 1, since labels after an unjudged document back off.
    """

    exact: int
    searched: int
    furthest: float
    above: int = 0

    def note(self, measure: str) -> Note:
        """Return it as a note."""
        text = "{measure}: best orders of judged documents: {exact:,} exact"
        if self.searched:
            text += ", {searched:upper bound}: scores can be too low by at most {furthest:.1%}"
        text += "; {above:list} above 1" if self.above else ""
        return Note("best-orders", text, measure=measure, **vars(self))


@dataclass(frozen=True)
class ContextUse(Tabular):
    """Conditional labels of the documents that measures with alpha use, counted by source.

    first_rank: no document was read before, so g(d1); collected; predicted; backoff_first: g(d|d1); backoff_isolation:
    g(d); after_unjudged: those that back off because the document before has no label.
    """

    backoff: str
    expected: bool
    first_rank: int
    collected: int
    predicted: int
    backoff_first: int
    backoff_isolation: int
    after_unjudged: int
    best_orders: Mapping[str, BestOrders] = field(default_factory=dict)
    more_notes: tuple[Any, ...] = ()

    def note(self) -> Note:
        """Return the counts as a note."""
        text = "conditional labels of {n:judged document} below the first rank: {collected:,} collected, "
        text += "{predicted:,} predicted, "
        text += "{backoff_first:,} as after the first document, " if self.backoff == "first" else ""
        text += "{backoff_isolation:,} as in isolation"
        text += " ({after_unjudged:,} after an unjudged document)" if self.after_unjudged else ""
        total = self.collected + self.predicted + self.backoff_first + self.backoff_isolation
        return Note("conditional-labels", text, n=total, **self._counts())

    def sentence(self) -> str:
        """Return the counts in one line."""
        return str(self.note())

    def notes(self) -> tuple[Any, ...]:
        """Return the notes of the scores."""
        return (*self.more_notes, self.note(), *(each.note(name) for name, each in self.best_orders.items()))

    def records(self) -> Records:
        """Return one row per source of conditional labels: the number of documents."""
        counts = self._counts()
        counts.pop("after_unjudged")
        return [{"source": name, "documents": count} for name, count in counts.items()]

    def record(self) -> dict[str, object]:
        """Return it as a JSON object."""
        orders = [
            {"measure": name, "exact": each.exact, "searched": each.searched, "furthest": each.furthest}
            for name, each in self.best_orders.items()
        ]
        return {"backoff": self.backoff, "expected": self.expected, **self._counts(), "best_orders": orders}

    def _counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in SOURCES}


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Tabular):
    """Values by name: ``axes`` lists the dimensions of ``values``, ``names`` the names along each.

    A cell is NaN where there is nothing to score: an assessor who judged nothing for a topic, or a missing list that is
    omitted.  Means ignore such cells; ``notes`` says how many there are and why.  ``context`` counts the sources of
    conditional labels, if a measure used any.  ``silent`` names the systems that returned nothing for any topic that is
    scored: they have no scores, are in no mean, rank or test, and in tables they have a dash or None (``complete``).
    """

    values: Floats
    axes: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    notes: tuple[Any, ...] = ()
    context: ContextUse | None = None
    silent: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of systems that returned nothing."""
        return (nothing_returned(self.silent, len(self.names.get("topic", ()))),) if self.silent else ()

    def complete(self) -> Scores:
        """Add the systems that returned nothing after the others, with NaN for every score."""
        if not self.silent:
            return self
        place = self._axis("system")
        more = [(0, len(self.silent) if n == place else 0) for n in range(self.values.ndim)]
        names = {**self.names, "system": (*self.names["system"], *self.silent)}
        return replace(self, values=np.pad(self.values, more, constant_values=np.nan), names=names, silent=())

    def mean(self, axis: str = "topic") -> Scores:
        """Mean along one axis, over the cells that have a score."""
        return self._reduced(axis, _mean)

    def spread(self, axis: str = "assessor") -> Scores:
        """Standard deviation along one axis, over the cells that have a score."""
        return self._reduced(axis, _deviation)

    def interval(self, axis: str = "topic", *, confidence: float = 0.95) -> tuple[Scores, Scores]:
        r"""Student's interval of the mean along one axis, over the cells that have a score: low and high.

        .. math:: \bar x \pm t_{n-1} s / \sqrt n

        (Student 1908, doi:10.2307/2331554); NaN for fewer than two cells.  It is of the mean over all topics from which
        these were drawn.  Limits are cut at the range of the measure, such as [0, 1] for nDCG, which holds the true
        mean; those of a measure whose range is not known stay as they are.  In simulations with 3 to 50 topics it holds
        the true mean in 94 %, and with up to 10 topics and many scores near 0 in 88 to 92 %
        (``tests/simulation/test_score_intervals.py``).  When not to use it: for the difference of two systems, which
        varies less between topics than either score does (``compare_systems``).

        Examples
        --------
        >>> scores = Scores(np.array([[0.2, 0.4, 0.6]]), ("system", "topic"), {"system": ("a",), "topic": tuple("123")})
        >>> [each.values.round(3).tolist() for each in scores.interval()]
        [[-0.097], [0.897]]
        """
        mean, spread, n = (self._reduced(axis, each).values for each in (_mean, _deviation, _number))
        freedom, place = np.unique(np.maximum(n - 1, 1), return_inverse=True)
        quantile = np.array([student_quantile(float(each), (1 + confidence) / 2) for each in freedom])
        half = quantile[place].reshape(n.shape) * spread / np.sqrt(np.maximum(n, 1))
        whole, (lowest, highest) = self.mean(axis), self._range(axis)
        low, high = np.maximum(mean - half, lowest), np.minimum(mean + half, highest)
        return replace(whole, values=low), replace(whole, values=high)

    def _range(self, axis: str) -> tuple[Floats, Floats]:
        """Return the range of the means along an axis: that of the measure, or of the scores where they exceed it."""
        from venire.measures.names import range_of

        low, high = np.array([range_of(each) for each in self.names.get("measure", ("",))]).T
        if "measure" in self.axes:
            shape = [-1 if each == "measure" else 1 for each in self.axes]
            low, high = low.reshape(shape), high.reshape(shape)
        else:
            low, high = low.min(), high.max()
        place = self._axis(axis)
        lowest = np.fmin(self.values, low).min(axis=place, initial=np.inf)
        return lowest, np.fmax(self.values, high).max(axis=place, initial=-np.inf)

    def select(self, **wanted: str) -> Scores:
        """Fix an axis at one name: ``scores.select(measure="nDCG@10")``."""
        scores = self
        for axis, name in wanted.items():
            scores = scores.complete() if axis == "system" and name in scores.silent else scores
            place = scores._axis(axis)
            if name not in scores.names[axis]:
                raise UnknownName(axis, name, scores.names[axis])
            scores = scores._without(axis, np.asarray(scores.values.take(scores.names[axis].index(name), axis=place)))
        return scores

    def per_topic(self) -> pl.DataFrame:
        """Return one row per system and topic, one column per measure."""
        index = [axis for axis in self.axes if axis not in ("measure",)]
        return self.to_polars().pivot("measure", index=index, values="value")

    def records(self) -> Records:
        """Return one dictionary per cell: a name per axis and the value, None where there is none."""
        scores = self.complete()
        order = [scores.names[axis] for axis in scores.axes]
        return [
            {axis: order[n][i] for n, (axis, i) in enumerate(zip(scores.axes, place, strict=True))}
            | {"value": known(value)}
            for place, value in np.ndenumerate(scores.values)
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return the long table: one row per cell."""
        import polars as pl

        scores = self.complete()
        columns: dict[str, object] = {
            axis: np.array(scores.names[axis], dtype=object)[places.ravel()]
            for axis, places in zip(scores.axes, np.indices(scores.values.shape), strict=True)
        }
        frame = pl.DataFrame(columns | {"value": scores.values.ravel()})
        return frame.with_columns(pl.col("value").fill_nan(None))

    def _axis(self, axis: str) -> int:
        if axis not in self.axes:
            raise UnknownName("axis", axis, self.axes)
        return self.axes.index(axis)

    def _reduced(self, axis: str, function: Callable[[Floats], Floats]) -> Scores:
        return self._without(axis, function(np.moveaxis(self.values, self._axis(axis), 0)))

    def _without(self, axis: str, values: Floats) -> Scores:
        """Return values that have every axis but one."""
        silent = () if axis == "system" else self.silent
        return replace(self, values=values, axes=tuple(each for each in self.axes if each != axis), silent=silent)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows to print: systems (and topics, assessors) down, measures across."""
        header, rows = self._cells()
        return header, [[cell if isinstance(cell, str) else shown(cell) for cell in row] for row in rows]

    def _cells(self) -> tuple[list[str], list[list[str | float]]]:
        """Return header and rows of that table, with numbers that are not formatted."""
        scores, down = self.complete(), [axis for axis in self.axes if axis != "measure"]
        several = "measure" in self.axes
        across = self.names["measure"] if several else ("value",)
        values = np.moveaxis(scores.values, self.axes.index("measure"), -1) if several else scores.values[..., None]
        rows = [
            [*(scores.names[axis][i] for axis, i in zip(down, place, strict=True)), *values[place].tolist()]
            for place in np.ndindex(values.shape[:-1])
        ]
        return [*down, *across], rows

    def sentence(self) -> str:
        """Return what was scored, and the system with the highest mean by the first measure."""
        shape = ", ".join(counted(len(self.names[axis]), axis) for axis in self.axes) or "one number"
        if "system" not in self.axes or np.isnan(self.values).all():
            return f"Scores: {shape}."
        first = self.names["measure"][0] if "measure" in self.axes else None
        scores = self if first is None else self.select(measure=first)
        what = "score" if scores.axes == ("system",) else "mean"
        for axis in scores.axes:
            scores = scores if axis == "system" else scores.mean(axis)
        best = int(np.nanargmax(scores.values))
        by = "" if first is None else f" by {first}"
        return f"Scores: {shape}; highest {what}{by}: {self.names['system'][best]}, {scores.values[best]:.4f}."

    def _first(self, most: int) -> tuple[Records, int]:
        header, rows = (self.mean() if "topic" in self.axes else self)._cells()
        return [dict(zip(header, row, strict=True)) for row in rows[:most]], len(rows)

    def __repr__(self) -> str:
        shape = " x ".join(counted(len(self.names[axis]), axis) for axis in self.axes)
        header, rows = (self.mean() if "topic" in self.axes else self).table()
        lines = [header, *rows[:20]]
        widths = [max(len(line[n]) for line in lines) for n in range(len(header))]
        body = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        more = [f"... and {counted(len(rows) - 20, 'more row')}"] if len(rows) > 20 else []
        means = ", means over topics" if "topic" in self.axes else ""
        return "\n".join([f"Scores: {shape or 'one number'}{means}", *body, *more])


NOTHING = "returned nothing for any scored topic"
"""What is said of a system without a result for the topics that are scored."""


def nothing_returned(systems: Sequence[str], n_topics: int) -> str:
    """Return what is said of systems that returned nothing, and what follows."""
    they = "it has no score and is" if len(systems) == 1 else "they have no scores and are"
    return f"{listed(systems)} {NOTHING} (of {n_topics:,}), so {they} not ranked or compared"


def student_quantile(freedom: float, p: float) -> float:
    r"""Quantile p > 1/2 of Student's t distribution, to seven digits; scipy has it too, but is slow to import.

    With :math:`t = \sqrt\nu \tan\theta`, the density is :math:`c \sqrt\nu \cos^{\nu - 1} \theta`: integrated by
    Simpson's rule, and inverted by Newton's method from the normal quantile, which lies below.
    """
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    angle = atan(NormalDist().inv_cdf(p) / sqrt(freedom))
    weight = np.array([1, *[4, 2] * 499, 4, 1]) / 3000
    for _ in range(60):
        density = scale * np.cos(np.linspace(0.0, angle, 1001)) ** (freedom - 1)
        step = (p - 0.5 - angle * float(density @ weight)) / float(density[-1])
        angle += step
        if abs(step) < 1e-14:
            break
    return sqrt(freedom) * tan(angle)


def _mean(values: Floats) -> Floats:
    """Mean over the first axis of what is not NaN; NaN where nothing is."""
    present = ~np.isnan(values)
    return _ratio(np.where(present, values, 0.0).sum(axis=0), present.sum(axis=0))


def _number(values: Floats) -> Floats:
    """How many along the first axis are not NaN."""
    return (~np.isnan(values)).sum(axis=0).astype(np.float64)


def _deviation(values: Floats) -> Floats:
    """Standard deviation (n - 1) over the first axis of what is not NaN; NaN for fewer than two."""
    present = ~np.isnan(values)
    squares = np.where(present, values - _mean(values), 0.0) ** 2
    return np.sqrt(_ratio(squares.sum(axis=0), present.sum(axis=0) - 1))


def _ratio(part: Floats, whole: Ints) -> Floats:
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)


def shown(value: float) -> str:
    """Format a score; a dash where there is none."""
    return "-" if np.isnan(value) else f"{value:.4f}"

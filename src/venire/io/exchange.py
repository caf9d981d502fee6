r"""Relevance as other tools read it: whole numbers, with the scale that makes gains of them.

trec_eval, pytrec_eval, ir_measures (for nDCG and all else that it leaves to pytrec_eval or gdeval) and ranx take
relevance as whole numbers: trec_eval and ranx cut a fraction down to 0 in silence, the others refuse it.  So a gain
:math:`g` becomes :math:`\operatorname{round}(s g)`, one scale :math:`s` for all.  nDCG is a ratio of sums of gains,
so it is the same for :math:`s g` as for :math:`g`, but for rounding: a gain is off by at most :math:`1 / (2 s)`.  DCG
and CG come out :math:`s` times as large.  Measures that only ask whether a document is relevant take all from 1 on, or
from a level that is stated in these whole numbers (``trec_eval -l 500``).

In memory the table is an iterable of rows as ir_measures takes them; ``exchange_files`` writes it.

When not to use this: where fractions are taken as they are, as by ir_measures' Compat, use ``gain`` (``to_polars``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from venire.data.gains import Gains
from venire.data.ids import Category
from venire.data.judgments import Items, Judgments
from venire.data.panel import Panel
from venire.errors import AmbiguousLabels, SettingError
from venire.results import Records, Tabular, counted
from venire.types import Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

USUAL_SCALE = 1000
LARGEST = 10_000_000
"""trec_eval sets up a table as long as the largest relevance, for every topic."""
WHOLE = 1e-9


class Qrel(NamedTuple):
    """A row as ir_measures takes it; ``iteration`` is the second column of qrels, here the judgment group."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


@dataclass(frozen=True, eq=False, repr=False)
class ScaledQrels(Tabular):
    """Gains of documents as whole numbers, ``scale_by`` times as large; item, group and gain are (row,).

    group: the assessors, where each has lines of their own; None where an item has one gain.
    labels: what each label is worth.
    """

    items: Items
    item: Codes
    gain: Floats
    scale_by: int
    labels: Gains
    group: Category | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.item)

    @property
    def relevance(self) -> Ints:
        """Gains as whole numbers -> (row,)."""
        return as_whole(self.gain, self.scale_by)

    @property
    def rounding(self) -> float:
        """How far a gain is off at most."""
        return float(np.abs(self.relevance / self.scale_by - self.gain).max(initial=0.0))

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return len(np.unique(self.items.topic[self.item]))

    def __iter__(self) -> Iterator[Qrel]:
        """Give the rows as ir_measures takes them; it would mix several assessors up, so these are refused."""
        self.refuse_groups("rows of ir_measures, which knows no assessors")
        return self.lines()

    def lines(self) -> Iterator[Qrel]:
        """Give the rows, those of several assessors too."""
        topic, doc = self.names()
        group = ["0"] * len(self) if self.group is None else self.group.texts()
        return map(Qrel, topic, doc, self.relevance.tolist(), group)

    def names(self) -> tuple[list[str], list[str]]:
        """Topic and document of every row."""
        topic = Category(self.items.topic[self.item], self.items.topics)
        return topic.texts(), Category(self.item, self.items.doc).texts()

    def to_dict(self) -> dict[str, dict[str, int]]:
        """{topic: {doc: relevance}}, as pytrec_eval, ir_measures and ranx take it."""
        self.refuse_groups("a dictionary {topic: {doc: relevance}}")
        held: dict[str, dict[str, int]] = {}
        for row in self:
            held.setdefault(row.query_id, {})[row.doc_id] = row.relevance
        return held

    def to_ranx(self) -> Any:
        """Return ranx.Qrels; ranx has to be installed."""
        try:
            from ranx import Qrels  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            raise SettingError(
                "ranx is not installed", hint="install it, or take to_dict(), which needs nothing"
            ) from None
        return Qrels(self.to_dict(), name=self.labels.name)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a frame with ir_measures' columns, and the gain as it is."""
        import polars as pl

        return pl.DataFrame(list(self.lines()), schema=Qrel._fields, orient="row").with_columns(gain=self.gain)

    def records(self) -> Records:
        """Return one row per line, in ir_measures' columns, and the gain as it is."""
        return self.to_polars().to_dicts()

    def _first(self, most: int) -> tuple[Records, int]:
        rows = np.arange(min(most, len(self)))
        group = None if self.group is None else self.group.take(rows)
        return replace(self, item=self.item[rows], gain=self.gain[rows], group=group).records(), len(self)

    def refuse_groups(self, where: str) -> None:
        """Raise where several assessors would be mixed up."""
        if self.group is not None and len(self.group.names) > 1:
            raise AmbiguousLabels(
                f"the labels of {counted(len(self.group.names), 'assessor')} apart do not fit into {where}",
                hint="choose one (assessor=, --assessor), pool their labels (pool=, --pool), or write judgment groups",
            )

    def sentence(self) -> str:
        """Say what the numbers are."""
        by = "" if self.group is None else f" in {counted(len(self.group.names), 'judgment group')}"
        what = "the gain" if self.scale_by == 1 else f"{self.scale_by:,} times the gain, rounded"
        text = f"{counted(len(self), 'line')} on {counted(self.n_topics, 'topic')}{by}: relevance is {what}"
        off = f"; off by at most {self.rounding:.2g} of gain" if self.rounding > 0 else ""
        return f"{text} ({self.labels.name}){off}."

    def __repr__(self) -> str:
        return f"<ScaledQrels: {self.sentence()}>"


def scaled_qrels(
    judgments: Judgments, gains: Gains, panel: Panel, *, scale_by: int | None = None, groups: bool = False
) -> ScaledQrels:
    """Make qrels of the labels of a panel; scale_by None: 1 where all gains are whole numbers, else 1000.

    groups: name the judge of every line, also where there is one.  Cost: O(rows log rows).
    """
    judge, item, gain = _mean_gains(panel, gains.values)
    scale = _checked(scale_by, gain)
    whole = as_whole(gain, scale)
    names = Category.of(str(name) for name in panel.judges)
    group = Category(names.codes[judge], names.names) if groups or len(panel.judges) > 1 else None
    notes = (*map(str, panel.notes), *_lost(gain, whole), *_relevant_from_one(gain, whole))
    return ScaledQrels(judgments.items, item, gain, scale, gains, group, notes)


def as_whole(gain: Floats, scale_by: int) -> Ints:
    """Scale gains and round them to the next whole number, halves to the even one."""
    return np.rint(gain * scale_by).astype(np.int64)


def _mean_gains(panel: Panel, values: Floats) -> tuple[Codes, Codes, Floats]:
    """Mean gain of every item that a judge labelled -> judge, item, gain, all (row,), by judge and item."""
    cell = panel.judge.astype(np.int64) * panel.n_items + panel.item
    held, inverse = np.unique(cell, return_inverse=True)
    gain = np.bincount(inverse, weights=panel.weight * values[panel.label], minlength=len(held))
    judge, item = np.divmod(held, max(panel.n_items, 1))
    return judge.astype(np.int32), item.astype(np.int32), gain.astype(np.float64, copy=False)


def _checked(scale_by: int | None, gain: Floats) -> int:
    if scale_by is None:
        scale_by = 1 if (np.abs(gain - np.rint(gain)) < WHOLE).all() else USUAL_SCALE
    if scale_by < 1 or scale_by != int(scale_by):
        raise SettingError(f"scale_by={scale_by}: expected a whole number from 1 on", hint="for instance 1000")
    if gain.max(initial=0.0) * scale_by > LARGEST:
        message = f"a gain of {gain.max():g} times {scale_by} is more than {LARGEST:,}"
        raise SettingError(message, hint="scale by less: trec_eval needs memory for every number up to the largest")
    return int(scale_by)


def _lost(gain: Floats, whole: Ints) -> list[str]:
    """Say what rounding has thrown together."""
    gone = int(((gain > 0) & (whole == 0)).sum())
    before, after = (len(np.unique(each)) for each in (gain.round(12), whole))
    words = [f"{counted(gone, 'line')} with a gain above 0 came out as 0: scale by more"] if gone else []
    return [*words, *([f"{before} different gains came out as {after}: scale by more"] if after < before else [])]


def _relevant_from_one(gain: Floats, whole: Ints) -> list[str]:
    """Warn of measures that take every document with a small gain as relevant."""
    small = int(((whole > 0) & (gain < 0.5)).sum())
    words = f"{counted(small, 'line')} with a gain below 0.5 would count as relevant from level 1 on (P, AP, RR, R)"
    return [f"{words}: state a level in these numbers, or use nDCG"] if small else []

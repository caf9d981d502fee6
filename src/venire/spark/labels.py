"""Judgments in a data frame: what is known of all labels before any analysis, and rows that executors can read.

How often each assessor gave each label is counted first (``LabelTable``): it says what the scale is, who judged, and
which labels are not used.  The level of each label on the scale is then a number, in place of its text.  Where all
executors will get the labels, a small table is collected first, and counted here: one job of Spark rather than two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from venire.data.judgments import Judgments
from venire.data.scale import NOT_APPLICABLE, Scale, is_negative, whole
from venire.errors import AmbiguousLabels, FormatError
from venire.io.judgments import read_judgments
from venire.results import Note, first_few
from venire.spark.tables import BadRows, collected, empty, is_small, label_columns

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

APART = ("aspect", "unit", "task")
"""Facets whose values are never mixed."""
NAMES = ("topic", "doc", "assessor", "label")


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels of a data frame: rows (topic, who, doc, value, and facets and time where there are any) and what is known.

    summary: judgments with one item for each different label, by all assessors who gave it.  duplicate_labels: what a
    second label by one assessor for one item is.  held: the same rows, where they were collected.
    """

    rows: DataFrame
    summary: Judgments
    n_labels: int
    duplicate_labels: str
    bad: BadRows
    n_bad: Callable[[], int]
    notes: tuple[Note, ...] = ()
    held: pa.Table | None = None

    @property
    def scale(self) -> Scale:
        """The scale of all labels."""
        return self.summary.scale

    @classmethod
    def of(
        cls,
        frame: DataFrame,
        *,
        scale: Scale | str | None = None,
        columns: Mapping[str, str] | None = None,
        duplicate_labels: str | None = None,
        strict: bool = False,
        collect: bool = False,
    ) -> LabelTable:
        """Count the labels of a data frame, which takes one pass over the columns of labels and assessors.

        collect: all rows are wanted here; if they are few, they are collected in the same pass.
        """
        import polars as pl
        from pyspark.sql import functions as F

        table = label_columns(frame, columns)
        by = ["assessor", "label", *(name for name in APART if name in table.columns)]
        every = pl.DataFrame(collected(table)) if collect and _is_plain(table) and is_small(frame) else None
        if every is None:
            counts = pl.DataFrame(collected(table.groupBy(*by).count()))
        else:
            counts = every.group_by(by).agg(pl.len().cast(pl.Int64).alias("count"))
        _refuse_mixed(counts, by[2:])
        declared = Scale.parse(scale) if isinstance(scale, str) else scale
        counts = counts.filter(pl.col("label").fill_null("") != "", pl.col("assessor").fill_null("") != "")
        texts = sorted(counts["label"].unique())
        unknown = [text for text in texts if declared is not None and not _on_scale(text, declared)]
        summary, level = _summary(counts.filter(~pl.col("label").is_in(unknown)), declared)
        wrong = empty(*NAMES) + ([F.col("label").isin(unknown)] if unknown else [])
        bad = BadRows.of("judgments", table, wrong, strict=strict)
        good, count = bad.without()
        levels = F.create_map(*(F.lit(each) for pair in level.items() for each in pair))
        kept = [name for name in ("intent", "given", "time") if name in table.columns]
        rule = _rule(duplicate_labels, timed="time" in kept)
        rows = good.select("topic", F.col("assessor").alias("who"), "doc", levels[F.col("label")].alias("value"), *kept)
        notes = tuple(_recounted(note, counts, level) for note in summary.notes if note.kind != "columns")
        found = cls(rows, summary, int(counts["count"].sum()), rule, bad, lambda: int(count.get["n"]), notes)
        return found if every is None else found._holding(every, level)

    def _holding(self, every: pl.DataFrame, level: Mapping[str, float]) -> LabelTable:
        """Keep the rows that were collected, bad ones left out."""
        import polars as pl

        good = every.filter(*(pl.col(name).fill_null("") != "" for name in NAMES), pl.col("label").is_in([*level]))
        value = pl.col("label").replace_strict(level, return_dtype=pl.Float64)
        time = ["time"] if "time" in every.columns else []
        held = good.select("topic", pl.col("assessor").alias("who"), "doc", value.alias("value"), *time).to_arrow()
        return replace(self, held=held, n_bad=lambda: every.height - good.height)

    def collected(self) -> pa.Table:
        """Return all rows."""
        return collected(self.rows) if self.held is None else self.held

    def bad_rows(self) -> list[Note]:
        """Note how many rows cannot be used, with a warning, after all were read."""
        return self.bad.notes(self.n_bad())

    def in_isolation(self) -> LabelTable:
        """Leave out conditional labels, with a note; labels for several intents are an error."""
        from pyspark.sql import functions as F

        rows, notes = self.rows, self.notes
        if "intent" in rows.columns:
            if len(some := rows.select("intent").distinct().limit(2).collect()) > 1:
                names = " and ".join(repr(row.intent) for row in some)
                message = f"the labels are for several intents of a topic, such as {names}"
                raise AmbiguousLabels(message, hint=FILTER.format("intent"))
            rows = rows.drop("intent")
        if "given" in rows.columns:
            after = F.coalesce(F.col("given"), F.lit("")) != ""
            if n := rows.filter(after).count():
                text = "{n:label} given after another document left out here"
                notes = (*notes, Note("conditional-labels-left-out", text, n=n))
            rows = rows.filter(~after).drop("given")
        return replace(self, rows=rows, notes=notes)


def _is_plain(table: DataFrame) -> bool:
    """Whether no label depends on an intent or on another document."""
    return not {"intent", "given"} & set(table.columns)


FILTER = "choose one before: judgments.filter(\"{0} = '...'\")"


def _refuse_mixed(counts: pl.DataFrame, facets: list[str]) -> None:
    if counts.height == 0:
        raise FormatError("judgments", None, "holds no labels", hint="expected a row for each label")
    for name in facets:
        values = counts[name].unique().sort().to_list()
        if len(values) > 1:
            shown = first_few([repr(value) for value in values], 5)
            message = (
                f"the labels are for {len(values)} different values of {name} ({shown}), and nothing says which counts"
            )
            raise AmbiguousLabels(message, hint=FILTER.format(name))


def _on_scale(text: str, scale: Scale) -> bool:
    return text in scale.labels or whole(text) in scale.labels or is_negative(text) or text == NOT_APPLICABLE


def _summary(counts: pl.DataFrame, scale: Scale | None) -> tuple[Judgments, dict[str, float]]:
    """Read each label that each assessor gave, once; and the level of each, -1 for those that are no judgment."""
    import polars as pl

    texts = counts["label"].unique().sort().to_list()
    docs = {text: f"{number}" for number, text in enumerate(texts)}
    frame = counts.select("assessor", "label", topic=pl.lit("labels"), doc=pl.col("label").replace_strict(docs))
    try:
        found = read_judgments(frame, scale=scale, duplicate_labels="keep")
    except FormatError as error:  # its line counts different labels
        raise FormatError("judgments", None, error.what, hint=error.hint) from None
    levels = dict(zip(found.column("doc").texts(), found.label.tolist(), strict=True))
    return found, {text: float(levels.get(docs[text], -1)) for text in texts}


def _recounted(note: Note, counts: pl.DataFrame, level: Mapping[str, float]) -> Note:
    """Return a note on the labels of all rows, rather than on different labels."""
    import polars as pl

    if "n" not in note.fields:
        return note
    absent = [text for text, place in level.items() if place < 0 and text != NOT_APPLICABLE]
    which = [NOT_APPLICABLE] if note.kind == "not-applicable" else absent
    n = int(counts.filter(pl.col("label").is_in(which))["count"].sum())
    return Note(note.kind, note.template, **(note.fields | {"n": n}))


def _rule(duplicate_labels: str | None, *, timed: bool) -> str:
    """Return what second labels are: rows have no order, so the first or last is known by its time only."""
    if duplicate_labels in ("first", "last") and not timed:
        message = f"the {duplicate_labels} of several labels is not known: rows of a data frame have no order"
        raise FormatError("judgments", None, message, hint="add a column time, or keep all labels (keep)")
    return duplicate_labels or ("last" if timed else "error")

"""evaluate on Spark: scores of runs in data frames.

Where judgments are few (``broadcast``), every executor gets all of them, and runs are divided by topic and system.
Else judgments and runs are tagged, united, and divided by topic; the lists of a topic with many rows are divided by
system, and each split has the judgments of the topic.  Rows are sorted within partitions, and ``parts`` reads them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import Pool, chosen_labels
from venire.data.runs import SCORE_TYPES, no_common_topic
from venire.data.scale import Scale
from venire.errors import FormatError, MeasureError, TiedScoresWarning, UnknownName
from venire.io.duplicates import Duplicates
from venire.measures.evaluate import ScoreLists, as_list, scores_of, topic_parts
from venire.measures.list_facts import ListFacts, merged_lists
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, as_measure
from venire.results import Note, first_few
from venire.spark.engine import Answer, Spark
from venire.spark.labels import LabelTable
from venire.spark.parts import (
    LABELS,
    LIST,
    LISTS,
    NAMED,
    Rows,
    find_hits,
    labels_of_topics,
    lists_alone,
    read_labels,
    tagged_parts,
    topics_among,
)
from venire.spark.tables import BadRows, empty, run_columns

if TYPE_CHECKING:
    from pyspark.broadcast import Broadcast
    from pyspark.sql import DataFrame

BROADCAST_LABELS = 1 << 20
"""With at most so many labels, every executor gets all of them."""
SPLIT_ROWS = 1 << 22
"""A topic with more rows is divided into splits of about this many."""


def evaluate(
    judgments: DataFrame,
    runs: DataFrame,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: GainsLike = "linear",
    assessor: str | None = None,
    per: str | None = None,
    pool: str | Pool | None = None,
    topics: Iterable[str] | None = None,
    unjudged: float | str = 0.0,
    missing: str = "zero",
    duplicates: Duplicates | None = None,
    scale: Scale | str | None = None,
    columns: Mapping[str, str] | None = None,
    duplicate_labels: str | None = None,
    order: str | None = None,
    score_type: str = "float64",
    strict: bool = False,
    broadcast: int = BROADCAST_LABELS,
    split_rows: int = SPLIT_ROWS,
    partitions: int | None = None,
) -> Scores:
    """Score runs against judgments, both data frames of Spark.

    Parameters
    ----------
    judgments : a row per label, with columns for topic, doc, label and perhaps assessor and time, under the names that
        ``read_judgments`` knows
    runs : a row per document of a list: topic, doc, score or rank, and perhaps system
    measures, gains, assessor, per, pool, topics, unjudged, missing, duplicates : as in ``venire.evaluate``; measures by
        intent and in context are not computed on Spark
    scale, columns : as in ``read_judgments``
    duplicate_labels : a second label by one assessor for one item is the "first" or "last" by time, or both are kept
        ("keep").  Rows have no order: without a time, different labels are an "error", and the same label counts once
    order : rank documents by "score" or by "rank"; None: by score, where there is one
    score_type : "float64", or "float32" as in trec_eval
    strict : a row that cannot be used is an error; else such rows are counted, in a note and a warning
    broadcast : with at most so many labels, every executor gets all of them
    split_rows : a topic with more rows of runs than this is divided by system
    partitions : number of partitions; None: as Spark is configured (spark.sql.shuffle.partitions)

    Returns
    -------
    Scores, equal to those of ``venire.evaluate``; systems in the order of their names.

    Notes
    -----
    Cost: a shuffle and sort of the rows of the runs, and of the judgments unless they are broadcast; the driver holds
    the scores.  When not to use this: what fits on one machine is scored there before a cluster has started.
    """
    if score_type not in SCORE_TYPES:
        raise UnknownName("rule", score_type, SCORE_TYPES)
    for name in as_list(measures):
        if (measure := as_measure(name)).by_intent or measure.of_sample:
            raise MeasureError(f"{name} is not computed on Spark", hint="use the local engine for it")
    scoring = Scoring(assessor, per, pool, gains, unjudged, missing, topics, duplicates)
    how: dict[str, Any] = {"duplicate_labels": duplicate_labels, "strict": strict, "collect": broadcast > 0}
    labels = LabelTable.of(judgments, scale=scale, columns=columns, **how).in_isolation()
    chosen_labels(labels.summary, assessor=assessor, per=per, pool=pool)
    bad = bad_lists(runs, order, strict=strict)
    listed, plan = bad.frame, resolved(scoring.plan(as_list(measures), labels.scale), bad)
    job = ScoreRows(plan, scoring, labels.scale, labels.duplicate_labels, score_type == "float32")
    if labels.n_labels <= broadcast:
        answer = _with_all_labels(job, labels, listed, partitions)
    else:
        rows = divided(united(labels.rows, listed, split_rows), partitions)
        answer = Spark(tagged_parts).run(job, rows, ListFacts)
    found, n_bad = answer
    if found is None:
        raise FormatError("judgments", None, "holds no labels that can be used", hint="expected a row for each label")
    lists = replace(found, notes=tuple(_without_ties(found)))
    if lists.unjudged_topics and not len(lists.topic):
        raise no_common_topic(lists.unjudged_topics, lists.topics)
    notes = (*labels.notes, *labels.bad_rows(), *bad.notes(n_bad))
    return scores_of(lists, plan, scoring, scale=labels.scale, notes=notes)


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """The job of ``evaluate`` on rows of a part; known: all judgments, where every executor has them."""

    plan: Plan
    scoring: Scoring
    scale: Scale
    duplicate_labels: str
    single_precision: bool
    known: Broadcast[Judgments] | None = None
    together: ClassVar[Mapping[str, tuple[str, ...]]] = ScoreLists.together

    def facts(self, part: Rows) -> ListFacts:
        """Score the lists of a part."""
        if self.known is None:
            return self.scored(read_labels(part.labels, self.scale, self.duplicate_labels), part)
        known = self.known.value
        return self.scored(labels_of_topics(known, topics_among(part.lists, known.items.topics)), part)

    def scored(self, labels: Judgments, part: Rows) -> ListFacts:
        """Score lists by labels; notes on labels are those of the part that comes first."""
        facts, notes = find_hits(part.lists, labels.items, single_precision=self.single_precision)
        if self.scoring.assessor is not None:
            labels = labels.take(
                np.array(labels.assessors, dtype=np.str_)[labels.assessor.codes] == self.scoring.assessor
            )
        case = next(topic_parts(labels, facts, self.scoring, 1))
        found = ScoreLists(self.plan).facts(case)
        of_labels = (*labels.notes, *case.panel.notes) if part.first else ()
        return replace(found, notes=(*of_labels, *notes))

    def merged(self, facts: Sequence[ListFacts]) -> ListFacts:
        """Merge the scores of all parts."""
        return merged_lists(facts)


def _with_all_labels(job: ScoreRows, labels: LabelTable, lists: DataFrame, partitions: int | None) -> Answer[ListFacts]:
    """Score with judgments that every executor has; runs are divided by topic and system."""
    every = labels.collected()
    known = read_labels(every, labels.scale, labels.duplicate_labels)
    none = every.slice(0, 0)
    alone = job.scored(known, Rows(none, none, True))
    with shared_with(lists, known) as shared:
        found = Spark(lists_alone).run(replace(job, known=shared), divided(lists, partitions, LIST), ListFacts)
    return Answer(alone if found.facts is None else merged_lists([alone, found.facts]), found.n_bad)


@contextmanager
def shared_with(rows: DataFrame, value: Any) -> Iterator[Broadcast[Any]]:
    """Send a value to every executor, for as long as it is needed."""
    shared = rows.sparkSession.sparkContext.broadcast(value)
    try:
        yield shared
    finally:
        shared.unpersist()


def runs_of(runs: DataFrame, order: str | None) -> DataFrame:
    """Select the columns of runs under the names that parts have."""
    return run_columns(runs, order=order).withColumnsRenamed({"system": "who", "score": "value"})


def bad_lists(runs: DataFrame, order: str | None, *, strict: bool) -> BadRows:
    """Select the columns of runs, and say which rows are bad, as ``UsableRows`` does; strict: raise at one of them."""
    from pyspark.sql import functions as F

    value = F.col("value")
    wrong = [*empty(*NAMED), value.isNull(), F.isnan(value), F.abs(value) == float("inf")]
    return BadRows.of("runs", runs_of(runs, order), wrong, strict=strict)


def resolved(plan: Plan, lists: BadRows) -> Plan:
    """Let measures that use all ranks know the deepest list."""
    if all(each.resolved(1) == each for each in plan.measures):
        return plan
    deepest = lists.frame.filter(~lists.bad).groupBy(*LIST).count().agg({"count": "max"}).first()
    n = (deepest[0] if deepest else None) or 1
    return replace(plan, measures=tuple(each.resolved(int(n)) for each in plan.measures))


def united(labels: DataFrame, lists: DataFrame, split_rows: int) -> DataFrame:
    """Tag and unite rows; topics with many rows have splits, each with all judgments of the topic."""
    from pyspark.sql import functions as F

    sizes = lists.groupBy("topic").count().filter(F.col("count") > split_rows)
    large = [(row["topic"], -(-row["count"] // split_rows)) for row in sizes.collect()]
    first = F.lit(0).alias("split")
    if large:
        splits = F.broadcast(lists.sparkSession.createDataFrame(large, "topic string, splits int"))
        n, rest = F.coalesce(F.col("splits"), F.lit(1)), [name for name in labels.columns if name != "topic"]
        labels = labels.join(splits, "topic", "left").select(
            "topic", *rest, F.explode(F.sequence(F.lit(0), n - 1)).alias("split")
        )
        lists = lists.join(splits, "topic", "left").select(
            *("topic", "who", "doc", "value"), F.pmod(F.xxhash64("who"), n).cast("int").alias("split")
        )
    else:
        labels, lists = labels.select("*", first), lists.select("*", first)
    tagged = (each.withColumn("kind", F.lit(kind).cast("tinyint")) for each, kind in ((labels, LABELS), (lists, LISTS)))
    one, other = tagged
    return one.unionByName(other, allowMissingColumns=True)


def divided(rows: DataFrame, partitions: int | None, by: tuple[str, ...] = ("topic", "split")) -> DataFrame:
    """Bring rows together that agree in some columns, and sort each partition."""
    number = [] if partitions is None else [partitions]
    order = by if by == LIST else (*by, "kind", "who")
    return rows.repartition(*number, *by).sortWithinPartitions(*order)


def _without_ties(lists: ListFacts) -> Iterator[Note]:
    """Return the notes of lists without those on ties, which are a warning where all lists of a system tie."""
    several = np.bincount(lists.system[lists.depth > 1], minlength=len(lists.systems)).tolist()
    of_system = dict(zip(lists.systems, several, strict=True))
    tied = []
    for note in lists.notes:
        if note.kind != "tied-lists":
            yield note
        elif note.fields["n"] == of_system[note.fields["system"]]:
            tied.append(note.fields["system"])
    if tied:
        words = f"all scores of {first_few(sorted(tied), 5)} tie, so documents are ordered by their ids, descending"
        warnings.warn(words, TiedScoresWarning, stacklevel=4)

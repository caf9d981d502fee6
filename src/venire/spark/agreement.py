"""Agreement and disagreement on Spark: labels are divided by topic and document, so no topic is too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack

from venire.agreement.intervals import Options
from venire.agreement.label_facts import CountLabels, LabelFacts
from venire.agreement.table import BY_PATTERN, FUNCTIONS, AgreementTable, table
from venire.data.judgments import Judgments
from venire.data.label_pairs import named_assessors
from venire.data.scale import Relevant, Scale, relevant_sets
from venire.disagreement.pair_facts import CountPairs, PairFacts
from venire.disagreement.predicted_relevance import PredictedRelevance, PredictedRelevanceFit
from venire.engine.seam import Fact, Job
from venire.errors import FormatError
from venire.spark.engine import Spark
from venire.spark.labels import LabelTable
from venire.spark.parts import LABELLED_ROWS, last_group, read_labels, whole_groups
from venire.types import RNGLike

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

ITEM = ("topic", "doc")
SEPARATOR = "\x1f"
MOST_ASSESSORS = 100
"""With more assessors, labels are not counted for every two of them."""


def agreement(
    judgments: DataFrame,
    *,
    measurement: str | None = None,
    names: Sequence[str] | None = None,
    anonymous: bool = False,
    scale: Scale | str | None = None,
    columns: Mapping[str, str] | None = None,
    duplicate_labels: str | None = None,
    strict: bool = False,
    partitions: int | None = None,
    **how: Unpack[Options],
) -> AgreementTable:
    """Compute coefficients of agreement of judgments in a data frame of Spark.

    Coefficients and intervals are those of ``venire.agreement.agreement_table``.  Some are not computed, and their
    ``reason`` says so: Cohen's and Conger's kappa and the Jaccard overlap of anonymous assessors, or of more than
    ``MOST_ASSESSORS``, since labels are not counted for every two of them; and the intervals of these three where items
    are drawn rather than topics, for which all labels of each item are needed.

    Parameters
    ----------
    measurement, names, how : as in ``agreement_table``
    anonymous : take every label of an item as that of a different person, as for crowds
    scale, columns, duplicate_labels, strict, partitions : as in ``venire.spark.evaluate``

    Notes
    -----
    Cost: a shuffle and sort of the labels; the driver holds counts of topics x patterns of labels, and of
    topics x pairs of assessors x pairs of labels that occur.
    """
    labels = LabelTable.of(judgments, scale=scale, columns=columns, duplicate_labels=duplicate_labels, strict=strict)
    everyone = labels.summary.assessors
    by_name = not anonymous and len(everyone) <= MOST_ASSESSORS and not {*(names or FUNCTIONS)} <= {*BY_PATTERN}
    job = CountLabels(everyone if by_name else ())
    facts = counted(job, labels, LabelFacts, partitions, anonymous=anonymous)
    labels.bad_rows()
    return table(labels.summary, measurement=measurement, names=names, counted=facts, **how)


def disagreement(
    judgments: DataFrame,
    *,
    relevant: Relevant = None,
    estimator: str | None = None,
    observed: Sequence[str] = (),
    reference: Sequence[str] = (),
    weight: str = "pair",
    prior: float = 0.0,
    n_draws: int = 300,
    scale: Scale | str | None = None,
    columns: Mapping[str, str] | None = None,
    duplicate_labels: str | None = None,
    strict: bool = False,
    partitions: int | None = None,
    rng: RNGLike = 0,
) -> PredictedRelevanceFit:
    """Estimate p(R|i), what one label tells about a random user, from judgments in a data frame of Spark.

    Parameters
    ----------
    relevant, estimator, observed, reference, weight, prior, n_draws, rng : as in ``PredictedRelevance``; estimator
        None: "one-sided" where assessors are named, else "labels", which equals "paired" where items have two labels
    scale, columns, duplicate_labels, strict, partitions : as in ``venire.spark.evaluate``

    Notes
    -----
    When not to use this: whether items were judged again because of their labels cannot be seen in counts of pairs, and
    is not tested here.  If they may have been, name the assessor who judged first as observed, or fit a sample of the
    topics with ``PredictedRelevance``, which tests it.
    """
    labels = LabelTable.of(judgments, scale=scale, columns=columns, duplicate_labels=duplicate_labels, strict=strict)
    first, second = (tuple(named_assessors(each)) for each in (observed, reference))
    pairing = estimator or ("one-sided" if first or second else "labels")
    setting = PredictedRelevance(
        relevant=relevant,
        estimator=pairing,
        observed=first,
        reference=second,
        weight=weight,
        prior=prior,
        n_draws=n_draws,
    )
    marked = relevant_sets(labels.scale, relevant).labels
    job = CountPairs(marked, pairing, labels.summary.assessors, first, second, weight)
    facts = counted(job, labels, PairFacts, partitions)
    labels.bad_rows()
    return setting.fit_sums(facts.sums, labels.scale, facts.topics, rng=rng)


def counted(
    job: Job[Judgments, Fact], labels: LabelTable, kind: type[Fact], partitions: int | None, *, anonymous: bool = False
) -> Fact:
    """Apply a job to judgments, divided by topic and document."""
    rule = "keep" if anonymous else labels.duplicate_labels
    cut = partial(parts_of_items, scale=labels.scale, duplicate_labels=rule, anonymous=anonymous)
    number = [] if partitions is None else [partitions]
    rows = _items(labels.rows).repartition(*number, *ITEM).sortWithinPartitions(*ITEM)
    found = Spark(cut).run(job, rows, kind).facts
    if found is None:
        raise FormatError("judgments", None, "holds no labels that can be used", hint="expected a row for each label")
    return found


def _items(rows: DataFrame) -> DataFrame:
    """Return rows in which a document for another intent, or given another document, is another document."""
    from pyspark.sql import functions as F

    apart = [name for name in ("intent", "given") if name in rows.columns]
    name = F.concat_ws(SEPARATOR, "doc", *(F.coalesce(F.col(each), F.lit("")) for each in apart))
    return rows.withColumn("doc", name).drop(*apart) if apart else rows


def parts_of_items(
    batches: Iterable[pa.RecordBatch], *, scale: Scale, duplicate_labels: str, anonymous: bool
) -> Iterator[Judgments]:
    """Cut rows into parts with all labels of their items; parts without a label are left out."""
    for rows in whole_groups(batches, partial(last_group, names=ITEM), LABELLED_ROWS):
        labels = read_labels(rows, scale, duplicate_labels)
        if len(labels):
            yield labels.anonymous() if anonymous else labels

"""evaluate: runs, judgments and measures to Scores.

The runs are scanned once into facts (the ranks of the judged items); then, for a block of judges at a time, labels
become gains, and each measure is computed over (judge, list, slot) arrays.  Another assessor, another gain or another
measure costs arithmetic on the hits, not another pass over the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from venire.data.gains import GainsLike
from venire.data.panel import Pool
from venire.io.duplicates import Duplicates
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike
from venire.measures.case import Case, Layout
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Scoring, score_facts

if TYPE_CHECKING:
    from venire.data.context import Context


def evaluate(
    judgments: JudgmentsLike,
    runs: RunsLike,
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
    context: Context | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score runs against judgments.

    Parameters
    ----------
    judgments, runs : as ``read_judgments`` and ``read_runs`` take them
    measures : names ("nDCG@10"), values (nDCG(10)) or functions of gains by rank, one or several
    gains : "linear", "exponential", "raw", "binary:LABEL", {label: gain}, or Gains
    assessor, per, pool : whose labels count where several assessors judged: one by name, each of them
        (``per="assessor"``, which adds an axis), or their labels pooled ("median", "majority", "max", "min", "mean")
    topics : the topics to score; None: all judged topics
    unjudged : the gain of documents nobody judged, or "condensed" to remove them from the lists
    missing : topics without a list of a system score "zero", or are omitted ("skip")
    duplicates : groups of copies of a document: the first in a list counts, later ones have no gain
    context : for measures with alpha, such as "CCG(alpha=0.5)@5": what replaces conditional labels that were not
        collected. By default they are not predicted, and the label in isolation is used

    Returns
    -------
    Scores with the axes system, topic, measure and, with ``per``, assessor.  ``Scores.context`` counts the sources
    of conditional labels.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "nDCG@10"])
    Scores: 1 system x 1 topic x 2 measures, means over topics
    system  RR      nDCG@10
    run     0.5000  0.6309
    """
    scoring = Scoring(assessor, per, pool, gains, unjudged, missing, topics, duplicates)
    labels = as_judgments(judgments)
    plan = scoring.plan(as_list(measures), labels.scale, in_context=True)
    if not plan.contextual:
        case = Case.of(labels, runs, scoring, progress=progress)
        return Layout.of(case, plan).scores(score_facts(case.facts, case.panel, plan, group=case.group), case, plan)
    from venire.measures.context.scoring import score_in_context  # most evaluations do not need it

    return score_in_context(labels, runs, plan, scoring, context=context, progress=progress)


def as_list(measures: Sequence[MeasureLike] | MeasureLike) -> list[MeasureLike]:
    """Return a list of measures, also for a single one."""
    return list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]

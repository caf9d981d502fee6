"""evaluate: runs, judgments and measures into Scores.

The runs are scanned once into facts (which ranks the judged items hold); then, for a block of judges at a time, every
label becomes a gain, and each measure is computed over (judge, list, slot) arrays.  Another assessor, another gain or
another measure costs arithmetic on the hits, never another pass over the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from venire.data.conditional import is_conditional
from venire.data.gains import GainsLike, gains_for
from venire.data.panel import Pool
from venire.io.duplicates import Duplicates
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.runs import Progress, RunsLike
from venire.measures.layout import Case, Layout, check_missing
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, score_facts

if TYPE_CHECKING:
    from venire.data.context import Context
    from venire.data.judgments import Judgments
    from venire.measures.context_use import ContextUse


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
    judgments, runs
        As ``read_judgments`` and ``read_runs`` take them.
    measures : names ("nDCG@10"), values (nDCG(10)) or functions of gains by rank, one or several
    gains : "linear", "exponential", "raw", "binary:LABEL", {label: gain}, or Gains
    assessor, per, pool
        Whose labels count where several assessors judged: one by name, each of them (``per="assessor"``, which adds an
        axis), or their labels pooled ("median", "majority", "max", "min", "mean").
    topics : score only these
    unjudged : the gain of documents nobody judged, or "condensed" to remove them from the lists
    missing : topics that a system has no list for score "zero", or are left out ("skip")
    duplicates : documents that are copies of each other: the first in a list counts, later ones have no gain
    context
        For measures with alpha, such as "CCG(alpha=0.5)@5": what stands for labels in condition that were not
        collected.  By default nothing is predicted, and they are as in isolation.

    Returns
    -------
    Scores with the axes system, topic, measure and, with ``per``, assessor.  ``Scores.context`` counts where the labels
    in condition came from.

    Examples
    --------
    >>> evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d2": 2.0, "d1": 1.0}}, ["RR", "nDCG@10"])
    Scores: 1 system x 1 topic x 2 measures, means over topics
    system  RR      nDCG@10
    run     0.5000  0.6309
    """
    check_missing(missing)
    labels = as_judgments(judgments)
    plan = Plan.of(as_list(measures), gains_for(gains, labels.scale), unjudged, in_context=True)
    alone = _alone(labels, plan, context) if plan.contextual else labels
    case = Case.of(alone, runs, assessor=assessor, per=per, pool=pool, duplicates=duplicates, progress=progress)
    layout = Layout.of(case, plan, topics=topics, missing=missing)
    used: ContextUse | None = None
    if plan.contextual:
        from venire.measures.context_use import known_in_context, score_case

        known = known_in_context(labels, case.panel, context, assessor=assessor, pool=pool)
        values, used = score_case(case, plan, layout, known)
    else:
        values = layout.place(score_facts(case.facts, case.panel, plan, group=case.group))
    axes, notes = ("system", "topic", "measure", "assessor"), (*layout.notes, *(used.notes() if used else ()))
    names = {
        "system": case.facts.systems,
        "topic": layout.topics,
        "measure": plan.names,
        "assessor": tuple(str(name) for name in case.panel.judges),
    }
    if per is None:
        return Scores(values[..., 0], axes[:3], {axis: names[axis] for axis in axes[:3]}, notes, used)
    return Scores(values, axes, names, notes, used)


def _alone(labels: Judgments, plan: Plan, context: Context | None) -> Judgments:
    """Labels in isolation, once it is clear that some in condition can be had.

    What scores in context is loaded where it is needed: most evaluations never do.
    """
    from venire.measures.context_use import refuse_without_context

    refuse_without_context(labels, plan, context)
    return labels.take(~is_conditional(labels))


def as_list(measures: Sequence[MeasureLike] | MeasureLike) -> list[MeasureLike]:
    """Take one measure for a list of it."""
    return list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]

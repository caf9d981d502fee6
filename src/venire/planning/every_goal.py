"""plan: what to judge next, for any goal; each goal has its planner, and all give a ``Plan``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from venire.data.asked import Asked
from venire.data.gains import GainsLike
from venire.errors import SettingError
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.measures.scoring import MeasureLike
from venire.planning.goals import OF_SYSTEMS, Goal
from venire.planning.plan import plan_systems
from venire.planning.result import Plan
from venire.types import RNGLike


def plan(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    measure: MeasureLike = "nDCG@10",
    *,
    goal: str | Goal,
    budget: float,
    batch: float | None = None,
    after: Sequence[Plan | Iterable[Asked]] = (),
    reference: str | Sequence[str] | None = None,
    judge: str | Sequence[str] | None = None,
    gains: GainsLike = "linear",
    topics: Iterable[str] | None = None,
    cost: Mapping[str, float] | None = None,
    within: float | None = None,
    rng: RNGLike = 0,
    progress: Progress | None = None,
) -> Plan:
    """Choose judgments to collect for a goal and a budget, and forecast what they will tell.

    Parameters
    ----------
    judgments, measure, gains, topics : as in ``evaluate``
    runs : as in ``evaluate``; required for goals about systems
    goal : "pair:A,B", "best", "top:K" or "levels"
    budget : how much may be spent in all, in judgments unless kinds have costs
    batch : how much of it to spend now; None: all
    after : earlier plans of this budget, in their order, whose labels are among the judgments
    reference : the people whose labels count, who may have given none yet; None: those that the judgments declare, or
        the only assessor
    judge : whose labels are on (nearly) everything; None: the declared machines, or everybody except the reference
    cost : of each kind of judgment ("first", "second", "reference", "preference"), 1 unless given
    within : half-width of intervals with which levels are decided; None: 0.03

    Notes
    -----
    When not to use this: to find as many relevant documents as possible, or to build a collection for systems that do
    not exist yet.  The results are chosen for one goal, and labels of others would be few.

    Examples
    --------
    >>> import venire
    >>> made = venire.simulation.generate(venire.simulation.Synthetic(n_topics=30), rng=7)
    >>> labels = made.judgments.where(assessor="lenient1")
    >>> found = venire.plan(labels, made.runs, "P(rel=2)@10", goal="pair:s01,s02", budget=60, reference="expert")
    >>> len(found), sorted({each.kind for each in found.asked}), max(each.probability for each in found.asked) < 1
    (60, ['first', 'reference'], True)
    """
    aim = goal if isinstance(goal, Goal) else Goal.parse(goal)
    widths: dict[str, Any] = {} if within is None else {"within": within}
    if aim.kind in OF_SYSTEMS and runs is None:
        raise SettingError(f"goal {str(aim)!r} is about systems, and there are no runs", hint="name their runs")
    return plan_systems(
        judgments,
        runs if runs is not None else (),
        measure,
        goal=aim,
        budget=budget,
        batch=batch,
        after=after,
        reference=reference,
        judge=judge,
        gains=gains,
        topics=topics,
        cost=cost,
        rng=rng,
        progress=progress,
        **widths,
    )

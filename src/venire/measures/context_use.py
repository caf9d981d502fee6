"""Where labels in condition came from, and how sure the best orders are: what measures with alpha rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from venire.data.conditional import is_conditional
from venire.data.context import Context, build_conditions
from venire.data.judgments import Judgments
from venire.data.panel import Panel
from venire.data.panel import Pool as PoolOf
from venire.errors import MeasureError, ScaleError
from venire.measures.contextual import Known, ScoresInContext, score_in_context
from venire.measures.ideal_orders import CLOSE
from venire.measures.layout import Case, Layout
from venire.measures.scoring import Plan, score_facts
from venire.results import Records, Tabular, counted
from venire.types import Bools, Floats


@dataclass(frozen=True)
class BestOrders:
    """How the best orders of a normalised measure were found, by topic and judge.

    exact, searched: how many are proven best, and for how many an upper bound stands in; ``furthest``: the most by
    which the best order that a beam search found is below its bound, as a share of the bound, and so the most by which
    a score can be too low; above: how many lists score more than 1.
    """

    exact: int
    searched: int
    furthest: float
    above: int = 0

    def sentence(self) -> str:
        """Say it in one line."""
        text = f"best orders of judged documents: {self.exact:,} exact"
        if self.searched:
            text += (
                f"; {counted(self.searched, 'upper bound')} where the search was not complete: the best order found is "
                f"at most {self.furthest:.1%} lower, and scores can be too low by as much"
            )
        if self.above:
            verb = "scores" if self.above == 1 else "score"
            text += f"; {counted(self.above, 'list')} {verb} above 1: labels after an unjudged document back off"
        return text


@dataclass(frozen=True)
class ContextUse(Tabular):
    """Labels in condition of the documents that measures with alpha look at, counted by where they come from.

    first_rank: nothing was read before, so g(d1); collected; predicted; backoff_first: g(d|d1); backoff_isolation:
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
    more_notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Say it in one line."""
        total = self.collected + self.predicted + self.backoff_first + self.backoff_isolation
        parts = [f"{self.collected:,} collected", f"{self.predicted:,} predicted"]
        if self.backoff == "first":
            parts.append(f"{self.backoff_first:,} as after the first document")
        parts.append(f"{self.backoff_isolation:,} as in isolation")
        unjudged = f" ({self.after_unjudged:,} after an unjudged document)" if self.after_unjudged else ""
        documents = counted(total, "judged document")
        return f"labels in condition of {documents} below the first rank: {', '.join(parts)}{unjudged}"

    def notes(self) -> tuple[str, ...]:
        """What to say beside the scores."""
        orders = (f"{name}: {each.sentence()}" for name, each in self.best_orders.items())
        return (*self.more_notes, self.sentence(), *orders)

    def records(self) -> Records:
        """Return one row per source of labels in condition: how many documents have theirs from it."""
        sources = ("first_rank", "collected", "predicted", "backoff_first", "backoff_isolation")
        return [{"source": name, "documents": getattr(self, name)} for name in sources]

    def record(self) -> dict[str, object]:
        """Return it as JSON has it."""
        plain = ("backoff", "expected", "first_rank", "collected", "predicted", "backoff_first", "backoff_isolation")
        orders = [
            {"measure": name, "exact": each.exact, "searched": each.searched, "furthest": each.furthest}
            for name, each in self.best_orders.items()
        ]
        return {name: getattr(self, name) for name in (*plain, "after_unjudged")} | {"best_orders": orders}


def refuse_without_context(judgments: Judgments, plan: Plan, context: Context | None) -> None:
    """Refuse alpha where nobody gave a label in condition and nothing predicts any, or on another scale."""
    if context is not None and context.predictor is not None:
        scale = getattr(context.predictor, "scale", judgments.scale)
        if scale.labels != judgments.scale.labels:
            message = f"labels in condition are predicted on the scale {scale}, and the labels are on {judgments.scale}"
            raise ScaleError(message, hint="declare the scale when reading (--scale), or fit the model on these labels")
        return
    if not is_conditional(judgments).any():
        column = "their column given is empty" if "given" in judgments.facets else "they have no column given"
        raise MeasureError(
            f"{plan.names[plan.contextual[0]]} reads labels in condition, and the judgments hold none: {column}",
            hint="name the document read before each in a column `given`, give a model that predicts labels in "
            "condition (Context(predictor=...), --context-model FILE), or use alpha=0",
        )


def known_in_context(
    judgments: Judgments,
    panel: Panel,
    context: Context | None,
    *,
    assessor: str | None = None,
    pool: str | PoolOf | None = None,
) -> Known:
    """Gather labels in condition by the judges of a panel."""
    return Known(build_conditions(judgments, panel, assessor=assessor, pool=pool), context or Context())


def score_case(case: Case, plan: Plan, layout: Layout, known: Known) -> tuple[Floats, ContextUse]:
    """Score in isolation and in context -> (system, topic, measure, judge), and what was used for the latter."""
    values = np.zeros((len(case.panel.judges), len(plan.measures), len(case.facts.depth)))
    plain = [number for number in range(len(plan.measures)) if number not in plan.contextual]
    if plain:
        values[:, plain] = score_facts(case.facts, case.panel, plan.only(plain), group=case.group)
    asked = plan.only(plan.contextual)
    scored = score_in_context(case.facts, case.panel, asked, known, group=case.group)
    values[:, plan.contextual] = scored.values
    return layout.place(values), _use(layout, asked, known, scored)


def _use(layout: Layout, plan: Plan, known: Known, scored: ScoresInContext) -> ContextUse:
    """Count over the topics that are scored and the judges who have labels for them."""
    chosen = np.zeros(layout.seen.shape[1], dtype=np.bool_)
    chosen[layout.chosen] = True
    lists = (layout.seen & chosen)[:, layout.facts.topic]
    first_rank, collected, predicted, first, isolation, unjudged = scored.sources[lists].sum(axis=0).tolist()
    orders = {
        plan.names[number]: _best_orders(best.value, best.bound, layout.seen & chosen, scored.values[:, number][lists])
        for number, best in scored.best.items()
    }
    context = known.context
    return ContextUse(
        context.backoff,
        context.expected,
        *(first_rank, collected, predicted, first, isolation, unjudged),
        best_orders=orders,
        more_notes=tuple(map(str, known.conditions.notes)),
    )


def _best_orders(value: Floats, bound: Floats, scored: Bools, scores: Floats) -> BestOrders:
    value, bound = value[scored], bound[scored]
    short = np.divide(bound - value, bound, out=np.zeros_like(bound), where=bound > 0)
    searched = int((short > 2 * CLOSE).sum())
    furthest = float(short.max(initial=0.0)) if searched else 0.0
    return BestOrders(len(value) - searched, searched, furthest, int((scores > 1 + 1e-9).sum()))

"""Agreement: which items to judge a second time, so that Krippendorff's alpha is known to within a half-width.

Items are drawn with equal probabilities, since alpha compares the labels of an item with all labels.
``planning.alpha_forecast`` forecasts the half-width of its interval over topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from venire.agreement.alpha import alpha
from venire.agreement.intervals import Coefficient
from venire.agreement.patterns import LabelPatterns, label_patterns
from venire.data.asked import SECOND
from venire.data.assessors import last_labels
from venire.data.label_pairs import judged_by_two
from venire.disagreement.sampled_pairs import asked_later
from venire.io.judgments import JudgmentsLike
from venire.io.runs import RunsLike
from venire.planning.alpha_forecast import AlphaForecast
from venire.planning.earlier import n_drawn, own_draws
from venire.planning.result import DECIDED, JUDGE, UNDECIDABLE, Plan, check_within, costs, enough
from venire.planning.second_judgments import Candidates, affordable, asked, candidates, sampled
from venire.planning.shares import budgets
from venire.planning.time import expected_minutes
from venire.results import Note
from venire.types import RNGLike

GOAL, WHAT = "agreement", "Krippendorff's alpha"


def plan_agreement(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    *,
    budget: float,
    batch: float | None = None,
    within: float = 0.05,
    judges: str | Sequence[str] | None = None,
    cost: Mapping[str, float] | None = None,
    rng: RNGLike = 0,
) -> Plan:
    """Choose items to be judged by a second person, so that Krippendorff's alpha is known to within a half-width.

    Parameters
    ----------
    judgments, runs, budget, batch, judges, cost : as in ``plan_labels``
    within : the goal is decided where the 95 % interval of alpha has at most this half-width

    Notes
    -----
    When not to use this: to score systems with double judgments; ``plan_labels`` needs fewer of them for that.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [(f"t{n % 20}", f"d{n}", "ann" if n % 2 else "bob", n % 7 // 3) for n in range(1000)]
    >>> labels = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "label"], orient="row")
    >>> plan = plan_agreement(labels, budget=100)
    >>> len(plan), {each.probability for each in plan.asked}, [note.kind for note in plan.notes]
    (100, {0.1}, ['no-interval-yet'])
    """
    check_within(within)
    found = candidates(judgments, runs, judges)
    generator = own_draws(rng, n_drawn(found.labels))
    notes = list(found.notes)
    price = costs(cost)[SECOND]
    n = affordable(price, len(found), notes, budget=budget, batch=batch)
    table = patterns_of_two(found)
    present, half_width = _interval(table)
    state = DECIDED if half_width <= within else UNDECIDABLE if n == 0 else JUDGE
    known = AlphaForecast.of(found, table)
    if present is None and state == JUDGE:
        template = "alpha has no interval yet; by the labels, the forecast expects that it is about {alpha:.1f}"
        notes.append(Note("no-interval-yet", template, alpha=known.mean))
    if asked_later(found.labels) is not None:
        template = "second labels were asked for by the first ones, and alpha of such items is not that of all items"
        notes.append(Note("chosen-by-label", template))
    sizes = budgets(budget, len(found) * price)
    more = [min(size / price, len(found)) for size in sizes]
    forecast = known.expected(sizes, more, within, generator.spawn(1)[0])
    rows = asked(found, *sampled(found, np.ones(len(found)), n, generator)) if state == JUDGE else ()
    needed, minutes = enough(forecast, len(found) * price), expected_minutes(found.labels, len(rows))
    outcome = "Alpha has no interval: it takes items of two topics or more with two labels."
    if present is not None:
        outcome = f"Alpha is {present.value:.3f}, and its 95% interval has a half-width of {half_width:.3f}."
    return Plan(GOAL, budget, rows, forecast, WHAT, needed, state, minutes, tuple(notes), outcome)


def patterns_of_two(found: Candidates) -> LabelPatterns | None:
    """Collapse the labels to patterns; None where no item has labels by two people."""
    labels = last_labels(found.labels)
    return label_patterns(labels) if judged_by_two(labels.item, labels.assessor.codes).any() else None


def _interval(table: LabelPatterns | None) -> tuple[Coefficient | None, float]:
    """Alpha with its interval over topics, and the half-width; None and infinite where there is none, or no width."""
    found = None if table is None else alpha(table, resample="topics")
    if found is None or found.low is None or found.high is None or found.high <= found.low:
        return None, np.inf
    return found, (found.high - found.low) / 2

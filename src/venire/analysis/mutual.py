r"""Mutual evaluation: how well does one set of judgments do when another judges it?

Demeester et al. (2014), doi:10.1145/2556195.2556268, Section 6.1 and Table 2.  For a topic that two assessors judged,
one is the reference and the other's labels rank the documents, highest first; a measure of that ranking is 1 if they
agree, and says how far a system can be told from a perfect one.  Parameters of gains by a model are estimated from all
other topics.  Where the paper is silent:

    documents      those that both judged; of several labels by one assessor for a document, the first counts
    order          the exact expectation over all orders within a label (``kernels.level_orders``)
    directions     both, each with its own row; a topic's value is the mean over directions and pairs of assessors
    no value       where nothing has a gain by the reference, or a label was never judged twice in other topics
    parameters     from all pairs of labels in the other topics, not only those by the two assessors
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from venire.analysis.double_judgments import DoubleJudgments, double_judgments
from venire.analysis.left_out import left_out_gains
from venire.analysis.likeness import RankCorrelation, Robustness, few_topics, interval
from venire.data.gains import GainsLike, binary, gains_for, names_model
from venire.data.judgments import Judgments
from venire.errors import MeasureError, ScaleError, SettingError
from venire.io.judgment_sources import JudgmentsLike, read_judgments
from venire.kernels.level_orders import best_discounted, expected_discounted, expected_graded_precisions
from venire.measures.ap import AP, GAP
from venire.measures.dcg import DISCOUNTS, nDCG
from venire.measures.measure import Measure
from venire.measures.scoring import MeasureLike, as_measure
from venire.types import Bools, Floats, Ints
from venire.words import counted, first_few

MEASURES = ("AP", "GAP", "nDCG", "nDCG(dcg=zipf)")
MOST_PAIRS = 2000
"""Directed pairs of assessors up to this number have rows of their own."""


def mutual_evaluation(
    judgments: JudgmentsLike,
    measures: Sequence[MeasureLike] | MeasureLike = MEASURES,
    *,
    gains: Sequence[GainsLike] | Mapping[str, GainsLike] | None = None,
    relevant: str | None = None,
    n_items: int = 2,
) -> Robustness:
    r"""Evaluate every two assessors' judgments against each other, topic by topic.

    Parameters
    ----------
    judgments : as ``read_judgments`` takes them
    measures : AP, GAP and nDCG, with any discount and cut-off
    gains : as in ``between_assessors``; None: exponential, linear, udm:1/2, udm:1/3, udm:1/4 and PRM gains
    relevant : the label from which AP takes documents as relevant; None: the top label
    n_items : topics on which two assessors share fewer documents are left out

    Returns
    -------
    Robustness: for every measure and gains the mean and standard deviation over topics, then each directed pair (a is
    the reference, b ranks the documents).

    Cost: O(assessors x labels), and O(labels^3) per topic and pair.  Not for crowds whose workers share few documents
    of a topic: a ranking of three documents is nearly always good.  A value near 1 may also mean that gains hardly
    differ: any order is good then, as with PRM gains where assessors disagree much.

    Examples
    --------
    >>> from venire import read_grid
    >>> found = mutual_evaluation(read_grid("2 1 0 0\n 1 2 0 0"), "AP")
    >>> [row.value for row in found.rows]
    [0.5, 0.5, 0.5]
    """
    labels = read_judgments(judgments)
    if not labels.scale.ordered:
        raise ScaleError(f"the labels {labels.scale} have no order to rank documents by")
    sets = double_judgments(labels, n_items=n_items)
    asked = list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]
    columns = _columns([as_measure(each) for each in asked], labels, _named(gains, labels), relevant)
    rows: list[RankCorrelation] = []
    lacking: dict[int, list[str]] = {}
    for column in columns:
        values = column.scores(sets)
        lacking.setdefault(int(np.isnan(values).sum()), []).append(f"{column.measure} with {column.gains} gains")
        rows += _rows(values, sets, column)
    notes = [*labels.notes, *sets.notes, *(_without(times, names) for times, names in lacking.items() if times)]
    if len(np.unique(sets.pair)) > MOST_PAIRS:
        notes.append(f"{len(np.unique(sets.pair)):,} directed pairs of assessors have no rows of their own")
    notes += few_topics(rows)
    return Robustness(tuple(rows), tuple(dict.fromkeys(notes)), "95% intervals: Student's t over topics")


def _without(times: int, names: Sequence[str]) -> str:
    """Say which measures had no value, how often, and why that may be."""
    return (
        f"no value {counted(times, 'time')} by {first_few(names, 3)}: nothing has a gain by the reference, a label was "
        "never judged twice on other topics, or gains fall from label to label (GAP)"
    )


@dataclass(frozen=True, eq=False)
class _Column:
    """A measure with gains: worth (topic, label)."""

    measure: Measure
    gains: str
    worth: Floats

    def scores(self, sets: DoubleJudgments) -> Floats:
        """Expected score of each set -> (set,); NaN where there is none."""
        totals = sets.counts.sum(axis=1)
        discount = self._discount(int(totals.sum(axis=1).max()))
        gains = self.worth[sets.topic]
        unknown = (np.isnan(gains) & (totals > 0)).any(axis=1)
        gains = np.nan_to_num(gains)
        if isinstance(self.measure, nDCG):
            part, whole = expected_discounted(sets.counts, gains, discount), best_discounted(totals, gains, discount)
        else:
            gains, falling = _rising(gains)
            unknown |= falling
            part = expected_graded_precisions(sets.counts, gains, discount)
            whole = (totals * gains).sum(axis=1)
        return np.divide(part, whole, out=np.full(len(whole), np.nan), where=(whole > 0) & ~unknown)

    def _discount(self, depth: int) -> Floats:
        rank: Ints = np.arange(1, depth + 1)
        discount = DISCOUNTS[self.measure.dcg if isinstance(self.measure, nDCG) else "zipf"](rank)
        return discount if self.measure.k is None else np.where(rank <= self.measure.k, discount, 0.0)


def _rising(gains: Floats) -> tuple[Floats, Bools]:
    """Gains as GAP takes them: over the top label's, 0 for the lowest; and whether they fall anywhere -> (set,)."""
    falling = (np.diff(gains, axis=1) < 0).any(axis=1) | (gains[:, -1] <= 0)
    q = gains / np.where(gains[:, -1:] > 0, gains[:, -1:], 1.0)
    q[:, 0] = 0.0
    return q, falling


def _columns(
    measures: Sequence[Measure], labels: Judgments, gains: Mapping[str, GainsLike], relevant: str | None
) -> list[_Column]:
    """Every measure with every gains; AP with those of its relevant labels alone."""
    shape = (len(labels.items.topics), len(labels.scale))
    gains = {} if all(isinstance(each, AP) for each in measures) else gains
    fitted = left_out_gains([each for each in gains.values() if isinstance(each, str) and names_model(each)], labels)
    worths = {
        name: fitted[each] if isinstance(each, str) and each in fitted else gains_for(each, labels.scale).values[None]
        for name, each in gains.items()
    }
    columns = []
    for measure in measures:
        if isinstance(measure, AP):
            rel = measure.rel or relevant or labels.scale.labels[-1]
            here = {f"binary:{rel}": binary(rel)(labels.scale).values[None]}
        elif isinstance(measure, GAP) or (
            isinstance(measure, nDCG) and measure.dcg in ("log2", "zipf") and measure.alpha == 0
        ):
            here = worths
        else:
            raise MeasureError(
                f"{measure}: expectations over orders are known for AP, GAP and nDCG with log2 or zipf discount",
                hint="for example GAP, nDCG@20 or nDCG(dcg=zipf)",
            )
        columns += [_Column(measure, name, np.broadcast_to(worth, shape)) for name, worth in here.items()]
    return columns


def _named(gains: Sequence[GainsLike] | Mapping[str, GainsLike] | None, labels: Judgments) -> Mapping[str, GainsLike]:
    """Gains under their names; models are fitted later, topic by topic."""
    if isinstance(gains, Mapping):
        return gains
    top = labels.scale.labels[-1]
    usual = ("exponential", "linear", "udm:1/2", "udm:1/3", "udm:1/4", f"prm:{top}")
    several = usual if gains is None else gains
    named = {each if isinstance(each, str) else gains_for(each, labels.scale).name: each for each in several}
    if len(named) < len(several):
        raise SettingError("two of the gains have the same name", hint="name them: {name: gains}")
    return named


def _rows(values: Floats, sets: DoubleJudgments, column: _Column) -> list[RankCorrelation]:
    """Mean and spread over topics, for all pairs of assessors together, and for each directed pair."""
    known = np.flatnonzero(~np.isnan(values))
    topics, topic = np.unique(sets.topic[known], return_inverse=True)
    by_topic = np.bincount(topic, values[known], len(topics)) / np.bincount(topic, minlength=len(topics))
    rows = [_row(by_topic, column)]
    pairs = np.unique(sets.pair)
    order = known[np.argsort(sets.pair[known], kind="stable")]
    places = np.searchsorted(sets.pair[order], [*pairs, len(sets.assessors) ** 2])
    for number, pair in enumerate(pairs.tolist() if len(pairs) <= MOST_PAIRS else ()):
        reference, ranker = divmod(pair, len(sets.assessors))
        own = values[order[places[number] : places[number + 1]]]
        rows.append(_row(own, column, a=sets.assessors[reference], b=sets.assessors[ranker]))
    return rows


def _row(values: Floats, column: _Column, *, a: str | None = None, b: str | None = None) -> RankCorrelation:
    n = len(values)
    value = float(values.mean()) if n else np.nan
    sd = float(values.std(ddof=1)) if n > 1 else np.nan
    low, high = interval(value, sd / sqrt(max(n, 1)), n, lowest=0.0)
    return RankCorrelation(
        between="sets",
        measure=str(column.measure),
        gains=column.gains,
        a=a,
        b=b,
        value=value,
        low=low,
        high=high,
        topics=n,
        sd=sd,
    )

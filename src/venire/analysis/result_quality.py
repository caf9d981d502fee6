"""Result quality: how p(R|i) depends on how good the results are that it is estimated from.

Demeester et al. (2015), Section 6.1 and Figure 1: the lists of every topic are put in order, best first, by how many
results an assessor labelled L or higher, ties by name; p(R|i) is estimated from the documents of the first list of
every topic, of the first two, and so on up to all.  Every document belongs to the first list that holds it, so pairs
are counted once, by the place of that list, and summed up from there.

Caution.  An assessor whose labels order the lists and are second labels too makes p(R|i) come out high for the first
lists even if documents with one label are all alike: those lists come first because this assessor's labels there are
high.  Read one-sided, this assessor's label observed and somebody else's the second, that part of the change is
gone; where it can be had, that curve is given too (``one_sided``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from venire.analysis.item_pairs import item_pairs, labelled_share
from venire.analysis.list_subsets import ListSubset, list_subsets
from venire.analysis.result_lists import ResultLists
from venire.data.judgments import Judgments
from venire.data.scale import Scale
from venire.errors import PairsError, SettingError
from venire.kernels.shares import shares
from venire.models.pairs import named_assessors, two_sides
from venire.models.predicted_relevance import PredictedRelevance
from venire.models.relevance import RelevantSets, relevant_sets
from venire.models.spread import FEW_PAIRS
from venire.tabular import Records, Tabular, known
from venire.types import Floats

TOP = 10


@dataclass(frozen=True, eq=False)
class QualitySensitivity(Tabular):
    """p(R|i) and pairs (list, relevant, label) from the first 1, 2, ... lists of every topic.

    by: whose labels ordered the lists, ``level`` or higher being good; one_sided: p read from the labels of these
    alone, None where that is the same or cannot be had; outside: share of the pairs that are in no list; judged: share
    of the items in lists that have such labels; selected: whether such labels come second, too.
    """

    scale: Scale
    relevant: RelevantSets
    by: tuple[str, ...]
    level: str
    p: Floats
    pairs: Floats
    one_sided: Floats | None
    subsets: tuple[ListSubset, ...]
    outside: float
    judged: float
    selected: bool

    def sentence(self, row: int = 0) -> str:
        """Say which label depends most on the lists, and how much of that is in the order of the lists."""
        best = self.p[0, row]
        change = np.abs(best - self.p[-1, row])
        if np.isnan(change).all():
            return "The best lists have no items judged twice."
        enough = self.pairs[0, row] >= FEW_PAIRS
        level = int(np.nanargmax(np.where(enough, change, np.nan) if enough.any() else change))
        words = (
            f"p({self.relevant.names[row]}|{self.scale.labels[level]}) is {best[level]:.2f} in the best list of every "
            f"topic and {self.p[-1, row, level]:.2f} in all {len(self.p)} lists"
        )
        if self.one_sided is None or np.isnan(self.one_sided[[0, -1], row, level]).any():
            return f"{words}: estimate it from results as good as those to be evaluated."
        first, last = self.one_sided[[0, -1], row, level]
        return (
            f"{words}; read one-sided from {', '.join(self.by[:3])}, whose labels order the lists, {first:.2f} and "
            f"{last:.2f}: only that change is the documents'."
        )

    def records(self) -> Records:
        """Return one row per number of lists, notion of relevance and label: p(R|i), and the pairs behind it."""
        return [
            {
                "lists": number + 1,
                "relevant": relevant,
                "label": label,
                "p": known(self.p[number, row, level]),
                "one_sided": None if self.one_sided is None else known(self.one_sided[number, row, level]),
                "pairs": float(self.pairs[number, row, level]),
            }
            for number in range(len(self.p))
            for row, relevant in enumerate(self.relevant.names)
            for level, label in enumerate(self.scale.labels)
        ]

    def warnings(self) -> list[str]:
        """What to be careful about."""
        words = []
        if self.outside > 0:
            words.append(f"{100 * self.outside:.0f}% of the pairs of labels are on items in no list, and left out")
        if self.judged < 0.5:
            words.append(
                f"the labels that order the lists, by {', '.join(self.by[:3])}, are on {100 * self.judged:.0f}% of the "
                "items in lists: the order says little"
            )
        if self.selected and self.one_sided is None:
            words.append(
                f"labels by {', '.join(self.by[:3])} order the lists and come second too, so p(R|i) is too high for "
                "the first lists; order them by the labels of those observed"
            )
        return words


def against_quality(
    judgments: Judgments,
    lists: ResultLists,
    setting: PredictedRelevance,
    *,
    by: Sequence[str] = (),
    level: str | None = None,
    top: int = TOP,
) -> QualitySensitivity:
    """Estimate p(R|i) from more and more lists, best first.

    Parameters
    ----------
    lists : made by ``lists_of_runs`` or ``lists_of_resources`` from the items of the judgments
    setting : how labels are paired; its prior is not used
    by : assessors whose labels order the lists; by default those observed, else the reference, else who gave most
    level : a result with this label or higher is good; by default the middle of the scale, upper half
    top : how many results of each list count, where ranks are known

    Cost: O(rows log rows + items x labels^2) for each notion of relevance, and the entries of the lists.
    """
    if top < 1:
        raise SettingError(f"the first {top} results of each list: expected 1 or more")
    relevant = relevant_sets(judgments.scale, setting.relevant)
    lists, by = lists.upto(top), tuple(named_assessors(by)) or _usual_order(judgments, setting)
    level = _usual_level(judgments.scale, relevant) if level is None else level
    good = labelled_share(judgments, by, relevant_sets(judgments.scale, level).labels[0])
    place = lists.places(lists.sums(np.nan_to_num(good)))
    n_lists = lists.n_most
    step = np.full(len(judgments.items), n_lists, dtype=np.int64)
    np.minimum.at(step, lists.item, place[lists.owner])
    paired, observed = item_pairs(judgments, setting), _read_from(judgments, setting, by)
    counts = paired.by_cell(step, n_lists + 1)
    inside = counts[:-1].cumsum(axis=0)
    one_sided = None if observed is None else item_pairs(judgments, observed).by_cell(step, n_lists + 1)[:-1]
    if n_lists == 0 or not inside[-1].sum() > 0:
        raise PairsError("no item in a list was judged by two assessors", hint="judge results of the lists twice")
    return QualitySensitivity(
        judgments.scale,
        relevant,
        by,
        level,
        *shares(inside, relevant.labels),
        None if one_sided is None else shares(one_sided.cumsum(axis=0), relevant.labels)[0],
        list_subsets(judgments, lists, paired, by=by, relevant=relevant, top=top),
        float(counts[-1].sum() / counts.sum()),
        float((~np.isnan(good[step < n_lists])).mean()),
        bool(_second(judgments, setting) & set(by)),
    )


def _usual_order(judgments: Judgments, setting: PredictedRelevance) -> tuple[str, ...]:
    """Whose labels order the lists, if nobody says."""
    named = tuple(named_assessors(setting.observed)) or tuple(named_assessors(setting.reference))
    if named:
        return named
    n_labels = np.bincount(judgments.assessor.codes, minlength=len(judgments.assessor.names))
    return (judgments.assessors[int(np.argmax(n_labels))],)


def _usual_level(scale: Scale, relevant: RelevantSets) -> str:
    """The label from which a result is good, if nobody says: the middle of the scale; without an order, R itself."""
    return scale.labels[len(scale) // 2] if scale.ordered else relevant.names[0]


def _second(judgments: Judgments, setting: PredictedRelevance) -> set[str]:
    """Name the assessors whose labels may come second."""
    first, second = two_sides(judgments, setting.observed, setting.reference)
    chosen = first | second if setting.estimator == "paired" else second
    return {judgments.assessors[n] for n in np.flatnonzero(chosen)}


def _read_from(judgments: Judgments, setting: PredictedRelevance, by: tuple[str, ...]) -> PredictedRelevance | None:
    """Observe the labels that order the lists, those of others second; None where that is another question."""
    named = bool(setting.observed or setting.reference)
    others = _second(judgments, setting) - set(by)
    if not others or (named and setting.estimator != "paired"):
        return None
    return replace(setting, estimator="one-sided", observed=by, reference=sorted(others))

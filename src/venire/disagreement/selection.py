"""Selection bias: were items judged again because of a label that they had?

Eq. (5) of Demeester et al. (2015) lets either label of a double judgment come first.  That is valid where the items
were chosen independently of their labels, at random or by rank, as Section 6.1 recommends.  Where they were chosen by
their first label (Section 5.2.1: second judgments mostly above the lowest label), the labels of the second assessor are
not those of the pool, and Eq. (5) overestimates.  Eq. (4), one-sided, from the first label to a later one, is valid
either way: given the first label, the later ones do not depend on the choice.  Signs of a selection:

- Whether an item was judged again is associated with its label, given the topic, the assessor and, where there are
  runs, its rank (``kernels.association``).  Without runs, a choice by rank looks the same.
- Only items judged twice are there, and one assessor came first: this assessor, who labelled nearly all of them, hardly
  ever gives the lowest label where the others often do.  A very lenient assessor looks the same.
- Only items judged twice are there, and the assessors took turns: fewer items have the lowest label twice than if
  labels were independent.
- Items whose labels differ get further labels more often.

Which label was first is known from times; or from items judged once: where every item of a topic judged again has one
label by an assessor who judged items alone in it, that one is assumed to be the first.  Then the estimate is one-sided,
with a warning.  Where the order is unknown there is an error if runs show that the choice was not by rank, and else a
warning where odds are at least doubled.  A collection that keeps complete lists, selected by one assessor's top labels,
shows no sign.

Where labels come with the unequal probabilities with which their items were chosen, the choice is known, nothing has to
be tested, and either label may come first, with weights (``sampled_pairs``).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.data.judgments import Judgments
from venire.data.label_pairs import Pairs, distinct_items, pair_up, two_sides
from venire.disagreement.sampled_pairs import weighted_by_sampling
from venire.errors import PairsError, SelectionWarning
from venire.kernels.association import association
from venire.kernels.distinct import distinct, numbered
from venire.results import counted
from venire.types import Bools, Codes, Floats, Ints

SIGNIFICANT, SEVERE = 0.01, 1e-3
"""Below the first p-value a selection is assumed; below the second it is an error where no valid estimate is left."""
ODDS, DEFICIT, ENOUGH = 2.0, 5.0, 30
"""Thresholds where the order is unknown: odds ratio, factor of fewer lowest labels, and least number of labels."""
AT_ONCE = 1 << 20
"""Labels for which numbers are computed at a time, so that what is in between takes little memory."""
NEARLY = 0.95
"""Those who judged first have one label on this share of the items."""
FEWER = 3.0
"""Factor by which items with the lowest label twice are fewer than with independent labels."""
VALID = "use the estimator one-sided, and name the observed assessor, who judged first"
OVERRIDE = "if items were not selected by their labels, use the estimator labels"


@dataclass(frozen=True, eq=False)
class Selection:
    """A sign that items were judged again because of a label.

    first, second (row,): labels that may come first and second in a one-sided estimate, None where the order is
    unknown; assumed: how the order is known; severe: whether Eq. (5) is invalid.
    """

    reason: str
    first: Bools | None = None
    second: Bools | None = None
    assumed: str = ""
    severe: bool = True


def safe_pairs(
    judgments: Judgments,
    *,
    estimator: str | None,
    observed: Sequence[str] = (),
    reference: Sequence[str] = (),
    weight: str = "pair",
    rank: Ints | None = None,
) -> Pairs:
    """Pair labels as ``pair_up`` does; one-sided, with a ``SelectionWarning``, where labels selected the items.

    A given estimator is not changed: ``labels`` has a warning, and ``paired`` is an error where it is invalid.
    """
    pairs = pair_up(judgments, estimator=estimator, observed=observed, reference=reference, weight=weight)
    if pairs.estimator == "one-sided":
        return pairs
    if not (observed or reference) and (weighted := weighted_by_sampling(judgments, pairs)) is not None:
        return weighted
    found = find_selection(judgments, observed=observed, reference=reference, rank=rank)
    if found is None:
        return pairs
    if estimator is None and found.first is not None and found.second is not None:
        words = f"{found.reason}; p(R|i) is estimated one-sided, from the first label to later ones ({found.assumed})"
        warnings.warn(f"{words}, since both ways together would be biased", SelectionWarning, stacklevel=4)
        return pair_up(judgments, weight=weight, sides=(found.first, found.second))
    if found.severe and estimator != "labels":
        raise PairsError(f"{found.reason}, and paired would be biased", hint=[VALID, OVERRIDE])
    warnings.warn(f"{found.reason}; if that was not by rank, p(R|i) is biased: {VALID}", SelectionWarning, stacklevel=4)
    return pairs


def find_selection(
    judgments: Judgments, *, observed: Sequence[str] = (), reference: Sequence[str] = (), rank: Ints | None = None
) -> Selection | None:
    """Test for a selection of items by their labels; None if there is no sign of it.  O(rows log rows).

    observed, reference: names of assessors, as for ``pair_up``; labels by others are not used.  rank: groups of items
    that runs rank alike -> (item,); None: there are no runs.
    """
    if not judgments.scale.ordered or len(judgments) == 0:
        return None
    case = _Case.of(judgments, observed, reference, rank)
    if not (case.others > 0).any():
        return None
    return _by_label(case) or _one_without_lowest(case) or _lowest_never_twice(case) or _by_disagreement(case)


@dataclass(frozen=True, eq=False)
class _Case:
    """Labels used, all (label,): rows of the judgments, item, who, and how many others judged the item."""

    judgments: Judgments
    rows: Codes
    item: Codes
    who: Codes
    others: Codes
    rank: Ints | None

    @classmethod
    def of(cls, judgments: Judgments, observed: Sequence[str], reference: Sequence[str], rank: Ints | None) -> _Case:
        first, second = two_sides(judgments, observed, reference)
        who = judgments.assessor.codes
        rows = np.flatnonzero((first | second)[who]).astype(np.int32)
        item = distinct_items(judgments)[0][rows]
        side = (who if (first & second).any() else second[who].astype(np.int32))[rows]
        n_sides = int(side.max(initial=0)) + 1
        cell = distinct(item.astype(np.int64) * n_sides + side)
        judged_by = np.bincount(cell // n_sides, minlength=int(item.max(initial=-1)) + 1)
        others = (judged_by - 1).astype(np.int32)[item]
        return cls(judgments, rows, item, who[rows], others, rank)

    @property
    def label(self) -> Codes:
        return self.judgments.label[self.rows]

    @property
    def topic(self) -> Codes:
        return self.judgments.items.topic[self.judgments.item[self.rows]]

    def groups(self, *, by_assessor: bool) -> list[Ints]:
        """Strata within which labels are compared, each (label,): topic, perhaps by assessor, and rank if known."""
        n_assessors = int(self.who.max(initial=0)) + 1
        own = self.topic.astype(np.int64) * n_assessors + (self.who if by_assessor else 0)
        for facet in (self.judgments.facets[name] for name in ("intent", "given") if name in self.judgments.facets):
            own = own * len(facet.names) + facet.codes[self.rows]
        return [own] if self.rank is None else [own, self.rank[self.judgments.item[self.rows]]]

    def again(self) -> tuple[Codes, Codes, Bools]:
        """Of the labels of items that others judged, too: who gave them, the item, and whether they are the lowest."""
        chosen = self.others > 0
        columns = self.who, self.item, self.label == 0
        return columns if chosen.all() else (columns[0][chosen], columns[1][chosen], columns[2][chosen])

    @property
    def lowest_name(self) -> str:
        return repr(self.judgments.scale.labels[0])


def _by_label(case: _Case) -> Selection | None:
    """Test whether being judged again is associated with the label."""
    if not np.ptp(case.others):
        return None
    groups, others = case.groups(by_assessor=True), case.others.astype(np.float64)
    marks = np.column_stack([case.label, case.label > 0, case.label == case.label.max()]).astype(np.float64)
    if (chance := association(marks, others, groups, case.topic)) >= SIGNIFICANT:
        return None
    again, n_labels = case.others > 0, len(case.judgments.scale)
    share = np.bincount(case.label, again, n_labels) / np.maximum(np.bincount(case.label, minlength=n_labels), 1)
    shown = ", ".join(
        f"{case.judgments.scale.labels[level]}: {100 * share[level]:.0f}%" for level in np.unique(case.label)[::-1][:6]
    )
    reason = f"whether an item was judged again depends on its label ({shown}; p = {chance:.2g}"
    given = "given topic and rank)" if case.rank is not None else "given topic; ranks are unknown without runs)"
    first, second, assumed = _order(case)
    if first is None and not _strong(case, groups[0]):
        return None
    severe = case.rank is not None and chance < SEVERE
    return Selection(f"{reason}, {given}", first, second, assumed, severe=severe)


def _strong(case: _Case, group: Ints) -> bool:
    """Whether the odds of being judged again are at least doubled or halved above the lowest label, or at the top."""
    for marked in (case.label > 0, case.label == case.label.max()):
        cell = 4 * numbered(group)[1] + 2 * ~marked + (case.others == 0)
        a, b, c, d = np.bincount(cell, minlength=4 * len(np.unique(group))).reshape(-1, 4).T.astype(np.float64)
        odds = common_odds(a, b, c, d)
        if odds >= ODDS or odds <= 1 / ODDS:
            return True
    return False


def _order(case: _Case) -> tuple[Bools | None, Bools | None, str]:
    """Find which labels were first, and which came later, each (row,); and the assumption.  None: unknown."""
    first, assumed = _earliest(case), "the earliest label of an item is the first"
    if first is None:
        first, assumed = _by_those_alone(case), "assessors who judged items alone judged first"
    if first is None:
        return None, None, ""
    unique = np.bincount(case.item, first)[case.item] == 1
    masks = [np.zeros(len(case.judgments), dtype=np.bool_) for _ in range(2)]
    for mask, chosen in zip(masks, (first, ~first), strict=True):
        mask[case.rows[chosen & unique]] = True
    return masks[0], masks[1], assumed


def _earliest(case: _Case) -> Bools | None:
    """Labels that are the earliest of their item -> (label,); None where times do not decide."""
    if case.judgments.time is None:
        return None
    time = case.judgments.time[case.rows]
    earliest = np.full(int(case.item.max()) + 1, np.inf)
    np.minimum.at(earliest, case.item, time)
    first = time == earliest[case.item]
    return first if np.isfinite(time).all() and (np.bincount(case.item, first)[case.item] == 1).all() else None


def _by_those_alone(case: _Case) -> Bools | None:
    """Labels by assessors who judged items alone, anywhere or in the topic, if an item judged again has just one."""
    n_assessors = int(case.who.max()) + 1
    for group in (case.who.astype(np.int64), case.topic.astype(np.int64) * n_assessors + case.who):
        _, group = numbered(group)
        first: Bools = np.bincount(group, case.others == 0)[group] > 0
        if (np.bincount(case.item, first)[case.item] == 1).mean() >= NEARLY:
            return first
    return None


def _one_without_lowest(case: _Case) -> Selection | None:
    """Find an assessor who hardly ever gives the lowest label to items to which others often do."""
    who, at, lowest = case.again()
    n_lowest, others = np.bincount(at, lowest), np.maximum(np.bincount(at) - 1, 1)
    partners = np.empty(len(at))
    for begin in range(0, len(at), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        partners[some] = (n_lowest[at[some]] - lowest[some]) / others[at[some]]
    n, own, theirs = np.bincount(who), np.bincount(who, lowest), np.bincount(who, partners)
    few = np.flatnonzero((n >= ENOUGH) & (theirs >= ENOUGH / 3) & (own * DEFICIT < theirs))
    if len(few) == 0 or np.mean(np.bincount(at, np.isin(who, few))[at] == 1) < NEARLY:
        return None
    name, total = case.judgments.assessors[int(few[0])], int(n[few[0]])
    reason = (
        f"{name!r} gave {case.lowest_name} to {100 * own[few[0]] / total:.1f}% of {counted(total, 'item')} judged "
        f"twice, the others to {100 * theirs[few[0]] / total:.0f}% of them: {name!r} is very lenient, or items were "
        f"selected by labels of {name!r}"
    )
    first = np.isin(case.judgments.assessor.codes, few)
    used = np.zeros(len(first), dtype=np.bool_)
    used[case.rows] = True
    return Selection(reason, first & used, ~first & used, f"that of {name!r}")


def _lowest_never_twice(case: _Case) -> Selection | None:
    """Find that hardly any item has the lowest label twice: items were selected by a first label above it."""
    who, at, lowest = case.again()
    share = (np.bincount(who, lowest) / np.maximum(np.bincount(who), 1))[who]
    labels, low = np.bincount(at), np.bincount(at, lowest)
    pairs, n_items = np.maximum(labels * (labels - 1), 1), int((labels > 0).sum())
    found = float((low * (low - 1) / pairs).sum())
    independent = float(((np.bincount(at, share) ** 2 - np.bincount(at, share**2)) / pairs).sum())
    if independent < ENOUGH / 3 or found >= independent / FEWER:
        return None
    return Selection(
        f"of {counted(n_items, 'item')} judged twice {100 * found / n_items:.0f}% have the label {case.lowest_name} by "
        f"both assessors, fewer than with independent labels ({100 * independent / n_items:.0f}%): items seem to be "
        "selected by their first label"
    )


def _by_disagreement(case: _Case) -> Selection | None:
    """Find that items on which labels differ have more labels, among those with two or more."""
    n_items, n_labels = int(case.item.max()) + 1, len(case.judgments.scale)
    counts = np.bincount(case.item.astype(np.int64) * n_labels + case.label, minlength=n_items * n_labels)
    counts = counts.reshape(n_items, n_labels)
    total, (_, row) = counts.sum(axis=1), np.unique(case.item, return_index=True)
    item, several = case.item[row], total[case.item[row]] > 1
    alike = ((counts * (counts - 1)).sum(axis=1) / np.maximum(total * (total - 1), 1))[item][several]
    groups = [each[row][several] for each in case.groups(by_assessor=False)]
    z = total[item][several].astype(np.float64)
    if len(z) == 0 or np.ptp(z) == 0 or association(alike[:, None], z, groups, case.topic[row][several]) >= SIGNIFICANT:
        return None
    more, fewer = (100 * alike[chosen].mean() for chosen in (z > z.min(), z == z.min()))
    if more >= fewer:
        return None
    return Selection(
        f"two labels agree in {more:.0f}% of cases on items with more than {int(z.min())} labels, in {fewer:.0f}% on "
        "others: further labels seem to depend on disagreement of the first ones",
        severe=False,
    )


def common_odds(a: Floats, b: Floats, c: Floats, d: Floats) -> float:
    """Common odds ratio of tables [[a, b], [c, d]] (stratum,) (Mantel and Haenszel 1959); 1 if there is none."""
    n = np.maximum(a + b + c + d, 1.0)
    for_it, against = float((a * d / n).sum()), float((b * c / n).sum())
    if for_it + against == 0:
        return 1.0
    return for_it / against if against else np.inf

r"""The alternative annotator test: may a machine's labels replace those of people?

Calderon, Reichart and Dror (2025, The Alternative Annotator Test for LLM-as-a-Judge, ACL 2025, arXiv:2501.10970).  Each
person j is left out in turn.  On the items i that j, at least one other person and the machine f labelled, both are
compared with the labels of the remaining people: S is the share of them that is equal (``accuracy``), or the negative
root mean squared difference from them (``rmse``, for labels with an order).  With

.. math:: W^f_{ij} = [S(f, i, j) \ge S(h_j, i, j)], \qquad W^h_{ij} = [S(h_j, i, j) \ge S(f, i, j)],

:math:`\rho^f_j` and :math:`\rho^h_j` are their means over items; a tie counts for both.  The null hypothesis is
:math:`\rho^f_j \le \rho^h_j - \varepsilon`: the machine represents the others worse than j does, by more than what its
lower cost is worth.  It is tested with Student's t of :math:`d_i = W^h_{ij} - W^f_{ij}` against :math:`\varepsilon`,
one-sided; the p-values of all people are adjusted by Benjamini and Yekutieli (2001, doi:10.1214/aos/1013699998).  The
*winning rate* is the share of people for whom it is rejected at .05; the machine passes if that is at least .5.  The
*average advantage probability* is the mean of :math:`\rho^f_j`, for comparing machines.

The authors take items as independent.  Items of one topic are not, so that by default the test here is clustered: with
:math:`n_g` of N items in topic g of G, :math:`h_g = n_g / N`, the mean m of d, and residuals of topics
:math:`r_g = \sum_{i \in g} (d_i - m) / \sqrt{1 - h_g}`,

.. math:: v = \sum_g r_g^2 / N^2, \quad s = (m - \varepsilon) / \sqrt v, \quad
    c = v^{-3/2} \sum_g r_g^3 / N^3, \quad t = s + \frac{c}{3} s^2 + \frac{c^2}{27} s^3 + \frac{c}{6}

v is the variance of the mean by the estimator CR2 (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018,
doi:10.1080/07350015.2016.1247004), with their Satterthwaite degrees of freedom, the lower of those for independent
items and for items that are alike within topics.  The terms with c are the correction for skewness of Hall (1992, On
the removal of skewness by transformation, Journal of the Royal Statistical Society B 54, 221-228): most d are 0, and
where people rarely lose, those that are not are nearly all positive.  Unlike the quadratic correction of Johnson (1978,
doi:10.1080/01621459.1978.10480051), with which it agrees near s = 0, it never decreases with s: a machine that is far
worse is never taken for a good one.  Where d does not vary, p is :math:`2^{-n}` for n items or topics, or 1.

When not to use it: with fewer than three people it only says with which of two the machine agrees more; with fewer than
30 items of a person, or fewer than ten topics, p-values are not reliable, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from venire.agreement.distance import label_values
from venire.data.judgments import Judgments, is_conditional
from venire.data.label_pairs import refuse_mixed
from venire.errors import UnknownName
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.randomness import FEW_TOPICS
from venire.results import Note, Records, Tabular, counted, known
from venire.types import Bools, Codes, Floats, Ints

EPSILONS = (0.1, 0.15, 0.2)
"""The authors' values for crowd workers, for skilled people and for experts."""
LEVEL, PASSES_FROM = 0.05, 0.5
FEWEST_PEOPLE, FEWEST_ITEMS = 3, 30
ALIGNMENTS = ("accuracy", "rmse")
ROUNDING = 1e-9


class Labels(NamedTuple):
    """Labels of people on items that the machine and another person labelled too: item, person, label (row,).

    counts (item, label) of people's labels; machine, topic (item,).
    """

    item: Ints
    person: Codes
    label: Codes
    counts: Ints
    machine: Codes
    topic: Codes


@dataclass(frozen=True, eq=False)
class AltTest(Tabular):
    """The test for one machine: n_items, n_topics, machine_wins, person_wins (person,); p, adjusted (epsilon, person).

    machine_wins and person_wins are the shares of items on which each aligns with the others at least as well; p is NaN
    for people with too few items.
    """

    judge: str
    people: tuple[str, ...]
    epsilons: tuple[float, ...]
    alignment: str
    clustered: bool
    n_items: Ints
    n_topics: Ints
    machine_wins: Floats
    person_wins: Floats
    p: Floats
    adjusted: Floats
    notes: tuple[Note, ...] = ()

    @property
    def tested(self) -> Bools:
        """People who have enough items and topics -> (person,)."""
        tested: Bools = ~np.isnan(self.p[0])
        return tested

    @property
    def complete(self) -> bool:
        """Whether enough people have enough items."""
        return int(self.tested.sum()) >= FEWEST_PEOPLE

    @property
    def winning_rate(self) -> Floats:
        """Share of people whom the machine may replace -> (epsilon,); NaN if too few people can be tested."""
        if not self.complete:
            return np.full(len(self.epsilons), np.nan)
        return (self.adjusted[:, self.tested] <= LEVEL).mean(axis=1)

    @property
    def passed(self) -> Bools:
        """Whether the machine passes -> (epsilon,)."""
        return self.winning_rate >= PASSES_FROM

    @property
    def advantage(self) -> float:
        """Average advantage probability; NaN if nobody can be tested."""
        return float(self.machine_wins[self.tested].mean()) if self.tested.any() else np.nan

    def sentence(self) -> str:
        """Say for which epsilon the machine may replace people, or what is missing."""
        if not self.complete:
            return f"The alternative annotator test was not possible for {self.judge}: {self.notes[0]}."
        passed = [f"{each:g}" for each, ok in zip(self.epsilons, self.passed, strict=True) if ok]
        rates = ", ".join(
            f"{rate:.2f} at {each:g}" for each, rate in zip(self.epsilons, self.winning_rate, strict=True)
        )
        result = f"passes for epsilon {', '.join(passed)}" if passed else "does not pass"
        return (
            f"{self.judge} {result} in the alternative annotator test against {counted(len(self.people), 'person')} "
            f"(winning rate {rates}; average advantage probability {self.advantage:.2f})."
        ).replace("persons", "people")

    def records(self) -> Records:
        """Return one row per epsilon and person."""
        columns = (self.n_items, self.n_topics, self.machine_wins, self.person_wins)
        names = ("items", "topics", "machine_wins", "person_wins")
        return [
            {
                "epsilon": epsilon,
                "annotator": person,
                **{name: _plain(each[n]) for name, each in zip(names, columns, strict=True)},
                "p_value": known(self.p[e, n]),
                "p_adjusted": known(self.adjusted[e, n]),
            }
            for e, epsilon in enumerate(self.epsilons)
            for n, person in enumerate(self.people)
        ]

    def record(self) -> dict[str, Any]:
        """Return the test as a JSON object: a result for each epsilon, and what is missing."""
        rows = self.records()
        results = [
            {
                "epsilon": epsilon,
                "winning_rate": known(self.winning_rate[e]),
                "passed": bool(self.passed[e]) if self.complete else None,
                "annotators": [
                    {key: value for key, value in row.items() if key != "epsilon"}
                    for row in rows[e * len(self.people) : (e + 1) * len(self.people)]
                ],
            }
            for e, epsilon in enumerate(self.epsilons)
        ]
        return {
            "people": list(self.people),
            "alignment": self.alignment,
            "clustered": self.clustered,
            "advantage_probability": known(self.advantage),
            "results": results,
            "missing": None if self.complete else str(self.notes[0]),
        }


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else known(float(value))


def alt_test(
    judgments: JudgmentsLike,
    judge: str,
    people: Sequence[str],
    *,
    epsilons: Sequence[float] = EPSILONS,
    alignment: str | None = None,
    clustered: bool = True,
) -> AltTest:
    """Test whether the labels of a judge may replace those of people.

    Parameters
    ----------
    judge : the machine
    people : assessors, three or more; with fewer, the result says what is missing
    epsilons : what the machine's lower cost is worth
    alignment : "accuracy" or "rmse"; None: rmse if the labels have an order
    clustered : items of a topic depend on each other; False: the authors' test, with independent items

    Notes
    -----
    Of several labels by one assessor for an item, the last counts.  Cost: O(rows x labels).

    Examples
    --------
    >>> from venire import read_judgments
    >>> labels = {f"q{n}": {f"d{doc}": (n + doc) % 2 for doc in range(5)} for n in range(12)}
    >>> found = alt_test(read_judgments({who: labels for who in ("a", "b", "c", "llm")}), "llm", ["a", "b", "c"])
    >>> found.winning_rate.tolist(), found.advantage
    ([1.0, 1.0, 1.0], 1.0)
    """
    judgments = as_judgments(judgments)
    chosen = alignment or ("rmse" if judgments.scale.ordered else "accuracy")
    if chosen not in ALIGNMENTS:
        raise UnknownName("alignment", chosen, ALIGNMENTS)
    labels = _shared(judgments, judge, people)
    machine, person = _wins(labels, _distances(judgments, chosen))
    rows = [np.flatnonzero(labels.person == n) for n in range(len(people))]
    p = np.full((len(epsilons), len(people)), np.nan)
    topics = [np.unique(labels.topic[labels.item[each]], return_inverse=True) for each in rows]
    for n, (names, topic) in enumerate(topics):
        if len(rows[n]) >= FEWEST_ITEMS and (len(names) > 1 or not clustered):
            d = person[rows[n]].astype(np.float64) - machine[rows[n]]
            group = topic if clustered else np.arange(len(d))
            p[:, n] = [p_below(d, group, epsilon, skewness=clustered) for epsilon in epsilons]
    found = AltTest(
        judge=judge,
        people=tuple(people),
        epsilons=tuple(epsilons),
        alignment=chosen,
        clustered=clustered,
        n_items=np.array([len(each) for each in rows], dtype=np.int64),
        n_topics=np.array([len(names) for names, _ in topics], dtype=np.int64),
        machine_wins=np.array([_mean(machine[each]) for each in rows]),
        person_wins=np.array([_mean(person[each]) for each in rows]),
        p=p,
        adjusted=np.array([benjamini_yekutieli(each) for each in p]).reshape(p.shape),
    )
    return replace(found, notes=_notes(found))


def _mean(values: Bools) -> float:
    return float(values.mean()) if len(values) else np.nan


def _shared(judgments: Judgments, judge: str, people: Sequence[str]) -> Labels:
    """Choose the items that the judge and two people labelled, and the labels of people on them."""
    refuse_mixed(judgments)
    for name in (judge, *people):
        if name not in judgments.assessors:
            raise UnknownName("assessor", name, judgments.assessors)
    alone = ~is_conditional(judgments)
    code = judgments.assessor.codes
    number = np.full(len(judgments.assessors), -1, dtype=np.int32)
    number[[judgments.assessors.index(name) for name in people]] = np.arange(len(people))
    n_items, n_labels = len(judgments.items), len(judgments.scale)
    machine = np.full(n_items, -1, dtype=np.int32)
    own = np.flatnonzero(alone & (code == judgments.assessors.index(judge)))
    machine[judgments.item[own]] = judgments.label[own]
    rows = _last(judgments.item, number[code], np.flatnonzero(alone & (number[code] >= 0)))
    rows = rows[machine[judgments.item[rows]] >= 0]
    several = np.bincount(judgments.item[rows], minlength=n_items) > 1
    rows = rows[several[judgments.item[rows]]]
    cell = judgments.item[rows].astype(np.int64) * n_labels + judgments.label[rows]
    counts = np.bincount(cell, minlength=n_items * n_labels).reshape(n_items, n_labels)
    item = judgments.item[rows].astype(np.int64)
    return Labels(item, number[code[rows]], judgments.label[rows], counts, machine, judgments.items.topic)


def _last(item: Codes, person: Codes, rows: Ints) -> Ints:
    """Keep the last of several rows of one person for an item."""
    backwards = rows[::-1]
    key = item[backwards].astype(np.int64) * (int(person.max(initial=0)) + 1) + person[backwards]
    return np.sort(backwards[np.unique(key, return_index=True)[1]])


def _distances(judgments: Judgments, alignment: str) -> Floats:
    """Return what is averaged over the others to compare two labels with theirs -> (label, label)."""
    values = label_values(judgments.scale)
    if alignment == "accuracy":
        return 1.0 - np.eye(len(values))
    return np.square(values[:, None] - values)


def _wins(labels: Labels, distances: Floats) -> tuple[Bools, Bools]:
    """Return whether the machine, and the person, is at least as near to the others -> (row,) each.

    The order of sums of distances is that of S: all are over the same people.
    """
    to_all = labels.counts[labels.item] @ distances
    rows, machine = np.arange(len(labels.item)), labels.machine[labels.item]
    of_person = to_all[rows, labels.label]
    of_machine = to_all[rows, machine] - distances[machine, labels.label]
    return of_machine <= of_person + ROUNDING, of_person <= of_machine + ROUNDING


def p_below(d: Floats, group: Ints, epsilon: float, *, skewness: bool = True) -> float:
    """Return the one-sided p-value of a mean of at least epsilon; d, group (item,), groups 0, 1, ... all occur.

    skewness: correct for it, as in the module's formula; False with every item its own group is Student's t.

    Examples
    --------
    >>> d = np.array([0.0, 0, 1, -1, 0, 0, -1, 0, 0, 1])
    >>> round(p_below(d, np.arange(10), 0.2, skewness=False), 4)
    0.1838
    """
    from scipy.special import stdtr

    n, mean = np.bincount(group).astype(np.float64), float(d.mean())
    share = n / n.sum()
    rest = (np.bincount(group, d) - n * mean) / np.sqrt(1 - share) / n.sum()
    v, away = float(np.square(rest).sum()), mean - epsilon
    if v <= ROUNDING**2:
        return 2.0 ** -min(len(n), 1000) if away < 0 else 1.0
    s, c = away / np.sqrt(v), float((rest**3).sum()) / v**1.5 if skewness else 0.0
    t = s + c * s**2 / 3 + c**2 * s**3 / 27 + c / 6
    return float(stdtr(min(_freedom(n, n), _freedom(n, n**2)), t))


def _freedom(n: Floats, variance: Floats) -> float:
    """Satterthwaite's degrees of freedom of v, for topics of n items whose sums have these variances; all (topic,).

    With M the matrix that makes residuals of sums, they are tr(A)^2 / tr(A^2) for A = M diag(variance) M'.  With
    p = n / N, the sum V of the variances v and z = 1 / (1 - p), the elements of A are sqrt(z_g z_h) times
    V p_g p_h - p_g v_h - v_g p_h, plus v_g on the diagonal: the sum of their squares follows from sums over topics.
    O(topics).
    """
    share = n / n.sum()
    scale, total = 1 / (1 - share), variance.sum()
    outer = total * share**2 - 2 * share * variance
    diagonal = scale * (outer + variance)
    pp, pv, vv = ((scale * each).sum() for each in (share**2, share * variance, variance**2))
    every = total**2 * pp**2 + 2 * pp * vv + 2 * pv**2 - 4 * total * pp * pv
    squares = every + np.square(diagonal).sum() - np.square(scale * outer).sum()
    return float(diagonal.sum() ** 2 / squares)


def benjamini_yekutieli(p: Floats) -> Floats:
    """Adjust by Benjamini and Yekutieli's step-up, for any dependence; NaN stays; (test,) -> (test,).

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.01, 0.02, 0.5])).round(3).tolist()
    [0.055, 0.055, 0.917]
    """
    found, present = p.copy(), np.flatnonzero(~np.isnan(p))
    order = present[np.argsort(-p[present], kind="stable")]
    rank = np.arange(len(order), 0, -1)
    found[order] = np.minimum(np.minimum.accumulate(p[order] * len(order) / rank) * (1 / rank).sum(), 1.0)
    return found


def _notes(found: AltTest) -> tuple[Note, ...]:
    """Say what is missing, and what the p-values rest on."""
    notes, n_tested = [], int(found.tested.sum())
    if n_tested < FEWEST_PEOPLE:
        text = (
            "it needs {needed} people who each labelled {items} items that the judge and another person labelled too, "
            "of two topics or more; there are {found}"
        )
        notes.append(Note("alt-test-few-people", text, needed=FEWEST_PEOPLE, items=FEWEST_ITEMS, found=n_tested))
    skipped = [name for name, ok in zip(found.people, found.tested, strict=True) if not ok]
    if skipped and found.complete:
        text = "people with fewer than {items} such items were left out of the alternative annotator test: {names:list}"
        notes.append(Note("alt-test-left-out", text, items=FEWEST_ITEMS, names=tuple(skipped)))
    fewest = int(found.n_topics[found.tested].min(initial=FEW_TOPICS))
    if found.clustered and fewest < FEW_TOPICS:
        text = "the p-values of the alternative annotator test rest on {n:topic} only"
        notes.append(Note("alt-test-few-topics", text, n=fewest))
    return tuple(notes)

r"""Random users: scores of systems for simulated users, their mean and their variation between users.

With gains p(R|i) (Demeester et al. 2015, doi:10.1007/s10791-015-9275-x, Section 3.2) a measure that is linear in the
gains is its expectation over users: P, CG, DCG, RBP, and the expected number of relevant results.  Success, RR and ERR
are linear in the gain of each document, and so are expectations if documents are independent given their labels.
nDCG, nERR, R, Rprec, AP, GAP, Q and bpref divide by a quantity that depends on the user, and are not: for them

.. math:: E_u[m] \approx \frac1N \sum_u m(r_u), \qquad r_{ud} \sim \mathrm{Bernoulli}(p(R|i_d))

averages the scores of users with binary relevance.  GAP is then AP, DCG has one unit per relevant result, and a
relevant result always satisfies, so that ERR is RR (its highest grade, 1, stops with probability 1, not 1/2).  A user
without a relevant result for a topic scores 0 on it, as in trec_eval.

A model of disagreement (Demeester et al. 2014, doi:10.1145/2556195.2556268; 2015, doi:10.1007/s10791-015-9275-x) gives
each label i the probability p(R|i) that a random user finds a result with that label relevant.  User u's relevance of
item d is then drawn as

.. math:: r_{ud} \sim \mathrm{Bernoulli}(p_d), \qquad p_d = \sum_i w_{di}\, p(R|i)

with w the weights of the labels of the item.  Each user has a separate stream of random numbers, made from the seed and
the number of the user, so that user 7 finds the same items relevant however many users there are and however they are
divided into blocks.

Labels that people gave are not drawn.  If n assessors are named as users, user u is assessor u mod n: an item that this
assessor labelled is relevant if the label is at least ``relevant``, and only the others are drawn.

The standard deviation is that of the mean over topics, between users.  It is a lower bound: given the labels,
relevances are independent between items and between users, and real users who are consistently strict or lenient, or
have a preference about a topic, differ more from each other than these users do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from venire.data.gains import Gains, GainsLike, gains_for
from venire.data.intents import Probabilities
from venire.data.panel import Panel, Pool
from venire.data.rejudging import Given
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, GainsError, MeasureError, SettingError
from venire.io.duplicates import Duplicates
from venire.io.judgments import JudgmentsLike
from venire.io.runs import Progress, RunsLike
from venire.measures.evaluate import Case, Layout, as_list, labels_for
from venire.measures.scores import Scores
from venire.measures.scoring import MeasureLike, Plan, Scoring, as_measure, score_facts
from venire.randomness import seed_of, stream
from venire.results import Records, Tabular, known
from venire.types import Bools, Floats, RNGLike

if TYPE_CHECKING:
    from numpy.random import SeedSequence

RELEVANCE = Gains(Scale(("irrelevant", "relevant")), np.array([0.0, 1.0]), "users")
"""Gains of a user's labels: 0 or 1."""


@dataclass(frozen=True, eq=False)
class Users:
    """Simulated users by number: p (item,), the probability that an item is relevant; judged (item,); the seed.

    given: labels of people, which are kept; satisfies (label,): whether a label is relevant.
    """

    p: Floats
    judged: Bools
    numbers: range
    seed: SeedSequence
    given: Given | None = None
    satisfies: Bools | None = None

    unmixed = True

    @classmethod
    def of(cls, panel: Panel, gains: Gains, n: int, *, seed: SeedSequence) -> Users:
        """Make n users from the labels of one judge, or of a pool, and gains that are probabilities of relevance.

        Examples
        --------
        >>> from venire.io import read_grid
        >>> from venire.data.panel import build_panel
        >>> from venire.data.gains import gains_for
        >>> labels = read_grid("0 1 2 2")
        >>> gains = gains_for({"0": 0.0, "1": 0.5, "2": 1.0}, labels.scale)
        >>> users = Users.of(build_panel(labels), gains, 3, seed=np.random.SeedSequence(0))
        >>> users.p.tolist(), len(users.judges)
        ([0.0, 0.5, 1.0, 1.0], 3)
        """
        if n < 1:
            raise SettingError(f"{n} users: expected 1 or more", hint="1000 give means to about two digits")
        require_probabilities(gains)
        if len(panel.judges) > 1:
            message = f"users are drawn from the labels of one judge, and there are {len(panel.judges)}"
            raise AmbiguousLabels(message, hint="name one assessor, or pool their labels (mean)")
        p, judged = panel.gains(gains.values, 0, 1)
        return cls(np.clip(p[0], 0.0, 1.0), judged[0], range(n), seed)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the users: their numbers, from 1."""
        return tuple(str(number + 1) for number in self.numbers)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.p)

    def part(self, first: int, last: int) -> Users:
        """Return users first..last-1; what they find relevant does not change."""
        return replace(self, numbers=self.numbers[first:last])

    def relevant(self, first: int, last: int) -> Bools:
        """What users first..last-1 find relevant -> (user, item).  O(users x items)."""
        found = np.empty((last - first, self.n_items), dtype=np.bool_)
        for row, number in enumerate(self.numbers[first:last]):
            np.less(stream(self.seed, number).random(self.n_items), self.p, out=found[row])
            if self.given is not None and self.satisfies is not None:
                item, label = self.given.labels_of(number % self.given.n_judges)
                found[row, item] = self.satisfies[label]
        return found

    def gains(self, values: Floats, first: int, last: int) -> tuple[Floats, Bools]:
        """Gain of every item, and whether it was judged, for users first..last-1; both (user, item).

        values (2,): of an irrelevant and of a relevant item.
        """
        relevant = self.relevant(first, last)
        judged = np.broadcast_to(self.judged, relevant.shape)
        if self.given is not None:
            judged = judged.copy()
            for row, number in enumerate(self.numbers[first:last]):
                judged[row, self.given.labels_of(number % self.given.n_judges)[0]] = True
        return np.where(relevant, values[1], values[0]), judged


def require_probabilities(gains: Gains) -> None:
    """Reject gains that are not probabilities of relevance."""
    if not gains.unit:
        message = f"users are drawn with probabilities of relevance, and {gains!r} are no probabilities"
        hint = "use the gains of a model (prm:LABEL, udm:M/N, a saved fit), or state gains within [0, 1]"
        raise GainsError(message, hint=hint)


BLOCK_CELLS = 1 << 22
"""How many cells (users x items, users x lists x measures) are held at a time."""
LOW, HIGH = 0.05, 0.95
"""The quantiles that 90 % of the users lie between."""


@dataclass(frozen=True, eq=False)
class UserScores(Tabular):
    """Scores of simulated users.

    users : Scores (system, measure, user), each a mean over topics
    topics, topic_spread : Scores (system, topic, measure), mean and standard deviation over users
    """

    users: Scores
    topics: Scores
    topic_spread: Scores
    notes: tuple[Any, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of systems that returned nothing."""
        return self.topics.warnings

    @property
    def n_users(self) -> int:
        """How many users were simulated."""
        return len(self.users.names["user"])

    @property
    def mean(self) -> Scores:
        """The expectation over users -> (system, measure)."""
        return self.users.mean("user")

    @property
    def sd(self) -> Scores:
        """The standard deviation between users -> (system, measure); NaN for one user."""
        return self.users.spread("user")

    def quantile(self, q: float) -> Floats:
        """Return the quantile q over users -> (system, measure)."""
        return np.quantile(self.users.values, q, axis=-1)

    def over_topics(self, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return Student's interval of each mean over topics -> low, high (system, measure); NaN for one topic."""
        low, high = self.topics.interval("topic", confidence=confidence)
        return low.values, high.values

    def sentence(self) -> str:
        """Return the system with the highest mean over users, and the simulation error of the means."""
        mean, names, best = self.mean.values[:, 0], self.users.names, ""
        if not np.isnan(mean).all():
            first = int(np.nanargmax(mean))
            best = f"By {names['measure'][0]}, {names['system'][first]} has the highest mean, {mean[first]:.4f}; "
        if self.n_users == 1:
            return f"{best}scores are those of one simulated user"
        error = float(np.nanmax(self.sd.values, initial=0.0)) / self.n_users**0.5
        return (
            f"{best}scores are means over {self.n_users:,} simulated users, with a simulation error of at most "
            f"{2 * error:.4f} (two standard errors); sd, user_low and user_high (5% and 95%) are between users"
        )

    def records(self) -> Records:
        """Return one row per system and measure: the mean, its interval over topics; sd, 5 % and 95 % between users."""
        low, high = self.over_topics()
        limits = {"sd": self.sd.values, "user_low": self.quantile(LOW), "user_high": self.quantile(HIGH)}
        names, numbers = self.users.names, {"mean": self.mean.values, "low": low, "high": high, **limits}
        rows = [
            {"system": system, "measure": measure, **{name: known(each[n, m]) for name, each in numbers.items()}}
            for n, system in enumerate(names["system"])
            for m, measure in enumerate(names["measure"])
        ]
        pairs = product(self.users.silent, names["measure"])
        return [*rows, *({"system": name, "measure": each, **dict.fromkeys(numbers)} for name, each in pairs)]

    def __str__(self) -> str:
        return f"{self.mean!r}\n{self.sentence()}"


def evaluate_users(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: GainsLike,
    users: int = 1000,
    rng: RNGLike = 0,
    assessor: str | None = None,
    people: Sequence[str] = (),
    relevant: str | None = None,
    pool: str | Pool | None = None,
    topics: Iterable[str] | None = None,
    unjudged: float | str = 0.0,
    missing: str = "zero",
    duplicates: Duplicates | None = None,
    intents: Probabilities | None = None,
    progress: Progress | None = None,
) -> UserScores:
    """Score runs for simulated users, whose relevance is drawn from gains that are probabilities.

    Parameters are those of ``evaluate``; ``unjudged`` is 0 or "condensed".  people: assessors who are users, each every
    n-th one; their labels are kept, and are relevant from the label ``relevant`` upwards.  Cost: users x (items +
    hits), in blocks of users; memory: a block, users x systems x measures, and systems x topics x measures.

    Examples
    --------
    >>> found = evaluate_users({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, "nDCG",
    ...                        gains={"0": 0, "1": 0.5}, users=4000)
    >>> abs(found.mean.values.item() - (1 / 2 + 0.6309 / 4)) < 0.02  # half of the users 1, a quarter 0.63, the rest 0
    True
    """
    scoring = Scoring(assessor, None, pool, gains, unjudged, missing, topics, duplicates)
    labels = labels_for(judgments, measures, intents)
    worth = gains_for(gains, labels.scale)
    require_probabilities(worth)
    plan = plan_for_users(as_list(measures), unjudged)
    case = Case.of(labels, runs, scoring, progress=progress)
    drawn = Users.of(case.panel, worth, users, seed=seed_of(rng))
    if people:
        satisfies = np.arange(len(labels.scale)) >= labels.scale.level_of(relevant or labels.scale.labels[-1])
        drawn = replace(drawn, given=Given.of(labels, people), satisfies=satisfies)
    layout = Layout.of(case, plan)
    return _gathered(_blocks(case, drawn, plan, layout), drawn, plan, layout)


def not_means_over_users(measures: Iterable[MeasureLike], gains: Gains) -> list[str]:
    """Return the measures whose score with these probabilities as gains is not the mean over users."""
    if not gains.unit or not ((gains.values > 0) & (gains.values < 1)).any():
        return []
    known = {str(each): as_measure(each) for each in measures}
    return [name for name, each in known.items() if each.mean_over_users == "never" and _threshold(each) is None]


def plan_for_users(measures: list[MeasureLike], unjudged: float | str) -> Plan:
    """Resolve measures for users, whose labels are relevant and irrelevant."""
    for each in map(as_measure, measures):
        if _threshold(each) is not None:
            message = f"{each} has a threshold, and a simulated user labels documents only as relevant or irrelevant"
            raise MeasureError(message, hint="omit rel=: the gains determine what is relevant, as in prm:LABEL")
    plan = Plan.of(measures, RELEVANCE, unjudged)
    if plan.unjudged_known and not plan.condensed:
        message = "unjudged documents have a gain, but the relevance of unknown documents cannot be drawn"
        raise MeasureError(message, hint="use a gain of 0 for them, or remove them from the lists (condensed)")
    return plan


def _threshold(measure: object) -> str | None:
    return getattr(measure, "rel", None)


def _blocks(case: Case, people: Users, plan: Plan, layout: Layout) -> Iterator[Floats]:
    """Score a block of users at a time -> (system, topic, measure, user)."""
    n_users = len(people.numbers)
    step = max(1, BLOCK_CELLS // max(people.n_items, len(case.facts.depth) * len(plan.measures), 1))
    for first in range(0, n_users, step):
        part = people.part(first, min(first + step, n_users))
        yield layout.place(score_facts(case.facts, part, plan, group=case.group))


def _gathered(blocks: Iterable[Floats], people: Users, plan: Plan, layout: Layout) -> UserScores:
    """Reduce blocks to means over topics for each user, and mean and spread over users for each topic."""
    names = {"system": layout.lists.systems, "topic": layout.topics, "measure": plan.names, "user": people.judges}
    shape = (len(names["system"]), len(names["topic"]), len(names["measure"]))
    by_user, total, squares, centre = [], np.zeros(shape), np.zeros(shape), None
    for block in blocks:
        centre = block.mean(axis=-1) if centre is None else centre
        by_user.append(Scores(block, tuple(names), names).mean("topic").values)
        apart = block - centre[..., None]
        total += apart.sum(axis=-1)
        squares += (apart**2).sum(axis=-1)
    n = len(people.numbers)
    shift = total / n
    sd = np.sqrt(np.maximum(squares / n - shift**2, 0.0) * n / (n - 1)) if n > 1 else np.full(shape, np.nan)
    centre = shift if centre is None else centre + shift

    def scores(values: Floats, *axes: str) -> Scores:
        return Scores(values, axes, {axis: names[axis] for axis in axes}, layout.notes, silent=layout.silent)

    return UserScores(
        scores(np.concatenate(by_user, axis=-1), "system", "measure", "user"),
        scores(centre, "system", "topic", "measure"),
        scores(sd, "system", "topic", "measure"),
        layout.notes,
    )

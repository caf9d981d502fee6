"""Measure: a formula with its parameters; a value whose name can be parsed back.

A measure defines three things: ``worth``, the value of each label (a gain, or a probability of relevance);
``ideal_of``, what it needs from the best ranking of a topic, if anything (an ideal sum, the number of relevant
documents); and ``_score``, the function of ranked gains.  Judges, lists and topics are array axes that a measure never
indexes.

Everywhere: gains (..., slot), fractions between 0 and 1 where a probability is meant; rank broadcasts against gains and
ascends along the slots.  A slot without gain adds nothing, so only judged documents need slots.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from venire.data.gains import Gains
from venire.errors import MeasureError
from venire.results import Note
from venire.types import Bools, Floats, Ints

OverUsers = Literal["always", "independent", "never"]
"""When the score of probabilities of relevance equals the mean of the scores of users."""

NOWHERE = 1 << 30
"""The rank of padding: beyond every cut-off."""


class Strata(NamedTuple):
    """Strata of a sample: which each item or slot is of, number (judge, ...), and weight (stratum,).

    The weight is the number of documents of the pool by judged document.
    """

    number: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class Ranked:
    """The input of a measure.

    gains, judged (judge, list, slot); rank (list, slot) or (judge, list, slot), ascending, NOWHERE in padding;
    depth (list,); ideal: the value of the measure for the best ranking, (judge, list, ...), or None; strata: of slots,
    whose weights are in the gains, or None.
    """

    gains: Floats
    rank: Ints
    judged: Bools
    depth: Ints
    ideal: Floats | None = None
    strata: Strata | None = None

    def upto(self, k: int | None) -> Ranked:
        """Drop everything below rank k."""
        if k is None:
            return self
        seen = self.rank <= k
        slots = np.flatnonzero(seen.any(axis=tuple(range(seen.ndim - 1))))
        width = int(slots[-1]) + 1 if len(slots) else 0
        seen = seen[..., :width]
        gains, judged = self.gains[..., :width] * seen, self.judged[..., :width] & seen
        strata = None if self.strata is None else self.strata._replace(number=self.strata.number[..., :width])
        return replace(self, gains=gains, rank=self.rank[..., :width], judged=judged, strata=strata)

    def by_rank(self, depth: int) -> Floats:
        """Return gains by rank, zero without a judged document -> (judge, list, depth)."""
        rank = np.broadcast_to(self.rank, self.gains.shape)
        table = np.zeros((*self.gains.shape[:-1], depth + 1))
        np.put_along_axis(table, np.minimum(rank - 1, depth), self.gains, axis=-1)
        return table[..., :depth]


class Worth(NamedTuple):
    """The value that a measure gives to each label, values (label,), and to an unjudged document.

    ``powers``: the values are (2^grade - 1) / powers; None: they are used as they are.  ``sampled``: they are divided
    by the probability with which the item was chosen for this label.  ``stratified``: they are multiplied by the weight
    of the item's stratum, where there are several.
    """

    values: Floats
    unjudged: float
    note: Note | None = None
    powers: float | None = None
    sampled: bool = False
    stratified: bool = False


@dataclass(frozen=True)
class Measure:
    """What all measures share: a cut-off ``k`` (None: the whole list) and a name."""

    k: int | None = None
    by_intent: ClassVar[bool] = False
    """Whether it scores labels for the intents of a topic."""
    of_sample: ClassVar[bool] = False
    """Whether it is for judgments of a sample, so that documents without a label are expected."""
    of_pool: ClassVar[bool] = False
    """Whether it counts documents of the pool that have no label."""
    adds: ClassVar[bool] = False
    """Whether it is the sum of gains times ``weights``, or of a normalised measure the sum as a share of the best."""

    def __post_init__(self) -> None:
        if self.k is not None and (isinstance(self.k, bool) or int(self.k) != self.k or not 0 < self.k < NOWHERE):
            raise MeasureError(f"{type(self).__name__}@{self.k}: a cut-off is a whole number from 1 to {NOWHERE - 1}")

    @property
    def empty_score(self) -> float:
        """The score of a missing list."""
        return 0.0

    @property
    def counts_relevant(self) -> bool:
        """Whether it needs the number of relevant documents, which is unknown if unjudged documents have a gain."""
        return False

    @property
    def mean_over_users(self) -> OverUsers:
        """When the score of probabilities of relevance is its mean over users whose relevance is drawn with them.

        "always" if it is linear in the gains; "independent" if it is linear in the gain of each document, so that it
        holds for independent documents; "never" for ratios of such sums, and where it is unknown.
        """
        return "never"

    @property
    def normalised(self) -> bool:
        """Whether it needs the best ranking of a topic."""
        return type(self).ideal_of is not Measure.ideal_of

    @property
    def best_depth(self) -> int | None:
        """How many ranks of the best ranking it needs; None: all of them."""
        return None

    def resolved(self, deepest: int) -> Measure:  # noqa: ARG002 - only custom measures need the depth
        """Return the measure for lists of at most this depth."""
        return self

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label, as given."""
        return Worth(gains.values, unjudged, powers=1.0 if by_powers(gains) else None)

    def ideal_of(self, best: Ranked) -> Floats | None:  # noqa: ARG002 - measures override it
        """Return what it needs from the best ranking of each topic: (judge, topic, ...), or None."""
        return None

    def __call__(self, ranked: Ranked) -> Floats:
        """Score ranked gains (judge, list, slot) -> (judge, list)."""
        return self._score(ranked.upto(self.k))

    def weights(self, rank: Ints) -> Floats:  # noqa: ARG002 - measures override it
        """Return what a utility of 1 adds at each rank; same shape.  In ``ERR``, if nothing above satisfied."""
        raise TypeError(f"{type(self).__name__} is not a measure by itself")

    def _score(self, seen: Ranked) -> Floats:  # noqa: ARG002 - measures override it
        """Score lists that end at the cut-off."""
        raise TypeError(f"{type(self).__name__} is not a measure by itself")

    def __str__(self) -> str:
        shown = [
            f"{each.name}={_literal(getattr(self, each.name))}"
            for each in fields(self)
            if each.name != "k" and getattr(self, each.name) != each.default
        ]
        name = type(self).__name__ + (f"({','.join(shown)})" if shown else "")
        return name if self.k is None else f"{name}@{self.k}"


@dataclass(frozen=True)
class ContextMeasure(Measure):
    r"""A measure of utility: with ``alpha``, in the context of the document read just before.

    .. math:: u_i = (1 - \alpha)\, g(d_i) + \alpha\, g(d_i | d_{i-1}), \qquad g(d_1 | d_0) = g(d_1)

    Golbus et al. (2014), doi:10.1145/2566486.2568015, Eq. (1).  Grades are interpolated first; where gains are
    2^grade - 1, they are 2^u - 1.  With alpha 0 it is the measure in isolation.
    """

    alpha: float = field(default=0.0, kw_only=True)
    stops = False
    """Whether the user stops at a document with the probability that is its utility."""

    def __post_init__(self) -> None:
        """Check the weight of conditional labels."""
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            message = f"{type(self).__name__}: alpha is {self.alpha}, expected a weight from 0 to 1"
            raise MeasureError(message, hint="0 uses labels in isolation, 1 only labels given the document before")
        if self.alpha > 0 and self.k is None and self.normalised:
            message = f"{self} needs a cut-off: the best order of documents is searched rank by rank"
            raise MeasureError(message, hint=f"write {self}@10")

    def _score(self, seen: Ranked) -> Floats:
        return discounted(seen.gains, self.weights(seen.rank))


@dataclass(frozen=True)
class Normalised(Measure):
    """A measure as a share of what the best ranking of the topic's judged documents would have."""

    mean_over_users: ClassVar[OverUsers] = "never"

    @property
    def best_depth(self) -> int | None:
        """Return the cut-off."""
        return self.k

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the score of the best ranking, before it is normalised."""
        return super()._score(best.upto(self.k))

    def _score(self, seen: Ranked) -> Floats:
        return share(super()._score(seen), require_ideal(seen))


@dataclass(frozen=True)
class CountsRelevant(Measure):
    """A measure that divides by the (expected) number of relevant documents."""

    counts_relevant = True

    def ideal_of(self, best: Ranked) -> Floats:
        """Return the (expected) number of relevant documents -> (judge, topic)."""
        return best.gains.sum(axis=-1)


def alpha_of(measure: Measure) -> float:
    """Return the weight of conditional labels; 0 for a measure without them."""
    return measure.alpha if isinstance(measure, ContextMeasure) else 0.0


def by_powers(gains: Gains) -> bool:
    """Whether gains are 2^level - 1 by formula."""
    return gains.name == "exponential" and not gains.stated


@dataclass(frozen=True)
class BinaryMeasure(Measure):
    """A measure of binary relevance: labels from ``rel`` upwards are relevant.

    Without ``rel``, labels with a linear gain are: numbers from 1 on, as in trec_eval, or all labels but the lowest.
    Stated gains within [0, 1] are probabilities of relevance instead, unless ``rel`` is given.
    """

    rel: str | None = None

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Return 1 from ``rel`` upwards, or the probability that gains within [0, 1] state."""
        if gains.unit and self.rel is None:
            return Worth(gains.values, min(unjudged, 1.0))
        steps = gains.scale.steps() > 0
        lowest = gains.scale.labels[steps.argmax() if steps.any() else -1]
        rel = lowest if self.rel is None else self.rel
        relevant = gains.scale.at_least(rel) & (steps if self.rel is None else True)
        note = None
        if gains.name != "linear" and gains.name != f"binary:{rel}":
            words = "{measure} counts labels from {rel!r} upwards as relevant, whatever their gains ({gains})"
            note = Note("binary-measure", words, measure=str(self), rel=rel, gains=gains.name)
        least = gains.values[relevant].min(initial=np.inf)
        return Worth(relevant.astype(np.float64), float(unjudged > 0 and unjudged >= least), note)


def require_ideal(ranked: Ranked) -> Floats:
    """Return what ``ideal_of`` gave, which every normalised measure has."""
    if ranked.ideal is None:
        raise MeasureError("this measure needs the best ranking of each topic")
    return ranked.ideal


@dataclass(frozen=True)
class CustomMeasure(Measure):
    """A function of gains by rank as a measure, of one ranking or of many at once, (..., rank) -> (...)."""

    function: Callable[[Floats], Any] = np.sum
    name: str = "own"

    def resolved(self, deepest: int) -> CustomMeasure:
        """Use all ranks of the lists, if there is no cut-off."""
        return self if self.k is not None else replace(self, k=max(deepest, 1))

    def __call__(self, ranked: Ranked) -> Floats:
        """Apply the function to the gains by rank: to all rankings at once, or else to each."""
        gains, value = ranked.by_rank(self.k or 1), None
        with suppress(TypeError, ValueError, IndexError):
            value = np.asarray(self.function(gains), dtype=np.float64)
        if value is None or value.shape != gains.shape[:-1]:
            try:
                value = np.apply_along_axis(self.function, -1, gains).astype(np.float64)
            except (TypeError, ValueError, IndexError) as error:
                hint = "a measure returns one number for an array of gains, best rank first"
                raise MeasureError(f"{self.name} failed on gains by rank: {error}", hint=hint) from error
        if value.shape != gains.shape[:-1]:
            message = f"{self.name} gave shape {value.shape} for gains of shape {gains.shape}"
            raise MeasureError(message, hint="a measure returns one number for a ranking's gains: (..., rank) -> (...)")
        return value

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"


def measure(function: Callable[[Floats], Any], *, k: int | None = None, name: str | None = None) -> CustomMeasure:
    """Make a measure from a function of the gains at ranks 1..k, or at all ranks; 0 at ranks without a judged document.

    The function gets the gains of one ranking, or of many at once with the ranks along the last axis, which is much
    faster.

    Examples
    --------
    >>> first = measure(lambda gains: gains[..., 0], k=1, name="First")
    >>> str(first)
    'First@1'
    """
    return CustomMeasure(k=k, function=function, name=name or str(getattr(function, "__name__", "own")))


def _literal(value: object) -> str:
    if isinstance(value, str):
        return value if value.replace("_", "").isalnum() else f'"{value}"' if "'" in value else f"'{value}'"
    return repr(value)


def defaults(kind: type[Measure]) -> dict[str, object]:
    """Return the parameters of a measure and their defaults, without the cut-off."""
    return {each.name: None if each.default is MISSING else each.default for each in fields(kind) if each.name != "k"}


def share(part: Floats, whole: Floats) -> Floats:
    """Divide; 0 where there is nothing to divide by, as in trec_eval for topics without relevant documents."""
    return np.divide(part, whole, out=np.zeros(np.broadcast_shapes(part.shape, whole.shape)), where=whole > 0)


def discounted(gains: Floats, discount: Floats) -> Floats:
    """Sum of gains by discount (slot weights that broadcast against gains)."""
    return (gains * discount).sum(axis=-1)

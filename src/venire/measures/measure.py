"""Measure: a formula with its parameters; a value with a name that reads back.

A measure says three things.  ``worth``: what it reads from a label (a gain, a probability of relevance).  ``ideal_of``:
what it needs to know of the best ranking of a topic, if anything (an ideal sum, the number of relevant documents).
And itself, a function of ranked gains.  Judges, lists and topics are axes it never looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from venire.data.align import NOWHERE, Ranked
from venire.data.gains import Gains
from venire.data.scale import Scale
from venire.errors import MeasureError
from venire.types import Floats, Ints

OverUsers = Literal["always", "independent", "never"]
"""When a score of probabilities of relevance is the mean of the scores that users would give."""


class Worth(NamedTuple):
    """What a measure reads from each label, values (label,), and from an unjudged document.

    ``powers``: the values are (2^grade - 1) / powers; None: they stand for themselves.
    """

    values: Floats
    unjudged: float
    note: str | None = None
    powers: float | None = None


@dataclass(frozen=True)
class Measure:
    """What all measures share: a cut-off ``k`` (None: the whole list) and a readable name."""

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and (isinstance(self.k, bool) or int(self.k) != self.k or not 0 < self.k < NOWHERE):
            raise MeasureError(f"{type(self).__name__}@{self.k}: a cut-off is a whole number from 1 to {NOWHERE - 1}")

    @property
    def empty_score(self) -> float:
        """What a missing list scores."""
        return 0.0

    @property
    def counts_relevant(self) -> bool:
        """Whether it needs the number of relevant documents, which unjudged documents with gain leave open."""
        return False

    @property
    def mean_over_users(self) -> OverUsers:
        """When the score of probabilities of relevance is its mean over users whose relevance is drawn with them.

        Always, if it is linear in the gains; where documents are independent, if it is linear in the gain of each;
        never, if it is a ratio of such sums, or unknown.
        """
        return "never"

    @property
    def normalised(self) -> bool:
        """Whether it asks what the best ranking of a topic comes to."""
        return type(self).ideal_of is not Measure.ideal_of

    @property
    def best_depth(self) -> int | None:
        """How many ranks of the best ranking it looks at; None: all of them."""
        return None

    def settled(self, deepest: int) -> Measure:  # noqa: ARG002 - only a measure of one's own has to know
        """Return the measure for lists of at most this depth."""
        return self

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Gain of each label, as given."""
        return Worth(gains.values, unjudged, powers=1.0 if by_powers(gains) else None)

    def ideal_of(self, best: Ranked) -> Floats | None:  # noqa: ARG002 - the form that measures fill
        """What the best ranking of each topic comes to: (judge, topic, ...), or None if it does not matter."""
        return None

    def __call__(self, ranked: Ranked) -> Floats:  # noqa: ARG002 - the form that measures fill
        """Score ranked gains (judge, list, slot) -> (judge, list)."""
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
    2^grade - 1, that is made of u.  With alpha 0 it is the measure in isolation.
    """

    alpha: float = field(default=0.0, kw_only=True)
    stops = False
    """Whether the user stops at a document with the probability that it is worth."""

    def __post_init__(self) -> None:
        """Check the weight of labels in condition."""
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            message = f"{type(self).__name__}: alpha is {self.alpha}, expected a weight from 0 to 1"
            raise MeasureError(message, hint="0 is in isolation, 1 wholly in the context of the document before")
        if self.alpha > 0 and self.k is None and self.normalised:
            message = f"{self} needs a cut-off: the best order of documents is sought rank by rank"
            raise MeasureError(message, hint=f"write {self}@10")

    def weights(self, rank: Ints) -> Floats:  # noqa: ARG002 - the form that measures fill
        """Return what a utility of 1 adds at each rank; same shape.  In ``ERR``, if nothing above satisfied."""
        raise TypeError(f"{type(self).__name__} is not a measure by itself")


def alpha_of(measure: Measure) -> float:
    """Return the weight of labels in condition; 0 for a measure that knows none."""
    return measure.alpha if isinstance(measure, ContextMeasure) else 0.0


def by_powers(gains: Gains) -> bool:
    """Whether gains are 2^level - 1 by formula."""
    return gains.name == "exponential" and not gains.stated


@dataclass(frozen=True)
class BinaryMeasure(Measure):
    """A measure of relevant against irrelevant: relevant are labels from ``rel`` upwards.

    Without it those with a linear gain: numbers from 1 on, as in trec_eval, or all labels but the lowest.

    Where gains within [0, 1] are stated, they are probabilities of relevance instead, unless ``rel`` is given.
    """

    rel: str | None = None

    def worth(self, gains: Gains, unjudged: float) -> Worth:
        """Return 1 from ``rel`` upwards, or the probability that gains within [0, 1] state."""
        if gains.unit and self.rel is None:
            return Worth(gains.values, min(unjudged, 1.0))
        rel = self.rel if self.rel is not None else _least_relevant(gains.scale)
        relevant = gains.scale.at_least(rel) & (gains.scale.steps() > 0 if self.rel is None else True)
        note = None
        if gains.name != "linear" and gains.name != f"binary:{rel}":
            note = f"{self} counts labels from {rel!r} upwards as relevant, whatever their gains ({gains.name})"
        least = gains.values[relevant].min(initial=np.inf)
        return Worth(relevant.astype(np.float64), float(unjudged > 0 and unjudged >= least), note)


def _least_relevant(scale: Scale) -> str:
    """Return the lowest label with a linear gain; the top label if none has one."""
    above = np.flatnonzero(scale.steps() > 0)
    return scale.labels[above[0] if len(above) else -1]


def relevant_count(best: Ranked) -> Floats:
    """Return the (expected) number of relevant documents -> (judge, topic)."""
    return best.gains.sum(axis=-1)


def require_ideal(ideal: Floats | None) -> Floats:
    """Return what ``ideal_of`` gave; it is there for every measure that asks for it."""
    if ideal is None:
        raise MeasureError("this measure needs the best ranking of each topic")
    return ideal


@dataclass(frozen=True)
class CustomMeasure(Measure):
    """A measure of one's own: a function of gains by rank, of one ranking or of many at once, (..., rank) -> (...)."""

    function: Callable[[Floats], Any] = np.sum
    name: str = "own"

    def settled(self, deepest: int) -> CustomMeasure:
        """Look at all ranks there are, if none is the last."""
        return self if self.k is not None else replace(self, k=max(deepest, 1))

    def __call__(self, ranked: Ranked) -> Floats:
        """Lay the gains out by rank and apply the function: to all rankings at once, or else to each."""
        gains = ranked.by_rank(self.k or 1)
        try:
            value = np.asarray(self.function(gains), dtype=np.float64)
            if value.shape != gains.shape[:-1]:
                value = np.apply_along_axis(self.function, -1, gains).astype(np.float64)
        except (TypeError, ValueError, IndexError):
            value = self._one_by_one(gains)
        if value.shape != gains.shape[:-1]:
            raise MeasureError(
                f"{self.name} gave shape {value.shape} for gains of shape {gains.shape}",
                hint="a measure makes one number of a ranking's gains: (..., rank) -> (...)",
            )
        return value

    def _one_by_one(self, gains: Floats) -> Floats:
        try:
            return np.apply_along_axis(self.function, -1, gains).astype(np.float64)
        except (TypeError, ValueError, IndexError) as error:
            hint = "a measure makes one number of an array of gains, best rank first"
            raise MeasureError(f"{self.name} failed on gains by rank: {error}", hint=hint) from error

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"


def measure(function: Callable[[Floats], Any], *, k: int | None = None, name: str | None = None) -> CustomMeasure:
    """Make a measure of a function of the gains at ranks 1..k, or at all ranks; zero where there is none.

    The function gets the gains of one ranking, or of many at once with the ranks along the last axis; the latter is
    much faster.

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
    """Parameters of a measure and their defaults, without the cut-off."""
    return {each.name: None if each.default is MISSING else each.default for each in fields(kind) if each.name != "k"}

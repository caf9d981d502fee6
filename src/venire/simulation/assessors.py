r"""Simulated assessors: the probability of each label, given the true level and the topic; and who judges what.

A *kind* of assessor is a function from the number of levels to a confusion matrix C (true level, label); each
row of it sums to 1.  Let N move a level to one of its neighbours (to each of two with probability 1/2, at the
ends to the only one), D one level down (the lowest stays), U one level up (the highest stays), and let 1 be
the column of ones:

    careful   K = (1 - slip) I + slip N           mostly right, otherwise a neighbouring level
    strict    K ((1 - shift) I + shift D)         a careful judgment, then often lowered by one level
    lenient   K ((1 - shift) I + shift U)         a careful judgment, then often raised by one level
    random    1 b'                                b uniform, or given, independent of the document
    lazy      (1 - idle) K + idle 1 u'            u is 1 at ``level``: often this label, without reading

Topics differ in difficulty.  With the effect e of a topic, the ``topic_weight`` c of an assessor and the
prevalence p of the levels,

    C_e = w C + (1 - w) B,    w = exp(-c |e|),    B = 1 p' if e > 0,    B = I if e < 0

On a difficult topic labels depend less on the document and more on the base rate; on an easy one they are closer
to the truth.  e = 0 leaves C unchanged, and no topic affects an assessor with c = 0.  Given true level and
topic, labels are independent: between assessors, and when one assessor judges again.

Judging patterns: a pattern is a function from the topic of every item (item,), the number of assessors and a generator
to pairs of item and assessor, both (row,).  A pair may occur twice: the assessor then judges the item again.  Items
without a pair remain unjudged.  Any function of this form is accepted; the classes here are the usual designs.

Kinds and patterns are also written as text: ``strict``, ``strict(shift=0.4)``,
``one-per-item(twice=0.2)``.  Nothing in the text is executed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from venire.checks import need_at_least, need_share
from venire.errors import SettingError, UnknownName, VenireError
from venire.results import counted
from venire.types import Codes, Floats, Ints

Confusion: TypeAlias = Callable[[int], Floats]
Pairs: TypeAlias = tuple[Ints, Ints]
Pattern: TypeAlias = Callable[[Codes, int, np.random.Generator], Pairs]
T = TypeVar("T")
_SUM = 1e-6
_FORM = "write name, or name(parameter=number)"


class _Probabilities:
    """A kind whose parameters of type float are probabilities."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            if each.type == "float":
                need_share(each.name, getattr(self, each.name))


@dataclass(frozen=True)
class Careful(_Probabilities):
    """Gives the true level, or with probability ``slip`` a neighbour of it.

    Examples
    --------
    >>> Careful(slip=0.2)(3)
    array([[0.8, 0.2, 0. ],
           [0.1, 0.8, 0.1],
           [0. , 0.2, 0.8]])
    """

    slip: float = 0.15

    def __call__(self, n_levels: int) -> Floats:
        """Return the confusion matrix (true level, label)."""
        beside = np.eye(n_levels, k=1) + np.eye(n_levels, k=-1)
        beside /= beside.sum(axis=1, keepdims=True)
        return (1 - self.slip) * np.eye(n_levels) + self.slip * beside


@dataclass(frozen=True)
class Strict(_Probabilities):
    """Judges as a careful assessor, then with probability ``shift`` gives one level less."""

    shift: float = 0.35
    slip: float = 0.15

    def __call__(self, n_levels: int) -> Floats:
        """Return the confusion matrix (true level, label)."""
        return Careful(self.slip)(n_levels) @ _shifted(n_levels, -1, self.shift)


@dataclass(frozen=True)
class Lenient(_Probabilities):
    """Judges as a careful assessor, then with probability ``shift`` gives one level more."""

    shift: float = 0.25
    slip: float = 0.15

    def __call__(self, n_levels: int) -> Floats:
        """Return the confusion matrix (true level, label)."""
        return Careful(self.slip)(n_levels) @ _shifted(n_levels, 1, self.shift)


@dataclass(frozen=True)
class Random:
    """Gives labels with the probabilities ``base`` (None: all equal), independent of the document."""

    base: tuple[float, ...] | None = None

    def __call__(self, n_levels: int) -> Floats:
        """Return the confusion matrix (true level, label)."""
        base = np.full(n_levels, 1 / n_levels) if self.base is None else np.array(self.base, dtype=np.float64)
        return np.tile(base, (n_levels, 1))


@dataclass(frozen=True)
class Lazy(_Probabilities):
    """Gives the label ``level`` (0: the lowest) without reading with probability ``idle``, otherwise is careful."""

    idle: float = 0.4
    level: int = 0
    slip: float = 0.15

    def __call__(self, n_levels: int) -> Floats:
        """Return the confusion matrix (true level, label)."""
        if not 0 <= self.level < n_levels:
            message = f"a lazy assessor always gives level {self.level}, and the scale has {n_levels} levels"
            raise SettingError(message, hint="levels count from 0, the lowest")
        confusion = (1 - self.idle) * Careful(self.slip)(n_levels)
        confusion[:, self.level] += self.idle
        return confusion


KINDS: dict[str, Callable[..., Confusion]] = {
    kind.__name__.lower(): kind for kind in (Careful, Strict, Lenient, Random, Lazy)
}


@dataclass(frozen=True)
class Assessor:
    """An assessor: a name and a confusion matrix.

    Parameters
    ----------
    name : a name without white space, since it is written to files
    kind : ``Careful()``, ``Strict()``, ``Lenient()``, ``Random()``, ``Lazy()``, or any function from the number of
        levels to a confusion matrix (true level, label)
    topic_weight : weight of a topic's effect for this assessor; None: 0 for ``Random``, otherwise 1
    """

    name: str
    kind: Confusion = Careful()
    topic_weight: float | None = None

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith("#") or any(each.isspace() for each in self.name):
            message = f"{self.name!r} cannot name an assessor"
            raise SettingError(message, hint="use letters and digits: no white space, and no # in front")
        kind: object = self.kind
        if isinstance(kind, type) or not callable(kind):
            hint = 'pass a value such as Strict(shift=0.4), or read "strict" with parse_assessors'
            raise SettingError(f"assessor {self.name!r} is of kind {kind!r}", hint=hint)
        if self.topic_weight is not None:
            need_at_least(0, f"the topic_weight of {self.name!r}", self.topic_weight)

    @property
    def weight(self) -> float:
        """The topic weight c."""
        if self.topic_weight is None:
            return 0.0 if isinstance(self.kind, Random) else 1.0
        return self.topic_weight

    @property
    def kind_name(self) -> str:
        """The name of the kind."""
        function_name = getattr(self.kind, "__name__", None)
        return str(function_name or type(self.kind).__name__.lower())

    def confusion(self, n_levels: int) -> Floats:
        """Return the confusion matrix (true level, label) after validating it."""
        confusion = np.asarray(self.kind(n_levels), dtype=np.float64)
        if confusion.shape != (n_levels, n_levels):
            raise SettingError(
                f"the confusion matrix of {self.name!r} has shape {confusion.shape}, "
                f"expected {n_levels} true levels x {n_levels} labels"
            )
        total = confusion.sum(axis=1)
        wrong = np.flatnonzero(~((confusion >= 0).all(axis=1) & (np.abs(total - 1) <= _SUM)))
        if len(wrong):
            message = f"row {wrong[0]} of the confusion matrix of {self.name!r} is {confusion[wrong[0]]}"
            raise SettingError(message, hint="each row holds the probabilities of the labels, and sums to 1")
        return confusion


def parse_assessors(text: str) -> tuple[Assessor, ...]:
    """Read kinds of assessors, separated by commas, with repetitions; an assessor is named by kind and number.

    Examples
    --------
    >>> [each.name for each in parse_assessors("2*careful, strict(shift=0.5), lazy")]
    ['careful1', 'careful2', 'strict1', 'lazy1']
    """
    node = parse_expression(f"[{text}]")
    seen: Counter[str] = Counter()
    assessors = []
    for each in node.elts if isinstance(node, ast.List) else [node]:
        times, node_of_kind = _times(each)
        kind = value_of(node_of_kind, "kind of assessor", KINDS)
        name = type(kind).__name__.lower()
        for _ in range(times):
            seen[name] += 1
            assessors.append(Assessor(f"{name}{seen[name]}", kind))
    return tuple(assessors)


def under_effect(confusion: Floats, strength: Floats, prevalence: Floats) -> Floats:
    """Return the confusion matrices on topics, given effect times weight.

    confusion (..., true, label), strength (..., topic), prevalence (label,) -> (..., topic, true, label)
    """
    kept: Floats = np.exp(-np.abs(strength))[..., None, None]
    difficult = (strength > 0)[..., None, None]
    toward = np.where(difficult, prevalence, np.eye(len(prevalence)))
    return kept * confusion[..., None, :, :] + (1 - kept) * toward


def _shifted(n_levels: int, step: int, share: float) -> Floats:
    """Return the matrix that moves a level by one step with probability share, within the scale -> (level, level)."""
    level = np.arange(n_levels)
    move = (1 - share) * np.eye(n_levels)
    move[level, np.clip(level + step, 0, n_levels - 1)] += share
    return move


def _times(node: ast.expr) -> tuple[int, ast.expr]:
    """Read ``3*kind``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant):
        times = node.left.value
        if isinstance(times, int) and times > 0:
            return times, node.right
    return 1, node


def parse_expression(text: str) -> ast.expr:
    """Parse text as one expression; hyphens within words are dropped, so that names are Python names."""
    try:
        return ast.parse(re.sub(r"(?<=[a-z])-(?=[a-z])", "", text.strip()), mode="eval").body
    except (SyntaxError, ValueError):
        raise SettingError(f"{text!r} cannot be read", hint=_FORM) from None


def value_of(node: ast.expr, what: str, known: Mapping[str, Callable[..., T]]) -> T:
    """Return the value of ``name`` or ``name(parameter=number)``; a parameter may be a known value as well."""
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    if not isinstance(call.func, ast.Name) or call.args or not all(each.arg for each in call.keywords):
        raise SettingError(f"{ast.unparse(node)!r} is no {what}", hint=_FORM)
    names = {name.replace("-", ""): name for name in known}
    name = call.func.id.lower()
    if name not in names:
        raise UnknownName(what, name, known)
    make = known[names[name]]

    def parameter(value: ast.expr) -> Any:
        inner = value.func if isinstance(value, ast.Call) else value
        is_known = isinstance(inner, ast.Name) and inner.id.lower() in names
        return value_of(value, what, known) if is_known else ast.literal_eval(value)

    try:
        return make(**{str(each.arg): parameter(each.value) for each in call.keywords})
    except TypeError:
        hint = f"its parameters are {', '.join(signature(make).parameters) or 'none'}"
        raise SettingError(f"{ast.unparse(node)!r} does not fit the {what} {names[name]!r}", hint=hint) from None
    except ValueError as error:
        if isinstance(error, VenireError):
            raise
        raise SettingError(f"{ast.unparse(node)!r}: a parameter is not a plain value") from None


@dataclass(frozen=True)
class Everyone:
    """Every assessor judges every item."""

    def __call__(self, topic: Codes, n_assessors: int, rng: np.random.Generator) -> Pairs:  # noqa: ARG002
        """Return pairs of item and assessor."""
        return np.repeat(np.arange(len(topic)), n_assessors), np.tile(np.arange(n_assessors), len(topic))


@dataclass(frozen=True)
class OnePerItem:
    """One assessor per item, and a second one for a random share of the items.

    Parameters
    ----------
    twice : share of the items with a second, different assessor
    whole_topics : whether all items of a topic have the same first assessor, as at TREC
    """

    twice: float = 0.0
    whole_topics: bool = True

    def __post_init__(self) -> None:
        need_share("twice", self.twice)

    def __call__(self, topic: Codes, n_assessors: int, rng: np.random.Generator) -> Pairs:
        """Return pairs of item and assessor."""
        n_parts = int(topic.max(initial=-1)) + 1 if self.whole_topics else len(topic)
        first = rng.permutation(np.arange(n_parts) % n_assessors)
        first = first[topic] if self.whole_topics else first
        again = _sample(len(topic), self.twice, rng)
        if len(again) and n_assessors < 2:
            message = f"a second assessor is needed for {counted(len(again), 'item')}, and there is one"
            raise SettingError(message, hint="add one, or set twice=0")
        other = rng.integers(1, max(n_assessors, 2), size=len(again))
        second = (first[again] + other) % n_assessors
        return np.concatenate([np.arange(len(topic)), again]), np.concatenate([first, second])


@dataclass(frozen=True)
class RandomAssessors:
    """``k`` different assessors for each item, drawn at random."""

    k: int = 3

    def __post_init__(self) -> None:
        need_at_least(1, "k", self.k)

    def __call__(self, topic: Codes, n_assessors: int, rng: np.random.Generator) -> Pairs:
        """Return pairs of item and assessor; O(k² items), by Floyd's sampling without replacement."""
        if self.k > n_assessors:
            message = f"{self.k} labels per item need as many assessors, and there are {n_assessors}"
            raise SettingError(message, hint=f"add assessors, or set k={n_assessors}")
        chosen = np.empty((len(topic), self.k), dtype=np.int64)
        for place, last in enumerate(range(n_assessors - self.k, n_assessors)):
            drawn = rng.integers(0, last + 1, size=len(topic))
            taken = (chosen[:, :place] == drawn[:, None]).any(axis=1)
            chosen[:, place] = np.where(taken, last, drawn)
        return np.repeat(np.arange(len(topic)), self.k), chosen.ravel()


@dataclass(frozen=True)
class OneJudgesAll:
    """The first assessor judges every item, the others a random sample.

    Parameters
    ----------
    share : share of the items in the sample
    common : whether the others judge the same sample
    """

    share: float = 0.2
    common: bool = True

    def __post_init__(self) -> None:
        need_share("share", self.share)

    def __call__(self, topic: Codes, n_assessors: int, rng: np.random.Generator) -> Pairs:
        """Return pairs of item and assessor."""
        others = range(1, n_assessors)
        sample = _sample(len(topic), self.share, rng)
        samples = [sample if self.common else _sample(len(topic), self.share, rng) for _ in others]
        parts = [np.arange(len(topic)), *samples]
        return np.concatenate(parts), np.repeat(np.arange(n_assessors), [len(part) for part in parts])


@dataclass(frozen=True)
class Rejudge:
    """A pattern of which a random share of the pairs occurs twice: the same assessor judges again."""

    pattern: Pattern = Everyone()
    share: float = 0.1

    def __post_init__(self) -> None:
        need_share("share", self.share)

    def __call__(self, topic: Codes, n_assessors: int, rng: np.random.Generator) -> Pairs:
        """Return pairs of item and assessor."""
        item, assessor = self.pattern(topic, n_assessors, rng)
        again = _sample(len(item), self.share, rng)
        return np.concatenate([item, item[again]]), np.concatenate([assessor, assessor[again]])


PATTERNS: dict[str, Callable[..., Pattern]] = {
    "everyone": Everyone,
    "one-per-item": OnePerItem,
    "random-assessors": RandomAssessors,
    "one-judges-all": OneJudgesAll,
    "rejudge": Rejudge,
}


def parse_pattern(text: str) -> Pattern:
    """Read a pattern, written with hyphens or as its class is printed.

    Examples
    --------
    >>> parse_pattern("one-per-item(twice=0.2)")
    OnePerItem(twice=0.2, whole_topics=True)
    """
    return value_of(parse_expression(text), "pattern", PATTERNS)


def pairs_of(pattern: Pattern, topic: Codes, n_assessors: int, *, rng: np.random.Generator) -> Pairs:
    """Return the pairs of a pattern after validating them."""
    item, assessor = (np.asarray(column) for column in pattern(topic, n_assessors, rng))
    if item.shape != assessor.shape or item.ndim != 1 or len(item) == 0:
        message = f"the pattern gave columns of shape {item.shape} and {assessor.shape}"
        raise SettingError(message, hint="expected two equally long columns, item and assessor, of at least one pair")
    return _checked("item", item, len(topic)), _checked("assessor", assessor, n_assessors)


def _checked(what: str, column: NDArray[Any], count: int) -> Ints:
    """Validate that a column holds whole numbers from 0 to below count."""
    if column.dtype.kind not in "iu":
        raise SettingError(f"the pattern gave {what}s as {column.dtype}, expected whole numbers")
    wrong = column[(column < 0) | (column >= count)]
    if len(wrong):
        raise SettingError(f"the pattern gave {what} {wrong[0]}, expected 0 to {count - 1}")
    return column.astype(np.int64)


def _sample(n: int, share: float, rng: np.random.Generator) -> Ints:
    """Draw round(share x n) of n numbers, in ascending order."""
    return np.sort(rng.choice(n, size=round(share * n), replace=False, shuffle=False))

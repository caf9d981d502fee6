r"""Simulated assessors: how likely each label is, given the true level and the topic.

A *kind* of assessor is a function from the number of levels to a confusion matrix C (true level, label); each
row of it sums to 1.  Let N move a level to one of its neighbours (to each of two with probability 1/2, at the
ends to the only one), D one level down (the lowest stays), U one level up (the highest stays), and let 1 be
the column of ones:

    careful   K = (1 - slip) I + slip N           mostly right, else next to it
    strict    K ((1 - shift) I + shift D)         a careful look, then often one level less
    lenient   K ((1 - shift) I + shift U)         a careful look, then often one level more
    random    1 b'                                b uniform, or stated, whatever the document
    lazy      (1 - idle) K + idle 1 u'            u is 1 at ``level``: often this label, without a look

Topics differ in how hard they are to judge.  With the effect e of a topic, the ``topic_weight`` c of an
assessor and the prevalence p of the levels,

    C_e = w C + (1 - w) B,    w = exp(-c |e|),    B = 1 p' if e > 0,    B = I if e < 0

On a hard topic labels tell less about the document and follow the base rate; on an easy one they come nearer
to the truth.  e = 0 leaves C as it is, and no topic moves an assessor with c = 0.  Given true level and
topic, labels are independent: between assessors, and when one assessor judges again.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from venire.checks import need_at_least, need_share
from venire.errors import SettingError
from venire.simulation.parsing import parsed, value_of
from venire.types import Floats

Confusion: TypeAlias = Callable[[int], Floats]
_SUM = 1e-6


@dataclass(frozen=True)
class Careful:
    """Gives the true level, or with probability ``slip`` a neighbour of it.

    Examples
    --------
    >>> Careful(slip=0.2)(3)
    array([[0.8, 0.2, 0. ],
           [0.1, 0.8, 0.1],
           [0. , 0.2, 0.8]])
    """

    slip: float = 0.15

    def __post_init__(self) -> None:
        need_share("slip", self.slip)

    def __call__(self, n_levels: int) -> Floats:
        """Confusion (true level, label)."""
        beside = np.eye(n_levels, k=1) + np.eye(n_levels, k=-1)
        beside /= beside.sum(axis=1, keepdims=True)
        return (1 - self.slip) * np.eye(n_levels) + self.slip * beside


@dataclass(frozen=True)
class Strict:
    """Looks as a careful assessor does, then with probability ``shift`` gives one level less."""

    shift: float = 0.35
    slip: float = 0.15

    def __post_init__(self) -> None:
        need_share("shift", self.shift)
        need_share("slip", self.slip)

    def __call__(self, n_levels: int) -> Floats:
        """Confusion (true level, label)."""
        return Careful(self.slip)(n_levels) @ _shifted(n_levels, -1, self.shift)


@dataclass(frozen=True)
class Lenient:
    """Looks as a careful assessor does, then with probability ``shift`` gives one level more."""

    shift: float = 0.25
    slip: float = 0.15

    def __post_init__(self) -> None:
        need_share("shift", self.shift)
        need_share("slip", self.slip)

    def __call__(self, n_levels: int) -> Floats:
        """Confusion (true level, label)."""
        return Careful(self.slip)(n_levels) @ _shifted(n_levels, 1, self.shift)


@dataclass(frozen=True)
class Random:
    """Gives labels with the probabilities ``base``, all alike if None, whatever the document."""

    base: tuple[float, ...] | None = None

    def __call__(self, n_levels: int) -> Floats:
        """Confusion (true level, label)."""
        base = np.full(n_levels, 1 / n_levels) if self.base is None else np.array(self.base, dtype=np.float64)
        return np.tile(base, (n_levels, 1))


@dataclass(frozen=True)
class Lazy:
    """With probability ``idle`` gives the label ``level`` without a look (0: the lowest), else is careful."""

    idle: float = 0.4
    level: int = 0
    slip: float = 0.15

    def __post_init__(self) -> None:
        need_share("idle", self.idle)
        need_share("slip", self.slip)

    def __call__(self, n_levels: int) -> Floats:
        """Confusion (true level, label)."""
        if not 0 <= self.level < n_levels:
            raise SettingError(
                f"a lazy assessor always gives level {self.level}, and the scale has {n_levels} levels",
                hint="levels count from 0, the lowest",
            )
        confusion = (1 - self.idle) * Careful(self.slip)(n_levels)
        confusion[:, self.level] += self.idle
        return confusion


@dataclass(frozen=True)
class Stated:
    """Gives labels by a matrix of one's own: a row per true level, a column per label."""

    rows: tuple[tuple[float, ...], ...]

    def __call__(self, n_levels: int) -> Floats:  # noqa: ARG002 - a kind is called with the number of levels
        """Confusion (true level, label)."""
        return np.array(self.rows, dtype=np.float64)


KINDS: dict[str, Callable[..., Confusion]] = {
    "careful": Careful,
    "strict": Strict,
    "lenient": Lenient,
    "random": Random,
    "lazy": Lazy,
    "stated": Stated,
}


@dataclass(frozen=True)
class Assessor:
    """A name, and how this assessor confuses levels.

    Parameters
    ----------
    name
        Without white space, since it is a column of files.
    kind
        ``Careful()``, ``Strict()``, ``Lenient()``, ``Random()``, ``Lazy()``, ``Stated(rows)``, or any
        function from the number of levels to a confusion matrix (true level, label).
    topic_weight
        How much a topic's effect counts with this assessor; None: 0 for ``Random``, else 1.
    """

    name: str
    kind: Confusion = Careful()
    topic_weight: float | None = None

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith("#") or any(each.isspace() for each in self.name):
            raise SettingError(
                f"{self.name!r} cannot name an assessor",
                hint="use letters and digits: no white space, and no # in front",
            )
        kind: object = self.kind
        if isinstance(kind, type) or not callable(kind):
            raise SettingError(
                f"assessor {self.name!r} is of kind {self.kind!r}",
                hint='pass a value such as Strict(shift=0.4), or read "strict" with parse_assessors',
            )
        if self.topic_weight is not None:
            need_at_least(0, f"the topic_weight of {self.name!r}", self.topic_weight)

    @property
    def weight(self) -> float:
        """The topic weight c that holds."""
        if self.topic_weight is None:
            return 0.0 if isinstance(self.kind, Random) else 1.0
        return self.topic_weight

    @property
    def kind_name(self) -> str:
        """The kind in one word."""
        function_name = getattr(self.kind, "__name__", None)
        return str(function_name or type(self.kind).__name__.lower())

    def confusion(self, n_levels: int) -> Floats:
        """Confusion (true level, label), checked to be one."""
        confusion = np.asarray(self.kind(n_levels), dtype=np.float64)
        if confusion.shape != (n_levels, n_levels):
            raise SettingError(
                f"the confusion matrix of {self.name!r} has shape {confusion.shape}, "
                f"expected {n_levels} true levels x {n_levels} labels"
            )
        total = confusion.sum(axis=1)
        wrong = np.flatnonzero(~((confusion >= 0).all(axis=1) & (np.abs(total - 1) <= _SUM)))
        if len(wrong):
            raise SettingError(
                f"row {wrong[0]} of the confusion matrix of {self.name!r} is {confusion[wrong[0]]}",
                hint="each row holds the probabilities of the labels, and sums to 1",
            )
        return confusion


def parse_assessors(text: str) -> tuple[Assessor, ...]:
    """Read kinds of assessors, separated by commas, any of them several times; names are kinds, numbered.

    Examples
    --------
    >>> [each.name for each in parse_assessors("2*careful, strict(shift=0.5), lazy")]
    ['careful1', 'careful2', 'strict1', 'lazy1']
    """
    node = parsed(f"[{text}]")
    seen: Counter[str] = Counter()
    assessors = []
    for each in node.elts if isinstance(node, ast.List) else [node]:
        times, kind = _times(each)
        for _ in range(times):
            assessor = Assessor("unnamed", value_of(kind, "kind of assessor", KINDS))
            seen[assessor.kind_name] += 1
            assessors.append(Assessor(f"{assessor.kind_name}{seen[assessor.kind_name]}", assessor.kind))
    return tuple(assessors)


def under_effect(confusion: Floats, strength: Floats, prevalence: Floats) -> Floats:
    """Confusions on topics of given effect times weight.

    confusion (..., true, label), strength (..., topic), prevalence (label,) -> (..., topic, true, label)
    """
    kept: Floats = np.exp(-np.abs(strength))[..., None, None]
    hard = (strength > 0)[..., None, None]
    toward = np.where(hard, prevalence, np.eye(len(prevalence)))
    return kept * confusion[..., None, :, :] + (1 - kept) * toward


def _shifted(n_levels: int, step: int, share: float) -> Floats:
    """Move every level by one step with probability share, within the scale -> (level, level)."""
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

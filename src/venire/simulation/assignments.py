"""Judging patterns: who judges what.

A pattern is a function from the topic of every item (item,), the number of assessors and a generator to pairs
of item and assessor, both (row,).  A pair may occur twice: the assessor then judges the item again.  Items
without a pair remain unjudged.  Any function of this form is accepted; the classes here are the usual designs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from venire.checks import need_at_least, need_share
from venire.errors import SettingError
from venire.results import counted
from venire.simulation.assessors import parse_expression, value_of
from venire.types import Codes, Ints

Pairs: TypeAlias = tuple[Ints, Ints]
Pattern: TypeAlias = Callable[[Codes, int, np.random.Generator], Pairs]


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

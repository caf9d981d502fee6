"""Paired scores: two systems' scores by one measure on the same topics, for the pairs of systems to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venire.errors import MeasureError, SettingError, UnknownName
from venire.kernels.paired_tests import Differences, all_pairs, differences_of
from venire.measures.scores import Scores
from venire.results import counted
from venire.types import Floats, Ints

Pairs = str | Sequence[tuple[str, str]] | None


@dataclass(frozen=True, eq=False)
class PairedScores:
    """values (system, topic), NaN where missing; a, b (pair,) number the systems; differences are a less b."""

    values: Floats
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    a: Ints
    b: Ints
    differences: Differences

    def names(self, pair: int) -> tuple[str, str]:
        """Names of the two systems of a pair."""
        return self.systems[self.a[pair]], self.systems[self.b[pair]]


def paired_scores(scores: Scores, measure: str | None = None, *, pairs: Pairs = None) -> PairedScores:
    """Pair systems' scores by topic.

    Parameters
    ----------
    measure : may be left out where there is but one
    pairs : None: every two systems, in their order; a name: every other system against this baseline, which is b;
        or pairs of names [(a, b), ...]
    """
    one = _of_one_measure(scores, measure)
    systems = one.names["system"]
    a, b = _numbered(systems, pairs)
    values = np.moveaxis(one.values, one.axes.index("system"), 0).astype(np.float64, copy=False)
    name = measure or (scores.names["measure"][0] if "measure" in scores.axes else "score")
    return PairedScores(values, systems, one.names["topic"], name, a, b, differences_of(values, a, b))


def _of_one_measure(scores: Scores, measure: str | None) -> Scores:
    """Select the measure; what is left must be systems by topics."""
    if "measure" in scores.axes:
        known = scores.names["measure"]
        if measure is None and len(known) != 1:
            raise MeasureError(
                f"there are {len(known)} measures, and systems are compared by one",
                hint=f"name one: {', '.join(map(repr, known))}",
            )
        scores = scores.select(measure=measure or known[0])
    if sorted(scores.axes) != ["system", "topic"]:
        raise SettingError(
            f"scores are by {', '.join(scores.axes) or 'nothing'}, expected by system and topic",
            hint='fix the others as in scores.select(assessor="A"), or take scores.mean("assessor"); keep topics apart',
        )
    return scores


def _numbered(systems: tuple[str, ...], pairs: Pairs) -> tuple[Ints, Ints]:
    """Number the systems of every pair."""
    if len(systems) < 2:
        named = f" ({', '.join(systems)})" if systems else ""
        raise SettingError(
            f"found {counted(len(systems), 'system')}{named}, expected two or more to compare",
            hint="add the run of another system on the same topics",
        )
    if pairs is None:
        return all_pairs(len(systems))
    if isinstance(pairs, str):
        pairs = [(each, pairs) for each in systems if each != _known(pairs, systems)]
    places = {name: number for number, name in enumerate(systems)}
    found = np.array([[places[_known(a, systems)], places[_known(b, systems)]] for a, b in pairs], dtype=np.int64)
    found = found.reshape(-1, 2)
    if not len(found) or (found[:, 0] == found[:, 1]).any():
        raise SettingError(f"the pairs are {list(pairs)!r}", hint="name pairs of two different systems")
    return found[:, 0], found[:, 1]


def _known(name: str, systems: tuple[str, ...]) -> str:
    if name not in systems:
        raise UnknownName("system", name, systems)
    return name

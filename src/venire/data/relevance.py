"""Relevance: the labels that count as relevant, as a name and a mark per label.

On an ordered scale one label stands for itself and all above it (the threshold of Demeester et al. 2015, Section
3.1.5); on categories it stands for itself alone.  Any set of labels is written ``"Key|HRel"``, or given as a list; a
list of one is that label alone.  A label that is called ``all``, or has a ``|`` in it, is taken as a label first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from venire.data.scale import Scale
from venire.errors import ScaleError
from venire.types import Bools

Relevant = str | Sequence[str] | None


class RelevantSets(NamedTuple):
    """Definitions of relevance: their names, and the labels of each, marked (relevant, label)."""

    names: tuple[str, ...]
    labels: Bools


def relevant_sets(scale: Scale, relevant: Relevant = None) -> RelevantSets:
    """Parse a definition of relevance: a label, a set of them, ``"all"`` thresholds, or None for the top label.

    Examples
    --------
    >>> names, labels = relevant_sets(Scale.parse("Non<Rel<Key"), "all")
    >>> names, labels.tolist()
    (('Key', 'Rel'), [[False, False, True], [False, True, True]])
    """
    if len(scale) < 2:
        raise ScaleError(f"the scale {scale} has only one label, so there is no disagreement")
    if relevant == "all" and "all" not in scale.labels:
        names = tuple(reversed(scale.labels[1:])) if scale.ordered else scale.labels
        return RelevantSets(names, np.array([_marked(scale, name) for name in names]))
    if relevant is None:
        if not scale.ordered:
            message = f"the labels {scale} have no order, so none is the top one"
            raise ScaleError(message, hint=f"name the relevant labels, such as {'|'.join(scale.labels[-2:])}, or all")
        relevant = scale.labels[-1]
    name = relevant if isinstance(relevant, str) else "|".join(map(str, relevant))
    marked = _marked(scale, relevant)
    if marked.all() or not marked.any():
        message = f"{name!r} makes {'every label' if marked.all() else 'no label'} of {scale} relevant"
        raise ScaleError(message, hint=f"choose some of them, such as {scale.labels[-1]}")
    return RelevantSets((name,), marked[None])


def _marked(scale: Scale, relevant: str | Sequence[str]) -> Bools:
    """Mark the labels that are relevant -> (label,)."""
    if isinstance(relevant, str) and (relevant in scale.labels or "|" not in relevant):
        if scale.ordered:
            return scale.at_least(relevant)
        relevant = [relevant]
    names = relevant.split("|") if isinstance(relevant, str) else relevant
    marked = np.zeros(len(scale), dtype=np.bool_)
    marked[[scale.level_of(str(name).strip()) for name in names]] = True
    return marked

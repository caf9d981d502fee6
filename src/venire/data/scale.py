"""Scale: the labels an assessor can give, in order, and what may be computed with them.

As text, ordered labels are joined by ``<`` and unordered ones by ``|``; the level of measurement may follow
after a colon: ``"Non<Rel<HRel<Key"``, ``"0<1<2<3 : interval"``, ``"news|wiki|other"``.  Levels of measurement are
Stevens's (1946, doi:10.1126/science.103.2684.677).

Relevance is a set of labels.  On an ordered scale one label stands for itself and all above it (the threshold of
Demeester et al. 2015, Section 3.1.5); on categories it stands for itself alone.  Any set of labels is written
``"Key|HRel"``, or given as a list; a list of one is that label alone.  A label that is called ``all``, or has a ``|``
in it, is taken as a label first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from venire.errors import ScaleError, known_names
from venire.results import first_few, read_number
from venire.types import Bools, Codes, Floats

Relevant = str | Sequence[str] | None
LEVELS = ("nominal", "ordinal", "interval", "ratio")
LARGEST_INFERRED = 1000
"""The largest number of labels in a scale that is not declared."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\d+", re.ASCII)
_INTEGER, _FRACTION_0 = re.compile(r"[+-]?\d+", re.ASCII), re.compile(r"[+-]?\d+\.0*", re.ASCII)
_NEGATIVE = re.compile(r"-\d+(\.\d+)?", re.ASCII)
NOT_APPLICABLE = "N/A"
"""The label for what cannot be judged; not a judgment, unless a scale has it."""

MOST_DIGITS = 300
"""A whole number with more digits is no finite number."""


def is_number(text: str) -> bool:
    """Return whether a text is a finite number, in digits without ``_``."""
    return _NUMBER.fullmatch(text) is not None and bool(np.isfinite(float(text)))


def is_digits(label: str) -> bool:
    """Return whether a label is a whole number without fraction, of any number of digits."""
    return _INTEGER.fullmatch(label) is not None


def is_integer(label: str) -> bool:
    """Return whether a label is a whole number without fraction, in digits that Python reads as a number."""
    return len(label) <= MOST_DIGITS and is_digits(label)


def is_negative(label: str) -> bool:
    """Return whether a label is a number below zero, in digits."""
    return _NEGATIVE.fullmatch(label) is not None


def whole(label: str) -> str:
    """Return a whole number without its fraction, as 3 for 3.0; any other label as it is."""
    return label.partition(".")[0] if _FRACTION_0.fullmatch(label) else label


@dataclass(frozen=True)
class Scale:
    """Labels from lowest to highest; a label's *level* is its position, 0 for the lowest.

    aspects: where aspects have scales of their own, the name and scale of each; this one then holds all their labels.
    inferred: the scale was not declared; it holds the labels that occur.

    Examples
    --------
    >>> scale = Scale.parse("Non<Rel<HRel<Key")
    >>> scale.level_of("HRel"), str(scale), scale.ordered
    (2, 'Non<Rel<HRel<Key', True)
    >>> Scale.of_integers([0, 3, 1]).labels
    ('0', '1', '3')
    """

    labels: tuple[str, ...]
    measurement: str = "ordinal"
    aspects: tuple[tuple[str, Scale], ...] = field(default=(), compare=False, repr=False)
    inferred: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.measurement not in LEVELS:
            message = f"{self.measurement!r} is not a level of measurement"
            raise ScaleError(message, hint=known_names(self.measurement, LEVELS))
        if not self.labels or not all(self.labels):
            raise ScaleError("a scale needs labels, none of them empty", hint='write it as "Non<Rel<HRel"')
        if len(set(self.labels)) < len(self.labels):
            label = next(label for label, times in Counter(self.labels).items() if times > 1)
            raise ScaleError(f"label {label!r} occurs twice in the scale {self}", hint="name each label once")

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read a scale written as ``"Non<Rel<HRel"`` (ordered) or ``"a|b|c"`` (categories)."""
        body, colon, measurement = text.rpartition(":")
        if not colon or measurement.strip() not in LEVELS:
            body, measurement = text, "nominal" if "|" in text and "<" not in text else "ordinal"
        separator = "|" if "|" in body and "<" not in body else "<"
        return cls(tuple(label.strip() for label in body.split(separator)), measurement.strip())

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> Scale:
        """Make a scale from a TOML table: ``labels = ["Non", "Rel"]`` or ``scale = "Non<Rel"``; ``measurement``."""
        labels, text = table.get("labels"), table.get("scale")
        if isinstance(text, str):
            return cls.parse(text)
        if isinstance(labels, list):
            for label in labels:
                if not isinstance(label, str) and not is_number(str(label)):
                    raise ScaleError(f"{label!r} is not a label", hint="labels are texts or finite numbers")
            return cls(tuple(str(label) for label in labels), str(table.get("measurement", "ordinal")))
        hint = 'write scale = "Non<Rel<HRel", or labels = ["Non", "Rel", "HRel"] and measurement = "ordinal"'
        raise ScaleError("no scale found", hint=hint)

    @classmethod
    def infer(cls, labels: Iterable[str], *, lowest: bool = False) -> Scale:
        """Infer the scale from the labels that occur: in numeric order, without those below zero.

        lowest: labels below zero count as 0.
        """
        known = list(labels)
        positive = list(dict.fromkeys(whole(label) for label in known if not is_negative(label)))
        if lowest and len(positive) < len(known):
            positive.append("0")
        if all(map(is_integer, positive)):
            return cls.of_integers([int(label) for label in positive])
        other = [label for label in positive if not is_number(label)]
        if other:
            raise ScaleError(
                f"label {other[0]!r} is not a number, so the order of the labels is not known",
                hint="declare the scale: the labels from the lowest to the highest, joined by '<', or by '|' if they "
                f"have no order; the labels, in no order, are {first_few(positive, 12)}",
            )
        return cls.of_numbers(dict.fromkeys(positive))

    @classmethod
    def of_integers(cls, values: Iterable[int]) -> Scale:
        """Infer the scale of these labels, in numeric order.

        A label that occurs alone does so because the others were left out: 0 is added below it, or 1 above 0.
        """
        distinct = sorted(set(values))
        if len(distinct) < 2:
            distinct = [0, *distinct] if any(distinct) else [0, 1]
        return cls._inferred([str(value) for value in distinct], "ordinal")

    @classmethod
    def of_numbers(cls, labels: Iterable[str]) -> Scale:
        """Infer the scale of labels that are numbers, in numeric order."""
        return cls._inferred(sorted(labels, key=float), "interval")

    @classmethod
    def _inferred(cls, labels: list[str], measurement: str) -> Scale:
        if len(labels) > LARGEST_INFERRED:
            raise ScaleError(
                f"there are {len(labels):,} different labels; a scale is inferred from at most {LARGEST_INFERRED:,}",
                hint="if these are scores, not labels, round them; or declare the scale",
            )
        return cls(tuple(labels), measurement, inferred=True)

    @property
    def ordered(self) -> bool:
        """Whether labels have an order."""
        return self.measurement != "nominal"

    def level_of(self, label: object) -> int:
        """Return the position of a label; raise if it is not on the scale."""
        text = str(label)
        if text not in self.labels:
            raise ScaleError(f"{text!r} is not a label of the scale {self}", hint=known_names(text, self.labels))
        return self.labels.index(text)

    def levels_from(self, other: Scale) -> Codes:
        """Return the position of each label of another scale, -1 if it is not on this one -> (label of the other,)."""
        place = {label: level for level, label in enumerate(self.labels)}
        return np.array([place.get(label, -1) for label in other.labels], dtype=np.int32)

    def joined(self, other: Scale) -> Scale:
        """Return the scale with the labels of both, in numeric order; this one unless both were inferred."""
        if not (self.inferred and other.inferred) or set(other.labels) <= set(self.labels):
            return self
        both = {*self.labels, *other.labels}
        return Scale.of_integers(map(int, both)) if all(map(_WHOLE.fullmatch, both)) else Scale.of_numbers(both)

    def steps(self) -> Floats:
        """Return the linear gain of each label -> (label,).

        That is its number, as in trec_eval, if the scale was inferred from whole numbers, else its level.
        """
        if self.inferred and all(map(_WHOLE.fullmatch, self.labels)):
            return np.array([float(label) for label in self.labels])
        return np.arange(len(self.labels), dtype=np.float64)

    def at_least(self, label: object) -> Bools:
        """Mark the labels from this one upwards -> (label,).

        If the scale was inferred it may be any number, since a label that exists need not occur.
        """
        text = str(label)
        if self.inferred and text not in self.labels and is_number(text):
            reached: Bools = self.numbers() >= float(text)
            if reached.any():
                return reached
        level = self.level_of(label)
        if not self.ordered:
            message = f"the labels {self} have no order, so none is 'at least {label}'"
            raise ScaleError(message, hint="give gains for the labels, such as news=1,wiki=0.5,other=0")
        return np.arange(len(self.labels)) >= level

    def numbers(self) -> Floats:
        """Return the labels read as numbers -> (label,)."""
        try:
            return np.array([read_number(label) for label in self.labels])
        except ValueError:
            raise ScaleError(
                f"the labels {self} are not all numbers", hint="use linear gains, or a mapping label=gain"
            ) from None

    def __str__(self) -> str:
        text = ("<" if self.ordered else "|").join(self.labels)
        usual = "ordinal" if self.ordered else "nominal"
        return text if self.measurement == usual else f"{text} : {self.measurement}"

    def __len__(self) -> int:
        return len(self.labels)


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


def or_higher(scale: Scale, name: str) -> str:
    """Return the name of a notion of relevance, such as "2 or higher"."""
    return f"{name} or higher" if scale.ordered and name in scale.labels[:-1] else name


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

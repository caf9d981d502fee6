"""Scale: the labels an assessor can give, in order, and what may be computed with them.

As text, ordered labels are joined by ``<`` and unordered ones by ``|``; the level of measurement may follow
after a colon: ``"Non<Rel<HRel<Key"``, ``"0<1<2<3 : interval"``, ``"news|wiki|other"``.  Levels of measurement are
Stevens's (1946, doi:10.1126/science.103.2684.677).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from venire.errors import ScaleError, known_names
from venire.types import Bools, Codes, Floats

LEVELS = ("nominal", "ordinal", "interval", "ratio")
LARGEST_INFERRED = 1000


@dataclass(frozen=True)
class Scale:
    """Labels from lowest to highest; a label's *level* is its position, 0 for the lowest.

    aspects: where aspects have scales of their own, the name and scale of each; this one then holds all their labels.

    Examples
    --------
    >>> scale = Scale.parse("Non<Rel<HRel<Key")
    >>> scale.level_of("HRel"), str(scale), scale.ordered
    (2, 'Non<Rel<HRel<Key', True)
    >>> Scale.of_integers([0, 3, 1]).labels
    ('0', '1', '2', '3')
    """

    labels: tuple[str, ...]
    measurement: str = "ordinal"
    aspects: tuple[tuple[str, Scale], ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.measurement not in LEVELS:
            raise ScaleError(
                f"{self.measurement!r} is not a level of measurement",
                hint=known_names(self.measurement, LEVELS),
            )
        if not self.labels or not all(self.labels):
            raise ScaleError("a scale needs labels, none of them empty", hint='write it as "Non<Rel<HRel"')
        for label in self.labels:
            if self.labels.count(label) > 1:
                raise ScaleError(f"label {label!r} stands twice in the scale {self}", hint="name each label once")

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read a scale written as ``"Non<Rel<HRel"`` (ordered) or ``"a|b|c"`` (categories)."""
        body, colon, measurement = text.rpartition(":")
        if not colon or measurement.strip() not in LEVELS:
            body, measurement = text, "nominal" if "|" in text and "<" not in text else "ordinal"
        separator = "|" if "|" in body and "<" not in body else "<"
        return cls(tuple(label.strip() for label in body.split(separator)), measurement.strip())

    @classmethod
    def from_table(cls, table: Mapping[str, object], *, where: object = "scale") -> Scale:
        """Make a scale from a TOML table: ``labels = ["Non", "Rel"]`` or ``scale = "Non<Rel"``; ``measurement``."""
        labels, text = table.get("labels"), table.get("scale")
        if isinstance(text, str):
            return cls.parse(text)
        if isinstance(labels, list):
            return cls(tuple(str(label) for label in labels), str(table.get("measurement", "ordinal")))
        raise ScaleError(
            f"{where}: no scale found",
            hint='write scale = "Non<Rel<HRel", or labels = ["Non", "Rel", "HRel"] and measurement = "ordinal"',
        )

    @classmethod
    def of_integers(cls, values: Iterable[int]) -> Scale:
        """Infer the whole range 0..max, so that a label's level is its number and linear gains are trec_eval's."""
        largest = max(values, default=0)
        if largest > LARGEST_INFERRED:
            raise ScaleError(
                f"labels go up to {largest}; a scale is inferred only up to {LARGEST_INFERRED}",
                hint='declare the labels that occur, as in --scale "0<10<5000"',
            )
        return cls(tuple(str(level) for level in range(max(largest, 1) + 1)))

    @property
    def ordered(self) -> bool:
        """Whether one label can be higher than another."""
        return self.measurement != "nominal"

    def level_of(self, label: object) -> int:
        """Return a label's position, or say which labels there are."""
        text = str(label)
        if text not in self.labels:
            raise ScaleError(f"{text!r} is not a label of the scale {self}", hint=known_names(text, self.labels))
        return self.labels.index(text)

    def levels_from(self, other: Scale) -> Codes:
        """Position here of each label of another scale, -1 for one that is not here -> (label of the other,)."""
        place = {label: level for level, label in enumerate(self.labels)}
        return np.array([place.get(label, -1) for label in other.labels], dtype=np.int32)

    def at_least(self, label: object) -> Bools:
        """Mark the labels from this one upwards -> (label,)."""
        level = self.level_of(label)
        if not self.ordered:
            raise ScaleError(
                f"the labels {self} have no order, so none is 'at least {label}'",
                hint="give gains for the labels, as in --gains news=1,wiki=0.5,other=0",
            )
        return np.arange(len(self.labels)) >= level

    def numbers(self) -> Floats:
        """Return the labels read as numbers -> (label,)."""
        try:
            return np.array([float(label) for label in self.labels])
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

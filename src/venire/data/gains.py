"""Gains: the value of each label to a user.

``linear`` is the level of the label, 0 for the lowest; or its number, as in trec_eval, where labels are whole numbers
and no scale is declared.  ``exponential`` is 2**linear - 1 (Burges et al. 2005, doi:10.1145/1102351.1102363),
``binary`` 1 from one label upwards, ``raw`` the number in the file.  Other gains are a mapping, or come from a model.
Gains may be fractions; within [0, 1], measures that can use it take them as probabilities of relevance (``unit``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from venire.data.scale import Scale, is_number
from venire.errors import GainsError, ScaleError, known_names
from venire.results import Records, Tabular, counted, read_number
from venire.types import Floats

LARGEST_POWER = 1000
MODELS = ("prm", "udm")
"""Models that gains can be named after, as in prm:2 or udm:1/3; ``disagreement.gains`` fits them."""


def names_model(text: str) -> bool:
    """Return whether gains are named after a model that has to be fitted."""
    return text.partition(":")[0] in MODELS


@dataclass(frozen=True, eq=False)
class Gains(Tabular):
    """One gain per label of a scale, values (label,); ``stated``: chosen for these labels, not by formula.

    Examples
    --------
    >>> exponential(Scale.parse("Non<Rel<HRel"))
    Gains(exponential: Non 0, Rel 1, HRel 3)
    """

    scale: Scale
    values: Floats
    name: str
    stated: bool = True

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.scale),):
            raise GainsError(
                f"{counted(len(self.values), 'gain')} for the {counted(len(self.scale), 'label')} of {self.scale}"
            )
        if not np.isfinite(self.values).all() or (self.values < 0).any():
            wrong = self.scale.labels[int(np.argmax(~(np.isfinite(self.values) & (self.values >= 0))))]
            message = f"label {wrong!r} has the gain {self.values[self.scale.level_of(wrong)]:g}, expected 0 or more"
            raise GainsError(message, hint="shift or clip the gains so that the lowest is 0")

    @property
    def unit(self) -> bool:
        """Whether the gains are probabilities of relevance: stated, and all within [0, 1]."""
        return self.stated and bool((self.values <= 1).all())

    def sentence(self) -> str:
        """Return the gain of each label in one sentence."""
        worth = zip(self.scale.labels, self.values, strict=True)
        return f"Gains {self.name}: {', '.join(f'{value:.4g} for {label}' for label, value in worth)}."

    def records(self) -> Records:
        """Return one row per label, from the lowest."""
        rows = zip(self.scale.labels, self.values.tolist(), strict=True)
        return [{"label": label, "gain": gain} for label, gain in rows]

    def _pairs(self) -> str:
        return ", ".join(f"{label} {value:g}" for label, value in zip(self.scale.labels, self.values, strict=True))

    def __repr__(self) -> str:
        return f"Gains({self.name}: {self._pairs()})"


GainsLike = Gains | Mapping[str, float] | Callable[[Scale], Gains] | str


def linear(scale: Scale) -> Gains:
    """Return the level of each label, 0, 1, 2, ...; its number where the scale was inferred from whole numbers."""
    _need_order(scale, "linear")
    return Gains(scale, scale.steps(), "linear", stated=False)


def exponential(scale: Scale) -> Gains:
    """Return 2**linear - 1."""
    _need_order(scale, "exponential")
    steps = scale.steps()
    if steps.max() > LARGEST_POWER:
        message = f"the label {steps.max():.0f} is too large for exponential gains, 2 to this power"
        raise GainsError(message, hint="use linear gains, or state them: label=gain")
    return Gains(scale, np.exp2(steps) - 1, "exponential", stated=False)


def raw(scale: Scale) -> Gains:
    """Return the numbers in the file."""
    return Gains(scale, scale.numbers(), "raw", stated=not (scale.numbers() % 1 == 0).all())


def binary(label: object) -> Callable[[Scale], Gains]:
    """Return gains of 1 from this label upwards, else 0."""
    return lambda scale: Gains(scale, scale.at_least(label).astype(np.float64), f"binary:{label}")


def mapping(worth: Mapping[str, float], name: str = "stated") -> Callable[[Scale], Gains]:
    """Return gains from a mapping; every label of the scale needs one."""

    def gains(scale: Scale) -> Gains:
        worth_of = {str(label): float(value) for label, value in worth.items()}
        for label in worth_of:
            if label not in scale.labels and not (scale.inferred and is_number(label)):
                message = f"gains name a label {label!r} that the scale {scale} does not have"
                raise GainsError(message, hint=known_names(label, scale.labels))
        missing = [label for label in scale.labels if label not in worth_of]
        if missing:
            raise GainsError(f"no gain for label {missing[0]!r}", hint=f"add {missing[0]}=0, or another number")
        return Gains(scale, np.array([worth_of[label] for label in scale.labels]), name)

    return gains


FORMULAS: dict[str, Callable[[Scale], Gains]] = {"linear": linear, "exponential": exponential, "raw": raw}


def gains_for(gains: GainsLike, scale: Scale) -> Gains:
    """Return gains for a scale from a Gains, a function of the scale, a mapping label -> number, or a name."""
    if isinstance(gains, str):
        gains = parse_gains(gains)
    if isinstance(gains, Mapping):
        gains = mapping(gains)
    found = gains if isinstance(gains, Gains) else gains(scale)
    inferred = scale.inferred or found.scale.inferred
    if inferred and set(scale.labels) < set(found.scale.labels):
        return replace(found, scale=scale, values=found.values[found.scale.levels_from(scale)])
    if found.scale.labels != scale.labels:
        raise GainsError(f"these gains are for the scale {found.scale}, the labels are on {scale}")
    return replace(found, scale=scale)


def parse_gains(text: str) -> Callable[[Scale], Gains]:
    """Parse ``linear``, ``exponential``, ``raw``, ``binary:LABEL`` or ``LABEL=GAIN,LABEL=GAIN,...``."""
    if text in FORMULAS:
        return FORMULAS[text]
    if text.startswith("binary:"):
        return binary(text.removeprefix("binary:"))
    if "=" in text:
        return mapping(_pairs(text))
    message = f"{text!r} are not gains: neither a formula, nor a file, nor pairs label=gain"
    hint = "use linear, exponential, raw, binary:LABEL, pairs such as Non=0,Rel=0.4,Key=1, or a file of two columns"
    raise GainsError(message, hint=hint)


def _pairs(text: str) -> dict[str, float]:
    worth: dict[str, float] = {}
    for pair in text.split(","):
        label, _, value = pair.rpartition("=")
        try:
            worth[label.strip()] = read_number(value)
        except ValueError:
            raise GainsError(f"{pair!r}: {value!r} is not a number", hint="write label=gain, as in Rel=0.4") from None
    return worth


def _need_order(scale: Scale, name: str) -> None:
    if not scale.ordered:
        pairs = ",".join(f"{label}={int(not n)}" for n, label in enumerate(scale.labels))
        hint = f"state the gain of every label, for example {pairs}"
        raise ScaleError(f"{name} gains need ordered labels, and {scale} has no order", hint=hint)

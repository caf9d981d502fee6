"""The question of a report: its input and settings, and what it takes to reproduce it.

What cannot be computed is not an error in a report but a ``Missing`` with its reason.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TypeVar

from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.disagreement.dawid_skene import DAWID_SKENE
from venire.errors import SettingError, UnknownName, VenireError, Way
from venire.io.fingerprints import Input
from venire.io.texts import Texts
from venire.measures.scoring import Scoring

Found = TypeVar("Found")
POOLS = ("majority", "median", DAWID_SKENE)
"""Rules by which the labels of a crowd become one label for each item."""
LIBRARIES = ("numpy", "scipy", "polars", "matplotlib")


@dataclass(frozen=True)
class Missing:
    """Something that cannot be computed from the input, and why."""

    reason: str
    hint: str | None = None

    def sentence(self, what: str) -> str:
        """Say what is not known, and why."""
        way_out = f" ({self.hint})" if self.hint else ""
        return f"{what} cannot be computed: {self.reason}{way_out}."


def or_missing(compute: Callable[[], Found]) -> Found | Missing:
    """Compute, or return the reason why that is not possible."""
    try:
        return compute()
    except VenireError as error:
        return Missing(error.message, error.hint)


@dataclass(frozen=True, eq=False)
class Question:
    """Input and settings of a report, as of ``report_on``; ``command`` reproduces it; inputs: the files it read."""

    judgments: Judgments
    runs: Runs
    measure: str = "nDCG@10"
    assessor: str | None = None
    pool: str | None = None
    relevant: str | None = None
    reference: tuple[str, ...] = ()
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    preferences: Preferences | None = None
    clicks: Clicks | None = None
    aspects: Aspects | None = None
    before: Judgments | None = None
    n_draws: int = 1000
    rng: int = 0
    command: str = ""
    inputs: tuple[Input, ...] = ()
    texts: Texts | None = None

    def validate(self) -> None:
        """Raise an error for settings with which no chapter can be computed."""
        scale, assessors = self.judgments.scale, self.judgments.assessors
        if self.n_draws < 2:
            raise SettingError(f"n_draws is {self.n_draws}, expected 2 or more", hint="1000 is usual")
        if not scale.ordered:
            hint = "declare the scale: the labels from the lowest to the highest, joined by '<'"
            raise SettingError(f"the labels {scale} have no order, so they cannot score systems", hint=hint)
        if len(scale) == 1:
            message = f"the scale has one label, {scale}, so no result can be better than another"
            raise SettingError(message, hint=f"declare a scale with all labels, lowest first, such as no<{scale}")
        if self.pool is not None and self.pool not in POOLS:
            raise UnknownName("way to pool", self.pool, POOLS)
        if self.pool is not None and self.assessor is not None:
            message = f"labels are pooled by {self.pool}, and {self.assessor!r} is named to score the runs"
            raise SettingError(message, hint="choose one of them")
        for name in self.reference:
            if name not in assessors:
                raise UnknownName("assessor", name, assessors)
        if self.families and not (self.reference or self.judgments.reference):
            message = "families of systems are tested for favour compared with a reference, and none is declared"
            raise SettingError(message, hint=[Way("name the people whose labels count", reference="NAME")])
        if self.relevant is not None and self.relevant not in scale.labels:
            raise UnknownName("label", self.relevant, scale.labels)
        if self.relevant == scale.labels[0]:
            message = f"relevant from {self.relevant} upwards is every label of {scale}"
            raise SettingError(message, hint=f"choose a label above the lowest, such as {scale.labels[-1]}")
        if self.runs.sources:
            Scoring().plan([self.measure], scale, in_context=True).require_fit(self.judgments.items)

    @property
    def by_intent(self) -> bool:
        """Whether labels are for intents: then what is judged, an item, is a document for an intent."""
        return self.judgments.items.intents is not None

    def made_with(self) -> dict[str, object]:
        """Return versions, seed, command and fingerprints of the files: what it takes to reproduce the report."""
        inputs = [each._asdict() for each in self.inputs]
        return {**versions(), "rng": self.rng, "draws": self.n_draws, "command": self.command, "inputs": inputs}


def versions() -> dict[str, object]:
    """Return the versions of Venire, Python and the libraries that numbers may depend on."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {"version": version("venire"), "python": platform.python_version(), **libraries}

"""The question of a report: what was given and asked, and what it takes to make the report again.

What cannot be computed is not an error in a report but a ``Missing`` with its reason.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeVar

from venire.data.aspects import Aspects
from venire.data.clicks import Clicks
from venire.data.judgments import Judgments
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.errors import SettingError, UnknownName, VenireError
from venire.measures.names import parse_measure

Found = TypeVar("Found")
LIBRARIES = ("numpy", "scipy", "polars", "matplotlib")


@dataclass(frozen=True)
class Missing:
    """Something that cannot be known from what was given, and why."""

    reason: str
    hint: str | None = None

    def sentence(self, what: str) -> str:
        """Say what cannot be concluded, and why."""
        way_out = f" ({self.hint})" if self.hint else ""
        return f"{what} cannot be told: {self.reason}{way_out}."


def or_missing(compute: Callable[[], Found]) -> Found | Missing:
    """Compute, or say why it cannot be."""
    try:
        return compute()
    except VenireError as error:
        return Missing(error.message.rstrip("."), error.hint)


@dataclass(frozen=True, eq=False)
class Question:
    """What a report is about.

    assessor    whose labels score the runs (None: who judged nearly all, or else most of each topic; the report says)
    relevant    the label from which on a user is satisfied (None: the top label of those that score the runs)
    reference   assessors who stand for users (none: all do)
    aspects     grades by aspect, where the judgments were of several; ``judgments`` are then of one
    before      earlier judgments, to show what new ones changed
    n_draws     how often topics, judges and users are drawn
    command     how to make the report again
    """

    judgments: Judgments
    runs: Runs
    measure: str = "nDCG@10"
    assessor: str | None = None
    relevant: str | None = None
    reference: tuple[str, ...] = ()
    preferences: Preferences | None = None
    clicks: Clicks | None = None
    aspects: Aspects | None = None
    before: Judgments | None = None
    n_draws: int = 1000
    rng: int = 0
    command: str = ""

    def validate(self) -> None:
        """Refuse settings that no report can be made of, rather than say chapter by chapter what they spoil."""
        scale, assessors = self.judgments.scale, self.judgments.assessors
        parse_measure(self.measure)
        if self.n_draws < 2:
            raise SettingError(f"{self.n_draws} draws are asked for, expected 2 or more", hint="1000 is usual")
        if not scale.ordered:
            hint = "declare their order: --scale with the labels from the lowest to the highest, joined by '<'"
            raise SettingError(f"the labels {scale} have no order, so they cannot score systems", hint=hint)
        if len(scale) == 1:
            message = f"the scale has one label, {scale}, so no result can be better than another"
            raise SettingError(message, hint=f'declare all labels, lowest first, as in --scale "no<{scale}"')
        for name in self.reference:
            if name not in assessors:
                raise UnknownName("assessor", name, assessors)
        if self.relevant is not None and self.relevant not in scale.labels:
            raise UnknownName("label", self.relevant, scale.labels)
        if self.relevant == scale.labels[0]:
            message = f"with --relevant {self.relevant} every label of {scale} satisfies a user"
            raise SettingError(message, hint=f"choose one above the lowest, as in --relevant {scale.labels[-1]}")

    def made_with(self) -> dict[str, object]:
        """Versions, seed and command: what it takes to make the report again."""
        return {
            "version": version("venire"),
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
            "rng": self.rng,
            "draws": self.n_draws,
            "command": self.command,
        }

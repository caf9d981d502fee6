"""What preferences say by themselves: verdicts, how far people agree on them, and whether a side has it easier.

Agreement is that of ``users.preferences``, for weak directions, where any preference counts, and for strong ones,
where slight preferences are ties (Golbus et al. 2014, doi:10.1145/2566486.2568015, Section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from venire.data.preferences import Preferences
from venire.results import Estimate, Tabular, counted
from venire.types import RNGLike
from venire.users.preferences import PositionBias, PreferenceAgreement, position_bias, preference_agreement
from venire.users.verdicts import STRENGTHS, UserVerdicts, user_verdicts


@dataclass(frozen=True, eq=False)
class PreferenceSummary(Tabular):
    """Verdicts on every pair, agreement (weak or strong), and how often either side is preferred.

    said: what is there, in words.
    """

    verdicts: UserVerdicts
    agreement: tuple[PreferenceAgreement, PreferenceAgreement]
    position: PositionBias
    said: str
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return a JSON object for weak and one for strong preference."""
        return [
            {
                **verdict,
                **_numbers("agreement", found.raw),
                **_numbers("alpha", found.alpha),
                "pairs": found.n_pairs,
                "topics": found.n_topics,
                "reason": found.reason,
            }
            for verdict, found in zip(self.verdicts.records(), self.agreement, strict=True)
        ]

    def assessor_records(self) -> list[dict[str, Any]]:
        """Return a JSON object per two assessors who compared the same pairs, for weak and for strong preference."""
        return [
            {"preference": name, **{key: getattr(each, key) for key in ("a", "b", "n_pairs", "raw", "kappa", "reason")}}
            for name, found in zip(STRENGTHS, self.agreement, strict=True)
            for each in found.by_assessors
        ]

    def position_record(self) -> dict[str, Any]:
        """Return a JSON object: how often the left one is preferred, over all and by assessor."""
        found = self.position
        sides = {"left": found.n_left, "ties": found.n_ties, "right": found.n_right}
        by_assessor = list(found.by_assessor)
        return {**sides, **_numbers("share", found.left), "by_assessor": by_assessor, "reason": found.reason}

    def sentence(self) -> str:
        """Say how often users prefer one of the two."""
        return self.verdicts.sentence()

    def sentences(self) -> list[str]:
        """Say what people prefer, and how far they agree."""
        return [self.said, self.verdicts.sentence(), self.agreement[0].sentence(), self.position.sentence()]


def summarise_preferences(
    preferences: Preferences, *, slight: float | None = None, rng: RNGLike = 0
) -> PreferenceSummary:
    """Settle verdicts and measure agreement; slight as for ``user_verdicts``."""
    verdicts = user_verdicts(preferences, slight=slight)
    strong = np.where(np.abs(preferences.strength) <= verdicts.slight, 0.0, preferences.strength)
    generator = np.random.default_rng(rng)
    weak, hard = (
        preference_agreement(each, rng=generator) for each in (preferences, replace(preferences, strength=strong))
    )
    return PreferenceSummary(
        verdicts=verdicts,
        agreement=(weak, hard),
        position=position_bias(preferences),
        said=f"{preferences.sentence()}.",
        notes=(*_repeats(preferences), *map(str, preferences.notes)),
    )


def _repeats(preferences: Preferences) -> tuple[str, ...]:
    """Say where one assessor chose several times on a pair."""
    cell = preferences.pairs()[0] * max(len(preferences.assessors), 1) + preferences.assessor.codes
    again = len(cell) - len(np.unique(cell))
    if not again:
        return ()
    unknown = "; if it stands for several people, take every choice as another person's (anonymous)"
    word = f"{counted(again, 'choice')} by an assessor who had chosen on that pair before: the middle of theirs counts"
    return (word + unknown * (len(preferences.assessors) == 1),)


def _numbers(name: str, found: Estimate | None) -> dict[str, float | None]:
    values = (None, None, None) if found is None else (found.value, found.low, found.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))

"""Which measure and which gains agree best with our users?

Every measure with every gains is held against users' preference between result lists (``users.agreement``)
and ranked by Cohen's kappa, under each condition of Golbus et al. (2014), doi:10.1145/2566486.2568015, Section 5.2.2.

When not to use this: to report the kappa of the winner as what it will have on other topics.  It is the best of
several on these, and so too high; p_adjusted says how far it stands out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.data.context import Context
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.panel import Pool
from venire.data.preferences import Preferences
from venire.io.runs import RunsLike, scan
from venire.measures.evaluate import as_list, evaluate
from venire.measures.scoring import MeasureLike
from venire.results import Tabular, counted, known
from venire.types import Floats, RNGLike
from venire.users.agreement import N_DRAWS, VIEWS, UserAgreement, agreement_with_users
from venire.users.verdicts import UserVerdicts, quiet_scores, score_differences, user_verdicts

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """Differences of scores (measure, case), left less right, of measures with gains, and the users' verdicts."""

    names: tuple[tuple[str, str], ...]
    difference: Floats
    verdicts: UserVerdicts
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class MeasureChoice(Tabular):
    """Agreement of measures with users; ``cases.names`` has (measure, gains) of each."""

    cases: ScoredCases
    agreement: UserAgreement
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return a JSON object per measure, gains and condition, best first under each."""
        return [record for view in VIEWS for record in self._ranked(view)]

    def sentence(self) -> str:
        """Say which measure agrees best with weak preference, and whether others are behind for sure."""
        first, *others = self._ranked(VIEWS[0])
        if first["kappa"] is None:
            return f"No measure can be told from chance: {first['reason']}."
        if first["kappa"] <= 0:
            return f"No measure agrees with users more than chance would: kappa {first['kappa']:.2f} at best."
        interval = "" if first["low"] is None else f" ({first['low']:.2f} to {first['high']:.2f})"
        best = f"{first['measure']} with {first['gains']} gains agrees best with users: kappa {first['kappa']:.2f}"
        known = [each for each in others if each["p_adjusted"] is not None]
        behind = [each for each in known if each["p_adjusted"] <= 1 - LEVEL]
        verb = "is" if len(behind) == 1 else "are"
        of = (
            f"of {counted(len(others), 'other')}, {len(behind)} {verb}"
            if len(others) > 1
            else f"the other {'is' if behind else 'is not'}"
        )
        words = f"; {of} behind for sure" if known else ""
        return f"{best}{interval}, weak preference{words}."

    def _ranked(self, view: tuple[int, int]) -> list[dict[str, Any]]:
        p, adjusted = self.agreement.p_values(view)
        order = np.argsort(-np.nan_to_num(self.agreement.seen.kappa[*view, :, 0], nan=-2.0), kind="stable")
        return [
            {
                "rank": rank,
                "measure": self.cases.names[at][0],
                "gains": self.cases.names[at][1],
                **self.agreement.record(at, view),
                "p": known(p[at]),
                "p_adjusted": known(adjusted[at]),
            }
            for rank, at in enumerate(order.tolist(), start=1)
        ]


def choose_measure(
    judgments: Judgments,
    runs: RunsLike,
    preferences: Preferences,
    measures: Sequence[MeasureLike] | MeasureLike = ("nDCG@10",),
    *,
    gains: Mapping[str, GainsLike] | Sequence[str] = ("linear",),
    slight: float | None = None,
    n_draws: int = N_DRAWS,
    rng: RNGLike = 0,
    **scoring: Any,
) -> MeasureChoice:
    """Rank measures and gains by their agreement with users who compared result lists.

    Parameters
    ----------
    judgments, runs : left and right of the preferences name systems of the runs
    gains : names, or {name: gains}
    slight : the largest strength that is slight; None: 1, where strengths go further
    n_draws : how often topics are resampled for intervals; 0: none
    scoring : ``missing`` ("error" or "skip" lists that have no score); and assessor, pool, context, unjudged as
        ``evaluate`` takes them

    Notes
    -----
    Cost: one evaluation per gains, O(measures x gains x draws x cases), and the square of measures x gains x draws.
    """
    cases = scored_cases(judgments, runs, preferences, measures, gains=gains, slight=slight, **scoring)
    agreement = agreement_with_users(cases.difference, cases.verdicts, n_draws=n_draws, rng=rng)
    return MeasureChoice(cases, agreement, (*cases.notes, *agreement.notes()))


def scored_cases(
    judgments: Judgments,
    runs: RunsLike,
    preferences: Preferences,
    measures: Sequence[MeasureLike] | MeasureLike,
    *,
    gains: Mapping[str, GainsLike] | Sequence[str] = ("linear",),
    slight: float | None = None,
    missing: str = "error",
    assessor: str | None = None,
    pool: str | Pool | None = None,
    context: Context | None = None,
    unjudged: float | str = 0.0,
) -> ScoredCases:
    """Score both lists of every case, by every measure with every gains."""
    verdicts = user_verdicts(preferences, slight=slight)
    sources, asked = scan(runs, judgments.items), as_list(measures)
    worth = gains if isinstance(gains, Mapping) else {name: name for name in gains}
    rules: dict[str, Any] = {"assessor": assessor, "pool": pool, "unjudged": unjudged, "context": context}
    parts, names, notes, kept = [], [], [], verdicts
    for name, each in worth.items():
        scores = quiet_scores(
            lambda each=each: evaluate(  # type: ignore[misc]
                judgments, sources, asked, gains=each, topics=preferences.topics, missing="skip", **rules
            )
        )
        difference, kept = score_differences(scores, verdicts, missing=missing)
        parts.append(difference)
        names += [(measure, name) for measure in scores.names["measure"]]
        notes += [note for note in scores.notes if getattr(note, "kind", None) != "topics-not-judged"]
    return ScoredCases(tuple(names), np.concatenate(parts), kept, tuple(dict.fromkeys((*notes, *preferences.notes))))

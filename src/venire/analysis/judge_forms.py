"""Judge forms: how much a forecast depends on what is taken to vary, the labels alone, the judge, or judge and topic.

The same pairs are forecast with one matrix of transitions, with a matrix per assessor, and with matrices that vary with
assessor and topic (``models.transitions``).  Where the answers differ, the model matters, and a probability should be
read with that in mind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from venire.analysis.forecasts import Scene, forecast_of
from venire.analysis.stability import Stability, stability
from venire.errors import SettingError
from venire.io.judgment_sources import JudgmentsLike
from venire.io.run_sources import RunsLike
from venire.measures.scoring import MeasureLike
from venire.models.transitions import FORMS
from venire.tabular import Tabular, known
from venire.types import Floats, RNGLike


@dataclass(frozen=True, eq=False)
class FormComparison(Tabular):
    """The stability of the same systems under several forms of judge, by name; the first is what others differ from."""

    found: dict[str, Stability]

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the forms."""
        return tuple(self.found)

    @property
    def stays(self) -> Floats:
        """Probability that each order survives -> (form, pair)."""
        return np.stack([each.stays for each in self.found.values()])

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per form: what it says over all pairs, and how far it is from the first."""
        stays = self.stays
        return [
            {
                "form": form,
                "tau": known(each.correlation().value),
                "tau_low": known(each.correlation().low),
                "tau_high": known(each.correlation().high),
                "mean_p_stays_ahead": float(each.stays.mean()),
                "fragile": int(each.fragile.sum()),
                "pairs": len(each.stays),
                "mean_change": float(np.abs(stays[n] - stays[0]).mean()),
                "most_change": float(np.abs(stays[n] - stays[0]).max()),
            }
            for n, (form, each) in enumerate(self.found.items())
        ]

    def pair_records(self) -> list[dict[str, Any]]:
        """Return one JSON object per pair, those on which the forms differ most first."""
        first = next(iter(self.found.values()))
        a, b = first.pairs
        names, stays = first.forecast.systems, self.stays
        order = np.argsort(-np.ptp(stays, axis=0), kind="stable")
        return [
            {"a": names[a[n]], "b": names[b[n]], "delta": float(first.delta[n])}
            | {f"p_stays_ahead_{form}": float(stays[row, n]) for row, form in enumerate(self.forms)}
            for n in order.tolist()
        ]

    def sentence(self) -> str:
        """Say the main finding in one sentence."""
        spread = np.ptp(self.stays, axis=0)
        most = self.pair_records()[0]
        counts = ", ".join(f"{int(each.fragile.sum()):,} ({form})" for form, each in self.found.items())
        return (
            f"Between forms of judge, the probability that an order survives differs by {spread.mean():.2f} on "
            f"average and by {spread.max():.2f} at most ({most['a']} and {most['b']}); fragile pairs: {counts}."
        )


def compare_forms(
    judgments: JudgmentsLike,
    runs: RunsLike,
    measure: MeasureLike = "nDCG@10",
    *,
    forms: Sequence[str] = FORMS,
    n_draws: int = 2000,
    rng: RNGLike = 0,
    **options: Any,
) -> FormComparison:
    """Forecast the same pairs under several forms of judge; options are those of ``forecast``.

    Cost: that of one forecast per form; the runs are scanned once.
    """
    if not forms:
        raise SettingError("no form of judge was given", hint=f"there are {', '.join(FORMS)}")
    scene = Scene.of(judgments, runs, measure, **options)
    drawn = {form: forecast_of(scene, form=form, n_draws=n_draws, rng=rng) for form in forms}
    return FormComparison({form: stability(found) for form, found in drawn.items()})

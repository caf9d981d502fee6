"""Habits of assessors that are worth a second look, each with the evidence in words.

    one label   gives one label nearly always (95 %) where the others do not
    random      agrees no better than chance would, while the typical assessor does
    lenient, strict
                labels higher, or lower, than the typical assessor
    lazy        gives one label where others give labels two steps or more away, far more than others do
    drift       leniency or agreement changes over the assessor's own sequence of labels
    fast        takes less than a third of the typical assessor's time for a label

A flag needs a size that matters and evidence that it is no accident: thresholds stand below, and tests are so strict
that of a thousand assessors without a habit about one is flagged.  A flag is a reason to look, not a verdict: one who
differs from the rest may be the one who reads.  Those who give one label, or labels at random, are not also told that
they are lenient, strict or lazy: that follows.  With two assessors, either is strict or lenient only to the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from venire.agreement.profiles import Profiles, Trend
from venire.data.judgments import counted
from venire.types import Bools, Floats

FEWEST = 20
"""Labels that others gave too, below which nothing is flagged."""
ALWAYS, RARER = 0.95, 0.1
SHIFTED = 0.02
"""A shift that matters, as a share of the scale from end to end."""
CHANGED = 0.1
"""A drift that matters: of leniency as a share of the scale, of agreement as it is."""
AWAY = 0.1
QUICK = 1 / 3
SURE = 3.3
"""Standard errors."""
UNLIKELY = 0.001
WEAK = 0.1


class Habit(NamedTuple):
    """A flag and what speaks for it."""

    flag: str
    evidence: str


def habits(profiles: Profiles) -> dict[int, list[Habit]]:
    """Find the habits of assessors, by number; those without any are left out."""
    enough = profiles.n_shared >= FEWEST
    one = enough & _gives_one_label(profiles)
    by_chance = enough & ~one & _no_better_than_chance(profiles)
    plain = enough & ~one & ~by_chance
    kinds = {
        "one label": one,
        "random": by_chance,
        "lenient": plain & _shifted(profiles, 1),
        "strict": plain & _shifted(profiles, -1),
        "lazy": plain & (_idle(profiles) >= 0),
        "drift": enough & (_changes(profiles.drift, profiles.reach) | _changes(profiles.agreement_drift, 1.0)),
        "fast": (profiles.n_timed >= FEWEST) & _quick(profiles),
    }
    found: dict[int, list[Habit]] = {}
    for flag, flagged in kinds.items():
        for n in np.flatnonzero(flagged).tolist():
            found.setdefault(n, []).append(Habit(flag, EVIDENCE[flag](profiles, n)))
    return found


def said(profiles: Profiles) -> str:
    """Say in one sentence who stands out."""
    found = habits(profiles)
    n = len(profiles.assessors)
    if not found:
        return f"Of {counted(n, 'assessor')} nobody stands out."
    named = [f"{profiles.assessors[who]} ({', '.join(each.flag for each in found[who])})" for who in sorted(found)]
    listed = ", ".join(named[:6]) + (f" and {len(named) - 6} more" if len(named) > 6 else "")
    return f"Of {counted(n, 'assessor')} {len(found):,} {'stands' if len(found) == 1 else 'stand'} out: {listed}."


def _gives_one_label(profiles: Profiles) -> Bools:
    """Nearly always one label, where others would have had so few of the rest once in a thousand at most."""
    from scipy.special import bdtr

    rows = np.arange(len(profiles.assessors))
    n = profiles.n_shared.astype(np.float64)
    rest = np.nan_to_num(1.0 - profiles.usual[rows, profiles.top])
    share = profiles.labels[rows, profiles.top] / np.maximum(profiles.n_labels, 1)
    chance = bdtr(np.floor((1.0 - share) * n), n.astype(np.int64), np.clip(rest, 0.0, 1.0))
    found: Bools = (share >= ALWAYS) & (rest >= RARER) & (chance < UNLIKELY)
    return found


def _no_better_than_chance(profiles: Profiles) -> Bools:
    """Kappa's interval reaches 0 and stays below half of the typical one."""
    kappa = profiles.kappa
    known = ~np.isnan(kappa.value)
    typical = float(np.median(kappa.value[known])) if known.any() else 0.0
    found: Bools = known & (kappa.low <= 0) & (kappa.high < max(WEAK, typical / 2))
    return found


def _shifted(profiles: Profiles, sign: int) -> Bools:
    size = sign * profiles.shift
    found: Bools = (size >= SHIFTED * profiles.reach) & (size > SURE * profiles.leniency.se)
    return found


def _idle(profiles: Profiles) -> Floats:
    """The label that is given too often where others are far from it, -1 if none is -> (assessor,)."""
    excess = profiles.far - profiles.far_rest
    p = np.clip(np.maximum(profiles.far, profiles.far_rest), 0.0, 1.0)
    sure = excess > SURE * np.sqrt(np.maximum(p * (1 - p), 1e-12) / np.maximum(profiles.far_n, 1))
    held = np.where((excess >= AWAY) & sure & (profiles.far_n >= FEWEST), excess, -np.inf)
    if not np.isfinite(profiles.reach) or held.size == 0:
        return np.full(len(profiles.assessors), -1.0)
    found: Floats = np.where(np.isfinite(held.max(axis=1)), held.argmax(axis=1), -1).astype(np.float64)
    return found


def _changes(trend: Trend, whole: float) -> Bools:
    """Large enough to matter, and unlikely without a trend."""
    found: Bools = (np.abs(trend.change) >= CHANGED * whole) & (trend.p < UNLIKELY)
    return found


def _quick(profiles: Profiles) -> Bools:
    """Less than a third of the typical time; told only of three assessors or more, with times that differ."""
    known = ~np.isnan(profiles.seconds) & (profiles.n_timed >= FEWEST)
    typical = float(np.median(profiles.seconds[known])) if known.sum() > 2 else 0.0
    return known & (profiles.seconds < QUICK * typical)


def _say_one_label(profiles: Profiles, n: int) -> str:
    top = profiles.top[n]
    share = profiles.labels[n, top] / profiles.n_labels[n]
    return (
        f"gives {profiles.scale.labels[top]} in {share:.0%} of {counted(int(profiles.n_labels[n]), 'label')}; "
        f"others give it to the same items in {profiles.usual[n, top]:.0%}"
    )


def _say_random(profiles: Profiles, n: int) -> str:
    return (
        f"agrees with others on {profiles.agreement.value[n]:.0%} of {counted(int(profiles.n_shared[n]), 'label')}; "
        f"by chance it would be {profiles.chance[n]:.0%} "
        f"(kappa {profiles.kappa.value[n]:.2f}, {profiles.kappa.low[n]:.2f} to {profiles.kappa.high[n]:.2f})"
    )


def _say_shift(profiles: Profiles, n: int) -> str:
    shift, leniency = profiles.shift[n], profiles.leniency
    return (
        f"labels {abs(shift):.2f} {'higher' if shift > 0 else 'lower'} than the typical assessor; on "
        f"{counted(int(profiles.n_shared[n]), 'label')} {leniency.value[n]:+.2f} against the others of the same items "
        f"({leniency.low[n]:+.2f} to {leniency.high[n]:+.2f})"
    )


def _say_lazy(profiles: Profiles, n: int) -> str:
    level = int(_idle(profiles)[n])
    return (
        f"gives {profiles.scale.labels[level]} in {profiles.far[n, level]:.0%} of cases where another's label is two "
        f"steps or more away; others do so in {profiles.far_rest[n, level]:.0%}"
    )


def _say_drift(profiles: Profiles, n: int) -> str:
    words = []
    for name, trend, whole in (
        ("leniency", profiles.drift, profiles.reach),
        ("agreement with others", profiles.agreement_drift, 1.0),
    ):
        if _changes(trend, whole)[n]:
            words.append(
                f"{name} changes by {trend.change[n]:+.2f} from the first label to the last (p {_p(trend.p[n])})"
            )
    return "; ".join(words)


def _say_fast(profiles: Profiles, n: int) -> str:
    typical = float(np.median(profiles.seconds[~np.isnan(profiles.seconds) & (profiles.n_timed >= FEWEST)]))
    return f"takes {profiles.seconds[n]:.1f} seconds for a label (median), the typical assessor {typical:.1f}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.4f}"


EVIDENCE = {
    "one label": _say_one_label,
    "random": _say_random,
    "lenient": _say_shift,
    "strict": _say_shift,
    "lazy": _say_lazy,
    "drift": _say_drift,
    "fast": _say_fast,
}

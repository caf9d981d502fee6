"""Flags: notable differences between one assessor's labels and the others', each with its evidence.

A flag names what was observed; the labels do not tell why:

    one label         gives one label only, where 10 % or more of the others' labels are different ones
    unrelated labels  agrees no better than chance, while the typical assessor agrees at least twice as well
    higher labels, lower labels
                      labels higher, or lower, than the typical assessor, by 15 % or more
    one label often   gives one label nearly always (95 %), as above; or gives it where others give labels two steps or
                      more away, and others do so less often, by a fifth or more
    drift             leniency changes by a tenth of the scale, or agreement by 10 points, over the assessor's sequence
    fast              takes less than a third of the typical assessor's time for a label

A flag needs an effect size, since with many labels any difference is significant, and a significant test.  Tests are
corrected for the number of assessors (Bonferroni; for ``one label often`` also for that of labels): in a panel where
all label alike, each kind is found in about 1 % of cases, with items taken as independent.

*Reference.*  An assessor is compared with all others, most of whom may be wrong: a human expert among language models
that share an error is the one who differs.  A flag only describes a difference.  Where assessors are named as the
reference, the others are compared with these alone: "the typical assessor" and "others" are then the reference,
``unrelated labels`` requires no agreement of the typical assessor, and ``one label often`` compares all labels of the
same items.

*Higher, lower labels.*  Let v be the mean label of the typical assessor on the same items, from the lowest label: the
sum, over the thresholds of the scale, of the share of items above the threshold.  A shift s thus takes s / v more
documents across a threshold, on average.  Where most labels are high, r - v takes the place of v, r being the range of
the scale.  The effect size is |s| / min(v, r - v); with labels 0 and 1 it is how many more, or fewer, of the rarer
label are given.  It is reported from 15 %: three documents more or fewer for every twenty that the typical assessor
finds relevant.

*One label often.*  One who gives a label regardless of the item in a share w of the cases, and otherwise labels as the
others do, gives it at the rate f = w + (1 - w) g, g being that of the others: w = (f - g) / (1 - g).  Rates are those
where others are far from the label, where higher or lower labels alone do not lead to it.

Fifteen per cent and a fifth are conventions.  Assessors with one label, or unrelated ones, have no flag for higher,
lower or one label often, which would follow.  Of two assessors, each is compared with the other: neither is typical,
and where one of them gives one label, the other gets no flag.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from venire.agreement.profiles import Profiles, Trend
from venire.results import Note, Records, Tabular, counted, first_few, listed
from venire.types import Bools, Floats

ONE_LABEL, UNRELATED, OFTEN = "one label", "unrelated labels", "one label often"
HIGHER, LOWER = "higher labels", "lower labels"
DRIFT, FAST = "drift", "fast"
FEWEST = 20
"""Fewer labels that others gave too get no flag."""
ALWAYS, RARER = 0.95, 0.1
SHIFTED = 0.15
"""Least shift, as a share of the documents that the typical assessor puts across a threshold of the scale."""
CHANGED = 0.1
"""Least drift: of leniency as a share of the scale, of agreement as it is."""
WHATEVER = 0.2
"""Least share of labels given regardless of the item."""
QUICK = 1 / 3
UNLIKELY = 0.01
"""Probability that any assessor of a panel is flagged by chance, for each kind of difference."""
WEAK = 0.1
NOTHING = 0.001
"""A negligible share of the scale."""
ALIKE = 0.6
"""Median kappa from which assessors are called alike: substantial agreement by Landis and Koch (1977)."""


class Habit(NamedTuple):
    """A flag and its evidence."""

    flag: str
    evidence: str


def habits(profiles: Profiles) -> dict[int, list[Habit]]:
    """Find differences between assessors and the others, by number of the assessor; those without are left out."""
    enough = profiles.n_shared >= FEWEST
    nearly = enough & _nearly_one_label(profiles)
    one = nearly & (profiles.labels.max(axis=1) == profiles.n_labels)
    unrelated = enough & ~nearly & _no_better_than_chance(profiles)
    plain = enough & ~nearly & ~unrelated & ~(_only_two(profiles) & nearly.any())
    kinds = {
        ONE_LABEL: one,
        UNRELATED: unrelated,
        HIGHER: plain & _shifted(profiles, 1),
        LOWER: plain & _shifted(profiles, -1),
        OFTEN: (nearly & ~one) | (plain & (_favourite(profiles) >= 0)),
        DRIFT: enough & np.any([changes for _, _, changes in _trends(profiles)], axis=0),
        FAST: (profiles.n_timed >= FEWEST) & (profiles.seconds < QUICK * _typical_time(profiles)),
    }
    found: dict[int, list[Habit]] = {}
    for flag, flagged in kinds.items():
        for n in np.flatnonzero(flagged).tolist():
            found.setdefault(n, []).append(Habit(flag, EVIDENCE[flag](profiles, n)))
    return found


@dataclass(frozen=True, eq=False)
class FlaggedProfiles(Tabular):
    """Profiles of assessors with their flags."""

    profiles: Profiles

    @cached_property
    def habits(self) -> dict[int, list[Habit]]:
        """Flags by number of the assessor."""
        return habits(self.profiles)

    def records(self) -> Records:
        """Return one row per assessor: the profile, flags, and the evidence for each flag."""
        found = [self.habits.get(n, []) for n in range(len(self.profiles.assessors))]
        return [
            {**row, "flags": [each.flag for each in some], "evidence": [each.evidence for each in some]}
            for row, some in zip(self.profiles.records(), found, strict=True)
        ]

    def sentence(self) -> str:
        """Say who labels differently from the others, or from the reference."""
        names, n = self.profiles.assessors, len(self.profiles.assessors) - len(self.profiles.reference)
        enough = int((self.profiles.n_shared >= FEWEST).sum())
        flagged = [f"{names[who]} ({', '.join(each.flag for each in self.habits[who])})" for who in sorted(self.habits)]
        differ = f"{len(flagged):,} of {counted(n, 'assessor')} differ from {_others(self.profiles)}"
        named = f": {first_few(flagged, 6)}" if flagged else ""
        return f"{differ}{named}; {enough:,} of them share {FEWEST} labels or more, which a comparison needs."

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a difference from the others does not show; nothing with a reference."""
        differ = any(each.flag not in (DRIFT, FAST) for some in self.habits.values() for each in some)
        if self.profiles.reference or not differ:
            return ()
        text = "each assessor is compared with {others}: a flag says who differs, not who is right"
        found = [Note("not-who-is-right", text, others=_others(self.profiles))]
        if (kappa := self.others_alike) >= ALIKE:
            text = "the assessors without a flag agree (median kappa {kappa:.2f}) and may share an error"
            found.append(Note("others-alike", text, kappa=kappa))
        return tuple(found)

    @property
    def others_alike(self) -> float:
        """Median kappa with the others of the assessors without a flag; 0 with fewer than two of them."""
        kappa = self.profiles.kappa.value
        rest = [n for n in range(len(kappa)) if n not in self.habits and not np.isnan(kappa[n])]
        return float(np.median(kappa[rest])) if len(rest) > 1 else 0.0


def _others(profiles: Profiles) -> str:
    """Name those with whom assessors are compared."""
    return listed(profiles.reference) or ("the other" if _only_two(profiles) else "the others")


def _nearly_one_label(profiles: Profiles) -> Bools:
    """Nearly always one label, with significantly fewer of the rest than the others give."""
    from scipy.special import bdtr

    rows = np.arange(len(profiles.assessors))
    n = profiles.n_shared.astype(np.float64)
    rest = np.nan_to_num(1.0 - profiles.usual[rows, profiles.top])
    share = profiles.labels[rows, profiles.top] / np.maximum(profiles.n_labels, 1)
    chance = bdtr(np.floor((1.0 - share) * n + 1e-9), n.astype(np.int64), np.clip(rest, 0.0, 1.0))
    found: Bools = (share >= ALWAYS) & (rest >= RARER) & (chance < _significance(profiles))
    return found


def _no_better_than_chance(profiles: Profiles) -> Bools:
    """Kappa's interval includes 0 and lies below half of the typical one, from which kappa differs significantly.

    With a reference, it need not differ from the typical one: all may be unrelated to the reference.
    """
    kappa = profiles.kappa
    known = ~np.isnan(kappa.value)
    typical = float(np.median(kappa.value[known])) if known.any() else 0.0
    sure = bool(profiles.reference) | (typical - kappa.value > _errors(profiles) * kappa.se)
    found: Bools = known & sure & (kappa.low <= 0) & (kappa.high < max(WEAK, typical / 2))
    return found


def _shifted(profiles: Profiles, sign: int) -> Bools:
    """Shifted by the least size or more, significantly.

    The standard error is that of leniency or of the shift, whichever is larger.  Beyond 2,000 assessors the latter is
    unknown, and the former is too small where assessors are linked by few items.
    """
    against = _against(profiles)
    size = sign * against.shift
    error = np.fmax(profiles.leniency.se, profiles.shift_se)
    matters = np.maximum(SHIFTED * against.far, NOTHING * profiles.reach)
    found: Bools = (size >= matters) & (size > _errors(profiles) * error)
    return found


class Against(NamedTuple):
    """With whom assessors are compared, by how much they label higher, and how far that one is from an end (assessor,).

    far is from the nearer end of the scale, the highest label where ``from_top``.
    """

    who: str
    shift: Floats
    far: Floats
    from_top: Bools


def _against(profiles: Profiles) -> Against:
    """Compare assessors with the reference, or the typical one; two, with each other."""
    who, shift, height = listed(profiles.reference) or "the typical assessor", profiles.shift, profiles.height
    if _only_two(profiles):
        who, shift = "the other assessor", profiles.leniency.value
        height = profiles.height + profiles.shift - shift
    far = np.maximum(np.minimum(height, profiles.reach - height), 0.0)
    return Against(who, shift, far, height > profiles.reach / 2)


def _only_two(profiles: Profiles) -> bool:
    """Whether only two assessors share items, and neither is the reference."""
    return not profiles.reference and int((profiles.n_shared > 0).sum()) == 2


def _significance(profiles: Profiles) -> float:
    """Significance level of the test of one assessor, corrected for their number."""
    return UNLIKELY / max(int((profiles.n_shared >= FEWEST).sum()), 1)


def _errors(profiles: Profiles) -> Floats:
    """Critical value of a two-sided t test of the mean over an assessor's labels -> (assessor,)."""
    from scipy.special import stdtrit

    errors: Floats = stdtrit(np.maximum(profiles.n_shared - 1.0, 1.0), 1 - _significance(profiles) / 2)
    return errors


def _favourite(profiles: Profiles) -> Floats:
    """The label that is given too often where others are far from it, -1 if there is none -> (assessor,).

    With a reference, all items that it judged count: a distance from the reference may be its own noise.
    """
    from scipy.special import ndtri

    own, rest, n = profiles.far, profiles.far_rest, profiles.far_n
    if profiles.reference:
        own, rest, n = profiles.own, profiles.usual, np.broadcast_to(profiles.n_shared[:, None], profiles.own.shape)
    noise = own * (1 - own) + (rest * (1 - rest) if profiles.reference else 0.0)  # all others are many
    sure = own - rest > -ndtri(_significance(profiles) / len(profiles.scale)) * np.sqrt(
        (noise + 1e-12) / np.maximum(n, 1)
    )
    share = (own - rest) / np.maximum(1.0 - rest, 1e-12)
    matters = (share >= WHATEVER) & (profiles.own > profiles.usual)
    held = np.where(matters & sure & (n >= FEWEST), share, -np.inf)
    if not np.isfinite(profiles.reach) or held.size == 0:
        return np.full(len(profiles.assessors), -1.0)
    found: Floats = np.where(np.isfinite(held.max(axis=1)), held.argmax(axis=1), -1).astype(np.float64)
    return found


def _trends(profiles: Profiles) -> Iterator[tuple[str, Trend, Bools]]:
    """What may change over time, its trend, and whose trend is large enough and significant."""
    alpha = _significance(profiles) / 2
    for name, trend, whole in (
        ("leniency", profiles.drift, profiles.reach),
        ("agreement with others", profiles.agreement_drift, 1.0),
    ):
        yield name, trend, (np.abs(trend.change) >= CHANGED * whole) & (trend.p < alpha)


def _typical_time(profiles: Profiles) -> float:
    """Median time of the reference, or of all if these are three or more; 0 where it is not known."""
    known = ~np.isnan(profiles.seconds) & (profiles.n_timed >= FEWEST)
    if profiles.reference:
        known &= np.isin(profiles.assessors, profiles.reference)
    return float(np.median(profiles.seconds[known])) if known.sum() > (0 if profiles.reference else 2) else 0.0


def _often_evidence(profiles: Profiles, n: int) -> str:
    others, favourite = _others(profiles), int(_favourite(profiles)[n])
    grade = int(profiles.top[n]) if _nearly_one_label(profiles)[n] else favourite
    shares = f"{_share(profiles.own[n, grade])} against {_share(profiles.usual[n, grade])} on the same items"
    text = f"gives {profiles.scale.labels[grade]} more often than {others}: {shares} ({profiles.n_shared[n]:,} labels)"
    if grade == favourite and not profiles.reference:
        text += f"; where a label of {others} is two steps or more away, {_share(profiles.far[n, grade])} against "
        text += _share(profiles.far_rest[n, grade])
    return text


def _unrelated_evidence(profiles: Profiles, n: int) -> str:
    kappa = profiles.kappa
    return (
        f"gives the same label as {_others(profiles)} in {profiles.agreement.value[n]:.0%} of cases, by chance "
        f"{profiles.chance[n]:.0%} (kappa {kappa.value[n]:.2f}, 95 % interval {kappa.low[n]:.2f} to "
        f"{kappa.high[n]:.2f}; {profiles.n_shared[n]:,} labels)"
    )


def _shift_evidence(profiles: Profiles, n: int) -> str:
    (who, shift, far, from_top), leniency = _against(profiles), profiles.leniency
    size = f"{abs(shift[n]) / far[n]:.0%} of" if far[n] >= NOTHING * profiles.reach else "against"
    return (
        f"labels {abs(shift[n]):.2f} {'higher' if shift[n] > 0 else 'lower'} than {who} ({size} that assessor's mean "
        f"distance from the {'highest' if from_top[n] else 'lowest'} label, {far[n]:.2f}); mean difference from "
        f"{_others(profiles)} on the same items {leniency.value[n]:+.2f} (95 % interval {leniency.low[n]:+.2f} to "
        f"{leniency.high[n]:+.2f}; {profiles.n_shared[n]:,} labels)"
    )


def _drift_evidence(profiles: Profiles, n: int) -> str:
    return "; ".join(
        f"{name} changes by {trend.change[n]:+.2f} from the first label to the last (p = {trend.p[n]:.2g})"
        for name, trend, changes in _trends(profiles)
        if changes[n]
    )


def _fast_evidence(profiles: Profiles, n: int) -> str:
    who = listed(profiles.reference) or "the typical assessor"
    return f"takes {profiles.seconds[n]:.1f} seconds for a label (median), {who} {_typical_time(profiles):.1f}"


def _share(value: float) -> str:
    """Format a share in per cent; 0 and 100 % only where it is exactly so."""
    text = f"{value:.0%}"
    return {"0%": "less than 1%", "100%": "more than 99%"}.get(text, text) if 0 < value < 1 else text


EVIDENCE = {
    ONE_LABEL: _often_evidence,
    UNRELATED: _unrelated_evidence,
    HIGHER: _shift_evidence,
    LOWER: _shift_evidence,
    OFTEN: _often_evidence,
    DRIFT: _drift_evidence,
    FAST: _fast_evidence,
}

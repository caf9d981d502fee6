"""Habits of assessors that are worth a second look, each with the evidence in words.

    one label   gives one label nearly always (95 %) where the others do not (10 % of theirs are other labels)
    random      agrees no better than chance would, while the typical assessor does, twice as well at least
    lenient, strict
                labels higher, or lower, than the typical assessor, by 15 % or more
    lazy        gives one label where others give labels two steps or more away, as if a fifth of the labels or more
                were given without a look
    drift       leniency changes by a tenth of the scale, or agreement by 10 points, over the assessor's own sequence
    fast        takes less than a third of the typical assessor's time for a label

A flag needs a size that matters, for with many labels any difference is significant, and evidence that it is no
accident.  Tests are corrected for the number of assessors (Bonferroni; for ``lazy`` that of labels as well): in a panel
where nobody has a habit, each kind is found by accident in about 1 % of cases, taking items as unrelated.  The sizes:

*Lenient, strict.*  Let v be the mean label of the typical assessor on the same items, from the lowest label.  It is
the sum, over the steps of the scale, of the share of items that are put above the step.  A shift s thus takes s / v
more documents across a line of the scale, on average over its lines.  Where most labels are high, the documents left
below a line are the fewer, and r - v stands for v, r being the reach of the scale.  The size is |s| / min(v, r - v);
with labels 0 and 1 it is how many more, or fewer, of the rarer label are given.  It is told from 15 % on: three
documents more or fewer for every twenty that the typical assessor takes for relevant.  A share of the scale would not
do: where few documents are relevant, one who misses a third of them hardly moves on the scale.

*Lazy.*  One who gives a label without a look in a share w of the cases, and else labels as the others do, gives it
where others are far from it at the rate f = w + (1 - w) g, g being that of the others: w = (f - g) / (1 - g).

Fifteen per cent and a fifth are conventions.  A flag is a reason to look, not a verdict: one who differs from the rest
may be the one who reads.  Those who give one label, or labels at random, are not also told that they are lenient,
strict or lazy: that follows.  Of two assessors, each is held against the other: nobody is typical, and where one of
them gives one label, neither is told to be lenient, strict or lazy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from venire.agreement.profiles import Profiles, Trend
from venire.types import Bools, Floats
from venire.words import counted, first_few

FEWEST = 20
"""Labels that others gave too, below which nothing is flagged."""
ALWAYS, RARER = 0.95, 0.1
SHIFTED = 0.15
"""A shift that matters, as a share of the documents that the typical assessor takes across a line of the scale."""
CHANGED = 0.1
"""A drift that matters: of leniency as a share of the scale, of agreement as it is."""
IDLE = 0.2
"""A share of labels without a look that matters."""
QUICK = 1 / 3
UNLIKELY = 0.01
"""Probability that any assessor of a panel is flagged by accident, for each kind of habit."""
WEAK = 0.1
NOTHING = 0.001
"""A share of the scale that is as good as none."""


class Habit(NamedTuple):
    """A flag and what speaks for it."""

    flag: str
    evidence: str


def habits(profiles: Profiles) -> dict[int, list[Habit]]:
    """Find the habits of assessors, by number; those without any are left out."""
    enough = profiles.n_shared >= FEWEST
    one = enough & _gives_one_label(profiles)
    by_chance = enough & ~one & _no_better_than_chance(profiles)
    plain = enough & ~one & ~by_chance & ~(_only_two(profiles) & one.any())
    kinds = {
        "one label": one,
        "random": by_chance,
        "lenient": plain & _shifted(profiles, 1),
        "strict": plain & _shifted(profiles, -1),
        "lazy": plain & (_idle(profiles) >= 0),
        "drift": enough & np.any([changes for _, _, changes in _trends(profiles)], axis=0),
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
    listed = first_few(named, 6)
    return f"Of {counted(n, 'assessor')} {len(found):,} {'stands' if len(found) == 1 else 'stand'} out: {listed}."


def _gives_one_label(profiles: Profiles) -> Bools:
    """Nearly always one label, where others would hardly ever have had so few of the rest."""
    from scipy.special import bdtr

    rows = np.arange(len(profiles.assessors))
    n = profiles.n_shared.astype(np.float64)
    rest = np.nan_to_num(1.0 - profiles.usual[rows, profiles.top])
    share = profiles.labels[rows, profiles.top] / np.maximum(profiles.n_labels, 1)
    chance = bdtr(np.floor((1.0 - share) * n + 1e-9), n.astype(np.int64), np.clip(rest, 0.0, 1.0))
    found: Bools = (share >= ALWAYS) & (rest >= RARER) & (chance < _level(profiles))
    return found


def _no_better_than_chance(profiles: Profiles) -> Bools:
    """Kappa's interval reaches 0 and stays below half of the typical one, from which it differs surely."""
    kappa = profiles.kappa
    known = ~np.isnan(kappa.value)
    typical = float(np.median(kappa.value[known])) if known.any() else 0.0
    sure = typical - kappa.value > _errors(profiles) * kappa.se
    found: Bools = known & sure & (kappa.low <= 0) & (kappa.high < max(WEAK, typical / 2))
    return found


def _shifted(profiles: Profiles, sign: int) -> Bools:
    """Shifted by a size that matters, and more than by accident.

    The error is that of leniency or that of the shift, whichever is larger.  Beyond 2,000 assessors the latter is not
    known, and the former stands alone: too small where assessors are linked by few items.
    """
    against = _against(profiles)
    size = sign * against.shift
    error = np.fmax(profiles.leniency.se, profiles.shift_se)
    found: Bools = (size >= SHIFTED * against.far) & (size > _errors(profiles) * error)
    return found


class Against(NamedTuple):
    """Whom assessors are held against, by how much they label higher, and how far that one is from an end (assessor,).

    far is from the nearer end of the scale, the highest label where ``from_top``.
    """

    who: str
    shift: Floats
    far: Floats
    from_top: Bools


def _against(profiles: Profiles) -> Against:
    """Hold assessors against the typical one; two, against each other."""
    who, shift, height = "the typical assessor", profiles.shift, profiles.height
    if _only_two(profiles):
        who, shift = "the other assessor", profiles.leniency.value
        height = profiles.height + profiles.shift - shift
    far = np.maximum(np.minimum(height, profiles.reach - height), 0.0)
    return Against(who, shift, far, height > profiles.reach / 2)


def _only_two(profiles: Profiles) -> bool:
    """Whether there are but two assessors who share items."""
    return int((profiles.n_shared > 0).sum()) == 2


def _level(profiles: Profiles) -> float:
    """Level of a test of one assessor, of all who are tested."""
    return UNLIKELY / max(int((profiles.n_shared >= FEWEST).sum()), 1)


def _errors(profiles: Profiles) -> Floats:
    """How many standard errors make sure of a mean over an assessor's labels, on either side -> (assessor,)."""
    from scipy.special import stdtrit

    errors: Floats = stdtrit(np.maximum(profiles.n_shared - 1.0, 1.0), 1 - _level(profiles) / 2)
    return errors


def _idle(profiles: Profiles) -> Floats:
    """The label that is given too often where others are far from it, -1 if none is -> (assessor,)."""
    from scipy.special import ndtri

    excess = profiles.far - profiles.far_rest
    p = np.clip(np.maximum(profiles.far, profiles.far_rest), 0.0, 1.0)
    errors = -ndtri(_level(profiles) / len(profiles.scale))
    sure = excess > errors * np.sqrt(np.maximum(p * (1 - p), 1e-12) / np.maximum(profiles.far_n, 1))
    without = _without_look(profiles)
    held = np.where((without >= IDLE) & sure & (profiles.far_n >= FEWEST), without, -np.inf)
    if not np.isfinite(profiles.reach) or held.size == 0:
        return np.full(len(profiles.assessors), -1.0)
    found: Floats = np.where(np.isfinite(held.max(axis=1)), held.argmax(axis=1), -1).astype(np.float64)
    return found


def _without_look(profiles: Profiles) -> Floats:
    """The share w of labels given without a look, by what is far from others' labels -> (assessor, label)."""
    return (profiles.far - profiles.far_rest) / np.maximum(1.0 - profiles.far_rest, 1e-12)


def _trends(profiles: Profiles) -> Iterator[tuple[str, Trend, Bools]]:
    """What may change over time, how it does, and whose change is large enough to matter and unlikely without one."""
    level = _level(profiles) / 2
    for name, trend, whole in (
        ("leniency", profiles.drift, profiles.reach),
        ("agreement with others", profiles.agreement_drift, 1.0),
    ):
        yield name, trend, (np.abs(trend.change) >= CHANGED * whole) & (trend.p < level)


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
    against, leniency = _against(profiles), profiles.leniency
    shift = against.shift[n]
    return (
        f"labels {abs(shift):.2f} {'higher' if shift > 0 else 'lower'} than {against.who} "
        f"({_size_of_shift(profiles, n)}); on {counted(int(profiles.n_shared[n]), 'label')} {leniency.value[n]:+.2f} "
        f"against the others of the same items ({leniency.low[n]:+.2f} to {leniency.high[n]:+.2f})"
    )


def _size_of_shift(profiles: Profiles, n: int) -> str:
    """Say how large a shift is, and from what size on it is told."""
    against = _against(profiles)
    end, far = "highest" if against.from_top[n] else "lowest", against.far[n]
    if far < NOTHING * profiles.reach:
        return f"who hardly ever gives another label than the {end}"
    size = abs(against.shift[n]) / far
    return f"{size:.0%} of how far that one is from the {end} label, {far:.2f}; told from {SHIFTED:.0%} on"


def _say_lazy(profiles: Profiles, n: int) -> str:
    level = int(_idle(profiles)[n])
    return (
        f"gives {profiles.scale.labels[level]} in {profiles.far[n, level]:.0%} of cases where another's label is two "
        f"steps or more away; others do so in {profiles.far_rest[n, level]:.0%}: as if "
        f"{_without_look(profiles)[n, level]:.0%} of the labels were given without a look (told from {IDLE:.0%} on)"
    )


def _say_drift(profiles: Profiles, n: int) -> str:
    return "; ".join(
        f"{name} changes by {trend.change[n]:+.2f} from the first label to the last (p {_p(trend.p[n])})"
        for name, trend, changes in _trends(profiles)
        if changes[n]
    )


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

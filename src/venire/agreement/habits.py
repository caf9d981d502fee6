"""Differences between one assessor's labels and the others' that are worth a second look, each with its evidence.

A flag names what was seen; why it is so, the labels do not say:

    one label         gives one label only, where 10 % or more of the others' labels are different ones
    unrelated labels  agrees no better than chance would, while the typical assessor does, twice as well at least
    higher labels, lower labels
                      labels higher, or lower, than the typical assessor, by 15 % or more
    one label often   gives one label nearly always (95 %), as above; or gives it where others give labels two steps or
                      more away, and others do so less often, by a fifth or more
    drift             leniency changes by a tenth of the scale, or agreement by 10 points, over the assessor's own
                      sequence
    fast              takes less than a third of the typical assessor's time for a label

A flag needs a size that matters, for with many labels any difference is significant, and evidence that it is no
accident.  Tests are corrected for the number of assessors (Bonferroni; for ``one label often`` that of labels as well):
in a panel where all label alike, each kind is found by accident in about 1 % of cases, taking items as unrelated.

*Against whom.*  An assessor is compared with all others, most of whom may be wrong: a human expert among language
models that share an error is the one who differs.  So a flag describes a difference between one and the others, and no
more.  Where assessors are named as the reference, the others are compared with these alone: "the typical assessor" and
"others" are then the reference, ``unrelated labels`` asks for no agreement of the typical assessor, and ``one label
often`` compares all labels of the same items.

The sizes:

*Higher, lower labels.*  Let v be the mean label of the typical assessor on the same items, from the lowest label.  It
is the sum, over the steps of the scale, of the share of items that are put above the step.  A shift s thus takes s / v
more documents across a line of the scale, on average over its lines.  Where most labels are high, the documents left
below a line are the fewer, and r - v stands for v, r being the reach of the scale.  The size is |s| / min(v, r - v);
with labels 0 and 1 it is how many more, or fewer, of the rarer label are given.  It is reported from 15 % on: three
documents more or fewer for every twenty that the typical assessor takes for relevant.  A share of the scale would not
do: where few documents are relevant, one who misses a third of them hardly moves on the scale.

*One label often.*  One who gives a label whatever the item in a share w of the cases, and else labels as the others do,
gives it at the rate f = w + (1 - w) g, g being that of the others: w = (f - g) / (1 - g).  Rates are those where others
are far from the label, as there higher or lower labels alone do not lead to it.

Fifteen per cent and a fifth are conventions.  Those who give one label, or unrelated ones, are not also said to give
higher, lower or one label often: that follows.  Of two assessors, each is compared with the other: nobody is typical,
and where one of them gives one label, nothing more is said of either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from venire.agreement.profiles import Profiles, Trend
from venire.results import counted, first_few, listed
from venire.types import Bools, Floats

ONE_LABEL, UNRELATED, OFTEN = "one label", "unrelated labels", "one label often"
HIGHER, LOWER = "higher labels", "lower labels"
DRIFT, FAST = "drift", "fast"
FEWEST = 20
"""Labels that others gave too, below which nothing is flagged."""
ALWAYS, RARER = 0.95, 0.1
SHIFTED = 0.15
"""A shift that matters, as a share of the documents that the typical assessor takes across a line of the scale."""
CHANGED = 0.1
"""A drift that matters: of leniency as a share of the scale, of agreement as it is."""
WHATEVER = 0.2
"""A share of labels given whatever the item that matters."""
QUICK = 1 / 3
UNLIKELY = 0.01
"""Probability that any assessor of a panel is flagged by accident, for each kind of difference."""
WEAK = 0.1
NOTHING = 0.001
"""A share of the scale that is as good as none."""
ALIKE = 0.6
"""Median kappa from which on assessors are called alike: substantial agreement by Landis and Koch (1977)."""


class Habit(NamedTuple):
    """A flag and what was seen."""

    flag: str
    evidence: str


def habits(profiles: Profiles) -> dict[int, list[Habit]]:
    """Find what differs between assessors and the others, by number; those without any flag are left out."""
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
        FAST: (profiles.n_timed >= FEWEST) & _quick(profiles),
    }
    found: dict[int, list[Habit]] = {}
    for flag, flagged in kinds.items():
        for n in np.flatnonzero(flagged).tolist():
            found.setdefault(n, []).append(Habit(flag, EVIDENCE[flag](profiles, n)))
    return found


def said(profiles: Profiles) -> str:
    """Say in one sentence who labels differently from the others, or from the reference."""
    found, n = habits(profiles), len(profiles.assessors) - len(profiles.reference)
    if found:
        named = [f"{profiles.assessors[who]} ({', '.join(each.flag for each in found[who])})" for who in sorted(found)]
        differ = f"{'labels' if len(found) == 1 else 'label'} differently from {_others(profiles)}"
        return f"{len(found):,} of {counted(n, 'assessor')} {differ}: {first_few(named, 6)}."
    compared = int((profiles.n_shared >= FEWEST).sum())
    if not compared:
        return f"No assessor has {FEWEST} labels on items that {_others(profiles)} judged: too few to compare them."
    who = f"{counted(compared, 'assessor')} with {FEWEST} labels or more on items that {_others(profiles)} judged"
    return f"Of {who}, none is found to label differently."


def caution(profiles: Profiles) -> str | None:
    """Say what a difference from the others does not tell; None where nobody differs, or a reference is named."""
    found = habits(profiles)
    if profiles.reference or not any(each.flag not in (DRIFT, FAST) for some in found.values() for each in some):
        return None
    text = f"each assessor is compared with {_others(profiles)}: this tells who differs, not who is right"
    if (kappa := others_alike(profiles)) < ALIKE:
        return text
    return f"{text}; the other assessors are alike (median kappa {kappa:.2f}) and may share an error"


def others_alike(profiles: Profiles) -> float:
    """Median kappa of those who have no flag, with the others; 0 where there are fewer than two of them."""
    found = habits(profiles)
    rest = [n for n in range(len(profiles.assessors)) if n not in found and not np.isnan(profiles.kappa.value[n])]
    return float(np.median(profiles.kappa.value[rest])) if len(rest) > 1 else 0.0


def _others(profiles: Profiles) -> str:
    """With whom assessors are compared."""
    return listed(profiles.reference) or ("the other" if _only_two(profiles) else "the others")


def _nearly_one_label(profiles: Profiles) -> Bools:
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
    """Kappa's interval reaches 0 and stays below half of the typical one, from which it differs surely.

    With a reference, it need not differ from the typical one: all may be unrelated to the reference.
    """
    kappa = profiles.kappa
    known = ~np.isnan(kappa.value)
    typical = float(np.median(kappa.value[known])) if known.any() else 0.0
    sure = bool(profiles.reference) | (typical - kappa.value > _errors(profiles) * kappa.se)
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


def _level(profiles: Profiles) -> float:
    """Level of a test of one assessor, of all who are tested."""
    return UNLIKELY / max(int((profiles.n_shared >= FEWEST).sum()), 1)


def _errors(profiles: Profiles) -> Floats:
    """How many standard errors make sure of a mean over an assessor's labels, on either side -> (assessor,)."""
    from scipy.special import stdtrit

    errors: Floats = stdtrit(np.maximum(profiles.n_shared - 1.0, 1.0), 1 - _level(profiles) / 2)
    return errors


def _favourite(profiles: Profiles) -> Floats:
    """The label that is given too often where others are far from it, -1 if none is -> (assessor,)."""
    from scipy.special import ndtri

    own, rest, n = _rates(profiles)
    noise = own * (1 - own) + (rest * (1 - rest) if profiles.reference else 0.0)  # all others are many
    sure = own - rest > -ndtri(_level(profiles) / len(profiles.scale)) * np.sqrt((noise + 1e-12) / np.maximum(n, 1))
    share = (own - rest) / np.maximum(1.0 - rest, 1e-12)
    matters = (share >= WHATEVER) & (profiles.own > profiles.usual)
    held = np.where(matters & sure & (n >= FEWEST), share, -np.inf)
    if not np.isfinite(profiles.reach) or held.size == 0:
        return np.full(len(profiles.assessors), -1.0)
    found: Floats = np.where(np.isfinite(held.max(axis=1)), held.argmax(axis=1), -1).astype(np.float64)
    return found


def _rates(profiles: Profiles) -> tuple[Floats, Floats, Floats]:
    """How often each label is given, by the assessor and by others, and in how many cases -> (assessor, label) each.

    Cases are labels of others that are far from it.  With a reference they are all items that it judged: what is far
    from a reference may as well be far by its own noise, and no others tell how often that happens.
    """
    if profiles.reference:
        return profiles.own, profiles.usual, np.broadcast_to(profiles.n_shared[:, None], profiles.own.shape)
    return profiles.far, profiles.far_rest, profiles.far_n


def _trends(profiles: Profiles) -> Iterator[tuple[str, Trend, Bools]]:
    """What may change over time, how it does, and whose change is large enough to matter and unlikely without one."""
    level = _level(profiles) / 2
    for name, trend, whole in (
        ("leniency", profiles.drift, profiles.reach),
        ("agreement with others", profiles.agreement_drift, 1.0),
    ):
        yield name, trend, (np.abs(trend.change) >= CHANGED * whole) & (trend.p < level)


def _quick(profiles: Profiles) -> Bools:
    """Less than a third of the typical time."""
    found: Bools = (profiles.n_timed >= FEWEST) & (profiles.seconds < QUICK * _typical_time(profiles))
    return found


def _typical_time(profiles: Profiles) -> float:
    """Median time of the reference, or of all if these are three or more; 0 where it is not known."""
    known = ~np.isnan(profiles.seconds) & (profiles.n_timed >= FEWEST)
    if profiles.reference:
        known &= np.isin(profiles.assessors, profiles.reference)
    return float(np.median(profiles.seconds[known])) if known.sum() > (0 if profiles.reference else 2) else 0.0


def _say_often(profiles: Profiles, n: int) -> str:
    others, favourite = _others(profiles), int(_favourite(profiles)[n])
    level = int(profiles.top[n]) if _nearly_one_label(profiles)[n] else favourite
    shares = f"{_share(profiles.own[n, level])} against {_share(profiles.usual[n, level])} on the same items"
    more = f"gives {profiles.scale.labels[level]} more often than {others}: {shares} ({_labels(profiles, n)})"
    if level != favourite or profiles.reference:
        return more
    far = f"{_share(profiles.far[n, level])} against {_share(profiles.far_rest[n, level])}"
    return f"{more}; where a label of {others} is two steps or more away, {far}"


def _labels(profiles: Profiles, n: int) -> str:
    return counted(int(profiles.n_shared[n]), "label")


def _say_unrelated(profiles: Profiles, n: int) -> str:
    return (
        f"gives the same label as {_others(profiles)} in {profiles.agreement.value[n]:.0%} of cases, by chance "
        f"{profiles.chance[n]:.0%} (kappa {profiles.kappa.value[n]:.2f}, 95 % interval {profiles.kappa.low[n]:.2f} "
        f"to {profiles.kappa.high[n]:.2f}; {_labels(profiles, n)})"
    )


def _say_shift(profiles: Profiles, n: int) -> str:
    against, leniency, size = _against(profiles), profiles.leniency, _size_of_shift(profiles, n)
    between = f"95 % interval {leniency.low[n]:+.2f} to {leniency.high[n]:+.2f}; {_labels(profiles, n)}"
    shift = against.shift[n]
    than = f"labels {abs(shift):.2f} {'higher' if shift > 0 else 'lower'} than {against.who}"
    if profiles.reference or _only_two(profiles):
        return f"{than} on the same items ({between}; {size})"
    mean = f"mean difference from the others on the same items {leniency.value[n]:+.2f} ({between})"
    return f"{than} ({size}); {mean}"


def _size_of_shift(profiles: Profiles, n: int) -> str:
    """Say how large a shift is, and from what size on it is reported."""
    against = _against(profiles)
    end, far = "highest" if against.from_top[n] else "lowest", against.far[n]
    if far < NOTHING * profiles.reach:
        return f"where that one hardly ever gives another label than the {end}"
    size = abs(against.shift[n]) / far
    return f"{size:.0%} of that one's mean distance from the {end} label, {far:.2f}; reported from {SHIFTED:.0%} on"


def _say_drift(profiles: Profiles, n: int) -> str:
    return "; ".join(
        f"{name} changes by {trend.change[n]:+.2f} from the first label to the last (p {_p(trend.p[n])})"
        for name, trend, changes in _trends(profiles)
        if changes[n]
    )


def _say_fast(profiles: Profiles, n: int) -> str:
    who = listed(profiles.reference) or "the typical assessor"
    return f"takes {profiles.seconds[n]:.1f} seconds for a label (median), {who} {_typical_time(profiles):.1f}"


def _share(value: float) -> str:
    """Say a share in per cent; none and all only where it is so."""
    text = f"{value:.0%}"
    return {"0%": "less than 1%", "100%": "more than 99%"}.get(text, text) if 0 < value < 1 else text


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.4f}"


EVIDENCE = {
    ONE_LABEL: _say_often,
    UNRELATED: _say_unrelated,
    HIGHER: _say_shift,
    LOWER: _say_shift,
    OFTEN: _say_often,
    DRIFT: _say_drift,
    FAST: _say_fast,
}

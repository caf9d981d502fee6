r"""Claims: what a judge may be trusted with, as far as the labels of the reference can tell.

The scores that the reference would give are known with their uncertainty (``comparison.corrected_scores``): labels that
it did not give are missing.  A claim is decided by an interval (95 % unless ``confidence`` is another) and a criterion:

    levels   the judge's score less that of the reference is within .02 for every system.  PASS if all intervals are
             within; FAIL if that of one system is outside
    order    tau is at least .9.  PASS if its lower bound is; FAIL if its upper bound is not
    top      tau-AP is at least .9 over the systems that the judge or the reference ranks among the first ten; likewise
    pairs    two systems that differ by more than x by the judge have the same order by the reference, except for 5 % of
             such pairs.  x is the smallest difference for which the upper bound of the share of reversed pairs is at
             most .05.  PASS if there is such an x; FAIL if the lower bound is above .05 for every x.  Errors raise the
             share: its lower end is as far below its value by corrected scores as the upper percentile of the draws is
             above it (see ``certification.order``)

Where the order is not defined: PASS if the judge and the reference both tie all systems, FAIL if the judge alone does.

Everything else is NOT ENOUGH LABELS.  All criteria are about these systems and topics.

``needed`` is how many items the reference would have to label, in all, to decide the claim.  With n of N results
labelled, the variance of a score is taken to be proportional to :math:`1/n - 1/N`, as that of a mean of n of N values
(Cochran 1977, Sampling Techniques, Section 2.5), and estimates to stay as they are: an interval that must shrink by the
factor f needs

.. math:: n' = 1 / \big( 1/N + f^2 (1/n - 1/N) \big)

It is a guide, not a guarantee: estimates that lie close to a criterion move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from venire.certification.order import DIGITS, Interval, OrderAgreement
from venire.errors import SettingError
from venire.results import Records, Tabular, known
from venire.types import Bools, Floats

PASS, FAIL, NOT_ENOUGH = "PASS", "FAIL", "NOT ENOUGH LABELS"
CLAIMS = ("levels", "order", "top", "pairs")
UNKNOWN = Interval(np.nan, np.nan, np.nan)
TIED, TIED_BY_JUDGE, TIED_BY_REFERENCE = "all tied", "all tied by the judge", "all tied by the reference"


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """What each claim requires; ``n_top`` is how many systems are the first.

    min_labels: no claim passes with fewer labels of the reference, unless they are all.  The model assumes that a judge
    favours no system by much, and too few labels cannot show that it does.
    """

    levels: float = 0.02
    order: float = 0.9
    top: float = 0.9
    pairs: float = 0.05
    n_top: int = 10
    min_labels: int = 100
    confidence: float = 0.95

    def __post_init__(self) -> None:
        ranges = {"levels": (0, np.inf), "order": (-1, 1), "top": (-1, 1), "pairs": (0, 1), "confidence": (0, 1)}
        for name, (least, most) in ranges.items():
            value = getattr(self, name)
            if not least <= value <= most or (name == "confidence" and value in (0, 1)):
                raise SettingError(f"the criterion {name} is {value:g}, expected a number from {least} to {most}")
        if self.n_top < 2:
            raise SettingError(f"the order of the first {self.n_top} is asked for, expected 2 or more")
        if self.min_labels < 0:
            raise SettingError(f"the least number of labels is {self.min_labels}, expected 0 or more")


class Sample(NamedTuple):
    """How many of the results that count the reference labelled, and how many there are."""

    labelled: int
    results: int

    @property
    def to_halve(self) -> int | None:
        """How many labels would halve intervals; None if no label is missing."""
        return self.needed(0.5)

    def needed(self, factor: float) -> int | None:
        """Return how many labels, in all, shrink intervals by a factor: more than are given, and at most all.

        None if no label is missing.

        Examples
        --------
        >>> Sample(100, 10_000).needed(0.5), Sample(100, 200).needed(0.5), Sample(200, 200).needed(0.5)
        (389, 160, None)
        """
        n, whole = self
        if n >= whole:
            return None
        wanted = ceil(1 / (1 / whole + factor**2 * (1 / max(n, 1) - 1 / whole))) if factor > 0 else whole
        return min(max(wanted, n + 1), whole)

    def to_decide(self, needed: int) -> str:
        """Say how many labels would decide a claim, beside those that are given."""
        if needed >= self.results:
            return f"All {self.results:,} results that count, not {self.labelled:,}, must be labelled to decide it."
        now = f"instead of {self.labelled:,}"
        return f"About {needed:,} labels of the reference on results that count, {now}, would decide it."


@dataclass(frozen=True)
class Claim(Tabular):
    """A claim by one measure: verdict, the value with the interval that decides it, and the labels that it needs.

    criterion: what is required of the value; needed: None if the claim is decided; detail: which system, how many
    pairs; sample: the labels that are given; share: of the pairs of systems, those that differ by more than x;
    reversed: at most so many of these.
    """

    claim: str
    measure: str
    verdict: str
    found: Interval
    criterion: float
    needed: int | None = None
    detail: str = ""
    sample: Sample | None = None
    share: float = np.nan
    reversed: int | None = None

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "claim": self.claim,
            "measure": self.measure,
            "verdict": self.verdict,
            "value": known(self.found.value),
            "needed": self.needed,
            "low": known(self.found.low),
            "high": known(self.found.high),
            "criterion": self.criterion,
            "detail": self.detail,
            "share": known(self.share),
            "reversed": self.reversed,
        }

    def records(self) -> Records:
        """Return one row."""
        return [self.record()]

    def sentence(self) -> str:
        """Say what the verdict means."""
        text = _WORDS.get((self.claim, self.verdict), _order_words)(self)
        if self.needed is None or self.sample is None:
            return text
        return f"{text} {self.sample.to_decide(self.needed)}"

    def safe(self) -> str:
        """Name the pairs of systems whose order may be trusted, where pairs pass."""
        x = self.found.value
        if np.isnan(x):
            return f"pairs of systems, which are all tied by {self.measure}"
        most = f" (of which at most {self.reversed:,} {_are(self.reversed)} reversed)" if self.reversed else ""
        if x > 0:
            return f"pairs that differ by more than {_small(x)} by {self.measure}{most}"
        return f"pairs of systems, whatever their difference by {self.measure}{most}"


def _small(x: float) -> str:
    """Write a difference with three digits after the point, or so that it is not 0."""
    return f"{x:.3f}" if x >= 0.0005 else f"{x:.1g}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


class Limits(NamedTuple):
    """Values with limits, all (system,)."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the claims by one measure are decided from.

    raw (system,): scores by the judge; corrected: those that the reference would give, with draws (draw, system);
    order: None with one system; sample: the labels of the reference.
    """

    measure: str
    systems: tuple[str, ...]
    raw: Floats
    corrected: Limits
    draws: Floats
    order: OrderAgreement | None
    sample: Sample

    @property
    def bias(self) -> Limits:
        """The score by the judge less that by the reference."""
        value, low, high = self.corrected
        return Limits(self.raw - value, self.raw - high, self.raw - low)

    def ties(self, chosen: Bools | None = None) -> Ties:
        """Tell whether all systems are tied, or all of those chosen (system,)."""
        kept = np.ones(len(self.raw), dtype=np.bool_) if chosen is None else chosen
        both = np.round(np.concatenate([self.corrected.value[None], self.draws])[:, kept], DIGITS)
        return Ties(not np.ptp(np.round(self.raw[kept], DIGITS)) > 0, np.ptp(both, axis=1) == 0)


class Ties(NamedTuple):
    """Whether all systems are tied: by the judge, by the scores of the reference, and by draws of these (draw + 1,)."""

    judge: bool
    reference: Bools

    def verdict(self) -> tuple[str, str]:
        """Decide a claim about an order that is not defined -> verdict, detail."""
        if self.judge and self.reference.all():
            return PASS, TIED
        if self.judge:
            return NOT_ENOUGH if self.reference.any() else FAIL, TIED_BY_JUDGE
        return NOT_ENOUGH, TIED_BY_REFERENCE


def claims_of(evidence: Evidence, criteria: Criteria) -> tuple[Claim, ...]:
    """Decide all claims by one measure.  With one system, levels alone."""
    sample = evidence.sample
    found = [levels_claim(evidence, criteria)]
    if evidence.order is not None:
        orders = (order_claim(name, evidence.order, evidence, criteria) for name in ("order", "top"))
        found += [*orders, pairs_claim(evidence, criteria)]
    least = min(criteria.min_labels, sample.results)
    if sample.labelled >= least:
        return tuple(found)
    return tuple(
        each if each.verdict == FAIL else replace(each, verdict=NOT_ENOUGH, needed=max(each.needed or 0, least))
        for each in found
    )


def levels_claim(evidence: Evidence, criteria: Criteria) -> Claim:
    """Decide whether the judge's scores are those of the reference."""
    bias, limit = evidence.bias, criteria.levels + 10.0**-DIGITS
    worst = int(np.argmax(np.abs(bias.value)))
    outside = (bias.low > limit) | (bias.high < -limit)
    within = (bias.low >= -limit) & (bias.high <= limit)
    verdict = FAIL if outside.any() else PASS if within.all() else NOT_ENOUGH
    if outside.any() and not outside[worst]:
        worst = int(np.flatnonzero(outside)[np.argmax(np.abs(bias.value[outside]))])
    needed = None if verdict != NOT_ENOUGH else evidence.sample.needed(_levels_factor(bias, limit))
    found = Interval(*(float(each[worst]) for each in bias))
    about = (needed, evidence.systems[worst], evidence.sample)
    return Claim("levels", evidence.measure, verdict, found, criteria.levels, *about)


def _levels_factor(bias: Limits, limit: float) -> float:
    """Return by how much intervals must shrink: that of one system outside the limits, or else all of them inside."""
    value, below, above = bias.value, bias.value - bias.low, bias.high - bias.value
    towards = np.where(value > 0, below, above)
    away = np.abs(value) - limit
    if (away > 0).any():
        return float((away / np.where(towards > 0, towards, np.inf))[away > 0].max())
    room = np.stack([limit + value, limit - value]) / np.maximum(np.stack([below, above]), 1e-300)
    return float(room.min())


def order_claim(name: str, order: OrderAgreement, evidence: Evidence, criteria: Criteria) -> Claim:
    """Decide whether all systems ("order"), or the first ("top"), are in nearly the order of the reference.

    Ties decide where a correlation is not defined.
    """
    first = name == "top"
    found, criterion = (order.tau_ap_top, criteria.top) if first else (order.tau, criteria.order)
    if np.isnan(found.value):
        verdict, detail = evidence.ties(np.isin(evidence.systems, order.top) if first else None).verdict()
        return Claim(name, evidence.measure, verdict, found, criterion, None, detail, evidence.sample)
    at_least = criterion - 10.0**-DIGITS
    verdict = PASS if found.low >= at_least else NOT_ENOUGH if found.high >= at_least else FAIL
    needed = None
    if verdict == NOT_ENOUGH:
        reach = found.value - found.low if found.value >= criterion else found.high - found.value
        needed = evidence.sample.needed(abs(found.value - criterion) / reach if reach > 0 else 0.0)
    detail = f"{len(order.top)} systems" if first else ""
    return Claim(name, evidence.measure, verdict, found, criterion, needed, detail, evidence.sample)


def pairs_claim(evidence: Evidence, criteria: Criteria) -> Claim:
    """Find the smallest difference by the judge from which on nearly no pair is reversed.

    The claim's value is x; low and high limit the share of reversed pairs beyond it.  Cost: draws x pairs.
    """
    raw, sample = evidence.raw, evidence.sample
    a, b = np.triu_indices(len(raw), 1)
    delta = np.round(raw[a] - raw[b], DIGITS)
    order = np.argsort(-np.abs(delta), kind="stable")
    order = order[np.abs(delta[order]) > 0]
    size = np.abs(delta[order])
    last = np.flatnonzero(np.append(size[1:] < size[:-1], True)[: len(size)])
    if not len(last):
        verdict, detail = evidence.ties().verdict()
        return Claim("pairs", evidence.measure, verdict, UNKNOWN, criteria.pairs, None, detail, sample)
    both = np.concatenate([evidence.corrected.value[None], evidence.draws])
    drawn = np.round(both[:, a[order]] - both[:, b[order]], DIGITS) * np.sign(delta[order])
    shares = np.cumsum(drawn < 0, axis=1)[:, last] / (last + 1.0)
    high = np.maximum(np.quantile(shares[1:], (1 + criteria.confidence) / 2, axis=0), shares[0])
    low = np.maximum(2 * shares[0] - high, 0.0)
    at_most = criteria.pairs + 10.0**-DIGITS
    passing = np.flatnonzero(high <= at_most)
    at = int(passing[-1] if len(passing) else np.argmin(high))
    n_pairs = int(last[at]) + 1
    detail, limits = f"{n_pairs:,} of {len(size):,} pairs", (float(low[at]), float(high[at]))
    if not len(passing):
        verdict = NOT_ENOUGH if (low <= at_most).any() else FAIL
        room = np.where(shares[0] < at_most, (at_most - shares[0]) / np.maximum(high - shares[0], 1e-12), 0.0)
        needed = sample.needed(float(room.max())) if verdict == NOT_ENOUGH else None
        found = Interval(np.nan, *limits)
        return Claim("pairs", evidence.measure, verdict, found, criteria.pairs, needed, detail, sample)
    beyond = float(np.append(size[1:], 0.0)[last[at]])  # pairs differ by more than the next smaller difference
    found, most = Interval(beyond, *limits), int(high[at] * n_pairs + 10.0**-DIGITS)
    about = (None, detail, sample, n_pairs / len(size), most)
    return Claim("pairs", evidence.measure, PASS, found, criteria.pairs, *about)


def _limits(found: Interval, form: str) -> str:
    """Return an interval in brackets; nothing if it has no width."""
    wide = found.high - found.low > 10.0**-DIGITS
    return f" ({found.low:{form}} to {found.high:{form}})" if wide else ""


def _bias(claim: Claim) -> str:
    found = claim.found
    limits = _limits(found, "+.3f")
    return f"by {claim.measure}, the score of {claim.detail} differs by {found.value:+.3f}{limits}"


def _tau(claim: Claim, name: str) -> str:
    found = claim.found
    value = f"not defined ({claim.detail})" if np.isnan(found.value) else f"{found.value:.2f}{_limits(found, '.2f')}"
    return f"by {claim.measure}, {name} is {value}"


_ORDERS = (("order", "all systems", "tau"), ("top", "the first systems", "tau-AP"))
_WORDS: dict[tuple[str, str], Callable[[Claim], str]] = {
    ("levels", PASS): lambda c: f"Scores are those of the reference within {c.criterion:g}: {_bias(c)} at most.",
    ("levels", FAIL): lambda c: f"Scores are not those of the reference: {_bias(c)}.",
    ("levels", NOT_ENOUGH): lambda c: f"Whether scores are those of the reference is not decided: {_bias(c)}.",
    ("pairs", PASS): lambda c: _pairs_words(c),
    ("pairs", FAIL): lambda c: f"By {c.measure}, no difference between two systems is large enough to be sure.",
    ("pairs", NOT_ENOUGH): lambda c: f"By {c.measure}, it is not decided which differences are large enough.",
}


def _pairs_words(claim: Claim) -> str:
    """Say which pairs are in the order of the reference."""
    if claim.detail == TIED:
        return f"By {claim.measure}, the judge and the reference tie all systems."
    x, n = claim.found.value, claim.reversed
    most = f"at most {n:,} of them {_are(n)} reversed" if n else "none of them is reversed"
    return (
        f"Two systems that differ {f'by more than {_small(x)} ' if x > 0 else ''}by {claim.measure} are in the order "
        f"of the reference ({claim.detail}; {most})."
    )


def _order_words(claim: Claim) -> str:
    what, name = next((what, name) for key, what, name in _ORDERS if key == claim.claim)
    nearly = "nearly " if claim.found.low <= 1 - 10.0**-DIGITS else ""
    start = {
        PASS: f"The order of {what} is {nearly}that of the reference",
        FAIL: f"The order of {what} is not that of the reference",
        NOT_ENOUGH: f"Whether the order of {what} is that of the reference is not decided",
    }
    return f"{start[claim.verdict]}: {_tau(claim, name)}."

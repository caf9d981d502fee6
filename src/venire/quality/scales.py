r"""Scale comparison: what the same judgments are worth on their own scale, on coarser and on finer ones.

The table of Chu et al. (2021, doi:10.1145/3459637.3482428; their Table 2), for each of ``quality.label_scales``:

    krippendorff_alpha, phi     how far assessors agree
    discriminative_power        share of pairs of systems told apart, for each measure (needs runs)
    pdp_individual,             how uncertain the ideal order of K documents is, in nats: lower is better (needs
    pdp_aggregate               preferences)

Agreement does not compare over scales.  Merging labels hides disagreement together with information, so that a coarse
scale can be "reliable but useless" (their Section 1); ``WARNING`` says so and goes with every result.  Discriminative
power depends on the gains of a scale.  PDP depends on the labels alone: another name for a label changes nothing.

The documents whose order PDP asks for are the same in all settings and do not depend on labels: the top of runs, or
documents with preference tests (``quality.lists``).  The PDP of each setting is compared with that of the labels
as they are, on the same topics (``quality.pdp``); intervals and p-values of a mode hold for all settings
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from venire.agreement.phi import phi
from venire.agreement.table import statistics
from venire.comparison.tests import PairedBootstrap
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.label_pairs import refuse_mixed
from venire.data.panel import Pool, in_isolation
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.errors import SettingError, VenireError
from venire.io.runs import scan
from venire.kernels.plackett_luce import most_entropy
from venire.measures.scoring import MeasureLike
from venire.quality.label_preferences import LabelPreferences, cycle_warnings
from venire.quality.label_scales import SUMMED, scale_settings
from venire.quality.lists import TopLists, chosen_lists
from venire.quality.pdp import PDP, PDPDifference, compare_pdp, pdp
from venire.quality.power import discriminative_power
from venire.randomness import copied, seed_of
from venire.results import Tabular, listed
from venire.types import RNGLike

WARNING = (
    "agreement (alpha, Phi) does not compare across scales: a coarser scale can be more reliable and yet tell less "
    '("reliable but useless"); compare settings by PDP, where lower is better, and by discriminative power with care'
)
MEANINGS = {
    "krippendorff_alpha": "agreement beyond chance: 1 is full agreement, 0 what chance gives",
    "phi": "how closely labels lie around a value of each item: 1 is full agreement, 0 labels spread evenly",
    "discriminative_power": "share of pairs of systems whose difference chance in the topics does not explain",
    "pdp_individual": "nats of uncertainty about the order of K documents, each assessor a witness: lower is better",
    "pdp_aggregate": "nats of uncertainty about the order of K documents, labels pooled first: lower is better",
}
ALPHA, POWER, MODES = "krippendorff_alpha", "discriminative_power", ("individual", "aggregate")
N_DRAWS, N_TESTS = 300, 1000
"""Resamples of topics: for an interval, and for a test of two systems."""


@dataclass(frozen=True)
class ScaleValue:
    """A number for one setting: ``labels`` counts those of its scale; value None with a reason."""

    setting: str
    labels: int
    statistic: str
    measure: str | None
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class ScaleComparison(Tabular):
    """Numbers by setting, those of a setting together; ``notes`` says what to be careful about.

    ``differences`` are those of the PDP of each setting from that of the labels as they are: positive, more is open.
    """

    values: tuple[ScaleValue, ...]
    notes: tuple[str, ...] = ()
    differences: tuple[PDPDifference, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON object per number."""
        return [each.record() for each in self.values]

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings, as they are first."""
        return tuple(dict.fromkeys(each.setting for each in self.values))

    def of(self, statistic: str, measure: str | None = None) -> dict[str, float]:
        """Return the values of a statistic that are known, by setting."""
        return {
            each.setting: each.value
            for each in self.values
            if each.statistic == statistic and measure in (None, each.measure) and each.value is not None
        }

    def meanings(self) -> dict[str, str]:
        """Say of each statistic that is there what it means."""
        there = dict.fromkeys(each.statistic for each in self.values)
        return {name: MEANINGS[name] for name in there}

    def sentence(self) -> str:
        """Say which settings tell significantly more or less than the labels as they are."""
        own = self.settings[0]
        for mode in MODES:
            found, known = self.of(f"pdp_{mode}"), [each for each in self.differences if each.mode == mode]
            if own in found and any(each.difference is not None for each in known):
                return _by_pdp(mode, found[own], known)
        return _by_power(self, own)


def compare_scales(
    judgments: Judgments,
    runs: Runs | None = None,
    measures: Sequence[MeasureLike] = ("nDCG@10",),
    *,
    preferences: Preferences | None = None,
    reduce: str = "all",
    extend: Iterable[float] = (),
    sums: bool = False,
    k: int | None = None,
    choose: str | None = None,
    lists: TopLists | None = None,
    gains: GainsLike = "linear",
    pool: str | Pool = "median",
    agreement: bool = True,
    n_draws: int | None = None,
    intervals: bool = True,
    rng: RNGLike = 0,
) -> ScaleComparison:
    """Compare settings of one set of judgments by agreement, discriminative power and PDP.

    Parameters
    ----------
    runs, measures, gains, pool : for discriminative power, as ``evaluate`` takes them; no runs, none of it
    preferences : for PDP; None, none of it
    reduce, extend, sums : which settings, see ``scale_settings``
    k, choose : how many documents the order is asked of, and which, as ``chosen_lists`` takes them
    lists : lists to take instead
    agreement : False leaves it out
    n_draws : resamples for each interval; None: 300, and for PDP as many as ``pdp`` chooses; 0: no intervals.  Tests
        of pairs of systems always have 1,000: with fewer, chance in them orders the settings
    intervals : False leaves those of agreement out, except for the labels as they are, which is quicker

    Notes
    -----
    Cost: that of each statistic, times the settings.
    """
    if not agreement and runs is None and preferences is None:
        raise SettingError("without agreement there is nothing to compare", hint="give runs, preferences, or both")
    seed = seed_of(rng)
    judgments, left_out = (judgments, []) if runs is None and preferences is None else in_isolation(judgments)
    refuse_mixed(judgments)
    runs = None if runs is None else scan(runs, judgments.items)
    if preferences is not None and lists is None:
        lists = chosen_lists(judgments, preferences, runs, k=k, choose=choose, rng=copied(seed))
    settings, notes = scale_settings(judgments, reduce=reduce, extend=extend, sums=sums, rng=copied(seed))
    notes = [*map(str, left_out), *notes]
    own, usual = next(iter(settings)), N_DRAWS if n_draws is None else n_draws
    draws = dict.fromkeys(settings, usual) if intervals else {**dict.fromkeys(settings, 0), own: usual}
    told = settings if agreement else {}
    values = [each for name, labels in told.items() for each in _agreement(name, labels, draws[name], seed)]
    if runs is not None:
        powers, said = _powers(settings, runs, measures, gains=gains, pool=pool, seed=seed)
        values, notes = values + powers, notes + said
    pdps: dict[tuple[str, str], PDP] = {}
    if preferences is not None and lists is not None:
        found, pdps, said = _pdps(settings, preferences, lists, n_draws=n_draws, seed=seed)
        values, notes = values + found, [*notes, *said, *cycle_warnings(preferences)]
    order = list(settings)
    values.sort(key=lambda each: order.index(each.setting))
    notes = list(dict.fromkeys([*[WARNING] * agreement, *notes]))
    return ScaleComparison(tuple(values), tuple(notes), tuple(_differences(pdps, own)))


def _agreement(name: str, judgments: Judgments, n_draws: int, seed: np.random.SeedSequence) -> list[ScaleValue]:
    """Measure how far assessors agree."""
    level = judgments.scale.measurement
    alpha = statistics(judgments, level=level, names=[ALPHA], n_draws=n_draws, rng=copied(seed))[0]
    if alpha["value"] is not None and n_draws == 0:
        alpha = {**alpha, "reason": None}  # nobody asked for the interval that is not there
    found = {ALPHA: alpha, "phi": _phi(judgments, n_draws, seed)}
    return [_value(name, judgments, statistic, record) for statistic, record in found.items()]


def _phi(judgments: Judgments, n_draws: int, seed: np.random.SeedSequence) -> dict[str, Any]:
    """Phi, or why there is none."""
    try:
        found = phi(judgments, interval=None, n_draws=n_draws, chance=False, rng=copied(seed))
    except VenireError as error:
        return {"value": None, "low": None, "high": None, "reason": error.message}
    return {"value": found.value, "low": found.low, "high": found.high, "reason": found.reason}


def _value(name: str, judgments: Judgments, statistic: str, record: Mapping[str, Any]) -> ScaleValue:
    numbers = {key: record[key] for key in ("value", "low", "high", "reason")}
    return ScaleValue(name, len(judgments.scale), statistic, None, **numbers)


def _powers(
    settings: Mapping[str, Judgments],
    runs: Runs,
    measures: Sequence[MeasureLike],
    *,
    gains: GainsLike,
    pool: str | Pool,
    seed: np.random.SeedSequence,
) -> tuple[list[ScaleValue], list[str]]:
    """Count the pairs of systems that each measure tells apart, in each setting."""
    test, own = PairedBootstrap(n=N_TESTS), next(iter(settings))
    try:
        found = discriminative_power(
            dict(settings), runs, measures, test=test, gains=[gains], pool=pool, rng=copied(seed)
        )
    except SettingError as error:
        blanks = [
            ScaleValue(name, len(labels.scale), POWER, str(measure), None, reason=error.message)
            for name, labels in settings.items()
            for measure in measures
        ]
        return blanks, []
    values = []
    for row in found.rows:
        name = row.labels if len(settings) > 1 else own
        value = ScaleValue(name, len(settings[name].scale), POWER, row.measure, row.share)
        values.append(replace(value, reason=row.reason if row.share is None else None))
    pooled = pool if isinstance(pool, str) else "a function"
    worth = gains if isinstance(gains, str) else "those given"
    how = f"discriminative power: labels pooled by {pooled}, gains {worth}, {test.words(found.rows[0].topics)}"
    return values, [how, *found.notes]


def _pdps(
    settings: Mapping[str, Judgments],
    preferences: Preferences,
    lists: TopLists,
    *,
    n_draws: int | None,
    seed: np.random.SeedSequence,
) -> tuple[list[ScaleValue], dict[tuple[str, str], PDP], list[str]]:
    """Measure PDP in both modes, in each setting; what is doubtful is said in full of the labels as they are only."""
    values, doubtful, pdps = [], [], {}
    notes = [f"PDP is of {lists.words}, K = {lists.k}: at most {most_entropy(lists.k):.3f}"]
    for name, judgments in settings.items():
        for mode in MODES:
            blank = ScaleValue(name, len(judgments.scale), f"pdp_{mode}", None, None)
            if mode == "individual" and name.endswith(SUMMED):
                values.append(replace(blank, reason="the labels of an item are summed: there are no individual ones"))
                continue
            labels = LabelPreferences(mode=mode)
            try:
                found = pdp(judgments, preferences, labels=labels, lists=lists, n_draws=n_draws, rng=copied(seed))
            except VenireError as error:
                values.append(replace(blank, reason=error.message))
                continue
            pdps[mode, name] = found
            values.append(replace(blank, value=found.value, low=found.low, high=found.high, reason=found.reason))
            if name == next(iter(settings)):
                notes += [f"PDP, {mode} mode: {word}" for word in found.warnings()]
            elif found.reason is None and found.labels.warnings():
                doubtful.append(name)
    if doubtful:
        where = ", ".join(dict.fromkeys(doubtful))
        notes.append(f"PDP rests on few tests for some pairs of labels, or on none, in {where}")
    return values, pdps, notes


def _differences(pdps: Mapping[tuple[str, str], PDP], own: str) -> list[PDPDifference]:
    """Compare the PDP of every other setting with that of the labels as they are, mode by mode."""
    found = []
    for mode in MODES:
        others = [name for each, name in pdps if each == mode and name != own]
        if (mode, own) in pdps:
            how: dict[str, Any] = {"n_comparisons": len(others)}
            base = pdps[mode, own]
            found += [compare_pdp(pdps[mode, name], base, names=(name, own), **how) for name in others]
    return found


def _by_pdp(mode: str, own: float, differences: Sequence[PDPDifference]) -> str:
    """Say which settings leave significantly more of the order of documents open than the labels as they are."""
    begin = f"By PDP in {mode} mode the labels as they are leave {own:.3f} nats of the order of documents open"
    known = [each for each in differences if each.difference is not None]
    tested = [each for each in known if each.low is not None]
    if not tested:
        shown = [f"{each.a} {each.difference:+.3f}" for each in known]
        return f"{begin}; differences from that, without intervals: {listed(shown)}."
    more = [each.a for each in tested if each.significant and (each.difference or 0) > 0]
    less = [each.a for each in tested if each.significant and (each.difference or 0) < 0]
    same = [each.a for each in tested if not each.significant]
    parts = [("significantly more", more), ("significantly less", less), ("not significantly different", same)]
    words = [f"{how}: {listed(names)}" for how, names in parts if names]
    return f"{begin}; {'; '.join(words)} ({tested[0].test})."


def _by_power(found: ScaleComparison, own: str) -> str:
    """Say which setting tells most systems apart; without that, nothing can be said."""
    measures = dict.fromkeys(each.measure for each in found.values if each.measure is not None)
    for measure in measures:
        shares = found.of(POWER, measure)
        if len(shares) > 1 and own in shares:
            best = max(shares, key=shares.__getitem__)
            if shares[best] == 0:
                return f"By {measure} no setting tells any pair of systems apart."
            if shares[best] == shares[own]:
                return (
                    f"By {measure} no other setting tells more pairs of systems apart than the labels as they are "
                    f"({shares[own]:.1%})."
                )
            return (
                f"By {measure} the setting {best} tells most pairs of systems apart ({shares[best]:.1%}); the labels "
                f"as they are {shares[own]:.1%}."
            )
    return "Nothing here says which setting is best: that takes preferences (PDP), or runs (discriminative power)."

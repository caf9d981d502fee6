r"""Scale comparison: statistics of the same judgments on their own scale, on coarser and on finer ones.

The table of Chu et al. (2021, doi:10.1145/3459637.3482428; their Table 2), for each of ``quality.label_scales``:

    krippendorff_alpha, phi     agreement of assessors
    discriminative_power        share of pairs of systems that differ significantly, for each measure (needs runs)
    pdp_individual,             how uncertain the ideal order of K documents is, in nats: lower is better (needs
    pdp_aggregate               preferences)

Agreement does not compare over scales.  Merging labels hides disagreement together with information, so that a coarse
scale can be "reliable but useless" (their Section 1); a note says so with every result.  Discriminative power depends
on the gains of a scale.  PDP depends on the labels alone: another name for a label changes nothing.

The documents whose order PDP asks for are the same in all settings and do not depend on labels: the top of runs, or
documents with preference tests (``quality.lists``).  The PDP of each setting is compared with that of the labels as
they are, on the same topics (``quality.pdp``); intervals and p-values of a mode hold for all settings together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from venire.agreement.phi import phi
from venire.agreement.table import table
from venire.comparison.tests import PairedBootstrap
from venire.data.gains import GainsLike
from venire.data.judgments import Judgments
from venire.data.label_pairs import refuse_mixed
from venire.data.panel import Pool, in_isolation
from venire.data.preferences import Preferences
from venire.data.runs import Runs
from venire.errors import SettingError, VenireError
from venire.io.judgments import JudgmentsLike, as_judgments
from venire.io.preferences import PreferencesLike, read_preferences
from venire.io.runs import RunsLike, as_runs, scan
from venire.kernels.ranking_entropy import most_entropy
from venire.measures.evaluate import labels_for
from venire.measures.scoring import MeasureLike
from venire.quality.label_preferences import MODES, LabelPreferences, cycle_warnings
from venire.quality.label_scales import SUMMED, scale_settings
from venire.quality.lists import TopLists, chosen_lists
from venire.quality.pdp import PDP, PDPDifference, compare_pdp, pdp
from venire.quality.power import discriminative_power
from venire.randomness import copied, seed_of
from venire.results import Note, Records, Tabular, listed
from venire.types import RNGLike

NOT_ACROSS_SCALES = Note(
    "agreement-across-scales",
    "agreement (alpha, Phi) does not compare across scales: a coarser scale can be more reliable and yet less "
    'informative ("reliable but useless"); compare settings by pairwise discriminative power (PDP: the uncertainty of '
    "the order of documents given their labels, lower is better), and by discriminative power with care",
)
MEANINGS = {
    "krippendorff_alpha": "agreement beyond chance: 1 is full agreement, 0 chance agreement",
    "phi": "concentration of labels around a value of each item: 1 is full agreement, 0 evenly spread labels",
    "discriminative_power": "share of pairs of systems that differ significantly",
    "pdp_individual": "uncertainty of the order of K documents in nats, from each assessor's labels: lower is better",
    "pdp_aggregate": "uncertainty of the order of K documents in nats, from pooled labels: lower is better",
}
ALPHA, POWER = "krippendorff_alpha", "discriminative_power"
N_DRAWS, N_TESTS = 300, 1000
"""Resamples of topics: for an interval, and for a test of two systems."""


@dataclass(frozen=True)
class ScaleValue:
    """A statistic of one setting: ``labels`` counts those of its scale; value None with a reason."""

    setting: str
    labels: int
    statistic: str
    measure: str | None
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def record(self) -> dict[str, Any]:
        """Return a row."""
        return asdict(self)


@dataclass(frozen=True)
class ScaleComparison(Tabular):
    """Statistics by setting, those of a setting together.

    ``differences`` are those of the PDP of each setting from that of the labels as they are: positive, more uncertain.
    """

    values: tuple[ScaleValue, ...]
    notes: tuple[Note | str, ...] = ()
    differences: tuple[PDPDifference, ...] = ()

    def records(self) -> Records:
        """Return one row per statistic and setting."""
        return [each.record() for each in self.values]

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings, the labels as they are first."""
        return tuple(dict.fromkeys(each.setting for each in self.values))

    def of(self, statistic: str, measure: str | None = None) -> dict[str, float]:
        """Return the values of a statistic that are known, by setting."""
        return {
            each.setting: each.value
            for each in self.values
            if each.statistic == statistic and measure in (None, each.measure) and each.value is not None
        }

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each statistic that is present."""
        return {name: MEANINGS[name] for name in dict.fromkeys(each.statistic for each in self.values)}

    def sentence(self) -> str:
        """Return which settings differ significantly from the labels as they are in PDP, or the power of settings."""
        own = self.settings[0]
        for mode in MODES:
            found, known = self.of(f"pdp_{mode}"), [each for each in self.differences if each.mode == mode]
            if own in found and any(each.difference is not None for each in known):
                return _by_pdp(mode, found[own], known)
        for measure in dict.fromkeys(each.measure for each in self.values if each.measure is not None):
            shares = self.of(POWER, measure)
            if len(shares) > 1 and own in shares:
                best = max(shares, key=shares.__getitem__)
                return (
                    f"Share of pairs of systems that differ significantly by {measure}: {shares[own]:.1%} with the "
                    f"labels as they are, at most {shares[best]:.1%} ({best})."
                )
        return "Settings are compared by PDP, which needs preferences, or by discriminative power, which needs runs."


def compare_scales(
    judgments: JudgmentsLike,
    runs: RunsLike | None = None,
    measures: Sequence[MeasureLike] = ("nDCG@10",),
    *,
    preferences: PreferencesLike | None = None,
    merge: str = "all",
    split: Iterable[float] = (),
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
    runs, measures, gains, pool : for discriminative power, as ``evaluate`` takes them; it is left out without runs
    preferences : for PDP, which is left out without them
    merge, split, sums : which settings, see ``scale_settings``
    k, choose : number of documents per list, and which, as ``chosen_lists`` takes them
    lists : lists to take instead
    agreement : False leaves it out
    n_draws : resamples for each interval; None: 300, and for PDP as many as ``pdp`` chooses; 0: no intervals.  Tests
        of pairs of systems always have 1,000: with fewer, chance in them orders the settings
    intervals : False leaves those of agreement out, except for the labels as they are, which is quicker

    Notes
    -----
    Cost: that of each statistic, times the settings.
    """
    judgments = as_judgments(judgments)
    if runs is not None:
        judgments = labels_for(judgments, measures)
    runs = None if runs is None else as_runs(runs)
    preferences = None if preferences is None else read_preferences(preferences)
    if not agreement and runs is None and preferences is None:
        raise SettingError("without agreement there is nothing to compare", hint="give runs, preferences, or both")
    seed = seed_of(rng)
    notes: list[Any] = []
    if runs is not None or preferences is not None:
        judgments, notes = in_isolation(judgments)
    refuse_mixed(judgments)
    runs = None if runs is None else scan(runs, judgments.items)
    if preferences is not None and lists is None:
        lists = chosen_lists(judgments, preferences, runs, k=k, choose=choose, rng=copied(seed))
    settings, about = scale_settings(judgments, merge=merge, split=split, sums=sums, rng=copied(seed))
    notes = [*[NOT_ACROSS_SCALES] * agreement, *notes, *about]
    own, usual = next(iter(settings)), N_DRAWS if n_draws is None else n_draws
    values: list[ScaleValue] = []
    for name, labels in settings.items() if agreement else ():
        values += _agreement(name, labels, usual if intervals or name == own else 0, seed)
    if runs is not None:
        powers, about = _powers(settings, runs, measures, gains=gains, pool=pool, seed=seed)
        values, notes = values + powers, notes + about
    pdps: dict[tuple[str, str], PDP] = {}
    if preferences is not None and lists is not None:
        found, pdps, about = _pdps(settings, preferences, lists, n_draws=n_draws, seed=seed)
        values, notes = values + found, [*notes, *about, *cycle_warnings(preferences)]
    order = list(settings)
    values.sort(key=lambda each: order.index(each.setting))
    return ScaleComparison(tuple(values), tuple(dict.fromkeys(notes)), tuple(_differences(pdps, own)))


def _agreement(name: str, judgments: Judgments, n_draws: int, seed: np.random.SeedSequence) -> list[ScaleValue]:
    """Measure agreement of assessors by alpha and Phi."""
    blank = ScaleValue(name, len(judgments.scale), ALPHA, None, None)
    measurement = judgments.scale.measurement
    (record,) = table(judgments, measurement=measurement, names=[ALPHA], n_draws=n_draws, rng=copied(seed)).records()
    alpha = {key: record[key] for key in ("value", "low", "high", "reason")}
    if alpha["value"] is not None and n_draws == 0:
        alpha["reason"] = None  # no interval was asked for
    of_phi = replace(blank, statistic="phi")
    try:
        found = phi(judgments, interval=None, n_draws=n_draws, chance=False, rng=copied(seed))
        of_phi = replace(of_phi, value=found.value, low=found.low, high=found.high, reason=found.reason)
    except VenireError as error:
        of_phi = replace(of_phi, reason=error.message)
    return [replace(blank, **alpha), of_phi]


def _powers(
    settings: Mapping[str, Judgments],
    runs: Runs,
    measures: Sequence[MeasureLike],
    *,
    gains: GainsLike,
    pool: str | Pool,
    seed: np.random.SeedSequence,
) -> tuple[list[ScaleValue], list[Any]]:
    """Measure discriminative power by each measure in each setting."""
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
    method = Note(
        "power-method",
        "discriminative power: labels pooled by {pool}, gains {gains}, {test}",
        pool=pool if isinstance(pool, str) else "a function",
        gains=gains if isinstance(gains, str) else "as given",
        test=test.words(found.rows[0].topics),
    )
    return values, [method, *found.notes]


def _pdps(
    settings: Mapping[str, Judgments],
    preferences: Preferences,
    lists: TopLists,
    *,
    n_draws: int | None,
    seed: np.random.SeedSequence,
) -> tuple[list[ScaleValue], dict[tuple[str, str], PDP], list[Note]]:
    """Measure PDP in both modes, in each setting; all notes are on the labels as they are."""
    values, doubtful, pdps = [], [], {}
    words = "PDP is of {lists}, K = {k}: at most {most:.3f}"
    notes = [Note("pdp-lists", words, lists=lists.words, k=lists.k, most=most_entropy(lists.k))]
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
                notes += [
                    Note(note.kind, "PDP, {mode} mode: " + note.template, **note.fields | {"mode": mode})
                    for note in found.warnings()
                ]
            elif found.reason is None and found.labels.warnings():
                doubtful.append(name)
    if doubtful:
        words = "PDP rests on few tests for some pairs of labels, or on none, in {settings:list}"
        notes.append(Note("few-tests", words, settings=list(dict.fromkeys(doubtful))))
    return values, pdps, notes


def _differences(pdps: Mapping[tuple[str, str], PDP], own: str) -> list[PDPDifference]:
    """Compare the PDP of every other setting with that of the labels as they are, mode by mode."""
    found = []
    for mode in MODES:
        others = {name: each for (of, name), each in pdps.items() if of == mode}
        if (base := others.pop(own, None)) is not None:
            n = len(others)
            found += [compare_pdp(each, base, names=(name, own), n_comparisons=n) for name, each in others.items()]
    return found


def _by_pdp(mode: str, own: float, differences: Sequence[PDPDifference]) -> str:
    """Return which settings differ significantly from the labels as they are."""
    known = [each for each in differences if each.difference is not None]
    shown = {
        "significantly more uncertain": [each.a for each in known if each.significant and (each.difference or 0) > 0],
        "significantly less uncertain": [each.a for each in known if each.significant and (each.difference or 0) < 0],
        "not significantly different": [each.a for each in known if each.low is not None and not each.significant],
        "without an interval": [f"{each.a} {each.difference:+.3f}" for each in known if each.low is None],
    }
    words = [f"{how}: {listed(names)}" for how, names in shown.items() if names]
    test = next((f" ({each.test})" for each in known if each.test), "")
    return f"PDP of the labels as they are is {own:.3f} nats in {mode} mode; {'; '.join(words)}{test}."

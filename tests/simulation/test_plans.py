"""Forecasts of plans come true: half-widths, and how often a goal is decided, once the second labels are there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from long_rows import judgments_of
from venire import PredictedRelevance, Preferences
from venire.agreement import alpha
from venire.data.judgments import Judgments
from venire.io.judgments import as_judgments
from venire.kernels.shares import clustered_shares
from venire.planning import plan_preferences
from venire.planning.agreement import patterns_of_two
from venire.planning.alpha_forecast import AlphaForecast
from venire.planning.labels import LOG_SPREAD, MIDDLE, RARE, LabelPairs
from venire.planning.preference_tests import LabelTests
from venire.planning.second_judgments import candidates, sampled

N_TOPICS, N_ITEMS, N_COLLECTIONS = (15, 30, 50), 40, 240
WITHIN = (0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.115, 0.13, 0.15, 0.17, 0.2)


def double_judged(rng) -> Judgments:
    """Two labels of every item: topics differ in which labels are frequent and in how far people agree.

    In a topic, the second person gives the same label with probability ``same``, and else one by its frequencies.  Both
    vary so that p(2|2) has an intra-class correlation as ``planning.labels`` expects it of real collections.  So this
    tests what the forecast does with its assumptions, not the assumptions.
    """
    share, agree, alike = rng.dirichlet([4, 3, 1.5]), rng.uniform(0.05, 0.5), rng.choice([6, 12, 40])
    top = share[2]
    p = agree + (1 - agree) * top
    expected = (
        top**-RARE * (p * (1 - p) / (top * (1 - top))) ** MIDDLE * np.exp(LOG_SPREAD * rng.normal()) / (alike + 1)
    )
    of_labels = (1 - agree) ** 2 * top * (1 - top) / (alike + 1)
    variance = np.maximum(expected * p * (1 - p) - of_labels, 0.001) / (1 - top) ** 2
    weight = np.maximum(agree * (1 - agree) / variance - 1, 0.5)
    rows = []
    for topic in range(int(rng.choice(N_TOPICS))):
        own, same = rng.dirichlet(share * alike), rng.beta(agree * weight, (1 - agree) * weight)
        joint = same * np.diag(own) + (1 - same) * np.outer(own, own)
        pairs = np.divmod(rng.choice(9, size=N_ITEMS, p=joint.ravel() / joint.sum()), 3)
        for n, labels in enumerate(zip(*pairs, strict=True)):
            people = rng.permutation(["ann", "bob"])
            rows += [(topic, f"d{n:02}", who, int(label)) for who, label in zip(people, labels, strict=True)]
    return judgments_of(rows)


class Known:
    """First labels of all items, and the row of the other one (item,)."""

    def __init__(self, labels: Judgments, rng) -> None:
        order = np.lexsort((rng.random(len(labels)), labels.item))
        self.labels, self.first, self.other = labels, order[::2], np.empty(len(labels.items), dtype=int)
        self.other[labels.item[order[1::2]]] = order[1::2]
        self.rows, self.chance = self.first, np.full(len(self.first), np.nan)

    def now(self) -> Judgments:
        return replace(self.labels.take(self.rows), probability=self.chance)

    def ask(self, n: int, rng) -> None:
        found = candidates(self.now(), None, "cat")
        chance, drawn = sampled(found, LabelPairs.of(found, None).item_sizes(n), n, rng)
        self.rows = np.append(self.rows, self.other[found.item[drawn]])
        self.chance = np.append(self.chance, chance[drawn])


def forecast_and_reached(rng):
    """Half-widths drawn by the forecast, and the one reached; first labels alone, or 100 second ones too, are known."""
    known = Known(double_judged(rng), rng)
    if rng.random() < 0.7:
        known.ask(100, rng)
    n = int(rng.choice([100, 200, 400]))
    expected = LabelPairs.of(candidates(known.now(), None, "cat"), None).half_widths([n], rng)[0]
    known.ask(n, rng)
    fit = PredictedRelevance().fit(known.now())
    return expected, float(((fit.spread.high - fit.spread.low) / 2).max())


@pytest.fixture(scope="module")
def forecasts():
    found = [forecast_and_reached(rng) for rng in np.random.default_rng(11).spawn(N_COLLECTIONS)]
    return [each for each in found if np.isfinite(each[1])]


def test_half_widths_are_those_of_the_forecast(forecasts, figure):
    ratio = np.array([reached / np.median(expected) for expected, reached in forecasts])
    figure("half-width reached, over that of the forecast", np.median(ratio))
    assert np.median(ratio) == pytest.approx(1, abs=0.06)
    below = np.array([(expected < reached).mean() for expected, reached in forecasts])
    assert ((below > 0.025) & (below < 0.975)).mean() > 0.85


def test_goals_are_decided_as_often_as_forecast(forecasts, figure):
    """Over collections without and with second labels together; in each of both parts the shares differ by more."""
    p = np.array([[(expected <= within).mean() for within in WITHIN] for expected, _ in forecasts])
    decided = np.array([[reached <= within for within in WITHIN] for _, reached in forecasts])
    n_bins = 0
    for low, high in pairwise((0, 0.05, 0.35, 0.65, 0.95, 1)):
        some = (p >= low) & ((p < high) | (high == 1))
        if some.sum() >= 200:
            n_bins += 1
            figure(f"decided where p is {p[some].mean():.2f}", decided[some].mean())
            assert decided[some].mean() == pytest.approx(p[some].mean(), abs=0.07)
    assert n_bins >= 4


def alpha_forecast_and_reached(rng):
    """Half-widths of alpha drawn by the forecast after 150 second labels, and the one reached with 200 more."""
    known = Known(double_judged(rng), rng)
    for n in (150, 200):
        found = candidates(known.now(), None, "cat")
        expected, spread = AlphaForecast.of(found, patterns_of_two(found)).half_widths([200], rng)[0]
        _, drawn = sampled(found, np.ones(len(found)), n, rng)
        known.rows = np.append(known.rows, known.other[found.item[drawn]])
        known.chance = np.full(len(known.rows), np.nan)
    coefficient = alpha(known.now())
    return expected * np.exp(spread * rng.normal(size=len(expected))), (coefficient.high - coefficient.low) / 2


def test_half_widths_of_alpha_are_those_of_the_forecast(figure):
    """Topics have less in common here than in real labels, so that the forecast is somewhat cautious."""
    found = [alpha_forecast_and_reached(rng) for rng in np.random.default_rng(3).spawn(100)]
    ratio = np.array([reached / np.median(expected) for expected, reached in found])
    figure("half-width of alpha reached, over that of the forecast", np.median(ratio))
    assert np.median(ratio) == pytest.approx(1, abs=0.1)
    below = np.array([(expected < reached).mean() for expected, reached in found])
    inside = ((below > 0.1) & (below < 0.9)).mean()
    figure("half-widths of alpha within the 80 % of the forecast", inside)
    assert 0.7 < inside < 0.93


def answered(asked, better, rng):
    """Choices on the pairs that were asked for: a higher label wins as often as in its topic, ``better``."""
    rows = []
    for each in asked:
        first, second = int(each.doc.split("-")[0]), int(each.other.split("-")[0])
        won = rng.random() < better[int(each.topic), max(first, second)]
        rows.append((each.topic, each.doc, each.other, 1 if won == (first > second) else -1))
    return rows


def test_the_half_width_of_preferences_is_that_of_the_forecast():
    ratio = []
    for rng in np.random.default_rng(8).spawn(40):
        n_topics = int(rng.choice([20, 50]))
        labels = {str(t): {f"{n % 3}-{n}": n % 3 for n in range(18)} for t in range(n_topics)}
        alike = rng.choice([5, 20])
        better = np.stack([rng.beta(p * alike, (1 - p) * alike, n_topics) for p in rng.uniform(0.5, 0.9, 3)], axis=1)
        pilot = answered(plan_preferences(labels, budget=60, rng=rng).asked, better, rng)
        plan = plan_preferences(labels, Preferences.of(pilot), budget=240, within=0.05, rng=rng)
        expected = next(each.half_width for each in plan.forecast if each.budget == 240)
        both = Preferences.of([*pilot, *answered(plan.asked, better, rng)])
        _, low, high = clustered_shares(*LabelTests.of(as_judgments(labels), both).present)
        ratio.append((high - low).max() / 2 / expected)
    assert np.median(ratio) == pytest.approx(1, abs=0.08)

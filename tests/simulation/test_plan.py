"""Plans: looks after each round keep the error rate, intervals cover, and forecasts come true."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from scipy.stats import binomtest, t as student

from planned_studies import Study
from venire.planning.new_systems import SPREAD, NewSystems
from venire.planning.question import reach_of
from venire.planning.result import DECIDED

BUDGET, BATCH, KNOWN = 120, 24, 30
PARTS = 4


def difference(found) -> tuple[float, float]:
    """Difference of the first two systems, and its standard deviation."""
    covariance = found.now.covariance
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return float(found.now.value[0] - found.now.value[1]), float(np.sqrt(max(variance, 0.0)))


@pytest.fixture
def from_all_parts(tmp_path_factory):
    """Return a function that keeps what a part found, and returns what all parts found once the last one is done.

    Parts may run in different processes of pytest-xdist, whose temporary folders are in one.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def found_by_all(name, part, found):
        path = shared / f"{name}-{part}.json"
        path.with_suffix(".part").write_text(json.dumps(found))
        path.with_suffix(".part").replace(path)
        paths = [shared / f"{name}-{n}.json" for n in range(PARTS)]
        return [json.loads(each.read_text()) for each in paths] if all(each.exists() for each in paths) else None

    return found_by_all


@pytest.mark.parametrize("part", range(PARTS))
def test_five_looks_at_equal_systems_keep_the_error_rate(part, collections, figure, from_all_parts):
    """A part of the studies; the part that ends last checks the rate of all of them."""
    n_studies = min(collections(60), 1000)
    streams = list(enumerate(np.random.default_rng(5).spawn(n_studies)))[part::PARTS]
    wrong = sum(
        Study.simulate(rng, equal=True).rounds("pair:s0,s1", budget=BUDGET, batch=BATCH, seed=n)[0] == DECIDED
        for n, rng in streams
    )
    assert binomtest(wrong, len(streams), 0.05, alternative="greater").pvalue > 1e-3
    every = from_all_parts("five-looks", part, wrong)
    if every is not None:
        found = binomtest(sum(every), n_studies)
        figure(f"error rate over five looks in {n_studies:,} studies", found.statistic)
        assert found.proportion_ci(0.9).high <= (0.07 if n_studies == 1000 else 0.12)


def test_intervals_cover_after_planned_rounds(collections, figure):
    covered, decided, wrong = [], [], []
    for n, rng in enumerate(np.random.default_rng(6).spawn(min(collections(60), 100))):
        study = Study.simulate(rng, equal=False)
        state, found, _ = study.rounds("pair:s0,s1", budget=BUDGET, batch=BATCH, seed=n)
        value, sd = difference(found)
        truth = study.truth[0] - study.truth[1]
        covered.append(abs(value - truth) <= reach_of(found.scene.degrees, 0.05) * sd + 1e-12)
        decided.append(state == DECIDED)
        wrong.append(state == DECIDED and value * truth <= 0)
    figure("coverage after planned rounds", np.mean(covered))
    figure("decided", np.mean(decided))
    figure("decided in the wrong order", np.mean(wrong))
    assert binomtest(sum(covered), len(covered), 0.93).pvalue > 1e-3 or np.mean(covered) > 0.93
    assert binomtest(sum(wrong), len(wrong), 0.05, alternative="greater").pvalue > 1e-3


def test_results_without_a_label_are_as_far_from_their_prediction_as_stated(collections, figure):
    """Labels of three rounds have probabilities, and weights, that differ much."""
    squared, stated = [], []
    for n, rng in enumerate(np.random.default_rng(9).spawn(min(collections(60), 200))):
        study = Study.simulate(rng, equal=False)
        found = study.plan("levels", study.nothing, seed=n)
        probability = study.nothing
        for budget in (20, 60, 300):
            chance = found.candidates.probabilities(budget)
            drawn = found.candidates.draw(chance, rng)
            probability[found.candidates.item[drawn]] = chance[drawn]
            found = study.plan("levels", probability, seed=n)
        model = found.scene.models[0]
        unknown = ~model.known
        distance = study.gains[model.item] - model.around.mean - model.effects.expected()
        squared.append((distance[unknown] ** 2).sum())
        stated.append((model.deviation()[unknown] ** 2).sum())
    figure("squared distance from the prediction, over its variance", np.sum(squared) / np.sum(stated))
    assert np.sum(squared) / np.sum(stated) == pytest.approx(1.0, abs=0.1)


def test_forecasts_come_true_once_some_labels_are_known(collections, figure):
    """Before the first label nothing is known of the judge, and forecasts are right on average over judges only."""
    stated, happened = [], []
    for n, rng in enumerate(np.random.default_rng(7).spawn(min(collections(60), 600))):
        study = Study.simulate(rng, equal=False)
        probability = study.nothing
        some = rng.choice(len(probability), KNOWN, replace=False)
        probability[some] = KNOWN / len(probability)
        before = study.plan("pair:s0,s1", probability, seed=n)
        stated.append(before.expected(60.0, 0.05).p_decided)
        chance = before.candidates.probabilities(60.0)
        drawn = before.candidates.draw(chance, np.random.default_rng(n))
        probability[before.candidates.item[drawn]] = chance[drawn]
        happened.append(study.plan("pair:s0,s1", probability, seed=n).decided(0.05))
    stated, happened = np.array(stated), np.array(happened)
    for low in np.arange(0, 1, 0.2):
        own = (stated >= low) & (stated < low + 0.2 + 1e-9)
        if own.sum() >= 200:
            figure(f"stated {stated[own].mean():.2f} with {KNOWN} labels, decided", happened[own].mean())
            assert abs(stated[own].mean() - happened[own].mean()) <= 0.07
    assert abs(stated.mean() - happened.mean()) <= max(0.07, 3 / np.sqrt(len(stated)))


def test_forecasts_of_topics_without_runs_come_true_where_systems_differ_as_is_usual(collections, figure):
    """Systems whose standard deviations are drawn from the prior, normal differences over topics."""
    rng = np.random.default_rng(8)
    stated, happened = [], []
    for n_topics in rng.integers(2, 60, 100 * collections(60)):
        new = NewSystems("P@10", n_topics=2, sd=float(rng.uniform(0.1, 0.3)))
        more, within = float(n_topics - 2), float(np.exp(rng.uniform(np.log(0.02), np.log(0.3))))
        stated.append(new.expected(more, within).p_decided)
        differences = rng.normal(0.0, new.sd * np.exp(SPREAD * rng.normal()), n_topics)
        half_width = student.ppf(0.975, n_topics - 1) * differences.std(ddof=1) / np.sqrt(n_topics)
        happened.append(half_width <= within)
    stated, happened = np.array(stated), np.array(happened)
    for low in np.arange(0, 1, 0.2):
        own = (stated >= low) & (stated < low + 0.2 + 1e-9)
        assert own.sum() >= 200
        figure(f"stated {stated[own].mean():.2f} without runs, decided", happened[own].mean())
        assert abs(stated[own].mean() - happened[own].mean()) <= 0.07

"""Second judgments planned for alpha: is the half-width that is reached the one that was forecast?

    python bench/plan_agreement.py DATA [--samples N] [--pilot N] [--collections] [--half HALF] [--only PART]

DATA holds ``rf10_crowd`` and ``dl21_full``.  Each sample is a pair of judges of the latter on 10 to 53 topics, or with
--collections a part of the crowd labels, as in ``bench/plan_labels.py``.  Each plans and reveals 100, 300 or 800 second
judgments, after a pilot of so many.  The calibration compares the probability of a forecast with how often it came
true, for half-widths from .03 to .3.

--half takes one half of the judges, or of the topics of the crowd labels: the constants of ``planning.alpha_forecast``
were estimated on half a.  --only widths prints the half-width over its forecast: mean and standard deviation of the
logarithm, and the one that was stated, by budget, by alpha of all double judgments, and by number of topics.
--only priors prints the constants of highest marginal likelihood, given all double judgments of samples of both
collections: those of alpha by the judges alone, those of the correlation by both, as all pairs are two people.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from plan_labels import BINS, Sample, collections, crowd, judges, pairs_of_judges
from scipy.optimize import minimize
from scipy.stats import beta

from venire import Judgments
from venire.agreement import alpha
from venire.planning.agreement import patterns_of_two
from venire.planning.alpha_forecast import (
    CORRELATION,
    AlphaForecast,
    _likelihood,
    label_correlation,
    people_in_a_topic,
)
from venire.planning.second_judgments import Candidates, candidates, sampled
from venire.types import Floats, Ints

BUDGETS = (100, 300, 800)
WITHIN = (0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3)
LEAST = 0.02
"""Pairs of judges whose alpha cannot be above this do not tell what it is like."""
HALVES = {"a": 0, "b": 1}
PARTS = ("calibration", "widths", "priors")


class Case(NamedTuple):
    """A budget: probability of each of ``WITHIN``, logarithm of the half-width over its forecast, and its spread.

    alpha: of all double judgments of the sample.
    """

    p: Floats
    reached: float
    ratio: float
    spread: float
    budget: int
    alpha: float
    n_topics: int


class Whole(NamedTuple):
    """All double judgments of a sample: alpha, log-likelihood of ``CORRELATION``, and what the labels say.

    possible: least and largest alpha that the forecast expects.
    """

    alpha: float
    likelihood: Floats
    label_correlation: float
    n_people: float
    possible: tuple[float, float]


def main() -> None:
    """Print the part asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--pilot", type=int, default=0)
    parser.add_argument("--collections", action="store_true")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--only", choices=PARTS, default=PARTS[0])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.only == "priors":
        each = (list(filter(None, map(whole, drawn(asked, crowds, streams(asked))))) for crowds in (False, True))
        print_priors(*each)
        return
    samples = zip(drawn(asked, asked.collections, streams(asked)), streams(asked), strict=True)
    found = [case for each, rng in samples for case in cases(each, asked.pilot, rng)]
    print_calibration(found) if asked.only == "calibration" else print_widths(found)


def streams(asked: argparse.Namespace) -> list[np.random.Generator]:
    """Random numbers of each sample."""
    return np.random.default_rng(1).spawn(asked.samples)


def drawn(asked: argparse.Namespace, crowds: bool, random: list[np.random.Generator]) -> Iterator[Sample]:
    """Yield parts of the crowd labels, or pairs of judges."""
    labels = crowd(asked.data / "rf10_crowd") if crowds else judges(asked.data / "dl21_full")
    if asked.half is not None:
        labels = half(labels, HALVES[asked.half], by="topic" if crowds else "assessor")
    return (collections if crowds else pairs_of_judges)(labels, random)


def half(labels: Judgments, which: int, *, by: str) -> Judgments:
    """Take half of the judges, or of the topics, always the same ones."""
    names = labels.assessors if by == "assessor" else tuple(labels.items.topics)
    chosen = np.random.default_rng(77).permutation(len(names))
    part = np.array_split(chosen, 2)[which]
    return labels.where(**{by: [names[n] for n in part.tolist()]})


def cases(sample: Sample, pilot: int, rng: np.random.Generator) -> list[Case]:
    """Plan and reveal each budget after a pilot."""
    topic = sample.labels.items.topic[sample.labels.item[sample.first]]
    topics = np.unique(topic)
    kept = np.isin(topic, rng.choice(topics, int(rng.integers(min(10, len(topics)), len(topics) + 1)), replace=False))
    first, second = sample.first[kept], np.full(len(sample.labels.items), -1)
    second[sample.labels.item[sample.second]] = sample.second
    truth = alpha(labels_of(sample, first, second[sample.labels.item[first]])).value
    again, now = reveal(sample, first, second, second[:0], pilot, rng)
    known = AlphaForecast.of(now, patterns_of_two(now))
    found = []
    for n in (n for n in BUDGETS if pilot + n <= len(first) and truth is not None):
        rows, _ = reveal(sample, first, second, again, n, rng)
        coefficient = alpha(labels_of(sample, first, rows))
        if coefficient.low is not None and coefficient.high is not None:
            reached = (coefficient.high - coefficient.low) / 2
            p = np.array([known.expected([n], [n], within, np.random.default_rng(n))[0].p_decided for within in WITHIN])
            half_width, spread = known.half_widths([n], np.random.default_rng(n))[0]
            middle = np.median(half_width)
            stated = np.hypot(np.std(np.log(half_width)), spread.mean())
            n_topics = len(np.unique(topic[kept]))
            found.append(Case(p, reached, float(np.log(reached / middle)), float(stated), n, truth, n_topics))
    return found


def reveal(
    sample: Sample, first: Ints, second: Ints, again: Ints, n: int, rng: np.random.Generator
) -> tuple[Ints, Candidates]:
    """Draw items as a plan does, and add their second labels; second (item,) -> rows, and the candidates with these."""
    now = candidates(labels_of(sample, first, again), None, "another")
    if n:
        _, drawn = sampled(now, np.ones(len(now)), n, rng)
        again = np.append(again, second[now.item[drawn]])
        now = candidates(labels_of(sample, first, again), None, "another")
    return again, now


def labels_of(sample: Sample, first: Ints, second: Ints) -> Judgments:
    """The first labels, and second ones of some items."""
    return replace(sample.labels.take(np.append(first, second)), probability=None)


def print_calibration(found: Sequence[Case]) -> None:
    """Print how often goals were decided, by the probability of the forecast."""
    p, reached = np.array([each.p for each in found]), np.array([each.reached for each in found])
    print(f"{len(found)} cases: half-width over its forecast {np.exp(np.median([each.ratio for each in found])):.2f}")
    for low, high in pairwise(BINS.tolist()):
        some = (p >= low) & ((p < high) | (high == 1))
        if some.any():
            mean, decided = p[some].mean(), (reached[:, None] <= WITHIN)[some].mean()
            print(f"p {low:.1f} to {high:.1f}: {some.sum()} goals, mean p {mean:.3f}, decided {decided:.3f}")


def print_widths(found: Sequence[Case]) -> None:
    """Print the logarithm of half-widths over their forecasts."""
    edges = {"budget": (100, 300, 800, 10_000), "alpha": (-1, 0.1, 0.3, 0.5, 0.7, 1), "n_topics": (1, 10, 20, 30, 99)}
    for name, ends in edges.items():
        for low, high in pairwise(ends):
            some = [each for each in found if low <= getattr(each, name) < high]
            if len(some) > 1:
                ratio, stated = np.array([each.ratio for each in some]), np.mean([each.spread for each in some])
                number = f"{name} {low} to {high}: {len(some)} cases"
                print(f"{number}, mean {ratio.mean():.3f}, sd {ratio.std():.3f}, stated {stated:.3f}")


def whole(sample: Sample) -> Whole | None:
    """Return what all double judgments of a sample say; None where alpha has no interval."""
    every = candidates(labels_of(sample, sample.first, sample.second), None, "another")
    found = alpha(every.labels)
    if found.value is None or found.low is None:
        return None
    known = AlphaForecast.of(every, patterns_of_two(every))
    variance = known.chance.sum(axis=1) @ known.variance
    likelihood = _likelihood(known.number, known.total, np.array([variance]), np.zeros((len(known.number), 1)))[0]
    first = candidates(labels_of(sample, sample.first, sample.second[:0]), None, "another")
    ends = AlphaForecast.of(first, None).alpha[[0, -1]].tolist()
    return Whole(
        found.value, likelihood, label_correlation(first.labels), people_in_a_topic(first.labels), (ends[0], ends[1])
    )


def print_priors(of_judges: Sequence[Whole], of_crowd: Sequence[Whole]) -> None:
    """Print the constants with the highest likelihood: of alpha, and of the correlation of contributions."""
    people = np.array([each.n_people for each in (*of_judges, *of_crowd)])
    likelihood = np.array([each.likelihood for each in (*of_judges, *of_crowd)])
    of_judges = [each for each in of_judges if each.possible[1] > LEAST]
    of_labels = np.array([each.label_correlation for each in of_judges])
    low, high = np.array([each.possible for each in of_judges]).clip(0, 1).T
    value = np.array([each.alpha for each in of_judges]).clip(np.maximum(low, LEAST / 2), high - LEAST / 4)

    def of_alpha(constants: Floats) -> float:
        middle, steep, weight = np.exp(constants)
        mean = (1 / (1 + (middle / of_labels) ** steep)).clip(0.01, 0.99)
        given = beta(weight * mean, weight * (1 - mean))
        return -float((given.logpdf(value) - np.log(np.maximum(given.cdf(high) - given.cdf(low), 1e-9))).sum())

    def of_correlation(constants: Floats) -> float:
        log, middle = np.log(CORRELATION), constants[0] - constants[2] * np.log(people / 2)
        prior = np.log(np.gradient(log)) - np.square((log - middle[:, None]) / np.exp(constants[1])) / 2
        prior -= np.logaddexp.reduce(prior, axis=1, keepdims=True)
        return -float(np.logaddexp.reduce(prior + likelihood, axis=1).sum())

    best = np.exp(minimize(of_alpha, np.log([0.14, 3, 7]), method="Nelder-Mead").x)
    print(f"{len(of_judges)} pairs of judges, {len(of_crowd)} collections")
    print("alpha: middle {:.3f}, power {:.2f}, weight {:.1f}".format(*best))
    middle, spread, power = minimize(of_correlation, [np.log(0.08), np.log(0.5), 0.7], method="Nelder-Mead").x
    print(f"correlation: with two people {np.exp(middle):.3f}, power {power:.2f}, spread {np.exp(spread):.2f}")


if __name__ == "__main__":
    main()

"""How far scores of two systems differ between topics, beside what the labels say: `python bench/system_spread.py`.

``planning.new_systems`` forecasts the half-width of a mean difference before there are runs.  Here the standard
deviation of a difference over topics is compared with that of imagined systems, for all pairs of runs of TREC DL 2021
(VENIRE_DATA/dl21_full: NIST and 23 language models) and of CLEF eHealth 2018 (VENIRE_DATA/clef18_aspects).  Prints the
ratio by measure and group of judges, the median over all measures, and half the distance between the 16 % and the 84 %
quantile of its logarithm, less what comes from few topics.  NIST, both halves of the language models and CLEF are
groups, which count alike.

Then the forecast for each group, by ratio and spread of the others: of 5, 10 or 20 topics at hand, the labels alone are
known; more topics come at random, and the half-width of each of 100 random pairs of runs is compared with half-widths
from .02 to .2.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import t as student

from venire import Judgments, evaluate, read_judgments, read_runs
from venire.io.runs import scan
from venire.planning import new_systems
from venire.planning.new_systems import NewSystems, deviations, imagined_scores

MEASURES = (
    *("nDCG@5", "nDCG@10", "nDCG@30", "P@5", "P@10", "P@30", "AP", "RR", "ERR@10"),
    *("RBP(p=0.8)", "RBP(p=0.95)", "R@30", "Rprec", "bpref"),
)
WITHIN, BINS = np.arange(0.02, 0.205, 0.01), np.linspace(0, 1, 6)
AT_HAND, MORE, PAIRS = (5, 10, 20), (0, 5, 10, 30), 100
FEW_TOPICS = 1 / (2 * 50)
"""Variance of the logarithm of a standard deviation over some 50 topics."""


class Case(NamedTuple):
    """Labels of one judge, and the scores of all runs by them (system, topic, measure)."""

    name: str
    group: str
    labels: Judgments
    scores: np.ndarray


def cases(data: Path) -> Iterator[Case]:
    labels = read_judgments(data / "dl21_full" / "judges.tsv.gz")
    runs = scan(read_runs(data / "dl21_full" / "runs.trec.gz"), labels.items)
    models = [name for name in labels.assessors if name.startswith(("gpt4_", "llama", "mistral"))]
    for n, name in enumerate(["nist", *models]):
        group = "models, " + ("even", "odd")[n % 2] if n else "nist"
        yield Case(name, group, labels.where(assessor=name), evaluate(labels, runs, MEASURES, assessor=name).values)
    table = pl.read_csv(data / "clef18_aspects" / "aspects.tsv.gz", separator="\t")
    table = table.select(topic="qid", doc="docid", assessor=pl.lit("clef"), label="rel")
    own = read_judgments(table, scale="0<1<2")
    runs = read_runs(data / "clef18_aspects" / "runs.trec.gz", duplicate_docs="first")
    yield Case("clef", "clef", own, evaluate(own, runs, MEASURES).values)


def spreads(scores: np.ndarray) -> np.ndarray:
    """Standard deviations of the differences of all pairs (system, topic) -> (pair,), those above 0."""
    a, b = np.triu_indices(len(scores), 1)
    found = (scores[a] - scores[b]).std(axis=1, ddof=1)
    return found[found > 1e-6]


def logarithms(case: Case) -> list[np.ndarray]:
    """Logarithms of the ratios, by measure."""
    expected = deviations(imagined_scores(case.labels, list(MEASURES), rng=np.random.default_rng(1)))
    return [np.log(spreads(case.scores[:, :, n]) / d) for n, d in enumerate(expected)]


def fitted(found: dict[str, list[np.ndarray]], groups: dict[str, str], left_out: str = "") -> tuple[float, float]:
    """Median ratio and spread, the groups of judges counting alike, but for one that is left out."""
    kinds = Counter(kind for kind in groups.values() if kind != left_out)
    used = [(np.concatenate(each), groups[name]) for name, each in found.items() if groups[name] != left_out]
    values = np.concatenate([each for each, _ in used])
    weight = np.concatenate([np.full(len(each), 1 / len(each) / kinds[kind]) for each, kind in used])
    order = np.argsort(values)
    share = np.cumsum(weight[order]) / weight.sum()
    low, middle, high = np.interp([0.16, 0.5, 0.84], share, values[order])
    return float(np.exp(middle)), float(np.sqrt(((high - low) / 2) ** 2 - FEW_TOPICS))


def forecasts(case: Case, rng: np.random.Generator) -> Iterator[tuple[int, float, bool]]:
    """Yield measure, stated probability and whether the half-width was reached."""
    n_topics, n_systems = case.scores.shape[1], len(case.scores)
    topics = np.array(case.labels.topics)
    for n in AT_HAND:
        order = rng.permutation(n_topics)
        own = case.labels.where(topic=topics[order[:n]].tolist())
        d = deviations(imagined_scores(own, list(MEASURES), rng=rng))
        for more in (more for more in MORE if n + more <= n_topics):
            a, b = np.array([rng.choice(n_systems, 2, replace=False) for _ in range(PAIRS)]).T
            some = case.scores[:, order[: n + more]]
            half = (some[a] - some[b]).std(axis=1, ddof=1) * student.ppf(0.975, n + more - 1) / np.sqrt(n + more)
            for number, measure in enumerate(MEASURES):
                if not d[number] > 0:
                    continue
                new = NewSystems(measure, n, new_systems.RATIO * d[number])
                for within in WITHIN:
                    p = new.expected(more, within).p_decided
                    yield from ((number, p, bool(each <= within)) for each in half[:, number])


def calibration(name: str, rows: np.ndarray) -> None:
    """Print stated and decided shares, in five bins."""
    cells = []
    for low, high in pairwise(BINS):
        some = rows[(rows[:, 1] >= low) & ((rows[:, 1] < high) | (high == 1))]
        if len(some):
            cells.append(f"{some[:, 1].mean():.2f}/{some[:, 2].mean():.2f} ({len(some):,})")
    print(f"{name:<28} {'  '.join(cells)}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    every = list(cases(Path(os.environ["VENIRE_DATA"])))
    found, groups = {case.name: logarithms(case) for case in every}, {case.name: case.group for case in every}
    for n, measure in enumerate(MEASURES):
        by = {
            group: [np.median(found[name][n]) for name in found if groups[name] == group]
            for group in dict.fromkeys(groups.values())
        }
        spread = np.mean([each[n].std() for each in found.values()])
        ratios = "  ".join(f"{group} {np.exp(np.mean(each)):.2f}" for group, each in by.items())
        print(f"{measure:<12} {ratios}  spread over pairs {spread:.2f}")
    print("all: ratio {:.2f}, spread {:.2f}".format(*fitted(found, groups)))
    kept: dict[str, np.ndarray] = {}
    for group in dict.fromkeys(groups.values()):
        new_systems.RATIO, new_systems.SPREAD = fitted(found, groups, group)
        print(
            f"without {group}: ratio {new_systems.RATIO:.2f}, spread {new_systems.SPREAD:.2f}; stated/decided (number)"
        )
        own = [case for case in every if case.group == group]
        times = -(-12 // len(own))
        streams = np.random.default_rng(5).spawn(times * len(own))
        rows = [row for n, rng in enumerate(streams) for row in forecasts(own[n % len(own)], rng)]
        kept[group] = np.array(rows, dtype=float)
        calibration(group, kept[group])
    together = np.concatenate(list(kept.values()))
    calibration("models", np.concatenate([rows for group, rows in kept.items() if group.startswith("models")]))
    calibration("all", together)
    for n, measure in enumerate(MEASURES):
        calibration(measure, together[together[:, 0] == n])


if __name__ == "__main__":
    main()

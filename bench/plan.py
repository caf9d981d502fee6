"""Do plans pay? `python bench/plan.py [--only PART] [--pairs N] [--samples N] [--batch B] [--judge NAME]
[--without NAMES] [--out FILE]`.

On TREC DL 2021 (VENIRE_DATA/dl21_full: 63 runs, 53 topics): a language model labelled everything, and the labels of
NIST are revealed as they are asked for.  P@10 with relevant labels from 2; topics are fixed.

pair      100 and 200 labels for random pairs of runs, and for all pairs of the first 15; decided: the 95 % interval of
          the difference excludes 0; wrong: in the other order than by all labels of NIST.  Beside it: labels drawn
          uniformly where the two runs differ, with the difference estimator; and these with corrected scores.  The
          standard error is that of the samples, for these pairs.
forecast  pairs of runs with four judges: the share that was decided with 50, 100 and 200 labels, by the probability
          that was forecast before the first label, and with 50 and 100 labels.
order     goals best and top:3 with every judge, each with 4 to 16 systems of its own: the same for 100, 300 and 1,000
          labels, by the probability before the first label, and with 100 or 300 labels.
leads     the same systems and judges, before the first label and with 100 and 300 for the goal best: differences of
          corrected scores beside the true ones, of all pairs and of the first two as they seem; coverage of intervals.
          --without NAMES leaves out runs, here and for order.
simulated the forecast of pair, best and top:3 on simulated collections, whose judges err at random.
widths    goal levels with every judge: how often the widest interval is as narrow as asked for, by the probability that
          was forecast before the first label, and with 100 labels.
levels    300 labels: mean absolute error of P@10 over all runs, beside uniform sampling from the lists (also with
          corrected scores), and the choices of move-to-front and of LARA with their usual estimators.  Other designs:
          in proportion to the weight of a result alone; with the spread of gains of each label of the judge known; and
          with probabilities by the residuals themselves, which nobody knows.
time      seconds for a plan, also from the command line, and for 1,000 simulated systems x 10,000 topics.

Error rates over several looks: tests/simulation/test_plan.py.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from venire import read_judgments, read_runs
from venire.data.ids import Category, Ids
from venire.data.judgments import Items, Judgments
from venire.data.runs import Facts
from venire.data.scale import Scale
from venire.io.runs import scan
from venire.measures.scoring import Scoring
from venire.planning.candidates import Candidates
from venire.planning.goals import Goal
from venire.planning.question import reach_of
from venire.planning.result import costs
from venire.planning.rounds import Past, planned
from venire.planning.systems import SystemsPlan, chance_of_within
from venire.simulation import Synthetic, generate
from venire.simulation.systems import Systems

PEOPLE, MEASURE, TOP, LEVEL = "nist", "P(rel=2)@10", 10, 0.05
JUDGES, STEPS = ("gpt4_umbrela", "mistral_p18", "mistral_p26", "llama3.2_p19"), (50, 100, 200)


@dataclass(eq=False)
class Study:
    """A collection with a complete judge, and labels of NIST that are revealed on request."""

    everything: Judgments
    facts: object
    judge: str
    people: str = PEOPLE

    @classmethod
    def read(cls, folder: Path, judge: str) -> Study:
        labels = read_judgments(folder / "judges.tsv.gz")
        return cls(labels, scan(read_runs(folder / "runs.trec.gz"), labels.items).facts.by_name(), judge)

    @property
    def judges(self) -> list[str]:
        return [name for name in self.everything.assessors if name != self.people]

    @cached_property
    def judgments(self) -> Judgments:
        return self.everything.where(assessor=[self.people, self.judge])

    @cached_property
    def weights(self) -> np.ndarray:
        facts, top = self.facts, self.facts.rank <= TOP
        found = np.zeros((len(facts.systems), len(self.judgments.items)))
        np.add.at(found, (np.repeat(facts.system, facts.n_hits)[top], facts.item[top]), 1 / TOP)
        return found / len(self.judgments.topics)

    def gains(self, name: str) -> np.ndarray:
        found, rows = np.full(len(self.judgments.items), np.nan), self.judgments.assessor.among(name, "assessor")
        found[self.judgments.item[rows]] = self.judgments.label[rows] >= 2
        return found

    @cached_property
    def label_of_judge(self) -> np.ndarray:
        found, rows = (
            np.zeros(len(self.judgments.items), dtype=int),
            self.judgments.assessor.among(self.judge, "assessor"),
        )
        found[self.judgments.item[rows]] = self.judgments.label[rows]
        return found

    @cached_property
    def relevant(self) -> np.ndarray:
        return np.nan_to_num(self.gains(self.people))

    @cached_property
    def truth(self) -> np.ndarray:
        return self.weights @ self.relevant

    def revealed(self, probability: np.ndarray) -> Judgments:
        """Labels of the judge, and those of NIST that were asked for, with their probabilities (item,), else NaN."""
        labels = self.judgments
        people = labels.assessor.among(self.people, "assessor")
        kept = labels.take(~people | ~np.isnan(probability[labels.item]))
        chance = np.where(kept.assessor.among(self.people, "assessor"), probability[kept.item], np.nan)
        return replace(kept, probability=chance)

    def plan(self, goal: str, probability: np.ndarray, seed: int) -> SystemsPlan:
        nothing = np.isnan(probability).all()
        labels = self.judgments.where(assessor=self.judge) if nothing else self.revealed(probability)
        scoring = Scoring(per="assessor")
        return SystemsPlan.of(
            labels,
            self.facts,
            scoring.plan([MEASURE], labels.scale),
            scoring,
            goal=Goal.parse(goal),
            judges=[self.judge],
            people=[self.people],
            costs=costs(None),
            seed=seed,
        )

    @property
    def nothing(self) -> np.ndarray:
        return np.full(len(self.judgments.items), np.nan)


def reveal(candidates: Candidates, n: int, probability: np.ndarray, seed: int) -> np.ndarray:
    """Draw n results by a design; probabilities of all that were asked for so far -> (item,)."""
    chance = candidates.probabilities(n)
    drawn = candidates.draw(chance, np.random.default_rng([seed, 1]))
    more = probability.copy()
    more[candidates.item[drawn]] = chance[drawn]
    return more


def sets_of_pairs(study: Study, most: int, seed: int = 1) -> dict[str, list[tuple[int, int]]]:
    """Pairs of systems that NIST does not tie: some of all, and some (of 99) of the first 15."""
    sets = {}
    for name, among in {"random": np.arange(len(study.truth)), "first 15": np.argsort(-study.truth)[:15]}.items():
        pairs = [
            (a, b) for a, b in combinations(sorted(among.tolist()), 2) if abs(study.truth[a] - study.truth[b]) > 1e-12
        ]
        order = np.random.default_rng(seed).permutation(len(pairs))[:most]
        sets[name] = [pairs[n] for n in order]
    return sets


def corrected_difference(found: SystemsPlan, a: int, b: int) -> tuple[float, float]:
    """Value and half-width of the corrected difference."""
    part = found.now
    variance = part.covariance[a, a] + part.covariance[b, b] - 2 * part.covariance[a, b]
    return part.value[a] - part.value[b], reach_of(found.scene.degrees, LEVEL) * float(np.sqrt(max(variance, 0)))


def uniform_where_different(study: Study, a: int, b: int, n: int, seed: int) -> tuple[float, float, np.ndarray]:
    """The difference estimator: what the judge's labels predict, and the mean residual of a simple random sample.

    A label predicts the share of relevant results among those of the sample that have it.
    """
    contrast, label = study.weights[a] - study.weights[b], study.label_of_judge
    there = np.flatnonzero(contrast)
    drawn = np.random.default_rng([seed, n]).choice(there, min(n, len(there)), replace=False)
    cases = np.bincount(label[drawn], minlength=label.max() + 1)
    hits = np.bincount(label[drawn], weights=study.relevant[drawn], minlength=label.max() + 1)
    predicted = ((hits + 0.5) / (cases + 1))[label]
    residual = contrast[drawn] * (study.relevant - predicted)[drawn]
    value = contrast @ predicted + len(there) * residual.mean()
    spread = residual.std(ddof=1) * len(there) * np.sqrt((1 - len(drawn) / len(there)) / len(drawn))
    probability = study.nothing
    probability[drawn] = len(drawn) / len(there)
    return value, float(student.ppf(0.975, len(drawn) - 1) * spread), probability


def planned_difference(
    study: Study, goal: str, first: SystemsPlan, n: int, batch: int, seed: int
) -> tuple[float, float]:
    """Plan and reveal n labels in batches, the first by a plan without labels; the difference with its half-width."""
    found, probability, asked = first, study.nothing, 0
    while asked < n and len(found.candidates.item):
        probability = reveal(found.candidates, min(batch, n - asked), probability, seed + asked)
        asked = int((~np.isnan(probability)).sum())
        found = study.plan(goal, probability, seed)
    return corrected_difference(found, *found.question.members)


def pair_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:
    for name, pairs in sets_of_pairs(study, options.pairs).items():
        for n in (100, 200):
            rows: dict[str, list] = {"uniform, difference": [], "uniform, corrected": [], "plan": []}
            for number, (a, b) in enumerate(pairs):
                goal = f"pair:{study.facts.systems[a]},{study.facts.systems[b]}"
                first = study.plan(goal, study.nothing, number)
                for seed in range(number, number + 1000 * options.samples, 1000):
                    value, half, probability = uniform_where_different(study, a, b, n, seed)
                    rows["uniform, difference"].append((value, half))
                    rows["uniform, corrected"].append(corrected_difference(study.plan(goal, probability, seed), a, b))
                    rows["plan"].append(planned_difference(study, goal, first, n, options.batch, seed))
            truth = np.array([study.truth[a] - study.truth[b] for a, b in pairs])[:, None]
            for way, found in rows.items():
                numbers = np.array(found).reshape(len(pairs), options.samples, 2)
                yield {"pairs": name, "labels": n, "way": way, **figures(truth, numbers)}


def figures(truth: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Means over pairs and samples; truth (pair, 1), found (pair, sample, 2)."""
    value, half = np.moveaxis(found, -1, 0)
    decided = np.abs(value) > half
    share, n_samples = decided.mean(axis=1), decided.shape[1]
    return {
        "decided": float(decided.mean()),
        "se": float(np.sqrt((share * (1 - share)).sum() / (n_samples - 1)) / len(share)) if n_samples > 1 else np.nan,
        "wrong": float((decided & (np.sign(value) != np.sign(truth))).mean()),
        "coverage": float((np.abs(value - truth) <= half + 1e-12).mean()),
        "half-width": float(half.mean()),
        "error": float(np.abs(value - truth).mean()),
    }


def forecasts_of(study: Study, goal: str, steps: Sequence[int], seeds: Iterable[int]) -> Iterator[tuple]:
    """Reveal labels step by step; how many were known, the probability that was forecast, and whether it came true."""
    first = study.plan(goal, study.nothing, 0)
    at_first = stated_by(first, 0, steps)
    for seed in seeds:
        found, probability, stated = first, study.nothing, at_first
        for asked, n in pairwise((0, *steps)):
            if len(found.candidates.item) < n - asked:
                break
            probability = reveal(found.candidates, n - asked, probability, seed + asked)
            found = study.plan(goal, probability, seed)
            decided = found.decided(LEVEL)
            yield from ((known, p, decided) for known, then, p in stated if then == n)
            stated = [*stated, *stated_by(found, n, steps)]


def stated_by(found: SystemsPlan, known: int, steps: Sequence[int]) -> list[tuple[int, int, float]]:
    """What a plan forecasts for each later number of labels: labels now and then, and the probability."""
    later = [n for n in steps if known < n <= known + len(found.candidates.item)]
    return [(known, n, found.expected(n - known, LEVEL).p_decided) for n in later]


def forecast_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:
    rows: list[tuple] = []
    for judge in JUDGES:
        own, samples = replace(study, judge=judge), range(0, 1000 * options.samples, 1000)
        for pairs in sets_of_pairs(own, options.pairs, seed=len(rows)).values():
            goals = ("pair:" + ",".join(own.facts.systems[system] for system in pair) for pair in pairs)
            rows += [(judge, *each) for goal in goals for each in forecasts_of(own, goal, STEPS, samples)]
    yield from calibrations(rows)
    for judge in JUDGES:
        yield from calibration(f"before the first label, {judge}", [e[2:] for e in rows if e[:2] == (judge, 0)])


def order_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:
    rows: dict[str, list[tuple]] = {"best": [], "top:3": []}
    for judge in study.judges:
        for seed in range(options.samples):
            own = replace(study, judge=judge, facts=some_systems(study.facts, [seed, study.judges.index(judge)]))
            for goal, found in rows.items():
                found += [(judge, *each) for each in forecasts_of(own, goal, (100, 300, 1000), [seed])]
    for goal, found in rows.items():
        yield from calibrations(found, f"{goal}, ")
    yield from calibrations([each for found in rows.values() for each in found], "best and top:3, ")


def lead_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:
    found: dict[int, list[np.ndarray]] = {}
    for number, judge in enumerate(study.judges):
        for seed in range(options.samples):
            own = replace(study, judge=judge, facts=some_systems(study.facts, [seed, number]))
            plan, probability = own.plan("best", own.nothing, seed), own.nothing
            for known, n in ((0, 0), (0, 100), (100, 300)):
                if n - known > len(plan.candidates.item):
                    break
                if n:
                    probability = reveal(plan.candidates, n - known, probability, seed + known)
                    plan = own.plan("best", probability, seed)
                found.setdefault(n, []).append(differences_of(plan, own.truth))
    for n, rows in found.items():
        mean = np.nanmean(rows, axis=0).tolist()
        names = ("error", "coverage", "all pairs", "true", "first two", "true of these")
        yield {"labels": n, "cases": len(rows), **dict(zip(names, mean, strict=True))}


def differences_of(plan: SystemsPlan, truth: np.ndarray) -> np.ndarray:
    """Error, coverage, size and true size of the differences of all pairs, then both sizes of that of the first two."""
    value, covariance = plan.now.value, plan.now.covariance
    order = plan.question.order(value)
    a, b = order[np.array(np.triu_indices(len(order), 1))]
    sd = np.sqrt(np.maximum(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b], 0))
    seems, true = value[a] - value[b], truth[a] - truth[b]
    error = np.abs(seems - true)
    covered = error <= reach_of(plan.scene.degrees, LEVEL) * sd + 1e-12
    return np.array([error.mean(), covered.mean(), seems.mean(), true.mean(), seems[0], true[0]])


def simulated_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:  # noqa: ARG001 - another collection
    rows: dict[str, list[tuple]] = {"pair": [], "best": [], "top:3": []}
    for seed in range(50 * options.samples):
        own = simulated(np.random.default_rng(seed), seed)
        for kind, found in rows.items():
            goal = f"pair:{','.join(own.facts.systems[:2])}" if kind == "pair" else kind
            found += [(own.judge, *each) for each in forecasts_of(own, goal, (50, 150, 500), [seed])]
    for goal, found in rows.items():
        yield from calibrations(found, f"{goal} (simulated), ")


def simulated(rng: np.random.Generator, seed: int) -> Study:
    """Simulate 4 to 12 systems on 25 to 59 topics, and assessors, one of whom is the judge and one the reference."""
    quality = tuple(rng.normal(1.2, 0.35, rng.integers(4, 13)))
    systems = Systems(quality=quality, topic_spread=0.5, depth=20)
    setting = Synthetic(n_topics=int(rng.integers(25, 60)), docs_per_topic=80, n_unjudged=10, systems=systems)
    made = generate(setting, rng=seed)
    reference, *others = made.judgments.assessors
    facts = scan(made.runs, made.judgments.items).facts.by_name()
    return Study(made.judgments, facts, others[seed % len(others)], reference)


def some_systems(facts: Facts, seed: Sequence[int]) -> Facts:
    """Draw 4 to 16 of the systems, as those of a collection of its own."""
    rng = np.random.default_rng(seed)
    return facts.of_systems(np.sort(rng.choice(len(facts.systems), rng.integers(4, 17), replace=False)))


def calibrations(rows: list[tuple], what: str = "") -> Iterator[dict]:
    """Compare forecasts before the first label, and those with some labels, with what happened."""
    yield from calibration(f"{what}before the first label", [each[2:] for each in rows if each[1] == 0])
    yield from calibration(f"{what}with some labels", [each[2:] for each in rows if each[1] > 0])


def calibration(when: str, forecasts: list[tuple[float, bool]]) -> Iterator[dict]:
    """Compare forecasts with what happened, in five bins."""
    rows = np.array(forecasts, dtype=float).reshape(-1, 2)
    place = np.minimum((rows[:, 0] * 5).astype(int), 4)
    for number in range(5):
        own = rows[place == number]
        if len(own):
            stated, decided = own.mean(axis=0).tolist()
            bounds = f"{number / 5:.1f}-{(number + 1) / 5:.1f}"
            yield {"forecast": when, "bin": bounds, "cases": len(own), "stated": stated, "decided": decided}


def width_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:
    rows: list[tuple] = []
    for number, judge in enumerate(study.judges):
        own, seeds = replace(study, judge=judge), range(number, number + 1000 * options.samples, 1000)
        rows += [(judge, *row) for seed in seeds for row in widths_of(own, seed)]
    for known in (0, 100):
        mine = [each for _, then, *each in rows if then == known]
        ratio = np.log([reached / stated for stated, _, reached in mine])
        yield {"labels": known, "cases": len(ratio), "log ratio": float(ratio.mean()), "sd": float(ratio.std())}
        asked = np.geomspace(0.02, 0.3, 40)
        forecasts = [(chance_of_within(w, stated, sd), reached <= w) for stated, sd, reached in mine for w in asked]
        yield from calibration(f"levels with {known} labels", forecasts)


def widths_of(study: Study, seed: int) -> Iterator[tuple[int, float, float, float]]:
    """Reveal 100, 300 and 1,000 labels; how many were known, the half-width with its spread, and the one reached."""
    degrees = len(study.everything.topics) - 1
    first = study.plan("levels", study.nothing, seed)
    some = reveal(first.candidates, 100, study.nothing, seed)
    second = study.plan("levels", some, seed)
    for n in (100, 300, 1000):
        more = some if n == 100 else reveal(second.candidates, n - 100, some, seed + 100)
        found = second if n == 100 else study.plan("levels", more, seed)
        reach = reach_of(found.scene.degrees, LEVEL)
        reached = found.question.half_width(found.now.value, found.now.covariance, reach)
        for known, then in ((0, first), (100, second)):
            if known < n:
                yield known, then.expected(n - known, LEVEL).half_width, then.of_judge(degrees)[1], reached


def planned_levels(study: Study, n: int, batch: int, seed: int) -> np.ndarray:
    probability, asked = study.nothing, 0
    while asked < n:
        found = study.plan("levels", probability, seed)
        probability = reveal(found.candidates, min(batch, n - asked), probability, seed + asked)
        asked = int((~np.isnan(probability)).sum())
    return study.plan("levels", probability, seed).now.value


def uniform_levels(study: Study, n: int, seed: int) -> dict[str, np.ndarray]:
    """Results of the lists, each with the same probability: corrected scores, and the difference estimator."""
    own, there = np.nan_to_num(study.gains(study.judge)), np.flatnonzero(study.weights.sum(axis=0))
    drawn = np.random.default_rng([seed, n]).choice(there, n, replace=False)
    probability = study.nothing
    probability[drawn] = n / len(there)
    residual = (study.relevant - own)[drawn] / probability[drawn]
    return {
        "uniform, corrected": study.plan("levels", probability, seed).now.value,
        "uniform, difference": study.weights @ own + study.weights[:, drawn] @ residual,
    }


def other_designs(study: Study, first: SystemsPlan) -> dict[str, Candidates]:
    """Probabilities in proportion to weight; times the deviation of a label of the judge; times the residual."""
    candidates, label = first.candidates, study.label_of_judge
    weight = study.weights.sum(axis=0)
    share = np.array([study.relevant[label == each].mean() for each in range(label.max() + 1)])[label]
    residual = np.abs(study.relevant - share)
    sizes = {
        "weight": weight,
        "spread known": weight * np.sqrt(share * (1 - share)),
        "residuals known": weight * residual,
    }
    return {way: replace(candidates, size=np.maximum(size[candidates.item], 1e-9)) for way, size in sizes.items()}


def lara(study: Study, n: int, seed: int) -> np.ndarray:
    """Takehi et al. (2024): people label where the calibrated probability is nearest to one half, the judge the rest.

    The probability of each label of the judge is that of the labels of people so far, with one of each added.
    """
    rng, own = np.random.default_rng([seed, n]), study.label_of_judge
    there = np.flatnonzero(study.weights.sum(axis=0))
    known = np.zeros(len(own), dtype=bool)
    hits, cases = np.arange(1.0, len(np.unique(own)) + 1), np.full(len(np.unique(own)), len(np.unique(own)) + 1.0)
    for item in rng.permutation(there):
        if known.sum() >= n:
            break
        margin = np.where(known[there], np.inf, np.abs((hits / cases)[own[there]] - 0.5))
        near = there[margin <= margin.min() + 1e-12]
        item = rng.choice(near)
        known[item] = True
        hits[own[item]] += study.relevant[item]
        cases[own[item]] += 1
    gain = np.where(known, study.relevant, (hits / cases)[own] >= 0.5)
    return study.weights @ gain


def move_to_front(study: Study, n: int, seed: int) -> np.ndarray:
    """Cormack et al. (1998): lists whose last document was relevant go on; what has no label is not relevant."""
    rng, facts = np.random.default_rng([seed, n]), study.facts
    lists = [facts.item[a:b][facts.rank[a:b] <= TOP] for a, b in zip(facts.offset[:-1], facts.offset[1:], strict=True)]
    priority, place = rng.random(len(lists)), np.zeros(len(lists), dtype=int)
    known = np.zeros(len(study.relevant), dtype=bool)
    while known.sum() < n and np.isfinite(priority).any():
        which = int(np.argmax(priority))
        while place[which] < len(lists[which]) and known[lists[which][place[which]]]:
            place[which] += 1
        if place[which] == len(lists[which]):
            priority[which] = -np.inf
            continue
        item = lists[which][place[which]]
        known[item] = True
        if not study.relevant[item]:
            priority[which] = priority.min(where=np.isfinite(priority), initial=0.0) - rng.random()
    return study.weights @ np.where(known, study.relevant, 0.0)


def level_rows(study: Study, options: argparse.Namespace) -> Iterator[dict]:
    errors: dict[str, list[float]] = {}
    first = study.plan("levels", study.nothing, 0)
    designs = other_designs(study, first)
    for seed in range(options.samples):
        found = {
            "plan": planned_levels(study, 300, options.batch, seed),
            **uniform_levels(study, 300, seed),
            "LARA": lara(study, 300, seed),
            "move-to-front": move_to_front(study, 300, seed),
            **{way: drawn_levels(study, each, 300, seed) for way, each in designs.items()},
        }
        for way, value in found.items():
            errors.setdefault(way, []).append(float(np.abs(value - study.truth).mean()))
    for way, each in errors.items():
        yield {"levels": way, "labels": 300, "error": float(np.mean(each)), **ratio_of(errors["plan"], each)}


def drawn_levels(study: Study, candidates: Candidates, n: int, seed: int) -> np.ndarray:
    """Corrected scores by labels that another design draws."""
    probability = reveal(candidates, n, study.nothing, seed)
    return study.plan("levels", probability, seed).now.value


def ratio_of(these: list[float], others: list[float]) -> dict[str, float]:
    """Ratio of two means over the same samples, with its standard error (by linearisation)."""
    a, b = np.array(these), np.array(others)
    ratio = float(a.mean() / b.mean())
    return {"plan / this": ratio, "se": float((a - ratio * b).std(ddof=1) / np.sqrt(len(a)) / b.mean())}


def large_collection(n_systems: int, n_topics: int, rng: np.random.Generator) -> tuple[Judgments, Facts]:
    """Lists of ten of 40 documents a topic, and labels 0 to 3 of a judge on all of them."""
    n_docs = 40
    n_items = n_topics * n_docs
    topics, docs = Ids.of(f"{t:05d}" for t in range(n_topics)), Ids.of(f"{n:07d}" for n in range(n_items))
    items = Items(topics, np.repeat(np.arange(n_topics, dtype=np.int32), n_docs), docs)
    label = rng.integers(4, size=n_items).astype(np.int32)
    judge = Category.constant("judge", n_items)
    labels = Judgments(Scale.parse("0<1<2<3"), items, np.arange(n_items, dtype=np.int32), judge, label)
    item = np.empty((n_systems, n_topics, TOP), dtype=np.int32)
    first = (np.arange(n_topics, dtype=np.int32) * n_docs)[:, None]
    for each in item:  # ten different documents: a step that is prime to the number of documents
        step, start = rng.choice([1, 3, 7, 9, 11, 13]), rng.integers(n_docs, size=(n_topics, 1))
        each[:] = first + (start + step * np.arange(TOP)) % n_docs
    n_lists = n_systems * n_topics
    facts = Facts(
        items,
        tuple(f"s{n:04d}" for n in range(n_systems)),
        np.repeat(np.arange(n_systems, dtype=np.int32), n_topics),
        np.tile(np.arange(n_topics, dtype=np.int32), n_systems),
        np.full(n_lists, TOP),
        np.arange(n_lists + 1) * TOP,
        np.tile(np.arange(1, TOP + 1, dtype=np.int32), n_lists),
        item.reshape(-1),
    )
    return labels, facts


def large_plan(goal: str, n_systems: int = 1000, n_topics: int = 10_000) -> dict:
    labels, facts = large_collection(n_systems, n_topics, np.random.default_rng(0))
    scoring, before = Scoring(per="assessor"), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    aim, start = Goal.parse(goal), time.perf_counter()
    measured = scoring.plan([MEASURE], labels.scale)
    how = {"judges": ["judge"], "people": ["expert"], "costs": costs(None)}
    found = SystemsPlan.of(labels, facts, measured, scoring, goal=aim, **how)
    asked = planned(found, aim, budget=10_000.0, batch=None, past=Past(0, (), 0), people=["expert"])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = f"{n_systems:,} systems x {n_topics:,} topics"
    seconds = time.perf_counter() - start
    return {
        "goal": goal,
        "size": size,
        "asked": len(asked),
        "seconds": seconds,
        "MB": most >> 10,
        "MB before": before >> 10,
    }


def command_seconds(study: Study, folder: Path) -> dict:
    """Seconds of `venire plan` with reading, in a process of its own; qrels of the judge, and all runs."""
    rows = study.judgments.assessor.among(study.judge, "assessor")
    item, items = study.judgments.item[rows], study.judgments.items
    topics, docs = np.array(list(items.topics))[items.topic[item]], items.doc.take(item)
    lines = [f"{t} 0 {d} {label}\n" for t, d, label in zip(topics, docs, study.judgments.label[rows], strict=True)]
    with tempfile.TemporaryDirectory() as where:
        qrels = Path(where, "judge.qrels")
        qrels.write_text("".join(lines))
        asked = [
            qrels,
            folder / "runs.trec.gz",
            "--goal",
            "levels",
            "--budget",
            300,
            "--reference",
            PEOPLE,
            "-m",
            MEASURE,
        ]
        command = [sys.executable, "-m", "venire", "plan", *map(str, asked)]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"goal": "levels", "size": "63 systems x 53 topics, command line", "seconds": wall, "CPU": cpu}


def time_rows(study: Study, folder: Path) -> Iterator[dict]:
    """Plans for this collection, and for a large one, each in a process of its own."""
    yield command_seconds(study, folder)
    for goal in ("levels", "best", "top:5", f"pair:{study.facts.systems[0]},{study.facts.systems[1]}"):
        start, aim = time.perf_counter(), Goal.parse(goal)
        planned(study.plan(goal, study.nothing, 0), aim, budget=200.0, batch=None, past=Past(0, (), 0), people=[PEOPLE])
        yield {"goal": goal, "size": "63 systems x 53 topics", "seconds": time.perf_counter() - start}
    for goal in ("pair:s0000,s0001", "levels", "best"):
        done = subprocess.run([sys.executable, __file__, "--large", goal], check=True, capture_output=True, text=True)
        yield json.loads(done.stdout)


PARTS: dict[str, Callable[[Study, argparse.Namespace], Iterator[dict]]] = {
    "pair": pair_rows,
    "forecast": forecast_rows,
    "order": order_rows,
    "leads": lead_rows,
    "simulated": simulated_rows,
    "widths": width_rows,
    "levels": level_rows,
    "time": lambda study, options: time_rows(study, options.folder),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--pairs", type=int, default=100, help="pairs of each set")
    parser.add_argument("--samples", type=int, default=3, help="samples of each pair, and of all systems for levels")
    parser.add_argument("--batch", type=int, default=1 << 20, help="labels of a round; by default all at once")
    parser.add_argument("--judge", default="gpt4_umbrela")
    parser.add_argument("--without", default="", help="runs to leave out, with commas between them")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--large", metavar="GOAL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.large:
        print(json.dumps(large_plan(options.large)))
        return
    warnings.simplefilter("ignore")
    options.folder = Path(os.environ["VENIRE_DATA"]) / "dl21_full"
    study = Study.read(options.folder, options.judge)
    kept = [n for n, name in enumerate(study.facts.systems) if name not in options.without.split(",")]
    study = replace(study, facts=study.facts.of_systems(np.array(kept)))
    found = []
    for name, part in PARTS.items():
        if options.only in (None, name):
            start = time.perf_counter()
            for row in part(study, options):
                found.append(row)
                print(
                    "  ".join(
                        f"{key} {value:.4g}" if isinstance(value, float) else f"{value}" for key, value in row.items()
                    ),
                    flush=True,
                )
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

"""Are corrected scores right? `python bench/corrected.py [--samples N] [--draw-samples N] [--judges A,B] [--out FILE]`.

On TREC DL 2021 (VENIRE_DATA/dl21_full: 63 runs, 53 topics): NIST is the reference, a language model the judge.  From
all labels of the judge and n labels of NIST, drawn without replacement from the first ten results of all lists in
proportion to how often they are returned, scores are corrected and compared with those by all labels of NIST.

Means over samples: error (mean absolute, over systems), tau with the order by NIST, coverage of 95 % intervals of
systems and of differences, their mean widths, and the Brier score of "a is ahead of b" over pairs that NIST separates.
Baselines from the same samples: the judge's own labels; predicted relevance (PRM: gains p(R|label), one-sided);
prediction-powered inference (PPI: the judge's score plus the mean residual, weighted by inclusion probabilities); for
nDCG@10, draws from one transition matrix in which known labels are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import kendalltau

from venire import evaluate, read_judgments, read_runs
from venire.comparison.corrected_scores import corrected_on
from venire.comparison.forecast import forecast
from venire.data.judgments import Judgments
from venire.data.panel import build_panel
from venire.io.runs import scan
from venire.measures.evaluate import Case
from venire.measures.scoring import Scoring

PEOPLE, TOP = "nist", 10
STRONG, WEAK = "gpt4_umbrela", ("mistral_p18", "mistral_p26", "llama3.2_p19")
LINEAR, BY_DRAWS = "P(rel=2)@10", "nDCG@10"
COLUMNS = ("error", "bias", "tau", "systems", "pairs", "width", "pair width", "Brier")


@dataclass(eq=False)
class Collection:
    judgments: Judgments
    runs: object
    weight: np.ndarray
    seen: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Collection:
        judgments = read_judgments(folder / "judges.tsv.gz")
        runs = scan(read_runs(folder / "runs.trec.gz"), judgments.items)
        top = runs.facts.rank <= TOP
        return cls(judgments, runs, np.bincount(runs.facts.item[top], minlength=len(judgments.items)).astype(float))

    def sample(self, judge: list[str], n: int, seed: int) -> tuple[Judgments, np.ndarray]:
        """Keep the labels of judges, and n of NIST from the lists: the largest of log weight plus Gumbel noise."""
        rng = np.random.default_rng([seed, n])
        with np.errstate(divide="ignore"):
            key = np.log(self.weight) + rng.gumbel(size=len(self.weight))
        kept = np.zeros(len(key), dtype=bool)
        kept[np.argsort(-key)[:n]] = True
        labels = self.judgments
        people = labels.assessor.among(PEOPLE, "assessor")
        return labels.take((labels.assessor.among(judge, "assessor")) | (people & kept[labels.item])), kept

    def case(self, labels: Judgments) -> Case:
        return Case(labels, build_panel(labels, per="assessor"), self.runs.facts, Scoring(per="assessor"))

    def labels_of(self, name: str) -> np.ndarray:
        if name not in self.seen:
            self.seen[name] = build_panel(self.judgments, assessor=name).labels(0, 1)[0]
        return self.seen[name]

    @cached_property
    def weights(self) -> np.ndarray:
        """What a relevant item adds to P@10 -> (system, item)."""
        facts = self.runs.facts
        top = facts.rank <= TOP
        system = np.repeat(facts.system, facts.n_hits)[top]
        found = np.zeros((len(facts.systems), len(self.weight)))
        np.add.at(found, (system, facts.item[top]), 1.0 / TOP / len(self.judgments.topics))
        return found


def figures(truth: np.ndarray, value: np.ndarray, interval=None, pairs=None) -> list[float]:
    """Compare scores with the truth; interval: low and high (system,), pairs: CorrectedPairs."""
    a, b = np.triu_indices(len(truth), 1)
    delta = truth[a] - truth[b]
    apart = np.abs(delta) > 1e-12
    found = value[a] - value[b]
    ahead = np.where(np.abs(found) > 1e-12, found > 0, 0.5) if pairs is None else pairs.p_a_ahead
    numbers = [np.abs(value - truth).mean(), (value - truth).mean(), kendalltau(value, truth).statistic]
    if interval is None:
        numbers += [np.nan] * 4
    else:
        low, high = interval
        numbers += [
            _inside(truth, low, high),
            _inside(delta, pairs.low, pairs.high),
            (high - low).mean(),
            (pairs.high - pairs.low).mean(),
        ]
    return [*numbers, ((ahead - (delta > 0))[apart] ** 2).mean()]


def _inside(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    return ((low <= truth + 1e-12) & (truth <= high + 1e-12)).mean()


def corrected(data: Collection, labels: Judgments, judge: list[str], measure: str, truth: np.ndarray, **options):
    case = data.case(labels)
    plan = case.scoring.plan([measure], labels.scale)
    found = corrected_on(case, plan, judge=judge, reference=PEOPLE, **options)
    return figures(truth, found.value[:, 0], (found.low[:, 0], found.high[:, 0]), found.pairs()), found


def predicted_relevance(data, judge: str, kept: np.ndarray, truth: np.ndarray) -> list[float]:
    """Share of relevant labels by NIST per label of the judge, in the sample, as gains."""
    label, relevant = data.labels_of(judge), data.labels_of(PEOPLE) >= 2
    pairs = np.bincount(label[kept] + 1, minlength=5)
    hits = np.bincount(label[kept] + 1, weights=relevant[kept], minlength=5)
    share = np.divide(hits, pairs, out=np.full(5, relevant[kept].mean()), where=pairs > 0)
    return figures(truth, data.weights @ share[label + 1])


def prediction_powered(data, judge: str, kept: np.ndarray, truth: np.ndarray) -> list[float]:
    """The judge's score, and the residuals of the sample divided by their inclusion probabilities."""
    own, relevant = (data.labels_of(name) >= 2 for name in (judge, PEOPLE))
    rate = brentq(lambda c: (1 - np.exp(-c * data.weight)).sum() - kept.sum(), 1e-9, 1e3)
    probability = 1 - np.exp(-rate * data.weight[kept])
    residual = (relevant[kept] - own[kept].astype(float)) / probability
    return figures(truth, data.weights @ own + data.weights[:, kept] @ residual)


def linear_rows(data: Collection, judge: str, sizes: list[int], samples: int) -> Iterator[dict[str, object]]:
    truth, own = (evaluate(data.judgments, data.runs, LINEAR, assessor=x).mean().values[:, 0] for x in (PEOPLE, judge))
    yield row(LINEAR, judge, 0, "judge alone", [figures(truth, own)])
    for n in sizes:
        rows: dict[str, list[list[float]]] = {"corrected": [], "PRM": [], "PPI": []}
        for seed in range(samples):
            labels, kept = data.sample([judge], n, seed)
            rows["corrected"].append(corrected(data, labels, [judge], LINEAR, truth, n_draws=2)[0])
            rows["PRM"].append(predicted_relevance(data, judge, kept, truth))
            rows["PPI"].append(prediction_powered(data, judge, kept, truth))
        yield from (row(LINEAR, judge, n, name, each) for name, each in rows.items())


def drawn_rows(data: Collection, judge: str, sizes: list[int], samples: int) -> Iterator[dict[str, object]]:
    truth, own = (
        evaluate(data.judgments, data.runs, BY_DRAWS, assessor=x).mean().values[:, 0] for x in (PEOPLE, judge)
    )
    yield row(BY_DRAWS, judge, 0, "judge alone", [figures(truth, own)])
    for n in sizes:
        rows: dict[str, list[list[float]]] = {"corrected": [], "matrix": []}
        for seed in range(samples):
            labels, _ = data.sample([judge], n, seed)
            rows["corrected"].append(corrected(data, labels, [judge], BY_DRAWS, truth, n_draws=1000, rng=seed)[0])
            options = {"assessor": judge, "new_judge": PEOPLE, "judge_model": "fixed", "n_draws": 250, "rng": seed}
            plain = forecast(labels, data.runs, BY_DRAWS, **options)
            rows["matrix"].append(figures(truth, plain.draws.mean(axis=0)))
        yield from (row(BY_DRAWS, judge, n, name, each) for name, each in rows.items())


def together_rows(data: Collection, judges: list[str], sizes: list[int], samples: int) -> Iterator[dict[str, object]]:
    """All judges at once."""
    truth = evaluate(data.judgments, data.runs, LINEAR, assessor=PEOPLE).mean().values[:, 0]
    for n in sizes:
        found = [
            corrected(data, data.sample(judges, n, s)[0], judges, LINEAR, truth, n_draws=2) for s in range(samples)
        ]
        yield row(LINEAR, f"{len(judges)} judges", n, "corrected", [each for each, _ in found])


def row(measure: str, judge: str, n: int, name: str, found: list[list[float]]) -> dict[str, object]:
    means = np.mean(found, axis=0)
    return {
        "measure": measure,
        "judge": judge,
        "n": n,
        "scores": name,
        **dict(zip(COLUMNS, means.tolist(), strict=True)),
    }


def show(each: dict[str, object]) -> None:
    start = f"{each['measure']:<12} {each['judge']:<13} {each['n']:>5} {each['scores']:<12}"
    print(start, *(f"{each[c]:>10.4f}" if each[c] == each[c] else f"{'':>10}" for c in COLUMNS), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--draw-samples", type=int, default=20, help="samples for nDCG@10")
    parser.add_argument("--judges", default=",".join([STRONG, *WEAK]))
    parser.add_argument("--sizes", default="100,300,1000")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    folder = Path(os.environ.get("VENIRE_DATA", "")) / "dl21_full"
    if not folder.is_dir():
        raise SystemExit("set VENIRE_DATA to the folder that holds dl21_full")
    warnings.simplefilter("ignore")
    data, judges, sizes = Collection.read(folder), asked.judges.split(","), [int(n) for n in asked.sizes.split(",")]
    print(f"{'measure':<12} {'judge':<13} {'n':>5} {'scores':<12}", *(f"{name:>10}" for name in COLUMNS))
    table = []
    parts = [linear_rows(data, judge, sizes, asked.samples) for judge in judges] if asked.samples else []
    if asked.samples and len(judges) > 1:
        parts.append(together_rows(data, judges, sizes, asked.samples))
    if asked.draw_samples:
        drawn = [n for n in sizes if n >= 300]
        parts += [drawn_rows(data, judge, drawn, asked.draw_samples) for judge in judges]
    for part in parts:
        for each in part:
            table.append(each)
            show(each)
    if asked.out:
        asked.out.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()

"""Forecasts that come true? `python bench/forecasts.py [--samples N] [--today PATH] [--known [S]] [--others N]`.

On TREC DL 2021 (VENIRE_DATA/dl21_full: 63 runs, NIST, and language models that labelled at least 98 % of the pairs):
from NIST's labels and a share of another judge's, forecast for every pair of runs that NIST does not tie whether their
order stays under that judge, and compare with what all labels of that judge give (what it did not label is unjudged).
Shares of 1, 3, 10, 30 and 100 %, drawn from the pool, or from the lists: with a probability in proportion to the weight
(the discount of nDCG@10) of a document in all lists.  Four measures.  Brier scores and calibration errors (ten bins, of
all judges and samples together), for the judge models, and for those of an older version (--today: the folder src of a
checkout of commit b35edfe) on the same samples, in another process.  Brier scores are less p (1 - p) / (N - 1) for N
draws, so that their number does not matter.  Prints tables, and writes JSON to --out.

--known: what could be attained if more were known of the judge.  The transition matrices, the tilt by the systems that
return a document, or both, are fitted to all labels of the judge in place of the sample, or to a share of them
(--known .2) that includes the sample; the labels that stand are those of the sample.

--others: forecasts of any other judge.  Every judge is forecast from NIST and all labels of so many others, drawn at
random (--samples times), by nDCG@10, with and without the further judges who take turns with them.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

OLD = "nist"
MEASURES = ("nDCG@10", "P(rel=2)@10", "AP", "RBP")
SHARES, WAYS = (0.01, 0.03, 0.1, 0.3, 1.0), ("pool", "lists")
NEW_MODELS = ("hierarchical", "pooled")
COMPLETE = "complete columns"
TODAY = ("today hierarchical", "today pooled")
KNOWN = ("nothing", "matrices", "tilt", "both")
TIE, DEPTH, NEARLY_ALL, BINS = 1e-12, 10, 0.98, 10
REQUIRED = {  # the least that was asked for: how the Brier score compares with that of today's pool, from the pool
    ("nDCG@10", 0.03, "pool"): 0.0625 / 0.0671,
    ("nDCG@10", 0.1, "pool"): 0.0552 / 0.0689,
    ("nDCG@10", 0.1, "lists"): 0.0472 / 0.0689,
    ("AP", 0.1, "pool"): 0.0247 / 0.0411,
    ("RBP", 0.1, "pool"): 0.0397 / 0.0500,
}


class Sample(NamedTuple):
    """Labels of one judge that are known: their rows in the judgments."""

    judge: str
    share: float
    way: str
    rows: np.ndarray


def read(**options: bool) -> tuple[Any, Any]:
    """Read the judgments, and the runs; with either version."""
    import venire

    folder = Path(os.environ.get("VENIRE_DATA", "")) / "dl21_full"
    if not folder.is_dir():
        raise SystemExit("set VENIRE_DATA to the folder that holds dl21_full")
    judgments = venire.read_judgments(folder / "judges.tsv.gz", **options)
    return judgments, venire.read_runs(folder / "runs.trec.gz")


def with_rows(judgments: Any, rows: np.ndarray) -> Any:
    """All labels of the old judge, and these of another."""
    kept = judgments.assessor.codes == judgments.assessor.code_of(OLD, "assessor")
    kept[rows] = True
    return judgments.take(kept)


def kept_order(delta: np.ndarray, draws: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Share of draws (draw, system) in which each pair keeps its order -> (pair,)."""
    new = draws[:, a] - draws[:, b]
    return ((np.abs(new) > TIE) & (np.sign(new) == np.sign(delta))).mean(axis=0)


def forecast_today(path: Path, n_draws: int) -> None:
    """Forecast every sample of a file with the older version, and write the probabilities beside it."""
    from venire.analysis.forecasts import Scene, resampled

    judgments, runs = read(wide=True)
    labels, samples = pickle.loads(path.read_bytes())
    order = in_order(judgments)
    if not np.array_equal(labels, judgments.label[order]):
        raise SystemExit("the versions number the items or the assessors in different ways")
    found = []
    for sample in samples:
        labels, chances = with_rows(judgments, order[sample[3]]), []
        for measure in MEASURES:
            scene = Scene.of(labels, runs, measure, assessor=OLD, new_judge=sample[0])
            blocks = scene.draws("hierarchical", n_draws, seed=np.random.SeedSequence(0))
            draws = np.concatenate([np.nanmean(block, axis=1) for block in blocks], axis=1).T
            mean, (a, b) = scene.now.mean(axis=1), np.triu_indices(len(scene.systems), 1)
            delta = mean[a] - mean[b]
            alone = kept_order(delta, draws, a, b)
            pool = (alone + kept_order(delta, resampled(scene.now, n_draws, rng=1), a, b)) / 2
            chances.append(np.stack([alone, pool]))
        found.append(np.stack(chances))
    path.with_suffix(".out").write_bytes(pickle.dumps(np.array(found, dtype=np.float32)))


def in_order(judgments: Any) -> np.ndarray:
    """Rows by assessor and item, as versions read them in different orders -> (row,)."""
    return np.lexsort((judgments.item, judgments.assessor.codes))


def written(judgments: Any, samples: list[Sample], path: Path) -> None:
    """Write samples for the older version, with rows in the order of ``in_order``."""
    order = in_order(judgments)
    place = np.argsort(order)
    each = [tuple(sample._replace(rows=place[sample.rows])) for sample in samples]
    path.write_bytes(pickle.dumps((judgments.label[order], each)))


def started(
    judgments: Any, samples: list[Sample], source: Path, *, n_draws: int
) -> tuple[subprocess.Popen[bytes], Path]:
    """Start the older version on these samples of labels."""
    path = Path(tempfile.mkdtemp()) / "samples"
    written(judgments, samples, path)
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--draws", str(n_draws), "--worker", str(path)]
    return subprocess.Popen(command, env=environment), path.with_suffix(".out")


class Bench:
    """Judgments, runs, and what every judge's labels give."""

    def __init__(self) -> None:
        from venire import evaluate
        from venire.io.runs import scan

        self.judgments, runs = read()
        self.runs = scan(runs, self.judgments.items)
        scores = evaluate(self.judgments, self.runs, MEASURES, per="assessor")
        means = np.moveaxis(np.nan_to_num(scores.values).mean(axis=1), -1, 0)
        self.means = dict(zip(scores.names["assessor"], means, strict=True))
        count = np.bincount(self.judgments.assessor.codes)
        names = zip(self.judgments.assessors, count, strict=True)
        n_items = len(self.judgments.items)
        self.judges = [name for name, n in names if name != OLD and n >= NEARLY_ALL * n_items]
        self.a, self.b = np.triu_indices(len(scores.names["system"]), 1)
        self.delta = self.means[OLD][self.a] - self.means[OLD][self.b]
        facts = self.runs.facts
        top = facts.rank <= DEPTH
        self.weight = np.bincount(facts.item[top], weights=1 / np.log2(1 + facts.rank[top]), minlength=n_items)

    def outcome(self, judge: str) -> np.ndarray:
        """Whether each pair keeps its order by all labels of a judge -> (pair, measure)."""
        new = self.means[judge][self.a] - self.means[judge][self.b]
        return (np.abs(new) > TIE) & (np.sign(new) == np.sign(self.delta))

    def sample(self, judge: str, share: float, way: str, *, rng: np.random.Generator) -> Sample:
        """Draw labels of a judge without replacement, evenly or in proportion to weights."""
        rows = np.flatnonzero(self.judgments.assessor.codes == self.judgments.assessor.code_of(judge, "assessor"))
        weight = np.ones(len(rows)) if way == "pool" else self.weight[self.judgments.item[rows]] + 1e-9
        first = np.argsort(rng.exponential(size=len(rows)) / weight)[: round(share * len(rows))]
        return Sample(judge, share, way, rows[first])

    def forecast(self, sample: Sample, n_draws: int) -> np.ndarray:
        """Forecast by every judge model -> (measure, model, pair); the pool from its parts and their weights."""
        from venire.comparison.forecast import resampled

        swap, found = self.swap(sample), []
        for n, each in enumerate(swap.forecasts(n_draws=n_draws)):
            alone = kept_order(self.delta[:, n], each.draws, self.a, self.b)
            topics = kept_order(self.delta[:, n], resampled(each.now, n_draws, rng=1), self.a, self.b)
            weight = swap.weight_of_topics(n)
            found.append([alone, (1 - weight) * alone + weight * topics])
        return np.array(found, dtype=np.float32)

    def with_known(self, sample: Sample, n_draws: int, *, share: float) -> np.ndarray:
        """Forecast by the default model with parts that were fitted to more labels -> (measure, part, pair)."""
        wider = self.sample(sample.judge, 1.0, "pool", rng=np.random.default_rng(0)).rows
        n_more = max(0, round(share * len(wider)) - len(sample.rows))
        rows = np.append(sample.rows, wider[~np.isin(wider, sample.rows)][:n_more])
        part, whole = (self.swap(sample._replace(rows=each)) for each in (sample.rows, rows))
        found = []
        for known in KNOWN:
            swap = replace(part, transitions=whole.transitions) if known in ("matrices", "both") else replace(part)
            vars(swap)["tilt"] = whole.tilt if known in ("tilt", "both") else part.tilt
            draws = [each.draws for each in swap.forecasts(n_draws=n_draws)]
            found.append([kept_order(self.delta[:, n], each, self.a, self.b) for n, each in enumerate(draws)])
        return np.array(found, dtype=np.float32).transpose(1, 0, 2)

    def from_others(self, others: Sequence[str], n_draws: int) -> np.ndarray:
        """Forecast any other judge from all labels of some, with and without further judges -> (way, pair)."""
        from venire.comparison.forecast import JudgeSwap
        from venire.disagreement import transitions

        labels, further, found = self.judgments.where(assessor=[OLD, *others]), transitions.FURTHER, []
        for number in (further, 0):
            transitions.FURTHER = number
            (each,) = JudgeSwap.of(labels, self.runs, MEASURES[:1], assessor=OLD).forecasts(n_draws=n_draws)
            found.append(kept_order(self.delta[:, 0], each.draws, self.a, self.b))
        transitions.FURTHER = further
        return np.array(found)

    def swap(self, sample: Sample) -> Any:
        """Put the judge of a sample in the place of the old one."""
        from venire.comparison.forecast import JudgeSwap

        labels = with_rows(self.judgments, sample.rows)
        return JudgeSwap.of(labels, self.runs, MEASURES, assessor=OLD, new_judge=sample.judge)


def brier(p: np.ndarray, y: np.ndarray, n_draws: int) -> float:
    """Brier score, without the part that is due to the number of draws."""
    return float(((p - y) ** 2 - p * (1 - p) / (n_draws - 1)).mean())


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Mean distance of stated and true shares over bins."""
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    inside = [place == n for n in range(BINS)]
    return float(sum(abs(p[some].mean() - y[some].mean()) * some.mean() for some in inside if some.any()))


def summarise(
    bench: Bench, samples: list[Sample], chances: np.ndarray, *, n_draws: int, models: Sequence[str]
) -> list[dict[str, Any]]:
    """Return one row per measure, share, way and model; chances (sample, measure, model, pair)."""
    rows = []
    outcomes = [bench.outcome(each.judge) for each in samples]
    for number, measure in enumerate(MEASURES):
        known = np.abs(bench.delta[:, number]) > TIE
        for way in WAYS:
            for share in dict.fromkeys(each.share for each in samples):
                chosen = [n for n, each in enumerate(samples) if (each.share, each.way) == (share, way)]
                y = np.concatenate([outcomes[n][known, number] for n in chosen])
                for row, model in enumerate(models):
                    p = np.concatenate([chances[n, number, row, known] for n in chosen]).astype(np.float64)
                    scores = {"brier": brier(p, y, n_draws), "calibration": calibration_error(p, y)}
                    rows.append({"measure": measure, "way": way, "share": share, "model": model, **scores})
        whole = [
            n for n, each in enumerate(samples) if each.share == 1 and len(each.rows) == len(bench.judgments.items)
        ]
        if whole:
            p = np.concatenate([chances[n, number, 0, known] for n in whole]).astype(np.float64)
            y = np.concatenate([outcomes[n][known, number] for n in whole])
            scores = {"brier": brier(p, y, n_draws), "calibration": calibration_error(p, y)}
            rows.append({"measure": measure, "way": "all", "share": 1.0, "model": COMPLETE, **scores})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print Brier scores and calibration errors, and how they compare with what was required."""
    models = [name for name in dict.fromkeys(row["model"] for row in rows) if name != COMPLETE]
    found = {(r["measure"], r["way"], r["share"], r["model"]): r for r in rows}
    shares = list(dict.fromkeys(row["share"] for row in rows if row["model"] != COMPLETE))
    print(f"{'measure':<13} {'from':<6} {'share':>6}  " + "  ".join(f"{model:>18}" for model in models))
    for measure in MEASURES:
        for way in WAYS:
            for share in shares:
                cells = [found[measure, way, share, model] for model in models]
                shown = [f"{cell['brier']:>10.4f} ({cell['calibration']:.3f})" for cell in cells]
                print(f"{measure:<13} {way:<6} {share:>6.0%}  " + "  ".join(f"{text:>18}" for text in shown))
    text = ", ".join(f"{row['measure']} {row['brier']:.6f}" for row in rows if row["model"] == COMPLETE)
    print(f"hierarchical at 100% of complete columns: {text or 'not measured'}")
    if TODAY[1] not in models:
        return
    for (measure, share, way), least in REQUIRED.items():
        if share not in shares:
            continue
        today = found[measure, "pool", share, TODAY[1]]["brier"]
        ratios = {model: found[measure, way, share, model]["brier"] / today for model in NEW_MODELS}
        text = ", ".join(f"{model} {ratio:.3f}" for model, ratio in ratios.items())
        print(f"{measure} {share:.0%} from the {way}, over today's pool: {text}; required {least:.3f}")
    worse = [
        f"{measure} {way} {share:.0%}"
        for measure in MEASURES
        for way in WAYS
        for share in shares
        if found[measure, way, share, NEW_MODELS[0]]["brier"] > found[measure, way, share, TODAY[0]]["brier"]
    ]
    print(f"above today's hierarchical: {', '.join(worse) or 'none'}")


def any_other(bench: Bench, counts: Sequence[int], *, samples: int, n_draws: int) -> None:
    """Print how forecasts of any other judge come true, from so many others."""
    rng, known = np.random.default_rng(0), np.abs(bench.delta[:, 0]) > TIE
    for count in counts:
        p, y = [], []
        for judge in bench.judges:
            candidates = [name for name in bench.judges if name != judge]
            for _ in range(samples):
                others = rng.choice(candidates, count, replace=False).tolist()
                p.append(bench.from_others(others, n_draws)[:, known])
                y.append(bench.outcome(judge)[known, 0])
        stated, truth = np.concatenate(p, axis=1), np.concatenate(y)
        for name, row in zip(("with", "without"), stated, strict=True):
            scores = f"{brier(row, truth, n_draws):.4f} ({calibration_error(row, truth):.3f})"
            print(f"from {count} others, {name} further judges: {scores}", flush=True)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, help="how many judges, evenly chosen by name; all without it")
    parser.add_argument("--samples", type=int, default=5, help="samples of labels per judge, share and way")
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="shares of the labels that are known")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--today", type=Path, help="the folder src of an older version")
    known = "what could be attained if parts of the model were fitted to this share of the labels (1)"
    parser.add_argument("--known", type=float, nargs="?", const=1.0, help=known)
    parser.add_argument("--others", type=int, nargs="+", help="forecast any other judge from so many others")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.worker:
        forecast_today(asked.worker, asked.draws)
        return
    bench = Bench()
    if asked.others:
        any_other(bench, asked.others, samples=asked.samples, n_draws=asked.draws)
        return
    judges = bench.judges[:: max(1, len(bench.judges) // asked.judges)] if asked.judges else bench.judges
    rng = np.random.default_rng(0)
    samples = [
        bench.sample(judge, share, way, rng=rng)
        for judge in judges
        for way in WAYS
        for share in asked.shares
        for _ in range(asked.samples if share < 1 else 1)
    ]
    print(f"{len(judges)} judges, {len(samples)} samples, {asked.draws} draws", flush=True)
    older = asked.today and not asked.known
    worker = started(bench.judgments, samples, asked.today, n_draws=asked.draws) if older else None
    one = partial(bench.with_known, share=asked.known) if asked.known else bench.forecast
    chances = np.stack([one(each, asked.draws) for each in samples])
    models = KNOWN if asked.known else NEW_MODELS
    if worker:
        process, path = worker
        if process.wait():
            raise SystemExit("the older version failed")
        today = pickle.loads(path.read_bytes())
        chances, models = np.concatenate([chances, today], axis=2), (*NEW_MODELS, *TODAY)
    rows = summarise(bench, samples, chances, n_draws=asked.draws, models=models)
    show(rows)
    if asked.out:
        asked.out.write_text(json.dumps({"judges": judges, "samples": asked.samples, "rows": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()

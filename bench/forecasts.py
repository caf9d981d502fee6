"""Forecasts that come true? `python bench/forecasts.py [--judges N] [--draws N]`; prints a table, and JSON to --out.

On TREC DL 2021 (VENIRE_DATA/dl21_full: 63 runs, NIST and 23 language models on the same pairs): from NIST's labels and
a random 3 % of the pairs that another judge labelled too, forecast for all 1,953 pairs of runs whether their order by
nDCG@10 survives under that judge, and compare with what the judge's labels give.  Brier score and expected calibration
error (ten bins), averaged over judges; three baselines on the same judges: one global transition matrix, a topic
bootstrap that ignores judges, and a constant (the share that survives over all other judges).
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np

from venire import evaluate, read_judgments, read_runs
from venire.comparison.forecast import POOLED, Forecast, forecast, resampled
from venire.data.judgments import Judgments
from venire.disagreement.transitions import FORMS, fit_transitions, stated_transitions
from venire.io.runs import scan

OLD, SHARE, MEASURE = "nist", 0.03, "nDCG@10"
BASELINES = ("global matrix", "topic bootstrap", "constant")


def sampled(judgments: Judgments, new: str, rng: np.random.Generator) -> Judgments:
    """All labels of the old judge, and a few of the new one's."""
    who = judgments.assessor.codes
    old, other = (judgments.assessor.code_of(name, "assessor") for name in (OLD, new))
    return judgments.take((who == old) | ((who == other) & (rng.random(len(who)) < SHARE)))


def survives(now: np.ndarray, then: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether the order of each pair is strictly the same."""
    return np.sign(now[a] - now[b]) * np.sign(then[a] - then[b]) > 0


def plain_matrix(counts: np.ndarray) -> np.ndarray:
    """One global transition matrix: shares of counts, two more items per row by the new judge's usual labels."""
    whole = counts.sum(axis=(0, 1))
    rows = whole + 2 * whole.sum(axis=0) / whole.sum() + 0.05
    return rows / rows.sum(axis=1, keepdims=True)


def brier(p: np.ndarray, y: np.ndarray) -> float:
    return float(((p - y) ** 2).mean())


def calibration_error(p: np.ndarray, y: np.ndarray, bins: int = 10) -> float:
    place = np.minimum((p * bins).astype(int), bins - 1)
    inside = [place == n for n in range(bins)]
    return float(sum(abs(p[some].mean() - y[some].mean()) * some.mean() for some in inside if some.any()))


def from_draws(found: Forecast, draws: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Share of draws in which the order of each pair survives."""
    sign = np.sign(found.mean[a] - found.mean[b])
    return (np.sign(draws[:, a] - draws[:, b]) == sign).mean(axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, help="how many judges, the first by name; all without it")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    data = os.environ.get("VENIRE_DATA")
    if not data or not (Path(data) / "dl21_full").is_dir():
        raise SystemExit("set VENIRE_DATA to the folder that holds dl21_full")
    warnings.simplefilter("ignore")
    judgments = read_judgments(Path(data) / "dl21_full" / "judges.tsv.gz")
    runs = scan(read_runs(Path(data) / "dl21_full" / "runs.trec.gz"), judgments.items)
    count = np.bincount(judgments.assessor.codes)
    names = [name for name, n in zip(judgments.assessors, count, strict=True) if name != OLD and n > 0.98 * count.max()]
    table = measured(judgments, runs, names[: asked.judges], asked.draws)
    print(f"{'forecast':<18} {'Brier':>7} {'calibration':>12}")
    for name, scores in table.items():
        print(f"{name:<18} {np.mean([s[0] for s in scores]):>7.4f} {np.mean([s[1] for s in scores]):>12.4f}")
    if asked.out:
        asked.out.write_text(json.dumps({"judges": names[: asked.judges], "scores": table}), encoding="utf-8")


def measured(judgments: Judgments, runs: object, names: list[str], draws: int) -> dict[str, list[tuple[float, float]]]:
    """Brier score and calibration error of every forecast, judge by judge."""
    truth = {name: evaluate(judgments, runs, MEASURE, assessor=name).mean("topic").values[:, 0] for name in names}
    rng = np.random.default_rng(0)
    forecasts: dict[str, dict[str, np.ndarray]] = {}
    outcome: dict[str, np.ndarray] = {}
    for name in names:
        labels = sampled(judgments, name, rng)
        found = {
            form: forecast(labels, runs, MEASURE, assessor=OLD, new_judge=name, judge_model=form, n_draws=draws)
            for form in (*FORMS, POOLED)
        }
        one = found["fixed"]
        a, b = one.pairs()
        outcome[name] = survives(one.mean, truth[name], a, b)
        known = stated_transitions(labels.scale, plain_matrix(fit_transitions(labels, OLD, name).counts), old=OLD)
        plain = forecast(labels, runs, MEASURE, assessor=OLD, transitions=known, judge_model="fixed", n_draws=draws)
        forecasts[name] = {
            "global matrix": plain.changes(a, b).stays,
            "topic bootstrap": from_draws(one, resampled(one.now, draws), a, b),
        }
        forecasts[name] |= {form: each.changes(a, b).stays for form, each in found.items()}
        print(name, {k: round(brier(p, outcome[name]), 4) for k, p in forecasts[name].items()}, flush=True)
    for name in names:
        others = [outcome[each].mean() for each in names if each != name]
        forecasts[name]["constant"] = np.full(len(outcome[name]), np.mean(others))
    kinds = [*BASELINES, *FORMS, POOLED]
    return {
        kind: [
            (brier(forecasts[n][kind], outcome[n]), calibration_error(forecasts[n][kind], outcome[n])) for n in names
        ]
        for kind in kinds
    }


if __name__ == "__main__":
    main()

"""Measures by intent: `python bench/intents.py CONTENDER FOLDER`; prints what it cost as JSON.

make         write qrels of 50 topics, 400 documents and 6 intents, and 30 runs of 1,000 documents a topic
venire       from these files to five measures a topic (alpha-nDCG@10 and @20, ERR-IA@10, nERR-IA@20, StRecall@10)
pyndeval     ndeval's own code in C, called from Python; files read line by line
ir_measures  the same through ir_measures
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from machine import megabytes

N_TOPICS, N_JUDGED, N_INTENTS, N_RUNS, DEPTH = 50, 400, 6, 30, 1_000
OURS = ("alpha_nDCG@10", "alpha_nDCG@20", "ERR_IA@10", "nERR_IA@20", "StRecall@10")
NDEVAL = ("alpha-nDCG@10", "alpha-nDCG@20", "ERR-IA@10", "nERR-IA@20", "strec@10")


def make(folder: Path) -> float:
    import numpy as np

    rng = np.random.default_rng(0)
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    places = [(t, i, d) for t in range(N_TOPICS) for d in range(N_JUDGED) for i in range(1, N_INTENTS + 1)]
    relevant = (rng.random(len(places)) < 0.15).astype(int).tolist()
    lines = (f"{t} {i} d{d:06} {label}\n" for (t, i, d), label in zip(places, relevant, strict=True))
    (folder / "qrels").write_text("".join(lines))
    for run in range(N_RUNS):
        orders = (rng.permutation(2 * DEPTH)[:DEPTH] for _ in range(N_TOPICS))
        rows = ((t, d, r) for t, order in enumerate(orders) for r, d in enumerate(order.tolist(), start=1))
        text = "".join(f"{t} Q0 d{d:06} {r} {DEPTH - r} s{run:02}\n" for t, d, r in rows)
        (folder / "runs" / f"s{run:02}.txt").write_text(text)
    return 0.0


def venire(folder: Path) -> float:
    from venire import evaluate, read_judgments, read_runs

    labels = read_judgments(folder / "qrels", second_column="intent")
    return float(evaluate(labels, read_runs(folder / "runs"), list(OURS)).values.mean())


def qrels(folder: Path) -> Iterator[tuple[str, str, str, int]]:
    for line in (folder / "qrels").open():
        topic, intent, doc, label = line.split()
        yield topic, intent, doc, int(label)


def runs(folder: Path) -> Iterator[list[tuple[str, str, float]]]:
    for path in sorted((folder / "runs").iterdir()):
        rows = (line.split() for line in path.open())
        yield [(topic, doc, float(score)) for topic, _, doc, _, score, _ in rows]


def pyndeval(folder: Path) -> float:
    from pyndeval import RelevanceEvaluator

    judge = RelevanceEvaluator(list(qrels(folder)), list(NDEVAL))
    scores = [score[name] for run in runs(folder) for score in judge.evaluate(run).values() for name in NDEVAL]
    return sum(scores) / len(scores)


def ir_measures(folder: Path) -> float:
    from ir_measures import Qrel, ScoredDoc, evaluator, parse_measure

    judged = [Qrel(topic, doc, label, intent) for topic, intent, doc, label in qrels(folder)]
    judge = evaluator([parse_measure(name) for name in OURS], judged)
    scores = [each.value for run in runs(folder) for each in judge.iter_calc([ScoredDoc(*row) for row in run])]
    return sum(scores) / len(scores)


def main() -> None:
    contenders: dict[str, Callable[[Path], float]]
    contenders = {"make": make, "venire": venire, "pyndeval": pyndeval, "ir_measures": ir_measures}
    contender, folder = contenders[sys.argv[1]], Path(sys.argv[2])
    start = perf_counter()
    mean = contender(folder)
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": perf_counter() - start, "peak": peak, "mean": mean}))


if __name__ == "__main__":
    main()

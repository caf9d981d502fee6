"""Another judge: `python bench/judges.py CONTENDER FOLDER`; prints what it cost as JSON.

venire           2,000 draws of another judge's labels, nDCG@10 of 63 systems on each, all 1,953 pairs compared
qrels rewritten  the same by hand: labels drawn, qrels made anew, every run scored by pytrec_eval, draw after draw;
                 timed on a few draws and taken times 2,000 / draws

Runs and judgments are loaded before.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from time import perf_counter

import numpy as np
from machine import megabytes

N_DRAWS, SAMPLED, MEASURE = 2_000, 4, "nDCG@10"


def named(folder: Path, name: str) -> Path:
    return next(path for path in (folder / name, folder / f"{name}.gz") if path.exists())


def venire(folder: Path) -> tuple[float, list[float]]:
    from venire import read_judgments, read_runs
    from venire.comparison import forecast
    from venire.io.runs import scan

    judgments = read_judgments(named(folder, "judges.tsv"))
    old, new = judgments.assessors[:2] if "nist" not in judgments.assessors else ("nist", other(judgments.assessors))
    runs = scan(read_runs(named(folder, "runs.trec")), judgments.items)
    forecast(judgments, runs, MEASURE, assessor=old, new_judge=new, judge_model="fixed", n_draws=2)
    start = perf_counter()
    found = forecast(judgments, runs, MEASURE, assessor=old, new_judge=new, judge_model="fixed", n_draws=N_DRAWS)
    stays = found.changes(*found.pairs()).stays
    return perf_counter() - start, [float(stays.mean())]


def other(names: tuple[str, ...]) -> str:
    return next(name for name in names if name != "nist")


def rewritten(folder: Path) -> tuple[float, list[float]]:
    import pytrec_eval

    from venire import read_judgments
    from venire.disagreement import fit_transitions

    judgments = read_judgments(named(folder, "judges.tsv"))
    old, new = ("nist", other(judgments.assessors))
    matrix = fit_transitions(judgments, old, new).matrix
    rows = judgments.where(assessor=old)
    topics, docs = list(judgments.items.topics), list(judgments.items.doc)
    where = [(topics[judgments.items.topic[item]], docs[item]) for item in rows.item.tolist()]
    runs: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    path = named(folder, "runs.trec")
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            topic, _, doc, _, score, tag = line.split()
            runs[tag][topic][doc] = float(score)
    plain = {tag: {topic: dict(docs) for topic, docs in lists.items()} for tag, lists in runs.items()}
    rng = np.random.default_rng(0)
    means = []
    start = perf_counter()
    for _ in range(SAMPLED):
        drawn = (rng.random((len(rows), 1)) > matrix[rows.label].cumsum(axis=1)[:, :-1]).sum(axis=1)
        qrels: dict[str, dict[str, int]] = defaultdict(dict)
        for (topic, doc), label in zip(where, drawn.tolist(), strict=True):
            qrels[topic][doc] = label
        evaluator = pytrec_eval.RelevanceEvaluator(dict(qrels), {"ndcg_cut_10"})
        for lists in plain.values():
            scores = evaluator.evaluate(lists)
            means.append(sum(each["ndcg_cut_10"] for each in scores.values()) / len(scores))
    return (perf_counter() - start) * N_DRAWS / SAMPLED, means[:1]


CONTENDERS = {"venire": venire, "qrels rewritten": rewritten}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    work, found = CONTENDERS[sys.argv[1]](Path(sys.argv[2]))
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    print(json.dumps({"work": work, "peak": peak, "found": found}))

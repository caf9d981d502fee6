"""One contender on one workload, in a process of its own: `python bench/peers.py CONTENDER WORKLOAD FOLDER OUT`.

Prints what it cost as JSON: seconds of work (from files to a score per topic and measure; on dl21 from what was
loaded), seconds of loading, the clock when it was done, the peak of memory in MB; writes the scores (system, topic,
measure) to OUT, so that they can be compared.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, time

import numpy as np

Scores = dict[tuple[str, str, str], float]  # system, topic, measure
Work = Callable[[], object]

OURS = ("nDCG@10", "AP", "P@10", "RR", "R@100")
THEIRS = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_100")


# --- from files: w1, w2 ------------------------------------------------------------------------------------------


def venire_files(folder: Path) -> Work:
    from venire import evaluate, read_judgments, read_runs

    def work() -> object:
        return evaluate(read_judgments(folder / "qrels"), read_runs(folder / "runs", score_type="float32"), list(OURS))

    return work


def pytrec_eval_files(folder: Path) -> Work:
    import pytrec_eval

    def work() -> object:
        with (folder / "qrels").open() as file:
            evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(THEIRS))
        scores = {}
        for path in sorted((folder / "runs").iterdir()):
            with path.open() as file:
                scores[path.stem] = evaluator.evaluate(pytrec_eval.parse_run(file))
        return scores

    return work


def ir_measures_files(folder: Path) -> Work:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in OURS]

    def work() -> object:
        evaluator = ir_measures.evaluator(measures, ir_measures.read_trec_qrels(str(folder / "qrels")))
        scores = {}
        for path in sorted((folder / "runs").iterdir()):
            scores[path.stem] = list(evaluator.iter_calc(ir_measures.read_trec_run(str(path))))
        return scores

    return work


# --- from memory: dl21, nDCG@10 of every run under every assessor ---------------------------------------------------


def judges_and_runs(folder: Path) -> tuple[Path, Path]:
    """Find the table of judges and the runs, compressed or not."""
    return next(folder.glob("judges.tsv*")), next(folder.glob("runs.trec*"))


def venire_memory(folder: Path) -> Work:
    from venire import evaluate, read_judgments, read_runs

    table, path = judges_and_runs(folder)
    judgments = read_judgments(table, wide=True)
    counts = {name: int(labels.sum()) for name, labels in judgments.summary().labels.items()}
    everything = [name for name, count in counts.items() if count > 0.95 * max(counts.values())]
    chosen = judgments.where(assessor=everything)
    runs = read_runs(path, score_type="float32")
    evaluate(chosen, runs, ["nDCG@10"], assessor=everything[0])  # scans the runs

    return lambda: evaluate(chosen, runs, ["nDCG@10"], per="assessor")


def dictionaries(folder: Path) -> tuple[dict[str, dict[str, dict[str, int]]], dict[str, dict[str, dict[str, float]]]]:
    """Labels by assessor, topic, doc, for those who judged (nearly) everything; scores by system, topic, doc."""
    import gzip

    table, path = judges_and_runs(folder)
    opened = gzip.open if table.suffix == ".gz" else open
    with opened(table, "rt") as file:
        _, _, *names = file.readline().rstrip("\n").split("\t")
        rows = [line.rstrip("\n").split("\t") for line in file]
    labels: dict[str, dict[str, dict[str, int]]] = {name: {} for name in names}
    for topic, doc, *cells in rows:
        for name, cell in zip(names, cells, strict=True):
            if cell:
                labels[name].setdefault(topic, {})[doc] = int(cell)
    size = {name: sum(map(len, topics.values())) for name, topics in labels.items()}
    runs: dict[str, dict[str, dict[str, float]]] = {}
    with opened(path, "rt") as file:
        for line in file:
            topic, _, doc, _, score, tag = line.split()
            runs.setdefault(tag, {}).setdefault(topic, {})[doc] = float(score)
    return {name: topics for name, topics in labels.items() if size[name] > 0.95 * max(size.values())}, runs


def pytrec_eval_memory(folder: Path) -> Work:
    import pytrec_eval

    labels, runs = dictionaries(folder)

    def work() -> object:
        scores = {}
        for assessor, judged in labels.items():
            evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut_10"})
            scores[assessor] = {system: evaluator.evaluate(lists) for system, lists in runs.items()}
        return scores

    return work


def ir_measures_memory(folder: Path) -> Work:
    import ir_measures

    labels, runs = dictionaries(folder)

    def work() -> object:
        scores = {}
        for assessor, judged in labels.items():
            evaluator = ir_measures.evaluator([ir_measures.parse_measure("nDCG@10")], judged)
            scores[assessor] = {system: list(evaluator.iter_calc(lists)) for system, lists in runs.items()}
        return scores

    return work


CONTENDERS: dict[str, dict[str, Callable[[Path], Work]]] = {
    "venire": {"w1": venire_files, "w2": venire_files, "dl21": venire_memory},
    "pytrec_eval": {"w1": pytrec_eval_files, "w2": pytrec_eval_files, "dl21": pytrec_eval_memory},
    "ir_measures": {"w1": ir_measures_files, "w2": ir_measures_files, "dl21": ir_measures_memory},
}


# --- what they found, in one form -------------------------------------------------------------------------------------


def flat(found: object, workload: str) -> Scores:
    """Bring any contender's answer into one form; on dl21 the assessor stands where the measure stands elsewhere."""
    if hasattr(found, "axes"):
        last = "assessor" if "assessor" in found.axes else "measure"
        values = found.select(measure="nDCG@10").values if last == "assessor" else found.values
        names = [found.names[axis] for axis in ("system", "topic", last)]
        return {
            (names[0][i], names[1][j], names[2][k]): float(value)
            for (i, j, k), value in np.ndenumerate(values)
            if not np.isnan(value)
        }
    scores: Scores = {}
    if workload == "dl21":
        for assessor, by_system in found.items():
            for system, answer in by_system.items():
                scores |= {(system, topic, assessor): value for topic, _, value in cells(answer)}
        return scores
    for system, answer in found.items():
        scores |= {(system, topic, name): value for topic, name, value in cells(answer)}
    return scores


def cells(answer: object) -> list[tuple[str, str, float]]:
    """Topic, our name of the measure, value."""
    if isinstance(answer, list):
        return [(each.query_id, str(each.measure), each.value) for each in answer]
    ours = dict(zip(THEIRS, OURS, strict=True))
    return [(topic, ours[name], value) for topic, row in answer.items() for name, value in row.items()]


def main(contender: str, workload: str, folder: Path, out: Path) -> None:
    warnings.simplefilter("ignore")
    before = perf_counter()
    work = CONTENDERS[contender][workload](folder)
    start = perf_counter()
    found = work()
    end, done = perf_counter(), time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)
    scores = flat(found, workload)
    keys = sorted(scores)
    np.savez(out, keys=np.array(["\t".join(key) for key in keys]), values=np.array([scores[key] for key in keys]))
    cost = {"work": end - start, "load": start - before, "done": done, "peak": peak}
    print(json.dumps(cost))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))

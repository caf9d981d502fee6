"""Contenders that score what was loaded: nDCG@10 of every run under every assessor (dl21)."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

Labels = dict[str, dict[str, dict[str, int]]]  # by assessor, topic, doc
RunScores = dict[str, dict[str, dict[str, float]]]  # by system, topic, doc
Work = Callable[[], object]


def judges_and_runs(folder: Path) -> tuple[Path, Path]:
    """Find the table of judges and the runs, compressed or not."""
    return next(folder.glob("judges.tsv*")), next(folder.glob("runs.trec*"))


def venire(folder: Path) -> Work:
    from venire import evaluate, read_judgments, read_runs
    from venire.io.runs import scan

    table, path = judges_and_runs(folder)
    judgments = read_judgments(table)
    counts = {name: int(labels.sum()) for name, labels in judgments.summary().labels.items()}
    everything = [name for name, count in counts.items() if count > 0.95 * max(counts.values())]
    chosen = judgments.where(assessor=everything)
    runs = scan(read_runs(path, score_type="float32"), chosen.items)

    return lambda: evaluate(chosen, runs, ["nDCG@10"], per="assessor")


def dictionaries(folder: Path) -> tuple[Labels, RunScores]:
    """Read the labels of those who judged (nearly) everything, and the runs."""
    table, path = judges_and_runs(folder)
    opened = gzip.open if table.suffix == ".gz" else open
    with opened(table, "rt") as file:
        _, _, *names = file.readline().rstrip("\n").split("\t")
        rows = [line.rstrip("\n").split("\t") for line in file]
    labels: Labels = {name: {} for name in names}
    for topic, doc, *cells in rows:
        for name, cell in zip(names, cells, strict=True):
            if cell:
                labels[name].setdefault(topic, {})[doc] = int(cell)
    size = {name: sum(map(len, topics.values())) for name, topics in labels.items()}
    runs: RunScores = {}
    with opened(path, "rt") as file:
        for line in file:
            topic, _, doc, _, score, tag = line.split()
            runs.setdefault(tag, {}).setdefault(topic, {})[doc] = float(score)
    return {name: topics for name, topics in labels.items() if size[name] > 0.95 * max(size.values())}, runs


def pytrec_eval(folder: Path) -> Work:
    import pytrec_eval

    labels, runs = dictionaries(folder)

    def work() -> object:
        scores = {}
        for assessor, judged in labels.items():
            evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut_10"})
            scores[assessor] = {system: evaluator.evaluate(lists) for system, lists in runs.items()}
        return scores

    return work


def ir_measures(folder: Path) -> Work:
    import ir_measures

    labels, runs = dictionaries(folder)

    def work() -> object:
        scores = {}
        for assessor, judged in labels.items():
            evaluator = ir_measures.evaluator([ir_measures.parse_measure("nDCG@10")], judged)
            scores[assessor] = {system: list(evaluator.iter_calc(lists)) for system, lists in runs.items()}
        return scores

    return work


def ranx(folder: Path) -> Work:
    from ranx import Qrels, Run, evaluate

    labels, by_system = dictionaries(folder)
    runs = {system: Run(lists, name=system) for system, lists in by_system.items()}

    def under(judged: dict[str, dict[str, int]], systems: list[str]) -> dict[str, object]:
        qrels, scores = Qrels(judged), {}
        for system in systems:
            evaluate(qrels, runs[system], ["ndcg@10"], make_comparable=True)
            scores[system] = {"ndcg@10": dict(runs[system].scores["ndcg@10"])}
        return scores

    under(next(iter(labels.values())), list(runs)[:1])  # compiles
    return lambda: {assessor: under(judged, list(runs)) for assessor, judged in labels.items()}


CONTENDERS: dict[str, Callable[[Path], Work]] = {
    "venire": venire,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
}

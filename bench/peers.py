"""One contender on one workload, in a process of its own: `python bench/peers.py CONTENDER WORKLOAD FOLDER [OUT]`.

Prints what it cost as JSON: seconds of work (from files to a score per topic and measure; on dl21 from what was
loaded), seconds of loading before (ranx compiles itself there), the clock when it was done, the peak of memory in MB;
writes the scores (system, topic, measure) to OUT, so that they can be compared.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, time

import memory
from answers import flat, save
from machine import megabytes
from sizes import OURS, RANX, TREC

Work = Callable[[], object]


def venire(folder: Path) -> Work:
    from venire import evaluate, read_judgments, read_runs

    def work() -> object:
        return evaluate(read_judgments(folder / "qrels"), read_runs(folder / "runs", score_type="float32"), list(OURS))

    return work


def venire_numpy(folder: Path) -> Work:
    """Venire as it is where no C compiler was at hand."""
    from venire.io import runs as run_files

    run_files.make_scanner = partial(run_files.make_scanner, compiled=False)
    return venire(folder)


def pytrec_eval(folder: Path) -> Work:
    import pytrec_eval

    def work() -> object:
        with (folder / "qrels").open() as file:
            evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(TREC))
        scores = {}
        for path in run_files(folder):
            with path.open() as file:
                scores[path.stem] = evaluator.evaluate(pytrec_eval.parse_run(file))
        return scores

    return work


def ir_measures(folder: Path) -> Work:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in OURS]

    def work() -> object:
        evaluator = ir_measures.evaluator(measures, ir_measures.read_trec_qrels(str(folder / "qrels")))
        scores = {}
        for path in run_files(folder):
            scores[path.stem] = list(evaluator.iter_calc(ir_measures.read_trec_run(str(path))))
        return scores

    return work


def ranx(folder: Path) -> Work:
    from ranx import Qrels, Run, evaluate

    def scored(qrels: Qrels, path: Path) -> dict[str, dict[str, float]]:
        run = Run.from_file(str(path), kind="trec")
        evaluate(qrels, run, list(RANX))
        return run.scores

    def work(folder: Path) -> object:
        qrels = Qrels.from_file(str(folder / "qrels"), kind="trec")
        return {path.stem: scored(qrels, path) for path in run_files(folder)}

    with tempfile.TemporaryDirectory() as few:  # its code is compiled anew for every width of ids
        work(first_lines(folder, Path(few)))
    return partial(work, folder)


def first_lines(folder: Path, few: Path, n_lines: int = 20_000) -> Path:
    """Copy the head of one run, and the judgments of its topics."""
    run = run_files(folder)[0]
    with run.open() as file:
        lines = [line for line, _ in zip(file, range(n_lines), strict=False)]
    topics = {line.split(maxsplit=1)[0] for line in lines}
    judged = [line for line in (folder / "qrels").open() if line.split(maxsplit=1)[0] in topics]
    (few / "runs").mkdir()
    (few / "runs" / run.name).write_text("".join(lines))
    (few / "qrels").write_text("".join(judged))
    return few


def trec_eval(folder: Path) -> Work:
    names = ("ndcg_cut.10", "map", "P.10", "recip_rank", "recall.100")
    options = [word for name in names for word in ("-m", name)]
    command = [os.environ["TREC_EVAL"], "-q", *options, str(folder / "qrels")]

    def work() -> object:
        return {
            path.stem: subprocess.run([*command, str(path)], check=True, capture_output=True, text=True).stdout
            for path in run_files(folder)
        }

    return work


def read_bytes(folder: Path) -> Work:
    """The floor: no evaluation, every byte read once."""

    def work() -> None:
        buffer = bytearray(1 << 20)
        for path in run_files(folder):
            with path.open("rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass

    return work


def split_columns(folder: Path) -> Work:
    """The floor of a table: topic, document and score as columns, by polars."""
    import polars as pl

    def work() -> None:
        for path in run_files(folder):
            pl.read_csv(path, separator=" ", has_header=False, columns=[0, 2, 4])

    return work


def run_files(folder: Path) -> list[Path]:
    return sorted((folder / "runs").iterdir())


FROM_FILES: dict[str, Callable[[Path], Work]] = {
    "venire": venire,
    "venire, numpy scan": venire_numpy,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
    "trec_eval": trec_eval,
    "reading the bytes": read_bytes,
    "polars, three columns": split_columns,
}


def main(contender: str, workload: str, folder: Path, out: Path | None) -> None:
    warnings.simplefilter("ignore")
    before = perf_counter()
    work = (memory.CONTENDERS if workload == "dl21" else FROM_FILES)[contender](folder)
    start = perf_counter()
    found = work()
    end, done = perf_counter(), time()
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    if out is not None and found is not None:
        save(flat(found, workload), out)
    print(json.dumps({"work": end - start, "load": start - before, "done": done, "peak": megabytes(peak)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]) if len(sys.argv) > 4 else None)

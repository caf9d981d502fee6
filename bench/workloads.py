"""Collections to time on, made once and kept: `python bench/workloads.py FOLDER NAME...`.

w1      40 runs of 50 topics, 1,000 documents each, in 40 files; every fourth run is full of ties; about 300 documents
        per topic judged on four grades
w2      one run of 6,980 topics, 1,000 documents each, ids as in MS MARCO; one or two documents per topic judged
dl21    63 runs of 53 topics, 100 documents each; 24 assessors who judged all 10,828 documents (simulated: used
        where VENIRE_DATA does not name the folder with the real ones)
growth  the first 870, 1,740, 3,480 and 6,960 topics of w2

The same bytes come out every time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
from sizes import GROWTH, GROWTH_LINES

GRADES = np.array([0, 1, 2, 3])


def make_w1(folder: Path, rng: np.random.Generator) -> None:
    """Write qrels and 40 run files."""
    (folder / "runs").mkdir()
    collection = np.array([f"FT{n // 1000:03}-{n:06}" for n in range(500_000)])
    topics = [str(301 + n) for n in range(50)]
    pools = [rng.choice(collection, 2_500, replace=False) for _ in topics]
    with (folder / "qrels").open("w") as file:
        for topic, pool in zip(topics, pools, strict=True):
            grades = rng.choice(GRADES, 300, p=[0.7, 0.18, 0.08, 0.04])
            file.writelines(f"{topic} 0 {doc} {grade}\n" for doc, grade in zip(pool[:300], grades, strict=True))
    for system in range(40):
        with (folder / "runs" / f"run{system:02}.txt").open("w") as file:
            for topic, pool in zip(topics, pools, strict=True):
                attraction = rng.normal(size=len(pool)) + np.where(np.arange(len(pool)) < 300, 1.0, 0.0)
                best = np.argsort(-attraction)[:1_000]
                scores = attraction[best] * 5 + 10
                written = [f"{x:.0f}" for x in scores] if system % 4 == 3 else [f"{x:.6f}" for x in scores]
                file.write(run_lines(topic, pool[best], written, f"run{system:02}"))


def make_w2(folder: Path, rng: np.random.Generator) -> None:
    """Write qrels and one run file."""
    (folder / "runs").mkdir()
    topics = np.sort(rng.choice(1_102_432, 6_980, replace=False)).astype(str)
    with (folder / "qrels").open("w") as judged, (folder / "runs" / "dense.txt").open("w") as run:
        for topic in topics:
            docs = np.unique(rng.integers(0, 8_841_823, 1_010))
            docs = rng.permutation(docs)[:1_000].astype(str)
            scores = np.sort(rng.gamma(2.0, 3.0, len(docs)))[::-1] + 60
            relevant = [docs[min(int(rng.exponential(40)), 999)]]
            relevant += [str(rng.integers(0, 8_841_823))] * (rng.random() < 0.1)
            judged.writelines(f"{topic} 0 {doc} 1\n" for doc in dict.fromkeys(relevant))
            run.write(run_lines(str(topic), docs, [f"{x:.6f}" for x in scores], "dense"))


def make_dl21(folder: Path, rng: np.random.Generator) -> None:
    """Write a wide table of judgments and one file with all runs."""
    names = ["qid", "docid", "nist", *(f"model{n:02}" for n in range(23))]
    topics = [str(2_000 + 17 * n) for n in range(53)]
    sizes = np.full(53, 204) + (np.arange(53) < 10_828 - 53 * 204)
    pools = [[f"passage_{rng.integers(70):02}_{n:09}" for n in rng.choice(10**9, 400)] for _ in topics]
    truth = [rng.choice(GRADES, size, p=[0.4, 0.28, 0.22, 0.1]) for size in sizes]
    with (folder / "judges.tsv").open("w") as file:
        file.write("\t".join(names) + "\n")
        for topic, pool, grades in zip(topics, pools, truth, strict=True):
            seen = np.clip(grades[:, None] + rng.integers(-1, 2, (len(grades), 24)), 0, 3)
            rows = zip(pool, seen.tolist(), strict=False)
            file.writelines(f"{topic}\t{doc}\t" + "\t".join(map(str, row)) + "\n" for doc, row in rows)
    with (folder / "runs.trec").open("w") as file:
        for system in range(63):
            for topic, pool, grades in zip(topics, pools, truth, strict=True):
                worth = np.zeros(len(pool))
                worth[: len(grades)] = grades + 1
                best = np.argsort(-(worth + rng.normal(0, 1 + system / 20, len(pool))))[:100]
                scores = [str(100 - n) for n in range(100)]
                file.write(run_lines(topic, np.array(pool)[best], scores, f"run{system:02}"))


def make_growth(folder: Path, _: np.random.Generator) -> None:
    """Write four heads of w2."""
    main(folder.parent, ["w2"])
    whole = folder.parent / "w2"
    for times in GROWTH:
        (folder / f"{times}x" / "runs").mkdir(parents=True)
        topics: dict[str, None] = {}
        with (
            (whole / "runs" / "dense.txt").open() as run,
            (folder / f"{times}x" / "runs" / "dense.txt").open("w") as out,
        ):
            for line in islice(run, times * GROWTH_LINES):
                topics[line.partition(" ")[0]] = None
                out.write(line)
        judged = [line for line in (whole / "qrels").open() if line.partition(" ")[0] in topics]
        (folder / f"{times}x" / "qrels").write_text("".join(judged))


def run_lines(topic: str, docs: np.ndarray, scores: list[str], tag: str) -> str:
    lines = zip(range(1, len(docs) + 1), docs.tolist(), scores, strict=True)
    return "".join(f"{topic} Q0 {doc} {rank} {score} {tag}\n" for rank, doc, score in lines)


WORKLOADS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "w1": make_w1,
    "w2": make_w2,
    "dl21": make_dl21,
    "growth": make_growth,
}


def main(root: Path, names: list[str]) -> None:
    """Make what is not there yet."""
    for name in names:
        folder, unfinished = root / name, root / f"{name}.unfinished"
        if folder.exists():
            continue
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        print(f"making {folder}", file=sys.stderr)
        WORKLOADS[name](unfinished, np.random.default_rng([2021, list(WORKLOADS).index(name)]))
        unfinished.rename(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

"""What is measured of reading and scoring: one function per section of the report, each returns a Section."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from machine import Cost, measured, wait_for_quiet
from sizes import GROWTH, GROWTH_LINES, LINES, N_LABELS, OURS

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "bench"
PATIENCE = 30.0  # seconds: a contender is not started again on a workload it has worked so long on

Costs = dict[str, list[Cost]]
Row = Sequence[str]


@dataclass(frozen=True)
class Section:
    """A table of the report, what stands above it, and the costs it was made of."""

    name: str
    title: str
    about: str
    header: Row
    rows: Sequence[Row]
    costs: Costs

    def best(self, contender: str, what: str = "work") -> float:
        return min(cost[what] for cost in self.costs[contender])

    def others(self) -> float:
        """Share of the cores that other processes took meanwhile."""
        return mean(cost["others"] for repeats in self.costs.values() for cost in repeats)


def in_turns(tasks: Mapping[str, Callable[[], Cost]], repeat: int) -> Costs:
    """Do the tasks in turns, so that a busy spell of the machine strikes them all; best begun when it is quiet."""
    costs: Costs = {name: [] for name in tasks}
    waiting = 60.0
    for _ in range(repeat):
        for name, task in tasks.items():
            if sum(cost.get("work", 0.0) for cost in costs[name]) < PATIENCE:
                waiting -= wait_for_quiet(waiting)
                costs[name].append(task())
    return costs


def script(name: str, *arguments: object) -> Callable[[], Cost]:
    """A task: one of these scripts in a process of its own, which prints what it cost."""

    def task() -> Cost:
        printed, process = measured([sys.executable, HERE / name, *arguments])
        return process | json.loads(printed)

    return task


def peer(contender: str, workload: str, folder: Path, out: Path | None = None) -> Callable[[], Cost]:
    def task() -> Cost:
        printed, process = measured(
            [sys.executable, HERE / "peers.py", contender, workload, folder, *([out] if out else [])]
        )
        cost = json.loads(printed)
        return process | cost | {"whole": cost["done"] - process["start"]}

    return task


def made(workload: str) -> Path:
    """Make the workload in another process, which keeps this one small: a child's peak starts from its parent's."""
    data = os.environ.get("VENIRE_DATA")
    if workload == "dl21" and data and (Path(data) / "dl21_full").is_dir():
        return Path(data) / "dl21_full"
    subprocess.run([sys.executable, HERE / "workloads.py", CACHE, workload], check=True)
    return CACHE / workload


# --- beside the peers ------------------------------------------------------------------------------------------------


def against_peers(workload: str, title: str, contenders: Sequence[str], repeat: int) -> Section:
    folder = made(workload)
    saved = {name: CACHE / f"{workload}-{name.replace(', ', '-').replace(' ', '-')}.npz" for name in contenders}
    costs = in_turns({name: peer(name, workload, folder, saved[name]) for name in contenders}, repeat)
    rows = []
    for name, repeats in costs.items():
        work, whole, peak = (min(cost[what] for cost in repeats) for what in ("work", "whole", "peak"))
        speed = [f"{LINES[workload] / work:,.0f}"] if workload in LINES else []
        differs = "" if name == "venire" else differs_by(saved["venire"], saved[name])
        rows.append(
            [name, seconds(work), f"{whole:.2f}", *speed, f"{peak:.0f}", ratio(costs, name), differs, str(len(repeats))]
        )
    speed = ["lines/s"] if workload in LINES else []
    header = ["", "work s", "with start s", *speed, "peak MB", "times venire", "differs by", "turns"]
    about = ["The judgments and runs are simulated."] if workload == "dl21" and folder.parent == CACHE else []
    if "ranx" in costs:
        load = [cost["load"] for cost in costs["ranx"]]
        again = f", {min(load[1:]):.1f} s with its cache" if load[1:] else ""
        about.append(f"Before the work, ranx loads and compiles itself in {load[0]:.1f} s{again}.")
    return Section(workload, title, " ".join(about), header, rows, costs)


def differs_by(ours: Path, theirs: Path) -> str:
    """Compare in another process, which keeps this one small."""
    command = [sys.executable, HERE / "answers.py", ours, theirs]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"


def ratio(costs: Costs, name: str) -> str:
    """Best time over Venire's best; in brackets the median of the ratios within each turn."""
    if "venire" not in costs or name == "venire":
        return "1"
    best = min(cost["work"] for cost in costs[name]) / min(cost["work"] for cost in costs["venire"])
    turns = [one["work"] / other["work"] for one, other in zip(costs[name], costs["venire"], strict=False)]
    return f"{best:.1f} ({median(turns):.1f})"


def w1(contenders: Sequence[str], repeat: int) -> Section:
    return against_peers("w1", "W1: 40 files, 2,000,000 lines, five measures", contenders, repeat)


def w2(contenders: Sequence[str], repeat: int) -> Section:
    return against_peers("w2", "W2: one file, 6,980,000 lines, five measures", contenders, repeat)


def dl21(contenders: Sequence[str], repeat: int) -> Section:
    able = [name for name in contenders if name not in ("trec_eval", "venire, numpy scan")]
    title = "In memory: nDCG@10 of 63 runs under 24 assessors, runs loaded"
    return against_peers("dl21", title, able, repeat)


# --- Venire alone ----------------------------------------------------------------------------------------------------


def growth(_: Sequence[str], repeat: int) -> Section:
    folder = made("growth")
    costs = in_turns({f"{n}x": peer("venire", "growth", folder / f"{n}x") for n in GROWTH}, max(repeat, 5))
    works = {n: min(cost["work"] for cost in costs[f"{n}x"]) for n in GROWTH}
    rows = []
    for n, work in works.items():
        lines, peak = n * GROWTH_LINES, min(cost["peak"] for cost in costs[f"{n}x"])
        rows.append(
            [f"{n}x", f"{lines:,}", seconds(work), f"{lines / work:,.0f}", f"{peak:.0f}", f"{work / works[1]:.2f}"]
        )
    header = ["", "lines", "work s", "lines/s", "peak MB", "times 1x"]
    return Section(
        "growth", "Time by number of lines", "The first lines of W2; minimum of five repetitions.", header, rows, costs
    )


def floor(_: Sequence[str], repeat: int) -> Section:
    names = ("venire", "reading the bytes", "polars, three columns")
    costs: Costs = {}
    rows = []
    for workload in ("w1", "w2"):
        folder = made(workload)
        n_bytes = sum(path.stat().st_size for path in (folder / "runs").iterdir())
        found = in_turns({name: peer(name, workload, folder) for name in names}, repeat)
        costs |= {f"{workload} {name}": repeats for name, repeats in found.items()}
        ours = min(cost["work"] for cost in found["venire"])
        for name, repeats in found.items():
            work, peak = (min(cost[what] for cost in repeats) for what in ("work", "peak"))
            speeds = [f"{LINES[workload] / work:,.0f}", f"{n_bytes / work / 1e6:,.0f}"]
            rows.append([workload.upper(), name, seconds(work), *speeds, f"{peak:.0f}", f"{ours / work:.1f}"])
    header = ["", "", "work s", "lines/s", "MB/s", "peak MB", "venire takes times this"]
    about = "Time to read the files (from the file cache) without any evaluation, or only to split columns."
    return Section("floor", "Lower bounds", about, header, rows, costs)


def single(contenders: Sequence[str], repeat: int) -> Section:
    folder = made("w1")
    files = [folder / "qrels", folder / "runs" / "run00.txt"]
    wanted = [word for name in OURS for word in ("-m", name)]
    commands = {
        "venire evaluate": [sys.executable, "-m", "venire", "evaluate", *files, "--order", "float32", *wanted],
        "pytrec_eval script": [sys.executable, HERE / "means.py", *files],
        "Python that does nothing": [sys.executable, "-c", ""],
    }
    if "pytrec_eval" not in contenders:
        del commands["pytrec_eval script"]
    tasks = {name: lambda command=command: measured(command)[1] for name, command in commands.items()}
    costs = in_turns(tasks, max(repeat, 9))
    theirs = min(cost["whole"] for cost in costs.get("pytrec_eval script", [{"whole": float("nan")}]))
    rows = []
    for name, repeats in costs.items():
        whole, peak = (min(cost[what] for cost in repeats) for what in ("whole", "peak"))
        middle = median(cost["whole"] for cost in repeats)
        rows.append([name, seconds(whole), seconds(middle), f"{peak:.0f}", f"{whole / theirs:.2f}"])
    header = ["", "best s", "median s", "peak MB", "times the script"]
    about = (
        "One file of W1 (50,000 lines), means of five measures printed, start of the process included; minimum of nine."
    )
    return Section("single", "A single file from the command line", about, header, rows, costs)


def labels(_: Sequence[str], repeat: int) -> Section:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        paths = {n: Path(folder) / f"{n}.tsv" for n in N_LABELS}
        for n, path in paths.items():
            subprocess.run([sys.executable, HERE / "labels.py", "make", path, str(n)], check=True)
        size = {n: path.stat().st_size / 1e6 for n, path in paths.items()}
        costs = in_turns({f"{n:,}": script("labels.py", "read", path, n) for n, path in paths.items()}, repeat)
    rows = []
    for n in N_LABELS:
        repeats = costs[f"{n:,}"]
        work, count, peak = (min(cost[what] for cost in repeats) for what in ("work", "count", "peak"))
        rows.append([f"{n:,}", f"{repeats[0]['items']:,}", f"{size[n]:.0f}", seconds(work), f"{n / work:,.0f}"])
        rows[-1] += [seconds(count), f"{peak:.0f}", f"{peak / size[n]:.1f}"]
    header = ["labels", "items", "file MB", "read s", "labels/s", "count per item s", "peak MB", "peak / file"]
    about = "Long tables by 1,000 assessors, rows in random order; read, then labels counted per item."
    return Section("labels", "Judgments at scale", about, header, rows, costs)


SECTIONS: dict[str, Callable[[Sequence[str], int], Section]] = {
    "w1": w1,
    "w2": w2,
    "dl21": dl21,
    "growth": growth,
    "floor": floor,
    "single": single,
    "labels": labels,
}

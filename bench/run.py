"""Time Venire beside its peers: `python bench/run.py [--only w1,dl21] [--repeat 3] [--out FILE]`.

Every contender runs in a process of its own, in turns; the best of the repeats counts.  All compute the same five
measures per topic (nDCG@10, AP, P@10, RR, R@100; on dl21 nDCG@10 under each of 24 assessors), and the table says how
far their numbers are apart.  Set VENIRE_DATA to the folder of real data to run dl21 on it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import time

import numpy as np

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "bench"
LINES = {"w1": 40 * 50 * 1_000, "w2": 6_980 * 1_000}
CONTENDERS = ("venire", "pytrec_eval", "ir_measures")
TITLES = {
    "w1": "w1: 40 files, 2,000,000 lines, five measures",
    "w2": "w2: one file, 6,980,000 lines, five measures",
    "dl21": "dl21: nDCG@10 of 63 runs under 24 assessors, runs loaded",
}
HEADER = ("", "work s", "with start s", "lines/s", "peak MB", "times venire", "differs by")
Cost = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TITLES), help="workloads, separated by commas")
    parser.add_argument("--repeat", type=int, default=3, help="how often each contender runs")
    parser.add_argument("--peers", default=",".join(CONTENDERS), help="contenders, separated by commas")
    parser.add_argument("--out", type=Path, default=CACHE / "results.md", help="where the table goes")
    asked = parser.parse_args()
    contenders = [name for name in asked.peers.split(",") if installed(name)]
    parts = [machine(contenders)]
    for workload in asked.only.split(","):
        folder = made(workload)
        costs = timed(contenders, workload, folder, asked.repeat)
        parts.append(f"## {TITLES[workload]}\n\n{folder_note(workload, folder)}{table(costs, workload)}")
        print(parts[-1], end="\n\n", flush=True)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text("\n\n".join(["# Benchmark", *parts]) + "\n", encoding="utf-8")


def installed(contender: str) -> bool:
    try:
        return contender == "venire" or bool(package_version(contender))
    except PackageNotFoundError:
        return False


def package_version(contender: str) -> str:
    return version({"pytrec_eval": "pytrec_eval-terrier"}.get(contender, contender))


def made(workload: str) -> Path:
    """Make the workload in another process, which keeps this one small: a child's peak starts from its parent's."""
    data = os.environ.get("VENIRE_DATA")
    if workload == "dl21" and data and (Path(data) / "dl21_full").is_dir():
        return Path(data) / "dl21_full"
    subprocess.run([sys.executable, HERE / "workloads.py", CACHE, workload], check=True)
    return CACHE / workload


def timed(contenders: list[str], workload: str, folder: Path, repeat: int) -> dict[str, list[Cost]]:
    """Run contenders in turns, so that a busy spell of the machine strikes them all."""
    costs: dict[str, list[Cost]] = {name: [] for name in contenders}
    for _ in range(repeat):
        for name in contenders:
            command = [sys.executable, HERE / "peers.py", name, workload, folder, answers(name, workload)]
            start = time()
            cost = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            costs[name].append(cost | {"whole": cost["done"] - start})
    return costs


def answers(contender: str, workload: str) -> Path:
    return CACHE / f"{workload}-{contender}.npz"


def table(costs: dict[str, list[Cost]], workload: str) -> str:
    ours = min(cost["work"] for cost in costs["venire"]) if "venire" in costs else float("nan")
    rows = []
    for name, repeats in costs.items():
        work, whole = (min(cost[what] for cost in repeats) for what in ("work", "whole"))
        per_second = f"{LINES[workload] / work:,.0f}" if workload in LINES else ""
        cells = [name, f"{work:.2f}", f"{whole:.2f}", per_second]
        cells += [f"{min(cost['peak'] for cost in repeats):.0f}", ratio(costs, name, work / ours)]
        rows.append([*cells, "" if name == "venire" else apart(name, workload)])
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    lines = [HEADER, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def ratio(costs: dict[str, list[Cost]], name: str, best: float) -> str:
    """Best time over Venire's best; in brackets the median of the ratios within each turn."""
    if "venire" not in costs or name == "venire":
        return "1"
    turns = [one["work"] / other["work"] for one, other in zip(costs[name], costs["venire"], strict=True)]
    return f"{best:.1f} ({median(turns):.1f})"


def apart(contender: str, workload: str) -> str:
    """Largest difference to Venire over systems, topics and measures that both scored; and how many cells one lacks."""
    if not answers("venire", workload).exists():
        return ""
    with np.load(answers("venire", workload)) as one, np.load(answers(contender, workload)) as other:
        both, here, there = np.intersect1d(one["keys"], other["keys"], return_indices=True)
        largest = np.abs(one["values"][here] - other["values"][there]).max(initial=0.0)
        lacking = len(one["keys"]) + len(other["keys"]) - 2 * len(both)
    return f"{largest:.0e}" + (f", {lacking:,} cells in one alone" if lacking else "")


def machine(contenders: list[str]) -> str:
    """Say where and with what this was measured."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    versions = {name: package_version(name) for name in contenders if name != "venire"}
    versions = {"Python": platform.python_version(), "numpy": version("numpy")} | versions
    return f"{model}, {os.cpu_count()} cores; " + ", ".join(f"{name} {each}" for name, each in versions.items()) + "."


def folder_note(workload: str, folder: Path) -> str:
    return "Simulated judgments and runs.\n\n" if workload == "dl21" and folder.parent == CACHE else ""


if __name__ == "__main__":
    main()

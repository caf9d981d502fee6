"""The machine: what it is, who else keeps it busy, and what a process costs on it."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic, sleep, time

Cost = dict[str, float]

CORES = os.cpu_count() or 1
STAT = Path("/proc/stat")
QUIET = 0.2  # of all cores; a measurement waits while others take more
DISTRIBUTION = {"pytrec_eval": "pytrec_eval-terrier"}


def measured(command: Sequence[object]) -> tuple[str, Cost]:
    """Run a process; return what it prints, its seconds and CPU seconds, its peak in MB, and what others took."""
    start, busy = time(), busy_seconds()
    words = [str(word) for word in command]
    with (
        tempfile.TemporaryFile("w+") as warnings,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=warnings, text=True) as process,
    ):
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        end = time()
        if process.returncode:
            warnings.seek(0)
            raise SystemExit(f"{warnings.read()}{' '.join(words)} ended with {process.returncode}")
    others = busy_seconds() - busy - usage.ru_utime - usage.ru_stime
    cost = {"start": start, "whole": end - start, "peak": megabytes(usage.ru_maxrss)}
    cost["cpu"] = usage.ru_utime + usage.ru_stime
    return printed, cost | {"others": max(others, 0.0) / (end - start) / CORES}


def megabytes(peak: int) -> float:
    """Return a peak of memory, which Linux gives in KB and macOS in bytes, in MB."""
    return peak / (1024 if platform.system() == "Linux" else 1 << 20)


def busy_seconds() -> float:
    """Seconds that all cores together were busy, or taken away from this machine, since it started."""
    if not STAT.exists():
        return 0.0
    ticks = [int(field) for field in STAT.read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # without idle and waiting for disks


def wait_for_quiet(patience: float) -> float:
    """Wait until others leave the machine alone, at most so many seconds; return how long that took."""
    start = monotonic()
    while True:
        busy = busy_seconds()
        sleep(0.25)
        if busy_seconds() - busy < QUIET * 0.25 * CORES or monotonic() - start > patience:
            return monotonic() - start


def package_version(contender: str) -> str | None:
    try:
        return version(DISTRIBUTION.get(contender, contender))
    except PackageNotFoundError:
        return None


def described(packages: Sequence[str]) -> str:
    """Say where and with what this was measured."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    versions = {name: package_version(name) for name in packages}
    listed = ", ".join(f"{name} {each}" for name, each in versions.items() if each)
    return f"{model}, {CORES} cores, {platform.system()}; Python {platform.python_version()}, {listed}."

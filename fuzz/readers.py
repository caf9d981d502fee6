"""Damaged files through every reader: `python fuzz/readers.py [FORMAT ...] [--count 10000] [--seconds 60]`.

First so many damaged files of each format go through its reader, and one in ten through the commands that read it, then
others for so many seconds.  Each format has a process of its own with limited memory.  A file must be read or refused
with an error of ours (commands: exit code 0 or 2), in time, and the process may not take more than 500 MB.  A finding
ends the process of its format with an error; its file is kept, and `--file` tries it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

PATIENCE = 30
"""Seconds of work for one file."""
MOST_MEMORY = 500
"""Megabytes that a process may take."""
ADDRESSES = 8 << 30
"""Bytes of address space: more than is used, as threads reserve some, and less than a machine has."""
SEED, LATER = 4, 5
ONE_IN = 10
"""One damaged file in so many goes through the commands too."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", help="formats; all if none is named")
    parser.add_argument("--count", type=int, default=10_000, help="damaged files of each format")
    parser.add_argument("--seconds", type=int, default=60, help="how long further files are tried")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz", help="where findings are kept")
    parser.add_argument("--file", type=Path, help="a finding to try again, with one format")
    parser.add_argument("--here", action="store_true", help="in this process: one format")
    asked = parser.parse_args()
    from damaged_files import FORMS

    asked.folder.mkdir(parents=True, exist_ok=True)
    names = asked.formats or list(FORMS)
    if asked.here or asked.file:
        sys.exit(one_format(names[0], asked))
    options = ["--count", str(asked.count), "--seconds", str(asked.seconds), "--folder", str(asked.folder)]
    codes = {}
    for name in names:
        codes[name] = subprocess.run([sys.executable, __file__, name, "--here", *options], check=False).returncode
    found = {name: code for name, code in codes.items() if code}
    print(f"{len(names) - len(found)} of {len(names)} formats without a finding" + (f"; {found}" if found else ""))
    sys.exit(bool(found))


def one_format(name: str, asked: argparse.Namespace) -> int:
    """Try the files of one format, and sum up."""
    from damaged_files import FORMS, damaged

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    faulthandler.enable()
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        path = Path(folder) / FORMS[name].file
        if asked.file:
            return try_one(name, path, asked.file.read_bytes(), counts, asked.folder / asked.file.name, commands=True)
        for number in range(asked.count):
            kept = asked.folder / f"{name}-{SEED}-{number}"
            if try_one(name, path, damaged(name, SEED, number), counts, kept, commands=number % ONE_IN == 1):
                return 1
        end, number = time.monotonic() + asked.seconds, 0
        while time.monotonic() < end:
            kept = asked.folder / f"{name}-{LATER}-{number}"
            if try_one(name, path, damaged(name, LATER, number), counts, kept, commands=number % ONE_IN == 1):
                return 1
            number += 1
    memory = peak()
    print(f"{name}: {', '.join(f'{n:,} {what}' for what, n in sorted(counts.items()))}; {memory} MB", flush=True)
    return int(memory > MOST_MEMORY)


def try_one(name: str, path: Path, data: bytes, counts: Counter[str], kept: Path, *, commands: bool) -> int:
    """Read one file, and run commands on it; a finding is printed, and its file kept."""
    from damaged_files import FORMS, exit_code, outcome

    form = FORMS[name]
    path.write_bytes(data)
    kept.write_bytes(data)  # what ends the process leaves no time for it
    before = peak()
    try:
        _set_timer(PATIENCE)
        counts[outcome(form, path)] += 1
        for command in form.commands if commands else ():
            _set_timer(PATIENCE)
            if (code := exit_code(command, path)) not in (0, 2):
                raise AssertionError(f"{' '.join(command)}: exit code {code}")
            counts[f"exit {code}"] += 1
        _set_timer(0)
        if before < MOST_MEMORY < peak():
            raise AssertionError(f"{peak()} MB of memory, {before} MB before")
    except BaseException as error:
        _set_timer(0)
        import traceback

        traceback.print_exception(error)
        print(f"FINDING in {name}: {kept}", file=sys.stderr, flush=True)
        return 1
    kept.unlink()
    return 0


def _set_timer(seconds: int) -> None:
    """Raise after so many seconds of work, or twenty times as many of waiting; 0: never."""
    for timer, each, most in (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, 20 * seconds),
    ):
        signal.signal(each, _too_long)
        signal.setitimer(timer, most)


def _too_long(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
    raise TimeoutError(f"more than {PATIENCE} seconds")


def peak() -> int:
    """Return the most memory that this process, or a process it waited for, has taken, in MB."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024


if __name__ == "__main__":
    main()

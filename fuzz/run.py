"""Fuzz the compiled scan for a while: `python fuzz/run.py [--seconds 60] [--folder build/fuzz] [INPUT ...]`.

What the fuzzer learnt is kept in the folder and is where the next run begins.  A finding ends it with an error, and the
input is kept; name it to try it again.  Where the fuzzer or a compiler's sanitizers are missing, this says so and ends
well.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import sanitized

sys.path.insert(0, str(sanitized.ROOT / "tests"))
from mutations import DOCS, EDGES, ODD, TAGS, TOPICS, mutated_run

N_SEEDS = 300
LONGEST = 1_024  # bytes of an input
PATIENCE = 20  # seconds for one input
STATUS = re.compile(r"#(\d+)\s+(?:INITED|DONE|pulse)\s+cov: (\d+) ft: (\d+) corp: (\d+)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", help="inputs to try once, rather than to fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="how long to fuzz")
    parser.add_argument("--folder", type=Path, default=sanitized.ROOT / "build" / "fuzz", help="what is kept")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not find_spec("atheris"):
        sys.exit(skipped("atheris is not installed (it exists for Linux on x86-64)"))
    try:
        compiler = sanitized.find_compiler(folder)
    except sanitized.Unavailable as reason:
        sys.exit(skipped(str(reason)))
    library = sanitized.build(compiler, folder / "_scan.so", coverage=True)
    command = [sys.executable, str(sanitized.HERE / "target.py"), str(library)]
    environment = sanitized.environment(compiler)
    if asked.inputs:
        sys.exit(subprocess.run([*command, *asked.inputs], env=environment, check=False).returncode)
    sys.exit(fuzz([*command, *arguments(folder, asked.seconds)], environment, folder))


def skipped(reason: str) -> int:
    print(f"coverage-guided fuzzing was skipped: {reason}")
    return 0


def arguments(folder: Path, seconds: int) -> list[str]:
    """Lay out what libFuzzer starts from, and tell it where that is."""
    corpus, words = folder / "corpus", folder / "words"
    corpus.mkdir(exist_ok=True)
    for number in range(N_SEEDS):
        seed = bytes([number % 256]) + mutated_run(3, number)[:LONGEST]
        (corpus / f"seed-{number:03d}").write_bytes(seed)
    names = [*DOCS, *TOPICS, *TAGS, *EDGES, *ODD, b"\n1 Q0 a 1 1 s\n"]
    quoted = ["".join(f"\\x{byte:02x}" for byte in name) for name in names if len(name) <= 64]
    words.write_text("".join(f'"{name}"\n' for name in quoted), encoding="ascii")
    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={PATIENCE}", "-rss_limit_mb=4096"]
    return [str(corpus), *limits, f"-dict={words}", f"-artifact_prefix={folder}{os.sep}", "-print_final_stats=1"]


def fuzz(command: list[str], environment: dict[str, str], folder: Path) -> int:
    """Run the fuzzer, its words into a file, and sum up."""
    log = folder / "log.txt"
    print(f"fuzzing the compiled scan; see {log}", flush=True)
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(command, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False)
    text = log.read_text(encoding="utf-8", errors="replace")
    told = [tuple(map(int, status)) for status in STATUS.findall(text)]
    if done.returncode or len(told) < 2:
        print(text[-4_000:], file=sys.stderr)
        print(f"found something, or could not begin; the input, if any, is in {folder}", file=sys.stderr)
        return done.returncode or 1
    (_, *before), (n_inputs, *after) = told[0], told[-1]
    growth = zip(("places", "features", "corpus"), before, after, strict=True)
    print(f"{n_inputs:,} inputs, no finding; {', '.join(f'{name} {old} -> {new}' for name, old, new in growth)}")
    return 0


if __name__ == "__main__":
    main()

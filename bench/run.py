"""Time Venire beside its peers: `python bench/run.py [--only w1,dl21] [--repeat 3] [--trec-eval PATH] [--docs]`.

Every contender runs in a process of its own, in turns; the best of the repeats counts.  All compute the same five
measures per topic (nDCG@10, AP, P@10, RR, R@100; on dl21 nDCG@10 under each of 24 assessors), and the table says how
far their numbers are apart.  Set VENIRE_DATA to the folder of real data to run dl21 on it.

Sections are kept in build/bench: with --only, the others stand in the report as they were measured last.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from compileall import compile_dir
from dataclasses import asdict
from pathlib import Path

from inference_sections import INFERENCE
from machine import described, package_version
from report import heading, page, verdicts
from sections import CACHE, SECTIONS as SCORING, Section

CONTENDERS = ("venire", "venire, numpy scan", "pytrec_eval", "ir_measures", "ranx", "trec_eval")
PACKAGES = ("numpy", "polars", "pytrec_eval", "ir_measures", "ranx", "numba")
SECTIONS = {**SCORING, **INFERENCE}
DOCS = Path(__file__).parent.parent / "docs"
SOURCE = DOCS.parent / "src"


def main() -> None:
    asked = arguments()
    contenders, notices = at_hand(asked.peers.split(","), asked.trec_eval)
    print(*notices, sep="\n", file=sys.stderr)
    compile_dir(SOURCE, quiet=1)  # peers are installed with their bytecode, and some environments write none
    machine = described(PACKAGES)
    print(machine, end="\n\n", flush=True)
    now = measured_sections(asked.only.split(","), contenders, asked.repeat)
    print(*verdicts(now), sep="\n")
    sections = kept(now)
    text = page(machine, notices, sections)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(text, encoding="utf-8")
    if asked.docs:
        if missing := set(SECTIONS) - set(sections):
            raise SystemExit(f"--docs needs {', '.join(sorted(missing))} too: run them once")
        from figure import draw

        draw(sections, DOCS / "benchmarks.svg")
        (DOCS / "benchmarks.md").write_text(text, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--repeat", type=int, default=3, help="how often each contender runs")
    parser.add_argument("--trec-eval", default=os.environ.get("TREC_EVAL"), help="path of trec_eval, to run it too")
    parser.add_argument("--out", type=Path, default=CACHE / "results.md", help="where the tables go")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md and its figure")
    parser.add_argument("--peers", default=",".join(CONTENDERS[2:]), help="peers, separated by commas")
    asked = parser.parse_args()
    if unknown := set(asked.only.split(",")) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    return asked


def at_hand(peers: Sequence[str], trec_eval: str | None) -> tuple[list[str], list[str]]:
    """Contenders that can run, and why the others are left out."""
    lacking = {name: f"{name} is left out: not asked for" for name in CONTENDERS[2:] if name not in peers}
    lacking |= {name: f"{name} is left out: not installed" for name in CONTENDERS[2:5] if not package_version(name)}
    if trec_eval and not shutil.which(trec_eval):
        raise SystemExit(f"{trec_eval} is not a program")
    if trec_eval:
        os.environ["TREC_EVAL"] = trec_eval
    else:
        lacking["trec_eval"] = "trec_eval is left out: no path was given (--trec-eval or TREC_EVAL)"
    return [name for name in CONTENDERS if name not in lacking], [f"{why}." for why in lacking.values()]


def kept(now: Mapping[str, Section]) -> dict[str, Section]:
    """Keep what was measured now; return it with what was kept before, in the usual order."""
    store = CACHE / "sections.json"
    before = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    sections = {name: Section(**fields) for name, fields in before.items()} | now
    sections = {name: sections[name] for name in SECTIONS if name in sections}
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(json.dumps({name: asdict(each) for name, each in sections.items()}), encoding="utf-8")
    return sections


def measured_sections(names: Sequence[str], contenders: Sequence[str], repeat: int) -> dict[str, Section]:
    """Measure, and show each table when it is there."""
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE / "numba")  # empty, so that the first turn shows what compiling takes
    shutil.rmtree(CACHE / "numba", ignore_errors=True)
    sections = {}
    for name in names:
        sections[name] = SECTIONS[name](contenders, repeat)
        kept(sections)
        print(heading(sections[name]), end="\n\n", flush=True)
    return sections


if __name__ == "__main__":
    main()

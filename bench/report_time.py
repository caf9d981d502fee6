"""How long does `venire report` take? `python bench/report_time.py [--old SRC] [--repeat 3]`.

Times the command, with its start, on TREC DL 2021 (VENIRE_DATA/dl21_full: 37 assessors, 63 runs; all assessors, three
of them, and with a declared reference) and on the demo.  With --old, the folder `src` of a checkout of an older
version, both versions run in turns, and the ratio of the medians is printed; a version with a scanner in C needs its
compiled module there.  Both are compiled to bytecode before, as by an installation.  In parentheses is the share of the
cores that other processes took.
"""

from __future__ import annotations

import argparse
import compileall
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from machine import Cost, measured

SOURCE = Path(__file__).parents[1] / "src"
THREE = ("nist", "gpt4_umbrela", "mistral_p0")


def main() -> None:
    asked = arguments()
    versions = {"new": SOURCE} | ({"old": asked.old} if asked.old else {})
    for source in versions.values():
        compileall.compile_dir(source, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        run(SOURCE, ["demo", "-q", "-o", f"{folder}/demo"])
        for name, words in workloads(Path(folder)).items():
            command = ["report", "-q", *words, "-o", f"{folder}/page.html"]
            costs: dict[str, list[Cost]] = {version: [] for version in versions}
            for _ in range(asked.repeat):
                for version, source in versions.items():
                    costs[version].append(run(source, command))
            print(line(name, costs), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="folder src of a checkout of an older version")
    parser.add_argument("--repeat", type=int, default=3, help="how often each version runs")
    return parser.parse_args()


def workloads(folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the arguments of reports by name; without real data, the demo alone."""
    found: dict[str, Sequence[str]] = {"demo": [f"{folder}/demo/judgments.tsv", f"{folder}/demo/runs"]}
    data = os.environ.get("VENIRE_DATA")
    if data is not None:
        files = [f"{data}/dl21_full/judges.tsv.gz", f"{data}/dl21_full/runs.trec.gz"]
        some = [f"--where=assessor={name}" for name in THREE]
        found |= {"dl21": files, "dl21, 3 judges": [*files, *some], "dl21, reference": [*files, "--reference", "nist"]}
    return found


def run(source: Path, words: Sequence[str]) -> Cost:
    """Run a command of the version in a folder."""
    start = f"import sys; sys.path.insert(0, {str(source)!r}); from venire.cli.main import main; main()"
    return measured([sys.executable, "-c", start, *words])[1]


def line(name: str, costs: Mapping[str, Sequence[Cost]]) -> str:
    """Return medians by version, and the ratios of the first to the last."""
    middle = {version: {key: median(each[key] for each in some) for key in some[0]} for version, some in costs.items()}
    parts = [f"{version} {each['whole']:.1f} s, CPU {each['cpu']:.1f} s" for version, each in middle.items()]
    if "old" in middle:
        wall, cpu = (middle["old"][key] / middle["new"][key] for key in ("whole", "cpu"))
        parts.append(f"old / new {wall:.2f}, CPU {cpu:.2f}")
    others = max(each["others"] for each in middle.values())
    return f"{name}: {'; '.join(parts)} (others {others:.0%})"


if __name__ == "__main__":
    main()

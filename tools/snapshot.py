"""Save the JSON of every command on real and simulated data, or compare two such folders number by number.

A change that moves code and should move no number is checked by it:

    python tools/snapshot.py save before      # with VENIRE_DATA naming the folder of real data
    python tools/snapshot.py save after
    python tools/snapshot.py compare before after

Commands that fail are saved with their exit code and message, so that they are compared too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

DL21 = "dl21_full/judges.tsv.gz"
DL21_RUNS = "dl21_full/runs.trec.gz"
CROWD = "dl21_full/prefs_crowd.txt.gz"
CLEF, CLEF_RUNS = "clef18_aspects/aspects.tsv.gz", "clef18_aspects/runs.trec.gz"
CAST, LOCAL = "cast19_prefs/qrels_nist.txt.gz", "cast19_prefs/prefs_local.txt.gz"
SOGOU = "serp_prefs_clicks_sogou"
REL = ("--where", "aspect=rel", "--duplicate-docs", "first")
DEMO = ("demo/judgments.tsv", "demo/runs")
CONTEXT = ("golbus/judgments.tsv", "golbus/runs")
USERS = ("--preferences", "golbus/preferences.tsv")

COMMANDS: dict[str, tuple[str, ...]] = {
    "dl21-inspect": ("inspect", DL21, DL21_RUNS),
    "dl21-evaluate": ("evaluate", DL21, DL21_RUNS, "--per", "assessor", "-m", "nDCG@10", "-m", "AP"),
    "dl21-evaluate-prm": ("evaluate", DL21, DL21_RUNS, "--assessor", "nist", "--gains", "prm:2"),
    "dl21-users": ("evaluate", DL21, DL21_RUNS, "--assessor", "nist", "--users", "100", "--gains", "prm:2"),
    "dl21-compare": ("compare", DL21, DL21_RUNS, "--assessor", "nist", "--new-judge", "gpt4_umbrela"),
    "dl21-disagreement": ("disagreement", DL21, "--relevant", "2"),
    "dl21-count": ("count", DL21, DL21_RUNS, "--assessor", "nist", "--relevant", "2"),
    "dl21-consistency": ("consistency", DL21),
    "dl21-robustness": ("robustness", DL21, DL21_RUNS),
    "dl21-agreement": ("agreement", DL21),
    "dl21-power": ("power", DL21, DL21_RUNS, "--assessor", "nist"),
    "dl21-pdp": ("pdp", DL21, CROWD, DL21_RUNS, "--where", "assessor=nist"),
    "dl21-preferences": ("preferences", DL21, "--preferences", CROWD, "--where", "assessor=nist"),
    "dl21-scales": (
        "scales",
        DL21,
        DL21_RUNS,
        *(f"--where=assessor={name}" for name in ("nist", "gpt4_umbrela")),
    ),
    "dl21-sensitivity": ("sensitivity", DL21, DL21_RUNS, "--relevant", "2"),
    "dl21-report": ("report", DL21, DL21_RUNS, "-o", "OUT.html", "--json", "OUT.json"),
    "rf10-inspect": ("inspect", "rf10/crowd.tsv"),
    "rf10-agreement": ("agreement", "rf10/crowd.tsv"),
    "rf10-disagreement": ("disagreement", "rf10/crowd.tsv", "--relevant", "1"),
    "rf10-consistency": ("consistency", "rf10/crowd.tsv"),
    "rf10-sensitivity": ("sensitivity", "rf10/crowd.tsv", "--relevant", "1"),
    "cast19-inspect": ("inspect", CAST, LOCAL),
    "cast19-pdp": ("pdp", CAST, LOCAL),
    "cast19-preferences": ("preferences", CAST, "--preferences", LOCAL),
    "cast19-scales": ("scales", CAST, "--preferences", LOCAL),
    "clef18-inspect": ("inspect", CLEF, CLEF_RUNS),
    "clef18-aspects": ("aspects", CLEF, CLEF_RUNS, "--overall", "rel", "--duplicate-docs", "first"),
    "clef18-evaluate": ("evaluate", CLEF, CLEF_RUNS, *REL),
    "clef18-compare": ("compare", CLEF, CLEF_RUNS, *REL, "--agreement", "0.9,0.7"),
    "clef18-power": ("power", CLEF, CLEF_RUNS, *REL),
    "clef18-report": ("report", CLEF, CLEF_RUNS, *REL, "-o", "OUT.html", "--json", "OUT.json"),
    "sogou-inspect": ("inspect", f"{SOGOU}/clicks_train.tsv.gz", f"{SOGOU}/serp_preferences.tsv"),
    "sogou-clicks": ("clicks", f"{SOGOU}/clicks_train.tsv.gz"),
    "sogou-preferences": ("preferences", "--preferences", f"{SOGOU}/serp_preferences.tsv"),
    "demo-inspect": ("inspect", *DEMO),
    "demo-evaluate": ("evaluate", *DEMO, "--per", "assessor"),
    "demo-compare": ("compare", *DEMO, "--assessor", "careful1"),
    "demo-disagreement": ("disagreement", DEMO[0], "--relevant", "2"),
    "demo-count": ("count", *DEMO, "--assessor", "careful1", "--relevant", "2"),
    "demo-consistency": ("consistency", DEMO[0]),
    "demo-robustness": ("robustness", *DEMO),
    "demo-agreement": ("agreement", DEMO[0]),
    "demo-power": ("power", *DEMO, "--assessor", "careful1"),
    "demo-scales": ("scales", *DEMO),
    "demo-sensitivity": ("sensitivity", *DEMO, "--relevant", "2"),
    "demo-report": ("report", *DEMO, "-o", "OUT.html", "--json", "OUT.json"),
    "context-predict": ("context", "predict", CONTEXT[0]),
    "context-sweep": ("context", "sweep", *CONTEXT, *USERS, "--pool", "median"),
    "context-evaluate": ("evaluate", *CONTEXT, "--pool", "median", "-m", "nCCG(alpha=0.5)@5", "-m", "nDCG@5"),
    "context-clicks": ("clicks", "golbus/clicks.tsv", "-j", CONTEXT[0], "--pool", "median", "-m", "CCG(alpha=0.5)@5"),
}


def save(folder: Path, data: Path, *, only: str = "") -> None:
    """Run every command in ``folder`` and keep what it writes as NAME.out."""
    prepare(folder, data)
    names = [name for name in COMMANDS if only in name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code in zip(names, pool.map(lambda name: run(folder, data, name), names), strict=True):
            print(f"{name:24s} exit {code}")


def prepare(folder: Path, data: Path) -> None:
    """Make the collections that commands read: two simulated ones, and crowd labels without broken links."""
    folder.mkdir(parents=True, exist_ok=True)
    for args in (("demo", "-o", "demo"), ("simulate", "context", "-o", "golbus")):
        subprocess.run([sys.executable, "-m", "venire", *args], cwd=folder, check=True, capture_output=True)
    (folder / "rf10").mkdir(exist_ok=True)
    with gzip.open(data / "rf10_crowd" / "trec-rf10-data.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    lines = ["topic\tdoc\tassessor\tlabel", *(f"{t}\t{d}\t{w}\t{label}" for t, w, d, _, label in rows if label >= "0")]
    (folder / "rf10" / "crowd.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(folder: Path, data: Path, name: str) -> str:
    """Run one command; results go to NAME.out, what it says beside them to NAME.err."""
    args = [word if not (data / word).exists() else str(data / word) for word in COMMANDS[name]]
    args = [word.replace("OUT", name) for word in args]
    if "--json" not in args:
        args += ["--format", "json"]
    done = subprocess.run([sys.executable, "-m", "venire", *args], cwd=folder, capture_output=True, text=True)
    (folder / f"{name}.err").write_text(done.stderr.replace(str(data), "DATA"), encoding="utf-8")
    (folder / f"{name}.out").write_text(done.stdout if "--json" not in args else str(done.returncode), encoding="utf-8")
    return str(done.returncode)


def compare(before: Path, after: Path, *, words: bool = True) -> int:
    """Print the places that differ, texts only if ``words``; return how many commands differ."""
    n_different = 0
    for name in COMMANDS:
        ending = "json" if "--json" in COMMANDS[name] else "out"
        one, two = ((folder / f"{name}.{ending}") for folder in (before, after))
        if not one.exists() or not two.exists():
            print(f"{name}: not in both folders")
            continue
        found = [each for each in differences(parsed(one), parsed(two)) if words or not _texts(*each[1:])]
        n_different += bool(found)
        for place, old, new in found[:8]:
            print(f"{name}: {place}: {str(old)[:120]} -> {str(new)[:120]}")
        if len(found) > 8:
            print(f"{name}: {len(found) - 8} more")
    print(f"{n_different} of {len(COMMANDS)} commands differ")
    return n_different


def parsed(path: Path) -> Any:
    """JSON, or the text where it is none."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the places in which two JSON values differ; numbers within 1e-9 of each other are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            if key in old and key in new:
                yield from differences(old[key], new[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}", old.get(key, "absent"), new.get(key, "absent")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for n, (one, two) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, two, f"{place}[{n}]")
    elif isinstance(old, float | int) and isinstance(new, float | int):
        if not math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12):
            yield place, old, new
    elif old != new:
        yield place, old, new


def _texts(old: Any, new: Any) -> bool:
    """Whether two values are texts, or lists of texts."""
    return all(isinstance(each, str | list) and all(isinstance(one, str) for one in each) for each in (old, new))


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    saving = verbs.add_parser("save")
    saving.add_argument("folder", type=Path)
    saving.add_argument("--only", default="", help="commands whose name contains this")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--numbers", action="store_true", help="keys and numbers only, not texts")
    args = parser.parse_args()
    if args.verb == "save":
        save(args.folder, Path(os.environ["VENIRE_DATA"]).resolve(), only=args.only)
    else:
        sys.exit(compare(args.before, args.after, words=not args.numbers) > 0)


if __name__ == "__main__":
    main()

"""Measure the house: lines, modules, public names, import cycles, and how many of our modules a command runs through.

    python tools/house.py            # figures of the source
    python tools/house.py --visits   # and of evaluate, compare and report on the collection of venire demo

A module is visited if one of its functions is called; importing it does not count.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
FILES = ("demo/judgments.tsv", "demo/runs")
COMMANDS = {
    "evaluate": ("evaluate", *FILES, "--per", "assessor", "-q"),
    "compare": ("compare", *FILES, "--assessor", "careful1", "-q"),
    "report": ("report", *FILES, "-o", "report.html", "-q"),
}
VISITS = """
import sys, threading
seen = set()
def importing(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & 1:  # a function, not the body of a module or class
        name = frame.f_globals.get("__name__", "")
        if name.startswith("venire.") and name not in seen and not importing(frame.f_back):
            seen.add(name)
from venire.cli.main import main
sys.argv[0] = "venire"
threading.setprofile(note)
sys.setprofile(note)
try:
    main()
finally:
    sys.setprofile(None)
    print(len(seen), file=sys.stderr)
"""


def modules() -> dict[str, Path]:
    """Find our modules: dotted name -> file."""
    found = {}
    for path in sorted((SOURCE / "venire").rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Name our modules that a file imports, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{each.name}" for each in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found & known.keys()


def cycle(known: dict[str, Path]) -> list[str]:
    """Find a cycle of imports, those within functions too; empty if there is none."""
    graph = {name: imports(path, known) - {name, "venire"} for name, path in known.items() if name != "venire"}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def visits(folder: Path, name: str) -> int:
    """Run a command, and count our modules that it runs through."""
    call = [sys.executable, "-c", VISITS, *COMMANDS[name]]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
    return int(done.stderr.split()[-1])


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", action="store_true", help="run commands too")
    asked = parser.parse_args()
    known = modules()
    users = {name: imports(path, known) - {name} for name, path in known.items() if name != "venire"}
    single = [name for name in known if sum(name in each for each in users.values()) == 1 and name.count(".") > 1]
    import venire

    print(f"lines          {sum(len(path.read_text(encoding='utf-8').splitlines()) for path in known.values()):,}")
    print(f"modules        {len(known)}, {len(single)} of them with a single importer")
    print(f"public names   {len(venire.__all__)}")
    print(f"import cycle   {' -> '.join(cycle(known)) or 'none'}")
    if asked.visits:
        with tempfile.TemporaryDirectory() as place:
            demo = [sys.executable, "-m", "venire", "demo", "-o", "demo", "-q"]
            subprocess.run(demo, cwd=place, check=True, capture_output=True)
            for name in COMMANDS:
                print(f"{name:14s} runs through {visits(Path(place), name)} modules")


if __name__ == "__main__":
    main()

"""Check Venire as it is installed, away from its source: what it has, its size, how quickly it starts, and the demo.

Run by the tests, and by the workflows on every platform: ``python tools/check_installed.py [--not-compiled]``.
Times are of the processor, the least of some repetitions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from importlib.metadata import files, version
from pathlib import Path

REPETITIONS = 9
LIMITS = {"size of the files": (6.0, "MB"), "import venire": (30.0, "ms"), "venire --help": (150.0, "ms")}
IMPORT = "import time; start = time.process_time(); import venire; print(time.process_time() - start)"
HELP = """
import sys, time
from venire.cli.main import main
sys.argv[1:] = ["--help"]
try:
    main()
except SystemExit:
    print("\\n", time.process_time(), sep="")
"""


def seconds(code: str) -> float:
    """Return the least of the times that some code prints last, over processes of its own."""
    command = [sys.executable, "-I", "-c", code]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(REPETITIONS)]
    return min(float(each.stdout.split()[-1]) for each in done)


def own_size() -> int:
    """Return the bytes of the files that the wheel brought, without the bytecode that Python makes of them."""
    own = [Path(each.locate()) for each in files("venire") or []]
    return sum(path.stat().st_size for path in own if path.suffix != ".pyc")


def demo() -> float:
    """Return the seconds that the demo takes, in a folder of its own."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", "-m", "venire", "demo", "-o", f"{folder}/demo"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not Path(folder, "demo", "report.html").stat().st_size:
            sys.exit("error: the demo wrote no report")
    return time.perf_counter() - start


def main() -> None:
    """Print the figures; exit with 1 if one is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--not-compiled", action="store_true", help="expect the scanner in Python")
    wanted = not parser.parse_args().not_compiled

    import venire
    from venire.scan.scanner import COMPILED

    where = Path(str(venire.__file__)).resolve()
    if where.is_relative_to(Path(__file__).resolve().parents[1] / "src"):
        sys.exit(f"error: this is the source ({where}), not a package: install a wheel, and run this by its Python")
    if wanted != COMPILED:
        sys.exit(f"error: the compiled scanner is {'there' if COMPILED else 'missing'} in {where.parent}")
    values = dict(zip(LIMITS, (own_size() / 1e6, 1e3 * seconds(IMPORT), 1e3 * seconds(HELP)), strict=True))
    print(f"venire {version('venire')}, Python {sys.version.split()[0]}, {sys.platform}, compiled: {COMPILED}")
    for name, value in values.items():
        print(f"{name}: {value:.1f} {LIMITS[name][1]}, at most {LIMITS[name][0]:.0f}")
    print(f"demo: {demo():.1f} s")
    sys.exit(any(value > LIMITS[name][0] for name, value in values.items()))


if __name__ == "__main__":
    main()

"""The compiled scan, built with the compiler's sanitizers: a read past an end, or what C leaves undefined, ends it.

A test build also counts, and its allocations can be made to fail (``test_build.h``); it can do without sanitizers.
Both the sanitizers' runtime and the allocator that it watches must be there before Python starts, so such a build runs
in a process of its own, with the ``environment`` made here.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NATIVE = ROOT / "src" / "venire" / "scan" / "native"
TWIN = "venire.scan._scan"

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
FLAGS = ["-g", "-O1", "-fPIC", "-shared"]
STABLE = "-DPy_LIMITED_API=0x030B0000"
TEST_BUILD = ["-include", str(HERE / "test_build.h")]
RUNTIMES = {"libasan.so": [], f"libclang_rt.asan-{platform.machine()}.so": ["-shared-libasan"]}
FINDINGS = ("ERROR: AddressSanitizer", "runtime error:")


class Unavailable(Exception):  # noqa: N818 - it names the state of the machine
    """There is no compiler here whose sanitizers work; says why."""


class Compiler(NamedTuple):
    """A compiler, its sanitizers if they work, and the libraries to load before Python starts."""

    command: list[str]
    sanitizers: list[str]
    preloaded: list[str]


def find_compiler(folder: Path) -> Compiler:
    """Find a compiler with sanitizers, and prove on an empty function that what it builds can be loaded."""
    reasons = []
    for name in _compilers():
        try:
            return _tried(name, folder)
        except Unavailable as reason:
            reasons.append(str(reason))
    raise Unavailable("; ".join(reasons))


def plain_compiler() -> Compiler:
    """Find a compiler, with sanitizers or without."""
    return Compiler([_compilers()[0]], [], [])


def _compilers() -> list[str]:
    """Return the names of the compilers on Linux that can build for Python."""
    if not sys.platform.startswith("linux"):
        raise Unavailable("such builds are made on Linux only")
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        raise Unavailable("the headers of Python are not installed")
    names = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]
    found = [name for name in dict.fromkeys(each.split()[0] for each in names if each) if shutil.which(name)]
    if not found:
        raise Unavailable("there is no C compiler")
    return found


def _tried(name: str, folder: Path) -> Compiler:
    for runtime, flags in RUNTIMES.items():
        preloaded = [path for path in (_library(name, runtime), _library(name, "libstdc++.so.6")) if path]
        if preloaded and preloaded[0].endswith(runtime):
            compiler = Compiler([name, *flags], SANITIZERS, preloaded)
            (folder / "empty.c").write_text("int empty(void) { return 0; }\n", encoding="utf-8")
            library = build(compiler, folder / "empty.so", native=folder)
            run = [sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}).empty()"]
            _finished(run, f"what {name} builds with sanitizers cannot be loaded", environment(compiler))
            return compiler
    raise Unavailable(f"{name} comes without AddressSanitizer")


def _library(compiler: str, name: str) -> str | None:
    """Where the compiler keeps a library; it answers with the bare name where it has none."""
    asked = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    path = asked.stdout.strip()
    return path if Path(path).is_absolute() and Path(path).is_file() else None


def build(
    compiler: Compiler,
    library: Path,
    *,
    native: Path = NATIVE,
    coverage: bool = False,
    options: Sequence[str] = (STABLE,),
) -> Path:
    """Build the C files of a folder, with coverage for libFuzzer or without; options: those of setup.py by default."""
    include, files = f"-I{sysconfig.get_path('include')}", map(str, sorted(native.glob("*.c")))
    command = [*compiler.command, *compiler.sanitizers, *FLAGS, *options, include, *files, "-o", str(library)]
    if coverage:
        counters = library.with_suffix(".o")
        shim = [*compiler.command, "-O2", "-fPIC", "-c", str(HERE / "coverage.c"), "-o", str(counters)]
        _finished(shim, "coverage.c cannot be compiled")
        command += ["-fsanitize-coverage=trace-pc", str(counters)]
    _finished(command, f"{compiler.command[0]} cannot build {library.name}")
    return library


def _finished(command: list[str], otherwise: str, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise Unavailable(f"{otherwise}: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")


def environment(compiler: Compiler) -> dict[str, str]:
    """Make the environment in which a build can be loaded; leaks are left out, since Python itself leaks."""
    paths = [str(ROOT / "src"), str(ROOT / "tests"), str(HERE), os.environ.get("PYTHONPATH", "")]
    python_path = {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    if not compiler.sanitizers:
        return {**os.environ, **python_path}
    return {
        **os.environ,
        **python_path,
        "LD_PRELOAD": " ".join(compiler.preloaded),
        "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=32:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def load(library: Path) -> None:
    """Let this build be the compiled twin; to be called before anything of Venire is imported."""
    loader = importlib.machinery.ExtensionFileLoader(TWIN, str(library))
    spec = importlib.util.spec_from_file_location(TWIN, library, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[TWIN] = module

"""The compiled scan, built with the compiler's sanitizers: reads past an end, and what C leaves undefined, end it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent
SOURCE = ROOT / "src" / "venire" / "kernels" / "_scan.c"
TWIN = "venire.kernels._scan"

FLAGS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g", "-O1", "-fPIC"]
COVERAGE = ["-fsanitize-coverage=trace-pc"]
RUNTIMES = ["libasan.so", f"libclang_rt.asan-{os.uname().machine if hasattr(os, 'uname') else ''}.so"]
FINDINGS = ("ERROR: AddressSanitizer", "runtime error", "AddressSanitizer:DEADLYSIGNAL")


class Unavailable(Exception):  # noqa: N818 - it names the state of the machine
    """There is no compiler here whose sanitizers work; says why."""


class Toolchain(NamedTuple):
    """A compiler whose sanitizers work, and the library that must be loaded first."""

    command: list[str]
    runtime: Path


def toolchain(folder: Path) -> Toolchain:
    """Find a compiler and prove, on an empty function, that what it builds can be loaded."""
    if not sys.platform.startswith("linux"):
        raise Unavailable("sanitizers are tried on Linux only")
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        raise Unavailable("the headers of Python are not installed")
    reasons = [reason for command in _compilers() if (reason := _why_not(command, folder))]
    for command in _compilers():
        if not _why_not(command, folder):
            return Toolchain(command, _runtime(command))
    raise Unavailable("; ".join(reasons) or "there is no C compiler")


def _compilers() -> Iterator[list[str]]:
    named = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]
    for command in dict.fromkeys(each.split()[0] for each in named if each):
        if shutil.which(command):
            yield [command]

"""The compiled scan under AddressSanitizer and UBSan: no read past an end, nothing that C leaves undefined."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sanitized

pytestmark = pytest.mark.slow

N_MUTATED = int(os.environ.get("VENIRE_MUTATIONS", "1500"))
SEED = 2
SCAN = Path(sanitized.__file__).with_name("scan_mutated.py")


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    try:
        return sanitized.find_compiler(tmp_path_factory.mktemp("compiler"))
    except sanitized.Unavailable as reason:
        pytest.skip(f"no sanitizers: {reason}")


def scanned_by(compiler, library):
    """Scan the mutated files, and those that end at the edge of their memory, in a process of its own."""
    command = [sys.executable, str(SCAN), str(library), str(SEED), str(N_MUTATED)]
    environment = sanitized.environment(compiler)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_nothing_is_found_in_damaged_files(compiler, tmp_path):
    done = scanned_by(compiler, sanitized.build(compiler, tmp_path / "_scan.so"))
    assert not [finding for finding in sanitized.FINDINGS if finding in done.stderr], done.stderr
    assert done.returncode == 0, done.stderr
    assert int(re.fullmatch(r"(\d+) inputs scanned\n", done.stdout)[1]) > N_MUTATED


@pytest.mark.parametrize(
    ("sound", "broken", "finding"),
    [
        (
            "if (limit - a.at >= (ptrdiff_t)a.length + 8) return same(a, b);",
            "return same(a, b);",
            "AddressSanitizer",
        ),
        ("for (; limit - p >= 8; p += 8) {", "for (; limit - p >= 1; p += 8) {", "AddressSanitizer"),
        ("exponent > 22)", "exponent > 23)", "index 23 out of bounds"),
    ],
    ids=["the last tag", "the last word", "the last power"],
)
def test_a_step_too_far_would_be_found(compiler, tmp_path, sound, broken, finding):
    """Break a copy on purpose: were this not found, the test above could not fail."""
    code = sanitized.SOURCE.read_text(encoding="utf-8")
    assert code.count(sound) == 1, "the line to break is not in _scan.c any more"
    copy = tmp_path / "_scan.c"
    copy.write_text(code.replace(sound, broken), encoding="utf-8")
    done = scanned_by(compiler, sanitized.build(compiler, tmp_path / "_scan.so", source=copy))
    assert done.returncode != 0
    assert finding in done.stderr

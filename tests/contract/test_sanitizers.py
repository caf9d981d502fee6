"""The compiled scan in test builds: under AddressSanitizer and UBSan, without memory, with ids chosen to collide."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sanitized

pytestmark = pytest.mark.slow

N_MUTATED = int(os.environ.get("VENIRE_MUTATIONS", "1500"))
SEED = 2
FOLDER = Path(sanitized.__file__).parent
TEST_BUILD = [sanitized.STABLE, *sanitized.TEST_BUILD]
TESTS = Path(__file__).parents[1]
UNIT_TESTS = [TESTS / "unit" / "scan" / f"test_{name}.py" for name in ("arguments", "limits", "interrupts")]
UNIT_TESTS += [TESTS / "properties" / f"test_{name}.py" for name in ("names", "click_scan")]
WITH_BUILD = """
import sys
from pathlib import Path
import sanitized
sanitized.load(Path(sys.argv[1]))
import pytest
quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what is imported here is no plugin, and need not be
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *quiet, "-m", "not slow", "-k", "not control_c", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    try:
        return sanitized.find_compiler(tmp_path_factory.mktemp("compiler"))
    except sanitized.Unavailable as reason:
        pytest.skip(f"no sanitizers: {reason}")


@pytest.fixture(scope="module")
def plain_compiler():
    try:
        return sanitized.plain_compiler()
    except sanitized.Unavailable as reason:
        pytest.skip(f"no test build: {reason}")


def run(compiler, script, *arguments):
    """Run a script in a process of its own, since a build must be loaded before anything else."""
    return run_python(compiler, FOLDER / script, *arguments)


def run_python(compiler, *arguments):
    command, environment = [sys.executable, *map(str, arguments)], sanitized.environment(compiler)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def scanned_by(compiler, library):
    """Scan the mutated files, and those that end at the edge of their memory."""
    return run(compiler, "scan_mutated.py", library, SEED, N_MUTATED)


def broken_copy(folder, sound, broken):
    """Copy the C files, with one line changed."""
    copy = Path(shutil.copytree(sanitized.NATIVE, folder / "native"))
    (path,) = [path for path in copy.iterdir() if sound in path.read_text(encoding="utf-8")]
    code = path.read_text(encoding="utf-8")
    assert code.count(sound) == 1, f"the line to break is in {path.name} more than once"
    path.write_text(code.replace(sound, broken), encoding="utf-8")
    return copy


def test_nothing_is_found_in_damaged_files(compiler, tmp_path):
    done = scanned_by(compiler, sanitized.build(compiler, tmp_path / "_scan.so"))
    assert not [finding for finding in sanitized.FINDINGS if finding in done.stderr], done.stderr
    assert done.returncode == 0, done.stderr
    assert int(re.fullmatch(r"(\d+) inputs scanned\n", done.stdout)[1]) > N_MUTATED


def test_nothing_is_found_in_odd_arguments_at_limits_or_at_interrupts(compiler, tmp_path):
    library = sanitized.build(compiler, tmp_path / "_scan.so")
    done = run_python(compiler, "-c", WITH_BUILD, library, *UNIT_TESTS)
    assert not [finding for finding in sanitized.FINDINGS if finding in done.stderr], done.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 400


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
    copy = broken_copy(tmp_path, sound, broken)
    done = scanned_by(compiler, sanitized.build(compiler, tmp_path / "_scan.so", native=copy))
    assert done.returncode != 0
    assert finding in done.stderr


def assert_no_memory_is_an_error(done):
    assert not [finding for finding in sanitized.FINDINGS if finding in done.stderr], done.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [int(count) for count in re.findall(r"(\d+) allocations", done.stdout)]
    assert counts[0] >= 5  # two arrays of slices, a count, the cells and the tables of topics
    assert counts[1] > 30
    assert done.stdout.endswith("done\n")


def test_every_allocation_that_fails_is_a_memory_error(plain_compiler, tmp_path):
    library = sanitized.build(plain_compiler, tmp_path / "_scan.so", options=TEST_BUILD)
    assert_no_memory_is_an_error(run(plain_compiler, "failing_allocations.py", library))


def test_every_allocation_that_fails_is_a_memory_error_under_sanitizers(compiler, tmp_path):
    library = sanitized.build(compiler, tmp_path / "_scan.so", options=TEST_BUILD)
    assert_no_memory_is_an_error(run(compiler, "failing_allocations.py", library))


@pytest.mark.parametrize(
    ("sound", "broken"),
    [
        ("if (!copy) return -1;", "if (!copy) return 0;"),
        ("free(scan.seen);", ""),
        ("if (!data) return NULL;", ""),
        ("free(parts.groups);", ""),
    ],
    ids=["taken for a wrong score", "held", "not noticed", "of rows in order"],
)
def test_a_failure_that_is_not_handled_would_be_found(plain_compiler, tmp_path, sound, broken):
    copy = broken_copy(tmp_path, sound, broken)
    library = sanitized.build(plain_compiler, tmp_path / "_scan.so", native=copy, options=TEST_BUILD)
    assert run(plain_compiler, "failing_allocations.py", library).returncode != 0


def probes_by(compiler, library, log2):
    done = run(compiler, "count_probes.py", library, log2)
    assert done.returncode == 0, done.stderr
    return {name: float(steps) for name, steps in map(str.split, done.stdout.splitlines())}


def test_ids_chosen_to_collide_take_as_many_steps_as_random_ones(plain_compiler, tmp_path):
    library = sanitized.build(plain_compiler, tmp_path / "_scan.so", options=TEST_BUILD)
    for _ in range(3):  # each process has a seed of its own
        steps = probes_by(plain_compiler, library, 16)
        random = steps.pop("random")
        assert all(count < 1.1 * random for count in steps.values()), steps


def test_ids_that_collide_would_be_found(plain_compiler, tmp_path):
    """Let one half of each word count for nothing, as if keys were known: the ids in pairs then share a hash."""
    sound = "return ((uint32_t)word + (key & UINT32_MAX)) * ((word >> 32) + (key >> 32));"
    copy = broken_copy(tmp_path, sound, "return (uint32_t)word + key;")
    library = sanitized.build(plain_compiler, tmp_path / "_scan.so", native=copy, options=TEST_BUILD)
    steps = probes_by(plain_compiler, library, 11)
    assert steps["paired"] > 100 * steps["random"]


def test_the_build_without_the_stable_abi_scans_alike(plain_compiler, tmp_path):
    """As for free-threaded Python; the twin in numpy is what it is compared with."""
    library = sanitized.build(plain_compiler, tmp_path / "_scan.so", options=sanitized.TEST_BUILD)
    assert_no_memory_is_an_error(run(plain_compiler, "failing_allocations.py", library))

"""What libFuzzer calls: `python fuzz/target.py LIBRARY [arguments of libFuzzer]`; started by run.py.

The first byte of an input chooses rules and the size of chunks, the others are a run file.  Every file goes through the
compiled scan, under sanitizers and with coverage, and its answer is held against the slow reader's.  Where the scan did
what it never did before, and for one file in sixteen, the twin in numpy and the reader of whole files are asked too,
which takes a hundred times as long.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from zlib import crc32

import atheris
import numpy as np

import sanitized

LIBRARY = Path(sys.argv.pop(1))
sanitized.load(LIBRARY)  # before anything of Venire

from mutations import JUDGED  # noqa: E402
from slow_reader import (  # noqa: E402
    RULES,
    Known,
    assert_right,
    assert_same_facts,
    assert_scan_right,
    assert_twins_agree,
    facts_of,
    is_text,
    named,
    read_slowly,
    reading_by,
    scannable,
    twins,
)
from venire import FormatError  # noqa: E402
from venire.data.runs import Facts  # noqa: E402
from venire.io import runs as run_files  # noqa: E402
from venire.scan.lists import Rules  # noqa: E402
from venire.scan.scanner import Sought, make_scanner  # noqa: E402

CHUNKS = [100, 500, 2_000, 1 << 21]
KNOWN = Known.of(JUDGED)
TWINS = [twins(KNOWN, rules) for rules in RULES]
SOUGHT = Sought(KNOWN.items.topics.slices, KNOWN.items.topic, KNOWN.items.doc.slices)
LIMITED = [make_scanner(SOUGHT, Rules(longest_line=40, most_lines=6), compiled=compiled) for compiled in (True, False)]

CODE = ctypes.CDLL(str(LIBRARY))
N_PLACES = ctypes.c_int.in_dll(CODE, "coverage_size").value
COUNTERS = (ctypes.c_uint8 * N_PLACES).in_dll(CODE, "coverage_counters")
PLACES = (ctypes.c_void_p * 2 * N_PLACES).in_dll(CODE, "coverage_places")
STEPS = np.searchsorted([1, 2, 3, 4, 8, 16, 32, 128], np.arange(256), side="right")  # as libFuzzer counts
BIT = ((1 << STEPS) >> 1).astype(np.uint8)
DONE = np.zeros(N_PLACES, dtype=np.uint8)


def main() -> None:
    with TemporaryDirectory() as folder, patch.object(run_files, "_keep_freed_memory", lambda: None):  # slow if watched
        path = Path(folder) / "run.txt"
        atheris.Setup(sys.argv, lambda data: check(data, path), enable_python_coverage=False)
        count_places()
        atheris.Fuzz()


def count_places() -> None:
    """Hand the counters of the compiled scan to the libFuzzer inside atheris."""
    from atheris import core_with_libfuzzer

    fuzzer = ctypes.CDLL(core_with_libfuzzer.__file__)
    for function, table in (("__sanitizer_cov_8bit_counters_init", COUNTERS), ("__sanitizer_cov_pcs_init", PLACES)):
        start = ctypes.addressof(table)
        getattr(fuzzer, function)(ctypes.c_void_p(start), ctypes.c_void_p(start + ctypes.sizeof(table)))


def check(data: bytes, path: Path) -> None:
    choice, content = (data[0] if data else 0), data[1:]
    rules, (ours, theirs) = RULES[choice % len(RULES)], TWINS[choice % len(RULES)]
    found = ours.scan(scannable(content))
    new = is_new()
    reading = read_slowly(content, rules)
    assert_scan_right(found, reading, KNOWN)
    if new or crc32(data) % 16 == 0:
        assert_twins_agree(found, theirs.scan(scannable(content)))
        assert_twins_agree(*(each.scan(scannable(content)) for each in LIMITED))
        path.write_bytes(content)
        one, other = (read(path, choice, compiled=compiled) for compiled in (True, False))
        assert_same_facts(one, other)
        if is_text(content):
            assert_right(one, named(reading, rules, path.stem), KNOWN)


def is_new() -> bool:
    """Whether a place was passed as often as never before: what libFuzzer keeps an input for."""
    now = BIT[np.frombuffer(COUNTERS, dtype=np.uint8)]
    new = bool((now & ~DONE).any())
    np.bitwise_or(DONE, now, out=DONE)
    return new


def read(path: Path, choice: int, *, compiled: bool) -> Facts | FormatError:
    with reading_by(compiled=compiled, chunk=CHUNKS[choice // len(RULES) % len(CHUNKS)], workers=1):
        return facts_of(path, KNOWN, RULES[choice % len(RULES)])


if __name__ == "__main__":
    main()

"""Ctrl-C during a scan: it is handled in every long loop, by either scanner, in the main thread and in others."""

from __future__ import annotations

import _thread
import operator
import signal
import subprocess
import sys
import threading
import time
from itertools import starmap

import numpy as np
import pytest

from venire.scan.lists import Rules
from venire.scan.scanner import COMPILED, Sought, make_scanner
from venire.scan.slices import from_bytes

needs_compiler = pytest.mark.skipif(not COMPILED, reason="the compiled scan was not built")


@pytest.fixture(autouse=True)
def _interrupts_are_not_ignored():
    """Shells let processes in the background ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def sought(n_docs=1):
    docs = from_bytes([b"d%d" % number for number in range(n_docs)])
    return Sought(from_bytes([b"1"]), np.zeros(n_docs, dtype=np.int32), docs)


def one_list(count, score=b"1"):
    return b"".join(b"1 Q0 d%d 1 %b s\n" % (number, score) for number in range(count))


def assert_interrupted(function, *arguments):
    """Call a function of C with a signal pending: it must end by itself, before Python handles the signal.

    No bytecode is executed between the calls, so the last is reached unless the one before it raises.
    """
    passed = []
    calls = [(_thread.interrupt_main,), (function, *arguments), (passed.append, True)]
    with pytest.raises(KeyboardInterrupt):
        list(starmap(operator.call, calls))
    assert not passed


@needs_compiler
@pytest.mark.parametrize(
    ("data", "n_docs"),
    [
        (one_list(5) + (b"#" * 999 + b"\n") * 9_000, 1),  # lines
        (one_list(150_000), 1),  # ties that are broken
        (b"".join(b"%d Q0 a 1 1 s\n" % number for number in range(100_000)), 1),  # names of lists
    ],
    ids=["lines", "ties", "names"],
)
def test_a_signal_ends_a_scan(data, n_docs):
    scanner = make_scanner(sought(n_docs), Rules(), compiled=True).twin
    assert_interrupted(scanner.scan, data)
    assert scanner.scan(one_list(2))[8] == 2  # and the scanner can be used again


@needs_compiler
def test_a_signal_ends_a_scan_of_rows():
    one, docs = from_bytes([b"1"] * 150_000), from_bytes([b"d%d" % number for number in range(150_000)])
    assert_interrupted(
        make_scanner(sought(), Rules(), compiled=True).twin.scan_rows, *one, *one, *docs, np.ones(150_000)
    )


@needs_compiler
def test_a_short_scan_ends_before_the_signal_is_handled():
    """Were it not so, the test above could not fail."""
    scanner = make_scanner(sought(), Rules(), compiled=True).twin
    with pytest.raises(AssertionError):
        assert_interrupted(scanner.scan, one_list(10))


@needs_compiler
def test_a_signal_ends_the_constructor():
    from venire.scan import _scan

    (topics, start, end), item_topic, (docs, doc_start, doc_end) = sought(100_000)
    assert_interrupted(
        _scan.Scanner, topics, start, end, item_topic, docs, doc_start, doc_end, False, False, False, 99, 99, 1
    )


@needs_compiler
def test_an_exception_of_a_handler_is_passed_on():
    def handler(*_):
        raise LookupError("from the handler")

    before = signal.signal(signal.SIGINT, handler)
    try:
        scanner = make_scanner(sought(), Rules(), compiled=True).twin
        with pytest.raises(LookupError, match="from the handler"):
            list(starmap(operator.call, [(_thread.interrupt_main,), (scanner.scan, one_list(150_000))]))
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("compiled", [True, False] if COMPILED else [False])
def test_a_scanner_that_was_stopped_scans_no_more(compiled):
    scanner = make_scanner(sought(), Rules(), compiled=compiled)
    scanner.scan(one_list(2))
    scanner.stop()
    for data in (b"", one_list(2)):
        with pytest.raises(RuntimeError, match="stopped"):
            scanner.scan(data)


@pytest.mark.parametrize("compiled", [True, False] if COMPILED else [False])
def test_scans_in_other_threads_end_when_their_scanner_is_stopped(compiled):
    scanner = make_scanner(sought(), Rules(), compiled=compiled)
    data, ended = one_list(5_000), []

    def scan_for_ever():
        try:
            while True:
                scanner.scan(data)
        except RuntimeError:
            ended.append(True)

    threads = [threading.Thread(target=scan_for_ever) for _ in range(3)]
    for each in threads:
        each.start()
    scanner.stop()
    for each in threads:
        each.join(60)
    assert len(ended) == 3


SCAN_FOR_EVER = """
import sys
from functools import partial
from pathlib import Path
from venire import read_judgments
from venire.data.runs import RunRules, Runs
from venire.io import runs
from venire.scan.scanner import make_scanner

runs.make_scanner = partial(make_scanner, compiled=sys.argv[2] == "True")
items = read_judgments({"1": {"d1": 1}}).items
print("begun", flush=True)
try:
    while True:
        runs.read_facts(Runs((Path(sys.argv[1]),), RunRules()), items, lambda _: None)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT can be sent there")
@pytest.mark.parametrize("compiled", [True, False] if COMPILED else [False])
@pytest.mark.parametrize("n_small", [0, 400_000], ids=["one part", "several parts"])
def test_control_c_ends_the_scan_of_a_large_file(tmp_path, compiled, n_small, record_property):
    """One topic of 10 MB, in one part; and after others, in the threads of a pool."""
    path = tmp_path / "run.txt"
    path.write_bytes(b"".join(b"0 Q0 d%d 1 1 s\n" % n for n in range(n_small)) + one_list(500_000))
    command = [sys.executable, "-c", SCAN_FOR_EVER, str(path), str(compiled)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        said = process.stdout.readline()
        record_property("seconds to the interrupt", f"{time.perf_counter() - start:.3f}")
        _, errors = process.communicate(timeout=60)
    assert (said, process.returncode) == ("interrupted\n", 0), errors

"""Limits of both scanners: lines that are too long, too many lines, and lengths beyond 32 bits."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from venire import FormatError, read_judgments
from venire.data.runs import RunRules, Runs
from venire.io import runs as run_files
from venire.scan.fields import Fault, split
from venire.scan.lists import Rules
from venire.scan.scanner import COMPILED, Sought, make_scanner
from venire.scan.slices import PADDING, from_bytes, padded

KNOWN = Sought(from_bytes([b"1"]), np.zeros(2, dtype=np.int32), from_bytes([b"a", b"b"]))
LINE = b"1 Q0 a 1 1 s\n"
both = pytest.mark.parametrize(
    "compiled",
    [pytest.param(True, marks=pytest.mark.skipif(not COMPILED, reason="the compiled scan was not built")), False],
)


def scan(data, *, compiled, **limits):
    return make_scanner(KNOWN, Rules(**limits), compiled=compiled).scan(data)


@both
@pytest.mark.parametrize("doc", [b"bb", b"b" * 50, b"b" * 100])
@pytest.mark.parametrize("blank", [b" ", b"\t", b"  "])
def test_a_line_is_as_long_as_the_limit_or_refused(compiled, doc, blank):
    long = blank.join([b"1", b"Q0", doc, b"2", b"0", b"s"])
    assert scan(LINE + long + b"\n", compiled=compiled, longest_line=len(long)).fault is None
    found = scan(LINE + long + b"\n" + LINE, compiled=compiled, longest_line=len(long) - 1)
    assert found.fault == Fault(1, "long", len(long))
    assert found.n_lines >= 1


@both
@pytest.mark.parametrize("line", [b"#" * 30, b" " * 30, b"# " * 15, b"\t\r" * 15, b"x" * 30, b"1 Q0 " + b"x" * 25])
def test_comments_and_blank_lines_count_too(compiled, line):
    assert scan(line + b"\n" + LINE, compiled=compiled, longest_line=29).fault == Fault(0, "long", 30)


@both
def test_on_one_line_a_control_byte_comes_before_its_length_and_that_before_its_columns(compiled):
    assert scan(b"x" * 30 + b"\x01\n", compiled=compiled, longest_line=20).fault == Fault(0, "control", 1)
    assert scan(b"x" * 30 + b"\n", compiled=compiled, longest_line=20).fault == Fault(0, "long", 30)
    assert scan(b"x" * 30 + b"\n", compiled=compiled, longest_line=30).fault == Fault(0, "columns", 1)
    assert scan(b"x\n" + b"x" * 30 + b"\n", compiled=compiled, longest_line=20).fault == Fault(0, "columns", 1)


@both
@pytest.mark.parametrize("data", [LINE[:-1], LINE + LINE[:-1], b"x", LINE + b"\0"])
def test_a_text_whose_last_line_has_no_end_is_refused(compiled, data):
    with pytest.raises(ValueError, match="no line end"):
        scan(data, compiled=compiled)


@both
def test_more_lines_than_can_be_counted(compiled):
    lines = [b"1 Q0 a 1 1 s\n", b"# x\n", b"1 Q0 b 2 0 s\n", b"\n", b"2 Q0 a 1 bad s\n"]
    assert scan(b"".join(lines[:4]), compiled=compiled, most_lines=2).fault is None
    assert scan(b"".join(lines), compiled=compiled, most_lines=2).fault == Fault(4, "many")
    assert scan(b"".join(lines), compiled=compiled, most_lines=3).fault == Fault(4, "score")
    assert scan(b"".join(lines), compiled=compiled, most_lines=1).fault == Fault(2, "many")


@pytest.mark.parametrize("limits", [{"longest_line": 20}, {"most_lines": 2}])
def test_both_scanners_say_the_same(limits, tmp_path, monkeypatch):
    path, items = tmp_path / "run.txt", read_judgments({"1": {"a": 1}}).items
    path.write_bytes(LINE + b"1 Q0 b 1 0.1 s\n1 Q0 doc-000000001 3 0 s\n")
    monkeypatch.setattr(run_files, "kernel_rules", lambda _: Rules(**limits))
    said = set()
    for compiled in {COMPILED, False}:
        monkeypatch.setattr(run_files, "make_scanner", partial(make_scanner, compiled=compiled))
        with pytest.raises(FormatError) as error:
            run_files.read_facts(Runs((path,), RunRules()), items, lambda _: None)
        assert error.value.line == 3
        said.add(str(error.value))
    assert len(said) == 1


def test_columns_of_any_file_have_the_limit():
    assert split(padded(b"1 0 doc 1\n"), 4, longest_line=9).fault is None
    assert split(padded(b"1 0 d 1\n1 0 doc 1\n"), 4, longest_line=8).fault == Fault(1, "long", 9)


@both
@pytest.mark.parametrize(
    "number", ["1e99999999999", "1e9223372036854775807", "1e18446744073709551617", "-1e4294967297"]
)
def test_an_exponent_beyond_all_integers(compiled, number):
    """Too large, or so small that it is 0, whatever the exponent is modulo a power of two."""
    data = f"1 Q0 a 1 {number} s\n".encode()
    assert scan(data, compiled=compiled).fault == Fault(0, "score")
    tied = data.replace(b"e", b"e-") + b"1 Q0 b 2 0 s\n"
    assert scan(tied, compiled=compiled).item.tolist() == [1, 0]  # tied: by id, descending
    assert scan(data.replace(b"1e", b"0e") + b"1 Q0 b 2 0 s\n", compiled=compiled).item.tolist() == [1, 0]


def available_memory():
    """Return the number of free bytes, 0 if it is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")), 0)


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="the compiled scan was not built")
@pytest.mark.skipif(available_memory() < 10 << 30, reason="needs 10 GiB of memory")
def test_lengths_beyond_32_bits():
    """A topic, and a judged document, of 2^32 + 1 bytes: not to be taken for their first byte."""
    code = f"""
import numpy as np
from venire.scan.lists import Rules
from venire.scan.scanner import Sought, make_scanner
from venire.scan.slices import Slices, from_bytes

one = Sought(from_bytes([b"1"]), np.zeros(1, dtype=np.int32), from_bytes([b"a"]))
found = make_scanner(one, Rules(), compiled=True).scan(b" Q0 a 1 1 s\\n".rjust(2**32 + 1 + 12, b"1"))
print(found.fault)
buffer = np.zeros(2**32 + 1 + {PADDING}, dtype=np.uint8)  # pages of zeros take no memory
buffer[0] = ord("a")
long = Slices(buffer, np.zeros(1, dtype=np.int64), np.array([2**32 + 1]))
print(make_scanner(one._replace(docs=long), Rules(), compiled=True).scan(b"1 Q0 a 1 1 s\\n").item)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [f"Fault(line=0, kind='long', detail={2**32 + 12})", "[]"], done.stderr

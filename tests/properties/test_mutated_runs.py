"""Damaged run files: both twins make the same of them, and no bad line passes without a word.

``make test-slow`` tries two thousand of them and ``make fuzz`` ten thousand: they set VENIRE_MUTATIONS.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mutations import JUDGED, mutated_run
from slow_reader import (
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
from venire.data.runs import RunRules
from venire.scan.scanner import COMPILED

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.CommentWarning")

N_MUTATED = int(os.environ.get("VENIRE_MUTATIONS", "400"))
SEED = 1
PARTS = 4  # for those who test in parallel
CHUNKS = [100, 500, 2_000, 1 << 21]
KNOWN = Known.of(JUDGED)

in_parts = pytest.mark.parametrize("part", range(PARTS))


def cases(part: int) -> Iterator[tuple[int, bytes, RunRules]]:
    """Give the number and the bytes of every file of one part, and rules to read it by."""
    for number in range(part, N_MUTATED, PARTS):
        yield number, mutated_run(SEED, number), RULES[number // PARTS % len(RULES)]


@contextmanager
def naming(number: int, rules: RunRules) -> Iterator[None]:
    """Add to a failure which file it was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"mutated_run({SEED}, {number}) by {rules}")
        raise


@pytest.mark.skipif(not COMPILED, reason="the compiled scan was not built: no C compiler")
@in_parts
def test_twins_agree_on_bytes(part):
    scanners = {rules: twins(KNOWN, rules) for rules in RULES}
    for number, data, rules in cases(part):
        with naming(number, rules):
            one, other = (scanner.scan(scannable(data)) for scanner in scanners[rules])
            assert_twins_agree(one, other)
            assert_scan_right(one, read_slowly(data, rules), KNOWN)


@in_parts
def test_a_file_is_refused_or_read_as_the_slow_reader_does(part, tmp_path):
    """Whatever is bad in it, in whatever chunks it comes, whoever reads it."""
    path = tmp_path / "run.txt"
    for number, data, rules in cases(part):
        path.write_bytes(data)
        found = []
        with naming(number, rules):
            for compiled in [True, False] if COMPILED else [False]:
                with reading_by(compiled=compiled, chunk=CHUNKS[part], workers=1 + number // PARTS % 2):
                    found.append(facts_of(path, KNOWN, rules))
            assert_same_facts(found[0], found[-1])
            if is_text(data):
                assert_right(found[0], named(read_slowly(data, rules), rules, path.stem), KNOWN)


WHOLE = b"1 Q0 a 1 2 sys\n1 Q0 b 2 1 sys\n2 Q0 a 1 1 sys\n"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (WHOLE[:-2], 3),
        (WHOLE + b"\n3 Q0 a 1 1 sy", 5),
        (WHOLE + b"# a comment\n2 Q0 b 2 1 s", 5),
        (WHOLE + b"# of six words like a line\n2 Q0 b 2 1 sys", None),
        (WHOLE + b"# a comment that was cut s", None),
        (b"1 Q0 a 1 2 s\n# 1 2 3 4 sys\n1 Q0 b 2 1 s", None),
        (WHOLE[:-1], None),
        (WHOLE.replace(b" 2 sys", b" 0.%b1e1000000 sys" % (b"0" * 100_000)), 1),
        (WHOLE.replace(b" 2 sys", b" 0.%b1e100001 sys" % (b"0" * 100_000)), None),
        (WHOLE + b"1 Q0 a 3 0 sys\n", 4),
        (b"\xef\xbb\xbf" + WHOLE, None),
        (b"\n\xef\xbb\xbf" + WHOLE, None),
        (WHOLE + b"\x1f", 4),
        (b"", 0),
    ],
)
def test_the_slow_reader_knows_what_is_bad(tmp_path, data, line):
    """Files that mutations led to, or should have, with the answer by hand."""
    path = tmp_path / "run.txt"
    path.write_bytes(data)
    reading = read_slowly(data, RunRules())
    assert reading.bad == (set() if line is None else {line})
    assert_right(facts_of(path, KNOWN, RunRules()), reading, KNOWN)


@pytest.mark.parametrize("between", [b"\n", b"# a comment\n"])
def test_a_line_that_was_cut_off_is_refused_in_any_chunks(tmp_path, between):
    path = tmp_path / "run.txt"
    data = WHOLE + between + b"3 Q0 a 1 1 sy"
    path.write_bytes(data)
    for chunk in range(16, len(data) + 2):
        with reading_by(compiled=COMPILED, chunk=chunk, workers=1):
            assert_right(facts_of(path, KNOWN, RunRules()), read_slowly(data, RunRules()), KNOWN)

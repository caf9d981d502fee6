"""The compiled scanner and the one in numpy give the same answer to any bytes, and to lines in columns."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from slow_reader import assert_twins_agree
from venire.data.ids import Ids
from venire.scan.fields import split
from venire.scan.lists import Rules, read_lines
from venire.scan.scanner import COMPILED, Sought, make_scanner
from venire.scan.slices import padded

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled scan was not built: no C compiler")

TOPICS = ["1", "2", "topic-with-a-long-name", "ä"]
DOCS = ["a", "b", "aa", "doc-0001", "doc-00010", "a-document-with-a-long-name", "a-document-with-a-long-nama", "ö"]
WORDS = [*TOPICS, *DOCS, "Q0", "s", "sys", "#", "#1", "x", "zzzzzzzz", "zzzzzzzzz"]
NUMBERS = ["1", "2", "2.0", "-1.5", "+3", "1e3", "1E-3", "0.1", "0.10000000000000001", "123456789012345678901", ".5"]
NUMBERS += ["5.", "1e22", "1e23", "9007199254740993", "9007199254740993e22", "2.2250738585072014e-308", "1e-400", "-0"]
NUMBERS += ["1e-99999999999", "0e99999999999", "1e-9223372036854775809", "-1e-18446744073709551615", "0" * 600 + "7"]
BAD = [
    "",
    ".",
    "-",
    "e5",
    "1e",
    "1e+",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e99999999999",
    "-1e18446744073709551617",
    "1_0",
    "0x1",
    "1.2.3",
    "--1",
    "1,5",
    "٣",
    "1e5.0",
]
BLANKS = [" ", "\t", "  ", " \t ", "\r", "\v", "\f"]


def sought():
    topic = np.repeat(np.arange(len(TOPICS), dtype=np.int32), len(DOCS))
    return Sought(Ids.of(TOPICS).slices, topic, Ids.of(DOCS * len(TOPICS)).slices)


def lines(numbers=NUMBERS):
    word = st.sampled_from(WORDS)
    row = st.tuples(
        st.sampled_from(TOPICS[:3]), st.just("Q0"), word, st.sampled_from(numbers), st.sampled_from(numbers)
    )
    whole = st.builds(lambda row, tag: " ".join([*row, tag]), row, st.sampled_from(["s", "sys", "system-2"]))
    spaced = st.builds(lambda row, blank: blank.join([*row, "s"]), row, st.sampled_from(BLANKS))
    return st.one_of(whole, whole, whole, spaced)


def texts(line):
    return st.lists(line, max_size=30).map(lambda rows: "".join(row + "\n" for row in rows).encode())


RULES = [Rules(), Rules(by_rank=True), Rules(single_precision=True), Rules(keep_first=True)]
RULES += [Rules(longest_line=20), Rules(longest_line=40), Rules(most_lines=1), Rules(most_lines=5, by_rank=True)]


def assert_same(data):
    for rules in RULES:
        scanners = [make_scanner(sought(), rules, compiled=compiled) for compiled in (True, False)]
        columns = read_lines(split(padded(data), 6, longest_line=rules.longest_line), rules)
        assert_twins_agree(*(scanner.scan(data) for scanner in scanners))
        assert_twins_agree(*(scanner.scan_lines(*columns) for scanner in scanners))


@given(texts(lines()))
def test_right_lines(data):
    assert_same(data)


@given(
    texts(
        st.one_of(lines([*NUMBERS, *BAD]), st.sampled_from(["", "  ", "# comment", "#", "1 Q0 a 1 2", "\x00", "a\x07"]))
    )
)
def test_right_and_wrong_lines(data):
    assert_same(data)


@given(st.binary(max_size=200).map(lambda data: data + b"\n"))
def test_any_bytes(data):
    assert_same(data)


@pytest.mark.parametrize("text", [*NUMBERS, *BAD])
def test_numbers_are_read_alike(text):
    if text:
        assert_same(f"1 Q0 a 1 {text} s\n1 Q0 b 1 0.1 s\n1 Q0 aa 1 1e3 s\n".encode())


def test_long_lists_in_any_order_with_ties():
    rng = np.random.default_rng(3)
    docs = [f"doc-{number:05d}" for number in rng.permutation(3_000)]
    known = Sought(Ids.of(["1"]).slices, np.zeros(500, dtype=np.int32), Ids.of(docs[:500]).slices)
    for step in (1, 50, 1_000, 10_000):
        rows = [
            f"1 Q0 {doc} 1 {score} s\n" for doc, score in zip(docs, rng.integers(0, 3_000, 3_000) // step, strict=True)
        ]
        for data in ("".join(rows), "".join(sorted(rows, key=lambda row: -int(row.split()[4])))):
            one, other = (make_scanner(known, Rules(), compiled=each).scan(data.encode()) for each in (True, False))
            np.testing.assert_array_equal(one.rank, other.rank)
            np.testing.assert_array_equal(one.item, other.item)


def test_a_line_without_its_end_is_refused():
    with pytest.raises(ValueError, match="no line end"):
        make_scanner(sought(), Rules(), compiled=True).scan(b"1 Q0 a 1 1.0 s")

"""Odd arguments to the compiled scan: an error in every case, and never a crash."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from venire.scan.lists import LONGEST_LINE, MOST_LINES, Rules
from venire.scan.scanner import COMPILED, NumpyScanner, Sought, make_scanner
from venire.scan.slices import PADDING, from_bytes

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled scan was not built: no C compiler")

NAMES = ["topic_bytes", "topic_start", "topic_end", "item_topic", "doc_bytes", "doc_start", "doc_end"]
NAMES += ["by_rank", "single_precision", "keep_first", "longest_line", "most_lines", "seed"]
ARRAYS, FLAGS, NUMBERS = NAMES[:7], NAMES[7:10], NAMES[10:]
BYTES = ["topic_bytes", "doc_bytes"]
PLACES = ["topic_start", "topic_end", "doc_start", "doc_end"]


def arguments():
    topics, docs = from_bytes([b"1", b"22"]), from_bytes([b"a", b"bbb", b"cc"])
    item_topic = np.array([0, 1, 1], dtype=np.int32)
    values = [*topics, item_topic, *docs, False, False, False, LONGEST_LINE, MOST_LINES, 0]
    return dict(zip(NAMES, values, strict=True))


def make(**changed):
    from venire.scan import _scan

    return _scan.Scanner(*(arguments() | changed).values())


def columns(**changed):
    """Arguments of scan_rows: two rows of one list."""
    texts = {"topic": [b"22", b"22"], "system": [b"s", b"s"], "doc": [b"bbb", b"cc"]}
    parts = {name: from_bytes(each) for name, each in texts.items()}
    found = {f"{name}_{part}": value for name, each in parts.items() for part, value in each._asdict().items()}
    return (found | {"score": np.array([1.0, 2.0])} | changed).values()


def test_right_arguments():
    assert make().scan(b"22 Q0 bbb 1 1 s\n")[5:8] == tuple(np.array([n], dtype=np.int32).tobytes() for n in (0, 1, 1))


ODD = [None, 1, -1, 1.5, "text", [], [1, 2], {}, object(), np.float64(1), np.array(1), np.zeros((2, 2)), 1 << 80]
ODD += [np.array([None, 1]), np.array(["a", "b"]), np.array([1j]), memoryview(b"abcdefgh").cast("B", (2, 4))]
ODD += [np.zeros(3, dtype="M8[s]"), np.zeros(3, dtype=[("a", "i4")]), Ellipsis, type, lambda: 0]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("value", ODD)
def test_what_is_no_array_is_refused(name, value):
    with pytest.raises((TypeError, ValueError)):
        make(**{name: value})


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8", "f4", "f8", "?", "O", "S8", ">i8", ">i4"])
def test_another_type_is_refused(name, dtype):
    right = arguments()[name]
    if np.dtype(dtype) != right.dtype:
        with pytest.raises((TypeError, ValueError)):
            make(**{name: right.astype(dtype)})


@pytest.mark.parametrize("name", ARRAYS)
def test_another_layout_is_refused(name):
    right = arguments()[name]
    for wrong in (np.repeat(right, 2)[::2], right[::-1], right[None, :], np.broadcast_to(right[0], (3,))):
        with pytest.raises((TypeError, ValueError)):
            make(**{name: wrong})


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("length", [0, 1, 2, 4, 1_000])
def test_another_length_is_refused(name, length):
    right = arguments()[name]
    wrong = np.resize(right, length)
    if len(wrong) != len(right) and not (name in BYTES and length == 1_000):
        with pytest.raises((TypeError, ValueError)):
            make(**{name: wrong})


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("place", [-1, -(1 << 63), 7, 1 << 31, 1 << 32, (1 << 32) + 1, (1 << 63) - 1])
def test_a_slice_outside_of_its_bytes_is_refused(name, place):
    wrong = arguments()[name].copy()
    wrong[1] = place
    with pytest.raises(ValueError, match="slice 1 is not within the bytes"):
        make(**{name: wrong})


def test_a_slice_may_be_empty_and_may_end_where_the_padding_begins():
    right = arguments()
    end = len(right["doc_bytes"]) - PADDING
    make(doc_start=np.array([0, end, end]), doc_end=np.array([0, end, end]))
    with pytest.raises(ValueError, match="slice 2"):
        make(doc_start=np.array([0, end, end]), doc_end=np.array([0, end, end + 1]))


@pytest.mark.parametrize("topic", [-1, 2, 1_000_000, -(2**31), 2**31 - 1])
def test_an_item_of_no_topic_is_refused(topic):
    with pytest.raises(ValueError, match="item 2 has topic"):
        make(item_topic=np.array([0, 1, topic], dtype=np.int32))


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [0, 1, None, "", np.True_, []])
def test_a_flag_is_true_or_false(name, value):
    with pytest.raises(TypeError):
        make(**{name: value})


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [None, "1", 1.5, [], -1, 1 << 64, -(1 << 63), 1 << 200])
def test_a_number_is_a_whole_number_within_its_limits(name, value):
    with pytest.raises((TypeError, ValueError)):
        make(**{name: value})


@pytest.mark.parametrize(("name", "largest"), [("longest_line", LONGEST_LINE), ("most_lines", MOST_LINES)])
def test_both_scanners_have_the_same_limits(name, largest):
    known = Sought(from_bytes([b"1"]), np.zeros(1, dtype=np.int32), from_bytes([b"a"]))
    for compiled in (True, False):
        make_scanner(known, Rules(**{name: largest}), compiled=compiled)
        for wrong in (0, -1, largest + 1, 1 << 70):
            with pytest.raises(ValueError, match=f"{name} is not from 1 to {largest}"):
                make_scanner(known, Rules(**{name: wrong}), compiled=compiled)


@pytest.mark.parametrize("count", [0, 1, 12, 14, 100])
def test_another_number_of_arguments_is_refused(count):
    from venire.scan import _scan

    with pytest.raises(TypeError):
        _scan.Scanner(*(list(arguments().values()) * 8)[:count])


def test_keywords_are_refused():
    from venire.scan import _scan

    with pytest.raises(TypeError, match="keyword"):
        _scan.Scanner(*arguments().values(), strict=True)


@pytest.mark.parametrize("data", [None, 1, "text\n", bytearray(b"\n"), memoryview(b"\n"), [b"\n"], np.zeros(8, "u1")])
def test_only_bytes_are_scanned(data):
    with pytest.raises(TypeError):
        make().scan(data)


def test_rows_are_scanned():
    found = make().scan_rows(*columns())
    assert found[:2] == ([b"22"], [b"s"])
    assert found[5:8] == tuple(np.array(each, dtype=np.int32).tobytes() for each in ([0, 0], [1, 2], [2, 1]))


COLUMNS = [f"{name}_{part}" for name in ("topic", "system", "doc") for part in ("buffer", "start", "end")]


@pytest.mark.parametrize("name", [*COLUMNS, "score"])
@pytest.mark.parametrize(
    "value", [*ODD, np.zeros(2, "f4"), np.zeros(4)[::2], np.zeros(3), np.full(2, -1), np.full(2, 99)]
)
def test_odd_columns_are_refused(name, value):
    with pytest.raises((TypeError, ValueError)):
        make().scan_rows(*columns(**{name: value}))


@pytest.mark.parametrize("count", [0, 9, 11])
def test_another_number_of_columns_is_refused(count):
    with pytest.raises(TypeError):
        make().scan_rows(*([*columns()] * 2)[:count])


def test_what_a_scanner_holds_cannot_be_copied_or_replaced():
    scanner = make()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copied(scanner)
    with pytest.raises(TypeError):
        type(scanner).__new__(type(scanner))
    with pytest.raises(TypeError):
        object.__new__(type(scanner))
    with pytest.raises(AttributeError):
        scanner.seed = 1


def test_arrays_may_go_away_and_must_keep_their_size():
    given = arguments()
    given["doc_bytes"] = given["doc_bytes"].copy()
    scanner = make(**given)
    with pytest.raises((ValueError, BufferError)):
        given["doc_bytes"].resize(1)
    before = scanner.scan(b"1 Q0 a 1 1 s\n")
    del given
    assert scanner.scan(b"1 Q0 a 1 1 s\n") == before


def test_the_scanner_in_numpy_refuses_the_same_line_ends():
    with pytest.raises(ValueError, match="no line end"):
        NumpyScanner.of(Sought(from_bytes([b"1"]), np.zeros(0, np.int32), from_bytes([])), Rules()).scan(
            b"1 Q0 a 1 1 s"
        )

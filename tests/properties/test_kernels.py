"""Kernels against the obvious: sorted, dict, float, bytes.split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from venire.kernels.ragged import blocks, gather, offsets
from venire.scan import lists as scan, lookup, slices
from venire.scan.fields import split
from venire.scan.lists import Lines, Rules, locate, ranked_order
from venire.scan.lookup import build_index, find
from venire.scan.numbers import decimals
from venire.scan.slices import (
    bytewise_order,
    changes,
    compact,
    concatenate,
    encode,
    equal,
    from_bytes,
    hashes,
    padded,
)

WORDS = st.binary(min_size=1, max_size=20).map(lambda word: word.replace(b"\0", b"0")) | st.sampled_from(
    (b"a", b"ab", b"b", b"abcdefgh", b"abcdefghi", b"abcdefgi", b"x" * 16, b"x" * 17, b"\xff", b"\xff" * 9)
)
MANY = st.lists(WORDS, max_size=30)
SOME = st.lists(WORDS, min_size=1, max_size=30)


# --- slices ------------------------------------------------------------------------------------------------------


@given(words=MANY)
def test_slices_give_back_what_they_were_made_of(words):
    packed = from_bytes(words)
    assert packed.to_bytes() == compact(packed).to_bytes() == words
    assert concatenate([packed, from_bytes([b"z"]), packed]).to_bytes() == [*words, b"z", *words]


@given(words=SOME)
def test_encode_numbers_the_sorted_set(words):
    codes, first = encode(from_bytes(words))
    names = sorted(set(words))
    assert codes.tolist() == [names.index(word) for word in words]
    assert first.tolist() == [words.index(name) for name in names]


@given(words=SOME, few=st.integers(1, 3))
def test_encode_survives_hashes_that_collide(words, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "hashes", lambda packed: hashes(packed) % np.uint64(few))
        codes, first = encode(from_bytes(words))
    names = sorted(set(words))
    assert codes.tolist() == [names.index(word) for word in words]
    assert first.tolist() == [words.index(name) for name in names]


@given(words=MANY)
@example(words=[b"b", b"a" * 9])
def test_bytewise_order_is_that_of_sorted(words):
    order = bytewise_order(from_bytes(words)).tolist()
    assert [words[place] for place in order] == sorted(words)
    assert sorted(order) == list(range(len(words)))


@given(words=SOME)
@example(words=[b"a", b"abcdefghi"])
def test_a_hash_depends_on_the_bytes_alone(words):
    together = hashes(from_bytes(words)).tolist()
    assert together == [hashes(from_bytes([word])).item() for word in words]
    assert len(set(together)) == len(set(words))


@given(pairs=st.lists(st.tuples(WORDS, WORDS) | WORDS.map(lambda word: (word, word)), max_size=30))
def test_equal_compares_one_by_one(pairs):
    left, right = (from_bytes([pair[side] for pair in pairs]) for side in (0, 1))
    assert equal(left, right).tolist() == [one == other for one, other in pairs]


@given(words=SOME)
def test_changes_marks_what_differs_from_before(words):
    assert changes(from_bytes(words)).tolist() == [n == 0 or words[n] != words[n - 1] for n in range(len(words))]


# --- fields ------------------------------------------------------------------------------------------------------

TEXT = st.lists(
    st.lists(st.sampled_from((b"a", b"7", b"#b", b"q-1", b"\xe9", b"long-field-1")), max_size=5), max_size=8
)
SEPARATORS = st.sampled_from((b" ", b" ", b"\t", b"  ", b" \t "))
ENDS = st.sampled_from((b"\n", b"\n", b"\r\n", b" \n"))


def by_hand(text: bytes, n_columns: int) -> tuple[list[list[bytes]], list[int], tuple[int, int] | None]:
    """Rows, the lines they stood on, and (line, columns) of the first line that does not fit."""
    rows, numbers = [], []
    for number, line in enumerate(text.split(b"\n")[:-1]):
        fields = line.split()
        if line.startswith(b"#") or not fields:
            continue
        if len(fields) != n_columns:
            return rows, numbers, (number, len(fields))
        rows.append(fields)
        numbers.append(number)
    return rows, numbers, None


@given(lines=TEXT, data=st.data(), n_columns=st.integers(2, 4), regular=st.booleans())
def test_split_is_that_of_bytes(lines, data, n_columns, regular):
    lines = [(line * n_columns)[:n_columns] for line in lines] if regular else lines
    text = b"".join(
        b"".join(field + data.draw(SEPARATORS) for field in line[:-1]) + b"".join(line[-1:]) + data.draw(ENDS)
        for line in lines
    )
    fields = split(padded(text), n_columns)
    columns = [fields.column(n).to_bytes() for n in range(n_columns)]
    rows, numbers, wrong = by_hand(text, n_columns)
    assert [list(row) for row in zip(*columns, strict=True)] == rows
    assert fields.line.tolist() == numbers
    assert (None if fields.fault is None else (fields.fault.line, fields.fault.detail)) == wrong


@pytest.mark.parametrize("byte", [0, 1, 7, 8, 14, 27, 31])
def test_split_refuses_bytes_that_no_text_holds(byte):
    text = b"a b\n" * 3 + b"a " + bytes([byte]) + b"\na b\n"
    fields = split(padded(text), 2)
    assert (fields.fault.line, fields.fault.kind, fields.fault.detail) == (3, "control", byte)
    assert len(fields.line) == 3


# --- numbers -----------------------------------------------------------------------------------------------------

DIGITS = st.text("0123456789", max_size=18)
DECIMALS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(("", "", "-", "+")),
    DIGITS,
    st.sampled_from((".", "")),
    DIGITS,
    st.sampled_from(("", "", "", "e5", "E-12", "e+300", "e400")),
).filter(bool)
AWKWARD = st.sampled_from((".", "-", "+.", "e5", "nan", "inf", "-Infinity", "1_0", "0x1", "1.2.3", "٣", "1e", " 1"))


def read(text: str) -> float:
    """Read a finite number as Python does, with neither names nor underscores; nan where there is none."""
    if not text or set(text) - set("0123456789+-.eE"):
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return float("nan")


@given(
    texts=st.lists(DECIMALS | AWKWARD | st.floats().map(repr), max_size=20),
    ahead=st.sampled_from(("1 Q a ", "topic Q0 ")),
)
@example(texts=["90071992.54740993", "90071992.54740994"], ahead="topic Q0 ")
@example(texts=["9007199254740993", "-0", "00000000.00000000"], ahead="1 Q a ")
def test_decimals_are_those_of_float(texts, ahead):
    packed = from_bytes([text.encode() for text in [ahead, *texts]])
    value, bad = decimals(packed.take(np.arange(1, len(texts) + 1)))
    expected = np.array([read(text) for text in texts])
    assert bad.tolist() == (~np.isfinite(expected)).tolist()
    assert value[~bad].tolist() == expected[~bad].tolist()


@given(
    value=st.floats(allow_nan=False, allow_infinity=False), form=st.sampled_from(("{!r}", "{:.6f}", "{:g}", "{:.17g}"))
)
def test_decimals_read_back_what_was_written(value, form):
    text = form.format(value)
    (found,), (bad,) = decimals(from_bytes([text.encode()]))
    assert (found, bad) == (float(text), not np.isfinite(float(text)))


# --- lookup ------------------------------------------------------------------------------------------------------

PAIRS = st.lists(st.tuples(st.integers(0, 3), WORDS), unique=True, max_size=30)


@pytest.mark.parametrize("few", [None, 1, 3], ids=["hashes", "one hash", "few hashes"])
@given(known=PAIRS, asked=st.lists(st.tuples(st.integers(-1, 4), WORDS), max_size=30))
def test_find_is_a_dictionary(few, known, asked):
    def poor(packed: slices.Slices) -> np.ndarray:
        return hashes(packed) if few is None else hashes(packed) % np.uint64(few)

    asked = [*asked, *known]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "hashes", poor)
        patch.setattr(lookup, "grouped", (lambda h, _: h) if few else lookup.grouped)
        index = build_index(np.array([g for g, _ in known], dtype=np.int32), from_bytes([w for _, w in known]))
        packed = from_bytes([word for _, word in asked])
        found = find(index, np.array([group for group, _ in asked], dtype=np.int32), packed, poor(packed))
    number = {pair: n for n, pair in enumerate(known)}
    assert found.tolist() == [number.get(pair, -1) for pair in asked]


# --- scan --------------------------------------------------------------------------------------------------------

TIED = st.sampled_from((2.0, 1.0, 1.0, 0.0, -0.0, -1.5))
ONE_LIST = st.lists(st.tuples(WORDS, TIED), min_size=1, max_size=12, unique_by=lambda each: each[0])
LISTS = st.lists(ONE_LIST, min_size=1, max_size=4)
LISTED = st.tuples(st.integers(0, 2), st.sampled_from((b"a", b"b", b"abcdefghi")))


def in_order(docs: list[tuple[bytes, float]]) -> list[bytes]:
    return [doc for doc, _ in sorted(docs, key=lambda each: (each[1], each[0]), reverse=True)]


@given(lists=LISTS, judged=st.sets(WORDS))
def test_ranked_order_puts_judged_documents_where_sorting_does(lists, judged):
    flat = [(number, doc, score) for number, docs in enumerate(lists) for doc, score in docs]
    list_of, words, score = (list(column) for column in zip(*flat, strict=True))
    hit = np.array([word in judged for word in words])
    order = ranked_order(np.array(score), np.array(list_of), from_bytes(words), hit)
    order = np.arange(len(flat)) if order is None else order
    assert [list_of[place] for place in order] == list_of
    expected = [word for docs in lists for word in in_order(docs)]
    found = [words[place] for place in order]
    assert [word if word in judged else None for word in found] == [w if w in judged else None for w in expected]
    assert sorted(order.tolist()) == list(range(len(flat)))


@given(lists=LISTS, known=st.dictionaries(st.tuples(st.integers(0, 2), WORDS), st.none()), data=st.data())
def test_locate_finds_the_ranks_of_judged_items(lists, known, data):
    """Topic 3 of the lists was not judged; some documents of the others are judged too."""
    known = dict.fromkeys(
        [*known, *[(n % 4, doc) for n, docs in enumerate(lists) for doc, _ in docs[::2] if n % 4 < 3]]
    )
    flat = [(b"t%d" % (number % 4), doc, score) for number, docs in enumerate(lists) for doc, score in docs]
    topics = build_index(np.zeros(3, dtype=np.int32), from_bytes([b"t0", b"t1", b"t2"]))
    items = build_index(np.array([t for t, _ in known], dtype=np.int32), from_bytes([doc for _, doc in known]))
    names, words, score = (list(column) for column in zip(*flat, strict=True))
    systems = from_bytes([b"s"] * len(flat))
    lines = Lines(from_bytes(names), systems, from_bytes(words), np.array(score), np.arange(len(flat)))
    located = locate(lines, topics, items, Rules(keep_first=data.draw(st.booleans())))
    number = {pair: n for n, pair in enumerate(known)}
    hits = [
        (n, rank, number[n % 4, doc])
        for n, docs in enumerate(lists)
        for rank, doc in enumerate(in_order(docs), 1)
        if (n % 4, doc) in number
    ]
    assert located.topic.tolist() == [-1 if n % 4 == 3 else n % 4 for n in range(len(lists))]
    assert located.depth.tolist() == [len(docs) for docs in lists]
    assert list(zip(located.hit_list.tolist(), located.rank.tolist(), located.item.tolist(), strict=True)) == hits
    assert located.fault is None


@given(docs=st.lists(LISTED, min_size=1, max_size=20), few=st.sampled_from((None, 1, 2)))
def test_repeated_marks_all_but_the_first(docs, few):
    docs = sorted(docs, key=lambda each: each[0])
    list_of = np.array([number for number, _ in docs])
    packed = from_bytes([doc for _, doc in docs])
    keys = lookup.grouped(hashes(packed), list_of)
    keys = keys if few is None else keys % np.uint64(few)
    assert scan.repeated(packed, keys, list_of).tolist() == [each in docs[:n] for n, each in enumerate(docs)]


# --- ragged ------------------------------------------------------------------------------------------------------


@given(counts=st.lists(st.integers(0, 40), max_size=40), cells=st.integers(1, 200))
def test_blocks_cover_each_row_once_and_waste_little(counts, cells):
    parts = list(blocks(np.array(counts, dtype=np.int64), cells=cells))
    assert sorted(row for rows, _ in parts for row in rows.tolist()) == list(range(len(counts)))
    for rows, width in parts:
        assert width == max(counts[row] for row in rows)
        assert len(rows) == 1 or len(rows) * width <= cells
        assert all(2 * counts[row] >= width for row in rows)
    assert [width for _, width in parts] == sorted((width for _, width in parts), reverse=True)


@given(counts=st.lists(st.integers(0, 6), min_size=1, max_size=10))
def test_gather_lays_rows_side_by_side(counts):
    start = offsets(np.array(counts))
    width = max(counts)
    cell = gather(start[:-1], np.array(counts), width, padding=-1)
    for row, count in enumerate(counts):
        assert cell[row].tolist() == [*range(start[row], start[row] + count), *[-1] * (width - count)]
    assert start[-1] == sum(counts)

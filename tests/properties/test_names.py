"""Names of columns as codes, rows in order, slices in a buffer: compiled functions against plain ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from venire.scan import codes as codes_module, slices
from venire.scan.codes import COMPILED, count, gather, homes
from venire.scan.names import Names, in_byte_order, names_in_groups, ordered_rows, sorted_rows
from venire.scan.slices import compact, encode, encode_exactly, from_bytes

needs_compiler = pytest.mark.skipif(not COMPILED, reason="needs the compiled scan")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20) | st.text("ab", max_size=40)
BLOCKS = st.lists(st.lists(st.none() | TEXTS, max_size=70), min_size=1, max_size=4)
SLICES = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\0", b"x")), min_size=1, max_size=60)


@needs_compiler
@given(BLOCKS, st.integers(0, 3))
def test_compiled_names_are_those_of_a_dictionary(blocks, skipped):
    compiled, plain = Names(compiled=True), Names(compiled=False)
    for block in blocks:
        column = pl.Series(block, dtype=pl.String).slice(skipped)
        np.testing.assert_array_equal(compiled.add(column), plain.add(column))
    assert compiled.all().to_bytes() == plain.all().to_bytes()


@needs_compiler
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_names_come_from_every_layout_of_arrow(kind):
    arrow = pytest.importorskip("pyarrow")
    cells = [
        "a",
        None,
        "",
        "a name of more than twelve bytes",
        "a",
        "b" * 300,
        None,
        "a name of more than twelve bytes",
    ]
    column = arrow.chunked_array([arrow.array(cells, getattr(arrow, kind)()).slice(1), arrow.array(["b"], kind)])
    names = Names()
    assert names.add(column).tolist() == [-1, 0, 1, 2, 3, -1, 1, 4]
    assert names.all().to_bytes() == [b"", cells[3].encode(), b"a", b"b" * 300, b"b"]


@needs_compiler
def test_a_column_of_numbers_is_no_text():
    with pytest.raises(TypeError, match="not text"):
        Names().add(pl.Series([1, 2]))


def test_many_names_are_found_again():
    names, numbers = Names(), np.random.default_rng(0).integers(0, 30_000, 100_000)
    codes = names.add(pl.Series(numbers).cast(pl.String))
    texts = names.all().to_bytes()
    assert len(texts) == len(np.unique(numbers))
    assert [int(texts[code]) for code in codes.tolist()] == numbers.tolist()
    place, ordered = in_byte_order(names.all())
    assert ordered.to_bytes() == sorted(texts)
    assert [ordered.at(n) for n in place[:9].tolist()] == texts[:9]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40)), max_size=200),
    st.integers(6, 20),
)
def test_rows_are_ordered_as_lexsort_orders_them(rows, n_groups):
    major, minor = (np.array(column, dtype=np.int32) for column in (zip(*rows, strict=True) if rows else ((), ())))
    expected = np.lexsort((minor, major))
    for compiled in {COMPILED, False}:
        np.testing.assert_array_equal(ordered_rows(major, minor, n_groups, compiled=compiled), expected)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40), st.integers(0, 9)), max_size=200),
    st.booleans(),
    st.booleans(),
)
def test_rows_are_sorted_with_what_they_carry(rows, distinct, several):
    rows = list({row[:2]: row for row in rows}.values()) if distinct else rows
    major, minor, carried = (
        np.array([row[n] for row in rows], dtype=kind) for n, kind in enumerate((np.int32, np.int8, np.int16))
    )
    expected = None if len({row[:2] for row in rows}) < len(rows) else sorted(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes_module, "MANY", 1 if several else 1 << 22)
        for compiled in {COMPILED, False}:
            found = sorted_rows(major, minor, carried, 6, compiled=compiled)
            assert (found is None) == (expected is None)
            if found is not None:
                assert [each.dtype for each in found] == [np.int32] * 3
                assert list(zip(*(each.tolist() for each in found), strict=True)) == expected


@needs_compiler
def test_rows_are_written_to_arrays_of_their_length():
    from venire.scan import _scan

    one, two = np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int32)
    for carried, to in [(None, (None, None, two)), (two, (None, None, one)), (None, (two, None, one))]:
        with pytest.raises(ValueError, match=r"length|not as many"):
            _scan.ordered_rows(one, one, carried, 1, 0, 1, *to)
    with pytest.raises(TypeError, match="nothing to write"):
        _scan.ordered_rows(one, one, None, 1, 0, 1, one, one, None)
    with pytest.raises((ValueError, BufferError)):
        _scan.ordered_rows(one, one, None, 1, 0, 1, None, None, bytes(4))


@needs_compiler
def test_a_code_beyond_the_groups_is_an_error():
    one = np.array([3], dtype=np.int32)
    with pytest.raises(ValueError, match="not below"):
        ordered_rows(one, one, 3)
    with pytest.raises(ValueError, match="not below"):
        ordered_rows(-one, one, 3)


@given(SLICES, st.integers(0, 10))
def test_slices_are_encoded_and_copied_the_same_with_and_without_a_compiler(values, skipped):
    column = from_bytes(values)
    column = column.take(np.arange(len(values))[::-1][: len(values) - skipped])
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for at_once in (-1, 1 << 13):
            patch.setattr(slices, "COPIED_AT_ONCE", at_once if COMPILED else 1 << 13)
            some = compact(column, np.arange(len(column.start))[::-2])
            found.append((*map(np.ndarray.tolist, encode(column)), compact(column).to_bytes(), some.to_bytes()))
    codes, first = encode_exactly(column)
    texts = column.to_bytes()
    assert found == [(codes.tolist(), first.tolist(), texts, texts[::-2])] * 2


@needs_compiler
def test_a_slice_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setattr(slices, "COPIED_AT_ONCE", 0)
    for number in (1, -1):
        with pytest.raises(IndexError):
            compact(from_bytes([b"a"]), np.array([number]))


CODES = st.lists(st.integers(0, 100), max_size=80)


@needs_compiler
@given(CODES, st.sampled_from([np.int8, np.int16, np.int32]), st.sampled_from([np.int8, np.int32, np.float64]))
def test_codes_are_gathered_and_counted_as_numpy_does(codes, width, kind):
    column, table = np.array(codes, dtype=width), np.arange(101).astype(kind)
    np.testing.assert_array_equal(gather(table, column), table[column])
    np.testing.assert_array_equal(gather(table, -column), table[-column])
    np.testing.assert_array_equal(count(column, 101), count(column, 101, compiled=False))
    with pytest.raises(IndexError):
        gather(table[:0], np.zeros(1, dtype=width))
    with pytest.raises(IndexError):
        count(np.array([-1], dtype=width), 3)


@needs_compiler
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=60), st.booleans())
def test_homes_are_those_of_numpy(rows, one_each):
    group, codes = (np.array(each, dtype=np.int16) for each in (zip(*rows, strict=True) if rows else ((), ())))
    group = codes % 4 if one_each else group
    found, expected = (homes(group, codes.astype(np.int32), 31, compiled=compiled) for compiled in (True, False))
    assert (found is None) == (expected is None)
    if found is not None:
        np.testing.assert_array_equal(found, expected)


@needs_compiler
@given(st.lists(st.tuples(st.integers(0, 3), TEXTS), max_size=60, unique_by=lambda row: row[1]), st.booleans())
def test_names_in_groups_are_sorted_bytewise(rows, several):
    group = np.array([number for number, _ in rows], dtype=np.int32)
    texts = [text.replace("\0", "x").encode() for _, text in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes_module, "MANY", 1 if several else 1 << 22)
        found = [names_in_groups(group, 4, from_bytes(texts), compiled=compiled) for compiled in (True, False)]
    expected = sorted(zip(group.tolist(), texts, strict=True))
    for place, ordered in found:
        assert [expected[n] for n in place.tolist()] == list(zip(group.tolist(), texts, strict=True))
        assert ordered.to_bytes() == [text for _, text in expected]
        assert not ordered.buffer[-8:].any()


@needs_compiler
@pytest.mark.parametrize("n_groups", [3, 5_000, 200_000])
@pytest.mark.parametrize("n_minor", [3, 100, 1 << 30])
@pytest.mark.parametrize("many", [1, 1 << 22])
def test_many_rows_are_ordered_in_parts_and_by_threads(monkeypatch, n_groups, n_minor, many):
    monkeypatch.setattr(codes_module, "MANY", many)
    rng = np.random.default_rng(n_groups)
    major, minor = rng.integers(0, n_groups, 150_000, dtype=np.int32), rng.integers(0, n_minor, 150_000, dtype=np.int32)
    minor = minor.astype(np.int8) if n_minor <= 100 else minor
    rows = np.lexsort((minor, major))
    np.testing.assert_array_equal(ordered_rows(major, minor, n_groups), rows)
    once = np.unique(major.astype(np.int64) << 31 | minor, return_index=True)[1]
    for carried in (np.arange(150_000, dtype=np.int32), minor % 5, np.full(150_000, -3, dtype=np.int8)):
        columns = (major, minor, carried)
        found = sorted_rows(*columns, n_groups)
        assert (found is None) == (len(once) < len(rows))
        for expected, column in zip(columns, sorted_rows(*(each[once] for each in columns), n_groups), strict=True):
            np.testing.assert_array_equal(column, expected[once])
    np.testing.assert_array_equal(gather(minor, major % 100), minor[major % 100])

from __future__ import annotations

import gzip
from string import hexdigits

import numpy as np
import pytest

from long_rows import judgments_of
from venire import read_judgments
from venire.data.judgments import fingerprint

ROWS = [("1", "a", "A", "2", "x"), ("1", "a", "B", "1", "x"), ("2", "b", "A", "0", "y")]
BASE = judgments_of(ROWS)


def test_sixteen_digits_that_stay_the_same():
    assert fingerprint(BASE) == fingerprint(judgments_of(ROWS))
    assert len(fingerprint(BASE)) == 16
    assert set(fingerprint(BASE)) <= set(hexdigits)


@pytest.mark.parametrize(
    "other",
    [
        judgments_of([("1", "a", "A", "1", "x"), *ROWS[1:]]),
        judgments_of([("1", "a", "C", "2", "x"), *ROWS[1:]]),
        judgments_of([("3", "a", "A", "2", "x"), *ROWS[1:]]),
        judgments_of([("1", "c", "A", "2", "x"), *ROWS[1:]]),
        judgments_of([("1", "a", "A", "2", "z"), *ROWS[1:]]),
        judgments_of(ROWS[:2]),
        judgments_of(ROWS, "0<1<2<3"),
        judgments_of(ROWS, fifth="aspect"),
        BASE.take(np.array([True, True, False])),
    ],
    ids=["label", "assessor", "topic", "document", "intent", "row", "scale", "meaning of a column", "choice"],
)
def test_anything_else_changes_it(other):
    assert fingerprint(other) != fingerprint(BASE)


def test_names_run_into_each_other_are_other_names():
    one = judgments_of([("1", "ab", "A", "2"), ("1", "c", "A", "1")])
    other = judgments_of([("1", "a", "A", "2"), ("1", "bc", "A", "1")])
    assert fingerprint(one) != fingerprint(other)


def test_how_a_file_was_packed_does_not_matter(tmp_path):
    text = b"1 0 a 2\n1 0 b 1\n2 0 a 0\n"
    (tmp_path / "nist").write_bytes(text)
    (tmp_path / "nist.gz").write_bytes(gzip.compress(text))
    plain, packed = (read_judgments(tmp_path / name) for name in ("nist", "nist.gz"))
    assert plain.assessors == packed.assessors
    assert fingerprint(plain) == fingerprint(packed)

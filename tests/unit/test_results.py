"""Tabular: numbers of records are None where nothing is known, and counts are whole where they are."""

import sys
from math import inf, nan

import numpy as np
import pytest

from venire import evaluate
from venire.results import Tabular, as_html, known, known_count, shown, visible


@pytest.mark.parametrize("value", [nan, np.float64(nan)])
def test_what_is_not_known_is_none(value):
    assert known(value) is None
    assert known_count(value) is None


@pytest.mark.parametrize(
    ("value", "count"), [(3.0, 3), (np.float64(3.0), 3), (np.int64(3), 3), (2.5, 2.5), (inf, inf), (0.0, 0)]
)
def test_counts_are_whole_unless_they_were_weighed(value, count):
    found = known_count(value)
    assert found == count
    assert type(found) is type(count)
    assert type(known(value)) is float


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-0.0, "0.0000"),
        (-1e-17, "0.0000"),
        (3e-7, "3e-07"),
        (np.array([0.5, 2.0]), "0.5000, 2.0000"),
        (np.array([]), "-"),
        (np.int64(1234), "1,234"),
        ([1, None], "1, -"),
        ((), "-"),
    ],
)
def test_cells_as_people_read_them(value, words):
    assert shown(value) == words


@pytest.mark.parametrize("name", ["p", "p_value", "p_holm", "drift_p"])
def test_p_values_are_never_noise(name):
    page = as_html("", [{name: 1e-18, "phi": 1e-18}, {name: -0.0, "phi": -0.0}], n_rows=2)
    assert page.count("1e-18") == 1
    assert page.count(">0.0000<") == 3


def test_a_sentence_is_made_once():
    class Counted(Tabular):
        asked, notes = 0, ("One.", "Two.", "Three.")

        def sentence(self):
            self.asked += 1
            return "One."

        def records(self):
            return [{"a": 1}]

    for use in (Tabular.to_dict, Tabular._repr_html_):
        made = Counted()
        use(made)
        assert made.asked == 1
    assert made.to_dict()["notes"] == ["Two.", "Three."]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\tb\nc\r", r"a\tb\nc\r"),
        ("\x00\x7f\x80\x9f", r"\x00\x7f\x80\x9f"),
        ("\u2028\u202e\u2066", r"\u2028\u202e\u2066"),
        ("\udc9b", r"\x9b"),
        ("caf\udce9 é 中 \u200d", "caf\udce9 é 中 \u200d"),
    ],
)
def test_controls_are_visible(text, seen):
    assert visible(text) == seen
    assert visible(visible(text)) == seen
    assert visible(text, keep=text) == text


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'to_pandas needs \w+: pip install "venire\[pandas\]"'):
        evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "P@1").to_pandas()

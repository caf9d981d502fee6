"""Names in plots are shortened in one way: in the middle, with dollar signs that are no mathematics."""

from __future__ import annotations

from pathlib import Path

import pytest

from venire.plots import style
from venire.plots.style import short_name


def test_a_name_that_fits_stays_as_it_is():
    assert short_name("x" * 28) == "x" * 28
    assert short_name("bm25", 4) == "bm25"


@pytest.mark.parametrize("longest", [4, 5, 20, 28])
def test_a_long_name_keeps_its_beginning_and_its_end(longest):
    name = "abcdefghijklmnopqrstuvwxyz0123456789"
    found = short_name(name, longest)
    assert len(found) == longest
    start, end = found.split("…")
    assert name.startswith(start)
    assert name.endswith(end)
    assert 0 <= len(start) - len(end) <= 1


def test_dollar_signs_are_escaped_after_the_cut():
    assert short_name("$" * 10, 5) == r"\$\$…\$\$"


def test_no_other_plot_module_cuts_names_itself():
    folder = Path(style.__file__).parent
    assert [path.name for path in sorted(folder.glob("*.py")) if "…" in path.read_text(encoding="utf-8")] == [
        "style.py"
    ]

"""Numbers of papers beside ours, and beside what their pages show (written by ``make papers``)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from papers import chu2021_figures
from papers.demeester2014 import FIGURE_4, PREDICTED
from papers.demeester2015 import TABLE_5
from papers.tables import NAMES, PAGES, Ratio, Row, all_tables
from venire.disagreement.gains import read_share
from venire.disagreement.user_disagreement import udm_weights

TABLES = all_tables()
QUICK = [table for table in TABLES if not table.slow]


def check(table):
    """A cell holds unless a reason is known why it does not, and its page says so."""
    if table.missing:
        pytest.skip(table.missing)
    page = (PAGES / f"{table.paper}.md").read_text(encoding="utf-8")
    below = page.partition(f"### {table.name}\n")[2].partition("\n#")[0]
    for row in table.rows:
        assert row.holds is (row.known is None), row.markdown
        assert row.markdown in below, f"run make papers: {row.markdown}"


@pytest.mark.parametrize("table", QUICK, ids=lambda table: f"{table.paper} {table.name}")
def test_numbers_of_papers(table):
    check(table)


@pytest.mark.slow
def test_figures_at_the_size_of_the_paper():
    for table in TABLES:
        if table.slow:
            check(table)


def test_tables_have_names_of_their_own_and_known_cells_exist():
    names = [(table.paper, table.name) for table in TABLES]
    assert len(names) == len(set(names))
    assert {table.paper for table in TABLES} == set(NAMES)
    assert all(table.known.keys() <= table.cells.keys() for table in TABLES)
    assert {kind for table in TABLES for kind, _ in table.cells.values()} == {"printed", "stated", "implied"}


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("0.743", 0.7434, 0.7436),
        (".49", 0.4949, 0.4951),
        ("0.12", 0.125, 0.1251),
        ("0.50", 0.496, 0.494),
        ("39%", 0.3896, 0.396),
        ("4", 4.0, 4.0001),
        ("2,738", 2738.0, 2739.0),
        ("1/3", 1 / 3, 0.3333),
        ("2/4", Ratio(2, 4), Ratio(1, 2)),
        ("yes", True, False),
        ("no", False, True),
        ("0.49", 0.49, float("nan")),
        ("0.49", 0.49, None),
    ],
)
def test_the_tolerance_is_the_rounding_of_the_paper(text, right, wrong):
    assert [Row("c", "printed", text, ours, None).holds for ours in (right, wrong)] == [True, False]


def test_without_its_data_a_table_is_missing(monkeypatch, tmp_path):
    (table,) = (each for each in TABLES if each.name == "Table 1: experimental P(M/N) given Rel")
    monkeypatch.delenv("VENIRE_DATA", raising=False)
    assert "rf10_crowd" in table.missing
    monkeypatch.setenv("VENIRE_DATA", str(tmp_path))
    assert table.missing
    (tmp_path / "rf10_crowd").mkdir()
    assert table.missing is None


def test_table_5_is_copied_in_the_order_of_its_first_column():
    """The paper sorts its rows by the PRM count for top relevance, so that a copying error would break the order."""
    assert len(TABLE_5) == 20
    assert all(one[0] >= next_one[0] for one, next_one in pairwise(TABLE_5.values()))


def test_the_predictions_of_table_1_fix_p_to_three_digits():
    p = np.linspace(0.28, 0.32, 40_001)
    below = np.zeros(len(p), dtype=bool)
    fits = [abs(udm_weights(*read_share(share), p, below) - float(text)) <= 0.005 for share, text in PREDICTED.items()]
    found = p[np.all(fits, axis=0)]
    assert (found.min().round(4), found.max().round(4)) == (0.2981, 0.2992)


def test_the_example_is_what_section_4_2_says_of_figure_4():
    rows = [line.split() for line in FIGURE_4.strip().splitlines()]
    columns = list(zip(*rows, strict=True))
    assert (len(rows), len(columns)) == (4, 8)
    assert [doc for doc, labels in enumerate(columns, 1) if labels[2] == "Key"] == [2]
    assert not any("Key" in labels and "Non" in labels for labels in columns)
    assert sum("Key" in labels for labels in columns if labels[2] == "HRel") == rows[2].count("HRel") / 2 == 2
    assert sum("Key" in labels for labels in columns if labels[2] == "Rel") == 1
    assert "Non" not in rows[2]


def test_statements_on_generated_collections_can_fail(monkeypatch):
    """Each statement of Figures 4 to 6 says no to values of which it does not hold."""
    sigma = np.linspace(0.01, 0.29, 12)
    drawn = np.array([[1.0, 2.0, 3.0]] * 8 + [[2.0, 1.0, 3.0]] * 2)
    monkeypatch.setattr(chu2021_figures, "sigmas", lambda _: sigma)
    monkeypatch.setattr(chu2021_figures, "chosen_pdp", lambda *_: drawn)

    def holds(values):
        monkeypatch.setattr(chu2021_figures, "values", values)
        return {
            table.compute.__name__: bool(table.row(next(iter(table.cells))).ours)
            for table in chu2021_figures.FIGURES.tables
        }

    rising = holds(lambda _, grades, __: 4 + sigma + 0.01 * grades)
    assert (rising["falls_with_grades"], rising["falls_with_quality"]) == (False, True)
    falling = holds(lambda _, grades, __: 4 - sigma - 0.01 * grades)
    assert (falling["falls_with_grades"], falling["falls_with_quality"]) == (True, False)
    assert not falling["aggregate_is_lower"]
    unlike = holds(lambda name, *_: sigma[::-1] if name == "aggregate" else np.sin(40 * sigma))
    for name in ("follows_most_closely", "with_grades", "right_order", "steadier", "steadier_with_more"):
        assert not unlike[name]


def test_tests_are_drawn_evenly_over_pairs_of_grades():
    cell = np.repeat([3, 1, 7], [50, 2, 8])
    times = chu2021_figures.draw(cell, 40, np.random.default_rng(0))
    assert [times[cell == each].sum() for each in (1, 3, 7)] == [40, 40, 40]
    assert times[cell == 3].max() < 10

"""Printed numbers of papers, held against ours: one test walks all tables."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from venire import UnknownName, papers
from venire.disagreement.user_disagreement import udm_weights
from venire.papers import chu2021_figures, perceived_batches
from venire.papers.demeester2014 import FIGURE_4
from venire.papers.demeester2015 import TABLE_5
from venire.papers.table import Ratio, Table, check, check_cell, read_printed

CELLS = [(table, cell) for table in papers.ALL for cell in table.printed]
PAGES = Path(__file__).parents[2] / "docs" / "papers"


def one(printed: str, ours: float | Ratio, **more: object) -> Table:
    return Table(paper="p", where="Table 1", title="t", compute=lambda _: ours, printed={"c": printed}, **more)


def named(case: object) -> str:
    return f"{case.paper} {case.name}" if isinstance(case, Table) else str(case)


@pytest.mark.parametrize(("table", "cell"), CELLS, ids=named)
def test_we_compute_what_was_printed(table, cell):
    checked = check_cell(table, cell)
    if checked.holds is None:
        pytest.skip(checked.skipped or "")
    assert checked.holds is (cell not in table.findings), f"printed {checked.printed}, ours {checked.ours}"


@pytest.mark.parametrize(("table", "cell"), CELLS, ids=named)
def test_a_wrong_value_fails(table, cell):
    """What is off by one unit of the last printed digit, or more, is told apart, whatever the table."""
    reading = read_printed(table.printed[cell])
    step = max(2 * reading.within, 2 * (table.tolerance or 0.0), 1e-6)
    for off in (step, -step):
        wrong = replace(table, compute=lambda _, value=reading.value + off: value, needs=None, only_full=False)
        wrong = replace(wrong, findings={})
        assert check_cell(wrong, cell).failed


@pytest.mark.parametrize(
    ("printed", "ours", "holds"),
    [
        ("0.743", 0.7434, True),
        ("0.743", 0.7436, False),
        (".49", 0.4949, True),
        (".49", 0.4951, False),
        ("0.12", 0.125, True),
        ("0.50", 0.496, True),
        ("0.50", 0.494, False),
        ("0.5", 0.46, True),
        ("39%", 0.3896, True),
        ("39%", 0.396, False),
        ("4", 4.0, True),
        ("4", 4.0001, False),
        ("2,738", 2738.0, True),
        ("2,738", 2739.0, False),
        ("1/3", 1 / 3, True),
        ("1/3", 0.3333, False),
        ("2/4", Ratio(2, 4), True),
        ("2/4", Ratio(1, 2), False),
        ("yes", True, True),
        ("yes", False, False),
        ("no", False, True),
    ],
)
def test_the_tolerance_is_the_rounding_of_the_paper(printed, ours, holds):
    assert check_cell(one(printed, ours), "c").holds is holds


def test_another_tolerance_is_stated_with_its_reason():
    assert check_cell(one("0.49", 0.504, tolerance=0.015, reason="other data"), "c").holds
    assert not check_cell(one("0.49", 0.506, tolerance=0.015, reason="other data"), "c").holds
    assert all(table.reason and table.needs for table in papers.ALL if table.tolerance is not None)


def test_a_nan_does_not_hold():
    assert check_cell(one("0.49", float("nan")), "c").failed


def test_a_finding_is_shown_and_does_not_count_as_a_failure():
    checked = check_cell(one("0.31", 0.413, findings={"c": "rows mixed up"}), "c")
    assert (checked.holds, checked.failed, checked.verdict, checked.skipped) == (False, False, "known", "rows mixed up")
    assert checked.difference == pytest.approx(0.103)
    assert all(cell in table.printed for table in papers.ALL for cell in table.findings)


def test_without_data_a_cell_is_skipped_and_says_what_it_needs(monkeypatch, tmp_path):
    table = one("0.5", 0.5, needs="rf10_crowd")
    monkeypatch.delenv("VENIRE_DATA", raising=False)
    checked = check_cell(table, "c")
    assert (checked.ours, checked.holds, checked.failed, checked.shown) == (None, None, False, "-")
    assert "rf10_crowd; set VENIRE_DATA" in (checked.skipped or "")
    monkeypatch.setenv("VENIRE_DATA", str(tmp_path))
    assert "no such folder" in (check_cell(table, "c").skipped or "")
    (tmp_path / "rf10_crowd").mkdir()
    assert check_cell(table, "c").holds


def test_all_is_a_plain_list_of_differently_named_tables():
    assert isinstance(papers.ALL, list)
    names = [(table.paper, table.name) for table in papers.ALL]
    assert len(names) == len(set(names))
    assert {table.paper for table in papers.ALL} == set(papers.PAPERS)
    assert len(check(papers.tables_of("demeester2015"))) == 16


def test_unknown_names_say_which_are_known():
    with pytest.raises(UnknownName, match="did you mean 'demeester2015'"):
        papers.tables_of("demester2015")
    with pytest.raises(UnknownName, match="no cell of Table 1: t 'd'"):
        check_cell(one("1", 1.0), "d")
    with pytest.raises(AttributeError):
        papers.NOTHING  # noqa: B018


def test_naming_the_papers_is_light():
    code = "import sys, venire.papers; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "venire" in loaded
    assert not {"numpy", "polars", "scipy"} & set(loaded)


def test_table_5_is_copied_in_the_order_of_its_first_column():
    """The paper sorts its rows by the PRM count for top relevance: a slip of the pen would break the order."""
    assert len(TABLE_5) == 20
    assert all(one[0] >= next_one[0] for one, next_one in pairwise(TABLE_5.values()))


def test_the_predictions_of_table_1_fix_p_to_three_digits():
    p = np.linspace(0.28, 0.32, 40_001)
    printed = {(1, 3): 0.51, (2, 3): 0.09, (2, 4): 0.21, (2, 5): 0.35}
    fits = [
        abs(udm_weights(*share, p, np.zeros(len(p), dtype=bool)) - text) <= 0.005 for share, text in printed.items()
    ]
    found = p[np.all(fits, axis=0)]
    assert (found.min().round(4), found.max().round(4)) == (0.2981, 0.2992)


def test_what_rounds_to_the_inputs_of_section_7_2_allows_the_printed_fraction():
    low, high = 0.035 / 0.295, 0.045 / 0.285
    assert (round(low, 3), round(high, 3)) == (0.119, 0.158)
    assert low < 0.125


def test_the_example_is_what_section_4_2_says_of_figure_4():
    rows = [line.split() for line in FIGURE_4.strip().splitlines()]
    columns = list(zip(*rows, strict=True))
    assert (len(rows), len(columns)) == (4, 8)
    assert [doc for doc, labels in enumerate(columns, 1) if labels[2] == "Key"] == [2]
    assert not any("Key" in labels and "Non" in labels for labels in columns)
    assert sorted(rows[2]).count("HRel") == 4
    assert sum("Key" in labels for labels in columns if labels[2] == "HRel") == 2
    assert sum("Key" in labels for labels in columns if labels[2] == "Rel") == 1
    assert "Non" not in rows[2]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_the_page_of_a_paper_shows_what_is_computed(paper):
    page = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
    for table in papers.tables_of(paper):
        assert f"### {table.name}\n" in page
        after = page.partition(f"### {table.name}\n")[2].partition("\n#")[0]
        for cell in table.printed:
            checked = check_cell(table, cell)
            shown = f"| {cell} | {checked.printed} | "
            assert shown + ("" if checked.ours is None else f"{checked.shown} |") in after


def test_full_size_is_computed_where_it_is_asked_for():
    def sized(**more: object) -> Table:
        quick, slow = (lambda _: 0.4), (lambda _: 0.5)
        return Table(paper="p", where="Table 1", title="t", compute=quick, at_full=slow, printed={"c": "0.5"}, **more)

    assert [check_cell(sized(), "c", full=full).ours for full in (False, True)] == [0.4, 0.5]
    assert [each.holds for each in check([one("0.5", 0.5)], full=True)] == [True]
    skipped = check_cell(sized(only_full=True), "c")
    assert (skipped.ours, skipped.holds, skipped.failed) == (None, None, False)
    assert "--full" in (skipped.skipped or "")
    assert check_cell(sized(only_full=True), "c", full=True).holds


def test_statements_on_generated_collections_can_fail(monkeypatch):
    """Each statement of Figures 4 to 6 says no to values of which it does not hold."""
    size = perceived_batches.REDUCED
    sigma = np.linspace(0.01, 0.29, 12)
    monkeypatch.setattr(perceived_batches, "sigmas", lambda *_: sigma)

    def given(values: object) -> None:
        for module in (perceived_batches, chu2021_figures):
            monkeypatch.setattr(module, "values", values)

    given(lambda _, grades, *__: 4 + sigma + 0.01 * grades)
    assert not chu2021_figures.falls_with_grades("individual, noise per assessor", size)
    assert chu2021_figures.falls_with_quality("individual, noise per assessor", size)
    given(lambda _, grades, *__: 4 - sigma - 0.01 * grades)
    assert chu2021_figures.falls_with_grades("individual, noise per assessor", size)
    assert not chu2021_figures.falls_with_quality("individual, noise per assessor", size)
    assert not chu2021_figures.aggregate_is_lower("aggregate, noise per assessor", size)
    given(lambda name, *_: sigma[::-1] if name == "Phi" else np.sin(40 * sigma))
    assert not chu2021_figures.follows_most_closely("Phi, noise per assessor", size)
    assert not chu2021_figures.with_grades("aggregate: more, noise per assessor", size)
    drawn = np.array([[1.0, 2.0, 3.0]] * 8 + [[2.0, 1.0, 3.0]] * 2)
    monkeypatch.setattr(chu2021_figures, "chosen_pdp", lambda *_: drawn)
    assert not chu2021_figures.right_order("individual, 40 tests, 4 grades", size)
    assert not chu2021_figures.steadier("4 grades", size)
    assert not chu2021_figures.steadier_with_more("individual, 4 grades", size)


def test_tests_are_drawn_evenly_over_pairs_of_grades():
    cell = np.repeat([3, 1, 7], [50, 2, 8])
    times = perceived_batches._drawn(cell, 40, np.random.default_rng(0))
    assert [times[cell == each].sum() for each in (1, 3, 7)] == [40, 40, 40]
    assert times[cell == 3].max() < 10

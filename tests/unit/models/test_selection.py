from __future__ import annotations

import numpy as np
import pytest

from long_rows import double, judgments_of
from venire import PairsError, PredictedRelevance
from venire.models.selection import mantel_haenszel, refuse_selected


def single(*labels: tuple[object, int], who: str = "A", topic: int = 0):
    """Rows of items that one assessor judged alone: (label, how many)."""
    return [(topic, f"{who}{label}-{n}", who, label) for label, count in labels for n in range(count)]


def rows_of(judgments):
    return [tuple(map(str, row)) for row in judgments.to_polars().select("topic", "doc", "assessor", "label").rows()]


def test_second_judgments_above_the_lowest_label_only():
    labels = judgments_of(rows_of(double((2, 2, 20), (2, 1, 20), (1, 0, 20))) + single((0, 60)))
    with pytest.raises(
        PairsError, match="judged twice in 100% of the labels above '0' but in 25% of those at it"
    ) as error:
        refuse_selected(labels)
    assert "one-sided" in error.value.hint


def test_second_judgments_of_lists_with_top_labels():
    labels = judgments_of(rows_of(double((2, 2, 15), (2, 0, 15), (0, 0, 60))) + single((0, 60), (1, 60)))
    with pytest.raises(
        PairsError, match="judged twice in 100% of the labels that are '2' but in 53% of those below it"
    ):
        refuse_selected(labels)


def test_one_who_never_gives_the_lowest_label_to_items_to_which_others_do():
    with pytest.raises(PairsError, match="'A' gave '0' to none of 40 items judged twice, the others to 50% of them"):
        refuse_selected(double((2, 1, 20), (1, 0, 20)))


def test_one_who_judged_a_topic_without_lowest_labels_is_not_suspected():
    of_c = [(9, f"c{n}", who, 1 + n % 2) for n in range(40) for who in "CB"]
    refuse_selected(judgments_of(rows_of(double((2, 2, 20), (0, 0, 40), (1, 1, 5), topics=3)) + of_c))


def test_assessors_who_took_turns_to_choose():
    labels = double((2, 1, 40), (1, 0, 60), (0, 1, 60), (1, 2, 40))
    with pytest.raises(PairsError, match="of 200 items judged twice 0% have the label '0' by both"):
        refuse_selected(labels)


@pytest.mark.parametrize(
    "labels",
    [
        double((2, 2, 20), (0, 0, 60), (1, 0, 20), (0, 1, 20)),
        double((2, 1, 40), (1, 0, 60), (0, 0, 5)),
        double((2, 1, 3), (1, 0, 6)),
        double((2, 1, 60), (1, 1, 60), (1, 2, 60)),
    ],
    ids=["usual", "lenient and strict", "too few to tell", "no lowest label at all"],
)
def test_what_is_honest_or_cannot_be_told_is_let_through(labels):
    refuse_selected(labels)


def test_only_named_assessors_are_looked_at():
    honest = rows_of(double((2, 2, 30), (0, 0, 30), (1, 0, 20), (0, 1, 20)))
    third = [(topic, doc, "C", "1") for topic, doc, who, label in honest if who == "A" and label != "0"]
    labels = judgments_of([*honest, *third])
    refuse_selected(labels, observed=["A"], reference=["B"])
    with pytest.raises(PairsError):
        refuse_selected(labels, observed=["A"], reference=["C"])
    with pytest.raises(PairsError):
        refuse_selected(labels, observed="A", reference=["C"])


def test_two_on_one_side_are_no_double_judgment():
    # A and B judged everything; C, the other side, only what A found relevant.
    base = [(0, f"d{n}", who, 2 * (n < 40)) for n in range(100) for who in "AB"]
    labels = judgments_of(base + [(0, f"d{n}", "C", n % 3) for n in range(40)])
    with pytest.raises(PairsError, match="100% of the labels above"):
        refuse_selected(labels, observed=["A", "B"], reference=["C"])


def test_a_label_for_another_intent_is_no_second_judgment():
    rows = [(1, f"d{n}", "A", 2 if n < 40 else 0, "1") for n in range(100)]
    rows += [(1, f"d{n}", "B", 1, "2") for n in range(40)]
    rows += [(1, f"d{n}", "B", 2 if n < 40 else 0, "1") for n in range(0, 100, 5)]
    refuse_selected(judgments_of(rows))


def test_without_an_order_no_label_is_the_lowest():
    refuse_selected(double(("a", "b", 40), ("b", "c", 40), scale="c|a|b"))


def test_a_fit_refuses_and_can_be_told_otherwise():
    labels = double((2, 1, 40), (1, 0, 40))
    with pytest.raises(PairsError, match="seem to have chosen the items"):
        PredictedRelevance().fit(labels)
    one_sided = PredictedRelevance(observed=["A"]).fit(labels)
    assert one_sided.pairs[0].tolist() == [0, 40, 40]
    assert PredictedRelevance(estimator="labels").fit(labels).pairs[0].tolist() == [40, 80, 40]


def test_a_common_odds_ratio_over_strata():
    # Mantel and Haenszel's estimate and statistic, written out.
    tables = np.array([[10, 5, 4, 12], [8, 2, 9, 20], [0, 0, 3, 4]], dtype=float)
    a, b, c, d = tables.T
    n = tables.sum(axis=1)
    odds, chance = mantel_haenszel(a, b, c, d)
    assert odds == pytest.approx((a * d / n).sum() / (b * c / n).sum())
    assert 1e-4 < chance < 1e-2
    swapped, other = mantel_haenszel(c, d, a, b)
    assert swapped == pytest.approx(1 / odds)
    assert other > 0.99


def test_one_table_is_tested_as_elsewhere():
    from scipy.stats import norm
    from scipy.stats.contingency import odds_ratio

    a, b, c, d = 30.0, 10.0, 20.0, 40.0
    odds, chance = mantel_haenszel(*(np.array([each]) for each in (a, b, c, d)))
    assert odds == pytest.approx(odds_ratio([[30, 10], [20, 40]], kind="sample").statistic)
    n = a + b + c + d
    z = (a - (a + b) * (a + c) / n - 0.5) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d) / (n**2 * (n - 1)))
    assert chance == pytest.approx(norm.sf(z))


@pytest.mark.parametrize("table", [(0, 0, 3, 4), (5, 0, 5, 0), (0, 0, 0, 0)])
def test_tables_that_say_nothing(table):
    assert mantel_haenszel(*(np.array([float(each)]) for each in table)) == (1.0, 1.0)

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from long_rows import double, judgments_of
from venire import PredictedRelevance
from venire.disagreement.selection import common_odds, find_selection
from venire.errors import PairsError, SelectionWarning


def single(*labels: tuple[object, int], who: str = "A", topic: int = 0):
    """Rows of items that one assessor judged alone: (label, how many)."""
    return [(topic, f"{who}{label}-{n}", who, label) for label, count in labels for n in range(count)]


def rows_of(judgments):
    return [tuple(map(str, row)) for row in judgments.to_polars().select("topic", "doc", "assessor", "label").rows()]


def above_the_lowest(n_topics=6, contaminated=0, others="B"):
    """A judges all, others what A finds relevant, and some of the rest; a third of what others find differs."""
    rows = []
    for topic in range(n_topics):
        for n in range(40):
            label = (n % 4 > 1) + (n % 4 > 2)
            rows.append((topic, f"d{n}", "A", label))
            if label or n < 4 * contaminated:
                rows += [(topic, f"d{n}", who, label if (n + m) % 3 else 2 - label) for m, who in enumerate(others)]
    return judgments_of(rows)


def first_rows(judgments, found):
    return set(np.array(judgments.assessor.names)[judgments.assessor.codes[found.first]].tolist())


@pytest.mark.parametrize("others", ["B", "BC"])
@pytest.mark.parametrize("contaminated", [0, 1])
def test_second_judgments_mostly_above_the_lowest_label(contaminated, others):
    labels = above_the_lowest(contaminated=contaminated, others=others)
    found = find_selection(labels)
    assert found is not None
    assert "ranks are unknown without runs" in found.reason
    assert not found.severe
    assert first_rows(labels, found) == {"A"}


def test_what_is_chosen_by_rank_is_chosen_by_label_only_without_runs():
    rows, rank = [], {}
    for topic in range(30):
        for n in range(20):
            label = (7 * n + topic) % 3 if n < 10 else (7 * n + topic) % 5 == 0
            rank[str(topic), f"d{n}"] = n + 1
            rows += [(topic, f"d{n}", who, int(label)) for who in ("AB" if n < 10 else "A")]
    labels = judgments_of(rows)
    places = [rank[labels.topics[t], doc] for t, doc in zip(labels.items.topic, labels.items.doc, strict=True)]
    assert find_selection(labels) is not None
    assert find_selection(labels, rank=np.array(places)) is None


def test_a_choice_by_label_given_rank_is_severe():
    labels = above_the_lowest(n_topics=30, contaminated=1)
    rank = np.array([int(doc[1:]) // 4 for doc in labels.items.doc])
    assert find_selection(labels, rank=rank).severe


def test_one_who_hardly_ever_gives_the_lowest_label_to_items_to_which_others_do():
    labels = double((2, 1, 50), (1, 0, 49), (0, 0, 1))
    found = find_selection(labels)
    assert "'A' gave '0' to 1.0% of 100 items judged twice, the others to 50% of them" in found.reason
    assert first_rows(labels, found) == {"A"}


def test_one_who_judged_a_topic_without_lowest_labels_is_not_suspected():
    of_c = [(9, f"c{n}", who, 1 + n % 2) for n in range(40) for who in "CB"]
    labels = judgments_of(rows_of(double((2, 2, 20), (0, 0, 40), (1, 1, 5), topics=3)) + of_c)
    assert find_selection(labels) is None


def test_assessors_who_took_turns_to_choose():
    found = find_selection(double((2, 1, 40), (1, 0, 60), (0, 1, 60), (1, 2, 40)))
    assert "of 200 items judged twice 0% have the label '0' by both" in found.reason
    assert found.severe
    assert found.first is None


def test_further_labels_where_the_first_ones_differ():
    rows = []
    for topic in range(6):
        for n in range(30):
            pair = (n % 3, n % 3 if n % 2 else (n + 1) % 3)
            rows += [(topic, f"d{n}", who, label) for who, label in zip("AB", pair, strict=True)]
            rows += [] if pair[0] == pair[1] else [(topic, f"d{n}", "C", pair[0])]
    labels = judgments_of(rows)
    found = find_selection(labels)
    assert "further labels seem to depend on disagreement" in found.reason
    with pytest.warns(SelectionWarning):
        assert PredictedRelevance().fit(labels).setting.estimator == "labels"


@pytest.mark.parametrize(
    "labels",
    [
        double((2, 2, 20), (0, 0, 60), (1, 0, 20), (0, 1, 20)),
        double((2, 1, 40), (1, 0, 60), (0, 0, 15)),
        double((2, 1, 3), (1, 0, 6)),
        double((2, 1, 60), (1, 1, 60), (1, 2, 60)),
    ],
    ids=["usual", "lenient and strict", "too few to tell", "no lowest label at all"],
)
def test_what_is_honest_or_cannot_be_told_is_let_through(labels):
    assert find_selection(labels) is None


def test_only_named_assessors_are_looked_at():
    honest = rows_of(double((2, 2, 30), (0, 0, 30), (1, 0, 20), (0, 1, 20)))
    third = [(topic, doc, "C", "1") for topic, doc, who, label in honest if who == "A" and label != "0"]
    labels = judgments_of([*honest, *third])
    assert find_selection(labels, observed=["A"], reference=["B"]) is None
    assert find_selection(labels, observed=["A"], reference=["C"]) is not None
    assert find_selection(labels, observed="A", reference=["C"]) is not None


def test_two_on_one_side_are_no_double_judgment():
    # A and B judged everything; C, the other side, only what A found relevant.
    base = [(0, f"d{n}", who, 2 * (n < 40)) for n in range(100) for who in "AB"]
    labels = judgments_of(base + [(0, f"d{n}", "C", n % 3) for n in range(40)])
    assert find_selection(labels, observed=["A", "B"], reference=["C"]) is not None


def test_a_label_for_another_intent_is_no_second_judgment():
    rows = [(1, f"d{n}", "A", 2 if n < 40 else 0, "1") for n in range(100)]
    rows += [(1, f"d{n}", "B", 1, "2") for n in range(40)]
    rows += [(1, f"d{n}", "B", 2 if n < 40 else 0, "1") for n in range(0, 100, 5)]
    assert find_selection(judgments_of(rows)) is None


def test_without_an_order_no_label_is_the_lowest():
    assert find_selection(double(("a", "b", 40), ("b", "c", 40), scale="c|a|b")) is None


def test_a_fit_is_one_sided_from_the_first_label():
    labels = above_the_lowest(contaminated=1)
    with pytest.warns(SelectionWarning, match="one-sided, from the first label.*assessors who judged items alone"):
        found = PredictedRelevance().fit(labels)
    stated = PredictedRelevance(observed=["A"]).fit(labels)
    assert found.setting.estimator == "one-sided"
    np.testing.assert_array_equal(found.by_topic, stated.by_topic)


def test_each_topic_may_have_a_first_assessor_of_its_own():
    swap = {"A": "B", "B": "A"}
    rows = rows_of(above_the_lowest(contaminated=1))
    mixed = judgments_of([(t, d, swap[who] if int(t) % 2 else who, label) for t, d, who, label in rows])
    plain = judgments_of(rows)
    with pytest.warns(SelectionWarning):
        found, stated = (PredictedRelevance().fit(each) for each in (mixed, plain))
    np.testing.assert_array_equal(found.by_topic, stated.by_topic)


def test_times_tell_which_label_was_first():
    """Two assessors take turns to be first, and both judge items alone."""
    swap = {"A": "B", "B": "A"}
    rows = rows_of(above_the_lowest(n_topics=8, contaminated=1))
    order = [0.0 if who == "A" else 1.0 for _, _, who, _ in rows]
    mixed = [(t, d, swap[who] if int(d[1:]) % 2 else who, label) for t, d, who, label in rows]
    labels = judgments_of(mixed)
    time = {(t, d, who): at for (t, d, who, _), at in zip(mixed, order, strict=True)}
    at = np.array([time[row[:3]] for row in rows_of(labels)])
    with pytest.warns(SelectionWarning, match="the earliest label of an item is the first"):
        found = PredictedRelevance().fit(replace(labels, time=at))
    stated = PredictedRelevance(observed=["A"]).fit(judgments_of(rows))
    np.testing.assert_array_equal(found.by_topic, stated.by_topic)
    with pytest.warns(SelectionWarning, match="if that was not by rank"):
        assert PredictedRelevance().fit(labels).setting.estimator == "paired"
    with pytest.raises(PairsError, match="paired would be biased"):
        PredictedRelevance().fit(labels, rank=np.zeros(len(labels.items), dtype=np.int64))


def test_what_was_asked_for_is_not_changed():
    labels = double((2, 1, 40), (1, 0, 40))
    with pytest.raises(PairsError, match="paired would be biased") as error:
        PredictedRelevance(estimator="paired").fit(labels)
    assert "name the observed assessor" in error.value.hint
    assert PredictedRelevance(observed=["A"]).fit(labels).pairs[0].tolist() == [0, 40, 40]
    with pytest.warns(SelectionWarning):
        assert PredictedRelevance(estimator="labels").fit(labels).pairs[0].tolist() == [40, 80, 40]


def test_a_common_odds_ratio_over_strata():
    # Mantel and Haenszel's estimate, written out.
    tables = np.array([[10, 5, 4, 12], [8, 2, 9, 20], [0, 0, 3, 4]], dtype=float)
    a, b, c, d = tables.T
    n = tables.sum(axis=1)
    odds = common_odds(a, b, c, d)
    assert odds == pytest.approx((a * d / n).sum() / (b * c / n).sum())
    assert common_odds(c, d, a, b) == pytest.approx(1 / odds)


@pytest.mark.parametrize("table", [(0, 0, 3, 4), (5, 0, 5, 0), (0, 0, 0, 0)])
def test_tables_that_say_nothing(table):
    assert common_odds(*(np.array([float(each)]) for each in table)) == 1.0

from __future__ import annotations

import numpy as np
import pytest

from long_rows import double, judgments_of
from venire import read_grid
from venire.data.label_pairs import pair_up
from venire.errors import AmbiguousLabels, PairsError, UnknownName

TOP = np.array([[False, False, True]])
THREE = read_grid("""
    2 1 0
    1 1 .
    0 2 .""")


def counts(judgments, **setting) -> list[list[float]]:
    return pair_up(judgments, **setting).sums(TOP).by_topic.sum(axis=0).tolist()


def test_without_a_word_two_assessors_are_paired():
    assert pair_up(double((2, 1, 3))).estimator == "paired"


def test_without_a_word_items_with_more_labels_are_counted_whole():
    assert pair_up(THREE).estimator == "labels"


def test_without_a_word_named_assessors_make_it_one_sided():
    assert pair_up(THREE, observed=["U1"]).estimator == "one-sided"


def test_one_name_need_not_stand_in_a_list():
    assert counts(THREE, observed="U1") == counts(THREE, observed=["U1"])


def test_a_side_left_open_means_all_others():
    assert counts(THREE, observed=["U1"]) == [[0, 0, 0], [0, 1, 1], [1, 1, 0]]
    assert counts(THREE, reference=["U1"]) == np.transpose(counts(THREE, observed=["U1"])).tolist()


def test_paired_counts_named_sides_both_ways():
    one_way = np.array(counts(THREE, observed=["U1"], reference=["U2"]))
    assert counts(THREE, estimator="paired", observed=["U1"], reference=["U2"]) == (one_way + one_way.T).tolist()


def test_groups_that_are_both_sides_count_each_ordered_pair_once():
    both = {"observed": ["U1", "U2"], "reference": ["U1", "U2"]}
    assert counts(THREE, estimator="paired", **both) == counts(THREE.where(assessor=["U1", "U2"]))
    assert counts(THREE, estimator="one-sided", **both) == counts(THREE.where(assessor=["U1", "U2"]))


def test_nobody_is_paired_with_themselves():
    twice = judgments_of([("1", "a", "A", "2"), ("1", "a", "A", "0"), ("1", "b", "A", "2"), ("1", "b", "B", "1")])
    assert counts(twice) == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_each_of_an_assessors_labels_is_paired_with_those_of_others():
    twice = judgments_of([("1", "a", "A", "2"), ("1", "a", "A", "0"), ("1", "a", "B", "1")])
    assert counts(twice) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("name", ["intent", "given"])
def test_intents_and_documents_read_before_make_items_of_their_own(name):
    rows = [("1", "a", "A", "2", "x"), ("1", "a", "B", "1", "y"), ("1", "b", "A", "2", "x"), ("1", "b", "B", "0", "x")]
    rows += [("1", "x", "A", "0", ""), ("1", "y", "A", "0", "")]
    assert counts(judgments_of(rows, fifth=name)) == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize("name", ["aspect", "unit", "task"])
def test_labels_for_different_questions_are_not_paired(name):
    rows = [("1", "a", "A", "2", "x"), ("1", "a", "B", "1", "y")]
    with pytest.raises(AmbiguousLabels, match=rf"2 different values of {name} \('x', 'y'\)") as error:
        pair_up(judgments_of(rows, fifth=name))
    assert error.value.ways[0].settings == {"where": f"{name}=y"}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"estimator": "one-sided"}, "need to know whose label is observed"),
        ({"estimator": "labels", "observed": ["U1"]}, "none is observed or a reference"),
        ({"estimator": "paired"}, "an item was judged by 3 assessors"),
        ({"observed": ["U1"], "reference": ["U1"]}, "'U1' is both observed and the reference"),
        ({"estimator": "paired", "observed": ["U2"], "reference": ["U2"]}, "nobody is paired with themselves"),
        ({"observed": ["U1", "U2", "U3"]}, "none on the other"),
    ],
)
def test_what_cannot_be_paired_is_refused_with_a_way_out(setting, words):
    with pytest.raises(PairsError, match=words) as error:
        pair_up(THREE, **setting)
    assert error.value.hint


@pytest.mark.parametrize("setting", [{"observed": ["U9"]}, {"estimator": "pared"}, {"weight": "topic"}])
def test_unknown_names_are_refused(setting):
    with pytest.raises(UnknownName, match="there is no"):
        pair_up(THREE, **setting)


def test_no_label_at_all_is_refused():
    nothing = THREE.take(np.zeros(len(THREE), dtype=np.bool_))
    with pytest.raises(PairsError, match="no label to pair"):
        pair_up(nothing)

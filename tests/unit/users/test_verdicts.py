"""What users say of two lists, and the scores of these lists, with the lines of what is wrong."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from venire import FormatError, evaluate
from venire.data.preferences import Preferences
from venire.errors import MissingTopicsWarning, SettingError
from venire.io.preferences import read_preferences
from venire.users.verdicts import score_differences, summarise_preferences, user_verdicts

QRELS = {"1": {"a": 2, "b": 0}, "2": {"a": 0, "b": 1}}
RUNS = {
    "x": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}},
    "y": {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0, "a": 1.0}},
}
LINES = "topic\tleft\tright\tassessor\tstrength\n"


def chosen(*strengths: float, topic: str = "1") -> list[tuple[object, ...]]:
    return [(topic, "x", "y", strength, f"u{n}") for n, strength in enumerate(strengths)]


@pytest.mark.parametrize(
    ("strengths", "weak", "strong", "split"),
    [
        ((2, 1, -1), 1, 0, [False, False]),
        ((2, 3, -1, 0), 1, 0, [False, True]),
        ((1, -1), 0, 0, [True, False]),
        ((-2, -2, 2), -1, -1, [False, False]),
        ((0, 0, 1), 0, 0, [False, False]),
        ((2, 2, 0, 0), 0, 0, [True, True]),
    ],
)
def test_the_mode_of_directions(strengths: tuple[float, ...], weak: int, strong: int, split: list[bool]) -> None:
    found = user_verdicts(Preferences.of(chosen(*strengths, topic="1") + chosen(3, topic="0")))
    assert found.directions[:, 1].tolist() == [weak, strong]
    assert found.split[:, 1].tolist() == split
    assert found.n_assessors.tolist() == [1, len(strengths)]


def test_rows_the_other_way_round_are_turned_as_the_first() -> None:
    rows = [("1", "y", "x", 2, "a"), ("1", "x", "y", -3, "b"), ("1", "x", "y", 2, "c")]
    found = user_verdicts(Preferences.of(rows))
    assert (found.table.docs[int(found.table.left[0])], found.directions.tolist()) == ("y", [[1], [1]])


def test_an_assessor_counts_once() -> None:
    rows = [("1", "x", "y", s, who) for s, who in ((2, "a"), (2, "a"), (2, "a"), (-2, "b"), (-2, "c"))]
    assert user_verdicts(Preferences.of(rows)).directions.tolist() == [[-1], [-1]]


def test_what_is_slight_can_be_set() -> None:
    table = Preferences.of(chosen(2, 2, 2))
    assert user_verdicts(table, slight=2).directions.tolist() == [[1], [0]]
    assert user_verdicts(table, slight=2).notes[0].kind == "all-slight"
    unit = user_verdicts(Preferences.of(chosen(1, 1, 0.5)))
    assert (unit.slight, unit.directions.tolist()) == (0, [[1], [1]])
    assert [note.kind for note in (*unit.notes, *user_verdicts(table, slight=0).notes)] == ["none-slight"] * 2
    with pytest.raises(SettingError, match="slight is -1"):
        user_verdicts(table, slight=-1)
    with pytest.raises(SettingError, match="no preferences"):
        user_verdicts(Preferences.of([]))


def test_records_and_a_sentence() -> None:
    found = user_verdicts(Preferences.of(chosen(2, 2, -1) + chosen(1, -1, topic="2")))
    weak, strong = found.records()
    assert (weak["left"], weak["ties"], weak["right"], weak["modal_ties"]) == (1, 1, 0, 1)
    assert strong["share_of_ties"] == 0.5
    assert "weak preference in 50%" in found.sentence()


def scored(preferences: Preferences, missing: str = "error", runs: object = RUNS) -> tuple[object, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingTopicsWarning)
        scores = evaluate(QRELS, runs, ["nDCG@5", "P@1"], missing="skip")
    return score_differences(scores, user_verdicts(preferences), missing=missing)


def test_differences_are_left_less_right() -> None:
    table = Preferences.of([("1", "x", "y", 2), ("2", "y", "x", 2)])
    difference, verdicts = scored(table)
    np.testing.assert_allclose(difference[1], [1.0, 1.0])
    assert (difference[0] > 0).all()
    assert len(verdicts) == 2


def test_differences_that_only_rounding_parts_are_equal() -> None:
    from venire.measures.scores import Scores

    values = np.array([[[0.3], [0.7]], [[0.2], [0.6]]])
    scores = Scores(
        values, ("system", "topic", "measure"), {"system": ("x", "y"), "topic": ("1", "2"), "measure": ("m",)}
    )
    difference, _ = score_differences(scores, user_verdicts(Preferences.of([("1", "x", "y", 1), ("2", "x", "y", 1)])))
    assert difference[0, 0] == difference[0, 1]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("1\tz\ty\tu\t2", "there is no result list 'z' in the runs", "there are 'x', 'y'"),
        ("1\tx\tyy\tu\t2", "there is no result list 'yy' in the runs", "'y'"),
        ("9\tx\ty\tu\t2", "topic '9' has a preference and no judged documents", "missing 'skip'"),
    ],
)
def test_what_is_not_there_is_told_with_its_line(tmp_path: Path, line: str, message: str, hint: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(f"{LINES}2\tx\ty\tu\t1\n1\ty\tx\tv\t1\n{line}\n")
    with pytest.raises(FormatError, match=f"p.tsv:4: {message}") as error:
        scored(read_preferences(path))
    assert hint in str(error.value.hint)
    difference, verdicts = scored(read_preferences(path), missing="skip")
    assert difference.shape == (2, 2)
    assert (verdicts.notes[-1].kind, verdicts.notes[-1].fields["n"]) == ("unscored-cases", 1)


def test_a_topic_without_a_list_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(f"{LINES}1\tx\ty\tu\t1\n2\tx\ty\tu\t1\n")
    runs = {"x": RUNS["x"], "y": {"1": RUNS["y"]["1"]}}
    with pytest.raises(FormatError, match=r"p\.tsv:3: the runs of 'y' have no scored list for topic '2'"):
        scored(read_preferences(path), runs=runs)
    with pytest.raises(FormatError, match="preferences:2: the runs of 'y' have"):
        scored(Preferences.of([("1", "x", "y", 1), ("2", "y", "x", 1)]), runs=runs)


def test_nothing_scored_is_an_error() -> None:
    with pytest.raises(SettingError, match="none of the compared lists"):
        scored(Preferences.of([("9", "x", "y", 1)]), missing="skip")


def test_people_by_themselves() -> None:
    rows = [(str(t), "x", "y", s, u) for t in range(12) for s, u in ((2, "a"), (1 - 2 * (t % 3 == 0), "b"))]
    found = summarise_preferences(Preferences.of([*rows, ("0", "x", "y", 2, "a")]))
    weak, strong = found.records()
    assert weak["agreement"] == pytest.approx(8 / 12)
    assert strong["agreement"] == 0
    assert [each["kappa"] is not None for each in found.assessor_records()] == [True, True]
    assert found.position_record()["left"] == 21
    assert [(note.kind, note.fields["n"]) for note in found.notes] == [("repeated-choices", 1)]
    assert found.sentences()[0] == "25 choices (0 ties) on 12 pairs of 12 topics by 2 assessors."


def test_the_sogou_preferences(data_dir: Path) -> None:
    found = summarise_preferences(read_preferences(data_dir / "serp_prefs_clicks_sogou" / "serp_preferences.tsv"))
    weak, strong = found.records()
    assert len(found.preferences) == 1104
    assert (weak["left"], weak["ties"], weak["right"], weak["modal_ties"]) == (95, 66, 39, 25)
    assert (strong["left"], strong["ties"], strong["right"], strong["modal_ties"]) == (17, 178, 5, 34)
    assert weak["agreement"] == pytest.approx(0.4872, abs=1e-4)
    assert weak["alpha"] == pytest.approx(0.2217, abs=1e-4)
    assert strong["alpha"] == pytest.approx(0.0994, abs=1e-4)
    assert (
        len({each["a"] for each in found.assessor_records()} | {each["b"] for each in found.assessor_records()}) == 22
    )


def test_a_list_of_a_system_that_returned_nothing_has_no_score() -> None:
    runs = {**RUNS, "none": {"other": {"a": 1.0}}}
    table = Preferences.of([("1", "x", "y", 2), ("2", "y", "none", 2)])
    with pytest.raises(FormatError, match="the runs of 'none' have no scored list for topic '2'"):
        scored(table, runs=runs)
    assert scored(table, missing="skip", runs=runs)[0].shape == (2, 1)

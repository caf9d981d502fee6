"""Which pairs to ask about and how many: against the binomial and a slow count of what there is."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from venire import Judgments, read_judgments
from venire.data.preferences import Preferences
from venire.errors import PairsError, SettingError, UnknownName
from venire.io.preferences import read_preferences
from venire.planning.preferences import MODES, check_sample_size, middle_labels, pairs_to_ask, sample_size
from venire.simulation import PerceivedRelevance, generate_perceived


def test_the_corrected_equation_covers_what_it_promises() -> None:
    """With z squared 323 tests, which cover 95.5 %; as printed 165, which cover 83 % (p = .3, within .05)."""
    assert sample_size(0.3, within=0.05) == 323
    assert sample_size() == 385

    def covered(n: int) -> float:
        counts = np.arange(n + 1)
        return float(stats.binom.pmf(counts, n, 0.3)[np.abs(counts / n - 0.3) < 0.05].sum())

    assert covered(323) == pytest.approx(0.955, abs=1e-3)
    assert covered(165) == pytest.approx(0.83, abs=0.01)


@pytest.mark.parametrize(("p", "within", "confidence"), [(1.5, 0.1, 0.95), (0.5, 0.0, 0.95), (0.5, 0.1, 1.0)])
def test_sizes_of_nothing_are_refused(p: float, within: float, confidence: float) -> None:
    with pytest.raises(SettingError):
        sample_size(p, within=within, confidence=confidence)


def graded(seed: int = 0, *, n_topics: int = 15, most_docs: int = 14) -> Judgments:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, most_docs, size=n_topics)
    return read_judgments(
        {f"t{t}": {f"d{n}": int(rng.integers(3)) for n in range(size)} for t, size in enumerate(sizes)}
    )


def test_the_label_of_a_document_is_its_lower_median() -> None:
    rows = [
        ("t", doc, str(n), label)
        for doc, labels in {"a": [0, 2], "b": [0, 2, 2], "c": [1]}.items()
        for n, label in enumerate(labels)
    ]
    frame = pl.DataFrame(rows, ["topic", "doc", "assessor", "label"], orient="row")
    assert middle_labels(read_judgments(frame)).tolist() == [0, 2, 1]


@pytest.mark.parametrize("per", [1, 7, 40, 100_000])
def test_pairs_are_distinct_and_spread_evenly_over_topics(per: int) -> None:
    judgments = graded()
    asked = pairs_to_ask(judgments, per, rng=3)
    label = dict(
        zip(
            zip(*[judgments.to_polars()[name] for name in ("topic", "doc")], strict=True),
            judgments.label.tolist(),
            strict=True,
        )
    )
    room: dict[tuple[int, int], dict[str, int]] = {}
    for topic in judgments.topics:
        docs = [doc for name, doc in label if name == topic]
        for a, b in combinations(docs, 2):
            low, high = sorted((label[topic, a], label[topic, b]))
            if low != high:
                of = room.setdefault((low, high), {})
                of[topic] = of.get(topic, 0) + 1
    got: dict[tuple[int, int], dict[str, int]] = {}
    seen = set()
    for topic, left, right, label_left, label_right in asked.to_polars().rows():
        assert (label[topic, left], label[topic, right]) == (int(label_left), int(label_right))
        seen.add((topic, *sorted((left, right))))
        of = got.setdefault(tuple(sorted((int(label_left), int(label_right)))), {})
        of[topic] = of.get(topic, 0) + 1
    assert len(seen) == len(asked)
    assert set(got) == set(room)
    for key, by_topic in room.items():
        assert sum(got[key].values()) == min(per, sum(by_topic.values()))
        full = max(got[key].values())
        assert all(got[key].get(topic, 0) >= min(n, full - 1) for topic, n in by_topic.items())
    assert {key[:2] for key in asked.short} == {key for key, of in room.items() if sum(of.values()) < per}


def test_documents_take_turns_and_sides_are_drawn_by_lot() -> None:
    judgments = read_judgments({"t": {f"d{n}": int(n < 10) for n in range(20)}})
    asked = pairs_to_ask(judgments, 20).to_polars()
    for name in ("left", "right"):
        assert asked[name].n_unique() > 8
    counts = pl.concat([asked["left"], asked["right"]]).value_counts()["count"]
    assert counts.to_list() == [2] * 20
    many = pairs_to_ask(judgments, 100)
    assert 30 < int((many.label_left == 1).sum()) < 70


def test_the_same_seed_gives_the_same_pairs() -> None:
    one, again, other = (pairs_to_ask(graded(), 10, rng=rng) for rng in (1, 1, 2))
    assert one.to_polars().equals(again.to_polars())
    assert not one.to_polars().equals(other.to_polars())
    assert one.sentence().startswith("30 pairs of ")
    assert one.sentence().endswith(" topics to ask about, 10 for every two labels.")


def test_what_is_short_is_told() -> None:
    asked = pairs_to_ask(read_judgments({"t": {"d1": 0, "d2": 2, "d3": 2}}, scale="0<1<2"), 5)
    assert asked.short == ((0, 1, 0), (0, 2, 2), (1, 2, 0))
    assert asked.sentence().endswith("fewer are available for 0 against 1 (0), 0 against 2 (2), 1 against 2 (0).")


def test_too_many_labels_and_no_pairs_are_refused() -> None:
    with pytest.raises(SettingError, match="0 pairs for every two labels"):
        pairs_to_ask(graded(), 0)
    with pytest.raises(SettingError, match="the scale has 101 labels"):
        pairs_to_ask(read_judgments({"t": {f"d{label}": label for label in range(101)}}))


def preferring(p: float, *, n_topics: int = 60) -> tuple[Judgments, Preferences]:
    """Every pair of a lower and a higher document once; the higher is preferred with chance p."""
    rng = np.random.default_rng(5)
    judgments = read_judgments({f"t{t}": {f"d{n}": n % 2 for n in range(20)} for t in range(n_topics)})
    rows = [
        (f"t{t}", f"d{a}", f"d{b}", 1 if rng.random() < p else -1)
        for t in range(n_topics)
        for a in range(1, 20, 2)
        for b in range(0, 20, 2)
    ]
    return judgments, Preferences.of(rows)


@pytest.mark.parametrize("mode", ["individual", "aggregate"])
def test_independent_tests_are_as_far_off_as_the_equation_says(mode: str) -> None:
    judgments, preferences = preferring(0.7)
    check = check_sample_size(preferences, judgments, mode=mode, n_draws=2000)
    assert check.p == pytest.approx([0.7], abs=0.02)
    assert check.n_tests.tolist() == [6000]
    sd = np.sqrt(check.p * (1 - check.p) / np.array(check.sizes))
    assert check.error == pytest.approx(sd * np.sqrt(2 / np.pi), rel=0.06)
    assert check.error_95[2:] == pytest.approx(check.expected[2:], rel=0.1)
    assert check.enough(0.15) == 40
    assert check.enough(0.001) is None
    assert sample_size(float(check.p[0]), within=float(check.expected[2])) in (40, 41)
    assert "With 40 tests for every two labels" in check.sentence()
    assert check.records()[2]["per_label_pair"] == 40


def test_labels_of_many_assessors_make_a_test_count_for_each() -> None:
    """Three assessors who label alike: a test is three samples, but of one choice; draws vary as for one assessor."""
    one, preferences = preferring(0.7)
    frame = one.to_polars().drop("assessor")
    many = read_judgments(pl.concat([frame.with_columns(assessor=pl.lit(who)) for who in "xyz"]))
    first, second = (check_sample_size(preferences, each, n_draws=500) for each in (one, many))
    assert second.error == pytest.approx(first.error)
    assert second.p == pytest.approx(first.p)


def test_individual_mode_needs_fewer_tests_than_aggregate_mode() -> None:
    """A test counts for the labels of every assessor: Chu et al. (2021), Section 4.2.3."""
    made = generate_perceived(PerceivedRelevance(n_topics=60, docs_per_topic=8, n_assessors=3), rng=1)
    found = [check_sample_size(made.preferences, made.judgments, mode=mode, n_draws=60) for mode in MODES]
    individual, aggregate = (each.enough(0.1) for each in found)
    assert individual <= aggregate / 2
    assert found[0].by_equation(0.1) < found[1].by_equation(0.1)
    for each in found:
        assert each.error_95[3:] == pytest.approx(each.expected[3:], rel=0.25)


@pytest.mark.parametrize("won", [0, 1, 2])
def test_two_tests_that_agree_do_not_settle_the_matter(won: int) -> None:
    judgments = read_judgments({"t": {"a": 1, "b": 0, "c": 0}})
    tests = [("t", "a", doc, 1 if n < won else -1) for n, doc in enumerate("bc")]
    found = check_sample_size(Preferences.of(tests), judgments, n_draws=20)
    assert found.by_equation(0.1) == sample_size(0.5, within=0.1)
    assert found.enough(0.1) == 160


def test_medians_between_two_labels_are_split() -> None:
    frame = pl.DataFrame(
        {"topic": ["t"] * 4, "doc": ["a", "a", "b", "b"], "assessor": ["x", "y"] * 2, "label": [0, 1, 0, 2]}
    )
    check = check_sample_size(
        Preferences.of([("t", "a", "b", -1)]), read_judgments(frame), mode="aggregate", sizes=[5], n_draws=2
    )
    pairs = list(zip(check.lower.tolist(), check.higher.tolist(), check.p.tolist(), strict=True))
    assert pairs == [(0, 1, 0.0), (0, 2, 1.0), (1, 2, 1.0)]
    assert "have fewer tests" in check.sentence()


def test_settings_from_which_nothing_comes() -> None:
    judgments, preferences = preferring(0.7, n_topics=1)
    with pytest.raises(UnknownName):
        check_sample_size(preferences, judgments, mode="both")
    with pytest.raises(SettingError):
        check_sample_size(preferences, judgments, sizes=[0])
    with pytest.raises(PairsError, match="no test is between documents with different labels"):
        check_sample_size(Preferences.of([("t0", "d0", "d2", 1)]), judgments)


def test_real_tests_shrink_with_the_root_of_their_number(data_dir: Path) -> None:
    judgments = read_judgments(data_dir / "dl21_full" / "judges.tsv.gz").where(assessor="nist")
    preferences = read_preferences(data_dir / "dl21_full" / "prefs_crowd.txt.gz")
    check = check_sample_size(preferences, judgments, sizes=[20, 80, 320])
    assert check.n_tests.tolist() == [107, 15, 256]
    assert check.error[:-1] / check.error[1:] == pytest.approx([2, 2], rel=0.1)

"""Which pairs to ask about and how many: against the binomial and a slow count of what there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from venire import Judgments, SettingError, read_judgments
from venire.planning.preferences import middle_labels, pairs_to_ask, sample_size


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

"""Krippendorff's alpha: published values, distances, resampling, what is undefined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agreement_examples import K12, fleiss_1971
from labelled_items import labelled
from venire.agreement import patterns as kernel
from venire.agreement.alpha import alpha, alpha_values
from venire.agreement.distance import interval, nominal, ordinal, ratio
from venire.agreement.intervals import percentiles
from venire.agreement.patterns import label_patterns
from venire.data.scale import Scale
from venire.errors import AmbiguousLabels, PairsError, ScaleError, UnknownName
from venire.io import read_grid


@pytest.mark.parametrize(
    ("level", "value"),
    [
        ("nominal", 0.743421052631579),
        ("ordinal", 0.8153875037548814),
        ("interval", 0.8491071428571428),
        ("ratio", 0.7974027747116121),
    ],
)
def test_krippendorffs_example(level: str, value: float) -> None:
    found = alpha(read_grid(K12), level)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert (found.n_items, found.n_raters, found.level, found.raters) == (11, 4, level, "all")
    assert found.low < found.value <= found.high <= 1
    assert found.estimate().value == found.value


def test_fleiss_example() -> None:
    assert alpha(fleiss_1971(), "nominal").value == pytest.approx(0.4334098282820289, abs=1e-12)


def test_alpha_is_that_of_a_slow_loop_with_every_distance() -> None:
    rng = np.random.default_rng(4)
    items = [rng.integers(-1, 4, size=5).tolist() for _ in range(40)]
    judgments = labelled(items, scale="0<1<2<4")
    values = np.array([0.0, 1, 2, 4])
    for distance in (nominal, ordinal, interval, ratio):
        labels = [[label for label in item if label >= 0] for item in items]
        labels = [each for each in labels if len(each) > 1]
        n = np.bincount(np.concatenate(labels), minlength=4).astype(float)
        apart = distance(values, n)
        observed = sum(
            apart[a, b] / (len(each) - 1)
            for each in labels
            for i, a in enumerate(each)
            for j, b in enumerate(each)
            if i != j
        )
        expected = n @ apart @ n / (n.sum() - 1)
        assert alpha(judgments, distance.__name__, n_draws=0).value == pytest.approx(1 - observed / expected, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "ratio"])
def test_a_resample_of_items_is_those_items(level: str) -> None:
    """Weights of patterns give what the judgments of the drawn items give."""
    rng = np.random.default_rng(8)
    items = [rng.integers(-1, 3, size=4).tolist() for _ in range(30)]
    table = label_patterns(labelled(items))
    values = alpha_values(table, {"nominal": nominal, "ordinal": ordinal, "ratio": ratio}[level])
    for _ in range(5):
        drawn = rng.integers(30, size=30)
        which = table.pattern[drawn]
        weights = np.bincount(which[which >= 0], minlength=len(table.size)).astype(float)
        again = alpha(labelled([items[n] for n in drawn]), level, n_draws=0).value
        assert values(weights[None])[0] == pytest.approx(again, abs=1e-12)


def test_many_grades_are_kept_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    items = rng.integers(0, 60, size=(70, 4)).tolist()
    judgments = labelled(items, scale="<".join(map(str, range(60))))
    usual = [alpha(judgments, level, n_draws=50) for level in ("ordinal", "interval")]
    monkeypatch.setattr(kernel, "DENSE_CELLS", 64)
    assert not isinstance(label_patterns(judgments).table, np.ndarray)
    for each, level in zip(usual, ("ordinal", "interval"), strict=True):
        sparse = alpha(judgments, level, n_draws=50)
        np.testing.assert_allclose([sparse.value, sparse.low, sparse.high], [each.value, each.low, each.high])
    by_topic = alpha(labelled(items, scale="<".join(map(str, range(60))), n_topics=12), over="topics", n_draws=50)
    monkeypatch.undo()
    dense = alpha(labelled(items, scale="<".join(map(str, range(60))), n_topics=12), over="topics", n_draws=50)
    assert by_topic.value == pytest.approx(dense.value)


def test_mean_over_topics_counts_those_where_it_is_undefined() -> None:
    items = [[0, 1], [2, 2], [1, 1], [1, 1], [0, 0], [2, 1], [0, -1], [1, -1]]
    judgments = labelled(items, n_topics=4)  # the second topic knows one label, the fourth has no pairs
    found = alpha(judgments, "interval", over="topics")
    single = [alpha(judgments.where(topic=topic), "interval", n_draws=0).value for topic in ("t0000", "t0002")]
    assert found.value == pytest.approx(np.mean(single))
    assert (found.n_topics, found.n_undefined) == (2, 1)
    assert "mean over 2 topics, undefined for 1 topic" in found.meaning


def test_topics_are_drawn_where_there_are_ten_and_left_out_where_there_are_few() -> None:
    rng = np.random.default_rng(0)
    items = rng.integers(0, 3, size=(40, 3)).tolist()
    assert "over topics" in alpha(labelled(items, n_topics=10)).method
    few = alpha(labelled(items, n_topics=9))
    assert few.method == alpha(labelled(items, n_topics=9), resample="topics").method == "jackknife over 9 topics"
    assert few.low < few.value < few.high
    assert alpha(labelled(items, n_topics=9), n_draws=0).low is None
    assert "over items" in alpha(labelled(items, n_topics=1)).method
    assert "over items" in alpha(labelled(items, n_topics=10), resample="items").method
    assert alpha(labelled(items), rng=1) == alpha(labelled(items), rng=1)


def test_degenerate_input_says_why() -> None:
    same = alpha(read_grid("1 1 1\n1 1 1"))
    assert (same.value, same.low, same.high) == (None, None, None)
    assert "all labels that can be compared are the same" in same.reason
    assert same.sentence().startswith("krippendorff_alpha is undefined")
    alone = alpha(read_grid("1 0 ."), n_draws=10)
    assert (alone.value, alone.reason) == (None, "no item has labels by two assessors")
    with pytest.raises(PairsError, match="undefined"):
        alone.estimate()
    perfect = alpha(read_grid("1 0 1\n1 0 1"))
    assert (perfect.value, perfect.low, perfect.high) == (1.0, 1.0, 1.0)
    assert "no width" in perfect.reason
    one = alpha(read_grid("1\n0"))
    assert (one.value, one.low) == (0.0, None)
    assert "one item" in one.reason


def test_labels_that_one_assessor_repeats_are_refused() -> None:
    judgments = read_grid("1 0 1\n1 1 0")
    twice = replace(judgments, assessor=replace(judgments.assessor, codes=np.zeros(6, dtype=np.int32)))
    with pytest.raises(AmbiguousLabels, match="'U1' gave several labels for document 'd1' of topic '1'") as caught:
        alpha(twice)
    assert "anonymous()" in caught.value.hint
    assert alpha(twice.anonymous()).value == alpha(judgments).value


def test_wrong_settings_are_refused() -> None:
    grid = read_grid("1 0 1\n1 1 0")
    with pytest.raises(UnknownName, match="level"):
        alpha(grid, "ordnal")
    with pytest.raises(UnknownName, match="over"):
        alpha(grid, over="topic")
    with pytest.raises(UnknownName, match="resampling"):
        alpha(grid, resample="docs")
    with pytest.raises(ScaleError, match="no order"):
        alpha(read_grid("a b\na a", scale="a|b"), "ordinal")
    with pytest.raises(ScaleError, match="below zero"):
        alpha(read_grid("-1 0\n1 1", scale=Scale(("-1", "0", "1"))), "ratio")
    with pytest.raises(PairsError, match="no label"):
        alpha(grid.take(np.zeros(6, dtype=np.bool_)))


def test_labels_that_are_not_numbers_are_taken_by_their_places() -> None:
    words = read_grid("low mid high low\nlow high high mid", scale="low<mid<high : interval")
    assert alpha(words).value == alpha(read_grid("0 1 2 0\n0 2 2 1"), "interval").value


def test_percentiles_widen_for_few_units() -> None:
    drawn = np.linspace(0, 1, 2001)
    many, few = percentiles(drawn, 10_000), percentiles(drawn, 5)
    np.testing.assert_allclose(many, [0.025, 0.975], atol=1e-3)
    from scipy.stats import norm, t

    tail = norm.cdf(-t.ppf(0.975, 4) * np.sqrt(5 / 4))
    np.testing.assert_allclose(few, [tail, 1 - tail], atol=1e-3)
    assert np.isnan(percentiles(drawn, 1)).all()
    holes = np.column_stack([drawn, np.where(drawn < 0.5, np.nan, drawn), np.full(2001, np.nan)])
    low, high = percentiles(holes, np.array([10_000, 10_000, 10_000]))
    np.testing.assert_allclose(low[:2], [0.025, 0.5125], atol=1e-3)
    np.testing.assert_allclose(high[:2], [0.975, 0.9875], atol=1e-3)
    assert np.isnan([low[2], high[2]]).all()


def test_patterns_can_be_shared() -> None:
    table = label_patterns(read_grid(K12))
    assert kernel.label_patterns(table) is table
    assert alpha(table, "nominal") == alpha(read_grid(K12), "nominal")

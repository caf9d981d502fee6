"""Kappas of two and of many assessors: published values and other tools."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from agreement_examples import crowd, fleiss_1971, irrcac
from labelled_items import labelled
from venire import Judgments
from venire.agreement import cohen as cohen_module, intervals, overlap
from venire.agreement.cohen import cohen_kappa, pair_counts
from venire.agreement.distance import WEIGHTS
from venire.agreement.kappa import conger_kappa, fleiss_kappa, raw_agreement
from venire.agreement.overlap import jaccard
from venire.agreement.patterns import label_patterns
from venire.errors import ScaleError, UnknownName
from venire.io import read_grid

# Krippendorff's example as irrCAC ships it: the only label of the last item is by the third assessor.
K12_IRRCAC = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . .
    . 3 3 3 2 3 4 2 2 5 1 3
    1 2 3 3 2 4 4 1 2 5 1 ."""
WIKIPEDIA = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
SAS = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def of_counts(table: list[list[int]]) -> Judgments:
    """Each item's labels from a table (item, label)."""
    items = [np.repeat(np.arange(len(row)), row).tolist() for row in table]
    return labelled(items, scale="<".join(map(str, range(len(table[0])))))


def of_confusion(table: list[list[int]]) -> Judgments:
    """Two assessors' labels from a table (first, second)."""
    one, other = np.nonzero(np.array(table))
    times = np.array(table)[one, other]
    items = np.column_stack([np.repeat(one, times), np.repeat(other, times)])
    return labelled(items.tolist(), scale="<".join(map(str, range(len(table)))))


@pytest.mark.parametrize(
    ("weights", "fleiss", "conger"),
    [("nominal", 0.76117, 0.76282), ("linear", 0.81794, 0.81378), ("quadratic", 0.86494, 0.85771)],
)
def test_many_assessors_with_missing_labels(weights: str, fleiss: float, conger: float) -> None:
    grid = read_grid(K12_IRRCAC)
    assert fleiss_kappa(grid, weights).value == pytest.approx(fleiss, abs=5e-6)
    assert conger_kappa(grid, weights).value == pytest.approx(conger, abs=5e-6)


def test_who_gave_a_single_label_matters_to_conger_only() -> None:
    """With the label of the last item by the second assessor, irrCAC gives .762067."""
    moved = read_grid(K12_IRRCAC.replace("5 . .", "5 . 3").replace("1 3\n", "1 .\n"))
    assert conger_kappa(moved).value == pytest.approx(0.762066893651, abs=1e-11)
    assert fleiss_kappa(moved).value == fleiss_kappa(read_grid(K12_IRRCAC)).value


def test_fleiss_published() -> None:
    assert fleiss_kappa(fleiss_1971()).value == pytest.approx(0.43024452006014074, abs=1e-12)
    assert fleiss_kappa(of_counts(WIKIPEDIA)).value == pytest.approx(0.20993070442195522, abs=1e-12)
    assert fleiss_kappa(of_counts([[7, 1], [3, 5]])).value == pytest.approx(0.161905, abs=1e-6)
    assert fleiss_kappa(of_counts([[6, 1, 0], [0, 7, 0]])).value == pytest.approx(0.708333, abs=1e-6)
    same = fleiss_kappa(of_counts([[7, 0], [7, 0]]))
    assert same.value is None
    assert "the same" in same.reason


@pytest.mark.parametrize(("weights", "value"), [("nominal", 0.4842), ("linear", 0.4701)])
def test_cohen_as_sas_prints_it(weights: str, value: float) -> None:
    assert cohen_kappa(of_confusion(SAS), weights).pairs()[0].value == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("weights", "value"),
    [("nominal", 0.7964094021839719), ("linear", 0.8429020279920023), ("quadratic", 0.892156862745098)],
)
def test_cohen_of_two_abstractors(weights: str, value: float) -> None:
    found = cohen_kappa(of_confusion(ABSTRACTORS), weights)
    pair = found.pairs()[0]
    assert pair.value == pytest.approx(value, abs=1e-12)
    assert found.mean.value == pytest.approx(value, abs=1e-12)
    assert (pair.raters, found.mean.raters, pair.n_items, pair.n_raters) == ("1,2", "mean", 100, 2)
    if weights == "nominal":
        np.testing.assert_allclose([pair.low, pair.high], [0.67952, 0.9133], atol=0.03)


def test_conger_of_two_assessors_is_cohens() -> None:
    for weights in WEIGHTS:
        one, other = conger_kappa(of_confusion(SAS), weights), cohen_kappa(of_confusion(SAS), weights).mean
        assert one.value == pytest.approx(other.value, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_of_every_pair_is_scikit_learns(weights: str | None) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    judgments, labels = crowd()
    found = cohen_kappa(judgments, weights or "nominal", n_draws=10)
    theirs = {}
    for a, b in combinations(range(6), 2):
        both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
        theirs[f"{a + 1},{b + 1}"] = metrics.cohen_kappa_score(
            labels[both, a], labels[both, b], labels=range(4), weights=weights
        )
    assert {pair.raters: pair.value for pair in found.pairs()} == pytest.approx(theirs, abs=1e-12)
    assert found.mean.value == pytest.approx(np.mean(list(theirs.values())), abs=1e-12)


def test_nltks_weighted_kappa_agrees_without_max_distance_only() -> None:
    agreement = pytest.importorskip("nltk.metrics.agreement")
    labels = [(0, 0), (1, 2), (2, 2), (0, 1), (1, 1), (2, 0)]
    data = [(who, str(item), label) for item, pair in enumerate(labels) for who, label in zip("ab", pair, strict=True)]
    theirs = agreement.AnnotationTask(data, distance=lambda one, other: abs(one - other))
    ours = cohen_kappa(labelled([list(pair) for pair in labels]), "linear", n_draws=0).mean.value
    assert theirs.weighted_kappa() == pytest.approx(ours, abs=1e-12)
    assert theirs.weighted_kappa(max_distance=2.0) != pytest.approx(ours, abs=0.1)


@pytest.mark.parametrize("weights", list(WEIGHTS))
@pytest.mark.parametrize("seed", range(3))
def test_many_assessors_as_in_irrcac(weights: str, seed: int) -> None:
    judgments, labels = crowd(seed)
    assert fleiss_kappa(judgments, weights).value == pytest.approx(irrcac(labels, weights, "fleiss"), abs=1e-10)
    assert conger_kappa(judgments, weights).value == pytest.approx(irrcac(labels, weights, "conger"), abs=1e-10)


def test_fleiss_is_statsmodels_where_items_have_equally_many_labels() -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    counts = np.random.default_rng(3).multinomial(5, [0.5, 0.3, 0.2], size=50)
    found = fleiss_kappa(of_counts(counts.tolist()))
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)


def test_items_are_drawn_in_groups_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments, _ = crowd(1, n_items=400)
    alone = [f(judgments, resample="items") for f in (conger_kappa, lambda *a, **k: cohen_kappa(*a, **k).mean)]
    monkeypatch.setattr(intervals, "MOST_GROUPS", 100)
    grouped = [f(judgments, resample="items") for f in (conger_kappa, lambda *a, **k: cohen_kappa(*a, **k).mean)]
    for one, other in zip(alone, grouped, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.25)


def test_blocks_of_pairs_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments, _ = crowd()
    whole = [cohen_kappa(judgments, "linear", over=over, n_draws=40) for over in ("items", "topics")]
    monkeypatch.setattr(cohen_module, "BLOCK_CELLS", 1)
    for one, over in zip(whole, ("items", "topics"), strict=True):
        other = cohen_kappa(judgments, "linear", over=over, n_draws=40)
        for name in ("value", "low", "high"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name))
        assert other.mean.value == pytest.approx(one.mean.value)
        assert other.mean.low == pytest.approx(one.mean.low)


def test_sparse_tables_of_pairs_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments, _ = crowd()
    usual = [cohen_kappa(judgments, "quadratic", over=over, n_draws=40) for over in ("items", "topics")]
    monkeypatch.setattr(cohen_module, "SPARSE", 0)
    for one, over in zip(usual, ("items", "topics"), strict=True):
        other = cohen_kappa(judgments, "quadratic", over=over, n_draws=40)
        np.testing.assert_allclose([other.value, other.low, other.high], [one.value, one.low, one.high])


def test_the_interval_is_around_the_mean_where_assessors_rarely_meet() -> None:
    rng = np.random.default_rng(5)
    labels = np.full((600, 60), -1)
    for row, quality in zip(labels, rng.integers(0, 3, 600), strict=True):
        row[rng.permutation(60)[:3]] = np.where(rng.random(3) < 0.6, quality, rng.integers(0, 3, 3))
    found = cohen_kappa(labelled(labels.tolist()), n_draws=200).mean
    assert found.low < found.value < found.high


def test_very_many_pairs_have_fewer_draws() -> None:
    assert cohen_module.fewer_draws(1000, 10, 5) == 1000
    assert cohen_module.fewer_draws(1000, 500_000, 5) == 195
    assert cohen_module.fewer_draws(1000, 50_000_000, 5) == cohen_module.LEAST_DRAWS
    assert cohen_module.fewer_draws(10, 50_000_000, 5) == 10


def test_means_over_topics() -> None:
    judgments, _ = crowd()
    topics = [judgments.where(topic=topic) for topic in judgments.topics]
    for statistic in (fleiss_kappa, conger_kappa, raw_agreement, lambda *a, **k: cohen_kappa(*a, **k).mean):
        single = [statistic(topic, n_draws=0).value for topic in topics]
        known = [value for value in single if value is not None]
        found = statistic(judgments, over="topics")
        assert found.value == pytest.approx(np.mean(known), abs=1e-12)
        assert (found.n_topics, found.n_undefined) == (len(known), len(single) - len(known))
        assert found.low < found.value < found.high
    by_pair = cohen_kappa(judgments, over="topics").pairs()[0]
    pair = [cohen_kappa(topic.where(assessor=["1", "2"]), n_draws=0).mean.value for topic in topics]
    assert by_pair.value == pytest.approx(np.mean([value for value in pair if value is not None]), abs=1e-12)


def test_jaccard_is_the_mean_of_pooled_overlaps() -> None:
    judgments, _ = crowd()
    expected = np.nanmean(overlap(judgments, relevant="all").pooled()["jaccard"], axis=1)
    found = jaccard(judgments)
    assert [each.level for each in found] == ["3", "2", "1"]
    np.testing.assert_allclose([each.value for each in found], expected)
    assert all(each.low < each.value < each.high for each in found)
    assert "sets of 1 or higher" in found[2].meaning
    none = jaccard(read_grid("0 1\n0 1", scale="0<1<2"))
    assert (none[0].value, none[0].reason) == (None, "no shared item is 2 for either assessor")


def test_raw_agreement() -> None:
    grid = read_grid("0 1 2 0\n0 2 0 .\n0 1 0 .", scale="0<1<2<3")
    assert raw_agreement(grid).value == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert raw_agreement(grid, "linear").value == pytest.approx((1 + 2 / 3 + 1 / 3) / 3)  # 3 was never given
    alone = raw_agreement(read_grid("0 1"))
    assert (alone.value, alone.reason) == (None, "no item has labels by two assessors")


def test_nobody_met_and_nothing_is_drawn() -> None:
    found = cohen_kappa(read_grid("0 .\n. 1"), over="topics", n_draws=0)
    assert found.mean.value is None


def test_pairs_who_never_disagree_on_anything_are_left_out_of_the_mean() -> None:
    found = cohen_kappa(read_grid("1 0 1 .\n1 0 0 1\n1 . . 1"))
    values = {pair.raters: pair.value for pair in found.pairs()}
    assert values["U2,U3"] is None
    assert values["U1,U3"] is None
    assert found.mean.value == values["U1,U2"]
    assert "the mean over 1 pair" in found.mean.meaning
    nobody = cohen_kappa(read_grid("1 0 .\n. . 1"))
    assert (nobody.pairs(), nobody.mean.value) == ([], None)


def test_counts_of_pairs_are_shared() -> None:
    judgments, _ = crowd()
    table = label_patterns(judgments)
    counts = pair_counts(judgments, table, intervals.Resampling())
    again = cohen_kappa(judgments, "linear", patterns=table, counts=counts)
    assert again.mean == cohen_kappa(judgments, "linear").mean


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(UnknownName, match="level"):
        fleiss_kappa(read_grid("1 0\n1 1"), "cubic")
    with pytest.raises(UnknownName, match="over"):
        cohen_kappa(read_grid("1 0\n1 1"), over="topic")
    with pytest.raises(ScaleError, match="no order"):
        conger_kappa(read_grid("a b\na a", scale="a|b"), "linear")


def test_names_with_braces() -> None:
    found = cohen_kappa(read_grid("1 0 1\n1 1 0", assessors=["{x}", "b{}"]))
    assert found.pairs()[0].meaning.startswith("b{} and {x} disagree")

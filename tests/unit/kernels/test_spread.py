from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, t

from venire.kernels.label_pairs import PairSums
from venire.kernels.shares import limits_over_topics, sd_of_draws, spread_of
from venire.randomness import topic_weights

RELEVANT = np.array([[False, True]])


def sums_of(items: list[tuple[int, list[list[int]]]], n_topics: int) -> PairSums:
    """Sum pairs up, item by item: (topic, pairs by first and second label)."""
    by_topic = np.zeros((n_topics, 2, 2))
    square, cross, hits, n_items = np.zeros(2), np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(2, dtype=np.int64)
    for topic, pairs in items:
        table = np.array(pairs, dtype=float)
        n, h = table.sum(axis=1), table[:, 1]
        by_topic[topic] += table
        square, cross, hits, n_items = square + n * n, cross + h * n, hits + h * h, n_items + (n > 0)
    return PairSums(by_topic, square, cross, hits, n_items)


def spread(items, n_topics=1, *, prior=0.0, n_draws=300, rng=0):
    return spread_of(sums_of(items, n_topics), RELEVANT, prior=prior, n_draws=n_draws, rng=np.random.default_rng(rng))


AGREE, DIFFER, NEITHER = [[0, 0], [0, 2]], [[0, 1], [1, 0]], [[2, 0], [0, 0]]
FEW = [(0, AGREE)] * 6 + [(0, DIFFER)] * 8 + [(0, NEITHER)] * 10


def test_a_share_and_the_printed_deviation():
    found = spread(FEW)
    assert found.p.tolist() == [[8 / 28, 12 / 20]]
    assert found.sd[0, 1] == pytest.approx(np.sqrt(0.6 * 0.4 / 20))


def test_items_are_clusters():
    found = spread(FEW)
    residual = np.array([2 - 0.6 * 2] * 6 + [0 - 0.6] * 8)
    assert found.sd_items[0, 1] == pytest.approx(np.sqrt((residual**2).sum() * 14 / 13) / 20)


def test_item_clustering_widens_equation_5_by_a_fifth_at_a_half():
    # Under Eq. (5) an item on which both agree enters twice: variance times 1 + p(1-p)-weighted overlap.
    many = [(0, AGREE)] * 530 + [(0, DIFFER)] * 940 + [(0, NEITHER)] * 500
    found = spread(many)
    assert found.p[0, 1] == pytest.approx(0.53, abs=0.005)
    assert found.sd_items[0, 1] / found.sd[0, 1] == pytest.approx(1.2, abs=0.05)


def wilson(p: float, effective: float, freedom: float) -> list[float]:
    z = t.ppf(0.975, freedom)
    return sorted(np.roots([1 + z**2 / effective, -(2 * p + z**2 / effective), p**2]))


UNLIKE = [(topic, AGREE) for topic in range(4) for _ in range(5 + 5 * topic)] + [
    (topic, DIFFER) for topic in range(4)
] * 9


def test_the_interval_is_wilsons_on_effective_pairs_with_the_jackknife_over_topics():
    found = spread(UNLIKE, 4)
    hits, pairs = np.array([10, 20, 30, 40]), np.array([19, 29, 39, 49])
    p = hits.sum() / pairs.sum()
    without = (hits.sum() - hits) / (pairs.sum() - pairs)
    sd = np.sqrt(3 / 4 * ((without - p) ** 2).sum())
    assert sd > found.sd_items[0, 1]
    expected = wilson(p, p * (1 - p) / sd**2, pairs.sum() ** 2 / (pairs**2).sum() - 1)
    assert [found.low[0, 1], found.high[0, 1]] == pytest.approx(expected)


def test_topics_that_happen_to_be_alike_are_no_surer_than_their_items():
    found = spread([(topic, each) for topic in range(3) for each in [AGREE] * 6 + [DIFFER] * 8], 3)
    expected = wilson(0.6, 0.24 / found.sd_items[0, 1] ** 2, 2)
    assert [found.low[0, 1], found.high[0, 1]] == pytest.approx(expected)


def test_one_topic_says_nothing_of_others():
    found = spread(FEW)
    assert found.p[0, 1] == 0.6
    assert np.isnan([found.low, found.high, found.sd_topics]).all()


def test_nine_topics_know_as_well_as_ten_that_topics_differ():
    rng = np.random.default_rng(3)
    topic_of = np.arange(200) % 10
    kind = np.where(rng.random(200) < np.linspace(0.05, 0.95, 10)[topic_of], 0, 1)
    items = [(int(t), (AGREE, DIFFER)[k]) for t, k in zip(topic_of, kind, strict=True)]
    ten, nine = spread(items, 10), spread([each for each in items if each[0] < 9], 10)
    assert ten.sd_topics[0, 1] > 1.5 * ten.sd_items[0, 1]
    assert nine.high[0, 1] - nine.low[0, 1] > ten.high[0, 1] - ten.low[0, 1]


def test_the_deviation_over_topics_is_that_of_resampled_shares():
    items = [(topic, (AGREE, DIFFER, NEITHER)[(topic * number) % 3]) for topic in range(12) for number in range(1, 8)]
    weights = topic_weights(12, 500, np.random.default_rng(5))
    by_topic = sums_of(items, 12).by_topic
    drawn = []
    for row in weights:
        n = sum(w * each[1].sum() for w, each in zip(row, by_topic, strict=True))
        drawn.append(sum(w * each[1, 1] for w, each in zip(row, by_topic, strict=True)) / n)
    assert spread(items, 12, n_draws=500, rng=5).sd_topics[0, 1] == pytest.approx(np.std(drawn, ddof=1))


def test_without_resampling_the_interval_still_knows_of_topics():
    rng = np.random.default_rng(3)
    items = [(n % 20, (AGREE, DIFFER)[int(rng.random() < (n % 20) / 19)]) for n in range(400)]
    none, usual = spread(items, 20, n_draws=0), spread(items, 20)
    assert np.isnan(none.sd_topics).all()
    assert none.low[0, 1] == pytest.approx(usual.low[0, 1], abs=0.03)
    assert none.high[0, 1] == pytest.approx(usual.high[0, 1], abs=0.03)


@pytest.mark.parametrize("n_topics", [2, 3, 9, 12])
def test_certain_shares_have_an_interval_that_rests_on_the_topics(n_topics):
    found = spread([(n % n_topics, AGREE) for n in range(72)], n_topics)
    z = t.ppf(0.975, n_topics - 1 if n_topics >= 10 else np.inf)
    assert (found.p[0, 1], found.high[0, 1]) == (1, pytest.approx(1))
    assert found.low[0, 1] == pytest.approx(1 / (1 + z**2 / n_topics))


def test_more_topics_of_the_same_narrow_the_interval():
    wide, narrow = (
        spread([(topic + 4 * n, each) for n in range(times) for topic, each in UNLIKE], 40) for times in (1, 10)
    )
    assert narrow.high[0, 1] - narrow.low[0, 1] < 0.3 * (wide.high[0, 1] - wide.low[0, 1])


def test_a_label_without_pairs_is_unknown():
    found = spread([(0, AGREE)] * 5)
    for each in (found.p, found.sd, found.sd_items, found.sd_topics, found.low, found.high):
        assert np.isnan(each[0, 0])
    assert found.pairs[0, 0] == found.hits[0, 0] == 0


def test_one_item_has_no_interval_and_nothing_infinite():
    found = spread([(0, [[0, 0], [2, 1]])])
    assert np.isnan([found.sd_items[0, 1], found.low[0, 1], found.high[0, 1]]).all()
    assert not np.isinf(found).any()


def test_a_label_in_one_topic_of_many_has_no_interval_and_the_others_have_theirs():
    items = [(topic, NEITHER) for topic in range(12)] + [(0, AGREE), (0, AGREE)]
    found = spread(items, 12)
    for each in (found.sd_topics, found.low, found.high):
        assert np.isnan(each).tolist() == [[False, True]]


@pytest.mark.parametrize("n_topics", [1, 4, 12])
def test_a_prior_adds_to_the_pairs_and_its_interval_knows_how_few_the_topics_are(n_topics):
    items = [(n % n_topics, each) for n, (_, each) in enumerate(FEW * 12)]
    found, plain = spread(items, n_topics, prior=0.5), spread(items, n_topics)
    h, n = plain.hits[0, 1], plain.pairs[0, 1]
    centre = (h + 0.5) / (n + 1)
    assert found.p[0, 1] == pytest.approx(centre)
    widths = found.high[0, 1] - found.low[0, 1], np.diff(beta.ppf([0.025, 0.975], h + 0.5, n - h + 0.5))[0]
    assert widths[0] > widths[1] * (1 if n_topics == 12 else 1.5 if n_topics == 4 else 5)
    assert found.hits.tolist() == plain.hits.tolist()


def test_a_prior_alone_speaks_for_a_label_without_pairs():
    found = spread([(0, AGREE)] * 5, prior=2.0)
    assert found.p[0, 0] == 0.5
    assert [found.low[0, 0], found.high[0, 0]] == pytest.approx(beta.ppf([0.025, 0.975], 2, 2).tolist())


def test_draws_that_know_nothing_are_left_out():
    drawn = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, 1.0], [4.0, 1.0, 3.0]])
    found = sd_of_draws(drawn)
    assert found[[0, 2]].tolist() == pytest.approx([np.std([1, 2, 4], ddof=1), np.sqrt(2)])
    assert np.isnan(found[1])


def test_resampled_topics_are_drawn_with_replacement():
    weights = topic_weights(40, 5_000, np.random.default_rng(1))
    assert (weights.sum(axis=1) == 40).all()
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(39 / 40, abs=0.02)
    assert np.corrcoef(weights[:, 0], weights[:, 1])[0, 1] == pytest.approx(-1 / 39, abs=0.06)


@pytest.mark.parametrize("n_topics", [2, 6, 12, 40])
def test_intervals_of_many_draws_at_once_are_those_of_each(n_topics):
    rng = np.random.default_rng(n_topics)
    kinds = [AGREE, DIFFER, NEITHER]
    draws = [[(topic, kinds[rng.integers(3)]) for topic in range(n_topics) for _ in range(9)] for _ in range(4)]
    alone = [spread(items, n_topics, rng=3) for items in draws]
    sums = [sums_of(items, n_topics).by_topic for items in draws]
    hits, cases = (
        np.stack([each[:, :, 1] for each in sums], axis=1),
        np.stack([each.sum(axis=2) for each in sums], axis=1),
    )
    items = np.concatenate([each.sd_items for each in alone])
    low, high = limits_over_topics(hits, cases, items, 300, np.random.default_rng(3))
    np.testing.assert_allclose(low, np.concatenate([each.low for each in alone]), rtol=1e-12)
    np.testing.assert_allclose(high, np.concatenate([each.high for each in alone]), rtol=1e-12)

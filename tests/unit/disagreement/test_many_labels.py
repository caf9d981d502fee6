from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labelled_items import correlations, labelled
from venire import Judgments, PredictedRelevance, read_judgments
from venire.disagreement.many_labels import observed_weights, sampled
from venire.disagreement.user_disagreement import udm_weights
from venire.errors import PairsError, SettingError
from venire.io import read_grid


@pytest.fixture(scope="module")
def rf10(data_dir: Path) -> Judgments:
    """Crowd labels and gold labels of TREC's Relevance Feedback track 2010, without broken links."""
    import polars as pl

    table = pl.read_csv(data_dir / "rf10_crowd" / "trec-rf10-data.tsv.gz", separator="\t")
    crowd = table.select(topic="topicID", doc="docID", assessor="workerID", label="label")
    gold = table.select(topic="topicID", doc="docID", assessor=pl.lit("gold"), label="gold").unique()
    labels = pl.concat([crowd, gold]).filter(pl.col("label").is_in([0, 1, 2]))
    return read_judgments(labels, scale="0<1<2", duplicate_labels="keep")


def test_table_1_as_counted_by_demeester_et_al_2014(rf10: Judgments) -> None:
    seen = observed_weights(rf10.anonymous(), [(1, 3), (2, 3), (2, 4), (2, 5)], at_least=6)
    assert seen.n_items.tolist() == [2598] * 4
    assert np.abs(seen.observed[:, 1] - [0.49, 0.10, 0.23, 0.35]).max() < 0.015
    assert np.abs(seen.predicted[:, 1] - [0.51, 0.09, 0.21, 0.35]).max() < 0.015
    assert seen.p[0].round(3).tolist() == [0.233, 0.302, 0.343]


def test_correlated_users_predict_figure_5_better(rf10: Judgments) -> None:
    seen = observed_weights(rf10.anonymous(), [(1, n) for n in range(2, 7)], at_least=6)
    assert (seen.predicted - seen.observed)[2:, :2].min() > 0.01
    assert np.abs(seen.correlated - seen.observed).max() < 0.01


def test_figure_1(rf10: Judgments) -> None:
    drawn = sampled(rf10.anonymous())
    assert drawn.n_items == 2598
    assert (np.diff(drawn.mean, axis=1) > 0.03).all()
    assert (np.diff(drawn.sd, axis=0) < 0).all()
    assert np.abs(drawn.mean - [0.233, 0.302, 0.343]).max() < 0.005


def test_a_mean_over_items_that_have_the_label_reverses_the_order(rf10: Judgments) -> None:
    counts = rf10.anonymous().labelled(at_least=6).label_counts()
    counts = counts[counts.sum(axis=1) > 0]
    share = (counts[:, 2:] - [0, 0, 1]) / (counts.sum(axis=1, keepdims=True) - 1)
    naive = [share[counts[:, label] > 0, label].mean() for label in range(3)]
    assert np.round(naive, 2).tolist() == [0.30, 0.33, 0.23]


def test_repeated_labels_of_one_assessor_are_refused(rf10: Judgments) -> None:
    with pytest.raises(PairsError, match="855 items") as caught:
        observed_weights(rf10, [(1, 3)])
    assert "anonymous()" in str(caught.value)


def test_one_assessor_twice_is_two_people_when_anonymous() -> None:
    twice = read_grid("1 0 1\n1 1 0\n0 1 1", assessors=["a", "a", "b"])
    for function in (lambda labels: observed_weights(labels, [(1, 3)]), _sampled_from_three):
        with pytest.raises(PairsError, match="3 items"):
            function(twice)
        function(twice.anonymous())


def _sampled_from_three(labels: Judgments) -> object:
    return sampled(labels, at_least=3, n=[1])


def test_users_of_one_mind_leave_binary_weights() -> None:
    seen = observed_weights(labelled([[2] * 4, [0] * 4, [1] * 4]), [(1, 3), (2, 3), (3, 4)])
    assert seen.observed.tolist() == [[0.0, 0.0, 1.0]] * 3
    assert np.allclose(seen.predicted, seen.observed)
    assert np.allclose(seen.correlated, seen.observed)
    assert seen.rho.tolist() == [[0.0, 0.0, 0.0]] * 3
    assert {note.fields["reason"] for note in seen.notes} == {
        f"the labels of others do not vary (p = {p})" for p in (0, 1)
    }


def test_each_share_takes_the_items_that_have_labels_enough() -> None:
    judgments = labelled([[2, 0], [0, 0, 0], [2, 0, 0, 0]])
    seen = observed_weights(judgments, [(1, 2), (1, 3), (1, 4)])
    assert seen.n_items.tolist() == [3, 2, 1]
    assert seen.observed[:, 0].tolist() == pytest.approx([(0.5 + 0.25) / 2.25, (0.75 * 2 / 3) / 1.75, 1.0])
    alike = observed_weights(judgments, [(1, 2), (1, 3)], at_least=4)
    assert alike.n_items.tolist() == [1, 1]
    assert alike.observed[:, 0].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_a_label_that_no_item_has_is_none_with_a_word() -> None:
    seen = observed_weights(labelled([[2, 0, 0], [0, 0, 2]]), [(1, 3)])
    record = next(record for record in seen.records() if record["label"] == "1")
    assert record["observed"] is record["predicted"] is record["p"] is None
    assert seen.notes[-1].kind == "no-items"
    assert seen.notes[-1].fields["label"] == "1"


def test_the_spread_over_items_is_that_of_resampled_items() -> None:
    rng = np.random.default_rng(3)
    items = rng.binomial(1, rng.beta(1, 1, size=(200, 1)), size=(200, 5)) * 2
    seen = observed_weights(labelled(items.tolist()), [(1, 3)])
    draws = [
        observed_weights(labelled(items[rng.integers(0, 200, 200)].tolist()), [(1, 3)]).observed[0, 0]
        for _ in range(200)
    ]
    assert seen.sd[0, 0] == pytest.approx(np.std(draws), rel=0.2)


def test_more_disagreement_than_by_chance_is_taken_as_none() -> None:
    found = correlations(labelled([[2, 2, 0, 0]] * 5))
    assert found.plain[0] == pytest.approx((0 + 1 / 3 - 4 / 9) / (2 / 9))
    assert found.rho[0] == 0
    assert "label 0: the estimate of rho is -0.500; rho is set to 0" in map(str, found.notes)


def test_others_who_always_agree_stay_below_one() -> None:
    found = correlations(labelled([[0, 2, 2], [0, 0, 0]]))
    assert found.plain[0] == pytest.approx(1)
    weights = udm_weights(1, 5, found.p[[0, 2]], np.array([False, True]), rho=found.rho[[0, 2]])
    assert weights[0] == pytest.approx(found.p[0])


def test_a_sample_of_all_others_is_exact() -> None:
    items = [[2, 2, 2, 0], [0, 0, 0, 0], [1, 1, 2, 0], [1, 0, 2, 2]]
    drawn = sampled(labelled(items), at_least=4, n=[1, 3], repeats=4000, rng=5)
    exact = PredictedRelevance(estimator="labels", weight="item", n_draws=0).fit(labelled(items * 50)).p[0]
    assert drawn.mean.shape == drawn.sd.shape == (2, 3)
    assert (drawn.sd[1] < drawn.sd[0]).all()
    large = sampled(labelled(items * 50), at_least=4, n=[1, 3], repeats=200, rng=5)
    assert np.abs(large.mean - exact).max() < 5 * (large.sd / np.sqrt(200)).max() + 0.005


def test_the_same_seed_draws_the_same_labels() -> None:
    judgments = labelled(np.random.default_rng(1).integers(0, 3, size=(30, 6)).tolist())
    one, same, other = (sampled(judgments, rng=seed).mean for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


@pytest.mark.parametrize("shares", [[], [(2, 1)], [(0, 3)]])
def test_shares_that_cannot_be_are_refused(shares: list[tuple[int, int]]) -> None:
    with pytest.raises(SettingError):
        observed_weights(labelled([[0, 2, 2]]), shares)


def test_too_few_labels_are_refused() -> None:
    judgments = labelled([[0, 2, 2], [0, 1]])
    with pytest.raises(PairsError, match="no item has 4 labels"):
        observed_weights(judgments, [(1, 4)])
    with pytest.raises(PairsError, match="no item has 6 labels"):
        sampled(judgments)
    with pytest.raises(SettingError, match="1 <= n < at_least"):
        sampled(judgments, at_least=3, n=[3])
    with pytest.raises(SettingError, match="expected one"):
        observed_weights(judgments, [(1, 2)], relevant="all")


def test_results_speak_for_themselves() -> None:
    judgments = labelled([[0, 2, 2], [0, 0, 0], [2, 2, 2], [0, 0, 2]], scale="0<1<2")
    text = observed_weights(judgments, [(1, 2), (1, 3)]).sentence()
    assert text.startswith("The largest error of the predicted weights is 0.")
    assert "1/3 given 0" in text
    assert "from 2 others on each of 4 items, 50 repeats" in sampled(judgments, at_least=3, n=[1, 2]).sentence()


def test_plots_show_every_label_below_the_top() -> None:
    from venire.plots.disagreement import plot_many_labels, plot_sampled

    judgments = labelled(np.random.default_rng(1).integers(0, 3, size=(30, 6)).tolist())
    figure = plot_many_labels(observed_weights(judgments, [(1, 3), (1, 2), (2, 3)]))
    assert {text.get_text() for text in figure.axes[0].get_legend().get_texts()} > {"0", "1"}
    assert figure.axes[0].get_xticks().tolist() == [2, 3]
    assert len(plot_sampled(sampled(judgments)).axes[0].containers) == 3
    with pytest.raises(SettingError, match="1/N"):
        plot_many_labels(observed_weights(judgments, [(2, 3)]))

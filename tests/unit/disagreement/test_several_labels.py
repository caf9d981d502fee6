from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from labelled_items import labelled
from venire import (
    AmbiguousLabels,
    GainsError,
    PairsError,
    PredictedRelevance,
    evaluate,
    read_grid,
    read_judgments,
)
from venire.disagreement.files import read_fit, write_fit
from venire.disagreement.several_labels import credibility, independent, posterior

RULES = (credibility, independent)


def noisy(n: int = 300, k: int = 5, seed: int = 1) -> list[list[int]]:
    """Labels of three levels that hang together by item, one to k of them."""
    rng = np.random.default_rng(seed)
    labels = rng.binomial(2, rng.beta(1, 1.5, size=(n, 1)), size=(n, k))
    labels[np.arange(k) >= rng.integers(1, k + 1, size=(n, 1))] = -1
    return labels.tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("setting", [{}, {"weight": "item"}, {"prior": 2.0}, {"relevant": "1"}])
def test_one_label_promises_exactly_what_pairs_say(rule: object, setting: dict[str, object]) -> None:
    judgments = labelled(noisy())
    fit = PredictedRelevance(**setting).fit(judgments)  # type: ignore[arg-type]
    found = posterior(judgments, fit, rule=rule)  # type: ignore[arg-type]
    counts = judgments.label_counts()
    single = counts.sum(axis=1) == 1
    assert (found.probability[single] == fit.p[0][counts[single].argmax(axis=1)]).all()
    joint = fit.by_topic.sum(axis=0)
    assert rule(joint / joint.sum(), fit.p[0], np.eye(3, dtype=np.int64)) == pytest.approx(fit.p[0])  # type: ignore[operator]


@pytest.mark.parametrize("weights", [[0.6, 1.4], [0.5, 1.0, 2.0], [3.0, 1.0, 0.2, 0.1]])
def test_credibility_is_the_posterior_of_dirichlet_items(weights: list[float]) -> None:
    """Items whose users answer by a Dirichlet distribution: its posterior mean is linear in the labels."""
    a = np.array(weights)
    joint = (np.outer(a, a) + np.diag(a)) / (a.sum() * (a.sum() + 1))
    p = joint[:, -1] / joint.sum(axis=1)
    counts = np.array(list(product(range(4), repeat=len(a)))[1:])
    expected = (a[-1] + counts[:, -1]) / (a.sum() + counts.sum(axis=1))
    assert credibility(joint, p, counts) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_credibility_is_the_best_linear_prediction(k: int) -> None:
    """Against least squares over all label sequences of a mixture of three sorts of items."""
    frequent, says = np.array([0.5, 0.3, 0.2]), np.array([[0.8, 0.15, 0.05], [0.3, 0.5, 0.2], [0.1, 0.3, 0.6]])
    joint = np.einsum("c,ci,cj->ij", frequent, says, says)
    sequences = np.array(list(product(range(3), repeat=k)))
    chances = frequent * says.T[sequences].prod(axis=1)
    counts = np.array([np.bincount(each, minlength=3) for each in sequences])
    truth, weight = (chances @ says[:, 2]) / chances.sum(axis=1), np.sqrt(chances.sum(axis=1))
    fitted = counts @ np.linalg.lstsq(counts * weight[:, None], truth * weight, rcond=None)[0]
    assert credibility(joint, joint[:, 2] / joint.sum(axis=1), counts) == pytest.approx(fitted)


def test_naive_bayes_multiplies_odds() -> None:
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    found = independent(joint, np.array([0.2, 0.8]), np.array([[0, 2], [1, 1], [3, 0]]))
    assert found == pytest.approx([16 / 17, 0.5, 1 / 65])


def test_many_labels_come_to_the_share_of_the_items_own_users() -> None:
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    counts = np.array([[3000, 7000], [10_000, 0]])
    assert credibility(joint, np.array([0.2, 0.8]), counts) == pytest.approx([0.7, 0.0], abs=1e-3)
    assert independent(joint, np.array([0.2, 0.8]), counts) == pytest.approx([1.0, 0.0], abs=1e-9)


def test_less_agreement_than_by_chance_counts_for_one_label_only() -> None:
    joint, p = np.array([[0.2, 0.3], [0.3, 0.2]]), np.array([0.6, 0.4])
    assert credibility(joint, p, np.array([[1, 0], [5, 0], [50, 0], [2, 2]])) == pytest.approx([0.6, 0.6, 0.6, 0.5])


@pytest.mark.parametrize("margin", [[0.2, 0.3, 0.5], [0.1, 0.3, 0.6], [0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3]])
def test_agreement_by_chance_counts_for_one_label_only_whatever_rounding_makes_of_it(margin: list[float]) -> None:
    share, p, counts = np.array(margin), np.array([0.2, 0.5, 0.6]), np.array([[0, 0, 4], [2, 0, 2]])
    mean = share @ p
    expected = mean + counts @ (p - mean) / 4
    assert credibility(np.outer(share, share), p, counts) == pytest.approx(expected)


def test_what_leaves_0_to_1_is_clipped_with_a_word() -> None:
    fit = PredictedRelevance().fit(labelled([[0, 0]] * 200 + [[0, 1]] * 20 + [[2, 2]] * 10 + [[1, 2]] * 10))
    found = posterior(labelled([[0] * 6, [2] * 6, [1] * 6]), fit)
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
    assert found.notes == ("1 item beyond 0 or 1 by the rule, and clipped",)


def test_probabilities_score_runs_as_gains() -> None:
    judgments = read_grid("""
        2 2 1 0
        2 1 1 0
        2 . 0 .""")
    found = posterior(judgments, PredictedRelevance(relevant="2").fit(judgments))
    best = {"1": {f"d{n}": float(found.probability[n - 1]) for n in range(1, 5)}}
    scores = evaluate(judgments, best, ["P@1", "CG@4"], gains=found.gains(), pool=found.pool)
    assert scores.values[0, 0].tolist() == pytest.approx([found.probability.max(), found.probability.sum()])
    with pytest.raises(GainsError, match="4 items"):
        evaluate(judgments.labelled(at_least=3), best, ["P@1"], gains=found.gains(), pool=found.pool)


def test_saved_fits_serve_as_well(tmp_path: Path) -> None:
    judgments = labelled(noisy(), n_topics=5)
    fit = PredictedRelevance().fit(judgments)
    write_fit(fit, tmp_path / "fit.json", fingerprint="")
    again = posterior(judgments, read_fit(tmp_path / "fit.json"))
    assert again.probability == pytest.approx(posterior(judgments, fit).probability)


def test_items_without_labels_have_no_probability() -> None:
    judgments = labelled([[0, 2], [2, 2], [0, 0]])
    fit = PredictedRelevance().fit(judgments)
    found = posterior(judgments.take(judgments.item != 1), fit)
    assert found.n_labels.tolist() == [2, 0, 2]
    assert np.isnan(found.probability).tolist() == [False, True, False]
    assert "2 items" in found.sentence()


def test_all_intended_notions_of_relevance_are_there() -> None:
    judgments = labelled(noisy())
    fit = PredictedRelevance(relevant="all").fit(judgments)
    top, higher = (posterior(judgments, fit, relevant=name) for name in ("2", "1"))
    assert (top.relevant, higher.relevant) == ("2", "1")
    assert (top.probability <= higher.probability + 1e-12).all()


def test_labels_that_the_fit_cannot_read_are_refused() -> None:
    judgments = labelled([[0, 2], [2, 2], [0, 0], [0, -1]])
    fit = PredictedRelevance().fit(judgments)
    with pytest.raises(GainsError, match="scale"):
        posterior(labelled([[0, 1]], scale="0<1"), fit)
    with pytest.raises(GainsError, match="label '1'"):
        posterior(labelled([[1]]), fit)
    with pytest.raises(PairsError, match="several labels by one assessor"):
        posterior(read_grid("0 2\n2 2", scale="0<1<2", assessors=["a", "a"]), fit)
    one_sided = PredictedRelevance(observed=["1"]).fit(judgments)
    with pytest.raises(PairsError, match="one-sided"):
        posterior(judgments, one_sided)
    alone = posterior(judgments.where(assessor="1"), one_sided)
    assert alone.probability.tolist() == one_sided.p[0][[0, 2, 0, 0]].tolist()


def test_a_lowest_label_without_pairs_counts_as_nothing_alone_and_is_refused_among_others() -> None:
    fit = PredictedRelevance().fit(labelled([[1, 2], [2, 2], [1, 1]]))
    assert posterior(labelled([[0], [2]]), fit).probability.tolist() == [0.0, fit.p[0, 2]]
    with pytest.raises(PairsError, match="label '0'"):
        posterior(labelled([[0, 2]]), fit)


def test_intents_are_not_mixed() -> None:
    import polars as pl

    rows = {
        "topic": ["t"] * 4,
        "doc": ["a"] * 4,
        "assessor": list("1212"),
        "intent": list("1122"),
        "label": [0, 1, 1, 1],
    }
    judgments = read_judgments(pl.DataFrame(rows), scale="0<1")
    fit = PredictedRelevance().fit(judgments)
    with pytest.raises(AmbiguousLabels, match="intent"):
        posterior(judgments, fit)
    assert posterior(judgments.where(intent="2"), fit).n_labels.tolist() == [2]


def test_labels_in_condition_are_to_be_left_out():
    import polars as pl

    rows = {"topic": ["1"] * 5, "doc": ["a", "a", "b", "b", "b"], "given": ["", "", "", "", "a"]}
    held = pl.DataFrame({**rows, "assessor": ["x", "y", "x", "y", "x"], "label": [0, 1, 1, 1, 0]})
    judgments = read_judgments(held, scale="0<1")
    fit = PredictedRelevance().fit(judgments)
    with pytest.raises(AmbiguousLabels, match="2 different values of given") as error:
        posterior(judgments, fit)
    assert error.value.ways[0].settings == {"where": "given="}
    assert posterior(judgments.where(given=""), fit).n_labels.tolist() == [2, 2]

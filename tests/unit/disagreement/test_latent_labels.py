from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from labelled_items import labelled
from venire import Judgments, evaluate, read_judgments
from venire.disagreement.dawid_skene import DawidSkene
from venire.errors import PairsError, ScaleError, SettingError
from venire.io import read_grid


def crowd(n: int = 80, seed: int = 1) -> Judgments:
    """Six assessors from good to bad, who each judge two thirds of the items."""
    rng = np.random.default_rng(seed)
    classes = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    noise = rng.integers(0, 3, size=(n, 6))
    labels = np.where(rng.random((n, 6)) < np.linspace(0.9, 0.2, 6), classes[:, None], noise)
    labels[rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1) >= 4] = -1
    return labelled(labels.tolist())


Answers = dict[tuple[int, int, int], float]


def slow_parameters(rows: list[tuple[int, int, int]], classes: list[list[float]], smoothing: float) -> Answers:
    """How assessors answer, row by row: (assessor, class, label) -> probability."""
    n = len(classes[0])
    counts = {(a, c, l): smoothing for _, a, _ in rows for c in range(n) for l in range(n)}  # noqa: E741
    for item, assessor, label in rows:
        for c in range(n):
            counts[assessor, c, label] += classes[item][c]
    total = {(a, c): sum(counts[a, c, x] for x in range(n)) for a, c, _ in counts}
    return {(a, c, l): count / total[a, c] if total[a, c] else 1 / n for (a, c, l), count in counts.items()}  # noqa: E741


def slow_fit(judgments: Judgments, n_iterations: int, smoothing: float) -> tuple[list[list[float]], list[float]]:
    """Dawid and Skene with dictionaries: classes, and the log-likelihood (with smoothing) of each iteration."""
    rows = list(zip(judgments.item.tolist(), judgments.assessor.codes.tolist(), judgments.label.tolist(), strict=True))
    counts, values = judgments.label_counts().tolist(), []
    classes = [[x / sum(each) for x in each] for each in counts]
    for _ in range(n_iterations):
        prior = [sum(column) / len(classes) for column in zip(*classes, strict=True)]
        answers = slow_parameters(rows, classes, smoothing)
        joint = [list(prior) for _ in classes]
        for item, assessor, label in rows:
            joint[item] = [x * answers[assessor, c, label] for c, x in enumerate(joint[item])]
        value = sum(math.log(sum(each)) for each in joint)
        values.append(value + (smoothing * sum(map(math.log, answers.values())) if smoothing else 0.0))
        classes = [[x / sum(each) for x in each] for each in joint]
    return classes, values


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("n_iterations", [1, 7])
def test_iterations_equal_those_of_a_slow_loop(smoothing: float, n_iterations: int) -> None:
    judgments = crowd()
    fit = DawidSkene(smoothing=smoothing, tolerance=-np.inf, max_iterations=n_iterations).fit(judgments)
    classes, values = slow_fit(judgments, n_iterations, smoothing)
    assert fit.posterior == pytest.approx(np.array(classes), abs=1e-10)
    assert fit.objective == pytest.approx(values)
    assert (fit.n_iterations, fit.converged) == (n_iterations, False)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_never_falls(smoothing: float, seed: int) -> None:
    fit = DawidSkene(smoothing=smoothing, tolerance=-np.inf, max_iterations=200).fit(crowd(seed=seed))
    assert (np.diff(fit.objective) > -1e-8).all()
    assert fit.objective[-1] > fit.objective[0] + 1


def test_probabilities_sum_to_one() -> None:
    fit = DawidSkene().fit(crowd())
    for each in (fit.posterior, fit.prior, fit.confusion, fit.users):
        assert each.sum(axis=-1) == pytest.approx(1.0)
    assert fit.confusion.shape == (6, 3, 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_iterations", [1, 2, 20])
def test_against_crowd_kit(n_iterations: int) -> None:
    aggregation = pytest.importorskip("crowdkit.aggregation")
    judgments = crowd(n=200, seed=3)
    table = judgments.to_pandas().rename(columns={"doc": "task", "assessor": "worker"})
    theirs = aggregation.DawidSkene(n_iter=n_iterations, tol=-math.inf).fit(table)
    fit = DawidSkene(smoothing=0, tolerance=-np.inf, max_iterations=n_iterations).fit(judgments)
    names = list(judgments.scale.labels)
    assert fit.posterior == pytest.approx(theirs.probas_.sort_index()[names].to_numpy(), abs=1e-6)
    assert fit.prior == pytest.approx(theirs.priors_[names].to_numpy(), abs=1e-6)
    answers = theirs.errors_.reindex([(who, said) for who in fit.assessors for said in names])[names].fillna(0)
    assert fit.confusion.transpose(0, 2, 1).reshape(-1, 3) == pytest.approx(answers.to_numpy(), abs=1e-6)


def test_users_disagree_also_where_the_class_is_sure() -> None:
    judgments = read_grid("1 1 1 0 0 0\n1 1 1 0 0 0\n1 1 0 0 1 0\n1 1 1 0 0 0")
    fit = DawidSkene().fit(judgments)
    relevance = fit.relevance()
    given = np.array([fit.posterior[:, c] @ judgments.label_counts() for c in range(2)])
    assert fit.users == pytest.approx(given / given.sum(axis=1, keepdims=True))
    assert fit.posterior[0, 1] > 0.999
    assert relevance.probability[0] == pytest.approx(fit.users[1, 1], abs=1e-3)
    assert relevance.probability[0] < 0.95
    assert relevance.rule == "dawid-skene"


def test_relevance_scores_runs() -> None:
    judgments = read_grid("1 1 0\n1 0 0\n1 1 0")
    found = DawidSkene().fit(judgments).relevance("1")
    run = {"1": {"d3": 3.0, "d1": 2.0, "d2": 1.0}}
    scores = evaluate(judgments, run, ["P@1", "CG@2"], gains=found.gains(), pool=found.pool)
    assert scores.values[0, 0].tolist() == pytest.approx([found.probability[2], found.probability[[0, 2]].sum()])


def test_a_repeated_label_counts_again() -> None:
    twice = read_grid("1 1 0 0\n0 1 0 1\n1 1 0 0\n0 . . .", assessors=["a", "b", "c", "b"])
    fit = DawidSkene(tolerance=-np.inf, max_iterations=3).fit(twice)
    assert fit.posterior == pytest.approx(np.array(slow_fit(twice, 3, 0.1)[0]))
    assert fit.n_labels_of.tolist() == [4, 5, 4]


def test_items_and_assessors_without_labels_do_no_harm() -> None:
    judgments = crowd()
    rows = (judgments.item != 3) & (judgments.assessor.codes != 0)
    fit = DawidSkene().fit(judgments.take(rows))
    assert np.isnan(fit.posterior).all(axis=1).tolist() == [item == 3 for item in range(80)]
    assert not np.isnan(fit.confusion).any()
    assert np.isnan(fit.relevance().probability).sum() == 1


def test_it_says_when_it_did_not_converge() -> None:
    short = DawidSkene(max_iterations=2).fit(crowd())
    assert "not converged after 2 iterations" in short.sentence()
    assert [note.kind for note in short.relevance().notes] == ["not-converged"]
    whole = DawidSkene().fit(crowd())
    assert whole.converged
    assert whole.relevance().notes == ()


def test_sentence() -> None:
    text = DawidSkene().fit(crowd(n=400)).sentence()
    assert "by 6 assessors are the class of their item" in text
    assert "(converged after" in text


def test_labels_from_which_nothing_can_be_learned_are_refused() -> None:
    with pytest.raises(PairsError, match="two different assessors"):
        DawidSkene().fit(read_grid("1 0 1"))
    with pytest.raises(PairsError, match="no label"):
        DawidSkene().fit(crowd().take(np.zeros(0, dtype=np.int64)))
    with pytest.raises(ScaleError, match="one label"):
        DawidSkene().fit(labelled([[0, 0]], scale="only"))
    with pytest.raises(SettingError, match="expected one"):
        DawidSkene().fit(crowd()).relevance("all")


@pytest.mark.parametrize("setting", [{"smoothing": -1}, {"tolerance": math.nan}, {"max_iterations": 0}])
def test_settings_that_cannot_be_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        DawidSkene(**setting)  # type: ignore[arg-type]


def test_iterations_stop_where_the_objective_rises_no_more() -> None:
    fit = DawidSkene(tolerance=1e-3).fit(crowd())
    rises = np.diff(fit.objective) / fit.counts.sum()
    assert fit.converged
    assert (rises[:-1] > 1e-3).all()
    assert rises[-1] <= 1e-3
    assert not DawidSkene(tolerance=0.0, max_iterations=3).fit(crowd()).converged
    assert DawidSkene(tolerance=0.0, max_iterations=3).fit(crowd()).n_iterations == 3


def test_a_crowd_of_hundreds_predicts_left_out_labels_better_than_pairs_do(data_dir: Path) -> None:
    """Left-out labels of TREC's Relevance Feedback track 2010: who said it matters, and naive Bayes is the worst."""
    import polars as pl

    from venire import PredictedRelevance
    from venire.disagreement.several_labels import credibility, independent, posterior

    table = pl.read_csv(data_dir / "rf10_crowd" / "trec-rf10-data.tsv.gz", separator="\t")
    table = table.select(topic="topicID", doc="docID", assessor="workerID", label="label")
    whole = read_judgments(table.filter(pl.col("label").is_in([0, 1, 2])), scale="0<1<2", duplicate_labels="first")
    order = np.argsort(whole.item + np.random.default_rng(1).random(len(whole)))
    first = np.r_[True, np.diff(whole.item[order]) > 0] & (np.bincount(whole.item)[whole.item[order]] > 1)
    asked, known = order[first], whole.take(np.sort(order[~first]))
    said = whole.label[asked] == 2
    fit = PredictedRelevance(n_draws=0).fit(known)
    found = {rule.__name__: posterior(known, fit, rule=rule) for rule in (credibility, independent)}
    found["latent"] = DawidSkene().fit(known).relevance()
    off = {name: ((each.probability[whole.item[asked]] - said) ** 2).mean() for name, each in found.items()}
    assert off["latent"] < off["credibility"] < off["independent"] < said.var()

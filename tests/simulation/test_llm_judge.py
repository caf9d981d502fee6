"""A judge's labels read through a few human ones: simulated collections, and TREC DL 2021 where its files are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from venire import PredictedRelevance, evaluate, read_judgments, read_runs
from venire.disagreement.top_results import results_to_label
from venire.measures.random_users import evaluate_users
from venire.simulation import Synthetic, generate

pytestmark = pytest.mark.filterwarnings("ignore::venire.errors.FewPairsWarning")

JUDGE, PERSON, N_LABELS, N_SEEDS = "gpt4_umbrela", "nist", 300, 20


@pytest.fixture(scope="module")
def dl21(data_dir):
    folder = data_dir / "dl21_full"
    labels = read_judgments(folder / "judges.tsv.gz").where(assessor=[JUDGE, PERSON])
    return labels, read_runs(folder / "runs.trec.gz")


def few_labels(labels, seed: int, *, person: str = PERSON, runs=None):
    """Keep all labels of the judge, and 300 of the person: at random from the pool, or from the first ten of runs."""
    human = labels.assessor.codes == labels.assessor.code_of(person, "assessor")
    if runs is None:
        kept = np.random.default_rng(seed).choice(np.flatnonzero(human), N_LABELS, replace=False)
    else:
        drawn = set(results_to_label(labels, runs, N_LABELS, rng=seed))
        pairs = zip(*labels.to_polars().select("topic", "doc").to_dict(as_series=False).values(), strict=True)
        kept = np.flatnonzero(human & np.array([pair in drawn for pair in pairs]))
    assert len(kept) == N_LABELS
    return labels.take(np.sort(np.append(np.flatnonzero(~human), kept)))


def model(relevant: str) -> PredictedRelevance:
    return PredictedRelevance(relevant=relevant, estimator="one-sided", observed=[JUDGE], reference=[PERSON])


def p10(labels, runs, *, assessor: str, **options):
    return evaluate(labels, runs, options.pop("name", "P@10"), assessor=assessor, **options).mean().values[:, 0]


@pytest.mark.parametrize(
    ("relevant", "before", "bar", "taus"), [("2", 0.208, 0.07, (0.900, 0.896)), ("3", 0.201, 0.04, (0.824, 0.836))]
)
def test_300_human_labels_mend_the_scores_of_dl21_and_not_the_order_of_systems(dl21, relevant, before, bar, taus):
    labels, runs = dl21
    name = f"P(rel={relevant})@10"
    true, own = (p10(labels, runs, assessor=who, name=name) for who in (PERSON, JUDGE))
    assert len(true) == 63
    assert np.abs(own - true).mean() == pytest.approx(before, abs=0.001)
    assert kendalltau(own, true).statistic == pytest.approx(taus[0], abs=0.001)
    some = [few_labels(labels, seed) for seed in range(N_SEEDS)]
    mended = [p10(each, runs, assessor=JUDGE, gains=model(relevant).fit(each).gains()) for each in some]
    errors = np.abs(np.array(mended) - true).mean(axis=1)
    assert errors.mean() <= bar
    assert errors.max() < before / 2
    assert np.mean([kendalltau(each, true).statistic for each in mended]) == pytest.approx(taus[1], abs=0.005)


@pytest.mark.parametrize(("relevant", "bar"), [("2", 0.042), ("3", 0.032)])
def test_labels_drawn_from_the_lists_mend_the_scores_of_dl21_further(dl21, relevant, bar):
    """The mean error over draws was .037 and .026, and the mean over runs has no bias; from the pool, -.022."""
    labels, runs = dl21
    true = p10(labels, runs, assessor=PERSON, name=f"P(rel={relevant})@10")
    some = [few_labels(labels, seed, runs=runs) for seed in range(N_SEEDS)]
    mended = np.array([p10(each, runs, assessor=JUDGE, gains=model(relevant).fit(each).gains()) for each in some])
    assert np.abs(mended - true).mean() < bar
    assert abs((mended - true).mean()) < 0.018


def test_labels_from_the_pool_can_mislead_and_labels_from_the_lists_do_not():
    """Simulated systems tell apart what the judge does not: results of the pool say too little about the top ones."""
    made = generate(Synthetic(), rng=7)
    labels = made.judgments.where(assessor=["lenient1", "careful1"])
    true, own = (p10(labels, made.runs, assessor=who, name="P(rel=2)@10") for who in ("careful1", "lenient1"))
    setting = PredictedRelevance(relevant="2", observed=["lenient1"], reference=["careful1"], n_draws=0)
    errors = {}
    for way, runs in (("pool", None), ("lists", made.runs)):
        some = [few_labels(labels, seed, person="careful1", runs=runs) for seed in range(N_SEEDS)]
        gains = [setting.fit(each).gains() for each in some]
        mended = [p10(labels, made.runs, assessor="lenient1", gains=each) for each in gains]
        errors[way] = np.mean(np.array(mended) - true), np.abs(np.array(mended) - true).mean()
    assert np.abs(own - true).mean() == pytest.approx(0.058, abs=0.001)
    assert errors["pool"] == (pytest.approx(-0.115, abs=0.03), pytest.approx(0.115, abs=0.03))
    assert errors["lists"] == (pytest.approx(0.0, abs=0.02), pytest.approx(0.042, abs=0.01))


def test_ndcg_of_expected_gains_is_far_from_what_a_random_person_gives(dl21):
    labels, runs = dl21
    some = few_labels(labels, 0)
    gains = model("2").fit(some).gains()
    true = p10(labels, runs, assessor=PERSON, name="nDCG@10", gains="binary:2")
    plain = p10(some, runs, assessor=JUDGE, name="nDCG@10", gains=gains)
    users = evaluate_users(some, runs, "nDCG@10", gains=gains, assessor=JUDGE, users=100).mean.values[:, 0]
    assert np.abs(plain - true).mean() > 0.2
    assert np.abs(users - true).mean() < 0.08

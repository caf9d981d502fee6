"""Scores over simulated users, held against every pattern of relevance there is."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from venire import evaluate, read_judgments
from venire.data.gains import gains_for
from venire.errors import GainsError, MeasureError, UnknownName
from venire.io import read_duplicates
from venire.measures import measure, nDCG, random_users
from venire.measures.names import KINDS, parse_measure
from venire.measures.random_users import evaluate_users, not_means_over_users

JUDGED = {"q": {"a": 3, "b": 1, "c": 0, "d": 2, "e": 1}}
RUN = {"q": {"b": 9.0, "x": 8.0, "a": 7.0, "c": 6.0, "d": 5.0}}
P = {"0": 0.05, "1": 0.3, "2": 0.6, "3": 0.9}
NAMES = [
    *("P@3", "CG@4", "DCG@4", "DCG(dcg=zipf)", "RBP(p=0.5)", "RBPResidual(p=0.5)", "Judged@4"),
    *("CCG@4", "CCGsingle@4", "nCCG@3"),
    *("Success@3", "RR", "ERR@4", "ERR"),
    *("R@3", "AP", "AP@3", "Rprec", "bpref", "nDCG@3", "nDCG(dcg=zipf)", "GAP", "Q", "nERR@4"),
]
pytestmark = pytest.mark.filterwarnings("ignore:.*unjudged documents:venire.errors.UnjudgedWarning")


def patterns() -> tuple[list[dict[str, int]], np.ndarray]:
    """Return every way in which the judged documents can be relevant, and how likely it is with P."""
    docs = JUDGED["q"]
    found = [dict(zip(docs, bits, strict=True)) for bits in product([0, 1], repeat=len(docs))]
    chance = [np.prod([P[str(docs[d])] if bits[d] else 1 - P[str(docs[d])] for d in docs]) for bits in found]
    return found, np.array(chance)


def scores_of_patterns(name: str) -> np.ndarray:
    """Score every pattern as one person's binary labels."""
    found, _ = patterns()
    binary = [evaluate(read_judgments({"q": bits}, scale="0<1"), RUN, name, gains="binary:1") for bits in found]
    return np.array([scores.values.item() for scores in binary])


def expected(name: str) -> tuple[float, float]:
    """Return mean and standard deviation over users, by enumeration."""
    values, chance = scores_of_patterns(name), patterns()[1]
    mean = float(values @ chance)
    return mean, float(((values - mean) ** 2 @ chance) ** 0.5)


def plain(name: str) -> float:
    return evaluate(JUDGED, RUN, name, gains=P).values.item()


def test_the_names_here_are_of_every_measure_of_documents_that_were_all_to_be_judged():
    known = {kind for kind in KINDS.values() if not (kind.by_intent or kind.of_sample)}
    assert {type(parse_measure(name)) for name in NAMES} == known


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_says_whether_its_score_is_the_mean_over_users(name):
    """Enumeration of all 2^5 patterns: equal where the measure says so, and different where it says never."""
    exact = abs(plain(name) - expected(name)[0]) < 1e-12
    assert exact == (parse_measure(name).mean_over_users != "never")


@pytest.mark.parametrize("name", NAMES)
def test_only_linear_measures_are_means_over_users_who_are_strict_or_lenient_throughout(name):
    """Users with the same p for each document, but one threshold for all: relevance of documents goes together."""
    docs, found = JUDGED["q"], patterns()[0]
    cuts = sorted({0.0, *P.values(), 1.0})
    chance = np.zeros(len(found))
    for low, high in pairwise(cuts):
        chance[found.index({d: int(P[str(docs[d])] >= high) for d in docs})] += high - low
    together = float(scores_of_patterns(name) @ chance)
    assert (abs(plain(name) - together) < 1e-12) == (parse_measure(name).mean_over_users == "always")


def test_a_worked_example_of_ndcg():
    """Two documents, each relevant to half of the users, in one order: half score 1, a quarter 1/log2(3)."""
    labels, run, gains = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, {"0": 0.0, "1": 0.5}
    assert evaluate(labels, run, "nDCG", gains=gains).values.item() == 1.0
    found = evaluate_users(labels, run, "nDCG", gains=gains, users=4000)
    true = 1 / 2 + 1 / 4 / np.log2(3)
    spread = (1 / 2 + 1 / 4 / np.log2(3) ** 2 - true**2) ** 0.5
    assert found.mean.values.item() == pytest.approx(true, abs=4 * spread / 4000**0.5)
    assert found.sd.values.item() == pytest.approx(spread, rel=0.05)


def test_mean_and_spread_over_users_are_those_of_enumeration():
    n = 3000
    found = evaluate_users(JUDGED, RUN, NAMES, gains=P, users=n)
    for column, name in enumerate(NAMES):
        mean, sd = expected(name)
        assert found.mean.values[0, column] == pytest.approx(mean, abs=4 * sd / n**0.5 + 1e-12), name
        assert found.sd.values[0, column] == pytest.approx(sd, rel=0.1, abs=1e-12), name


def test_binary_relevance_makes_gap_ap_and_err_rr():
    found = evaluate_users(JUDGED, RUN, ["GAP", "AP", "ERR", "RR"], gains=P, users=50).users.values[0]
    np.testing.assert_allclose(found[0], found[1], atol=1e-15)
    np.testing.assert_allclose(found[2], found[3], atol=1e-15)


MANY = {str(t): {f"{t}{d}": (t * d) % 4 for d in range(9)} for t in range(7)}
RUNS = {
    system: {str(t): {f"{t}{d}": float((d * step) % 9) for d in range(9)} for t in range(7)}
    for system, step in [("one", 2), ("two", 5)]
}


@pytest.fixture
def two_runs(tmp_path):
    for system, lists in RUNS.items():
        lines = [f"{t} Q0 {d} 0 {s} {system}\n" for t, docs in lists.items() for d, s in docs.items()]
        (tmp_path / f"{system}.run").write_text("".join(lines))
    return tmp_path


def test_blocks_change_nothing(two_runs, monkeypatch):
    whole = evaluate_users(MANY, two_runs, ["nDCG@5", "AP"], gains=P, users=40, rng=3)
    monkeypatch.setattr(random_users, "BLOCK_CELLS", 200)
    apart = evaluate_users(MANY, two_runs, ["nDCG@5", "AP"], gains=P, users=40, rng=3)
    np.testing.assert_allclose(apart.users.values, whole.users.values, rtol=1e-13)
    np.testing.assert_allclose(apart.topics.values, whole.topics.values, rtol=1e-12)
    np.testing.assert_allclose(apart.topic_spread.values, whole.topic_spread.values, rtol=1e-9)


def test_seeds(two_runs):
    def run(rng):
        return evaluate_users(MANY, two_runs, "nDCG@5", gains=P, users=5, rng=rng).users.values

    np.testing.assert_array_equal(run(3), run(np.random.SeedSequence(3)))
    assert (run(3) != run(4)).any()
    assert (run(np.random.default_rng(3)) == run(np.random.default_rng(3))).all()


def test_scores_of_users_are_means_over_topics_and_topics_have_means_over_users(two_runs):
    found = evaluate_users(MANY, two_runs, ["nDCG@5", "AP"], gains=P, users=30)
    assert found.users.axes == ("system", "measure", "user")
    assert found.users.values.shape == (2, 2, 30)
    np.testing.assert_allclose(found.topics.mean("topic").values, found.mean.values, rtol=1e-12)
    for topic in ["0", "3"]:
        alone = evaluate_users(MANY, two_runs, ["nDCG@5", "AP"], gains=P, users=30, topics=[topic])
        place = found.topics.names["topic"].index(topic)
        np.testing.assert_allclose(found.topics.values[:, place], alone.mean.values, rtol=1e-12)
        np.testing.assert_allclose(found.topic_spread.values[:, place], alone.sd.values, rtol=1e-7, atol=1e-12)


def test_quantiles_lie_about_the_mean(two_runs):
    found = evaluate_users(MANY, two_runs, "P@5", gains=P, users=200)
    low, high = found.quantile(0.05), found.quantile(0.95)
    assert (low < found.mean.values).all()
    assert (found.mean.values < high).all()
    inside = (found.users.values >= low[..., None]) & (found.users.values <= high[..., None])
    assert 0.88 < inside.mean() < 0.99


def test_linear_measures_agree_with_the_plain_score_of_several_topics(two_runs):
    names = ["P@5", "CG@5", "DCG@5", "RBP"]
    found = evaluate_users(MANY, two_runs, names, gains=P, users=2000)
    direct = evaluate(MANY, two_runs, names, gains=P).mean().values
    assert (np.abs(found.mean.values - direct) < 4 * found.sd.values / 2000**0.5).all()


def test_topics_without_a_list(two_runs):
    some = {"2": RUNS["one"]["2"]}
    with pytest.warns(match="topics without a list"):
        zero = evaluate_users(MANY, some, "P@5", gains=P, users=20)
    with pytest.warns(match="topics without a list"):
        skipped = evaluate_users(MANY, some, "P@5", gains=P, users=20, missing="skip")
    np.testing.assert_allclose(skipped.mean.values, 7 * zero.mean.values)
    assert np.isnan(skipped.topics.values).sum() == 6
    with pytest.raises(UnknownName, match="missing topics"):
        evaluate_users(MANY, two_runs, "P@5", gains=P, missing="perhaps")


def test_condensed_lists_and_copies(tmp_path):
    run, sure = {"q": {"x": 2.0, "b": 1.0}}, dict.fromkeys("0123", 1.0)
    for unjudged, value in (("condensed", 1.0), (0.0, 0.5)):
        users = evaluate_users(JUDGED, run, "RR", gains=sure, users=3, unjudged=unjudged).users
        assert users.values.tolist() == [[[value] * 3]]
    (tmp_path / "copies").write_text("a b\n")
    copies = read_duplicates(tmp_path / "copies")
    found = evaluate_users(JUDGED, RUN, "P@5", gains=sure, users=2, duplicates=copies)
    np.testing.assert_allclose(found.users.values, 3 / 5)


def test_an_own_measure_sees_zeros_and_ones():
    seen = set()

    def first(gains):
        seen.update(np.unique(gains).tolist())
        return gains[..., 0]

    evaluate_users(JUDGED, RUN, [measure(first, k=3)], gains=P, users=30)
    assert seen == {0.0, 1.0}


def test_what_makes_no_sense_is_refused():
    with pytest.raises(GainsError, match="probabilities"):
        evaluate_users(JUDGED, RUN, "P@5", gains="linear")
    with pytest.raises(MeasureError, match="has a threshold"):
        evaluate_users(JUDGED, RUN, "P(rel=2)@5", gains=P)
    with pytest.raises(MeasureError, match="unjudged documents have a gain"):
        evaluate_users(JUDGED, RUN, "P@5", gains=P, unjudged=0.1)


def test_which_scores_are_not_means_over_users():
    scale = read_judgments(JUDGED).scale
    asked = ["P@5", nDCG(10), "RR", "AP", "AP(rel=2)", "nDCG(dcg=exp-log2)"]
    assert not_means_over_users(asked, gains_for(P, scale)) == ["nDCG@10", "AP", "nDCG(dcg=exp-log2)"]
    assert not_means_over_users(asked, gains_for("binary:2", scale)) == []
    assert not_means_over_users(asked, gains_for("linear", scale)) == []


def test_a_result_says_how_sure_it_is():
    many = evaluate_users(JUDGED, RUN, "P@5", gains=P, users=100)
    assert "100 simulated users, with a simulation error of at most 0.0" in many.sentence()
    assert many.sentence() in str(many)
    assert "one simulated user" in evaluate_users(JUDGED, RUN, "P@5", gains=P, users=1).sentence()

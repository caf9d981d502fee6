"""The exact form of a change of judge, against going through every re-judging, simulation, and the paper's model."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from venire import MeasureError, SettingError, Synthetic, UnknownName, evaluate, generate, read_judgments, read_runs
from venire.comparison.exact_changes import exact_changes
from venire.comparison.forecast import forecast
from venire.comparison.judge_change import RankCounts
from venire.comparison.shown_documents import rank_weights
from venire.data.scale import Scale
from venire.disagreement.transitions import agreement_transitions, fit_transitions, stated_transitions
from venire.errors import AmbiguousLabels
from venire.measures.names import parse_measure

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*unjudged documents:venire.UnjudgedWarning"),
    pytest.mark.filterwarnings("ignore:topics without a list:venire.MissingTopicsWarning"),
]
SCALE = "0<1<2"
WEIGHTS = {
    "P@3": lambda rank: (rank <= 3) / 3,
    "CG": lambda _: 1.0,
    "DCG@3": lambda rank: (rank <= 3) / np.log2(rank + 1),
    "DCG(dcg=zipf)": lambda rank: 1 / rank,
    "RBP(p=0.7)": lambda rank: 0.3 * 0.7 ** (rank - 1),
    "DCG(dcg=exp-log2)@2": lambda rank: (rank <= 2) / np.log2(rank + 1),
}
GAINS = {"P@3": [0, 1, 1], "RBP(p=0.7)": [0, 0.5, 1], "DCG(dcg=exp-log2)@2": [0, 1, 3]}
MATRIX = np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.05, 0.3, 0.65]])


def labels_of(judged):
    topics = {topic: {} for topic, _ in judged}
    for (topic, doc), label in judged.items():
        topics[topic][doc] = label
    return read_judgments(topics, scale=SCALE)


def run_of(lists):
    return {topic: {doc: float(-rank) for rank, doc in enumerate(docs)} for topic, docs in lists.items()}


@st.composite
def cases(draw):
    """Two systems over up to three topics, at most six judged documents in all, and some that nobody judged."""
    docs = [("t1", "a"), ("t1", "b"), ("t1", "c"), ("t2", "a"), ("t2", "d"), ("t3", "e")]
    judged = draw(st.dictionaries(st.sampled_from(docs), st.integers(0, 2), min_size=1, max_size=6))
    lists = []
    for _ in range(2):
        lists.append({})
        for topic in ("t1", "t2", "t3"):
            pool = ["u", "v", *(doc for where, doc in docs if where == topic)]
            found = draw(st.lists(st.sampled_from(pool), unique=True, max_size=len(pool)))
            if found:
                lists[-1][topic] = found
    chances = draw(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=3, max_size=3))
    matrix = np.array(chances, dtype=float)
    return judged, lists, matrix / matrix.sum(axis=1, keepdims=True)


def by_hand(judged, lists, name, matrix, *, shared, unjudged):
    """Mean, variance and the three probabilities by going through all new labels of all contributions."""
    topics = sorted({topic for topic, _ in judged})
    weight = [
        {
            (topic, doc): WEIGHTS[name](rank) / len(topics)
            for topic in topics
            for rank, doc in enumerate(one.get(topic, ()), 1)
        }
        for one in lists
    ]
    docs = sorted(set(weight[0]) | set(weight[1]))
    labels = {doc: judged.get(doc, 0 if unjudged == "lowest" else None) for doc in docs}
    docs = [doc for doc in docs if labels[doc] is not None]
    parts = [(labels[doc], weight[0].get(doc, 0.0) - weight[1].get(doc, 0.0)) for doc in docs]
    if not shared:
        parts = [
            (labels[doc], sign * one.get(doc, 0.0)) for doc in docs for sign, one in zip((1, -1), weight, strict=True)
        ]
    parts = [part for part in parts if part[1] != 0]
    gain = GAINS.get(name, [0, 1, 2])
    values, chances = [], []
    for new in product(range(3), repeat=len(parts)):
        values.append(sum(w * gain[label] for (_, w), label in zip(parts, new, strict=True)))
        chances.append(np.prod([matrix[old, label] for (old, _), label in zip(parts, new, strict=True)]))
    values, chances = np.array(values), np.array(chances)
    mean = values @ chances
    signs = [chances[values > 1e-9].sum(), chances[np.abs(values) <= 1e-9].sum(), chances[values < -1e-9].sum()]
    return mean, np.sqrt((values - mean) ** 2 @ chances), signs


@settings(max_examples=60)
@given(cases(), st.sampled_from(list(WEIGHTS)), st.booleans(), st.sampled_from(["stay", "lowest"]))
def test_equals_going_through_all_rejudgings(case, name, shared, unjudged):
    judged, lists, matrix = case
    if unjudged == "lowest" or not shared:  # more contributions than documents
        lists = [{topic: docs[: 2 if topic == "t1" else 1] for topic, docs in one.items()} for one in lists]
    if not all(lists):
        return
    assume({topic for topic, _ in judged} & {topic for one in lists for topic in one})
    labels = labels_of(judged)
    runs = {"A": run_of(lists[0]), "B": run_of(lists[1])}
    found = exact_changes(labels, runs, name, transitions=matrix, shared=shared, unjudged=unjudged)
    mean, sd, signs = by_hand(judged, lists, name, matrix, shared=shared, unjudged=unjudged)
    assert found.expected[0] == pytest.approx(mean, abs=1e-12)
    assert found.sd[0] == pytest.approx(sd, abs=1e-7)
    assert (found.ahead[0], found.tie[0], found.behind[0]) == pytest.approx(signs, abs=1e-9)
    assert found.step[0] == 0
    scores = evaluate(labels, runs, name).mean().values[:, 0]
    assert found.delta[0] == pytest.approx(scores[0] - scores[1], abs=1e-12)


@settings(max_examples=10)
@given(cases(), st.sampled_from(list(WEIGHTS)))
def test_scores_of_every_rejudging_give_the_same(case, name):
    """The measures themselves on every set of new labels: nothing here knows of weights."""
    judged, lists, matrix = case
    judged = dict(list(judged.items())[:4])
    if not all(lists):
        return
    runs = {"A": run_of(lists[0]), "B": run_of(lists[1])}
    found = exact_changes(labels_of(judged), runs, name, transitions=matrix)
    chances = {1: 0.0, 0: 0.0, -1: 0.0}
    for new in product(range(3), repeat=len(judged)):
        scores = evaluate(labels_of(dict(zip(judged, new, strict=True))), runs, name).mean().values[:, 0]
        gap = float(scores[0] - scores[1])
        old = list(judged.values())
        chances[0 if abs(gap) < 1e-9 else int(np.sign(gap))] += np.prod(matrix[old, list(new)])
    assert (found.ahead[0], found.tie[0], found.behind[0]) == pytest.approx(tuple(chances.values()), abs=1e-9)


@given(st.tuples(*[st.integers(0, 2)] * 4).filter(any), st.floats(0, 1), st.floats(0, 1))
def test_is_the_papers_model_for_two_labels_and_no_document_in_both_lists(counts, a0, a1):
    c = RankCounts(*counts)
    ranks = [(0, 0)] * c.c00 + [(0, 1)] * c.c01 + [(1, 0)] * c.c10 + [(1, 1)] * c.c11
    labels = {f"{side}{n}": rank[number] for n, rank in enumerate(ranks) for number, side in enumerate("ab")}
    judged = read_judgments({"q": labels}, scale="0<1")
    runs = {side: run_of({"q": [f"{side}{n}" for n in range(c.n)]}) for side in "ab"}
    found = exact_changes(judged, runs, f"P@{c.n}", transitions=agreement_transitions(judged.scale, a0, a1))
    assert (found.ahead[0], found.tie[0], found.behind[0]) == pytest.approx(c.chances(a0, a1), abs=1e-10)
    assert found.expected[0] == pytest.approx(c.expected(a0, a1), abs=1e-12)
    assert found.sd[0] ** 2 == pytest.approx(c.variance(a0, a1), abs=1e-12)


@pytest.fixture(scope="module")
def collection():
    return generate(Synthetic(n_topics=12, docs_per_topic=60), rng=5)


@pytest.fixture(scope="module")
def agreeing(collection):
    return fit_transitions(collection.judgments, "careful1", "lenient1").matrix


@pytest.mark.parametrize("name", ["P@5", "DCG@5", "RBP(p=0.8)"])
def test_agrees_with_simulation(collection, agreeing, name):
    options = {"assessor": "careful1", "transitions": stated_transitions(collection.judgments.scale, agreeing)}
    drawn = forecast(collection.judgments, collection.runs, name, **options, form="fixed", n_draws=4000, rng=1)
    exact = exact_changes(collection.judgments, collection.runs, name, **options)
    simulated, changes = drawn.changes(exact.a, exact.b), exact.changes
    np.testing.assert_allclose(changes.delta, simulated.delta, atol=1e-12)
    for mine, theirs in ((changes.stays, simulated.stays), (changes.flips, simulated.flips)):
        se = np.sqrt(np.maximum(mine * (1 - mine), 1e-4) / 4000)
        z = (mine - theirs) / se
        assert np.abs(z).max() < 4
        assert np.abs(z[:3]).max() < 3
    assert (np.abs(changes.expected - simulated.expected) < 4 * changes.sd / np.sqrt(4000)).all()
    np.testing.assert_allclose(changes.sd, simulated.sd, rtol=0.06)


def test_matrices_drawn_are_those_of_the_simulation(collection):
    """Averaging exact distributions over drawn matrices gives what drawing labels too gives, with less noise."""
    found = replace(fit_transitions(collection.judgments, "careful1"), leaning=None)
    options = {"assessor": "careful1", "transitions": found, "form": "hierarchical", "rng": 3}
    drawn = forecast(collection.judgments, collection.runs, "P@5", **options, n_draws=300)
    exact = exact_changes(collection.judgments, collection.runs, "P@5", **options, n_draws=300)
    simulated = drawn.changes(exact.a, exact.b)
    assert (exact.se[exact.ahead > 0.01] > 0).all()
    assert (exact.se <= np.sqrt(exact.ahead * (1 - exact.ahead) / 299) + 1e-12).all()
    near = 4 * np.sqrt(np.maximum(exact.changes.stays * (1 - exact.changes.stays), 0.003) / 300)
    assert (np.abs(exact.changes.stays - simulated.stays) < near).all()


def test_a_matrix_per_topic(collection, agreeing):
    """A judge who agrees throughout in all topics but one moves only that one."""
    labels = collection.judgments
    topics = labels.topics
    matrix = np.tile(np.eye(4), (len(topics), 1, 1))
    matrix[3] = agreeing
    whole = exact_changes(labels, collection.runs, "CG@5", assessor="careful1", transitions=matrix)
    one = exact_changes(labels, collection.runs, "CG@5", assessor="careful1", transitions=agreeing, topics=[topics[3]])
    np.testing.assert_allclose(whole.sd * len(topics), one.sd, atol=1e-9)
    np.testing.assert_allclose((whole.expected - whole.delta) * len(topics), one.expected - one.delta, atol=1e-9)


def test_a_judge_who_always_agrees_changes_nothing_and_equal_systems_stay_level():
    labels = read_judgments({"q": {"a": 1, "b": 0}}, scale="0<1")
    runs = {"A": run_of({"q": ["a", "b"]}), "B": run_of({"q": ["b", "a"]}), "C": run_of({"q": ["a", "b", "x"]})}
    found = exact_changes(labels, runs, "P@1", transitions=np.eye(2))
    assert found.records()[0] == {
        **{"a": "A", "b": "B", "measure": "P@1", "delta": 1.0, "expected_delta": 1.0, "sd": 0.0},
        **{"p_stays_ahead": 1.0, "p_tie": 0.0, "p_flips": 0.0, "se": 0.0, "method": "exact"},
    }
    level = exact_changes(labels, runs, "P@1", transitions=np.full((2, 2), 0.5), pairs=[("A", "C")])
    assert (level.tie[0], level.changes.stays[0], level.changes.flips[0]) == (1.0, 0.0, 0.0)
    assert level.sentence() == "By P@1, A and C are level; under another judge, A is ahead with 0.00 and C with 0.00."


def test_says_what_becomes_of_a_pair_whichever_way_it_is_named():
    labels = read_judgments({"q": {"a": 1, "b": 0}}, scale="0<1")
    runs = {"A": run_of({"q": ["a"]}), "B": run_of({"q": ["b"]})}
    matrix = np.array([[0.8, 0.2], [0.2, 0.8]])
    said = "By P@1, A is ahead of B by 1.0000; under another judge it stays ahead with probability 0.64"
    for pair in (("A", "B"), ("B", "A")):
        found = exact_changes(labels, runs, "P@1", transitions=matrix, pairs=[pair])
        assert found.sentence() == f"{said} (level 0.32, behind 0.04)."
    both = exact_changes(labels, runs, "P@1", transitions=matrix, pairs=[("A", "B"), ("B", "A")])
    assert both.sentence() == ("By P@1, another judge turns 0 of 2 pairs of systems round with a probability over 20%.")


def test_a_document_that_nobody_judged_counts_once_where_both_show_it(tmp_path):
    """B shows the same unjudged document at the same rank: it cancels, from memory and from files alike."""
    labels = read_judgments({"q": {"a": 1, "b": 1}}, scale="0<1")
    (tmp_path / "A").write_text("q Q0 x 1 3 A\nq Q0 a 2 2 A\nz Q0 a 1 1 A\n")
    (tmp_path / "B").write_text("q Q0 x 1 3 B\nq Q0 b 2 2 B\n")
    in_memory = {"A": run_of({"q": ["x", "a"]}), "B": run_of({"q": ["x", "b"]})}
    matrix = np.array([[0.5, 0.5], [0.1, 0.9]])
    for runs in (in_memory, [tmp_path / "A", tmp_path / "B"]):
        found = exact_changes(labels, runs, "P@2", transitions=matrix, unjudged="lowest")
        assert found.sd[0] == pytest.approx(np.sqrt(2 * 0.1 * 0.9) / 2)
        apart = exact_changes(labels, runs, "P@2", transitions=matrix, unjudged="lowest", shared=False)
        assert apart.sd[0] == pytest.approx(np.sqrt(2 * 0.1 * 0.9 + 2 * 0.25) / 2)


def test_agreement_rates_serve_a_measure_of_relevant_against_irrelevant_on_any_scale():
    labels = read_judgments({"q": {"a": 2, "b": 0}}, scale=SCALE)
    runs = {"A": run_of({"q": ["a"]}), "B": run_of({"q": ["b"]})}
    rates = agreement_transitions(Scale.parse("0<1"), 0.8, 0.8)
    found = exact_changes(labels, runs, "P(rel=2)@1", transitions=rates)
    assert found.ahead[0] == pytest.approx(0.64)
    with pytest.raises(SettingError, match="2 x 2, expected 3 x 3"):
        exact_changes(labels, runs, "DCG@1", transitions=rates)


@pytest.mark.parametrize("name", ["nDCG@10", "AP", "ERR@5", "RR", "Judged@10", "RBPResidual", "R@5", "Success@5"])
def test_measures_that_are_no_sums_are_refused(name):
    with pytest.raises(MeasureError, match="no sum of gains"):
        exact_changes({"q": {"a": 1}}, {"q": {"a": 1.0}}, name, transitions=np.eye(2))


@pytest.mark.parametrize("name", WEIGHTS)
def test_rank_weights_are_the_measures_own(name):
    np.testing.assert_allclose(
        rank_weights(parse_measure(name), 6), [float(WEIGHTS[name](rank)) for rank in range(1, 7)]
    )


def test_what_cannot_be_is_refused(collection):
    labels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with pytest.raises(SettingError, match="sum to 1"):
        exact_changes(labels, run, transitions=np.ones((2, 2)))
    with pytest.raises(SettingError, match="read from labels"):
        exact_changes(labels, run, transitions=np.eye(2), form="fixed")
    with pytest.raises(UnknownName, match="system 'B'"):
        exact_changes(labels, run, transitions=np.eye(2), pairs=[("run", "B")])
    with pytest.raises(UnknownName, match="without a label"):
        exact_changes(labels, run, transitions=np.eye(2), unjudged="none")
    columns = {"topic": "qq", "doc": "aa", "label": [0, 1], "assessor": "jj"}
    twice = read_judgments(pl.DataFrame({name: list(values) for name, values in columns.items()}), repeats="keep")
    with pytest.raises(AmbiguousLabels, match="1 label by 'j' for items they had labelled before"):
        exact_changes(twice, run, transitions=np.eye(2))
    with pytest.raises(AmbiguousLabels, match="5 assessors judged"):
        exact_changes(collection.judgments, collection.runs)


def test_all_pairs_of_real_runs(data_dir):
    folder = data_dir / "dl21_full"
    labels = read_judgments(folder / "judges.tsv.gz").where(assessor=["nist", "gpt4_umbrela"])
    runs = read_runs(folder / "runs.trec.gz")
    found = exact_changes(labels, runs, "P@10", assessor="nist")
    assert len(found.a) == 1953
    assert (found.step == 0).all()
    np.testing.assert_allclose(found.ahead + found.tie + found.behind, 1, atol=1e-12)
    scores = evaluate(labels, runs, "P@10", assessor="nist").mean().values[:, 0]
    np.testing.assert_allclose(found.delta, scores[found.a] - scores[found.b], atol=1e-12)
    level = [{found.systems[a], found.systems[b]} for a, b in zip(found.a, found.b, strict=True)]
    assert found.tie[level.index({"pash_f1", "pash_f2"})] == 1  # they share a top 10

from __future__ import annotations

from zlib import crc32

import numpy as np
import polars as pl
import pytest

from venire import evaluate, read_runs
from venire.comparison import corrected_scores
from venire.comparison.correction import Scene, is_linear, list_weights, rank_weights
from venire.io.runs import scan
from venire.measures.evaluate import Case, Layout
from venire.measures.names import parse_measure
from venire.measures.scoring import Scoring
from venire.simulation import Synthetic, generate

WHO = {"judge": "lenient1", "reference": "careful1"}


@pytest.fixture(scope="module")
def made():
    return generate(Synthetic(n_topics=14, docs_per_topic=150, n_unjudged=5), rng=3)


@pytest.fixture(scope="module")
def some(made):
    """All labels of the judges, and every fourth of the reference."""
    labels = made.judgments
    return labels.take(~labels.assessor.among("careful1", "assessor") | (labels.item % 4 == 0))


@pytest.mark.parametrize("name", ["P@5", "CG@7", "DCG@10", "DCG(dcg=zipf)@10", "RBP", "RBP(p=0.5)", "CCG@5"])
def test_weights_of_a_linear_measure_give_its_score(made, name):
    labels = made.judgments.where(assessor="careful1")
    measure = parse_measure(name)
    assert is_linear(measure)
    plan = Scoring(gains="linear").plan([measure], labels.scale)
    case = Case.of(labels, made.runs, Scoring())
    layout = Layout.of(case, plan)
    share = np.full(len(case.facts.systems), 1 / len(layout.chosen))
    gain = np.zeros(len(labels.items))
    gain[labels.item] = plan.worths[0].values[labels.label]
    truth = evaluate(labels, made.runs, measure).mean().values[:, 0]
    np.testing.assert_allclose(list_weights(case.facts, layout.chosen, measure, share) @ gain, truth, atol=1e-12)


@pytest.mark.parametrize("name", ["nDCG@10", "AP", "RR", "ERR@10", "RBPResidual", "nERR@10"])
def test_other_measures_are_not_linear(name):
    assert not is_linear(parse_measure(name))
    weights = rank_weights(parse_measure(name), 20)
    assert (np.diff(weights) <= 0).all()


def test_scores_by_topic_are_those_of_the_judge_and_draws_of_the_reference(made, some):
    """Means over topics are the scores of the judge; with all labels of the reference, topics have its own scores."""
    names = ["P(rel=2)@10", "nDCG@10"]
    truth = evaluate(made.judgments, made.runs, names, assessor="careful1").values
    found = corrected_scores(some, made.runs, names, n_draws=400, **WHO)
    scoring = Scoring(per="assessor")
    for labels, n_draws in ((made.judgments, 1), (some, 30)):
        scene = Scene.of(Case.of(labels, made.runs, scoring), scoring.plan(names, labels.scale), **WHO)
        for number in range(len(names)):
            own, drawn = scene.by_topic(number, n_draws=30, rng=np.random.default_rng(0))
            np.testing.assert_allclose(own.mean(axis=1), scene.raw[:, number])
            assert drawn.shape == (n_draws, *truth.shape[:2])
            if n_draws == 1:
                np.testing.assert_allclose(drawn[0], truth[:, :, number], atol=1e-12)
            else:
                np.testing.assert_allclose(drawn.mean(axis=(0, 2)), found.value[:, number], atol=0.05)


def test_a_system_that_ranks_by_the_labels_of_the_judge_has_an_effect_of_its_own(some):
    """With lists that are sorted by the judge's labels, the items that they return have one feature more."""
    frame = some.where(assessor="lenient1").to_polars().with_columns(label=pl.col("label").cast(pl.Int64))
    columns = frame.select("topic", "doc", "label").iter_rows()
    lists: dict[str, dict[str, float]] = {}
    for n, (topic, doc, label) in enumerate(columns):
        lists.setdefault(topic, {})[doc] = label - n * 1e-6
    by_chance = {t: {doc: hash_of(doc) for doc in docs} for t, docs in lists.items()}
    n_effects = []
    for runs in ({"a": by_chance, "b": by_chance}, {"a": by_chance, "b": lists}):
        scoring = Scoring(per="assessor")
        scene = Scene.of(Case.of(some, read_runs(runs), scoring), scoring.plan(["P@10"], some.scale), **WHO)
        n_effects.append(scene.model(0).effects.design.shared.shape[1])
    assert scene.in_order[1] == 1.0
    assert scene.in_order[0] == pytest.approx(0.5, abs=0.05)
    assert n_effects[1] == n_effects[0] + 1


def hash_of(doc: str) -> float:
    """A score that has nothing to do with labels."""
    return float(crc32(doc.encode()))


def test_relevant_results_below_those_that_the_reference_labelled_have_a_note(made):
    """AP counts them, P@10 does not; a sample of all results has labels at every rank."""
    labels = made.judgments
    facts = scan(made.runs, labels.items).facts
    top = np.bincount(facts.item[facts.rank <= 5], minlength=len(labels.items)) > 0
    judge = ~labels.assessor.among("careful1", "assessor")
    first_five, spread = (labels.take(judge | kept[labels.item]) for kept in (top, np.arange(len(top)) % 4 == 0))
    found = [corrected_scores(each, made.runs, ["P@10", "AP"], n_draws=8, **WHO) for each in (first_five, spread)]
    below = [[note for note in each.notes if note.kind == "below-labels"] for each in found]
    assert [note.fields["measure"] for note in below[0]] == ["AP"]
    assert below[0][0].fields["depth"] <= 5
    assert 0.2 < below[0][0].fields["share"] < 1
    assert not below[1]

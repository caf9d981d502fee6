from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from context_pairs import drawn_in_context, no_context, redundancy
from long_rows import judgments_of
from venire.context.model import Regression, Training, cross_fitted, design_matrix, fit_conditional_labels
from venire.context.pairs import labelled_pairs
from venire.data.context import ContextPairs
from venire.errors import FormatError, PairsError, SettingError

LABELS = drawn_in_context(redundancy(), topics=25, rng=1)


def pairs_of(label, given, *, item=None, before=None) -> ContextPairs:
    n = len(label)
    item, before = (np.zeros(n, dtype=np.int64) if each is None else np.array(each) for each in (item, before))
    return ContextPairs(item, before, np.array(label, dtype=np.int32), np.array(given, dtype=np.int32))


def every_pair(n: int) -> ContextPairs:
    label, given = (each.ravel() for each in np.indices((n, n)))
    return pairs_of(label, given)


def sklearn_fit(judgments, *, interactions=False, x=None, regularisation=1.0):
    """The regression fitted row by row, without weights, by another solver."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    learnt = labelled_pairs(judgments)
    label, given = learnt.pairs.label.astype(int), learnt.pairs.given_label.astype(int)
    setting = Regression(interactions=interactions)
    design = design_matrix(label, given, len(judgments.scale), setting=setting, x=x)
    solver = LogisticRegression(C=1 / regularisation, solver="lbfgs", tol=1e-8, max_iter=5000)
    with threadpool_limits(1):
        return solver.fit(design, learnt.outcome), design, learnt


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("regularisation", [0.1, 5.0])
def test_a_fit_is_that_of_scikit_learn(interactions, regularisation):
    model = fit_conditional_labels(LABELS, interactions=interactions, regularisation=regularisation)
    solver, design, learnt = sklearn_fit(LABELS, interactions=interactions, regularisation=regularisation)
    np.testing.assert_allclose(model.probabilities(learnt.pairs), solver.predict_proba(design), atol=1e-5)
    assert model.coefficients.shape == (3, len(model.columns)) == (3, 15 if interactions else 6)
    assert model.columns[:4] == ("label=0", "label=1", "label=2", "given=0")


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("n", [2, 3])
def test_probabilities_are_scikit_learns_for_the_same_coefficients(interactions, n):
    labels = LABELS if n == 3 else drawn_in_context(np.full((2, 2, 2), 0.5), topics=20)
    model = fit_conditional_labels(labels, interactions=interactions)
    solver, design, learnt = sklearn_fit(labels, interactions=interactions)
    at = slice(None) if n == 3 else slice(1, None)
    solver.coef_, solver.intercept_ = model.coefficients[at], model.intercept[at]
    np.testing.assert_allclose(model.probabilities(learnt.pairs), solver.predict_proba(design), atol=1e-12, rtol=0)


def test_probabilities_recover_what_labels_were_drawn_from():
    truth = redundancy()
    labels = drawn_in_context(truth, topics=900, rng=5)
    model = fit_conditional_labels(labels, interactions=True, regularisation=0.1)
    p = model.probabilities(every_pair(3)).reshape(3, 3, 3)
    assert np.abs(p - truth).max() < 4 * np.sqrt(0.25 / (7200 / 9))
    np.testing.assert_allclose(model.at_mean(), p, atol=1e-14)


def test_without_interactions_odds_that_add_up_are_recovered():
    rng = np.random.default_rng(2)
    own, before = rng.normal(0, 1.2, (3, 3)), rng.normal(0, 1.2, (3, 3))
    odds = np.exp(own[:, None] + before[None])
    truth = odds / odds.sum(axis=-1, keepdims=True)
    model = fit_conditional_labels(drawn_in_context(truth, topics=900, rng=6), regularisation=0.1)
    assert np.abs(model.probabilities(every_pair(3)).reshape(3, 3, 3) - truth).max() < 0.06


def test_context_without_effect_leaves_nothing_to_the_document_before():
    model = fit_conditional_labels(drawn_in_context(no_context(), topics=900, rng=7))
    p = model.probabilities(every_pair(3)).reshape(3, 3, 3)
    assert np.abs(p - no_context()).max() < 0.06


@pytest.mark.parametrize("features", [False, True])
def test_a_missing_label_is_averaged_over(features):
    table = {"topic": ["t0", "t0", "t1"], "doc": ["d1", "d2", "d1"], "x": [1.0, 3.0, -2.0]} if features else None
    model = fit_conditional_labels(LABELS, features=table)
    label, given = [2, -1, -1, 0, -1], [-1, 1, -1, 2, 0]
    found = model.probabilities(pairs_of(label, given, item=[1] * 5, before=[2] * 5))
    weight = model.joint + 1 / 9
    for row, (a, b) in enumerate(zip(label, given, strict=True)):
        slow, total = np.zeros(3), 0.0
        for i in range(3):
            for j in range(3):
                if a in (-1, i) and b in (-1, j):
                    slow += weight[i, j] * model.probabilities(pairs_of([i], [j], item=[1], before=[2]))[0]
                    total += weight[i, j]
        np.testing.assert_allclose(found[row], slow / total, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_with_neither_label_the_shares_of_labels_in_context_are_left():
    model = fit_conditional_labels(LABELS, regularisation=1e-3, interactions=True)
    assert model.probabilities(pairs_of([-1], [-1]))[0] == pytest.approx(model.counts / model.n_pairs, abs=0.02)


def test_a_label_that_nobody_gave_in_context():
    labels = drawn_in_context(redundancy(), topics=25, rng=1)
    wide = replace(labels, scale=type(labels.scale)(("0", "1", "2", "never")))
    model, narrow = fit_conditional_labels(wide), fit_conditional_labels(labels)
    p = model.probabilities(every_pair(3))
    np.testing.assert_allclose(p[:, 3], 1 / (200 + 4), atol=1e-15)
    np.testing.assert_allclose(p[:, :3] / p[:, :3].sum(axis=1, keepdims=True), narrow.probabilities(every_pair(3)))
    assert model.probabilities(pairs_of([3], [3])).sum() == pytest.approx(1)


def test_one_label_for_all_in_context():
    rows = [("1", "a", "A", 2, ""), ("1", "b", "A", 1, ""), ("1", "a", "A", 1, "b"), ("1", "b", "A", 1, "a")]
    model = fit_conditional_labels(judgments_of(rows, fifth="given"))
    assert model.probabilities(pairs_of([2], [0]))[0].tolist() == pytest.approx([0.2, 0.6, 0.2])


def test_the_sentence():
    model = fit_conditional_labels(LABELS)
    assert model.sentence() == str(model)
    assert (model.n_pairs, model.n_topics) == (200, 25)


@pytest.mark.parametrize("regularisation", [0, -1, float("nan"), float("inf")])
def test_a_penalty_that_is_none(regularisation):
    with pytest.raises(SettingError, match="expected a positive number"):
        fit_conditional_labels(LABELS, regularisation=regularisation)


def test_interactions_of_very_many_labels():
    wide = replace(LABELS, scale=type(LABELS.scale)(tuple(map(str, range(30)))))
    with pytest.raises(SettingError, match="interactions of 30 labels are 900 columns"):
        fit_conditional_labels(wide, interactions=True)


def test_a_label_beyond_the_scale():
    with pytest.raises(SettingError, match="found a label of level 3"):
        fit_conditional_labels(LABELS).probabilities(pairs_of([3], [0]))


class TestFeatures:
    def test_a_feature_that_decides_is_used(self):
        rng = np.random.default_rng(3)
        labels = drawn_in_context(no_context(), topics=30, rng=4)
        learnt = labelled_pairs(labels)
        held = labels.to_polars().filter(pl.col("given") != "")
        numbers = learnt.outcome + rng.normal(0, 0.1, len(learnt))
        table = held.select("topic", "doc", "given").with_columns(x=numbers, y=rng.random(len(learnt)))
        model = fit_conditional_labels(labels, features=table)
        right = model.probabilities(learnt.pairs).argmax(axis=1) == learnt.outcome
        assert right.mean() > 0.97
        assert model.columns[-2:] == ("feature x", "feature y")

    def test_features_of_documents_are_used_for_both(self):
        docs = LABELS.to_polars().select("topic", "doc").unique(maintain_order=True)
        x = np.random.default_rng(8).normal(5, 3, len(docs))
        model = fit_conditional_labels(LABELS, features=docs.with_columns(x=x).to_pandas())
        assert model.columns[-2:] == ("feature x", "feature given x")
        learnt = labelled_pairs(LABELS)
        where = dict(zip(docs.iter_rows(), x, strict=True))
        names = [(LABELS.topics[LABELS.items.topic[n]], LABELS.items.doc[n]) for n in range(len(LABELS.items))]
        both = np.column_stack([learnt.pairs.item, learnt.pairs.given]).tolist()
        own = np.array([[where[names[number]] for number in pair] for pair in both])
        scaled = (own - own.mean(axis=0)) / own.std(axis=0)
        solver, design, _ = sklearn_fit(LABELS, x=scaled)
        np.testing.assert_allclose(model.probabilities(learnt.pairs), solver.predict_proba(design), atol=1e-5)

    def test_a_missing_value_is_the_mean(self):
        table = {"topic": ["t0", "t0"], "doc": ["d1", "d2"], "given": ["d0", "d1"], "x": [1.0, 3.0]}
        model = fit_conditional_labels(LABELS, features=table)
        at_mean = model.probabilities(pairs_of([1], [1], item=[60], before=[61]))
        np.testing.assert_allclose(at_mean[0], model.at_mean()[1, 1], atol=1e-14)

    @pytest.mark.parametrize(
        ("table", "words"),
        [
            ({"topic": ["t0"], "x": [1]}, "features: found the columns topic, x"),
            ({"topic": ["t0"], "doc": ["d1"]}, "features: found the columns topic, doc"),
            ({"topic": ["t0"], "doc": ["q"], "x": [1]}, "describes no document that was judged"),
            (
                {"topic": ["t0"], "doc": ["d1"], "x": ["long"]},
                "features:1: 'long' in column 'x' is not a fin",
            ),
            ({"topic": ["t0"], "doc": ["d1"], "x": [float("inf")]}, "in column 'x' is not a finite number"),
            ({"topic": ["t0"] * 3, "doc": ["d1", "d2", "d1"], "x": [1, 2, 3]}, "features:3: describes the same as li"),
            ({"topic": ["t0"], "doc": ["d1"], "x": [[1]]}, "column 'x' holds List"),
        ],
    )
    def test_tables_that_are_refused(self, table, words):
        with pytest.raises(FormatError, match=words.replace("(", r"\(")):
            fit_conditional_labels(LABELS, features=table)

    def test_other_features_than_it_was_fitted_with(self):
        model = fit_conditional_labels(LABELS, features={"topic": ["t0"], "doc": ["d1"], "x": [1]})
        with pytest.raises(SettingError, match="found the features y, given y, expected x, given x"):
            model.with_features(LABELS, {"topic": ["t0"], "doc": ["d1"], "y": [1]})
        with pytest.raises(SettingError, match="fitted without features"):
            fit_conditional_labels(LABELS).with_features(LABELS, {"topic": ["t0"], "doc": ["d1"], "y": [1]})
        with pytest.raises(SettingError, match="names one beyond them"):
            model.probabilities(pairs_of([0], [0], item=[10_000]))


class TestCrossFitted:
    def test_a_topic_is_predicted_by_a_model_without_it(self):
        model = cross_fitted(LABELS, folds=4, rng=3)
        learnt = labelled_pairs(LABELS)
        fold = model.fold[learnt.topic]
        assert sorted(np.bincount(model.fold).tolist()) == [6, 6, 6, 7]
        for number in range(4):
            out = fold == number
            alone = Training.of(LABELS, features=None, interactions=False).fit(~out)
            expected = alone.probabilities(learnt.take(out).pairs)
            np.testing.assert_allclose(model.probabilities(learnt.pairs)[out], expected, atol=1e-12)

    def test_labels_of_a_topic_have_no_say_in_its_own_predictions(self):
        rows = LABELS.to_polars().select("topic", "doc", "assessor", "label", "given").rows()
        other = [(t, d, w, "0" if t == "t3" and given else label, given) for t, d, w, label, given in rows]
        changed = judgments_of(other, fifth="given")
        learnt = labelled_pairs(LABELS)
        here = learnt.pairs.item[learnt.topic == LABELS.topics.index("t3")]
        pairs = pairs_of([1] * len(here), [2] * len(here), item=here)
        one, two = (cross_fitted(each, folds=5).probabilities(pairs) for each in (LABELS, changed))
        np.testing.assert_array_equal(one, two)
        whole = [fit_conditional_labels(each).probabilities(pairs) for each in (LABELS, changed)]
        assert np.abs(whole[0] - whole[1]).max() > 0.01

    def test_topics_without_labels_in_context_are_predicted_from_all(self):
        rows = LABELS.to_polars().select("topic", "doc", "assessor", "label", "given").rows()
        labels = judgments_of([*rows, ("z", "a", "A", 1, ""), ("z", "b", "A", 2, "")], fifth="given")
        model = cross_fitted(labels, folds=5)
        pairs = pairs_of([2], [1], item=[len(labels.items) - 1], before=[len(labels.items) - 2])
        np.testing.assert_array_equal(model.probabilities(pairs), model.whole.probabilities(pairs))
        assert model.fold[-1] == -1
        assert len(model.models) == 5

    @pytest.mark.parametrize(
        ("folds", "error", "words"),
        [
            (26, PairsError, "known for 25 topics, too few for 26 folds"),
            (1, SettingError, "1 fold cannot leave topics out"),
        ],
    )
    def test_folds_that_cannot_be(self, folds, error, words):
        with pytest.raises(error, match=words):
            cross_fitted(LABELS, folds=folds)

    def test_items_of_other_judgments(self):
        with pytest.raises(SettingError, match="knows the topics of 200 items"):
            cross_fitted(LABELS).probabilities(pairs_of([0], [0], item=[200]))
